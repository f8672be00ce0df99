"""`held`: what waits for a person."""

from typing import Any

import click

from logistics_batch.cli.opening import WholeNumber, in_workspace, json_option
from logistics_batch.model.counting import counted

_DECISIONS = ("approve", "send-again", "accept", "drop", "reopen")


class _HeldId(WholeNumber):
    """The number of a document, or that of a preview or a file."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The number of a document, or the name of a preview or file as it was typed."""
        return value if str(value).startswith(("preview-", "file-")) else super().convert(value, param, ctx)


@click.group(epilog="Example: logistics-batch held list")
def held() -> None:
    """What waits for a person, and the person's decision."""


@held.command("list", epilog="Example: logistics-batch held list --json")
@json_option
@in_workspace
def list_held(*, folder: str, as_json: bool) -> int:
    """List everything that is held, documents and whole files, with the reason and what can be done."""
    from dataclasses import asdict
    from pathlib import Path

    from logistics_batch.cli.show import print_json, print_table
    from logistics_batch.flows.doubts.approval import RULE, previews
    from logistics_batch.flows.doubts.decisions import held_documents
    from logistics_batch.wiring import Need, Workspace

    with Workspace(Path(folder)).parts(Need(calls=False, writes=False)) as parts:
        found = held_documents(parts)
        waiting = previews(parts)
        whole = parts.ledger.files.held()
    if as_json:
        names = ("id", "operation", "key", "reference", "rule", "reason", "fix", "awb_number", "file_name", "sheet")
        lines = [{name: getattr(each, name) for name in names} | {"rows": each.rows, "run": each.run} for each in found]
        files = [
            {"id": each.id, "file_name": each.file_name, "documents": [one.id for one in each.documents]}
            for each in waiting
        ]
        print_json(
            {"held": lines, "previews": files, "files": [asdict(each) | {"id": f"file-{each.id}"} for each in whole]}
        )
        return 0
    print_table(
        ["id", "what", "reference", "file", "rows", "reason", "what to do"],
        [
            *(
                (
                    each.id,
                    counted(len(each.documents), "document"),
                    "",
                    each.file_name,
                    "",
                    each.documents[0].reason,
                    each.documents[0].fix,
                )
                for each in waiting
            ),
            *(
                (f"file-{each.id}", "file as a whole", "", each.name, "", each.reason, each.remedy or "Correct it.")
                for each in whole
            ),
            *(
                (each.id, each.operation, each.reference, each.file_name, _rows(each.rows), each.reason, each.fix)
                for each in found
                if each.rule != RULE
            ),
        ],
        empty="Nothing is held.",
    )
    return 0


@held.command(epilog="Example: logistics-batch held show preview-3f9c21ab77")
@click.argument("held_id", metavar="ID", type=_HeldId(1))
@json_option
@in_workspace
def show(*, folder: str, held_id: int | str, as_json: bool) -> int:
    """Show exactly what would go out: each call with its body. ID is a number in `held list`."""
    from pathlib import Path

    from logistics_batch.cli.show import plain, print_json
    from logistics_batch.flows.doubts.decisions import what_would_go_out
    from logistics_batch.wiring import Need, Workspace

    with Workspace(Path(folder)).parts(Need(calls=False, writes=False)) as parts:
        found = what_would_go_out(parts, held_id)
    if as_json:
        names = ("id", "operation", "key", "method", "path", "body", "file_name", "sheet", "rows", "rule", "reason")
        print_json({"id": held_id, "documents": [{name: getattr(each, name) for name in names} for each in found]})
        return 0
    for each in found:
        click.echo(f"{each.method} {plain(each.path)}  ({plain(each.file_name)}, rows {_rows(each.rows)})")
        click.echo(f"  {plain(each.body) or 'no body'}")
    return 0


@held.command(epilog='Example: logistics-batch held decide 17 drop --reason "the customer cancelled by phone"')
@click.argument("held_id", metavar="ID", type=_HeldId(1))
@click.argument("decision", type=click.Choice(_DECISIONS))
@click.option("--reason", required=True, metavar="TEXT", help="Why; it is kept with the decision.")
@click.option("--reissue", is_flag=True, help="With send-again: use the reference of a cancelled order again.")
@in_workspace
def decide(*, folder: str, held_id: int | str, decision: str, reason: str, reissue: bool) -> int:
    """Decide about what is held; ID is its number in `held list`.

    approve: what was looked at goes out with the next run, of a file that waits for approval all of it. send-again:
    it goes out with the next run. accept: the service has it. drop: it is not wanted any more; of a file that is held
    as a whole, that it is done with: a corrected file of that name does so by itself. reopen: what was dropped is
    wanted after all; nothing goes out until its file is dropped again.
    """
    from pathlib import Path

    from logistics_batch.cli.show import plain
    from logistics_batch.flows.doubts.approval import decide_preview
    from logistics_batch.flows.doubts.decisions import decide as decide_document
    from logistics_batch.flows.doubts.decisions import reopen
    from logistics_batch.flows.files.deliver import deliver_stale
    from logistics_batch.flows.files.waiting_files import close_held_file
    from logistics_batch.wiring import Need, Workspace

    with Workspace(Path(folder)).parts(Need()) as parts:
        if isinstance(held_id, str) and held_id.startswith("file-"):
            file = close_held_file(parts, held_id, decision=decision, reason=reason)
            click.echo(f"{plain(file.name)} of run {file.run} is no longer waited for.")
        elif decision == "reopen":
            again = counted(len(reopen(parts, held_id, reason=reason)), "document")
            click.echo(f"{again} reopened: drop the file again, and it is looked at as if nothing had been decided.")
        elif isinstance(held_id, str):
            preview = decide_preview(parts, held_id, decision=decision, reason=reason)
            end = "goes out with the next run" if decision == "approve" else "is dropped"
            click.echo(f"{preview.file_name}, {counted(len(preview.documents), 'document')}: {end}.")
        else:
            document = decide_document(parts, held_id, decision=decision, reason=reason, reissue=reissue)
            click.echo(f"{document.reference} ({document.operation}) is now {document.state.replace('_', ' ')}.")
        if decision == "drop" and not str(held_id).startswith("file-"):
            click.echo(f"To take that back: held decide {held_id} reopen, then drop the file again.")
        for delivered in deliver_stale(parts):
            for problem in (*delivered.failed, *(note.reason for note in delivered.notes)):
                click.echo(problem, err=True)
    return 0


def _rows(rows: tuple[int, ...]) -> str:
    shown = ", ".join(str(row) for row in rows[:6])
    return f"{shown}, …" if len(rows) > 6 else shown
