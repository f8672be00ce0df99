"""Lines on a sheet of their own: each row of the first sheet takes the rows of the second that share its key."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import polars as pl

from logistics_batch.errors import FileHeld
from logistics_batch.mapping.checks.documents import equal_rows
from logistics_batch.mapping.checks.held import hold, idle_skips, renamed_columns, renamed_notes
from logistics_batch.mapping.findings import Findings
from logistics_batch.mapping.lines.exploded import OF, BoundSheet, exploded, split_view, with_made
from logistics_batch.mapping.loaded import Mapping, is_above
from logistics_batch.mapping.rows.cells import bare, name_of
from logistics_batch.mapping.rows.classify import Rows, classify_rows, nameless
from logistics_batch.mapping.rows.header import Header, choose, likeliest, name_fits
from logistics_batch.mapping.rows.outside import with_above
from logistics_batch.mapping.spec.model import ChecksSpec, FieldSpec, MappingSpec
from logistics_batch.mapping.spec.texts import LinesSheetSpec
from logistics_batch.messages import packed
from logistics_batch.model.document import ROWS_SCHEMA, RowState
from logistics_batch.model.issue import Issue, Place, cell_address
from logistics_batch.model.sheet import Sheet

_BETWEEN: Final = "\x1f"


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two sheets.

    key: of rows with their cells cleaned. keys: of its data rows (row, key), null where all of the key is blank.
    """

    sheet: Sheet
    header: Header
    key_columns: list[int]
    key: pl.Expr
    rows: Rows
    keys: pl.DataFrame

    @property
    def key_names(self) -> list[str]:
        """The key columns' headers."""
        return [self.header.texts[column - 1].strip() for column in self.key_columns]


def join_sheets(mapping: Mapping, sheets: Sequence[Sheet]) -> BoundSheet:
    """The sheet of a mapping with `lines_sheet`: a line for each line of the first sheet's rows, its cells behind them.

    Raises FileHeld where one of the two sheets is missing, or as `choose` does.
    """
    found, form = views(mapping, sheets), mapping.spec.lines_sheet
    for (_, its_sheets), wanted_name in zip(found, (mapping.spec.sheet.name, form and form.name), strict=True):
        if not its_sheets:
            raise FileHeld(
                "sheet.not_called" if wanted_name else "sheet.no_other",
                values={"name": wanted_name or "", "names": [sheet.name for sheet in sheets if sheet.name]},
            )
    (outer, others), (reading, of_lines) = found
    chosen, chosen_header, not_read = choose(outer, others)
    top, header = with_above(outer, chosen, chosen_header)
    below, lines_header, _ = choose(reading, of_lines)
    hold(idle_skips(mapping, [(top, header), (below, lines_header)]), top, header)
    hold(renamed_columns(reading, [(below, lines_header)]), below, lines_header)
    first, second = _side(outer, top, header), _side(reading, below, lines_header)
    inner, wanted = _joined_view(mapping, first.header, second.header, sheet=second.sheet.name)
    sheet = exploded(first.sheet, first.header, _joined(first, second, wanted), second=(second.sheet, second.header))
    rule = mapping.spec.checks.equal_rows
    twice, aside = ({}, list[str]()) if rule == "allow" else _equal_lines(second)
    rest, lost = _left_over(first, second)
    notes = _notes(reading, second, sorted(row for rows in twice.values() for row in rows), aside)
    return BoundSheet(
        mapping=inner,
        sheet=sheet,
        header=with_made(inner, first.header, list(wanted)),
        notes=(*notes, *not_read),
        faults=_faults(first, second, sheet, twice if rule == "block" else {}, aside),
        others=rest,
        lost=tuple(lost),
        second=second.header,
    )


def views(mapping: Mapping, sheets: Sequence[Sheet]) -> list[tuple[Mapping, list[Sheet]]]:
    """The mapping as it looks for its columns, with the sheets on which it does.

    Of two sheets the one of the rows stands first; either may have none.
    """
    spec, form = mapping.spec, mapping.spec.lines_sheet
    if spec.lines_from is not None:
        return [(split_view(mapping, spec.lines_from, sheets), list(sheets))]
    if form is None:
        return [(mapping, list(sheets))]
    of_lines = [sheet for sheet in sheets if name_fits(sheet.name, form.name)]
    others = [sheet for sheet in sheets if sheet not in of_lines]
    others = [sheet for sheet in others if spec.sheet.name is None or name_fits(sheet.name, spec.sheet.name)]
    return [(_of_rows(mapping), others), (_of_lines(mapping, form), of_lines)]


def _of_rows(mapping: Mapping) -> Mapping:
    """What the first of two sheets is read with: everything but lines and sums."""
    spec = mapping.spec
    fields = {name: field for name, field in spec.fields.items() if field.source != "sum"}
    return mapping.with_spec(fields=fields, lines={}, keep=_wished(spec), lines_sheet=None, checks=ChecksSpec())


def _of_lines(mapping: Mapping, form: LinesSheetSpec) -> Mapping:
    """What the second sheet is read with: lines, and the columns that are added up."""
    spec = mapping.spec
    summed = [names for field in spec.fields.values() for names in (field.sum, field.less, field.times) if names]
    return mapping.with_spec(
        fields={},
        order_id=None,
        key=form.key,
        keep={name: field for name, field in _wished(spec).items() if not any(map(is_above, field.columns))}
        | {f"summed {place}": FieldSpec.of(names) for place, names in enumerate(summed, 1)},
        sheet=spec.sheet.model_copy(update={"header": form.header, "only_rows_where": {}}),
        checks=spec.checks.model_copy(update={"control_total": []}),
        lines_sheet=None,
    )


def _wished(spec: MappingSpec) -> dict[str, FieldSpec]:
    """What is kept may stand on either sheet."""
    return {name: field.model_copy(update={"required": False}) for name, field in spec.keep.items()}


def _joined_view(mapping: Mapping, first: Header, second: Header, *, sheet: str) -> tuple[Mapping, dict[str, int]]:
    """The mapping as two joined sheets see it, and by their names there the second sheet's columns that it wants.

    sheet: the second one's name, which its columns bear before their own: both sheets may have a column "Qty". What is
    added to a sum stands on the first sheet, what a line depends on, and what is kept, on either.
    """
    spec, wanted = mapping.spec, dict[str, int]()

    def there(names: Sequence[str]) -> list[str]:
        if (column := second.column(names)) is not None:
            wanted[f"{sheet}: {second.texts[column - 1].strip()}"] = column
        return [f"{sheet}: {name}" for name in names]

    def read_there(field: FieldSpec) -> FieldSpec:
        single = {name: getattr(field, name) for name in ("from_", "first", "sum", "less", "times")}
        changes: dict[str, object] = {name: there(names) for name, names in single.items() if names is not None}
        if field.join is not None:
            changes["join"] = [there(names) for names in field.join]
        return field.model_copy(update=changes)

    def of_line(field: FieldSpec) -> FieldSpec:
        asked = (field.when or {}).items()
        when = {there([name])[0] if second.column([name]) is not None else name: patterns for name, patterns in asked}
        return read_there(field).model_copy(update={"when": when or None})

    total, skipping = spec.checks.line_total, spec.sheet.skip_rows_where.items()
    if total is not None:
        names = {name: there([getattr(total, name)])[0] for name in ("quantity", "price", "total")}
        total = total.model_copy(update=names)
    skip = {name: patterns for name, patterns in skipping if first.column(mapping.names_of(name)) is not None}
    inner = mapping.with_spec(
        fields={name: read_there(field) if field.sum else field for name, field in spec.fields.items()},
        lines={name: of_line(field) for name, field in spec.lines.items()},
        keep={
            name: of_line(field) if second.bound(field.columns) and not first.bound(field.columns) else field
            for name, field in spec.keep.items()
        },
        lines_sheet=None,
        sheet=spec.sheet.model_copy(update={"skip_rows_where": skip}),
        checks=spec.checks.model_copy(update={"line_total": total}),
    )
    return inner, wanted


def both_sheets(mapping: Mapping, sheets: Sequence[Sheet]) -> tuple[tuple[Sheet, int], ...]:
    """The two sheets, each with the row that is its header, of a file that was held all the same.

    The row is 0 where the first sheet has no row with all columns of the mapping; of the second it is the likeliest.
    Nothing where the mapping reads one sheet, or one of the two is missing.
    """
    found = views(mapping, sheets)
    if mapping.spec.lines_sheet is None or not all(its_sheets for _, its_sheets in found):
        return ()
    (first, header), (second, of_second) = (likeliest(*each) for each in found)
    filled = second.frame.filter(pl.any_horizontal(pl.exclude("row").is_not_null()))["row"].to_list()
    row = header.row if header is not None and not header.missing else 0
    return (first, row), (second, of_second.row if of_second else next(iter(filled), 0))


def _side(mapping: Mapping, sheet: Sheet, header: Header) -> Side:
    rows = classify_rows(mapping, sheet, header)
    columns = header.numbers(mapping, mapping.spec.key)
    key = _key([pl.col(name_of(column)) for column in columns])
    return Side(sheet, header, columns, key, rows, rows.data.select("row", key))


def _key(cells: Sequence[pl.Expr]) -> pl.Expr:
    """The key columns as one text, null where all are blank."""
    parts = pl.concat_str([cell.fill_null("") for cell in cells], separator=_BETWEEN)
    return pl.when(parts.str.strip_chars(_BETWEEN) != "").then(parts).alias("key")


def _written(key: str) -> str:
    return " | ".join(filter(None, key.split(_BETWEEN)))


def _rows_by_key(keyed: pl.DataFrame) -> dict[str, list[int]]:
    """The rows of each key, in order."""
    return dict(keyed.drop_nulls("key").group_by("key", maintain_order=True).agg("row").iter_rows())


def _joined(first: Side, second: Side, wanted: dict[str, int]) -> pl.DataFrame:
    """The first row of each key takes the lines of it, in their order; the others stay one line without.

    The lines' cells are as they stand, but those that were blank filled down.
    """
    keyed = first.sheet.frame.select("row").with_row_index("at")
    keyed = keyed.join(first.keys, on="row", how="left", maintain_order="left")
    taking = keyed.with_columns(pl.when(pl.col("key").is_first_distinct()).then("key").alias("key"))
    lines = second.keys.drop_nulls().rename({"row": "second"})
    pairs = taking.join(lines, on="key", how="left", maintain_order="left_right")
    cells, data = second.sheet.frame, second.rows.data
    filled = [name.removeprefix("own:") for name in data.columns if name.startswith("own:")]
    taken = (pl.when(~pl.col(f"own:{name}")).then(name).alias(name.removeprefix("c")) for name in filled)
    cells = cells.update(data.select("row", *taken), on="row")
    cells = cells.select(pl.col("row").alias("second"), *map(str, wanted.values()))
    pairs = pairs.join(cells, on="second", how="left", maintain_order="left")
    made = dict(enumerate(wanted.values(), first.sheet.width + 1))
    values = (pl.col(str(column)).alias(str(place)) for place, column in made.items())
    return pairs.select("at", "second", *values, *(pl.lit(made[place]).alias(f"{OF}{place}") for place in made))


def _equal_lines(second: Side) -> tuple[dict[str, list[int]], list[str]]:
    """Lines that stand twice by their key, and the columns that were left aside."""
    keyed = second.keys.drop_nulls().with_columns(pl.col("key").rank("dense").alias("doc"))
    found, aside = equal_rows(second.rows.data.join(keyed, on="row"), second.sheet, second.header)
    return _rows_by_key(found.join(keyed, on="row", maintain_order="left")), aside


def _faults(first: Side, second: Side, sheet: Sheet, equal: dict[str, list[int]], aside: Sequence[str]) -> Findings:
    """What is wrong with rows of the first sheet as far as their lines are concerned.

    sheet: the exploded one. equal: lines that stand twice, which hold their row back, by their key.
    """
    found, lines = Findings(), sheet.origins.lines if sheet.origins else pl.DataFrame()
    last_lines = dict(lines.select("origin", "row").iter_rows())
    lines_of = dict(lines.select("second", "row").iter_rows())
    key_above = pl.when(pl.col("key").is_null()).then(pl.col("key").forward_fill())
    strays, there = _rows_by_key(second.keys.with_columns(key_above)), _rows_by_key(second.keys)
    hidden = _rows_by_key(second.rows.hidden.select("row", second.key))

    def blame(line: int, code: str, key: str, **values: Any) -> None:
        said = Issue.of(code, key=_written(key), sheet=second.sheet.name, **values)
        found.add(pl.Series([line]), first.key_columns[0], "lines_sheet", said)

    for key, rows in _rows_by_key(first.keys).items():
        names, line = second.key_names, last_lines[rows[0]]
        for row in rows[1:]:
            blame(last_lines[row], "twice.key", key, columns=names, earlier=rows[0])
        if key in hidden:
            blame(line, "hidden.lines", key, columns=names, rows=hidden[key])
        elif key not in there:
            blame(line, "no_lines", key, columns=names)
        if key in strays:
            blame(line, "stray.lines", key, columns=names, rows=strays[key])
        if key in equal:
            code = "equal_rows.lines_but" if aside else "equal_rows.lines"
            blame(lines_of[equal[key][0]], code, key, rows=equal[key], aside=list(aside))
    return found


def _left_over(first: Side, second: Side) -> tuple[pl.DataFrame, list[Issue]]:
    """The rows of the second sheet that are no line of a row of the first: what became of them, and what is wrong."""
    name, lost = second.sheet.name, list[Issue]()
    skipped = second.rows.skipped.iter_rows()
    rows: list[tuple[object, ...]]
    rows = [(row, RowState.SKIPPED, code, None, None, values, name) for row, code, values in skipped]
    written = first.sheet.frame.select("row", _key([bare(str(column)) for column in first.key_columns]))
    without = first.rows.skipped.select("row").join(written, on="row", maintain_order="left")
    passed = dict(without.drop_nulls("key").select("key", "row").iter_rows())
    column = second.key_columns[0]
    for row, key in second.keys.join(first.keys, on="key", how="anti", maintain_order="left").iter_rows():
        if key in passed:
            where = packed({"sheet": first.sheet.name, "row": passed[key]})
            rows.append((row, RowState.SKIPPED, "lines_sheet", None, None, where, name))
            continue
        value = _written(key or "")
        rows.append((row, RowState.INVALID, None, None, value, None, name))
        place = Place(row, second.key_names[0], cell_address(row, column), value, name, "lines_sheet")
        if key is None:
            lost.append(Issue.of("no_key.line", place, columns=second.key_names))
        else:
            names = {"columns": first.key_names, "own": second.key_names}
            lost.append(Issue.of("orphan", place, sheet=first.sheet.name, key=value, **names))
    return pl.DataFrame(rows, schema=ROWS_SCHEMA, orient="row"), lost


def _notes(reading: Mapping, second: Side, twice: Sequence[int], aside: Sequence[str]) -> Iterator[Issue]:
    """What a report should mention about the second sheet. twice: its rows that stand twice."""
    name = second.sheet.name
    unknown = [*second.header.unknown, *nameless(second.sheet, second.header, second.rows)]
    renamed = renamed_notes(reading, second.sheet, second.header)
    yield from (Issue.of("of_sheet", sheet=name, note=[[note.code, note.given]]) for note in second.sheet.notes)
    if unknown:
        yield Issue.of("of_sheet.unknown", sheet=name, names=unknown)
    yield from (Issue.of("of_sheet", sheet=name, note=[[note.code, note.given]]) for note in renamed)
    if twice:
        code = "equal_rows.note_of_sheet_counted" if aside else "equal_rows.note_of_sheet"
        yield Issue.of(code, sheet=name, rows=twice, aside=aside)
