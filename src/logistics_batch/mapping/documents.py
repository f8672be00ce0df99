"""The documents of a mapped file, made when they are asked for: of a large file never all bodies are there at once."""

import gc
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import repeat
from typing import Final, Literal, overload

import polars as pl

from logistics_batch.mapping.bodies import body_texts
from logistics_batch.mapping.changes import finished
from logistics_batch.mapping.fields import Field
from logistics_batch.mapping.kits import with_kits
from logistics_batch.mapping.loading import Mapping
from logistics_batch.model.document import Document, OrderNumber
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

    def documents(self) -> Iterator[Document]:
        """Each document, once, in file order."""
        kept: dict[tuple[str | None, ...], dict[str, str]] = {}
        for heads, lines in self.blocks():
            with _without_collector():
                made = self._documents_of(heads, lines, kept)
            yield from made

    def _documents_of(
        self, heads: pl.DataFrame, lines: pl.DataFrame, kept: dict[tuple[str | None, ...], dict[str, str]]
    ) -> list[Document]:
        grouped = lines.group_by("doc", maintain_order=True).agg("row")
        line_rows = [tuple(numbers) for numbers in grouped["row"].to_list()]
        rows = [tuple(dict.fromkeys(numbers)) for numbers in line_rows] if self.rows_repeat else line_rows
        references, naturals = heads["reference"].to_list(), heads["natural"].to_list()
        made = map(
            Document,
            references if naturals == references else naturals,
            repeat(self.mapping.operation),
            rows,
            self.bodies(heads, lines),
            references,
            line_rows if self.line else repeat(()),
            _kept_of(lines.filter("first"), self.keep, kept),
            (_order(self.order, reference) for reference in references),
            repeat(""),
            repeat(""),
            repeat(self.lent),
        )
        return list(made)


class Documents(Sequence[Document]):
    """Documents that are made each time they are gone through, until somebody does so again or asks for a single one.

    From then on they are kept: whoever comes back pays with memory and not with time.
    """

    def __init__(self, material: Material) -> None:
        heads, barred = material.heads["doc"], material.barred
        self._material = material
        self._count = heads.len() - int(heads.is_in(barred.implode()).sum())
        self._were_read = False
        self._made: tuple[Document, ...] | None = None

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Document]:
        if self._were_read:
            return iter(self._all())
        self._were_read = True
        return self._material.documents()

    @overload
    def __getitem__(self, place: int) -> Document: ...

    @overload
    def __getitem__(self, place: slice) -> tuple[Document, ...]: ...

    def __getitem__(self, place: int | slice) -> Document | tuple[Document, ...]:
        return self._all()[place]

    def _all(self) -> tuple[Document, ...]:
        if self._made is None:
            self._made = tuple(self._material.documents())
        return self._made


def documents_of(material: Material) -> Sequence[Document]:
    """The documents; those of an ordinary file are made at once."""
    return tuple(material.documents()) if material.heads.height <= BLOCK_DOCUMENTS else Documents(material)


def _order(named: OrderNumber | None, text: str | None) -> OrderNumber | None:
    return replace(named, text=text) if named is not None and text is not None else None


@contextmanager
def _without_collector() -> Iterator[None]:
    """Many objects that hold no circles are made within: to look for circles again and again takes as long as they."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _between(documents: pl.DataFrame, lines: pl.DataFrame) -> pl.DataFrame:
    """The lines from the first document's to the last one's; both are sorted by doc."""
    if documents.is_empty():
        return lines.clear()
    begin, end = (lines["doc"].search_sorted(documents["doc"][place], side) for place, side in _ENDS)
    return lines.slice(begin, end - begin)


def _kept_of(
    firsts: pl.DataFrame, keep: Sequence[Field], known: dict[tuple[str | None, ...], dict[str, str]]
) -> Iterator[dict[str, str]]:
    """For each document what is kept of its first row, without blanks; where it is the same, it is shared.

    known: what was kept of others.
    """
    names = [field.target for field in keep]
    columns = [firsts[field.value_name].to_list() for field in keep]
    for values in zip(*columns, strict=True) if keep else repeat((), firsts.height):
        if (kept := known.get(values)) is None:
            told = zip(names, values, strict=True)
            kept = known[values] = {name: value for name, value in told if value is not None}
        yield kept
