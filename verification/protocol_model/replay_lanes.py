"""The replay where several send with one ledger on PostgreSQL: what they share, and how they lose it.

A crowd of other senders holds all lanes but that of the key, so that it can be left to one of those that are played.
"""

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, LiteralString

import psycopg
from protocol_model.lanes import LASTS, is_helper
from protocol_model.played_service import ACCOUNT, KEYS
from protocol_model.played_worker import LEASE_SECONDS, work
from protocol_model.replay import PATIENCE_SECONDS, Diverged, Replay
from protocol_model.states import NOBODY, Label, State, World

from logistics_batch.ledger.itself.lock import _ADVISORY_KEY
from logistics_batch.ledger.lanes import LANES, lane_of
from logistics_batch.processes import this_process

_CROWD = 8  # so many that the lanes below that of the key are more than the share of one sender
_LIVES_LONG = 1 << 60  # milliseconds


class ReplayOfLanes(Replay):
    """One path under way, with several senders."""

    def __init__(self, world: World, folder: Path, url: str, *, life: Callable[..., None] = work) -> None:
        super().__init__(world, folder, url=url, life=life)
        self.lane = lane_of(ACCOUNT, KEYS[world.kind])
        self.server = psycopg.connect(url, autocommit=True)
        joins = (
            'INSERT INTO lease (account, process, run, "until", clock_ahead) VALUES (%s, %s, %s, %s, 0) RETURNING id'
        )
        self.crowd = [self._ask(joins, ACCOUNT, this_process(), "", _LIVES_LONG)[0][0] for _ in range(_CROWD)]

    def close(self) -> None:
        super().close()
        self.server.close()

    # What a process does

    def _help(self, label: Label, *_: object) -> None:
        self._launched(label.worker, "ready")

    def _take_over(self, label: Label, before: State, *_: object) -> None:
        again = before.workers[label.worker].step == "ready"
        self._on(label.worker, "ready", wanted=("take over",) if again else ())

    def _take_new_lease(self, label: Label, *_: object) -> None:
        self._on(label.worker, "ready", wanted=("new lease",))

    def _take_lane(self, label: Label, *_: object) -> None:
        self._left_to_others(range(LANES))
        self._on(label.worker, "ready", wanted=("share out",))

    def _give_lane_up(self, label: Label, before: State, *_: object) -> None:
        """Its share is less than what it holds; or it helps, and there is nothing to help."""
        if is_helper(label.worker, self.world) and not before.run_open:
            self._on(label.worker, "ready", wanted=("give back",))
            return
        self._left_to_others(range(self.lane + 1, LANES))
        self._hold(self._lease_of(label.worker), range(self.lane))
        self._on(label.worker, "ready", wanted=("share out",))

    def _let_go(self, label: Label, *_: object) -> None:
        """What it asked for before is written down; then nothing is claimed."""
        place = self._on(label.worker, None, reply=self.actors[label.worker].heard)
        while place == "intent.before_commit":
            place = self._on(label.worker, None)
        if place != "ready":
            raise Diverged(f"the process is at “{place}”, the model expects that it lets go")

    def _find_lock_gone(self, label: Label, before: State, *_: object) -> None:
        wanted = () if before.workers[label.worker].step == "looked" else ("new lease",)
        self._on(label.worker, "LedgerRefused", wanted=wanted, reply=self.actors[label.worker].heard)
        self._gone(label.worker)

    def _outcome_comes_too_late(self, label: Label, before: State, *_: object) -> None:
        helps = is_helper(label.worker, self.world)
        self._borne_out(label.worker, "ready" if helps else "LedgerRefused", before)
        if not helps:
            self._gone(label.worker)

    # What the network and the machine do to it

    def _crash(self, label: Label, before: State, after: State, following: list[Label]) -> None:
        super()._crash(label, before, after, following)
        self._until_cut_off(label.worker)

    def _lose_session(self, label: Label, *_: object) -> None:
        holder = "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND objid = %s AND granted"
        self._ask(
            f"{holder} AND database = (SELECT oid FROM pg_database WHERE datname = current_database())", _ADVISORY_KEY
        )

    def _lease_ends(self, label: Label, *_: object) -> None:
        """Its time is over by the server's clock, and by that of the process, which slept for so long."""
        if label.worker == NOBODY:
            self._ask("UPDATE lease SET until = 0 WHERE run <> '' RETURNING id")
        else:
            self._end_lease(label.worker)
            self.actors[label.worker].asleep += LEASE_SECONDS

    def _end_lease(self, worker: int) -> None:
        self._ask("UPDATE lease SET until = 0 WHERE id = %s RETURNING id", self._lease_of(worker))

    def _lose_connection(self, label: Label, *_: object) -> None:
        """Just before a claim only what renews the lease is cut off: there the server is asked whether it lasts."""
        self._end_lease(label.worker)
        self.actors[label.worker].not_renewed += LEASE_SECONDS
        if self.actors[label.worker].place != "intent.before_commit":
            self._ask(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = %s",
                _name(label.worker),
            )
            self._until_cut_off(label.worker)

    # By which means

    def _ask(self, question: LiteralString, *given: object) -> list[tuple[Any, ...]]:
        return self.server.execute(question, given).fetchall()

    def _url_of(self, worker: int) -> str:
        """The address under which the server shows a process's connections."""
        return f"{self.url}&application_name={_name(worker)}"

    def _until_cut_off(self, worker: int) -> None:
        """Until the server knows that nobody is there any more."""
        until = time.monotonic() + PATIENCE_SECONDS
        while self._ask("SELECT 1 FROM pg_stat_activity WHERE application_name = %s", _name(worker)):
            if time.monotonic() > until:
                raise Diverged(f"the server does not let go of worker {worker + 1}")
            time.sleep(0.01)

    def _lease_of(self, worker: int) -> int:
        """The number of its newest lease."""
        pid = self.actors[worker].process.pid
        newest = "SELECT max(id) FROM lease WHERE (process::json->>'pid')::int = %s AND id <> ALL(%s)"
        return int(self._ask(newest, pid, self.crowd)[0][0])

    def _left_to_others(self, lanes: range) -> None:
        self._hold(self.crowd[0], lanes)

    def _hold(self, lease: int, lanes: range) -> None:
        """Lanes, without that of the key, are of a lease."""
        put = "INSERT INTO lane (account, number, lease_id) SELECT %s, number, %s FROM unnest(%s::int[]) number"
        others = [number for number in lanes if number != self.lane]
        anew = "ON CONFLICT (account, number) DO UPDATE SET lease_id = excluded.lease_id RETURNING number"
        self._ask(f"{put} {anew}", ACCOUNT, lease, others)

    def _compare(self, state: State) -> None:
        super()._compare(state)
        mine = {actor.process.pid: worker for worker, actor in self.actors.items()}
        lasts = '"until" > extract(epoch FROM clock_timestamp()) * 1000'
        holder = f"SELECT process FROM lane JOIN lease ON lease.id = lease_id WHERE number = %s AND {lasts}"
        holders = [mine.get(json.loads(process)["pid"], NOBODY) for (process,) in self._ask(holder, self.lane)]
        found = {"lane": next(iter(holders), NOBODY), "run_open": self.ledger.lanes.open_run() != ""}
        lane = state.lane if state.lane != NOBODY and state.workers[state.lane].lease == LASTS else NOBODY
        if found != (expected := {"lane": lane, "run_open": state.run_open}):
            raise Diverged(f"model:  {expected}\nledger: {found}")


def _name(worker: int) -> str:
    return f"worker-{worker + 1}"
