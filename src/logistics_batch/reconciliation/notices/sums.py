"""Sums of a notice as a whole: its total price and its tax, on both sides and against its lines."""

import polars as pl

from logistics_batch.model.reconciliation import PRICE, Discrepancy
from logistics_batch.reconciliation.classes.rules import Rules, near_amount
from logistics_batch.reconciliation.legs.reading import price
from logistics_batch.reconciliation.notices.headers import accepted_pairs
from logistics_batch.reconciliation.sentences import first_that_holds, sentence

_A_TOTAL, _R_TOTAL, _A_SUM, _R_SUM = "a_total", "r_total", "a_sum", "r_sum"
_TAXES = ("tax_announced", "tax_returned")


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
    names = {"a_total_price": _A_TOTAL, "r_total_price": _R_TOTAL, "a_tax": _TAXES[0], "r_tax": _TAXES[1]}
    known = accepted_pairs(whole).with_columns(price(field).alias(name) for field, name in names.items())
    for lines, name in ((announced, _A_SUM), (returned, _R_SUM)):
        known = known.join(_sums(lines, name), on="notice", how="left", maintain_order="left")
    words = {"total_words": _total_words(rules), "tax_words": _tax_words(rules)}
    told = known.with_columns(**words)
    has_total, has_tax = (pl.col(name).is_not_null() for name in words)
    near_totals = _near(_A_TOTAL, _R_TOTAL, rules)
    total_delta = pl.col(_R_TOTAL) - pl.when(near_totals).then(_R_SUM).otherwise(_A_TOTAL)
    tax_delta = pl.col("tax_returned") - pl.col("tax_announced")
    unexplained = pl.when(near_totals).then(total_delta).otherwise(total_delta - _by_lines())
    of_total = has_total & ((unexplained.abs() >= tax_delta.abs()) | ~has_tax)
    both = has_total & has_tax
    total, tax = (pl.lit(code.value) for code in (Discrepancy.TOTAL_MISMATCH, Discrepancy.TAX_VAR))
    first, other = (pl.when(of_total).then(one).otherwise(two) for one, two in (tuple(words), tuple(words)[::-1]))
    within = pl.concat_str(other.str.slice(0, 1).str.to_lowercase(), other.str.slice(1))
    return told.filter(has_total | has_tax).with_columns(
        pl.when(of_total).then(total).otherwise(tax).alias("verdict"),
        pl.when(both & of_total).then(tax).when(both).then(total).alias("also"),
        pl.when(both).then(pl.format("{} Also {}", first, within)).otherwise(first).alias("reason"),
        pl.when(of_total).then(total_delta).otherwise(tax_delta).alias("price_delta"),
        pl.when(of_total).then(unexplained).otherwise(tax_delta).abs().alias("at_stake"),
    )


def _by_lines() -> pl.Expr:
    """By how much the lines make the total differ, which they tell themselves."""
    return (pl.col(_R_SUM) - pl.col(_A_SUM)).fill_null(pl.lit(0, PRICE))


def _sums(lines: pl.DataFrame, name: str) -> pl.DataFrame:
    worth = pl.col("units") * pl.col("unit_price")
    known = (pl.col("units").null_count() == 0) & (pl.col("unit_price").null_count() == 0)
    return lines.group_by("notice").agg(pl.when(known).then(worth.sum()).cast(PRICE).alias(name))


def _near(left: str, right: str, rules: Rules, *, beside: pl.Expr | None = None) -> pl.Expr:
    """Alike within the tolerance, but for what stands beside, or one of both is not known."""
    delta = pl.col(right) - pl.col(left)
    limit = rules.limit(Discrepancy.TOTAL_MISMATCH)
    near = near_amount(delta if beside is None else delta - beside, of=pl.col(left), limit=limit)
    return near.fill_null(True)


def _total_words(rules: Rules) -> pl.Expr:
    not_alike = ~_near(_A_TOTAL, _R_TOTAL, rules)
    other_lines = (pl.col(_A_SUM) != pl.col(_R_SUM)).fill_null(False)
    with_charges = _near(_A_TOTAL, _R_TOTAL, rules, beside=_by_lines())
    explained = (_near(_R_SUM, _R_TOTAL, rules) | with_charges) & other_lines
    money = {name: _money(name) for name in (_A_TOTAL, _R_TOTAL, _A_SUM, _R_SUM)}
    sums = sentence(" Of the lines it is INR {a_sum} and INR {r_sum}.", **money)
    tied_out = _near(_A_SUM, _A_TOTAL, rules) & (pl.col(_A_SUM) == pl.col(_R_SUM)).fill_null(True)
    not_the_sum = ~_near(_R_SUM, _R_TOTAL, rules) & tied_out
    differ = "Sent with a total of INR {a_total}, the service has INR {r_total}.{sums}"
    no_sum = "The service's total is INR {r_total}, but quantity times price of its lines is INR {r_sum}."
    return first_that_holds(
        [
            (
                not_alike & ~explained,
                sentence(differ, sums=pl.when(other_lines).then(sums).otherwise(pl.lit("")), **money),
            ),
            (not_the_sum & ~not_alike, sentence(no_sum, **money)),
        ]
    )


def _tax_words(rules: Rules) -> pl.Expr:
    delta = pl.col("tax_returned") - pl.col("tax_announced")
    near = near_amount(delta, of=pl.col("tax_announced"), limit=rules.limit(Discrepancy.TAX_VAR)).fill_null(True)
    words = "Announced with INR {tax_announced} of tax, the service has INR {tax_returned}."
    return pl.when(~near).then(sentence(words, **{name: _money(name) for name in _TAXES}))


def _money(column: str) -> pl.Expr:
    return pl.col(column).round(2).cast(pl.Decimal(38, 2)).cast(pl.String)
