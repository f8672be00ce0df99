"""`logistics-batch sandbox`: mistakes in its options, several keys, and what it says to people and to programs."""

import json
import os
import pty
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
from support.commands import Finished

Run = Callable[..., Finished]
MISTAKES = [
    (["--faults", "plan.yaml"], "plan.yaml: fault rule 2: "),
    (["--faults", "absent.yaml"], "absent.yaml: No such file"),
    (["--faults", "broken.yaml"], "broken.yaml: the fault plan is not YAML"),
    (["--switch", "duplicate_reference"], "--switch duplicate_reference: NAME=VALUE is expected"),
    (
        ["--switch", "duplicate_reference=maybe"],
        "switch duplicate_reference: Input should be 'refuse', 'replay' or 'error'; not 'maybe'",
    ),
    (["--switch", "colour=red"], "unknown switch 'colour'; there are duplicate_reference, "),
    (["--api-key-file", "empty.txt"], "empty.txt holds no key"),
]


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """Fault plans and a file of keys, each with a mistake in it."""
    (tmp_path / "plan.yaml").write_text("- {kind: drop_after, requests: [3]}\n- {kind: dropp}\n")
    (tmp_path / "broken.yaml").write_text("- {kind: [\n")
    (tmp_path / "empty.txt").write_text("\n \n")
    return tmp_path


@pytest.mark.parametrize(("arguments", "words"), MISTAKES)
def test_a_mistake_is_named(run: Run, files: Path, arguments: list[str], words: str) -> None:
    finished = run("sandbox", *arguments)
    assert (finished.code, finished.out) == (2, "")
    assert f"Error: The sandbox cannot start: {words}" in finished.err
    assert "What to do: Check port, folders, switches and fault plan" in finished.err


def test_the_module_names_a_mistake_too(files: Path) -> None:
    command = [sys.executable, "-m", "logistics_batch.sandbox", "--faults", "plan.yaml"]
    done = subprocess.run(command, cwd=files, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert "sandbox: plan.yaml: fault rule 2: " in done.stderr


def test_a_port_that_is_taken_is_said_in_words(run: Run) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        finished = run("sandbox", "--port", taken.getsockname()[1])
    assert finished.code == 2
    assert "The sandbox cannot start: Address already in use" in finished.err


def test_people_at_a_terminal_read_where_everything_is_and_programs_one_line(tmp_path: Path) -> None:
    (tmp_path / "keys.txt").write_text("second-key\nthird-key\n")
    master, terminal = pty.openpty()
    options = ["--api-key", "first-key", "--api-key-file", "keys.txt", "--switch", "duplicate_reference=replay"]
    process = subprocess.Popen(
        [sys.executable, "-m", "logistics_batch", "sandbox", *options, "--sftp-port", "0", "--sftp-root", "drop"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=terminal,
        text=True,
    )
    try:
        assert process.stdout is not None
        said = json.loads(process.stdout.readline())
        shown = ""
        while "SFTP" not in shown:
            shown += os.read(master, 4096).decode()
        for key in ("first-key", "second-key", "third-key"):
            reply = httpx.get(f"{said['url']}/_sandbox/switches", headers={"API_KEY": key}, trust_env=False)
            assert reply.json()["duplicate_reference"] == "replay"
        refused = httpx.get(f"{said['url']}/_sandbox/switches", headers={"API_KEY": "sandbox-key"}, trust_env=False)
        assert refused.status_code == 401
    finally:
        process.terminate()
        assert process.wait(timeout=15) == 0
        os.close(master)
        os.close(terminal)
    assert f"Status page  {said['url']}/_sandbox/" in shown
    assert f"sftp -P {said['sftp']['port']} warehouse@127.0.0.1" in shown
    assert Path(said["sftp"]["root"]).resolve() == (tmp_path / "drop").resolve()
    assert "first-key" not in shown
    assert "any of the 3 given" in shown
