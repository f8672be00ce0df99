"""An SFTP server as a file store: whole files, verified byte by byte, over a session that is renewed when it drops.

The only door to paramiko.
The server's key is checked before any log-in, keys and agents of the machine are not used, every wait has an end, and
all answers are read: paramiko's own `get` takes a file that came short without a word.
"""

import errno
import logging
import socket
import stat
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import Any, Final, TypeVar

import paramiko
from paramiko import sftp as protocol
from paramiko.ssh_exception import IncompatiblePeer

from logistics_batch.errors import StoreError, StoreUnreachable
from logistics_batch.intake.names import free_names, name_fault, printable
from logistics_batch.intake.stores.sftp_keys import check_host_key, pinned_keys, private_key
from logistics_batch.intake.stores.store import (
    MAX_FILE_BYTES,
    MAX_NAMES,
    DeadlinePassed,
    FileStore,
    Kind,
    ListingCut,
    RemoteFile,
    Session,
    SftpAccess,
)

_BLOCK_BYTES = 32768  # what every server takes in one request
_LARGE_BLOCK_BYTES = 262144  # what is asked for where the server says that it takes as much
_IN_FLIGHT_BYTES = 2 << 20  # requests under way: the window of the channel
_KEEPALIVE_SECONDS = 15
_LONGEST_NAME = 1_000  # characters; what is longer is no name of a file anyway
_FSYNC = "fsync@openssh.com"
_LIMITS = "limits@openssh.com"
_DROPPED = (paramiko.SSHException, EOFError, TimeoutError, ConnectionError, protocol.SFTPError)
_CIPHERS = ("aes128-gcm@openssh.com", "aes256-gcm@openssh.com", "aes256-ctr", "aes192-ctr", "aes128-ctr")
_SOUND_MACS = ("hmac-sha2-256-etm@openssh.com", "hmac-sha2-512-etm@openssh.com")
_UNUSED_MACS = ("hmac-sha2-256", "hmac-sha2-512")  # agreed on for AES-GCM, which has a check of its own
_WEAK_KEY_EXCHANGES = ("diffie-hellman-group-exchange-sha256",)  # of what paramiko takes: the server chooses the group
FAULTS = (*_DROPPED, OSError, ValueError)  # all that paramiko, the socket and the server's words can raise

_T = TypeVar("_T")


class WeakServer(paramiko.SSHException):
    """Server and client share no sound algorithm for something; its text says for what, and what the server offers."""


class _Connection(paramiko.Transport):
    """A connection that takes sound algorithms only, and knows what the server offered."""

    offered: Mapping[str, Sequence[str]] = MappingProxyType({})

    def allow(self, pinned: Iterable[paramiko.PKey]) -> None:
        """Take nothing but what is sound. pinned: keys of the server, which may have several: theirs are preferred."""
        wanted = tuple({key.get_name().removeprefix("ssh-") for key in pinned})
        options = self.get_security_options()
        options.ciphers, options.digests = _CIPHERS, (*_SOUND_MACS, *_UNUSED_MACS)
        options.kex = tuple(each for each in options.kex if each not in _WEAK_KEY_EXCHANGES)
        key_types = sorted(options.key_types, key=lambda kind: not kind.removeprefix("ssh-").startswith(wanted))
        options.key_types = tuple(key_types)

    def _really_parse_kex_init(self, m: paramiko.Message, ignore_first_byte: bool = False) -> dict[str, Any]:
        lists: dict[str, Any] = super()._really_parse_kex_init(m, ignore_first_byte)  # type: ignore[misc]
        if not ignore_first_byte:  # else it is our own
            self.offered = {name: tuple(each) for name, each in lists.items() if isinstance(each, list)}
        return lists

    def _parse_kex_init(self, m: paramiko.Message) -> None:
        super()._parse_kex_init(m)  # type: ignore[misc]
        for side in ("local", "remote"):
            if "gcm" not in getattr(self, f"{side}_cipher") and getattr(self, f"{side}_mac") not in _SOUND_MACS:
                raise IncompatiblePeer("no acceptable macs")

    def weakness(self) -> str:
        """What the server offers of that for which it lacks anything sound, and what is taken, in words."""
        options = self.get_security_options()
        wanted = {
            "the key exchange": (("kex_algo_list",), options.kex),
            "its key": (("server_key_algo_list",), options.key_types),
            "the cipher": (("client_encrypt_algo_list", "server_encrypt_algo_list"), _CIPHERS),
            "the MAC": (("client_mac_algo_list", "server_mac_algo_list"), _SOUND_MACS),
        }
        told: list[str] = []
        for word, (lists, sound) in wanted.items():
            offers = [self.offered.get(name, ()) for name in lists]
            lacking = [each for each in offers if not set(sound) & set(each)]
            if lacking and not (told and word == "the MAC"):  # a cipher of AES-GCM needs no MAC
                offered = printable(", ".join(lacking[-1])) or "nothing"
                told.append(f"for {word} it offers {offered}, and taken is {', '.join(sound)}")
        return "; ".join(told)


class SftpSession(paramiko.SFTPClient):
    """An SFTP session that knows the server's extensions, ends every wait, and keeps many requests in flight."""

    def __init__(self, channel: paramiko.Channel, access: SftpAccess) -> None:
        self.extensions: set[str] = set()
        self._channel = channel
        self._access = access
        self._is_late = False
        self._received = bytearray()
        self._arrived: dict[int, tuple[int, paramiko.Message]] = {}
        super().__init__(channel)
        self._block_bytes = _BLOCK_BYTES  # so much is asked for at once; larger blocks mean fewer answers to handle
        if _LIMITS in self.extensions and (limits := self.take(self.ask(protocol.CMD_EXTENDED, _LIMITS))):
            limits.get_int64()  # the size of a whole packet
            self._block_bytes = max(_BLOCK_BYTES, min(_LARGE_BLOCK_BYTES, limits.get_int64()))

    def _send_version(self) -> int:
        hello = paramiko.Message()
        hello.add_int(3)
        self._send_packet(protocol.CMD_INIT, hello)
        kind, data = self._read_packet()  # type: ignore[attr-defined]
        if kind != protocol.CMD_VERSION:
            raise protocol.SFTPError("the server does not speak SFTP")
        answer = paramiko.Message(data)
        version = answer.get_int()
        while answer.get_remainder():
            self.extensions.add(answer.get_string().decode("utf-8", "replace"))
            answer.get_string()
        return version

    def _send_packet(self, kind: int, packet: paramiko.Message) -> None:
        try:
            super()._send_packet(kind, packet)  # type: ignore[misc]
        except OSError as error:  # the server has not even been asked: this is no refusal, whatever paramiko calls it
            raise (error if isinstance(error, _DROPPED) else EOFError(str(error))) from error

    def ask(self, kind: int, *arguments: object) -> int:
        """Send a request without waiting for its answer; returns its number."""
        number: int = self._async_request(self, kind, *arguments)  # type: ignore[attr-defined]
        return number

    def take(self, number: int) -> paramiko.Message | None:
        """Wait for an answer; None for a plain yes and for the end of a file or folder, OSError for a no."""
        while number not in self._arrived:
            self._read_response()  # type: ignore[attr-defined]
        kind, message = self._arrived.pop(number)
        if kind != protocol.CMD_STATUS:
            return message
        with suppress(EOFError):
            self._convert_status(message)  # type: ignore[attr-defined]
        return None

    def _async_response(self, kind: int, message: paramiko.Message, number: int) -> None:
        # Called by paramiko for each answer that arrives while another is waited for.
        self._arrived[number] = (kind, message)

    @contextmanager
    def _opened(self, kind: int, *arguments: object) -> Iterator[bytes]:
        """The handle of a file or folder; that it is closed is not waited for."""
        opened = self.take(self.ask(kind, *arguments))
        if opened is None:
            raise protocol.SFTPError("the server opened nothing")
        handle = opened.get_string()
        try:
            yield handle
        finally:
            with suppress(*FAULTS):  # the connection is gone, and the handle with it
                self._async_request(type(None), protocol.CMD_CLOSE, handle)  # type: ignore[attr-defined]

    @contextmanager
    def deadline(self, seconds: float) -> Iterator[None]:
        """See Session.deadline; a server that drips a byte now and then satisfies every timeout, so it is hung up."""
        timer = threading.Timer(seconds, self._hang_up_late)
        timer.daemon = True
        timer.start()
        try:
            yield
        except FAULTS as error:
            if self._is_late:
                raise DeadlinePassed("the transfer took too long") from error
            raise
        finally:
            timer.cancel()

    def _hang_up_late(self) -> None:
        self._is_late = True
        self.hang_up()

    def _read_all(self, n: int) -> bytes:
        while len(self._received) < n:  # takes all there is: the channel shifts what is left behind
            block = self._channel.recv(_IN_FLIGHT_BYTES)
            if not block:
                raise EOFError("the server closed the connection")
            self._received += block
        taken = bytes(memoryview(self._received)[:n])
        del self._received[:n]
        return taken

    def entries(self, folder: str) -> Iterator[RemoteFile]:
        """See Session.entries; a name that is not UTF-8 comes with surrogates and does not end the list."""
        with self._opened(protocol.CMD_OPENDIR, folder) as handle:
            while message := self.take(self.ask(protocol.CMD_READDIR, handle)):
                for _ in range(message.get_int()):
                    name = message.get_string().decode("utf-8", "surrogateescape")[:_LONGEST_NAME]
                    message.get_string()  # a line as of `ls -l`, which every server writes differently
                    status = paramiko.SFTPAttributes._from_msg(message, name)  # type: ignore[attr-defined]
                    if name not in (".", ".."):
                        yield self._remote_file(f"{folder.rstrip('/')}/{name}", name, status)

    def _remote_file(self, path: str, name: str, status: paramiko.SFTPAttributes) -> RemoteFile:
        """A listed entry; what the listing left out is asked for."""
        if (status.st_mode is None or status.st_size is None) and not name_fault(name):
            status = self.lstat(path)
        kind = Kind.of(status.st_mode or stat.S_IFREG)
        return RemoteFile(name, path, size=status.st_size or 0, modified=status.st_mtime, kind=kind)

    def look(self, path: str) -> RemoteFile:
        """See Session.look."""
        return self._remote_file(path, PurePosixPath(path).name, self.lstat(path))

    def download(self, path: str, *, size: int, write: Callable[[bytes], object]) -> tuple[int, list[RemoteFile]]:
        """See Session.download; no more than `size` bytes are asked for."""
        asked = taken = 0
        waiting: deque[tuple[int, int, int]] = deque()  # request, offset, length
        flags = protocol.SFTP_FLAG_READ, paramiko.SFTPAttributes()
        with self._opened(protocol.CMD_OPEN, path, *flags) as handle:
            try:
                while asked < size or waiting:
                    if asked < size and len(waiting) < _IN_FLIGHT_BYTES // self._block_bytes:
                        offset, length = asked, min(self._block_bytes, size - asked)
                        asked += length
                        request = self.ask(protocol.CMD_READ, handle, protocol.int64(offset), length)
                        waiting.append((request, offset, length))
                        continue
                    request, offset, length = waiting.popleft()
                    message = self.take(request)
                    block = message.get_string() if message else b""
                    write(block)
                    taken += len(block)
                    if not block:
                        asked = size  # it ends early: what was asked for beyond has no answer but this one
                    elif len(block) < length:  # a server may give less than was asked for
                        offset, length = offset + len(block), length - len(block)
                        request = self.ask(protocol.CMD_READ, handle, protocol.int64(offset), length)
                        waiting.appendleft((request, offset, length))
            except BaseException:
                self.hang_up()  # with all that is still under way
                raise
        return taken, [self.look(path)]

    def upload(self, path: str, content: Iterable[bytes]) -> None:
        """See Session.upload; flushed where the server offers that. Every answer is read."""
        waiting: deque[int] = deque()
        whole = b"".join(content)
        flags = protocol.SFTP_FLAG_WRITE | protocol.SFTP_FLAG_CREATE | protocol.SFTP_FLAG_TRUNC
        with self._opened(protocol.CMD_OPEN, path, flags, paramiko.SFTPAttributes()) as handle:
            for offset in range(0, len(whole), _BLOCK_BYTES):
                if len(waiting) == _IN_FLIGHT_BYTES // _BLOCK_BYTES:
                    self.take(waiting.popleft())
                block = whole[offset : offset + _BLOCK_BYTES]
                waiting.append(self.ask(protocol.CMD_WRITE, handle, protocol.int64(offset), block))
            for request in waiting:
                self.take(request)
            if _FSYNC in self.extensions:
                self.take(self.ask(protocol.CMD_EXTENDED, _FSYNC, handle))
        arrived = self.lstat(path).st_size
        if arrived != len(whole):
            raise OSError(f"only {arrived} of {len(whole)} bytes arrived")

    def lies(self, path: str) -> bool:
        """See Session.lies."""
        try:
            self.lstat(path)
        except FileNotFoundError:
            return False
        return True

    def make_folders(self, folder: PurePosixPath) -> None:
        """See Session.make_folders."""
        missing = []
        while folder.name and not self.lies(str(folder)):
            missing.append(str(folder))
            folder = folder.parent
        for path in reversed(missing):
            try:
                self.mkdir(path)
            except OSError:
                if not self.lies(path):  # else somebody else was faster
                    raise

    def replace(self, source: str, target: str) -> None:
        """See Session.replace; without a gap where the server can."""
        try:
            self.posix_rename(source, target)
        except (FileNotFoundError, PermissionError):
            raise
        except OSError as error:
            if self.is_ended_by(error):
                raise
            if self.lies(target):
                told = "%s cannot replace a file in one step: %s was removed first"
                _log.warning(told, self._access.label, printable(target))
                self.remove(target)
            self.rename(source, target)

    def move(self, source: str, target: str, *, check: Callable[[], object], is_done: bool) -> bool:
        """See Session.move; what the check refuses goes back where it lay."""
        if not (is_done or self._renamed(source, target)):
            return False
        try:
            check()
        except StoreError:
            for candidate in free_names(PurePosixPath(source).name):
                back = str(PurePosixPath(source).with_name(candidate))
                if not self.lies(back) and self._renamed(target, back):
                    break
            raise
        return True

    def _renamed(self, source: str, target: str) -> bool:
        """Rename without replacing anything; False if the name was taken meanwhile."""
        try:
            self.rename(source, target)
        except FileNotFoundError:
            raise
        except OSError as error:
            if self.is_ended_by(error) or not (self.lies(source) and self.lies(target)):
                raise
            return False
        return True

    @property
    def is_alive(self) -> bool:
        """Whether the connection still stands, as far as one can tell without asking."""
        return not self._channel.closed and self._channel.get_transport().is_active()

    def is_ended_by(self, error: Exception) -> bool:
        """Whether nothing more can be done with this session after a fault."""
        return isinstance(error, _DROPPED) or not self.is_alive

    def hang_up(self) -> None:
        """Close the session and its connection without waiting for the server."""
        self._channel.get_transport().close()


def connect(access: SftpAccess) -> SftpSession:
    """Open a session: the server proves itself first, then we log in with the one key or password of the settings."""
    logging.getLogger("paramiko").setLevel(max(logging.WARNING, logging.getLogger("paramiko").level))
    key = private_key(access)
    connection = socket.create_connection((access.host, access.port), timeout=access.timeout_seconds)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    transport = _Connection(connection)
    try:
        transport.set_log_channel("paramiko.client")
        logging.getLogger("paramiko.client").setLevel(logging.CRITICAL)  # its faults are raised, and told once
        transport.banner_timeout = transport.handshake_timeout = transport.auth_timeout = access.timeout_seconds
        transport.channel_timeout = access.timeout_seconds
        transport.allow(pinned_keys(access))
        try:
            transport.start_client(timeout=access.timeout_seconds)
        except IncompatiblePeer as error:
            raise WeakServer(transport.weakness() or str(error)) from error
        check_host_key(transport.get_remote_server_key(), access=access)
        if key:
            transport.auth_publickey(access.username, key)
        if access.password is not None and not transport.is_authenticated():
            transport.auth_password(access.username, access.password)
        transport.set_keepalive(_KEEPALIVE_SECONDS)
        channel = transport.open_session(timeout=access.timeout_seconds)
        channel.settimeout(access.timeout_seconds)
        channel.invoke_subsystem("sftp")
        return SftpSession(channel, access)
    except BaseException:
        transport.close()
        raise


_CODES: Final = (
    (WeakServer, "store.weak"),
    (paramiko.AuthenticationException, "store.login"),
    (socket.gaierror, "store.host"),
    (ConnectionRefusedError, "store.port"),
    (DeadlinePassed, "store.deadline"),
    (TimeoutError, "store.silent"),
    (FileNotFoundError, "store.missing"),
    (PermissionError, "store.forbidden_there"),
    (_DROPPED, "store.dropped"),
)
"""What a fault is told as; the first that it is an instance of."""
_OUT_OF_REACH: Final = (
    *("store.weak", "store.login", "store.host", "store.port", "store.no_way"),
    *("store.deadline", "store.silent", "store.dropped"),
)
_log = logging.getLogger(__name__)
_NO_WAY: Final = (errno.EHOSTUNREACH, errno.ENETUNREACH, errno.EHOSTDOWN, errno.ENETDOWN)


def store_error(error: Exception, *, what: str, access: SftpAccess, missing: type[StoreError]) -> StoreError:
    """Our exception for one of paramiko's, the socket's or the server's."""
    code = next((code for kind, code in _CODES if isinstance(error, kind)), "store.server")
    if isinstance(error, OSError) and error.errno in _NO_WAY:
        code = "store.no_way"
    words = str(error) if isinstance(error, WeakServer) else printable(str(error))
    kinds: dict[str, type[StoreError]] = dict.fromkeys(_OUT_OF_REACH, StoreUnreachable)
    return {**kinds, "store.missing": missing}.get(code, StoreError).of(
        code,
        what=what,
        place=access.place,
        host=access.host,
        user=access.username,
        server=access.name,
        deadline=access.transfer_deadline_seconds,
        timeout=access.timeout_seconds,
        reason=words or type(error).__name__,
    )


class SftpStore(FileStore):
    """Files of one SFTP server; connects when it is first used, and again after a dropped session.

    Raises HostKeyRefused before any login if the server's key is not the pinned one, SettingsError for a key file that
    cannot be used, StoreError for everything the network or the server do.
    """

    FAULTS = FAULTS

    def __init__(self, access: SftpAccess, *, max_file_bytes: int = MAX_FILE_BYTES, max_names: int = MAX_NAMES) -> None:
        super().__init__(access.label, max_file_bytes=max_file_bytes, max_names=max_names)
        self._access = access
        self._transfer_seconds = access.transfer_deadline_seconds
        self._listing_seconds = access.listing_deadline_seconds
        self._session: SftpSession | None = None
        self._holders = 1

    def held(self) -> "SftpStore":
        """The same store for one more who uses it in this thread; its connection ends when the last closes it."""
        self._holders += 1
        return self

    def entries(self, path: str) -> list[RemoteFile]:
        """See FileStore.entries."""
        try:
            return super().entries(path)
        except ListingCut:
            self._hang_up()  # answers are still under way, or none comes
            raise

    def put(self, path: str, content: bytes | Iterable[bytes]) -> None:
        """See FileStore.put; all of it is at hand for a second attempt."""
        super().put(path, content if isinstance(content, bytes) else b"".join(content))

    def close(self) -> None:
        """See FileStore.close."""
        self._holders = max(0, self._holders - 1)
        if not self._holders:
            self._hang_up()

    def _hang_up(self) -> None:
        session, self._session = self._session, None
        if session:
            session.hang_up()

    def _act(self, action: Callable[[Session], _T]) -> _T:
        """Act on a live session; after a dropped one once more, on a new one."""
        try:
            return action(self._live_session())
        except FAULTS as error:
            if not self._is_lost(error):
                raise
        try:
            return action(self._live_session())
        except FAULTS as error:
            self._is_lost(error)
            raise

    def _told(self, error: Exception, *, what: str, missing: type[StoreError]) -> StoreError:
        return store_error(error, what=what, access=self._access, missing=missing)

    def _live_session(self) -> SftpSession:
        if self._session is None or not self._session.is_alive:
            self._hang_up()
            self._session = connect(self._access)
        return self._session

    def _is_lost(self, error: Exception) -> bool:
        """Whether a fault ended the session and another may do better; closes what is left of it."""
        if self._session is None or not self._session.is_ended_by(error):
            return False  # it could not be opened at all, or it lives
        self._hang_up()
        return not isinstance(error, DeadlinePassed)
