"""Pairs of notices about whose headers nothing is to be said: found by plain comparisons, the strictest tier only."""

import polars as pl

from logistics_batch.model.reconciliation import Discrepancy
from logistics_batch.reconciliation.classes import Rules
from logistics_batch.reconciliation.legs import HEADER_FIELDS, Legs, day, identifier
from logistics_batch.reconciliation.statuses import closed_words, is_expired, status_class

_PARTIES = (("supplier", "supplier_name"), ("site", "site_name"))
_HEADER = (*HEADER_FIELDS, "total_price", "tax", "in_window", "invoice_number")
_SETTLED = ("total_price", "tax", "in_window")
_JUDGED = ("accepted", "status", "modified_at", "furthest_status")


def orderly_pairs(legs: Legs, *, rules: Rules, looked_at: pl.Series) -> pl.DataFrame:
    """Notices that are paired beyond doubt and in order; lines with oddities they may have nevertheless.

    Columns: `pair`, `announced` and `returned` (indices in the legs), `invoice` (normalised), the headers as `a_…` and
    `r_…`, `due_date`, `due_first` and `due_last` (of both sides), `expiry_date`, `has_total`, `echoed`: the reply lacks
    nothing of the header that was sent, and `waits`: nothing came yet, and nothing had to.
    """
    both = _with_own_invoice(legs).with_columns(*_dates())
    both = both.hstack(_receipts_of(both, legs.received))
    days = {code: rules.limit(code).days or 0 for code in (Discrepancy.OVERDUE, Discrepancy.STALE_STATUS)}
    judged_status = status_class(business_date=rules.business_date, days=days, receipts=legs.received is not None)
    # Most are closed, which few words say.
    open_ones = both.filter(~pl.col("status").is_in(closed_words(both["status"]).implode()).fill_null(False))
    odd_status = open_ones.filter(judged_status.is_not_null())["announced"]
    new = ~pl.col("invoice").is_in(looked_at.implode())
    spoken = [name for name in _HEADER if any(both[f"{side}_{name}"].null_count() < both.height for side in ("a", "r"))]
    sound = (
        "accepted",
        "fits",
        new,
        _same_parties(),
        _same_header(spoken),
        ~pl.col("announced").is_in(odd_status.implode()),
    )
    # Told apart first: lazily, one expression that stands in several is worked out once.
    in_order = both.lazy().select(pl.all_horizontal(*sound)).collect().to_series().fill_null(False)
    orderly = both if in_order.all() else both.filter(in_order)
    early = ~pl.col("received") & (pl.col("due_date") > rules.judged_until) & ~is_expired(rules.business_date)
    waits = pl.lit(False) if legs.received is None else early.fill_null(False)
    has_total = (_text("a_total_price") != "").alias("has_total")
    told = orderly.with_columns(waits.alias("waits"), has_total, _echoed(spoken))
    return told.drop(*_JUDGED, *(f"{side}_{name}" for side in ("a", "r") for name in _SETTLED)).with_row_index("pair")


def _with_own_invoice(legs: Legs) -> pl.DataFrame:
    """The pairs whose invoice number no other notice of their leg has, as the announced ones stand in theirs."""
    announced, returned = _alone(legs.announced_notices, "announced"), _alone(legs.returned_notices, "returned")
    same = announced.join(returned, on="hashed", suffix="_returned", maintain_order="left")
    places = same.filter(pl.col("invoice") == pl.col("invoice_returned")).select("invoice", "announced", "returned")
    left = _headers(legs.announced_notices, "a", "announced")[places["announced"]]
    right = _headers(legs.returned_notices, "r", "returned")[places["returned"]]
    return places.select("invoice").hstack(left).hstack(right)


def _alone(notices: pl.DataFrame, place: str) -> pl.DataFrame:
    """The `place` of each notice with an invoice number of its own. Two that share a hash count as the same."""
    named = notices.select(identifier("invoice_number").alias("invoice")).with_row_index(place)
    hashed = named.filter(pl.col("invoice") != "").with_columns(_hash("invoice").alias("hashed"))
    return hashed if hashed["hashed"].n_unique() == hashed.height else hashed.filter(pl.col("hashed").is_unique())


def _hash(invoice: str) -> pl.Expr:
    return pl.col(invoice).hash()


def _headers(notices: pl.DataFrame, prefix: str, leg: str) -> pl.DataFrame:
    judged = [name for name in _JUDGED if name in notices.columns]
    return notices.select(
        pl.col("notice").alias(leg), *(pl.col(name).alias(f"{prefix}_{name}") for name in _HEADER), *judged
    )


def _text(column: str) -> pl.Expr:
    return pl.col(column).fill_null("")


def _same_parties() -> pl.Expr:
    """A supplier and a site stand alike on both sides, and a part of them can be compared."""
    conditions = []
    for names in _PARTIES:
        same = (pl.col(f"a_{name}") == pl.col(f"r_{name}") for name in names)
        legible = (pl.col(f"a_{name}").str.contains(r"[\p{L}\p{N}]") for name in names)
        alike = (one & two for one, two in zip(same, legible, strict=True))
        conditions.append(pl.any_horizontal(*(one.fill_null(False) for one in alike)))
    return pl.all_horizontal(*conditions)


def _same_header(spoken: list[str]) -> pl.Expr:
    """What both sides say is the same; batch and sums are the same also where they are absent."""
    strict = [_same(name) for name in ("batch", "total_price", "tax") if name in spoken]
    loose = [
        _same(name) | (_text(f"a_{name}") == "") | (_text(f"r_{name}") == "")
        for name in HEADER_FIELDS
        if name in spoken
    ]
    inside = pl.col("a_in_window").fill_null(False) | pl.col("r_in_window").fill_null(False)
    return pl.all_horizontal(*strict, *loose, inside)


def _same(name: str) -> pl.Expr:
    return _text(f"a_{name}") == _text(f"r_{name}")


def _echoed(spoken: list[str]) -> pl.Expr:
    same = (_same(name) for name in HEADER_FIELDS if name in spoken)
    dates = {"delivery_date": pl.col("due_date"), "expiry_date": pl.col("expiry_date")}
    legible = (date.is_not_null() | (_text(f"a_{name}") == "") for name, date in dates.items() if name in spoken)
    return pl.all_horizontal(pl.lit(True), *same, *legible).alias("echoed")


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
