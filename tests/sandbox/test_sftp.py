"""The SFTP server beside the service: files come and go, and nothing leads out of its folder."""

import base64
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import paramiko
import pytest
from support.sandbox_process import RunningSandbox, SftpPlace, start_sandbox


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningSandbox]:
    sandbox = start_sandbox(tmp_path_factory.mktemp("sftp"), sftp=True)
    yield sandbox
    sandbox.kill()


@pytest.fixture
def place(running: RunningSandbox) -> SftpPlace:
    assert running.sftp is not None
    return running.sftp


@pytest.fixture
def client(place: SftpPlace) -> Iterator[paramiko.SFTPClient]:
    transport = connect(place)
    session = paramiko.SFTPClient.from_transport(transport)
    assert session is not None
    yield session
    transport.close()


def connect(place: SftpPlace, *, username: str | None = None, password: str | None = None) -> paramiko.Transport:
    transport = paramiko.Transport((place.host, place.port))
    kind, _, encoded = place.host_key.partition(" ")
    key = paramiko.Ed25519Key(data=base64.b64decode(encoded))
    assert key.get_name() == kind
    transport.connect(key, username or place.username, password or place.password)
    return transport


def test_what_is_put_is_got(client: paramiko.SFTPClient, place: SftpPlace, tmp_path: Path) -> None:
    content = os.urandom(1_500_000)
    (tmp_path / "sent").write_bytes(content)
    client.put(str(tmp_path / "sent"), "/orders.xlsx")
    client.get("/orders.xlsx", str(tmp_path / "got"), max_concurrent_prefetch_requests=256)
    assert (tmp_path / "got").read_bytes() == content
    assert (place.root / "orders.xlsx").read_bytes() == content


def test_size_and_time_are_those_of_the_file(client: paramiko.SFTPClient, place: SftpPlace) -> None:
    (place.root / "timed.csv").write_bytes(b"12345")
    os.utime(place.root / "timed.csv", (1_700_000_000, 1_700_000_123))
    (listed,) = [entry for entry in client.listdir_attr("/") if entry.filename == "timed.csv"]
    for seen in (client.stat("/timed.csv"), client.lstat("timed.csv"), listed, client.open("timed.csv").stat()):
        assert (seen.st_size, seen.st_mtime) == (5, 1_700_000_123)


def test_size_and_time_can_be_set(client: paramiko.SFTPClient, place: SftpPlace) -> None:
    (place.root / "set.csv").write_bytes(b"1234567890")
    client.truncate("/set.csv", 4)
    client.utime("/set.csv", (1_600_000_000, 1_600_000_001))
    assert (place.root / "set.csv").read_bytes() == b"1234"
    assert (place.root / "set.csv").stat().st_mtime == 1_600_000_001
    with client.open("/set.csv", "r+") as file:
        file.truncate(2)
    assert (place.root / "set.csv").read_bytes() == b"12"


def test_rename_keeps_what_is_there_and_posix_rename_replaces_it(client: paramiko.SFTPClient, place: SftpPlace) -> None:
    (place.root / "new").write_text("new")
    (place.root / "old").write_text("old")
    with pytest.raises(OSError, match="Failure"):
        client.rename("/new", "/old")
    assert (place.root / "old").read_text() == "old"
    client.posix_rename("/new", "/old")
    assert (place.root / "old").read_text() == "new"
    client.rename("/old", "/older")
    assert (place.root / "older").read_text() == "new"


def test_folders(client: paramiko.SFTPClient, place: SftpPlace) -> None:
    client.mkdir("/inbound")
    client.mkdir("/inbound/orders")
    with client.open("/inbound/orders/a.csv", "w") as file:
        file.write("a")
    with client.open("/inbound/orders/a.csv", "a") as file:
        file.write("b")
    assert client.open("/inbound/orders/a.csv").read() == b"ab"
    with pytest.raises(OSError, match="Failure"):
        client.rmdir("/inbound/orders")
    client.remove("/inbound/orders/a.csv")
    client.rmdir("/inbound/orders")
    assert client.listdir("/inbound") == []


@pytest.mark.parametrize("path", ["/nothing", "/nothing/at/all", "timed\0.csv"])
def test_what_is_not_there_is_not_there(client: paramiko.SFTPClient, path: str) -> None:
    with pytest.raises(FileNotFoundError):
        client.stat(path)
    with pytest.raises(FileNotFoundError):
        client.listdir(path)


def test_no_path_leads_out(client: paramiko.SFTPClient, place: SftpPlace) -> None:
    secret = place.root.parent / "secret.txt"
    secret.write_text("secret")
    (place.root / "way-out").symlink_to(place.root.parent)
    (place.root / "file-out").symlink_to(secret)
    for path in ("../secret.txt", "/../../secret.txt", str(secret), "inbound/../../secret.txt"):
        with pytest.raises(FileNotFoundError):
            client.stat(path)
    for path in ("/way-out/secret.txt", "/file-out", "/way-out/../secret.txt/../file-out"):
        with pytest.raises((PermissionError, FileNotFoundError)):
            client.open(path).read()
    for attempt in (
        lambda: client.listdir("/way-out"),
        lambda: client.open("/way-out/planted", "w"),
        lambda: client.mkdir("/way-out/planted"),
        lambda: client.remove("/way-out/secret.txt"),
        lambda: client.rename("/timed.csv", "/way-out/planted"),
        lambda: client.posix_rename("/way-out/secret.txt", "/taken"),
        lambda: client.truncate("/file-out", 0),
    ):
        with pytest.raises(PermissionError):
            attempt()
    with pytest.raises(OSError, match="unsupported"):
        client.symlink(str(secret), "/another")
    assert secret.read_text() == "secret"
    assert sorted(path.name for path in place.root.parent.glob("planted*")) == []


def test_a_link_inside_the_folder_works(client: paramiko.SFTPClient, place: SftpPlace) -> None:
    (place.root / "real.csv").write_text("real")
    (place.root / "link.csv").symlink_to(place.root / "real.csv")
    assert client.open("/link.csv").read() == b"real"
    client.remove("/link.csv")
    assert (place.root / "real.csv").exists()


@pytest.mark.parametrize(("username", "password"), [("warehouse", "wrong"), ("root", None)])
def test_only_the_account_may_log_in(place: SftpPlace, username: str, password: str | None) -> None:
    with pytest.raises(paramiko.AuthenticationException):
        connect(place, username=username, password=password)


def test_many_sessions_at_once(place: SftpPlace) -> None:
    def use(number: int) -> bytes:
        transport = connect(place)
        try:
            session = paramiko.SFTPClient.from_transport(transport)
            assert session is not None
            with session.open(f"/many-{number}", "w") as file:
                file.write(str(number) * 1000)
            return session.open(f"/many-{number}").read()
        finally:
            transport.close()

    with ThreadPoolExecutor(12) as workers:
        assert list(workers.map(use, range(24))) == [str(number).encode() * 1000 for number in range(24)]


def test_a_public_key_may_log_in_where_one_is_given(tmp_path: Path) -> None:
    key = paramiko.RSAKey.generate(2048)
    other = paramiko.RSAKey.generate(2048)
    (tmp_path / "id.pub").write_text(f"{key.get_name()} {key.get_base64()} somebody@desk\n")
    running = start_sandbox(tmp_path, sftp=True, options=["--sftp-public-key", str(tmp_path / "id.pub")])
    try:
        assert running.sftp is not None
        with paramiko.Transport((running.sftp.host, running.sftp.port)) as transport:
            transport.start_client(timeout=10)
            with pytest.raises(paramiko.AuthenticationException):
                transport.auth_publickey("warehouse", other)
            transport.auth_publickey("warehouse", key)
            assert transport.is_authenticated()
    finally:
        running.kill()


def test_host_key_and_password_stay_the_same(tmp_path: Path) -> None:
    running = start_sandbox(tmp_path, sftp=True)
    try:
        before = running.sftp
        running.restart()
        assert running.sftp == before
        assert (running.data / "sftp-host-key").stat().st_mode & 0o077 == 0
    finally:
        running.kill()
