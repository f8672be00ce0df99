"""Planned times of jobs: each is claimed once, by whomever, and it is known how it ended."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from sqlalchemy import Connection, Row, select

from logistics_batch.ledger.bulk import insert_into
from logistics_batch.ledger.connection import Repository
from logistics_batch.ledger.records import StoredSlot, stored
from logistics_batch.ledger.schema import slot
from logistics_batch.processes import is_gone, this_process

RAN_THROUGH = (0, 3, 4)
"""The exit codes of a run that came to its end: what others wait for was done, as far as the files allowed."""

_SILENT_FOR = timedelta(minutes=5)  # a claimer that cannot be seen and says nothing for so long is gone


class Slots(Repository):
    """Claims of planned times, and their ends."""

    def claim(self, job: str, name: str, *, now: str, business_date: str = "") -> bool:
        """Take one planned time of a job; False if it was taken before, by whomever.

        One whose claimer died before its run ended can be taken again.
        """
        mine = {"business_date": business_date, "state": "claimed", "owner": this_process(), "alive_at": now}
        with self._write() as connection:
            found = connection.execute(
                select(slot).where(slot.c.job == job, slot.c.slot == name).with_for_update()
            ).first()
            if found is None:
                return _insert(connection, {"job": job, "slot": name, "claimed_at": now} | mine)
            if not _is_abandoned(found, now):
                return False
            connection.execute(
                slot.update().where(slot.c.job == job, slot.c.slot == name).values(**mine, ended_at="", exit_code=None)
            )
            return True

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
        """The run for a planned time is over."""
        mine = slot.update().where(slot.c.job == job, slot.c.slot == name)
        self._execute(mine.values(state="ended", exit_code=exit_code, ended_at=now))

    def note_round(self, job: str, business_date: str, *, exit_code: int, now: str) -> None:
        """A run that nobody planned came to its end; for whoever runs after it, it is one as any other."""
        name = {"job": job, "slot": f"by hand {now}", "claimed_at": now, "business_date": business_date}
        with self._write(counts=False) as connection:
            _insert(connection, name | {"state": "ended", "exit_code": exit_code, "ended_at": now})

    def renew(self, *, now: str) -> None:
        """Say that this process still runs what it claimed."""
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
        return [stored(StoredSlot, line._mapping) for line in self._rows(claimed) if _is_abandoned(line, now)]

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


def _is_abandoned(found: "Row[tuple[object, ...]]", now: str) -> bool:
    """Whether who claimed a slot is gone: seen to be, or silent for long where that cannot be seen."""
    if found.state != "claimed" or found.owner == this_process():
        return False
    gone = is_gone(str(found.owner))
    if gone is None:
        return datetime.fromisoformat(now) - datetime.fromisoformat(found.alive_at) > _SILENT_FOR
    return gone


def _insert(connection: Connection, values: Mapping[str, object]) -> bool:
    statement = insert_into(connection, slot).values(dict(values)).on_conflict_do_nothing().returning(slot.c.job)
    return connection.execute(statement).first() is not None
