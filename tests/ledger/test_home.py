"""A ledger that was copied is told from one that was put back, or that a container with another name finds again."""

import shutil
import socket
from pathlib import Path

import pytest

from logistics_batch.ledger import Ledger, open_ledger


def opened(path: Path) -> Ledger:
    return open_ledger(f"sqlite:///{path}", account="http://service.test")


@pytest.fixture
def used(tmp_path: Path) -> Path:
    """The file of a ledger that was used where it lies."""
    path = tmp_path / "here/ledger.db"
    path.parent.mkdir()
    ledger = opened(path)
    ledger.itself.settle_in()
    assert ledger.itself.moved_from() is None
    ledger.close()
    return path


def test_a_copy_elsewhere_knows_where_it_comes_from(used: Path, tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    ledger = opened(Path(shutil.copy(used, tmp_path / "there/ledger.db")))
    before = ledger.itself.moved_from()
    assert before is not None
    assert (before.host, before.path) == (socket.gethostname(), str(used))
    ledger.itself.settle_in()
    assert ledger.itself.moved_from() is None
    ledger.close()


def test_the_same_file_under_another_host_name_is_no_copy(used: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As that of a container on its volume each night."""
    monkeypatch.setattr(socket, "gethostname", lambda: "another-container")
    ledger = opened(used)
    assert ledger.itself.moved_from() is None
    ledger.close()


def test_a_backup_that_is_put_back_is_no_copy(used: Path) -> None:
    kept = Path(shutil.copy(used, used.with_name("backup.db")))
    used.unlink()
    ledger = opened(Path(shutil.copy(kept, used)))
    assert ledger.itself.moved_from() is None
    ledger.close()
