"""The program on a stage: its real flows over a real ledger and real folders, with the stage's clock and service.

Each life is one process of the program. A kill ends a life at a durable step: what it would still write afterwards, to
the ledger, to folders and to the service, is stopped, as if the process were gone; the next life begins with what lies
there. Two lives are there at once where one of them works while a call of the other is under way.
"""

import hashlib
import json
import shutil
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from histories.service import ACCOUNT, LATE_SHARE, Caller, Habits, Service
from sqlalchemy import event
from support.workspace import ASN_COLUMNS, ASNS_MAPPING

from logistics_batch import crash_points, processes
from logistics_batch.api.client import Reply
from logistics_batch.api.pacing import Pacer
from logistics_batch.errors import LogisticsBatchError
from logistics_batch.flows.parts import Parts, Policy
from logistics_batch.intake.stores.folder import FolderStore
from logistics_batch.intake.stores.store import Session
from logistics_batch.jobs import parse_job
from logistics_batch.ledger import HighWater, Ledger, open_ledger, sqlite_path
from logistics_batch.ledger.itself import opening, postgresql
from logistics_batch.ledger.itself.version import copy_database
from logistics_batch.mapping import Mapping, load_mapping
from logistics_batch.model.jobs.job import JobPlace, PushJob, SettleJob

BEGINS = datetime.fromisoformat("2026-11-21T20:00:00+05:30")
DAY = date(2026, 11, 21)
KINDS = {"order": "orders", "asn": "asns"}
ORDERS_MAPPING = """\
operation: order.create
key: [Order No]
fields:
  reference_number: {from: Order No, required: true}
  customer_name: {from: Name}
  customer_mobile: {from: Phone, read: mobile, required: true}
  delivery_address: {from: Address, required: true}
  delivery_postal_code: {from: PIN, read: pincode}
lines:
  item_name: {from: SKU, required: true}
  item_quantity: {from: Qty, read: integer}
"""
ORDER_COLUMNS = "Order No,Name,Phone,Address,PIN,SKU,Qty"
JOB = """\
kind: push
mapping: {kind}
source:
  folder: .
  path: /inbound/{kind}
  ready: {{unchanged_for: 2, poll_every: 10ms}}
  archive: /archive/{kind}
  quarantine: /quarantine/{kind}
results: {{path: /results/{kind}, formats: [csv]}}
schedule: {{cron: "5 20 * * *", grace: 6h}}
"""
SETTLE_JOB = "kind: settle\nschedule: {every: 1m}\n"
_CONTENTS = {  # name, phone, address, goods
    "A": ("Asha", "9876543210", "1 Market Road", 1),
    "B": ("Asha", "9876543210", "1 Market Road", 2),
    "C": ("Asha", "9876543210", "7 Temple Street", 1),
    "X": ("Vikram", "9123456780", "4 Lake View", 1),
    "Y": ("Asha", "9876543210", "9 Hill Road", 1),
}
"""What an order can say. C is A with a corrected address; X and Y are others' orders with the goods of A."""


class Killed(SystemExit):
    """A life ended here; nothing of it goes on."""


@dataclass
class Life:
    """One process of the program. dead: it was killed; whatever it still tries fails."""

    number: int
    dead: bool = False

    def goes_on(self) -> None:
        """Raise Killed if it does not."""
        if self.dead:
            raise Killed(f"life {self.number} is over")


@dataclass
class StageClock:
    """Time on the stage, the same for all lives and the service; sleeping takes it, work does not.

    until: nobody waits longer than that; whoever tries is ended.
    """

    seconds: float = 0.0
    until: float = float("inf")

    def now(self) -> datetime:
        return BEGINS + timedelta(seconds=self.seconds)

    def monotonic(self) -> float:
        return 1_000.0 + self.seconds

    def sleep(self, seconds: float) -> None:
        self.seconds += seconds
        if self.seconds > self.until:
            self.until = float("inf")
            raise Killed("it waited too long")


class _Store(FolderStore):
    """A folder that a dead life no longer reaches."""

    def __init__(self, root: Path, life: Life) -> None:
        super().__init__(root)
        self._life = life

    def _act(self, action: Callable[[Session], Any]) -> Any:
        self._life.goes_on()
        return super()._act(action)


class _Marks(HighWater):
    def __init__(self, paths: Sequence[Path], life: Life) -> None:
        super().__init__(paths)
        self._life = life

    def note(self, mark: Any) -> None:
        self._life.goes_on()
        super().note(mark)

    def keep(self, mark: Any) -> None:
        self._life.goes_on()
        super().keep(mark)


class _Compiled(dict[Any, Any]):
    """Compiled statements for the engines of all lives; each engine's own would be empty at first."""

    def get(self, key: Any, default: Any = None) -> Any:
        return super().get(key[1:], default)

    def __setitem__(self, key: Any, value: Any) -> None:
        super().__setitem__(key[1:], value)  # the first part is the engine's own dialect


_COMPILED = {"sqlite": _Compiled(), "postgresql": _Compiled()}


class _EveryPoint(str):
    """As the armed crash point it is told of each point that is passed."""

    passes: Callable[[str], None]

    def __ne__(self, point: object) -> bool:
        self.passes(str(point))
        return True

    __hash__ = str.__hash__


@dataclass(frozen=True)
class Dropped:
    """A file as it was dropped: its kind, name, bytes, and how many rows of data it has."""

    kind: str
    name: str
    content: bytes
    rows: int

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.content).hexdigest()


def order_body(reference: str, content: str) -> dict[str, Any]:
    """What is sent for an order with this content, and what others enter."""
    name, phone, address, quantity = _CONTENTS[content]
    return {
        "reference_number": reference,
        "customer_name": name,
        "customer_mobile": phone,
        "delivery_address": address,
        "delivery_postal_code": "560001",
        "item_details": [{"item_name": "SKU-1", "item_quantity": quantity}],
    }


def file_of(kind: str, name: str, lines: Sequence[tuple[str, str]]) -> Dropped:
    """A file of orders or ASNs: reference and content of each; content "!" is a row that is invalid."""
    if kind == "order":
        rows = [ORDER_COLUMNS]
        for reference, content in lines:
            who, phone, address, quantity = _CONTENTS["A" if content == "!" else content]
            rows.append(f"{reference},{who},{'12' if content == '!' else phone},{address},560001,SKU-1,{quantity}")
    else:
        amounts = {"A": "10", "B": "20", "C": "30", "!": "many"}
        rows = [ASN_COLUMNS, *(f"Acme,Bhiwandi,{reference},SKU-1,{amounts[content]}" for reference, content in lines)]
    return Dropped(kind, name, "\n".join([*rows, ""]).encode(), len(lines))


@cache
def _mapping(name: str) -> Mapping:
    text = ORDERS_MAPPING if name == "orders" else ASNS_MAPPING
    return load_mapping(text, path=f"mappings/{name}.yaml", read_lookup=str)


@cache
def job_of(kind: str) -> PushJob:
    """The job that sends files of a kind."""
    job = parse_job(JOB.format(kind=KINDS[kind]), name=KINDS[kind], path=f"jobs/{KINDS[kind]}.yaml")
    assert isinstance(job, PushJob)
    return job


@cache
def settle_job() -> SettleJob:
    """The job that looks into doubts."""
    job = parse_job(SETTLE_JOB, name="settle", path="jobs/settle.yaml")
    assert isinstance(job, SettleJob)
    return job


@dataclass
class Stage:
    """A workspace with its service.

    url: of a database in PostgreSQL, "" for SQLite. dropped: all files that came; overwritten: those, by their hash,
    that another one of their name took the place of.
    """

    root: Path
    habits: Habits
    policy: Policy
    url: str = ""
    clock: StageClock = field(default_factory=StageClock)
    dropped: list[Dropped] = field(default_factory=list)
    overwritten: set[str] = field(default_factory=set)
    kill_at: tuple[str, int] = ("", 0)
    dozes: list[tuple[str, float]] = field(default_factory=list)
    _lives: int = 0
    _alive: set[int] = field(default_factory=set)
    _local: threading.local = field(default_factory=threading.local)
    _outer: Life | None = None

    def __post_init__(self) -> None:
        late = LATE_SHARE * self.policy.settle_after_seconds
        self.service = Service(self.habits, self.clock.monotonic, late)

    @property
    def ledger_url(self) -> str:
        return self.url or f"sqlite:///{self.root}/var/ledger.db"

    @contextmanager
    def set_up(self) -> Iterator[None]:
        """While the block runs, crash points and the signs of processes are the stage's."""
        with pytest.MonkeyPatch.context() as patch:
            point = _EveryPoint("every point")
            point.passes = self._passes
            patch.setattr(crash_points._armed, "name", point)
            patch.setattr(processes, "_process", lambda _pid: self._sign())
            patch.setattr(processes, "lives", lambda number: number in self._alive)
            patch.setattr(processes, "_start_of", lambda _number: "1")
            yield

    def _sign(self) -> str:
        boot, namespace = (
            processes._text(Path("/proc/sys/kernel/random/boot_id")),
            processes._link(Path("/proc/self/ns/pid")),
        )
        life = self._life()
        return json.dumps(
            {"host": "stage", "boot": boot, "namespace": namespace, "pid": life.number if life else 0, "start": "1"}
        )

    def _life(self) -> Life | None:
        return getattr(self._local, "life", None) or self._outer

    def _passes(self, point: str) -> None:
        life = self._life()
        if life is None:
            return
        life.goes_on()
        for place, (asleep, seconds) in enumerate(self.dozes):
            if asleep == point:
                del self.dozes[place]
                self.clock.sleep(seconds)
                break
        name, times = self.kill_at
        if point == name:
            self.kill_at = (name, times - 1) if times > 1 else ("", 0)
            if times == 1:
                life.dead = True
                raise Killed(f"life {life.number} is killed at {point}")

    @contextmanager
    def program(self, *, of_same_process: bool = False) -> Iterator[Parts]:
        """The parts of a new process of the program, gone at the end; or more parts of the one that is at work."""
        before: Life | None = getattr(self._local, "life", None)
        if of_same_process and before is not None:
            with closing(self._ledger(before)) as ledger:
                yield self._parts(before, ledger)
            return
        self._lives += 1
        life = Life(self._lives)
        nested = self._outer is not None
        self._local.life = life
        self._outer = self._outer or life
        self._alive.add(life.number)
        ledger = self._ledger(life)
        try:
            yield self._parts(life, ledger)
        finally:
            ledger.close()
            self._alive.discard(life.number)
            self._local.life = before
            self._outer = self._outer if nested else None
            if life.dead and (path := sqlite_path(self.ledger_url)):
                path.with_name(path.name + ".lock").write_text("{}")  # whoever dies leaves its name

    def _ledger(self, life: Life) -> Ledger:
        marks = (self.root / "var/ledger.mark", self.root / "reports/.ledger.mark")
        for kept in (opening._file_engine, postgresql.postgresql_engine):
            kept.cache_clear()  # each life is a process of its own
        ledger = open_ledger(self.ledger_url, account=ACCOUNT, marks=marks)
        ledger._connection.high_water = _Marks(marks, life)
        engine: Any = ledger._connection.engine
        engine._compiled_cache = _COMPILED[engine.dialect.name]
        for what in ("commit", "before_cursor_execute"):
            event.listen(engine, what, lambda *_: life.goes_on())
        return ledger

    def _parts(self, life: Life, ledger: Ledger) -> Parts:
        def ask(endpoint: str, **asked: Any) -> Reply:
            life.goes_on()
            reply = self.service.answer(endpoint, **asked)
            life.goes_on()
            return reply

        pacer = Pacer("none", clock=self.clock.monotonic, sleep=self.clock.sleep)
        return Parts(
            ledger=ledger,
            client=Caller(ask, pacer),
            open_store=lambda place: _Store(self._folder(place), life),
            mapping=_mapping,
            reports=self.root / "reports",
            files=self.root / "var/files",
            clock=self.clock,
            policy=self.policy,
        )

    def _folder(self, place: JobPlace) -> Path:
        return self.root / str(place.folder)

    def drop(self, file: Dropped) -> None:
        """A clerk drops a file."""
        folder = self.root / "inbound" / KINDS[file.kind]
        if (lying := folder / file.name).exists():
            self.overwritten.add(hashlib.sha256(lying.read_bytes()).hexdigest())
        self.overwritten.discard(file.sha256)
        self.dropped.append(file)
        part = folder / f".{file.name}.part"
        part.write_bytes(file.content)
        part.replace(folder / file.name)

    def do(self, act: Callable[[Parts], object]) -> str:
        """One command of the program; how it ended: "", "killed", or the kind of error with which it refused."""
        try:
            with self.program() as parts:
                act(parts)
        except Killed:
            return "killed"
        except LogisticsBatchError as error:
            return f"{type(error).__name__}: {error.message}"
        return ""

    def copy_ledger(self) -> None:
        """Keep a copy of a SQLite ledger as it is now."""
        path = sqlite_path(self.ledger_url)
        assert path is not None
        copy_database(path, self.root / "copy.db")

    def restore_copy(self) -> None:
        """Put the copy in the ledger's place."""
        path = sqlite_path(self.ledger_url)
        assert path is not None
        for ending in ("", "-wal", "-shm", "-journal"):
            path.with_name(path.name + ending).unlink(missing_ok=True)
        shutil.copyfile(self.root / "copy.db", path)
        path.chmod(0o600)
