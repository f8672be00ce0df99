"""The steps to versions 2 to 6 of the schema: events, guards, slots, notices, states of orders. See `migrations`."""

import hashlib
import secrets
from collections.abc import Callable
from typing import Any

import sqlalchemy as sa
from alembic.operations import Operations
from sqlalchemy import Connection


def _to_version_2(op: Operations, dialect: str) -> None:
    """Events of orders."""
    op.create_table(
        "event",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("account", sa.String(200), nullable=False),
        sa.Column("identity", sa.String(64), nullable=False),
        sa.Column("received_at", sa.String(40), nullable=False),
        sa.Column("topic", sa.String(80), nullable=False),
        sa.Column("waybill", sa.String(80), nullable=False),
        sa.Column("order_status", sa.String(80), nullable=False),
        sa.Column("status_at", sa.String(40), nullable=False),
        sa.Column("zone_assumed", sa.Integer, nullable=False),
        sa.Column("unreadable", sa.Text, nullable=False),
        sa.Column("seen", sa.Integer, nullable=False),
        sa.Column("raw", sa.LargeBinary, nullable=False),
        sa.UniqueConstraint("account", "identity", name="event_identity"),
    )
    op.create_index("event_waybill", "event", ["waybill"])
    for statement in _EVENT_GUARDS_2[dialect].split("---"):
        op.execute(sa.text(statement.strip()))


_KEPT_2 = "id, account, identity, received_at, topic, waybill, order_status, status_at, zone_assumed, unreadable, raw"
_EVENT_GUARDS_2 = {
    "sqlite": f"""
CREATE TRIGGER event_update BEFORE UPDATE OF {_KEPT_2} ON event
BEGIN SELECT RAISE(ABORT, 'events are append-only'); END
---
CREATE TRIGGER event_delete BEFORE DELETE ON event
BEGIN SELECT RAISE(ABORT, 'events are append-only'); END
""",
    "postgresql": f"""
CREATE FUNCTION event_guard() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
RAISE EXCEPTION 'events are append-only'; END $$
---
CREATE TRIGGER event_update BEFORE UPDATE OF {_KEPT_2} ON event
FOR EACH ROW EXECUTE FUNCTION event_guard()
---
CREATE TRIGGER event_delete BEFORE DELETE ON event FOR EACH ROW EXECUTE FUNCTION event_guard()
""",
}


def _to_version_3(op: Operations, dialect: str) -> None:
    """A name and a count of transactions for the ledger; guards of what identifies a document, and of its bytes."""
    meta = sa.table("meta", sa.column("name"), sa.column("value"))
    op.bulk_insert(meta, [{"name": "epoch", "value": secrets.token_hex(8)}, {"name": "seq", "value": "0"}])
    for statement in _CONTENT_GUARDS_3[dialect].split("---"):
        op.execute(sa.text(statement.strip()))


_KEPT_3 = "account, kind, key, generation, body, body_sha256"
_CHANGED_3 = (
    "NEW.account <> OLD.account OR NEW.kind <> OLD.kind OR NEW.key <> OLD.key OR NEW.generation <> OLD.generation "
    "OR NEW.body_sha256 <> OLD.body_sha256 OR (NEW.body <> OLD.body AND NOT (length(NEW.body) = 0 AND OLD.state IN "
    "('abandoned', 'accepted', 'refused', 'superseded')))"
)
_CONTENT_GUARDS_3 = {
    "sqlite": f"""
CREATE TRIGGER document_content BEFORE UPDATE OF {_KEPT_3} ON document
WHEN {_CHANGED_3}
BEGIN SELECT RAISE(ABORT, 'the content of a document does not change'); END
---
CREATE TRIGGER document_delete BEFORE DELETE ON document
BEGIN SELECT RAISE(ABORT, 'documents are not deleted'); END
---
CREATE TRIGGER attempt_delete BEFORE DELETE ON attempt
BEGIN SELECT RAISE(ABORT, 'attempts are not deleted'); END
""",
    "postgresql": f"""
CREATE FUNCTION document_content() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
IF {_CHANGED_3} THEN RAISE EXCEPTION 'the content of a document does not change'; END IF;
RETURN NEW; END $$
---
CREATE TRIGGER document_content BEFORE UPDATE OF {_KEPT_3} ON document
FOR EACH ROW EXECUTE FUNCTION document_content()
---
CREATE FUNCTION history_guard() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
RAISE EXCEPTION 'documents and attempts are not deleted'; END $$
---
CREATE TRIGGER document_delete BEFORE DELETE ON document FOR EACH ROW EXECUTE FUNCTION history_guard()
---
CREATE TRIGGER attempt_delete BEFORE DELETE ON attempt FOR EACH ROW EXECUTE FUNCTION history_guard()
""",
}


def _to_version_4(op: Operations, dialect: str) -> None:
    """The bytes of an event may go, as those of a document, but not change."""
    op.execute(sa.text("DROP TRIGGER event_update" + (" ON event" if dialect == "postgresql" else "")))
    for statement in _EVENT_GUARDS_4[dialect].split("---"):
        op.execute(sa.text(statement.strip()))


_KEPT_4 = "id, account, identity, received_at, topic, waybill, order_status, status_at, zone_assumed, unreadable"
_EVENT_GUARDS_4 = {
    "sqlite": f"""
CREATE TRIGGER event_update BEFORE UPDATE OF {_KEPT_4} ON event
BEGIN SELECT RAISE(ABORT, 'events are append-only'); END
---
CREATE TRIGGER event_raw BEFORE UPDATE OF raw ON event WHEN NEW.raw <> OLD.raw AND length(NEW.raw) > 0
BEGIN SELECT RAISE(ABORT, 'the bytes of an event do not change'); END
""",
    "postgresql": f"""
CREATE TRIGGER event_update BEFORE UPDATE OF {_KEPT_4} ON event
FOR EACH ROW EXECUTE FUNCTION event_guard()
---
CREATE FUNCTION event_raw() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
IF NEW.raw <> OLD.raw AND length(NEW.raw) > 0 THEN RAISE EXCEPTION 'the bytes of an event do not change'; END IF;
RETURN NEW; END $$
---
CREATE TRIGGER event_raw BEFORE UPDATE OF raw ON event FOR EACH ROW EXECUTE FUNCTION event_raw()
""",
}


def _to_version_5(op: Operations, dialect: str) -> None:  # noqa: ARG001
    """Slots know their day, who runs them and how they ended; what a person should know is kept until it is told."""
    for name, kind in (("business_date", sa.String(10)), ("state", sa.String(12)), ("owner", sa.Text)):
        op.add_column("slot", sa.Column(name, kind, nullable=False, server_default=""))
    op.add_column("slot", sa.Column("alive_at", sa.String(40), nullable=False, server_default=""))
    op.add_column("slot", sa.Column("exit_code", sa.Integer))
    op.add_column("slot", sa.Column("ended_at", sa.String(40), nullable=False, server_default=""))
    op.create_table(
        "notice",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("key", sa.String(300), nullable=False),
        sa.Column("kind", sa.String(40), nullable=False),
        sa.Column("job", sa.String(200), nullable=False),
        sa.Column("business_date", sa.String(10), nullable=False),
        sa.Column("wanted", sa.Integer, nullable=False),
        sa.Column("since", sa.String(40), nullable=False),
        sa.Column("last_seen", sa.String(40), nullable=False),
        sa.Column("seen", sa.Integer, nullable=False),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("over_at", sa.String(40), nullable=False),
        sa.Column("over_text", sa.Text, nullable=False),
        sa.Column("owed", sa.Integer, nullable=False),
        sa.Column("told", sa.Text, nullable=False),
        sa.Column("over_told", sa.Text, nullable=False),
        sa.Column("tries", sa.Integer, nullable=False),
        sa.Column("next_try_at", sa.String(40), nullable=False),
        sa.UniqueConstraint("key", "over_at", name="notice_once"),
    )
    op.create_index("notice_over_at", "notice", ["over_at"])


def _to_version_6(op: Operations, dialect: str) -> None:
    """The same event with other bytes is kept beside the first; states of orders, and feeds of those that changed."""
    connection = op.get_bind()
    if dialect == "sqlite":  # which can neither add a column without default nor change a constraint
        op.drop_index("event_waybill", "event")
        op.create_table("event_6", *_event_columns_6(), sa.UniqueConstraint(*_IDENTITY_6, name="event_identity"))
        copied = f"INSERT INTO event_6 ({_COLUMNS_6}, content) SELECT {_COLUMNS_6}, '' FROM event"  # noqa: S608
        op.execute(sa.text(copied))
        op.drop_table("event")
        op.rename_table("event_6", "event")
        op.create_index("event_waybill", "event", ["waybill"])
    else:
        op.execute(sa.text("DROP TRIGGER event_update ON event"))
        op.add_column("event", sa.Column("content", sa.String(64), nullable=False, server_default=""))
        op.alter_column("event", "content", server_default=None)
        op.drop_constraint("event_identity", "event", type_="unique")
        op.create_unique_constraint("event_identity", "event", list(_IDENTITY_6))
    _digest_events_6(connection)
    _create_tables_6(op)
    for statement in _GUARDS_6[dialect].split("---"):
        op.execute(sa.text(statement.strip()))


_IDENTITY_6 = ("account", "identity", "content")
_COLUMNS_6 = (
    "id, account, identity, received_at, topic, waybill, order_status, status_at, zone_assumed, unreadable, seen, raw"
)


def _event_columns_6() -> list[sa.Column[Any]]:
    kinds: dict[str, sa.types.TypeEngine[Any]] = {
        "account": sa.String(200),
        "identity": sa.String(64),
        "received_at": sa.String(40),
        "topic": sa.String(80),
        "waybill": sa.String(80),
        "order_status": sa.String(80),
        "status_at": sa.String(40),
        "zone_assumed": sa.Integer(),
        "unreadable": sa.Text(),
        "seen": sa.Integer(),
        "raw": sa.LargeBinary(),
        "content": sa.String(64),
    }
    first: sa.Column[Any] = sa.Column("id", sa.Integer, primary_key=True)
    return [first, *(sa.Column(name, kind, nullable=False) for name, kind in kinds.items())]


def _digest_events_6(connection: Connection) -> None:
    """The digest of every event whose bytes are there; those of a purged one are not known."""
    last = 0
    while True:
        found = connection.execute(
            sa.text("SELECT id, raw FROM event WHERE id > :last AND length(raw) > 0 ORDER BY id LIMIT 500"),
            {"last": last},
        ).all()
        if not found:
            return
        digests = [{"id": each.id, "content": hashlib.sha256(bytes(each.raw)).hexdigest()} for each in found]
        connection.execute(sa.text("UPDATE event SET content = :content WHERE id = :id"), digests)
        last = found[-1].id


def _create_tables_6(op: Operations) -> None:
    op.create_table(
        "order_state",
        sa.Column("document_id", sa.Integer, sa.ForeignKey("document.id"), primary_key=True, autoincrement=False),
        sa.Column("status", sa.String(80), nullable=False),
        sa.Column("status_at", sa.String(40), nullable=False),
        sa.Column("source", sa.String(8), nullable=False),
        sa.Column("shown", sa.Text, nullable=False),
        sa.Column("problem", sa.Text, nullable=False),
        sa.Column("asked_at", sa.String(40), nullable=False),
        sa.Column("hint_status", sa.String(80), nullable=False),
        sa.Column("hint_at", sa.String(40), nullable=False),
        sa.Column("event_id", sa.Integer, nullable=False),
        sa.Column("change", sa.Integer, nullable=False),
    )
    op.create_index("order_state_change", "order_state", ["change"])
    op.create_table(
        "feed",
        sa.Column("account", sa.String(200), primary_key=True),
        sa.Column("job", sa.String(200), primary_key=True),
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("orders", sa.Integer, nullable=False),
        sa.Column("up_to", sa.Integer, nullable=False),
        sa.Column("sha256", sa.String(64), nullable=False),
        sa.Column("content", sa.LargeBinary, nullable=False),
        sa.Column("made_at", sa.String(40), nullable=False),
        sa.Column("delivered_at", sa.String(40), nullable=False),
    )


_KEPT_6 = (
    "id, account, identity, received_at, topic, waybill, order_status, status_at, zone_assumed, unreadable, content"
)
_FEED_KEPT_6 = "account, job, number, name, orders, up_to, sha256, content, made_at"
_FEED_CHANGED_6 = (
    "NEW.account <> OLD.account OR NEW.job <> OLD.job OR NEW.number <> OLD.number OR NEW.name <> OLD.name "
    "OR NEW.orders <> OLD.orders OR NEW.up_to <> OLD.up_to OR NEW.sha256 <> OLD.sha256 OR NEW.made_at <> OLD.made_at "
    "OR (NEW.content <> OLD.content AND NOT (length(NEW.content) = 0 AND NEW.delivered_at <> ''))"
)
_GUARDS_6 = {
    "sqlite": f"""
CREATE TRIGGER event_update BEFORE UPDATE OF {_KEPT_6} ON event
BEGIN SELECT RAISE(ABORT, 'events are append-only'); END
---
CREATE TRIGGER event_raw BEFORE UPDATE OF raw ON event WHEN NEW.raw <> OLD.raw AND length(NEW.raw) > 0
BEGIN SELECT RAISE(ABORT, 'the bytes of an event do not change'); END
---
CREATE TRIGGER event_delete BEFORE DELETE ON event
BEGIN SELECT RAISE(ABORT, 'events are append-only'); END
---
CREATE TRIGGER feed_update BEFORE UPDATE OF {_FEED_KEPT_6} ON feed WHEN {_FEED_CHANGED_6}
BEGIN SELECT RAISE(ABORT, 'a feed does not change'); END
---
CREATE TRIGGER feed_delete BEFORE DELETE ON feed
BEGIN SELECT RAISE(ABORT, 'feeds are not deleted'); END
""",
    "postgresql": f"""
CREATE TRIGGER event_update BEFORE UPDATE OF {_KEPT_6} ON event
FOR EACH ROW EXECUTE FUNCTION event_guard()
---
CREATE FUNCTION feed_guard() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
IF TG_OP = 'DELETE' THEN RAISE EXCEPTION 'feeds are not deleted'; END IF;
IF {_FEED_CHANGED_6} THEN RAISE EXCEPTION 'a feed does not change'; END IF;
RETURN NEW; END $$
---
CREATE TRIGGER feed_update BEFORE UPDATE OF {_FEED_KEPT_6} ON feed FOR EACH ROW EXECUTE FUNCTION feed_guard()
---
CREATE TRIGGER feed_delete BEFORE DELETE ON feed FOR EACH ROW EXECUTE FUNCTION feed_guard()
""",
}


EARLY_STEPS: dict[int, Callable[[Operations, str], None]] = {
    2: _to_version_2,
    3: _to_version_3,
    4: _to_version_4,
    5: _to_version_5,
    6: _to_version_6,
}
