"""What is known about each matched notice as a whole, whichever leg it comes from."""

import polars as pl

from logistics_batch.reconciliation.legs.columns import HEADER_FIELDS
from logistics_batch.reconciliation.legs.reading import day, price, spelling
from logistics_batch.reconciliation.matching.notices import TIERS
from logistics_batch.reconciliation.sentences import all_that_hold

_KEYS = ("invoice", "party", "place", "batch_key")
_ANNOUNCED = ("accepted", "why", "fault", "file_name", "sheet", "run")
_RETURNED = ("record_id", "status", "modified_at", "furthest_status", "settled_lines", "settled_received")
_SHARED = ("invoice_number", *HEADER_FIELDS, "total_price", "tax", *_KEYS, "parties", "places", "in_window")
_SHOWN = {
    "invoice_number": ("invoice_number",),
    "supplier_shown": ("supplier_name", "supplier"),
    "site_shown": ("site_name", "site"),
    "batch_shown": ("batch",),
}


def notice_headers(
    notices: pl.DataFrame, *, announced: pl.DataFrame, returned: pl.DataFrame, lines: pl.DataFrame
) -> pl.DataFrame:
    """The matched notices with their headers.

    announced, returned: the legs with `header_keys`; lines: the service's. The result has each header field as `a_…`
    and `r_…`, and for display and judging: invoice_number, supplier_shown, site_shown, batch_shown, due_date (the
    service's where it has one), expiry_date, invoice, party, place, batch_key, in_window, accepted, returned_lines.
    """
    left = announced.select(pl.col("notice").alias("announced"), *_prefixed("a", _SHARED), *_ANNOUNCED)
    right = returned.select(pl.col("notice").alias("returned"), *_prefixed("r", _SHARED), *_RETURNED)
    counts = lines.group_by(pl.col("notice").alias("returned")).agg(pl.len().alias("returned_lines"))
    whole = notices
    for frame, on in ((left, "announced"), (right, "returned"), (counts, "returned")):
        whole = whole.join(frame, on=on, how="left", maintain_order="left")
    return whole.with_columns(
        *(pl.coalesce(f"a_{name}", f"r_{name}").alias(name) for name in _KEYS),
        *shown_headers(),
        pl.coalesce(day("r_delivery_date"), day("a_delivery_date")).alias("due_date"),
        pl.coalesce(day("r_expiry_date"), day("a_expiry_date")).alias("expiry_date"),
        (pl.col("a_in_window").fill_null(False) | pl.col("r_in_window").fill_null(False)).alias("in_window"),
        (pl.col("returned_lines").fill_null(0) + pl.col("settled_lines").fill_null(0)).alias("returned_lines"),
        pl.col("settled_received").fill_null(False),
    )


def shown_headers() -> list[pl.Expr]:
    """Invoice number, supplier, site and batch as people see them, from the `a_…` and `r_…` headers."""
    return [
        pl.coalesce(*(filled(f"{leg}_{name}") for leg in ("a", "r") for name in names)).fill_null("").alias(shown)
        for shown, names in _SHOWN.items()
    ]


def _prefixed(leg: str, names: tuple[str, ...]) -> list[pl.Expr]:
    return [pl.col(name).alias(f"{leg}_{name}") for name in names]


def filled(column: str) -> pl.Expr:
    """The trimmed text, null where it is blank."""
    text = pl.col(column).str.strip_chars()
    return pl.when(text != "").then(text)


def tier_words(*, has_receipts: pl.Expr) -> pl.Expr:
    """By what the sides were matched, in words, "" where nothing was; of receipts where they were matched otherwise."""
    service, receipt = (
        pl.col(tier).replace_strict(TIERS, default=None, return_dtype=pl.String) for tier in ("tier", "receipt_tier")
    )
    looser = has_receipts & (pl.col("receipt_tier") > pl.col("tier").fill_null(0))
    return all_that_hold([(service.is_not_null(), service), (looser, pl.format("receipts: {}", receipt))], "; ")


def differing_fields() -> dict[str, pl.Expr]:
    """By header field whether the service has another value than was sent; an absent value is no difference."""
    differing = {}
    for name in HEADER_FIELDS:
        both = filled(f"a_{name}").is_not_null() & filled(f"r_{name}").is_not_null()
        form = day if name.endswith("_date") else spelling
        differing[name] = (both & (form(f"a_{name}") != form(f"r_{name}"))).fill_null(False)
    return differing


def not_returned(*pairs: pl.DataFrame) -> dict[str, int]:
    """Header fields that were sent but that the service's reply lacks, with the number of notices.

    pairs: those that the service accepted, with header fields as `a_…` and `r_…`; pairs that were set aside have no
    total, since theirs stands alike on both sides.
    """
    total = dict.fromkeys((*HEADER_FIELDS, "total_price"), 0)
    for frame in pairs:
        for name in total:
            if f"a_{name}" in frame.columns:
                absent = filled(f"a_{name}").is_not_null() & _incomparable(name)
                total[name] += frame.select(absent.sum()).item()
    return {name: count for name, count in total.items() if count}


def _incomparable(name: str) -> pl.Expr:
    """The reply lacks a field, or shows a date or a sum in a form that cannot be read."""
    lacks = filled(f"r_{name}").is_null()
    if name == "total_price":
        return lacks | price(f"r_{name}").is_null()
    return (lacks | day(f"r_{name}").is_null()) if name.endswith("_date") else lacks


def accepted_pairs(whole: pl.DataFrame) -> pl.DataFrame:
    """The notices that the service accepted and returns."""
    return whole.filter(pl.col("tier").is_not_null() & pl.col("accepted"))
