"""The ledger's records as frozen values, and the one way from a record to its value."""

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, fields
from itertools import repeat
from typing import Any, Final, TypeVar, cast, get_origin

from pydantic_core import from_json
from sqlalchemy import Row, Select, select

from logistics_batch.ledger.schema import document, file
from logistics_batch.messages import codes_of
from logistics_batch.messages.documents import reason_of
from logistics_batch.messages.reasons import HeldDecision, WaitsFor
from logistics_batch.model.asn_marker import marker_of
from logistics_batch.model.document import Operation
from logistics_batch.model.issue import NOTHING_SAID, Issue, Place
from logistics_batch.model.order_state import OrderState

CANCELLED: Final = codes_of("cancelled")
"""The codes of orders that were cancelled."""
_Value = TypeVar("_Value")
_OF_NOTHING = hashlib.sha256(b"").hexdigest()
_READ_BY_TYPE: Final[dict[object, Callable[[Any], object]]] = {
    bool: bool,
    bytes: bytes,
    dict: from_json,  # a third of the time that `json` takes for short texts
    tuple: lambda text: tuple(from_json(text)),
}


def stored(kind: type[_Value], found: Sequence[Row[Any]]) -> list[_Value]:
    """The values of records, whose columns have the names of the value's fields.

    Texts that hold several values are read into them, and an `Issue` is made of the columns `code` and `values`.
    """
    if not found:
        return []
    columns = dict(zip(found[0]._fields, zip(*found, strict=True), strict=True))
    given: list[Iterable[object]] = []
    for each in fields(cast("Any", kind)):
        if each.type is Issue:
            given.append(map(Issue, columns["code"], repeat(Place()), columns["values"]))
        else:
            read = each.metadata.get("read") or _READ_BY_TYPE.get(get_origin(each.type) or each.type)
            given.append(map(read, columns[each.name]) if read else columns[each.name])
    return list(map(kind, *given))


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """A document as the ledger holds it; `body` is the exact text that is or was sent.

    state: planned, sending, accepted, refused, in_doubt, held, superseded, abandoned. why: for the states
    that need a why. may_exist: some attempt of it may have arrived without our seeing it, so that a refusal of a
    later attempt proves nothing. send_approved: a person decided to send it.
    asked: the operation of the file that asked for it; not `operation` where an update stands for a create.
    rows: physical rows of `file_name`, `line_rows`: the row of each payload line.
    """

    id: int
    key: str
    operation: str
    generation: int
    state: str
    body: str = field(metadata={"read": lambda content: bytes(content).decode()})
    body_sha256: str
    reference: str
    awb_number: str
    order_id: str
    delivery_hub: str
    items: dict[str, dict[str, Any]]
    child_awb_numbers: tuple[str, ...]
    method: str
    path: str
    why: Issue
    run: str
    accepted_run: str
    file_name: str
    sheet: str
    rows: tuple[int, ...]
    line_rows: tuple[int, ...]
    keep: dict[str, str]
    attempts: int
    checks: int
    may_exist: bool
    send_approved: bool
    baseline: str
    doubt_since: str
    planned_at: str
    settled_at: str
    asked: str
    account: str

    @property
    def rule(self) -> str:
        """Why it is in its state, as users see it: one word."""
        return self.why.rule

    @property
    def reason(self) -> str:
        """Why, in words."""
        return self.why.reason

    @property
    def fix(self) -> str:
        """What the operator does about it."""
        return self.why.operator_words

    @property
    def waits_for(self) -> WaitsFor:
        """What it waits for, by its reason."""
        return reason_of(self.why.code).waits_for

    @property
    def marker(self) -> str:
        """The marker that this ASN carries in its description, "" if it has none."""
        if self.operation != Operation.ASN_CREATE:
            return ""
        own = marker_of(self.account, self.key, self.generation)
        return own if own in self.body else ""

    @property
    def payload(self) -> dict[str, Any]:
        """What its bytes say; nothing where they are gone."""
        value = from_json(self.body or "{}")
        return value if isinstance(value, dict) else {}

    @property
    def purged(self) -> bool:
        """Whether its bytes are gone because their time was over; their digest stays."""
        return not self.body and self.body_sha256 != _OF_NOTHING

    @property
    def accepted_at(self) -> str:
        """When the service's acceptance was recorded, "" if it was not."""
        return self.settled_at if self.state == "accepted" else ""


def select_documents() -> Select[Any]:
    """Documents joined with the file that planned them, in the columns of a `StoredDocument`."""
    return select(
        document,
        file.c.run_id.label("run"),
        file.c.name.label("file_name"),
        file.c.sheet.label("sheet"),
        file.c.operation.label("asked"),
    ).join(file, document.c.file_id == file.c.id)


@dataclass(frozen=True, slots=True)
class NeverSent:
    """Documents of one file that are planned, and that no run is about to send. job: of the run that planned them."""

    run: str
    job: str
    file_name: str
    documents: int


@dataclass(frozen=True, slots=True)
class RowNotSent:
    """A row that announced something which the service did not take. fault: code and values of the reason."""

    file_name: str
    sheet: str
    row: int
    key: str
    fate: str
    reason: str
    fault: str
    run: str
    received_at: str


@dataclass(frozen=True, slots=True)
class StoredRun:
    """One execution of one job, or of one push by hand."""

    id: str
    job: str
    kind: str
    business_date: str
    state: str
    stopped: str
    exit_code: int | None
    summary: dict[str, Any]
    started_at: str
    finished_at: str


class HeldAsAWhole:
    """What holds a file, in the words of people; "" if nothing does."""

    __slots__ = ()
    held: Issue

    @property
    def rule(self) -> str:
        """Why, as one word."""
        return self.held.rule

    @property
    def reason(self) -> str:
        """Why, in words."""
        return self.held.reason

    @property
    def remedy(self) -> str:
        """What to do about it."""
        return self.held.fix


@dataclass(frozen=True, slots=True)
class StoredFile(HeldAsAWhole):
    """One arrival of a file in a run. held: why it is held as a whole, if it is. origin: store label and path."""

    id: int
    run: str
    name: str
    sha256: str
    size: int
    format: str
    mapping: str
    state: str
    sheet: str
    header_row: int
    rows_read: int
    held: Issue
    mapping_digest: str
    operation: str
    received_at: str
    origin: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class StoredSlot:
    """A planned time of a job (`slot`) as the ledger holds it; see the table."""

    job: str
    slot: str
    business_date: str
    state: str
    claimed_at: str
    exit_code: int | None
    ended_at: str


@dataclass(frozen=True, slots=True)
class StoredNotice:
    """A notice as the ledger holds it; over_at is "" while it lasts."""

    id: int
    key: str
    kind: str
    job: str
    business_date: str
    wanted: bool
    owed: bool
    since: str
    seen: int
    title: str
    text: str
    over_at: str
    over_text: str
    told: dict[str, str]
    over_told: dict[str, str]
    tries: int
    next_try_at: str


@dataclass(frozen=True, slots=True)
class StoredLabel:
    """A label that is kept by the hash of its content."""

    awb_number: str
    sha256: str
    pages: int
    fetched_at: str


@dataclass(frozen=True, slots=True)
class PrintLine:
    """One printed label: `copy` is 1 for the first print, more for reprints, which carry a reason."""

    bundle_id: str
    awb_number: str
    copy: int
    reason: str
    who: str
    at: str


@dataclass(frozen=True, slots=True)
class NewEvent:
    """An event as it came in; `raw` holds its exact bytes.

    identity: a digest; two events with the same one and the same bytes are the same event. unreadable: why it says
    nothing about an order, "" if it does. zone_assumed: its time came without an offset; `status_at` has that of the
    service's zone.
    """

    identity: str
    received_at: str
    raw: bytes
    topic: str = ""
    waybill: str = ""
    order_status: str = ""
    status_at: str = ""
    zone_assumed: bool = False
    unreadable: str = ""


@dataclass(frozen=True, slots=True)
class SentOrder:
    """An accepted order as far as asking for it goes; sent_at: when its acceptance was recorded."""

    document_id: int
    reference: str
    awb_number: str
    order_id: str
    child_awb_numbers: tuple[str, ...]
    sent_at: str
    state: OrderState


@dataclass(frozen=True, slots=True)
class StoredFeed:
    """A numbered file of changed orders; `content` is empty once it was delivered."""

    job: str
    number: int
    name: str
    orders: int
    sha256: str
    content: bytes = field(repr=False)
    made_at: str
    delivered_at: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one attempt to send gave, as it is written down.

    state: the document's next state. doubt_since: the last moment at which a byte can have left; "" means now.
    seen: the AWB number is sure: the service has shown our reference with it, or it was ours from the start.
    """

    document_id: int
    state: str
    meaning: str
    message: str = ""
    trace: str = ""
    status: int | None = None
    failure: str = ""
    reply: str = ""
    why: Issue = NOTHING_SAID
    awb_number: str = ""
    order_id: str = ""
    delivery_hub: str = ""
    items: dict[str, dict[str, Any]] = field(default_factory=dict)
    child_awb_numbers: tuple[str, ...] = ()
    accepted_run: str = ""
    doubt_since: str = ""
    seen: bool = False

    @property
    def rule(self) -> str:
        """Why, as users see it: one word."""
        return self.why.rule


@dataclass(frozen=True, slots=True)
class StoredAttempt:
    """One try to send a document, and what came back; finished_at: "" while nothing did."""

    n: int
    run_id: str
    intent_at: str
    finished_at: str
    status: int | None
    failure: str
    message: str
    meaning: str

    @property
    def may_have_arrived(self) -> bool:
        """Whether not answered without an effect; behind a redirect something may have been done."""
        return self.meaning in ("", "unknown") or (self.status or 0) // 100 == 3


@dataclass(frozen=True, slots=True)
class Decided:
    """A person's decision, as it is written down."""

    what: HeldDecision
    why: str = ""
    who: str = "operator"


@dataclass(frozen=True, slots=True)
class StoredDecision:
    """A person's decision about a document. code: why the document waited, or had its state, before."""

    at: str
    who: str
    what: str
    why: str
    code: str
