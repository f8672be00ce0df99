"""The container of docs/deploy, built step by step on this machine, does what its page says, and can do no more."""

import signal
import subprocess
import time
from pathlib import Path

import pytest
from release.container import Image, built, may_mount

PACKAGES = "/opt/logistics-batch/lib/python3*/site-packages"


@pytest.mark.slow
@pytest.mark.skipif(not may_mount(), reason="nobody may mount here")
def test_the_container_works_on_its_workspace_and_can_do_no_more(tmp_path: Path) -> None:
    """Beside the tests that read the file: here its steps are taken."""
    stages, workspace = tmp_path / "stages", tmp_path / "night-shift"
    stages.mkdir()
    workspace.mkdir(mode=0o700)
    with built(stages) as image:
        image.outside('chown 1000:1000 "$1"', workspace)
        image.start(workspace)
        check_rights(image)
        check_packages(image)
        check_work(image)


def check_rights(image: Image) -> None:
    """Its user is not root, has no right of root, and writes nothing but the workspace."""
    assert image.run("id", "-u").stdout == "1000\n"
    for place in ("/new", "/opt/logistics-batch/new", "/home/logistics/new"):
        refused = image.run("touch", place)
        assert (refused.returncode, "Read-only file system" in refused.stderr) == (1, True), place
    for place in ("/tmp/new", "new"):
        assert image.run("touch", place).returncode == 0
    rights = image.run("grep", "-E", "^Cap(Prm|Eff|Bnd)|^NoNewPrivs", "/proc/self/status").stdout.split()
    assert set(rights[1::2]) == {"0" * 16, "1"}


def check_packages(image: Image) -> None:
    """It holds what runs, with its licences and its page for man, and nothing that builds."""
    packages = image.run("sh", "-c", f"ls -d {PACKAGES}/*").stdout
    assert "/polars" in packages
    assert [tool for tool in ("/pip", "/hatchling", "/pytest", "/fastapi") if tool in packages] == []
    licences = image.run("sh", "-c", f"ls {PACKAGES}/logistics_batch-*/licenses")
    assert licences.stdout.split() == ["LICENSE", "NOTICE"]
    assert image.run("ls", "/opt/logistics-batch/share/man/man1/logistics-batch.1").returncode == 0
    assert image.run("logistics-batch", "--version").stdout.startswith("logistics-batch, version ")
    for needed in ("receive", "schedule", "labels", "serve"):
        assert image.run("logistics-batch", needed, "--help").returncode == 0


def check_work(image: Image) -> None:
    """What a person does first, then what the container does by itself: it works until it is stopped."""
    made = image.run("logistics-batch", "init", "--layout", "orders_standard", ".")
    assert made.returncode == 0, made.stderr
    assert image.run("sh", "-c", "umask 077; mkdir -p secrets; echo a-key >secrets/api-key").returncode == 0
    tested = image.run("logistics-batch", "mapping", "test")  # reads spreadsheets in the child that may do nothing else
    assert tested.returncode == 0, tested.stdout + tested.stderr
    checked = image.run("logistics-batch", "doctor").stdout
    assert "ok       ledger: sound" in checked
    assert "ok       workspace: no other user can change what is sent" in checked
    assert image.run(*image.health).returncode == 5  # nobody works yet
    with subprocess.Popen(image.process(image.command), cwd="/", stdout=subprocess.DEVNULL) as scheduler:
        until = time.monotonic() + 60
        while (beat := image.run(*image.health)).returncode and time.monotonic() < until:
            assert scheduler.poll() is None
        assert "The scheduler works" in beat.stdout
        scheduler.send_signal(signal.SIGTERM)
        assert scheduler.wait(20) == 0
