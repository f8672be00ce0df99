"""`sandbox`: a local service to try things on."""

import click

from logistics_batch.cli.opening import WholeNumber


@click.command(epilog="Example: logistics-batch sandbox --port 8080 --sftp-port 2222 --data sandbox-data")
@click.option("--port", type=WholeNumber(0, 65535), default=0, show_default=True, help="0: any free one.")
@click.option("--data", metavar="DIR", help="Keeps everything; by default a temporary folder.")
@click.option("--api-key", metavar="KEY", help="The key that clients must send; by default sandbox-key.")
@click.option("--journal", metavar="FILE", help="A line for every request; by default in the data folder.")
@click.option("--faults", metavar="FILE", help="A fault plan in YAML.")
@click.option("--sftp-port", type=WholeNumber(0, 65535), help="Serve SFTP too, on this port (0: any free one).")
def sandbox(
    *,
    port: int,
    data: str | None,
    api_key: str | None,
    journal: str | None,
    faults: str | None,
    sftp_port: int | None,
) -> int:
    """Serve every call of the API on this machine, and an SFTP server, until SIGTERM or Ctrl-C.

    When it listens, one JSON line says where: {"url": …, "sftp": …}. By default there are no faults and no rate limit,
    and orders move only when told.
    """
    from pathlib import Path

    from logistics_batch.errors import UsageError

    try:
        from logistics_batch.sandbox.serve import DEMO_KEY, serve
    except ModuleNotFoundError as error:
        remedy = "Install the extra: pip install 'logistics-batch[sandbox]'."
        raise UsageError(f"The sandbox needs {error.name}, which is not installed.", remedy=remedy) from error
    try:
        serve(
            port=port,
            data=Path(data) if data else None,
            api_key=api_key or DEMO_KEY,
            journal=Path(journal) if journal else None,
            faults=Path(faults) if faults else None,
            sftp_port=sftp_port,
        )
    except (OSError, ValueError) as error:
        raise UsageError(
            f"The sandbox cannot start: {str(error).rstrip('.')}.", remedy="Check port, folders and fault plan."
        ) from error
    return 0
