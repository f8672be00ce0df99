"""`ledger`: whether the memory can be trusted, and all of it as records."""

import click

from logistics_batch.cli.opening import in_workspace, json_option, watched


@click.group(epilog="Example: logistics-batch ledger verify")
def ledger() -> None:
    """The memory: what was sent and what was said."""


@ledger.command(epilog="Example: logistics-batch ledger verify")
@click.option("--accept-restored", is_flag=True, help="Go on with a ledger that is an older copy; needs --reason.")
@click.option("--reason", metavar="TEXT", help="Why it is an older copy; it is kept in the ledger.")
@json_option
@in_workspace
def verify(*, folder: str, accept_restored: bool, reason: str | None, as_json: bool) -> int:
    """Check that the ledger is sound, is the newest, and holds together; nothing is changed.

    Looks at every page, row, attempt and digest, and at the kept originals. Exit code: 0 sound, 2 it is not.

    --accept-restored confirms that a ledger from a backup goes on. Reconcile the days since before you do: it does not
    know what was sent after the backup was made.
    """
    from dataclasses import asdict
    from pathlib import Path

    from logistics_batch.cli.show import moment, plain, print_json, print_table
    from logistics_batch.flows.verify_ledger import accept_restored as accept
    from logistics_batch.flows.verify_ledger import verify_ledger
    from logistics_batch.wiring import Need, Workspace

    if accept_restored != bool(reason):
        raise click.UsageError("--accept-restored and --reason TEXT belong together.")
    need = Need(calls=False, writes=accept_restored, progress=watched())
    with Workspace(Path(folder)).parts(need) as parts:
        opened = accept(parts, reason=reason) if reason else None
        found = verify_ledger(parts)
    if as_json:
        print_json(asdict(found.ledger) | {"sound": found.sound, "missing_files": found.missing})
        return 0 if found.sound else 2
    if opened is not None:
        click.echo(
            f"The ledger goes on. {opened} documents are open in it; the service's refusal of one of them proves "
            "nothing from now on, so it is held for a person."
        )
    for each in found.ledger.restorations:
        click.echo(
            f"Went on as an older copy on {moment(each['at'])}, confirmed by {each['who']}: {plain(each['reason'])}"
        )
    print_table(["what", "how many"], found.ledger.counted.items(), empty="")
    for finding in found.ledger.findings:
        click.echo(f"Problem ({finding.check}): {plain(finding.problem)}\nWhat to do: {finding.remedy}")
    if found.missing:
        click.echo(f"Note: of {found.missing} files the original is no longer kept; their answers show what is known.")
    click.echo("The ledger is sound." if found.sound else "The ledger is not sound.")
    return 0 if found.sound else 2


@ledger.command(epilog="Example: logistics-batch ledger export ledger.ndjson")
@click.argument("file")
@click.option("--personal", is_flag=True, help="Also what holds data of people: payloads, replies, events, cells.")
@json_option
@in_workspace
def export(*, folder: str, file: str, personal: bool, as_json: bool) -> int:
    """Write the whole ledger to FILE, a new one: a line of JSON for each record.

    Each line names its table. Digests stand for the payloads unless --personal is given.
    """
    from pathlib import Path

    from logistics_batch.cli.show import print_json
    from logistics_batch.flows.verify_ledger import export_ledger
    from logistics_batch.wiring import Need, Workspace

    with Workspace(Path(folder)).parts(Need(calls=False, writes=False)) as parts:
        counts = export_ledger(parts, Path(file), personal=personal)
    if as_json:
        print_json({"file": file, "records": counts})
    else:
        click.echo(f"{sum(counts.values())} records in {file}.")
    return 0


@ledger.command(epilog="Example: logistics-batch ledger backup ledger-2026-11-03.db")
@click.argument("file")
@json_option
@in_workspace
def backup(*, folder: str, file: str, as_json: bool) -> int:
    """Copy the ledger to FILE, a new one, as it is at one moment; also while something sends.

    The copy holds data of people. A ledger that was restored from it sends nothing until `ledger verify
    --accept-restored` was confirmed.
    """
    from pathlib import Path

    from logistics_batch.cli.show import print_json
    from logistics_batch.wiring import Need, Workspace

    with Workspace(Path(folder)).parts(Need(calls=False, writes=False)) as parts:
        size = parts.ledger.itself.back_up(Path(file))
    if as_json:
        print_json({"file": file, "bytes": size})
    else:
        click.echo(f"{file}: {size} bytes, checked.")
    return 0
