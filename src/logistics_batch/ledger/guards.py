"""The database guards its own history: illegal transitions and changed evidence are refused by triggers."""

# Which change of state the protocol knows.
TRANSITIONS: dict[str, frozenset[str]] = {
    "planned": frozenset({"sending", "superseded", "held", "abandoned"}),
    "sending": frozenset({"planned", "accepted", "refused", "held", "in_doubt"}),
    "in_doubt": frozenset({"accepted", "sending", "held"}),
    "refused": frozenset({"planned", "abandoned"}),
    "held": frozenset({"accepted", "planned", "abandoned", "superseded"}),
    "accepted": frozenset(),
    "superseded": frozenset(),
    "abandoned": frozenset(),
}

_LEGAL = " OR ".join(
    f"(OLD.state = '{before}' AND NEW.state = '{after}')"
    for before, afters in TRANSITIONS.items()
    for after in sorted(afters)
)

_EVENT_KEEPS = (
    "id, account, identity, received_at, topic, waybill, order_status, status_at, zone_assumed, unreadable, raw"
)

_SQLITE = f"""
CREATE TRIGGER document_transition BEFORE UPDATE OF state ON document WHEN OLD.state <> NEW.state AND NOT ({_LEGAL})
BEGIN SELECT RAISE(ABORT, 'illegal transition of a document'); END
---
CREATE TRIGGER evidence_update BEFORE UPDATE ON evidence
BEGIN SELECT RAISE(ABORT, 'evidence is append-only'); END
---
CREATE TRIGGER evidence_delete BEFORE DELETE ON evidence
BEGIN SELECT RAISE(ABORT, 'evidence is append-only'); END
---
CREATE TRIGGER event_update BEFORE UPDATE OF {_EVENT_KEEPS} ON event
BEGIN SELECT RAISE(ABORT, 'events are append-only'); END
---
CREATE TRIGGER event_delete BEFORE DELETE ON event
BEGIN SELECT RAISE(ABORT, 'events are append-only'); END
"""

_POSTGRESQL = f"""
CREATE FUNCTION document_transition() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
IF OLD.state <> NEW.state AND NOT ({_LEGAL}) THEN RAISE EXCEPTION 'illegal transition of a document'; END IF;
RETURN NEW; END $$
---
CREATE TRIGGER document_transition BEFORE UPDATE OF state ON document
FOR EACH ROW EXECUTE FUNCTION document_transition()
---
CREATE FUNCTION evidence_guard() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
RAISE EXCEPTION 'evidence is append-only'; END $$
---
CREATE TRIGGER evidence_guard BEFORE UPDATE OR DELETE ON evidence FOR EACH ROW EXECUTE FUNCTION evidence_guard()
---
CREATE FUNCTION event_guard() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
RAISE EXCEPTION 'events are append-only'; END $$
---
CREATE TRIGGER event_update BEFORE UPDATE OF {_EVENT_KEEPS} ON event
FOR EACH ROW EXECUTE FUNCTION event_guard()
---
CREATE TRIGGER event_delete BEFORE DELETE ON event FOR EACH ROW EXECUTE FUNCTION event_guard()
"""


def guard_statements(dialect: str) -> list[str]:
    """The SQL of the guards for "sqlite" or "postgresql"."""
    script = _SQLITE if dialect == "sqlite" else _POSTGRESQL
    return [statement.strip() for statement in script.split("---")]
