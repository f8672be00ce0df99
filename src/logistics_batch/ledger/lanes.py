"""Who sends what, and who keeps the schedule, where several programs do with one ledger on PostgreSQL: lanes of keys,
held by leases.

A document belongs to the lane of its key. A sender has a lease, a row with a number that is never given again, which
lasts until a moment of the server's clock; a lane names the lease that holds it. One sender has a run open, others help
it. Whatever changes who may claim (opening and closing a run, sharing lanes out) waits for the claims under way, and
they for it: both take one lock of the server, claims together, changes alone.

Who keeps the schedule has a lease, too, which takes no part in that: it says that this program runs what it claimed.
"""

import math
import threading
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Connection,
    Row,
    ScalarSelect,
    func,
    literal,
    literal_column,
    select,
    text,
)
from sqlalchemy.exc import SQLAlchemyError

from logistics_batch import __version__
from logistics_batch.errors import LedgerRefused
from logistics_batch.ledger.bulk import insert_into
from logistics_batch.ledger.connection import LedgerConnection, Repository
from logistics_batch.ledger.records import StoredDocument
from logistics_batch.ledger.schema import attempt, document, lane, lease
from logistics_batch.processes import host_and_number, is_gone, this_process

LANES: Final = 64
LEASE_SECONDS: Final = 15.0
AT_REST: Final[int] = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)  # goes on while it sleeps
LAST_ATTEMPT: Final = (attempt.c.document_id == document.c.id) & (attempt.c.n == document.c.attempts)
_MARGIN_SECONDS = 2.0  # before the end of its lease a sender begins no more, by its own clock
_LOOK_SECONDS = 1.0  # how soon a sender sees that there are more of them, or fewer
_WAIT_SECONDS, _ENDS_WITHIN_SECONDS = 0.2, 10.0  # for the calls of others, which began before all was to end
_ASLEEP_AFTER, _A_DAY = 10_000, 86_400_000  # milliseconds; who is cut off from the server is seen as late
_CLOCKS_DIFFER = 1000  # milliseconds: more than the way to the server takes
_CLAIMING_KEY = 0x6C6F6764  # "logd"; that of sending is another
_KEEPS = lease.c.keeps_schedule == 1


class LeaseEnded(LedgerRefused):
    """A sender's lease has ended, so that others may send what it was to send."""


@dataclass(frozen=True, slots=True)
class ClusterMember:
    """A program that sends now, waits for something to send, or keeps the schedule.

    run: which it has opened for others, "" if it helps. clock_ahead_seconds: of its machine, before the server's.
    silent_seconds: since its lease ended without being given back, 0 if it lasts. version: "" before there was one.
    """

    host: str
    pid: int
    run: str
    keeps_schedule: bool
    lanes: int
    clock_ahead_seconds: float
    silent_seconds: float
    version: str


def lane_of(account: str, key: str) -> int:
    """The lane of a business key: of all kinds together, so that changes of one thing follow each other.

    >>> lane_of("https://api.example.com", "SO-1001")
    5
    """
    return zlib.crc32(f"{account}\0{key}".encode()) % LANES


def living_helpers(connection: Connection, account: str) -> list[int]:
    """The leases of those that may be sending for the run of somebody else; none in SQLite, which has one sender."""
    if connection.dialect.name == "sqlite":
        return []
    return [each.id for each in _living(connection, account) if not each.run]


def keepers(connection: Connection) -> set[str]:
    """The programs that keep the schedule and said so just now."""
    return set(connection.execute(select(lease.c.process).where(_KEEPS, lease.c.until > _now())).scalars())


def is_asleep(connection: Connection, process: str) -> bool:
    """Whether a program keeps the schedule and was not heard of for long: others run what it claimed."""
    ended = lease.c.until < _now() - _ASLEEP_AFTER
    return connection.execute(select(lease.c.id).where(_KEEPS, lease.c.process == process, ended)).first() is not None


def helpers_send(connection: Connection, account: str) -> ScalarSelect[int]:
    """How many documents living programs are sending that help a run."""
    query = select(func.count()).select_from(document).join(attempt, LAST_ATTEMPT)
    theirs = attempt.c.lease_id.in_(living_helpers(connection, account))
    return query.where(document.c.account == account, document.c.state == "sending", theirs).scalar_subquery()


class Lanes(Repository):
    """Leases of this account: taking one, and who has one."""

    def __init__(self, connection: LedgerConnection) -> None:
        super().__init__(connection)
        self._engine = connection.engine
        self.are_shared: Final = connection.engine.dialect.name != "sqlite"

    @contextmanager
    def leased(self, *, run: str = "", seconds: float = LEASE_SECONDS) -> Iterator["Lease"]:
        """A lease while the block runs, without a lane yet.

        run: opens this run for others; call while holding the ledger's sending lock.

        Raises:
            LedgerRefused: it cannot be written.
        """
        asked = _clock()
        with self._write(counts=False) as connection:
            _alone(connection)
            values = self._mine() | {"run": run} | _renewed(seconds)
            put = lease.insert().values(values).returning(lease.c.id, lease.c.clock_ahead)
            number, ahead = connection.execute(put).one()
        _note_clock(self._connection, ahead)
        mine = Lease(self._connection, number, lasts=(asked, seconds))
        try:
            yield mine
        finally:
            mine.end()

    def keep_schedule(self) -> None:
        """Say that this program keeps the schedule, for the time of a lease; say it again before that is over.

        What it claimed is its own as long as it says so. Ended leases of its machine go, for it is back, and old ones.
        """
        if not self.are_shared:
            return
        mine, (host, _) = self._mine() | {"run": "", "keeps_schedule": 1}, host_and_number(this_process())
        with self._write(counts=False) as connection:
            again = lease.update().where(_KEEPS, lease.c.process == mine["process"]).values(_renewed(LEASE_SECONDS))
            ahead = connection.execute(again.returning(lease.c.clock_ahead)).scalar()
            if ahead is None:
                put = lease.insert().values(mine | _renewed(LEASE_SECONDS)).returning(lease.c.clock_ahead)
                ahead = connection.execute(put).scalar_one()
                long_ago = (lease.c.until <= _now() - _A_DAY).label("long_ago")
                for old in connection.execute(select(lease, long_ago).where(_KEEPS, lease.c.until <= _now())).all():
                    if old.long_ago or host_and_number(old.process)[0] == host:
                        connection.execute(lease.delete().where(lease.c.id == old.id))
        _note_clock(self._connection, ahead)

    def leave_schedule(self) -> None:
        """This program keeps the schedule no longer."""
        if self.are_shared:
            self._execute(lease.delete().where(_KEEPS, lease.c.process == this_process()), counts=False)

    def _mine(self) -> dict[str, Any]:
        return {"account": self.account, "process": this_process(), "version": __version__}

    def close_runs(self) -> None:
        """Who holds the sending lock closes what another one left open that died, or lost the lock.

        It sees, too, how far this machine's clock is before the server's.
        """
        _note_clock(self._connection, self._column(select(_clock_ahead()))[0])
        if self._exists(select(lease.c.id).where(lease.c.run != "")):
            with self._write(counts=False) as connection:
                _alone(connection)
                connection.execute(lease.delete().where(lease.c.run != ""))

    def open_run(self) -> str:
        """The run with which others may help now, "" if there is none."""
        open_ = lease.c.account == self.account, lease.c.run != "", lease.c.until > _now()
        return next(iter(self._column(select(lease.c.run).where(*open_).order_by(lease.c.id.desc()))), "")

    def wait_for_helpers(self, *, is_asked_to_end: Callable[[], bool]) -> None:
        """Wait until no living program that helps a run sends anything; for some seconds, once this is to end."""
        until = math.inf
        while time.monotonic() < until:
            with self._read() as connection:
                if not connection.execute(select(helpers_send(connection, self.account))).scalar_one():
                    return
            if is_asked_to_end():
                until = min(until, time.monotonic() + _ENDS_WITHIN_SECONDS)
            time.sleep(_WAIT_SECONDS)

    def members(self) -> list[ClusterMember]:
        """Who sends, helps or keeps the schedule now, and who did when its lease ended."""
        if not self.are_shared:
            return []
        silent = func.greatest(_now() - lease.c.until, 0).label("silent")
        with self._read() as connection:
            held = select(lane.c.lease_id, func.count()).where(lane.c.account == self.account)
            lanes = dict(map(tuple, connection.execute(held.group_by(lane.c.lease_id))))
            all_ = select(lease, silent).where(lease.c.account == self.account).order_by(lease.c.id)
            found = connection.execute(all_).all()
        return [
            ClusterMember(
                *host_and_number(each.process),
                each.run,
                bool(each.keeps_schedule),
                lanes.get(each.id, 0),
                each.clock_ahead / 1000,
                each.silent / 1000,
                each.version,
            )
            for each in found
            if each.silent or is_gone(each.process) is not True
        ]


class Lease(Repository):
    """A sender's own lease. It renews itself in a thread; what fails there once ends it.

    lanes: as they were shared out last; they change in `share_out` and `give_back` alone, between calls.
    """

    def __init__(self, connection: LedgerConnection, number: int, *, lasts: tuple[float, float]) -> None:
        """lasts: from when on by this machine's clock, and how many seconds."""
        super().__init__(connection)
        self.number = number
        self.lanes: frozenset[int] = frozenset()
        self._engine = connection.engine
        self._asked, self._seconds = lasts
        self._lost = self._run_is_over = False
        self._senders = self._shared_by = 0  # how many there are, and how many there were when lanes were shared out
        self._lacks = LANES  # of its share
        self._more_are_free = False
        self._ends = threading.Event()
        self._renewal = threading.Thread(target=self._renew, name="lease", daemon=True)
        self._renewal.start()

    @property
    def may_send(self) -> bool:
        """Whether a first byte may leave now, by this machine's own clock."""
        margin = min(_MARGIN_SECONDS, self._seconds / 4)
        return not self._lost and _clock() - self._asked < self._seconds - margin

    @property
    def calls_for_sharing(self) -> bool:
        """Whether what is under way is to be finished and nothing more begun, until lanes were shared out anew."""
        changed = self._run_is_over or self._senders != self._shared_by
        return changed or (self._more_are_free and self._lacks > 0) or not self.may_send

    def require(self) -> None:
        """Raises LeaseEnded if it is over."""
        if not self.may_send:
            raise LeaseEnded(
                "This program could not renew its lease in time, and others may send now what it was to send.",
                remedy="It goes on by itself. See that PostgreSQL can be reached and nothing suspends this machine.",
            )

    def granted(self, connection: Connection, wanted: Sequence[StoredDocument], *, run: str) -> list[StoredDocument]:
        """Those of some documents that may be claimed in this transaction: in lanes of this lease, while the run is
        open.
        """
        connection.execute(text("SELECT pg_advisory_xact_lock_shared(:key)"), {"key": _CLAIMING_KEY})
        opens = lease.alias()
        is_open = select(literal(1)).where(opens.c.account == self.account, opens.c.run == run, opens.c.until > _now())
        mine = select(lane.c.number).join(lease, lane.c.lease_id == lease.c.id).where(lane.c.account == self.account)
        lasts = lease.c.id == self.number, lease.c.until > _now(), is_open.exists()
        lanes = set(connection.execute(mine.where(*lasts)).scalars())
        self._run_is_over = not lanes
        return [each for each in wanted if lane_of(self.account, each.key) in lanes]

    def share_out(self) -> None:
        """Take free lanes, or give up some, towards as many for each sender; call with no call under way.

        Lanes of leases that ended are free. Nothing is asked where all is as it was. Raises LeaseEnded.
        """
        self.require()
        if not self._lacks and not self.calls_for_sharing:
            return
        with self._write(counts=False) as connection:
            _alone(connection)
            living = [each.id for each in _living(connection, self.account)]
            of_account = lease.c.account == self.account
            connection.execute(lease.delete().where(of_account, ~_KEEPS, lease.c.id.not_in(living)))
            if self.number in living:
                self._share(connection, living)
        if self.number not in living:
            self._lost = True
        self.require()
        self._senders = self._shared_by = len(living)
        self._run_is_over = self._more_are_free = False

    def _share(self, connection: Connection, living: Sequence[int]) -> None:
        found = select(lane.c.number, lane.c.lease_id).where(lane.c.account == self.account)
        holders: dict[int, int] = dict(map(tuple, connection.execute(found)))
        mine = [number for number, holder in sorted(holders.items()) if holder == self.number]
        whole, rest = divmod(LANES, len(living))
        share = whole + (sorted(living).index(self.number) < rest)
        given_up = mine[share:]
        free = [number for number in range(LANES) if holders.get(number, 0) not in living]
        taken = free[: max(0, share - len(mine))]
        if given_up:
            its = lane.c.account == self.account, lane.c.number.in_(given_up)
            connection.execute(lane.update().where(*its).values(lease_id=0))
        if taken:
            lines = [{"account": self.account, "number": number, "lease_id": self.number} for number in taken]
            put = insert_into(connection, lane).values(lines)
            place = ["account", "number"]
            connection.execute(put.on_conflict_do_update(index_elements=place, set_={"lease_id": self.number}))
        self.lanes = frozenset(mine[:share]) | frozenset(taken)
        self._lacks = share - len(self.lanes)

    def give_back(self) -> None:
        """Hold no lane any longer; call with no call under way."""
        self.require()
        if self.lanes:
            self.lanes, self._lacks = frozenset(), LANES
            self._execute(lane.update().where(lane.c.lease_id == self.number).values(lease_id=0), counts=False)

    def end(self) -> None:
        """It is over, and its lanes are free; one that cannot be ended runs out."""
        self._ends.set()
        self._lost = True
        with suppress(LedgerRefused), self._write(counts=False) as connection:
            _alone(connection)
            connection.execute(lease.delete().where(lease.c.id == self.number))
            connection.execute(lane.update().where(lane.c.lease_id == self.number).values(lease_id=0))
        self._renewal.join(timeout=_LOOK_SECONDS)

    def _renew(self) -> None:
        """At a third of its time; between that it is seen how many senders there are, and whether lanes are free."""
        held = select(func.count()).where(lane.c.account == self.account)
        mine = lease.update().where(lease.c.id == self.number, lease.c.until > _now())
        try:
            with self._engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
                while not self._ends.wait(min(_LOOK_SECONDS, self._seconds / 6)):
                    asked = _clock()
                    if asked - self._asked >= self._seconds / 3:
                        put = mine.values(_renewed(self._seconds)).returning(lease.c.clock_ahead)
                        if (ahead := connection.execute(put).scalar()) is None:
                            break
                        self._asked = asked
                        _note_clock(self._connection, ahead)
                    living = [each.id for each in _living(connection, self.account)]
                    lanes = connection.execute(held.where(lane.c.lease_id.in_(living))).scalar_one()
                    self._senders, self._more_are_free = len(living), lanes < LANES
        except SQLAlchemyError:
            pass
        finally:
            self._lost = True


def _clock() -> float:
    return time.clock_gettime(AT_REST)


def _now() -> ColumnElement[int]:
    """Milliseconds by the server's clock."""
    return literal_column("floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint", BigInteger)


def _renewed(seconds: float) -> dict[str, Any]:
    return {"until": _now() + round(seconds * 1000), "clock_ahead": _clock_ahead()}


def _clock_ahead() -> ColumnElement[int]:
    """Milliseconds by which this machine's clock is before the server's."""
    return literal(round(time.time() * 1000)) - _now()


def _note_clock(connection: LedgerConnection, ahead: int) -> None:
    connection.clock_ahead_seconds = ahead / 1000 if abs(ahead) > _CLOCKS_DIFFER else 0.0


def _alone(connection: Connection) -> None:
    """Wait for the claims under way, and let none begin before this transaction ends."""
    connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _CLAIMING_KEY})


def _living(connection: Connection, account: str) -> list[Row[Any]]:
    """The leases of senders that last; a process that is proven to be gone has none."""
    lasting = select(lease).where(lease.c.account == account, ~_KEEPS, lease.c.until > _now()).order_by(lease.c.id)
    return [each for each in connection.execute(lasting) if is_gone(each.process) is not True]
