"""The stores under test, each over a folder of this machine that the test can look into."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from support.sftp_servers import FakeSFTP, fake_access, fake_sftp, openssh_server, real_access

from logistics_batch.intake.stores.folder import FolderStore
from logistics_batch.intake.stores.sftp import SftpStore
from logistics_batch.intake.stores.store import FileStore, RemoteFile

__all__ = ["fake_sftp", "openssh_server"]


@dataclass(frozen=True)
class StoreUnderTest:
    """A store, the local folder behind it, and how its paths begin there."""

    store: FileStore
    root: Path
    prefix: str

    def path(self, path: str) -> str:
        return f"{self.prefix}{path}"

    def listed(self, path: str) -> RemoteFile:
        folder, _, name = self.path(path).rpartition("/")
        return next(file for file in self.store.list(folder) if file.name == name)


@pytest.fixture
def sftp_store(fake_sftp: FakeSFTP) -> Iterator[Callable[..., SftpStore]]:
    """Makes stores for the server in process; changes of its access as keywords."""
    made = []

    def make(**changes: object) -> SftpStore:
        made.append(SftpStore(fake_access(fake_sftp, **changes)))
        return made[-1]

    yield make
    for store in made:
        store.close()


@pytest.fixture(params=["folder", "fake", pytest.param("openssh", marks=pytest.mark.real)])
def under_test(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[StoreUnderTest]:
    """Every implementation of the store protocol."""
    store: FileStore
    if request.param == "folder":
        root, prefix = tmp_path / "drop", ""
        root.mkdir()
        store = FolderStore(root)
    elif request.param == "fake":
        server = request.getfixturevalue("fake_sftp")
        root, prefix, store = server.root, "", SftpStore(fake_access(server))
    else:
        sshd = request.getfixturevalue("openssh_server")
        root, prefix, store = sshd.root, str(sshd.root), SftpStore(real_access(sshd))
    yield StoreUnderTest(store, root, prefix)
    store.close()
