"""Sums of a notice as a whole: its total price and its tax, on both sides and against its lines."""

import polars as pl

from logistics_batch.model.reconciliation import PRICE, Discrepancy
from logistics_batch.reconciliation.classes import Rules
from logistics_batch.reconciliation.faces import accepted_pairs
from logistics_batch.reconciliation.legs import price
from logistics_batch.reconciliation.tolerance import near_amount

_A_TOTAL, _R_TOTAL, _A_SUM, _R_SUM = "a_total", "r_total", "a_sum", "r_sum"


def differing_sums(
    whole: pl.DataFrame, *, announced: pl.DataFrame, returned: pl.DataFrame, rules: Rules
) -> pl.DataFrame:
    """Accepted pairs whose total or tax differs.

    Adds `verdict`, `also`, `reason`, `price_delta`, `at_stake` (INR), `tax_announced` and `tax_returned` to the
    notices. announced, returned: the lines under their match. A total is held against the lines only where that of the
    file tied out or was not given, and where the lines of both sides agree: otherwise the lines tell the difference
    themselves. Of a total only what the lines do not explain is at stake. Where total and tax differ, the dearer is the
    class and the other one stands beside it; their INR are not added up, since a total may contain the tax.
    """
    known = accepted_pairs(whole).with_columns(
        price("a_total_price").alias(_A_TOTAL),
        price("r_total_price").alias(_R_TOTAL),
        price("a_tax").alias("tax_announced"),
        price("r_tax").alias("tax_returned"),
    )
    for lines, name in ((announced, _A_SUM), (returned, _R_SUM)):
        known = known.join(_sums(lines, name), on="notice", how="left", maintain_order="left")
    told = known.with_columns(_total_words(rules).alias("total_words"), _tax_words(rules).alias("tax_words"))
    found = told.filter(pl.col("total_words").is_not_null() | pl.col("tax_words").is_not_null())
    total_delta = pl.col(_R_TOTAL) - pl.when(_near(_A_TOTAL, _R_TOTAL, rules)).then(_R_SUM).otherwise(_A_TOTAL)
    tax_delta = pl.col("tax_returned") - pl.col("tax_announced")
    unexplained = pl.when(_near(_A_TOTAL, _R_TOTAL, rules)).then(total_delta).otherwise(total_delta - _by_lines())
    dearer = (unexplained.abs() >= tax_delta.abs()) | pl.col("tax_words").is_null()
    of_total = pl.col("total_words").is_not_null() & dearer
    both = pl.col("total_words").is_not_null() & pl.col("tax_words").is_not_null()
    total, tax = (pl.lit(code.value) for code in (Discrepancy.TOTAL_MISMATCH, Discrepancy.TAX_VAR))
    words = pl.when(of_total).then("total_words").otherwise("tax_words")
    beside = pl.when(of_total).then("tax_words").otherwise("total_words")
    return found.with_columns(
        pl.when(of_total).then(total).otherwise(tax).alias("verdict"),
        pl.when(both & of_total).then(tax).when(both).then(total).alias("also"),
        pl.when(both).then(pl.format("{} Also {}", words, _within_a_sentence(beside))).otherwise(words).alias("reason"),
        pl.when(of_total).then(total_delta).otherwise(tax_delta).alias("price_delta"),
        pl.when(of_total).then(unexplained).otherwise(tax_delta).abs().alias("at_stake"),
    )


def _by_lines() -> pl.Expr:
    """By how much the lines make the total differ, which they tell themselves."""
    return (pl.col(_R_SUM) - pl.col(_A_SUM)).fill_null(pl.lit(0, PRICE))


def _within_a_sentence(words: pl.Expr) -> pl.Expr:
    return pl.concat_str(words.str.slice(0, 1).str.to_lowercase(), words.str.slice(1))


def _sums(lines: pl.DataFrame, name: str) -> pl.DataFrame:
    worth = pl.col("units") * pl.col("unit_price")
    known = (pl.col("units").null_count() == 0) & (pl.col("unit_price").null_count() == 0)
    return lines.group_by("notice").agg(pl.when(known).then(worth.sum()).cast(PRICE).alias(name))


def _near(left: str, right: str, rules: Rules) -> pl.Expr:
    """Alike within the tolerance, or one of both is not known."""
    limit = rules.limit(Discrepancy.TOTAL_MISMATCH)
    return near_amount(pl.col(right) - pl.col(left), of=pl.col(left), limit=limit).fill_null(True)


def _total_words(rules: Rules) -> pl.Expr:
    not_alike = ~_near(_A_TOTAL, _R_TOTAL, rules)
    other_lines = (pl.col(_A_SUM) != pl.col(_R_SUM)).fill_null(False)
    with_charges = near_amount(
        pl.col(_R_TOTAL) - pl.col(_A_TOTAL) - _by_lines(),
        of=pl.col(_A_TOTAL),
        limit=rules.limit(Discrepancy.TOTAL_MISMATCH),
    )
    explained = (_near(_R_SUM, _R_TOTAL, rules) | with_charges) & other_lines
    sums = pl.format(" Of the lines it is INR {} and INR {}.", _money(_A_SUM), _money(_R_SUM))
    tied_out = _near(_A_SUM, _A_TOTAL, rules) & (pl.col(_A_SUM) == pl.col(_R_SUM)).fill_null(True)
    not_the_sum = ~_near(_R_SUM, _R_TOTAL, rules) & tied_out
    return (
        pl.when(not_alike & ~explained)
        .then(
            pl.format(
                "Sent with a total of INR {}, the service has INR {}.{}",
                _money(_A_TOTAL),
                _money(_R_TOTAL),
                pl.when(other_lines).then(sums).otherwise(pl.lit("")),
            )
        )
        .when(not_the_sum & ~not_alike)
        .then(
            pl.format(
                "The service's total is INR {}, but quantity times price of its lines is INR {}.",
                _money(_R_TOTAL),
                _money(_R_SUM),
            )
        )
    )


def _tax_words(rules: Rules) -> pl.Expr:
    limit = rules.limit(Discrepancy.TAX_VAR)
    delta = pl.col("tax_returned") - pl.col("tax_announced")
    near = near_amount(delta, of=pl.col("tax_announced"), limit=limit).fill_null(True)
    words = pl.format(
        "Announced with INR {} of tax, the service has INR {}.", _money("tax_announced"), _money("tax_returned")
    )
    return pl.when(~near).then(words)


def _money(column: str) -> pl.Expr:
    return pl.col(column).round(2).cast(pl.Decimal(38, 2)).cast(pl.String)
