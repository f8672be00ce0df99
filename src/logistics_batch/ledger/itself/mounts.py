"""Whether the ledger's file lies on a disk of this machine, for a network file system promises less.

There `flock` and the locks of SQLite may hold on one machine only, depending on the server and on how it is mounted, so
that two runs on two machines would send at the same time; and what was written may be lost though it was synced.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from logistics_batch.errors import LedgerRefused

_MOUNTS = Path("/proc/self/mountinfo")
# 9p and virtiofs are not among them: they lead from a virtual machine or a container to the disk of its own host.
_OVER_A_NETWORK = ("afs", "ceph", "cifs", "gpfs", "lustre", "nfs", "nfs4", "orangefs", "smb3", "smbfs")
_OVER_A_NETWORK_IN_USER_SPACE = (  # as fuse.NAME
    *("ceph", "ceph-fuse", "gcsfuse", "glusterfs", "goofys", "juicefs"),
    *("mount-s3", "mountpoint-s3", "rclone", "s3fs", "sshfs"),
)
_OCTAL = re.compile(r"\\([0-7]{3})")  # how a blank, a tab, a line break and a backslash are written


@dataclass(frozen=True, slots=True)
class Mount:
    """point: the folder at which the file system is mounted. kind: its type, as mount(8) names it."""

    point: str
    kind: str

    @property
    def is_remote(self) -> bool:
        """Whether what is written there lies on another machine."""
        in_user_space = self.kind.removeprefix("fuse.")
        return in_user_space in (_OVER_A_NETWORK if in_user_space == self.kind else _OVER_A_NETWORK_IN_USER_SPACE)


def mount_of(path: Path, mountinfo: str) -> Mount | None:
    """What a path lies on, which need not exist; None if the text does not tell it.

    mountinfo: as /proc/self/mountinfo, see proc(5).

    >>> mount_of(Path("/srv/x"), "36 35 98:0 / /srv rw,noatime - nfs4 server:/srv rw")
    Mount(point='/srv', kind='nfs4')
    """
    folders = {str(folder) for folder in (path, *path.parents)}
    found: Mount | None = None
    for line in mountinfo.splitlines():
        place, _, system = line.partition(" - ")
        fields = place.split(" ")
        point = _OCTAL.sub(lambda code: chr(int(code[1], 8)), fields[4]) if len(fields) > 4 else ""
        # A later mount at the same point hides the earlier one, as a network's hides that of its automounter.
        if point in folders and (found is None or len(point) >= len(found.point)):
            found = Mount(point, system.partition(" ")[0])
    return found


def require_local_disk(path: Path) -> None:
    """Raises LedgerRefused if the file lies, or would lie, on a network file system; only Linux tells it."""
    try:
        mountinfo = _MOUNTS.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return
    mount = mount_of(path.resolve(), mountinfo)
    if mount is not None and mount.is_remote:
        raise LedgerRefused(
            f"The ledger {path} lies on a network file system ({mount.kind}, mounted at {mount.point}). Its locks may "
            "not hold between machines, and two runs could send the same thing; so nothing is sent with it.",
            remedy=f"While nothing runs, move it (and {path.name}-wal, if it is there) to a disk of this machine, and "
            "write its new place as ledger.url; or use PostgreSQL.",
        )
