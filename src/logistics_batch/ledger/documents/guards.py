"""The database guards its own history: illegal transitions and changed evidence are refused by triggers."""

from logistics_batch.model.document_state import ENDED, TRANSITIONS, DocumentState

# An accepted order whose AWB number is another's has no proof left: then, and only so, it is in doubt again.
MIXED_UP = "mixed_up"
_LOSES_ITS_NUMBER = (
    f"NEW.operation = 'order.create' AND NEW.code IN ('{MIXED_UP}', '{MIXED_UP}.shown') AND NEW.awb_number = ''"
)
_LEGAL = " OR ".join(
    f"(OLD.state = '{before}' AND NEW.state = '{after}'"
    + (f" AND {_LOSES_ITS_NUMBER})" if before is DocumentState.ACCEPTED else ")")
    for before, afters in TRANSITIONS.items()
    for after in afters
)

# What identifies a document never changes; its bytes may only go, and only when it is settled.
_DOCUMENT_KEEPS = "account, kind, key, generation, body, body_sha256"
_DOCUMENT_CHANGED = (
    " OR ".join(f"NEW.{name} <> OLD.{name}" for name in ("account", "kind", "key", "generation", "body_sha256"))
    + " OR (NEW.body <> OLD.body AND NOT (length(NEW.body) = 0 AND OLD.state IN "
    + f"({', '.join(map(repr, map(str, ENDED)))})))"
)


# What was seen or decided stays; once its document's bytes are gone, its words may go as well.
def _emptied(name: str, *kept: str) -> str:
    same = " AND ".join(f"NEW.{each} = OLD.{each}" for each in ("id", "document_id", "at", *kept))
    gone = "EXISTS (SELECT 1 FROM document WHERE id = OLD.document_id AND length(body) = 0)"
    return f"{same} AND NEW.{name} = '' AND {gone}"


_EVIDENCE_CUT = _emptied("text", "kind")
_DECISION_CUT = _emptied("why", "who", "what", "code")
_EVENT_KEEPS = (
    "id, account, identity, received_at, topic, waybill, order_status, status_at, zone_assumed, unreadable, content"
)
_FEED_KEEPS = "account, job, number, name, orders, up_to, sha256, content, made_at"
_FEED_CHANGED = (
    " OR ".join(
        f"NEW.{name} <> OLD.{name}"
        for name in ("account", "job", "number", "name", "orders", "up_to", "sha256", "made_at")
    )
    + " OR (NEW.content <> OLD.content AND NOT (length(NEW.content) = 0 AND NEW.delivered_at <> ''))"
)

_SQLITE = f"""
CREATE TRIGGER document_transition BEFORE UPDATE OF state ON document WHEN OLD.state <> NEW.state AND NOT ({_LEGAL})
BEGIN SELECT RAISE(ABORT, 'illegal transition of a document'); END
---
CREATE TRIGGER document_content BEFORE UPDATE OF {_DOCUMENT_KEEPS} ON document
WHEN {_DOCUMENT_CHANGED}
BEGIN SELECT RAISE(ABORT, 'the content of a document does not change'); END
---
CREATE TRIGGER document_delete BEFORE DELETE ON document
BEGIN SELECT RAISE(ABORT, 'documents are not deleted'); END
---
CREATE TRIGGER attempt_delete BEFORE DELETE ON attempt
BEGIN SELECT RAISE(ABORT, 'attempts are not deleted'); END
---
CREATE TRIGGER evidence_update BEFORE UPDATE ON evidence WHEN NOT ({_EVIDENCE_CUT})
BEGIN SELECT RAISE(ABORT, 'evidence is append-only'); END
---
CREATE TRIGGER evidence_delete BEFORE DELETE ON evidence
BEGIN SELECT RAISE(ABORT, 'evidence is append-only'); END
---
CREATE TRIGGER decision_update BEFORE UPDATE ON decision WHEN NOT ({_DECISION_CUT})
BEGIN SELECT RAISE(ABORT, 'decisions are append-only'); END
---
CREATE TRIGGER decision_delete BEFORE DELETE ON decision
BEGIN SELECT RAISE(ABORT, 'decisions are append-only'); END
---
CREATE TRIGGER event_update BEFORE UPDATE OF {_EVENT_KEEPS} ON event
BEGIN SELECT RAISE(ABORT, 'events are append-only'); END
---
CREATE TRIGGER event_raw BEFORE UPDATE OF raw ON event WHEN NEW.raw <> OLD.raw AND length(NEW.raw) > 0
BEGIN SELECT RAISE(ABORT, 'the bytes of an event do not change'); END
---
CREATE TRIGGER event_delete BEFORE DELETE ON event
BEGIN SELECT RAISE(ABORT, 'events are append-only'); END
---
CREATE TRIGGER feed_update BEFORE UPDATE OF {_FEED_KEEPS} ON feed WHEN {_FEED_CHANGED}
BEGIN SELECT RAISE(ABORT, 'a feed does not change'); END
---
CREATE TRIGGER feed_delete BEFORE DELETE ON feed
BEGIN SELECT RAISE(ABORT, 'feeds are not deleted'); END
"""

_POSTGRESQL = f"""
CREATE FUNCTION document_transition() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
IF OLD.state <> NEW.state AND NOT ({_LEGAL}) THEN RAISE EXCEPTION 'illegal transition of a document'; END IF;
RETURN NEW; END $$
---
CREATE TRIGGER document_transition BEFORE UPDATE OF state ON document
FOR EACH ROW EXECUTE FUNCTION document_transition()
---
CREATE FUNCTION document_content() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
IF {_DOCUMENT_CHANGED} THEN RAISE EXCEPTION 'the content of a document does not change'; END IF;
RETURN NEW; END $$
---
CREATE TRIGGER document_content BEFORE UPDATE OF {_DOCUMENT_KEEPS} ON document
FOR EACH ROW EXECUTE FUNCTION document_content()
---
CREATE FUNCTION history_guard() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
RAISE EXCEPTION 'documents and attempts are not deleted'; END $$
---
CREATE TRIGGER document_delete BEFORE DELETE ON document FOR EACH ROW EXECUTE FUNCTION history_guard()
---
CREATE TRIGGER attempt_delete BEFORE DELETE ON attempt FOR EACH ROW EXECUTE FUNCTION history_guard()
---
CREATE FUNCTION evidence_guard() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
IF TG_OP = 'DELETE' THEN RAISE EXCEPTION 'evidence is append-only'; END IF;
IF NOT ({_EVIDENCE_CUT}) THEN RAISE EXCEPTION 'evidence is append-only'; END IF;
RETURN NEW; END $$
---
CREATE TRIGGER evidence_guard BEFORE UPDATE OR DELETE ON evidence FOR EACH ROW EXECUTE FUNCTION evidence_guard()
---
CREATE FUNCTION decision_guard() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
IF TG_OP = 'DELETE' THEN RAISE EXCEPTION 'decisions are append-only'; END IF;
IF NOT ({_DECISION_CUT}) THEN RAISE EXCEPTION 'decisions are append-only'; END IF;
RETURN NEW; END $$
---
CREATE TRIGGER decision_guard BEFORE UPDATE OR DELETE ON decision FOR EACH ROW EXECUTE FUNCTION decision_guard()
---
CREATE FUNCTION event_guard() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
RAISE EXCEPTION 'events are append-only'; END $$
---
CREATE TRIGGER event_update BEFORE UPDATE OF {_EVENT_KEEPS} ON event
FOR EACH ROW EXECUTE FUNCTION event_guard()
---
CREATE FUNCTION event_raw() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
IF NEW.raw <> OLD.raw AND length(NEW.raw) > 0 THEN RAISE EXCEPTION 'the bytes of an event do not change'; END IF;
RETURN NEW; END $$
---
CREATE TRIGGER event_raw BEFORE UPDATE OF raw ON event FOR EACH ROW EXECUTE FUNCTION event_raw()
---
CREATE TRIGGER event_delete BEFORE DELETE ON event FOR EACH ROW EXECUTE FUNCTION event_guard()
---
CREATE FUNCTION feed_guard() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
IF TG_OP = 'DELETE' THEN RAISE EXCEPTION 'feeds are not deleted'; END IF;
IF {_FEED_CHANGED} THEN RAISE EXCEPTION 'a feed does not change'; END IF;
RETURN NEW; END $$
---
CREATE TRIGGER feed_update BEFORE UPDATE OF {_FEED_KEEPS} ON feed FOR EACH ROW EXECUTE FUNCTION feed_guard()
---
CREATE TRIGGER feed_delete BEFORE DELETE ON feed FOR EACH ROW EXECUTE FUNCTION feed_guard()
"""


def guard_statements(dialect: str) -> list[str]:
    """The SQL of the guards for "sqlite" or "postgresql"."""
    script = _SQLITE if dialect == "sqlite" else _POSTGRESQL
    return [statement.strip() for statement in script.split("---")]
