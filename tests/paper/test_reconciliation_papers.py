"""The papers of a reconciliation, read back by other programs, with cells that try to do harm."""

import csv
import html
import io
import json
from datetime import date, datetime
from html.parser import HTMLParser
from zoneinfo import ZoneInfo

import openpyxl
import pytest
from reconciliation.world import World

from logistics_batch.model.reconciliation import MEANINGS, Discrepancy
from logistics_batch.paper.reconciliation_account import Account
from logistics_batch.paper.reconciliation_data import reconciliation_csv, reconciliation_json
from logistics_batch.paper.reconciliation_page import reconciliation_page
from logistics_batch.paper.reconciliation_workbook import reconciliation_workbook
from logistics_batch.reconciliation import Rules, audit

TODAY = date(2026, 11, 10)
SHEETS = [
    "Summary",
    "Exceptions",
    "Matched",
    "Within tolerance",
    "Missing & unexpected",
    "Ageing",
    "Supplier scorecard",
    "Rows not accepted",
    "Run log & definitions",
]
HOSTILE = [
    "=cmd|' /C calc'!A0",
    "+1+1",
    "@SUM(1+1)*cmd",
    "-2+3",
    "\t=1+1",
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "line one\nline two",
    "bell\x07 and \x1b[2J",
    "ümlaut मेहता 倉庫",
]


def account(world: World, *, doubts: tuple[str, ...] = (), **rules) -> Account:
    return Account(
        run="R1",
        by="delivery",
        date_from=date(2026, 11, 1),
        date_to=date(2026, 11, 12),
        timezone="Asia/Kolkata",
        business_date=TODAY,
        made_at=datetime(2026, 11, 10, 22, 15, tzinfo=ZoneInfo("Asia/Kolkata")),
        result=audit(world.legs(), rules=Rules(business_date=TODAY, **rules)),
        receipts_compared=world.receipts is not None,
        doubts=doubts,
        notes=("a note",),
        log=(("Job", "=nightly"),),
    )


def opened(made: Account) -> openpyxl.Workbook:
    return openpyxl.load_workbook(io.BytesIO(reconciliation_workbook(made)))


def column(book: openpyxl.Workbook, sheet: str, title: str) -> list:
    cells = list(book[sheet].iter_rows())
    position = [cell.value for cell in cells[0]].index(title)
    return [row[position] for row in cells[1:]]


def hostile_world() -> World:
    world = World()
    for nth, text in enumerate(HOSTILE):
        world.announce(f"{text}{nth}", (text, "10", "5.00"), supplier=None, supplier_name=text, file_name=text)
        world.announce(f"N{nth}{text}", (text, "10"), accepted=False, why=text, sheet=text)
    world.both("=OK()", ("=1+1", "1"))
    return world


@pytest.fixture
def night() -> Account:
    world = World()
    world.both("0012", ("007", "100", "12345.50"), delivery_date="2026-10-01")
    world.both("I2", ("W", "10", "1.00"))
    world.both("I3", ("W", "2.5", "1.00"))
    world.receive("0012", "007", "90")
    world.receive("I2", "W", "10")
    return account(world)


def test_the_sheets_are_there_in_order_also_with_nothing_to_say():
    for made in (account(World()), account(hostile_world())):
        assert opened(made).sheetnames == SHEETS


def test_no_cell_of_the_workbook_is_a_formula_whatever_stood_in_the_files():
    book = opened(account(hostile_world(), doubts=("=doubt()",)))
    cells = [cell for sheet in book for row in sheet.iter_rows() for cell in row if cell.value is not None]
    assert not [cell.coordinate for cell in cells if cell.data_type == "f"]
    skus = {cell.value: cell for cell in column(book, "Exceptions", "SKU")}
    for text in ("=cmd|' /C calc'!A0", "+1+1", "@SUM(1+1)*cmd"):
        assert skus[text].data_type == "s" and skus[text].quotePrefix
    assert "bell\\x07 and \\x1b[2J" in skus
    assert column(book, "Matched", "SKU")[0].value == "=1+1"


def test_ids_are_text_dates_are_dates_and_money_is_a_number_in_rupees(night):
    book = opened(night)
    first = {title: column(book, "Exceptions", title)[0] for title in ("Invoice number", "SKU", "Due", "INR at stake")}
    assert (first["Invoice number"].value, first["Invoice number"].data_type) == ("0012", "s")
    assert first["SKU"].value == "007" and first["SKU"].number_format == "@"
    assert first["Due"].value.date() == date(2026, 10, 1) and first["Due"].is_date
    assert first["INR at stake"].value == 123455 and "₹" in first["INR at stake"].number_format


def test_whole_numbers_carry_no_lonely_point(night):
    formats = {cell.value: cell.number_format for cell in column(opened(night), "Exceptions", "Announced")}
    assert formats[100] == "#,##0" and formats[2.5] == "#,##0.00##"


def test_tables_are_frozen_filtered_and_wide_enough(night):
    book = opened(night)
    for name in SHEETS[1:8]:
        sheet = book[name]
        assert sheet.freeze_panes and sheet.auto_filter.ref
        assert all(sheet.column_dimensions[letter].width >= 7 for letter in ("A", "B", "C"))
    assert book["Exceptions"].freeze_panes == "F2"
    assert not any(sheet.merged_cells.ranges for sheet in book)


def test_the_dearest_line_stands_first_and_on_the_summary(night):
    book = opened(night)
    assert column(book, "Exceptions", "Invoice number")[0].value == "0012"
    texts = [[cell.value for cell in row] for row in book["Summary"].iter_rows(max_row=20)]
    start = next(index for index, row in enumerate(texts) if row[0] == "Look at these first")
    assert texts[start + 2][0] == "SHORT" and texts[start + 2][3] == "0012"


def test_the_summary_ties_out_and_has_native_charts(night):
    book = opened(night)
    sheet = book["Summary"]
    rows = {row[0].value: row for row in sheet.iter_rows() if row[0].value}
    names = ("All lines", "Counted before matching")
    assert [[float(rows[name][index].value) for index in (3, 4, 5)] for name in names] == [[112.5, 112.5, 100.0]] * 2
    assert [rows["Residual"][index].value for index in (3, 4, 5)] == [0, 0, 0]
    assert len(sheet._charts) == 2 and len(book["Ageing"]._charts) == 1


@pytest.mark.parametrize(("doubts", "word", "colour"), [((), "COMPLETE", "FF1E7B45"), (("cut",), "MAY BE", "FFC0392B")])
def test_completeness_stands_in_colour_and_word(doubts, word, colour):
    sheet = opened(account(World(), doubts=doubts))["Summary"]
    assert sheet["A6"].value.startswith(word) and sheet["A6"].fill.fgColor.rgb == colour


def test_analysts_have_empty_columns_and_words_to_choose(night):
    book = opened(night)
    for title in ("Owner", "Reason", "Reason qty", "Comment", "Status"):
        assert {cell.value for cell in column(book, "Exceptions", title)} == {None}
    [choice] = book["Exceptions"].data_validations.dataValidation
    assert choice.formula1 == '"Open,In progress,Accepted,Closed"'


def test_every_class_is_explained_in_the_workbook(night):
    sheet = opened(night)["Run log & definitions"]
    texts = {str(cell.value) for row in sheet.iter_rows() for cell in row}
    for code in Discrepancy:
        assert {code.value, MEANINGS[code].says, MEANINGS[code].do} <= texts
    assert any("qty_received means “requested”" in text or "Its qty_received" in text for text in texts)


def test_csv_holds_the_exceptions_guarded_and_exact(night):
    lines = list(csv.DictReader(io.StringIO(reconciliation_csv(night).decode("utf-8-sig"))))
    assert [line["code"] for line in lines] == ["SHORT", "NOT_RECEIVED"]
    assert (lines[0]["invoice_number"], lines[0]["qty_delta"], lines[0]["impact_inr"]) == ("0012", "-10", "123455.00")
    hostile = list(csv.reader(io.StringIO(reconciliation_csv(account(hostile_world())).decode("utf-8-sig"))))
    risky = [cell for row in hostile for cell in row if cell[:1] in "=+@\t" and cell]
    assert risky == []
    assert "'=cmd|' /C calc'!A0" in {cell for row in hostile for cell in row}


def test_json_is_exact_and_whole(night):
    told = json.loads(reconciliation_json(night))
    assert [one["code"] for one in told["exceptions"]] == ["SHORT", "NOT_RECEIVED"]
    assert told["exceptions"][1]["qty_announced"] == "2.5" and told["exceptions"][1]["qty_received"] is None
    assert told["totals"]["impact_inr"] == "123457.50"
    assert {one["class"]: one["lines"] for one in told["classes"]} == {"SHORT": 1, "NOT_RECEIVED": 1, "matched": 1}


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.loads: set[str] = set()
        self.texts: list[str] = []

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.loads |= {name for name, _ in attrs if name in {"src", "href"} or name.startswith("on")}

    def handle_data(self, data):
        self.texts.append(data)


def test_the_page_shows_hostile_texts_and_runs_and_loads_nothing():
    page = _Tags()
    page.feed(reconciliation_page(account(hostile_world(), doubts=("<b>doubt</b>",))).decode())
    assert not page.tags & {"script", "img", "link", "iframe", "b"} and not page.loads
    assert "<script>alert(1)</script>" in page.texts and "<b>doubt</b>" in page.texts
    assert "bell\\x07 and \\x1b[2J" in page.texts


def test_the_page_gives_reasons_room_and_differences_a_sign():
    """A browser narrows any column without a least width to its longest word."""
    world = World()
    world.both("I1", ("W", "10", "1.00"), delivery_date="2026-11-02")
    world.both("I2", ("W", "1000", "1.00"), delivery_date="2026-11-02")
    world.receive("I1", "W", "1012")
    world.receive("I2", "W", "995")
    made = account(world)
    page = reconciliation_page(made).decode()
    reasons = made.result.exceptions["reason"].to_list()
    assert len(reasons) == 2
    assert all(f'<td class="t">{html.escape(reason)}</td>' in page for reason in reasons)
    assert ".t { min-width: 18rem; }" in page
    assert '<td class="n">+1,002</td>' in page and '<td class="n">-5</td>' in page
    assert page.count("<thead>") == 3, "the facts of the run have no titles"


def test_the_page_says_that_there_is_nothing(night):
    assert "0 exceptions, 0 lines checked." in reconciliation_page(account(World())).decode()
    assert "₹ 1,23,455.00" in reconciliation_page(night).decode()
