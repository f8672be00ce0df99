"""NAME.result.csv: one line a row, safe to open, and nothing changed on the way back."""

import csv
import io

import polars as pl
import pytest
from support.issues import issue
from support.result_samples import bad_phone, order_report, row_result

from logistics_batch.model.report import Fate, FileReport
from logistics_batch.model.sheet import Sheet
from logistics_batch.paper.answers.result_csv import csv_bytes, result_csv

FIELDS = (
    "file,sheet,row,document,fate,rule,column,cell,value,reason,fix,reference_number,awb_number,run".split(",")  # noqa: SIM905
)


def sheet_of(*rows: tuple[str | None, ...]) -> Sheet:
    columns = {str(index): [row[index - 1] for row in rows] for index in range(1, len(rows[0]) + 1)}
    schema = {"row": pl.UInt32, **dict.fromkeys(columns, pl.String)}
    return Sheet("orders", pl.DataFrame({"row": range(1, len(rows) + 1), **columns}, schema=schema))


def report_of(*fates: Fate, **more: object) -> FileReport:
    rows = tuple(row_result(row, fate, sheet="orders") for row, fate in enumerate(fates, start=2))
    values: dict[str, object] = {"rows": rows, "issues": (), "header_row": 1, "sheet": "orders"}
    return order_report(**values | more)


def lines(content: bytes) -> list[list[str]]:
    return list(csv.reader(io.StringIO(content.decode("utf-8-sig"), newline="")))


def test_the_columns_are_ours_and_then_the_sources() -> None:
    sheet = sheet_of(("Order No", "Qty", "Qty", None, ""), ("SO-1", "1", "2", "x", None))
    found = lines(result_csv(report_of(Fate.ACCEPTED), sheet))
    assert found[0] == [*FIELDS, "src:Order No", "src:Qty", "src:Qty (column C)", "src:(column D)"]
    assert found[1][len(FIELDS) :] == ["SO-1", "1", "2", "x"]


def test_excel_is_told_that_the_file_is_utf8() -> None:
    content = result_csv(report_of(Fate.ACCEPTED), sheet_of(("Name",), ("अनीता",)))
    assert content.startswith(b"\xef\xbb\xbffile,")
    assert "अनीता" in content.decode("utf-8-sig")
    assert content.endswith(b"\r\n")


def test_each_row_stands_once_in_its_order_also_where_the_sheet_has_gaps() -> None:
    sheet = sheet_of(("Order",), ("SO-1",), ("SO-2",))
    found = lines(result_csv(report_of(Fate.ACCEPTED, Fate.INVALID, Fate.SKIPPED), sheet))
    place = FIELDS.index("row")
    assert [line[place] for line in found[1:]] == ["2", "3", "4"]
    assert [line[-1] for line in found[1:]] == ["SO-1", "SO-2", ""]


def test_of_several_issues_the_first_stands_in_the_columns_and_all_in_the_reason() -> None:
    issues = (bad_phone(2), bad_phone(2, "E"))
    line = dict(zip(FIELDS, lines(result_csv(report_of(Fate.INVALID, issues=issues), None))[1], strict=True))
    assert (line["rule"], line["column"], line["cell"], line["value"]) == (
        "customer_mobile|mobile",
        "Phone",
        "C2",
        "'+91 98",
    )
    assert line["reason"] == "C2: Four digits, ten are needed. | E2: Four digits, ten are needed."
    assert line["fix"] == "Write ten."


def test_each_of_several_remedies_names_its_cell() -> None:
    pin = issue(2, "pin", column="PIN", cell="D2", value="56", reason="It is no PIN.", remedy="Write six digits.")
    report = report_of(Fate.INVALID, issues=(bad_phone(2), pin))
    line = dict(zip(FIELDS, lines(result_csv(report, None))[1], strict=True))
    assert line["fix"] == "C2: Write ten. | D2: Write six digits."


def test_a_file_refused_before_it_has_rows_gives_one_line_without_a_row() -> None:
    report = order_report(rows=(), header_row=0, sheet="", reason="The file is encrypted.", remedy="Save it again.")
    found = [dict(zip(FIELDS, line, strict=True)) for line in lines(result_csv(report, None))[1:]]
    assert len(found) == 1
    assert (found[0]["row"], found[0]["fate"], found[0]["rule"]) == ("", "held", "file")
    assert (found[0]["reason"], found[0]["fix"]) == ("The file is encrypted.", "Save it again.")


def test_a_file_with_a_header_and_nothing_below_says_so() -> None:
    report = order_report(rows=(), issues=(), rows_read=0)
    found = [dict(zip(FIELDS, line, strict=True)) for line in lines(result_csv(report, None))[1:]]
    assert [(line["row"], line["fate"], line["reason"]) for line in found] == [
        ("", "skipped", "The file has a header but no rows.")
    ]


def test_rows_held_with_their_file_are_told_the_files_remedy() -> None:
    """No document waits for a decision then."""
    rows = tuple(row_result(row, Fate.HELD, reason="The header has changed.") for row in (2, 3))
    for remedy in ("Look at the mapping.", ""):
        report = order_report(rows=rows, issues=(), reason="The header has changed.", remedy=remedy)
        found = [dict(zip(FIELDS, line, strict=True)) for line in lines(result_csv(report, None))[1:]]
        assert {line["fix"] for line in found} == {remedy or "Correct what the reason names and send the file again."}
    alone = order_report(rows=rows, issues=())
    assert "operator decides" in dict(zip(FIELDS, lines(result_csv(alone, None))[1], strict=True))["fix"]


def test_the_columns_of_an_earlier_result_are_no_source_columns() -> None:
    sheet = sheet_of(
        ("Order", "Status", "Reason", "What to do", "AWB / reference", "Run"), ("SO-1", "invalid", "x", "y", "z", "r")
    )
    assert lines(result_csv(report_of(Fate.ACCEPTED), sheet))[0] == [*FIELDS, "src:Order"]


def test_formulas_are_guarded_and_plain_numbers_are_not() -> None:
    texts = ["=1+1", "+919876543210", "-12.50", "-1+1", "@SUM(A1)", "\t=1", "\r=1", "'quoted", "0012", "a=b", "\x00=1"]
    sheet = sheet_of(("T",), *((text,) for text in texts))
    found = [line[-1] for line in lines(result_csv(report_of(*[Fate.ACCEPTED] * len(texts)), sheet))[1:]]
    assert found == [
        "'=1+1",
        "'+919876543210",
        "-12.50",
        "'-1+1",
        "'@SUM(A1)",
        "'\t'=1",
        "'\r'=1",
        "'quoted",
        "0012",
        "a=b",
        "\\x00=1",
    ]


def test_a_long_text_stands_there_whole_and_control_characters_can_be_seen() -> None:
    """A workbook cuts what no cell holds, and says that the whole text is here."""
    text, shown = "a\x00\x07" + "x" * 40_000, "a\\x00\\x07" + "x" * 40_000
    rows = (row_result(2, Fate.REFUSED, reason=text),)
    found = lines(result_csv(report_of(Fate.REFUSED, rows=rows), sheet_of(("T",), (text,))))[1]
    assert (found[FIELDS.index("reason")], found[-1]) == (shown, shown)


def test_a_header_or_a_file_name_cannot_be_a_formula_either() -> None:
    report = report_of(Fate.ACCEPTED)
    rows = tuple(
        row_result(row, Fate(fate), reason="=cmd") for row, fate in report.rows.select("row", "fate").iter_rows()
    )
    content = result_csv(report_of(Fate.ACCEPTED, rows=rows), sheet_of(("=1+1",), ("x",)))
    assert not any(cell[:1] in "=+-@" for line in lines(content) for cell in line if cell)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("Call first;=1+1", "Call first;'=1+1"),
        ("Call first; +919876543210", "Call first;' +919876543210"),
        ("12 MG Road\n-1+1", "12 MG Road\n'-1+1"),
        ("a\t@SUM(A1)\r\n=2", "a\t'@SUM(A1)\r\n'=2"),
        (";=1;;+2", ";'=1;;'+2"),
        ('a;"=1+1', "a;'\"=1+1"),
        ("\uff1d1+1", "'\uff1d1+1"),
        ("\uff0b91", "'\uff0b91"),
        ("\uff0d1", "'\uff0d1"),
        ("x;\uff20A1", "x;'\uff20A1"),
        (" =1+1", "' =1+1"),
        ("\u00a0\u3000=1+1", "'\u00a0\u3000=1+1"),
        ("\ufeff=1+1", "'\ufeff=1+1"),
        ("\u200b\u202e=1", "'\u200b\u202e=1"),
        ("\n=1+1", "'\n'=1+1"),
        ('"=1+1"', '\'"=1+1"'),
        ("a,=1+1", "a,=1+1"),
        ("a;b=c", "a;b=c"),
        ("Flat 3; 2nd floor", "Flat 3; 2nd floor"),
    ],
)
def test_what_would_be_run_behind_another_separator_is_guarded(text: str, written: str) -> None:
    frame = pl.DataFrame({"T": [text]})
    assert list(csv.reader(io.StringIO(csv_bytes(frame).decode("utf-8-sig"), newline="")))[1] == [written]
