"""What the ledger's file lies on is read from the kernel's list of opening."""

from pathlib import Path

import pytest

from logistics_batch.errors import LedgerRefused
from logistics_batch.ledger import open_ledger
from logistics_batch.ledger.itself import opening

# As in proc(5): optional fields before the hyphen, blanks written in octal, a later mount over an earlier one.
MOUNTINFO = """\
22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
30 22 0:40 / /srv rw,relatime shared:20 master:3 - nfs4 files:/srv rw,vers=4.2
31 30 8:2 / /srv/local rw - xfs /dev/sdb1 rw
32 22 0:41 / /home rw - autofs systemd-1 rw
33 32 0:42 / /home rw - nfs files:/home rw
34 22 0:43 / /mnt/the\\040share rw - cifs //files/share rw
35 22 0:44 / /mnt/keys rw - fuse.sshfs me@far: rw
36 22 0:45 / /mnt/host rw - 9p drvfs rw
"""


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/var/ledger.db", "ext4"),
        ("/srv/lb/var/ledger.db", "nfs4"),
        ("/srv/local/var/ledger.db", "xfs"),
        ("/srvice/ledger.db", "ext4"),
        ("/home/lb/ledger.db", "nfs"),
        ("/mnt/the share/ledger.db", "cifs"),
        ("/mnt/keys/ledger.db", "fuse.sshfs"),
        ("/mnt/host/ledger.db", "9p"),
    ],
)
def test_the_nearest_mount_counts(path: str, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert opening.mount_of(Path(path), MOUNTINFO)[1] == kind
    (tmp_path / "mountinfo").write_text(MOUNTINFO)
    monkeypatch.setattr(opening, "_MOUNTS", tmp_path / "mountinfo")
    if kind in ("ext4", "xfs", "9p"):
        opening.require_local_disk(Path(path))
        return
    with pytest.raises(LedgerRefused, match=f"network file system \\({kind}, mounted at") as refused:
        opening.require_local_disk(Path(path))
    assert "PostgreSQL" in refused.value.remedy


@pytest.mark.parametrize("text", ["", "\n", "22 1 8:1\n", "no mount at all - nfs\n"])
def test_nothing_is_said_where_the_kernel_does_not_tell(text: str) -> None:
    assert opening.mount_of(Path("/srv/ledger.db"), text) == ("", "")


def test_a_link_leads_to_where_the_file_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "share").mkdir()
    (tmp_path / "var").symlink_to(tmp_path / "share")
    (tmp_path / "mountinfo").write_text(f"30 22 0:40 / {tmp_path}/share rw - nfs4 files:/srv rw\n")
    monkeypatch.setattr(opening, "_MOUNTS", tmp_path / "mountinfo")
    url = f"sqlite:///{tmp_path}/var/ledger.db"
    with pytest.raises(LedgerRefused, match="network file system"):
        open_ledger(url, account="x")
    open_ledger(url, account="x", read_only=True).close()
    assert list((tmp_path / "share").iterdir()) == [], "nothing is made there"


def test_where_there_is_no_such_list(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "_MOUNTS", tmp_path / "nothing")
    opening.require_local_disk(tmp_path)
