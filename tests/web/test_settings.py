"""What keeps the receiver from starting, in words that say what to do."""

import os
import socket
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from support.receiver_process import SECRET
from support.workspace import Workspace

from logistics_batch.cli.front import run

Refused = Callable[..., str]


@pytest.fixture
def refused(
    workspace: Workspace, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Iterator[Refused]:
    """Starts `receive` in this process, which has to end with 2 and to say nothing on standard output."""
    umask = os.umask(0o022)
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)

    def start(port: int = 0) -> str:
        capsys.readouterr()
        code = run(["--workspace", str(workspace.root), "receive", "--port", str(port)])
        said = capsys.readouterr()
        assert (code, said.out) == (2, "")
        return said.err

    yield start
    os.umask(umask)


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path, url="https://service.invalid")


@pytest.mark.parametrize(
    ("lines", "complaint"),
    [
        ([], "(umask 077; openssl rand -hex 32 > secrets/events)"),
        (['secret = "short"'], "at least 32"),
        ([f'secret = "{"é" * 40}"'], "at least 32"),
        (['header = "API_KEY"'], "has an underscore: many servers and proxies drop such headers"),
        (['header = "Secret"'], "Write one as"),
        (['path = "events"'], 'begins with "/"'),
        (['secret_fil = "x"'], "secret_file"),
        (["port = 70000"], "receive.port"),
        (['secret_file = "secrets/none"'], "cannot be read"),
    ],
)
def test_a_mistake_in_the_settings_is_explained(
    workspace: Workspace, refused: Refused, lines: list[str], complaint: str
) -> None:
    workspace.configure("[receive]", *lines)
    said = refused()
    assert complaint in said
    assert "é" not in said


def test_a_secret_that_others_can_read_is_refused(workspace: Workspace, refused: Refused) -> None:
    workspace.secret("events", SECRET).chmod(0o644)
    workspace.configure("[receive]", 'secret_file = "secrets/events"')
    said = refused()
    assert "chmod 600" in said
    assert SECRET not in said


def test_a_port_that_is_taken_is_named(workspace: Workspace, refused: Refused) -> None:
    workspace.secret("events", SECRET)
    workspace.configure("[receive]", 'secret_file = "secrets/events"')
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        said = refused(port)
    assert f"Nothing can listen on 127.0.0.1, port {port}" in said
    assert "--port" in said


def test_without_its_extra_it_says_what_to_install(workspace: Workspace, tmp_path: Path) -> None:
    (tmp_path / "uvicorn.py").write_text("raise ModuleNotFoundError('No module', name='uvicorn')")
    workspace.secret("events", SECRET)
    done = workspace.run("receive", "--port", "0", PYTHONPATH=str(tmp_path))
    assert done.code == 2
    assert "pip install 'logistics-batch[web]'" in done.err
