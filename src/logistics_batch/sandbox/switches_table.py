"""The switches as a table for people, read from the words beside their definition.

``python -m logistics_batch.sandbox.switches_table`` prints it as the page about the sandbox shows it.
"""

import inspect
import re
import sys
from typing import get_type_hints

from logistics_batch.sandbox.switches import CHOICES, Switches

_ENTRY = re.compile(r"(?:^|(?<=[.] ))((?:``\w+``(?:, )?)+): ", re.MULTILINE)


def meanings() -> dict[str, str]:
    """What each switch means, by its name, in the order of their definition; code words stand in backquotes."""
    parts = _ENTRY.split(inspect.cleandoc(Switches.__doc__ or ""))[1:]
    said: dict[str, str] = {}
    for names, text in zip(parts[::2], parts[1::2], strict=True):
        meaning = " ".join(text.replace("``", "`").split())
        said |= dict.fromkeys(re.findall(r"\w+", names), meaning)
    return {name: said[name] for name in Switches().as_dict()}


def as_markdown() -> str:
    """The table of a page: switch, values, default and meaning."""
    said, kinds = meanings(), get_type_hints(Switches)
    rows = [
        f"| `{name}` | {_values(name, kinds[name])} | {_shown(default)} | {said[name]} |"
        for name, default in Switches().as_dict().items()
    ]
    return "\n".join(["| switch | values | default | meaning |", "|---|---|---|---|", *rows, ""])


def _values(name: str, kind: type) -> str:
    if name in CHOICES:
        return " ".join(f"`{choice}`" for choice in CHOICES[name])
    return {bool: "`true` `false`", int: "whole number", float: "number", str: "text"}[kind]


def _shown(value: object) -> str:
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return f"`{text}`" if text else "none"


if __name__ == "__main__":
    sys.stdout.write(as_markdown())
