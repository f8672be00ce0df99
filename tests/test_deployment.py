"""What docs/deploy holds: the service unit is a cage that the program fits into, the container holds only what runs."""

import configparser
import ctypes
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from docs.test_pages import parse as parse_command

from logistics_batch.cli.front import front
from logistics_batch.model.jobs.timing import Cron

ROOT = Path(__file__).parents[1]
DEPLOY = ROOT / "docs/deploy"
UNIT = DEPLOY / "logistics-batch.service"
CONTAINER = (DEPLOY / "Containerfile").read_text(encoding="utf-8").replace("\\\n", " ")
_BEYOND = {"fchown"}  # SQLite gives a new file to the owner of its database, only when root runs it
_REFUSE_NEW_CODE = (65, 1)  # prctl: PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN


def analyze(*arguments: str) -> str:
    """What systemd-analyze says; it needs no running systemd for these."""
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd-analyze is not on this machine")
    done = subprocess.run(["systemd-analyze", *arguments], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.mark.real
def test_the_unit_is_little_exposed() -> None:
    said = analyze("security", "--offline=true", "--no-pager", str(UNIT))
    [exposure] = re.findall(r"Overall exposure level for \S+: ([\d.]+)", said)
    assert float(exposure) <= 1.5


@pytest.mark.real
def test_the_unit_is_one_that_systemd_takes(tmp_path: Path) -> None:
    here = UNIT.read_text().replace("/opt/logistics-batch/bin/logistics-batch", sys.executable)
    (tmp_path / UNIT.name).write_text(here)
    assert analyze("verify", "--man=no", str(tmp_path / UNIT.name)) == ""


def test_the_unit_starts_what_exists_and_waits_for_its_end() -> None:
    unit = configparser.ConfigParser(strict=False, interpolation=None)  # some keys add to what stands before them
    unit.optionxform = str  # type: ignore[assignment]
    unit.read(UNIT)
    parse_command(front, shlex.split(unit["Service"]["ExecStart"])[1:])
    assert int(unit["Service"]["TimeoutStopSec"]) > 10


def test_the_crontab_has_five_fields_and_commands_that_exist() -> None:
    lines = [line for line in (DEPLOY / "crontab").read_text().splitlines() if line and line[0] in "0123456789*"]
    assert len(lines) == 3
    for line in lines:
        fields = line.split(maxsplit=5)
        Cron.parse(" ".join(fields[:5]))
        command = fields[5].partition("&& ")[2]
        parse_command(front, shlex.split(command)[1:])


def allowed_calls() -> set[str]:
    """The system calls that the unit's filters leave."""
    left: set[str] = set()
    for line in re.findall(r"^SystemCallFilter=(.*)$", UNIT.read_text(), re.MULTILINE):
        named = set().union(*(members_of(name) for name in line.lstrip("~").split()))
        left = left - named if line.startswith("~") else left | named
    return left


def members_of(group: str) -> set[str]:
    """The calls of a group of systemd's, those of groups in it as well."""
    names = {line.strip() for line in analyze("syscall-filter", group).splitlines()[1:]}
    names = {name for name in names if name and not name.startswith("#")}
    return {name for name in names if name[0] != "@"}.union(*(members_of(name) for name in names if name[0] == "@"))


@pytest.mark.slow
@pytest.mark.real
def test_a_whole_night_fits_into_the_unit(tmp_path: Path) -> None:
    """Files, SFTP, HTTP, PDFs and all children, with the unit's environment, without new code in memory."""
    if shutil.which("strace") is None:
        pytest.skip("strace is not on this machine")
    told = dict(line.split("=", 1) for line in re.findall(r"^Environment=(.*)$", UNIT.read_text(), re.MULTILINE))
    assert "MemoryDenyWriteExecute=yes" in UNIT.read_text()
    counts = tmp_path / "calls"
    strace = ["strace", "-f", "-qq", "-c", "-U", "name", "-o", str(counts)]
    done = subprocess.run(
        [*strace, str(Path(sys.executable).parent / "logistics-batch"), "demo", "--dir", str(tmp_path / "demo")],
        env=os.environ | told,
        preexec_fn=refuse_new_code,
        capture_output=True,
        text=True,
        timeout=900,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "The loop closed" in done.stdout
    assert "held as a whole" not in done.stdout  # a reader that could not start holds what it was to read
    used = set(counts.read_text().split()) - {"syscall", "total"}
    used = {name for name in used if not name.startswith("-")}
    assert {"openat", "execve", "prlimit64"} <= used
    assert used - allowed_calls() <= (_BEYOND if os.geteuid() == 0 else set())


def refuse_new_code() -> None:
    """From here on, and in every child, no memory becomes code that was not; kernels before 6.3 do not know it."""
    ctypes.CDLL(None).prctl(*_REFUSE_NEW_CODE, 0, 0, 0)


def test_what_the_sender_of_a_dead_process_needs_is_left() -> None:
    """boot_id and mountinfo tell a dead sender from a living one and a network share from a disk."""
    assert "ProcSubset=pid" not in UNIT.read_text()


def test_the_container_is_built_from_what_is_named() -> None:
    [base] = re.findall(r"^ARG BASE=(\S+)$", CONTAINER, re.MULTILINE)
    assert re.fullmatch(r"python:3\.\d+\.\d+-slim@sha256:[0-9a-f]{64}", base)
    assert set(re.findall(r"^FROM (\S+)", CONTAINER, re.MULTILINE)) == {"${BASE}"}
    installs = re.findall(r"pip (?:(?!&&).)*install [^&]*", CONTAINER)
    assert len(installs) == 3
    for line in installs:  # what is locked, by its hash; then our own wheel, from nowhere else
        assert ("--require-hashes" in line and "--only-binary :all:" in line) or "--no-index" in line


def test_the_container_copies_what_is_there_and_runs_what_exists() -> None:
    for sources in re.findall(r"^COPY (?!--from)(.+) \S+$", CONTAINER, re.MULTILINE):
        assert all((ROOT / name).exists() for name in sources.split())
    commands = [json.loads(each) for each in re.findall(r"CMD (\[.+\])$", CONTAINER, re.MULTILINE)]
    assert len(commands) == 2
    for command in commands:
        parse_command(front, command[1:])


def test_the_container_runs_what_runs_and_not_as_root() -> None:
    last = CONTAINER.rpartition("FROM ")[2]
    assert "requirements" not in last
    assert "COPY --from=build /opt/logistics-batch " in last
    assert re.findall(r"^USER (\S+)$", last, re.MULTILINE) == ["logistics"]
    assert not re.search(r"^(?:COPY|ADD) \.", CONTAINER, re.MULTILINE)  # no history, no secrets of a checkout
