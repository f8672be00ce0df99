"""Draw docs/images/demo.svg anew: .venv/bin/python docs/images/demo_picture.py

It runs the demo in a temporary folder and records what it prints.
"""

import io
import os
import re
import tempfile
import threading
from pathlib import Path

from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console
from rich.terminal_theme import TerminalTheme

from logistics_batch.cli.demo_account import print_account
from logistics_batch.cli.demo_narrator import PlainNarrator
from logistics_batch.demo.play import play

PICTURE = Path(__file__).with_name("demo.svg")
WIDTH = 112
# Fonts of the reader's own machine: a picture in a README loads nothing.
FORMAT = re.sub(r"@font-face \{\{.*?\}\}\s*", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL).replace(
    "font-family: Fira Code, monospace", "font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace"
)
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
        print_account(play(Path("demo"), PlainNarrator(), threading.Event()), console)
    PICTURE.write_text(console.export_svg(title="logistics-batch demo", theme=THEME, code_format=FORMAT), "utf-8")


if __name__ == "__main__":
    main()
