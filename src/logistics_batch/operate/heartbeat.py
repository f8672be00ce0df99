"""A sign of life that outsiders can check: a small file of each machine, written anew every few seconds.

The programs that share a ledger on PostgreSQL: who sends, who keeps the schedule, and what is wrong among them.
"""

import json
import os
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from logistics_batch.flows.parts import Parts
from logistics_batch.ledger import ClusterMember
from logistics_batch.messages import moment
from logistics_batch.operate.doctor import Check, ok, problem, warning
from logistics_batch.processes import lives

_FOLDER, _NAMES = Path("var"), "schedule*.json"
EVERY_SECONDS = 3.0
OLD = timedelta(seconds=60)
_LAST_SIGN_SECONDS = 1.0
_STILL_AT_WORK = timedelta(seconds=4 * EVERY_SECONDS)


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """When the scheduler was last seen to work, and what it does."""

    at: str
    pid: int
    host: str
    started_at: str
    jobs: int
    running: tuple[str, ...] = ()
    next_run: str = ""


def sign_of(workspace: Path) -> Path:
    """The file of a scheduler on this machine; several may share the workspace."""
    return workspace / _FOLDER / f"schedule-{socket.gethostname()}.json"


def beat(
    file: Path, *, now: datetime, started_at: datetime, jobs: int, running: tuple[str, ...], next_run: str
) -> None:
    """Write the file anew, whole or not at all.

    Raises OSError.
    """
    sign = Heartbeat(
        now.isoformat(timespec="seconds"),
        os.getpid(),
        socket.gethostname(),
        started_at.isoformat(timespec="seconds"),
        jobs,
        running,
        next_run,
    )
    file.parent.mkdir(mode=0o700, exist_ok=True)
    beside = file.with_name(f"{file.name}.part")
    beside.write_text(json.dumps(asdict(sign), indent=1), encoding="utf-8")
    beside.replace(file)


@contextmanager
def beating(give_a_sign: Callable[[], None], *, failed: Callable[[str, Exception], None]) -> Iterator[None]:
    """Give a sign now and every few seconds, in a thread that does nothing else, so that no work can hold it up.

    failed: is told of a mistake of the program, after which there is no sign any more.
    """
    over = threading.Event()

    def beat_on() -> None:
        try:
            while not over.wait(EVERY_SECONDS):
                give_a_sign()
        except Exception as error:
            failed("sign of life", error)
            raise

    give_a_sign()
    thread = threading.Thread(target=beat_on, name="sign of life", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join(_LAST_SIGN_SECONDS)  # else it might say that this program lives when that has said that it ends


def last_beat(workspace: Path) -> Heartbeat | None:
    """The last sign of the scheduler on this machine, or where there never was one, of any; None if there is none."""
    signs = list(_signs(workspace))
    own = [each for each in signs if each.host == socket.gethostname()]
    return max(own or signs, key=lambda each: datetime.fromisoformat(each.at), default=None)


def _signs(workspace: Path) -> Iterator[Heartbeat]:
    for file in (workspace / _FOLDER).glob(_NAMES):
        with suppress(OSError, ValueError, TypeError, KeyError):
            found = json.loads(file.read_text(encoding="utf-8"))
            yield Heartbeat(**found | {"running": tuple(found["running"])})


def others_at_work(workspace: Path, *, now: datetime) -> list[Heartbeat]:
    """The other schedulers that work in this workspace.

    Of one on this machine it is asked whether it still lives: a sign outlasts whoever was killed.
    """
    return [
        each
        for each in _signs(workspace)
        if timedelta(0) <= now - datetime.fromisoformat(each.at) <= _STILL_AT_WORK
        and (each.host != socket.gethostname() or (each.pid != os.getpid() and lives(each.pid)))
    ]


def what_is_wrong(workspace: Path, *, now: datetime) -> str:
    """Why the scheduler does not seem to work; "" if it does."""
    found = last_beat(workspace)
    if found is None:
        return "No scheduler has worked in this workspace."
    age = now - datetime.fromisoformat(found.at)
    if age > OLD:
        return f"The scheduler was last seen at {found.at} (process {found.pid} on {found.host})."
    if age < -OLD:
        return f"The scheduler was last seen at {found.at}, which is still to come: a clock is wrong."
    return ""


CLOCKS_APART_SECONDS = 1.0
_WAITS_LONG = timedelta(hours=1)
_ONLY_HERE = ("local", "remote_write")  # values of synchronous_commit, with which a standby may lack the last commits


def shown(member: ClusterMember) -> dict[str, Any]:
    """What is told of a program that shares the ledger."""
    does = f"sends run {member.run}" if member.run else "keeps the schedule" if member.keeps_schedule else "helps"
    if member.silent_seconds:
        does += f"; not heard of for {timedelta(seconds=round(member.silent_seconds))}"
    return {
        "host": member.host,
        "pid": member.pid,
        "does": does,
        "lanes": member.lanes,
        "version": member.version,
        "clock_ahead_seconds": member.clock_ahead_seconds,
    }


def check_cluster(parts: Parts) -> Iterator[Check]:
    """Whether those who share the ledger fit together, and its server keeps what it confirms; nothing with SQLite."""
    if not parts.ledger.lanes.are_shared:
        return
    members = parts.ledger.lanes.members()
    living = [each for each in members if not each.silent_seconds]
    yield ok("cluster", "; ".join(map(_who, living)) or "no program sends or keeps the schedule now")
    yield from _odd_ones(members, living)
    yield _durability(parts)
    yield _oldest(parts)


def _who(member: ClusterMember) -> str:
    return f"{member.host} (process {member.pid}) {shown(member)['does']}"


def _odd_ones(members: Sequence[ClusterMember], living: Sequence[ClusterMember]) -> Iterator[Check]:
    versions: dict[str, list[str]] = {}
    for each in living:
        versions.setdefault(each.version or "unknown", []).append(each.host)
    if len(versions) > 1:
        named = ", ".join(f"{version} on {', '.join(dict.fromkeys(hosts))}" for version, hosts in versions.items())
        yield warning("cluster, versions", f"They differ: {named}.", "Install the same version on all machines.")
    for each in members:
        ahead = each.clock_ahead_seconds
        if each.silent_seconds:
            text = f"{_who(each)}: it ended without a word. Others went on with what it did."
            yield warning("cluster", text, "See whether its machine runs, and start it again there.")
        elif abs(ahead) > CLOCKS_APART_SECONDS:
            way = "ahead of" if ahead > 0 else "behind"
            text = f"The clock of {each.host} is {abs(ahead):.1f} s {way} that of PostgreSQL."
            yield warning("cluster, clocks", text, "Set it right (NTP).")


def _durability(parts: Parts) -> Check:
    name, found = "cluster, commits", parts.ledger.itself.settings_of_server()
    if found["fsync"] == "off":
        text = "PostgreSQL confirms what no disk has (fsync = off): a power cut loses what was sent."
        return problem(name, text, "Set fsync = on.")
    level = found["synchronous_commit"]
    if found["synchronous_standby_names"] and level in _ONLY_HERE:
        text = f"A standby may lack what was confirmed (synchronous_commit = {level}), and a failover would lose it."
        return warning(name, text, "Set synchronous_commit = on for the role or the database of the ledger.")
    return ok(name, f"are durable once confirmed (synchronous_commit = {level})")


def _oldest(parts: Parts) -> Check:
    """What waits the longest: a planned time whose run has not ended, or a doubt."""
    waits = [(each.claimed_at, f"{each.job} for {each.slot}") for each in parts.ledger.slots.under_way()]
    waits += [(each.doubt_since, f"{each.reference}, in doubt") for each in parts.ledger.attempts.in_doubt()[:1]]
    if not waits:
        return ok("cluster, waiting", "no run is under way, and nothing is in doubt")
    since, what = min(waits, key=lambda each: datetime.fromisoformat(each[0]))
    text = f"{what}, since {moment(since)}"
    if parts.clock.now() - datetime.fromisoformat(since) < _WAITS_LONG:
        return ok("cluster, waiting", f"the longest: {text}")
    remedy = "`logistics-batch cluster status` shows who works, `runs` what was tried."
    return warning("cluster, waiting", f"The longest: {text}.", remedy)
