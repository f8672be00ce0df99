"""Power cuts: a run is recorded, cut at any moment, its disk put into a state it may then be in, and started again.

Judged by the service: nothing is created twice, no order is lost; and no commit that was acknowledged is forgotten.
"""

import json
import os
import random
import shutil
import subprocess
from collections import Counter
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import pytest
from campaigns.disk import Disk, Operation, operations, record
from campaigns.ledgers import OutsideLedger
from campaigns.nights import EFFECTS, KINDS, Night, created, drain, night, verdict_on
from campaigns.scale import SEED, numbers, report, size
from support.commands import Forker
from support.sandbox_process import RunningSandbox
from support.workspace import Workspace

from logistics_batch.ledger.failures import sqlite3

CUTS = {"sample": 8, "full": 500}
DOCUMENTS = size(sample=4, full=8)
TABLES = ("orders", "items", "packages", "asns")
EMPTIED = tuple(reversed(TABLES))


@dataclass(frozen=True)
class Recorded:
    """One run: what was on the disk before, what it did, and what the service did when."""

    each: Night
    files: dict[str, bytes]
    folders: set[str]
    done: list[Operation]
    effects: list[tuple[float, float, str]]  # received at, committed at, reference
    rows: dict[str, list[tuple[object, ...]]]  # of the service's database at the end


def seconds(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()


def record_run(each: Night, sandbox: RunningSandbox, trace: Path) -> Recorded:
    root = each.workspace.root
    before = sorted(root.rglob("*"))
    files = {str(path): path.read_bytes() for path in before if path.is_file()}
    folders = {str(root), *(str(path) for path in before if path.is_dir())}
    command = [*record(trace), *each.workspace.command("run", each.kind)]
    environment = each.workspace.environment({})
    ran = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, timeout=300)
    assert ran.returncode == 0, ran.stderr
    effect, name = EFFECTS[each.kind]
    came = {line["seq"]: seconds(line["at"]) for line in sandbox.received()}
    effects = [(came[line["request"]], seconds(line["at"]), line[name]) for line in sandbox.committed(effect)]
    with closing(sqlite3.connect(database(sandbox))) as connection:
        rows = {table: connection.execute(f"SELECT * FROM {table}").fetchall() for table in TABLES}
    done = operations(trace, root)
    assert sum(operation.what == "sync" for operation in done) > 20
    return Recorded(each, files, folders, done, effects, rows)


def database(sandbox: RunningSandbox) -> Path:
    (found,) = (path for path in sandbox.data.iterdir() if path.suffix in (".db", ".sqlite", ".sqlite3"))
    return found


def set_world(recorded: Recorded, sandbox: RunningSandbox, there: Counter[str]) -> None:
    """The service knows what it had created by then, and nothing else."""
    with closing(sqlite3.connect(database(sandbox), timeout=30)) as connection, connection:
        for table in EMPTIED:
            connection.execute(f"DELETE FROM {table}")
        kept = {row[0] for row in recorded.rows["orders"] if row[2] in there}
        for table, rows in recorded.rows.items():
            for row in rows:
                if table == "asns":
                    wanted = row[1] in there
                else:
                    wanted = bool(kept & ({row[0]} if table in ("orders", "items") else {row[1]}))
                if wanted:
                    connection.execute(f"INSERT INTO {table} VALUES ({','.join('?' * len(row))})", row)


def set_disk(root: Path, files: dict[str, bytes], folders: set[str]) -> None:
    shutil.rmtree(root)
    for folder in sorted(folders):
        Path(folder).mkdir(parents=True, exist_ok=True)
    for path, content in files.items():
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_bytes(content)
        Path(path).chmod(0o600)


def acknowledged(done: list[Operation]) -> int:
    """The last transaction of which the program knew that it was durable: it notes each after its commit."""
    noted = [json.loads(each.data)["seq"] for each in done if each.path.endswith("/ledger.mark") and each.data]
    return max(noted, default=0)


def remembered(root: Path) -> int:
    """The last transaction in the ledger as it lies on the disk; also whether the file is sound."""
    path = root / "var/ledger.db"
    if not path.exists():
        return 0
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'meta'").fetchone():
            return 0
        return int(connection.execute("SELECT value FROM meta WHERE name = 'seq'").fetchone()[0])


def cut(recorded: Recorded, forker: Forker, sandbox: RunningSandbox, moment: int, dice: random.Random) -> str:
    """One power cut before operation `moment`; what is wrong afterwards, "" if nothing."""
    each, root = recorded.each, recorded.each.workspace.root
    disk = Disk(recorded.files, recorded.folders, journalled=dice.random() < 0.5)
    for operation in recorded.done[:moment]:
        disk.do(operation)
    set_disk(root, *disk.after_power_cut(dice))
    now = recorded.done[moment].at
    there = Counter(
        reference
        for came, committed, reference in recorded.effects
        if committed <= now or (came <= now and dice.random() < 0.5)
    )
    set_world(recorded, sandbox, there)
    if remembered(root) < acknowledged(recorded.done[:moment]):
        return f"{acknowledged(recorded.done[:moment])} commits were acknowledged, {remembered(root)} are there"
    came = {reference for at, _, reference in recorded.effects if at <= now}
    if unwritten := came - set(OutsideLedger(each.workspace).attempts()):
        return f"sent before its intent was durable: {sorted(unwritten)}"
    after = sandbox.journal()[-1]["seq"]
    drain(forker, [each])
    verdict = verdict_on(each, there + created(sandbox, each.kind, after=after))
    unlike = set(verdict.fates) - (
        {"accepted", "unchanged"} if each.kind == "orders" else {"accepted", "unchanged", "held"}
    )
    return f"{verdict.faults} {unlike}" if verdict.faults or unlike else ""


@pytest.mark.slow
@pytest.mark.real
@pytest.mark.parametrize("kind", KINDS)
def test_power_cuts(kind: str, forker: Forker, sandbox: RunningSandbox, tmp_path: Path) -> None:
    if shutil.which("strace") is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)("strace is not installed")
    if subprocess.run(["strace", "-o", os.devnull, "true"], capture_output=True).returncode:
        pytest.skip("this machine does not let programs be traced")
    workspace = Workspace(tmp_path / "workspace", url=sandbox.url, settle_after="0s")
    each = night(workspace, kind, documents=DOCUMENTS, in_each=DOCUMENTS // 2)
    recorded = record_run(each, sandbox, tmp_path / "trace")
    wrong, cuts = {}, []
    for number in numbers(**CUTS):
        dice = random.Random(f"{SEED}-{number}")
        moment = dice.randrange(1, len(recorded.done))
        if found := cut(recorded, forker, sandbox, moment, dice):
            wrong[f"cut {number} before {recorded.done[moment].what} {recorded.done[moment].path}"] = found
        cuts.append(number)
    syncs = sum(operation.what == "sync" for operation in recorded.done)
    report(
        "power cuts",
        kind=kind,
        first=cuts[0],
        cuts=len(cuts),
        operations=len(recorded.done),
        syncs=syncs,
        wrong=len(wrong),
    )
    assert not wrong
