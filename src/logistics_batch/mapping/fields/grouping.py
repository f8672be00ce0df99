"""Rows to documents: a document's rows next to each other, its header cells looked at once and not on each row."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import polars as pl

from logistics_batch.mapping.fields.fields import Field

_BETWEEN: Final = "\x1f"
_CELL: Final = re.compile(r"c[0-9]+")


@dataclass(frozen=True, slots=True)
class Grouped:
    """Rows by document.

    lines: a line for each line of a payload, documents in the order of their first rows and each one's lines together;
    `doc` counts from 0, `head` numbers runs of lines of a document whose header cells are alike. heads: the first line
    of each run, without the cells that only
    lines are made of.
    """

    lines: pl.DataFrame
    heads: pl.DataFrame


def rows_where(lines: pl.DataFrame, mask: pl.Expr) -> pl.Series:
    """The physical rows of the lines that a mask is true for; no other column is gathered."""
    return lines.select(pl.col("row").filter(mask))["row"]


def written_key(key: pl.Expr) -> pl.Expr:
    """What the key columns of a document hold, as people write it."""
    return key.str.replace_all(_BETWEEN, " | ", literal=True)


def with_documents(data: pl.DataFrame, keys: Sequence[str]) -> pl.DataFrame:
    """The rows with `doc`, sorted by it; without keys each row is its own document."""
    if not keys:
        return data.with_columns(pl.int_range(pl.len(), dtype=pl.UInt32).alias("doc"))
    parts = [pl.col(key).fill_null("") for key in keys]
    key = parts[0] if len(parts) == 1 else pl.concat_str(parts, separator=_BETWEEN)
    keyed = data.with_columns(key.alias("key"))
    begins = keyed["key"].ne_missing(keyed["key"].shift(1))
    run = (begins.cast(pl.UInt32).cum_sum() - 1).cast(pl.UInt32)
    keys_of_runs = keyed["key"].filter(begins).to_frame()
    if keys_of_runs["key"].n_unique() == keys_of_runs.height:
        return keyed.with_columns(run.set_sorted().alias("doc"))
    documents = keys_of_runs.unique(maintain_order=True).with_row_index("doc")
    docs_of_runs = keys_of_runs.join(documents, on="key", how="left", maintain_order="left")["doc"]
    return keyed.with_columns(docs_of_runs.gather(run).alias("doc")).sort("doc", maintain_order=True)


def with_heads(lines: pl.DataFrame, columns: Sequence[str]) -> Grouped:
    """Find the runs of rows with the same header cells; columns are the cells that header fields read."""
    first = pl.col("doc").ne_missing(pl.col("doc").shift(1))
    changes = [pl.col(name).ne_missing(pl.col(name).shift(1)) for name in columns]
    begins = pl.any_horizontal(first, *changes)
    numbered = lines.with_columns(first.alias("first"), begins.alias("begins"))
    numbered = numbered.with_columns((pl.col("begins").cast(pl.UInt32).cum_sum() - 1).alias("head"))
    of_lines = [name for name in lines.columns if _CELL.fullmatch(name) and name not in columns]
    return Grouped(numbered.drop("begins"), numbered.drop(of_lines).filter("begins").drop("begins"))


def disagreements(heads: pl.DataFrame, fields: Sequence[Field]) -> pl.DataFrame:
    """Where a document's rows say different things: doc, place.

    A blank beside a value disagrees. A value that could not be read is an issue of its own and not compared.
    """
    found = [pl.DataFrame(schema={"doc": pl.UInt32, "place": pl.String})]
    if heads.height == heads["doc"].n_unique():
        return found[0]
    same = pl.col("doc") == pl.col("doc").shift(1)
    for field in fields:
        value = pl.col(field.value_name)
        masks = [pl.col(field.rule_name(n)) for n in range(len(field.rules))]
        read = [~(mask | mask.shift(1)) for mask in masks]
        differs = pl.all_horizontal(same, value.ne_missing(value.shift(1)), *read)
        docs = heads.filter(differs).select(pl.col("doc").unique(), pl.lit(field.place).alias("place"))
        found.append(docs)
    return pl.concat(found)


def document_sums(lines: pl.DataFrame, part: pl.Expr, extra: Sequence[tuple[pl.Expr, int]]) -> pl.DataFrame:
    """For each document the sum of a row's part, with each extra's first value added or taken off: doc, total, torn.

    torn: the extras, by their places, for which rows of the document give different values.
    """
    named = [(f"extra{n}", number, sign) for n, (number, sign) in enumerate(extra)]
    staged = lines.select("doc", part.alias("part"), *(number.alias(name) for name, number, _ in named))
    sums = staged.group_by("doc", maintain_order=True).agg(
        pl.when(pl.col("part").count() > 0).then(pl.col("part").sum()).alias("total"),
        *(pl.col(name).drop_nulls().first().alias(name) for name, _, _ in named),
        *((pl.col(name).drop_nulls().n_unique() > 1).alias(f"torn:{name}") for name, _, _ in named),
    )
    total = pl.col("total")
    for name, _, sign in named:
        share = pl.col(name).fill_null(0)
        total = total + share if sign > 0 else total - share
    torn = [pl.when(f"torn:{name}").then(number) for number, (name, _, _) in enumerate(named)]
    lists = pl.concat_list(torn).list.drop_nulls() if torn else pl.lit([], dtype=pl.List(pl.Int32))
    return sums.select("doc", total.cast(pl.Decimal(38, 6)).cast(pl.String).alias("total"), lists.alias("torn"))
