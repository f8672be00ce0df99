"""Sheets whose lines lie elsewhere, exploded: one line a row of the frame, each cell with the place where it stands.

Mapping reads an exploded sheet like any other. What it says of a line is told of the rows of the file by the origins.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import polars as pl

from logistics_batch.mapping.fields.compile import CompiledSheet
from logistics_batch.mapping.fields.values.numbers import RUPEE
from logistics_batch.mapping.findings import SHOWN_CHARACTERS, Findings
from logistics_batch.mapping.loaded import Mapping
from logistics_batch.mapping.rows.cells import BLANKS, bare
from logistics_batch.mapping.rows.header import Header, bind
from logistics_batch.mapping.spec.model import FieldSpec, MappingSpec
from logistics_batch.mapping.spec.names import ColumnName, names_match
from logistics_batch.mapping.spec.targets import FieldForm, form_of
from logistics_batch.mapping.spec.texts import NUMBERS_AT_MOST, LinesFromSpec
from logistics_batch.model.document import ROWS_SCHEMA, RowState
from logistics_batch.model.issue import Issue
from logistics_batch.model.sheet import FACTS_SCHEMA, CellFact, Origins, Sheet, merged_facts

OF: Final = "of:"
"""What stands before a column's name in the name of one that says where its cells stand."""

_BY_WEIGHT: Final = (RowState.INVALID, RowState.HELD, RowState.BLOCKED, RowState.READY, RowState.SKIPPED)


_SEARCHED_ROWS: Final = 200  # for the names of numbered columns
_LONGEST_NUMBER: Final = 9  # digits, with zeros before it; Python itself refuses 4,301
_NUMERIC: Final = (FieldForm.COUNT, FieldForm.QUANTITY, FieldForm.MONEY, FieldForm.DECIMAL, FieldForm.PERCENT)
_NUMBER: Final = rf"(?:{RUPEE}\s*)?[0-9][0-9.,]*(?:\s*/-)?"


@dataclass(frozen=True, slots=True)
class BoundSheet:
    """A sheet that is mapped, with its header bound to the mapping that reads it.

    notes: on the sheets that were not read, and on what the header lacks. faults: cells that lines could not be made
    of, and rows that could take none. others, lost: rows of a second sheet that are no line (ROWS_SCHEMA), and what is
    wrong with them. second: its header.
    """

    mapping: Mapping
    sheet: Sheet
    header: Header
    notes: tuple[Issue, ...] = ()
    faults: Findings = field(default_factory=Findings)
    others: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=ROWS_SCHEMA))
    lost: tuple[Issue, ...] = ()
    second: Header | None = None


def with_made(mapping: Mapping, header: Header, names: Sequence[str], *, used: Sequence[int] = ()) -> Header:
    """The header with the names of made columns behind it, bound to a mapping.

    used: columns that these are made of, which are not read by themselves.
    """
    own = ["" if number in used else text for number, text in enumerate(header.texts, 1)]
    bound = bind(mapping, header.row, [*own, *names], has_made=True)
    return replace(
        bound, texts=(*header.texts, *names), printed=header.printed, nameless=header.nameless, made_of=tuple(used)
    )


def exploded(sheet: Sheet, header: Header, lines: pl.DataFrame, *, second: tuple[Sheet, Header] | None = None) -> Sheet:
    """The sheet with a line in the place of each row, which `row` numbers: up to the header as the file does.

    lines: in order, `at`, the position of the row that each is made of; `second`, its row on the second sheet, if there
    is one; and by its name each column that takes the lines' values: made behind the sheet's last, with the columns in
    which its cells stand as `of:NAME`; or one of the sheet, for the rows below the header.
    """
    frame = sheet.frame[lines["at"]]
    above = int((sheet.frame["row"] <= header.row).sum())
    below = pl.int_range(1, frame.height - above + 1, dtype=pl.UInt32, eager=True) + header.row
    numbers = pl.concat([frame["row"][:above].cast(pl.UInt32), below])
    values = lines.select(name for name in lines.columns if name.isdigit())
    origins = lines.select(
        numbers.alias("row"),
        frame["row"].cast(pl.UInt32).alias("origin"),
        (pl.col("second") if second else pl.lit(None)).cast(pl.UInt32).alias("second"),
        *(pl.col(f"{OF}{name}").cast(pl.UInt16).alias(name) for name in values.columns if int(name) > sheet.width),
    )
    own = [pl.concat([frame[name][:above], values[name][above:]]) for name in values.columns if name in frame.columns]
    return replace(
        sheet,
        frame=frame.with_columns(*values).with_columns(*own, numbers.alias("row")),
        facts=_facts(sheet, origins, second[0] if second else None),
        hidden_rows=tuple(origins.filter(pl.col("origin").is_in(list(sheet.hidden_rows)))["row"]),
        foot=tuple(origins.filter(pl.col("origin").is_in(list(sheet.foot)))["row"]),
        cell_counts=None if sheet.cell_counts is None else sheet.cell_counts[lines["at"]],
        origins=Origins(origins, second[0].name, second[1].texts) if second else Origins(origins),
        added=sheet.added + origins.width - 3,
    )


def _facts(sheet: Sheet, origins: pl.DataFrame, second: Sheet | None) -> pl.DataFrame:
    """The facts of cells on all lines of their rows, and on made columns those of the cells that stand there.

    Merged cells reach from the first line of their first row to the last line of their last one.
    """
    on = "second" if second else "origin"
    first, last = (dict(each.select("origin", "row").iter_rows()) for each in (origins.reverse(), origins))
    merged = [
        (first[top], left, last[bottom], right)
        for top, left, bottom, right in sheet.merged_ranges
        if top in first and bottom in last
    ]
    own, there = (
        each.facts.filter(pl.col("kind") != CellFact.MERGED).rename({"row": "from"})
        for each in (sheet, second or sheet)
    )
    made = origins.unpivot("^[0-9]+$", index=["row", on], variable_name="made", value_name="column")
    made = made.cast({"made": pl.String, "column": pl.UInt16})  # without types where nothing is made
    here = there.join(made.rename({on: "from"}), on=["from", "column"])
    own = own.join(origins.rename({"origin": "from"}), on="from")
    found = (merged_facts(merged), own, here.with_columns(column=pl.col("made").cast(pl.UInt16)))
    return pl.concat(each.select(*FACTS_SCHEMA) for each in found)


def blame_faults(found: Findings, table: CompiledSheet, faults: Findings) -> None:
    """What could not be made a line, before all other findings: such a line lacks nothing else."""
    origins = table.sheet.origins
    if origins is None or not faults.rows:
        return
    behind, is_data = pl.col("rule") + len(found.rules), pl.col("row").is_in(table.data_rows.implode())
    faulty = pl.concat(faults.rows).filter(is_data).with_columns(behind.cast(pl.UInt32))
    if not origins.second:
        told = ((place, said) for place, (_, said) in enumerate(found.rules))
        required = [place for place, said in told if isinstance(said, Issue) and said.code == "required"]
        made = origins.lines.select(pl.col("^[0-9]+$").unique().implode())
        taking = {*map(int, made.columns), *(column for columns in made.row(0) for column in columns)}
        lacks = pl.col("rule").is_in(required) & pl.col("column").is_in(list(taking))
        found.rows[:] = [each.filter(~(lacks & pl.col("row").is_in(faulty["row"].implode()))) for each in found.rows]
    found.rows.insert(0, faulty)
    found.rules += faults.rules


def at_rows(lines: pl.DataFrame, sheet: Sheet) -> pl.DataFrame:
    """What became of each line, told of the rows of the file that it stands in, with `sheet`.

    lines: row, code, values; and what rows of a second sheet are told instead, where it is something else.
    """
    if sheet.origins is None:
        return lines.with_columns(pl.lit("").alias("sheet"))  # one value, not one a row
    origins = sheet.origins.lines.select("row", "origin", "second")
    placed = lines.join(origins, on="row", how="left", maintain_order="left")
    second = placed.drop_nulls("second").with_columns(
        *(pl.coalesce(f"{name}_there", name).alias(name) for name in ("code", "values")),
        row="second",
        sheet=pl.lit(sheet.origins.second),
    )
    return pl.concat([placed.with_columns(row="origin", sheet=pl.lit("")), second])


def rows_once(rows: pl.DataFrame) -> pl.DataFrame:
    """Each row of the file once, in order, with the weightiest of its lines' states."""
    weight = pl.col("state").cast(pl.Enum([state.value for state in _BY_WEIGHT]))
    ordered = rows.sort("sheet", "row", weight, maintain_order=True)
    return ordered.unique(["sheet", "row"], keep="first", maintain_order=True)


Groups = dict[int, list[int]]
"""The columns that hold an item together: those of each number, 0 where the sheet lacks one; or the split ones."""


def split_rows(
    mapping: Mapping, form: LinesFromSpec, sheet: Sheet, header: Header, *, notes: tuple[Issue, ...]
) -> BoundSheet:
    """The sheet of a mapping with `lines_from`, exploded: rows above the header and without items stay one line each.

    Pieces of parallel cells stand in place of these, which themselves are the made columns: what is wrong is told of
    the whole cells.
    """
    numbered = [numbered_columns(template, header.texts) for template in form.columns or ()]
    numbers = sorted({number for found in numbered for number in found})
    groups = {number: [found.get(number, 0) for found in numbered] for number in numbers}
    groups = groups or {0: [column for name in form.split or () if (column := header.column([name]))]}
    used = sorted({column for columns in groups.values() for column in columns if column})
    first = [next(filter(None, columns)) for columns in zip(*groups.values(), strict=True)]
    numeric, names = _numeric_parts(mapping.spec, form.parts), form.made or [""] * len(first)
    made = range(sheet.width + 1, sheet.width + 1 + len(names))
    cells = sheet.frame.select("row", *(bare(str(column)) for column in used)).with_row_index("at")
    items = _items(cells.filter(pl.col("row") > header.row), form, groups, first)
    if form.pattern:
        items = _by_pattern(items, form, numeric)
        taken = [(place, f"part{part}", 0) for part, place in enumerate(made)]
    else:
        taken = [(place, f"text{each}", each) for each, place in enumerate(made if form.columns else first)]
        taken += [(place, f"cell{each}", each) for each, place in enumerate(made) if form.split]
    lines = cells.select("at").join(items, on="at", how="left", maintain_order="left_right")
    lines = lines.with_columns(pl.col(value).alias(str(place)) for place, value, _ in taken)
    lines = lines.with_columns(
        pl.col(f"source{each}").fill_null(first[each]).alias(f"{OF}{place}") for place, _, each in taken
    )
    lines_sheet, faults = exploded(sheet, header, lines), Findings()
    for line in lines.with_columns(lines_sheet.frame["row"]).filter("faulty").iter_rows(named=True):
        for column, code, values in _wrong(line, form, groups, header, made=made, numeric=numeric):
            faults.add(pl.Series([line["row"]]), column, "lines_from", Issue.of(code, **values))
    bound = with_made(mapping, header, names, used=used if form.made else ())
    odd = _odd_numbers(form.columns, groups, header) if form.columns else ()
    return BoundSheet(mapping, lines_sheet, bound, (*odd, *notes), faults)


def split_view(mapping: Mapping, form: LinesFromSpec, sheets: Sequence[Sheet]) -> Mapping:
    """What the file's own sheet is looked through for where its rows hold several lines."""
    made = {ColumnName.of(name).identity for name in form.made}
    sources = {name: FieldSpec.of([name]) for name in form.split or ()}
    cells = [sheet.frame[name].head(_SEARCHED_ROWS) for sheet in sheets for name in sheet.frame.columns[1:]]
    texts = [*pl.concat(cells).drop_nulls().unique(maintain_order=True)] if form.columns and cells else []
    for template in form.columns or ():
        spelt: dict[int, dict[str, None]] = {}  # SKU 2 may be SKU 02
        for text in texts:
            if number := number_in(template, text):
                spelt.setdefault(number, {})[text.strip()] = None
        wanted = range(1, (form.up_to or 0) + 1)
        for number in sorted({*spelt, *wanted}) or [1]:
            name = template.replace("{n}", str(number))
            names = [name, *spelt.get(number, {})]
            sources[name] = FieldSpec.of(names, required=number in wanted or number == min(spelt, default=1))

    def is_made(field: FieldSpec) -> bool:
        return any(ColumnName.of(name).identity in made for names in field.columns for name in names)

    every = {part: getattr(mapping.spec, part).items() for part in ("fields", "lines", "keep")}
    parts = {part: {place: each for place, each in fields if not is_made(each)} for part, fields in every.items()}
    parts["keep"] |= {f"lines_from: {name}": field for name, field in sources.items()}
    return mapping.with_spec(**parts, lines_from=None)


def _items(below: pl.DataFrame, form: LinesFromSpec, groups: Groups, first: Sequence[int]) -> pl.DataFrame:
    """A line for each item: `at`, `number`, `faulty`, and for each column of a group its cell, what it says of the
    item, null where nothing, and where it stands: `cell0`, `text0`, `source0`.

    held: how many pieces each cell holds where it is not equally many; then the row is one line without texts.
    """
    texts, of_groups = [pl.col(f"text{place}") for place in range(len(first))], list[pl.DataFrame]()
    says = pl.any_horizontal(text != "" for text in texts)
    lacks = pl.any_horizontal(text.is_null() for text in texts)
    for number, columns in groups.items():
        cells = [pl.col(str(column)) if column else pl.lit(None, pl.String) for column in columns]
        named = {f"{name}{place}": cell for place, cell in enumerate(cells) for name in ("cell", "text")}
        sources = {f"source{place}": pl.lit(column or first[place]) for place, column in enumerate(columns)}
        of_groups.append(below.select("at", number=number, **named, **sources).filter(says))
    lines = pl.concat(of_groups).sort("at", maintain_order=True)
    if not form.split:
        return lines.with_columns(faulty=lacks, held=None)
    marks = "|".join(map(pl.escape_regex, form.on))
    blanks_and_marks = f"(?:{marks}|[{pl.escape_regex(BLANKS)}])+$"
    whole = [text.fill_null("") for text in texts]
    counts = [each.str.count_matches(marks).cast(pl.Int64) + 1 for each in whole]
    filled = [each.str.replace(blanks_and_marks, "") for each in whole]
    kept = [pl.when(each != "").then(each.str.count_matches(marks).cast(pl.Int64) + 1).otherwise(0) for each in filled]
    # All cells may end with marks and nothing behind them.
    behind = pl.min_horizontal(count - left for count, left in zip(counts, kept, strict=True))
    lines = lines.with_columns(held=pl.concat_list(count - behind for count in counts))
    is_odd, held = pl.col("held").list.n_unique() > 1, pl.col("held").list.first()
    odd = lines.filter(is_odd).with_columns(pl.lit(None, pl.String).alias(text.meta.output_name()) for text in texts)
    even = lines.filter(~is_odd & (held > 0)).with_columns(
        text.fill_null("").str.split(marks, literal=False).list.head(held) for text in texts
    )
    even = even.with_columns(held=None).explode([text.meta.output_name() for text in texts])
    even = even.with_columns(text.str.strip_chars(BLANKS) for text in texts)
    even = (even.filter(says) if form.pattern else even).with_columns(
        pl.when(text != "").then(text).name.keep() for text in texts
    )
    lines = pl.concat([odd, even.cast({"held": odd.schema["held"]})]).sort("at", maintain_order=True)
    return lines.with_columns(faulty=lacks)


def _wrong(
    line: dict[str, Any], form: LinesFromSpec, groups: Groups, header: Header, *, made: Sequence[int], numeric: set[str]
) -> Iterator[tuple[int, str, dict[str, Any]]]:
    """What is wrong with an item that is not whole: column, code, values."""
    columns = groups[line["number"]]
    texts = [line[f"text{place}"] for place in range(len(columns))]
    titles = [header.texts[column - 1].strip() for column in columns]
    if form.pattern:
        example = form.pattern[0].format(**{name: "2" if name in numeric else name.upper() for name in form.parts})
        code = "pattern.pieces" if form.split else "pattern.cell"
        yield columns[0], code, {"piece": texts[0][:SHOWN_CHARACTERS], "example": example}
    elif form.columns:
        filled = next(place for place, text in enumerate(texts) if text)
        for column, text, title in zip(columns, texts, titles, strict=True):
            if column and text is None:  # that is not known to be nothing
                yield column, "half_filled.numbered", {"name": title, "there": titles[filled]}
        if lacking := _lacking(form.columns, line["number"], columns):
            yield columns[filled], "no_column.numbered", {"there": titles[filled], "lacking": lacking}
    elif held := line["held"]:
        said = {"held": [*zip(titles, held, strict=True)]}
        yield from ((place, "pieces", said) for place, count in zip(made, held, strict=True) if count != held[0])
    else:
        for each, (place, title) in enumerate(zip(made, titles, strict=True)):
            if texts[each] is None and line[f"cell{each}"] is not None:
                yield place, "half_filled.piece", {"name": title}


def _by_pattern(items: pl.DataFrame, form: LinesFromSpec, numeric: Collection[str]) -> pl.DataFrame:
    """The items with their parts, `part0` and so on; faulty are those that fit no pattern or could be read in two ways.

    numeric: the parts that are numbers. Polars matches in linear time; Python's own patterns would try one long cell,
    which anybody may send, for days.
    """
    names = {part: f"part{place}" for place, part in enumerate(form.parts)}
    texts, parts = items["text0"].unique(), pl.col(*names.values())
    patterns = [_regex(pattern, names, numeric, text) for pattern in form.pattern or () for text in (".+", ".+?")]
    ways = (texts.str.extract_groups(pattern).struct.unnest().select(parts, text0=texts) for pattern in patterns)
    read = pl.concat(ways).with_columns(parts.str.strip_chars(BLANKS)).drop_nulls().unique()
    read = read.filter(pl.col("text0").is_unique()).with_columns(parts.replace("", None), faulty=False)
    items = items.drop("faulty").join(read, on="text0", how="left", maintain_order="left")
    return items.with_columns(pl.col("faulty").fill_null(value=True))


def _odd_numbers(templates: Sequence[str], groups: Groups, header: Header) -> Iterator[Issue]:
    """What is odd about the numbers: some are passed over, or some columns end before others."""
    if passed_over := sorted({*range(1, max(groups, default=0))} - {*groups}):
        yield Issue.of("numbered.missing", names=[_named(each, number) for number in passed_over for each in templates])
    for number, columns in groups.items():
        there = [header.texts[column - 1].strip() for column in columns if column]
        if lacking := _lacking(templates, number, columns):
            yield Issue.of("numbered.no_column", there=there, lacking=lacking)


def numbered_columns(template: str, texts: Sequence[str]) -> dict[int, int]:
    """For a name with {n} the columns of a header that bear it, by their numbers.

    >>> numbered_columns("SKU {n}", ["Order", "SKU 1", "sku-3", "SKU"])
    {1: 2, 3: 3}
    >>> numbered_columns("SKU {n}", ["SKU 01", "SKU 02"])
    {1: 1, 2: 2}
    """
    found: dict[int, int] = {}
    for position, text in enumerate(texts, 1):
        if number := number_in(template, text):
            found.setdefault(number, position)
    return dict(sorted(found.items()))


def number_in(template: str, text: str) -> int:
    """The number for which a text is a name with {n}; 0 if it is none.

    >>> number_in("SKU {n}", "sku-03")
    3
    """
    for digits in re.findall(r"\d+", text):
        if len(digits) <= _LONGEST_NUMBER and 0 < int(digits) <= NUMBERS_AT_MOST:
            name, wanted = ColumnName.of(text), ColumnName.of(template.replace("{n}", digits))
            if name.identity == wanted.identity or names_match(name, wanted):
                return int(digits)
    return 0


def _named(template: str, number: int) -> str:
    return template.replace("{n}", str(number))


def _lacking(templates: Sequence[str], number: int, columns: Sequence[int]) -> list[str]:
    return [_named(each, number) for each, column in zip(templates, columns, strict=True) if not column]


def _numeric_parts(spec: MappingSpec, parts: Sequence[str]) -> set[str]:
    """The parts that are read as numbers."""
    sent = (each for each in spec.everything.items() if not each[0].startswith("keep."))
    numbers = (field for place, field in sent if form_of(place.split(".", 1)[1], spec.operation) in _NUMERIC)
    return {name for field in numbers for names in field.columns for name in names if name in parts}


def _regex(pattern: str, names: dict[str, str], numeric: Collection[str], text: str) -> str:
    """A blank of the pattern may be missing in a piece, but not where a word would run into a text: `box 2` is no
    `{sku} x {qty}`."""
    pieces = re.split(r"\{(\w+)\}", pattern)
    made = ""
    for number, piece in enumerate(pieces):
        if number % 2:
            made += f"(?P<{names[piece]}>{_NUMBER if piece in numeric else text})"
            continue
        words = piece.split()
        before, after = (piece[:1].isspace(), piece[-1:].isspace()) if words else (bool(piece), False)
        made += _blank(words[:1], pieces[number - 1 : number], numeric) if before else ""
        made += r"\s+".join(map(pl.escape_regex, words))
        made += _blank(words[-1:], pieces[number + 1 : number + 2], numeric) if after else ""
    return rf"(?is)^(?:{made})$"


def _blank(word: Sequence[str], part: Sequence[str], numeric: Collection[str]) -> str:
    """What stands for a blank between a word of the pattern and the part beside it."""
    runs_together = (
        bool(part) and part[0] not in numeric and (not word or word[0][:1].isalnum() or word[0][-1:].isalnum())
    )
    return r"\s+" if runs_together else r"\s*"
