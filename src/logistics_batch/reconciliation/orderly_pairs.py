"""Pairs of notices about whose headers nothing is to be said: found by plain comparisons, the strictest tier only."""

import polars as pl

from logistics_batch.model.reconciliation import Discrepancy
from logistics_batch.reconciliation.classes import Rules
from logistics_batch.reconciliation.legs import HEADER_FIELDS, Legs, day, identifier
from logistics_batch.reconciliation.statuses import is_expired, status_class

_PARTIES = (("supplier", "supplier_name"), ("site", "site_name"))
_HEADER = (*HEADER_FIELDS, "total_price", "tax", "in_window", "invoice_number")


def orderly_pairs(legs: Legs, *, rules: Rules, looked_at: pl.Series) -> pl.DataFrame:
    """Notices that are paired beyond doubt and in order; lines with oddities they may have nevertheless.

    Columns: `pair`, `announced` and `returned` (indices in the legs), `invoice` (normalised), the headers as `a_…` and
    `r_…`, `due_date`, `due_first` and `due_last` (of both sides), `expiry_date`, `has_total`, and `waits`: nothing came
    yet, and nothing had to.
    """
    left, right = pl.collect_all(
        [
            _alone(legs.announced_notices, "a", "announced").filter(pl.col("accepted")),
            _alone(legs.returned_notices, "r", "returned"),
        ]
    )
    both = left.join(right, on="invoice", maintain_order="left")
    both = both.filter(~pl.col("invoice").is_in(looked_at.implode()) & _same_parties() & _same_header())
    dated = _with_receipts(both.with_columns(*_dates()), legs.received)
    days = {code: rules.limit(code).days or 0 for code in (Discrepancy.OVERDUE, Discrepancy.STALE_STATUS)}
    odd_status = status_class(business_date=rules.business_date, days=days, receipts=legs.received is not None)
    waits = ~pl.col("received") & (pl.col("due_date") > rules.judged_until) & ~is_expired(rules.business_date)
    found = dated.filter(odd_status.is_null()).with_columns(
        waits.fill_null(False).alias("waits"), (_text("a_total_price") != "").alias("has_total")
    )
    return found.with_row_index("pair")


def _alone(notices: pl.DataFrame, prefix: str, leg: str) -> pl.LazyFrame:
    """The notices whose invoice number no other notice of the leg has."""
    others = {name: name for name in notices.columns if name not in (*_HEADER, "notice")}
    named = notices.lazy().select(
        identifier("invoice_number").alias("invoice"),
        pl.col("notice").alias(leg),
        *(pl.col(name).alias(f"{prefix}_{name}") for name in _HEADER),
        *others,
    )
    return named.filter((pl.col("invoice") != "") & pl.col("invoice").is_unique())


def _text(column: str) -> pl.Expr:
    return pl.col(column).fill_null("")


def _same_parties() -> pl.Expr:
    """A supplier and a site stand alike on both sides, and a part of them can be compared."""
    conditions = []
    for names in _PARTIES:
        same = (_text(f"a_{name}") == _text(f"r_{name}") for name in names)
        legible = (_text(f"a_{name}").str.contains(r"[\p{L}\p{N}]") for name in names)
        conditions.append(pl.any_horizontal(*(one & two for one, two in zip(same, legible, strict=True))))
    return pl.all_horizontal(*conditions)


def _same_header() -> pl.Expr:
    """What both sides say is the same; batch and sums are the same also where they are absent."""
    strict = [_text(f"a_{name}") == _text(f"r_{name}") for name in ("batch", "total_price", "tax")]
    loose = [
        (_text(f"a_{name}") == _text(f"r_{name}")) | (_text(f"a_{name}") == "") | (_text(f"r_{name}") == "")
        for name in HEADER_FIELDS
    ]
    inside = pl.col("a_in_window").fill_null(False) | pl.col("r_in_window").fill_null(False)
    return pl.all_horizontal(*strict, *loose, inside)


def _dates() -> list[pl.Expr]:
    announced, returned = day("a_delivery_date"), day("r_delivery_date")
    return [
        pl.coalesce(returned, announced).alias("due_date"),
        pl.min_horizontal(announced, returned).alias("due_first"),
        pl.max_horizontal(announced, returned).alias("due_last"),
        pl.coalesce(day("r_expiry_date"), day("a_expiry_date")).alias("expiry_date"),
    ]


def _with_receipts(pairs: pl.DataFrame, received: pl.DataFrame | None) -> pl.DataFrame:
    """With `received`: whether receipts name the invoice; without the pairs whose receipts name other parties."""
    if received is None:
        return pairs.with_columns(pl.lit(False).alias("received"))
    parties = received.select(
        identifier("invoice_number").alias("invoice"),
        _text("supplier_name").alias("said_supplier"),
        _text("site_name").alias("said_site"),
    ).unique()
    once = parties.with_columns(pl.col("invoice").is_unique().alias("received"))
    joined = pairs.join(once, on="invoice", how="left", maintain_order="left")
    fits = [
        pl.any_horizontal(
            *(pl.col(f"said_{names[0]}") == _text(f"{side}_{name}") for side in ("a", "r") for name in names),
            pl.col(f"said_{names[0]}") == "",
        )
        for names in _PARTIES
    ]
    named = pl.col("received").is_not_null()
    orderly = joined.filter(~named | (pl.col("received") & pl.all_horizontal(*fits)))
    return orderly.with_columns(pl.col("received").is_not_null()).drop("said_supplier", "said_site")
