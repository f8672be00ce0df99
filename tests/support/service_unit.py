"""The cage that docs/deploy/logistics-batch.service puts the program into, as far as it can be tried here."""

import ctypes
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

UNIT = Path(__file__).parents[2] / "docs/deploy/logistics-batch.service"
_BEYOND = {"fchown"}  # SQLite gives a new file to the owner of its database, only when root runs it
_REFUSE_NEW_CODE = (65, 1)  # prctl: PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN


def analyze(*arguments: str) -> str:
    """What systemd-analyze says; it needs no running systemd for these."""
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd-analyze is not on this machine")
    done = subprocess.run(["systemd-analyze", *arguments], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


@dataclass(frozen=True)
class Cage:
    """Runs a command with the unit's environment and without new code in memory, and counts its system calls."""

    counts: Path

    @property
    def is_there(self) -> bool:
        """Whether this machine can count them."""
        return shutil.which("strace") is not None

    @property
    def environment(self) -> dict[str, str]:
        """What the unit sets."""
        return dict(line.split("=", 1) for line in re.findall(r"^Environment=(.*)$", UNIT.read_text(), re.MULTILINE))

    def around(self, command: list[str]) -> list[str]:
        """The command, counted if that is possible; it is the child itself that is started."""
        strace = ["strace", "-D", "-f", "-qq", "-c", "-U", "name", "-o", str(self.counts)]
        return [*strace, *command] if self.is_there else command

    @staticmethod
    def refuse_new_code() -> None:
        """From here on, and in every child, no memory becomes code that was not; kernels before 6.3 do not know it."""
        assert "MemoryDenyWriteExecute=yes" in UNIT.read_text()
        ctypes.CDLL(None).prctl(*_REFUSE_NEW_CODE, 0, 0, 0)

    def used(self) -> set[str]:
        """The system calls that there were, once the command has ended."""
        names = set(self.counts.read_text().split()) - {"syscall", "total"}
        return {name for name in names if not name.startswith("-")}

    def forbidden(self) -> set[str]:
        """Those that the unit's filters would not have let through."""
        return self.used() - _allowed() - (_BEYOND if os.geteuid() == 0 else set())


def _allowed() -> set[str]:
    """The system calls that the unit's filters leave."""
    left: set[str] = set()
    for line in re.findall(r"^SystemCallFilter=(.*)$", UNIT.read_text(), re.MULTILINE):
        named = set().union(*(_members_of(name) for name in line.lstrip("~").split()))
        left = left - named if line.startswith("~") else left | named
    return left


def _members_of(group: str) -> set[str]:
    """The calls of a group of systemd's, those of groups in it as well."""
    names = {line.strip() for line in analyze("syscall-filter", group).splitlines()[1:]}
    names = {name for name in names if name and not name.startswith("#")}
    return {name for name in names if name[0] != "@"}.union(*(_members_of(name) for name in names if name[0] == "@"))
