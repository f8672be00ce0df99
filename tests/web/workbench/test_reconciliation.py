"""Exceptions are worked on in the page; the next report and its workbook have what was written there."""

import itertools
from collections.abc import Iterator
from contextlib import closing
from datetime import date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import openpyxl
import pytest
from flows.audit_room import ASNS, RECEIPTS
from playwright.sync_api import Browser
from support.browsers import NEEDS_CHROMIUM, chromium  # noqa: F401 - the fixture `browser`
from support.pages_process import Person, RunningPages
from support.sandbox_process import RunningSandbox
from support.workspace import Workspace

from logistics_batch.ledger import open_ledger
from logistics_batch.messages.words import rupees

from .test_browser import no_violations, signed_in

JOB = """\
kind: reconcile
window: {by: delivery, from: -7d, to: +1d}
receipts: {folder: docks, pattern: ["*.csv"], mapping: receipts}
results: {folder: reports-of-audit}
previous: results
"""


def today() -> date:
    """In the zone of the settings; a run of tests may go on past midnight."""
    return datetime.now(ZoneInfo("Asia/Kolkata")).date()


TODAY = today()
DUE = TODAY - timedelta(days=3)
NIGHTS = itertools.count(1001)  # each with invoices of its own: all tests share one service


@pytest.fixture
def audited(tmp_path: Path, service: RunningSandbox) -> Workspace:
    """A workspace after a night with four shortages."""
    workspace = Workspace(tmp_path / "audited", url=service.url)
    workspace.mapping("asns", ASNS)
    workspace.mapping("receipts", RECEIPTS)
    workspace.job("audit", JOB)
    own = next(NIGHTS)
    rows = [f"Acme,Bhiwandi,{own}-I{n},{DUE},W,10,5.00" for n in (1, 2, 3, 4)]
    asns = workspace.drop("asns.csv", "\n".join(["Supplier,Site,Invoice,Due,SKU,Qty,Rate", *rows, ""]), folder="hand")
    assert workspace.run("push", asns, "--mapping", "asns").code == 0
    lines = "".join(f"{own}-I{n},W,{10 - n},,{DUE}\n" for n in (1, 2, 3, 4))
    workspace.drop("monday.csv", f"Invoice,SKU,Received,Condition,Date\n{lines}", folder="docks")
    assert workspace.run("run", "audit", "--business-date", TODAY.isoformat()).code in (0, 3, 4)
    return workspace


@pytest.fixture
def running(audited: Workspace) -> Iterator[RunningPages]:
    pages = RunningPages(audited)
    yield pages
    pages.close()


@pytest.fixture
def analyst(running: RunningPages) -> Person:
    return running.person("analyst")


def exceptions(analyst: Person, query: str = "?code=SHORT") -> dict[str, dict[str, Any]]:
    """Those that the page lists, by the end of their invoice's number."""
    rows = analyst.get(f"/reconciliation.json{query}").json()["rows"]
    return {row["invoice_number"].rpartition("-")[2]: row for row in rows}


def write(analyst: Person, *rows: dict[str, Any], **form: str) -> Any:
    marked = [f"{row['exception_id']}~{row['seen']}" for row in rows]
    return analyst.post("/reconciliation/write", {"of": "audit", "id": marked} | form)


def sheet(audited: Workspace, name: str) -> dict[str, dict[str, Any]]:
    """A list of the workbook, by the end of the invoice's number."""
    book = openpyxl.load_workbook(audited.root / "reports-of-audit/reconciliation.xlsx")
    titles, *rows = book[name].iter_rows(values_only=True)
    told = [dict(zip(titles, row, strict=True)) for row in rows]
    return {str(each["Invoice number"]).rpartition("-")[2]: each for each in told}


def test_what_is_written_stands_in_tomorrow_s_workbook(audited: Workspace, analyst: Person) -> None:
    page = analyst.get("/reconciliation.json").json()
    (short,) = [each for each in page["classes"] if each["code"] == "SHORT"]
    assert (short["lines"], float(short["impact_inr"])) == (4, 50.0)
    assert page["nights"][0]["business_date"] == TODAY.isoformat()
    found = exceptions(analyst)
    assert list(found) == ["I4", "I3", "I2", "I1"], "the worst first"
    assert write(analyst, found["I1"], found["I2"], do="accept", reason="the lorry was full").status_code == 303
    assert write(analyst, found["I3"], do="assign", owner="Ravi", reason="asks the supplier").status_code == 303
    found = exceptions(analyst, "?owner=ravi")
    assert list(found) == ["I3"]
    assert found["I3"]["comment"] == f"asks the supplier (analyst of tests, {today()})"
    # What an analyst writes in the workbook meanwhile counts, too, and takes nothing back.
    path = audited.root / "reports-of-audit/reconciliation.xlsx"
    book = openpyxl.load_workbook(path)
    titles, *rows = book["Exceptions"].iter_rows()
    places = {str(cell.value): place for place, cell in enumerate(titles)}
    (row,) = [row for row in rows if str(row[places["Invoice number"]].value).endswith("I4")]
    row[places["Owner"]].value = "Meera"
    book.save(path)
    tomorrow = TODAY + timedelta(days=1)
    assert audited.run("run", "audit", "--business-date", tomorrow.isoformat()).code in (0, 3, 4)
    accepted, left = sheet(audited, "Accepted"), sheet(audited, "Exceptions")
    assert set(accepted) == {"I1", "I2"}
    assert accepted["I1"]["Comment"] == f"the lorry was full (analyst of tests, {today()})"
    assert (left["I3"]["Owner"], left["I4"]["Owner"]) == ("Ravi", "Meera")
    assert set(exceptions(analyst, "?standing=accepted")) == {"I1", "I2"}
    (short,) = [each for each in analyst.get("/reconciliation.json").json()["classes"] if each["code"] == "SHORT"]
    assert (short["lines"], short["accepted"], float(short["impact_inr"])) == (2, 2, 35.0), (
        "accepted ones count no more"
    )
    (card,) = analyst.get("/reconciliation/scorecards.json").json()["cards"]
    left_open = analyst.get("/reconciliation.json?standing=open").json()
    assert (card["open"], card["open_inr"]) == (left_open["rows_of_filter"], left_open["worth"])
    again = exceptions(analyst, "?standing=accepted")["I1"]
    assert write(analyst, again, do="open", reason="it was not").status_code == 303
    assert audited.run("run", "audit", "--business-date", tomorrow.isoformat()).code in (0, 3, 4)
    assert set(sheet(audited, "Exceptions")) == {"I1", "I3", "I4"}
    assert "the lorry was full" in sheet(audited, "Exceptions")["I1"]["Comment"]


def test_what_changed_since_it_was_shown_or_is_being_reported_is_not_written(
    audited: Workspace, analyst: Person, service: RunningSandbox
) -> None:
    found = exceptions(analyst)
    assert write(analyst, found["I1"], do="assign", owner="Ravi", reason="first").status_code == 303
    assert write(analyst, found["I1"], found["I2"], do="accept", reason="second").status_code == 409
    assert exceptions(analyst)["I2"]["comment"] == "", "of several none"
    for form in ({"do": "accept", "reason": " "}, {"do": "", "reason": "x"}, {"do": "assign", "reason": "x"}):
        assert write(analyst, found["I2"], **form).status_code == 409
    assert write(analyst, do="accept", reason="x").status_code == 409
    now = datetime.now(ZoneInfo("Asia/Kolkata")).isoformat()
    with closing(open_ledger(f"sqlite:///{audited.root}/var/ledger.db", account=service.url)) as ledger:
        ledger.runs.start("R-now", job="audit", kind="reconcile", business_date=TODAY.isoformat(), now=now)
    assert write(analyst, found["I2"], do="accept", reason="x").status_code == 503
    assert exceptions(analyst)["I2"]["analyst_status"] == ""


def test_nothing_held_is_not_said_to_be_nothing_to_do(
    audited: Workspace, analyst: Person, service: RunningSandbox
) -> None:
    with closing(open_ledger(f"sqlite:///{audited.root}/var/ledger.db", account=service.url)) as ledger:
        for each in ledger.notices.open():
            ledger.notices.over(each.key, "seen", now="2026-12-01T10:00:00+05:30")
    page = analyst.get("/").text
    assert "Nothing is held or in doubt, and no notice is open." in page
    assert "Rows to correct and exceptions stand in the last run of each job below." in page


def test_exceptions_are_found_and_listed_in_parts(analyst: Person) -> None:
    assert list(exceptions(analyst, "?text=i2")) == ["I2"]
    assert exceptions(analyst, "?text=nothing") == {}
    assert set(exceptions(analyst, "?owner=nobody&code=SHORT&sort=invoice")) == {"I1", "I2", "I3", "I4"}
    assert analyst.get("/reconciliation.json?series=nothing").status_code == 404
    assert "<b>x" not in analyst.get("/reconciliation?text=%3Cb%3Ex").text


def test_exceptions_are_grouped_and_a_view_is_kept_for_its_person_alone(running: RunningPages, analyst: Person) -> None:
    assert write(analyst, exceptions(analyst)["I4"], do="assign", owner="Ravi", reason="x").status_code == 303
    groups = {name: analyst.get(f"/reconciliation.json?code=SHORT&group={name}").json()["groups"]
              for name in ("owner", "supplier")}  # fmt: skip
    assert [(each["owner"], each["lines"], float(each["impact_inr"])) for each in groups["owner"]] == [
        ("", 3, 30.0), ("Ravi", 1, 20.0)]  # fmt: skip
    assert [(each["supplier"], each["lines"]) for each in groups["supplier"]] == [("Acme", 4)]
    assert exceptions(analyst, "?supplier=Acm") == {}
    form = {"view": "short of Acme", "query": "series=audit&standing=open&supplier=Acme&group=site&after=50&x=y"}
    for _ in range(2):
        assert analyst.post("/reconciliation/view", dict(form)).status_code == 303
    views = analyst.get("/reconciliation.json").json()["views"]
    assert views == {"short of Acme": "series=audit&standing=open&group=site&supplier=Acme"}
    assert set(exceptions(analyst, f"?{views['short of Acme']}")) == {"I1", "I2", "I3", "I4"}
    assert running.person("operator").get("/reconciliation.json").json()["views"] == {}
    assert analyst.post("/reconciliation/view", {"view": " ", "query": "sort=age"}).status_code == 409
    assert analyst.post("/reconciliation/view", {"view": "short of Acme", "query": ""}).status_code == 303
    assert analyst.get("/reconciliation.json").json()["views"] == {}


def test_exceptions_are_found_by_supplier_and_sku_by_whom_they_concern(analyst: Person, running: RunningPages) -> None:
    for name in ("acme", "W"):
        (found,) = analyst.get(f"/find.json?q={name}").json()["reconciliations"]
        assert found["series"] == "audit"
        page = analyst.get(f"/find?q={name}").text
        assert f'href="/reconciliation?series=audit&amp;text={name}"' in page
        listed = analyst.get(f"/reconciliation.json?series=audit&text={name}").json()
        assert listed["rows_of_filter"] == found["exceptions"] >= 4
    assert analyst.get("/find.json?q=Zzz").json()["reconciliations"] == []
    assert running.person("viewer").get("/find.json?q=acme").json()["reconciliations"] == []


BROKEN_WORDS = """() => {
    const found = [], walk = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
    for (let node = walk.nextNode(); node; node = walk.nextNode())
        for (const word of node.data.matchAll(/[A-Za-z]+/g)) {
            const range = document.createRange();
            range.setStart(node, word.index); range.setEnd(node, word.index + word[0].length);
            if (new Set([...range.getClientRects()].map(each => each.top)).size > 1) found.push(word[0]);
        }
    return found;
}"""


class TestInABrowser:
    """Real clicks, without a mouse."""

    pytestmark = NEEDS_CHROMIUM

    def test_no_word_of_a_table_is_broken(self, browser: Browser, running: RunningPages) -> None:
        for width in (390, 1280):
            page = signed_in(browser, running, width=width)
            page.goto(f"{running.url}/reconciliation")
            sites = page.locator("td span.faint").filter(has_text="Bhiwandi")
            sites.first.evaluate("each => each.textContent = 'Thiruvananthapuram'")
            assert page.evaluate(BROKEN_WORDS) == []
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
            page.context.close()

    def test_an_exception_is_accepted_by_keyboard_alone(self, browser: Browser, running: RunningPages) -> None:
        page = signed_in(browser, running)
        page.goto(f"{running.url}/reconciliation")
        page.get_by_label("Group by").focus()
        page.keyboard.type("supplier")
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        page.get_by_role("region", name="Groups").get_by_role("link", name="Acme").focus()
        page.keyboard.press("Enter")
        page.get_by_label("Keep this view as").focus()
        page.keyboard.type("Acme's")
        page.keyboard.press("Enter")
        page.get_by_role("link", name="Acme's").wait_for()
        assert no_violations(page) == []
        page.get_by_role("checkbox").first.focus()
        page.keyboard.press("Space")
        page.get_by_label("What").focus()
        page.keyboard.type("accept")
        page.get_by_label("Why").focus()
        page.keyboard.type("the lorry was full")
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        page.get_by_role("status").get_by_text("1 exception accepted").wait_for()
        assert page.get_by_text("the lorry was full (admin of tests").count() == 1
        assert no_violations(page) == []
        page.context.close()


def test_suppliers_and_sites_are_told_over_months(running: RunningPages, analyst: Person) -> None:
    def card(by: str) -> dict[str, Any]:
        told = analyst.get(f"/reconciliation/scorecards.json?by={by}").json()
        assert told["months"][-1] == f"{TODAY:%Y-%m}" and len(told["months"]) == 6
        (found,) = told["cards"]
        return dict(found)

    before = exceptions(analyst)
    acme = card("supplier")
    every = analyst.get("/reconciliation.json?standing=open").json()["rows_of_filter"]
    assert (acme["name"], acme["raised"], acme["open"]) == ("Acme", [0, 0, 0, 0, 0, every], every)
    assert acme["impact_inr"] == acme["open_inr"]
    assert card("site")["name"] == "Bhiwandi"
    invoice = before["I1"]["invoice_number"]
    more = f"Invoice,SKU,Received,Condition,Date\n{invoice},W,1,,{DUE}\n"
    running.workspace.drop("tuesday.csv", more, folder="docks")
    tomorrow = (TODAY + timedelta(days=1)).isoformat()
    assert running.workspace.run("run", "audit", "--business-date", tomorrow).code in (0, 3, 4)
    acme = card("supplier")
    assert (acme["raised"], acme["open"]) == ([0, 0, 0, 0, 0, every], every - 1)
    page = analyst.get("/reconciliation").text
    assert f"from {TODAY.isoformat()} to {tomorrow}" in page  # the trend
    for place in ("/reconciliation", "/reconciliation/scorecards"):
        assert rupees(Decimal(acme["open_inr"])) in analyst.get(place).text
