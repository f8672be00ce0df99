"""The papers of a reconciliation, read back by other programs, with cells that try to do harm."""

import base64
import csv
import hashlib
import html
import io
import json
import re
import zipfile
from dataclasses import replace
from datetime import date
from html.parser import HTMLParser

import openpyxl
import polars as pl
import pytest
from paper.reconciliation_nights import account_of
from reconciliation.world import World

from logistics_batch.model.reconciliation import MEANINGS, ComparedOutcome, Discrepancy
from logistics_batch.paper.reconciliation import page as page_module
from logistics_batch.paper.reconciliation.account import ReconciliationReport
from logistics_batch.paper.reconciliation.data import reconciliation_csv, reconciliation_json
from logistics_batch.paper.reconciliation.page import reconciliation_page
from logistics_batch.paper.reconciliation.tables import LARGEST_SHEET
from logistics_batch.paper.reconciliation.workbook import reconciliation_workbook, whole_tables

SHEETS = [
    "Summary",
    "Exceptions",
    "Accepted",
    "Not checked",
    "Resolved",
    "Matched",
    "Within tolerance",
    "Missing & unexpected",
    "Ageing",
    "Supplier scorecard",
    "Rows not accepted",
    "Trend",
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
    "</script><script>alert(2)</script>",
    "abc\u202egpj.exe",
    "N" * 5000,
]


def account(world: World, *, doubts: tuple[str, ...] = (), **rules) -> ReconciliationReport:
    return account_of(world, doubts=doubts, **rules)


def opened(made: ReconciliationReport) -> openpyxl.Workbook:
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
def night() -> ReconciliationReport:
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
    for name in SHEETS[1:12]:
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
    assert all(chart.y_axis.scaling.min == 0 for chart in sheet._charts)
    assert [chart.title.tx.rich.p[0].r[0].t for chart in sheet._charts] == [
        "Open exceptions by class",
        "Open exceptions by age in days",
        "INR at stake by supplier",
    ]


def test_the_first_sheet_names_range_and_zone(night):
    words = " ".join(str(cell.value) for row in opened(night)["Summary"].iter_rows(max_row=6) for cell in row)
    assert "Delivery date 01 Nov 2026 to 12 Nov 2026, both days included, zone Asia/Kolkata" in words


def test_where_no_receipts_were_compared_the_summary_counts_none(night):
    world = World()
    world.both("I1", ("tea", "25"))
    rows = {row[0].value: row for row in opened(account(world))["Summary"].iter_rows() if row[0].value}
    for name in ("matched", "All lines"):
        assert [rows[name][index].value for index in (3, 4, 5, 6)] == [25, 25, None, None]
    assert rows["matched"][8].value == "What was compared agrees."


def test_a_chart_draws_the_cells_that_its_title_names(night):
    book = opened(night)
    by_class = next(chart for chart in book["Summary"]._charts if "class" in chart.title.tx.rich.p[0].r[0].t)
    names, numbers = (
        [row[0].value for row in book["Summary"][reference.f.split("!")[1].replace("$", "")]]
        for reference in (by_class.series[0].cat.numRef or by_class.series[0].cat.strRef, by_class.series[0].val.numRef)
    )
    assert (names, numbers) == (["NOT_RECEIVED", "SHORT"], [1, 1])


def test_ageing_is_one_line_a_class_supplier_and_site(night):
    lines = [[cell.value for cell in row] for row in opened(night)["Ageing"].iter_rows(min_row=2)]
    assert [line[:2] + line[5:7] for line in lines] == [["31-60", "SHORT", 1, 10], ["8-15", "NOT_RECEIVED", 1, 2.5]]


def test_a_sheet_takes_so_many_lines_and_says_what_it_leaves_out(night):
    numbers = pl.DataFrame({"number": range(LARGEST_SHEET + 5)})
    many = night.result.outcome(ComparedOutcome.MATCHED).join(numbers, how="cross").drop("number")
    report = replace(night, result=replace(night.result, agreeing=lambda: many))
    made = reconciliation_workbook(report)
    with zipfile.ZipFile(io.BytesIO(made)) as package:
        sheet, log = (package.read(f"xl/worksheets/sheet{number}.xml").decode() for number in (6, 13))
        links = package.read("xl/worksheets/_rels/sheet6.xml.rels").decode()
    rows = [int(row) for row in re.findall(r'<row r="(\d+)"', sheet)]
    assert rows == list(range(1, LARGEST_SHEET + 3))
    said = (
        f"Matched: 5 of {LARGEST_SHEET + 5:,} lines are left out of the sheet; all stand in reconciliation_matched.csv"
    )
    assert said in sheet and said in log and links.count('Target="reconciliation_matched.csv"') == 1
    [(name, whole)] = whole_tables(report).items()
    head, *lines = whole.decode("utf-8-sig").splitlines()
    assert (name, len(lines)) == ("reconciliation_matched.csv", LARGEST_SHEET + 5)
    assert head.startswith("Invoice number,SKU,Supplier,Site,Ordered,Announced,In service,Received,")


def test_a_list_longer_than_a_page_takes_says_so_and_where_all_of_it_is(night, monkeypatch):
    monkeypatch.setattr(page_module, "LARGEST_LIST", 1)
    page = reconciliation_page(night).decode()
    assert f"The list has 1 of {night.open.height:,} lines" in page and '<a href="reconciliation.csv">' in page
    assert page.count('<tr class="line">') == 1


@pytest.mark.parametrize(("doubts", "word", "colour"), [((), "COMPLETE", "FF1E7B45"), (("cut",), "MAY BE", "FFC0392B")])
def test_completeness_stands_in_colour_and_word(doubts, word, colour):
    sheet = opened(account(World(), doubts=doubts))["Summary"]
    assert sheet["A6"].value.startswith(word) and sheet["A6"].fill.fgColor.rgb == colour


def test_analysts_have_empty_columns_and_words_to_choose(night):
    book = opened(night)
    for title in ("Owner", "Comment", "Status"):
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
        self.tags: list[str] = []
        self.loads: list[tuple[str, str]] = []
        self.texts: list[str] = []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.loads += [(name, value) for name, value in attrs if name in {"src", "href"} or name.startswith("on")]

    def handle_data(self, data):
        self.texts.append(data)


def test_the_page_shows_hostile_texts_and_loads_nothing():
    """What a script makes of them is seen in a browser; this is the page as it stands, and as mail programs show it."""
    page = _Tags()
    page.feed(reconciliation_page(account(hostile_world(), doubts=("<b>doubt</b>",))).decode())
    assert not {"script", "img", "iframe", "b-"} & set(page.tags)
    assert page.loads == [("href", "data:,")]
    assert "<script>alert(1)</script>" in page.texts and "<b>doubt</b>" in page.texts
    assert "bell\\x07 and \\x1b[2J" in page.texts and "abc\\u202egpj.exe" in page.texts


def test_the_page_lets_nothing_run_and_nothing_load():
    page = reconciliation_page(account(hostile_world())).decode()
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', page)[1]
    style = re.search(r"<style>(.*)</style>", page, re.DOTALL)[1]
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert policy.startswith("default-src 'none'; ") and "unsafe" not in policy and "script-src" not in policy
    assert f"style-src 'sha256-{digest}'" in policy


def test_of_one_cause_there_is_one_card_and_a_known_price_stands_where_nothing_is_valued():
    world = World()
    world.announce("I1", ("V", "10", "9.00"), ("W", "10", "8.00"), ("X", "10", "7.00"), delivery_date="2026-11-02")
    world.both("I2", ("W", "10", "1.25"), delivery_date=None)
    world.no_receipts_came()
    made = account(world)
    cards = reconciliation_page(made).decode().partition('<ul class="first">')[2].partition("</ul>")[0]
    assert cards.count("MISSING_IN_SERVICE") == 1 and "and 2 lines like it" in cards
    assert cards.count("UNVERIFIABLE") == 1 and "₹ 1.25 a unit" in cards and "no price known" not in cards
    assert [line["alike"] for line in made.first(3).to_dicts()] == [2, 0]


def test_the_page_shows_the_dearest_lines_with_source_and_remedy():
    world = World()
    world.both("I1", ("W", "10", "1.00"), delivery_date="2026-11-02", file_name="asn_7.xlsx")
    world.both("I2", ("W", "1000", "1.00"), delivery_date="2026-11-02")
    world.receive("I1", "W", "1012")
    world.receive("I2", "W", "995")
    made = account(world)
    page = reconciliation_page(made).decode()
    reasons = made.result.exceptions["reason"].to_list()
    assert len(reasons) == 2
    assert all(page.count(html.escape(reason)) >= 2 for reason in reasons), "in the list, and among the first"
    assert 'class="n">+1,002</td>' in page and 'class="n">-5</td>' in page
    assert "<bdi>asn_7.xlsx</bdi> · <bdi>Sheet1</bdi> · <bdi>row 2</bdi>" in page
    assert html.escape(MEANINGS[Discrepancy.OVER].do) in page


@pytest.mark.parametrize(("doubts", "word"), [((), "COMPLETE"), (("cut",), "MAY BE INCOMPLETE — do not sign off")])
def test_the_page_says_whether_it_is_complete(doubts, word):
    look = "incomplete" if doubts else "complete"
    assert f'<p class="band {look}">{word} · ' in reconciliation_page(account(World(), doubts=doubts)).decode()


def test_a_band_over_exceptions_is_no_all_clear(night):
    assert night.open.height and night.complete
    for headline in (night.headline, reconciliation_page(night).decode()):
        assert "TO BE LOOKED AT · ₹ " in headline and "the report itself is complete" in headline
    assert '<p class="band findings">' in reconciliation_page(night).decode()


def test_the_page_says_that_there_is_nothing(night):
    assert "0 exceptions, 0 lines checked." in reconciliation_page(account(World())).decode()
    assert "₹ 1,23,455.00" in reconciliation_page(night).decode()
