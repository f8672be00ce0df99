"""Section 8 of the API document, line by line: limits."""

from support.api_document import check_section

ASNS, ORDERS = "test_asns.py::", "test_orders.py::"
TESTS = {
    "8.1 an ASN search needs a range or invoice_number": ASNS + "test_a_search_needs_a_whole_range_or_an_invoice",
    "8.2 a range counts only with both ends": ASNS + "test_a_range_with_one_end_does_not_narrow_a_search",
    "8.2 both ends of a range are inclusive": ASNS + "test_ranges_include_both_ends",
    "8.3 packages_count and package_id are not sent together": (
        ORDERS + "test_packages_count_and_package_id_exclude_each_other"
    ),
    "8.4 a reference number is unique": "test_durability.py::test_simultaneous_creates_of_one_reference_make_one_order",
    "8.4 a reference number is free after cancelling": (
        ORDERS + "test_a_live_reference_is_refused_and_free_again_after_cancelling"
    ),
    "8.5 a label url is limited in time": "test_labels.py::test_a_link_expires",
    "8.6 rate limits are not shown": "test_faults.py::test_a_rate_limit_counts_exactly",
    "8.7 the page size of results is not shown": "test_switches.py::test_asn_page_cap_and_asn_count",
    "8.7 the largest body is not shown": "test_middleware.py::test_a_body_that_is_too_large_is_refused",
}


def test_every_line_has_a_test() -> None:
    check_section("8", TESTS)
