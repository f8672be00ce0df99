"""Everything in flight when the machine dies: the first thing that runs again lists every document with its state."""

import json
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
from campaigns.nights import created
from campaigns.scale import report, size
from support.commands import Forker
from support.sandbox_process import RunningSandbox
from support.workspace import Workspace, order_lines

DOCUMENTS = size(sample=500, full=10_000)
IN_FLIGHT = Path(__file__).parents[2] / "benchmarks/in_flight.py"


def listed(forker: Forker, workspace: Workspace) -> Counter[str]:
    """The fates of all documents of the only run that brought a file."""
    runs = json.loads(forker.run(workspace, "runs", "--json").out)["runs"]
    (dead,) = [each["id"] for each in runs if each["id"].endswith("-dead")]
    shown = json.loads(forker.run(workspace, "runs", "show", dead, "--json").out)
    return Counter(row["fate"] for file in shown["files"] for row in file["rows"])


@pytest.mark.slow
def test_all_in_flight(forker: Forker, sandbox: RunningSandbox, tmp_path: Path) -> None:
    workspace = Workspace(tmp_path / "workspace", url=sandbox.url, settle_after="1h")
    file = workspace.drop("orders.csv", order_lines(f"T-{number}" for number in range(DOCUMENTS)))
    died = subprocess.run(
        [sys.executable, str(IN_FLIGHT), str(workspace.root), str(file)], env=workspace.environment({})
    )
    assert died.returncode == -signal.SIGKILL
    assert listed(forker, workspace) == {"in_doubt": DOCUMENTS}  # also before anything has written again
    began = time.monotonic()
    assert forker.run(workspace, "settle").code == 4
    seconds = time.monotonic() - began
    assert listed(forker, workspace) == {"in_doubt": DOCUMENTS}
    report("restart", documents=DOCUMENTS, seconds_until_listed=round(seconds, 2))
    assert not created(sandbox, "orders")
