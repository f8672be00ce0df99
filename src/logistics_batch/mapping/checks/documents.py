"""Documents that are not sent though their own cells are right: another row of theirs, or another document, is why."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

import polars as pl

from logistics_batch import messages
from logistics_batch.mapping.checks.equal_rows import documents_with_equal_rows
from logistics_batch.mapping.fields.compile import CompiledSheet, disagreements
from logistics_batch.mapping.findings import Findings
from logistics_batch.mapping.rows.cells import BLANKS, name_of
from logistics_batch.model.document import Operation
from logistics_batch.model.sheet import Sheet
from logistics_batch.model.spelling import differences, folded_key

_PLAIN: Final = "^[!-_a-~]+( [!-_a-~]+)*$"
_NEEDLESS_ZEROS: Final = "(^| )0[0-9]|[.][0-9]*0($| )"  # perhaps: a part of a key that is but a number may have them

BLOCKED_SCHEMA: Final = {"doc": pl.UInt32, "code": pl.String, "values": pl.String}
"""Documents that are not sent, each once: a code of the catalogue and its values, packed."""

_Found = Iterator[tuple[int, str, dict[str, Any]]]


def blocked_documents(table: CompiledSheet, documents: pl.DataFrame) -> pl.DataFrame:
    """The documents that have lost a row, contradict themselves, or share their name (BLOCKED_SCHEMA).

    documents: doc, natural (its natural key).
    """
    return _frame((*_hidden(table), *_torn(table), *documents_with_equal_rows(table), *_doubled(table, documents)))


def with_siblings(blocked: pl.DataFrame, table: CompiledSheet, found: Findings, strays: pl.DataFrame) -> pl.DataFrame:
    """Beside those that are blocked the documents with a row that is wrong itself, or a stray one (doc, row)."""
    placed = pl.concat([table.lines.select("row", "doc"), strays.select("row", "doc")])
    together = pl.concat([blocked, _siblings(table.sheet, placed, found)], how="diagonal")
    return together.unique("doc", keep="first", maintain_order=True)


def _siblings(sheet: Sheet, placed: pl.DataFrame, found: Findings) -> pl.DataFrame:
    """Documents of which a row is wrong itself: doc, code, values; and those that rows of a second sheet are told.

    placed: row, doc.
    """
    wrong = found.frame()
    places = sheet.places(wrong).select("sheet", pl.col("row").alias("at"))
    rows = placed.join(pl.concat([wrong.select("row"), places], how="horizontal").drop_nulls(), on="row")
    second = sheet.origins.second if sheet.origins else ""
    by_doc = rows.group_by("doc").agg(
        pl.col("at").filter(pl.col("sheet") == name).unique().sort().alias(f"at {name}") for name in ("", second or "-")
    )
    told = [
        (doc, *_not_sent(here, there, second), *_not_sent(there, here, sheet.name))
        for doc, here, there in by_doc.iter_rows()
    ]
    schema = dict.fromkeys(("code", "values", "code_there", "values_there"), pl.String)
    return pl.DataFrame(told, schema={"doc": pl.UInt32, **schema}, orient="row")


def _not_sent(here: Sequence[int], there: Sequence[int], other: str) -> tuple[str, str]:
    """What rows of one sheet are told of the wrong ones there and on the other sheet."""
    if not there:
        return "sibling.own_sheet", messages.packed({"rows": list(here)})
    code = "sibling.both_sheets" if here else "sibling.other_sheet"
    return code, messages.packed({"rows": list(here), "others": list(there), "sheet": other})


def _frame(found: Iterable[tuple[int, str, dict[str, Any]]]) -> pl.DataFrame:
    lines = [(doc, code, messages.packed(values)) for doc, code, values in found]
    return pl.DataFrame(lines, schema=BLOCKED_SCHEMA, orient="row").unique("doc", keep="first", maintain_order=True)


def _hidden(table: CompiledSheet) -> _Found:
    for doc, rows in table.hidden.group_by("doc", maintain_order=True).agg("row").iter_rows():
        yield doc, "hidden row", {"rows": table.sheet.physical_rows(rows)}


def _torn(table: CompiledSheet) -> _Found:
    """Documents whose rows say different things."""
    torn = pl.concat([disagreements(table.heads, table.header, table.bound), table.torn])
    if torn.is_empty():
        return
    names_of = torn.group_by("doc", maintain_order=True).agg(pl.col("name").unique(maintain_order=True))
    rows_of = table.lines.select("doc", "row").join(names_of, on="doc", how="semi").group_by("doc").agg("row")
    for doc, names, rows in names_of.join(rows_of, on="doc", how="left", maintain_order="left").iter_rows():
        yield doc, "disagree", {"names": names, "rows": table.sheet.physical_rows(rows)}


def _doubled(table: CompiledSheet, documents: pl.DataFrame) -> _Found:
    """Documents that differ in their key columns and would be one document to the service."""
    if documents.height < 2 or table.mapping.operation is Operation.RECEIPT_READ:
        return
    read = documents.drop_nulls("natural").select("doc", "natural", _as_read(pl.col("natural")).alias("read"))
    doubled = read.filter(pl.col("read").is_duplicated())
    if doubled.is_empty():
        return
    rows = table.lines.select("row", "doc").group_by("doc", maintain_order=True).agg("row")
    placed = doubled.join(rows, on="doc", how="left", maintain_order="left")
    groups = placed.group_by("read", maintain_order=True).agg("natural", "doc", "row")
    for _, naturals, docs, places in groups.iter_rows():
        rows_of_all = table.sheet.physical_rows(number for place in places for number in place)
        first, *others = dict.fromkeys(naturals)
        code, values = "duplicate", {"name": first, "rows": rows_of_all}
        if others:
            told = list(dict.fromkeys(name for other in others for name in differences(first, other)))
            code, values = "duplicate.spelling", {"names": [first, *others], "what": told, "rows": rows_of_all}
        yield from ((doc, code, values) for doc in docs)


def _as_read(names: pl.Expr) -> pl.Expr:
    """`folded_key`, which has only letters to make small in plain names; these are nearly all."""
    plain = names.str.contains(_PLAIN) & ~names.str.contains(_NEEDLESS_ZEROS)
    others = pl.when(~plain).then(names).map_elements(folded_key, return_dtype=pl.String)
    return pl.when(plain).then(names.str.to_lowercase()).otherwise(others)


def stray_rows(table: CompiledSheet) -> pl.DataFrame:
    """The rows, with the document above each (doc, row), of which nobody can tell whether they are a line of that.

    Such a row has all that a line needs, and says nothing else of the document than the row above: blank, or the same.
    The document may be half of what is meant without it. One that says something else has lost a key of its own.
    """
    none = pl.DataFrame(schema={"doc": pl.UInt32, "row": pl.UInt32})
    mapping, form = table.mapping, table.mapping.spec.sheet
    goods = {each.column for each in table.line if mapping.is_required(each.place) and each.column is not None}
    if table.keyless.is_empty() or not goods:
        return none
    filled, keys, asked = (
        set(table.columns(names))
        for names in (form.fill_down, mapping.spec.key, (*form.skip_rows_where, *form.only_rows_where))
    )
    header = {each.column for each in table.header if each.spec.source != "sum"}  # a sum is over what lines say
    said = (header | filled) - {None} - keys - asked - goods
    names = [name_of(column) for column in sorted(filter(None, said)) if name_of(column) in table.keyless.columns]
    rows = table.keyless.filter(pl.col(name_of(column)).is_not_null() for column in goods).select("row", *names)
    rows = rows.join(_with_a_key(table, keys), on="row", how="anti", maintain_order="left")
    lines = table.lines.select("row", "doc", *names).sort("row")
    other = [pl.col(name).is_not_null() & pl.col(name).ne_missing(pl.col(f"{name}_right")) for name in names]
    has_own_key = pl.any_horizontal(other) if other else pl.lit(value=False)
    own = rows.join_asof(lines, on="row").filter(has_own_key).select("row")
    placed = pl.concat([lines.select("row", "doc"), own.with_columns(pl.lit(None, pl.UInt32).alias("doc"))]).sort("row")
    strays = rows.join(own, on="row", how="anti", maintain_order="left").select("row")
    return strays.join_asof(placed, on="row").drop_nulls("doc").select("doc", "row")


def _with_a_key(table: CompiledSheet, keys: Iterable[int | None]) -> pl.DataFrame:
    """The rows without a key in whose cell something stands that could not be read: it is a key of their own."""
    written = [pl.col(str(column)).str.strip_chars(BLANKS).fill_null("") != "" for column in keys]
    return (
        table.sheet.frame.filter(pl.col("row").is_in(table.keyless["row"].implode()))
        .filter(pl.any_horizontal(written) if written else pl.lit(value=False))
        .select("row")
    )
