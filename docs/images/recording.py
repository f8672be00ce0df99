"""Record docs/images/first-file.svg anew: .venv/bin/python docs/images/recording.py

It runs commands in a temporary workspace against the sandbox, and draws what they print as a terminal that moves: each
line comes at its time, and the screen scrolls. Whoever asks for less motion sees its end.
"""

import io
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from demo_picture import THEME, with_local_fonts
from rich.console import Console
from rich.text import Text

from logistics_batch.demo.service import running_sandbox

PICTURE = Path(__file__).with_name("first-file.svg")
WIDTH, HEIGHT = 100, 26  # of the screen, in signs
LASTS_SECONDS = 20.0
LINE = 24.4  # a line's height in the drawing
COMMAND_SECONDS, LINE_SECONDS = 1.6, 0.11  # to read a command before its answer comes; between lines of an answer
HEADER = "Order No,Ship To,Phone,Addr 1,PIN,Payment,SKU,Qty"
ROWS = (
    "ORD-1001,Asha Rao,9876543201,1 MG Road Pune,411001,Prepaid,TEA-250,2",
    "ORD-1002,Meena Shah,98765,2 MG Road Pune,411001,Prepaid,TEA-250,1",
    "ORD-1003,Farah Khan,9876543203,3 MG Road Pune,411001,Prepaid,TEA-250,4",
    "ORD-1003,Farah Khan,9876543203,3 MG Road Pune,411001,Prepaid,CUP-1,1",
)
COMMANDS = (
    "cat orders.csv",
    "logistics-batch push orders.csv --mapping orders_standard --dry-run",
    "logistics-batch push orders.csv --mapping orders_standard",
    "sed -i s/98765,/9876543202,/ orders.csv",
    "logistics-batch push orders.csv --mapping orders_standard",
)


def main() -> None:
    """Run, record, draw."""
    lines: list[tuple[float, str]] = []
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        key = Path("key")
        key.write_text("sandbox-key\n")
        key.chmod(0o600)
        subprocess.run([sys.executable, "-m", "logistics_batch", "init", "night"], check=True, capture_output=True)
        with running_sandbox(Path("sandbox"), api_key_file=key.resolve(), sftp_root=Path("sftp").resolve()) as sandbox:
            os.chdir("night")
            Path("orders.csv").write_text("\n".join((HEADER, *ROWS, "")))
            given = {"BASE_URL": sandbox.url, "API_KEY": sandbox.api_key, "RATE": "none", "SETTLE_AFTER": "1s"}
            os.environ |= {f"LOGISTICS_BATCH_SERVICE__{name}": value for name, value in given.items()}
            os.environ["COLUMNS"] = str(WIDTH)
            at = 0.3
            for command in COMMANDS:
                lines.append((at, f"\x1b[90m$\x1b[0m \x1b[1m{command}\x1b[0m"))
                at += COMMAND_SECONDS
                for line in _printed(command):
                    lines.append((at, line))
                    at += LINE_SECONDS
                lines.append((at, ""))
    PICTURE.write_text(drawing(lines), encoding="utf-8")


def _printed(command: str) -> list[str]:
    program = [sys.executable, "-m", "logistics_batch"]
    name, *rest = command.split()
    done = subprocess.run(
        [*(program if name == "logistics-batch" else [name]), *rest], capture_output=True, text=True, check=False
    )
    return (done.stdout + done.stderr).replace(str(Path.cwd().parent), "~").splitlines()


def drawing(lines: list[tuple[float, str]]) -> str:
    """The lines as a drawing of a screen, each from its second on, again and again."""
    console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True, highlight=False)
    times: list[float] = []
    for at, line in lines:
        with console.capture() as captured:
            console.print(Text.from_ansi(line))
        times += [at] * captured.get().count("\n")
        console.print(Text.from_ansi(line))
    svg = with_local_fonts(console.export_svg(title="logistics-batch", theme=THEME, unique_id="screen"))
    return _moving(svg, times)


def _moving(svg: str, times: list[float]) -> str:
    share = [100 * at / LASTS_SECONDS for at in times]
    assert max(share) < 90, "the recording takes longer than it may"
    shown = "\n".join(
        f"@keyframes l{number} {{0%,{at:.2f}% {{opacity:0}} {at + 0.01:.2f}%,100% {{opacity:1}}}}\n"
        f".l{number} {{animation:l{number} {LASTS_SECONDS}s infinite}}"
        for number, at in enumerate(share)
    )
    over = max(0, len(times) - HEIGHT)
    steps = [
        f"{share[HEIGHT + step - 1]:.2f}% {{transform:translateY({-LINE * step:.1f}px)}}" for step in range(1, over + 1)
    ]
    end = f"transform:translateY({-LINE * over:.1f}px)"
    scrolled = (
        f"@keyframes scrolled {{0% {{transform:none}} {' '.join(steps)} 100% {{{end}}}}}\n"
        f".scrolled {{animation:scrolled {LASTS_SECONDS}s step-end infinite}}\n"
        "@media (prefers-reduced-motion: reduce) "
        f"{{text {{animation:none !important}} .scrolled {{animation:none;{end}}}}}"
    )
    svg = re.sub(r'<text class="([^"]*)"([^>]*url\(#screen-line-(\d+)\))', r'<text class="\1 l\3"\2', svg)
    svg = svg.replace("</style>", f"{shown}\n{scrolled}\n</style>", 1)
    svg = re.sub(r'(<g class="screen-matrix">)(.*?)(</g>)', r'<g class="scrolled">\1\2\3</g>', svg, flags=re.DOTALL)
    return _cut(svg, rows=len(times))


def _cut(svg: str, *, rows: int) -> str:
    """The drawing as high as the screen."""
    less = LINE * max(0, rows - HEIGHT)

    def lower(found: re.Match[str]) -> str:
        return f"{found[1]}{float(found[2]) - less:.1f}{found[3]}"

    svg = re.sub(r'(viewBox="0 0 [\d.]+ )([\d.]+)(")', lower, svg, count=1)
    svg = re.sub(r'(clip-terminal">\s*<rect x="0" y="0" width="[\d.]+" height=")([\d.]+)(")', lower, svg, count=1)
    return re.sub(r'(<rect fill="#161b22"[^>]* height=")([\d.]+)(")', lower, svg, count=1)


if __name__ == "__main__":
    main()
