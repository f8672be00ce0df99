"""Documents of which a rule of the mapping leaves out some rows and takes others: told, or held back."""

from collections.abc import Iterator
from itertools import chain, product
from typing import Any, Final

import polars as pl

from logistics_batch.mapping.fields.compile import CompiledSheet, written_key
from logistics_batch.mapping.rows.cells import name_of
from logistics_batch.mapping.rows.classify import BY_PATTERN, Rows, spread
from logistics_batch.mapping.rows.header import fits
from logistics_batch.mapping.spec.words import TOTAL
from logistics_batch.model.issue import Issue

_SHOWN_DOCUMENTS: Final = 5
_TOLD: Final = {"code": pl.String, "values": pl.String}


def rows_left_out(table: CompiledSheet, rows: Rows) -> pl.DataFrame:
    """Of documents that are taken the rows that a rule leaves out: doc, key, row, code, values."""
    told = rows.skipped.filter(pl.col("code").str.extract(r"^([^.]*)").is_in(BY_PATTERN))
    if told.is_empty() or "key" not in table.lines.columns:  # receipts have none
        return pl.DataFrame(schema={"doc": pl.UInt32, "key": pl.String, "row": pl.UInt32, **_TOLD})
    filled, cells = {*table.columns(table.mapping.spec.sheet.fill_down)}, rows.cleaned.frame
    keys = {column: _spread(table, column, cells) for column in table.columns(table.mapping.spec.key)}
    named = pl.DataFrame(
        {"row": cells["row"]}
        | {name_of(key): cell.forward_fill() if key in filled else cell for key, cell in keys.items()}
    )
    theirs = named.filter(
        pl.col("row").is_in(told["row"].implode()), pl.any_horizontal(pl.exclude("row").is_not_null())
    )
    return table.of_documents(theirs).join(told, on="row", maintain_order="left")


def noted(table: CompiledSheet, rows: Rows, left_out: pl.DataFrame) -> Iterator[Issue]:
    """A note for each rule on the documents that go out without some rows: it may be meant so, as of cancelled lines.

    `skip_rows_where` on a column of goods names what is none, as freight, which says it plainly; so does a total.
    """
    goods = {table.text_of(column) for column in table.columns(table.mapping.spec.key)}
    goods |= {table.text_of(column) for each in table.line for column in table.bound.bound(each.spec.columns)}
    name, value = (pl.col("values").str.json_path_match(f"$.{each}") for each in ("name", "value"))
    is_plain = (name.is_in([*goods]) | value.str.contains(TOTAL)).fill_null(value=False)
    lines = pl.col("row").is_in(_lines_in(table, rows, left_out["row"])["row"].implode())
    of_rule = {"only_rows_where": pl.lit(value=True), "skip_rows_where": lines & ~is_plain}
    for rule, told in of_rule.items():
        theirs = left_out.filter(pl.col("code").str.starts_with(rule), told)
        split = theirs.group_by("doc", maintain_order=True).agg(written_key(pl.col("key").first()), "row")
        if split.is_empty():
            continue
        first = [
            ["left_out.rows", {"key": key, "rows": table.sheet.physical_rows(numbers)}]
            for _, key, numbers in split.head(_SHOWN_DOCUMENTS).iter_rows()
        ]
        more = [["left_out.more", {"count": split.height - len(first)}]] if split.height > len(first) else []
        code = "left_out.document" if split.height == 1 else "left_out.documents"
        yield Issue.of(code, rule=rule, documents=split.height, told=first, more=more)


def halved(table: CompiledSheet, rows: Rows, left_out: pl.DataFrame) -> Iterator[tuple[int, str, dict[str, Any]]]:
    """The documents of which a rule may mean all rows and finds some, for the cell that it asks for stands on these
    only: doc, code, values.

    So it is where the other rows are blank in that column, and in one that says whose goods they are: what stands once
    for all of them may be the rule's column, too. Rows that repeat all of that speak for themselves.
    """
    if left_out.is_empty() or not table.line:
        return
    mapping, form = table.mapping, table.mapping.spec.sheet
    of_document = {column for each in table.header for column in table.bound.bound(each.spec.columns)}
    once = {*table.columns([*mapping.key_in_table, *form.fill_down])}
    once = (once | of_document.intersection(table.bound.bound(mapping.required))).difference(table.sheet.above)
    docs = left_out["doc"].unique().implode()
    taken = table.lines.filter(pl.col("doc").is_in(docs)).select("doc", "row", out=False).unique()
    both = pl.concat([taken, left_out.select("doc", "row", out=True)])
    with_goods = pl.col("row").is_in(_lines_in(table, rows, left_out["row"])["row"].implode())
    cells, is_out = rows.cleaned.frame, pl.col("out")
    for rule, (name, patterns) in chain.from_iterable(
        product([each], getattr(form, each).items()) for each in BY_PATTERN
    ):
        for column in table.columns([name]):
            others = [*map(name_of, once - {column})]
            asked = cells.select("row", *others).with_columns(asked=_spread(table, column, cells))
            there = both.join(asked, on="row", maintain_order="left")
            says, fit = pl.col("asked").is_not_null(), fits(pl.col("asked"), patterns)
            led = [(is_out & says & (fit if rule == "skip_rows_where" else ~fit), ~is_out & ~says)]
            led += [(~is_out & says, is_out & ~says & with_goods)] if rule == "only_rows_where" else []
            halves = [
                (one & pl.col(other).is_not_null()).any() & (rest & pl.col(other).is_null()).any()
                for other in others
                for one, rest in led
            ]
            found = there.group_by("doc", maintain_order=True).agg(
                halved=pl.any_horizontal(pl.lit(value=False), *halves),
                gone=pl.col("row").filter(is_out),
                rest=pl.col("row").filter(~is_out),
            )
            for doc, gone, rest in found.filter("halved").select("doc", "gone", "rest").iter_rows():
                places = {"rows": table.sheet.physical_rows(gone), "others": table.sheet.physical_rows(rest)}
                yield doc, f"half document.{rule}", {"name": table.text_of(column), **places}


def _spread(table: CompiledSheet, column: int, cells: pl.DataFrame) -> pl.Series:
    return spread(table.sheet, table.bound, column, cells)


def _lines_in(table: CompiledSheet, rows: Rows, numbers: pl.Series) -> pl.DataFrame:
    """Those of some rows that have what a line needs."""
    needed = {each.column for each in table.line if table.mapping.is_required(each.place) and each.column is not None}
    has_all = pl.all_horizontal(pl.lit(value=True), *(pl.col(name_of(column)).is_not_null() for column in needed))
    return rows.cleaned.frame.filter(pl.col("row").is_in(numbers.implode()), has_all)
