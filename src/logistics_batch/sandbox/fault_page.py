"""The tables in the page about faults, written from the code: ``python -m logistics_batch.sandbox.fault_page --write``.

Without ``--write`` it says whether the page is up to date.
"""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import wrap

from logistics_batch.sandbox.endpoints import ENDPOINT_NAMES
from logistics_batch.sandbox.fault_kinds import KINDS, LABEL_KINDS, Kind
from logistics_batch.sandbox.fault_values import CHOOSING

PAGE = Path("docs/sandbox-faults.md")
BEGIN, END = "<!-- tables: begin -->\n", "<!-- tables: end -->\n"


def tables() -> str:
    """Everything between the two marks of the page."""
    return "\n".join(_lines())


def renewed(page: str) -> str:
    """The page with tables of today; ValueError: it has no marks."""
    head, begin, rest = page.partition(BEGIN)
    _, end, tail = rest.partition(END)
    if not (begin and end):
        raise ValueError(f"{PAGE} has lost the marks around its tables")
    return head + BEGIN + tables() + END + tail


def example(name: str) -> str:
    """The example of a kind as a rule in YAML."""
    return f"{{kind: {name}, {KINDS[name].example}}}"


def _lines() -> Iterator[str]:
    yield "\n## Which requests go wrong\n"
    yield from _table("key", "meaning")
    yield from (f"| `{name}` | {text} |" for name, text in CHOOSING.items())
    yield ""
    yield from wrap("The endpoints are " + ", ".join(f"`{name}`" for name in ENDPOINT_NAMES) + ".\n", width=120)
    yield ""
    yield "## Kinds"
    for group in dict.fromkeys(kind.group for kind in KINDS.values()):
        yield f"\n### {group}\n"
        yield from _table("kind", "what happens", "effect", "own keys", "example")
        yield from (_row(name, kind) for name, kind in KINDS.items() if kind.group == group)
    yield ""


def _table(*heads: str) -> tuple[str, str]:
    return f"| {' | '.join(heads)} |", f"|{'|'.join('---' for _ in heads)}|"


def _row(name: str, kind: Kind) -> str:
    own = ", ".join(f"`{key}: {_shown(value)}`" for key, value in kind.options.items()) or "–"
    return f"| `{name}` | {kind.text} | {_effect(name, kind)} | {own} | `{example(name)}` |"


def _shown(value: object) -> str:
    if isinstance(value, float):
        return f"{value:g}"
    return str(value).lower() if isinstance(value, bool) else f"{value}"


def _effect(name: str, kind: Kind) -> str:
    if name == "delay":
        return "`phase: before` puts it off, `after` comes between it and the answer"
    if name == "late_effect":
        return "later"
    if name in LABEL_KINDS:
        return "–"
    words = {"before": "none", "after": "done"}
    if len(kind.phases) == 1:
        return words[kind.phases[0]]
    usual, other = kind.phases
    return f"{words[usual]}; {words[other]} with `phase: {other}`"


def main(arguments: list[str] | None = None) -> int:
    """Renew the page, or say with 1 that it is out of date."""
    parser = argparse.ArgumentParser(prog="python -m logistics_batch.sandbox.fault_page", description=__doc__)
    parser.add_argument("--write", action="store_true", help="write the tables into the page")
    parser.add_argument("page", type=Path, nargs="?", default=PAGE, help=f"the page (default: {PAGE})")
    given = parser.parse_args(arguments)
    old = given.page.read_text(encoding="utf-8")
    new = renewed(old)
    if given.write:
        given.page.write_text(new, encoding="utf-8")
    elif new != old:
        print(f"{given.page} is out of date; write it anew with --write", file=sys.stderr)  # noqa: T201
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
