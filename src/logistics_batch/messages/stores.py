"""Why a place where files lie, or the disk of this machine, did not do what was asked.

what: the operation, as "sftp:bhiwandi: cannot list /in". place: host and port. server: the section of the settings.
"""

from typing import Final

from logistics_batch.messages.entry import Entry

_AGAIN: Final = "The next run tries again; if it goes on, ask the server's operator."
_LOGIN: Final = "Check username and key_file or password_file under [sftp.{server}]."
_SHOWS: Final = "{store}: the server {place} shows the host key {shown}, "

STORES: Final[dict[str, Entry]] = {
    "store.name": Entry(
        "{store}: cannot {operation} {path}: {why:messages}.", "Rename the file or folder on the server."
    ),
    "store.leads_out": Entry(
        "{store}: cannot {operation} {path}: a link leads out of the folder.",
        "Put a real folder in the place of the link, or configure the folder it points to.",
    ),
    "store.listing": Entry(
        "{what}: it was left off after {count:,} names, for {why}; what else lies there is not known.",
        "Move what is done with out of that folder, or let the job read one that holds its own files only.",
    ),
    "store.missing": Entry("{what}: it is not there.", "Check the path in the job file, or create the folder."),
    "store.forbidden": Entry("{what}: permission denied.", "Give the user that runs logistics-batch the right to it."),
    "store.forbidden_there": Entry(
        "{what}: permission denied.", "Ask the server's operator to give {user} the right to it."
    ),
    "store.link": Entry("{what}: it is a link, and links are not followed.", "Put the file itself there."),
    "store.link_there": Entry("{path} is a link, and links are not followed.", "Put the file there."),
    "store.machine": Entry("{what}: {reason}.", "Correct that on the machine, then run again."),
    "store.too_large": Entry("{store}: {path} has {size:,} bytes, at most {most:,} are read."),
    "store.no_free_name": Entry("{store}: cannot move {path}: no free name is left in {folder}."),
    "store.unstable": Entry(
        "{store}: {path} is not at rest: {why}.",
        "It is left where it lies; the next run takes it when its upload has ended.",
    ),
    "store.disk": Entry(
        "Cannot write {path}: {reason}.",
        "Free some space or correct the rights of that folder; the file still lies at its source.",
    ),
    "store.disk_full": Entry("Cannot write {path}: no space left.", "Free some space; the file was not lost."),
    "store.weak": Entry(
        "{what}: what the server {place} offers can be broken, so nothing was logged in to: {reason}.",
        "Ask the server's operator to update it, or to switch one of the taken ones on.",
    ),
    "store.login": Entry("{what}: the server {place} does not let user {user} in.", _LOGIN),
    "store.host": Entry("{what}: the host {host} is not known.", "Check host under [sftp.{server}]."),
    "store.no_way": Entry("{what}: {place} cannot be reached ({reason}).", f"Check the network and host. {_AGAIN}"),
    "store.port": Entry("{what}: nothing listens at {place}.", f"Check host and port. {_AGAIN}"),
    "store.deadline": Entry("{what}: the transfer took longer than {deadline:g} s.", _AGAIN),
    "store.silent": Entry("{what}: {place} did not answer for {timeout:g} s.", _AGAIN),
    "store.dropped": Entry("{what}: the connection to {place} broke ({reason}).", _AGAIN),
    "store.server": Entry(
        "{what}: the server refused ({reason}).",
        "Its disk may be full, its quota used up, or writing there forbidden: ask its operator.",
    ),
    "host_key.unpinned": Entry(
        f"{_SHOWS}and no key is pinned for it. No login was tried.",
        "Compare the fingerprint with the one that the server's operator tells you. If they are equal, put this line "
        'under [sftp.{server}] in logistics-batch.toml:\nhost_key = "{line}"',
    ),
    "host_key.changed": Entry(
        f"{_SHOWS}but pinned is {{known}}. The server has changed, or somebody stands between. No login was tried.",
        "Ask the server's operator, by telephone, whether the key was changed. Only then replace the pinned key:\n"
        'host_key = "{line}"',
    ),
    "host_key.form": Entry(
        '{store}: the pinned host key is not of the form "ssh-ed25519 AAAA…".',
        "Take the line from `ssh-keyscan -p {port} {host}` without the host's name, and compare its fingerprint.",
    ),
    "host_key.file": Entry(
        "{store}: cannot read the known_hosts file {file}: {reason}.",
        "Correct the path, or pin the key itself as host_key.",
    ),
    "login_key.none": Entry("[sftp.{server}] has neither key_file nor password_file.", "Set one of them."),
    "login_key.open": Entry(
        "[sftp.{server}]: the key file {file} can be read by other users of this machine.", "chmod 600 {file}"
    ),
    "login_key.unusable": Entry(
        "[sftp.{server}]: {file} is no private key that can be used: it has a passphrase or is a public key.",
        "Make one without a passphrase: ssh-keygen -t ed25519 -N '' -f FILE",
    ),
    "login_key.unread": Entry("[sftp.{server}]: cannot read the key file {file}: {reason}."),
    "pgp.library": Entry(
        "[pgp] is set, but the PGP library is not installed.",
        "Install the extra: pip install 'logistics-batch[pgp]'.",
    ),
    "pgp.key": Entry(
        "pgp.key_file: {file} is no usable private key.",
        "Export the private key again (gpg --armor --export-secret-keys) and check its passphrase.",
    ),
}
