"""The ledger's tables, one definition for SQLite and PostgreSQL.

Texts that hold several values are JSON. Times are ISO 8601 with offset, as text: they sort, and come back as written.
"""

from sqlalchemy import Column, ForeignKey, Index, Integer, LargeBinary, MetaData, String, Table, Text, UniqueConstraint

# A change here needs a step in `migrations`, frozen as it was written.
SCHEMA_VERSION = 1

metadata = MetaData()

# schema_version; epoch and seq (see `high_water`); what was verified or decided about the ledger as a whole.
meta = Table(
    "meta",
    metadata,
    Column("name", String(64), primary_key=True),
    Column("value", Text, nullable=False),
)

run = Table(
    "run",
    metadata,
    Column("id", String(40), primary_key=True),
    Column("job", String(200), nullable=False),
    Column("kind", String(20), nullable=False),
    Column("business_date", String(10), nullable=False),
    Column("state", String(12), nullable=False),  # running, stopped, finished
    Column("stopped", Text, nullable=False, default=""),
    Column("exit_code", Integer),
    Column("summary", Text, nullable=False, default="{}"),
    Column("started_at", String(40), nullable=False),
    Column("finished_at", String(40)),
)

# One arrival of a file in a run. The same bytes in another run are another arrival.
file = Table(
    "file",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("run_id", ForeignKey("run.id"), nullable=False),
    Column("sha256", String(64), nullable=False),
    Column("name", Text, nullable=False),
    Column("size", Integer, nullable=False),
    Column("format", String(8), nullable=False),
    Column("mapping", Text, nullable=False),
    Column("mapping_digest", String(64), nullable=False),
    Column("operation", String(24), nullable=False),
    Column("origin", Text, nullable=False, default="{}"),  # where it came from: store label and path
    Column("sheet", Text, nullable=False, default=""),
    Column("header_row", Integer, nullable=False, default=0),
    Column("rows_read", Integer, nullable=False, default=0),
    Column("state", String(12), nullable=False),  # planned, reported, closed
    Column("notes", Text, nullable=False, default="[]"),
    Column("earlier_file", Text, nullable=False, default=""),
    Column("received_at", String(40), nullable=False),
    # 1: its written results no longer show what is known; 2: they could not be written yet
    Column("stale", Integer, nullable=False, default=0),
    Column("code", String(120), nullable=False, server_default=""),  # why it is held as a whole, "" if it is not
    Column("values", Text, nullable=False, server_default=""),  # of the code, packed
    UniqueConstraint("run_id", "sha256", "name"),
)
Index("file_sha256", file.c.sha256)

document = Table(
    "document",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("account", String(200), nullable=False),
    Column("kind", String(12), nullable=False),  # order, asn
    Column("key", Text, nullable=False),
    Column("generation", Integer, nullable=False),
    Column("operation", String(24), nullable=False),
    Column("state", String(12), nullable=False),
    Column("method", String(8), nullable=False),
    Column("path", Text, nullable=False),
    Column("body", LargeBinary, nullable=False),  # the exact bytes that are sent; none once they were purged
    Column("body_sha256", String(64), nullable=False),
    Column("reference", Text, nullable=False),
    Column("file_id", ForeignKey("file.id"), nullable=False),  # the arrival that planned it
    Column("rows", Text, nullable=False),
    Column("line_rows", Text, nullable=False),
    Column("keep", Text, nullable=False),
    Column("awb_number", String(80), nullable=False, default=""),
    Column("order_id", String(80), nullable=False, default=""),
    Column("delivery_hub", Text, nullable=False, default=""),
    Column("items", Text, nullable=False, default="{}"),
    Column("child_awb_numbers", Text, nullable=False, default="[]"),
    Column("accepted_run", String(40), nullable=False, default=""),
    Column("doubt_since", String(40), nullable=False, default=""),  # last moment at which a byte can have left
    Column("attempts", Integer, nullable=False, default=0),
    Column("checks", Integer, nullable=False, default=0),  # searches made for it since it is in doubt
    Column("may_exist", Integer, nullable=False, default=0),  # some attempt of it may have arrived unseen
    Column("send_approved", Integer, nullable=False, default=0),  # a person decided to send it; goes out with any run
    Column("waits_for", String(12), nullable=False, default=""),  # of its code: see `messages.reasons.WaitsFor`
    Column("baseline", Text, nullable=False, default=""),  # ASN: digests of what the service had before the first send
    Column("planned_at", String(40), nullable=False),
    Column("settled_at", String(40), nullable=False, default=""),
    Column("folded_key", Text, nullable=False, server_default=""),  # as people read it: see `spelling`
    Column("seen", Integer, nullable=False, server_default="0"),  # the service has shown our reference under its AWB
    Column("code", String(120), nullable=False, server_default=""),  # why refused, held, superseded …, in `messages`
    Column("values", Text, nullable=False, server_default=""),  # of the code, packed
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
    Column("row", Integer, primary_key=True, autoincrement=False),
    Column("document_id", ForeignKey("document.id")),
    Column("fate", String(12), nullable=False, default=""),
    Column("key", Text, nullable=False, default=""),
    Column("code", String(120), nullable=False, server_default=""),  # why it has a fate of its own, in `messages`
    Column("values", Text, nullable=False, server_default=""),  # of the code, packed
)
Index("row_document", row.c.document_id)

issue = Table(
    "issue",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("file_id", ForeignKey("file.id"), nullable=False),
    Column("row", Integer, nullable=False),
    Column("column", Text, nullable=False),
    Column("cell", String(16), nullable=False),
    Column("value", Text, nullable=False),
    Column("code", String(120), nullable=False, server_default=""),
    Column("values", Text, nullable=False, server_default=""),
    Column("field", String(80), nullable=False, server_default=""),  # "" where it is about the whole row
)
Index("issue_file", issue.c.file_id)

# One try to send a document: written before the first byte, completed with what came back.
attempt = Table(
    "attempt",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("document_id", ForeignKey("document.id"), nullable=False),
    Column("n", Integer, nullable=False),
    Column("run_id", String(40), nullable=False),
    Column("owner", Text, nullable=False),  # host, pid, start time and boot id of the sender
    Column("intent_at", String(40), nullable=False),
    Column("request_sha256", String(64), nullable=False),
    Column("trace", Text, nullable=False, default=""),
    Column("status", Integer),
    Column("failure", String(40), nullable=False, default=""),
    Column("meaning", String(20), nullable=False, default=""),  # "" while nothing came back
    Column("message", Text, nullable=False, default=""),
    Column("reply", Text, nullable=False, default=""),
    Column("finished_at", String(40), nullable=False, default=""),
    UniqueConstraint("document_id", "n"),
)

# Append-only: what was seen of a document besides its attempts. The text may only go, once its time is over.
evidence = Table(
    "evidence",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("document_id", ForeignKey("document.id"), nullable=False),
    Column("at", String(40), nullable=False),
    Column("kind", String(24), nullable=False),
    Column("text", Text, nullable=False),
)

# Append-only: what people decided about documents. The words may go, once their time is over.
decision = Table(
    "decision",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("document_id", ForeignKey("document.id"), nullable=False),
    Column("at", String(40), nullable=False),
    Column("who", Text, nullable=False),
    Column("what", String(12), nullable=False),  # see `messages.reasons.HeldDecision`
    Column("why", Text, nullable=False),
    Column("code", String(120), nullable=False),  # why it waited, or had its state, before
)

# Numbers under which orders were cancelled that no document holds. Without a document: a person asked for it, and no
# order of ours had the number. With one: it was in doubt and found cancelled; that says nothing of its later attempts.
cancelled_number = Table(
    "cancelled_number",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("account", String(200), nullable=False),
    Column("number", Text, nullable=False),
    Column("document_id", ForeignKey("document.id")),
    Column("at", String(40), nullable=False),
)

# A result file's name belongs to the first content that took it. NAME/fix.xlsx: the digest of what was written last in
# NAME.fix.xlsx, which people correct.
result_name = Table(
    "result_name",
    metadata,
    Column("place", String(400), primary_key=True),
    Column("name", String(255), primary_key=True),
    Column("sha256", String(64), nullable=False),
)

# A planned time of a job. state: claimed, ended, seen (since when a schedule is known), lost (a business date without
# a run, of which people were told). alive_at: when the claimer last said
# that it still runs it.
slot = Table(
    "slot",
    metadata,
    Column("job", String(200), primary_key=True),
    Column("slot", String(64), primary_key=True),
    Column("claimed_at", String(40), nullable=False),
    Column("business_date", String(10), nullable=False, server_default=""),
    Column("state", String(12), nullable=False, server_default=""),
    Column("owner", Text, nullable=False, server_default=""),  # host, boot, pid and start time of who runs it
    Column("alive_at", String(40), nullable=False, server_default=""),
    Column("exit_code", Integer),
    Column("ended_at", String(40), nullable=False, server_default=""),
)

# Something a person should know: from when it was noticed until it is over, and who was told. `told` and `over_told`
# are {digest of an address: when}.
notice = Table(
    "notice",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("key", String(300), nullable=False),
    Column("kind", String(40), nullable=False),
    Column("job", String(200), nullable=False),
    Column("business_date", String(10), nullable=False),
    Column("wanted", Integer, nullable=False),  # whether it is sent by itself, or only stands in the digest
    Column("since", String(40), nullable=False),
    Column("last_seen", String(40), nullable=False),
    Column("seen", Integer, nullable=False),  # how often, since then
    Column("title", Text, nullable=False),
    Column("text", Text, nullable=False),
    Column("over_at", String(40), nullable=False),  # "" while it lasts
    Column("over_text", Text, nullable=False),
    Column("owed", Integer, nullable=False),  # whether somebody has still to be told of it, or that it is over
    Column("told", Text, nullable=False),
    Column("over_told", Text, nullable=False),
    Column("tries", Integer, nullable=False),  # attempts to tell it that failed, in a row
    Column("next_try_at", String(40), nullable=False),
    UniqueConstraint("key", "over_at", name="notice_once"),
)
Index("notice_over_at", notice.c.over_at)

# What a run had to say besides its files' answers, as far as it is kept.
run_note = Table(
    "run_note",
    metadata,
    Column("run_id", ForeignKey("run.id"), primary_key=True),
    Column("n", Integer, primary_key=True, autoincrement=False),
    Column("code", String(120), nullable=False),  # in `messages`
    Column("values", Text, nullable=False),  # of the code, packed
)

# A file that was held as a whole, until it or its successor was read, or a person closed it. The same file that is
# held again, because it still lies there, is the same record.
held_file = Table(
    "held_file",
    metadata,
    Column("file_id", ForeignKey("file.id"), primary_key=True, autoincrement=False),
    Column("run_id", String(40), nullable=False),
    Column("job", String(200), nullable=False),
    Column("stem", Text, nullable=False),  # of its answers: what it shares with a corrected one
    Column("identity", String(64), nullable=False),  # what makes it this file and no other
    Column("since", String(40), nullable=False),
    Column("over_at", String(40), nullable=False, server_default=""),  # "" while it waits
    Column("over_by", Text, nullable=False, server_default=""),
    Column("over_why", Text, nullable=False, server_default=""),
)
Index("held_file_job", held_file.c.job, held_file.c.over_at)

# A file that lies where a job's files are dropped and is not taken; it goes when it is gone from there, or taken.
left_file = Table(
    "left_file",
    metadata,
    Column("job", String(200), primary_key=True),
    Column("identity", String(64), primary_key=True),  # a digest of its path
    Column("name", Text, nullable=False),
    Column("code", String(120), nullable=False),  # why it is left, in `messages`
    Column("values", Text, nullable=False),  # of the code, packed
    Column("since", String(40), nullable=False),
)

label = Table(
    "label",
    metadata,
    Column("awb_number", String(80), primary_key=True),
    Column("sha256", String(64), nullable=False),
    Column("pages", Integer, nullable=False),
    Column("fetched_at", String(40), nullable=False),
)

print_line = Table(
    "print_line",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("bundle_id", String(60), nullable=False),
    Column("awb_number", String(80), nullable=False),
    Column("copy", Integer, nullable=False),
    Column("reason", Text, nullable=False, default=""),
    Column("who", Text, nullable=False, default=""),
    Column("at", String(40), nullable=False),
    UniqueConstraint("awb_number", "copy"),
)
Index("print_bundle", print_line.c.bundle_id)

# Append-only: events that the service sent about orders (API §6), with the exact bytes until their time is over.
# Only `seen` grows.
event = Table(
    "event",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("account", String(200), nullable=False),
    Column("identity", String(64), nullable=False),  # digest of what makes it this event and no other
    Column("received_at", String(40), nullable=False),
    Column("topic", String(80), nullable=False),  # "" where the event does not say
    Column("waybill", String(80), nullable=False),
    Column("order_status", String(80), nullable=False),
    Column("status_at", String(40), nullable=False),
    Column("zone_assumed", Integer, nullable=False),  # its time came without an offset
    Column("unreadable", Text, nullable=False),  # why it says nothing about an order, "" if it does
    Column("seen", Integer, nullable=False),  # how often it came
    Column("raw", LargeBinary, nullable=False),
    Column("content", String(64), nullable=False),  # digest of the bytes: the same event may come with other ones
    UniqueConstraint("account", "identity", "content", name="event_identity"),
)
Index("event_waybill", event.c.waybill)

# What is known of an accepted order since: what the service showed when it was asked last, and what events hint at.
order_state = Table(
    "order_state",
    metadata,
    Column("document_id", ForeignKey("document.id"), primary_key=True, autoincrement=False),
    Column("status", String(80), nullable=False),  # as the service writes it, "" until it was asked
    Column("status_at", String(40), nullable=False),  # since when, or when it was first seen
    Column("source", String(8), nullable=False),  # what says so: event, fetch
    Column("shown", Text, nullable=False),  # quantities and COD as the service showed them
    Column("code", String(120), nullable=False),  # what was wrong when it was asked last
    Column("values", Text, nullable=False),  # of the code, packed
    Column("asked_at", String(40), nullable=False),
    Column("hint_status", String(80), nullable=False),  # of the newest event that was not verified yet
    Column("hint_at", String(40), nullable=False),
    Column("event_id", Integer, nullable=False),  # the last event that was taken into account
    Column("change", Integer, nullable=False),  # its last change, counted over all orders; 0: none yet
)
Index("order_state_change", order_state.c.change)

# Files of changed orders for a warehouse system. The bytes are kept until they were delivered.
feed = Table(
    "feed",
    metadata,
    Column("account", String(200), primary_key=True),
    Column("job", String(200), primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("name", Text, nullable=False),
    Column("orders", Integer, nullable=False),
    Column("up_to", Integer, nullable=False),  # the last change that is in it, or in one before
    Column("sha256", String(64), nullable=False),
    Column("content", LargeBinary, nullable=False),
    Column("made_at", String(40), nullable=False),
    Column("delivered_at", String(40), nullable=False),  # "" while it has to be delivered
)
