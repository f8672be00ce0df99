"""A mapping as each of its sheets sees it: what is made of lines is left out, what they are made of is there."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import polars as pl

from logistics_batch.mapping.lines.split_rows import number_in
from logistics_batch.mapping.loaded import Mapping
from logistics_batch.mapping.rows.header import Header
from logistics_batch.mapping.rows.patterns import name_fits
from logistics_batch.mapping.spec.model import ChecksSpec, FieldSpec, LinesFromSpec, LinesSheetSpec, MappingSpec
from logistics_batch.mapping.spec.names import ColumnName
from logistics_batch.model.sheet import Sheet

_SEARCHED_ROWS: Final = 200


def views(mapping: Mapping, sheets: Sequence[Sheet]) -> list[tuple[Mapping, list[Sheet]]]:
    """The mapping as it looks for its columns, with the sheets on which it does.

    Of two sheets the one of the rows stands first; either may have none.
    """
    spec, form = mapping.spec, mapping.spec.lines_sheet
    if spec.lines_from is not None:
        return [(_of_split_rows(mapping, spec.lines_from, sheets), list(sheets))]
    if form is None:
        return [(mapping, list(sheets))]
    of_lines = [sheet for sheet in sheets if name_fits(sheet.name, form.name)]
    others = [sheet for sheet in sheets if sheet not in of_lines]
    others = [sheet for sheet in others if spec.sheet.name is None or name_fits(sheet.name, spec.sheet.name)]
    return [(_of_rows(mapping), others), (_of_lines(mapping, form), of_lines)]


def _of_split_rows(mapping: Mapping, form: LinesFromSpec, sheets: Sequence[Sheet]) -> Mapping:
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
    return replace(mapping, spec=mapping.spec.model_copy(update={**parts, "lines_from": None}))


def _of_rows(mapping: Mapping) -> Mapping:
    """What the first of two sheets is read with: everything but lines and sums."""
    spec = mapping.spec
    fields = {name: field for name, field in spec.fields.items() if field.source != "sum"}
    changes = {"fields": fields, "lines": {}, "keep": _wished(spec), "lines_sheet": None, "checks": ChecksSpec()}
    return replace(mapping, spec=spec.model_copy(update=changes))


def _of_lines(mapping: Mapping, form: LinesSheetSpec) -> Mapping:
    """What the second sheet is read with: lines, and the columns that are added up."""
    spec = mapping.spec
    summed = [names for field in spec.fields.values() for names in (field.sum, field.less, field.times) if names]
    changes = {
        "fields": {},
        "order_id": None,
        "key": form.key,
        "keep": _wished(spec) | {f"summed {place}": FieldSpec.of(names) for place, names in enumerate(summed, 1)},
        "sheet": spec.sheet.model_copy(update={"header": form.header, "only_rows_where": {}}),
        "checks": spec.checks.model_copy(update={"control_total": []}),
        "lines_sheet": None,
    }
    return replace(mapping, spec=spec.model_copy(update=changes))


def _wished(spec: MappingSpec) -> dict[str, FieldSpec]:
    """What is kept may stand on either sheet."""
    return {name: field.model_copy(update={"required": False}) for name, field in spec.keep.items()}


def joined_view(mapping: Mapping, first: Header, second: Header, *, sheet: str) -> tuple[Mapping, dict[str, int]]:
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
    changes = {
        "fields": {name: read_there(field) if field.sum else field for name, field in spec.fields.items()},
        "lines": {name: of_line(field) for name, field in spec.lines.items()},
        "keep": {
            name: of_line(field) if second.bound(field.columns) and not first.bound(field.columns) else field
            for name, field in spec.keep.items()
        },
        "lines_sheet": None,
        "sheet": spec.sheet.model_copy(update={"skip_rows_where": skip}),
        "checks": spec.checks.model_copy(update={"line_total": total}),
    }
    return replace(mapping, spec=spec.model_copy(update=changes)), wanted
