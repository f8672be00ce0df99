"""Whether this is the ledger with which was sent last; a person may confirm that an older copy goes on."""

import getpass
import json
from dataclasses import asdict
from typing import Any

from sqlalchemy import func, select

from logistics_batch.ledger.connection import Connected, dump, sqlite_path
from logistics_batch.ledger.high_water import Mark, read_mark, start_anew
from logistics_batch.ledger.lock import sending_lock
from logistics_batch.ledger.schema import document, meta
from logistics_batch.ledger.stale import mark_stale

RESTORED = "restored"
"""The rule of what was released, or in doubt, in an older copy that goes on: it is not sent again by itself."""
_MAY_STILL_GO_OUT = ("planned", "refused", "held")


class Restored(Connected):
    """The ledger's own mark, compared with what is noted outside of it."""

    def mark(self) -> Mark | None:
        """How far the ledger is; None in a ledger of a version that does not count."""
        with self._read() as connection:
            return read_mark(connection)

    def require_newest(self) -> None:
        """Go on only with the ledger that was used last.

        Raises:
            LedgerRefused: it is an older copy, or another one.
        """
        noted = self._high_water.noted()
        found = self._mark = self.mark()
        if found is not None:
            self._high_water.check(found, noted=noted)

    def accept_restored(self, *, reason: str, now: str) -> int:
        """A person confirms that this older copy goes on; gives how many open documents it holds.

        What it takes for not yet sent may have been sent by the history that is lost. So no later refusal of such a
        document counts: the service may be refusing the second of two.

        Raises:
            LedgerBusy: a sending run holds the ledger.
        """
        with sending_lock(self._engine, path=sqlite_path(self.url), what="ledger verify", wait=False):
            return self._go_on(reason=reason, now=now)

    def _go_on(self, *, reason: str, now: str) -> int:
        noted = self._high_water.noted()
        with self._write(counts=False) as connection:
            found = read_mark(connection)
            above = max([0, *(mark.seq for mark in (*noted, found) if mark is not None)])
            open_documents = list(
                connection.execute(select(document.c.id).where(document.c.state.in_(_MAY_STILL_GO_OUT))).scalars()
            )
            connection.execute(document.update().where(document.c.state.in_(_MAY_STILL_GO_OUT)).values(tainted=1))
            connection.execute(
                document.update()
                .where(document.c.state == "planned", document.c.released == 1)
                .values({"state": "held", "code": f"{RESTORED}.released", "values": "", "released": 0})
            )
            doubts = document.c.state.in_(("sending", "in_doubt"))
            connection.execute(document.update().where(doubts, document.c.doubt_since == "").values(doubt_since=now))
            connection.execute(
                document.update()
                .where(doubts)
                .values({"state": "in_doubt", "code": RESTORED, "values": "", "tainted": 1})
            )
            for number in open_documents:
                mark_stale(connection, number)
            mark = start_anew(connection, above=above)
            times = connection.execute(select(func.count()).where(meta.c.name.like("restored:%"))).scalar_one()
            said = {"at": now, "who": getpass.getuser(), "reason": reason, "noted": [asdict(each) for each in noted]}
            connection.execute(meta.insert().values(name=f"restored:{times + 1}", value=dump(said)))
        self._mark = mark
        self._older_copy = False
        self._keep_mark()
        return len(open_documents)

    def restorations(self) -> list[dict[str, Any]]:
        """Who confirmed when and why (at, who, reason) that an older copy goes on, the oldest first."""
        query = select(meta.c.value).where(meta.c.name.like("restored:%"))
        with self._read() as connection:
            said = [json.loads(value) for value in connection.execute(query).scalars()]
        return sorted(said, key=lambda each: str(each["at"]))

    def _keep_mark(self) -> None:
        if self._mark is not None:
            self._high_water.keep(self._mark)
