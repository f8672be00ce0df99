"""The pages in a real browser: nothing is blocked, nothing runs that should not, everything fits the screen."""

import os
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, sync_playwright
from support.sandbox_process import RunningSandbox

CHROMIUM = Path("/usr/bin/chromium")
PAGES = ("", "pages/orders", "pages/orders/1", "pages/asns", "pages/events", "pages/journal", "pages/behaviour", "api")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.real,
    pytest.mark.skipif(not CHROMIUM.exists() and "CI" not in os.environ, reason="no chromium here"),
]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Debian's chromium, without a window."""
    with sync_playwright() as player:
        yield player.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--no-proxy-server"])


@pytest.mark.parametrize(("width", "height"), [(1366, 768), (390, 844)])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_are_quiet_and_fit(
    sandbox: RunningSandbox, service: httpx.Client, browser: Browser, width: int, height: int, scheme: str
) -> None:
    hostile = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>" + "N" * 10_000
    for text in ("Asha Rao", hostile):
        body = {"reference_number": text, "customer_name": text, "customer_mobile": "9876543210"}
        service.post("/orders/shipment", json=body | {"delivery_address": text, "item_details": [{"item_name": text}]})
    complaints: list[str] = []
    context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)  # type: ignore[arg-type]
    page = context.new_page()
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("dialog", lambda dialog: complaints.append(dialog.message))
    page.on("response", lambda response: complaints.append(response.url) if response.status != 200 else None)
    for path in PAGES:
        page.goto(f"{sandbox.url}/_sandbox/{path}")
        assert page.evaluate("document.documentElement.scrollWidth") <= width, path
    page.click("#refresh")
    assert page.get_attribute("#refresh", "aria-pressed") == "true"
    context.close()
    assert complaints == []
