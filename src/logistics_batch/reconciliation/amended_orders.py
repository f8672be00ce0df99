"""Purchase orders that stand in several files: an order is exported anew when it is amended."""

import polars as pl

from logistics_batch.reconciliation.legs import identifier, order_number

_KEYS = ["order", "sku"]


def as_last_listed(ordered: pl.DataFrame) -> tuple[pl.DataFrame, int]:
    """The order lines (ORDERED_LINES, files the earliest first) as the latest file with an order's SKU has them.

    Also how many lines of earlier files that leaves out; `repeats` names them. A later file that names the order
    without the SKU stands in `absent_from`: whether that cancels the line, or only adds others, it does not say.
    """
    lists = ordered.select("file_name").unique(maintain_order=True).with_row_index("list")
    number, invoice = order_number("po_number"), identifier("invoice_number")
    lines = (
        ordered.with_row_index("line")
        .join(lists, on="file_name", how="left", nulls_equal=True, maintain_order="left")
        .with_columns(
            pl.when(number != "").then("po:" + number).when(invoice != "").then("invoice:" + invoice).alias("order"),
            identifier("sku_name").alias("sku"),
            pl.format("{} row {}", pl.col("file_name").fill_null(""), "row").alias("place"),
        )
        .with_columns(
            pl.when(pl.col("order").is_not_null()).then(pl.col("list").max().over(_KEYS)).alias("last_list"),
            pl.when(pl.col("order").is_not_null()).then(pl.col("list").max().over("order")).alias("order_list"),
        )
    )
    is_last = (pl.col("list") == pl.col("last_list")).fill_null(True)
    replaced = lines.filter(~is_last).group_by(_KEYS).agg(pl.col("place").sort_by("line").str.join("; ").alias("said"))
    names = lists.rename({"list": "order_list", "file_name": "order_file"})
    kept = (
        lines.filter(is_last)
        .join(replaced, on=_KEYS, how="left", maintain_order="left")
        .join(names, on="order_list", how="left", maintain_order="left")
        .with_columns(
            pl.col("said").fill_null("").alias("repeats"),
            pl.when(pl.col("list") < pl.col("order_list")).then("order_file").fill_null("").alias("absent_from"),
        )
    )
    return kept.sort("line").select(ordered.columns), lines.height - kept.height
