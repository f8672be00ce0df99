"""What is given on a command line: keys, switches and a fault plan, read with words for people."""

from collections.abc import Iterable
from pathlib import Path

from logistics_batch.sandbox.faults import read_plan
from logistics_batch.sandbox.switches import Switches


def read_keys(given: Iterable[str], file: Path | None) -> tuple[str, ...]:
    """The keys given, and those in a file, one a line; ValueError when that file holds none."""
    keys = [key for key in given if key]
    if file is not None:
        lines = [line.strip() for line in file.read_text(encoding="utf-8").splitlines()]
        if not any(lines):
            raise ValueError(f"{file} holds no key")
        keys += filter(None, lines)
    return tuple(dict.fromkeys(keys))


def read_switches(given: Iterable[str]) -> Switches:
    """Switches from ``NAME=VALUE`` texts; ValueError says which is wrong."""
    changes = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals:
            raise ValueError(f"--switch {text}: NAME=VALUE is expected")
        changes[name.strip()] = value
    return Switches().changed(changes)


def check_faults(file: Path | None) -> None:
    """ValueError when a fault plan is wrong: the file, the number of the rule, and what is wrong with it."""
    if file is None:
        return
    try:
        read_plan(file.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{file}: {error}") from error


def reason(error: OSError | ValueError) -> str:
    """Why the sandbox cannot start, without a number of the system."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return str(error).rstrip(".")
