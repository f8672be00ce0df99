"""The pages in a real browser: nothing that axe finds, in both colours and three widths, and work by keyboard."""

import json
import os
import re

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page
from support.browsers import NEEDS_CHROMIUM, chromium  # noqa: F401 - the fixture `browser`
from support.pages_process import PASSWORD, RunningPages
from support.sandbox_process import RunningSandbox
from support.workspace import order_lines

from .conftest import JOB

PLACES = (
    "/",
    "/decisions",
    "/files",
    "/files/1",
    "/jobs",
    "/runs",
    "/runs/nightly",
    "/orders/R-1",
    "/admin",
    "/admin/doctor",
    "/admin/metrics",
    "/find?q=R",
    "/check",
    "/labels",
    "/jobs/nightly",
    "/reconciliation",
    "/reconciliation/scorecards",
    "/mappings",
    "/mappings/new",
    "/me",
)
_ALL = ((360, "light"), (1280, "dark"), (2560, "light"), (360, "dark"), (1280, "light"), (2560, "dark"))
LOOKS = _ALL if os.environ.get("CAMPAIGN") == "full" else _ALL[:3]
pytestmark = NEEDS_CHROMIUM


def signed_in(browser: Browser, pages: RunningPages, *, width: int = 1280, colours: str = "light") -> Page:
    """A page of the admin's browser; what the browser complains about fails the test."""
    pages.person("admin")
    page = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=colours).new_page()  # type: ignore[arg-type]
    page.goto(f"{pages.url}/sign-in")
    page.get_by_label("Name").focus()
    page.keyboard.type("admin of tests")
    page.keyboard.press("Tab")
    page.keyboard.type(PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_url(f"{pages.url}/")
    return page


def no_violations(page: Page) -> list[object]:
    """What axe finds on a page at each width, and where it is wider than the window. CAMPAIGN=full: in both colours."""
    found: list[object] = []
    for width, colours in LOOKS:
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=colours)  # type: ignore[arg-type]
        if width < 2560 or LOOKS == _ALL:
            found += [(width, colours, each["id"]) for each in Axe().run(page).response["violations"]]
        if not page.evaluate("document.documentElement.scrollWidth <= innerWidth"):
            found.append((width, "wider than the window"))
    return found


@pytest.mark.parametrize(("width", "colours"), [(360, "light"), (1280, "dark"), (2560, "light")])
def test_nothing_keeps_anybody_from_using_a_page(
    browser: Browser, pages: RunningPages, width: int, colours: str
) -> None:
    page = signed_in(browser, pages, width=width, colours=colours)
    complaints: list[str] = []
    page.on("console", lambda told: complaints.append(told.text))
    for place in PLACES:
        page.goto(pages.url + place)
        found = Axe().run(page).response["violations"] if width < 2560 else []
        assert [(place, each["id"], [node["target"] for node in each["nodes"]]) for each in found] == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), place
    assert complaints == []
    page.context.close()


def test_why_an_order_has_not_shipped_is_found_by_keyboard_alone(browser: Browser, pages: RunningPages) -> None:
    page = signed_in(browser, pages)
    page.keyboard.press("/")
    page.keyboard.type("R-1")
    page.keyboard.press("Enter")
    page.wait_for_url(f"{pages.url}/find?q=R-1")
    link = page.get_by_role("link", name="R-1").first
    link.focus()
    page.keyboard.press("Enter")
    page.wait_for_url(f"{pages.url}/orders/R-1")
    assert page.get_by_role("heading", level=1).inner_text() == "R-1"
    assert page.get_by_text("Attempt 1: HTTP 200").count() >= 1
    page.context.close()


def test_seven_clicks_settle_what_is_held(browser: Browser, pages: RunningPages) -> None:
    """Marked, said why, looked at, decided: by keyboard as well, for each is a form."""
    page = signed_in(browser, pages)
    page.goto(f"{pages.url}/decisions")
    rows = page.get_by_role("row").filter(has_text="R-")
    number = rows.first.get_by_role("link").first.inner_text()
    rows.first.get_by_role("checkbox").check()
    page.get_by_label("Decision").select_option("drop")
    page.get_by_label("Why (it is kept)").fill("the customer called")
    page.get_by_role("button", name="See what it would do").click()
    assert page.get_by_text("is dropped; nothing is sent").count() == 1
    page.get_by_role("button", name="Decide about 1").click()
    page.wait_for_url(f"{pages.url}/decisions")
    assert page.get_by_role("status").count() == 1
    assert page.get_by_role("link", name=number, exact=True).count() == 0
    page.context.close()


def test_a_sheet_is_corrected_and_handed_over_by_keyboard_alone(browser: Browser, pages: RunningPages) -> None:
    page = signed_in(browser, pages)
    page.goto(f"{pages.url}/check")
    bad = f"K-9,98,{'9 Market Road ' * 8},560001,SKU-1,x\n"
    sheet = {"name": "keys.csv", "mimeType": "text/csv", "buffer": (order_lines(["K-1"]) + bad).encode()}
    page.get_by_label("Sheet (").set_input_files(sheet)  # type: ignore[arg-type]
    page.get_by_label("For").focus()
    page.keyboard.type("job nightly")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_url(f"{pages.url}/check/*")
    assert no_violations(page) == []
    phone = page.get_by_label("Phone, row 3")
    assert phone.get_attribute("aria-invalid") == "true"
    phone.focus()
    page.keyboard.press("Control+A")
    page.keyboard.type("9876543210")
    page.keyboard.press("Tab")
    page.keyboard.press("Control+A")
    page.keyboard.type("2")
    page.keyboard.press("Enter")
    page.get_by_role("status").get_by_text("0 rows to correct.").wait_for()
    page.get_by_role("button", name="Hand it to nightly").focus()
    page.keyboard.press("Enter")
    page.wait_for_url(f"{pages.url}/check")
    assert (pages.workspace.root / "drop/keys.fix.xlsx").is_file()
    page.context.close()


def test_a_cell_is_checked_as_soon_as_it_is_left_and_nothing_moves(browser: Browser, pages: RunningPages) -> None:
    page = signed_in(browser, pages)
    page.goto(f"{pages.url}/check")
    bad = "".join(f"T-{n},98,9 Market Road,560001,SKU-1,x\n" for n in range(6))
    sheet = {"name": "typed.csv", "mimeType": "text/csv", "buffer": (order_lines(["T-9"]) + bad).encode()}
    page.get_by_label("Sheet (").set_input_files(sheet)  # type: ignore[arg-type]
    page.get_by_label("For").select_option("job:nightly")
    page.get_by_role("button", name="Check").click()
    page.wait_for_url(f"{pages.url}/check/*")
    here = page.url
    page.get_by_label("Phone, row 3").focus()
    page.keyboard.press("Control+A")
    page.keyboard.type("9876543210")
    page.keyboard.press("Tab")
    page.keyboard.press("Control+A")
    page.keyboard.type("1")  # before the check of the other cell has come back
    page.get_by_role("status").get_by_text("1 cell corrected; 6 rows to correct.").wait_for()
    assert page.locator(":focus").get_attribute("aria-label") == "Qty, row 3"
    page.keyboard.press("Tab")
    page.get_by_role("status").get_by_text("1 cell corrected; 5 rows to correct.").wait_for()
    assert page.get_by_label("Qty, row 3").input_value() == "1"
    row = page.get_by_role("row").filter(has=page.get_by_role("link", name="Write into row 3"))
    assert row.get_by_text("would create").count() == 1, "it stays where it stood"
    assert no_violations(page) == []
    assert page.url == here
    page.context.close()


def test_a_label_is_printed_and_downloaded_by_keyboard_alone(browser: Browser, pages: RunningPages) -> None:
    page = signed_in(browser, pages)
    page.goto(f"{pages.url}/labels")
    page.get_by_label("References or AWB numbers").focus()
    page.keyboard.type("R-9")
    page.get_by_role("button", name="See what would be printed").focus()
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="What would be printed").wait_for()
    assert no_violations(page) == []
    page.get_by_role("button", name="Print 1").focus()
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("/labels(/L[0-9a-f-]+)?$"))
    if page.url.endswith("/labels"):
        page.get_by_role("region", name="Bundles").get_by_role("link").first.click()
    page.get_by_role("link", name="labels.pdf").wait_for()
    assert no_violations(page) == []
    with page.expect_download() as kept:
        page.get_by_role("link", name="labels.pdf").focus()
        page.keyboard.press("Enter")
    assert kept.value.path().read_bytes().startswith(b"%PDF-")
    page.context.close()


def test_a_job_is_paused_resumed_and_run_by_keyboard_alone(browser: Browser, pages: RunningPages) -> None:
    page = signed_in(browser, pages)
    page.goto(f"{pages.url}/jobs")
    page.get_by_role("link", name="nightly").focus()
    page.keyboard.press("Enter")
    page.wait_for_url(f"{pages.url}/jobs/nightly")
    for button, told in (("Pause nightly", "is paused by"), ("Resume nightly", "is resumed by")):
        page.get_by_label("Why").focus()
        page.keyboard.type("stock is counted")
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.innerText") == button
        page.keyboard.press("Enter")
        page.get_by_role("status").get_by_text(told).wait_for()
        assert no_violations(page) == []
    page.get_by_role("button", name="Run nightly").focus()
    page.keyboard.press("Enter")
    page.get_by_role("status").wait_for()
    while page.get_by_role("link", name="Look again").count():
        page.reload()
    page.get_by_role("link", name="The run", exact=True).wait_for()
    page.context.close()


def test_a_running_night_is_followed_without_reloading(
    browser: Browser, pages: RunningPages, service: RunningSandbox
) -> None:
    """Tonight and the page of the run show how far it is; whoever is on a link stays there."""
    page = signed_in(browser, pages)
    complaints: list[str] = []
    page.on("console", lambda told: complaints.append(told.text))
    page.evaluate("window.opened = true")
    service.set_faults([{"endpoint": "order.create", "from": 2, "kind": "delay", "seconds": 2}])
    pages.workspace.drop("long.csv", order_lines([f"L-{n}" for n in range(60)]), folder="drop")
    push = pages.workspace.start("run", "nightly")
    bar = page.get_by_role("progressbar", name="How far nightly is")
    bar.wait_for()
    assert no_violations(page) == []
    kept = page.context.storage_state()
    plain = browser.new_context(java_script_enabled=False, storage_state=kept).new_page()
    plain.goto(pages.url)  # without scripts it is loaded again
    assert plain.get_by_role("progressbar", name="How far nightly is").count() == 1
    plain.context.close()
    link = page.get_by_role("listitem").filter(has=bar).get_by_role("link", name="nightly")
    link.focus()
    before = page.get_by_text("accepted", exact=False).first.inner_text()
    page.wait_for_function("before => !document.body.innerText.includes(before)", arg=before)
    assert page.evaluate("document.activeElement.innerText") == "nightly"
    page.keyboard.press("Enter")
    page.get_by_text("Under way, or interrupted").wait_for()
    assert no_violations(page) == []
    page.evaluate("window.opened = true")
    service.set_faults([])
    page.get_by_text("Under way, or interrupted").wait_for(state="detached")
    page.get_by_text("60 accepted").wait_for()
    assert page.evaluate("window.opened") is True
    assert push.communicate(timeout=60)[1] is not None
    assert complaints == []
    page.context.close()


def test_a_password_is_changed_by_keyboard_alone(browser: Browser, pages: RunningPages) -> None:
    done = pages.workspace.run("user", "add", "changer", "--role", "clerk", "--json")
    page = browser.new_context().new_page()
    page.goto(pages.url + json.loads(done.out)["link"])
    page.locator("#password:focus").wait_for()  # the page puts the cursor there, in its own time
    for _ in range(2):
        page.keyboard.type(PASSWORD)
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.get_by_role("link", name="changer, clerk").focus()
    page.keyboard.press("Enter")
    page.get_by_label("The password until now").focus()
    for text in (PASSWORD, "the lorry was full", "the lorry was full"):
        page.keyboard.type(text)
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.get_by_role("status").get_by_text("The password is changed").wait_for()
    assert no_violations(page) == []
    page.context.close()


def test_a_strange_sheet_is_mapped_from_nothing_and_saved_by_keyboard_alone(
    browser: Browser, pages: RunningPages
) -> None:
    page = signed_in(browser, pages)
    complaints: list[str] = []
    page.on("console", lambda told: complaints.append(told.text))
    page.goto(f"{pages.url}/mappings/new")
    content = (
        "Ord. Ref,Ordered,Consignee,Contact,Full Address,Payment Mode,To collect,Article,Pcs\n"
        'KHS-1,02/11/2026,Anjali D,98450 11203,"14, 3rd Cross",COD,"1,548.00",KTL-15,1\n'
        'KHS-2,02/11/2026,Rohan P,63614 50987,"Plot 88",Wallet,,BTL-1,2\n'
    )
    sheet = {"name": "strange.csv", "mimeType": "text/csv", "buffer": content.encode()}
    page.get_by_label("Sample (").set_input_files(sheet)  # type: ignore[arg-type]
    page.get_by_role("button", name="Look at it").focus()
    page.keyboard.press("Enter")
    page.wait_for_url(f"{pages.url}/mappings/new/*")
    assert no_violations(page) == []
    page.get_by_label("Answer").focus()
    page.keyboard.press("End")  # through the answers to the last; it is chosen when the list is left
    assert page.get_by_text("It cannot be used yet").count() == 1
    page.keyboard.press("Tab")
    page.get_by_text("would go out").wait_for()
    page.get_by_label("Ordered becomes").focus()
    page.keyboard.type("kept")
    page.keyboard.press("Tab")
    page.get_by_label("Ordered is read as").wait_for()
    assert 'ordered: {from: "Ordered"}' in page.get_by_label("The mapping file").input_value()
    assert no_violations(page) == []
    page.get_by_label("The mapping file").focus()
    page.keyboard.press("Control+Home")
    page.keyboard.type("# of Latha")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Apply").focus()
    page.keyboard.press("Enter")
    page.get_by_label("Name of the mapping").focus()
    page.keyboard.type("strange")
    page.keyboard.press("Enter")
    page.wait_for_url("**/mappings/new/*?save=strange**")
    assert no_violations(page) == []
    page.get_by_role("button", name="Save strange").focus()
    page.keyboard.press("Enter")
    page.get_by_role("status").get_by_text("mappings/strange.yaml was written").wait_for()
    assert complaints == []
    page.context.close()
    saved = (pages.workspace.root / "mappings/strange.yaml").read_text()
    assert saved.startswith("# of Latha\n")
    for command in ("lint", "test"):
        assert pages.workspace.run("mapping", command, "strange").code == 0
    pages.workspace.drop("strange.csv", content, folder="strange-in")
    made = JOB.replace("mapping: orders", "mapping: strange").replace("folder: drop", "folder: strange-in")
    pages.workspace.job("strange", made)
    assert pages.workspace.run("run", "strange").code == 0


def test_a_person_is_added_and_gets_another_role_by_keyboard_alone(browser: Browser, pages: RunningPages) -> None:
    page = signed_in(browser, pages)
    page.goto(f"{pages.url}/admin")
    page.get_by_label("Name", exact=True).focus()
    page.keyboard.type("meera")
    page.keyboard.press("Tab")
    page.keyboard.type("operator")
    for _ in ("partners", "button"):
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.get_by_text("/welcome/", exact=False).first.wait_for()
    assert no_violations(page) == []
    page.goto(f"{pages.url}/admin")
    page.get_by_label("Role of meera").focus()
    page.keyboard.type("viewer")
    for _ in ("partners", "button"):
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.get_by_role("row").filter(has_text="meera").get_by_role("cell", name="viewer", exact=True).wait_for()
    page.context.close()


def test_a_file_is_approved_by_keyboard_alone(browser: Browser, pages: RunningPages) -> None:
    page = signed_in(browser, pages)
    page.goto(f"{pages.url}/decisions")
    page.get_by_role("row").filter(has_text="new.csv").first.get_by_role("checkbox").focus()
    page.keyboard.press("Space")
    page.get_by_label("Decision").focus()
    page.keyboard.type("approve")
    page.get_by_label("Why (it is kept)").focus()
    page.keyboard.type("as on the phone")
    page.get_by_role("button", name="See what it would do").focus()
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Decide about 1").focus()
    page.keyboard.press("Enter")
    page.wait_for_url(f"{pages.url}/decisions")
    assert page.get_by_role("row").filter(has_text="new.csv").count() == 0
    done = pages.workspace.run("run", "approved")
    assert "accepted" in done.out, done.out
    page.context.close()
