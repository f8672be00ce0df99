"""Which files came for a job, and when: what is compared with the files that are expected."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import func, select

from logistics_batch.ledger.connection import Connected
from logistics_batch.ledger.schema import file, run
from logistics_batch.messages import rule_of


@dataclass(frozen=True, slots=True)
class FileArrival:
    """One file that came for a job.

    first_at: when these bytes came for the job for the very first time. rule: why it is held as a whole, "" if not.
    business_date: the day its run was for, ISO. identity: what told it from others where it lay.
    """

    name: str
    path: str
    size: int
    sha256: str
    rows_read: int
    rule: str
    at: datetime
    first_at: datetime
    business_date: str = ""
    identity: str = ""


def identity_of(path: str, size: int, modified: object) -> str:
    """What tells a file from others of its name where it lies."""
    return f"{path}|{size}|{modified}"


def digest_of_names(*names: object) -> str:
    """What a name or a path is known by when it is no longer kept itself."""
    return hashlib.sha256(json.dumps([str(name) for name in names]).encode()).hexdigest()


def place_of(name: str, origin: Mapping[str, object]) -> str:
    """A digest of where a file lay under which name."""
    kept = origin.get(_PLACE)
    return str(kept) if kept else digest_of_names(name, origin.get("store", ""), origin.get("path", ""))


def without_names(origin: Mapping[str, object], *, name: str) -> dict[str, object]:
    """An origin that tells the same place and path from others, and neither of them itself."""
    kept = {key: value for key, value in origin.items() if key not in ("path", "archive", "archive_notes")}
    return kept | {_PLACE: place_of(name, origin), _PATH: digest_of_names(origin.get("path", ""))}


_PLACE, _PATH = "place_sha256", "path_sha256"


class Arrivals(Connected):
    """Read only."""

    def arrivals_of(self, job: str, *, since: datetime) -> list[FileArrival]:
        """The files that came for a job since a moment, oldest first; the same again is another one."""
        day_before = (since - timedelta(days=1)).date().isoformat()  # texts with other offsets sort by day at most
        mine = select(file).join(run, file.c.run_id == run.c.id).where(run.c.job == job)
        with self._read() as connection:
            recent = connection.execute(mine.where(file.c.received_at >= day_before).order_by(file.c.id)).mappings()
            found = [line for line in recent if datetime.fromisoformat(line["received_at"]) >= since]
            first = (
                select(file.c.sha256, func.min(file.c.id))
                .join(run, file.c.run_id == run.c.id)
                .where(run.c.job == job, file.c.sha256.in_({line["sha256"] for line in found}))
                .group_by(file.c.sha256)
            )
            ids = {number: sha for sha, number in connection.execute(first)}
            times = select(file.c.id, file.c.received_at).where(file.c.id.in_(list(ids)))
            first_at = {ids[number]: datetime.fromisoformat(at) for number, at in connection.execute(times)}
        return [_arrival(line, first_at[line["sha256"]]) for line in found]

    def was_read(self, job: str, sha256: str) -> bool:
        """Whether these bytes ever came for the job."""
        query = select(file.c.id).join(run, file.c.run_id == run.c.id).where(run.c.job == job, file.c.sha256 == sha256)
        with self._read() as connection:
            return connection.execute(query.limit(1)).first() is not None

    def sizes_at(self, job: str) -> set[tuple[str, int]]:
        """Digest of path, and size, of all that ever came for a job: what lies there alike may be the same again."""
        query = select(file.c.origin, file.c.size).join(run, file.c.run_id == run.c.id).where(run.c.job == job)
        with self._read() as connection:
            return {(_path_digest(json.loads(origin)), size) for origin, size in connection.execute(query)}


def _arrival(line: Any, first_at: datetime) -> FileArrival:
    origin = json.loads(line["origin"])
    return FileArrival(
        name=line["name"],
        path=str(origin.get("path", "")),
        size=line["size"],
        sha256=line["sha256"],
        rows_read=line["rows_read"],
        rule=rule_of(line["code"]),
        at=datetime.fromisoformat(line["received_at"]),
        first_at=first_at,
        business_date=str(origin.get("business_date", "")),
        identity=identity_of(str(origin.get("path", "")), line["size"], origin.get("modified")),
    )


def _path_digest(origin: Mapping[str, object]) -> str:
    return str(origin.get(_PATH) or digest_of_names(origin.get("path", "")))
