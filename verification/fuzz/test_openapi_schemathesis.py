"""The sandbox answers as its description says: thousands of requests, good and bad, made from that description.

The sample is slow enough; `CAMPAIGN=full` makes it long.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.canary import key_of_tests
from support.sandbox_process import RunningSandbox, start_sandbox

HERE = Path(__file__).parent
TIMES = 25 if os.environ.get("CAMPAIGN") == "full" else 1


def run_schemathesis(sandbox: RunningSandbox, folder: Path, *, phases: str, examples: int, seed: int = 1) -> str:
    """What it prints; fails with its findings."""
    command = [Path(sys.executable).with_name("schemathesis"), "--config-file", HERE / "schemathesis.toml", "run"]
    options = ["--url", sandbox.url, "--phases", phases, "--continue-on-failure", "--checks", "all"]
    options += ["--max-examples", str(examples * TIMES), "--seed", str(seed)]
    done = subprocess.run(
        [*command, f"{sandbox.url}/openapi.json", *options],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(HERE), "NO_COLOR": "1", "COLUMNS": "120", "KEY_OF_TESTS": key_of_tests()},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-20_000:] + done.stderr
    return done.stdout


def reached(sandbox: RunningSandbox) -> set[str]:
    """The effects there were, and whether a label was fetched by its link."""
    journal = sandbox.journal()
    links = {line["seq"] for line in sandbox.received("label.download")}
    fetched = any(
        line["event"] == "answered" and line["request"] in links and line["status"] == 200 for line in journal
    )
    return {line["effect"] for line in sandbox.committed()} | (
        {"a link is followed to its label"} if fetched else set()
    )


@pytest.fixture
def running(tmp_path: Path) -> Iterator[RunningSandbox]:
    """A second create of a reference is answered as the first: no valid create is refused for it."""
    sandbox = start_sandbox(tmp_path, duplicate_reference="replay", webhook_attempts=1)
    yield sandbox
    sandbox.stop()
    assert "Traceback" not in (sandbox.folder / "output.err").read_text()


@pytest.mark.slow
def test_every_operation_answers_as_described(running: RunningSandbox, tmp_path: Path) -> None:
    printed = run_schemathesis(running, tmp_path, phases="examples,coverage,fuzzing", examples=12)
    assert "Tested: 13" in printed
    assert len(running.received()) > 1000
    assert len(running.committed("order.created")) >= 3


@pytest.mark.slow
def test_what_was_created_is_worked_on_as_described(running: RunningSandbox, tmp_path: Path) -> None:
    """What is drawn depends on ids and times in the answers: some draws never reach an order, others do."""
    expected = {
        "order.created",
        "order.updated",
        "order.items_added",
        "order.cancelled",
        "asn.created",
        "label.created",
        "a link is followed to its label",
    }
    seen: set[str] = set()
    for seed in range(1, 13):
        run_schemathesis(running, tmp_path, phases="stateful", examples=40, seed=seed)
        seen = reached(running)
        if expected <= seen:
            break
    assert expected <= seen
