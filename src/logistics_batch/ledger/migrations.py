"""Bringing a ledger of an earlier version up to date: one step a version, each frozen as it was once written.

A step neither reads today's schema nor today's guards: what it makes of an old ledger never changes again. All steps
run in one transaction, so that a ledger has one version or another, never something between.
"""

from collections.abc import Callable

import sqlalchemy as sa
from alembic.operations import Operations
from alembic.runtime.migration import MigrationContext
from sqlalchemy import Connection

from logistics_batch.ledger.early_migrations import EARLY_STEPS
from logistics_batch.model.spelling import folded_key


def migrate(connection: Connection, *, found: int, wanted: int) -> None:
    """Take the schema from one version to a later one, within the caller's transaction; rows stay as they are."""
    op = Operations(MigrationContext.configure(connection))
    for version in range(found + 1, wanted + 1):
        _STEPS[version](op, connection.dialect.name)


def _to_version_7(op: Operations, dialect: str) -> None:  # noqa: ARG001
    """Runs keep their notes; files that wait for a person, held as a whole or left, are known until they are done.

    What was held before is not looked up: nobody knows any more what came of it.
    """
    op.create_table(
        "run_note",
        sa.Column("run_id", sa.String(40), sa.ForeignKey("run.id"), primary_key=True),
        sa.Column("n", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("text", sa.Text, nullable=False),
    )
    op.create_table(
        "held_file",
        sa.Column("file_id", sa.Integer, sa.ForeignKey("file.id"), primary_key=True, autoincrement=False),
        sa.Column("run_id", sa.String(40), nullable=False),
        sa.Column("job", sa.String(200), nullable=False),
        sa.Column("stem", sa.Text, nullable=False),
        sa.Column("identity", sa.String(64), nullable=False),
        sa.Column("since", sa.String(40), nullable=False),
        *(
            sa.Column(name, kind, nullable=False, server_default="")
            for name, kind in (("over_at", sa.String(40)), ("over_by", sa.Text), ("over_why", sa.Text))
        ),
    )
    op.create_index("held_file_job", "held_file", ["job", "over_at"])
    op.create_table(
        "left_file",
        sa.Column("job", sa.String(200), primary_key=True),
        sa.Column("identity", sa.String(64), primary_key=True),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("why", sa.Text, nullable=False),
        sa.Column("since", sa.String(40), nullable=False),
    )


def _to_version_8(op: Operations, dialect: str) -> None:  # noqa: ARG001
    """Whose an AWB number is can be asked for each answer."""
    op.create_index("document_awb_number", "document", ["awb_number"])


def _to_version_9(op: Operations, dialect: str) -> None:  # noqa: ARG001
    """A document is found by its key as people read it, in whatever spelling it came; version 10 fills the column."""
    op.add_column("document", sa.Column("folded_key", sa.Text, nullable=False, server_default=""))
    op.create_index("document_folded_key", "document", ["account", "kind", "folded_key"])


def _to_version_10(op: Operations, dialect: str) -> None:
    """Cancelling by a number that no order here has was a notice of which nobody is told; it has its own table now.

    An accepted order whose number turns out to be another's may become a doubt again. Keys are folded anew, without
    leading zeros.
    """
    _fold_keys(op.get_bind())
    op.create_table(
        "cancelled_number",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("account", sa.String(200), nullable=False),
        sa.Column("number", sa.Text, nullable=False),
        sa.Column("document_id", sa.Integer, sa.ForeignKey("document.id")),
        sa.Column("at", sa.String(40), nullable=False),
    )
    moved = "FROM notice WHERE substr(key, 1, 22) = 'order|asked to cancel|'"
    accounts = "(SELECT DISTINCT account FROM document) AS known"  # notices are not told apart by it
    found = f"SELECT known.account, asked.number, asked.since FROM {accounts}, "  # noqa: S608
    found += f"(SELECT substr(key, 23) AS number, since {moved}) AS asked"
    op.execute(sa.text(f"INSERT INTO cancelled_number (account, number, at) {found}"))
    op.execute(sa.text(f"DELETE {moved}"))
    for statement in _TRANSITION_GUARD_10[dialect].split("---"):
        op.execute(sa.text(statement.strip()))


def _to_version_11(op: Operations, dialect: str) -> None:  # noqa: ARG001
    """Whether the service has shown an order under its AWB number: nobody has written that down so far."""
    op.add_column("document", sa.Column("seen", sa.Integer, nullable=False, server_default="0"))


def _to_version_12(op: Operations, dialect: str) -> None:
    """The words of evidence may be cut once the bytes of their document are gone."""
    for statement in _EVIDENCE_GUARD_12[dialect].split("---"):
        op.execute(sa.text(statement.strip()))


def _to_version_13(op: Operations, dialect: str) -> None:
    """Codes and values instead of words; what was said in words before is a value."""
    made = "json_object" if dialect == "sqlite" else "json_build_object"
    if dialect == "sqlite":
        op.execute(sa.text("DROP TRIGGER document_transition"))
    remedies = {"row": "", "issue": "fix", "document": "fix", "file": "remedy"}
    for table, remedy in remedies.items():
        for name, kind in (("code", sa.String(120)), ("values", sa.Text)):
            op.add_column(table, sa.Column(name, kind, nullable=False, server_default=""))
        words = "'reason', reason" + (f", 'remedy', {remedy}" if remedy else "")
        filled = f"CASE reason WHEN '' THEN '' ELSE CAST({made}({words}) AS TEXT) END"
        op.execute(sa.text(f'UPDATE {table} SET code = rule, "values" = {filled}'))  # noqa: S608
        for name in filter(None, ("rule", "reason", remedy)):
            op.drop_column(table, name)
    op.add_column("issue", sa.Column("field", sa.String(80), nullable=False, server_default=""))
    connection = op.get_bind()
    split = sa.text("UPDATE issue SET field = :field, code = :rule WHERE code = :code")
    for (code,) in connection.execute(sa.text("SELECT DISTINCT code FROM issue")).all():
        field, _, rule = code.rpartition("|")
        connection.execute(split, {"field": field, "rule": rule, "code": code})
    for statement in _TRANSITION_GUARD_10[dialect].split("---"):
        if "DROP" not in statement:
            changed = statement.replace("NEW.rule = 'mixed_up'", "NEW.code IN ('mixed_up', 'mixed_up.shown')")
            op.execute(sa.text(changed.strip()))


_LEGAL_10 = " OR ".join(
    f"(OLD.state = '{before}' AND NEW.state = '{after}')"
    for before, afters in (
        ("planned", ("abandoned", "held", "sending", "superseded")),
        ("sending", ("accepted", "held", "in_doubt", "planned", "refused")),
        ("in_doubt", ("accepted", "held", "sending")),
        ("refused", ("abandoned", "planned")),
        ("held", ("abandoned", "accepted", "planned", "superseded")),
    )
    for after in afters
)
_LEGAL_10 += (
    " OR (OLD.state = 'accepted' AND NEW.state = 'in_doubt' AND NEW.operation = 'order.create' "
    "AND NEW.rule = 'mixed_up' AND NEW.awb_number = '')"
)
_TRANSITION_GUARD_10 = {
    "sqlite": f"""
DROP TRIGGER document_transition
---
CREATE TRIGGER document_transition BEFORE UPDATE OF state ON document WHEN OLD.state <> NEW.state AND NOT ({_LEGAL_10})
BEGIN SELECT RAISE(ABORT, 'illegal transition of a document'); END
""",
    "postgresql": f"""
CREATE OR REPLACE FUNCTION document_transition() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
IF OLD.state <> NEW.state AND NOT ({_LEGAL_10}) THEN RAISE EXCEPTION 'illegal transition of a document'; END IF;
RETURN NEW; END $$
""",
}

_CUT_12 = (
    "NEW.id = OLD.id AND NEW.document_id = OLD.document_id AND NEW.at = OLD.at AND NEW.kind = OLD.kind "
    "AND NEW.who = OLD.who AND NEW.text = substr(OLD.text, 1, length(NEW.text)) "
    "AND EXISTS (SELECT 1 FROM document WHERE id = OLD.document_id AND length(body) = 0)"
)
_EVIDENCE_GUARD_12 = {
    "sqlite": f"""
DROP TRIGGER evidence_update
---
CREATE TRIGGER evidence_update BEFORE UPDATE ON evidence WHEN NOT ({_CUT_12})
BEGIN SELECT RAISE(ABORT, 'evidence is append-only'); END
""",
    "postgresql": f"""
CREATE OR REPLACE FUNCTION evidence_guard() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
IF TG_OP = 'DELETE' THEN RAISE EXCEPTION 'evidence is append-only'; END IF;
IF NOT ({_CUT_12}) THEN RAISE EXCEPTION 'evidence is append-only'; END IF;
RETURN NEW; END $$
""",
}


def _fold_keys(connection: Connection) -> None:
    """The column means what `folded_key` says; who changes that fills it anew in a step of its own."""
    last, some = 0, sa.text("SELECT id, key, folded_key FROM document WHERE id > :last ORDER BY id LIMIT 5000")
    filled = sa.text("UPDATE document SET folded_key = :folded_key WHERE id = :id")
    while found := connection.execute(some, {"last": last}).all():
        read = [(each, folded_key(each.key)) for each in found]
        if changed := [{"id": each.id, "folded_key": key} for each, key in read if key != each.folded_key]:
            connection.execute(filled, changed)
        last = found[-1].id


_STEPS: dict[int, Callable[[Operations, str], None]] = {
    **EARLY_STEPS,
    7: _to_version_7,
    8: _to_version_8,
    9: _to_version_9,
    10: _to_version_10,
    11: _to_version_11,
    12: _to_version_12,
    13: _to_version_13,
}
