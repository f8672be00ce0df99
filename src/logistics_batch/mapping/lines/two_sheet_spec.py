"""A mapping with `lines_sheet` as each of its sheets sees it, and as the sheet that both are joined to does."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from logistics_batch.mapping.loading import Mapping
from logistics_batch.mapping.rows.header import Header
from logistics_batch.mapping.spec.model import ChecksSpec, FieldSpec, LineTotal, MappingSpec


def header_mapping(mapping: Mapping) -> Mapping:
    """What the first sheet is read with: everything but lines and sums."""
    spec = mapping.spec
    fields = {name: field for name, field in spec.fields.items() if field.source != "sum"}
    changes = {"fields": fields, "lines": {}, "keep": _wished(spec.keep), "lines_sheet": None, "checks": ChecksSpec()}
    return replace(mapping, spec=spec.model_copy(update=changes))


def lines_mapping(mapping: Mapping) -> Mapping:
    """What the second sheet is read with: lines, and the columns that are added up."""
    spec, form = mapping.spec, mapping.spec.lines_sheet
    if form is None:
        return mapping
    sheet = spec.sheet.model_copy(update={"header": form.header, "only_rows_where": {}})
    summed = [
        names for field in spec.fields.values() for names in (field.sum, field.less, field.times) if names is not None
    ]
    keep = _wished(spec.keep) | {
        f"summed {place}": FieldSpec(from_=names, required=True) for place, names in enumerate(summed, 1)
    }
    checks = spec.checks.model_copy(update={"control_total": []})
    changes = {"fields": {}, "order_id": None, "key": form.key, "keep": keep, "sheet": sheet, "checks": checks}
    return replace(mapping, spec=spec.model_copy(update={**changes, "lines_sheet": None}))


def _wished(keep: dict[str, FieldSpec]) -> dict[str, FieldSpec]:
    """What is kept may stand on either sheet."""
    return {name: field.model_copy(update={"required": False}) for name, field in keep.items()}


def inner_mapping(mapping: Mapping, first: Header, second: Header, *, sheet: str) -> tuple[Mapping, dict[str, int]]:
    """The mapping as the joined sheet sees it, and by their titles there the second sheet's columns that it wants.

    sheet: the second one's name, which its columns bear before their own: both sheets may have a column "Qty".
    """
    spec, wanted = mapping.spec, dict[str, int]()

    def moved(names: Sequence[str]) -> list[str]:
        column = second.column(names)
        if column is not None:
            wanted[f"{sheet}: {second.texts[column - 1].strip()}"] = column
        return [f"{sheet}: {name}" for name in names]

    fields = {name: _summed(field, moved) for name, field in spec.fields.items()}
    lines = {name: _of_line(field, second, moved) for name, field in spec.lines.items()}
    keep = {
        name: field if _is_there(field, first) or not _is_there(field, second) else _of_line(field, second, moved)
        for name, field in spec.keep.items()
    }
    rules = spec.sheet.skip_rows_where
    skip = {name: rules[name] for name in rules if first.column(mapping.names_of(name)) is not None}
    changes = {
        "fields": fields,
        "lines": lines,
        "keep": keep,
        "lines_sheet": None,
        "sheet": spec.sheet.model_copy(update={"header": first.row, "skip_rows_where": skip}),
        "checks": spec.checks.model_copy(update={"line_total": _checked(spec, moved)}),
    }
    return replace(mapping, spec=spec.model_copy(update=changes)), wanted


def _is_there(field: FieldSpec, header: Header) -> bool:
    return any(header.column(names) is not None for names in field.columns)


def _summed(field: FieldSpec, moved: Callable[[Sequence[str]], list[str]]) -> FieldSpec:
    """A document's sums are over its lines."""
    if field.source != "sum":
        return field
    given = {name: getattr(field, name) for name in ("sum", "less", "times")}
    return field.model_copy(update={name: moved(names) for name, names in given.items() if names is not None})


def _of_line(field: FieldSpec, second: Header, moved: Callable[[Sequence[str]], list[str]]) -> FieldSpec:
    changes: dict[str, object] = {}
    if field.from_ is not None:
        changes["from_"] = moved(field.from_)
    if field.first is not None:
        changes["first"] = moved(field.first)
    if field.join is not None:
        changes["join"] = [moved(names) for names in field.join]
    if field.when is not None:
        changes["when"] = {
            moved([name])[0] if second.column([name]) is not None else name: patterns
            for name, patterns in field.when.items()
        }
    return field.model_copy(update=changes)


def _checked(spec: MappingSpec, moved: Callable[[Sequence[str]], list[str]]) -> LineTotal | None:
    total = spec.checks.line_total
    if total is None:
        return None
    named = {name: moved([getattr(total, name)])[0] for name in ("quantity", "price", "total")}
    return total.model_copy(update=named)
