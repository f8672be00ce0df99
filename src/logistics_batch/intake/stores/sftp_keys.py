"""Keys of SFTP: the pinned host key by which a server is known again, and ours to log in with.

Nothing is believed at first sight.
"""

import base64
import hmac
from contextlib import suppress

import paramiko
from paramiko.hostkeys import HostKeys
from paramiko.pkey import UnknownKeyType

from logistics_batch.errors import HostKeyRefused, SettingsError
from logistics_batch.intake.stores.store import SftpAccess


def pinned_keys(access: SftpAccess) -> list[paramiko.PKey]:
    """The keys by which the server may identify itself; none if nothing is pinned.

    Raises SettingsError if a pinned line or the known_hosts file cannot be read.
    """
    if access.host_key:
        try:
            return [_key(line.split(), access=access) for line in access.host_key.splitlines() if line.strip()]
        except UnknownKeyType as error:
            raise _wrong_form(access) from error
    wanted = access.host if access.port == 22 else f"[{access.host}]:{access.port}"
    found: list[paramiko.PKey] = []
    revoked: list[paramiko.PKey] = []
    for line in _known_hosts(access):
        words = line.split()
        marker = words.pop(0) if line.startswith("@") else ""
        if len(words) < 3 or words[0].startswith("#") or marker not in ("", "@revoked"):
            continue
        if any(_is_host(name, wanted) for name in words[0].split(",")):
            with suppress(UnknownKeyType):  # of a kind that is not taken from the server either
                (revoked if marker else found).append(_key(words[1:], access=access))
    return [key for key in found if key not in revoked]


def check_host_key(shown: paramiko.PKey, *, access: SftpAccess) -> None:
    """Raise HostKeyRefused unless the key that the server shows is pinned."""
    pinned = pinned_keys(access)
    if shown in pinned:
        return
    values = {
        "store": access.label,
        "place": access.place,
        "server": access.name,
        "shown": f"{shown.get_name()} {shown.fingerprint}",
        "line": f"{shown.get_name()} {shown.get_base64()}",
    }
    if not pinned:
        raise HostKeyRefused.of("host_key.unpinned", **values)
    known = ", ".join(f"{key.get_name()} {key.fingerprint}" for key in pinned)
    raise HostKeyRefused.of("host_key.changed", known=known, **values)


def _key(words: list[str], *, access: SftpAccess) -> paramiko.PKey:
    try:
        kind, text = words[:2]
        return paramiko.PKey.from_type_string(kind, base64.b64decode(text, validate=True))
    except (ValueError, paramiko.SSHException) as error:
        raise _wrong_form(access) from error


def _wrong_form(access: SftpAccess) -> SettingsError:
    return SettingsError.of("host_key.form", store=access.label, port=access.port, host=access.host)


def _known_hosts(access: SftpAccess) -> list[str]:
    try:
        return access.known_hosts.read_text(encoding="utf-8").splitlines() if access.known_hosts else []
    except (OSError, UnicodeDecodeError) as error:
        values = {"store": access.label, "file": str(access.known_hosts), "reason": str(error)}
        raise SettingsError.of("host_key.file", **values) from error


def _is_host(name: str, wanted: str) -> bool:
    """Whether a name of a known_hosts line, plain or hashed, is the wanted one."""
    if not name.startswith("|1|"):
        return name.casefold() == wanted.casefold()
    try:
        return hmac.compare_digest(HostKeys.hash_host(wanted, name), name)
    except (ValueError, AssertionError):
        return False


def private_key(access: SftpAccess) -> paramiko.PKey | None:
    """The log-in key; raises SettingsError without a word of its content if it cannot be used."""
    values = {"server": access.name, "file": str(access.key_file)}
    if access.key_file is None:
        if access.password is None:
            raise SettingsError.of("login_key.none", **values)
        return None
    try:
        if access.key_file.stat().st_mode & 0o077:
            raise SettingsError.of("login_key.open", **values)
        return paramiko.PKey.from_path(access.key_file)
    except OSError as error:
        raise SettingsError.of("login_key.unread", reason=error.strerror, **values) from error
    except (ValueError, TypeError, paramiko.SSHException, UnknownKeyType):
        raise SettingsError.of("login_key.unusable", **values) from None
