"""The front door: parse, assemble, run one flow, exit with its code. No logic of its own.

Nothing heavy is imported before a command runs: `--help` needs no more than click.
"""


def main() -> int:
    """Run the command line and return its exit code."""
    from logistics_batch.cli.front import run
    from logistics_batch.cli.streams import outlive_readers

    outlive_readers()
    return run()
