"""The text of each document, built from columns: compact JSON in the contract's field order, blanks left out."""

import json
from collections.abc import Sequence
from typing import Any, Final

import polars as pl
from pydantic import ValidationError

from logistics_batch.mapping.documents.changes import check_change
from logistics_batch.mapping.spec.targets import JSON_NUMBERS, Targets, targets_of
from logistics_batch.model.document import Operation
from logistics_batch.model.payloads import PAYLOADS, Complaint, LongitudeName, complaints

_SPECIAL: Final = r'["\\\x00-\x1f]'
_SPELT_IN_SAMPLES: Final = {"delivery_long": "delivery_lon", "pickup_long": "pickup_lon"}

KIT: Final = "v:kits.key"
"""The column of lines that names the kit whose contents they are; the others are items of the order itself."""

_ONCE: Final = ("name", "description")


def body_texts(
    documents: pl.DataFrame, lines: pl.DataFrame, targets: Targets, *, longitude: LongitudeName
) -> pl.Series:
    """One text a document.

    documents: one line each, in the order of `doc`, with v:fields.* columns. lines: doc and v:lines.* columns, sorted
    by doc. longitude: see `body_text` of the payloads.
    """
    elements = _objects(lines, "lines", targets.lines, longitude=longitude)
    joined = lines.select("doc", elements.alias("line")).group_by("doc", maintain_order=True).agg("line")
    arrays = documents.select("doc").join(joined, on="doc", how="left", maintain_order="left")
    array = arrays.select(pl.col("line").list.join(",").alias("lines"))["lines"]
    parts = _parts(documents, "fields", targets.header, longitude=longitude)
    if lines.width > 1:
        # The contract's order puts the lines between header fields.
        model = list(PAYLOADS[targets.operation].model_fields)
        after = [name for name in model[model.index(targets.lines_field) :] if name in parts]
        place = list(parts).index(after[0]) if after else len(parts)
        array_part = pl.lit(f',"{targets.lines_field}":[') + pl.lit(array) + pl.lit("]")
        ordered = [*list(parts.values())[:place], array_part, *list(parts.values())[place:]]
    else:
        ordered = list(parts.values())
    inside = pl.concat_str(ordered or [pl.lit("")], ignore_nulls=True).str.strip_prefix(",")
    return documents.select("doc", (pl.lit("{") + inside + pl.lit("}")).alias("body"))["body"]


def _objects(frame: pl.DataFrame, part: str, names: Sequence[str], *, longitude: LongitudeName) -> pl.Series:
    """One JSON object a row."""
    parts = list(_parts(frame, part, names, longitude=longitude).values())
    if not parts:
        return pl.Series("line", [], dtype=pl.String).extend_constant("{}", frame.height)
    inside = pl.concat_str(parts, ignore_nulls=True).str.strip_prefix(",")
    return frame.select((pl.lit("{") + inside + pl.lit("}")).alias("line"))["line"]


def _parts(frame: pl.DataFrame, part: str, names: Sequence[str], *, longitude: LongitudeName) -> dict[str, pl.Expr]:
    """For each mapped target `,"name":value`, null where there is no value."""
    columns = {name: column for name in names if (column := f"v:{part}.{name}") in frame.columns}
    texts = [pl.col(column) for name, column in columns.items() if name not in JSON_NUMBERS]
    special = frame.select(text.str.contains(_SPECIAL).any() for text in texts).row(0, named=True) if texts else {}
    found: dict[str, pl.Expr] = {}
    for name, column in columns.items():
        spelt = _SPELT_IN_SAMPLES.get(name, name) if longitude == "delivery_lon" else name
        found[name] = _part(column, spelt, number=name in JSON_NUMBERS, special=bool(special.get(column)))
    return found


def _part(column: str, name: str, *, number: bool, special: bool) -> pl.Expr:
    """One target's text. special: some value holds a sign that JSON escapes."""
    value = pl.col(column)
    if number:
        return pl.lit(f',"{name}":') + value
    if special:
        value = value.str.replace_all("\\", "\\\\", literal=True).str.replace_all('"', '\\"', literal=True)
    return pl.lit(f',"{name}":"') + value + pl.lit('"')


def with_kits(texts: Sequence[str], lines: pl.DataFrame, targets: Targets) -> list[str]:
    """The bodies with their kits; what kits are made of is no longer among the order's own items.

    texts: one a document, with an empty item for each row of a kit. lines: doc, the kit's key and its values, sorted by
    doc.
    """
    rows = lines.select(pl.col("^(doc|v:kits\\..*|v:kit_lines\\..*)$")).filter(pl.col(KIT).is_not_null())
    kits: dict[int, dict[str, dict[str, Any]]] = {}
    for row in rows.iter_rows(named=True):
        own = kits.setdefault(row["doc"], {})
        once = {name: row[f"v:kits.{name}"] for name in _ONCE if row.get(f"v:kits.{name}") is not None}
        kit = own.setdefault(row[KIT], once | {"item_details": []})
        kit["item_details"].append(_item(row, targets))
    documents = lines["doc"].unique(maintain_order=True).to_list()
    return [_rewritten(text, list(kits.get(doc, {}).values())) for doc, text in zip(documents, texts, strict=True)]


def _item(row: dict[str, Any], targets: Targets) -> dict[str, Any]:
    named = [(name, row.get(f"v:kit_lines.{name}")) for name in targets.lines]
    return {name: json.loads(value) if name in JSON_NUMBERS else value for name, value in named if value is not None}


def _rewritten(text: str, kits: Sequence[dict[str, Any]]) -> str:
    """The body without empty items and with its kits, which stand last in the contract."""
    fields = json.loads(text)
    fields["item_details"] = [item for item in fields.get("item_details", ()) if item]
    fields["kit_skus"] = list(kits)
    whole = {name: value for name, value in fields.items() if value != []}
    return json.dumps(whole, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def body_complaints(body: str, operation: Operation, *, longitude: LongitudeName) -> list[Complaint]:
    """What the contract's model says against the body of a document that is about to be sent; empty if nothing."""
    return check_body(body, targets_of(operation), longitude=longitude)


def check_body(body: str, targets: Targets, *, longitude: LongitudeName) -> list[Complaint]:
    """What the contract's model says against a finished body; empty if nothing."""
    published = {spelt: name for name, spelt in _SPELT_IN_SAMPLES.items()} if longitude == "delivery_lon" else {}
    if targets.operation.changes_order:
        return check_change(body, targets, published)
    try:
        if published:
            fields = {published.get(name, name): value for name, value in json.loads(body).items()}
            PAYLOADS[targets.operation].model_validate(fields)
        else:
            PAYLOADS[targets.operation].model_validate_json(body)
    except ValidationError as error:
        return complaints(error)
    return []
