"""How an SFTP server is known again: the pinned host key. Nothing is believed at first sight."""

import base64
import hmac
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from logistics_batch.errors import HostKeyRefused, SettingsError
from logistics_batch.intake.stores.store import LISTING_SECONDS

if TYPE_CHECKING:
    import paramiko  # which takes long, and who only has settings needs nothing of it


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


def pinned_keys(access: SftpAccess) -> "list[paramiko.PKey]":
    """The keys by which the server may identify itself; none if nothing is pinned.

    Raises SettingsError if a pinned line or the known_hosts file cannot be read.
    """
    if access.host_key:
        return [_key(line.split(), access=access) for line in access.host_key.splitlines() if line.strip()]
    wanted = access.host if access.port == 22 else f"[{access.host}]:{access.port}"
    found: list[paramiko.PKey] = []
    revoked: list[paramiko.PKey] = []
    for line in _known_hosts(access):
        words = line.split()
        marker = words.pop(0) if line.startswith("@") else ""
        if len(words) < 3 or marker not in ("", "@revoked"):
            continue
        if any(_is_host(name, wanted) for name in words[0].split(",")):
            (revoked if marker else found).append(_key(words[1:], access=access))
    return [key for key in found if key not in revoked]


def check_host_key(shown: "paramiko.PKey", *, access: SftpAccess) -> None:
    """Raise HostKeyRefused unless the key that the server shows is pinned."""
    pinned = pinned_keys(access)
    if shown in pinned:
        return
    seen = f"{access.label}: the server {access.place} shows the host key {shown.get_name()} {shown.fingerprint}"
    line = f"{shown.get_name()} {shown.get_base64()}"
    if not pinned:
        raise HostKeyRefused(
            f"{seen}, and no key is pinned for it. No login was tried.",
            remedy="Compare the fingerprint with the one that the server's operator tells you. If they are equal, "
            f'put this line under [sftp.{access.name}] in logistics-batch.toml:\nhost_key = "{line}"',
        )
    known = ", ".join(f"{key.get_name()} {key.fingerprint}" for key in pinned)
    raise HostKeyRefused(
        f"{seen}, but pinned is {known}. The server has changed, or somebody stands between. No login was tried.",
        remedy="Ask the server's operator, by telephone, whether the key was changed. "
        f'Only then replace the pinned key:\nhost_key = "{line}"',
    )


def _key(words: list[str], *, access: SftpAccess) -> "paramiko.PKey":
    import paramiko

    try:
        kind, text = words[:2]
        return paramiko.PKey.from_type_string(kind, base64.b64decode(text, validate=True))
    except (ValueError, paramiko.SSHException, paramiko.pkey.UnknownKeyType) as error:
        raise SettingsError(
            f'{access.label}: the pinned host key is not of the form "ssh-ed25519 AAAA…".',
            remedy=f"Take the line from `ssh-keyscan -p {access.port} {access.host}` without the host's name, "
            "and compare its fingerprint.",
        ) from error


def _known_hosts(access: SftpAccess) -> list[str]:
    try:
        return access.known_hosts.read_text(encoding="utf-8").splitlines() if access.known_hosts else []
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(
            f"{access.label}: cannot read the known_hosts file {access.known_hosts}: {error}.",
            remedy="Correct the path, or pin the key itself as host_key.",
        ) from error


def _is_host(name: str, wanted: str) -> bool:
    """Whether a name of a known_hosts line, plain or hashed, is the wanted one."""
    from paramiko.hostkeys import HostKeys

    if not name.startswith("|1|"):
        return name.casefold() == wanted.casefold()
    try:
        return hmac.compare_digest(HostKeys.hash_host(wanted, name), name)
    except (ValueError, AssertionError):
        return False
