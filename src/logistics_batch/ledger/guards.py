"""The database guards its own history: illegal transitions and changed evidence are refused by triggers."""

from collections.abc import Iterator
from typing import Final

from logistics_batch.model.document_state import ENDED, TRANSITIONS, DocumentState

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
_NOT_DELETED: Final = ("document", "attempt", "evidence", "decision", "event", "feed")


def guard_statements(dialect: str) -> Iterator[str]:
    """The SQL of the guards for "sqlite" or "postgresql"."""
    for name, table, columns, refused, words in _UNCHANGED:
        of = f" OF {', '.join(columns)}" if columns else ""
        yield from _guard(dialect, name, f"BEFORE UPDATE{of} ON {table}", (refused, words))
    for table in _NOT_DELETED:
        yield from _guard(dialect, f"{table}_delete", f"BEFORE DELETE ON {table}", ("1 = 1", f"{table} is append-only"))


def _guard(dialect: str, name: str, event: str, refused: tuple[str, str]) -> Iterator[str]:
    condition, words = refused
    if dialect == "sqlite":
        yield f"CREATE TRIGGER {name} {event} WHEN {condition} BEGIN SELECT RAISE(ABORT, '{words}'); END"
        return
    yield (
        f"CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
        f"IF {condition} THEN RAISE EXCEPTION '{words}'; END IF; RETURN NEW; END $$"
    )
    yield f"CREATE TRIGGER {name} {event} FOR EACH ROW EXECUTE FUNCTION {name}()"
