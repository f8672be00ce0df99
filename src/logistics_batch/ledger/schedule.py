"""What the scheduler keeps: planned times of jobs, each claimed once by whomever, and notices to people."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, func, select

from logistics_batch.errors import LedgerRefused
from logistics_batch.ledger.bulk import insert_into
from logistics_batch.ledger.connection import Repository, dump
from logistics_batch.ledger.lanes import keepers
from logistics_batch.ledger.records import StoredNotice, StoredSlot, stored
from logistics_batch.ledger.schema import notice, slot
from logistics_batch.processes import is_gone, this_process

RAN_THROUGH = (0, 3, 4)
"""The exit codes of a run that came to its end: what others wait for was done, as far as the files allowed."""

_SILENT_FOR = timedelta(minutes=5)  # with SQLite, a claimer that cannot be seen and says nothing for so long is gone


class ClaimLost(LedgerRefused):
    """The planned time that a run is for was taken over by another program."""


class Slots(Repository):
    """Claims of planned times, and their ends; any scheduler that shares the ledger may claim."""

    def claim(self, job: str, name: str, *, now: str, business_date: str = "", again: bool = False) -> bool:
        """Take one planned time of a job; False if it was taken before, by whomever, or another program runs the job.

        One whose claimer died before its run ended can be taken again. again: so can one of this program's own.
        """
        mine = {"business_date": business_date, "state": "claimed", "owner": this_process(), "alive_at": now}
        of_job = slot.c.job == job
        with self._write() as connection:
            # Since when its schedule is known: a lock, so that two who claim two times of it see each other's.
            known = select(slot.c.slot).where(of_job, slot.c.state == "seen").order_by(slot.c.slot).with_for_update()
            connection.execute(known).all()
            found = connection.execute(select(slot).where(of_job, slot.c.slot == name).with_for_update()).first()
            running = select(slot).where(of_job, slot.c.slot != name, slot.c.state == "claimed", slot.c.ended_at == "")
            elsewhere = [each for each in connection.execute(running) if each.owner != this_process()]
            if job and len(_abandoned(connection, elsewhere, now)) < len(elsewhere):
                return False
            if found is None:
                return _insert(connection, {"job": job, "slot": name, "claimed_at": now} | mine)
            is_own = again and found.state == "claimed" and found.owner == this_process()
            if not is_own and not _abandoned(connection, [found], now):
                return False
            this = slot.update().where(of_job, slot.c.slot == name)
            connection.execute(this.values(**mine, ended_at="", exit_code=None))
            return True

    def holds(self, job: str, name: str) -> bool:
        """Whether a planned time is this program's, and not ended."""
        return self._exists(select(slot.c.job).where(*_own(job, name)))

    def require_claim(self, job: str, name: str) -> None:
        """Raises ClaimLost if another program goes on with a planned time that this one had claimed.

        Who waited for the sending lock may have slept meanwhile, so that its claim is looked at once it has the lock.
        """
        if not self.holds(job, name):
            raise ClaimLost(
                f"Another program goes on with {job} for {name}: this one was not heard of for a while.",
                remedy="Nothing is to be done. See what suspended this machine, or kept it from PostgreSQL.",
            )

    def rest(self, job: str, name: str, *, now: str) -> None:
        """The run for a planned time stopped early, and goes on later: meanwhile other times of the job may run."""
        self._execute(slot.update().where(*_own(job, name)).values(ended_at=now))

    def note_lost_days(self, job: str, days: Sequence[str], *, now: str) -> list[str]:
        """Write down that a job did not run for these business dates; gives those not known before."""
        with self._write(counts=False) as connection:
            return [
                day
                for day in days
                if _insert(connection, {"job": job, "slot": f"lost {day}", "claimed_at": now, "state": "lost"})
            ]

    def days_run(self, job: str, *, since: str) -> set[str]:
        """The business dates, from that one on, for which a run of a job at least began."""
        return set(self._column(select(slot.c.business_date).where(slot.c.job == job, slot.c.business_date >= since)))

    def end(self, job: str, name: str, *, exit_code: int, now: str) -> None:
        """The run for a planned time is over, if that was not taken over meanwhile."""
        mine = slot.update().where(*_own(job, name))
        self._execute(mine.values(state="ended", exit_code=exit_code, ended_at=now))

    def note_round(self, job: str, business_date: str, *, exit_code: int, now: str) -> None:
        """A run that nobody planned came to its end; for whoever runs after it, it is one as any other."""
        name = {"job": job, "slot": f"by hand {now}", "claimed_at": now, "business_date": business_date}
        with self._write(counts=False) as connection:
            _insert(connection, name | {"state": "ended", "exit_code": exit_code, "ended_at": now})

    def renew(self, *, now: str) -> None:
        """Say that this process still runs what it claimed; on PostgreSQL its lease says that."""
        mine = slot.update().where(slot.c.state == "claimed", slot.c.owner == this_process())
        self._execute(mine.values(alive_at=now), counts=False)

    def schedule_seen(self, job: str, schedule: str, *, now: str) -> str:
        """Since when this schedule of a job is known: what was due before was not missed.

        schedule: a short text that is another one for another schedule.
        """
        name = f"since {schedule}"
        with self._write(counts=False) as connection:
            _insert(connection, {"job": job, "slot": name, "claimed_at": now, "state": "seen"})
            known = select(slot.c.claimed_at).where(slot.c.job == job, slot.c.slot == name)
            return str(connection.execute(known).scalar_one())

    def of_job(self, job: str, names: Sequence[str]) -> dict[str, StoredSlot]:
        """Those of these planned times that are known, by name."""
        query = select(slot).where(slot.c.job == job, self._among(slot.c.slot, names))
        return {each.slot: each for each in self._values(StoredSlot, query)}

    def abandoned(self, job: str, *, now: str) -> list[StoredSlot]:
        """Claimed times whose claimer died before the run ended, oldest first."""
        claimed = select(slot).where(slot.c.job == job, slot.c.state == "claimed").order_by(slot.c.business_date)
        with self._read() as connection:
            return stored(StoredSlot, _abandoned(connection, connection.execute(claimed).all(), now))

    def claims_of_others(self, *, now: str) -> tuple[set[str], set[str]]:
        """The jobs of which a claimer died before its run ended, and those that another program runs now."""
        with self._read() as connection:
            found = connection.execute(select(slot).where(slot.c.state == "claimed", slot.c.job != "")).all()
            left = {each.job for each in _abandoned(connection, found, now)}
        mine = this_process()
        return left, {each.job for each in found if each.owner != mine and not each.ended_at} - left

    def last_begun(self, *, since: str) -> dict[str, str]:
        """When the last run of each job for a planned time began, if not before that moment."""
        begun = slot.c.state.in_(["claimed", "ended"]), slot.c.claimed_at >= since
        query = select(slot.c.job, func.max(slot.c.claimed_at)).where(*begun).group_by(slot.c.job)
        return {each.job: each[1] for each in self._rows(query)}

    def under_way(self) -> list[StoredSlot]:
        """Planned times whose run has not ended, of all jobs, also those that wait to go on."""
        return self._values(StoredSlot, select(slot).where(slot.c.state == "claimed", slot.c.job != ""))

    def rounds_of(self, job: str, business_date: str) -> int:
        """How many runs of a job for that day came to their end, also with rows that were refused or are held."""
        return sum(each.exit_code in RAN_THROUGH for each in self.day_slots(job, business_date))

    def recent_days(self, job: str, *, since: str) -> list[str]:
        """The business dates for which runs of a job came to their end on that day (ISO) or later; oldest first."""
        ended = slot.c.ended_at >= since, slot.c.exit_code.in_(RAN_THROUGH)
        query = select(slot.c.business_date).where(slot.c.job == job, *ended).distinct()
        return self._column(query.order_by(slot.c.business_date))

    def day_slots(self, job: str, business_date: str) -> list[StoredSlot]:
        """All planned times of a job for one day that are known."""
        query = select(slot).where(slot.c.job == job, slot.c.business_date == business_date)
        return self._values(StoredSlot, query.order_by(slot.c.slot))


def _own(job: str, name: str) -> tuple[ColumnElement[bool], ...]:
    return slot.c.job == job, slot.c.slot == name, slot.c.state == "claimed", slot.c.owner == this_process()


def _abandoned(connection: Connection, slots: Sequence[Row[Any]], now: str) -> list[Row[Any]]:
    """Those of some slots whose claimer is gone: seen to be, or silent where that cannot be seen."""
    claimed = [each for each in slots if each.state == "claimed" and each.owner != this_process()]
    is_shared = connection.dialect.name != "sqlite"
    heard = keepers(connection) if is_shared and claimed else set()

    def is_silent(each: Row[Any]) -> bool:
        if is_shared:
            return each.owner not in heard
        return datetime.fromisoformat(now) - datetime.fromisoformat(each.alive_at) > _SILENT_FOR

    seen = ((each, is_gone(each.owner)) for each in claimed)
    return [each for each, gone in seen if gone or (gone is None and is_silent(each))]


def _insert(connection: Connection, values: Mapping[str, object]) -> bool:
    statement = insert_into(connection, slot).values(dict(values)).on_conflict_do_nothing().returning(slot.c.job)
    return connection.execute(statement).first() is not None


@dataclass(frozen=True, slots=True)
class NewNotice:
    """Something that was noticed.

    key: what makes it this one and no other; while it lasts there is one notice of a key. kind: as jobs name it in
    `notify`. wanted: whether it is sent by itself. title: one line. text: cause, counts and what to do.
    """

    key: str
    kind: str
    job: str
    title: str
    text: str
    business_date: str = ""
    wanted: bool = True


class Notices(Repository):
    """What a person should know: noticed once, however often it is seen; told to each address; and that it is over.

    Written in short transactions, without the lock of a sending run.
    """

    def note(self, new: NewNotice, *, now: str, again_if_told_before: str = "") -> bool:
        """Keep what was noticed; False if it is known already, and then only counted.

        It has its newest words, but for one that was told: it keeps those by which people know it until it is told
        again. again_if_told_before: whoever was last told of it before that moment is told again that it lasts.
        """
        open_one = (notice.c.key == new.key) & (notice.c.over_at == "")
        with self._write(counts=False) as connection:
            found = connection.execute(select(notice).where(open_one).with_for_update()).first()
            if found is not None:
                told = max(json.loads(found.told).values(), default="")
                words: dict[str, object] = {}
                if not told or told < again_if_told_before:
                    words |= {"title": new.title, "business_date": new.business_date, "text": new.text}
                if found.wanted and told and not found.owed and told < again_if_told_before:
                    words |= {"owed": 1, "told": "{}", "tries": 0, "next_try_at": ""}
                connection.execute(
                    notice.update().where(open_one).values(seen=notice.c.seen + 1, last_seen=now, **words)
                )
                return False
            wanted = int(new.wanted)
            since = {"owed": wanted, "since": now, "last_seen": now}
            put = insert_into(connection, notice).values(asdict(new) | {"wanted": wanted} | since)
            # Another program may have seen it at the same moment.
            return connection.execute(put.on_conflict_do_nothing().returning(notice.c.id)).first() is not None

    def over(self, key: str, text: str, *, now: str) -> bool:
        """What was noticed is over; False if it was not, or not noticed."""
        open_one = (notice.c.key == key) & (notice.c.over_at == "")
        over = {"over_at": now, "over_text": text, "owed": notice.c.wanted, "tries": 0, "next_try_at": ""}
        return self._execute(notice.update().where(open_one).values(over), counts=False) > 0

    def open(self, *, job: str | None = None) -> list[StoredNotice]:
        """What still lasts, oldest first."""
        mine = () if job is None else (notice.c.job == job,)
        return self._where(notice.c.over_at == "", *mine)

    def notices_of(self, key: str) -> list[StoredNotice]:
        """Every notice that ever had this key, oldest first."""
        return self._where(notice.c.key == key)

    def notices_since(self, moment: str) -> list[StoredNotice]:
        """What was noticed or was over since a moment of the same zone, oldest first."""
        return self._where((notice.c.since >= moment) | (notice.c.over_at >= moment))

    def owed(self) -> list[StoredNotice]:
        """The notices of which somebody has still to be told, oldest first."""
        return self._where(notice.c.owed == 1)

    def _where(self, *wanted: ColumnElement[bool]) -> list[StoredNotice]:
        return self._values(StoredNotice, select(notice).where(*wanted).order_by(notice.c.id))

    def take_owed(self, *, now: str, until: str) -> list[StoredNotice]:
        """Those of them that are due, for one teller: until that moment no other process gets them, too."""
        due = (notice.c.owed == 1) & (notice.c.next_try_at <= now)
        if not self._exists(select(notice.c.id).where(due)):
            return []
        with self._write(counts=False) as connection:
            found = connection.execute(select(notice).where(due).order_by(notice.c.id).with_for_update()).all()
            connection.execute(notice.update().where(due).values(next_try_at=until))
        return stored(StoredNotice, found)

    def note_telling(self, number: int, *, told: Mapping[str, str], over: bool, next_try_at: str) -> None:
        """Who was told by now of a notice, or (`over`) that it is over.

        told: when, by the address's digest. next_try_at: when those who could not be told are tried again; "" if all
        were.
        """
        column = notice.c.over_told if over else notice.c.told
        is_over = (notice.c.over_at != "") if over else (notice.c.over_at == "")
        values = {column: dump(dict(told)), notice.c.owed: int(bool(next_try_at)), notice.c.next_try_at: next_try_at}
        tries = {notice.c.tries: notice.c.tries + 1 if next_try_at else 0}
        self._execute(notice.update().where(notice.c.id == number, is_over).values(values | tries), counts=False)

    def counts(self) -> dict[tuple[str, str], int]:
        """How many notices last, by job and kind."""
        query = select(notice.c.job, notice.c.kind, func.count()).where(notice.c.over_at == "")
        found = self._rows(query.group_by(notice.c.job, notice.c.kind))
        return {(job, kind): int(number) for job, kind, number in found}
