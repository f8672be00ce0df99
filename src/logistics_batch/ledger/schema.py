"""The ledger's tables and their guards, one definition for SQLite and PostgreSQL.

Texts that hold several values are JSON. Times are ISO 8601 with offset, as text: they sort, and come back as written.
Columns with a default are those that become known later; of texts it is "".

The database guards its own history: illegal transitions and changed evidence are refused by triggers.
"""

from collections.abc import Iterator
from enum import IntEnum
from functools import partial
from typing import Final

from sqlalchemy import (
    BigInteger,
    Column,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
)

from logistics_batch.model.document import ENDED, TRANSITIONS, DocumentState

# A change here needs a step in `version`, frozen as it was written.
SCHEMA_VERSION = 6

metadata = MetaData()


class Answered(IntEnum):
    """How the written results of a file stand, in the column `stale`."""

    FRESH = 0  # they show what is known
    STALE = 1  # what is known has changed since
    UNWRITTEN = 2  # they could not be written yet, and are due until they are, whatever changes meanwhile
    IN_WRITING = 3  # until a change makes them stale again, or they are written; left behind by a kill


def _number_key(name: str = "id") -> Column[int]:
    return Column(name, Integer, primary_key=True, autoincrement="auto" if name == "id" else False)


def _text_key(name: str) -> Column[str]:
    return Column(name, Text, primary_key=True)


def _of(table: str, *, key: bool = False) -> Column[int]:
    """The record of another table that this one belongs to; key: there is one of each."""
    return Column(f"{table}_id", ForeignKey(f"{table}.id"), primary_key=key, nullable=False, autoincrement=False)


def _later_texts(*names: str, default: str | None = "") -> list[Column[str]]:
    return [Column(name, Text, nullable=False, server_default=default) for name in names]


def _later_numbers(*names: str, default: str | None = "0") -> list[Column[int]]:
    return [Column(name, Integer, nullable=False, server_default=default) for name in names]


_texts, _numbers = partial(_later_texts, default=None), partial(_later_numbers, default=None)


# schema_version; epoch and seq (see `connection.HighWater`); what was verified or decided about the ledger as a whole.
meta = Table("meta", metadata, _text_key("name"), *_texts("value"))

run = Table(
    "run",
    metadata,
    _text_key("id"),
    *_texts("job", "kind", "business_date"),
    *_texts("state"),  # running, stopped, finished
    *_later_texts("stopped"),
    Column("exit_code", Integer),
    *_later_texts("summary", default="{}"),
    *_texts("started_at"),
    *_later_texts("finished_at"),  # "" while it runs
)

# One arrival of a file in a run. The same bytes in another run are another arrival.
file = Table(
    "file",
    metadata,
    _number_key(),
    _of("run"),
    *_texts("sha256", "name", "format", "mapping", "mapping_digest", "operation", "received_at"),
    *_numbers("size"),
    *_later_texts("origin", default="{}"),  # where it came from: store label and path
    *_later_texts("sheet", "lines_sheet"),  # the second: where lines of documents stand, if not on the first
    *_later_numbers("header_row", "lines_header_row", "rows_read"),
    *_texts("state"),  # planned, reported, closed
    *_later_texts("notes", default="[]"),
    *_later_texts("earlier_file"),
    *_later_numbers("stale"),  # see Answered
    *_later_texts("code", "values"),  # why it is held as a whole, "" if it is not; values of the code, packed
    UniqueConstraint("run_id", "sha256", "name"),
)
Index("file_sha256", file.c.sha256)

document = Table(
    "document",
    metadata,
    _number_key(),
    *_texts("account", "kind", "key"),  # kind: order, asn, or the kind of change
    *_later_texts("folded_key"),  # as people read it: see `spelling`
    *_numbers("generation"),
    _of("file"),  # the arrival that planned it
    *_texts("operation", "method", "path", "reference", "rows", "line_rows", "keep", "planned_at"),
    Column("body", LargeBinary, nullable=False),  # the exact bytes that are sent; none once they were purged
    *_texts("body_sha256"),
    *_texts("state"),
    *_later_texts("code", "values"),  # why refused, held, superseded …, in `messages`; its values, packed
    *_later_texts("waits_for"),  # of its code: see `messages.reasons.WaitsFor`
    *_later_numbers("may_exist"),  # some attempt of it may have arrived unseen
    *_later_numbers("send_approved"),  # a person decided to send it; goes out with any run
    *_later_numbers("attempts"),
    *_later_numbers("checks"),  # searches made for it since it is in doubt
    *_later_texts("doubt_since"),  # last moment at which a byte can have left
    *_later_texts("settled_at", "accepted_run"),
    *_later_texts("awb_number", "order_id", "delivery_hub"),
    *_later_texts("items", default="{}"),
    *_later_texts("child_awb_numbers", default="[]"),
    *_later_numbers("seen"),  # the service has shown our reference under its AWB
    *_later_texts("baseline"),  # ASN: digests of what the service had before the first send
    *_later_numbers("lane"),  # of its key: see `lanes`
    UniqueConstraint("account", "kind", "key", "generation"),
)
Index("document_state", document.c.state, document.c.file_id)
Index("document_reference", document.c.reference)
Index("document_awb_number", document.c.awb_number)
Index("document_accepted_run", document.c.accepted_run)
Index("document_folded_key", document.c.account, document.c.kind, document.c.folded_key)

# Every row but the header, once a file. `fate` is empty where the row follows its document.
row = Table(
    "row",
    metadata,
    _of("file", key=True),
    _text_key("sheet"),  # "" on the file's own sheet
    _number_key("row"),
    Column("document_id", ForeignKey("document.id")),
    *_later_texts("fate", "key"),
    *_later_texts("code", "values"),  # why it has a fate of its own, in `messages`; values of the code, packed
)
Index("row_document", row.c.document_id)

issue = Table(
    "issue",
    metadata,
    _number_key(),
    _of("file"),
    *_texts("sheet", "column", "cell", "value"),  # sheet: "" on the file's own
    *_numbers("row"),
    *_later_texts("code", "values"),
    *_later_texts("field"),  # "" where it is about the whole row
)
Index("issue_file", issue.c.file_id)

# One try to send a document: written before the first byte, completed with what came back.
attempt = Table(
    "attempt",
    metadata,
    _number_key(),
    _of("document"),
    *_numbers("n"),
    *_texts("run_id", "intent_at", "request_sha256"),
    *_texts("owner"),  # host, pid, start time and boot id of the sender
    *_later_texts("trace", "failure", "message", "reply", "finished_at"),
    *_later_texts("meaning"),  # "" while nothing came back
    Column("status", Integer),
    *_later_numbers("lease_id"),  # under which it was begun; 0: by who alone sent
    UniqueConstraint("document_id", "n"),
)
Index("attempt_run", attempt.c.run_id)

# PostgreSQL only: who may send now, or keeps the schedule, see `lanes`. run: which it has opened for all, "" for who
# helps. until: in milliseconds by the server's clock; clock_ahead: so many is its own ahead of that. version: of the
# program.
lease = Table(
    "lease",
    metadata,
    _number_key(),
    *_texts("account", "process", "run"),
    Column("until", BigInteger, nullable=False),
    *_numbers("clock_ahead"),
    *_later_numbers("keeps_schedule"),
    *_later_texts("version"),
)
lane = Table("lane", metadata, _text_key("account"), _number_key("number"), *_numbers("lease_id"))

# Append-only: what was seen of a document besides its attempts. The text may only go, once its time is over.
evidence = Table("evidence", metadata, _number_key(), _of("document"), *_texts("at", "kind", "text"))
Index("evidence_document", evidence.c.document_id)

# Append-only: what people decided about documents. The words may go, once their time is over.
decision = Table(
    "decision",
    metadata,
    _number_key(),
    _of("document"),
    *_texts("at", "who"),
    *_texts("what"),  # see `messages.reasons.HeldDecision`
    *_texts("why"),
    *_texts("code"),  # why it waited, or had its state, before
)
Index("decision_document", decision.c.document_id)

# Numbers under which orders were cancelled that no document holds. Without a document: a person asked for it, and no
# order of ours had the number. With one: it was in doubt and found cancelled; that says nothing of its later attempts.
cancelled_number = Table(
    "cancelled_number",
    metadata,
    _number_key(),
    *_texts("account", "number", "at"),
    Column("document_id", ForeignKey("document.id")),
)

# A result file's name belongs to the content that came last under it. NAME/fix.xlsx: the digest of what was written
# last in NAME.fix.xlsx, which people correct.
result_name = Table("result_name", metadata, _text_key("place"), _text_key("name"), *_texts("sha256"))

# A planned time of a job. state: claimed, ended, seen (since when a schedule is known), lost (a business date without
# a run, of which people were told). owner: host, boot, pid and start time of who runs it. alive_at: when the claimer
# last said that it still runs it.
slot = Table(
    "slot",
    metadata,
    _text_key("job"),
    _text_key("slot"),
    *_texts("claimed_at"),
    *_later_texts("business_date", "state", "owner", "alive_at", "ended_at"),
    Column("exit_code", Integer),
)
Index("slot_state", slot.c.state, slot.c.claimed_at)

# Something a person should know: from when it was noticed until it is over, and who was told. `told` and `over_told`
# are {digest of an address: when}.
notice = Table(
    "notice",
    metadata,
    _number_key(),
    *_texts("key", "kind", "job", "business_date", "since", "last_seen", "title", "text"),
    *_numbers("wanted"),  # whether it is sent by itself, or only stands in the digest
    *_later_numbers("seen", default="1"),  # how often, since then
    *_later_texts("over_at", "over_text"),  # over_at: "" while it lasts
    *_numbers("owed"),  # whether somebody has still to be told of it, or that it is over
    *_later_texts("told", "over_told", default="{}"),
    *_later_numbers("tries"),  # attempts to tell it that failed, in a row
    *_later_texts("next_try_at"),
    UniqueConstraint("key", "over_at", name="notice_once"),
)
Index("notice_over_at", notice.c.over_at)

# What a run had to say besides its files' answers, as far as it is kept.
run_note = Table("run_note", metadata, _of("run", key=True), _number_key("n"), *_texts("code", "values"))

# A file that was held as a whole, until it or its successor was read, or a person closed it. The same file that is
# held again, because it still lies there, is the same record.
held_file = Table(
    "held_file",
    metadata,
    _of("file", key=True),
    *_texts("run_id", "job", "since"),
    *_texts("stem"),  # of its answers: what it shares with a corrected one
    *_texts("identity"),  # what makes it this file and no other
    *_later_texts("over_at", "over_by", "over_why"),  # over_at: "" while it waits
)
Index("held_file_job", held_file.c.job, held_file.c.over_at)

# A file that lies where a job's files are dropped and is not taken; it goes when it is gone from there, or taken.
# identity: a digest of its path. code: why it is left.
left_file = Table(
    "left_file", metadata, _text_key("job"), _text_key("identity"), *_texts("name", "code", "values", "since")
)

label = Table("label", metadata, _text_key("awb_number"), *_texts("sha256", "fetched_at"), *_numbers("pages"))

print_line = Table(
    "print_line",
    metadata,
    _number_key(),
    *_texts("bundle_id", "awb_number", "at"),
    *_numbers("copy"),
    *_later_texts("reason", "who"),
    UniqueConstraint("awb_number", "copy"),
)
Index("print_bundle", print_line.c.bundle_id)

# Append-only: events that the service sent about orders (API §6), with the exact bytes until their time is over.
# Only `seen` grows.
event = Table(
    "event",
    metadata,
    _number_key(),
    *_texts("account", "received_at"),
    *_texts("identity"),  # digest of what makes it this event and no other
    *_texts("topic", "waybill", "order_status", "status_at"),  # "" where the event does not say
    *_numbers("zone_assumed"),  # its time came without an offset
    *_texts("unreadable"),  # why it says nothing about an order, "" if it does
    *_numbers("seen"),  # how often it came
    Column("raw", LargeBinary, nullable=False),
    *_texts("content"),  # digest of the bytes: the same event may come with other ones
    UniqueConstraint("account", "identity", "content", name="event_identity"),
)
Index("event_waybill", event.c.waybill)

# What is known of an accepted order since: what the service showed when it was asked last, and what events hint at.
order_state = Table(
    "order_state",
    metadata,
    _of("document", key=True),
    *_texts("status"),  # as the service writes it, "" until it was asked
    *_texts("status_at"),  # since when, or when it was first seen
    *_texts("source"),  # what says so: event, fetch
    *_texts("shown"),  # quantities and COD as the service showed them
    *_texts("code", "values"),  # what was wrong when it was asked last; values of the code, packed
    *_texts("asked_at"),
    *_texts("hint_status", "hint_at"),  # of the newest event that was not verified yet
    *_numbers("event_id"),  # the last event that was taken into account
    *_numbers("change"),  # its last change, counted over all orders; 0: none yet
)
Index("order_state_change", order_state.c.change)

# Files of changed orders for a warehouse system. The bytes are kept until they were delivered.
feed = Table(
    "feed",
    metadata,
    _text_key("account"),
    _text_key("job"),
    _number_key("number"),
    *_numbers("orders"),
    *_numbers("up_to"),  # the last change that is in it, or in one before
    *_texts("name", "sha256", "made_at"),
    *_texts("delivered_at"),  # "" while it has to be delivered
    Column("content", LargeBinary, nullable=False),
)

# Nights of reconciliations: those of a job are one series, and so are those by hand. figures: of the report, for the
# trend.
reconciliation = Table(
    "reconciliation",
    metadata,
    _number_key(),
    *_texts("series", "run", "business_date", "figures"),
    UniqueConstraint("series", "run"),
)

# Each exception that a series listed, as it stands after its last night.
exception = Table(
    "exception",
    metadata,
    _text_key("series"),
    _text_key("exception_id"),
    *_texts("standing"),  # open, accepted, not checked, resolved
    *_texts("first_seen", "last_seen", "gone_since"),  # business dates; gone_since: "" while it is listed
    *_texts("owner", "comment", "status"),  # what analysts wrote
    *_texts("accepted"),  # of what was accepted: class and sizes, exact numbers as texts; "" for nothing
    *_texts("facts"),  # the line as it was listed last
)

# Append-only: what a night changed in an exception.
exception_change = Table(
    "exception_change",
    metadata,
    _number_key(),
    _of("reconciliation"),
    *_texts("exception_id", "standing", "code"),
    *_texts("qty_affected", "impact_inr"),  # exact numbers as texts, "" where they are not known
    *_texts("owner", "comment", "status", "accepted"),
)
Index("exception_change_night", exception_change.c.reconciliation_id)

# People who may use the pages. secret: the hash of their password, "" before they chose one. link: the digest of the
# one-time link that lets them choose it. ended_at: "" while they may.
person = Table(
    "person",
    metadata,
    _text_key("name"),
    *_texts("role", "since"),
    *_later_texts("secret", "link", "link_until", "ended_at"),
)

# Who is signed in. digest: of the secret that the browser has.
web_session = Table("web_session", metadata, _text_key("digest"), *_texts("person", "address", "started_at", "seen_at"))

# What a person looks at again and again. place: the page; query: what is filtered, grouped and sorted there.
web_view = Table("web_view", metadata, _text_key("person"), _text_key("place"), _text_key("name"), *_texts("query"))

# For programs. digest: of the token, which was shown once.
access_token = Table("access_token", metadata, _text_key("digest"), *_texts("person", "role", "made_at", "ends_at"))

# Append-only: what people did on the pages, and tried to. outcome: "" until it is known; it stays so where the program
# died on the way, and what was decided stands with the document.
audit = Table(
    "audit",
    metadata,
    _number_key(),
    *_texts("at", "who", "address", "what", "about"),
    *_later_texts("outcome"),
)

MIXED_UP: Final = "mixed_up"
# An accepted order whose AWB number is another's has no proof left: then, and only so, it is in doubt again.
_LOSES_ITS_NUMBER = (
    f"NEW.operation = 'order.create' AND NEW.code IN ('{MIXED_UP}', '{MIXED_UP}.shown') AND NEW.awb_number = ''"
)
_LEGAL = " OR ".join(
    f"(OLD.state = '{before}' AND NEW.state = '{after}'"
    + (f" AND {_LOSES_ITS_NUMBER})" if before is DocumentState.ACCEPTED else ")")
    for before, afters in TRANSITIONS.items()
    for after in afters
)


def _differ(*names: str) -> str:
    return " OR ".join(f"NEW.{name} <> OLD.{name}" for name in names)


def _emptied(name: str, *kept: str) -> str:
    """What was seen or decided stays; once its document's bytes are gone, its words may go as well."""
    gone = "EXISTS (SELECT 1 FROM document WHERE id = OLD.document_id AND length(body) = 0)"
    return f"NOT ({_differ('id', 'document_id', 'at', *kept)}) AND NEW.{name} = '' AND {gone}"


_DOCUMENT_KEEPS = ("account", "kind", "key", "generation", "body_sha256")
_EVENT_KEEPS = ("account", "identity", "received_at", "topic", "waybill", "order_status", "status_at", "content")
_FEED_KEEPS = ("account", "job", "number", "name", "orders", "up_to", "sha256", "made_at")
# What identifies a document never changes; its bytes may only go, and only when it is settled.
_BYTES_GO = f"length(NEW.body) = 0 AND OLD.state IN ({', '.join(map(repr, map(str, ENDED)))})"
_CONTENT_GOES = "length(NEW.content) = 0 AND NEW.delivered_at <> ''"

_UNCHANGED: Final = (  # name, table, columns, what of their change is refused, how it is told
    (
        "document_transition",
        "document",
        ("state",),
        f"OLD.state <> NEW.state AND NOT ({_LEGAL})",
        "illegal transition of a document",
    ),
    (
        "document_content",
        "document",
        (*_DOCUMENT_KEEPS, "body"),
        f"{_differ(*_DOCUMENT_KEEPS)} OR (NEW.body <> OLD.body AND NOT ({_BYTES_GO}))",
        "the content of a document does not change",
    ),
    ("evidence_update", "evidence", (), f"NOT ({_emptied('text', 'kind')})", "evidence is append-only"),
    ("decision_update", "decision", (), f"NOT ({_emptied('why', 'who', 'what', 'code')})", "decisions are append-only"),
    ("event_update", "event", ("id", *_EVENT_KEEPS, "zone_assumed", "unreadable"), "1 = 1", "events are append-only"),
    (
        "audit_update",
        "audit",
        (),
        f"{_differ('id', 'at', 'who', 'address', 'what', 'about')} OR OLD.outcome <> ''",
        "the audit is append-only",
    ),
    (
        "event_raw",
        "event",
        ("raw",),
        "NEW.raw <> OLD.raw AND length(NEW.raw) > 0",
        "the bytes of an event do not change",
    ),
    (
        "feed_update",
        "feed",
        (*_FEED_KEEPS, "content"),
        f"{_differ(*_FEED_KEEPS)} OR (NEW.content <> OLD.content AND NOT ({_CONTENT_GOES}))",
        "a feed does not change",
    ),
)
_NOT_DELETED: Final = ("document", "attempt", "evidence", "decision", "event", "feed", "audit")


def guard_statements(dialect: str) -> Iterator[str]:
    """The SQL of the guards for "sqlite" or "postgresql"."""
    guards = [(f"{table}_delete", f"DELETE ON {table}", "1 = 1", f"{table} is append-only") for table in _NOT_DELETED]
    for name, table, columns, refused, words in _UNCHANGED:
        of = f" OF {', '.join(columns)}" if columns else ""
        guards.append((name, f"UPDATE{of} ON {table}", refused, words))
    for name, event, refused, words in guards:
        if dialect == "sqlite":
            yield f"CREATE TRIGGER {name} BEFORE {event} WHEN {refused} BEGIN SELECT RAISE(ABORT, '{words}'); END"
            continue
        yield (
            f"CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
            f"IF {refused} THEN RAISE EXCEPTION '{words}'; END IF; RETURN NEW; END $$"
        )
        yield f"CREATE TRIGGER {name} BEFORE {event} FOR EACH ROW EXECUTE FUNCTION {name}()"
