"""A file whose run was interrupted is planned anew by a mapping that was corrected since."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import polars as pl
from sqlalchemy import Connection, or_, select

from logistics_batch.ledger.documents.decide import Decision, Decisions, Generation, held_for_mapping
from logistics_batch.ledger.documents.stale import mark_stale
from logistics_batch.ledger.records import in_state
from logistics_batch.ledger.schema import document, issue, row
from logistics_batch.messages.reasons import REPLACEABLE
from logistics_batch.model.document import MappedFile
from logistics_batch.model.document_state import UNANSWERED, DocumentState
from logistics_batch.model.issue import Issue

_WAITS = document.c.state.in_((DocumentState.PLANNED, DocumentState.HELD))
_MAYBE_SENT = document.c.state.in_((*UNANSWERED, DocumentState.ACCEPTED)) | (
    _WAITS & or_(document.c.may_exist == 1, (document.c.state == "held") & document.c.waits_for.not_in(REPLACEABLE))
)
_NEVER_SENT = _WAITS & ~_MAYBE_SENT


@dataclass(frozen=True, slots=True)
class Kept:
    """Rows of a file that stay with what was sent of them: the document of each, by the row's sheet and number."""

    documents: Mapping[tuple[str, int], int] = field(default_factory=dict)

    @property
    def frame(self) -> pl.DataFrame:
        """The same in the columns sheet, row and sent."""
        lines = [(sheet, number, sent) for (sheet, number), sent in self.documents.items()]
        return pl.DataFrame(lines, schema={"sheet": pl.String, "row": pl.Int64, "sent": pl.Int64}, orient="row")

    def decisions(self, decisions: Decisions, mapped: MappedFile) -> Decisions:
        """What becomes of a file's documents where some of its rows were sent before, by another mapping.

        A document whose rows all lie in one that was sent shows what became of that; one that holds more waits.
        """
        if not self.documents:
            return decisions
        asked: dict[int, list[tuple[str, int]]] = {}
        for sheet, number, index in mapped.rows.select("sheet", "row", "document").iter_rows():
            if index is not None:
                asked.setdefault(index, []).append((sheet, number))
        others = {place: self._decision(each, asked.get(place, ())) for place, each in enumerate(decisions)}
        return Decisions(len(decisions), decisions.usual, others)

    def _decision(self, decision: Decision, rows: Sequence[tuple[str, int]]) -> Decision:
        sent = {self.documents[place] for place in rows if place in self.documents}
        if not sent:
            return decision
        if len(sent) == 1 and all(place in self.documents for place in rows):
            return Decision("follow", existing=Generation(sent.pop(), 0, "", "", ""))
        if decision.action in ("plan", "hold"):
            return replace(held_for_mapping(decision.generation), supersede=decision.supersede)
        return decision


def kept_rows(connection: Connection, file_id: int) -> Kept:
    """The rows of a file that ask for what was sent, or may have been."""
    query = (
        select(row.c.sheet, row.c.row, row.c.document_id)
        .join(document, row.c.document_id == document.c.id)
        .where(row.c.file_id == file_id, row.c.fate == "", document.c.file_id == file_id, _MAYBE_SENT)
    )
    return Kept({(line.sheet, line.row): line.document_id for line in connection.execute(query)})


def withdraw(connection: Connection, file_id: int, *, now: str) -> None:
    """What a file planned and nobody sent is superseded, and its rows make place for those that come anew."""
    unsent = select(document.c.id).where(document.c.file_id == file_id, _NEVER_SENT)
    numbers = list(connection.execute(unsent).scalars())
    connection.execute(
        document.update()
        .where(document.c.file_id == file_id, _NEVER_SENT)
        .values(in_state("superseded", Issue("superseded.by_mapping")) | {"send_approved": 0, "settled_at": now})
    )
    mark_stale(connection, *numbers)
    connection.execute(issue.delete().where(issue.c.file_id == file_id))
    connection.execute(row.delete().where(row.c.file_id == file_id))
