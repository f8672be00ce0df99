"""The program as it is installed without any extra: what needs one says so, all else works."""

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from support.workspace import Workspace, order_lines

PROJECT = Path(__file__).parents[2]
BLOCKED_ARE_EXTRAS = """\
import sys
from importlib.abc import MetaPathFinder
class Missing(MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name.partition(".")[0] in {blocked!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Missing())
from logistics_batch.cli import main
sys.argv[0] = "logistics-batch"
sys.exit(main())
"""
IMPORTED_AS = {
    "python_multipart": "python_multipart",
    "argon2_cffi": "argon2",
    "prometheus_client": "prometheus_client",
    "zxing_cpp": "zxingcpp",
}


def extras() -> set[str]:
    """The packages that only extras bring, as they are imported."""
    told = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    packages = (each for extra, listed in told.items() if extra not in ("all", "dev") for each in listed)
    names = {each.partition(">")[0].partition("[")[0].replace("-", "_") for each in packages}
    return {IMPORTED_AS.get(name, name) for name in names}


def run(workspace: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    program = BLOCKED_ARE_EXTRAS.format(blocked=sorted(extras()))
    command = [sys.executable, "-c", program, "--workspace", str(workspace), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path, url="http://127.0.0.1:9")


def test_a_file_is_mapped_and_planned(workspace: Workspace) -> None:
    file = str(workspace.drop("orders.csv", order_lines(["R-1", "R-2"])))
    for command in (
        ("mapping", "preview", file, "--mapping", "orders"),
        ("push", "--dry-run", file, "--mapping", "orders"),
    ):
        done = run(workspace.root, *command, "--json")
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)
    assert run(workspace.root, "runs").returncode == 0
    assert "Traceback" not in run(workspace.root, "doctor", "--json").stderr


@pytest.mark.parametrize("command", ["serve", "receive"])
def test_what_needs_an_extra_names_it(workspace: Workspace, command: str) -> None:
    done = run(workspace.root, command)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert "logistics-batch[" in done.stderr
