"""The page in a real browser: found, filtered, opened, saved, printed, without the network, whatever the files held."""

import csv
import io
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from paper.reconciliation_nights import account_of, night
from playwright.sync_api import Browser, Page, sync_playwright
from reconciliation.world import World

from logistics_batch.model.reconciliation_history import Earlier
from logistics_batch.paper.reconciliation_account import Account
from logistics_batch.paper.reconciliation_page import reconciliation_page

CHROMIUM = Path("/usr/bin/chromium")
MEAN = [
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(2)>",
    "\"><svg onload=alert(3)>'",
    '=HYPERLINK("http://example.com")',
    "abc\u202egpj.exe",
    "N" * 5000,
    "line one\nline two",
]

pytestmark = [
    pytest.mark.slow,
    pytest.mark.real,
    pytest.mark.skipif(not CHROMIUM.exists() and "CI" not in os.environ, reason="no chromium here"),
]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Debian's chromium, without a window and without a network."""
    with sync_playwright() as player:
        yield player.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--no-proxy-server"])


class Reader:
    """Somebody who opens the page from a folder, and notes what goes wrong or is asked of the network."""

    def __init__(self, browser: Browser, folder: Path, account: Account, **context) -> None:
        self.file = folder / "reconciliation.html"
        self.file.write_bytes(reconciliation_page(account))
        self.complaints: list[str] = []
        self.page: Page = browser.new_context(accept_downloads=True, **context).new_page()
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("dialog", lambda dialog: self.complaints.append(dialog.message))
        self.page.on("request", self._asked)
        self.page.goto(self.file.as_uri())

    def _asked(self, request) -> None:
        if not request.url.startswith((self.file.as_uri(), "blob:", "data:")):
            self.complaints.append(request.url)

    def invoices(self) -> list[str]:
        """The invoices that are listed, in order."""
        return self.page.locator("#lines tr.line td:nth-child(3) .stack bdi:first-child").all_inner_texts()

    def count(self) -> str:
        return self.page.inner_text("#count").replace("\u00a0", " ")

    def saved(self) -> list[dict[str, str]]:
        """The lines of the CSV that the page saves."""
        with self.page.expect_download() as download:
            self.page.click("#export")
        text = Path(download.value.path()).read_bytes().decode("utf-8-sig")
        return list(csv.DictReader(io.StringIO(text)))


def world() -> World:
    """Shortages of two suppliers, worth 900, 800 … 100 INR, and one that is worth most and old."""
    made = World()
    made.no_receipts_came()
    for nth in range(1, 10):
        supplier = "Acme" if nth % 2 else "Bharat"
        head = {"supplier": supplier, "file_name": f"asn_{nth}.xlsx", "delivery_date": f"2026-11-0{1 + nth % 4}"}
        made.both(f"I{nth}", ("W", "10", f"{nth}0.00"), **head)
        if nth % 3:
            made.receive(f"I{nth}", "W", "5")
    made.announce(
        "WORST", ("GOLD", "10", "99999.00"), delivery_date="2026-11-01", file_name="worst.xlsx", sheet="March"
    )
    return made


@pytest.fixture
def reader(browser: Browser, tmp_path: Path) -> Iterator[Reader]:
    made = Reader(browser, tmp_path, account_of(world()), viewport={"width": 1366, "height": 900})
    yield made
    made.page.context.close()
    assert made.complaints == []


def test_the_worst_line_is_on_the_first_screen_with_its_row_and_what_to_do(reader: Reader):
    card = reader.page.locator(".first li").first
    box = card.bounding_box()
    assert box is not None and box["y"] + box["height"] < 900
    for text in ("MISSING_IN_SERVICE", "₹ 9,99,990.00", "WORST", "worst.xlsx", "March", "row 2", "What to do"):
        assert text in card.inner_text()
    assert reader.invoices()[0] == "WORST"


def test_search_and_filters_narrow_the_list_and_the_sum(reader: Reader):
    reader.page.keyboard.press("/")
    reader.page.keyboard.type("acme I7")
    assert reader.invoices() == ["I7"] and reader.count() == "1 of 10 lines · ₹ 350.00 at stake"
    reader.page.keyboard.press("Escape")
    assert len(reader.invoices()) == 10
    reader.page.select_option("#by-code", "=NOT_RECEIVED")
    assert sorted(reader.invoices()) == ["I3", "I6", "I9"]
    reader.page.select_option("#by-supplier", "=Bharat")
    assert reader.invoices() == ["I6"]
    reader.page.click("#reset")
    assert len(reader.invoices()) == 10


def test_a_bar_of_a_chart_filters_by_mouse_and_by_key(reader: Reader):
    bar = reader.page.locator('.bar[data-value="Bharat"]')
    bar.click()
    assert sorted(reader.invoices()) == ["I2", "I4", "I6", "I8"]
    bar.press("Enter")
    assert len(reader.invoices()) == 10


def test_headings_sort_both_ways_and_say_so(reader: Reader):
    heading = reader.page.locator("th[data-field=impact_inr]")
    heading.locator("button").click()
    assert heading.get_attribute("aria-sort") == "descending" and reader.invoices()[:2] == ["WORST", "I9"]
    heading.locator("button").click()
    assert heading.get_attribute("aria-sort") == "ascending" and reader.invoices()[0] == "I1"
    reader.page.locator("th[data-field=invoice_number] button").click()
    assert reader.invoices() == [*(f"I{nth}" for nth in range(1, 10)), "WORST"]


def test_groups_open_and_keep_their_sums(reader: Reader):
    reader.page.select_option("#group", "supplier")
    groups = [text.replace("\u00a0", " ") for text in reader.page.locator(".group").all_inner_texts()]
    assert "Bharat · 4 lines · ₹ 1,300.00 at stake" in groups and reader.invoices() == []
    reader.page.locator('.group[data-group="Bharat"]').click()
    assert sorted(reader.invoices()) == ["I2", "I4", "I6", "I8"]
    assert reader.page.evaluate("document.activeElement.dataset.group") == "Bharat"


def test_a_line_opens_to_its_source_by_keyboard(reader: Reader):
    first = reader.page.locator(".drill").first
    first.focus()
    reader.page.keyboard.press("Enter")
    opened = reader.page.locator("tr.more .detail").inner_text()
    for text in ("worst.xlsx", "March", "Row", "run-1", "Announced", "EX-", "What to do"):
        assert text in opened
    reader.page.keyboard.press("ArrowDown")
    assert reader.page.evaluate("document.activeElement.dataset.row") == "1"
    assert reader.page.locator(".drill").first.get_attribute("aria-expanded") == "true"


def test_what_is_filtered_is_saved_as_csv(reader: Reader):
    reader.page.select_option("#by-supplier", "=Bharat")
    reader.page.locator("th[data-field=invoice_number] button").click()
    lines = reader.saved()
    assert [line["invoice_number"] for line in lines] == ["I2", "I4", "I6", "I8"]
    assert (lines[0]["impact_inr"], lines[0]["qty_delta"], lines[0]["file_name"]) == ("100.00", "-5", "asn_2.xlsx")


def test_mean_texts_are_shown_and_do_nothing(browser: Browser, tmp_path: Path):
    made = World()
    for nth, text in enumerate(MEAN):
        made.announce(
            f"{nth}{text}", (text, "10", "5.00"), supplier=None, supplier_name=text, file_name=text, sheet=text
        )
    reader = Reader(browser, tmp_path, account_of(made, doubts=(MEAN[0],)), viewport={"width": 1366, "height": 900})
    assert reader.page.locator("#lines tr.line").count() == len(MEAN)
    while reader.page.locator('.drill[aria-expanded="false"]').count():
        reader.page.locator('.drill[aria-expanded="false"]').first.click()
    shown = reader.page.inner_text("body")
    assert MEAN[0] in shown and MEAN[1] in shown and "abc\\u202egpj.exe" in shown and "\u202e" not in shown
    assert reader.page.locator("img, iframe, .detail script").count() == 0
    assert reader.page.evaluate("document.documentElement.scrollWidth") <= 1366
    reader.page.select_option("#by-supplier", "=" + MEAN[2])
    reader.page.select_option("#group", "file_name")
    reader.page.locator(".group").first.click()
    assert reader.page.locator("#lines tr.line").count() == 1
    reader.page.click("#reset")
    cells = [cell for line in reader.saved() for cell in line.values()]
    assert not [cell for cell in cells if cell.startswith(("=", "+", "@"))] and "'" + MEAN[3] in cells
    reader.page.context.close()
    assert reader.complaints == []


@pytest.mark.parametrize("doubts", [(), ("The service named 412 ASNs and returned 200.",)])
def test_a_doubtful_report_is_red_and_says_so(browser: Browser, tmp_path: Path, doubts: tuple[str, ...]):
    reader = Reader(browser, tmp_path, account_of(world(), doubts=doubts))
    band = reader.page.locator(".band")
    colour = band.evaluate("each => getComputedStyle(each).backgroundColor")
    expected = (
        ("MAY BE INCOMPLETE — do not sign off", "rgb(184, 39, 27)")
        if doubts
        else ("TO BE LOOKED AT", "rgb(138, 75, 8)")
    )
    assert band.inner_text().startswith(expected[0]) and colour == expected[1]
    assert [doubt in reader.page.inner_text("body") for doubt in doubts] == [True] * len(doubts)
    reader.page.context.close()


def test_nothing_to_report_is_a_page_too(browser: Browser, tmp_path: Path):
    reader = Reader(browser, tmp_path, account_of(World()))
    assert "Nothing stands on this list." in reader.page.inner_text("#lines")
    assert reader.page.inner_text(".band") == "COMPLETE · 0 exceptions, 0 lines checked"
    reader.page.context.close()
    assert reader.complaints == []


def test_a_phone_shows_it_without_scrolling_sideways_and_paper_whole(browser: Browser, tmp_path: Path):
    reader = Reader(browser, tmp_path, account_of(world()), viewport={"width": 390, "height": 844})
    assert reader.page.evaluate("document.documentElement.scrollWidth") <= 390
    assert (
        reader.page.locator("#lines tr.line").first.locator("td").nth(1).get_attribute("data-label") == "INR at stake"
    )
    assert reader.page.pdf().startswith(b"%PDF-")
    reader.page.context.close()
    assert reader.complaints == []


def test_paper_says_which_lines_it_leaves_out(browser: Browser, tmp_path: Path):
    made = World()
    for nth in range(1_003):
        made.announce(f"I{nth}", ("W", "1", "5.00"))
    reader = Reader(browser, tmp_path, account_of(made))
    reader.page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert reader.page.locator("#lines tr.line").count() == 1_000
    assert reader.page.inner_text("#printed").startswith("1,000 of 1,003 lines are printed; all stand in")
    reader.page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert (reader.page.locator("#lines tr.line").count(), reader.page.inner_text("#printed")) == (100, "")
    reader.page.context.close()


def test_without_scripts_the_dearest_lines_are_there(browser: Browser, tmp_path: Path):
    reader = Reader(browser, tmp_path, account_of(world()), java_script_enabled=False)
    rows = reader.page.locator("#lines tr").all_inner_texts()
    assert len(rows) == 10 and "WORST" in rows[0] and not reader.page.is_visible("#tools")
    reader.page.context.close()


def test_the_lists_of_other_nights_are_tabs(browser: Browser, tmp_path: Path):
    first = account_of(world(), earlier=Earlier(run="R0"))
    listed = first.listed.with_columns(standing=first.listed["standing"].replace("open", ""))
    earlier = Earlier(run="R1", business_date=night(0), listed=listed, trend=first.trend)
    calm = World()
    calm.both("I1", ("W", "10", "10.00"), supplier="Acme", delivery_date="2026-11-02")
    calm.receive("I1", "W", "10")
    reader = Reader(browser, tmp_path, account_of(calm, day=night(1), earlier=earlier))
    tabs = reader.page.locator("#tabs button").all_inner_texts()
    assert tabs == ["Open 0", "Resolved 10"]
    reader.page.locator("#tabs button").nth(1).click()
    assert len(reader.invoices()) == 10
    assert reader.page.locator("figure").last.inner_text().startswith("Night by night")
    reader.page.context.close()
    assert reader.complaints == []
