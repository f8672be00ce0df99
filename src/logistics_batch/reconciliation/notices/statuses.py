"""What the status of an ASN gives away: it went back, it does not move, or it says something that cannot be."""

from datetime import date

import polars as pl

from logistics_batch.model.reconciliation import Discrepancy
from logistics_batch.reconciliation.classes.rules import Rules
from logistics_batch.reconciliation.legs.reading import day
from logistics_batch.reconciliation.sentences import first_that_holds, sentence

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
