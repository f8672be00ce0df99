"""No pattern of the program can be kept busy by a cell: each is tried with strings that hurt patterns that backtrack.

The patterns are collected from the modules and from their text, so that a new one is tried without being named here.
"""

import ast
import importlib
import re
import signal
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import logistics_batch

PACKAGE = Path(logistics_batch.__file__).parent
LONGEST = 32_767  # characters of a cell
SECONDS = 1.5  # of processor time; those that backtrack took from 5 to 3,000
OF_OURSELVES = ("sandbox", "demo", "cli", "_shipped")  # what meets no file from outside
METHODS = ("search", "match", "fullmatch")
# Runs of these, between different beginnings and ends.
RUNS = (
    *(
        ".",
        " ",
        "-",
        "0",
        "a",
        "A",
        "(",
        "[",
        "{",
        "/",
        ",",
        '"',
        "<",
        "=",
        "\t",
        "\n",
        "\u0905",
        ". ",
        "0.",
        "1,",
        "a ",
        "()",
    ),
    *(
        "<c ",
        "<v>",
        '<c r="A1"',
        '<row r="1"',
        "9 ",
        "9/",
        "+91 ",
        " (",
        ".-",
        "SH-A",
        "_x0041_",
        "@.",
        "Mob. ",
        "<a:",
        "A1:",
    ),
    *("x:shape ", "2026-11-03 ", "''", "rs ", "total "),
)
AROUND = (("", ""), ("9", "x!"), ("a", "\x009"))


def modules() -> list[Path]:
    found = (path for path in sorted(PACKAGE.rglob("*.py")) if path.name != "__main__.py")
    return [path for path in found if path.relative_to(PACKAGE).parts[0] not in OF_OURSELVES]


def name_of(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def within(value: object) -> Iterator[re.Pattern[str] | re.Pattern[bytes]]:
    """The patterns in a value of a module: itself, those in a table, the one of a bound method."""
    match value:
        case re.Pattern():
            yield value
        case dict():
            yield from (inner for each in value.values() for inner in within(each))
        case tuple() | list():
            yield from (inner for each in value for inner in within(each))
        case _ if isinstance(pattern := getattr(value, "__self__", None), re.Pattern):
            yield pattern


def as_written(node: ast.expr) -> str | bytes:
    """The text of a pattern, with an "x" for what is only known when it is made; empty if it is no text at all."""
    match node:
        case ast.Constant(value=str() | bytes() as text):
            return text
        case ast.JoinedStr(values=values):
            return "".join(str(as_written(each)) if isinstance(each, ast.Constant) else "x" for each in values)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            one, other = as_written(left), as_written(right)
            kind = type(one or other)
            return (one or kind("x" if kind is str else b"x")) + (other or kind("x" if kind is str else b"x"))
        case _:
            return ""


@cache
def patterns() -> dict[str, tuple[re.Pattern[str] | re.Pattern[bytes], tuple[str, ...]]]:
    """Every pattern, and the methods by which it is used (all where that cannot be told)."""
    calls: dict[str, set[str]] = {}
    for path in modules():
        for name, method in re.findall(r"\b(\w+)(?:\[\w+\])?\.(\w+)\(", path.read_text(encoding="utf-8")):
            calls.setdefault(name, set()).add(method)
    found: dict[str, tuple[re.Pattern[str] | re.Pattern[bytes], tuple[str, ...]]] = {}
    for path in modules():
        for name, value in vars(importlib.import_module(name_of(path))).items():
            used = calls.get(name, set()) - {"get", "items", "values", "keys"}
            of_name = {method if method in METHODS else "search" for method in used} or set(METHODS)
            if not isinstance(value, re.Pattern) and (method := getattr(value, "__name__", "")) in METHODS:
                of_name = {method}  # bound to it
            for place, pattern in enumerate(within(value)):
                found.setdefault(f"{name_of(path)}.{name}.{place}", (pattern, tuple(sorted(of_name))))
        known = {pattern.pattern for pattern, _ in found.values()}
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            match node:
                case ast.Call(func=ast.Attribute(value=ast.Name(id="re"), attr=method), args=[pattern, *_]) if (
                    written := as_written(pattern)
                ):
                    if not (method == "compile" and written in known):
                        used_as = METHODS if method == "compile" else (method if method in METHODS else "search",)
                        found[f"{name_of(path)}:{node.lineno}"] = (re.compile(written), used_as)
    return found


@cache
def strings() -> tuple[str, ...]:
    return tuple(
        before + (run * LONGEST)[: LONGEST - len(before) - len(after)] + after
        for run in RUNS
        for before, after in AROUND
    )


class TooLong(Exception):
    """A pattern was kept busy."""


@pytest.fixture
def limited() -> Iterator[None]:
    def stop(*_: object) -> None:
        raise TooLong

    earlier = signal.signal(signal.SIGVTALRM, stop)
    yield
    signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    signal.signal(signal.SIGVTALRM, earlier)


def test_there_are_many_patterns() -> None:
    assert len(patterns()) > 150


@pytest.mark.parametrize("name", patterns())
def test_no_cell_keeps_a_pattern_busy(name: str, limited: None) -> None:
    pattern, methods = patterns()[name]
    for method in methods:
        for text in strings():
            given = text.encode()[:LONGEST] if isinstance(pattern.pattern, bytes) else text
            signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
            begun = time.process_time()
            try:
                getattr(pattern, method)(given)
            except TooLong:
                pytest.fail(f"{method} with {text[:12]!r} … {text[-3:]!r}: {time.process_time() - begun:.1f} s")
            finally:
                signal.setitimer(signal.ITIMER_VIRTUAL, 0)
