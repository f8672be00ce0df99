"""Sections 3, 4, 7 and 8 of the API document, a short paraphrase for each of their lines, and the check of their tests.

The document itself is not kept here; a line is what it promises, in the fewest words that tell it from the others.
"""

import ast
from collections.abc import Mapping
from pathlib import Path

SANDBOX_TESTS = Path(__file__).parents[1] / "sandbox"

LINES: dict[str, tuple[str, ...]] = {
    "3": (
        "ASN statuses are New, In-Progress, Completed, Expired",
        "an ASN is New unless said otherwise",
        "order statuses are an open list of strings",
        "Pending can be cancelled",
        "New-Order, the other name of Pending, can be cancelled",
        "Pickup-Failed can be cancelled",
        "no other status can be cancelled, and nothing changes",
        "cancelling answers PASS, Order Cancelled Successfully",
        "the reference number of a cancelled order may be used again",
    ),
    "4": (
        "4 every endpoint needs the key, by default in the header API_KEY",
        "4.1 fetch returns one or many ASNs with items, quantities and prices",
        "4.1 at least one range or invoice_number",
        "4.1 description matches in full or in part",
        "4.1 site, site_name, supplier, supplier_name filter",
        "4.1 status filters",
        "4.1 delivery, created and modified ranges are inclusive",
        "4.1 a range applies only when both ends are given",
        "4.1 dates have the form YYYY-MM-DD",
        "4.1 invoice_number filters",
        "4.2 create takes the fields of an ASN",
        "4.2 supplier or its name, site or its name",
        "4.2 invoice_number and sku_lines with qty are required",
        "4.3 update takes the same fields as create",
        "4.3 which ASN is updated is not shown",
        "4.4 the key is the query parameter API_KEY",
        "4.4 SUCCESS with a url to a PDF",
        "4.4 the url is signed and limited in time",
        "4.4 400 AWB Number is mandatory for shipping label",
        "4.4 401 Unauthorized",
        "4.4 500 Unexpected error",
        "4.5 PASS with order_details of the documented fields",
        "4.5 orderId is what create returned",
        "4.5 400 for malformed data or missing values",
        "4.5 401 Unauthorized",
        "4.5 500 Unexpected error",
        "4.6 reference_number, customer_mobile, delivery_address and item_name are required",
        "4.6 rule 1: hubs follow from pin codes unless they are sent",
        "4.6 rule 2: packages_count and package_id together are refused",
        "4.6 rule 3: kits instead of item_details",
        "4.6 rule 3: kits beside item_details",
        "4.6 PASS with awb_number, delivery_hub, items by id, child_awb_numbers",
        "4.6 400 Shipment Reference Number is required",
        "4.6 401 Unauthorized",
        "4.6 500 Unexpected error",
        "4.7 orderId is the id received on create",
        "4.7 only fields marked U, customer_mobile and delivery_address required",
        "4.7 items are named by their ids",
        "4.7 the answer of create without child_awb_numbers",
        "4.7 400, 401 and 500 as create",
        "4.8 items by id, item_name required",
        "4.8 the answer of update",
        "4.8 400, 401 and 500 as create",
        "4.9 orderId is AWB number or shipment id",
        "4.9 PASS, Items deleted for AWB Number : <awb_number>",
        "4.9 400 Missing required parameters.",
        "4.9 400 for items of another order",
        "4.9 401 and 500 as create",
        "4.10 orderId is AWB number or shipment id",
        "4.10 PASS, Order Cancelled Successfully",
        "4.10 400 The order can't be cancelled now",
        "4.10 401 and 500 as create",
        "4.11 PASS, Webhook configured successfully",
        "4.11 subscribes to order status updates",
        "4.12 changes callback URL or active state",
    ),
    "7": (
        "errors are {status: FAIL, message}",
        "400 for missing values, with the sample messages",
        "400 for malformed data",
        "400 The order can't be cancelled now",
        "400 for deleting items of another order",
        "400 for packages_count beside package_id",
        "401 Unauthorized for a missing or wrong key",
        "500 Unexpected error",
        "the 400 of fetching an order is {status, message} of strings",
        "errors of ASN endpoints are not shown",
        "errors of webhook endpoints are not shown",
    ),
    "8": (
        "8.1 an ASN search needs a range or invoice_number",
        "8.2 a range counts only with both ends",
        "8.2 both ends of a range are inclusive",
        "8.3 packages_count and package_id are not sent together",
        "8.4 a reference number is unique",
        "8.4 a reference number is free after cancelling",
        "8.5 a label url is limited in time",
        "8.6 rate limits are not shown",
        "8.7 the page size of results is not shown",
        "8.7 the largest body is not shown",
    ),
}


def check_section(section: str, tests: Mapping[str, str]) -> None:
    """Every line of the section has its test, ``file::function``, and every such test exists."""
    without = [line for line in LINES[section] if line not in tests]
    unknown = [line for line in tests if line not in LINES[section]]
    gone = [f"{line}: {test}" for line, test in tests.items() if test not in _tests_of(test.partition("::")[0])]
    assert not without + unknown + gone, "\n".join([*without, *unknown, *gone])


def _tests_of(file: str) -> set[str]:
    tree = ast.parse((SANDBOX_TESTS / file).read_text(encoding="utf-8"))
    return {
        f"{file}::{node.name}"
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    }
