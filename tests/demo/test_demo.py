"""The folder that the demo plays in; the whole of it is played in `verification/release`."""

import subprocess
from pathlib import Path

import pytest
from support.workspace import Workspace

from logistics_batch.demo.play import MARKER, claimed
from logistics_batch.errors import UsageError


def run_demo(folder: Path, *options: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        Workspace.command("demo", "--dir", folder, *options),
        cwd=folder.parent,
        env=Workspace.environment(environment),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
    )


def test_a_folder_with_other_files_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("years of work")
    done = run_demo(tmp_path)
    assert done.returncode == 2
    assert "holds files that the demo did not make" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_what_lies_in_the_folder_is_kept_in_full(tmp_path: Path) -> None:
    folder = tmp_path / "demo"
    for round_ in (1, 2, 3):
        with claimed(folder) as ground:
            assert sorted(path.name for path in ground.iterdir() if path.name != MARKER) in ([], ["earlier"])
            (ground / "mine.txt").write_text(f"round {round_}")
    kept = {path.parent.name: path.read_text() for path in folder.glob("earlier/*/mine.txt")}
    assert kept == {"1": "round 1", "2": "round 2"}


def test_two_demos_do_not_share_a_folder(tmp_path: Path) -> None:
    with (
        claimed(tmp_path / "demo") as ground,
        pytest.raises(UsageError, match="Another demo runs"),
    ):
        (ground / "mine.txt").write_text("in use")
        with claimed(tmp_path / "demo"):
            pass
    assert (tmp_path / "demo/mine.txt").exists()


def test_a_file_in_the_way_is_named(tmp_path: Path) -> None:
    (tmp_path / "demo").write_text("a file")
    with pytest.raises(UsageError, match="demo cannot be used"), claimed(tmp_path / "demo"):
        pass


def test_a_sandbox_that_cannot_start_is_named_with_its_reason(tmp_path: Path) -> None:
    from logistics_batch.demo.service import running_sandbox

    missing = tmp_path / "no-such-key"
    with (
        pytest.raises(UsageError, match=r"did not start: .*no-such-key"),
        running_sandbox(tmp_path / "sandbox", api_key_file=missing, sftp_root=tmp_path / "sftp"),
    ):
        pass
