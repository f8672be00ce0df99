"""Which arrivals were earlier versions of a file: those that lay in the same place under the same name."""

import json
from collections.abc import Container, Mapping

from sqlalchemy import Connection, select

from logistics_batch.ledger.files.files import place_of
from logistics_batch.ledger.schema import file


class OlderVersions(Container[int]):
    """The numbers of the arrivals that were earlier versions of one file; each is looked at when it is asked for.

    A file of an archive lies where the archive lies. origin: where the file came from, as its arrival has it.
    """

    def __init__(self, connection: Connection, *, name: str, origin: Mapping[str, object]) -> None:
        self._connection = connection
        self._place = place_of(name, origin)
        self._known: dict[int, bool] = {}

    def __contains__(self, file_id: object) -> bool:
        number = int(str(file_id))
        if number not in self._known:
            found = self._connection.execute(select(file.c.name, file.c.origin).where(file.c.id == number)).first()
            self._known[number] = found is not None and place_of(found.name, json.loads(found.origin)) == self._place
        return self._known[number]
