"""What is known about each matched notice as a whole, whichever leg it comes from."""

import polars as pl

from logistics_batch.reconciliation.grounds import grounds_of
from logistics_batch.reconciliation.legs import HEADER_FIELDS, Legs, day, price, spelling
from logistics_batch.reconciliation.matching import TIERS

_ANNOUNCED = ("accepted", "why", "fault", "file_name", "sheet", "run")
_RETURNED = ("record_id", "status", "modified_at", "furthest_status", "settled_lines", "settled_received")
_SHARED = (
    "invoice_number",
    *HEADER_FIELDS,
    "total_price",
    "tax",
    "invoice",
    "party",
    "place",
    "parties",
    "places",
    "batch_key",
    "in_window",
)


def faces(notices: pl.DataFrame, *, announced: pl.DataFrame, returned: pl.DataFrame, legs: Legs) -> pl.DataFrame:
    """The matched notices with their headers.

    announced, returned: the legs with `header_keys` and `party`/`place`. The result has each header field as `a_…` and
    `r_…`, and for display and judging: invoice_number, supplier_shown, site_shown, batch_shown, due_date (the service's
    where it has one), invoice, party, place, batch_key, in_window, accepted, returned_lines.
    """
    left = announced.select(pl.col("notice").alias("announced"), *_prefixed("a", _SHARED), *_ANNOUNCED)
    right = returned.select(pl.col("notice").alias("returned"), *_prefixed("r", _SHARED), *_RETURNED)
    line_counts = legs.returned_lines.group_by("notice").agg(pl.len().alias("returned_lines"))
    whole = (
        notices.join(left, on="announced", how="left", maintain_order="left")
        .join(right, on="returned", how="left", maintain_order="left")
        .join(line_counts.rename({"notice": "returned"}), on="returned", how="left", maintain_order="left")
    )
    shared = (pl.coalesce(f"a_{name}", f"r_{name}").alias(name) for name in ("invoice", "party", "place", "batch_key"))
    return whole.with_columns(
        *shared,
        *shown_header(),
        pl.coalesce(day("r_delivery_date"), day("a_delivery_date")).alias("due_date"),
        pl.coalesce(day("r_expiry_date"), day("a_expiry_date")).alias("expiry_date"),
        (pl.col("a_in_window").fill_null(False) | pl.col("r_in_window").fill_null(False)).alias("in_window"),
        (pl.col("returned_lines").fill_null(0) + pl.col("settled_lines").fill_null(0)).alias("returned_lines"),
        pl.col("settled_received").fill_null(False),
    )


def shown_header() -> tuple[pl.Expr, ...]:
    """Invoice number, supplier, site and batch as people see them, from the `a_…` and `r_…` headers."""
    return (
        _first_filled("invoice_number").alias("invoice_number"),
        _first_filled("supplier_name", "supplier").alias("supplier_shown"),
        _first_filled("site_name", "site").alias("site_shown"),
        _first_filled("batch").alias("batch_shown"),
    )


def _prefixed(leg: str, names: tuple[str, ...]) -> list[pl.Expr]:
    return [pl.col(name).alias(f"{leg}_{name}") for name in names]


def filled(column: str) -> pl.Expr:
    """The trimmed text, null where it is blank."""
    text = pl.col(column).str.strip_chars()
    return pl.when(text != "").then(text)


def _first_filled(*names: str) -> pl.Expr:
    columns = [f"{leg}_{name}" for leg in ("a", "r") for name in names]
    return pl.coalesce(*(filled(column) for column in columns)).fill_null("")


def tier_words(*, has_receipts: pl.Expr) -> pl.Expr:
    """By what the sides were matched, in words, "" where nothing was; of receipts where they were matched otherwise."""
    service, receipt = (
        pl.col(tier).replace_strict(TIERS, default=None, return_dtype=pl.String) for tier in ("tier", "receipt_tier")
    )
    looser = has_receipts & (pl.col("receipt_tier") > pl.col("tier").fill_null(0))
    otherwise = pl.when(looser).then(pl.format("receipts: {}", receipt))
    return pl.concat_str(service, otherwise, separator="; ", ignore_nulls=True)


def header_differences(whole: pl.DataFrame) -> pl.DataFrame:
    """`notice`, `reason` and `grounds` of the accepted pairs whose headers differ; an absent value is no difference."""
    # Most say the same letter by letter.
    unlike = (pl.col(f"a_{name}").ne_missing(pl.col(f"r_{name}")) for name in HEADER_FIELDS)
    pairs = accepted_pairs(whole).filter(pl.any_horizontal(*unlike))
    clauses = [
        pl.when(_differs(name)).then(
            pl.format('{}: sent "{}", the service has "{}"', pl.lit(name), filled(f"a_{name}"), filled(f"r_{name}"))
        )
        for name in HEADER_FIELDS
    ]
    values = {
        name: pl.when(_differs(name)).then(pl.format("{} / {}", filled(f"a_{name}"), filled(f"r_{name}")))
        for name in HEADER_FIELDS
    }
    reason = pl.concat_str(clauses, separator="; ", ignore_nulls=True).alias("reason")
    said = pairs.select("notice", reason, grounds_of(**values).alias("grounds"))
    return said.filter(pl.col("reason") != "")


def _differs(name: str) -> pl.Expr:
    both = filled(f"a_{name}").is_not_null() & filled(f"r_{name}").is_not_null()
    if name.endswith("_date"):
        return (day(f"a_{name}") != day(f"r_{name}")).fill_null(False)
    return both & (spelling(f"a_{name}") != spelling(f"r_{name}"))


def not_returned(pairs: pl.DataFrame, *others: pl.DataFrame) -> dict[str, int]:
    """Header fields that were sent but that the service's reply lacks, with the number of notices.

    All frames hold pairs that the service accepted, with header fields as `a_…` and `r_…`; pairs that were set aside
    have no total, since theirs stands alike on both sides.
    """
    total = dict.fromkeys((*HEADER_FIELDS, "total_price"), 0)
    for frame in (pairs, *others):
        names = [name for name in total if f"a_{name}" in frame.columns]
        absent = ((filled(f"a_{name}").is_not_null() & _incomparable(name)).sum().alias(name) for name in names)
        counts = frame.select(absent).row(0, named=True)
        total = {name: count + counts.get(name, 0) for name, count in total.items()}
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
