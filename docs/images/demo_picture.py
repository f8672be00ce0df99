"""Draw docs/images/demo.svg anew: .venv/bin/python docs/images/demo_picture.py

It runs the demo in a temporary folder and records what it prints.
"""

import io
import os
import re
import tempfile
import threading
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import TerminalTheme

from logistics_batch.cli.commands.demo_account import print_account
from logistics_batch.cli.progress import PlainNarrator
from logistics_batch.demo.play import play

PICTURE = Path(__file__).with_name("demo.svg")
WIDTH = 112
_HUES = [(255, 123, 114), (86, 211, 100), (227, 179, 65), (121, 192, 255), (210, 168, 255), (118, 227, 234)]
THEME = TerminalTheme(
    (22, 27, 34),
    (201, 209, 217),
    [(22, 27, 34), *_HUES, (201, 209, 217)],
    [(139, 148, 158), *_HUES, (240, 246, 252)],
)


def main() -> None:
    """Play, record, draw."""
    console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True, highlight=False)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        console.print("[bright_black]$[/] [bold]logistics-batch demo[/]")
        with play(Path("demo"), PlainNarrator(), threading.Event()) as (account, _):
            print_account(account, console)
    PICTURE.write_text(with_local_fonts(console.export_svg(title="logistics-batch demo", theme=THEME)), "utf-8")


def with_local_fonts(svg: str) -> str:
    """The drawing without fonts from elsewhere: a picture in a README loads nothing."""
    local = "ui-monospace, SFMono-Regular, Menlo, Consolas, monospace"
    bare = re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)
    return bare.replace("font-family: Fira Code, monospace", f"font-family: {local}")


if __name__ == "__main__":
    main()
