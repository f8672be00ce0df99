"""Receipt rows that could not be read, and the lines of which therefore nothing can be said for certain.

A row may be the very goods that a line lacks, or a correction of what it has. What it cannot change stays as it is.
"""

import polars as pl

from logistics_batch.reconciliation.legs import identifier
from logistics_batch.reconciliation.matching import match_receipts
from logistics_batch.reconciliation.receipts import receipt_groups

_NAMED = 3


def unread_by_notice(unread: pl.DataFrame, targets: pl.DataFrame) -> pl.DataFrame:
    """The rows (UNREAD_ROWS) with `sku` ("" for none) and the `notice` that each is about.

    targets: as `match_receipts` takes them. A row whose parties fit no notice of its invoice may be about any of them;
    one without an invoice number has none.
    """
    rows = unread.with_row_index("nth").with_columns(identifier("sku_name").alias("sku"))
    if rows.is_empty():
        return rows.select("nth", "sku", "spot", "invoice_number", pl.lit(None, pl.UInt32).alias("notice"))
    grouped, groups = receipt_groups(rows, targets)
    fitting = match_receipts(groups, targets).select("group", "notice")
    stray = groups.join(fitting, on="group", how="anti").filter(pl.col("invoice") != "")
    any_of_them = stray.join(targets, on="invoice").select("group", "notice")
    found = pl.concat([fitting, any_of_them])
    return grouped.join(found, on="group", how="left", maintain_order="left").select(
        "nth", "sku", "spot", "invoice_number", "notice"
    )


def with_unread(lines: pl.DataFrame, unread: pl.DataFrame, *, nameless: str) -> pl.DataFrame:
    """The lines (`notice`, `sku`) with what could not be read, in words, null for nothing.

    `unread_own`: rows of its invoice that name its SKU or none. `unread_near`: rows that name its SKU and no invoice.
    `unread_any`: rows that name neither, `nameless`.
    """
    ours = unread.filter(pl.col("notice").is_not_null())
    by_line = pl.concat(
        [
            lines.select("notice", "sku").join(ours.filter(pl.col("sku") != ""), on=["notice", "sku"]),
            lines.select("notice", "sku").join(ours.filter(pl.col("sku") == "").drop("sku"), on="notice"),
        ],
        how="diagonal",
    )
    own = _told(by_line, "notice", "sku").rename({"words": "unread_own"})
    near = _told(loose(unread).filter(pl.col("sku") != ""), "sku").rename({"words": "unread_near"})
    told = lines.join(own, on=["notice", "sku"], how="left", maintain_order="left")
    told = told.join(near, on="sku", how="left", maintain_order="left")
    return told.with_columns(pl.lit(nameless or None, pl.String).alias("unread_any"))


def loose(unread: pl.DataFrame) -> pl.DataFrame:
    """The rows that name no invoice."""
    return unread.filter(pl.col("notice").is_null() & (pl.col("invoice_number").fill_null("").str.strip_chars() == ""))


def nameless_rows(unread: pl.DataFrame) -> str:
    """Where the rows stand that name neither invoice nor SKU, in words."""
    places = loose(unread).filter(pl.col("sku") == "")["spot"].unique(maintain_order=True)
    more = f"; and {len(places) - _NAMED} more" if len(places) > _NAMED else ""
    return "; ".join(places.head(_NAMED)) + more


def is_doubtful() -> pl.Expr:
    """Whether what was not read may change what is said of the line's goods; needs `open_receipt` and `unopened`."""
    elsewhere = pl.col("unread_near").is_not_null() | pl.col("unopened").is_not_null()
    return pl.col("unread_own").is_not_null() | (elsewhere & pl.col("open_receipt"))


def _told(rows: pl.DataFrame, *keys: str) -> pl.DataFrame:
    """The places of the rows by key, each once, in `words`."""
    each = rows.unique([*keys, "spot"], maintain_order=True).group_by(*keys, maintain_order=True)
    more = pl.when(pl.len() > _NAMED).then(pl.format("; and {} more", pl.len() - _NAMED)).otherwise(pl.lit(""))
    return each.agg(pl.concat_str(pl.col("spot").head(_NAMED).str.join("; "), more).first().alias("words"))
