"""Whether what the ledger says holds together: totals, attempts, digests, and one live order for a reference."""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Select, func, or_, select

from logistics_batch.errors import LedgerRefused
from logistics_batch.ledger.connection import LedgerConnection
from logistics_batch.ledger.documents.decide import CANCELLED
from logistics_batch.ledger.itself.integrity import check_database
from logistics_batch.ledger.schema import attempt, document, evidence, file, row, run

_SHOWN = 5  # examples named in one finding
_AT_ONCE = 500  # bodies in memory
KEEP_IT = "This must never happen: keep a copy of the ledger as it is, and report it."


@dataclass(frozen=True, slots=True)
class LedgerFinding:
    """One thing that does not hold together, and what to do about it."""

    check: str
    problem: str
    remedy: str = KEEP_IT


@dataclass(frozen=True, slots=True)
class Verification:
    """What was looked at, by its count, and what does not hold together.

    counted: records by kind, documents also by state. restorations: when who confirmed that an older copy goes on, and
    why.
    """

    counted: dict[str, int]
    findings: tuple[LedgerFinding, ...]
    restorations: tuple[dict[str, Any], ...]


def verified(
    ledger: LedgerConnection, *, require_newest: Callable[[], None], restorations: Sequence[dict[str, Any]]
) -> Verification:
    """What a look at everything finds, of every account; it reads all of the ledger once and changes nothing."""
    found = [*_raised("database", lambda: check_database(ledger.engine, thorough=True))]
    found += _raised("newest", require_newest)
    with ledger.read() as connection:
        counted = {
            name: int(connection.execute(select(func.count()).select_from(table)).scalar_one())
            for name, table in _COUNTED.items()
        }
        states = connection.execute(select(document.c.state, func.count()).group_by(document.c.state)).all()
        counted |= {f"documents {state}".replace("_", " "): int(count) for state, count in sorted(map(tuple, states))}
        found += [*_structure(connection), *_digests(connection)]
    return Verification(counted, tuple(found), tuple(restorations))


def _raised(check: str, look: Callable[[], None]) -> list[LedgerFinding]:
    try:
        look()
    except LedgerRefused as error:
        return [LedgerFinding(check, error.message, error.remedy)]
    return []


def _structure(connection: Connection) -> Iterator[LedgerFinding]:
    for check, words, remedy, query in _QUERIES:
        found = [str(line[0]) for line in connection.execute(query.limit(_SHOWN + 1))]
        if found:
            yield LedgerFinding(check, f"{words}: {_named(found)}.", remedy)


def _named(found: Sequence[str]) -> str:
    return ", ".join(found[:_SHOWN]) + (" and more" if len(found) > _SHOWN else "")


def _digests(connection: Connection) -> Iterator[LedgerFinding]:
    """Bodies are what was sent, byte for byte; those that were purged say nothing."""
    changed: list[str] = []
    query = select(document.c.id, document.c.body, document.c.body_sha256).where(func.length(document.c.body) > 0)
    for part in connection.execution_options(yield_per=_AT_ONCE).execute(query).partitions():
        changed += [str(number) for number, body, digest in part if _sha256(body) != digest]
    if changed:
        yield LedgerFinding("bytes", f"The bytes of documents are not those that were written: {_named(changed)}.")


def _sha256(body: object) -> str:
    # Who changes a SQLite file by hand may leave a text where bytes belong.
    return hashlib.sha256(body if isinstance(body, bytes) else str(body).encode()).hexdigest()


_rows = select(row.c.file_id, func.count().label("n")).group_by(row.c.file_id).subquery()
_tries = (
    select(attempt.c.document_id, func.count().label("n"), func.max(attempt.c.n).label("last"))
    .group_by(attempt.c.document_id)
    .subquery()
)
_COUNTED = {"runs": run, "files": file, "rows": row, "documents": document, "attempts": attempt, "evidence": evidence}
_QUERIES: tuple[tuple[str, str, str, Select[Any]], ...] = (
    (
        "totals",
        "The rows of files are not as many as were read",
        KEEP_IT,
        select(file.c.name)
        .outerjoin(_rows, _rows.c.file_id == file.c.id)
        .where(func.coalesce(_rows.c.n, 0) != file.c.rows_read),
    ),
    (
        "fates",
        "Rows have neither a fate nor a document; they are in the files",
        KEEP_IT,
        select(file.c.name).distinct().join(row).where(row.c.document_id.is_(None), row.c.fate == ""),
    ),
    (
        "attempts",
        "The attempts of documents are not all there",
        KEEP_IT,
        select(document.c.id)
        .outerjoin(_tries, _tries.c.document_id == document.c.id)
        .where(
            or_(
                func.coalesce(_tries.c.n, 0) != document.c.attempts,
                func.coalesce(_tries.c.last, 0) != document.c.attempts,
                (document.c.attempts == 0) & document.c.state.in_(("sending", "in_doubt", "refused")),
            )
        ),
    ),
    (
        "sent bytes",
        "What was sent is not what documents hold",
        KEEP_IT,
        select(document.c.id).distinct().join(attempt).where(attempt.c.request_sha256 != document.c.body_sha256),
    ),
    (
        "one live order",
        "Under one reference more than one order was accepted, and none of them is known to be cancelled",
        "Look each up with “order get”, and cancel what is not wanted.",
        select(document.c.key)
        .where(document.c.kind == "order", document.c.state == "accepted", document.c.code.not_in(CANCELLED))
        .group_by(document.c.account, document.c.key)
        .having(func.count() > 1),
    ),
)
