"""Section 7 of the API document, line by line: errors."""

from support.api_document import check_section

FOUR, ORDERS = "test_document_section_4.py::", "test_orders.py::"
TESTS = {
    "errors are {status: FAIL, message}": FOUR + "test_what_each_endpoint_refuses_is_a_fail",
    "400 for missing values, with the sample messages": ORDERS + "test_a_missing_field_is_named_as_documented",
    "400 for malformed data": ORDERS + "test_a_body_that_is_no_json_object_is_malformed",
    "400 The order can't be cancelled now": (
        "test_document_section_3.py::test_no_other_status_can_be_cancelled_and_nothing_changes"
    ),
    "400 for deleting items of another order": ORDERS + "test_items_of_another_order_are_not_deleted",
    "400 for packages_count beside package_id": ORDERS + "test_packages_count_and_package_id_exclude_each_other",
    "401 Unauthorized for a missing or wrong key": "test_middleware.py::test_every_endpoint_needs_the_key",
    "500 Unexpected error": FOUR + "test_an_unexpected_failure_of_every_endpoint",
    "the 400 of fetching an order is {status, message} of strings": (
        ORDERS + "test_an_unknown_order_is_said_to_be_unknown"
    ),
    "errors of ASN endpoints are not shown": "test_switches.py::test_asn_errors",
    "errors of webhook endpoints are not shown": "test_webhooks.py::test_rules",
}


def test_every_line_has_a_test() -> None:
    check_section("7", TESTS)
