"""Shipping labels: the request of API §2.2 and §4.4, the signed link, and the pages behind it."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pypdfium2
import pytest
import zxingcpp
from support.sandbox_process import RunningSandbox

LABEL = "/order/shippinglabel/"
SHIPMENT = {
    "primary_mobile_no": "9876543210",
    "shipping_address": "Flat 3, ul. Świętokrzyska, गांधी मार्ग",
    "delivery_pincode": "411001",
}


def create(service: httpx.Client, reference: str, **more: Any) -> dict[str, Any]:
    body = {"reference_number": reference, "customer_mobile": "9876543210", "delivery_address": "12 MG Road, Pune"}
    message: dict[str, Any] = service.post("/orders/shipment", json=body | more).json()["message"]
    return message


def ask(sandbox: RunningSandbox, body: Any, *, key: str | None = None) -> httpx.Response:
    query = {"API_KEY": sandbox.api_key if key is None else key}
    return httpx.post(sandbox.url + LABEL, params=query, json=body, trust_env=False)


def link(sandbox: RunningSandbox, body: Any) -> str:
    reply = ask(sandbox, body)
    assert reply.status_code == 200, reply.text
    assert set(reply.json()) == {"status", "url"}
    assert reply.json()["status"] == "SUCCESS"
    return str(reply.json()["url"])


def pages(url: str) -> list[pypdfium2.PdfPage]:
    reply = httpx.get(url, trust_env=False)
    assert reply.status_code == 200
    assert reply.headers["content-type"] == "application/pdf"
    return list(pypdfium2.PdfDocument(reply.content))


def barcode(page: pypdfium2.PdfPage) -> str:
    """The one barcode of a page, read as a thermal printer of 203 dpi would print it."""
    (found,) = zxingcpp.read_barcodes(page.render(scale=203 / 72).to_pil())
    assert found.format == zxingcpp.BarcodeFormat.Code128
    return str(found.text)


def text(page: pypdfium2.PdfPage) -> str:
    return str(page.get_textpage().get_text_range())


@contextmanager
def switched(sandbox: RunningSandbox, **switches: Any) -> Iterator[None]:
    """The sandbox with other switches for a while."""
    before = sandbox.control("GET", "/switches")
    sandbox.set_switches(**switches)
    try:
        yield
    finally:
        sandbox.set_switches(**{name: before[name] for name in switches})


def test_a_label_is_a_4_by_6_page_with_the_awb_as_barcode(
    service: httpx.Client, sandbox: RunningSandbox, reference: str
) -> None:
    awb = create(service, reference, delivery_postal_code="411001", customer_name="Asha")["awb_number"]
    (page,) = pages(link(sandbox, {"order_numbers[]": reference}))
    assert page.get_size() == (4 * 72, 6 * 72)
    assert barcode(page) == awb
    for part in ("12 MG Road, Pune", "Asha", "411001", "PREPAID", reference, awb):
        assert part in text(page)


def test_each_package_has_its_page_and_its_own_awb(
    service: httpx.Client, sandbox: RunningSandbox, reference: str
) -> None:
    created = create(service, reference, packages_count=3)
    found = pages(link(sandbox, {"order_numbers[]": created["awb_number"]}))
    assert [barcode(page) for page in found] == created["child_awb_numbers"]
    assert "3 of 3" in text(found[2])
    assert all(f"package of order AWB {created['awb_number']}" in text(page) for page in found)


@pytest.mark.parametrize("as_text", [True, False])
def test_several_orders_come_in_the_order_asked(
    service: httpx.Client, sandbox: RunningSandbox, reference: str, as_text: bool
) -> None:
    awbs = [create(service, f"{reference}-{number}")["awb_number"] for number in range(3)][::-1]
    found = pages(link(sandbox, {"order_numbers[]": ", ".join(awbs) if as_text else awbs}))
    assert [barcode(page) for page in found] == awbs


def test_a_whole_shipment_prints_what_it_says(service: httpx.Client, sandbox: RunningSandbox, reference: str) -> None:
    awb = create(service, reference)["awb_number"]
    shipment = SHIPMENT | {"awb_number": awb, "is_cod": True, "amount_to_collect": "1259.50"}
    (page,) = pages(link(sandbox, shipment))
    assert barcode(page) == awb
    for part in ("Świętokrzyska", "गांधी मार्ग", "COD", "₹ 1259.50"):
        assert part in text(page)


def test_a_whole_shipment_prints_every_field_of_the_document(
    service: httpx.Client, sandbox: RunningSandbox, reference: str
) -> None:
    """API §2.2: weight in grams, dimensions as an object with its unit, the lines of sku_details."""
    awb = create(service, reference, customer_name="Old Name")["awb_number"]
    more = {
        "order_id": reference,
        "customer_name": "New Name",
        "return_address": "Gate 4, Chakan",
        "amount_to_collect": "0.00",
        "date_placed": "2022-03-18 05:41:08",
        "weight": "1250",
        "dimensions": {"length": "30", "breadth": "20", "height": "10", "uom": "mm"},
        "sku_details": [{"name": "8901234567890", "quantity": "2", "weight": "600"}],
    }
    (page,) = pages(link(sandbox, SHIPMENT | {"awb_number": awb} | more))
    shown = text(page)
    parts = ("New Name", "Gate 4, Chakan", "2022-03-18 05:41:08", "1250 g", "30 x 20 x 10 mm", "8901234567890 x 2")
    assert [part for part in (*parts, "PREPAID", reference) if part not in shown] == []
    assert "Old Name" not in shown


def test_kilograms_of_an_order_are_grams_on_its_label(
    service: httpx.Client, sandbox: RunningSandbox, reference: str
) -> None:
    """API §2.3 has kilograms, §2.2 grams."""
    items = [{"item_name": "Kurta", "item_quantity": 2}, {"item_name": "दीपक"}]
    create(service, reference, weight="1.250", length="30", breadth="20", height="10", item_details=items)
    (page,) = pages(link(sandbox, {"order_numbers[]": reference}))
    assert "1250 g · 30 x 20 x 10 cm" in text(page)
    assert "Kurta x 2, दीपक x 1" in text(page)


def test_a_cod_order_shows_the_amount(service: httpx.Client, sandbox: RunningSandbox, reference: str) -> None:
    create(service, reference, is_cod="true", cash_on_delivery="59.00")
    (page,) = pages(link(sandbox, {"order_numbers[]": reference}))
    assert "₹ 59.00" in text(page)
    assert "PREPAID" not in text(page)


def test_a_whole_shipment_that_does_not_say_cod_is_prepaid(
    service: httpx.Client, sandbox: RunningSandbox, reference: str
) -> None:
    """API §2.2: is_cod is false by default, and the amount then 0.00."""
    awb = create(service, reference, is_cod="true", cash_on_delivery="59.00")["awb_number"]
    (page,) = pages(link(sandbox, SHIPMENT | {"awb_number": awb, "amount_to_collect": "0.00"}))
    assert "PREPAID" in text(page)
    assert "59.00" not in text(page)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({}, "AWB Number is mandatory for shipping label"),
        (SHIPMENT, "AWB Number is mandatory for shipping label"),
        ({"awb_number": "SH-1"}, "Missing required parameters."),
        (SHIPMENT | {"awb_number": "SH-1", "delivery_pincode": ""}, "Missing required parameters."),
        (SHIPMENT | {"awb_number": "SH-NOSUCH1"}, "Order not found"),
        (SHIPMENT | {"awb_number": "SH-1", "is_cod": "true"}, "Malformed value of is_cod"),
        (SHIPMENT | {"awb_number": "SH-1", "pin": "1"}, "Unknown parameter: pin"),
        (SHIPMENT | {"awb_number": "SH-1", "amount_to_collect": "59.00"}, "Malformed value of amount_to_collect"),
        ({"order_numbers[]": ""}, "Missing required parameters."),
        ({"order_numbers[]": "A", "awb_number": "SH-1"}, "order_numbers[] is sent alone"),
        ({"order_numbers[]": [1]}, "Malformed value of order_numbers[]"),
        ({"order_numbers": "A"}, "AWB Number is mandatory for shipping label"),
    ],
)
def test_rules(sandbox: RunningSandbox, body: dict[str, Any], message: str) -> None:
    reply = ask(sandbox, body)
    assert reply.status_code == 400
    assert reply.json()["status"] == "FAIL"
    assert reply.json()["message"].startswith(message)


def test_one_unknown_number_gives_no_label_at_all(
    service: httpx.Client, sandbox: RunningSandbox, reference: str
) -> None:
    create(service, reference)
    before = len(sandbox.committed("label.created"))
    assert ask(sandbox, {"order_numbers[]": f"{reference},NOSUCH"}).json()["message"] == "Order not found"
    assert len(sandbox.committed("label.created")) == before


def test_a_bad_number_may_be_left_out_without_a_word(
    service: httpx.Client, sandbox: RunningSandbox, reference: str
) -> None:
    awb = create(service, reference)["awb_number"]
    with switched(sandbox, multi_order_bad_number="skip"):
        found = pages(link(sandbox, {"order_numbers[]": ["NOSUCH", reference, "SH-NOSUCH1"]}))
        assert [barcode(page) for page in found] == [awb]
        assert ask(sandbox, {"order_numbers[]": "NOSUCH,NOSUCH2"}).json()["message"] == "Order not found"
        assert ask(sandbox, {"order_numbers[]": "NOSUCH"}).status_code == 400


@pytest.mark.parametrize(
    ("switch", "order"), [("one_pdf", [0, 1, 1]), ("one_pdf_reversed", [1, 1, 0]), ("first_only", [0])]
)
def test_what_a_call_for_several_orders_gives(
    service: httpx.Client, sandbox: RunningSandbox, reference: str, switch: str, order: list[int]
) -> None:
    first = create(service, f"{reference}-1")
    second = create(service, f"{reference}-2", packages_count=2)
    with switched(sandbox, multi_order_labels=switch):
        found = pages(link(sandbox, {"order_numbers[]": f"{reference}-1,{reference}-2"}))
    prefixes = [first["awb_number"], second["awb_number"]]
    codes = [barcode(page) for page in found]
    assert [code[:10] for code in codes] == [prefixes[place] for place in order]
    assert [code for code in codes if code[10:]] == (second["child_awb_numbers"] if len(order) > 1 else [])


def test_a_call_for_several_orders_may_be_refused(
    service: httpx.Client, sandbox: RunningSandbox, reference: str
) -> None:
    awb = create(service, reference)["awb_number"]
    with switched(sandbox, multi_order_labels="refused"):
        reply = ask(sandbox, {"order_numbers[]": [awb, awb]})
        assert (reply.status_code, reply.json()["status"]) == (400, "FAIL")
        assert ask(sandbox, {"order_numbers[]": [awb]}).status_code == 200


def test_an_order_id_that_is_not_of_this_awb_is_refused(
    service: httpx.Client, sandbox: RunningSandbox, reference: str
) -> None:
    awb = create(service, reference)["awb_number"]
    reply = ask(sandbox, SHIPMENT | {"awb_number": awb, "order_id": "ANOTHER"})
    assert (reply.status_code, reply.json()["status"]) == (400, "FAIL")
    assert "order_id" in reply.json()["message"]


def test_a_whole_shipment_names_its_awb_and_nothing_else(
    service: httpx.Client, sandbox: RunningSandbox, reference: str
) -> None:
    create(service, reference)
    for number in (reference, str(sandbox.orders(reference=reference)[0]["order_id"])):
        assert ask(sandbox, SHIPMENT | {"awb_number": number}).json()["message"] == "Order not found"


def test_a_cancelled_order_has_no_label(service: httpx.Client, sandbox: RunningSandbox, reference: str) -> None:
    awb = create(service, reference)["awb_number"]
    service.put(f"/api/orders/cancel/{awb}")
    assert ask(sandbox, {"order_numbers[]": awb}).json()["message"] == "The order is cancelled"


def test_the_key_is_a_query_parameter_here(service: httpx.Client, sandbox: RunningSandbox) -> None:
    unauthorized = {"status": "FAIL", "message": "Unauthorized"}
    in_header = service.post(LABEL, json={})
    assert (in_header.status_code, in_header.json()) == (401, unauthorized)
    wrong = ask(sandbox, {}, key="wrong")
    assert (wrong.status_code, wrong.json()) == (401, unauthorized)


def test_a_link_needs_its_signature(service: httpx.Client, sandbox: RunningSandbox, reference: str) -> None:
    create(service, reference)
    url = httpx.URL(link(sandbox, {"order_numbers[]": reference}))
    later = url.copy_set_param("expires", str(int(url.params["expires"]) + 1))
    for forged in (later, url.copy_set_param("signature", "0" * 64), url.copy_remove_param("signature")):
        reply = httpx.get(forged, trust_env=False)
        assert (reply.status_code, reply.headers["content-type"]) == (403, "application/xml")
        assert b"SignatureDoesNotMatch" in reply.content


def test_a_link_opens_its_own_label_only(service: httpx.Client, sandbox: RunningSandbox, reference: str) -> None:
    create(service, reference)
    first, second = (httpx.URL(link(sandbox, {"order_numbers[]": reference})) for _ in range(2))
    crossed = first.copy_with(path=second.path)
    assert httpx.get(crossed, trust_env=False).status_code == 403
    assert sandbox.api_key not in str(first)
    assert httpx.head(first, trust_env=False).status_code == 405


def test_a_link_and_its_label_outlive_a_restart(own_sandbox: RunningSandbox) -> None:
    with httpx.Client(base_url=own_sandbox.url, headers={"API_KEY": own_sandbox.api_key}, trust_env=False) as client:
        create(client, "REF-1")
    url = link(own_sandbox, {"order_numbers[]": "REF-1"})
    before = httpx.get(url, trust_env=False).content
    own_sandbox.kill()
    own_sandbox.restart()
    assert httpx.get(url, trust_env=False).content == before


def test_a_link_expires(service: httpx.Client, sandbox: RunningSandbox, reference: str) -> None:
    create(service, reference)
    with switched(sandbox, link_lifetime_seconds=-1):
        url = link(sandbox, {"order_numbers[]": reference})
    reply = httpx.get(url, trust_env=False)
    assert reply.status_code == 403
    assert b"Request has expired" in reply.content
