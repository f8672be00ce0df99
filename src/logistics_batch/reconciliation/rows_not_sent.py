"""Rows that never became an ASN, and the goods that came on their invoices: each line points to the other."""

import polars as pl

from logistics_batch.model.reconciliation import Discrepancy, ExceptionLevel
from logistics_batch.reconciliation.legs import identifier


def with_rows_not_sent(lines: pl.DataFrame) -> pl.DataFrame:
    """The lines with, in the reason, the row that was not sent where goods have no ASN, and the other way round.

    Needs `code`, `level`, `invoice_number`, `qty_received`, `file_name`, `rows` and `reason`.
    """
    invoice = identifier("invoice_number").alias("invoice")
    numbered = lines.with_columns(invoice)
    named = numbered.filter(pl.col("invoice") != "")
    unsent = named.filter(
        (pl.col("code") == Discrepancy.NOT_SENT.value) & (pl.col("level") == ExceptionLevel.ROW.value)
    )
    came = named.filter(pl.col("code") == Discrepancy.NO_ASN.value)
    if not unsent.height or not came.height:
        return lines
    row = pl.format(" {} row {} announced this invoice and was not sent.", "file_name", "rows")
    rows = unsent.group_by("invoice", maintain_order=True).agg(row.first().alias("announced_by"))
    units = pl.col("qty_received").sum().cast(pl.String).str.strip_chars_end("0").str.strip_chars_end(".")
    goods = came.group_by("invoice").agg(pl.format(" {} units came on this invoice.", units).alias("came"))
    told = numbered.join(rows, on="invoice", how="left", maintain_order="left").join(
        goods, on="invoice", how="left", maintain_order="left"
    )
    is_row = (pl.col("code") == Discrepancy.NOT_SENT.value) & (pl.col("level") == ExceptionLevel.ROW.value)
    more = (
        pl.when(pl.col("code") == Discrepancy.NO_ASN.value).then("announced_by").when(is_row).then("came").fill_null("")
    )
    return told.with_columns(pl.concat_str("reason", more).alias("reason")).select(lines.columns)
