"""Labels that go wrong on the way, each over real HTTP: what a connector has to tell from a good label."""

import io

import httpx
import pikepdf
import pypdfium2
import pytest
import zxingcpp
from support.sandbox_process import RunningSandbox

from logistics_batch.sandbox.labels.faults import KINDS, OVERSIZED_BYTES, STRAY_AWB


def order(service: httpx.Client, reference: str, *, packages: int = 1) -> dict[str, list[str]]:
    body = {"reference_number": reference, "customer_mobile": "9876543210", "delivery_address": "12 MG Road, Pune"}
    message = service.post("/orders/shipment", json=body | {"packages_count": packages}).json()["message"]
    return {"awbs": message.get("child_awb_numbers") or [message["awb_number"]]}


def spoiled(sandbox: RunningSandbox, reference: str, kind: str) -> httpx.Response:
    """What the link to a label gives under this fault; the next call gives the label itself."""
    sandbox.set_faults([{"kind": kind, "endpoint": "label.download", "times": 1}])
    query = {"API_KEY": sandbox.api_key}
    asked = {"order_numbers[]": reference}
    url = httpx.post(f"{sandbox.url}/order/shippinglabel/", params=query, json=asked, trust_env=False).json()["url"]
    reply = httpx.get(url, trust_env=False)
    good = httpx.get(url, trust_env=False)
    assert good.content.startswith(b"%PDF-")
    assert good.content != reply.content
    assert {"event": "fault", "kind": kind}.items() <= next(
        line for line in reversed(sandbox.journal()) if line["event"] == "fault"
    ).items()
    assert httpx.URL(url).query.decode() not in sandbox.journal_path.read_text(), "who reads it could fetch the label"
    return reply


def barcodes(content: bytes) -> list[str]:
    """The barcode of each page as a printer shows it: turned and cropped as the page says."""
    found = []
    for page in pypdfium2.PdfDocument(content):
        assert [round(side) for side in page.get_size()] == [288, 432]
        found += [code.text for code in zxingcpp.read_barcodes(page.render(scale=203 / 72).to_pil())]
    return found


def turned(content: bytes) -> int:
    with pikepdf.open(io.BytesIO(content)) as pdf:
        return int(pdf.pages[0].obj.get("/Rotate", 0))


def box(content: bytes, name: str) -> list[float]:
    with pikepdf.open(io.BytesIO(content)) as pdf:
        return [float(side) for side in pdf.pages[0].obj[name]]


def test_expired_link(service: httpx.Client, sandbox: RunningSandbox, reference: str) -> None:
    order(service, reference)
    reply = spoiled(sandbox, reference, "label_expired")
    assert (reply.status_code, reply.headers["content-type"]) == (403, "application/xml")
    assert b"Request has expired" in reply.content


def test_page_of_a_web_site(service: httpx.Client, sandbox: RunningSandbox, reference: str) -> None:
    order(service, reference)
    reply = spoiled(sandbox, reference, "label_html")
    assert reply.status_code == 200
    assert reply.content.startswith(b"<!DOCTYPE html>")


def test_half_a_file_that_http_calls_whole(service: httpx.Client, sandbox: RunningSandbox, reference: str) -> None:
    order(service, reference)
    reply = spoiled(sandbox, reference, "label_truncated")
    assert reply.status_code == 200
    assert reply.content.startswith(b"%PDF-")
    assert b"%%EOF" not in reply.content
    assert int(reply.headers["content-length"]) == len(reply.content)


def test_label_of_another_order_with_as_many_pages(
    service: httpx.Client, sandbox: RunningSandbox, reference: str
) -> None:
    order(service, reference, packages=2)
    assert barcodes(spoiled(sandbox, reference, "label_wrong").content) == [STRAY_AWB] * 2


def test_blank_pages(service: httpx.Client, sandbox: RunningSandbox, reference: str) -> None:
    order(service, reference, packages=2)
    document = pypdfium2.PdfDocument(spoiled(sandbox, reference, "label_blank").content)
    assert len(document) == 2
    for page in document:
        assert page.render().to_pil().convert("L").getextrema() == (255, 255)


def test_page_that_lies_on_its_side_and_says_so(service: httpx.Client, sandbox: RunningSandbox, reference: str) -> None:
    wanted = order(service, reference)
    content = spoiled(sandbox, reference, "label_rotated").content
    assert (turned(content), box(content, "/MediaBox")) == (90, [0, 0, 432, 288])
    assert barcodes(content) == wanted["awbs"]


def test_page_cut_down_by_a_box_that_does_not_begin_at_the_corner(
    service: httpx.Client, sandbox: RunningSandbox, reference: str
) -> None:
    wanted = order(service, reference)
    content = spoiled(sandbox, reference, "label_cropped").content
    left, low, right, high = box(content, "/CropBox")
    assert (right - left, high - low) == (288, 432)
    assert left > 0 < low
    assert box(content, "/MediaBox")[3] > high
    assert barcodes(content) == wanted["awbs"]


def test_locked_file(service: httpx.Client, sandbox: RunningSandbox, reference: str) -> None:
    order(service, reference)
    content = spoiled(sandbox, reference, "label_encrypted").content
    with pytest.raises(pikepdf.PasswordError):
        pikepdf.open(io.BytesIO(content))


def test_small_file_that_exhausts_careless_readers(
    service: httpx.Client, sandbox: RunningSandbox, reference: str
) -> None:
    order(service, reference)
    content = spoiled(sandbox, reference, "label_hostile").content
    assert content.startswith(b"%PDF-")
    assert len(content) < 100_000
    assert b"/Kids [3 0 R 2 0 R]" in content, "the page tree leads back to itself"
    assert b"[" * 20_000 in content


def test_file_without_end(service: httpx.Client, sandbox: RunningSandbox, reference: str) -> None:
    wanted = order(service, reference)
    content = spoiled(sandbox, reference, "label_oversized").content
    assert len(content) > OVERSIZED_BYTES > 20_000_000
    assert barcodes(content) == wanted["awbs"], "nothing is wrong with it but its size"


def test_every_kind_is_shown_here() -> None:
    names = ("expired", "html", "truncated", "wrong", "blank", "rotated", "cropped", "encrypted", "hostile")
    assert sorted(KINDS) == sorted(f"label_{name}" for name in (*names, "oversized"))
