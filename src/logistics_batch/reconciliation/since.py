"""Tonight's exceptions against those of an earlier night: new, still open, accepted, resolved, or not looked at.

Nothing is called resolved because it was not looked at: an exception whose ASN lies outside tonight's range, or that is
missing from a report that may be incomplete, stays open on a list of its own until somebody closes it.
"""

from datetime import timedelta

import polars as pl

from logistics_batch.model.reconciliation import Level, Outcome
from logistics_batch.model.reconciliation_history import (
    ENTRIES,
    LISTED_SCHEMA,
    Earlier,
    Since,
    Standing,
    Watch,
)

REMEMBERED_DAYS = 14
"""So long a resolved exception stays on its list, and what analysts wrote about it comes back with it."""

_COMPARED = ("standing", "first_seen", "remark", "code", "qty_affected", "price_delta", "found_sku", "reason")
_ACCEPTED_WORDS = ("accepted", "accept")
_CLOSED_WORDS = (*_ACCEPTED_WORDS, "closed", "close", "done")


def since_earlier(lines: pl.DataFrame, earlier: Earlier | None, *, watch: Watch) -> Since:
    """Where each exception stands. lines: LINES_SCHEMA, all of tonight's, in report order."""
    exceptions = lines.filter(pl.col("outcome") == Outcome.EXCEPTION.value)
    today = pl.lit(watch.business_date)
    known = (earlier or Earlier("")).listed
    tonight = _with_entries(exceptions, known).with_columns(
        _standing(watch).alias("standing"),
        pl.coalesce("was_first_seen", today).alias("first_seen"),
        pl.lit(None, pl.Date()).alias("since"),
        _remark().alias("remark"),
        _status().alias("status"),
    )
    gone = _gone(known.join(exceptions, on="exception_id", how="anti", maintain_order="left"), lines, watch=watch)
    listed = pl.concat([_listed(tonight), _listed(gone)])
    if earlier is None:
        return Since(listed.with_columns(pl.lit(Standing.NEW.value).alias("standing")))
    nights = earlier.trend.filter(pl.col("business_date") != today)
    return Since(listed, compared=True, trend=nights.sort("business_date", maintain_order=True))


def _listed(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.select(pl.col(name).cast(kind) for name, kind in LISTED_SCHEMA.items())


def _with_entries(exceptions: pl.DataFrame, known: pl.DataFrame) -> pl.DataFrame:
    """Tonight's exceptions with what was written beside them, and how they were (`was_…`)."""
    then = known.select("exception_id", *ENTRIES, *(pl.col(name).alias(f"was_{name}") for name in _COMPARED))
    joined = exceptions.join(then, on="exception_id", how="left", maintain_order="left")
    return joined.with_columns(pl.col(ENTRIES).fill_null(""))


def _says(words: tuple[str, ...]) -> pl.Expr:
    return pl.col("status").str.strip_chars().str.to_lowercase().is_in(words)


def _no_more_than_accepted() -> pl.Expr:
    """The same class, and no more of it than there was when it was accepted."""
    alike = pl.col("code") == pl.col("was_code")
    quantity = pl.col("qty_affected").fill_null(0) <= pl.col("was_qty_affected").fill_null(0)
    price = pl.col("price_delta").fill_null(0).abs() <= pl.col("was_price_delta").fill_null(0).abs()
    swapped = pl.col("found_sku") == pl.col("was_found_sku").fill_null("")
    said = (pl.col("level") != Level.NOTICE.value) | (pl.col("reason") == pl.col("was_reason"))
    return (alike & quantity & price & swapped & said).fill_null(False)


def _standing(watch: Watch) -> pl.Expr:
    """A second report of the same night calls new what the first one called new."""
    first_today = pl.col("was_first_seen").is_null() | (pl.col("was_first_seen") >= pl.lit(watch.business_date))
    back = pl.col("was_standing").is_in([Standing.RESOLVED.value, Standing.OPEN_AGAIN.value])
    return (
        pl.when(_says(_ACCEPTED_WORDS) & _no_more_than_accepted())
        .then(pl.lit(Standing.ACCEPTED.value))
        .when(_says(_ACCEPTED_WORDS) | (back & ~first_today))
        .then(pl.lit(Standing.OPEN_AGAIN.value))
        .when(first_today)
        .then(pl.lit(Standing.NEW.value))
        .otherwise(pl.lit(Standing.STILL_OPEN.value))
    )


def _remark() -> pl.Expr:
    was = pl.format(
        "It was accepted as {} of {} units; it is another class or more today.",
        pl.col("was_code").fill_null(""),
        plain_number("was_qty_affected"),
    )
    return (
        pl.when(_says(_ACCEPTED_WORDS) & ~_no_more_than_accepted())
        .then(was)
        .when(_says(_CLOSED_WORDS) & ~_says(_ACCEPTED_WORDS))
        .then(pl.lit("Closed by an analyst, but the difference is still there."))
        .when(pl.col("was_standing") == Standing.RESOLVED.value)
        .then(pl.lit("It had gone away and is back."))
        .when(pl.col("was_standing") == Standing.OPEN_AGAIN.value)
        .then("was_remark")
        .otherwise(pl.lit(""))
    )


def _status() -> pl.Expr:
    """What grew after it was accepted has to be accepted anew."""
    return pl.when(_says(_ACCEPTED_WORDS) & ~_no_more_than_accepted()).then(pl.lit("Open")).otherwise("status")


def plain_number(name: str) -> pl.Expr:
    """A decimal as people write it, 0 where it is not known."""
    return pl.col(name).fill_null(0).cast(pl.String).str.strip_chars_end("0").str.strip_suffix(".").replace("", "0")


def _gone(missing: pl.DataFrame, lines: pl.DataFrame, *, watch: Watch) -> pl.DataFrame:
    """What was listed and is no exception tonight: resolved, or not looked at."""
    today = pl.lit(watch.business_date)
    was_resolved = pl.col("standing") == Standing.RESOLVED.value
    remembered = pl.col("since") > today - timedelta(days=REMEMBERED_DAYS)
    told = _with_outcome(missing.filter(~was_resolved), lines)
    seen, closed = pl.col("became").is_not_null(), _says(_CLOSED_WORDS)
    resolved = seen | (_inside(watch) & pl.lit(watch.complete)) | closed
    remark = (
        pl.when(seen)
        .then(pl.format("Tonight it is {}.", pl.col("became").fill_null("")))
        .when(closed)
        .then(pl.lit("Accepted or closed by an analyst, and no longer looked at."))
        .when(resolved)
        .then(pl.lit("Nothing shows it any more."))
        .when(pl.lit(not watch.complete))
        .then(pl.lit("Tonight's report may be incomplete."))
        .otherwise(pl.lit("Its ASN lies outside the dates that are looked at now."))
    )
    judged = told.with_columns(
        pl.when(resolved)
        .then(pl.lit(Standing.RESOLVED.value))
        .otherwise(pl.lit(Standing.NOT_CHECKED.value))
        .alias("standing"),
        pl.when(resolved | (pl.col("standing") != Standing.NOT_CHECKED.value))
        .then(today)
        .otherwise(pl.coalesce("since", today))
        .alias("since"),
        remark.alias("remark"),
    )
    return pl.concat([_listed(judged), _listed(missing.filter(was_resolved & remembered))])


def _inside(watch: Watch) -> pl.Expr:
    if watch.due_from is None or watch.due_to is None:
        return pl.lit(False)
    return pl.col("due_date").is_between(watch.due_from, watch.due_to).fill_null(False)


_NOTICE_KEYS = ("invoice_key", "supplier_key", "site_key")


def _with_outcome(missing: pl.DataFrame, lines: pl.DataFrame) -> pl.DataFrame:
    """`became`: how the same SKU of the same ASN, or for an ASN's own finding any of it, came out tonight."""
    asked = _keyed(missing)
    judged = lines.filter(pl.col("outcome") != Outcome.OUTSIDE_WINDOW.value)
    named = asked.filter(pl.col("invoice_key") != "")
    near = _keyed(judged).join(named, on=_NOTICE_KEYS, how="semi", maintain_order="left")
    became = pl.when(pl.col("code") != "").then("code").otherwise("outcome").first()
    by_line = near.group_by(*_NOTICE_KEYS, "sku_key", maintain_order=True).agg(became.alias("became_line"))
    by_notice = near.group_by(*_NOTICE_KEYS, maintain_order=True).agg(became.alias("became_notice"))
    joined = asked.join(by_line, on=[*_NOTICE_KEYS, "sku_key"], how="left", maintain_order="left").join(
        by_notice, on=_NOTICE_KEYS, how="left", maintain_order="left"
    )
    whole = (pl.col("level") == Level.NOTICE.value) | (pl.col("sku_key") == "")
    return joined.with_columns(pl.when(whole).then("became_notice").otherwise("became_line").alias("became"))


def _keyed(frame: pl.DataFrame) -> pl.DataFrame:
    names = {
        "invoice_number": "invoice_key",
        "supplier": "supplier_key",
        "site": "site_key",
        "sku_name": "sku_key",
    }
    return frame.with_columns(
        pl.col(name).str.strip_chars().str.to_lowercase().alias(key) for name, key in names.items()
    )
