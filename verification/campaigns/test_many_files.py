"""A folder of thousands of files as one whole night: who is ready goes out, who is not is left, and each is named.

A real OpenSSH server, the sandbox, and the program as a process of its own, whose memory and processor time are taken
from the kernel.
"""

import csv
import json
import os
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from campaigns.scale import report, size
from support.sandbox_process import RunningSandbox
from support.sftp_servers import RunningSshd, running_sshd
from support.workspace import Workspace, order_lines

ENTRIES = size(sample=160, full=10_000)
WHOLE = size(sample=60, full=10_000)
MOST_MB_MORE = 200  # for 10,000 files: what is known of each, for the run's report
NEW = ENTRIES // 5
JOB = """\
kind: push
mapping: orders
source:
  sftp: bhiwandi
  path: {root}/inbound
  pattern: ["*.csv"]
  ready: {{done_file: "{{name}}.done"}}
  {archive}
results: {{path: {root}/results, formats: [csv]}}
"""


@pytest.fixture
def sshd(tmp_path: Path) -> Iterator[RunningSshd]:
    with running_sshd(tmp_path / "sshd") as server:
        for name in ("inbound", "results"):
            (server.root / name).mkdir()
        yield server


@pytest.fixture
def workspace(tmp_path: Path, sandbox: RunningSandbox, sshd: RunningSshd) -> Workspace:
    made = Workspace(tmp_path / "workspace", url=sandbox.url)
    made.configure("concurrency = 8")
    made.sftp("bhiwandi", sshd)
    return made


@dataclass(frozen=True)
class Took:
    """One run: how it ended, and what it took. log_ins: at the server, during the run."""

    code: int
    said: str
    document: dict[str, object]
    seconds: float
    processor_seconds: float
    largest_mb: int
    log_ins: int


def run_job(workspace: Workspace, sshd: RunningSshd | None = None) -> Took:
    before, began = log_ins(sshd), time.monotonic()
    out = workspace.root / "out.txt"
    with out.open("w") as handle:
        process = subprocess.Popen(
            workspace.command("run", "orders"),
            cwd=workspace.root,
            env=workspace.environment({}),
            stdin=subprocess.DEVNULL,
            stdout=handle,
            stderr=subprocess.STDOUT,
        )
        _, status, used = os.wait4(process.pid, 0)
    process.returncode = code = os.waitstatus_to_exitcode(status)
    (newest,) = sorted((workspace.root / "reports").glob("run-*.json"), key=lambda path: path.stat().st_mtime)[-1:]
    return Took(
        code,
        out.read_text(),
        json.loads(newest.read_text()),
        round(time.monotonic() - began, 1),
        round(used.ru_utime + used.ru_stime, 1),
        used.ru_maxrss >> 10,
        log_ins(sshd) - before,
    )


def log_ins(sshd: RunningSshd | None) -> int:
    return (sshd.root.parent / "sshd.log").read_text().count("Accepted publickey") if sshd else 0


def drop(folder: Path, numbers: range, *, complete: bool) -> list[str]:
    """Small files, one order each, and their done-files if they are complete."""
    names = [f"orders-{number:05}.csv" for number in numbers]
    for number, name in zip(numbers, names, strict=True):
        path = folder / name
        path.write_text(order_lines([f"MANY-{number:05}"]))
        if complete:
            path.with_name(f"{name}.done").touch()
    return names


@pytest.mark.slow
@pytest.mark.real
def test_a_night_with_thousands_of_files(workspace: Workspace, sandbox: RunningSandbox, sshd: RunningSshd) -> None:
    """Two entries in five are new files with their done-files; three in five are files that are not complete."""
    workspace.job("orders", JOB.format(root=sshd.root, archive=f"archive: {sshd.root}/archive"))
    new = drop(sshd.root / "inbound", range(NEW), complete=True)
    unready = drop(sshd.root / "inbound", range(NEW, ENTRIES - NEW), complete=False)
    first = run_job(workspace, sshd)
    assert first.code == 0, first.said[-2000:]
    files = {each["file"]: each["counts"] for each in first.document["files"]}  # type: ignore[union-attr, index]
    assert set(files) == set(new)
    assert {(counts["accepted"], sum(counts.values())) for counts in files.values()} == {(1, 1)}
    (left,) = first.document["notes"]  # type: ignore[misc]
    assert left.startswith(f"{len(unready):,} files are left: its done-file NAME.done is not there yet")
    assert unready[0] in left
    created = Counter(line["reference_number"] for line in sandbox.committed("order.created"))
    assert created == Counter(f"MANY-{number:05}" for number in range(NEW))
    answers = sorted((sshd.root / "results").glob("*.result.csv"))
    assert [path.name.removesuffix(".result.csv") for path in answers] == [Path(name).stem for name in new]
    assert {line["fate"] for path in answers for line in csv.DictReader(path.open(encoding="utf-8-sig"))} == {
        "accepted"
    }
    assert sorted(path.name for path in (sshd.root / "inbound").iterdir()) == unready
    assert len(list((sshd.root / "archive").iterdir())) == 2 * len(new)

    nothing_new = run_job(workspace, sshd)
    assert nothing_new.code == 0
    assert nothing_new.document["notes"] == [left, "No file was found."]

    for name in unready:
        (sshd.root / "inbound" / f"{name}.done").touch()
    rest = run_job(workspace, sshd)
    assert rest.code == 0, rest.said[-2000:]
    assert len(rest.document["files"]) == len(unready)  # type: ignore[arg-type]
    assert len(list((sshd.root / "inbound").iterdir())) == 0
    assert {first.log_ins, nothing_new.log_ins, rest.log_ins} == {1}
    shown = {"some are ready": first, "none is": nothing_new, "the rest is": rest}
    report(
        "a folder of many files",
        entries=ENTRIES,
        files=[len(new), 0, len(unready)],
        **{name: [t.seconds, t.processor_seconds, t.largest_mb, t.log_ins] for name, t in shown.items()},
    )


FOLDER_JOB = """\
kind: push
mapping: orders
source:
  folder: .
  path: /inbound
  pattern: ["*.csv"]
  ready: {unchanged_for: 2, poll_every: 10ms}
  archive: /archive/{date}
results: {folder: ., path: /results, formats: [csv]}
"""


@pytest.mark.slow
@pytest.mark.real
def test_a_run_of_thousands_of_new_files(tmp_path: Path, sandbox: RunningSandbox) -> None:
    """Each file goes out once, is answered once and is put away; what a file costs does not grow with their number."""
    workspace = Workspace(tmp_path / "workspace", url=sandbox.url)
    workspace.configure("concurrency = 8")
    workspace.job("orders", FOLDER_JOB)
    inbound = workspace.root / "inbound"
    inbound.mkdir()
    names = drop(inbound, range(1), complete=False)
    one = run_job(workspace)
    names += drop(inbound, range(1, WHOLE), complete=False)
    whole = run_job(workspace)
    assert (one.code, whole.code) == (0, 0), whole.said[-2000:]
    files = {each["file"]: each["counts"]["accepted"] for each in whole.document["files"]}  # type: ignore[union-attr, index]
    assert files == dict.fromkeys(names[1:], 1)
    created = Counter(line["reference_number"] for line in sandbox.committed("order.created"))
    assert created == Counter(f"MANY-{number:05}" for number in range(WHOLE))
    answers = sorted((workspace.root / "results").glob("*.result.csv"))
    assert [path.name.removesuffix(".result.csv") for path in answers] == [Path(name).stem for name in names]
    rows = [line for path in answers for line in csv.DictReader(path.open(encoding="utf-8-sig"))]
    assert Counter((row["reference_number"], row["fate"]) for row in rows) == Counter(
        (ref, "accepted") for ref in created
    )
    assert not list(inbound.iterdir())
    assert sorted(path.name for path in (workspace.root / "archive").rglob("*.csv")) == names
    assert whole.largest_mb - one.largest_mb <= MOST_MB_MORE
    report(
        "a run of many new files",
        files=WHOLE - 1,
        seconds=whole.seconds,
        processor_seconds=whole.processor_seconds,
        processor_ms_a_file=round((whole.processor_seconds - one.processor_seconds) * 1000 / max(WHOLE - 1, 1), 1),
        largest_mb=[one.largest_mb, whole.largest_mb],
    )
