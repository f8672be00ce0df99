"""`held`: what waits for a person."""

import click

from logistics_batch.cli.opening import WholeNumber, in_workspace, json_option

_DECISIONS = ("approve", "send-again", "accept", "drop")


@click.group(epilog="Example: logistics-batch held list")
def held() -> None:
    """What waits for a person, and the person's decision."""


@held.command("list", epilog="Example: logistics-batch held list --json")
@json_option
@in_workspace
def list_held(*, folder: str, as_json: bool) -> int:
    """List everything that is held, with the reason and what can be done."""
    from pathlib import Path

    from logistics_batch.cli.show import print_json, print_table
    from logistics_batch.flows.decisions import held_documents
    from logistics_batch.wiring import Need, Workspace

    with Workspace(Path(folder)).parts(Need(calls=False, writes=False)) as parts:
        found = held_documents(parts)
    if as_json:
        names = ("id", "operation", "key", "reference", "rule", "reason", "fix", "awb_number", "file_name", "sheet")
        lines = [{name: getattr(each, name) for name in names} | {"rows": each.rows, "run": each.run} for each in found]
        print_json({"held": lines})
    else:
        print_table(
            ["id", "what", "reference", "file", "rows", "reason", "what to do"],
            (
                (each.id, each.operation, each.reference, each.file_name, _rows(each.rows), each.reason, each.fix)
                for each in found
            ),
            empty="Nothing is held.",
        )
    return 0


@held.command(epilog='Example: logistics-batch held decide 17 drop --reason "the customer cancelled by phone"')
@click.argument("document_id", metavar="ID", type=WholeNumber(1))
@click.argument("decision", type=click.Choice(_DECISIONS))
@click.option("--reason", required=True, metavar="TEXT", help="Why; it is kept with the decision.")
@click.option("--reissue", is_flag=True, help="With send-again: use the reference of a cancelled order again.")
@in_workspace
def decide(*, folder: str, document_id: int, decision: str, reason: str, reissue: bool) -> int:
    """Decide about one held document; ID is its number in `held list`.

    send-again: it goes out with the next run. accept: the service has it. drop: it is not wanted any more.
    """
    from pathlib import Path

    from logistics_batch.flows.decisions import decide as decide_document
    from logistics_batch.flows.deliver import deliver_stale
    from logistics_batch.wiring import Need, Workspace

    with Workspace(Path(folder)).parts(Need()) as parts:
        document = decide_document(parts, document_id, decision=decision, reason=reason, reissue=reissue)
        click.echo(f"{document.reference} ({document.operation}) is now {document.state.replace('_', ' ')}.")
        for delivered in deliver_stale(parts):
            for problem in delivered.failed:
                click.echo(problem, err=True)
    return 0


def _rows(rows: tuple[int, ...]) -> str:
    shown = ", ".join(str(row) for row in rows[:6])
    return f"{shown}, …" if len(rows) > 6 else shown
