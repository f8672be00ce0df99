"""`held`: what waits for a person."""

import re
from collections.abc import Sequence
from typing import Any

import click

from logistics_batch.cli.opening import WholeNumber, in_workspace, json_option, opened, reading

_DECISIONS = ("approve", "send-again", "accept", "drop", "reopen")
_COLUMNS = ("id", "what", "reference", "file", "rows", "reason")
_WIDTH = 110  # of a terminal, in columns; three stand between two of a table
_AT_LEAST = 24
_RANGE = re.compile(r"([0-9]+)-([0-9]+)")


class _HeldId(WholeNumber):
    """What `held list` calls something: a document's number, a preview, a file, or an address of the service."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """A document's number as a number, everything else as it was typed."""
        named = str(value).startswith(("preview-", "file-", "http://", "https://"))
        return value if named else super().convert(value, param, ctx)


class _HeldIds(_HeldId):
    """The same, or several numbers as a range."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """A range of numbers, both ends inclusive, or one thing."""
        ends = _RANGE.fullmatch(str(value))
        return range(int(ends[1]), int(ends[2]) + 1) if ends else super().convert(value, param, ctx)


def _not_blank(_ctx: click.Context, _param: click.Parameter, value: str) -> str:
    if not value.strip():
        raise click.BadParameter("it is blank: say why.")
    return value


@click.group(epilog="Example: logistics-batch held list")
def held() -> None:
    """What waits for a person, and the person's decision."""


@held.command("list", epilog="Example: logistics-batch held list --json")
@json_option
@in_workspace
def list_held(*, folder: str, as_json: bool) -> int:
    """List everything that is held, documents and whole files, with the reason and what can be done."""
    from logistics_batch.cli.show import print_json
    from logistics_batch.flows.doubts.held import everything_held, held_documents, in_words, line_of

    with reading(folder) as parts:
        found = everything_held(parts)
        documents = held_documents(parts) if as_json else []
        waits = in_words(parts, found)
        single = in_words(parts, [line_of(each) for each in documents])
    if not as_json:
        _print_held(found)
        if found:
            click.echo("`logistics-batch held show` with one of these numbers shows all of it.", err=True)
        return 0
    names = ("id", "operation", "key", "reference", "rule", "reason", "fix", "awb_number", "file_name", "sheet")
    groups: dict[str, list[dict[str, Any]]] = {"previews": [], "addresses": [], "files": []}
    for each, why in zip(found, waits, strict=True):
        if each.file:
            groups["files"].append(_file(each) | why)
        elif isinstance(each.id, str):
            ids = [one.id for one in each.documents]
            group = groups["addresses" if each.is_address else "previews"]
            group.append({"id": each.id, "file_name": each.file_name, "documents": ids} | why)
    held = [
        {name: getattr(each, name) for name in names} | {"rows": each.rows, "run": each.run} | why
        for each, why in zip(documents, single, strict=True)
    ]
    print_json({"held": held} | groups)
    return 0


def _file(held: Any) -> dict[str, Any]:
    """A file that is held as a whole; its remedy stands under that name, too, as in the answer of its run."""
    names = ("run", "job", "name", "stem", "since", "rule", "reason", "remedy")
    return {"id": held.id} | {name: getattr(held.file, name) for name in names}


def _print_held(found: Sequence[Any]) -> None:
    """Lines of `held list`, as wide as a terminal; of a number that it does not have, the number alone."""
    from logistics_batch.cli.show import plain, print_table

    lines = []
    for each in found:
        if isinstance(each, int | str):
            lines.append([str(each), *[""] * 5])
            continue
        reference, rows = (each.document.reference, each.document.rows) if each.document else ("", ())
        told = (each.id, each.what, _cut(reference), _cut(each.files), _rows(rows), each.why.reason)
        lines.append(list(map(plain, told)))
    taken = sum(max(map(len, column)) + 3 for column in list(zip(_COLUMNS, *lines, strict=True))[:-1])
    for line in lines:
        line[-1] = _cut(line[-1], most=max(_WIDTH - taken, _AT_LEAST))
    print_table(_COLUMNS, lines, empty="Nothing is held.")


def _cut(text: str, *, most: int = _AT_LEAST) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


@held.command(epilog="Example: logistics-batch held show 17")
@click.argument("held_id", metavar="ID", type=_HeldId(1))
@json_option
@in_workspace
def show(*, folder: str, held_id: int | str, as_json: bool) -> int:
    """Show what is held: what differs from the version before, and exactly what would go out.

    ID is whatever stands first in a line of `held list`.
    """
    from logistics_batch.cli.show import print_json
    from logistics_batch.flows.doubts.held import beside_earlier, held_under, in_words

    with reading(folder) as parts:
        found = held_under(parts, held_id)
        compared = [(document, beside_earlier(parts, document)) for document in found.documents]
        (why,) = in_words(parts, [found])
    if not as_json:
        _print_one(found)
        for document, beside in compared:
            _print_document(document, beside)
        return 0
    names = ("id", "operation", "key", "method", "path", "body", "file_name", "sheet", "rows", "rule", "reason")
    before = ("id", "state", "awb_number", "body", "file_name", "run")
    documents = [
        {name: getattr(document, name) for name in names}
        | {
            "earlier": {name: getattr(beside.earlier, name) for name in before} if beside.earlier else None,
            "differing": [dict(zip(("field", "before", "now"), each, strict=True)) for each in beside.differing],
        }
        for document, beside in compared
    ]
    print_json({"id": held_id, "documents": documents} | why | ({"file": _file(found)} if found.file else {}))
    return 0


def _print_one(held: Any) -> None:
    """All that `held list` has of it, and what `held list` has no room for."""
    from logistics_batch.cli.show import plain

    document = held.document
    told = {
        "id": held.id,
        "what": held.what,
        "reference": document.reference if document else "",
        "file": held.files,
        "rows": ", ".join(map(str, document.rows)) if document else "",
        "reason": held.why.reason,
        "what to do": held.fix,
    }
    for name, value in told.items():
        if value:
            click.echo(f"{name:<11} {plain(value)}")


def _print_document(document: Any, beside: Any) -> None:
    from logistics_batch.cli.show import plain, print_table

    click.echo()
    earlier = beside.earlier
    if earlier is not None:
        number = f", AWB {earlier.awb_number}" if earlier.awb_number else ""
        before = f"{earlier.state.replace('_', ' ')}{number} ({earlier.file_name}, run {earlier.run})"
        empty = "It says the same as before." if earlier.body else "What was said before is no longer kept."
        print_table(["field", before, f"{document.file_name}, run {document.run}"], beside.differing, empty=empty)
        if beside.alike:
            click.echo(f"Alike: {plain(', '.join(beside.alike))}")
    click.echo(f"{document.method} {plain(document.path)}  ({plain(document.file_name)}, rows {_rows(document.rows)})")
    click.echo(f"  {plain(document.body) or 'no body'}")


@held.command(epilog='Example: logistics-batch held decide 17 20-24 drop --reason "the customer cancelled by phone"')
@click.argument("held_ids", metavar="[ID|N-M]...", nargs=-1, type=_HeldIds(1))
@click.argument("decision", type=click.Choice(_DECISIONS))
@click.option("--reason", required=True, metavar="TEXT", callback=_not_blank, help="Why; it is kept.")
@click.option("--reissue", is_flag=True, help="With send-again: use the reference of a cancelled order again.")
@click.option("--rule", default="", metavar="RULE", help="Only what is held for this reason, as in `held list --json`.")
@click.option("--file", "file_name", default="", metavar="PATTERN", help="Only what came in files named so.")
@click.option("--dry-run", is_flag=True, help="Only list what would be decided, and what could not.")
@click.option("--yes", is_flag=True, help="Do not ask before several decisions.")
@in_workspace
def decide(
    *,
    folder: str,
    held_ids: tuple[int | str | range, ...],
    decision: str,
    reason: str,
    reissue: bool,
    rule: str,
    file_name: str,
    dry_run: bool,
    yes: bool,
) -> int:
    """Decide about what is held; ID is what stands first in a line of `held list`, N-M a range of numbers.

    approve: what was looked at goes out with the next run, of a file that waits for approval all of it. send-again:
    it goes out with the next run. accept: the service has it. drop: it is not wanted any more; of a file that is held
    as a whole, that it is done with: a corrected file of that name does so by itself; of an address, what was planned
    for it. reopen: what was dropped is wanted after all; nothing goes out until its file is dropped again.

    Of several, all are listed, and at a terminal it is asked once before they are decided.
    """

    from logistics_batch.errors import LedgerBusy
    from logistics_batch.flows.doubts.held import chosen
    from logistics_batch.flows.files.deliver import deliver_stale_beside

    if not (held_ids or rule or file_name):
        raise click.UsageError("Nothing is named: give numbers of `held list`, --rule or --file.")
    if decision == "reopen" and not (held_ids or file_name):
        raise click.UsageError("That is all that was ever dropped: give numbers, a range or --file.")
    with opened(folder) as parts:
        found = chosen(parts, held_ids, rule=rule, file_name=file_name, dropped=decision == "reopen")
        if dry_run or len(found) > 1:
            _print_held(found)
        ids = [each if isinstance(each, int | str) else each.id for each in found]
        words = {"decision": decision, "reason": reason, "reissue": reissue}
        if dry_run:
            return _decide_all(parts, ids, dry_run=True, **words)
        if len(found) > 1 and not yes and not _agreed(f"{decision}: {len(found)} of these?"):
            return 0
        code = _decide_all(parts, ids, dry_run=False, **words)
        try:
            for delivered in deliver_stale_beside(parts):
                for problem in (*delivered.failed, *(note.reason for note in delivered.notes)):
                    click.echo(problem, err=True)
        except LedgerBusy:
            click.echo("A run is under way: it writes the answers anew at its end, or the next one does.", err=True)
    return code


def _agreed(question: str) -> bool:
    """A person's yes; where nobody sits at a terminal nothing is asked."""
    import sys

    return not (sys.stdin.isatty() and sys.stderr.isatty()) or click.confirm(question, err=True)


def _decide_all(parts: Any, ids: Sequence[int | str], *, dry_run: bool, **words: Any) -> int:
    """Decide one after the other; one that cannot be decided so keeps no other from it."""
    from logistics_batch.cli.show import plain
    from logistics_batch.errors import UsageError
    from logistics_batch.flows.doubts.decisions import decide_held

    done, code = [], 0
    for held_id in ids:
        try:
            told = decide_held(parts, held_id, dry_run=dry_run, **words)
            if not dry_run:
                click.echo(plain(told))
                done.append(held_id)
        except UsageError as error:
            if len(ids) == 1:
                raise
            click.echo(f"{held_id}: {error.message} {error.remedy}", err=True)
            code = error.exit_code
    back = [str(each) for each in done if isinstance(each, int) or each.startswith("preview-")]
    if words["decision"] == "drop" and back:
        click.echo(f"To take that back: held decide {' '.join(back)} reopen, then drop the file again.")
    return code


def _rows(rows: tuple[int, ...]) -> str:
    shown = ", ".join(str(row) for row in rows[:6])
    return f"{shown}, …" if len(rows) > 6 else shown
