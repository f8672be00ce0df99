"""`receive`: events of orders, stored as they come."""

import click

from logistics_batch.cli.opening import WholeNumber, in_workspace, json_option, stopping

_END_SECONDS = 9.5  # a supervisor that sent SIGTERM gets its exit within ten


@click.command(epilog="Example: logistics-batch receive --port 8480")
@click.option("--port", type=WholeNumber(0, 65535), help="0: any free one; by default that of the settings.")
@json_option
@in_workspace
def receive(*, folder: str, port: int | None, as_json: bool) -> int:
    """Take the events that the service sends about orders, until SIGTERM or Ctrl-C.

    Each is stored with its exact bytes before it is answered; one that comes again is answered, but not stored twice.
    Senders need the secret of [receive] in its header. When it listens, one line says where; with --json it is
    {"url": …}. Put a server that speaks TLS in front.
    """
    from pathlib import Path

    from logistics_batch.errors import UsageError
    from logistics_batch.wiring import Workspace

    try:
        from logistics_batch.cli.receiving import receive_events
    except ModuleNotFoundError as error:
        remedy = "Install the extra: pip install 'logistics-batch[web]'."
        raise UsageError(f"The receiver needs {error.name}, which is not installed.", remedy=remedy) from error
    with stopping(within_seconds=_END_SECONDS) as stop:
        receive_events(
            Workspace(Path(folder)),
            port=port,
            stop=stop,
            say=lambda line: click.echo(line, err=True),
            on_ready=lambda url: _tell(url, as_json=as_json),
        )
    return 0


def _tell(url: str, *, as_json: bool) -> None:
    """Where it listens; the path stays in the settings, for it may be secret."""
    import json

    click.echo(json.dumps({"url": url}) if as_json else f"Listening on {url}, at the path of [receive].")
