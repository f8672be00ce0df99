"""Under which names answers lie at each place, and what was written last in those that people correct."""

import re
from collections.abc import Callable, Collection

from sqlalchemy import Connection, select

from logistics_batch.ledger.connection import Connected
from logistics_batch.ledger.schema import result_name

_DIGITS = 8  # of a content's hash, in the names of results


def _without_digits(name: str) -> str:
    """The name without the digits of a content at its end; "" if it ends otherwise."""
    return name[: -_DIGITS - 1] if re.fullmatch(rf".+\.[0-9a-f]{{{_DIGITS}}}", name, re.DOTALL) else ""


def _names_within(name: str, sha256: str) -> list[str]:
    """Every name that a content's results may have: as it is, and without the digits of earlier rounds."""
    names = [name]
    while shorter := _without_digits(names[-1]):
        names.append(shorter)
    return [*names, *(f"{each}.{sha256[:_DIGITS]}" for each in names)]


def _stem(connection: Connection, *, place: str, name: str, sha256: str, others: Collection[str]) -> tuple[str, bool]:
    """The stem that a content has at a place, or may have from now on, and whether it is to be written down.

    others: names that somebody else uses there.
    """
    names = result_name.c.name.in_(_names_within(name, sha256))
    found = connection.execute(select(result_name).where(result_name.c.place == place, names))
    taken = dict.fromkeys(others, "") | {each.name: each.sha256 for each in found}
    plain = name
    while (shorter := _without_digits(plain)) and taken.get(plain, "").startswith(plain[-_DIGITS:]):
        plain = shorter
    digits = sha256[:_DIGITS]
    for candidate in (name, f"{name}.{digits}", plain, f"{plain}.{digits}"):
        if taken.get(candidate) == sha256:
            return candidate, False
    for candidate in (plain, f"{plain}.{digits}"):
        if candidate not in taken:
            return candidate, True
    return f"{plain}.{sha256}", False


def _last_written(stem: str, ending: str) -> str:
    """The name of a record of what was written; no stem holds a slash, so that it is never taken for one."""
    return f"{stem}/{ending}"


class ResultNames(Connected):
    """The names that were given away, and the digests of fix files."""

    def result_stem(
        self,
        *,
        place: str,
        name: str,
        sha256: str,
        is_free: Callable[[str], bool] = lambda stem: True,  # noqa: ARG005
    ) -> str:
        """The stem that this content's result files have at a place: `name`, or `name.<sha8>` if that is taken.

        A name that was made so for an earlier round is not made longer: the digits of this content take their place.
        is_free: whether nobody else's answers lie there under a stem that the ledger has not given away yet; asked
        before it is given to this content.
        """
        others: set[str] = set()
        while True:
            with self._read() as connection:
                stem, is_new = _stem(connection, place=place, name=name, sha256=sha256, others=others)
            if not is_new:  # nearly always: it has its name since it was acknowledged
                return stem
            if is_free(stem):
                break
            others.add(stem)
        with self._write() as connection:
            stem, is_new = _stem(connection, place=place, name=name, sha256=sha256, others=others)
            if is_new:
                connection.execute(result_name.insert().values(place=place, name=stem, sha256=sha256))
        return stem

    def last_written(self, *, place: str, stem: str, ending: str) -> str:
        """The sha256 of what was last written under a name that people correct; "" if that is not known."""
        record = (result_name.c.place == place) & (result_name.c.name == _last_written(stem, ending))
        with self._read() as connection:
            return str(connection.execute(select(result_name.c.sha256).where(record)).scalar() or "")

    def keep_last_written(self, *, place: str, stem: str, ending: str, sha256: str) -> None:
        """Remember what was written under a name that people correct."""
        known = {"place": place, "name": _last_written(stem, ending)}
        record = (result_name.c.place == known["place"]) & (result_name.c.name == known["name"])
        with self._write() as connection:
            changed = connection.execute(result_name.update().where(record).values(sha256=sha256))
            if not changed.rowcount:
                connection.execute(result_name.insert().values(**known, sha256=sha256))
