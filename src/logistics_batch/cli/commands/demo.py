"""`demo`: the whole nightly loop on embedded parts."""

from pathlib import Path

import click

from logistics_batch.cli.opening import json_option, stopping


@click.command(epilog="Example: logistics-batch demo --dir demo")
@click.option("--dir", "folder", default="demo", show_default=True, metavar="DIR", help="Where everything is written.")
@json_option
def demo(*, folder: str, as_json: bool) -> int:
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

    with stopping() as stop, narrating() as narrator:
        account = play(Path(folder), narrator, stop)
    if as_json:
        print_json(account)
    else:
        print_account(account)
    return ExitCode.DONE if account["closed"] else ExitCode.DOUBT
