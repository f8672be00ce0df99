"""The pictures of the pages: the demo's workspace as its first admin sees it.

.venv/bin/python docs/images/pages_picture.py
"""

import re
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

FOLDER = Path(__file__).parent
CHROMIUM = "/usr/bin/chromium"
SIZE = {"width": 1280, "height": 900}
PASSWORD = "four plain words together"  # noqa: S105 - of a workspace that is gone at the end


def main() -> None:
    """Play, and take the pictures while the pages are served."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "logistics_batch", "demo", "--dir", "demo", "--pages"]
        with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout
            try:
                link = next(found[1] for line in process.stdout if (found := re.search(r"open (http\S+) in a", line)))
                take(link)
            finally:
                process.send_signal(signal.SIGINT)


def take(link: str) -> None:
    """What a browser shows first of the night and of a file."""
    with sync_playwright() as player:
        browser = player.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        tab = browser.new_page(viewport=SIZE, device_scale_factor=0.75)
        tab.goto(link)
        for name in ("password", "again"):
            tab.fill(f"[name={name}]", PASSWORD)
        tab.click("main button")
        tab.screenshot(path=FOLDER / "pages-tonight.png")
        tab.click("nav >> text=Files")
        tab.click("text=orders_standard_blr.xlsx")
        tab.screenshot(path=FOLDER / "pages-file.png")
        browser.close()


if __name__ == "__main__":
    main()
