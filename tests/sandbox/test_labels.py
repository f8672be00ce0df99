"""Shipping labels: the request of API §2.2 and §4.4, the signed link, and the pages behind it."""

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


def test_a_cod_order_shows_the_amount(service: httpx.Client, sandbox: RunningSandbox, reference: str) -> None:
    create(service, reference, is_cod="true", cash_on_delivery="59.00")
    (page,) = pages(link(sandbox, {"order_numbers[]": reference}))
    assert "₹ 59.00" in text(page)
    assert "PREPAID" not in text(page)


def test_every_letter_of_an_address_is_drawn(service: httpx.Client, sandbox: RunningSandbox, reference: str) -> None:
    address = "राम தமிழ் বাংলা ગુજરાત తెలుగు Łódź Ђорђе Αθήνα"
    create(service, reference, delivery_address=address)
    (page,) = pages(link(sandbox, {"order_numbers[]": reference}))
    drawn = text(page)
    assert [word for word in address.split() if word not in drawn] == []


def test_a_long_address_is_printed_to_its_end(service: httpx.Client, sandbox: RunningSandbox, reference: str) -> None:
    words = [f"landmark{number}" for number in range(45)]
    create(service, reference, delivery_address=" ".join(words), awb_number="OWN-ABCDEFGHIJKLMNOPQRST")
    (page,) = pages(link(sandbox, {"order_numbers[]": reference}))
    drawn = text(page).split()
    assert [word for word in words if word not in drawn] == []
    assert barcode(page) == "OWN-ABCDEFGHIJKLMNOPQRST"


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
    assert ask(sandbox, {"order_numbers[]": f"{reference},NOSUCH"}).json()["message"] == "Order not found"


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
        assert reply.status_code == 403
        assert b"SignatureDoesNotMatch" in reply.content


def test_a_link_expires(service: httpx.Client, sandbox: RunningSandbox, reference: str) -> None:
    create(service, reference)
    sandbox.set_switches(link_lifetime_seconds=-1)
    try:
        url = link(sandbox, {"order_numbers[]": reference})
    finally:
        sandbox.set_switches(link_lifetime_seconds=900)
    reply = httpx.get(url, trust_env=False)
    assert reply.status_code == 403
    assert b"Request has expired" in reply.content
