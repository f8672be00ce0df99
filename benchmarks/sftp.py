"""The SFTP row: ours beside OpenSSH's own client, against a real sshd on this machine, in turn.

Ours verifies each file (listed, seen, read to its end, seen again), hashes it and flushes it to the disk; OpenSSH's
`sftp` does none of that.
"""

import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "tests"))

from support.sftp_servers import RunningSshd, running_sshd  # noqa: E402

LARGE_BYTES = 200_000_000
SMALL_FILES, SMALL_BYTES = 1_000, 20_000
NAMES = 10_000
GOALS = {"large": 1.6, "small": 1.6, "list": 1.2}
WORDS = {
    "large": f"one file of {LARGE_BYTES // 1_000_000} MB",
    "small": f"{SMALL_FILES:,} files of {SMALL_BYTES // 1_000} kB",
    "list": f"{NAMES:,} names listed",
}


def sftp(folder: Path, *, runs: int) -> None:
    """Print the row."""
    with running_sshd(folder / "sshd") as server:
        _fill(server.root)
        taken: dict[str, list[tuple[float, float]]] = {}
        for _ in range(runs):
            for task in WORDS:
                for who, act in (("ours", _ours), ("openssh", _openssh)):
                    target = folder / "target"
                    shutil.rmtree(target, ignore_errors=True)
                    target.mkdir()
                    taken.setdefault(f"{task} {who}", []).append(act(server, task, target))
    load = os.getloadavg()[0]
    print(f"\nsftp: ours and OpenSSH's client in turn, medians of {runs} (load {load:.1f} on {os.cpu_count()} cores)")
    print(f"  {'':<26}{'ours s':>9}{'OpenSSH s':>11}{'ratio':>8}{'goal':>7}{'processor: ours':>17}{'OpenSSH':>9}")
    for task, words in WORDS.items():
        ours, theirs = (
            tuple(statistics.median(column) for column in zip(*taken[f"{task} {who}"], strict=True))
            for who in ("ours", "openssh")
        )
        ratio = statistics.median(
            one[0] / other[0] for one, other in zip(taken[f"{task} ours"], taken[f"{task} openssh"], strict=True)
        )
        spent = f"{ours[0]:>9.2f}{theirs[0]:>11.2f}{ratio:>8.2f}{GOALS[task]:>7.1f}"
        print(f"  {words:<26}{spent}{ours[1]:>17.2f}{theirs[1]:>9.2f}", flush=True)


def _fill(root: Path) -> None:
    for name in ("large", "small", "list"):
        (root / name).mkdir()
    with (root / "large/file.bin").open("wb") as file:
        for _ in range(LARGE_BYTES // 1_000_000):
            file.write(os.urandom(1_000_000))
    for number in range(SMALL_FILES):
        (root / f"small/orders_{number:05d}.csv").write_bytes(os.urandom(SMALL_BYTES))
    for number in range(NAMES):
        (root / f"list/orders_{number:05d}_bhiwandi.xlsx").touch()


def _processor_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _ours(server: RunningSshd, task: str, target: Path) -> tuple[float, float]:
    """Seconds from an open session to the last file; the processor of the whole process."""
    asked = {
        "host": server.host,
        "port": server.port,
        "username": server.username,
        "key_file": str(server.key_file),
        "host_key": server.host_key_line,
        "folder": str(server.root / task),
        "target": str(target),
        "task": task,
    }
    before = _processor_seconds()
    done = subprocess.run(
        [sys.executable, str(HERE / "sftp_ours.py"), json.dumps(asked)], check=True, capture_output=True, text=True
    )
    said = json.loads(done.stdout)
    expected = {"large": 1, "small": SMALL_FILES, "list": NAMES}[task]
    if said["files"] != expected:
        raise SystemExit(f"ours brought {said['files']} of {expected}")
    return said["seconds"], _processor_seconds() - before


def _openssh(server: RunningSshd, task: str, target: Path) -> tuple[float, float]:
    """The same by `sftp -b`; logging in is taken off, as ours is open already."""
    options = ["-q", "-i", str(server.key_file), "-P", str(server.port)]
    for option in ("StrictHostKeyChecking=no", "UserKnownHostsFile=/dev/null", "BatchMode=yes"):
        options += ["-o", option]
    folder = server.root / task
    command = f"ls -1 {folder}" if task == "list" else f"get {folder}/* {target}/"
    spent = []
    for batch in ("pwd", command):
        before, began = _processor_seconds(), time.perf_counter()
        subprocess.run(
            ["sftp", *options, "-b", "-", f"{server.username}@{server.host}"],
            input=f"{batch}\n",
            text=True,
            check=True,
            capture_output=True,
        )
        spent.append((time.perf_counter() - began, _processor_seconds() - before))
    return spent[1][0] - spent[0][0], spent[1][1] - spent[0][1]
