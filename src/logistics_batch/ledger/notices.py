"""What a person should know: noticed once, however often it is seen; told to each address; and that it is over."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import Row, func, select

from logistics_batch.ledger.connection import Repository, dump
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


@dataclass(frozen=True, slots=True)
class StoredNotice:
    """A notice as the ledger holds it; over_at is "" while it lasts."""

    id: int
    key: str
    kind: str
    job: str
    business_date: str
    wanted: bool
    owed: bool
    since: str
    last_seen: str
    seen: int
    title: str
    text: str
    over_at: str
    over_text: str
    told: dict[str, str]
    over_told: dict[str, str]
    tries: int
    next_try_at: str


class Notices(Repository):
    """Written in short transactions of their own, without the lock of a sending run."""

    def note(self, new: NewNotice, *, now: str, again_if_told_before: str = "") -> bool:
        """Keep what was noticed; False if it is known already, and then only counted, with the newest text.

        again_if_told_before: whoever was last told of it before that moment is told again that it lasts.
        """
        open_one = (notice.c.key == new.key) & (notice.c.over_at == "")
        with self._write(counts=False) as connection:
            found = connection.execute(select(notice).where(open_one).with_for_update()).first()
            if found is not None:
                words: dict[str, object] = {"text": new.text}
                told = max(json.loads(found.told).values(), default="")
                if found.wanted and told and not found.owed and told < again_if_told_before:
                    words |= {"title": new.title, "business_date": new.business_date}
                    words |= {"owed": 1, "told": "{}", "tries": 0, "next_try_at": ""}
                connection.execute(
                    notice.update().where(open_one).values(seen=notice.c.seen + 1, last_seen=now, **words)
                )
                return False
            values = {name: getattr(new, name) for name in NewNotice.__dataclass_fields__}
            empty = {"over_at": "", "over_text": "", "told": "{}", "over_told": "{}", "tries": 0, "next_try_at": ""}
            wanted = int(new.wanted)
            connection.execute(
                notice.insert().values(
                    **values | empty | {"wanted": wanted, "owed": wanted, "since": now, "last_seen": now, "seen": 1}
                )
            )
            return True

    def over(self, key: str, text: str, *, now: str) -> bool:
        """What was noticed is over; False if it was not, or not noticed."""
        open_one = (notice.c.key == key) & (notice.c.over_at == "")
        with self._write(counts=False) as connection:
            changed = connection.execute(
                notice.update()
                .where(open_one)
                .values(over_at=now, over_text=text, owed=notice.c.wanted, tries=0, next_try_at="")
            )
            return changed.rowcount > 0

    def open(self, *, job: str | None = None) -> list[StoredNotice]:
        """What still lasts, oldest first."""
        query = select(notice).where(notice.c.over_at == "").order_by(notice.c.id)
        if job is not None:
            query = query.where(notice.c.job == job)
        with self._read() as connection:
            return [_stored(line) for line in connection.execute(query)]

    def notices_of(self, key: str) -> list[StoredNotice]:
        """Every notice that ever had this key, oldest first."""
        with self._read() as connection:
            found = connection.execute(select(notice).where(notice.c.key == key).order_by(notice.c.id))
            return [_stored(line) for line in found]

    def notices_since(self, moment: str) -> list[StoredNotice]:
        """What was noticed or was over since a moment of the same zone, oldest first."""
        recent = (notice.c.since >= moment) | (notice.c.over_at >= moment)
        with self._read() as connection:
            return [_stored(line) for line in connection.execute(select(notice).where(recent).order_by(notice.c.id))]

    def owed(self) -> list[StoredNotice]:
        """The notices of which somebody has still to be told, oldest first."""
        with self._read() as connection:
            found = connection.execute(select(notice).where(notice.c.owed == 1).order_by(notice.c.id))
            return [_stored(line) for line in found]

    def take_owed(self, *, now: str, until: str) -> list[StoredNotice]:
        """Those of them that are due, for one teller: until that moment no other process gets them, too."""
        due = (notice.c.owed == 1) & (notice.c.next_try_at <= now)
        with self._read() as connection:
            if connection.execute(select(notice.c.id).where(due).limit(1)).first() is None:
                return []
        with self._write(counts=False) as connection:
            found = connection.execute(select(notice).where(due).order_by(notice.c.id).with_for_update()).all()
            connection.execute(notice.update().where(due).values(next_try_at=until))
            return [_stored(line) for line in found]

    def note_telling(self, number: int, *, told: Mapping[str, str], over: bool, next_try_at: str) -> None:
        """Who was told by now of a notice, or (`over`) that it is over.

        told: when, by the address's digest. next_try_at: when those who could not be told are tried again; "" if all
        were.
        """
        column = notice.c.over_told if over else notice.c.told
        with self._write(counts=False) as connection:
            values = {column: dump(dict(told)), notice.c.owed: int(bool(next_try_at))}
            tries = notice.c.tries + 1 if next_try_at else 0
            connection.execute(
                notice.update()
                .where(notice.c.id == number, (notice.c.over_at != "") if over else (notice.c.over_at == ""))
                .values(values | {notice.c.next_try_at: next_try_at, notice.c.tries: tries})
            )

    def counts(self) -> dict[tuple[str, str], int]:
        """How many notices last, by job and kind."""
        query = (
            select(notice.c.job, notice.c.kind, func.count())
            .where(notice.c.over_at == "")
            .group_by(notice.c.job, notice.c.kind)
        )
        with self._read() as connection:
            return {(line[0], line[1]): int(line[2]) for line in connection.execute(query)}


def _stored(line: "Row[tuple[object, ...]]") -> StoredNotice:
    values = dict(line._mapping)
    return StoredNotice(
        **values
        | {
            "wanted": bool(values["wanted"]),
            "owed": bool(values["owed"]),
            "told": json.loads(values["told"]),
            "over_told": json.loads(values["over_told"]),
        }
    )
