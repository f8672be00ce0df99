"""The unit that is sent: the rows that share a key and become one API call.

The states of a document, the changes between them that the protocol knows, and what its rows show in each.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import repeat
from typing import Final, overload

import polars as pl

from logistics_batch.model.issue import NOTHING_SAID, Issue
from logistics_batch.model.report import Fate


class Operation(StrEnum):
    """What a mapping file makes of its rows (`operation:`)."""

    ASN_CREATE = "asn.create"
    ASN_UPDATE = "asn.update"
    ORDER_CREATE = "order.create"
    ORDER_UPDATE = "order.update"
    ORDER_ADD_ITEMS = "order.add_items"
    ORDER_DELETE_ITEMS = "order.delete_items"
    ORDER_CANCEL = "order.cancel"
    LABEL_CREATE = "label.create"
    RECEIPT_READ = "receipt.read"

    @property
    def changes_order(self) -> bool:
        """Whether it is about an order that exists, which its call names in the path (API §4.7-4.10)."""
        return self in _ORDER_CHANGES

    @property
    def creates(self) -> bool:
        """Whether it makes something new: one live thing for each natural key."""
        return self in (Operation.ASN_CREATE, Operation.ORDER_CREATE)


_ORDER_CHANGES = (
    Operation.ORDER_UPDATE,
    Operation.ORDER_ADD_ITEMS,
    Operation.ORDER_DELETE_ITEMS,
    Operation.ORDER_CANCEL,
)


@dataclass(frozen=True, slots=True)
class OrderNumber:
    """Which order a change is about, as a sheet says it; the ledger tells what it does not.

    text: an AWB number or order id, or the reference number if `is_reference`. column, item_column: where the order
    and its items are named, from 1, for what has to be said about them; item_column is 0 unless the ids of the items
    are still to be found by their names.
    """

    text: str
    is_reference: bool
    column: int
    item_column: int = 0


@dataclass(frozen=True, slots=True)
class Document:
    """One API call that a file asks for.

    key: the natural key as people write it: the reference number of an order; for an ASN supplier, site and invoice
        number, joined by " | " (an id or a name, whichever the sheet gives); for a change of an order its AWB number.
    rows: the physical rows it was made of, in order.
    body: the exact text that is sent (compact JSON, UTF-8), "" where the call has no body; nothing is re-serialised
        once it is planned.
    reference: what people look for in a report: reference number or invoice number.
    line_rows: for each line of the payload (item or SKU line, in its order) the row it came from.
    keep: the mapping's `keep` values of the first row; never sent.
    order: of a change, which order the sheet means; None once it is known. order_id: what stands in the path then.
    path: the path of the call where it depends on the document.
    lent: fields of the body that the run gave it and not the sheet, as its business date. The same rows of another
        night differ in them, and are no other content for that.
    no_update: where other content of it was accepted and a job wants that updated, why it cannot be.
    """

    key: str
    operation: Operation
    rows: tuple[int, ...]
    body: str
    reference: str
    line_rows: tuple[int, ...] = ()
    keep: dict[str, str] = field(default_factory=dict)
    order: OrderNumber | None = None
    order_id: str = ""
    path: str = ""
    lent: tuple[str, ...] = ()
    no_update: Issue = NOTHING_SAID


DOCUMENTS_SCHEMA: dict[str, pl.DataType | type[pl.DataType]] = {
    "key": pl.String,
    "reference": pl.String,
    "body": pl.String,
    "rows": pl.List(pl.UInt32),
    "line_rows": pl.List(pl.UInt32),
    "keep": pl.String,  # a JSON object, which many documents share
    "order": pl.String,  # the text of `OrderNumber`, null where the document is about none
}


class Documents(Sequence[Document]):
    """The documents of a file as frames (DOCUMENTS_SCHEMA), one line a document.

    Objects are made of them while one goes through, so that of a large file never all are there at once; they are kept
    from the moment when somebody asks for a single one.
    """

    def __init__(
        self,
        frames: Iterable[pl.DataFrame],
        *,
        count: int,
        operation: Operation,
        order: OrderNumber | None = None,
        lent: tuple[str, ...] = (),
    ) -> None:
        """frames: can be gone through again and again. order: what the order numbers of all have in common."""
        self.frames = frames
        self.operation, self.order, self.lent = operation, order, lent
        self._count = count
        self._made: tuple[Document, ...] | None = None

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Document]:
        return iter(self._made) if self._made is not None else self._objects()

    @overload
    def __getitem__(self, place: int) -> Document: ...

    @overload
    def __getitem__(self, place: slice) -> tuple[Document, ...]: ...

    def __getitem__(self, place: int | slice) -> Document | tuple[Document, ...]:
        if self._made is None:
            self._made = tuple(self._objects())
        return self._made[place]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    __hash__ = None  # type: ignore[assignment]

    def _objects(self) -> Iterator[Document]:
        kept: dict[str, dict[str, str]] = {}
        for frame in self.frames:
            yield from map(
                Document,
                frame["key"].to_list(),
                repeat(self.operation),
                map(tuple, frame["rows"].to_list()),
                frame["body"].to_list(),
                frame["reference"].to_list(),
                map(tuple, frame["line_rows"].to_list()),
                [kept.get(text) or kept.setdefault(text, json.loads(text)) for text in frame["keep"].to_list()],
                [
                    None if text is None or self.order is None else replace(self.order, text=text)
                    for text in frame["order"].to_list()
                ],
                repeat(""),
                repeat(""),
                repeat(self.lent),
            )


CALLS_SCHEMA: dict[str, pl.DataType | type[pl.DataType]] = {
    "key": pl.String,
    "operation": pl.String,
    "rows": pl.List(pl.UInt32),
    "body": pl.String,
    "reference": pl.String,
    "order_id": pl.String,
    "path": pl.String,  # of the call, "" where it does not depend on the document
    "line_rows": pl.List(pl.UInt32),
    "keep": pl.String,  # a JSON object
}


def calls_of(documents: Sequence[Document]) -> pl.DataFrame:
    """What of each document its call is made of, one line a document (CALLS_SCHEMA)."""
    return pl.concat([pl.DataFrame(schema=CALLS_SCHEMA), *call_blocks(documents)])


def call_blocks(documents: Sequence[Document]) -> Iterator[pl.DataFrame]:
    """The same, some documents at a time."""
    if isinstance(documents, Documents):
        blank = pl.lit("")
        constants = (pl.lit(documents.operation.value).alias("operation"), blank.alias("order_id"), blank.alias("path"))
        for frame in documents.frames:
            yield frame.with_columns(constants).select(list(CALLS_SCHEMA))
    else:
        columns = {name: [getattr(document, name) for document in documents] for name in CALLS_SCHEMA}
        columns["operation"] = list(map(str, columns["operation"]))
        columns["keep"] = list(map(json.dumps, columns["keep"]))
        yield pl.DataFrame(columns, schema=CALLS_SCHEMA)


class RowState(StrEnum):
    """What mapping made of a row, before the ledger or the service have spoken."""

    READY = "ready"  # part of a document that can be sent
    INVALID = "invalid"  # has an issue
    BLOCKED = "blocked"  # fine itself, its document cannot be sent
    HELD = "held"  # fine itself, but what it refers to is not settled yet
    SKIPPED = "skipped"  # not data


ROWS_SCHEMA = {
    "row": pl.UInt32,
    "state": pl.String,  # RowState
    "code": pl.String,  # for skipped and blocked: why ("blank", "title", "repeated header", "sibling", "disagree" …)
    "document": pl.UInt32,  # index into MappedFile.documents, null where there is none
    "key": pl.String,  # the document's key as far as it could be read, also for invalid and blocked rows
    "values": pl.String,  # of the code, as `messages.packed` packs them; "" or null where it has none
    "sheet": pl.String,  # the second sheet's name for rows of that, else ""
}


@dataclass(frozen=True, slots=True)
class MappedFile:
    """A file after mapping: every row but the header stands exactly once in `rows`.

    rows: see ROWS_SCHEMA, in row order, those of a second sheet behind the others; `rows.height` is the count of rows
        read.
    lines_sheet, lines_header_row: the second sheet's name and header, where lines stand on one.
    documents: those that can be sent, in file order; of a large file they are made while one goes through them.
    issues: in row order; each belongs to an invalid row.
    columns: the sheet's header texts by position (index 0 is column A; "" where there is none).
    notes: repairs, ignored unknown columns, hidden rows: whatever a report should mention.
    keep: for receipt.read one line a ready row with `row` and a String column for each target and each `keep` name;
        what is kept of documents stands in these.
    stands_in: where all rows fail alike, the one other column whose values look as that rule wants them; else "".
    """

    sheet: str
    header_row: int
    columns: tuple[str, ...]
    rows: pl.DataFrame
    documents: Sequence[Document]
    issues: tuple[Issue, ...]
    notes: tuple[Issue, ...] = ()
    keep: pl.DataFrame = field(default_factory=pl.DataFrame)
    lines_sheet: str = ""
    lines_header_row: int = 0
    stands_in: str = ""


class DocumentState(StrEnum):
    """Where a document is."""

    PLANNED = "planned"  # it goes out with its run
    SENDING = "sending"  # an attempt was opened, and has no answer yet
    ACCEPTED = "accepted"  # the service has it
    REFUSED = "refused"  # the service said no, and no attempt can have arrived unseen
    IN_DOUBT = "in_doubt"  # it was sent, and no trustworthy answer came
    HELD = "held"  # a person decides, or something else has its end first
    SUPERSEDED = "superseded"  # a newer version took its place before anything of it was sent
    ABANDONED = "abandoned"  # a person dropped it


_S = DocumentState
UNANSWERED: Final = (_S.SENDING, _S.IN_DOUBT)
"""It was sent, or is about to be, and nobody knows what became of it."""
OPEN: Final = (_S.PLANNED, *UNANSWERED, _S.HELD)
"""It has no end yet."""
NOT_TAKEN: Final = (_S.REFUSED, _S.SUPERSEDED, _S.ABANDONED)
"""It has an end, and the service does not have it as far as anybody knows."""
ENDED: Final = (_S.ACCEPTED, *NOT_TAKEN)

FATE_OF_STATE: Final[dict[str, Fate]] = {
    _S.PLANNED: Fate.PENDING,
    _S.SENDING: Fate.IN_DOUBT,
    _S.IN_DOUBT: Fate.IN_DOUBT,
    _S.ACCEPTED: Fate.ACCEPTED,
    _S.REFUSED: Fate.REFUSED,
    _S.HELD: Fate.HELD,
    _S.SUPERSEDED: Fate.SKIPPED,
    _S.ABANDONED: Fate.SKIPPED,
}
"""What the rows of a document show."""

TRANSITIONS: Final[dict[DocumentState, dict[DocumentState, str]]] = {
    _S.PLANNED: {
        _S.SENDING: "its intent is durable before the first byte",
        _S.ACCEPTED: "an older copy of the ledger goes on, and the service shows it",
        _S.HELD: "it must not go out as it is",
        _S.SUPERSEDED: "a newer version of its file came, or a corrected mapping",
        _S.ABANDONED: "a person drops what was planned for another address of the service",
    },
    _S.SENDING: {
        _S.ACCEPTED: "the service took it",
        _S.REFUSED: "the service said no to a clean attempt",
        _S.PLANNED: "proven not sent, or not taken (401, 429, a wrong address)",
        _S.HELD: "its reference is taken, or a refusal proves nothing",
        _S.IN_DOUBT: "no trustworthy answer, or its sender died",
    },
    _S.IN_DOUBT: {
        _S.ACCEPTED: "found at the service",
        _S.SENDING: "sent again, where no second one can come of it",
        _S.HELD: "asking gives no certainty",
        _S.SUPERSEDED: "the service certainly does not have it, and a newer version of its file waits",
    },
    _S.REFUSED: {_S.PLANNED: "a person has it tried again"},
    _S.HELD: {
        _S.ACCEPTED: "a person says that the service has it, or the service shows it",
        _S.PLANNED: "a person approves it or sends it again, or the version before it has its end",
        _S.REFUSED: "the service said no, and certainly does not have it",
        _S.ABANDONED: "a person drops it",
        _S.SUPERSEDED: "a newer version came before anything was sent",
    },
    _S.ACCEPTED: {_S.IN_DOUBT: "its AWB number is another order's"},
    _S.SUPERSEDED: {},
    _S.ABANDONED: {},
}
"""Every change of state and when it comes. The database refuses any other, and the last one but for an order that
loses its AWB number with it."""
