"""Kits: rows that name a kit are its contents, the others are items of the order itself (API §2.3, §4.6)."""

import json
from collections.abc import Sequence
from typing import Any, Final

import polars as pl

from logistics_batch.mapping.fields.compile import CompiledSheet
from logistics_batch.mapping.fields.values.reading import say
from logistics_batch.mapping.findings import Findings
from logistics_batch.mapping.spec.targets import JSON_NUMBERS, Targets
from logistics_batch.model.spelling import folded_key

KEY: Final = "v:kits.key"
_ONCE: Final = ("name", "description")


def with_kits(texts: Sequence[str], lines: pl.DataFrame, targets: Targets) -> list[str]:
    """The bodies with their kits; what kits are made of is no longer among the order's own items.

    texts: one a document, with an empty item for each row of a kit. lines: doc, the kit's key and its values, sorted by
    doc.
    """
    rows = lines.select(pl.col("^(doc|v:kits\\..*|v:kit_lines\\..*)$")).filter(pl.col(KEY).is_not_null())
    kits: dict[int, dict[str, dict[str, Any]]] = {}
    for row in rows.iter_rows(named=True):
        own = kits.setdefault(row["doc"], {})
        once = {name: row[f"v:kits.{name}"] for name in _ONCE if row.get(f"v:kits.{name}") is not None}
        kit = own.setdefault(row[KEY], once | {"item_details": []})
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


def check_kits(found: Findings, table: CompiledSheet) -> None:
    """Rows of one kit that call it differently, also where only people take its key for one."""
    lines = table.grouped.lines
    if KEY in lines.columns:
        lines = lines.with_columns(pl.col(KEY).map_elements(folded_key, return_dtype=pl.String).alias("kit"))
    for field in table.line:
        if field.place in ("kits.name", "kits.description"):
            named = [field.value_name, *([KEY] if field.place == "kits.name" else [])]
            values = pl.struct(named).n_unique().over("doc", "kit")
            torn = lines.filter(pl.col(KEY).is_not_null() & (values > 1))["row"]
            words = say(
                f"The rows of one kit give it a different {field.target}.", "Write the same on all of its rows."
            )
            found.add(torn, field.column, f"kit_{field.target}|disagree", words)
