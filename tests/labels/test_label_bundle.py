"""The bundle as a printer and a scanner see it."""

import io
from decimal import Decimal
from pathlib import Path

import pikepdf
import pytest
from labels.label_files import HEIGHT, WIDTH, changed, cropped, label, page_sizes, rotated, scan

from logistics_batch.paper.labels.bundle import Bundle, BundleOptions, OrderedLabel, build_bundle
from logistics_batch.paper.labels.layout import StockLayout

A4, LETTER = (595.3, 841.9), (612.0, 792.0)


def awbs(count: int) -> list[str]:
    return [f"SH-{number:07}" for number in range(1, count + 1)]


def ordered(folder: Path, contents: dict[str, bytes], *, groups: dict[str, str] | None = None) -> list[OrderedLabel]:
    labels = []
    for awb, content in contents.items():
        path = folder / f"{awb}.pdf"
        path.write_bytes(content)
        with pikepdf.open(path) as pdf:
            pages = len(pdf.pages)
        group = (groups or {}).get(awb, "")
        labels.append(OrderedLabel(awb, path, order=awb, pages=pages, group=group, cash=Decimal("10.50")))
    return labels


def many(folder: Path, count: int) -> list[OrderedLabel]:
    return ordered(folder, {awb: label(awb) for awb in awbs(count)})


def flat(pages: list[list[str]]) -> list[str]:
    return [code for page in pages for code in page]


def only(bundle: Bundle) -> bytes:
    (part,) = bundle.parts
    assert part.name == "labels.pdf"
    return part.content


def test_4x6_pages_carry_the_barcodes_in_order(tmp_path: Path) -> None:
    labels = many(tmp_path, 7)
    labels = [labels[number] for number in (4, 0, 6, 2, 1, 5, 3)]
    bundle = build_bundle(labels)
    assert scan(only(bundle)) == [[one.awb_number] for one in labels]
    assert page_sizes(only(bundle)) == [(WIDTH, HEIGHT)] * 7
    assert [(placed.sequence, placed.part, placed.page) for placed in bundle.placed] == [(n, 1, n) for n in range(1, 8)]
    assert bundle.warnings == ()


def test_reverse_prints_the_last_first_and_keeps_walking_numbers(tmp_path: Path) -> None:
    bundle = build_bundle(many(tmp_path, 4), BundleOptions(reverse=True))
    assert flat(scan(only(bundle))) == awbs(4)[::-1]
    assert [(placed.sequence, placed.page) for placed in bundle.placed] == [(1, 4), (2, 3), (3, 2), (4, 1)]


@pytest.mark.parametrize(
    ("layout", "slots", "paper", "told"),
    [
        (StockLayout.A4_2UP, 2, A4, []),
        (StockLayout.A4_4UP, 4, A4, ["labels at 94% of their size or more on this paper"]),
        (
            StockLayout.LETTER_4UP,
            4,
            LETTER,
            [f"9 label page(s) are shrunk on this paper, none to less than 88% (the first: {awbs(1)[0]}); scan one"],
        ),
    ],
)
def test_sheets_carry_the_barcodes_in_order(
    tmp_path: Path, layout: StockLayout, slots: int, paper: tuple[float, float], told: list[str]
) -> None:
    bundle = build_bundle(many(tmp_path, 9), BundleOptions(layout=layout))
    content = only(bundle)
    assert scan(content, dpi=300) == [awbs(9)[start : start + slots] for start in range(0, 9, slots)]
    assert set(page_sizes(content)) == {paper}
    assert [placed.page for placed in bundle.placed] == [number // slots + 1 for number in range(9)]
    assert [warning[: len(words)] for warning, words in zip(bundle.warnings, told, strict=True)] == told


def test_the_label_that_is_shrunk_on_a_sheet_is_named_and_counted(tmp_path: Path) -> None:
    awb = "SH-0000002"
    labels = ordered(tmp_path, {"SH-0000001": label("SH-0000001"), awb: label(awb, size=(595.3, 841.9))})
    (warning,) = build_bundle(labels, BundleOptions(layout=StockLayout.A4_2UP)).warnings
    assert warning.startswith("1 label page(s) are shrunk on this paper, none to less than ")
    assert f"(the first: {awb}); scan one printed label" in warning


def test_printers_are_told_not_to_scale(tmp_path: Path) -> None:
    with pikepdf.open(io.BytesIO(only(build_bundle(many(tmp_path, 1))))) as pdf:
        assert pdf.Root.ViewerPreferences.PrintScaling == "/None"


@pytest.mark.parametrize("layout", list(StockLayout))
def test_rotation_is_kept_and_lying_labels_stand_upright(tmp_path: Path, layout: StockLayout) -> None:
    turned = {f"SH-0000{degrees:03d}": degrees for degrees in (0, 90, 180, 270)}
    labels = ordered(tmp_path, {awb: rotated(label(awb), degrees) for awb, degrees in turned.items()})
    content = only(build_bundle(labels, BundleOptions(layout=layout)))
    assert sorted(awb for page in scan(content, dpi=300) for awb in page) == sorted(turned)
    if layout is StockLayout.STOCK_4X6:
        assert page_sizes(content) == [(WIDTH, HEIGHT)] * 4


@pytest.mark.parametrize("layout", list(StockLayout))
def test_what_is_cropped_away_is_not_printed(tmp_path: Path, layout: StockLayout) -> None:
    labels = ordered(tmp_path, {"SH-0000001": cropped("SH-0000001")})
    assert scan(only(build_bundle(labels, BundleOptions(layout=layout))), dpi=300) == [["SH-0000001"]]


def test_smaller_label_is_centred_on_the_stock_at_its_own_size(tmp_path: Path) -> None:
    small = label("SH-0000001", size=(283.5, 425.2))  # 100 x 150 mm
    bundle = build_bundle(ordered(tmp_path, {"SH-0000001": small}))
    assert page_sizes(only(bundle)) == [(WIDTH, HEIGHT)]
    assert scan(only(bundle)) == [["SH-0000001"]]
    with pikepdf.open(io.BytesIO(only(bundle))) as pdf:
        assert b"q 1 0 0 1 2.25 3.4 cm" in pdf.pages[0].Contents.read_bytes()
    tiny = build_bundle(ordered(tmp_path, {"SH-0000002": label("SH-0000002", size=(200, 400))}))
    assert any("smaller" in warning for warning in tiny.warnings)


def test_label_larger_than_the_stock_is_left_out_and_the_rest_goes_on(tmp_path: Path) -> None:
    labels = ordered(
        tmp_path, {"SH-0000001": label("SH-0000001"), "SH-0000002": label("SH-0000002", size=(595.3, 841.9))}
    )
    bundle = build_bundle(labels)
    assert scan(only(bundle)) == [["SH-0000001"]]
    assert list(bundle.left_out) == [1]
    assert "210 x 297 mm" in bundle.left_out[1]
    assert "a4-2up" in bundle.left_out[1]
    assert not build_bundle(labels, BundleOptions(layout=StockLayout.A4_2UP)).left_out


def test_file_that_vanished_or_changed_is_left_out(tmp_path: Path) -> None:
    labels = many(tmp_path, 3)
    labels[0].path.unlink()
    labels[1].path.write_bytes(b"%PDF-1.4 nonsense")
    bundle = build_bundle(labels)
    assert list(bundle.left_out) == [0, 1]
    assert flat(scan(only(bundle))) == ["SH-0000003"]


def test_nothing_good_gives_no_part(tmp_path: Path) -> None:
    assert build_bundle([]).parts == ()


def test_parts_keep_packages_of_an_order_together(tmp_path: Path) -> None:
    sizes = [1, 2, 3, 1, 2]
    contents, labels = {}, []
    for number, size in enumerate(sizes, start=1):
        contents[f"SH-{number}"] = label(*(f"SH-{number}-{package}" for package in range(1, size + 1)))
    labels = ordered(tmp_path, contents)
    bundle = build_bundle(labels, BundleOptions(max_pages=4))
    assert [part.name for part in bundle.parts] == [f"labels_part-{n:02}-of-03.pdf" for n in (1, 2, 3)]
    printed = [flat(scan(part.content)) for part in bundle.parts]
    assert printed == [
        ["SH-1-1", "SH-2-1", "SH-2-2"],
        ["SH-3-1", "SH-3-2", "SH-3-3", "SH-4-1"],
        ["SH-5-1", "SH-5-2"],
    ]
    where = {placed.sequence: (placed.part, placed.page) for placed in bundle.placed}
    assert where[4] == (2, 1)
    assert where[9] == (3, 2)


def test_packages_in_files_of_their_own_stay_together(tmp_path: Path) -> None:
    labels = many(tmp_path, 4)
    labels = [
        OrderedLabel(one.awb_number, one.path, "A" if number < 1 else "B", one.pages)
        for number, one in enumerate(labels)
    ]
    bundle = build_bundle(labels, BundleOptions(max_pages=3))
    assert [len(scan(part.content)) for part in bundle.parts] == [1, 3]


def test_an_order_larger_than_a_part_is_not_torn(tmp_path: Path) -> None:
    labels = ordered(tmp_path, {"SH-1": label("SH-1-1", "SH-1-2", "SH-1-3")})
    assert [part.pages for part in build_bundle(labels, BundleOptions(max_pages=2)).parts] == [3]


@pytest.mark.parametrize("reverse", [False, True])
def test_separators_lead_their_group_in_the_stack_and_carry_no_barcode(tmp_path: Path, reverse: bool) -> None:
    names = awbs(5)
    groups = dict(zip(names, ["BLR", "BLR", "BOM", "BOM", "BOM"], strict=True))
    labels = ordered(tmp_path, {awb: label(awb) for awb in names}, groups=groups)
    bundle = build_bundle(labels, BundleOptions(reverse=reverse))
    pages = scan(only(bundle))
    wanted = [[], *[[awb] for awb in names[:2]], [], *[[awb] for awb in names[2:]]]
    assert pages == (wanted[::-1] if reverse else wanted)
    assert set(page_sizes(only(bundle))) == {(WIDTH, HEIGHT)}
    by_page = {placed.page: labels[placed.label].awb_number for placed in bundle.placed}
    assert by_page == {number: page[0] for number, page in enumerate(pages, start=1) if page}


def test_one_group_needs_no_separator(tmp_path: Path) -> None:
    labels = ordered(tmp_path, {awb: label(awb) for awb in awbs(2)}, groups=dict.fromkeys(awbs(2), "BLR"))
    assert len(scan(only(build_bundle(labels)))) == 2


def test_same_labels_give_the_same_bytes(tmp_path: Path) -> None:
    labels = many(tmp_path, 3)
    for layout in StockLayout:
        assert only(build_bundle(labels, BundleOptions(layout))) == only(build_bundle(labels, BundleOptions(layout)))


def test_fonts_are_stored_once(tmp_path: Path) -> None:
    """Two hundred labels with an embedded font of 40 kB stay small; the font is found once."""

    def with_font(content: bytes) -> bytes:
        def change(pdf: pikepdf.Pdf, page: pikepdf.Page) -> None:
            data = bytes(number * number % 251 for number in range(40_000))
            font_file = pdf.make_stream(data, Length1=len(data))
            descriptor = pdf.make_indirect(
                pikepdf.Dictionary(Type=pikepdf.Name.FontDescriptor, FontName=pikepdf.Name.AAA, FontFile2=font_file)
            )
            for font in page.obj.Resources.Font.values():
                font.FontDescriptor = descriptor

        return changed(content, change)

    labels = ordered(tmp_path, {awb: with_font(label(awb)) for awb in awbs(200)})
    for layout in StockLayout:
        content = only(build_bundle(labels, BundleOptions(layout)))
        with pikepdf.open(io.BytesIO(content)) as pdf:
            fonts = [thing for thing in pdf.objects if isinstance(thing, pikepdf.Stream) and "/Length1" in thing]
        assert len(fonts) == 1
        assert len(content) < 300_000


def test_annotations_are_printed_but_do_nothing(tmp_path: Path) -> None:
    """A stamp that lies over the page stays visible; its script and link do not come along."""

    def change(pdf: pikepdf.Pdf, page: pikepdf.Page) -> None:
        face = pdf.make_stream(b"0 0 100 40 re f", Type=pikepdf.Name.XObject, Subtype=pikepdf.Name.Form)
        face.BBox = [0, 0, 100, 40]
        action = pikepdf.Dictionary(S=pikepdf.Name.JavaScript, JS="app.alert(1)")
        stamp = pikepdf.Dictionary(
            Type=pikepdf.Name.Annot, Subtype=pikepdf.Name.Stamp, Rect=[40, 60, 140, 100], F=4, A=action
        )
        stamp.AP = pikepdf.Dictionary(N=face)
        page.obj.Annots = pikepdf.Array([pdf.make_indirect(stamp)])
        pdf.Root.OpenAction = action

    labels = ordered(tmp_path, {"SH-0000001": changed(label("SH-0000001"), change)})
    for layout in (StockLayout.STOCK_4X6, StockLayout.A4_4UP):
        content = only(build_bundle(labels, BundleOptions(layout)))
        with pikepdf.open(io.BytesIO(content)) as pdf:
            texts = [thing.unparse(resolved=True) for thing in pdf.objects if isinstance(thing, pikepdf.Dictionary)]
            assert not [text for text in texts if b"JavaScript" in text or b"/Annots" in text or b"OpenAction" in text]
            painted = [thing for thing in pdf.objects if isinstance(thing, pikepdf.Stream)]
            assert [thing for thing in painted if b"0 0 100 40 re" in thing.read_bytes()]
        assert flat(scan(content, dpi=300)) == ["SH-0000001"]


def test_resources_that_lead_back_to_themselves_are_copied(tmp_path: Path) -> None:
    """A label whose picture names itself among its resources, as some makers' files do."""

    def change(pdf: pikepdf.Pdf, page: pikepdf.Page) -> None:
        form = pdf.make_stream(page.obj.Contents.read_bytes(), Type=pikepdf.Name.XObject, Subtype=pikepdf.Name.Form)
        form.BBox = [0, 0, 288, 432]
        form.Resources = pikepdf.Dictionary(XObject=pikepdf.Dictionary(F=form), Font=page.obj.Resources.Font)
        page.obj.Resources = pikepdf.Dictionary(XObject=pikepdf.Dictionary(F=form))
        page.obj.Contents = pdf.make_stream(b"/F Do")

    labels = ordered(tmp_path, {awb: changed(label(awb), change) for awb in awbs(3)})
    for layout in StockLayout:
        assert flat(scan(only(build_bundle(labels, BundleOptions(layout))), dpi=300)) == awbs(3)


def test_resources_nested_beyond_reason_are_copied(tmp_path: Path) -> None:
    def change(pdf: pikepdf.Pdf, page: pikepdf.Page) -> None:
        deep: pikepdf.Object = pikepdf.Dictionary(End=pdf.make_indirect(pikepdf.Dictionary()))
        for _ in range(400):
            deep = pikepdf.Dictionary(A=deep)
        page.obj.Resources.ExtGState = pikepdf.Dictionary(G=deep)

    labels = ordered(tmp_path, {awb: changed(label(awb), change) for awb in awbs(2)})
    assert flat(scan(only(build_bundle(labels)), dpi=300)) == awbs(2)


def test_page_box_that_does_not_begin_at_zero(tmp_path: Path) -> None:
    def change(pdf: pikepdf.Pdf, page: pikepdf.Page) -> None:
        page.obj.Contents = pdf.make_stream(b"1 0 0 1 -500 700 cm\n" + page.obj.Contents.read_bytes())
        page.mediabox = [-500, 700, -212, 1132]

    labels = ordered(tmp_path, {"SH-0000001": changed(label("SH-0000001"), change)})
    for layout in StockLayout:
        assert flat(scan(only(build_bundle(labels, BundleOptions(layout))), dpi=300)) == ["SH-0000001"]
