"""Documents of which `only_rows_where` takes some rows and leaves others: they go out with fewer goods."""

from collections.abc import Sequence
from typing import Final

import polars as pl

from logistics_batch.mapping.fields.compile import CompiledSheet
from logistics_batch.mapping.fields.grouping import with_documents, written_key
from logistics_batch.mapping.rows.cells import name_of
from logistics_batch.mapping.rows.classify import Rows
from logistics_batch.messages.words import row_list
from logistics_batch.model.document import Operation

_SHOWN_DOCUMENTS: Final = 5


def note_of_split_documents(table: CompiledSheet, rows: Rows) -> list[str]:
    """A note on the documents with rows that the rule leaves out; it may be meant so, as of lines that are not ready.

    `skip_rows_where` names the rows that are no data, which says it plainly.
    """
    left_out = rows.skipped_by("only_rows_where")
    lines = table.grouped.lines
    if left_out.is_empty() or table.mapping.operation is Operation.RECEIPT_READ or "key" not in lines.columns:
        return []
    keys = [name_of(column) for column in table.columns(table.mapping.spec.key)]
    filled = {name_of(column) for column in table.columns(table.mapping.spec.sheet.fill_down)}
    named = rows.cleaned.frame.select("row", *(pl.col(key).forward_fill() if key in filled else key for key in keys))
    theirs = named.filter(pl.col("row").is_in(left_out.implode()), pl.any_horizontal(pl.col(keys).is_not_null()))
    if theirs.is_empty():
        return []
    sent = lines.select("key", "doc").unique("doc", maintain_order=True)
    split = sent.join(with_documents(theirs, keys).select("key", "row"), on="key", maintain_order="left_right")
    found = split.group_by("key", maintain_order=True).agg("row")
    if found.is_empty():
        return []
    first = found.head(_SHOWN_DOCUMENTS).with_columns(written_key(pl.col("key")))
    told = [f'"{key}" ({_rows(table.sheet.physical_rows(numbers))})' for key, numbers in first.iter_rows()]
    documents = "a document" if found.height == 1 else f"{found.height:,} documents"
    more = f" and {found.height - len(told):,} more" if found.height > len(told) else ""
    taken = f"leaves out some rows of {documents} and takes others: {', '.join(told)}{more}"
    return [f"`only_rows_where` of the mapping {taken}. What is taken goes out without them: is that meant?"]


def _rows(numbers: Sequence[int]) -> str:
    return f"row{'' if len(numbers) == 1 else 's'} {row_list(numbers)}"
