"""`webhook`: the subscription to order events, by hand."""

import click

from logistics_batch.cli.opening import WholeNumber, in_workspace


@click.group(epilog="Example: logistics-batch webhook subscribe --url https://hooks.example.com/orders")
def webhook() -> None:
    """Subscribe to order events, and change the subscription."""


_ID = click.option("--id", "webhook_id", type=WholeNumber(0), metavar="N", help="Number of the webhook (webhookId).")
_HEADERS = click.option(
    "--headers-file",
    metavar="FILE",
    help='Headers of each callback, one "Name: value" a line; others must not read it.',
)
_VERIFY = click.option("--verify/--no-verify", default=None, help="Payload verification (verify_payload).")


@webhook.command(epilog="Example: logistics-batch webhook subscribe --id 7 --url https://hooks.example.com/orders")
@click.option("--url", required=True, metavar="URL", help="Where the service sends events.")
@_ID
@_HEADERS
@_VERIFY
@in_workspace
def subscribe(*, folder: str, url: str, webhook_id: int | None, headers_file: str | None, verify: bool | None) -> int:
    """Subscribe a URL to the events of orders."""
    wanted = _wanted(webhook_id, url, headers_file, verify)
    return _configure(folder, wanted, updates=False)


@webhook.command(epilog="Example: logistics-batch webhook update --id 7 --inactive")
@click.option("--url", metavar="URL", help="Where the service sends events from now on.")
@_ID
@_HEADERS
@_VERIFY
@click.option("--active/--inactive", default=None, help="Whether events are sent.")
@in_workspace
def update(
    *,
    folder: str,
    url: str | None,
    webhook_id: int | None,
    headers_file: str | None,
    verify: bool | None,
    active: bool | None,
) -> int:
    """Change a webhook: its URL, its headers, or whether events are sent."""
    wanted = _wanted(webhook_id, url, headers_file, verify)
    return _configure(folder, wanted | {"is_active": active}, updates=True)


def _wanted(webhook_id: int | None, url: str | None, headers: str | None, verify: bool | None) -> dict[str, object]:
    return {"webhookId": webhook_id, "callbackUrl": url, "headers": headers, "verify_payload": verify}


def _configure(folder: str, wanted: dict[str, object], *, updates: bool) -> int:
    from pathlib import Path

    from logistics_batch.cli.show import plain
    from logistics_batch.flows.orders.by_hand import subscribe_webhook, update_webhook
    from logistics_batch.settings import private_headers
    from logistics_batch.wiring import Need, Workspace

    if isinstance(wanted["headers"], str):
        wanted["headers"] = headers = private_headers(Path(wanted["headers"]))
        if dropped := ", ".join(name for name in headers if "_" in name):
            click.echo(
                f"Note: many servers and proxies drop a header with an underscore in its name: {dropped}.", err=True
            )
    with Workspace(Path(folder)).parts(Need(writes=False)) as parts:
        conclusion = update_webhook(parts, wanted) if updates else subscribe_webhook(parts, wanted)
    click.echo(plain(conclusion.text))
    return conclusion.exit_code
