"""Who else on this machine can read a file, or change what a workspace sends."""

import grp
import os
import pwd
import shlex
import stat
import struct
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

READ, WRITE = 4, 2
_LIST_OF_RIGHTS = "system.posix_acl_access"
_NAMED_USER, _OWNING_GROUP, _NAMED_GROUP, _MASK = 0x02, 0x04, 0x08, 0x10
_FIRST_OF_PEOPLE = 1000  # groups below are this machine's own, with all their members in /etc/group
_GROUP_OF_ALL = "users"  # the first group of everybody where people stand in a directory server
_MOST_LINKS = 40
_FOLDERS = ("jobs", "mappings", "calendars")  # with all that lies in them

Code = Literal["other_owner", "others_can_write", "group_can_write", "list_lets_write"]


@dataclass(frozen=True, slots=True)
class Exposure:
    """One file, folder or link that another user can change. who: that user or group, "" for everybody."""

    code: Code
    path: Path
    who: str = ""


def writable_by_others(folder: Path, *, also: Iterable[Path] = ()) -> list[Exposure]:
    """What another user can change of a workspace: its settings, jobs, mappings, calendars and ledger, the folders
    above, and where links lead.

    also: further files that decide what is sent or whom is trusted.
    """
    found: dict[Path, list[Exposure]] = {}
    here = folder.resolve()
    paths = [folder, here / "logistics-batch.toml", here / "var", *(here / "var").glob("*"), *also]
    for name in _FOLDERS:
        paths += [here / name, *sorted((here / name).rglob("*"))]
    for path in paths:
        *way, end = _way(path)
        for step in way:
            if step not in found:
                found[step] = list(_exposures(step, is_on_the_way=True))
        # A sticky folder is no way in to what lies in it already; into the workspace nothing may be added either.
        found[end] = found.get(end) or list(_exposures(end, is_on_the_way=False))
    every = (each for exposures in found.values() for each in exposures)
    return [each for each in every if each.code == "other_owner" or not _is_mounted_read_only(each.path, below=here)]


def _is_mounted_read_only(path: Path, *, below: Path) -> bool:
    """Whether a part of the workspace is mounted so that nobody writes it, whatever its mode says: Kubernetes gives
    the folder of a ConfigMap mode 0777."""
    return path != below and path.is_relative_to(below) and bool(os.statvfs(path).f_flag & os.ST_RDONLY)


def way_is_exposed(path: Path) -> list[Exposure]:
    """What another user can change of one file and of the way to it."""
    *way, end = _way(path)
    on_the_way = [each for step in way for each in _exposures(step, is_on_the_way=True)]
    return [*on_the_way, *_exposures(end, is_on_the_way=False)]


def other_readers(path: Path) -> bool:
    """Whether anybody else can read a file or use it in another way: root and ourselves do not count.

    A group without a name that we are in counts as ours, as containers have it (`fsGroup`); so does a list of rights
    that names nobody else, as systemd lays down credentials.
    """
    found = path.stat()
    if not stat.S_IMODE(found.st_mode) & 0o077:
        return False
    if found.st_mode & 0o007:
        return True
    users, groups = _granted(path, found, READ | WRITE | 1)
    is_ours = all(gid in os.getgroups() and gid and not _group_name(gid) for gid in groups)
    return not is_ours or not {*users} <= {0, os.geteuid(), found.st_uid}


def is_of_another(path: Path) -> str:
    """The name of the user to whom a file belongs, "" if that is root or ourselves."""
    uid = path.stat().st_uid
    return "" if uid in (0, os.geteuid()) else _user_name(uid)


def words_of(exposure: Exposure) -> tuple[str, str]:
    """What is wrong, and the command that mends it."""
    path, who = shlex.quote(str(exposure.path)), exposure.who
    match exposure.code:
        case "other_owner":
            us = _user_name(os.geteuid())
            remedy = f"chown -h {us} {path} (as root), or work as {who}"
            return f"{exposure.path} belongs to {who}, not to {us}", remedy
        case "others_can_write":
            return f"{exposure.path} can be changed by every user of this machine", f"chmod o-w {path}"
        case "group_can_write":
            return f"{exposure.path} can be changed by the group {who}", f"chmod g-w {path}"
        case "list_lets_write":
            return f"{exposure.path} can be changed by {who}", f"setfacl -b {path}"


def _way(path: Path) -> list[Path]:
    """Every folder and link that is passed on the way to a path, and its end, which may be missing."""
    left = list(reversed(path.absolute().parts))
    here, links = Path(left.pop()), 0
    steps = [here]
    while left:
        part = left.pop()
        if part == "..":
            here = here.parent
            continue
        step = here / part
        steps.append(step)
        if not step.is_symlink():
            here = step
            continue
        target = step.readlink()
        left += reversed(target.parts[1:] if target.is_absolute() else target.parts)
        here = Path(target.anchor) if target.is_absolute() else here
        links += 1
        if links > _MOST_LINKS:
            break
    return steps


def _exposures(path: Path, *, is_on_the_way: bool) -> Iterator[Exposure]:
    """How a file, folder or link itself can be changed by somebody else than root and ourselves."""
    try:
        found = path.lstat()
    except OSError:
        return
    if found.st_uid not in (0, os.geteuid()):
        yield Exposure("other_owner", path, _user_name(found.st_uid))
        return
    is_sticky = stat.S_ISDIR(found.st_mode) and bool(found.st_mode & stat.S_ISVTX)
    if stat.S_ISLNK(found.st_mode) or (is_sticky and is_on_the_way):
        return
    if found.st_mode & stat.S_IWOTH:
        yield Exposure("others_can_write", path)
        return
    users, groups = _granted(path, found, WRITE)
    for gid in groups:
        if not _is_private(gid, owner=found.st_uid):
            code: Code = "group_can_write" if gid == found.st_gid else "list_lets_write"
            yield Exposure(code, path, _group_name(gid) or str(gid))
    for uid in users:
        if uid not in (0, os.geteuid()):
            yield Exposure("list_lets_write", path, _user_name(uid))


def _granted(path: Path, found: os.stat_result, right: int) -> tuple[list[int], list[int]]:
    """The users besides the owner, and the groups, that have one of some rights by mode or by a list of rights.

    Where there is such a list, the group's bits of the mode are the most that anybody in it has.
    """
    most = (found.st_mode >> 3) & 7
    content = b""
    with suppress(OSError, AttributeError):  # none, or the file system or this kind of machine knows of none
        content = os.getxattr(path, _LIST_OF_RIGHTS)
    if not content:
        return [], [found.st_gid] if most & right else []
    entries = [struct.unpack_from("<HHI", content, at) for at in range(4, len(content) - 7, 8)]
    most = next((rights for tag, rights, _ in entries if tag == _MASK), most)
    having = [(tag, number) for tag, rights, number in entries if rights & most & right]
    users = [number for tag, number in having if tag == _NAMED_USER]
    groups = [number for tag, number in having if tag == _NAMED_GROUP]
    return users, groups + [found.st_gid for tag, _ in having if tag == _OWNING_GROUP]


def _is_private(gid: int, *, owner: int) -> bool:
    """Whether a group holds nobody but root, ourselves and a file's owner, as far as this machine can tell.

    Debian, Ubuntu and Red Hat give each user a group of the same name, and may let it write (umask 002); in containers
    groups often have no name. The members of another group of people may stand in a directory server only.
    """
    if gid == 0:
        return True
    trusted = {"root", _user_name(owner), _user_name(os.geteuid())}
    members = {each.pw_name for each in pwd.getpwall() if each.pw_gid == gid}
    try:
        group = grp.getgrgid(gid)
    except KeyError:
        return members <= trusted
    has_all_members_here = gid < _FIRST_OF_PEOPLE and group.gr_name != _GROUP_OF_ALL
    return members | {*group.gr_mem} <= trusted and (group.gr_name in trusted or has_all_members_here)


def _group_name(gid: int) -> str:
    try:
        return grp.getgrgid(gid).gr_name
    except KeyError:
        return ""


def _user_name(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)
