"""A run whose words find no reader, and whose reports find no room, ends as what it is."""

import shlex
import subprocess
from pathlib import Path

import pytest
from support.canary import FOLDER
from support.sandbox_process import RunningSandbox
from support.workspace import Workspace, order_lines


@pytest.mark.parametrize(
    ("ending", "told"),
    [
        (">/dev/full", "Standard output could not be written: No space left on device."),
        ("| true", ""),
        (">&- 2>&-", ""),
    ],
)
def test_the_exit_code_is_that_of_the_run(
    workspace: Workspace, sandbox: RunningSandbox, ending: str, told: str
) -> None:
    path = workspace.drop("a.csv", order_lines([f"A-{n}" for n in range(3)]).replace("560003", "56"))
    done = _shell(workspace, path, ending)
    assert done.returncode == 3, done.stderr
    assert told in done.stderr
    assert "report this" not in done.stderr
    assert len(sandbox.committed("order.created")) == 2
    assert workspace.run("runs", "--json").json["runs"][0]["exit_code"] == 3


def _shell(workspace: Workspace, path: Path, ending: str) -> subprocess.CompletedProcess[str]:
    command = shlex.join([*map(str, workspace.command("push", path, "--mapping", "orders"))])
    environment = workspace.environment({})
    environment.pop(FOLDER, None)  # the canary copies what is said with a stream of its own in the place of ours
    return subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command} {ending}"],
        cwd=workspace.root,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
