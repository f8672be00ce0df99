"""A known layout that drifted: columns that were renamed or came new, proposed as a change of the mapping's text."""

import difflib
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import polars as pl

from logistics_batch.errors import SpecificationError
from logistics_batch.mapping.header import Header, bind
from logistics_batch.mapping.lines_sheet_spec import header_mapping, lines_mapping
from logistics_batch.mapping.loading import Mapping
from logistics_batch.mapping.names import ColumnName
from logistics_batch.mapping.parted import outer_mapping
from logistics_batch.mapping.patterns import name_fits
from logistics_batch.mapping.suggest_names import LIKELY, alike, likeness, names_of_targets
from logistics_batch.mapping.suggest_values import Profile, profile_of
from logistics_batch.mapping.targets import Form, form_of
from logistics_batch.model.sheet import Sheet

_SEARCHED_ROWS: Final = 30
_SAMPLED_ROWS: Final = 300
_EQUALLY: Final = 0.03
_TELLING: Final = 0.15  # what values say that hardly anything else looks like
_SOURCES: Final = r"(?:from|first|sum|less|times|ledger)"

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
    views = [
        (view, *found) for view, its_sheets in _views(mapping, sheets) if (found := _best(view, its_sheets)) is not None
    ]
    if not views:
        return None
    here = {name for _, _, header in views for name in header.columns}
    changed = text
    told: list[tuple[str, str, float]] = []
    likely = [pair for view in views for pair in _likely(*view) if pair[0] not in here]
    doubtful = _doubtful(likely)
    for old, new, sure in _renamed([pair for pair in likely if pair[0] not in doubtful]):
        proposed = _with_alias(changed, old, new)
        if proposed is not None and _still_loads(proposed, load):
            changed = proposed
            told.append((old, new, sure))
    settled = here | {old for old, _, _ in told}
    taken = {new for _, new, _ in told} | {new for each in doubtful.values() for new in each}
    fresh = tuple(dict.fromkeys(name for _, _, header in views for name in header.unknown if name not in taken))
    absent = dict.fromkeys(name for _, _, header in views for name in header.absent)
    lost = tuple(name for name in absent if name not in settled and name not in doubtful)
    wanted = {name for _, _, header in views for name in header.missing} - settled
    # One of the new columns may be the one that no row can do without: a person looks first.
    ignoring = changed if wanted else _ignoring(changed, fresh)
    text = ignoring if _still_loads(ignoring, load) else changed
    return Drift(tuple(told), fresh, lost, text, tuple(doubtful.items()))


def _views(mapping: Mapping, sheets: Sequence[Sheet]) -> list[tuple[Mapping, Sequence[Sheet]]]:
    """What the mapping looks for on which sheets."""
    form = mapping.spec.lines_sheet
    if form is None:
        return [(outer_mapping(mapping, sheets), sheets)]
    of_lines = [sheet for sheet in sheets if name_fits(sheet.name, form.name)]
    others = [sheet for sheet in sheets if sheet not in of_lines]
    return [(header_mapping(mapping), others), (lines_mapping(mapping), of_lines)]


def _best(mapping: Mapping, sheets: Sequence[Sheet]) -> tuple[Sheet, Header] | None:
    """The sheet and row that bear most of the mapping's names."""
    candidates = [
        (sheet, bind(mapping, int(row), [cell or "" for cell in cells]))
        for sheet in sheets
        for row, *cells in sheet.frame.head(_SEARCHED_ROWS).iter_rows()
    ]
    return max((each for each in candidates if each[1].score), key=lambda each: each[1].score, default=None)


def _likely(mapping: Mapping, sheet: Sheet, header: Header) -> list[tuple[str, str, float]]:
    """Each missing column with each new one that may be meant, the surest first."""
    pairs = []
    for group in mapping.groups:
        if group[0] in header.absent:
            pairs += [(group[0], new, likeness_to(mapping, sheet, header, group, new)) for new in header.unknown]
    return sorted((pair for pair in pairs if pair[2] >= LIKELY), key=lambda pair: -pair[2])


def _doubtful(pairs: Sequence[tuple[str, str, float]]) -> dict[str, tuple[str, ...]]:
    """The missing columns of which two new ones are equally like, with these."""
    found: dict[str, tuple[str, ...]] = {}
    best = {old: sure for old, _, sure in reversed(pairs)}
    better = {new: max(sure for _, other, sure in pairs if other == new) for _, new, _ in pairs}
    for old, surest in best.items():
        # One that is more like another missing column is meant by that.
        equal = tuple(
            new for name, new, sure in pairs if name == old and sure == better[new] and sure > surest - _EQUALLY
        )
        if len(equal) > 1:
            found[old] = equal
    return found


def _renamed(pairs: Sequence[tuple[str, str, float]]) -> list[tuple[str, str, float]]:
    """For each missing column the new one that is most like it, the surest first; each new one once."""
    taken: dict[str, tuple[str, str, float]] = {}
    for old, new, sure in pairs:
        if old not in taken and new not in {each[1] for each in taken.values()}:
            taken[old] = (old, new, round(sure, 2))
    return list(taken.values())


def likeness_to(mapping: Mapping, sheet: Sheet, header: Header, group: Sequence[str], new: str) -> float:
    """How likely a new column is the missing one: by its name and, against it, by its values."""
    fields, lines = names_of_targets(mapping.operation)
    best = max(_spelt_alike(name, new) for name in group)
    best = max(best, *(alike(new, name) for name in group))
    for place, field in mapping.spec.everything.items():
        part, target = place.split(".", 1)
        if group[0] in {name for names in field.columns for name in names}:
            known = (fields if part == "fields" else lines).get(target, "")
            best = max(best, 0.9 * likeness(new, known)) if known else best
            form = form_of(target, mapping.operation) if part != "keep" else Form.TEXT
            fits = profile_below(sheet, header, new).fits(form)
            if fits is False:
                return 0.0
            telling = fits and form in (Form.MOBILE, Form.PINCODE) and best > 0
            best = min(1.0, best + _TELLING) if telling else best
    return best


def profile_below(sheet: Sheet, header: Header, name: str) -> Profile:
    """What the first cells below one of the header's names look like."""
    column = next(number for number, text in enumerate(header.texts, 1) if text.strip() == name)
    cells = sheet.frame.select(pl.col(str(column)).filter(pl.col("row") > header.row).head(_SAMPLED_ROWS))
    return profile_of(cells.to_series().to_list())


def _spelt_alike(one: str, other: str) -> float:
    ratio = difflib.SequenceMatcher(None, ColumnName.of(one).identity, ColumnName.of(other).identity).ratio()
    return ratio if ratio > 0.8 else 0.0


def _still_loads(text: str, load: Load) -> bool:
    try:
        load(text)
    except SpecificationError:
        return False
    return True


def _with_alias(text: str, old: str, new: str) -> str | None:
    """The text with a further name beside a column's name, wherever a field reads the column; None if nowhere."""
    token = "|".join(re.escape(form) for form in (json.dumps(old, ensure_ascii=False), f"'{old}'", old))
    name = json.dumps(new, ensure_ascii=False)
    ends = r"(?=\s*[,}\]\n]|\s+#)"
    scalar = re.compile(rf"({_SOURCES}:\s*)({token}){ends}")
    listed = re.compile(rf"({_SOURCES}:\s*\[[^\[\]]*?)(?<=[\[\s,])({token})(?=\s*[,\]])")
    within = re.compile(
        rf"((?:join:\s*\[|^\s+-\s+)[^\[\]\n]*\[[^\[\]]*?)(?<=[\[\s,])({token})(?=\s*[,\]])", re.MULTILINE
    )
    joined = re.compile(rf"(join:\s*\[(?:[^\[\]]|\[[^\[\]]*\])*?)(?<=[\[\s,])({token})(?=\s*[,\]])")
    block = re.compile(rf"^(\s+-\s+)({token})(?=\s*$)", re.MULTILINE)
    changed = scalar.sub(lambda found: f"{found[1]}[{found[2]}, {name}]", text)
    changed = listed.sub(lambda found: f"{found[1]}{found[2]}, {name}", changed) if changed == text else changed
    changed = within.sub(lambda found: f"{found[1]}{found[2]}, {name}", changed) if changed == text else changed
    changed = joined.sub(lambda found: f"{found[1]}[{found[2]}, {name}]", changed) if changed == text else changed
    if changed == text and "join:" in text:
        changed = block.sub(lambda found: f"{found[1]}[{found[2]}, {name}]", text)
    return changed if changed != text else None


def _ignoring(text: str, names: Sequence[str]) -> str:
    """The text with these columns under `ignore`."""
    if not names:
        return text
    quoted = [json.dumps(name, ensure_ascii=False) for name in names]
    flow = re.compile(r"^(ignore:\s*\[[^\]]*?)(\s*\])", re.MULTILINE)
    if flow.search(text):
        return flow.sub(lambda found: f"{found[1]}, {', '.join(quoted)}{found[2]}", text, count=1)
    lines = "".join(f"  - {name}\n" for name in quoted)
    if re.search(r"^ignore:\s*(?:#.*)?$", text, re.MULTILINE):
        return re.sub(r"^(ignore:[^\n]*\n)", lambda found: found[1] + lines, text, count=1, flags=re.MULTILINE)
    return f"{text.rstrip()}\nignore:\n{lines}"
