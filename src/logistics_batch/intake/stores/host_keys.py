"""How an SFTP server is known again: the pinned host key. Nothing is believed at first sight."""

import base64
import binascii
import hashlib
import hmac
from dataclasses import dataclass, field
from pathlib import Path

from logistics_batch.errors import HostKeyRefused, SettingsError
from logistics_batch.intake.stores.store import LISTING_SECONDS


@dataclass(frozen=True, slots=True)
class SftpAccess:
    """How to reach one SFTP server (`[sftp.NAME]` of the settings).

    host_key: "ssh-ed25519 AAAA…", one a line; or known_hosts: a file as OpenSSH writes it. timeout_seconds: for a
    connection and for each answer; transfer_deadline_seconds: for one whole file; listing_deadline_seconds: for the
    names of one folder.
    """

    name: str
    host: str
    port: int = 22
    username: str = ""
    key_file: Path | None = None
    password: str | None = field(default=None, repr=False)
    host_key: str | None = None
    known_hosts: Path | None = None
    timeout_seconds: float = 30.0
    transfer_deadline_seconds: float = 1800.0
    listing_deadline_seconds: float = LISTING_SECONDS

    @property
    def label(self) -> str:
        """How messages call the server: "sftp:bhiwandi"."""
        return f"sftp:{self.name}"

    @property
    def place(self) -> str:
        """Host and port as people write them."""
        return f"{self.host}:{self.port}"


@dataclass(frozen=True, slots=True)
class HostKey:
    """A public host key: its type as in `ssh-ed25519`, and its bytes."""

    kind: str
    blob: bytes

    @property
    def line(self) -> str:
        """As the settings want it."""
        return f"{self.kind} {base64.b64encode(self.blob).decode()}"

    @property
    def fingerprint(self) -> str:
        """As `ssh-keygen -l` shows it."""
        return "SHA256:" + base64.b64encode(hashlib.sha256(self.blob).digest()).decode().rstrip("=")


def pinned_keys(access: SftpAccess) -> tuple[HostKey, ...]:
    """The keys by which the server may identify itself; none if nothing is pinned.

    Raises SettingsError if a pinned line or the known_hosts file cannot be read.
    """
    if access.host_key:
        lines = [line for line in access.host_key.splitlines() if line.strip()]
        return tuple(_key(line.split(), access=access) for line in lines)
    if access.known_hosts:
        return _known_hosts(access.known_hosts, access=access)
    return ()


def check_host_key(shown: HostKey, *, access: SftpAccess) -> None:
    """Raise HostKeyRefused unless the key that the server shows is pinned."""
    pinned = pinned_keys(access)
    if shown in pinned:
        return
    seen = f"{access.label}: the server {access.place} shows the host key {shown.kind} {shown.fingerprint}"
    if not pinned:
        raise HostKeyRefused(
            f"{seen}, and no key is pinned for it. No login was tried.",
            remedy="Compare the fingerprint with the one that the server's operator tells you. If they are equal, "
            f'put this line under [sftp.{access.name}] in logistics-batch.toml:\nhost_key = "{shown.line}"',
        )
    known = ", ".join(f"{key.kind} {key.fingerprint}" for key in pinned)
    raise HostKeyRefused(
        f"{seen}, but pinned is {known}. The server has changed, or somebody stands between. No login was tried.",
        remedy="Ask the server's operator, by telephone, whether the key was changed. "
        f'Only then replace the pinned key:\nhost_key = "{shown.line}"',
    )


def _key(words: list[str], *, access: SftpAccess) -> HostKey:
    try:
        kind, text = words[:2]
        blob = base64.b64decode(text, validate=True)
        # The type stands in the bytes again, behind its length.
        if blob[4 : 4 + len(kind)].decode() != kind:
            raise ValueError("type and key disagree")
    except (ValueError, binascii.Error) as error:
        raise SettingsError(
            f'{access.label}: the pinned host key is not of the form "ssh-ed25519 AAAA…".',
            remedy=f"Take the line from `ssh-keyscan -p {access.port} {access.host}` without the host's name, "
            "and compare its fingerprint.",
        ) from error
    return HostKey(kind=kind, blob=blob)


def _known_hosts(path: Path, *, access: SftpAccess) -> tuple[HostKey, ...]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(
            f"{access.label}: cannot read the known_hosts file {path}: {error}.",
            remedy="Correct the path, or pin the key itself as host_key.",
        ) from error
    wanted = access.host if access.port == 22 else f"[{access.host}]:{access.port}"
    found: list[HostKey] = []
    revoked: list[HostKey] = []
    for line in lines:
        words = line.split()
        marker = words.pop(0) if line.startswith("@") else ""
        if len(words) < 3 or words[0].startswith("#") or marker not in ("", "@revoked"):
            continue
        if any(_is_host(pattern, wanted) for pattern in words[0].split(",")):
            (revoked if marker else found).append(_key(words[1:], access=access))
    return tuple(key for key in found if key not in revoked)


def _is_host(pattern: str, wanted: str) -> bool:
    """Whether a name of a known_hosts line, plain or hashed, is the wanted one."""
    if not pattern.startswith("|1|"):
        return pattern.casefold() == wanted.casefold()
    try:
        salt, digest = (base64.b64decode(part, validate=True) for part in pattern[3:].split("|"))
    except (ValueError, binascii.Error):
        return False
    return hmac.compare_digest(hmac.new(salt, wanted.encode(), hashlib.sha1).digest(), digest)
