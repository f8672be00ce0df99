"""The part of the ledger that belongs to some jobs: every question of somebody who sees no more passes here."""

from collections.abc import Collection, Iterator
from typing import Any, Final

import polars as pl
from sqlalchemy import Alias, ColumnElement, Connection, Executable, Join, Select, Table, event, exists, select
from sqlalchemy.sql import visitors
from sqlalchemy.sql.elements import ClauseElement
from sqlalchemy.sql.selectable import FromClause

from logistics_batch.ledger.bulk import read_frame
from logistics_batch.ledger.schema import document, file, print_line, reconciliation, row, run

_BY: Final = {
    **dict.fromkeys(("run", "slot", "notice", "held_file", "left_file", "feed"), "job"),
    **dict.fromkeys(("reconciliation", "exception"), "series"),
    **dict.fromkeys(("file", "run_note"), "run_id"),
    **dict.fromkeys(("document", "row", "issue"), "file_id"),
    **dict.fromkeys(("attempt", "evidence", "decision", "order_state"), "document_id"),
    "exception_change": "reconciliation_id",
}
"""The column of a table by which its records belong to a job, directly or by what they are part of."""
OF_NO_JOB: Final = frozenset(
    (
        *("meta", "person", "web_session", "web_view", "access_token", "audit"),
        *("result_name", "cancelled_number", "label", "print_line", "event", "lease", "lane"),
    )
)
"""Tables that are asked by what is known already: a name, or the number of an order that is seen."""


def narrow_questions(connection: Connection, jobs: Collection[str]) -> None:
    """From now on each question over this connection is about what belongs to these jobs alone."""

    def narrow(_: Connection, query: Executable, several: Any, values: Any, _options: object) -> Any:
        return narrowed(query, jobs), several, values

    event.listen(connection, "before_execute", narrow, retval=True)


def repeated(connection: Connection, rows: pl.DataFrame, documents: pl.DataFrame) -> Iterator[pl.DataFrame]:
    """How documents stand that rows repeat and of which nothing else is seen, for they are of another job: id, state.

    rows, documents: of a file, as they are seen. Nothing is given where all documents of the rows are among these.
    """
    unseen = rows.filter(fate="").join(documents, left_on="document_id", right_on="id", how="anti")["document_id"]
    if numbers := unseen.drop_nulls().unique().to_list():
        both = row.outerjoin(document, row.c.document_id == document.c.id)
        query = select(document.c.id, document.c.state).select_from(both).where(row.c.document_id.in_(numbers))
        found = read_frame(connection, query.distinct(), {"id": pl.Int64, "state": pl.String})
        yield found.with_columns(code=pl.lit(""), values=pl.lit(""))


def narrowed(query: Executable, jobs: Collection[str]) -> Executable:
    """The same question about what belongs to these jobs alone; also the questions within it.

    Raises KeyError for a table of which is not said to whom its records belong.
    """

    def narrow(inner: Select[Any]) -> None:
        found = [each for start in inner.get_final_froms() for each in _tables(start)]
        inner._where_criteria += tuple(_belongs(each, jobs) for each in found if _name(each) not in ("", *OF_NO_JOB))

    assert isinstance(query, ClauseElement)
    made = visitors.cloned_traverse(query, {}, {"select": narrow})
    assert isinstance(made, Executable)
    return made


def _tables(found: ClauseElement) -> list[FromClause]:
    """What a question takes records from. What an outer join puts beside them, as the state of the order that a row
    repeats, is part of what is seen."""
    if isinstance(found, Join):
        return [*_tables(found.left), *([] if found.isouter else _tables(found.right))]
    return [found] if isinstance(found, FromClause) else []


def _name(found: FromClause) -> str:
    """Of the ledger's table; "" of a question within, whose own tables are narrowed."""
    table = found.element if isinstance(found, Alias) else found
    return table.name if isinstance(table, Table) else ""


def _belongs(found: FromClause, jobs: Collection[str]) -> ColumnElement[bool]:
    by = _BY[name := _name(found)]
    column = found.c[by]
    match by:
        case "job" | "series":
            own = column.in_(jobs)
            return _unless_bundle_of_others(own, found, jobs) if name == "run" else own
        case "run_id":
            return exists(select(_RUN.c.id).where(_RUN.c.id == column, _RUN.c.job.in_(jobs)).correlate(found))
        case "file_id":
            return exists(_files(jobs).where(_FILE.c.id == column).correlate(found))
        case "document_id":
            of = _files(jobs).join(_DOCUMENT, _DOCUMENT.c.file_id == _FILE.c.id)
            return exists(of.where(_DOCUMENT.c.id == column).correlate(found))
        case _:
            night = reconciliation.alias()
            return exists(select(night.c.id).where(night.c.id == column, night.c.series.in_(jobs)).correlate(found))


_RUN, _FILE, _DOCUMENT, _PRINT = run.alias(), file.alias(), document.alias(), print_line.alias()


def _files(jobs: Collection[str]) -> Select[Any]:
    return select(_FILE.c.id).join(_RUN, _RUN.c.id == _FILE.c.run_id).where(_RUN.c.job.in_(jobs))


def _unless_bundle_of_others(own: ColumnElement[bool], found: FromClause, jobs: Collection[str]) -> ColumnElement[bool]:
    """Whether a run is one of these jobs, or made a bundle of labels by hand; and no label in it is of another order.

    A change says of itself which order's number it has, so only what created an order says whose that is.
    """
    of = select(_DOCUMENT.c.id).join(_FILE, _FILE.c.id == _DOCUMENT.c.file_id).join(_RUN, _RUN.c.id == _FILE.c.run_id)
    of = of.where(_DOCUMENT.c.awb_number == _PRINT.c.awb_number, _DOCUMENT.c.operation == "order.create")
    of = of.where(_RUN.c.job.in_(jobs)).correlate(_PRINT)
    printed = select(_PRINT.c.id).where(_PRINT.c.bundle_id == found.c.id).correlate(found)
    return (own | exists(printed)) & ~exists(printed.where(~exists(of)))
