"""The front door: parse, assemble, run one flow, exit with its code. No logic of its own.

Nothing heavy is imported before a command runs: `--help` needs no more than click.
"""

import gc


def main() -> int:
    """Run the command line and return its exit code."""
    gc.set_threshold(200_000, 20, 20)  # what is imported stays: to look through it again and again slows each start
    from logistics_batch.cli.front import outlive_readers, run

    outlive_readers()
    try:
        return run()
    finally:
        gc.freeze()  # and once more at the end
