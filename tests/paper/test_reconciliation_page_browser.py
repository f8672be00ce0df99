"""The page in a real browser: read on a screen, a phone and paper, without the network, whatever the files held."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from paper.reconciliation_nights import account_of, known_of, night
from playwright.sync_api import Browser, Page
from reconciliation.world import World
from support.browsers import NEEDS_CHROMIUM, chromium  # noqa: F401 - the fixture `browser`

from logistics_batch.paper.reconciliation.account import ReconciliationReport
from logistics_batch.paper.reconciliation.page import reconciliation_page

MEAN = [
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(2)>",
    "\"><svg onload=alert(3)>'",
    '=HYPERLINK("http://example.com")',
    "abc\u202egpj.exe",
    "N" * 5000,
    "line one\nline two",
]

pytestmark = [pytest.mark.slow, *NEEDS_CHROMIUM]


class Reader:
    """Somebody who opens the page from a folder, and notes what goes wrong or is asked of the network."""

    def __init__(self, browser: Browser, folder: Path, account: ReconciliationReport, **context) -> None:
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
    rows = reader.page.locator(".list tr.line").all_inner_texts()
    assert len(rows) == 10 and "WORST" in rows[0]


def test_mean_texts_are_shown_and_do_nothing(browser: Browser, tmp_path: Path):
    made = World()
    for nth, text in enumerate(MEAN):
        made.announce(
            f"{nth}{text}", (text, "10", "5.00"), supplier=None, supplier_name=text, file_name=text, sheet=text
        )
    reader = Reader(browser, tmp_path, account_of(made, doubts=(MEAN[0],)), viewport={"width": 1366, "height": 900})
    assert reader.page.locator(".list tr.line").count() == len(MEAN)
    shown = reader.page.inner_text("body")
    assert MEAN[0] in shown and MEAN[1] in shown and "abc\\u202egpj.exe" in shown and "\u202e" not in shown
    assert reader.page.locator("img, iframe, script").count() == 0
    assert reader.page.evaluate("document.documentElement.scrollWidth") <= 1366
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
    assert "0 exceptions, 0 lines checked." in reader.page.inner_text(".list")
    assert reader.page.inner_text(".band") == "COMPLETE · 0 exceptions, 0 lines checked"
    reader.page.context.close()
    assert reader.complaints == []


def test_a_phone_shows_it_without_scrolling_sideways_and_paper_whole(browser: Browser, tmp_path: Path):
    reader = Reader(browser, tmp_path, account_of(world()), viewport={"width": 390, "height": 844})
    assert reader.page.evaluate("document.documentElement.scrollWidth") <= 390
    assert reader.page.locator(".list tr.line").first.locator("td").nth(1).get_attribute("data-label") == "INR at stake"
    # Each piece of a cell stands beside its label, none below it.
    beside = """cell => {
        const pieces = document.createRange(), left = cell.getBoundingClientRect().left;
        pieces.selectNodeContents(cell);
        return [...pieces.getClientRects()].every(each => each.left - left > 100);
    }"""
    for cell in reader.page.locator(".list tr.line").first.locator("td").all():
        assert cell.evaluate(beside), cell.inner_text()
    assert reader.page.pdf().startswith(b"%PDF-")
    reader.page.context.close()
    assert reader.complaints == []


def test_the_lists_of_other_nights_are_there(browser: Browser, tmp_path: Path):
    earlier = known_of(account_of(world()))
    calm = World()
    calm.both("I1", ("W", "10", "10.00"), supplier="Acme", delivery_date="2026-11-02")
    calm.receive("I1", "W", "10")
    reader = Reader(browser, tmp_path, account_of(calm, day=night(1), earlier=earlier))
    resolved = reader.page.locator("details.list")
    assert resolved.locator("summary").inner_text() == "Resolved: 10 lines"
    resolved.locator("summary").click()
    assert resolved.locator("tr.line").count() == 10
    assert reader.page.locator("figure").last.inner_text().startswith("Night by night")
    reader.page.context.close()
    assert reader.complaints == []
