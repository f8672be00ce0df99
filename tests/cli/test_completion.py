"""What a shell completes, as the script that it loads asks for it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

COMMAND = Path(sys.executable).with_name("logistics-batch")


def completed(shell: str, words: str, *, at: int, folder: Path) -> list[str]:
    """What is offered for the word at a place of a line."""
    asked = {"COMP_WORDS": words, "COMP_CWORD": str(at), "_LOGISTICS_BATCH_COMPLETE": f"{shell}_complete"}
    done = subprocess.run(
        [str(COMMAND)], cwd=folder, env=os.environ | asked, capture_output=True, text=True, check=True, timeout=60
    )
    return [line.partition(",")[2] for line in done.stdout.splitlines() if line]


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    for name in ("jobs/orders-nightly.yaml", "jobs/labels.yaml", "mappings/orders_standard.yaml", "jobs/notes.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    return tmp_path


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("logistics-batch recon", ["reconcile"]),
        ("logistics-batch labels --lay", ["--layout"]),
        ("logistics-batch labels --layout a4-4", ["a4-4up"]),
        ("logistics-batch run o", ["orders-nightly"]),
        ("logistics-batch push x.csv --mapping o", ["orders_standard"]),
        ("logistics-batch run x", []),
    ],
)
def test_commands_options_values_and_names_are_offered(workspace: Path, line: str, offered: list[str]) -> None:
    assert completed("bash", line, at=len(line.split()) - 1, folder=workspace) == offered


def test_names_are_those_of_the_workspace_that_is_named(
    workspace: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    line = f"logistics-batch --workspace {workspace} run l"
    assert completed("bash", line, at=4, folder=tmp_path_factory.mktemp("elsewhere")) == ["labels"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_gets_a_script_that_it_can_read(shell: str) -> None:
    environment = os.environ | {"_LOGISTICS_BATCH_COMPLETE": f"{shell}_source"}
    script = subprocess.run([str(COMMAND)], env=environment, capture_output=True, text=True, check=True).stdout
    assert "logistics-batch" in script
    if found := shutil.which(shell):
        subprocess.run([found, "-n"], input=script, text=True, check=True)
