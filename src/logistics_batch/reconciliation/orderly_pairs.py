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
    both = _with_own_invoice(legs).with_columns(*_dates())
    both = both.hstack(_receipts_of(both, legs.received))
    days = {code: rules.limit(code).days or 0 for code in (Discrepancy.OVERDUE, Discrepancy.STALE_STATUS)}
    odd_status = status_class(business_date=rules.business_date, days=days, receipts=legs.received is not None)
    new = ~pl.col("invoice").is_in(looked_at.implode())
    sound = ("accepted", "fits", new, _same_parties(), _same_header(), odd_status.is_null())
    # Told apart first: lazily, one expression that stands in several is worked out once.
    orderly = both.filter(both.lazy().select(pl.all_horizontal(*sound)).collect().to_series())
    waits = ~pl.col("received") & (pl.col("due_date") > rules.judged_until) & ~is_expired(rules.business_date)
    told = orderly.with_columns(
        waits.fill_null(False).alias("waits"), (_text("a_total_price") != "").alias("has_total")
    )
    return told.with_row_index("pair")


def _with_own_invoice(legs: Legs) -> pl.DataFrame:
    """The pairs whose invoice number no other notice of their leg has, as the announced ones stand in theirs."""
    announced, returned = _alone(legs.announced_notices, "announced"), _alone(legs.returned_notices, "returned")
    same = announced.join(returned, on="hashed", suffix="_returned").filter(
        pl.col("invoice") == pl.col("invoice_returned")
    )
    places = same.select("invoice", "announced", "returned").collect(engine="streaming").sort("announced")
    left = _headers(legs.announced_notices[places["announced"]], "a", "announced")
    right = _headers(legs.returned_notices[places["returned"]], "r", "returned")
    return places.select("invoice").hstack(left).hstack(right)


def _alone(notices: pl.DataFrame, place: str) -> pl.LazyFrame:
    """The `place` of each notice with an invoice number of its own. Two that share a hash count as the same."""
    named = notices.lazy().select(identifier("invoice_number").alias("invoice")).with_row_index(place)
    hashed = named.with_columns(pl.col("invoice").hash().alias("hashed"))
    return hashed.filter((pl.col("invoice") != "") & pl.col("hashed").is_unique())


def _headers(notices: pl.DataFrame, prefix: str, leg: str) -> pl.DataFrame:
    others = [name for name in notices.columns if name not in (*_HEADER, "notice")]
    return notices.select(
        pl.col("notice").alias(leg), *(pl.col(name).alias(f"{prefix}_{name}") for name in _HEADER), *others
    )


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


def _receipts_of(pairs: pl.DataFrame, received: pl.DataFrame | None) -> pl.DataFrame:
    """By pair: whether receipts name the invoice (`received`), and if so, no other supplier or site (`fits`)."""
    if received is None:
        return pairs.with_columns(received=pl.lit(False), fits=pl.lit(True)).select("received", "fits")
    parties = received.select(
        identifier("invoice_number").alias("invoice"),
        _text("supplier_name").alias("said_supplier"),
        _text("site_name").alias("said_site"),
    ).unique()
    once = parties.with_columns(pl.col("invoice").is_unique().alias("once")).unique("invoice")
    names = [f"{side}_{name}" for side in ("a", "r") for both in _PARTIES for name in both]
    joined = pairs.select("invoice", *names).join(once, on="invoice", how="left", maintain_order="left")
    alike = [
        pl.any_horizontal(
            *(pl.col(f"said_{names[0]}") == _text(f"{side}_{name}") for side in ("a", "r") for name in names),
            pl.col(f"said_{names[0]}") == "",
        )
        for names in _PARTIES
    ]
    named = pl.col("once").is_not_null()
    return joined.select(named.alias("received"), (~named | (pl.col("once") & pl.all_horizontal(*alike))).alias("fits"))
