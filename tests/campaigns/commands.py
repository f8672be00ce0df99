"""Commands of the program as processes that start at once; `forked.py` makes them."""

import json
import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

from support.workspace import Finished, Workspace


@dataclass
class Command:
    """One command under way."""

    process: int
    output: Path
    forker: "Forker"
    code: int | None = None

    def wait(self, *, seconds: float = 300) -> Finished | None:
        """How it ended; None if it still runs after so many seconds."""
        if self.code is None:
            self.code = self.forker.ask({"wait": self.process, "seconds": seconds})
        if self.code is None:
            return None
        out, err = (self.output.with_name(f"{self.output.name}.{ending}") for ending in ("out", "err"))
        return Finished(self.code, out.read_text("utf-8", "replace"), err.read_text("utf-8", "replace"))

    def end(self, *, seconds: float = 300) -> Finished:
        """How it ended; one that does not end by then is killed, and the test fails."""
        done = self.wait(seconds=seconds)
        if done is None:
            self.kill()
            raise TimeoutError(f"still running after {seconds} s: {self.output}")
        return done

    def kill(self) -> Finished:
        """kill -9, or how it had ended before."""
        if self.code is None:  # nobody has waited for it, so the number is still its own
            os.kill(self.process, signal.SIGKILL)
        done = self.wait(seconds=30)
        assert done is not None
        return done

    def signal(self, number: signal.Signals) -> None:
        """Send it a signal."""
        os.kill(self.process, number)


class Forker:
    """The process that forks them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._numbers = count(1)
        self._process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("forked.py"))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def start(
        self,
        workspace: Workspace,
        *arguments: str | Path,
        environment: dict[str, str] | None = None,
        most_pages: int = 0,
        stops: bool = False,
        debug: bool = False,
    ) -> Command:
        """Start `logistics-batch` in this workspace.

        most_pages: more the ledger cannot have, 0 for no limit. stops: it is stopped where a crash point would kill it.
        debug: everything is logged, to standard error.
        """
        output = self._folder / f"command-{next(self._numbers)}"
        for ending in ("out", "err"):  # a command may be killed before it opens them
            output.with_name(f"{output.name}.{ending}").touch()
        request = {
            "start": [str(argument) for argument in arguments],
            "folder": str(workspace.root),
            "environment": Workspace.environment(environment or {}),
            "output": str(output),
            "most_pages": most_pages,
            "stops": stops,
            "debug": debug,
        }
        return Command(self.ask(request), output, self)

    def run(self, workspace: Workspace, *arguments: str | Path, seconds: float = 300) -> Finished:
        """Run `logistics-batch` in this workspace to its end."""
        return self.start(workspace, *arguments).end(seconds=seconds)

    def ask(self, request: dict[str, Any]) -> Any:
        """One request, one answer."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())

    def close(self) -> None:
        """End it; commands that still run go on."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(timeout=30)
        assert self._process.stdout is not None
        self._process.stdout.close()
