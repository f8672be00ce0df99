"""The front door: parse, assemble, run one flow, exit with its code. No logic of its own.

Nothing heavy is imported before a command runs, so that `--help` answers at once.
"""


def main() -> int:
    """Run the command line and return its exit code."""
    from logistics_batch.cli.front import run

    return run()
