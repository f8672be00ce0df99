"""`sandbox`: a local service to try things on."""

from typing import Any

import click

from logistics_batch.cli.opening import WholeNumber

_PATHS = ("data", "journal", "faults", "sftp_root", "api_key_file")
_REMEDY = "Check port, folders, switches and fault plan; docs/how-to/sandbox.md explains them."


@click.command(epilog="Example: logistics-batch sandbox --port 8080 --sftp-port 2222 --data sandbox-data")
@click.option("--port", type=WholeNumber(0, 65535), default=0, show_default=True, help="0: any free one.")
@click.option("--data", metavar="DIR", help="Keeps everything; by default a temporary folder.")
@click.option(
    "--api-key",
    "api_keys",
    metavar="KEY",
    multiple=True,
    help="Opens the service; by default sandbox-key. May stand several times.",
)
@click.option("--api-key-file", metavar="FILE", help="A file with such keys, one a line.")
@click.option("--journal", metavar="FILE", help="A line for every request; by default in the data folder.")
@click.option("--faults", metavar="FILE", help="A fault plan in YAML: which requests go wrong.")
@click.option(
    "--switch", "switches", metavar="NAME=VALUE", multiple=True, help="How it answers where the API document is silent."
)
@click.option("--sftp-port", type=WholeNumber(0, 65535), help="Serve SFTP too, on this port (0: any free one).")
@click.option("--sftp-root", metavar="DIR", help="The folder behind SFTP; by default in the data folder.")
def sandbox(*, api_keys: tuple[str, ...], switches: tuple[str, ...], **given: Any) -> int:
    """Serve every call of the API on this machine, and an SFTP server, until SIGTERM or Ctrl-C.

    When it listens, one JSON line says where: {"url": …, "sftp": …}. The page URL/_sandbox/ shows what is in it. By
    default there are no faults and no rate limit, and orders move only when told.
    """
    from pathlib import Path

    from logistics_batch.errors import UsageError

    try:
        from logistics_batch.sandbox.options import check_faults, read_keys, read_switches, reason
        from logistics_batch.sandbox.serve import serve
    except ModuleNotFoundError as error:
        remedy = "Install the extra: pip install 'logistics-batch[sandbox]'."
        raise UsageError(f"The sandbox needs {error.name}, which is not installed.", remedy=remedy) from error
    paths = {name: Path(value) if value else None for name, value in given.items() if name in _PATHS}
    try:
        check_faults(paths["faults"])
        serve(
            port=given["port"],
            sftp_port=given["sftp_port"],
            data=paths["data"],
            journal=paths["journal"],
            faults=paths["faults"],
            sftp_root=paths["sftp_root"],
            api_keys=read_keys(api_keys, paths["api_key_file"]),
            switches=read_switches(switches),
        )
    except (OSError, ValueError) as error:
        raise UsageError(f"The sandbox cannot start: {reason(error)}.", remedy=_REMEDY) from error
    return 0
