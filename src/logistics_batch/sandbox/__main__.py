"""`python -m logistics_batch.sandbox`: the sandbox on its own."""

import argparse
import sys
from pathlib import Path

from logistics_batch.sandbox.serve import DEMO_KEY, read_keys, read_switches, reason, serve


def main(arguments: list[str] | None = None) -> int:
    """Serve until told to stop; 2 when the fault plan, a switch, a port or a folder is wrong."""
    given = _parser().parse_args(arguments)
    try:
        serve(
            port=given.port,
            data=given.data,
            api_keys=read_keys(given.api_key, given.api_key_file),
            journal=given.journal,
            faults=given.faults,
            sftp_port=given.sftp_port,
            sftp_root=given.sftp_root,
            ready_file=given.ready_file,
            switches=read_switches(given.switch),
            sftp_public_key=given.sftp_public_key.read_text(encoding="utf-8") if given.sftp_public_key else "",
        )
    except (OSError, ValueError) as error:
        print(f"sandbox: {reason(error)}", file=sys.stderr)  # noqa: T201
        return 2
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m logistics_batch.sandbox", description="The local service.")
    add = parser.add_argument
    add("--port", type=int, default=0, help="port of the service (0: any free one)")
    add("--data", type=Path, help="folder that keeps everything (default: a temporary one)")
    add(
        "--api-key",
        action="append",
        default=[],
        metavar="KEY",
        help=f"a key that opens the service (default: {DEMO_KEY})",
    )
    add("--api-key-file", type=Path, help="a file with such keys, one a line")
    add("--journal", type=Path, help="journal file (default: journal.jsonl in the data folder)")
    add("--faults", type=Path, help="fault plan in YAML")
    add("--sftp-port", type=int, help="also serve SFTP on this port (0: any free one)")
    add("--sftp-root", type=Path, help="folder behind the SFTP server (default: sftp in the data folder)")
    add("--sftp-public-key", type=Path, help="an OpenSSH public key that may log in")
    add("--ready-file", type=Path, help="written when the ports listen")
    add("--switch", action="append", default=[], metavar="NAME=VALUE", help="what the API document leaves open")
    return parser


if __name__ == "__main__":
    sys.exit(main())
