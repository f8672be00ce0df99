"""Files that wait for a person without a document of theirs in the ledger: held as a whole, or left where they lie."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import RowMapping, func, select

from logistics_batch.ledger.connection import Connected
from logistics_batch.ledger.schema import attempt, document, file, held_file, left_file, row
from logistics_batch.model.issue import Issue


@dataclass(frozen=True, slots=True)
class HeldFile:
    """A file that was held as a whole and waits: `id` is its arrival in `run`; why it waits."""

    id: int
    run: str
    job: str
    name: str
    stem: str
    since: str
    why: Issue

    @property
    def rule(self) -> str:
        """Why, as one word."""
        return self.why.rule

    @property
    def reason(self) -> str:
        """Why, in words."""
        return self.why.reason

    @property
    def remedy(self) -> str:
        """What to do about it."""
        return self.why.fix


@dataclass(frozen=True, slots=True)
class HeldNow:
    """A file that a run holds as a whole. identity: what makes it this one; if it still lies there it is the same."""

    file_id: int
    run: str
    job: str
    stem: str
    identity: str


@dataclass(frozen=True, slots=True)
class LeftFile:
    """A file that lies where a job's files are dropped and is not taken, why, and since when that is seen."""

    job: str
    name: str
    why: Issue
    since: str


class HeldFiles(Connected):
    """Written at the end of each run; a person may close what is held."""

    def hold_file(self, held: HeldNow, *, now: str) -> bool:
        """A file is held as a whole; an earlier one with the same answers is replaced by it. False: known already."""
        with self._write() as connection:
            known = select(held_file.c.file_id).where(
                (held_file.c.file_id == held.file_id)
                | ((held_file.c.job == held.job) & (held_file.c.identity == held.identity))
            )
            if connection.execute(known.limit(1)).first() is not None:
                return False
            mine = (held_file.c.job == held.job) & (held_file.c.stem == held.stem) & (held_file.c.over_at == "")
            said = {"over_at": now, "over_by": "", "over_why": "A newer file of that name came and is held, too."}
            connection.execute(held_file.update().where(mine).values(said))
            connection.execute(
                held_file.insert().values(
                    file_id=held.file_id,
                    run_id=held.run,
                    job=held.job,
                    stem=held.stem,
                    identity=held.identity,
                    since=now,
                )
            )
            return True

    def close_held_file(self, file_id: int, *, now: str, why: str, who: str = "") -> bool:
        """What was held is done with. who: the person that says so, "" if it was read. False: nothing waits there."""
        waits = (held_file.c.file_id == file_id) & (held_file.c.over_at == "")
        with self._write() as connection:
            said = {"over_at": now, "over_by": who, "over_why": why}
            return connection.execute(held_file.update().where(waits).values(said)).rowcount > 0

    def held_files(self, *, job: str | None = None) -> list[HeldFile]:
        """The files that wait, oldest first."""
        query = select(held_file, *file.c["name", "code", "values"])
        query = query.join(file, held_file.c.file_id == file.c.id).where(held_file.c.over_at == "")
        if job is not None:
            query = query.where(held_file.c.job == job)
        with self._read() as connection:
            return [_held(line) for line in connection.execute(query.order_by(held_file.c.file_id)).mappings()]

    def open_documents_of(self, run: str) -> set[int]:
        """The numbers of the documents in doubt or held that files of a run ask for, or that it tried to send."""
        asked = select(row.c.document_id).join(file, row.c.file_id == file.c.id).where(file.c.run_id == run)
        tried = select(attempt.c.document_id).where(attempt.c.run_id == run)
        mine = document.c.id.in_(asked.where(row.c.document_id.is_not(None))) | document.c.id.in_(tried)
        query = select(document.c.id).where(
            document.c.account == self.account, document.c.state.in_(("held", "in_doubt")), mine
        )
        with self._read() as connection:
            return set(connection.execute(query).scalars())

    def note_left_files(self, job: str, left: Mapping[str, tuple[str, Issue]], *, now: str) -> None:
        """What lies there and is not taken, by a digest of its path: name and reason; what is not named is gone."""
        mine = left_file.c.job == job
        with self._read() as connection:
            known = {
                line.identity: Issue(line.code, values=line.values)
                for line in connection.execute(select(left_file).where(mine))
            }
        if {identity: why for identity, (_, why) in left.items()} == known:
            return
        with self._write(counts=False) as connection:
            for identity in known.keys() - left.keys():
                connection.execute(left_file.delete().where(mine, left_file.c.identity == identity))
            for identity, (name, why) in left.items():
                if identity not in known:
                    values = {
                        "job": job,
                        "identity": identity,
                        "name": name,
                        "code": why.code,
                        "values": why.values,
                        "since": now,
                    }
                    connection.execute(left_file.insert().values(values))
                elif known[identity] != why:
                    connection.execute(
                        left_file.update()
                        .where(mine, left_file.c.identity == identity)
                        .values(code=why.code, values=why.values)
                    )

    def left_files(self, *, job: str | None = None) -> list[LeftFile]:
        """What lies there and is not taken, by job, the longest first."""
        query = select(left_file).order_by(left_file.c.job, left_file.c.since, left_file.c.name)
        if job is not None:
            query = query.where(left_file.c.job == job)
        with self._read() as connection:
            return [
                LeftFile(line.job, line.name, Issue(line.code, values=line.values), line.since)
                for line in connection.execute(query)
            ]

    def counts_of_waiting_files(self) -> tuple[dict[str, int], dict[str, int]]:
        """How many files are held as a whole, and how many are left, by job."""
        held = select(held_file.c.job, func.count()).where(held_file.c.over_at == "").group_by(held_file.c.job)
        left = select(left_file.c.job, func.count()).group_by(left_file.c.job)
        with self._read() as connection:
            found: Sequence[dict[str, int]] = [
                {line[0]: int(line[1]) for line in connection.execute(query)} for query in (held, left)
            ]
            return found[0], found[1]


def _held(line: RowMapping) -> HeldFile:
    why = Issue(line["code"], values=line["values"])
    names = ("job", "name", "stem", "since")
    return HeldFile(id=line["file_id"], run=line["run_id"], why=why, **{name: line[name] for name in names})
