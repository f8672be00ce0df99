"""SFTP servers for tests: one in process that misbehaves on request, and a real OpenSSH sshd on a loopback port.

`openssh_server` and `fake_sftp` are fixtures; a test module gets them by importing the names.
"""

import os
import pwd
import shutil
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import paramiko
import pytest

from logistics_batch.intake.stores.sftp import SftpAccess

PASSWORD = "correct horse"
USER = "wms"


@dataclass
class Faults:
    """What the server in process does wrong; every field can be changed while it runs.

    cut_at_block: it closes the connection instead of giving the n-th block (from 1); cuts: how often.
    on_block: called with the number of each block that is read, before it is.
    stop_at_bytes: reads end there, as if the file did. stall: reads wait for this event.
    announced_size: what `stat` says of every file. refuse: operations that fail, `rename`, `posix_rename`, `write` …
    forbid: names whose opening is denied. names: listed instead of what lies there.
    """

    cut_at_block: int = 0
    cuts: int = 1
    on_block: Callable[[int], None] | None = None
    on_list: Callable[[], object] | None = None  # called before a folder is listed
    stop_at_bytes: int | None = None
    stall: threading.Event | None = None
    announced_size: int | None = None
    refuse: set[str] = field(default_factory=set)
    forbid: set[str] = field(default_factory=set)
    names: list[bytes] | None = None
    short_reads: int | None = None
    before_rename: Callable[[], None] | None = None  # called once, before anything is renamed
    renames_over: bool = False  # as servers that are not OpenSSH's may do
    drop_after: str = ""  # an operation that is carried out, then the connection is closed instead of an answer


class FakeSFTP:
    """A paramiko SFTP server over a folder, in threads of this process."""

    def __init__(
        self,
        root: Path,
        *,
        key: paramiko.PKey | None = None,
        restrict: Callable[[paramiko.transport.SecurityOptions], None] = lambda _: None,
    ) -> None:
        self.root, self._restrict = root, restrict
        self.key = key or paramiko.ECDSAKey.generate()
        self.faults = Faults()
        self.auth_attempts = 0
        self.connections = 0
        self.operations: list[str] = []
        self._transports: list[paramiko.Transport] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    @property
    def host_key_line(self) -> str:
        return f"{self.key.get_name()} {self.key.get_base64()}"

    def drop_connections(self) -> None:
        """Close every connection, as a firewall or a restart does."""
        dropped, self._transports = self._transports, []  # not those of clients that come back meanwhile
        for transport in dropped:
            transport.close()

    def close(self) -> None:
        if self.faults.stall:
            self.faults.stall.set()
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join(5)
        self.drop_connections()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            transport = paramiko.Transport(connection)
            self._restrict(transport.get_security_options())
            transport.set_log_channel("paramiko.fake")
            paramiko.util.get_logger("paramiko.fake").setLevel("CRITICAL")
            transport.add_server_key(self.key)
            transport.set_subsystem_handler("sftp", paramiko.SFTPServer, _Files, self)
            self._transports.append(transport)
            # With an event it returns at once: a client that goes away over the key is no fault of the server.
            transport.start_server(event=threading.Event(), server=_Door(self))


class _Door(paramiko.ServerInterface):
    def __init__(self, server: FakeSFTP) -> None:
        self._server = server

    def get_allowed_auths(self, username: str) -> str:
        return "password"

    def check_auth_password(self, username: str, password: str) -> int:
        self._server.auth_attempts += 1
        right = (username, password) == (USER, PASSWORD)
        return paramiko.AUTH_SUCCESSFUL if right else paramiko.AUTH_FAILED

    def check_auth_publickey(self, username: str, key: paramiko.PKey) -> int:
        self._server.auth_attempts += 1
        return paramiko.AUTH_FAILED

    def check_channel_request(self, kind: str, chanid: int) -> int:
        return paramiko.OPEN_SUCCEEDED


class _Files(paramiko.SFTPServerInterface):
    def __init__(self, door: paramiko.ServerInterface, server: FakeSFTP) -> None:
        super().__init__(door)
        self._server = server

    def _local(self, path: str) -> Path:
        return self._server.root / self.canonicalize(path).lstrip("/")

    def _do(self, operation: str, action: Callable[[], object]) -> int:
        faults = self._server.faults
        self._server.operations.append(operation)
        if operation in faults.refuse:
            return paramiko.SFTP_FAILURE
        try:
            action()
        except OSError as error:
            return paramiko.SFTPServer.convert_errno(error.errno or 0)
        if faults.drop_after == operation:
            faults.drop_after = ""
            self._server.drop_connections()
        return paramiko.SFTP_OK

    def _status(self, result: os.stat_result) -> paramiko.SFTPAttributes:
        attributes = paramiko.SFTPAttributes.from_stat(result)
        if self._server.faults.announced_size is not None:
            attributes.st_size = self._server.faults.announced_size
        return attributes

    def list_folder(self, path: str) -> list[paramiko.SFTPAttributes] | int:
        folder = self._local(path)
        if self._server.faults.on_list:
            self._server.faults.on_list()
        if self._server.faults.names is not None:
            return [_entry(name) for name in self._server.faults.names]
        try:
            return [paramiko.SFTPAttributes.from_stat(entry.lstat(), entry.name) for entry in sorted(folder.iterdir())]
        except OSError as error:
            return paramiko.SFTPServer.convert_errno(error.errno or 0)

    def stat(self, path: str) -> paramiko.SFTPAttributes | int:
        try:
            return self._status(self._local(path).stat())
        except OSError as error:
            return paramiko.SFTPServer.convert_errno(error.errno or 0)

    def lstat(self, path: str) -> paramiko.SFTPAttributes | int:
        try:
            return self._status(self._local(path).lstat())
        except OSError as error:
            return paramiko.SFTPServer.convert_errno(error.errno or 0)

    def open(self, path: str, flags: int, attr: paramiko.SFTPAttributes) -> paramiko.SFTPHandle | int:
        local = self._local(path)
        if local.name in self._server.faults.forbid:
            return paramiko.SFTP_PERMISSION_DENIED
        try:
            descriptor = os.open(local, flags, 0o644)
        except OSError as error:
            return paramiko.SFTPServer.convert_errno(error.errno or 0)
        return _OpenFile(self._server, descriptor, self)

    def remove(self, path: str) -> int:
        return self._do("remove", self._local(path).unlink)

    def rename(self, oldpath: str, newpath: str) -> int:
        source, target = self._local(oldpath), self._local(newpath)
        earlier, self._server.faults.before_rename = self._server.faults.before_rename, None
        if earlier:
            earlier()

        def rename() -> None:
            if self._server.faults.renames_over:
                source.replace(target)
                return
            os.link(source, target)  # version 3 of the protocol replaces nothing
            source.unlink()

        return self._do("rename", rename)

    def posix_rename(self, oldpath: str, newpath: str) -> int:
        return self._do("posix_rename", lambda: self._local(oldpath).replace(self._local(newpath)))

    def mkdir(self, path: str, attr: paramiko.SFTPAttributes) -> int:
        return self._do("mkdir", self._local(path).mkdir)


class _OpenFile(paramiko.SFTPHandle):
    def __init__(self, server: FakeSFTP, descriptor: int, files: _Files) -> None:
        super().__init__()
        self._server = server
        self._descriptor = descriptor
        self._files = files
        self._block = 0

    def stat(self) -> paramiko.SFTPAttributes:
        return self._files._status(os.fstat(self._descriptor))

    def read(self, offset: int, length: int) -> bytes | int:
        faults = self._server.faults
        self._block += 1
        if faults.on_block:
            faults.on_block(self._block)
        if faults.cut_at_block == self._block and faults.cuts:
            faults.cuts -= 1
            self._server.drop_connections()
            return paramiko.SFTP_FAILURE
        if faults.stall:
            faults.stall.wait(20)
        if faults.stop_at_bytes is not None:
            length = max(0, min(length, faults.stop_at_bytes - offset))
        if faults.short_reads:
            length = min(length, faults.short_reads)
        return os.pread(self._descriptor, length, offset)

    def write(self, offset: int, data: bytes) -> int:
        return self._files._do("write", lambda: os.pwrite(self._descriptor, data, offset))

    def close(self) -> None:
        os.close(self._descriptor)


def _entry(name: bytes) -> paramiko.SFTPAttributes:
    attributes = paramiko.SFTPAttributes()
    attributes.filename = name
    attributes.st_size, attributes.st_mode = 3, 0o100644
    attributes.st_atime = attributes.st_mtime = 1_700_000_000
    # The server writes `str(attributes)` as the long form, which a name in bytes would break.
    attributes.asbytes = lambda: b"-rw-r--r--"
    return attributes


@pytest.fixture
def fake_sftp(tmp_path: Path) -> Iterator[FakeSFTP]:
    """A running FakeSFTP over an empty folder."""
    root = tmp_path / "server"
    root.mkdir()
    server = FakeSFTP(root)
    yield server
    server.close()


@dataclass(frozen=True)
class RunningSshd:
    """A real sshd: who may log in, with which key, and the folder that belongs to the test.

    Paths on the server are those of this machine: use `root` as the start of every path.
    """

    host: str
    port: int
    username: str
    key_file: Path
    host_key_line: str
    root: Path


@pytest.fixture
def openssh_server(tmp_path: Path) -> Iterator[RunningSshd]:
    """A real OpenSSH server with `internal-sftp` on a loopback port."""
    with running_sshd(tmp_path / "sshd") as server:
        yield server


@contextmanager
def running_sshd(folder: Path, *more: str, host_key: str = "ed25519") -> Iterator[RunningSshd]:
    """Start sshd with its own configuration in `folder`; in CI it must be there, elsewhere the test is skipped.

    more: lines for its configuration. host_key: the type of its key.
    """
    sshd = shutil.which("sshd") or shutil.which("sshd", path="/usr/sbin:/usr/local/sbin")
    if not sshd:
        (pytest.fail if os.environ.get("CI") else pytest.skip)(
            "OpenSSH's sshd is missing: apt-get install openssh-server"
        )
    folder.mkdir(mode=0o700, parents=True)
    root = folder / "root"
    root.mkdir()
    for name, kind in (("host_key", host_key), ("user_key", "ed25519")):
        subprocess.run(["ssh-keygen", "-q", "-t", kind, "-N", "", "-f", str(folder / name)], check=True)
    shutil.copy(folder / "user_key.pub", folder / "authorized_keys")
    if os.geteuid() == 0:
        Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)  # where sshd confines its unprivileged part
    process, port = _started(sshd, folder, more)
    try:
        yield RunningSshd(
            host="127.0.0.1",
            port=port,
            username=pwd.getpwuid(os.geteuid()).pw_name,
            key_file=folder / "user_key",
            host_key_line=" ".join((folder / "host_key.pub").read_text().split()[:2]),
            root=root,
        )
    finally:
        process.terminate()
        process.wait(10)


def _started(sshd: str, folder: Path, more: Sequence[str]) -> tuple["subprocess.Popen[bytes]", int]:
    """A listening sshd and its port; a port that somebody else takes first is tried again."""
    for _ in range(5):
        with socket.create_server(("127.0.0.1", 0)) as probe:
            port = probe.getsockname()[1]
        (folder / "sshd_config").write_text("\n".join([*more, _configuration(folder, port=port)]))
        with (folder / "sshd.log").open("ab") as log:
            process = subprocess.Popen([sshd, "-D", "-e", "-f", str(folder / "sshd_config")], stderr=log)
        if _listens(process, port):
            return process, port
    pytest.fail(f"sshd did not start:\n{(folder / 'sshd.log').read_text()}")


def _configuration(folder: Path, *, port: int) -> str:
    return "\n".join(
        [
            f"Port {port}",
            "ListenAddress 127.0.0.1",
            f"HostKey {folder}/host_key",
            f"AuthorizedKeysFile {folder}/authorized_keys",
            "PidFile none",
            "StrictModes no",
            "UsePAM no",
            "PermitRootLogin prohibit-password",
            "PasswordAuthentication no",
            "Subsystem sftp internal-sftp",
            "",
        ]
    )


def _listens(process: "subprocess.Popen[bytes]", port: int) -> bool:
    for _ in range(200):
        if process.poll() is not None:
            return False
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.05)
        else:
            return True
    process.terminate()
    return False


def fake_access(server: FakeSFTP, **changes: object) -> SftpAccess:
    """How to reach the server in process, with its key pinned."""
    access = SftpAccess(
        name="bhiwandi",
        host="127.0.0.1",
        port=server.port,
        username=USER,
        password=PASSWORD,
        host_key=server.host_key_line,
        timeout_seconds=5.0,
    )
    return replace(access, **changes)  # type: ignore[arg-type]


def real_access(server: RunningSshd) -> SftpAccess:
    """How to reach the real sshd."""
    return SftpAccess(
        name="real",
        host=server.host,
        port=server.port,
        username=server.username,
        key_file=server.key_file,
        host_key=server.host_key_line,
        timeout_seconds=10.0,
    )
