"""What commands print for people and for programs."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

import click
import polars as pl

from logistics_batch import messages
from logistics_batch.model.counting import counted
from logistics_batch.model.report import Fate, FileReport, RunReport
from logistics_batch.paper.answers.json_answers import report_json_text
from logistics_batch.paper.answers.row_answers import answered

WORDS: dict[Fate, str] = {
    Fate.ACCEPTED: "the service took them",
    Fate.UNCHANGED: "accepted earlier, not sent again",
    Fate.REFUSED: "the service said no",
    Fate.INVALID: "to be corrected in the file",
    Fate.BLOCKED: "another row of their document is wrong, or says otherwise",
    Fate.IN_DOUBT: "sent, no trustworthy answer yet: see `settle`",
    Fate.HELD: "a person must decide: see `held list`",
    Fate.PENDING: "not sent yet",
    Fate.SKIPPED: "no data, or not wanted any more",
}
_TO_EXPLAIN = (Fate.INVALID, Fate.REFUSED, Fate.HELD, Fate.IN_DOUBT)
IN_ORDER = (Fate.IN_DOUBT, *(fate for fate in Fate if fate is not Fate.IN_DOUBT))  # doubts first
_REASONS_SHOWN = 5


def print_json(document: Any) -> None:
    """One JSON document on standard output."""
    click.echo(json.dumps(document, ensure_ascii=False, indent=1, default=str))


def print_run_json(report: RunReport, *, more: dict[str, Any] | None = None, counts_only: bool = False) -> None:
    """A push as one JSON document, written as it is made. more: what stands beside its files."""
    for piece in report_json_text(report, more=more, counts_only=counts_only):
        click.echo(piece, nl=False)


def plain(text: object) -> str:
    """Text of a file or a service as it can be printed: control characters become spaces.

    >>> plain("a\\x1b[2Jb")
    'a [2Jb'
    """
    return "".join(sign if sign.isprintable() else " " for sign in str(text))


def sentence(text: str) -> str:
    """The words of a service or a person with a full stop, so that another sentence can follow.

    >>> sentence("Order not found"), sentence("Look again.")
    ('Order not found.', 'Look again.')
    """
    text = plain(text).strip()
    return text if not text or text.endswith((".", "!", "?", "…")) else f"{text}."


def took(started: str, ended: str) -> str:
    """How long something took, for people; "" if it has no end yet.

    >>> took("2026-11-03T21:15:00+05:30", "2026-11-03T21:16:02.5+05:30")
    '1 min 2 s'
    """
    if not ended:
        return ""
    minutes, seconds = divmod((datetime.fromisoformat(ended) - datetime.fromisoformat(started)).total_seconds(), 60)
    return f"{minutes:.0f} min {seconds:.0f} s" if minutes else f"{seconds:.1f} s"


def to_the_second(time: str) -> str:
    """A time without its fractions of a second, as it was written otherwise; any other text as it is.

    >>> to_the_second("2026-11-03T21:15:00.123456+05:30")
    '2026-11-03T21:15:00+05:30'
    """
    try:
        return datetime.fromisoformat(time).isoformat(timespec="seconds") if "." in time else time
    except ValueError:
        return time


def fields_of(record: Mapping[str, Any]) -> Iterator[tuple[str, object]]:
    """The fields of a record of the service for `print_table`, its items one by one."""
    for name, value in record.items():
        if name == "item_details" and isinstance(value, dict):
            for number, item in value.items():
                told = item.items() if isinstance(item, dict) else [("", item)]
                yield f"item {number}", ", ".join(f"{each.removeprefix('item_')} {said}".strip() for each, said in told)
        else:
            yield name, value


def shown_path(delivered: str) -> str:
    """Where a file was written: the plain path in a folder of this machine, "sftp:NAME:/path" on a server.

    delivered: the store's label, a colon and the path in the store.

    >>> shown_path("folder:/srv/reports:/orders.result.csv")
    '/srv/reports/orders.result.csv'
    """
    kind, _, rest = delivered.partition(":")
    root, _, path = rest.rpartition(":")
    return plain(f"{root.rstrip('/')}/{path.lstrip('/')}" if kind == "folder" and root else delivered)


def print_table(columns: Sequence[str], rows: Iterable[Sequence[object]], *, empty: str) -> None:
    """A table for people; None is an empty cell, and `empty` is said instead of a table without rows.

    At a terminal that is too narrow for it, each row becomes a block of lines: a number that was cut is of no use.
    """
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.measure import Measurement
    from rich.table import Table
    from rich.text import Text

    lines = [[plain("" if cell is None else cell) for cell in row] for row in rows]
    if not lines:
        click.echo(empty)
        return
    table = Table(*columns, box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for line in lines:
        table.add_row(*map(Text, line))
    terminal = Console()
    # A pipe has no width: nothing is cut or folded there.
    console = Console(width=terminal.width if terminal.is_terminal else 1000, highlight=False)
    if Measurement.get(console, console.options.update(max_width=10_000), table).minimum > console.width:
        _print_blocks(columns, lines, width=console.width)
    else:
        console.print(table)


def _print_blocks(columns: Sequence[str], lines: Sequence[Sequence[str]], *, width: int) -> None:
    """Each line of a table as one block, a value below the other; what is longer than the terminal is folded."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    for number, line in enumerate(lines):
        block = Table.grid(padding=(0, 2))
        block.add_column(style="bold", no_wrap=True)
        block.add_column(overflow="fold")
        for name, value in zip(columns, line, strict=True):
            if value:
                block.add_row(name, Text(value))
        if number:
            click.echo()
        Console(width=width, highlight=False).print(block)


def print_push(report: RunReport, answers: Sequence[tuple[str, Sequence[str]]]) -> None:
    """What became of each file of a push: the fates in words, the first reasons, where the answers lie.

    What is in doubt comes first, of all files and of each. answers: each file's name as it is shown, and where its
    answers lie; none of a dry run.
    """
    click.echo(f"Run {report.run}, {report.job}" if report.run else f"{report.job}: dry run")
    if len(report.files) > 1 and (doubtful := report.counts[Fate.IN_DOUBT]):
        click.echo(f"In doubt: {counted(doubtful, 'row')} of the files below, {WORDS[Fate.IN_DOUBT]}")
    for number, file in enumerate(report.files):
        shown, places = answers[number] if answers else (file.file, ())
        click.echo()
        _print_file(file, shown, is_written=bool(places))
        for place in places:
            click.echo(f"  Answers: {plain(place)}.*")
    for note in report.notes:
        click.echo(f"Note: {plain(note.reason)}")
    if report.stopped:
        click.echo(f"Stopped early: {plain(report.stopped)}")


def _print_file(file: FileReport, shown: str, *, is_written: bool) -> None:
    size = f"{counted(file.rows_read, 'row')}{file.in_documents()}"
    click.secho(f"{plain(shown)}: {size}, mapping {file.mapping}", bold=True)
    if file.reason:
        click.echo(f"  Held as a whole: {plain(file.reason)} {plain(file.remedy)}".rstrip())
    if file.earlier_file:
        click.echo(f"  Came before: {plain(file.earlier_file)}")
    counts = file.counts
    for fate in IN_ORDER:
        if counts[fate]:
            meaning = WORDS[fate]
            if fate is Fate.PENDING and (file.rows["would"] != "").any():
                meaning = "would go out"
            elif fate is Fate.HELD and file.reason:
                meaning = "not sent, because the file is held"
            click.echo(f"  {fate.value:<10} {counts[fate]:>7}  {meaning}{file.in_documents(fate)}")
    if file.without_awb_number:
        click.echo(f"  Accepted without an AWB number that is known: {file.without_awb_number:,}; it is looked for.")
    for note in file.notes:
        click.echo(f"  Note: {plain(note.reason)}")
    # Why the file is held as a whole is said above, once; of siblings, the wrong row tells.
    explained = pl.col("fate").is_in([fate for fate in _TO_EXPLAIN if not (fate is Fate.HELD and file.reason)])
    blocked = pl.col("fate") == Fate.BLOCKED.value
    rows = answered(file)
    wanted = rows.filter(explained | (blocked & ~pl.col("rule").str.ends_with("sibling")))
    wanted = wanted if wanted.height else rows.filter(blocked)
    in_doubt_first = wanted.sort(pl.col("fate") != Fate.IN_DOUBT.value, maintain_order=True)
    _print_reasons(in_doubt_first, names_sheets=bool(file.lines_sheet), is_written=is_written)


def print_advice(file: FileReport) -> None:
    """What the mapping may say of wrong rows, where all files are so: the operator's words, each once."""
    wrong = file.rows.filter(pl.col("fate") == Fate.BLOCKED.value).select("code", "values").unique(maintain_order=True)
    told = [*((each.code, each.values) for each in file.issues), *wrong.iter_rows()]
    words = (messages.operator_words(code, messages.unpacked(values))
             for code, values in told if code and messages.CATALOGUE[code].operator)  # fmt: skip
    for said in list(dict.fromkeys(words))[:_REASONS_SHOWN]:
        click.echo(f"In the mapping: {plain(said)}")


def _print_reasons(rows: pl.DataFrame, *, names_sheets: bool, is_written: bool) -> None:
    """The first reasons; what several rows are told in the same words is said once. is_written: there are answers."""
    alike = ("sheet", "cell", "reason", "fix")
    reasons = rows.group_by(alike, maintain_order=True).agg(pl.first("row", "column"), pl.len().alias("count"))
    for one in reasons.head(_REASONS_SHOWN).iter_rows(named=True):
        place = f"Row {one['row']}" + (f' of "{plain(one["sheet"])}"' if names_sheets else "")
        place += f", cell {one['cell']} ({plain(one['column'])})" if one["cell"] else ""
        others = f" and {one['count'] - 1} more" if one["count"] > 1 else ""
        click.echo(f"  {place}{others}: {sentence(one['reason'])} {sentence(one['fix'])}".rstrip())
    if left := reasons["count"].slice(_REASONS_SHOWN).sum():
        rest = "the answers name each" if is_written else "type the same with --json to see each"
        click.echo(f"  … and {left} more; {rest}.")
