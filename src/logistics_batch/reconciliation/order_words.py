"""What is said of an order line: the way of the goods from the order to the dock, and what is wrong with it."""

import polars as pl

from logistics_batch.model.reconciliation import ComparedOutcome, Discrepancy
from logistics_batch.reconciliation.classes import Rules
from logistics_batch.reconciliation.doubt_words import plain
from logistics_batch.reconciliation.grounds import first_cause, grounds_of

_D = Discrepancy


def order_reason(*, rules: Rules) -> pl.Expr:
    """The sentence for an order line with facts and verdict."""
    size = plain("qty_delta").str.strip_prefix("-")
    due = pl.col("due_date").dt.to_string("%Y-%m-%d").fill_null("not known")
    ordered = pl.concat_str(
        plain("qty_ordered"),
        pl.when(pl.col("qty_due_part") < pl.col("qty_ordered"))
        .then(pl.format(" ({} of it due by now)", plain("qty_due_part")))
        .otherwise(pl.lit("")),
    )
    words = {
        _D.UNVERIFIABLE: _cannot_tell(),
        _D.EXTRA_SKU: pl.format("Announced {}; the order does not hold the SKU.", plain("qty_announced")),
        _D.MISSING_SKU: pl.format(
            "Ordered {}, due {}; none of it announced, though other SKUs of the order were.", ordered, due
        ),
        _D.NO_ASN: pl.format("Ordered {}, due {}; no accepted ASN of the order.", ordered, due),
        _D.SHORT: pl.format("Ordered {}, announced {}: {} fewer.", ordered, plain("qty_announced"), size),
        _D.OVER: pl.format("Ordered {}, announced {}: {} more.", plain("qty_ordered"), plain("qty_announced"), size),
        _D.PRICE_VAR: pl.format(
            "Ordered at INR {} a unit, announced at INR {}.", plain("price_ordered"), plain("price_announced")
        ),
        _D.HEADER_DIFF: pl.format(
            "Ordered from {} for {}, but announced by or for {}.",
            pl.col("supplier").fill_null("?"),
            pl.col("site").fill_null("?"),
            "strangers",
        ),
        ComparedOutcome.TOO_EARLY: pl.format(
            "Ordered {}, announced {} so far; due {}, judged from {} on.",
            plain("qty_ordered"),
            pl.col("qty_announced").fill_null(0).cast(pl.String).str.strip_chars_end("0").str.strip_chars_end("."),
            due,
            (pl.col("due_date") + pl.duration(days=rules.grace_days + 1)).dt.to_string("%Y-%m-%d").fill_null("?"),
        ),
        ComparedOutcome.WITHIN_TOLERANCE: pl.format(
            "Differs from the order by {} units and INR {} a unit, which is tolerated.",
            plain("qty_delta"),
            plain("price_delta"),
        ),
    }
    sentences = [pl.when(pl.col("verdict") == word.value).then(sentence) for word, sentence in words.items()]
    said = pl.coalesce(*sentences)
    named = said.is_not_null() & pl.col("by_number")
    number = pl.when(named).then(pl.format("Order {}: ", pl.col("po_number"))).otherwise(pl.lit(""))
    return pl.concat_str(number, said.fill_null(""), _besides())


def order_doubts() -> dict[str, tuple[pl.Expr, pl.Expr]]:
    """Why nothing can be said of an order line, the first that holds: condition and sentence by name."""
    return {
        "no order": (pl.col("link") == "", pl.lit("The order line names neither a purchase order nor an invoice.")),
        "no SKU": (pl.col("sku") == "", pl.lit("The order line names no SKU.")),
        "quantity": (
            pl.col("unreadable_ordered") + pl.col("unreadable_announced") > 0,
            pl.lit("A quantity is absent or no plain number, so nothing can be compared."),
        ),
        "prices": (
            pl.col("mixed"),
            pl.format(
                "The prices of its lines are not the same, and which line is which cannot be told: ordered {}; "
                "announced {}.",
                "mix_ordered",
                pl.col("mix_announced").fill_null("without a price"),
            ),
        ),
        "perhaps cancelled": (
            pl.col("perhaps_cancelled"),
            pl.format(
                "Ordered {}, announced {}; the later list {} names the order without this SKU, and does not say "
                "whether it is cancelled.",
                plain("qty_ordered"),
                plain("qty_announced"),
                "absent_from",
            ),
        ),
        "shared": (
            pl.col("due_date").is_not_null() & pl.col("shared").is_not_null(),
            pl.format(
                "Ordered {}, announced {}; but {}, and which pieces are for which order cannot be told.",
                plain("qty_ordered"),
                plain("qty_announced"),
                "shared",
            ),
        ),
    }


def order_grounds() -> pl.Expr:
    """On what an order line stands of which nothing can be said; see `grounds_of`."""
    cause = first_cause(order_doubts(), "no date")
    grounds = grounds_of(
        cause=cause,
        ordered=plain("qty_ordered"),
        announced=plain("qty_announced"),
        prices=pl.when(cause == "prices").then(
            pl.format("{} / {}", "mix_ordered", pl.col("mix_announced").fill_null(""))
        ),
    )
    return pl.when(pl.col("verdict") == _D.UNVERIFIABLE.value).then(grounds)


def _cannot_tell() -> pl.Expr:
    undated = pl.format(
        "Ordered {}, announced {}; without a delivery date nobody can say whether more is due.",
        plain("qty_ordered"),
        plain("qty_announced"),
    )
    return pl.coalesce(*(pl.when(cause).then(words) for cause, words in order_doubts().values()), undated)


def _besides() -> pl.Expr:
    """The ASNs, what became of the goods after them, and what else is wrong."""
    excepted = pl.col("verdict").is_in([code.value for code in _D])
    there = pl.col("invoices").fill_null("") != ""
    parts = [
        (there, pl.format(" On ASN {}", pl.col("invoices"))),
        (there & pl.col("qty_returned").is_not_null(), pl.format("; in the service {}", plain("qty_returned"))),
        (there & pl.col("qty_received").is_not_null(), pl.format("; received {}", plain("qty_received"))),
        (there, pl.lit(".")),
        (
            pl.col("qty_not_accepted").fill_null(0) > 0,
            pl.format(" {} more stand in files, but were not accepted.", plain("qty_not_accepted")),
        ),
        (
            ~pl.col("price_near") & (pl.col("verdict") != _D.PRICE_VAR.value),
            pl.format(
                " Also ordered at INR {} a unit, announced at INR {}.", plain("price_ordered"), plain("price_announced")
            ),
        ),
    ]
    parts += [
        (
            (pl.col("strangers") != "") & (pl.col("verdict") != _D.HEADER_DIFF.value),
            pl.format(" Announced by or for others than ordered: {}.", "strangers"),
        ),
        (
            pl.col("repeats").fill_null("") != "",
            pl.format(" Stands in the place of earlier lists: {}.", "repeats"),
        ),
    ]
    said = (pl.when(excepted & condition).then(words) for condition, words in parts)
    return pl.concat_str(*said, ignore_nulls=True)
