"""Bringing a ledger of an earlier version up to date: one step a version, each frozen as it was once written.

A step neither reads today's schema nor today's guards: what it makes of an old ledger never changes again. All steps
run in one transaction, so that a ledger has one version or another, never something between.
"""

import secrets
from collections.abc import Callable

import sqlalchemy as sa
from alembic.operations import Operations
from alembic.runtime.migration import MigrationContext
from sqlalchemy import Connection


def migrate(connection: Connection, *, found: int, wanted: int) -> None:
    """Take the schema from one version to a later one, within the caller's transaction; rows stay as they are."""
    op = Operations(MigrationContext.configure(connection))
    for version in range(found + 1, wanted + 1):
        _STEPS[version](op, connection.dialect.name)


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


_STEPS: dict[int, Callable[[Operations, str], None]] = {
    2: _to_version_2,
    3: _to_version_3,
    4: _to_version_4,
    5: _to_version_5,
}
