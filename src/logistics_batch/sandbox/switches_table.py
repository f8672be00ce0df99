"""The switches as a table for people, read from the words beside their definition."""

import inspect
import re

from logistics_batch.sandbox.switches import Switches

_ENTRY = re.compile(r"(?:^|(?<=[.] ))((?:``\w+``(?:, )?)+): ", re.MULTILINE)


def meanings() -> dict[str, str]:
    """What each switch means, by its name, in the order of their definition."""
    parts = _ENTRY.split(inspect.cleandoc(Switches.__doc__ or ""))[1:]
    said: dict[str, str] = {}
    for names, text in zip(parts[::2], parts[1::2], strict=True):
        meaning = " ".join(text.replace("``", "").split())
        said |= dict.fromkeys(re.findall(r"\w+", names), meaning)
    return {name: said[name] for name in Switches().as_dict()}
