"""Receipt rows that could not be read, and the lines of which therefore nothing can be said for certain.

A row may be the very goods that a line lacks, or a correction of what it has. What it cannot change stays as it is.
"""

import polars as pl

from logistics_batch.reconciliation.legs.reading import identifier
from logistics_batch.reconciliation.matching.receipts import match_receipts, receipt_groups

_NAMED = 3


def unread_by_notice(unread: pl.DataFrame, targets: pl.DataFrame) -> pl.DataFrame:
    """The rows (UNREAD_ROWS) with `nth`, `sku` ("" for none) and the `notice` that each is about.

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
    found = grouped.join(pl.concat([fitting, any_of_them]), on="group", how="left", maintain_order="left")
    return found.select("nth", "sku", "spot", "invoice_number", "notice")


def with_unread(lines: pl.DataFrame, unread: pl.DataFrame) -> pl.DataFrame:
    """The lines (`notice`, `sku`) with what could not be read, in words, null for nothing.

    `unread_own`: rows of its invoice that name its SKU or none. `unread_near`: rows that name its SKU and no invoice.
    `unread_any`: rows that name neither.
    """
    ours, nowhere = unread.filter(pl.col("notice").is_not_null()), without_invoice(unread)
    named = pl.col("sku") != ""
    places = lines.select("notice", "sku")
    by_line = [
        places.join(ours.filter(named), on=["notice", "sku"]),
        places.join(ours.filter(~named).drop("sku"), on="notice"),
    ]
    own = _told(pl.concat(by_line, how="diagonal"), "notice", "sku").rename({"words": "unread_own"})
    near = _told(nowhere.filter(named), "sku").rename({"words": "unread_near"})
    anywhere = nowhere.filter(~named)["spot"].unique(maintain_order=True)
    more = f"; and {len(anywhere) - _NAMED} more" if len(anywhere) > _NAMED else ""
    told = lines.join(own, on=["notice", "sku"], how="left", maintain_order="left")
    return told.join(near, on="sku", how="left", maintain_order="left").with_columns(
        pl.lit("; ".join(anywhere.head(_NAMED)) + more or None, pl.String).alias("unread_any")
    )


def without_invoice(unread: pl.DataFrame) -> pl.DataFrame:
    """The rows that name no invoice."""
    return unread.filter(pl.col("notice").is_null() & (pl.col("invoice_number").fill_null("").str.strip_chars() == ""))


def _told(rows: pl.DataFrame, *keys: str) -> pl.DataFrame:
    """The places of the rows by key, each once, in `words`."""
    each = rows.unique([*keys, "spot"], maintain_order=True).group_by(*keys, maintain_order=True)
    more = pl.when(pl.len() > _NAMED).then(pl.format("; and {} more", pl.len() - _NAMED)).otherwise(pl.lit(""))
    return each.agg(pl.concat_str(pl.col("spot").head(_NAMED).str.join("; "), more).first().alias("words"))
