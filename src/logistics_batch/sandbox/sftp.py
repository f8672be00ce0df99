"""An SFTP server confined to one folder, for demos and tests."""

import hmac
import logging
import os
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from io import StringIO
from pathlib import Path, PurePosixPath
from typing import Any

import paramiko
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from paramiko.common import AUTH_FAILED, AUTH_SUCCESSFUL, OPEN_FAILED_ADMINISTRATIVELY_PROHIBITED, OPEN_SUCCEEDED
from paramiko.sftp import SFTP_FAILURE, SFTP_NO_SUCH_FILE, SFTP_OK, SFTP_PERMISSION_DENIED

LOG = logging.getLogger(__name__)
HOST = "127.0.0.1"
HANDSHAKE_SECONDS = 15.0
CIPHERS = ("aes128-gcm@openssh.com", "aes256-gcm@openssh.com", "aes256-ctr", "aes192-ctr", "aes128-ctr")
MACS = ("hmac-sha2-256-etm@openssh.com", "hmac-sha2-512-etm@openssh.com")


@dataclass(frozen=True)
class SftpAccount:
    """Who may log in: by password, and by public key where one is given (an OpenSSH line)."""

    username: str
    password: str
    public_key: str = ""


class SftpService:
    """The listening server: one thread a connection, all of them confined to `root`."""

    def __init__(self, *, port: int, root: Path, account: SftpAccount, host_key: str) -> None:
        root.mkdir(parents=True, exist_ok=True)
        self.root = root.resolve()
        self.account = account
        self._host_key = paramiko.Ed25519Key.from_private_key(StringIO(host_key))
        self._listener = socket.create_server((HOST, port), backlog=128)
        self.port: int = self._listener.getsockname()[1]
        self._transports: set[paramiko.Transport] = set()
        self._lock = threading.Lock()
        self._closing = False
        self._thread = threading.Thread(target=self._accept, name="sftp", daemon=True)

    def start(self) -> None:
        """Begin to accept connections."""
        self._thread.start()

    def describe(self) -> dict[str, Any]:
        """What a client needs: host, port, user, password, host key line, and the folder behind it."""
        return {
            "host": HOST,
            "port": self.port,
            "username": self.account.username,
            "password": self.account.password,
            "host_key": f"{self._host_key.get_name()} {self._host_key.get_base64()}",
            "root": str(self.root),
        }

    def close(self) -> None:
        """Stop listening and end every session."""
        self._closing = True
        with suppress(OSError):  # some systems will not shut down a socket that only listens
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        with self._lock:
            transports = list(self._transports)
        for transport in transports:
            transport.close()
        self._thread.join(timeout=2)

    def _accept(self) -> None:
        while not self._closing:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=self._session, args=(connection,), name="sftp-session", daemon=True).start()

    def _session(self, connection: socket.socket) -> None:
        transport = paramiko.Transport(connection)
        options = transport.get_security_options()
        options.ciphers, options.digests = CIPHERS, MACS
        transport.add_server_key(self._host_key)
        transport.set_subsystem_handler("sftp", paramiko.SFTPServer, ConfinedFiles, root=self.root)
        with self._lock:
            self._transports.add(transport)
        try:
            transport.handshake_timeout = HANDSHAKE_SECONDS
            transport.start_server(server=_Login(self.account))
            transport.join()
        except (paramiko.SSHException, OSError, EOFError) as error:
            LOG.info("sftp session ended early: %s", type(error).__name__)
        finally:
            transport.close()
            with self._lock:
                self._transports.discard(transport)


class _Login(paramiko.ServerInterface):
    def __init__(self, account: SftpAccount) -> None:
        self._account = account

    def get_allowed_auths(self, _username: str) -> str:
        return "password,publickey" if self._account.public_key else "password"

    def check_auth_password(self, username: str, password: str) -> int:
        known = hmac.compare_digest(username.encode(), self._account.username.encode())
        right = hmac.compare_digest(password.encode(), self._account.password.encode())
        return AUTH_SUCCESSFUL if known and right else AUTH_FAILED

    def check_auth_publickey(self, username: str, key: paramiko.PKey) -> int:
        allowed = self._account.public_key.split()[:2]
        right = allowed == [key.get_name(), key.get_base64()]
        return AUTH_SUCCESSFUL if right and username == self._account.username else AUTH_FAILED

    def check_channel_request(self, kind: str, _chanid: int) -> int:
        return OPEN_SUCCEEDED if kind == "session" else OPEN_FAILED_ADMINISTRATIVELY_PROHIBITED


class _Refused(OSError):
    """The path leads out of the folder."""


class _OpenFile(paramiko.SFTPHandle):
    """An open file; `readfile` and `writefile` are what paramiko reads from and writes to."""

    def __init__(self, file: Any, flags: int) -> None:
        super().__init__(flags)
        self.readfile = self.writefile = file

    def stat(self) -> Any:
        self.writefile.flush()
        return paramiko.SFTPAttributes.from_stat(os.fstat(self.readfile.fileno()))

    def chattr(self, attr: paramiko.SFTPAttributes) -> int:
        self.writefile.flush()
        return _answered(lambda: _set_attributes(self.readfile.fileno(), attr))


class ConfinedFiles(paramiko.SFTPServerInterface):
    """Files of one folder, shown as ``/``; no path and no link leads out of it, and links cannot be made."""

    def __init__(self, server: paramiko.ServerInterface, *_: Any, root: Path, **__: Any) -> None:
        super().__init__(server)
        self._root = root

    def canonicalize(self, path: str) -> str:
        """The path as the client sees it, without ``.`` and ``..``."""
        parts: list[str] = []
        for part in PurePosixPath("/", path).parts[1:]:
            if part == "..":
                del parts[-1:]
            else:
                parts.append(part)
        return "/" + "/".join(parts)

    def list_folder(self, path: str) -> Any:
        """Everything in a folder, links as links."""

        def listing() -> list[paramiko.SFTPAttributes]:
            found = []
            for entry in os.scandir(self._resolved(path)):
                with suppress(FileNotFoundError):  # somebody else took it meanwhile
                    seen = entry.stat(follow_symlinks=False)
                    found.append(_entry(seen, entry.name))
            return found

        return _given(listing)

    def stat(self, path: str) -> Any:
        """Size, time and mode; links are followed inside the folder."""
        return _given(lambda: paramiko.SFTPAttributes.from_stat(self._resolved(path).stat()))

    def lstat(self, path: str) -> Any:
        """Size, time and mode of the name itself."""
        return _given(lambda: paramiko.SFTPAttributes.from_stat(self._named(path).lstat()))

    def open(self, path: str, flags: int, attr: paramiko.SFTPAttributes) -> Any:
        """An open file."""

        def opened() -> _OpenFile:
            target = self._resolved(path)
            mode = getattr(attr, "st_mode", None) or 0o666
            descriptor = os.open(target, flags | os.O_CLOEXEC | os.O_NOFOLLOW, mode)
            reading, writing = flags & os.O_ACCMODE != os.O_WRONLY, flags & os.O_ACCMODE != os.O_RDONLY
            kind = (
                ("ab+" if reading else "ab")
                if flags & os.O_APPEND
                else {(True, False): "rb", (False, True): "wb"}.get((reading, writing), "rb+")
            )
            return _OpenFile(os.fdopen(descriptor, kind), flags)

        return _given(opened)

    def remove(self, path: str) -> int:
        """Delete a file or a link."""
        return _answered(lambda: self._named(path).unlink())

    def rename(self, oldpath: str, newpath: str) -> int:
        """Rename as SFTP version 3 has it: never over something that exists."""

        def renamed() -> None:
            old, new = self._named(oldpath), self._named(newpath)
            if os.path.lexists(new):
                raise FileExistsError(newpath)
            old.rename(new)

        return _answered(renamed)

    def posix_rename(self, oldpath: str, newpath: str) -> int:
        """Rename over whatever is there, in one step."""
        return _answered(lambda: self._named(oldpath).replace(self._named(newpath)))

    def mkdir(self, path: str, attr: paramiko.SFTPAttributes) -> int:
        """Make a folder."""
        return _answered(lambda: self._named(path).mkdir(getattr(attr, "st_mode", None) or 0o777))

    def rmdir(self, path: str) -> int:
        """Remove an empty folder."""
        return _answered(lambda: self._named(path).rmdir())

    def chattr(self, path: str, attr: paramiko.SFTPAttributes) -> int:
        """Set size, mode or times."""
        return _answered(lambda: _set_attributes(self._resolved(path), attr))

    def _named(self, path: str) -> Path:
        """The place of a name: its folder with links followed, the name itself not."""
        shown = PurePosixPath(self.canonicalize(path))
        if shown == PurePosixPath("/"):
            return self._root
        return self._resolved(str(shown.parent)) / shown.name

    def _resolved(self, path: str) -> Path:
        """The place behind a path, with every link followed, if it lies in the folder."""
        real = Path(os.path.realpath(self._root / self.canonicalize(path)[1:]))
        if not real.is_relative_to(self._root):
            raise _Refused
        return real


def new_host_key() -> str:
    """An ed25519 key for the server, as OpenSSH writes it."""
    form = (serialization.Encoding.PEM, serialization.PrivateFormat.OpenSSH, serialization.NoEncryption())
    return Ed25519PrivateKey.generate().private_bytes(*form).decode()


def _entry(seen: os.stat_result, name: str) -> paramiko.SFTPAttributes:
    """An entry of a listing with the bytes of its name, which need not be text."""
    entry = paramiko.SFTPAttributes.from_stat(seen, name.encode("utf-8", "replace").decode())
    line = str(entry).encode()
    entry.filename, entry.asbytes = os.fsencode(name), lambda: line  # type: ignore[assignment, method-assign]
    return entry


def _set_attributes(target: Path | int, attr: paramiko.SFTPAttributes) -> None:
    flags: int = attr._flags  # type: ignore[attr-defined]
    if flags & attr.FLAG_SIZE:
        os.truncate(target, attr.st_size or 0)
    if flags & attr.FLAG_PERMISSIONS:
        os.chmod(target, (attr.st_mode or 0) & 0o777)  # noqa: PTH101 - also of an open file
    if flags & attr.FLAG_AMTIME:
        os.utime(target, (attr.st_atime or 0, attr.st_mtime or 0))


def _given(work: Callable[[], Any]) -> Any:
    """What `work` gives, or the SFTP code of its error."""
    try:
        return work()
    except _Refused:
        return SFTP_PERMISSION_DENIED
    except ValueError:  # a NUL in the path
        return SFTP_NO_SUCH_FILE
    except OSError as error:
        return paramiko.SFTPServer.convert_errno(error.errno) if error.errno else SFTP_FAILURE


def _answered(work: Callable[[], object]) -> int:
    """The SFTP code of `work`: OK when it went well."""

    def done() -> int:
        work()
        return SFTP_OK

    code: int = _given(done)
    return code
