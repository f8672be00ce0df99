"""The ledger's tables, one definition for SQLite and PostgreSQL.

Texts that hold several values are JSON. Times are ISO 8601 with offset, as text: they sort, and come back as written.
"""

from sqlalchemy import Column, ForeignKey, Index, Integer, LargeBinary, MetaData, String, Table, Text, UniqueConstraint

# A change here needs a step in `version`, frozen as it was written.
SCHEMA_VERSION = 1

metadata = MetaData()


def _text(name: str, length: int | None = None, *, default: str | None = None) -> Column[str]:
    """A column of texts, of at most so many characters; the database writes the default where none is given."""
    return Column(name, String(length) if length else Text(), nullable=False, server_default=default)


def _number(name: str, *, default: int | None = None) -> Column[int]:
    """A column of whole numbers."""
    return Column(name, Integer, nullable=False, server_default=None if default is None else str(default))


# schema_version; epoch and seq (see `high_water`); what was verified or decided about the ledger as a whole.
meta = Table(
    "meta",
    metadata,
    Column("name", String(64), primary_key=True),
    _text("value"),
)

run = Table(
    "run",
    metadata,
    Column("id", String(40), primary_key=True),
    _text("job", 200),
    _text("kind", 20),
    _text("business_date", 10),
    _text("state", 12),  # running, stopped, finished
    _text("stopped", default=""),
    Column("exit_code", Integer),
    _text("summary", default="{}"),
    _text("started_at", 40),
    _text("finished_at", 40, default=""),  # "" while it runs
)

# One arrival of a file in a run. The same bytes in another run are another arrival.
file = Table(
    "file",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("run_id", ForeignKey("run.id"), nullable=False),
    _text("sha256", 64),
    _text("name"),
    _number("size"),
    _text("format", 8),
    _text("mapping"),
    _text("mapping_digest", 64),
    _text("operation", 24),
    _text("origin", default="{}"),  # where it came from: store label and path
    _text("sheet", default=""),
    _number("header_row", default=0),
    _text("lines_sheet", default=""),  # a second sheet, on which lines of documents stand
    _number("lines_header_row", default=0),
    _number("rows_read", default=0),
    _text("state", 12),  # planned, reported, closed
    _text("notes", default="[]"),
    _text("earlier_file", default=""),
    _text("received_at", 40),
    # 1: its written results no longer show what is known; 2: they could not be written yet
    _number("stale", default=0),
    _text("code", 120, default=""),  # why it is held as a whole, "" if it is not
    _text("values", default=""),  # of the code, packed
    UniqueConstraint("run_id", "sha256", "name"),
)
Index("file_sha256", file.c.sha256)

document = Table(
    "document",
    metadata,
    Column("id", Integer, primary_key=True),
    _text("account", 200),
    _text("kind", 12),  # order, asn
    _text("key"),
    _number("generation"),
    _text("operation", 24),
    _text("state", 12),
    _text("method", 8),
    _text("path"),
    Column("body", LargeBinary, nullable=False),  # the exact bytes that are sent; none once they were purged
    _text("body_sha256", 64),
    _text("reference"),
    Column("file_id", ForeignKey("file.id"), nullable=False),  # the arrival that planned it
    _text("rows"),
    _text("line_rows"),
    _text("keep"),
    _text("awb_number", default=""),
    _text("order_id", default=""),
    _text("delivery_hub", default=""),
    _text("items", default="{}"),
    _text("child_awb_numbers", default="[]"),
    _text("accepted_run", 40, default=""),
    _text("doubt_since", 40, default=""),  # last moment at which a byte can have left
    _number("attempts", default=0),
    _number("checks", default=0),  # searches made for it since it is in doubt
    _number("may_exist", default=0),  # some attempt of it may have arrived unseen
    _number("send_approved", default=0),  # a person decided to send it; goes out with any run
    _text("waits_for", 12, default=""),  # of its code: see `messages.reasons.WaitsFor`
    _text("baseline", default=""),  # ASN: digests of what the service had before the first send
    _text("planned_at", 40),
    _text("settled_at", 40, default=""),
    _text("folded_key", default=""),  # as people read it: see `spelling`
    _number("seen", default=0),  # the service has shown our reference under its AWB
    _text("code", 120, default=""),  # why refused, held, superseded …, in `messages`
    _text("values", default=""),  # of the code, packed
    UniqueConstraint("account", "kind", "key", "generation"),
)
Index("document_state", document.c.state)
Index("document_reference", document.c.reference)
Index("document_awb_number", document.c.awb_number)
Index("document_folded_key", document.c.account, document.c.kind, document.c.folded_key)

# Every row but the header, once a file. `fate` is empty where the row follows its document.
row = Table(
    "row",
    metadata,
    Column("file_id", ForeignKey("file.id"), primary_key=True),
    Column("sheet", Text, primary_key=True),  # "" on the file's own sheet
    Column("row", Integer, primary_key=True, autoincrement=False),
    Column("document_id", ForeignKey("document.id")),
    _text("fate", 12, default=""),
    _text("key", default=""),
    _text("code", 120, default=""),  # why it has a fate of its own, in `messages`
    _text("values", default=""),  # of the code, packed
)
Index("row_document", row.c.document_id)

issue = Table(
    "issue",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("file_id", ForeignKey("file.id"), nullable=False),
    _text("sheet"),  # "" on the file's own sheet
    _number("row"),
    _text("column"),
    _text("cell", 16),
    _text("value"),
    _text("code", 120, default=""),
    _text("values", default=""),
    _text("field", 80, default=""),  # "" where it is about the whole row
)
Index("issue_file", issue.c.file_id)

# One try to send a document: written before the first byte, completed with what came back.
attempt = Table(
    "attempt",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("document_id", ForeignKey("document.id"), nullable=False),
    _number("n"),
    _text("run_id", 40),
    _text("owner"),  # host, pid, start time and boot id of the sender
    _text("intent_at", 40),
    _text("request_sha256", 64),
    _text("trace", default=""),
    Column("status", Integer),
    _text("failure", 40, default=""),
    _text("meaning", 20, default=""),  # "" while nothing came back
    _text("message", default=""),
    _text("reply", default=""),
    _text("finished_at", 40, default=""),
    UniqueConstraint("document_id", "n"),
)

# Append-only: what was seen of a document besides its attempts. The text may only go, once its time is over.
evidence = Table(
    "evidence",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("document_id", ForeignKey("document.id"), nullable=False),
    _text("at", 40),
    _text("kind", 24),
    _text("text"),
)

# Append-only: what people decided about documents. The words may go, once their time is over.
decision = Table(
    "decision",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("document_id", ForeignKey("document.id"), nullable=False),
    _text("at", 40),
    _text("who"),
    _text("what", 12),  # see `messages.reasons.HeldDecision`
    _text("why"),
    _text("code", 120),  # why it waited, or had its state, before
)

# Numbers under which orders were cancelled that no document holds. Without a document: a person asked for it, and no
# order of ours had the number. With one: it was in doubt and found cancelled; that says nothing of its later attempts.
cancelled_number = Table(
    "cancelled_number",
    metadata,
    Column("id", Integer, primary_key=True),
    _text("account", 200),
    _text("number"),
    Column("document_id", ForeignKey("document.id")),
    _text("at", 40),
)

# A result file's name belongs to the first content that took it. NAME/fix.xlsx: the digest of what was written last in
# NAME.fix.xlsx, which people correct.
result_name = Table(
    "result_name",
    metadata,
    Column("place", String(400), primary_key=True),
    Column("name", String(255), primary_key=True),
    _text("sha256", 64),
)

# A planned time of a job. state: claimed, ended, seen (since when a schedule is known), lost (a business date without
# a run, of which people were told). alive_at: when the claimer last said
# that it still runs it.
slot = Table(
    "slot",
    metadata,
    Column("job", String(200), primary_key=True),
    Column("slot", String(64), primary_key=True),
    _text("claimed_at", 40),
    _text("business_date", 10, default=""),
    _text("state", 12, default=""),
    _text("owner", default=""),  # host, boot, pid and start time of who runs it
    _text("alive_at", 40, default=""),
    Column("exit_code", Integer),
    _text("ended_at", 40, default=""),
)

# Something a person should know: from when it was noticed until it is over, and who was told. `told` and `over_told`
# are {digest of an address: when}.
notice = Table(
    "notice",
    metadata,
    Column("id", Integer, primary_key=True),
    _text("key", 300),
    _text("kind", 40),
    _text("job", 200),
    _text("business_date", 10),
    _number("wanted"),  # whether it is sent by itself, or only stands in the digest
    _text("since", 40),
    _text("last_seen", 40),
    _number("seen", default=1),  # how often, since then
    _text("title"),
    _text("text"),
    _text("over_at", 40, default=""),  # "" while it lasts
    _text("over_text", default=""),
    _number("owed"),  # whether somebody has still to be told of it, or that it is over
    _text("told", default="{}"),
    _text("over_told", default="{}"),
    _number("tries", default=0),  # attempts to tell it that failed, in a row
    _text("next_try_at", 40, default=""),
    UniqueConstraint("key", "over_at", name="notice_once"),
)
Index("notice_over_at", notice.c.over_at)

# What a run had to say besides its files' answers, as far as it is kept.
run_note = Table(
    "run_note",
    metadata,
    Column("run_id", ForeignKey("run.id"), primary_key=True),
    Column("n", Integer, primary_key=True, autoincrement=False),
    _text("code", 120),  # in `messages`
    _text("values"),  # of the code, packed
)

# A file that was held as a whole, until it or its successor was read, or a person closed it. The same file that is
# held again, because it still lies there, is the same record.
held_file = Table(
    "held_file",
    metadata,
    Column("file_id", ForeignKey("file.id"), primary_key=True, autoincrement=False),
    _text("run_id", 40),
    _text("job", 200),
    _text("stem"),  # of its answers: what it shares with a corrected one
    _text("identity", 64),  # what makes it this file and no other
    _text("since", 40),
    _text("over_at", 40, default=""),  # "" while it waits
    _text("over_by", default=""),
    _text("over_why", default=""),
)
Index("held_file_job", held_file.c.job, held_file.c.over_at)

# A file that lies where a job's files are dropped and is not taken; it goes when it is gone from there, or taken.
left_file = Table(
    "left_file",
    metadata,
    Column("job", String(200), primary_key=True),
    Column("identity", String(64), primary_key=True),  # a digest of its path
    _text("name"),
    _text("code", 120),  # why it is left, in `messages`
    _text("values"),  # of the code, packed
    _text("since", 40),
)

label = Table(
    "label",
    metadata,
    Column("awb_number", Text(), primary_key=True),
    _text("sha256", 64),
    _number("pages"),
    _text("fetched_at", 40),
)

print_line = Table(
    "print_line",
    metadata,
    Column("id", Integer, primary_key=True),
    _text("bundle_id", 60),
    _text("awb_number"),
    _number("copy"),
    _text("reason", default=""),
    _text("who", default=""),
    _text("at", 40),
    UniqueConstraint("awb_number", "copy"),
)
Index("print_bundle", print_line.c.bundle_id)

# Append-only: events that the service sent about orders (API §6), with the exact bytes until their time is over.
# Only `seen` grows.
event = Table(
    "event",
    metadata,
    Column("id", Integer, primary_key=True),
    _text("account", 200),
    _text("identity", 64),  # digest of what makes it this event and no other
    _text("received_at", 40),
    _text("topic"),  # "" where the event does not say
    _text("waybill"),
    _text("order_status"),
    _text("status_at", 40),
    _number("zone_assumed"),  # its time came without an offset
    _text("unreadable"),  # why it says nothing about an order, "" if it does
    _number("seen"),  # how often it came
    Column("raw", LargeBinary, nullable=False),
    _text("content", 64),  # digest of the bytes: the same event may come with other ones
    UniqueConstraint("account", "identity", "content", name="event_identity"),
)
Index("event_waybill", event.c.waybill)

# What is known of an accepted order since: what the service showed when it was asked last, and what events hint at.
order_state = Table(
    "order_state",
    metadata,
    Column("document_id", ForeignKey("document.id"), primary_key=True, autoincrement=False),
    _text("status"),  # as the service writes it, "" until it was asked
    _text("status_at", 40),  # since when, or when it was first seen
    _text("source", 8),  # what says so: event, fetch
    _text("shown"),  # quantities and COD as the service showed them
    _text("code", 120),  # what was wrong when it was asked last
    _text("values"),  # of the code, packed
    _text("asked_at", 40),
    _text("hint_status"),  # of the newest event that was not verified yet
    _text("hint_at", 40),
    _number("event_id"),  # the last event that was taken into account
    _number("change"),  # its last change, counted over all orders; 0: none yet
)
Index("order_state_change", order_state.c.change)

# Files of changed orders for a warehouse system. The bytes are kept until they were delivered.
feed = Table(
    "feed",
    metadata,
    Column("account", String(200), primary_key=True),
    Column("job", String(200), primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    _text("name"),
    _number("orders"),
    _number("up_to"),  # the last change that is in it, or in one before
    _text("sha256", 64),
    Column("content", LargeBinary, nullable=False),
    _text("made_at", 40),
    _text("delivered_at", 40),  # "" while it has to be delivered
)

# Nights of reconciliations: those of a job are one series, and so are those by hand.
reconciliation = Table(
    "reconciliation",
    metadata,
    Column("id", Integer, primary_key=True),
    _text("series", 200),  # the job, "" by hand
    _text("run", 40),
    _text("business_date", 10),
    _text("figures"),  # of its report, for the trend
    UniqueConstraint("series", "run"),
)

# Each exception that a series listed, as it stands after its last night.
exception = Table(
    "exception",
    metadata,
    Column("series", String(200), primary_key=True),
    Column("exception_id", String(40), primary_key=True),
    _text("standing", 12),  # open, accepted, not checked, resolved
    _text("first_seen", 10),  # business dates
    _text("last_seen", 10),
    _text("gone_since", 10),  # "" while it is listed
    _text("owner"),  # this and the next two: what analysts wrote
    _text("comment"),
    _text("status"),
    _text("accepted"),  # of what was accepted: class and sizes, exact numbers as texts; "" for nothing
    _text("facts"),  # the line as it was listed last
)

# Append-only: what a night changed in an exception.
exception_change = Table(
    "exception_change",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("reconciliation_id", ForeignKey("reconciliation.id"), nullable=False),
    _text("exception_id", 40),
    _text("standing", 12),
    _text("code", 40),
    _text("qty_affected", 40),  # exact numbers as texts, "" where they are not known
    _text("impact_inr", 40),
    _text("owner"),
    _text("comment"),
    _text("status"),
    _text("accepted"),
)
Index("exception_change_night", exception_change.c.reconciliation_id)
