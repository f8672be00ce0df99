"""The documents of a mapped file, made when they are asked for: of a large file never all bodies are there at once.

A body is text built from columns: compact JSON in the contract's field order, blanks left out.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import polars as pl

from logistics_batch.mapping.documents.changes import SPELT_IN_SAMPLES, finished
from logistics_batch.mapping.fields.fields import KIT, Field
from logistics_batch.mapping.loaded import Mapping
from logistics_batch.mapping.spec.targets import JSON_NUMBERS
from logistics_batch.model.document import DOCUMENTS_SCHEMA, Documents, OrderNumber
from logistics_batch.model.payloads import PAYLOADS, LongitudeName

BLOCK_DOCUMENTS: Final = 5_000
"""So many documents at a time become text, which bounds the memory that takes."""

_ENDS: Final[tuple[tuple[int, Literal["left", "right"]], ...]] = ((0, "left"), (-1, "right"))
_SPECIAL: Final = r'["\\\x00-\x1f]'


@dataclass(frozen=True, slots=True)
class Material:
    """What documents are made of; gone through, it gives them in file order, some at a time (DOCUMENTS_SCHEMA).

    heads: one line a document, in file order: doc, natural (its natural key), reference, and the header fields' values
    v:fields.*. lines: one line each of their lines, sorted by doc: doc, row, first (of its document), and values.
    barred: the docs that are not made. line, keep: the fields of lines, and those that are kept. rows_repeat: some row
    has become several lines. order: how the sheet names orders, for operations that change one. lent: targets whose
    values the run gave.
    """

    mapping: Mapping
    heads: pl.DataFrame
    lines: pl.DataFrame
    barred: pl.Series
    line: tuple[Field, ...]
    keep: tuple[Field, ...]
    rows_repeat: bool
    order: OrderNumber | None
    lent: tuple[str, ...]
    longitude: LongitudeName

    def blocks(self) -> Iterator[tuple[pl.DataFrame, pl.DataFrame]]:
        """Some heads at a time with their lines, without those that are barred."""
        fit = pl.col("doc").is_in(self.barred.implode()).not_()
        for block in self.heads.iter_slices(BLOCK_DOCUMENTS):
            yield block.filter(fit), _between(block, self.lines).filter(fit)

    def __iter__(self) -> Iterator[pl.DataFrame]:
        for heads, lines in self.blocks():
            grouped = lines.group_by("doc", maintain_order=True).agg("row")["row"]
            columns: dict[str, object] = {
                "key": heads["natural"],
                "reference": heads["reference"],
                "body": self.bodies(heads, lines),
                "rows": grouped.list.unique(maintain_order=True) if self.rows_repeat else grouped,
                "line_rows": grouped if self.line else [[]] * heads.height,
                "keep": _kept_of(lines.filter("first"), self.keep),
                "order": [None] * heads.height if self.order is None else heads["reference"],
            }
            yield pl.DataFrame(columns, schema=DOCUMENTS_SCHEMA)

    def bodies(self, heads: pl.DataFrame, lines: pl.DataFrame) -> list[str]:
        """The exact text of each of some documents; lines: theirs and no others."""
        targets = self.mapping.targets
        parts = self._parts(heads, "fields", targets.header)
        if self.line:
            own = lines
            if KIT in lines.columns:
                own = lines.filter(pl.col(KIT).is_null())
                parts["kit_skus"] = _array("kit_skus", heads, self._kits(lines.filter(pl.col(KIT).is_not_null())))
            items = own.select("doc", text=_object(self._parts(own, "lines", targets.lines).values()))
            items = items if own is lines else items.filter(pl.col("text") != "{}")
            parts[targets.lines_field] = _array(targets.lines_field, heads, items)
            order = [*PAYLOADS[targets.operation].model_fields]
            parts = {name: parts[name] for name in sorted(parts, key=order.index)}
        texts = heads.select("doc", text=_object(parts.values()))["text"].to_list()
        return texts if targets.operation.creates else [finished(text, targets.operation) for text in texts]

    def _kits(self, lines: pl.DataFrame) -> pl.DataFrame:
        """The kits of documents: doc, text; lines: their contents, of which the first says what the kit is called."""
        once = [name for name in ("v:kits.name", "v:kits.description") if name in lines.columns]
        items = _object(self._parts(lines, "kit_lines", self.mapping.targets.lines).values())
        inside = lines.select("doc", KIT, *once, item=items).group_by("doc", KIT, maintain_order=True)
        kits = inside.agg(pl.col(once).first(), pl.col("item").str.join(","))
        named = self._parts(kits, "kits", ("name", "description")).values()
        contents = pl.lit(',"item_details":[') + pl.col("item") + pl.lit("]")
        return kits.select("doc", text=_object((*named, contents)))

    def _parts(self, frame: pl.DataFrame, part: str, names: Sequence[str]) -> dict[str, pl.Expr]:
        """For each mapped target `,"name":value`, null where there is no value."""
        columns = {name: column for name in names if (column := f"v:{part}.{name}") in frame.columns}
        texts = [pl.col(column) for name, column in columns.items() if name not in JSON_NUMBERS]
        special = frame.select(text.str.contains(_SPECIAL).any() for text in texts).row(0, named=True) if texts else {}
        found: dict[str, pl.Expr] = {}
        for name, column in columns.items():
            value = pl.col(column)
            if special.get(column):  # some value holds a sign that JSON escapes
                value = value.str.replace_all("\\", "\\\\", literal=True).str.replace_all('"', '\\"', literal=True)
            mark = "" if name in JSON_NUMBERS else '"'
            spelt = SPELT_IN_SAMPLES.get(name, name) if self.longitude == "delivery_lon" else name
            found[name] = pl.lit(f',"{spelt}":{mark}') + value + pl.lit(mark)
        return found


def _object(parts: Iterable[pl.Expr]) -> pl.Expr:
    """A JSON object of parts, without those that are null."""
    return pl.lit("{") + pl.concat_str([pl.lit(""), *parts], ignore_nulls=True).str.strip_prefix(",") + pl.lit("}")


def _array(name: str, heads: pl.DataFrame, elements: pl.DataFrame) -> pl.Expr:
    """The part of each head that lists its elements (doc, text); null where it has none."""
    grouped = elements.group_by("doc", maintain_order=True).agg("text")
    listed = heads.select("doc").join(grouped, on="doc", how="left", maintain_order="left")["text"].list.join(",")
    return pl.lit(f',"{name}":[') + pl.lit(listed) + pl.lit("]")


def documents_of(material: Material) -> Documents:
    """The documents; those of an ordinary file are made at once."""
    heads = material.heads["doc"]
    return Documents(
        list(material) if heads.len() <= BLOCK_DOCUMENTS else material,
        count=heads.len() - int(heads.is_in(material.barred.implode()).sum()),
        operation=material.mapping.operation,
        order=material.order,
        lent=material.lent,
    )


def _between(documents: pl.DataFrame, lines: pl.DataFrame) -> pl.DataFrame:
    """The lines from the first document's to the last one's; both are sorted by doc."""
    if documents.is_empty():
        return lines.clear()
    begin, end = (lines["doc"].search_sorted(documents["doc"][place], side) for place, side in _ENDS)
    return lines.slice(begin, end - begin)


def _kept_of(firsts: pl.DataFrame, keep: Sequence[Field]) -> pl.Series:
    """For each document what is kept of its first row, without blanks, as JSON."""
    members = []
    for field in keep:
        value = pl.col(field.value_name)
        one = pl.struct(value.alias(field.target)).struct.json_encode()  # {"target":"value"}
        members.append(pl.when(value.is_not_null()).then(one.str.replace(r"^\{(.*)\}$", ",$1")))
    return firsts.with_columns(keep=_object(members))["keep"]
