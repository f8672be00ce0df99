"""Tonight's exceptions against those of an earlier night: new, still open, accepted, resolved, or not looked at.

Nothing is called resolved because it was not looked at: an exception whose ASN lies outside tonight's range, or that is
missing from a report that may be incomplete, stays open on a list of its own until somebody closes it.
"""

from dataclasses import dataclass, field
from datetime import timedelta

import polars as pl

from logistics_batch.model.reconciliation import (
    LINES_SCHEMA,
    MONEY,
    PRICE,
    QUANTITY,
    RESOLVED_SCHEMA,
    TREND_SCHEMA,
    Discrepancy,
    Level,
    Outcome,
    Standing,
    State,
)
from logistics_batch.model.reconciliation_history import ENTRIES, Earlier, Watch
from logistics_batch.model.spelling import folded
from logistics_batch.reconciliation.causes import shown_by_receipts
from logistics_batch.reconciliation.legs import order_number
from logistics_batch.reconciliation.version_pieces import without_pieces_told

REMEMBERED_DAYS = 14
"""So long a resolved exception stays on its list, and what analysts wrote about it comes back with it."""

_WITHOUT_ORDERS = "No purchase orders were compared tonight."
WITHOUT_RECEIPTS = "No receipts were compared tonight."
"""What is said of an exception that receipts showed, in a night without any."""

_COMPARED = (
    *("standing", "state", "first_seen", "nights_open", "last_seen", "remark"),
    *("code", "also", "qty_affected", "qty_delta", "impact_inr", "price_delta", "mrp_announced", "mrp_returned"),
    *("found_sku", "reason", "accepted_as"),
)
# How much was accepted, by the word before the number in `accepted_as`; what is less meanwhile may grow back to it.
_SIZES = {
    "qty_affected": ("units", QUANTITY),
    "impact_inr": ("INR", MONEY),
    "qty_delta": ("difference", QUANTITY),
    "price_delta": ("price", PRICE),
    "mrp_delta": ("retail price", PRICE),
}
# Of these the numbers do not tell whether it is the same still; their reason does.
_TOLD_BY_REASON = [
    code.value
    for code in (
        *(Discrepancy.LATE, Discrepancy.EARLY, Discrepancy.SHELF_LIFE),
        *(Discrepancy.NOT_SENT, Discrepancy.UNVERIFIABLE),
    )
]
# Lines of these were not held against a record of the service, and tell nothing of the ASN as a whole.
_NOT_COMPARED = [
    code.value
    for code in (Discrepancy.UNVERIFIABLE, Discrepancy.MISSING_IN_SERVICE, Discrepancy.NOT_SENT, Discrepancy.NO_ASN)
]
_ACCEPTED_WORDS = ("accepted", "accept")
_CLOSED_WORDS = (*_ACCEPTED_WORDS, "closed", "close", "done")
_SUSPENDED = "Open"
"""The status beside what is not as it was accepted, tonight: while it stands there, the acceptance may come back."""


@dataclass(frozen=True, slots=True)
class Carried:
    """What an earlier night adds.

    lines: tonight's (LINES_SCHEMA) with their history. resolved: RESOLVED_SCHEMA, what is no exception tonight. trend:
    TREND_SCHEMA, the other nights, the oldest first.
    """

    lines: pl.DataFrame
    resolved: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=RESOLVED_SCHEMA))
    trend: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=TREND_SCHEMA))


def uncompared(lines: pl.DataFrame) -> Carried:
    """Tonight's lines (LINES_SCHEMA, among other columns) by themselves: nothing is said of other nights."""
    told = lines.with_columns(pl.lit("").alias("state"))
    return Carried(told.select(pl.col(name).cast(kind) for name, kind in LINES_SCHEMA.items()))


def carried(lines: pl.DataFrame, earlier: Earlier, *, watch: Watch) -> Carried:
    """Tonight's lines with what is known of them from an earlier night; what analysts accepted is no exception.

    lines: LINES_SCHEMA, among other columns; those of the schema come back.
    """
    known = earlier.listed.with_columns(
        pl.coalesce("first_seen", pl.lit(earlier.business_date, pl.Date())).alias("first_seen"),
        pl.col("nights_open").fill_null(1),
    )
    lines = uncompared(lines).lines
    excepted = pl.col("outcome") == Outcome.EXCEPTION.value
    told = _with_history(lines.filter(excepted), known, watch=watch).with_columns(_nights(earlier, watch=watch))
    told = told.select(pl.col(name).cast(kind) for name, kind in LINES_SCHEMA.items())
    gone = known.join(told, on="exception_id", how="anti", maintain_order="left").with_columns(
        pl.coalesce("last_seen", pl.lit(earlier.business_date, pl.Date())).alias("last_seen")
    )
    nights = earlier.trend.filter(pl.col("business_date") != watch.business_date).sort("business_date")
    return Carried(pl.concat([told, lines.filter(~excepted)]), _gone(gone, lines, watch=watch), nights)


def _with_history(exceptions: pl.DataFrame, known: pl.DataFrame, *, watch: Watch) -> pl.DataFrame:
    then = known.select("exception_id", *ENTRIES, *(pl.col(name).alias(f"was_{name}") for name in _COMPARED))
    bare = exceptions.drop(ENTRIES)
    joined = _with_accepted(bare.join(then, on="exception_id", how="left", maintain_order="left"))
    accepted = _claimed() & _no_more_than_accepted()
    return joined.with_columns(pl.col(ENTRIES).fill_null("")).with_columns(
        pl.when(accepted).then(pl.lit(Outcome.ACCEPTED.value)).otherwise("outcome").alias("outcome"),
        _state(watch).alias("state"),
        pl.coalesce("was_first_seen", pl.lit(watch.business_date)).alias("first_seen"),
        _remark(watch).fill_null("").alias("remark"),
        _status().alias("analyst_status"),
        pl.when(_claimed()).then(_accepted_as()).otherwise(pl.lit("")).alias("accepted_as"),
    )


def _with_accepted(joined: pl.DataFrame) -> pl.DataFrame:
    """The lines with what was accepted of each as its earlier state, where an earlier night accepted it already."""
    anew = _says(_ACCEPTED_WORDS) & (pl.col("was_state") == State.CHANGED.value)  # as it stood there, grown
    kept = pl.when(anew).then(pl.lit("")).otherwise(pl.col("was_accepted_as").fill_null(""))
    code = kept.str.extract(r"^([A-Z_]+); ")  # missing in what an older release wrote
    of_mrp = joined.with_columns((pl.col("was_mrp_returned") - pl.col("was_mrp_announced")).alias("was_mrp_delta"))
    return of_mrp.with_columns(
        *(
            pl.coalesce(
                kept.str.extract(rf"(?:^|; ){word} (-?[0-9]+(?:\.[0-9]+)?)").cast(kind, strict=False), f"was_{name}"
            ).alias(f"was_{name}")
            for name, (word, kind) in _SIZES.items()
        ),
        pl.coalesce(kept.str.extract(r"; also ([A-Z_, ]*)(?:;|$)"), "was_also").alias("was_also"),
        pl.coalesce(code, "was_code").alias("was_code"),
        *(
            pl.when(code.is_null()).then(f"was_{name}").otherwise(kept.str.extract(text).fill_null(""))
            for name, text in (("found_sku", r"(?s); found (.*?)(?:; since |$)"), ("reason", r"(?s); since (.*)$"))
        ),
    )


def _accepted_as() -> pl.Expr:
    """What is accepted, as `_with_accepted` reads it; what tells nothing apart is left out."""
    sizes = (pl.format(f"{word} {{}}", _plain_number(f"was_{name}")) for name, (word, _) in _SIZES.items())
    also = pl.format("also {}", pl.col("was_also").fill_null(""))
    found = pl.format("found {}", pl.when(pl.col("was_found_sku") != "").then("was_found_sku"))
    since = pl.format("since {}", pl.when(_is_told_by_reason()).then("was_reason"))
    return pl.concat_str(pl.col("was_code"), *sizes, also, found, since, separator="; ", ignore_nulls=True)


def _nights(earlier: Earlier, *, watch: Watch) -> pl.Expr:
    """A second report of the same night counts no second night."""
    before = pl.col("was_nights_open").fill_null(0)
    if earlier.business_date == watch.business_date:
        return pl.max_horizontal(before, pl.lit(1)).alias("nights_open")
    return (before + 1).alias("nights_open")


def _says(words: tuple[str, ...]) -> pl.Expr:
    return pl.col("analyst_status").str.strip_chars().str.to_lowercase().is_in(words)


def _claimed() -> pl.Expr:
    """Whether an analyst accepted it, be it that it was something else in the nights between."""
    suspended = (pl.col("was_state") == State.CHANGED.value) & (pl.col("was_accepted_as").fill_null("") != "")
    return (_says(_ACCEPTED_WORDS) | (suspended & _says((_SUSPENDED.lower(),)))).fill_null(False)


def _is_told_by_reason() -> pl.Expr:
    return (pl.col("level") == Level.NOTICE.value) | pl.col("was_code").is_in(_TOLD_BY_REASON)


def _no_more_than_accepted() -> pl.Expr:
    """The same classes, and no more of them than there was when it was accepted."""
    alike = pl.col("code") == pl.col("was_code")
    beside = pl.col("also").str.split(", ").list.set_difference(pl.col("was_also").fill_null("").str.split(", "))
    # A workbook of an older release does not say what else applied; there the INR alone tells.
    no_other = (beside.list.len() == 0) | pl.col("was_also").is_null()
    pieces = pl.col("qty_affected").fill_null(0) <= pl.col("was_qty_affected").fill_null(0)
    worth = pl.col("impact_inr").fill_null(0) <= pl.col("was_impact_inr").fill_null(0)
    mrp = pl.col("mrp_returned") - pl.col("mrp_announced")
    deltas = (
        _no_further(pl.col("qty_delta"), pl.col("was_qty_delta")),
        _no_further(pl.col("price_delta"), pl.col("was_price_delta")),
        _no_further(mrp, pl.col("was_mrp_delta")),
    )
    swapped = pl.col("found_sku") == pl.col("was_found_sku").fill_null("")
    now, then = (without_pieces_told(pl.col(name)) for name in ("reason", "was_reason"))
    said = ~_is_told_by_reason() | (now == then)
    return pl.all_horizontal(alike, no_other, pieces, worth, *deltas, swapped, said).fill_null(False)


def _no_further(now: pl.Expr, then: pl.Expr) -> pl.Expr:
    """A difference on the same side as before, and no greater."""
    now, then = now.fill_null(0), then.fill_null(0)
    return (now == 0) | ((now.sign() == then.sign()) & (now.abs() <= then.abs()))


def _grown() -> pl.Expr:
    """What is not as it was accepted: it has to be accepted anew, or to become that again."""
    return _claimed() & ~_no_more_than_accepted()


def _state(watch: Watch) -> pl.Expr:
    """A second report of the same night calls new what the first one called new."""
    first_today = pl.col("was_code").is_null() | (pl.col("was_first_seen") >= pl.lit(watch.business_date))
    was = pl.col("was_state").is_in([State.CHANGED.value, State.BACK.value])
    return (
        pl.when(_grown())
        .then(pl.lit(State.CHANGED.value))
        .when(first_today.fill_null(False))
        .then(pl.lit(State.NEW.value))
        .when(pl.col("was_standing") == Standing.RESOLVED.value)
        .then(pl.lit(State.BACK.value))
        .when(was & ~_claimed())
        .then("was_state")
        .otherwise(pl.lit(State.OPEN.value))
    )


def _remark(watch: Watch) -> pl.Expr:
    what = (pl.col("was_code").fill_null(""), _plain_number("was_qty_affected"))
    accepted = "It was accepted as {} of {} units; "
    grown = f"{accepted}it is another class, for another reason or more today."
    unseen = f"{accepted}tonight's report may be incomplete and cannot tell. When it is seen as that, it is accepted."
    is_unseen = (pl.col("code") == Discrepancy.UNVERIFIABLE.value) & pl.lit(not watch.complete)
    return (
        pl.when(_grown() & is_unseen)
        .then(pl.format(unseen, *what))
        .when(_grown())
        .then(pl.format(grown, *what))
        .when(_says(_CLOSED_WORDS) & ~_says(_ACCEPTED_WORDS))
        .then(pl.lit("Closed by an analyst, but the difference is still there."))
        .when(pl.col("was_standing") == Standing.RESOLVED.value)
        .then(pl.lit("It had gone away and is back."))
        .when(pl.col("was_state").is_in([State.CHANGED.value, State.BACK.value]) & ~_claimed())
        .then("was_remark")
    )


def _status() -> pl.Expr:
    back = _claimed() & ~_says(_ACCEPTED_WORDS)
    return pl.when(_grown()).then(pl.lit(_SUSPENDED)).when(back).then(pl.lit("Accepted")).otherwise("analyst_status")


def _plain_number(name: str) -> pl.Expr:
    return pl.col(name).fill_null(0).cast(pl.String).str.replace(r"\.0*$", "").str.replace(r"(\.[0-9]*?)0+$", "$1")


def _gone(missing: pl.DataFrame, lines: pl.DataFrame, *, watch: Watch) -> pl.DataFrame:
    """What was listed and is no exception tonight (RESOLVED_SCHEMA): resolved, or not looked at."""
    today = pl.lit(watch.business_date)
    was_resolved = pl.col("standing") == Standing.RESOLVED.value
    remembered = pl.col("gone_since") > today - timedelta(days=REMEMBERED_DAYS)
    told = _with_outcome(missing.filter(~was_resolved), lines)
    unordered = (pl.col("level") == Level.ORDER.value) & pl.col("now").is_null()
    unreceived = shown_by_receipts() & (not watch.receipts)
    seen = pl.col("now").is_not_null() & ~unreceived
    # What was accepted is accepted again when it is compared again.
    closed = _says(_CLOSED_WORDS) & ~(_says(_ACCEPTED_WORDS) & (unordered | unreceived))
    unseen = unordered | unreceived | pl.col("uncompared")
    resolved = seen | (_inside(watch) & pl.lit(watch.complete) & ~unseen) | closed
    remark = (
        pl.when(seen)
        .then(pl.format("Tonight it is {}.", pl.col("now").fill_null("")))
        .when(closed)
        .then(pl.lit("Accepted or closed by an analyst, and no longer looked at."))
        .when(resolved)
        .then(pl.lit("Nothing shows it any more."))
        .when(unordered)
        .then(pl.lit("No purchase order of tonight names it." if watch.orders else _WITHOUT_ORDERS))
        .when(unreceived)
        .then(pl.lit(WITHOUT_RECEIPTS))
        .when(pl.col("uncompared") & pl.lit(watch.complete))
        .then(pl.lit("Tonight it could not be compared with the service."))
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
        .otherwise(pl.coalesce("gone_since", today))
        .alias("gone_since"),
        remark.alias("became"),
    )
    kept = [pl.col(name).cast(kind) for name, kind in RESOLVED_SCHEMA.items()]
    return pl.concat([judged.select(kept), missing.filter(was_resolved & remembered).select(kept)])


def _inside(watch: Watch) -> pl.Expr:
    followed = _folded("invoice_number").is_in(sorted(watch.followed))
    if watch.due is None:
        return followed
    return pl.col("due_date").is_between(*watch.due).fill_null(False) | followed


_NOTICE_KEYS = ("invoice_key", "supplier_key", "site_key")


def _with_outcome(missing: pl.DataFrame, lines: pl.DataFrame) -> pl.DataFrame:
    """`now`: how the same SKU of the same ASN came out tonight, or for an ASN's own finding what of it was compared.

    `uncompared`: lines of the ASN are there, and none of them was held against the service's record.
    """
    asked = _keyed(missing)
    judged = lines.filter(pl.col("outcome") != Outcome.OUTSIDE_WINDOW.value)
    named = asked.filter(pl.col("invoice_key") != "")
    near = _keyed(judged).join(named, on=_NOTICE_KEYS, how="semi", maintain_order="left")
    each = pl.when(pl.col("code") != "").then("code").otherwise("outcome")
    by_line = near.group_by(*_NOTICE_KEYS, "sku_key", maintain_order=True).agg(each.first().alias("became_line"))
    compared = ~pl.col("code").is_in(_NOT_COMPARED)
    by_notice = near.group_by(*_NOTICE_KEYS, maintain_order=True).agg(
        each.filter(compared).first().alias("became_notice"), (~compared).all().alias("uncompared")
    )
    joined = asked.join(by_line, on=[*_NOTICE_KEYS, "sku_key"], how="left", maintain_order="left").join(
        by_notice, on=_NOTICE_KEYS, how="left", maintain_order="left"
    )
    whole = (pl.col("level") == Level.NOTICE.value) | (pl.col("sku_key") == "")
    of_asn = (pl.col("level") == Level.NOTICE.value) & pl.col("uncompared").fill_null(False)
    return joined.with_columns(
        pl.when(whole).then("became_notice").otherwise("became_line").alias("now"), of_asn.alias("uncompared")
    )


def _folded(name: str) -> pl.Expr:
    """Names as they are read; never null."""
    return pl.col(name).fill_null("").map_batches(_each_folded, return_dtype=pl.String)


def _each_folded(names: pl.Series) -> pl.Series:
    each = names.unique()
    return names.replace_strict(each, [folded(name) for name in each], return_dtype=pl.String)


def _keyed(frame: pl.DataFrame) -> pl.DataFrame:
    names = {
        "invoice_number": "invoice_key",
        "supplier": "supplier_key",
        "site": "site_key",
        "sku_name": "sku_key",
    }
    keyed = frame.with_columns(_folded(name).alias(key) for name, key in names.items())
    # The line of an order is no line of an ASN, whatever invoice it names.
    number = order_number("po_number")
    by_invoice = pl.when(number == "").then("invoice_key").otherwise(pl.lit(""))
    order = pl.concat_str(pl.lit("order:"), number, pl.lit(":"), by_invoice)
    is_order = pl.col("level") == Level.ORDER.value
    return keyed.with_columns(pl.when(is_order).then(order).otherwise("invoice_key").alias("invoice_key"))
