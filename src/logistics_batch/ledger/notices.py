"""What a person should know: noticed once, however often it is seen; told to each address; and that it is over."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass

from sqlalchemy import ColumnElement, func, select

from logistics_batch.ledger.connection import Repository, dump
from logistics_batch.ledger.records import StoredNotice, stored
from logistics_batch.ledger.schema import notice


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
    """Written in short transactions of their own, without the lock of a sending run."""

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
            connection.execute(notice.insert().values(asdict(new) | {"wanted": wanted} | since))
            return True

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
        return [stored(StoredNotice, line._mapping) for line in found]

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
