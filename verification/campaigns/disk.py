"""What a disk may hold after a power cut: a program's own writes and syncs, recorded, and the states that they allow.

Only what was synced is sure. Of what was written since, each write may be there, be missing, or be torn at a sector,
whatever came later; a file is no longer than its last write that is there. Names are kept in their order: some first
part of the changes since they were last synced. Two kinds of file systems are simulated: where syncing anything makes
all earlier changes of names durable (as journals of Linux file systems do), and where only the folder's own sync does.
"""

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath

SECTOR_BYTES = 512
TRACED = (
    "openat,creat,open,lseek,write,pwrite64,writev,pwritev,pwritev2,sendfile,copy_file_range,fsync,fdatasync,msync,"
    "sync_file_range,ftruncate,truncate,fallocate,unlink,unlinkat,rename,renameat,renameat2,link,linkat,mkdir,mkdirat,"
    "rmdir,symlink,symlinkat"
)
_LINE = re.compile(r"(\d+) +([\d.]+) (.*)")
_CALL = re.compile(r"(\w+)\((.*)\) += (-?\d+)")
_HEX = re.compile(r"(?:\\x[0-9a-f]{2})+")
_TEXT = re.compile(r'"((?:\\x[0-9a-f]{2})*)"')
_FILE = re.compile(r"^\d+<([^>]*)>")


def record(trace: Path) -> list[str]:
    """The command that runs a program and records what it does to files; put the program's own command behind it."""
    return ["strace", "-f", "-y", "-ttt", "-xx", "-s", "8000000", "-e", f"trace={TRACED}", "-o", str(trace)]


@dataclass(frozen=True)
class Operation:
    """One call that changed or synced something.

    at: seconds since 1970. what: write, size, grow, sync, make, folder, move, link or remove.
    """

    at: float
    what: str
    path: str
    data: bytes = b""
    offset: int = 0
    target: str = ""


def operations(trace: Path, below: Path) -> list[Operation]:
    """What was done to files below a folder, in order."""
    found: list[Operation] = []
    positions: dict[str, int] = {}
    for at, name, arguments, result in _calls(trace):
        for operation in _operation(at, name, arguments, result, positions):
            if operation.path.startswith(f"{below}/") or operation.path == str(below):
                found.append(operation)
    return found


def _calls(trace: Path) -> Iterator[tuple[float, str, str, int]]:
    """Time, name, arguments and result of each call that succeeded; one that another thread interrupted is joined."""
    begun: dict[str, str] = {}
    for line in trace.read_text("ascii", "replace").splitlines():
        parts = _LINE.match(line)
        if not parts:
            continue
        thread, at, text = parts.groups()
        if text.endswith("<unfinished ...>"):
            begun[thread] = text.removesuffix("<unfinished ...>").rstrip()
            continue
        if text.startswith("<... "):
            text = begun.pop(thread, "") + text.partition(" resumed>")[2]
        call = _CALL.match(text)
        if call and int(call[3]) >= 0:
            yield float(at), call[1], call[2], int(call[3])


def _plain(text: str) -> str:
    return _HEX.sub(lambda found: bytes.fromhex(found[0].replace("\\x", "")).decode("utf-8", "replace"), text)


def _operation(at: float, name: str, arguments: str, result: int, positions: dict[str, int]) -> Iterator[Operation]:
    texts = [bytes.fromhex(found.replace("\\x", "")) for found in _TEXT.findall(arguments)]
    opened = _FILE.match(arguments)
    path = _plain(opened[1]) if opened else ""
    numbers = [int(each) for each in re.findall(r", (-?\d+)(?=,|$)", _TEXT.sub("", arguments))]
    named = [each.decode("utf-8", "replace") for each in texts]
    match name:
        case "openat":
            positions[named[0]] = 0
            if "O_CREAT" in arguments:
                yield Operation(at, "make", named[0])
            if "O_TRUNC" in arguments:
                yield Operation(at, "size", named[0])
        case "lseek":
            positions[path] = result
        case "write":
            start = positions.get(path, 0)
            positions[path] = start + result
            yield Operation(at, "write", path, texts[0][:result], start)
        case "pwrite64":
            yield Operation(at, "write", path, texts[0][:result], numbers[-1])
        case "ftruncate":
            yield Operation(at, "size", path, offset=numbers[-1])
        case "fallocate":
            yield Operation(at, "grow", path, offset=numbers[-2] + numbers[-1])
        case "fsync" | "fdatasync":
            yield Operation(at, "sync", path)
        case "rename" | "renameat" | "renameat2":
            yield Operation(at, "move", named[0], target=named[1])
        case "link" | "linkat":
            yield Operation(at, "link", named[0], target=named[1])
        case "unlink" | "unlinkat" | "rmdir":
            yield Operation(at, "remove", named[0])
        case "mkdir" | "mkdirat":
            yield Operation(at, "folder", named[0])
        case _:
            yield Operation(at, f"unknown call {name}", path or named[0])


@dataclass
class _File:
    durable: bytes = b""
    pending: list[Operation] = field(default_factory=list)


def _changed(content: bytes, change: Operation) -> bytes:
    if change.what == "size":
        return content[: change.offset].ljust(change.offset, b"\0")
    if change.what == "grow":
        return content.ljust(change.offset, b"\0")
    return (
        content.ljust(change.offset, b"\0")[: change.offset] + change.data + content[change.offset + len(change.data) :]
    )


class Disk:
    """A disk under a program: `do` one operation after the other, then `after_power_cut`."""

    def __init__(self, files: dict[str, bytes], folders: set[str], *, journalled: bool) -> None:
        """What was there, and durable, when the program began."""
        self._journalled = journalled
        self._names: dict[str, _File | None] = {path: _File(content) for path, content in files.items()}
        self._names |= dict.fromkeys(folders)
        self._durable = dict(self._names)
        self._pending: list[tuple[str, str, _File | None, str]] = []  # what, path, file, target

    def do(self, operation: Operation) -> None:
        """One operation of the program."""
        path = operation.path
        match operation.what:
            case "make" if path not in self._names:
                self._name("make", path, _File())
            case "folder":
                self._name("make", path, None)
            case "remove":
                self._name("remove", path, self._names.get(path))
            case "move" | "link" as what:
                self._name(what, path, self._names.get(path), operation.target)
            case "sync":
                self._sync(path)
            case "write" | "size" | "grow":
                file = self._names.get(path)
                if file is not None:
                    file.pending.append(operation)
            case "make":
                pass
            case _:
                raise AssertionError(f"{operation.what}: the simulation does not know it")

    def _name(self, what: str, path: str, file: _File | None, target: str = "") -> None:
        self._pending.append((what, path, file, target))
        _rename(self._names, self._pending[-1])

    def _sync(self, path: str) -> None:
        file = self._names.get(path)
        if file is not None:
            for change in file.pending:
                file.durable = _changed(file.durable, change)
            file.pending.clear()
        waiting, self._pending = self._pending, []
        for each in waiting:
            changed = each[3:] if each[0] == "link" else (each[1], each[3])
            folders = {str(PurePosixPath(name).parent) for name in changed if name}
            if self._journalled or path in folders:
                _rename(self._durable, each)
            else:
                self._pending.append(each)

    def after_power_cut(self, dice: random.Random) -> tuple[dict[str, bytes], set[str]]:
        """Files and folders of one state that the disk may be in."""
        names = dict(self._durable)
        for each in self._pending[: dice.randint(0, len(self._pending))]:
            _rename(names, each)
        folders = {path for path, file in names.items() if file is None and _reachable(path, names)}
        files = {
            path: _survived(file, dice) for path, file in names.items() if file is not None and _reachable(path, names)
        }
        return files, folders


def _rename(names: dict[str, _File | None], change: tuple[str, str, _File | None, str]) -> None:
    what, path, file, target = change
    if what == "make":
        names[path] = file
    elif what == "remove":
        names.pop(path, None)
    else:
        if what == "move":
            names.pop(path, None)
        names[target] = file


def _reachable(path: str, names: dict[str, _File | None]) -> bool:
    """Whether all folders above it that the program made are there as well."""
    roots = [str(parent) for parent in PurePosixPath(path).parents]
    return all(parent in names for parent in roots[: max(0, len(roots) - _depth(names))])


def _depth(names: dict[str, _File | None]) -> int:
    """How many folders stand above the top one."""
    return min(len(PurePosixPath(path).parents) for path in names)


def _survived(file: _File, dice: random.Random) -> bytes:
    """The durable content, with some of the writes that were not synced."""
    manner = dice.choice(("none", "all", "some", "some", "torn"))
    content = file.durable
    for change in file.pending:
        if manner == "none" or (manner != "all" and dice.random() < 0.5):
            continue
        content = _changed(content, _torn(change, dice) if manner == "torn" else change)
    return content


def _torn(change: Operation, dice: random.Random) -> Operation:
    """A write of which only the first sectors are there."""
    sectors = dice.randint(0, len(change.data) // SECTOR_BYTES)
    return replace(change, data=change.data[: sectors * SECTOR_BYTES])
