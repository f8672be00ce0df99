"""Bringing a ledger of an earlier version up to date: one step a version, each frozen as it was once written.

A step neither reads today's schema nor today's guards: what it makes of an old ledger never changes again. All steps
run in one transaction, so that a ledger has one version or another, never something between.
"""

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
_STEPS: dict[int, Callable[[Operations, str], None]] = {2: _to_version_2}
