"""Findings that are not about one SKU: about a notice as a whole, or about a row that never became part of one."""

import polars as pl

from logistics_batch.model.reconciliation import MONEY, QUANTITY, Discrepancy, ExceptionLevel
from logistics_batch.reconciliation.classes import Rules
from logistics_batch.reconciliation.faces import accepted_pairs, header_differences
from logistics_batch.reconciliation.grounds import grounds_of
from logistics_batch.reconciliation.legs import day, price, quantity
from logistics_batch.reconciliation.notice_sums import differing_sums
from logistics_batch.reconciliation.reasons import which_is_which
from logistics_batch.reconciliation.sides import Sides
from logistics_batch.reconciliation.statuses import status_class, status_reason

_NOTICE = {
    "supplier_shown": "supplier",
    "site_shown": "site",
    "batch_shown": "batch",
}


def surplus_notices(whole: pl.DataFrame, returned: pl.DataFrame) -> pl.DataFrame:
    """DUPLICATE_ASN: the service's notices that repeat another one.

    Where no announced notice is paired with it, the finding carries the lines and quantities of the surplus notice.
    """
    again = whole.filter(pl.col("duplicate"))
    sums = _sums(returned)
    unpaired = pl.col("announced").is_null()
    found = again.join(sums, on="notice", how="left", maintain_order="left")
    carried = [pl.when(unpaired).then(name).alias(name) for name in ("qty_returned", "lines_returned", "impact_inr")]
    status = pl.when(pl.col("status").fill_null("") != "").then(pl.format(', status "{}"', pl.col("status")))
    words = pl.format(
        "The service holds another ASN for this invoice, supplier and site: id {}{}.",
        pl.col("record_id").fill_null(""),
        status.otherwise(pl.lit("")),
    )
    found = found.with_columns(*carried, grounds_of(id="record_id", status="status").alias("grounds"))
    return _as_notice_lines(found, code=Discrepancy.DUPLICATE_ASN, reason=words)


def notices_without_lines(whole: pl.DataFrame) -> pl.DataFrame:
    """UNEXPECTED_IN_SERVICE: notices of the service that nobody announced and that have no lines to show it at.

    UNVERIFIABLE where one may be what was announced, and names no supplier and site to tell.
    """
    empty = whole.filter(
        pl.col("announced").is_null()
        & pl.col("returned").is_not_null()
        & (pl.col("returned_lines") == 0)
        & ~pl.col("duplicate")
    ).with_columns(grounds_of(id="record_id", possible="possible").alias("grounds"))
    said = pl.format("The service returns ASN {} without SKU lines; ", pl.col("record_id").fill_null(""))
    unclear = pl.col("possible").is_not_null()
    parts = [
        (~unclear, Discrepancy.UNEXPECTED_IN_SERVICE, pl.concat_str(said, pl.lit("no file of ours announced it."))),
        (unclear, Discrepancy.UNVERIFIABLE, pl.concat_str(said, which_is_which())),
    ]
    return pl.concat([_as_notice_lines(empty.filter(one), code=code, reason=words) for one, code, words in parts])


def changed_headers(whole: pl.DataFrame) -> pl.DataFrame:
    """HEADER_DIFF: once a notice, whatever the number of its lines."""
    differences = header_differences(whole)
    found = whole.join(differences, on="notice", maintain_order="left")
    return _as_notice_lines(found, code=Discrepancy.HEADER_DIFF, reason=pl.col("reason"))


def odd_statuses(whole: pl.DataFrame, received: pl.DataFrame | None, *, rules: Rules) -> pl.DataFrame:
    """STATUS_REGRESSION, OVERDUE, STALE_STATUS: at most one a notice."""
    came = whole.select("notice").head(0) if received is None else received.select("notice").unique()
    anything = pl.col("notice").is_in(came["notice"].implode()) | pl.col("settled_received").fill_null(False)
    seen = accepted_pairs(whole).with_columns(anything.alias("received"))
    days = {code: rules.limit(code).days or 0 for code in (Discrepancy.OVERDUE, Discrepancy.STALE_STATUS)}
    judged = status_class(business_date=rules.business_date, days=days, receipts=received is not None)
    found = seen.with_columns(judged.alias("verdict")).filter(pl.col("verdict").is_not_null())
    stale = pl.col("verdict") == Discrepancy.STALE_STATUS.value
    moved = pl.when(stale).then(pl.col("modified_at").str.slice(0, 10))
    grounds = grounds_of(status="status", seen="furthest_status", due="due_date", moved=moved)
    return _told(found.with_columns(status_reason().alias("reason"), grounds.alias("grounds")), identity="ASN STATUS")


def differing_amounts(sides: Sides, *, rules: Rules) -> pl.DataFrame:
    """TOTAL_MISMATCH, TAX_VAR: at most one a notice."""
    found = differing_sums(sides.whole, announced=sides.announced, returned=sides.returned, rules=rules)
    worth = pl.col("at_stake").round(2, mode="half_away_from_zero").cast(MONEY)
    totals = {"total": "a_total_price", "total_in_service": "r_total_price"}
    grounds = grounds_of(**totals, tax="tax_announced", tax_in_service="tax_returned")
    return _told(found.with_columns(worth.alias("impact_inr"), grounds.alias("grounds")), identity="ASN AMOUNT")


def unsent_rows(rows: pl.DataFrame) -> pl.DataFrame:
    """NOT_SENT: rows of files that are part of no document, so that only the row can be named."""
    words = pl.format("{}: {}", "fate", pl.col("why").fill_null(""))
    worth = (quantity() * price()).round(2, mode="half_away_from_zero").cast(MONEY)
    return rows.select(
        pl.lit(Discrepancy.NOT_SENT.value).alias("verdict"),
        pl.lit(ExceptionLevel.ROW.value).alias("level"),
        pl.lit(True).alias("in_window"),
        pl.col("invoice_number").fill_null(""),
        *(pl.col(name).fill_null("") for name in ("supplier", "site")),
        "file_name",
        "sheet",
        pl.col("row").cast(pl.String).alias("rows"),
        "run",
        words.alias("reason"),
        pl.coalesce("fault", words).alias("grounds"),
        pl.col("sku_name").fill_null(""),
        quantity().alias("qty_affected"),
        quantity().neg().alias("qty_delta"),
        price().alias("price_announced"),
        worth.alias("impact_inr"),
        pl.when(worth.is_not_null()).then(pl.format("NOT_SENT {}", worth)).fill_null("").alias("impact_by_class"),
        day("delivery_date").alias("due_date"),
        pl.lit(1, pl.UInt32).alias("lines_announced"),
        pl.concat_str(pl.lit("row "), "file_name", pl.lit(" "), "sheet", pl.lit(" "), pl.col("row")).alias("identity"),
    )


def _sums(returned: pl.DataFrame) -> pl.DataFrame:
    worth = (pl.col("units") * pl.col("unit_price")).round(2, mode="half_away_from_zero").sum().cast(MONEY)
    return returned.group_by("notice").agg(
        pl.col("units").sum().cast(QUANTITY).alias("qty_returned"),
        pl.len().cast(pl.UInt32).alias("lines_returned"),
        pl.when(pl.col("unit_price").null_count() == 0).then(worth).alias("impact_inr"),
    )


def _as_notice_lines(found: pl.DataFrame, *, code: Discrepancy, reason: pl.Expr) -> pl.DataFrame:
    named = found.with_columns(pl.lit(code.value).alias("verdict"), reason.alias("reason"))
    told = _told(named, identity=f"ASN {code.value}")
    if "qty_returned" in told.columns:
        return told.with_columns(pl.col("qty_returned").alias("qty_affected"))
    return told


def _told(found: pl.DataFrame, *, identity: str) -> pl.DataFrame:
    """Findings with `verdict` and `reason` as lines that stand for a notice."""
    return found.with_columns(
        pl.lit(ExceptionLevel.NOTICE.value).alias("level"), pl.lit(identity).alias("identity")
    ).rename(_NOTICE)
