"""Draw docs/images/reconciliation-page.png anew: .venv/bin/python docs/images/reconciliation_picture.py PAGE

PAGE is a reconciliation.html; without one it is that of `logistics-batch demo`, made in a temporary folder.
"""

import os
import sys
import tempfile
import threading
from pathlib import Path

from playwright.sync_api import sync_playwright

from logistics_batch.cli.progress import PlainNarrator
from logistics_batch.demo.play import play

PICTURE = Path(__file__).with_name("reconciliation-page.png")
CHROMIUM = "/usr/bin/chromium"
SIZE = {"width": 1280, "height": 1120}


def main() -> None:
    """Play unless there is a page already; then take the picture."""
    if len(sys.argv) > 1:
        take(Path(sys.argv[1]).resolve())
        return
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        with play(Path("demo"), PlainNarrator(), threading.Event()):
            take(next(Path("demo").resolve().rglob("reconciliation.html")))


def take(page: Path) -> None:
    """What a browser shows first."""
    with sync_playwright() as player:
        browser = player.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        tab = browser.new_page(viewport=SIZE, device_scale_factor=0.75)
        tab.goto(page.as_uri())
        tab.screenshot(path=PICTURE)
        browser.close()


if __name__ == "__main__":
    main()
