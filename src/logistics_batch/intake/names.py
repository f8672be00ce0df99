"""File names from outside: data that is matched, shown and refused, never trusted as a path."""

from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import PurePosixPath
from uuid import uuid4

from logistics_batch.errors import FileHeld, StoreError
from logistics_batch.model.issue import Issue

MAX_NAME_CHARACTERS = 255
_LONGEST_NAME_BYTES = 255
_SHEET_ENDINGS = ("csv", "tsv", "tab", "txt", "xlsx", "xlsm", "xls", "xlsb", "ods")
_PACKED_ENDINGS = ("zip", "gz", "gzip", "pgp", "gpg", "asc")
_NUMBERED_TRIES = 9


def name_fault(name: str) -> Issue | None:
    """Why a name cannot be that of a file to take, None if it can.

    >>> name_fault("../../etc/passwd").reason
    'its name holds a slash'
    """
    if name in ("", ".", ".."):
        return Issue("name.none")
    if "/" in name:
        return Issue("name.slash")
    if "\\" in name:
        return Issue("name.backslash")
    if any(ord(char) < 32 or 127 <= ord(char) < 160 for char in name):
        return Issue("name.control")
    if any(0xD800 <= ord(char) < 0xE000 for char in name):
        return Issue("name.unicode")
    return Issue.of("name.long", most=MAX_NAME_CHARACTERS) if len(name) > MAX_NAME_CHARACTERS else None


def printable(text: str) -> str:
    """A name or a server's words as safe to show: control characters escaped, at most 200 characters.

    >>> printable("a\\nb")
    'a\\\\nb'
    """
    shown = "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)
    return shown if len(shown) <= 200 else shown[:197] + "…"


def held(code: str, name: str, **values: object) -> FileHeld:
    """A file that is held as a whole; name: the file's own. values: those of the code's words beside the name."""
    return FileHeld(code, values={"name": printable(name), **values})


def copy_name(sha256: str, name: str) -> str:
    """The name of our own copy of a file: the hash of its bytes and, for people, its ending if that is a known one.

    >>> copy_name("0a1b", "Orders.XLSX"), copy_name("0a1b", "a.csv" + " " * 200), copy_name("0a1b", "a." + "x" * 250)
    ('0a1b.xlsx', '0a1b.csv', '0a1b')
    """
    ending = PurePosixPath(name).suffix.strip().lower().removeprefix(".")
    return f"{sha256}.{ending}" if ending in (*_SHEET_ENDINGS, *_PACKED_ENDINGS) else sha256


def beside(path: str, ending: str) -> str:
    """The path of what stands beside a file and has its name with an ending more; cut where no file system takes it.

    >>> beside("/in/orders.csv", ".why.txt")
    '/in/orders.csv.why.txt'
    """
    whole = PurePosixPath(path)
    most = _LONGEST_NAME_BYTES - len(ending.encode())
    return str(whole.with_name(whole.name.encode()[:most].decode(errors="ignore") + ending))


def name_matches(name: str, patterns: Sequence[str]) -> bool:
    """Whether a name fits one of the patterns; they know `*` and `?` and ignore case and outer blanks.

    >>> name_matches("Orders_03.XLSX", ["*.xlsx"])
    True
    """
    plain = (pattern.strip().casefold().replace("[", "[[]") for pattern in patterns)
    return any(fnmatchcase(name.strip().casefold(), pattern) for pattern in plain)


def checked_path(path: str, *, store: str, operation: str) -> str:
    """A store's path whose every part is a sound name; raises StoreError otherwise."""
    for part in PurePosixPath(path).parts:
        fault = None if part in ("/", "//") else name_fault(part)
        if fault:
            raise StoreError.of("store.name", store=store, operation=operation, path=printable(path), why=[fault.pair])
    return str(PurePosixPath(path))


def free_names(name: str) -> Iterator[str]:
    """The name itself, then names to try when it is taken: `orders.2.xlsx` … and in the end a random one."""
    stem, suffix = PurePosixPath(name).stem, PurePosixPath(name).suffix
    yield name
    for number in range(2, 2 + _NUMBERED_TRIES):
        yield f"{stem}.{number}{suffix}"
    yield f"{stem}.{uuid4().hex[:8]}{suffix}"
