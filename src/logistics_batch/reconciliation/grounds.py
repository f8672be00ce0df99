"""On what an exception stands where its numbers do not tell: codes, dates, names and counts, never words of a reason.

An acceptance holds while these are the same, so a reason may be worded anew.
"""

from collections.abc import Mapping

import polars as pl

from logistics_batch.model.reconciliation import Discrepancy
from logistics_batch.reconciliation.doubt_words import plain

_D = Discrepancy


def grounds_of(**facts: str | pl.Expr) -> pl.Expr:
    """Facts by name, as far as there are any: "received 2026-11-03, due 2026-11-01"; a text names a column."""
    columns = ((name, pl.col(fact) if isinstance(fact, str) else fact) for name, fact in facts.items())
    texts = ((name.replace("_", " "), fact.cast(pl.String)) for name, fact in columns)
    told = [pl.when(text != "").then(pl.format(f"{name} {{}}", text)) for name, text in texts]
    return pl.concat_str(*told, separator=", ", ignore_nulls=True)


def first_cause(causes: Mapping[str, tuple[pl.Expr, pl.Expr]], last: str) -> pl.Expr:
    """The name of the first cause whose condition holds; causes: condition and sentence by name."""
    return pl.coalesce(*(pl.when(holds).then(pl.lit(name)) for name, (holds, _) in causes.items()), pl.lit(last))


def grounds_of_lines(doubt: pl.Expr) -> pl.Expr:
    """Those of lines with facts and verdict, "" for verdicts that numbers tell. doubt: why nothing can be said."""
    unread = pl.coalesce("unread_own", "unread_near")
    several = pl.col("doubtful") & unread.is_null()
    told = {
        _D.NOT_SENT: pl.coalesce("fault", "why"),
        _D.LATE: grounds_of(last_on="received_date", due="due_date"),
        _D.EARLY: grounds_of(first_on="received_first", due="due_date"),
        _D.SHELF_LIFE: grounds_of(received="received_date", expires="expiry_date"),
        _D.UNVERIFIABLE: grounds_of(
            cause=doubt,
            in_service=plain("qty_returned"),
            received=plain("received"),
            if_repeated=pl.when(several).then(plain("qty_once")),
            not_read=pl.when("doubtful").then(unread),
            condition="condition_word",
            prices=pl.when(doubt == "prices").then("price_mix_returned"),
            retail_prices=pl.when(doubt == "retail prices").then("mrp_mix_returned"),
        ),
    }
    return pl.coalesce(
        *(pl.when(pl.col("verdict") == code.value).then(fact) for code, fact in told.items()), pl.lit("")
    )
