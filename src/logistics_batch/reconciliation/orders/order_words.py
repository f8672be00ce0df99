"""What is said of an order line: the way of the goods from the order to the dock, and what is wrong with it."""

import polars as pl

from logistics_batch.model.reconciliation import ComparedOutcome, Discrepancy
from logistics_batch.reconciliation.classes.rules import Rules
from logistics_batch.reconciliation.sentences import (
    all_that_hold,
    first_that_holds,
    grounds_of,
    is_given,
    plain,
    sentence,
    verdict_is,
)

_D = Discrepancy
_WORDS: dict[Discrepancy | ComparedOutcome, str] = {
    _D.EXTRA_SKU: "Announced {qty_announced}; the order does not hold the SKU.",
    _D.MISSING_SKU: "Ordered {ordered}, due {due_date:day}; none of it announced, though other SKUs of the order were.",
    _D.NO_ASN: "Ordered {ordered}, due {due_date:day}; no accepted ASN of the order.",
    _D.SHORT: "Ordered {ordered}, announced {qty_announced}: {qty_delta:size} fewer.",
    _D.OVER: "Ordered {qty_ordered}, announced {qty_announced}: {qty_delta:size} more.",
    _D.PRICE_VAR: "Ordered at INR {price_ordered} a unit, announced at INR {price_announced}.",
    _D.HEADER_DIFF: "Ordered from {supplier} for {site}, but announced by or for {strangers:known}.",
    ComparedOutcome.TOO_EARLY: "Ordered {qty_ordered}, announced {so_far} so far; due {due_date:day}, judged from "
    "{until} on.",
    ComparedOutcome.WITHIN_TOLERANCE: "Differs from the order by {qty_delta} units and INR {price_delta} a unit, which "
    "is tolerated.",
}
_UNDATED = (
    "Ordered {qty_ordered}, announced {qty_announced}; without a delivery date nobody can say whether more is due."
)
_MIXED = (
    "The prices of its lines are not the same, and which line is which cannot be told: ordered {mix_ordered:known}; "
    "announced {announced}."
)
_PERHAPS_CANCELLED = (
    "Ordered {qty_ordered}, announced {qty_announced}; the later list {absent_from:known} names the order without this "
    "SKU, and does not say whether it is cancelled."
)
_SHARED = (
    "Ordered {qty_ordered}, announced {qty_announced}; but {shared:known}, and which pieces are for which order cannot "
    "be told."
)


def with_order_words(judged: pl.DataFrame, *, rules: Rules) -> pl.DataFrame:
    """The order lines (with facts and verdict) with `reason` and `grounds`."""
    part = pl.when(pl.col("qty_due_part") < pl.col("qty_ordered")).then(sentence(" ({qty_due_part} of it due by now)"))
    until = (pl.col("due_date") + pl.duration(days=rules.grace_days + 1)).dt.to_string("%Y-%m-%d").fill_null("?")
    so_far = pl.col("qty_announced").fill_null(0).cast(pl.String).str.strip_chars_end("0").str.strip_chars_end(".")
    values = {
        "ordered": pl.concat_str(plain("qty_ordered"), part.otherwise(pl.lit(""))),
        "so_far": so_far,
        "until": until,
        **{name: pl.col(name).fill_null("?") for name in ("supplier", "site")},
    }
    doubts = _doubts()
    unclear = pl.coalesce(first_that_holds(doubts.values()), sentence(_UNDATED))
    words = [(verdict_is(word), sentence(template, **values)) for word, template in _WORDS.items()]
    told = first_that_holds([(verdict_is(_D.UNVERIFIABLE), unclear), *words])
    number = pl.when(told.is_not_null() & pl.col("by_number")).then(sentence("Order {po_number:known}: "))
    cause = pl.coalesce(first_that_holds((holds, name) for name, (holds, _) in doubts.items()), pl.lit("no date"))
    mixes = pl.format("{} / {}", "mix_ordered", pl.col("mix_announced").fill_null(""))
    grounds = grounds_of(
        cause=cause,
        ordered=plain("qty_ordered"),
        announced=plain("qty_announced"),
        prices=pl.when(cause == "prices").then(mixes),
    )
    return judged.with_columns(
        pl.concat_str(number.otherwise(pl.lit("")), told.fill_null(""), _besides()).alias("reason"),
        pl.when(verdict_is(_D.UNVERIFIABLE)).then(grounds).alias("grounds"),
    )


def _doubts() -> dict[str, tuple[pl.Expr, pl.Expr | str]]:
    """Why nothing can be said of an order line, the first that holds: condition and sentence by name."""
    return {
        "no order": (pl.col("link") == "", "The order line names neither a purchase order nor an invoice."),
        "no SKU": (pl.col("sku") == "", "The order line names no SKU."),
        "quantity": (
            pl.col("unreadable_ordered") + pl.col("unreadable_announced") > 0,
            "A quantity is absent or no plain number, so nothing can be compared.",
        ),
        "prices": (pl.col("mixed"), sentence(_MIXED, announced=pl.col("mix_announced").fill_null("without a price"))),
        "perhaps cancelled": (pl.col("perhaps_cancelled"), sentence(_PERHAPS_CANCELLED)),
        "shared": (pl.col("due_date").is_not_null() & pl.col("shared").is_not_null(), sentence(_SHARED)),
    }


def _besides() -> pl.Expr:
    """The ASNs, what became of the goods after them, and what else is wrong."""
    there = is_given("invoices")
    price = ~pl.col("price_near") & ~verdict_is(_D.PRICE_VAR)
    parts = [
        (there, " On ASN {invoices:known}"),
        (there & pl.col("qty_returned").is_not_null(), "; in the service {qty_returned}"),
        (there & pl.col("qty_received").is_not_null(), "; received {qty_received}"),
        (there, "."),
        (
            pl.col("qty_not_accepted").fill_null(0) > 0,
            " {qty_not_accepted} more stand in files, but were not accepted.",
        ),
        (price, " Also ordered at INR {price_ordered} a unit, announced at INR {price_announced}."),
        (
            is_given("strangers") & ~verdict_is(_D.HEADER_DIFF),
            " Announced by or for others than ordered: {strangers:known}.",
        ),
        (is_given("repeats"), " Stands in the place of earlier lists: {repeats:known}."),
    ]
    return all_that_hold((verdict_is(*_D) & condition, sentence(words)) for condition, words in parts)
