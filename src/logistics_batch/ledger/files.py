"""Runs, and files as they came: where they lay, what holds them, and under which name they are answered."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, RowMapping, func, select

from logistics_batch.ledger.bulk import insert_all, insert_into
from logistics_batch.ledger.connection import Repository, dump
from logistics_batch.ledger.records import HeldAsAWhole, StoredFile, StoredRun
from logistics_batch.ledger.schema import (
    Answered,
    document,
    file,
    held_file,
    left_file,
    result_name,
    row,
    run,
    run_note,
)
from logistics_batch.messages import rule_of
from logistics_batch.model.issue import Issue, read_notes

_PLACE, _PATH = "place_sha256", "path_sha256"


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
    kept = {key: value for key, value in origin.items() if key not in ("path", "archive", "inside", "archive_notes")}
    return kept | {_PLACE: place_of(name, origin), _PATH: digest_of_names(origin.get("path", ""))}


@dataclass(frozen=True, slots=True)
class HeldFile(HeldAsAWhole):
    """A file that was held as a whole and waits: `id` is its arrival in `run`."""

    id: int
    run: str
    job: str
    name: str
    stem: str
    since: str
    held: Issue


@dataclass(frozen=True, slots=True)
class LeftFile:
    """A file that lies where a job's files are dropped and is not taken, why, and since when that is seen."""

    job: str
    name: str
    why: Issue
    since: str


class Files(Repository):
    """Arrivals of files, whatever account they are for."""

    def of_run(self, *, run: str | None = None, sha256: str | None = None) -> list[StoredFile]:
        """The arrivals of a run or of one content, in order."""
        wanted = [] if run is None else [file.c.run_id == run]
        return self._files(*wanted, *([] if sha256 is None else [file.c.sha256 == sha256]))

    def of_day(self, job: str, business_date: str) -> list[StoredFile]:
        """The arrivals of a job's runs for a day, in order."""
        runs = select(run.c.id).where(run.c.job == job, run.c.business_date == business_date)
        return self._files(file.c.run_id.in_(runs))

    def get(self, file_id: int) -> StoredFile:
        """One arrival by its number."""
        (found,) = self._files(file.c.id == file_id)
        return found

    def _files(self, *wanted: ColumnElement[bool]) -> list[StoredFile]:
        query = select(file, file.c.run_id.label("run")).where(*wanted)
        return self._values(StoredFile, query.order_by(file.c.id))

    def latest(
        self, *, limit: int, before: int | None = None, mapping: str | None = None, beginning: str = ""
    ) -> list[StoredFile]:
        """The files that came last, the newest first.

        before: only those with a smaller number. mapping: that it read. beginning: of their names.
        """
        query = select(file, file.c.run_id.label("run")).where(file.c.name.startswith(beginning, autoescape=True))
        query = query if before is None else query.where(file.c.id < before)
        query = query if mapping is None else query.where(file.c.mapping == mapping)
        return self._values(StoredFile, query.order_by(file.c.id.desc()).limit(limit))

    def by_mapping(self) -> list[tuple[str, str, int, str]]:
        """Each version of a mapping that read files: name, digest, how many files, when the last one came."""
        versions = file.c.mapping, file.c.mapping_digest
        query = select(*versions, func.count(), func.max(file.c.received_at)).group_by(*versions)
        return [(name, digest, count, last) for name, digest, count, last in self._rows(query)]

    def close_files(self, file_ids: Sequence[int]) -> None:
        """Files lie in the archive or in quarantine: reported → closed."""
        self._execute(file.update().where(self._among(file.c.id, file_ids)).values(state="closed"))

    def stale(self) -> list[StoredFile]:
        """The answered files whose results no longer show what is known: a doubt was settled, a version replaced …

        And those whose results could not be written when it was time to.
        """
        again = file.c.stale.in_([Answered.STALE, Answered.IN_WRITING]) & (file.c.state != "planned")
        return self._files(again | (file.c.stale == Answered.UNWRITTEN))

    def set_answered(self, file_id: int, *moves: Answered, first: bool = False) -> None:
        """How the results of a file stand now; what changed since they began to be written makes them stale still.

        first: they were written by the file's own run, planned → reported. UNWRITTEN are the first results alone.
        """
        if first:
            self._execute(file.update().where(file.c.id == file_id).values(state="reported"))
        unless_changed = {
            Answered.IN_WRITING: file.c.stale != Answered.UNWRITTEN,
            Answered.FRESH: file.c.stale != Answered.STALE,
            Answered.UNWRITTEN: file.c.state == "planned",
        }
        for now in moves:
            self._execute(file.update().where(file.c.id == file_id, unless_changed[now]).values(stale=now))

    def named(self, stem: str, *, run: str | None = None) -> list[StoredFile]:
        """The arrivals, of one run or of all, whose names begin with a stem, oldest first."""
        mine = [] if run is None else [file.c.run_id == run]
        return self._files(file.c.name.startswith(stem, autoescape=True), *mine)

    def arrivals_of(self, job: str, *, since: datetime) -> list[FileArrival]:
        """The files that came for a job since a moment, oldest first; the same again is another one."""
        day_before = (since - timedelta(days=1)).date().isoformat()  # texts with other offsets sort by day at most
        first_at = func.first_value(file.c.received_at).over(partition_by=file.c.sha256, order_by=file.c.id)
        ever = select(file, first_at.label("first_at")).join(run, file.c.run_id == run.c.id).where(run.c.job == job)
        arrived = ever.subquery()
        recent = self._rows(select(arrived).where(arrived.c.received_at >= day_before).order_by(arrived.c.id))
        return [_arrival(line._mapping) for line in recent if datetime.fromisoformat(line.received_at) >= since]

    def was_read(self, job: str, sha256: str) -> bool:
        """Whether these bytes ever came for the job."""
        came = select(file.c.id).join(run, file.c.run_id == run.c.id)
        return self._exists(came.where(run.c.job == job, file.c.sha256 == sha256))

    def sizes_at(self, job: str) -> set[tuple[str, int]]:
        """Digest of path, and size, of all that ever came for a job: what lies there alike may be the same again."""
        query = select(file.c.origin, file.c.size).join(run, file.c.run_id == run.c.id).where(run.c.job == job)
        origins = ((json.loads(origin), size) for origin, size in self._rows(query))
        return {(str(each.get(_PATH) or digest_of_names(each.get("path", ""))), size) for each, size in origins}

    def hold_file(self, held: StoredFile, *, job: str, stem: str, identity: str, now: str) -> bool:
        """A file is held as a whole; an earlier one with the same answers is replaced by it. False: known already.

        identity: what makes it this one; if it still lies there it is the same.
        """
        of_job = held_file.c.job == job
        with self._write() as connection:
            same = (held_file.c.file_id == held.id) | (of_job & (held_file.c.identity == identity))
            if connection.execute(select(held_file.c.file_id).where(same).limit(1)).first() is not None:
                return False
            earlier = held_file.update().where(of_job, held_file.c.stem == stem, held_file.c.over_at == "")
            said = {"over_at": now, "over_by": "", "over_why": "A newer file of that name came and is held, too."}
            connection.execute(earlier.values(said))
            named = {"file_id": held.id, "run_id": held.run, "job": job, "stem": stem, "identity": identity}
            connection.execute(held_file.insert().values(named | {"since": now}))
            return True

    def close_held_file(self, file_id: int, *, now: str, why: str, who: str = "") -> bool:
        """What was held is done with. who: the person that says so, "" if it was read. False: nothing waits there."""
        waits = held_file.update().where(held_file.c.file_id == file_id, held_file.c.over_at == "")
        return self._execute(waits.values(over_at=now, over_by=who, over_why=why)) > 0

    def held(self, *, job: str | None = None) -> list[HeldFile]:
        """The files that wait, oldest first."""
        arrival = file.c.id, held_file.c.run_id.label("run"), *file.c["name", "code", "values"]
        query = select(*arrival, *held_file.c["job", "stem", "since"]).join(file, held_file.c.file_id == file.c.id)
        query = query.where(held_file.c.over_at == "", *([] if job is None else [held_file.c.job == job]))
        return self._values(HeldFile, query.order_by(held_file.c.file_id))

    def note_left_files(self, job: str, left: Mapping[str, tuple[str, Issue]], *, now: str) -> None:
        """What lies there and is not taken, by a digest of its path: name and reason; what is not named is gone."""
        mine = left_file.c.job == job
        known = {line.identity: line for line in self._rows(select(left_file).where(mine))}
        said = {identity: (line.code, line._mapping["values"]) for identity, line in known.items()}
        if {identity: (why.code, why.values) for identity, (_, why) in left.items()} == said:
            return
        lines = [
            {"job": job, "identity": identity, "name": name, "code": why.code, "values": why.values}
            | {"since": known[identity].since if identity in known else now}
            for identity, (name, why) in left.items()
        ]
        with self._write(counts=False) as connection:
            connection.execute(left_file.delete().where(mine))
            insert_all(connection, left_file, lines)

    def left(self, *, job: str | None = None) -> list[LeftFile]:
        """What lies there and is not taken, by job, the longest first."""
        query = select(left_file).where(*([] if job is None else [left_file.c.job == job]))
        return self._values(LeftFile, query.order_by(left_file.c.job, left_file.c.since, left_file.c.name))

    def counts_of_waiting_files(self) -> tuple[dict[str, int], dict[str, int]]:
        """How many files are held as a whole, and how many are left, by job."""
        held = select(held_file.c.job, func.count()).where(held_file.c.over_at == "").group_by(held_file.c.job)
        left = select(left_file.c.job, func.count()).group_by(left_file.c.job)
        return dict(map(tuple, self._rows(held))), dict(map(tuple, self._rows(left)))

    def name_holder(self, *, place: str, name: str) -> str:
        """The sha256 of the content that answers under a name are for at a place; "" if that is not known."""
        query = select(result_name.c.sha256).where(result_name.c.place == place, result_name.c.name == name)
        return next(iter(self._column(query)), "")

    def hold_name(self, *, place: str, name: str, sha256: str) -> None:
        """From now on answers under a name are for this content."""
        with self._write() as connection:
            new = insert_into(connection, result_name).values(place=place, name=name, sha256=sha256)
            known = new.on_conflict_do_update(index_elements=["place", "name"], set_={"sha256": sha256})
            connection.execute(known)


class Runs(Repository):
    """Runs of every kind; `runs` shows them."""

    def start(self, run_id: str, *, job: str, kind: str, business_date: str, now: str) -> None:
        """A run begins."""
        about = {"job": job, "kind": kind, "business_date": business_date}
        self._execute(run.insert().values(about | {"id": run_id, "state": "running", "started_at": now}))

    def resume(self, run_id: str) -> None:
        """A run that stopped early is under way again; its summary stays until it ends."""
        again = {"state": "running", "stopped": "", "exit_code": None, "finished_at": ""}
        self._execute(run.update().where(run.c.id == run_id).values(again))

    def finish(self, run_id: str, *, exit_code: int, summary: Mapping[str, Any], now: str, stopped: str = "") -> None:
        """A run is over; `summary` is what `runs` shows (counts by fate, by class …)."""
        end = {"state": "stopped" if stopped else "finished", "stopped": stopped, "exit_code": exit_code}
        end |= {"summary": dump(dict(summary)), "finished_at": now}
        self._execute(run.update().where(run.c.id == run_id).values(end))

    def keep_notes(self, run_id: str, notes: Sequence[Issue]) -> None:
        """What a run had to say besides the answers of its files; what it said before is replaced."""
        lines = [
            {"run_id": run_id, "n": n, "code": note.code, "values": note.values} for n, note in enumerate(notes, 1)
        ]
        with self._write(counts=False) as connection:
            connection.execute(run_note.delete().where(run_note.c.run_id == run_id))
            insert_all(connection, run_note, lines)

    def notes_of(self, run_id: str) -> tuple[Issue, ...]:
        """What a run had to say."""
        query = select(run_note.c.code, run_note.c["values"]).where(run_note.c.run_id == run_id)
        return read_notes(tuple(each) for each in self._rows(query.order_by(run_note.c.n)))

    def interrupted(self, *, job: str, business_date: str) -> list[StoredRun]:
        """Push runs of a job for a day that died or stopped early; call only while holding the sending lock.

        Not those of another address of the service: what they planned goes there, or nowhere.
        """
        elsewhere = (
            select(file.c.run_id)
            .join(row, row.c.file_id == file.c.id)
            .join(document, row.c.document_id == document.c.id)
            .where(file.c.run_id == run.c.id, document.c.account != self.account)
        )
        pushed = select(run).where(run.c.job == job, run.c.business_date == business_date, run.c.kind == "push")
        pushed = pushed.where(run.c.state != "finished")
        return self._values(StoredRun, pushed.where(~elsewhere.exists()).order_by(run.c.started_at))

    def latest(self, *, limit: int = 50, job: str | None = None, kind: str | None = None) -> list[StoredRun]:
        """The newest runs first, all of them, or those of a job or kind."""
        query = select(run) if job is None else select(run).where(run.c.job == job)
        query = query if kind is None else query.where(run.c.kind == kind)
        return self._values(StoredRun, query.order_by(run.c.started_at.desc(), run.c.id.desc()).limit(limit))

    def runs_of(self, business_date: str) -> list[StoredRun]:
        """Every run for a business date (ISO), oldest first."""
        query = select(run).where(run.c.business_date == business_date)
        return self._values(StoredRun, query.order_by(run.c.started_at, run.c.id))

    def get(self, run_id: str) -> StoredRun | None:
        """One run, None if there is none of that name."""
        return self._value(StoredRun, select(run).where(run.c.id == run_id))


def _arrival(line: RowMapping) -> FileArrival:
    origin = json.loads(line["origin"])
    return FileArrival(
        name=line["name"],
        path=str(origin.get("path", "")),
        size=line["size"],
        sha256=line["sha256"],
        rows_read=line["rows_read"],
        rule=rule_of(line["code"]),
        at=datetime.fromisoformat(line["received_at"]),
        first_at=datetime.fromisoformat(line["first_at"]),
        business_date=str(origin.get("business_date", "")),
        identity=identity_of(str(origin.get("path", "")), line["size"], origin.get("modified")),
    )
