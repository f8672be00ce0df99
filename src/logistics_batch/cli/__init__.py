"""The front door: parse, assemble, run one flow, exit with its code. No logic of its own.

Nothing heavy is imported before a command runs, and `--help` not even click: its pages are rendered beforehand.
"""

import io
import sys


def main() -> int:
    """Run the command line and return its exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal that lacks a letter shows its number instead
            stream.reconfigure(errors="backslashreplace")
    from logistics_batch.cli.pages import page_for

    page = page_for(sys.argv[1:])
    if page is not None:
        sys.stdout.write(page)
        return 0
    from logistics_batch.cli.front import run

    return run()
