"""The front door: parse, assemble, run one flow, exit with its code. No logic of its own.

Nothing heavy is imported before a command runs, and `--help` not even click: its pages are rendered beforehand.
"""

import sys


def main() -> int:
    """Run the command line and return its exit code."""
    from logistics_batch.cli.pages import page_for
    from logistics_batch.cli.streams import outlive_readers

    outlive_readers()

    page = page_for(sys.argv[1:])
    if page is not None:
        sys.stdout.write(page)
        return 0
    from logistics_batch.cli.front import run

    return run()
