"""What goes back under our name holds nothing active: what the user's workbook fetched, started or linked is gone."""

import html
import time

import pytest
from support.active_workbooks import ACTIVE, FETCHING, SUMMARY, WORKBOOK, Package
from support.result_samples import SHEET, STATUS, opened, order_report, order_workbook, packed, parts_of, read_again
from support.rich_workbooks import RICH, rich_workbook

from logistics_batch import messages
from logistics_batch.model.sheet import Sheet
from logistics_batch.paper.answers.fix_file import fix_file
from logistics_batch.paper.answers.result_workbook import result_workbook
from logistics_batch.paper.xlsx.formulas import FormulaJudge
from logistics_batch.paper.xlsx.inert import RemovedParts, inert_workbook

PATCHED = {name: each for name, each in ACTIVE.items() if each.told}
PLAIN = {name: each for name, each in ACTIVE.items() if not each.told}


@pytest.fixture(scope="module")
def orders(tmp_path_factory: pytest.TempPathFactory) -> Sheet:
    folder = tmp_path_factory.mktemp("orders")
    return next(sheet for sheet in read_again(order_workbook(), folder) if sheet.name == SHEET)


def answers(original: bytes, sheet: Sheet) -> dict[str, bytes]:
    """The result and the fix file that a workbook gets."""
    report, safe = order_report(), inert_workbook(original)
    fix = fix_file(report, sheet=sheet)
    assert fix is not None
    return {"result": result_workbook(report, sheet=sheet, original=safe), "fix": fix}


def everything_in(content: bytes) -> str:
    """The names and the unpacked bytes of all parts, as a program would understand them."""
    parts = parts_of(content)
    return "\n".join([*parts, *(html.unescape(part.decode("utf-8", "replace")) for part in parts.values())])


@pytest.mark.parametrize("name", ACTIVE)
def test_nothing_active_comes_back(name: str, orders: Sheet) -> None:
    active = ACTIVE[name]
    before = everything_in(active.workbook())
    assert any(bad in before for bad in active.gone)
    for kind, content in answers(active.workbook(), orders).items():
        text = everything_in(content)
        assert [bad for bad in active.gone if bad in text] == [], kind


@pytest.mark.parametrize("name", PATCHED)
def test_values_and_formats_stay_and_people_are_told(name: str, orders: Sheet) -> None:
    active = PATCHED[name]
    safe = inert_workbook(active.workbook())
    assert {each.value for each in safe.removed} == active.told
    result = result_workbook(order_report(), sheet=orders, original=safe)
    before, after = opened(order_workbook(active.change), values=True), opened(result, values=True)
    for line in before.iter_rows(max_col=8):
        for cell in line:
            same = after[cell.coordinate]
            assert (same.value, same.number_format) == (cell.value, cell.number_format)
            assert (repr(same.font), repr(same.border)) == (repr(cell.font), repr(cell.border))
    legend = opened(result).cell(4, 9).comment
    assert legend is not None
    assert all(messages.reason(f"taken_out.{RemovedParts(each)}", {}) in legend.text for each in active.told)


@pytest.mark.parametrize("name", PLAIN)
def test_what_cannot_be_taken_out_gives_a_plain_copy_of_the_rows(name: str, orders: Sheet) -> None:
    result = opened(answers(PLAIN[name].workbook(), orders)["result"])
    assert tuple(result.cell(4, column).value for column in range(9, 14)) == STATUS
    assert result["C5"].value == "+919876543205"
    legend = result.cell(4, 9).comment
    assert legend is not None
    assert "This is a plain copy of your rows" in legend.text


@pytest.mark.parametrize("name", RICH)
def test_a_workbook_without_anything_active_stays_as_it_is(name: str) -> None:
    original = rich_workbook(name)
    safe = inert_workbook(original)
    assert (safe.content == original, safe.removed, safe.obstacle) == (True, (), "")


def test_remarks_in_a_part_do_no_harm() -> None:
    parts = parts_of(order_workbook())
    parts["xl/theme/theme1.xml"] = parts["xl/theme/theme1.xml"].replace(
        b"<a:clrScheme", b"<!-- made by hand --><a:clrScheme", 1
    )
    assert b"made by hand" in parts["xl/theme/theme1.xml"]
    safe = inert_workbook(packed(parts))
    assert (safe.removed, safe.obstacle) == ((), "")


def test_a_remark_does_not_hide_what_a_formula_does() -> None:
    package = Package(None)
    package.in_part("xl/charts/chart1.xml", "'Orders'!$F$5:$F$10", 'WEBSERVICE<!--+SUM-->("https://example.com")')
    safe = inert_workbook(packed(package.parts))
    assert safe.removed == (RemovedParts.FORMULAS,)
    assert b"WEBSERVICE" not in parts_of(safe.content)["xl/charts/chart1.xml"]


def test_where_a_workbook_was_saved_is_no_link() -> None:
    package = Package(None)
    kind = "http://schemas.microsoft.com/office/spreadsheetml/2010/11/ac"
    saved_at = f'<x15ac:absPath xmlns:x15ac="{kind}" url="\\\\server\\share\\"/>'
    package.before(WORKBOOK, "<bookViews", saved_at)
    safe = inert_workbook(packed(package.parts))
    assert (safe.removed, safe.obstacle) == ((), "")


# -- formulas and links ----------------------------------------------------------------------------------------------

CALCULATING = (
    "SUM(F5:F9)*2",
    "'It''s late'!A1+Orders!$B$2",
    "SUM(Jan:Mar!A1)",
    'IF(A1="x""y",B1,"=cmd|\'/C calc\'!A0 [1]Sheet!A1 http://example.com")',
    "Outbound[[#This Row],[Qty '#]]*Outbound[Rate]",
    "_xlfn.XLOOKUP(A1,Fine,B:B)+_xlfn._xlws.FILTER(A1:A3,B1:B3>0)+_xlfn.LET(_xlpm.x,1,_xlpm.x)",
    "Orders!#REF!+#REF!+{1,2;3,4}+50%-LOG10(2)+A1#",
    'HYPERLINK("https://example.com/track?n="&A5,"Track")',
    'HYPERLINK("mailto:desk@example.com")&HYPERLINK("#Orders!A1","Up")',
)
REACHING = (
    *FETCHING,
    "[1]Prices!B2",
    "'[1]Price list'!B2",
    "[1]!Rates",
    "'C:\\lists\\[b.xlsx]Sheet1'!A1",
    "'C:\\lists\\b.xlsx'!Rates",
    "b.xlsx!Rates",
    "'[2]Rates'!B2",
    "'\\\\example.com\\lists\\[b.xlsx]Rates'!B2",
    "'cmd|''/C calc'''!A0",
    "cmd|'/C calc'!A0",
    "cmd|/C!A0",
    "Dead+1",
    "SUM(dead2)",
    "Outbound[Rate]Sheet1!A1",
    'HYPERLINK(A1,"https://example.com")',
    'HYPERLINK(" https://example.com")',
    'Orders!WEBSERVICE("x")',
    "UNKNOWN(1)",
    "1" * 9_000,
)  # fmt: skip


def judge() -> FormulaJudge:
    names = [("Fine", "Orders!$A$1:$A$9"), ("Dead", "[1]Prices!A1"), ("Dead2", "DEAD*2")]
    # No program lets a sheet have one of the last three names, but a file may say so.
    sheets = ["Orders", "It's late", "Jan", "Mar", "[2]Rates", "\\\\example.com\\lists\\[b.xlsx]Rates", "cmd|'/C calc'"]
    return FormulaJudge(sheets, names)


@pytest.mark.parametrize("formula", CALCULATING)
def test_a_formula_that_calculates_stays(formula: str) -> None:
    assert not judge().is_active(formula)


def test_a_long_chain_of_names_that_ends_in_an_active_one_is_followed_once() -> None:
    """20,000 names that each use the next took all the time that a file may take."""
    names = [(f"n{number}", f"n{number + 1}") for number in range(20_000)] + [("n20000", "cmd|'/C calc'!A0")]
    judge = FormulaJudge(["Orders"], names)
    assert judge.is_active("n0+1")
    assert not judge.is_active("SUM(A1:A2)")


@pytest.mark.parametrize("formula", REACHING)
def test_a_formula_that_does_more_is_known(formula: str) -> None:
    assert judge().is_active(formula)


def test_only_the_formulas_that_do_more_give_way_to_their_values() -> None:
    package = Package(None)
    package.formula('_xlfn.WEBSERVICE("https://example.com")')
    sheet = opened(inert_workbook(packed(package.parts)).content)
    assert (sheet["H5"].value, sheet["H6"].value) == (5 * 99.5, "=F6*G6")


def test_good_links_stay() -> None:
    result = opened(inert_workbook(ACTIVE["links"].workbook()).content)
    links = {cell.coordinate: cell.hyperlink.target for line in result.iter_rows() for cell in line if cell.hyperlink}
    assert links == {"B5": "https://example.com/track?n=1", "B6": "mailto:desk@example.com"}


def test_a_second_look_finds_nothing_left_to_take_out() -> None:
    for active in PATCHED.values():
        once = inert_workbook(active.workbook()).content
        assert inert_workbook(once).removed == ()


@pytest.mark.parametrize(
    "text",
    ["'" * 8_000, '"' * 7_999, "[" * 8_000, "a[" + "['" * 4_000, "a[" + "[a]" * 2_600, "A" * 8_000 + "|", "a." * 4_000],
    ids=lambda text: text[:4],
)
def test_no_formula_keeps_the_judge_busy(text: str) -> None:
    start = time.monotonic()
    for _ in range(20):
        judge().is_active(text)
    assert time.monotonic() - start < 10


@pytest.mark.parametrize("filler", [b"<f>", b"<f ", b"<c>" + b" " * 10, b" " * 3, b"<f a='", b"<c r='1'"], ids=repr)
def test_no_sheet_keeps_the_search_for_formulas_busy(filler: bytes) -> None:
    parts = parts_of(order_workbook())
    parts[SUMMARY] = parts[SUMMARY].replace(b"</sheetData>", b"<f" + filler * 100_000 + b"</sheetData>")
    start = time.monotonic()
    inert_workbook(packed(parts))
    assert time.monotonic() - start < 20
