"""A known layout that drifted: columns that were renamed or came new, proposed as a change of the mapping's text."""

import difflib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import polars as pl

from logistics_batch.errors import SpecificationError, UsageError
from logistics_batch.mapping.lines.two_sheets import views
from logistics_batch.mapping.loaded import Mapping, is_above
from logistics_batch.mapping.naming import LIKELY
from logistics_batch.mapping.rewritten import flow, rewritten
from logistics_batch.mapping.rows.header import Header, likeliest, name_fits
from logistics_batch.mapping.rows.outside import label_of, labels_of
from logistics_batch.mapping.suggest.head import lasting_name
from logistics_batch.mapping.suggest.table import likeness_to
from logistics_batch.model.sheet import Sheet
from logistics_batch.specification import MAX_NODES, Keys, read_yaml, written_in

_EQUALLY: Final = 0.03
_SOURCES: Final = ("from", "first", "sum", "less", "times", "ledger")
_BEHIND: Final = MAX_NODES  # the last item of any list

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
    text = _changed(text, partial(_with_sheet, mapping=mapping, name=found[0][1].name), load)
    headers = [header for _, _, header in found]
    above, labels = labels_of(*found[0])
    here = {name for header in headers for name in header.columns} | above
    pairs = [pair for view in found for pair in _likely(*view) if pair[0] not in here] + labels
    doubtful = _doubtful(pairs)
    renamed: dict[str, tuple[str, str, float]] = {}
    for old, new, sure in pairs:
        if old in doubtful or old in renamed or new in {each[1] for each in renamed.values()}:
            continue
        proposed = _changed(text, partial(_with_alias, old=old, new=new), load)
        if proposed != text:
            text = proposed
            renamed[old] = (old, new, round(sure, 2))
    settled = here | set(renamed)
    taken = {new for _, new, _ in renamed.values()} | {new for each in doubtful.values() for new in each}
    fresh = tuple(dict.fromkeys(name for header in headers for name in header.unknown if name not in taken))
    absent = dict.fromkeys(name for header in headers for name in header.absent)
    lost = tuple(name for name in absent if name not in settled and name not in doubtful)
    # One of the new columns may be the one that no row can do without: a person looks first.
    if {name for header in headers for name in header.missing} <= settled:
        text = _changed(text, partial(_ignoring, names=fresh), load)
    return Drift(tuple(renamed.values()), fresh, lost, text, tuple(doubtful.items()))


def _changed(text: str, change: Callable[[str], str], load: Load) -> str:
    """The changed text; as it was where it cannot be changed so, or does not load then."""
    try:
        new = change(text)
        load(new)
    except (SpecificationError, UsageError):
        return text
    return new


def _with_sheet(text: str, *, mapping: Mapping, name: str) -> str:
    """The text with a name of its sheet that fits the one there, and tomorrow's where it has a date."""
    wanted = mapping.spec.sheet.name
    is_other = wanted is not None and not name_fits(name, wanted)
    return rewritten(text, ("sheet", "name"), lasting_name(name) or "*") if is_other else text


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


def _with_alias(text: str, *, old: str, new: str) -> str:
    """The text with a further name beside a column's name, wherever a field reads the column."""
    sources, join = (("beside",), "") if is_above([old]) else (_SOURCES, "join")
    written, places = written_in(text), _places(read_yaml(text, path="mapping").root.plain(), label_of(old))
    for path in reversed([path for path in places if path[0] != "key"]):
        *_, above, before, last = ("", "", "", *path)
        start, end = written[path].start, written[path].end
        if last in sources or before == join:
            text = f"{text[:start]}[{text[start:end]}, {flow(new)}]{text[end:]}"
        elif before in sources or above == join:  # behind it: the first that a sheet has counts
            lead = text[text.rfind("\n", 0, start) + 1 : start]
            between = f"\n{lead}" if lead.strip() == "-" else ", "
            text = f"{text[:end]}{between}{flow(new)}{text[end:]}"
    return text


def _places(data: Any, wanted: str, path: Keys = ()) -> Iterator[Keys]:
    """The keys and positions that lead to a text, wherever it stands."""
    if isinstance(data, dict | list):
        for key, each in data.items() if isinstance(data, dict) else enumerate(data):
            yield from _places(each, wanted, (*path, key))
    elif str(data) == wanted:
        yield path


def _ignoring(text: str, *, names: Sequence[str]) -> str:
    """The text with these columns under `ignore`."""
    for name in names:
        text = rewritten(text, ("ignore", _BEHIND), name)
    return text
