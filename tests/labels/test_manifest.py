"""The manifest as people read it and the index as machines do."""

import csv
import io
from dataclasses import replace
from decimal import Decimal

import pypdfium2
import pytest

from logistics_batch.model.answers import INDEX_COLUMNS
from logistics_batch.model.run_reports import MissingLabel
from logistics_batch.paper.fonts import Style, shorten, text_width, wrap
from logistics_batch.paper.labels.manifest import Manifest, ManifestLine, index_csv
from logistics_batch.paper.labels.papers import manifest_pdf

LINE = ManifestLine(
    sequence=1,
    part=1,
    page=2,
    awb_number="SH-0000001",
    reference_number="ORD-1",
    name="Asha Rao",
    pincode="560001",
    items="LAMP x 2, SHADE x 1",
    quantity="3",
    cash=Decimal("1299.50"),
    group="BLR · R-2",
    file="orders.xlsx",
    sheet="Orders",
    rows=(4, 5, 6, 9),
    sha256="ab" * 32,
)
LOST = MissingLabel("ORD-9", "", "the AWB is not known", "look the order up", "orders.xlsx", "Orders", (12,))


def text_of(content: bytes) -> list[str]:
    pdf = pypdfium2.PdfDocument(content)
    try:
        return [page.get_textpage().get_text_bounded() for page in pdf]
    finally:
        pdf.close()


def test_first_page_leads_with_what_is_missing() -> None:
    lines = (LINE, replace(LINE, sequence=2, page=3, awb_number="SH-0000002", reference_number="ORD-2", group="BOM"))
    first, *rest = text_of(manifest_pdf(Manifest("L1", lines=lines, missing=(LOST,), files=("labels.pdf",))))
    for words in (
        "L1",
        "MISSING: 1 order has no label",
        "ORD-9",
        "the AWB is not known",
        "look the order up",
        "row 12",
    ):
        assert words in first
    assert first.index("MISSING") < first.index("Groups in walking order")
    assert "₹ 2,599.00" in first
    assert "SH-0000001" in first
    assert "SH-0000002" in first
    assert "signature" in first
    assert "page 1 of" in first
    assert "BLR · R-2: label 1 of 2" in rest[0]
    assert "LAMP x 2" in rest[0]


def test_long_reason_of_a_reprint_is_read_to_its_end() -> None:
    reason = "the roll jammed after a third of the labels and the rest came out blank, then the power went " * 3
    pages = text_of(manifest_pdf(Manifest("L1", lines=(replace(LINE, copy=2),), reprint_reason=reason)))
    assert " ".join(reason.split()) in " ".join(pages[0].split())
    assert "SH-0000001 REPRINT 2" in " ".join(pages[1].split())


@pytest.mark.parametrize("copy", [1, 2])
def test_awb_and_package_are_never_cut(copy: int) -> None:
    awb, reference = "SH-" + "40B5DXR7" * 4 + "-03", "FV-2026-11-21-000000000002"
    line = replace(LINE, awb_number=awb, reference_number=reference, package="12 of 13", items="LAMP", copy=copy)
    pages = text_of(manifest_pdf(Manifest("L1", lines=(line,))))
    together = "".join(pages[1].split())
    assert "7-03" in together
    assert "13)" in together
    assert "…" not in pages[1]
    assert "…" not in pages[0]


@pytest.mark.parametrize("copy", [1, 2])
def test_a_long_name_is_never_cut(copy: int) -> None:
    line = replace(LINE, copy=copy, name="Meenakshi Subramaniam for the Residents of Seventh Cross, Last House")
    pages = text_of(manifest_pdf(Manifest("L1", lines=(line, replace(LINE, sequence=2)))))
    assert set(line.name.split()) <= set(" ".join(pages).split())
    assert "…" not in pages[1]


@pytest.mark.parametrize("copy", [1, 2])
def test_quantities_are_never_cut(copy: int) -> None:
    items = ", ".join(f"LAMP-{number:03} x {number}" for number in range(1, 141))
    line = replace(LINE, items=items, quantity="12345678", cash=Decimal("123456789.50"), copy=copy)
    pages = text_of(manifest_pdf(Manifest("L1", lines=(line, replace(LINE, sequence=2)))))
    together = " ".join(" ".join(pages).split())
    assert all(f"LAMP-{number:03}" in together for number in range(1, 141))
    assert "x 139," in together
    assert "12345678" in together
    assert "12,34,56,789.50" in pages[1]
    assert not any("…" in page for page in pages)


def test_page_is_told_with_its_file_only_where_there_are_several() -> None:
    alone = " ".join(text_of(manifest_pdf(Manifest("L1", lines=(LINE,), files=("labels.pdf",))))[1].split())
    assert "No. Page AWB" in alone
    assert "1 2 SH-0000001" in alone
    both = Manifest("L1", lines=(replace(LINE, part=2),), files=("labels_part-01.pdf", "labels_part-02.pdf"))
    several = " ".join(text_of(manifest_pdf(both))[1].split())
    assert "No. File/page AWB" in several
    assert "1 2/2 SH-0000001" in several


def test_long_manifest_goes_on_with_heads_on_each_page() -> None:
    lines = tuple(replace(LINE, sequence=n, reference_number=f"ORD-{n}") for n in range(1, 201))
    lost = tuple(replace(LOST, reference_number=f"LOST-{n}") for n in range(60))
    pages = text_of(manifest_pdf(Manifest("L1", lines=lines, missing=lost)))
    together = "\n".join(pages)
    assert all(f"ORD-{n}" in together for n in range(1, 201))
    assert all(f"LOST-{n}" in together for n in range(60))
    assert len(pages) > 5
    assert all("AWB" in page for page in pages)
    assert all(f"page {number} of" in page for number, page in enumerate(pages, start=1))


def test_same_manifest_gives_the_same_bytes() -> None:
    assert manifest_pdf(Manifest("L1", lines=(LINE,))) == manifest_pdf(Manifest("L1", lines=(LINE,)))


@pytest.mark.parametrize(
    "name",
    [
        *("Łukasz Żółć", "Đặng Thị", "Алёна", "Γιώργος"),
        "सुनीता क्षीरसागर",
        "শ্রীমতী ব্যানার্জী",
        "ਗੁਰਪ੍ਰੀਤ ਸਿੰਘ",
        "સ્ત્રી પ્રજ્ઞા",
        "ଶ୍ରୀମତୀ",
        "தமிழ்ச்செல்வன்",
        "కృష్ణమూర్తి",
        "ಶ್ರೀನಿವಾಸ",
        "ജ്യോതിലക്ഷ്മി",
    ],
)
def test_names_in_any_script_stand_on_the_page(name: str) -> None:
    """What a glyph of several letters stands for is what a reader of the page finds and copies."""
    pages = text_of(manifest_pdf(Manifest("L1", lines=(replace(LINE, name=name),))))
    assert name in pages[1]
    assert "\ufffd" not in pages[1]


def test_letter_that_no_font_has_is_seen_to_be_missing() -> None:
    pages = text_of(manifest_pdf(Manifest("L1", lines=(replace(LINE, name="李 Rao"),))))
    assert "\ufffd Rao" in pages[1]


def test_letters_that_join_are_joined() -> None:
    style = Style(10)
    assert text_width("क्ष", style) < text_width("क", style) + text_width("ष", style)
    assert text_width("محمد", style) != sum(text_width(letter, style) for letter in "محمد")


def test_text_is_cut_and_broken_to_fit() -> None:
    style = Style(10)
    cut = shorten("LAMP-STAND-BRASS-LARGE", width=60, style=style)
    assert cut.endswith("…")
    assert text_width(cut, style) <= 60
    assert shorten("LAMP", width=60, style=style) == "LAMP"
    lines = wrap("the AWB is not known ORD-0000000000000000000000001", width=60, style=style)
    assert " ".join(lines).replace(" ", "") == "theAWBisnotknownORD-0000000000000000000000001"
    assert all(text_width(line, style) <= 60 for line in lines)


def test_vowel_sign_stays_with_its_letter_when_cut() -> None:
    style = Style(10)
    for width in range(8, 60):
        cut = shorten("किकिकिकिकि", width=width, style=style).removesuffix("…")
        assert cut == "कि" * (len(cut) // 2)


def test_index_lists_every_page_and_every_missing_order() -> None:
    index = index_csv(Manifest("L1", lines=(LINE, replace(LINE, copy=2)), missing=(LOST,)))
    assert index.startswith(b"\xef\xbb\xbf")
    rows = list(csv.DictReader(io.StringIO(index.decode("utf-8-sig"))))
    assert tuple(rows[0]) == INDEX_COLUMNS
    assert (
        rows[0] | {"page": "2", "part": "1", "awb_number": "SH-0000001", "row": "4-6 9", "status": "printed"} == rows[0]
    )
    assert rows[1]["status"] == "reprint"
    assert rows[2]["status"] == "missing"
    assert rows[2]["reason"] == "the AWB is not known"
    assert rows[2]["page"] == ""


def test_index_cannot_calculate() -> None:
    evil = replace(LINE, reference_number='=HYPERLINK("http://evil.test")', group="@SUM(A1)")
    rows = list(csv.reader(io.StringIO(index_csv(Manifest("L1", lines=(evil,))).decode("utf-8-sig"))))
    assert not [cell for cell in rows[1] if cell[:1] in "=+-@" and cell]
