"""What is known about each matched notice as a whole, whichever leg it comes from.

What the status of an ASN gives away: it went back, it does not move, or it says something that cannot be.
"""

from datetime import date

import polars as pl

from logistics_batch.model.reconciliation import Discrepancy
from logistics_batch.reconciliation.classes.rules import Rules
from logistics_batch.reconciliation.legs.columns import HEADER_FIELDS
from logistics_batch.reconciliation.legs.reading import day, price, spelling
from logistics_batch.reconciliation.matching.notices import TIERS
from logistics_batch.reconciliation.sentences import all_that_hold, first_that_holds, sentence

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


_D = Discrepancy
# How far an ASN is (API §2.1); words that are not known say nothing.
_RANKS = {"new": 0, "inprogress": 1, "completed": 2, "complete": 2, "expired": 2}
_CALLED_OFF = r"cancel|reject|delet|void|abort|withdrawn"  # beyond API §2.1, whose words these are not
_NEW, _IN_PROGRESS, _CLOSED = 0, 1, 2


def rank(column: str) -> pl.Expr:
    """How far a status is, null for a word that is not known."""
    plain = pl.col(column).fill_null("").str.to_lowercase().str.replace_all(r"[^a-z]+", "")
    return plain.replace_strict(_RANKS, default=None, return_dtype=pl.Int8)


def is_expired(business_date: date) -> pl.Expr:
    """The ASN is over: the service says so, or its expiry date has passed."""
    said = pl.col("status").fill_null("").str.strip_chars().str.to_lowercase() == "expired"
    return said | (pl.col("expiry_date") < business_date).fill_null(False)


def is_completed() -> pl.Expr:
    """The service takes the ASN for done."""
    return pl.col("status").fill_null("").str.to_lowercase().str.starts_with("complete")


def closed_words(statuses: pl.Series) -> pl.Series:
    """Those of the statuses by which an ASN is done with, so that the status of no such ASN is in any class."""
    words = statuses.unique().alias("status").to_frame()
    return words.filter((rank("status") == _CLOSED).fill_null(False) & ~_is_called_off())["status"]


def _is_called_off() -> pl.Expr:
    """The service seems to have called the ASN off, by a word that the API does not know."""
    return pl.col("status").fill_null("").str.to_lowercase().str.contains(_CALLED_OFF)


def unknown_statuses(notices: pl.DataFrame) -> list[tuple[str, int]]:
    """Statuses of the service's notices in the window from which nothing is concluded, with how many have them."""
    words = notices.filter(pl.col("in_window") & rank("status").is_null() & ~_is_called_off())
    named = words.select(pl.col("status").fill_null("").str.strip_chars()).filter(pl.col("status") != "")
    return named.group_by("status").len().sort("len", "status", descending=[True, False]).rows()


def is_new() -> pl.Expr:
    """Nobody has touched the ASN in the service, as far as its status tells."""
    return (rank("status") == _NEW).fill_null(False)


def status_class(rules: Rules, *, receipts: bool) -> pl.Expr:
    """The one class that the status of a notice is in, null if it is in order.

    receipts: whether they are compared. Needs `received` (whether anything came) and the notice.
    """
    stale_days = rules.days(_D.STALE_STATUS)
    now, since_due = rank("status"), _days_since(pl.col("due_date"), rules.business_date)
    moved = pl.coalesce(day("modified_at"), "due_date")
    stuck = (now == _IN_PROGRESS) & (_days_since(moved, rules.business_date) > stale_days)
    untouched = _days_since(pl.max_horizontal(moved, "due_date"), rules.business_date) > stale_days
    return first_that_holds(
        [
            (_is_called_off(), _D.UNVERIFIABLE.value),
            (rank("furthest_status") > now, _D.STATUS_REGRESSION.value),
            ((now < _CLOSED) & (since_due > rules.days(_D.OVERDUE)) & (not receipts), _D.OVERDUE.value),
            (stuck | ((now == _NEW) & pl.col("received") & untouched), _D.STALE_STATUS.value),
        ]
    )


def _days_since(then: pl.Expr, business_date: date) -> pl.Expr:
    return (pl.lit(business_date) - then).dt.total_days()


def status_reason() -> pl.Expr:
    """The sentence for a notice with `verdict`, `status`, `furthest_status`, `due_date` and `modified_at`."""
    due = pl.col("due_date").dt.to_string("%Y-%m-%d").fill_null("not named")
    moved = pl.col("modified_at").fill_null("").str.slice(0, 10)
    last_change = pl.when(moved != "").then(pl.format("; last changed {}", moved)).otherwise(pl.lit(""))
    words = {
        _D.UNVERIFIABLE: 'The service calls the ASN "{status:text}", a status that its API does not know: whether the '
        "warehouse still expects the goods cannot be told.",
        _D.STATUS_REGRESSION: 'The status is "{status:text}"; an earlier report saw "{furthest_status:known}".',
        _D.OVERDUE: 'Due {due}, and the ASN is still "{status:text}"; no receipts were given to tell what came.',
        _D.STALE_STATUS: 'The ASN is still "{status:text}"; due {due}{last_change}.',
    }
    return first_that_holds(
        (pl.col("verdict") == code.value, sentence(words, due=due, last_change=last_change))
        for code, words in words.items()
    )


def further_status(earlier: str, now: str) -> pl.Expr:
    """Of two columns of statuses the further one; a word that is not known is behind all others."""
    behind = rank(now).fill_null(-1) < rank(earlier).fill_null(-1)
    return pl.when(behind).then(pl.col(earlier)).otherwise(pl.col(now))
