"""Where a SQLite ledger was used last: whoever finds it elsewhere may have a copy, while the original goes on sending.

A copy is another file (another inode) under another path or on another machine. A container whose host name is new each
night finds the same file on its volume, and a backup that is put back has the old path: neither is taken for a copy.
"""

import json
import socket
from dataclasses import asdict, dataclass

from sqlalchemy import select

from logistics_batch.ledger.connection import Connected, dump, sqlite_path
from logistics_batch.ledger.schema import meta

_NAME = "home"


@dataclass(frozen=True, slots=True)
class Place:
    """A ledger's file: on which machine, where, and which file it is there."""

    host: str
    path: str
    inode: int


class Home(Connected):
    """The place that the ledger itself remembers."""

    def moved_from(self) -> Place | None:
        """Where it was used last, if this may be a copy of that; None if it is the same, or no SQLite ledger."""
        here = self._here()
        with self._read() as connection:
            stored = connection.execute(select(meta.c.value).where(meta.c.name == _NAME)).scalar()
        if here is None or stored is None:
            return None
        known = Place(**json.loads(stored))
        elsewhere = (known.host, known.path) != (here.host, here.path)
        return known if elsewhere and known.inode != here.inode else None

    def settle_in(self) -> None:
        """From now on this is its place."""
        here = self._here()
        if here is None:
            return
        value = dump(asdict(here))
        with self._read() as connection:
            if connection.execute(select(meta.c.value).where(meta.c.name == _NAME)).scalar() == value:
                return
        with self._write(counts=False) as connection:
            if not connection.execute(meta.update().where(meta.c.name == _NAME).values(value=value)).rowcount:
                connection.execute(meta.insert().values(name=_NAME, value=value))

    def _here(self) -> Place | None:
        path = sqlite_path(self.url)
        if path is None or not path.exists():
            return None
        found = path.resolve()
        return Place(socket.gethostname(), str(found), found.stat().st_ino)
