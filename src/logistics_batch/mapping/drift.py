"""A known layout that drifted: columns that were renamed or came new, proposed as a change of the mapping's text."""

import difflib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import polars as pl

from logistics_batch.errors import SpecificationError
from logistics_batch.mapping.lines.two_sheets import views
from logistics_batch.mapping.loaded import Mapping, is_above
from logistics_batch.mapping.naming import LIKELY
from logistics_batch.mapping.rows.header import Header, likeliest, name_fits
from logistics_batch.mapping.rows.outside import label_of, labels_of
from logistics_batch.mapping.suggest.head import lasting_name
from logistics_batch.mapping.suggest.table import likeness_to
from logistics_batch.model.sheet import Sheet
from logistics_batch.specification import Scalar, scalars_of

_EQUALLY: Final = 0.03
_SOURCES: Final = ("from", "first", "sum", "less", "times", "ledger")

Load = Callable[[str], Mapping]


@dataclass(frozen=True, slots=True)
class Drift:
    """How a file differs from what its mapping knows.

    renamed: for a column that is missing the new one that is probably meant, with a confidence. doubtful: for one that
    is missing the new ones of which each may be meant, just as likely. fresh: new columns that nothing is missing for.
    lost: missing columns without a successor. text: the mapping with these changes.
    """

    renamed: tuple[tuple[str, str, float], ...]
    fresh: tuple[str, ...]
    lost: tuple[str, ...]
    text: str
    doubtful: tuple[tuple[str, tuple[str, ...]], ...] = ()

    def diff(self, old: str, *, path: str) -> str:
        """The change of the mapping file as a unified diff, "" if there is none."""
        lines = difflib.unified_diff(
            old.splitlines(keepends=True), self.text.splitlines(keepends=True), f"a/{path}", f"b/{path}"
        )
        return "".join(lines)


def drift_of(mapping: Mapping, sheets: Sequence[Sheet], text: str, *, load: Load) -> Drift | None:
    """Compare a file with its mapping; None if no row of it bears any of the mapping's names.

    text: of the mapping file. load: from a changed text to a mapping; raises SpecificationError.
    """
    bound = [(view, *likeliest(view, its_sheets)) for view, its_sheets in views(mapping, sheets) if its_sheets]
    found = [(view, sheet, header) for view, sheet, header in bound if header is not None]
    if not found:
        return None
    text = _with_sheet(text, mapping, found[0][1].name)
    headers = [header for _, _, header in found]
    above, labels = labels_of(*found[0])
    here = {name for header in headers for name in header.columns} | above
    pairs = [pair for view in found for pair in _likely(*view) if pair[0] not in here] + labels
    doubtful = _doubtful(pairs)
    renamed: dict[str, tuple[str, str, float]] = {}
    for old, new, sure in pairs:
        if old in doubtful or old in renamed or new in {each[1] for each in renamed.values()}:
            continue
        proposed = _with_alias(text, old, new)
        if _loads(proposed, load) and proposed != text:
            text = proposed
            renamed[old] = (old, new, round(sure, 2))
    settled = here | set(renamed)
    taken = {new for _, new, _ in renamed.values()} | {new for each in doubtful.values() for new in each}
    fresh = tuple(dict.fromkeys(name for header in headers for name in header.unknown if name not in taken))
    absent = dict.fromkeys(name for header in headers for name in header.absent)
    lost = tuple(name for name in absent if name not in settled and name not in doubtful)
    # One of the new columns may be the one that no row can do without: a person looks first.
    if {name for header in headers for name in header.missing} <= settled:
        ignoring = _ignoring(text, fresh)
        text = ignoring if _loads(ignoring, load) else text
    return Drift(tuple(renamed.values()), fresh, lost, text, tuple(doubtful.items()))


def _with_sheet(text: str, mapping: Mapping, name: str) -> str:
    """The text with a name of its sheet that fits the one there, and tomorrow's where it has a date."""
    wanted = mapping.spec.sheet.name
    if wanted is None or name_fits(name, wanted):
        return text
    named = next((each for each in scalars_of(text) if each.path == ("sheet", "name")), None)
    return f"{text[: named.start]}{_quoted(lasting_name(name) or '*')}{text[named.end :]}" if named else text


def _likely(mapping: Mapping, sheet: Sheet, header: Header) -> list[tuple[str, str, float]]:
    """Each missing column with each new one that may be meant, the surest first."""
    absent = [group for group in mapping.groups if group[0] in header.absent]
    asked = [(group, new) for group in absent for new in header.unknown]
    pairs = [(group[0], new, likeness_to(mapping, sheet, header, group, new)) for group, new in asked]
    return sorted((pair for pair in pairs if pair[2] >= LIKELY), key=lambda pair: -pair[2])


def _doubtful(pairs: Sequence[tuple[str, str, float]]) -> dict[str, tuple[str, ...]]:
    """The missing columns of which two new ones are equally like, with these."""
    sure = pl.col("sure")
    equal = (
        pl.DataFrame(pairs, schema={"old": pl.String, "new": pl.String, "sure": pl.Float64}, orient="row")
        # A new one that is more like another missing column is meant by that.
        .filter(sure == sure.max().over("new"), sure > sure.max().over("old") - _EQUALLY)
        .group_by("old", maintain_order=True)
        .agg("new")
    )
    return {old: tuple(new) for old, new in equal.iter_rows() if len(new) > 1}


def _loads(text: str, load: Load) -> bool:
    try:
        load(text)
    except SpecificationError:
        return False
    return True


def _with_alias(text: str, old: str, new: str) -> str:
    """The text with a further name beside a column's name, wherever a field reads the column."""
    sources = ("beside",) if is_above([old]) else _SOURCES
    named = [each for each in scalars_of(text) if each.value == label_of(old) and each.path[0] != "key"]
    for scalar in reversed(named):
        *_, before, last = ("", "", *scalar.path)
        written = text[scalar.start : scalar.end]
        if last in sources or (before == "join" and sources is _SOURCES):
            text = f"{text[: scalar.start]}[{written}, {_quoted(new)}]{text[scalar.end :]}"
        elif before in sources or ("join" in scalar.path[-3:-2] and sources is _SOURCES):
            text = _with_item(text, scalar, new)
    return text


def _ignoring(text: str, names: Sequence[str]) -> str:
    """The text with these columns under `ignore`."""
    ignored = [each for each in scalars_of(text) if each.path[0] == "ignore"]
    if not ignored:
        return "\n".join([text.rstrip(), "ignore:", *(f"  - {_quoted(name)}" for name in names), ""]) if names else text
    for name in reversed(names):
        text = _with_item(text, ignored[-1], name)
    return text


def _with_item(text: str, scalar: Scalar, new: str) -> str:
    """The text with a further item of a list behind one: on the same line, or on one of its own."""
    lead = text[text.rfind("\n", 0, scalar.start) + 1 : scalar.start]
    between = f"\n{lead}" if lead.strip() == "-" else ", "
    return f"{text[: scalar.end]}{between}{_quoted(new)}{text[scalar.end :]}"


def _quoted(name: str) -> str:
    return json.dumps(name, ensure_ascii=False)
