"""The documents of a mapped file, made when they are asked for: of a large file never all bodies are there at once."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Final, Literal

import polars as pl

from logistics_batch.mapping.documents.bodies import body_texts, with_kits
from logistics_batch.mapping.documents.changes import finished
from logistics_batch.mapping.fields.fields import Field
from logistics_batch.mapping.loading import Mapping
from logistics_batch.model.document import DOCUMENTS_SCHEMA, Documents, OrderNumber
from logistics_batch.model.payloads import LongitudeName

BLOCK_DOCUMENTS: Final = 5_000
"""So many documents at a time become text, which bounds the memory that takes."""

_ENDS: Final[tuple[tuple[int, Literal["left", "right"]], ...]] = ((0, "left"), (-1, "right"))


@dataclass(frozen=True, slots=True)
class Material:
    """What documents are made of.

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

    def bodies(self, heads: pl.DataFrame, lines: pl.DataFrame) -> list[str]:
        """The exact text of each of some documents; lines: theirs and no others."""
        targets, cells = self.mapping.targets, self.cells(lines)
        texts: list[str] = body_texts(heads, cells, targets, longitude=self.longitude).to_list()
        if not targets.operation.creates:
            return [finished(text, targets.operation) for text in texts]
        return with_kits(texts, cells, targets) if self.mapping.spec.kits else texts

    def cells(self, lines: pl.DataFrame) -> pl.DataFrame:
        """Of lines what their payloads are made of: doc and the values."""
        return lines.select("doc", *(field.value_name for field in self.line))

    def frames(self) -> Iterator[pl.DataFrame]:
        """The documents in file order, some at a time (DOCUMENTS_SCHEMA)."""
        kept: dict[tuple[str | None, ...], str] = {}
        for heads, lines in self.blocks():
            grouped = lines.group_by("doc", maintain_order=True).agg("row")["row"]
            rows = grouped.list.unique(maintain_order=True) if self.rows_repeat else grouped
            references = heads["reference"]
            order = references if self.order is not None else [None] * heads.height
            columns: dict[str, object] = {
                "key": heads["natural"],
                "reference": references,
                "body": self.bodies(heads, lines),
                "rows": rows,
                "line_rows": grouped if self.line else [[]] * heads.height,
                "keep": list(_kept_of(lines.filter("first"), self.keep, kept)),
                "order": order,
            }
            yield pl.DataFrame(columns, schema=DOCUMENTS_SCHEMA)


@dataclass(frozen=True, slots=True)
class _Again:
    """The frames of some material, made each time they are gone through."""

    material: Material

    def __iter__(self) -> Iterator[pl.DataFrame]:
        return self.material.frames()


def documents_of(material: Material) -> Documents:
    """The documents; those of an ordinary file are made at once."""
    heads, barred = material.heads["doc"], material.barred
    is_small = heads.len() <= BLOCK_DOCUMENTS
    return Documents(
        list(material.frames()) if is_small else _Again(material),
        count=heads.len() - int(heads.is_in(barred.implode()).sum()),
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


def _kept_of(firsts: pl.DataFrame, keep: Sequence[Field], known: dict[tuple[str | None, ...], str]) -> Iterator[str]:
    """For each document what is kept of its first row, without blanks, as JSON; known: what was kept of others."""
    names = [field.target for field in keep]
    columns = [firsts[field.value_name].to_list() for field in keep]
    for values in zip(*columns, strict=True) if keep else repeat((), firsts.height):
        if (kept := known.get(values)) is None:
            told = zip(names, values, strict=True)
            kept = known[values] = json.dumps({name: value for name, value in told if value is not None})
        yield kept
