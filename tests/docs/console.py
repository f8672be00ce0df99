"""Runs the commands of a page in order, as a reader with two terminals would.

What needs nothing of a shell is forked, see `support.forked`.
"""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

from docs.pages import Block, Command, commands
from support.commands import forker_of_tests

_PATIENCE_SECONDS = 60
_PROGRAM, _SHELL = "logistics-batch", set("|&;<>$*")
_FOREVER = ("logistics-batch sandbox", "logistics-batch schedule")


class Reader:
    """Saves the files of a page below `folder` and runs its commands there; the sandbox's ports are free ones.

    What a page shows as 8080, 2222 and `ssh-ed25519 AAAA…` stands for what the sandbox says when it starts.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.code = 0
        self._second: Path | None = None  # the folder of the second terminal, in which the sandbox runs
        self.sandbox: subprocess.Popen[str] | None = None
        self._stands_for = {"--port 8080": "--port 0", "--sftp-port 2222": "--sftp-port 0"}

    def follow(self, block: Block) -> None:
        """Do what a block says; raises AssertionError with the page's line where the output differs."""
        if block.saved_as:
            path = self.folder / block.saved_as
            path.write_text(self._real(block.text), encoding="utf-8")
        if block.language == "console":
            for each in commands(block):
                output = self._run(each)
                assert agrees(self._real(each.shown), output), (
                    f"line {each.line}: $ {each.command}\n--- the page shows\n{each.shown}\n--- it printed\n{output}"
                )

    def close(self) -> None:
        """Stop what still runs."""
        if self.sandbox is not None and self.sandbox.poll() is None:
            self.sandbox.terminate()
            self.sandbox.wait(timeout=15)
        self.sandbox = None

    def _run(self, each: Command) -> str:
        command = self._real(each.command)
        if command.startswith("cd "):
            self.folder = (self.folder / command[3:]).resolve()
            return ""
        if command.startswith(_FOREVER[0]):
            return self._start_sandbox(command)
        if command == _FOREVER[1]:
            return self._serve_a_moment(command)
        return self._finish(command)

    def _finish(self, command: str) -> str:
        program, *arguments = shlex.split(command)
        if program == _PROGRAM and not set(command) & _SHELL:
            forked = forker_of_tests().fork(
                "logistics_batch", *arguments, folder=self.folder, environment=environment(), joined=True
            )
            ended = forked.end(seconds=_PATIENCE_SECONDS)
            self.code = ended.code
            return ended.out
        done = subprocess.run(
            ["bash", "-c", f"(exit {self.code}); {command}"],
            cwd=self.folder,
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=_PATIENCE_SECONDS,
        )
        self.code = done.returncode
        return done.stdout

    def _start_sandbox(self, command: str) -> str:
        self.close()
        self._second = self._second or self.folder
        self.sandbox = subprocess.Popen(
            ["bash", "-c", f"exec {command}"],
            cwd=self._second,
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.sandbox.stdout is not None
        line = self.sandbox.stdout.readline()
        said = json.loads(line)
        port, sftp = said["url"].rpartition(":")[2], said["sftp"]
        self._stands_for = {
            "--port 8080": f"--port {port}",
            "--sftp-port 2222": f"--sftp-port {sftp['port']}",
            "127.0.0.1:8080": f"127.0.0.1:{port}",
            "port = 2222": f"port = {sftp['port']}",
            '"port": 2222': f'"port": {sftp["port"]}',
            "ssh-ed25519 AAAA…": sftp["host_key"],
        }
        return line

    def _serve_a_moment(self, command: str) -> str:
        """Start something that runs until it is stopped, stop it as a supervisor would, and see it end well."""
        log = self.folder / "served.txt"
        with log.open("w") as output:
            process = subprocess.Popen(
                ["bash", "-c", f"exec {command}"], cwd=self.folder, env=environment(), stdout=output, stderr=output
            )
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while not log.read_text() and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.05)
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=15) == 0, log.read_text()
        return log.read_text()

    def _real(self, text: str) -> str:
        for shown, real in self._stands_for.items():
            text = text.replace(shown, real)
        return text


def environment() -> dict[str, str]:
    """A reader's environment: this Python's commands first, no settings of whoever runs the tests."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("LOGISTICS_BATCH_")}
    path = f"{Path(sys.executable).parent}{os.pathsep}{kept['PATH']}"
    return kept | {"PATH": path, "COLUMNS": "200", "LC_ALL": "C.UTF-8"}


def agrees(shown: str, printed: str) -> bool:
    """Whether output is what a page shows: `…` is anything on a line, alone on its line any number of lines."""
    wanted = "".join(r"(?:.*\n)*?" if line.strip() == "…" else _line(line) for line in shown.strip("\n").splitlines())
    return re.fullmatch(wanted, "".join(f"{line}\n" for line in printed.strip("\n").splitlines())) is not None


def _line(line: str) -> str:
    return ".*".join(re.escape(part) for part in line.rstrip().split("…")) + r"[^\S\n]*\n"
