"""The workbook of a status report: numbers are numbers, texts stay texts, and what matters stands out."""

import csv
import io
from dataclasses import replace
from decimal import Decimal
from zoneinfo import ZoneInfo

import pytest
from openpyxl import Workbook, load_workbook
from openpyxl.worksheet.worksheet import Worksheet

from logistics_batch.model.run_reports import OrderLine
from logistics_batch.paper.order_status import (
    order_status_csv,
    order_status_workbook,
    status_feed_csv,
    status_feed_workbook,
)


def line(reference: str, status: str, *, at_end: bool = False, difference: str = "", row: int = 2) -> OrderLine:
    return OrderLine(
        reference,
        "SH-1",
        status,
        "2026-11-21T20:15:00+05:30",
        "fetch",
        "",
        "",
        2,
        at_end,
        item="=SUM(A1)",
        qty_sent=Decimal(3),
        qty_picked=Decimal("2.5"),
        cod_sent=Decimal("1234.50"),
        difference=difference,
        file="orders.csv",
        row=row,
    )


LINES = [
    line("SO-1", 'Said "done"', at_end=True),
    line("SO-2", "Picked", difference="2.5 of 3 picked", row=0),
    line("SO-3", "Complete", at_end=True),
]


def opened(content: bytes) -> Workbook:
    return load_workbook(io.BytesIO(content))


def lines_of(sheet: Worksheet) -> list[dict[str, object]]:
    titles, *rows = sheet.iter_rows(values_only=True)
    return [dict(zip(map(str, titles), row, strict=True)) for row in rows]


def rules_of(sheet: Worksheet) -> dict[str, str]:
    """By the cells that it is for the formula of each conditional format."""
    return {str(area.sqref): rule.formula[0] for area in sheet.conditional_formatting for rule in area.rules}


def test_what_differs_stands_on_a_sheet_of_its_own_and_numbers_are_numbers() -> None:
    book = opened(order_status_workbook(LINES, facts=[("Run", "run-1")]))
    assert book.sheetnames == ["Differences", "Orders", "About"]
    assert [each["Reference"] for each in lines_of(book["Differences"])] == ["SO-2"]
    first, second, _ = lines_of(book["Orders"])
    assert (first["Sent"], first["Picked"], first["Delivered"], first["COD sent"]) == (3, 2.5, None, 1234.5)
    assert (first["Item"], book["Orders"]["F2"].data_type, first["Row"], second["Row"]) == ("=SUM(A1)", "s", 2, None)
    assert (book["Orders"].freeze_panes, book["Orders"].auto_filter.ref) == ("D2", "A1:T4")
    assert book["About"]["B1"].value == "run-1"


def test_times_are_moments_in_the_settings_zone() -> None:
    told = replace(LINES[0], status_time="2026-11-21T18:45:30+00:00", sent_at="2026-11-20T23:59:59.5+05:30")
    sheet = opened(order_status_workbook([told], facts=[], zone=ZoneInfo("Asia/Kolkata")))["Orders"]
    (found,) = lines_of(sheet)
    assert str(found["Status since"]) == "2026-11-22 00:15:30"
    assert str(found["Sent at"]) == "2026-11-20 23:59:59"
    assert found["Asked at"] is None
    times = [cell for cell in sheet[2] if cell.is_date]
    assert {cell.number_format for cell in times} == {"dd mmm yyyy hh:mm:ss"}


def test_ends_differences_and_notes_are_coloured() -> None:
    sheet = opened(order_status_workbook(LINES, facts=[]))["Orders"]
    assert rules_of(sheet) == {
        "C2:C4": 'OR($C2="Said ""done""",$C2="Complete")',
        "D2:D4": '$D2<>""',
        "E2:E4": '$E2<>""',
    }


def test_nothing_to_tell_is_said() -> None:
    book = opened(order_status_workbook([], facts=[]))
    assert book["Differences"]["A2"].value == "Everything is as it was sent, as far as it is known."
    assert book["Orders"]["A2"].value == "No order."
    assert not rules_of(book["Orders"])


def test_a_feed_has_one_line_an_order_and_unknown_sums_stay_empty() -> None:
    (sheet,) = opened(status_feed_workbook([[LINES[0], LINES[0]], [LINES[1]]])).worksheets
    first, second = lines_of(sheet)
    assert (first["Reference"], first["Picked"], first["Delivered"]) == ("SO-1", 5, None)
    assert (second["Reference"], second["Difference"]) == ("SO-2", "2.5 of 3 picked")
    assert rules_of(sheet) == {"C2:C3": 'OR($C2="Said ""done""")', "K2:K3": '$K2<>""'}


@pytest.mark.parametrize(
    ("text", "written"),
    [(text, f"'{text}") for text in ("=SUM(A1)", "+91 98", "-1+1", "@SUM(A1)")]
    + [("\t=1", "'\t'=1"), ("late; =1+1", "late;' =1+1")],
)
def test_no_text_is_a_formula_in_a_csv(text: str, written: str) -> None:
    dangerous = replace(line(text, text, difference=text), item=text, file=text)
    for content, titles in (
        (order_status_csv([dangerous]), {"reference_number", "status", "item", "difference", "file"}),
        (status_feed_csv([[dangerous]]), {"reference_number", "status", "difference"}),
    ):
        (found,) = csv.DictReader(io.StringIO(content.decode("utf-8-sig"), newline=""))
        assert {title: found[title] for title in titles} == dict.fromkeys(titles, written)
