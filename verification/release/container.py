"""The Containerfile without a builder: its steps in a mount namespace, on the files of this machine as the base.

Each stage is a layer over the root of this machine, which stays as it is; all is gone with the namespace.
"""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from support.makefile import ROOT, UNREACHABLE

_BASE = {"passwd": "root:x:0:0::/root:/bin/sh\n", "group": "root:x:0:\n", "shadow": "root:*:::::::\n"}
_PATH = "/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_BUILDING = {"PIP_NO_COMPILE": "1", "PIP_BREAK_SYSTEM_PACKAGES": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
_LAYER = """
mkdir -p "$1/upper" "$1/work" "$1/root"; cd "$1"
mount -t overlay overlay -o lowerdir=/,upperdir=upper,workdir=work root
mount --bind /proc root/proc
mount -t tmpfs none root/dev; mkdir -m 1777 root/dev/shm
for name in null zero random urandom; do touch "root/dev/$name"; mount --bind "/dev/$name" "root/dev/$name"; done
"""
_COPY = 'mkdir -p "$2"; if [ -d "$1" ]; then cp -a "$1/." "$2"; else cp "$1" "$2"; fi'
_START = 'mount -t tmpfs none "$1/tmp"; mount --bind "$2" "$1$3"; mount -o remount,bind,ro "$1"'


@dataclass
class Image:
    """What the steps have made so far, and the namespace in which it lies."""

    keeper: int
    place: Path
    stage: Path = field(init=False)
    environment: dict[str, str] = field(init=False)
    user: str = field(init=False)
    folder: str = field(init=False)
    command: list[str] = field(init=False)
    health: list[str] = field(init=False)

    def outside(self, script: str, *arguments: str | Path) -> None:
        """A step of the builder: in the namespace, not in the stage."""
        line = ["nsenter", f"--mount=/proc/{self.keeper}/ns/mnt", "sh", "-ec", script, "sh", *map(str, arguments)]
        done = subprocess.run(line, cwd="/", capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, f"{script}\n{done.stdout}{done.stderr}"

    def process(self, command: list[str], **environment: str) -> list[str]:
        """The command line for a process in the stage, as its user and without any right of root."""
        caged = [] if self.user == "root" else ["--bounding-set=-all", "--inh-caps=-all", "--no-new-privs"]
        variables = [f"{name}={value}" for name, value in {**self.environment, **environment}.items()]
        return [
            *("nsenter", f"--mount=/proc/{self.keeper}/ns/mnt", "chroot", str(self.stage)),
            *("setpriv", f"--reuid={self.user}", f"--regid={self.user}", "--init-groups", *caged),
            *("env", "-i", *variables, "sh", "-c", 'cd "$0" && exec "$@"', self.folder, *command),
        ]

    def run(self, *command: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """A process in the stage to its end."""
        line = self.process(list(command), **environment)
        return subprocess.run(line, cwd="/", capture_output=True, text=True, timeout=600)

    def step(self, word: str, rest: str) -> None:
        """One instruction."""
        match word:
            case "FROM":
                self._begin(rest.partition(" AS ")[2] or "last")
            case "RUN":
                done = self.run("sh", "-ec", rest, **_BUILDING)
                if done.returncode and UNREACHABLE.search(done.stderr):
                    pytest.skip("the package registry cannot be reached")
                assert done.returncode == 0, f"{rest}\n{done.stderr}"
            case "COPY":
                *sources, target = rest.split()
                origin = sources.pop(0).partition("=")[2] if sources[0].startswith("--from=") else ""
                for source in sources:
                    self.outside(
                        _COPY, f"{self.place / origin / 'root' if origin else ROOT}/{source}", f"{self.stage}{target}"
                    )
            case "ENV":
                self.environment["PATH"] = rest.removeprefix("PATH=").replace("$PATH", _PATH)
            case "USER":
                self.user = rest
            case "WORKDIR":
                self.folder = rest
                self.outside('mkdir -p "$1"', f"{self.stage}{rest}")
            case "CMD":
                self.command = json.loads(rest)
            case "HEALTHCHECK":
                self.health = json.loads(rest.partition("CMD ")[2])
            case _:
                assert (word, rest) == ("STOPSIGNAL", "SIGTERM") or word == "ARG"

    def _begin(self, name: str) -> None:
        self.stage, self.environment, self.user, self.folder = self.place / name / "root", {"PATH": _PATH}, "root", "/"
        self.outside(_LAYER, self.place / name)
        python = Path(getattr(sys, "_base_executable", sys.executable)).resolve()
        base = {f"/etc/{name}": text for name, text in _BASE.items()}
        for program, arguments in (("python", ""), ("pip", " -m pip")):
            base[f"/usr/local/bin/{program}"] = f'#!/bin/sh\nexec {python}{arguments} "$@"\n'
        for path, content in base.items():
            self.outside('printf "%s" "$1" >"$2"; chmod 755 "$2"', content, f"{self.stage}{path}")
        for folder in python.parents:  # an image's Python is there for all of its users
            self.outside('chmod a+x "$1"', f"{self.stage}{folder}")

    def start(self, workspace: Path) -> None:
        """As `docker run --read-only --tmpfs /tmp --volume …` does: from now on nothing else can be written."""
        self.outside(_START, self.stage, workspace, self.folder)


def may_mount() -> bool:
    """Whether this machine lets its user have a mount namespace: Linux, as root."""
    line = ["unshare", "--mount", "--propagation", "private", "mount", "-t", "tmpfs", "none", "/mnt"]
    return bool(shutil.which("unshare")) and subprocess.run(line, capture_output=True, timeout=60).returncode == 0


@contextmanager
def built(place: Path) -> Iterator[Image]:
    """The image, built, where one may mount."""
    mount = f'mount -t tmpfs -o size=3g none "{place}" && echo mounted && exec sleep 600'
    line = ["unshare", "--mount", "--propagation", "private", "sh", "-c", mount]
    with subprocess.Popen(line, stdout=subprocess.PIPE, text=True) as keeper:
        try:
            assert keeper.stdout is not None
            assert keeper.stdout.readline() == "mounted\n"
            image = Image(keeper.pid, place)
            text = re.sub(r"^#.*\n", "", (ROOT / "docs/deploy/Containerfile").read_text("utf-8"), flags=re.MULTILINE)
            for word, rest in re.findall(r"^([A-Z]+) (.+)$", text.replace("\\\n", " "), re.MULTILINE):
                image.step(word, rest)
            yield image
        finally:
            keeper.kill()
