"""Label pages as they are printed: letters of every script, the barcode, and what fits."""

import io
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pikepdf
import pypdfium2
import pytest
import zxingcpp

from logistics_batch.sandbox.labels.layout import LEFTWARD, LabelPage, label_pdf, set_line

PAGE = LabelPage(
    awb_number="SH-7KQ2M9X",
    order_awb_number="SH-7KQ2M9X",
    reference="ORD-2026-000123",
    hub="PNQ-411",
    hub_name="Pune Hub",
    name="Asha Rao",
    address="Flat 3, 12 MG Road, Pune",
    postal_code="411001",
    mobile="9876543210",
    collect="",
    return_to="Plot 7, Bhiwandi 421302",
    contents="Blue kurta x 2",
)
# One that joins and reorders its letters for each font that must shape, and others that must only be there.
ADDRESSES = {
    "NotoSansDevanagari-Regular": "क्षत्रिय कॉलोनी श्री किर्ती विद्यार्थी",
    "NotoSansTamil-Regular": "கொடிமரத் தெரு ஸ்ரீரங்கம் திருச்சிராப்பள்ளி",
    "NotoSansBengali-Regular": "শ্রী বিবেকানন্দ পল্লী কলকাতা",
    "NotoSansGujarati-Regular": "શ્રી ક્ષત્રિય સોસાયટી",
    "NotoSansTelugu-Regular": "శ్రీకృష్ణ దేవరాయ వీధి",
    "NotoSansKannada-Regular": "ಶ್ರೀ ಕೃಷ್ಣ ರಸ್ತೆ ಬೆಂಗಳೂರು",
    "NotoSansMalayalam-Regular": "ശ്രീകൃഷ്ണ റോഡ് കൊച്ചി",
    "NotoSansGurmukhi-Regular": "ਸ੍ਰੀ ਹਰਿਮੰਦਰ ਮਾਰਗ ਸਿੱਖ",
    "NotoSansOriya-Regular": "ଶ୍ରୀ କ୍ଷେତ୍ର ଓଡ଼ିଆ",
    "NotoSans-Regular": "ul. Świętokrzyska Łódź Nguyễn Văn Trỗi Αθήνα Ђорђе",
    "NotoSansArabic-Regular": "گلی قاسم جان بلی ماران",
}


def label(**changes: object) -> bytes:
    return label_pdf([replace(PAGE, **changes)])  # type: ignore[arg-type]


def text(content: bytes) -> str:
    page = pypdfium2.PdfDocument(content)[0]
    return str(page.get_textpage().get_text_range())


@pytest.mark.parametrize("font", [name for name in ADDRESSES if name != "NotoSans-Regular"])
def test_letters_are_joined_as_their_script_wants(font: str) -> None:
    """One by one, without joining and ordering, the glyphs would be others or stand elsewhere."""
    pieces = [piece for piece in set_line(ADDRESSES[font], 12.0) if piece.spoken]
    assert {piece.font for piece in pieces} == {font}
    assert " ".join(piece.spoken for piece in (pieces[::-1] if font == LEFTWARD else pieces)) == ADDRESSES[font]
    for piece in pieces:
        shaped = piece.shown.__shapeData__  # type: ignore[attr-defined]
        assert [glyph.cluster for glyph in shaped] != list(range(len(piece.spoken)))
        assert abs(piece.width - sum(glyph.x_advance for glyph in shaped) * 12 / 1000) < 0.01


@pytest.mark.parametrize("font", ADDRESSES)
def test_address_can_be_copied_out_of_the_page_as_it_came(font: str) -> None:
    copied = text(label(address=ADDRESSES[font], name=ADDRESSES[font][:9]))
    assert [word for word in ADDRESSES[font].split() if word not in copied] == []


def text_pixels(content: bytes) -> tuple[int, int]:
    """The first and last column with ink in the first line of the address, at 203 dpi."""
    scale = 203 / 72
    picture = pypdfium2.PdfDocument(content)[0].render(scale=scale).to_pil().convert("L")
    line = picture.crop((int(12 * scale), int((432 - 251) * scale), int(276 * scale), int((432 - 237) * scale)))
    box = line.point(lambda value: 255 if value < 128 else 0).getbbox()
    assert box
    return box[0], box[2]


def test_letter_that_no_font_has_is_marked() -> None:
    assert text(label(address="東 😀 Pune")).count("\ufffd") == 2


def test_fonts_hold_what_is_shown_and_plain_labels_share_theirs() -> None:
    one, other = font_files(label(name="Asha")), font_files(label(name="Zubin", address="Quay 9"))
    assert one == other, "labels in plain Latin carry the same font bytes: a bundle can share them"
    assert len(label()) < 25_000
    assert sum(map(len, font_files(label(address=ADDRESSES["NotoSansDevanagari-Regular"])))) < 30_000


def font_files(content: bytes) -> list[bytes]:
    with pikepdf.open(io.BytesIO(content)) as pdf:
        streams = [thing for thing in pdf.objects if isinstance(thing, pikepdf.Stream) and "/Length1" in thing]
        return sorted(bytes(stream.read_raw_bytes()) for stream in streams)


def test_same_pages_are_the_same_bytes() -> None:
    pages = [replace(PAGE, address=address, collect="59.00") for address in ADDRESSES.values()]
    assert label_pdf(pages) == label_pdf(pages)


def test_labels_made_at_the_same_time_do_not_mix() -> None:
    pages = [
        [replace(PAGE, address=address, reference=f"REF-{number}")]
        for number in range(3)
        for address in ADDRESSES.values()
    ]
    with ThreadPoolExecutor(6) as workers:
        assert list(workers.map(label_pdf, pages)) == [label_pdf(page) for page in pages]


def test_box_is_the_stock_and_no_printer_may_scale_it() -> None:
    with pikepdf.open(io.BytesIO(label())) as pdf:
        page = pdf.pages[0]
        assert [float(side) for side in page.MediaBox] == [0, 0, 288, 432]
        assert page.get("/Rotate", 0) == 0
        assert pdf.Root.ViewerPreferences.PrintScaling == "/None"
        assert "/XObject" not in page.Resources or not page.Resources.XObject.keys(), "vectors only"


@pytest.mark.parametrize(
    "awb", ["AB-1", "SH-7KQ2M9X", "SH-7KQ2M9X-02", "123456789012", "OWN-abcdefghijKLMNOPQRST", "W" * 24 + "-101"]
)
def test_barcode_is_whole_dots_and_reads_back(awb: str) -> None:
    content = label(awb_number=awb)
    picture = pypdfium2.PdfDocument(content)[0].render(scale=203 / 72).to_pil()
    (found,) = zxingcpp.read_barcodes(picture)
    assert (found.format, found.text) == (zxingcpp.BarcodeFormat.Code128, awb)
    assert awb in text(content)
    dots = bar_edges(content)
    assert all(abs(edge - round(edge)) < 0.01 for edge in dots)
    assert min(dots) - 25 >= 10 * 2, "white margin between frame and bars"


def bar_edges(content: bytes) -> list[float]:
    """Left and right edges of the bars, in dots of a 203 dpi printer."""
    with pikepdf.open(io.BytesIO(content)) as pdf:
        scale, origin = 1.0, 0.0
        kept = []
        edges = []
        for operands, operator in pikepdf.parse_content_stream(pdf.pages[0]):
            match str(operator):
                case "q":
                    kept.append((scale, origin))
                case "Q":
                    scale, origin = kept.pop()
                case "cm":
                    origin += scale * float(operands[4])
                    scale *= float(operands[0])
                case "re" if scale * float(operands[3]) > 50 and scale * float(operands[2]) < 20:
                    left = origin + scale * float(operands[0])
                    edges += [left * 203 / 72, (left + scale * float(operands[2])) * 203 / 72]
    assert edges
    return edges


def test_long_address_shrinks_and_none_of_it_is_lost() -> None:
    words = [f"landmark{number}" for number in range(50)]
    copied = text(label(address=" ".join(words))).split()
    assert [word for word in words if word not in copied] == []


@pytest.mark.parametrize(
    "address", ["far " * 400, "अतिविशाल" * 200, "x" * 5_000, "क्" * 900 + "क", "東" * 700, "x," * 300_000]
)
def test_what_does_not_fit_ends_with_an_ellipsis(address: str) -> None:
    content = label(address=address)
    assert "…" in text(content)
    first, last = text_pixels(content)
    assert 0 < first < last < 745


def test_long_fields_stay_in_their_places() -> None:
    long = label(name="N" * 200, reference="R" * 200, hub="H" * 90, mobile="+91 98765 43210 99", postal_code="P" * 40)
    assert text(long).count("…") == 3
    assert "P" * 40 in text(long)
    assert "+91 98765 43210 99" in text(long)


def test_cod_and_prepaid_are_told_apart() -> None:
    cod, prepaid = text(label(collect="1259.50")), text(label())
    assert "COD" in cod
    assert "₹ 1259.50" in cod
    assert "PREPAID" not in cod
    assert "PREPAID" in prepaid
    assert "₹" not in prepaid
