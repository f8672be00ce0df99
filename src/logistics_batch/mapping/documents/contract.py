"""Which documents certainly keep the contract: judged by whole columns, by rules taken from the contract's own models.

What columns cannot prove is left to the model itself, so nothing passes here that the model would refuse.
"""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Final

import polars as pl

from logistics_batch.mapping.spec.targets import Targets
from logistics_batch.model.document import Operation
from logistics_batch.model.payloads import PAYLOADS, Complaint

_BY_PRESENCE: Final = frozenset({Operation.ASN_CREATE, Operation.ASN_UPDATE, Operation.ORDER_CREATE})
"""Operations in whose models the rules between fields ask only which fields are there, not what they hold."""

_UNDERSTOOD: Final = frozenset({"type", "pattern", "format", "enum", "minimum", "title", "description", "default"})
_DATES: Final = ("date", "date-time")
_WHOLE_NUMBER: Final = r"^(?:0|[1-9][0-9]{0,14})$"
_FEW: Final = 20  # documents: the model is as fast as the columns
_BREAKS_JSON: Final = r"[\x00-\x1f]"

Judge = Callable[[Sequence[int]], dict[int, list[Complaint]]]


def refused(
    documents: pl.DataFrame, lines: pl.DataFrame, targets: Targets, *, judge: Judge
) -> dict[int, list[Complaint]]:
    """The documents that the contract refuses: position in `documents` to complaints.

    documents: a line each, sorted by doc, with v:fields.* columns. lines: doc and v:lines.* columns, sorted by doc; the
    bodies are made of these columns and nothing else. judge: what the model says against the bodies of the documents at
    some positions.

    A document whose values all keep their columns' rules is believed if the model accepts one document in which the
    same fields are filled; every other document is shown to the model, and so are all where there are few.
    """
    if documents.height <= _FEW or targets.operation not in _BY_PRESENCE:
        return judge(range(documents.height))
    shapes = _shapes(documents, lines)
    wrong_shapes = shapes.gather([*judge(shapes.arg_unique().sort().to_list())])
    doubtful = _doubtful(documents, lines, targets) | shapes.is_in(wrong_shapes.implode())
    return judge(doubtful.arg_true().to_list())


def _doubtful(documents: pl.DataFrame, lines: pl.DataFrame, targets: Targets) -> pl.Series:
    """For each document whether a value of it is not proven right by the rule of its column."""
    schema = _schema(targets.operation)
    line_schema = _element(schema, targets.lines_field)
    wrong_lines = lines.select(pl.col("doc").filter(_unproven(lines, "lines", line_schema)))["doc"]
    wrong = _unproven(documents, "fields", schema) | pl.col("doc").is_in(wrong_lines.unique().implode())
    return documents.select(wrong.alias("doubtful"))["doubtful"]


@cache
def _schema(operation: Operation) -> dict[str, Any]:
    """Made once: in a folder of small files it would be made for each."""
    return PAYLOADS[operation].model_json_schema()


def _element(schema: dict[str, Any], field: str) -> dict[str, Any]:
    """The schema of a list field's elements; without rules if there is no such field."""
    listed = _filled(schema["properties"].get(field, {}))
    reference = str(listed.get("items", {}).get("$ref", ""))
    found: dict[str, Any] = schema.get("$defs", {}).get(reference.rpartition("/")[2], {})
    return found


def _filled(rule: dict[str, Any]) -> dict[str, Any]:
    """What a rule says about a value that is there."""
    choices = [choice for choice in rule.get("anyOf", [rule]) if choice.get("type") != "null"]
    return choices[0] if len(choices) == 1 else {}


def _unproven(frame: pl.DataFrame, part: str, schema: dict[str, Any]) -> pl.Expr:
    """Whether a row has a value that the rules of the schema do not prove right."""
    rules = schema.get("properties", {})
    prefix = f"v:{part}."
    names = [name.removeprefix(prefix) for name in frame.columns if name.startswith(prefix)]
    proofs = [_proof(pl.col(prefix + name), _filled(rules.get(name, {}))) for name in names]
    return ~pl.all_horizontal([pl.lit(value=True), *(proof.fill_null(value=True) for proof in proofs)])


def _proof(value: pl.Expr, rule: dict[str, Any]) -> pl.Expr:
    """Whether a value keeps a rule of a JSON schema for certain; null where there is no value."""
    if set(rule) - _UNDERSTOOD:
        return value.is_null()
    if rule.get("type") in ("number", "integer"):
        return value.str.contains(_WHOLE_NUMBER) & (value.cast(pl.Int64, strict=False) >= int(rule.get("minimum", 0)))
    if "enum" in rule:
        return value.is_in(rule["enum"])
    if "pattern" not in rule:
        return value.is_null()
    fits = value.str.contains(str(rule["pattern"])) & ~value.str.contains(_BREAKS_JSON)
    if "format" not in rule:
        return fits
    # A pattern knows no calendar: the day must exist, and in the years that every library knows.
    day = value.str.head(10).str.to_date("%Y-%m-%d", strict=False).is_not_null() & (value >= "1900")
    return fits & day if rule["format"] in _DATES else value.is_null()


def _shapes(documents: pl.DataFrame, lines: pl.DataFrame) -> pl.Series:
    """For each document a text that says which of its fields are filled, in some and in all of its lines."""
    of_lines = lines.select("doc", _presence(lines).alias("filled")).group_by("doc", maintain_order=True)
    over = of_lines.agg(pl.col("filled").bitwise_or().alias("some"), pl.col("filled").bitwise_and().alias("all"))
    both = documents.select("doc", _presence(documents).alias("own")).join(
        over, on="doc", how="left", maintain_order="left"
    )
    return both.select(pl.concat_str("own", "some", "all", separator=" ", ignore_nulls=True).alias("shape"))["shape"]


def _presence(frame: pl.DataFrame) -> pl.Expr:
    """A number with a bit for each field: set where it has a value. Columns that are filled throughout need none."""
    partly = [name for name in frame.columns if name.startswith("v:") and frame[name].null_count()]
    bits = [pl.col(name).is_not_null().cast(pl.UInt64) * (1 << place) for place, name in enumerate(partly)]
    return pl.sum_horizontal([pl.lit(0, dtype=pl.UInt64), *bits])
