"""Which row is the header, which column is which, and the patterns that ask for cells and names."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from itertools import chain, islice
from typing import Any, Final

import polars as pl

from logistics_batch.errors import FileHeld
from logistics_batch.mapping.loaded import Mapping
from logistics_batch.mapping.spec.names import ColumnName, names_match
from logistics_batch.model.answers import earlier_columns
from logistics_batch.model.issue import Issue
from logistics_batch.model.sheet import Sheet

SEARCHED_ROWS: Final = 30
_LOOKED_THROUGH: Final = 2_000  # rows, of which the blank ones do not count


@dataclass(frozen=True, slots=True)
class Header:
    """A sheet's header row, bound to a mapping.

    row: its physical number. texts: its cells by position ("" where empty). columns: for each name of the mapping that
    was found, the column's number from 1. missing: required names that were not found. doubled: names that two columns
    bear. own: numbers of our own result columns. unknown, unused: headers that the mapping does not speak of, and
    other names of a column that was found already. absent: columns of the mapping that are not there. printed: where
    names run over two rows, these as they stand. made_of: columns that others, behind them, were made of. nameless:
    what columns without a name are called, as far as the mapping does not speak of them.
    """

    row: int
    texts: tuple[str, ...]
    columns: dict[str, int]
    missing: tuple[str, ...] = ()
    doubled: tuple[str, ...] = ()
    own: tuple[int, ...] = ()
    unknown: tuple[str, ...] = ()
    unused: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()
    printed: tuple[tuple[str, ...], ...] = ()
    made_of: tuple[int, ...] = ()
    nameless: dict[int, str] = field(default_factory=dict)

    @property
    def score(self) -> int:
        """How many different columns are bound."""
        return len(set(self.columns.values()))

    def column(self, names: Sequence[str]) -> int | None:
        """The number of the first of some names that the sheet has."""
        return next((self.columns[name] for name in names if name in self.columns), None)

    def bound(self, groups: Iterable[Sequence[str]]) -> list[int]:
        """The numbers of some columns, each by all its names, as far as the sheet has them, each once."""
        return list(dict.fromkeys(number for names in groups if (number := self.column(names)) is not None))

    def numbers(self, mapping: Mapping, names: Iterable[str]) -> list[int]:
        """The numbers of the columns with these names of a mapping, likewise."""
        return self.bound(map(mapping.names_of, names))


def choose(mapping: Mapping, sheets: Sequence[Sheet]) -> tuple[Sheet, Header, tuple[Issue, ...]]:
    """The sheet and header row that fit the mapping, and notes on the sheets that are not read, and why.

    Raises FileHeld where none fits, several hold rows under a header that fits or all but fits (rows of one would be
    dropped), or the one that fits doubles a column.
    """
    headers = [(sheet, _header_of(mapping, sheet)) for sheet in sheets]
    found = [(sheet, header) for sheet, header in headers if header is not None]
    complete = [(sheet, header) for sheet, header in found if not header.missing]
    if not complete:
        raise _nothing_fits(mapping, found)
    fitting = complete if len(complete) == 1 else [each for each in complete if _rows_below(*each)]
    if len(fitting) > 1:
        raise FileHeld("sheet.several", values={"names": [sheet.name for sheet, _ in fitting]})
    chosen, header = fitting[0] if fitting else complete[0]
    for sheet, other in found:
        # One column may be spelt otherwise: the rows there would get no answer.
        is_near = len(other.missing) == 1 and other.unknown and other.score >= max(header.score - 1, 3)
        if is_near and _has_rows(sheet, other, until=int(sheet.frame["row"][-1]) + 1):
            raise FileHeld("sheet.near_miss", values={"sheet": sheet.name, "name": other.missing[0]}, sheet=sheet.name)
    if header.doubled:
        raise refused("header.doubled", chosen, header, sheet=chosen.name, row=header.row, names=list(header.doubled))
    return chosen, header, tuple(_not_read(mapping, *each) for each in headers if each[0] is not chosen)


def refused(code: str, sheet: Sheet, header: Header, /, *, field: str = "", **values: Any) -> FileHeld:
    """The refusal of a file whose header is known; code, field, values: as of FileHeld."""
    return FileHeld(code, values=values, field=field, sheet=sheet.name, header_row=header.row)


def _not_read(mapping: Mapping, sheet: Sheet, header: Header | None) -> Issue:
    lacking = header.missing if header else tuple(group[0] for group in mapping.required)
    code = "sheet.not_read" if lacking else "sheet.not_read_header_only"
    return Issue.of(
        code, sheet=sheet.name, count=_rows_below(sheet, None if lacking else header), lacking=list(lacking)
    )


def _rows_below(sheet: Sheet, header: Header | None) -> int:
    """How many filled rows a sheet has below its header, or at all."""
    body = sheet.frame.filter(pl.col("row") > (header.row if header else 0)).drop("row")
    filled = pl.any_horizontal(pl.all().str.contains(r"\S").fill_null(value=False))
    return int(body.select(filled.sum()).item()) if body.width else 0


def without_names(texts: Sequence[str], own: Sequence[int] = ()) -> dict[int, str]:
    """What columns without a name are called: by the next name on their left, and how far from it they stand.

    The letters of columns move with each column that somebody inserts. own: numbers of our own columns.

    >>> without_names(["", "Ship To", "", "", "SKU"])
    {1: 'column 1', 3: 'Ship To, column 2', 4: 'Ship To, column 3'}
    """
    found: dict[int, str] = {}
    left, at = "", 0
    for number, text in enumerate(texts, 1):
        if number not in own:
            left, at = (text.strip(), 1) if text.strip() else (left, at + 1)
            if not text.strip():
                found[number] = f"{left}, column {at}".removeprefix(", ")
    return found


def bind(mapping: Mapping, row: int, texts: Sequence[str], *, has_made: bool = False) -> Header:
    """Bind one row's texts, taken as a header, to the names of a mapping.

    Where the mapping speaks of a column without a name, what it is called becomes its text; has_made: not where texts
    were taken away for what was made of them.
    """
    own = tuple(position + 1 for position in earlier_columns(texts))
    spoken = {ColumnName.of(name).identity for name in (*mapping.column_names, *mapping.spec.ignore)}
    nameless = {} if has_made else without_names(texts, own)
    if any("column" in name for name in spoken):
        called = {n: name for n, name in nameless.items() if ColumnName.of(name).identity in spoken}
        texts = [called.get(number, text) for number, text in enumerate(texts, 1)]
        nameless = {n: name for n, name in nameless.items() if n not in called}
    names = _names(texts, own)
    found = {name: numbers for name in mapping.column_names if (numbers := names.bearing(name))}
    columns = {name: numbers[0] for name, numbers in found.items()}
    taken = {first for group in mapping.groups if (first := _first(group, columns))}
    spare = {columns[name] for name in columns if columns[name] not in taken}
    ignored = {number for name in mapping.spec.ignore for number in names.bearing(name)}
    unknown = [texts[number - 1].strip() for number in names.known if number not in taken | spare | ignored]
    used = {name for group in mapping.groups for name in group if columns.get(name) in taken}
    return Header(
        row=row,
        texts=tuple(texts),
        columns=columns,
        missing=tuple(group[0] for group in mapping.required if not _first(group, columns)),
        doubled=tuple(name for name, numbers in found.items() if len(numbers) > 1 and name in used),
        own=own,
        unknown=tuple(unknown),
        unused=tuple(texts[number - 1].strip() for number in sorted(spare - ignored)),
        absent=tuple(group[0] for group in mapping.groups if not _first(group, columns)),
        nameless=nameless,
    )


@dataclass(frozen=True, slots=True)
class _Names:
    """The names of a row's columns, in full and without trailing brackets."""

    known: dict[int, ColumnName]
    in_full: dict[str, list[int]] = field(default_factory=dict)
    bare: dict[str, list[int]] = field(default_factory=dict)

    def bearing(self, text: str) -> list[int]:
        """The columns that bear a name: in full, else without trailing brackets where that is one column only."""
        wanted = ColumnName.of(text)
        near = [number for number in self.bare.get(wanted.short, []) if names_match(self.known[number], wanted)]
        return self.in_full.get(wanted.identity) or (near if len(near) == 1 else [])


def _names(texts: Sequence[str], own: Sequence[int] = ()) -> _Names:
    found = _Names({n: ColumnName.of(text) for n, text in enumerate(texts, 1) if text.strip() and n not in own})
    for number, name in found.known.items():
        found.in_full.setdefault(name.identity, []).append(number)
        found.bare.setdefault(name.short, []).append(number)
    return found


def bearing(texts: Sequence[str], names: Iterable[str]) -> set[int]:
    """The columns of a row that bear one of some names, as a mapping finds them."""
    known = _names(texts, [position + 1 for position in earlier_columns(texts)])
    return {number for name in names for number in known.bearing(name)}


def likeliest(mapping: Mapping, sheets: Sequence[Sheet]) -> tuple[Sheet, Header | None]:
    """The sheet and row that bear most of the mapping's names, or the longest sheet where none bears any."""
    found = [(sheet, header) for sheet in sheets for header in _candidates(mapping, sheet)]
    longest = max(sheets, key=lambda sheet: sheet.frame.height)
    return max(found, key=lambda each: (not each[1].missing, each[1].score), default=(longest, None))


def _first(group: Sequence[str], columns: dict[str, int]) -> int | None:
    return next((columns[name] for name in group if name in columns), None)


def _candidates(mapping: Mapping, sheet: Sheet) -> list[Header]:
    """The rows of a sheet that bear any name of the mapping, each as the header."""
    form = mapping.spec.sheet
    found = [bind(mapping, row, texts) for row, texts in _rows(sheet, form.header)]
    if form.header_rows > 1:  # a sheet with one row of names is read all the same: answers have one
        joined = [_over_two_rows(mapping, sheet, each) for each in found]
        found = [max(pair, key=lambda each: each.score) for pair in zip(joined, found, strict=True)]
    return [each for each in found if each.score]


def _header_of(mapping: Mapping, sheet: Sheet) -> Header | None:
    """The best header row of a sheet; None where no row bears any name of the mapping.

    Raises FileHeld where two different rows are equally good, or rows of data stand between a fair one and the best.
    """
    candidates = _candidates(mapping, sheet)
    if not candidates:
        return None
    complete = [each for each in candidates if not each.missing]
    best = max(each.score for each in complete or candidates)
    first, *others = [each for each in complete or candidates if each.score == best]
    # The same names in the same places are the header again, as on each page of a printed sheet.
    rivals = [each for each in others if each.columns != first.columns]
    rivals += [each for each in complete if each.row < first.row and _has_rows(sheet, each, until=first.row)]
    if complete and rivals:
        values = {"sheet": sheet.name, "rows": sorted({each.row for each in (first, *rivals)})}
        raise FileHeld("header.rivals", values=values, sheet=sheet.name)
    return first


def _over_two_rows(mapping: Mapping, sheet: Sheet, lower: Header) -> Header:
    """A row as the lower one of two that name the columns."""
    above, names = names_over_two_rows(sheet, lower.row, lower.texts)
    return replace(bind(mapping, lower.row, names), printed=(tuple(above), lower.texts))


def _has_rows(sheet: Sheet, header: Header, *, until: int) -> bool:
    """Whether rows above another header are filled under most columns of this one: they would be taken for titles."""
    between = sheet.frame.filter(pl.col("row").is_between(header.row, until, closed="none"))
    columns = set(header.columns.values())
    filled = [pl.col(str(column)).str.contains(r"\S").fill_null(value=False) for column in columns]
    return bool(between.select((pl.sum_horizontal(filled) * 2 > len(columns)).any()).item())


def _rows(sheet: Sheet, wanted: int | str) -> list[tuple[int, list[str]]]:
    """The rows that may be the header: the one that the mapping names, or the first with anything in them."""
    frame = sheet.frame.filter(sheet.frame["row"] == wanted) if isinstance(wanted, int) else sheet.frame
    every = ((int(row), [text or "" for text in texts]) for row, *texts in frame.head(_LOOKED_THROUGH).iter_rows())
    return list(islice(((row, texts) for row, texts in every if any(text.strip() for text in texts)), SEARCHED_ROWS))


def _nothing_fits(mapping: Mapping, found: Sequence[tuple[Sheet, Header]]) -> FileHeld:
    """Why no header was found: the required columns that the best candidate lacks, with the names nearest to them."""
    found = [(sheet, header) for sheet, header in found if _looks_like_a_header(mapping, header)]
    if not found:
        wanted = mapping.spec.sheet.header
        where = {"row": wanted} if isinstance(wanted, int) else {"searched": SEARCHED_ROWS}
        return FileHeld(
            "header.none_in_row" if isinstance(wanted, int) else "header.none",
            values={"names": list(dict.fromkeys(group[0] for group in mapping.required)), **where},
        )
    sheet, header = max(found, key=lambda each: (each[1].score, -len(each[1].missing)))
    lacking = (group for group in mapping.required if group[0] in header.missing)
    meant = ((group[0], nearest([header], group)) for group in lacking)
    near = [(".is_it_meant", {"seen": text, "name": name}) for name, text in meant if text]
    seen = [text.strip() for text in header.texts if text.strip()]
    values = {"sheet": sheet.name, "missing": list(header.missing), "row": header.row, "seen": seen, "near": near}
    code = "header.missing_near" if near else "header.missing"
    return FileHeld(code, values=values, sheet=sheet.name)


def _looks_like_a_header(mapping: Mapping, header: Header) -> bool:
    """Whether a row bears enough names not to be a row of data that holds one of these words by chance."""
    filled = sum(1 for text in header.texts if text.strip())
    return 2 * len(header.missing) <= len(mapping.required) or 3 * header.score >= filled


def nearest(headers: Iterable[Header], names: Iterable[str]) -> str:
    """The column that nothing is read from and that may be meant by one of some names; "" if there is none."""
    spare = {ColumnName.of(text).identity: text for each in headers for text in (*each.unknown, *each.unused)}
    near = (get_close_matches(ColumnName.of(name).identity, list(spare), n=1, cutoff=0.6) for name in names)
    return next((spare[match] for match in chain.from_iterable(near)), "")


def names_over_two_rows(sheet: Sheet, row: int, texts: Sequence[str]) -> tuple[list[str], list[str]]:
    """What stands above a row, and its texts, each behind what it has in common with its neighbours above.

    A blank cell below a name bears that name. A common name reaches as far as its merged cell. Where the row above has
    no merged cells, as in a text file, it reaches to the next filled one.
    """
    cells = sheet.frame.filter(pl.col("row") == row - 1).drop("row")
    above = [text or "" for text in cells.row(0)] if cells.height else [""] * len(texts)
    common, reaching = list(above), ""
    merged = [
        (left, right) for top, left, bottom, right in sheet.merged_ranges if top == bottom == row - 1 and right > left
    ]
    for left, right in merged:
        common[left - 1 : right] = [above[left - 1]] * len(common[left - 1 : right])
    for place, (name, own) in enumerate(zip(above, texts, strict=True) if not merged else ()):
        if name.strip():  # a name with nothing below it is its own column's only
            reaching = name if own.strip() else ""
        common[place] = reaching
    ours = earlier_columns(texts)  # what we said of the row above is none of a name
    common = ["" if place in ours else name for place, name in enumerate(common)]
    names = zip(texts, above, common, strict=True)
    return above, [f"{shared} {own}".strip() if own.strip() else name for own, name, shared in names]


def fits(cell: pl.Expr, patterns: Sequence[str]) -> pl.Expr:
    """Whether a trimmed cell fits one of the patterns; a blank cell fits only the pattern "".

    The pattern runs in polars' own engine, which cannot backtrack.
    """
    alternatives = "|".join(_regex(pattern.strip()) for pattern in patterns)
    blank_fits = any(not pattern.strip() for pattern in patterns)
    return cell.str.contains(f"(?is)^(?:{alternatives})$").fill_null(value=blank_fits)


def _regex(pattern: str) -> str:
    return pl.escape_regex(pattern).replace(r"\*", ".*").replace(r"\?", ".")


def name_fits(name: str, pattern: str) -> bool:
    """Whether the name of a sheet fits a pattern.

    >>> name_fits("Order Lines", "*lines")
    True
    """
    return bool(pl.select(fits(pl.lit(name.strip()), [pattern])).item())


def where(
    mapping: Mapping, header: Header, conditions: dict[str, list[str]], *, prefix: str = ""
) -> list[tuple[str, pl.Expr]]:
    """Each condition as the header's text and whether the row fits; columns that the sheet lacks are left out.

    prefix: of the names of the columns that are asked.
    """
    found: list[tuple[str, pl.Expr]] = []
    for name, patterns in conditions.items():
        column = header.column(mapping.names_of(name))
        if column is not None:
            found.append((header.texts[column - 1].strip(), fits(pl.col(f"{prefix}c{column}"), patterns)))
    return found
