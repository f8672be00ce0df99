"""`demo`: the whole nightly loop on embedded parts."""

from contextlib import ExitStack
from pathlib import Path

import click

from logistics_batch.cli.opening import json_option, stopping


@click.command(epilog="Example: logistics-batch demo --dir demo")
@click.option("--dir", "folder", default="demo", show_default=True, metavar="DIR", help="Where everything is written.")
@click.option("--pages", is_flag=True, help="At the end, serve the pages on which people decide, until Ctrl-C.")
@json_option
def demo(*, folder: str, pages: bool, as_json: bool) -> int:
    """See a whole night in a few seconds: a service and an SFTP server start on this machine, sample spreadsheets are
    dropped, the sample jobs push orders and ASNs, reconcile, make labels and follow the orders, and you are told what
    happened.

    Nothing leaves this machine. Run again, it moves what an earlier demo left to DIR/earlier and begins anew.

    Exit code: 0 the loop closed (the samples have bad rows on purpose), 4 it did not, 5 stopped before its end.
    """
    from logistics_batch.cli.commands.demo_account import print_account
    from logistics_batch.cli.progress import narrating
    from logistics_batch.cli.show import print_json
    from logistics_batch.demo.play import play
    from logistics_batch.model.report import ExitCode

    with stopping() as stop, ExitStack() as stage:
        with narrating() as narrator:
            account, workspace = stage.enter_context(play(Path(folder), narrator, stop))
        if as_json:
            print_json(account)
        else:
            print_account(account)
        if pages:
            from logistics_batch.cli.serving import serve_workspace

            serve_workspace(workspace, host=None, port=0, stop=stop, tell=_invite)
    return ExitCode.DONE if account["closed"] else ExitCode.DOUBT


def _invite(url: str, link: str | None) -> None:
    click.echo(f"\nThe pages: open {link or url} in a browser, and choose a password of your own.")
    click.echo("Nothing leaves this machine. Ctrl-C ends the pages and the demo's service.")
