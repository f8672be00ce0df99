"""What the contract's models say against documents, at the rows and cells that it comes from."""

import json
from collections.abc import Sequence
from functools import cache
from typing import Annotated, Any, Final

import polars as pl
from pydantic import BaseModel, ValidationError, create_model
from pydantic.fields import FieldInfo

from logistics_batch.mapping.documents.changes import SPELT_IN_SAMPLES, check_change
from logistics_batch.mapping.documents.documents import Material
from logistics_batch.mapping.fields.compile import CompiledSheet
from logistics_batch.mapping.fields.fields import KIT
from logistics_batch.mapping.findings import Findings
from logistics_batch.mapping.spec.targets import JSON_NUMBERS, element_of, targets_of
from logistics_batch.model.document import Operation
from logistics_batch.model.issue import Issue
from logistics_batch.model.payloads import PAYLOADS, Complaint, LongitudeName, complaints

_BY_PRESENCE: Final = frozenset({Operation.ASN_CREATE, Operation.ASN_UPDATE, Operation.ORDER_CREATE})
"""Operations in whose models the rules between fields ask only which fields are there, not what they hold."""

_FEW: Final = 20  # documents: the model is as fast as the columns
_BREAKS_JSON: Final = r"[\x00-\x1f]"


def body_complaints(body: str, operation: Operation, *, longitude: LongitudeName) -> list[Complaint]:
    """What the contract's model says against the body of a document that is about to be sent; empty if nothing."""
    published = {spelt: name for name, spelt in SPELT_IN_SAMPLES.items()} if longitude == "delivery_lon" else {}
    if operation.changes_order:
        return check_change(body, targets_of(operation), published)
    try:
        if published:
            fields = {published.get(name, name): value for name, value in json.loads(body).items()}
            PAYLOADS[operation].model_validate(fields)
        else:
            PAYLOADS[operation].model_validate_json(body)
    except ValidationError as error:
        return complaints(error)
    return []


def find_refused(found: Findings, table: CompiledSheet, material: Material) -> None:
    """Find what the contract says against the documents that nothing else bars."""
    for heads, lines in material.blocks():
        for place, said in _refused(material, heads, lines).items():
            rows = table.lines.filter(pl.col("doc") == heads["doc"][place])["row"]
            for complaint in said:
                position = next((step for step in complaint.place if isinstance(step, int)), None)
                in_line = position is not None and position < rows.len()
                name = complaint.field or complaint.rule
                field = table.field(f"{'lines' if in_line else 'fields'}.{name}")
                row = pl.Series([rows[position] if in_line else rows[0]])
                found.add(row, field.column if field else None, name, Issue.of(complaint.code, **complaint.values))


def _refused(material: Material, heads: pl.DataFrame, lines: pl.DataFrame) -> dict[int, list[Complaint]]:
    """The documents that the contract refuses: position in `heads` to complaints.

    Of many documents whose columns keep the contract's rules, those are believed that have the same fields filled as
    one that the model accepts; every other document is shown to the model, and so are all where there are few.
    """
    every, operation = range(heads.height), material.mapping.operation
    if heads.height <= _FEW or operation not in _BY_PRESENCE or KIT in lines.columns:
        return _judged(material, heads, lines, every)
    model = PAYLOADS[operation]
    element = element_of(model, material.mapping.targets.lines_field)
    if not (_keep_rules(heads, "fields", model) and (element is None or _keep_rules(lines, "lines", element))):
        return _judged(material, heads, lines, every)
    shapes = _shapes(heads, lines)
    wrong = shapes.gather([*_judged(material, heads, lines, shapes.arg_unique().sort().to_list())])
    return _judged(material, heads, lines, shapes.is_in(wrong.implode()).arg_true().to_list())


def _judged(
    material: Material, heads: pl.DataFrame, lines: pl.DataFrame, places: Sequence[int]
) -> dict[int, list[Complaint]]:
    """What the contract's model says against the documents at some places, where it does."""
    some = heads[places]
    bodies = material.bodies(some, lines.filter(pl.col("doc").is_in(some["doc"].implode()))) if places else []
    told = (body_complaints(body, material.mapping.operation, longitude=material.longitude) for body in bodies)
    return {place: said for place, said in zip(places, told, strict=True) if said}


def _keep_rules(frame: pl.DataFrame, part: str, model: type[BaseModel]) -> bool:
    """Whether the model accepts each value by itself, in texts that JSON can hold."""
    prefix, values = f"v:{part}.", dict[str, list[object]]()
    for name in (name.removeprefix(prefix) for name in frame.columns if name.startswith(prefix)):
        different = frame[prefix + name].drop_nulls().unique()
        if different.str.contains(_BREAKS_JSON).any():
            return False
        is_number = name in JSON_NUMBERS
        values[name] = json.loads(f"[{','.join(different)}]") if is_number else different.to_list()
    try:
        _of_columns(model).model_validate(values)
    except ValidationError:
        return False
    return True


@cache
def _of_columns(model: type[BaseModel]) -> type[BaseModel]:
    """A model whose fields list values of each field of another, without the rules between fields.

    Made once: in a folder of small files it would be made for each.
    """
    every = model.model_fields.items()
    fields: dict[str, Any] = {name: (list[_annotated(each)], []) for name, each in every}  # type: ignore[misc]
    columns: type[BaseModel] = create_model(f"ColumnsOf{model.__name__}", **fields)
    return columns


def _annotated(field: FieldInfo) -> Any:
    return Annotated[(field.annotation, *field.metadata, None)]  # no fewer than two


def _shapes(heads: pl.DataFrame, lines: pl.DataFrame) -> pl.Series:
    """For each document a number that stands for which of its fields are filled, in some and in all of its lines."""
    lacks = [pl.col(name).is_null() for name in lines.columns if name != "doc"]
    of_lines = lines.group_by("doc", maintain_order=True).agg(
        *(each.any() for each in lacks), *(each.all().name.suffix(":all") for each in lacks)
    )
    own = heads.select("doc", pl.col("^v:.*$").is_null())
    both = own.join(of_lines, on="doc", how="left", maintain_order="left")
    return both.select(pl.struct(pl.exclude("doc")).hash()).to_series()
