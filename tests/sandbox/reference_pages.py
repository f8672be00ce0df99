"""The tables of the pages about the sandbox, from the code: `python tests/sandbox/reference_pages.py` writes them."""

import inspect
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from textwrap import wrap

from logistics_batch.sandbox.endpoints import ENDPOINT_NAMES
from logistics_batch.sandbox.faults.kinds import KINDS, LABEL_KINDS, FaultKind
from logistics_batch.sandbox.faults.plan import CHOOSING
from logistics_batch.sandbox.switches import Switches

DOCS = Path(__file__).parents[2] / "docs"
FAULTS_PAGE, SANDBOX_PAGE = DOCS / "sandbox-faults.md", DOCS / "how-to" / "sandbox.md"
_ENTRY = re.compile(r"(?:^|(?<=[.] ))((?:``\w+``(?:, )?)+): ", re.MULTILINE)


def renewed(page: Path) -> str:
    """The page with the tables of today between its marks."""
    name, table = ("tables", fault_tables()) if page == FAULTS_PAGE else ("switches", switch_table())
    begin, end = f"<!-- {name}: begin -->\n", f"<!-- {name}: end -->\n"
    head, rest = page.read_text(encoding="utf-8").split(begin)
    return head + begin + table + end + rest.split(end)[1]


def fault_tables() -> str:
    """Which requests go wrong, and the kinds by group."""
    return "\n".join(_fault_lines())


def switch_table() -> str:
    """Switches with their defaults in brackets and what they mean, those that are explained together as one."""
    alike: dict[str, list[str]] = {}
    for name, words in meanings().items():
        alike.setdefault(words, []).append(name)
    defaults = Switches().model_dump()
    lines = []
    for words, names in alike.items():
        of = ", ".join(_shown(defaults[name]) for name in names)
        lines += _item(f"- {_listed(names)} ({of}): {words}")
    return "\n".join([*lines, ""])


def _listed(names: Iterable[object]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def meanings() -> dict[str, str]:
    """What each switch means, from the words beside its definition."""
    parts = _ENTRY.split(inspect.cleandoc(Switches.__doc__ or ""))[1:]
    found: dict[str, str] = {}
    for names, text in zip(parts[::2], parts[1::2], strict=True):
        found |= dict.fromkeys(re.findall(r"\w+", names), " ".join(text.replace("``", "`").split()))
    return found


def _fault_lines() -> Iterator[str]:
    yield "\n## Which requests go wrong\n"
    for name, text in CHOOSING.items():
        yield from _item(f"- `{name}`: {text}")
    yield ""
    yield from wrap("The endpoints are " + ", ".join(f"`{name}`" for name in ENDPOINT_NAMES) + ".\n", width=120)
    yield "\n## Kinds\n"
    yield "In italics: whether the effect is done (in brackets: with the other `phase`), and own keys with defaults."
    for group in dict.fromkeys(kind.group for kind in KINDS.values()):
        yield f"\n### {group}\n"
        alike: dict[str, list[str]] = {}
        for name, kind in KINDS.items():
            if kind.group == group:
                own = ", ".join(f"`{key}: {_plain(value)}`" for key, value in kind.options.items())
                facts = "; ".join(each for each in (_effect(name, kind), own) if each)
                alike.setdefault(f"{kind.text}{facts and f' *{facts}*'}", []).append(name)
        for text, names in alike.items():
            yield from _item(f"- {_listed(names)}: {text}")
    yield ""


def _item(text: str) -> list[str]:
    return wrap(text, width=160, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


def _plain(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value).lower() if isinstance(value, bool) else f"{value}"


def _shown(value: object) -> str:
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return f"`{text}`" if text else "none"


def _effect(name: str, kind: FaultKind) -> str:
    if name == "delay":
        return "later (done)"
    if name == "late_effect" or name in LABEL_KINDS:
        return "later" if name == "late_effect" else ""
    words = {"before": "none", "after": "done"}
    usual, *others = kind.phases
    return " ".join([words[usual], *(f"({words[other]})" for other in others)])


if __name__ == "__main__":
    for each in (FAULTS_PAGE, SANDBOX_PAGE):
        each.write_text(renewed(each), encoding="utf-8")
