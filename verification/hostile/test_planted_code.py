"""What lies in the folder where the operator stands is never run: neither by the command nor by what it starts."""

import json
import os
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from openpyxl import Workbook
from support.workspace import Workspace

from logistics_batch.demo.service import running_sandbox
from logistics_batch.errors import LogisticsBatchError
from logistics_batch.intake.pgp import PgpKey
from logistics_batch.paper.labels.check import LabelFault
from logistics_batch.paper.labels.judge import LabelJudge

SCRIPT = Path(sys.executable).with_name("logistics-batch")
STEALS = """
import os, pathlib, sys
here = pathlib.Path({folder!r})
key = here / "workspace" / "secrets" / "api-key"
with (here / "stolen").open("a") as out:
    out.write(f"{{__name__}} ran as {{os.getuid()}} and read {{len(key.read_bytes()) if key.exists() else 0}} bytes\\n")
raise SystemExit(3)
"""
PLANTED = ("polars", "pikepdf", "pysequoia", "json", "fastapi", "uvicorn", "yaml", "zipfile", "logistics_batch")


@pytest.fixture
def planted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder full of modules that steal the key; the operator stands in it."""
    folder = tmp_path / "downloads"
    folder.mkdir()
    for name in PLANTED:
        (folder / f"{name}.py").write_text(STEALS.format(folder=str(tmp_path)))
    package = folder / "logistics_batch"
    package.mkdir()
    (package / "__init__.py").write_text(STEALS.format(folder=str(tmp_path)))
    monkeypatch.chdir(folder)
    return folder


def stolen(tmp_path: Path) -> str:
    found = tmp_path / "stolen"
    return found.read_text() if found.exists() else ""


def workbook_of_orders(path: Path) -> Path:
    book = Workbook()
    assert book.active is not None
    book.active.append(["Order No", "Phone", "Address", "PIN", "SKU", "Qty"])
    book.active.append(["A1", "9876543210", "12 MG Road", "560001", "salt", 2])
    book.save(path)
    return path


@pytest.mark.parametrize("way", ["script", "module"])
def test_a_push_runs_nothing_of_the_current_folder(tmp_path: Path, planted: Path, way: str) -> None:
    workspace = Workspace(tmp_path / "workspace", url="http://127.0.0.1:9")
    file = workbook_of_orders(planted / "orders.xlsx")
    if way == "module":  # a whole package of our name would be run by Python itself, before anything of ours
        (planted / "logistics_batch" / "__init__.py").unlink()
        (planted / "logistics_batch").rmdir()
        (planted / "logistics_batch.py").unlink()
    command = [str(SCRIPT)] if way == "script" else [sys.executable, "-m", "logistics_batch"]
    command += ["--workspace", str(workspace.root), "push", str(file), "--mapping", "orders", "--dry-run", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert stolen(tmp_path) == ""
    assert done.returncode == 0, done.stderr
    (answered,) = json.loads(done.stdout)["files"]
    assert answered["counts"]["pending"] == 1


def test_the_judge_of_labels_runs_nothing_of_it(tmp_path: Path, planted: Path) -> None:
    with closing(LabelJudge(processes=1)) as judge, pytest.raises(LabelFault):
        judge.judge(b"%PDF-1.4 no label", ["SH-1"])
    assert stolen(tmp_path) == ""


def test_the_process_that_decrypts_runs_nothing_of_it(tmp_path: Path, planted: Path) -> None:
    pytest.importorskip("pysequoia")
    key, message = tmp_path / "key.asc", tmp_path / "orders.csv.pgp"
    key.write_text("no key")
    message.write_bytes(b"\x85\x01")
    with pytest.raises(LogisticsBatchError):
        PgpKey(key, "secret").decrypt(message, name=message.name, to=tmp_path / "plain", most_bytes=1 << 20)
    assert stolen(tmp_path) == ""


def test_the_sandbox_of_the_demo_runs_nothing_of_it(tmp_path: Path, planted: Path) -> None:
    key = tmp_path / "key"
    key.write_text("a-key-for-the-sandbox")
    (tmp_path / "sftp").mkdir()
    os.chdir(planted)
    with running_sandbox(tmp_path / "sandbox", api_key_file=key, sftp_root=tmp_path / "sftp") as sandbox:
        assert sandbox.url
    assert stolen(tmp_path) == ""
