"""The history of exceptions: new, still open, accepted, resolved or not looked at; and any two nights side by side.

Nothing is called resolved because it was not looked at: an exception whose ASN lies outside tonight's range, or that is
missing from a report that may be incomplete, stays open on a list of its own until somebody closes it.
"""

from collections.abc import Mapping
from datetime import timedelta
from enum import StrEnum

import polars as pl

from logistics_batch.model.reconciliation import (
    ACCEPTED_SCHEMA,
    ENTRIES,
    LINES_SCHEMA,
    MEMORY_SCHEMA,
    MONEY,
    QUANTITY,
    RESOLVED_SCHEMA,
    ComparedOutcome,
    Discrepancy,
    Earlier,
    ExceptionLevel,
    Standing,
    State,
)
from logistics_batch.model.spelling import folded
from logistics_batch.reconciliation.classes.rules import Rules
from logistics_batch.reconciliation.legs.columns import Legs
from logistics_batch.reconciliation.legs.reading import order_number
from logistics_batch.reconciliation.sentences import first_that_holds, is_given, plain, sentence

REMEMBERED_DAYS = 14
"""So long a resolved exception stays on its list, and what analysts wrote about it comes back with it."""

_COMPARED = (
    *("standing", "state", "first_seen", "nights_open", "remark", "code", "also", "qty_affected", "qty_delta"),
    *("impact_inr", "price_delta", "mrp_delta", "found_sku", "grounds"),
)
_WORDS_OF_SIZES = {
    "qty_affected": "units",
    "impact_inr": "INR",
    "qty_delta": "difference",
    "price_delta": "price",
    "mrp_delta": "retail price",
}
# Lines of these were not held against a record of the service, and tell nothing of the ASN as a whole.
_NOT_COMPARED = [
    code.value
    for code in (Discrepancy.UNVERIFIABLE, Discrepancy.MISSING_IN_SERVICE, Discrepancy.NOT_SENT, Discrepancy.NO_ASN)
]
_ACCEPTED_WORDS = ("accepted", "accept")
_CLOSED_WORDS = (*_ACCEPTED_WORDS, "closed", "close", "done")
_SUSPENDED = "Open"
"""The status beside what is not as it was accepted, tonight: while it stands there, the acceptance may come back."""


def carried(
    lines: pl.DataFrame, earlier: Earlier, *, rules: Rules, legs: Legs
) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Tonight's lines with what is known of them from the nights before; what analysts accepted is no exception.

    Then RESOLVED_SCHEMA, what is no exception tonight; TREND_SCHEMA, the other nights, the oldest first; and
    MEMORY_SCHEMA, for the night after.

    lines: LINES_SCHEMA and BASIS_SCHEMA, among other columns; those of LINES_SCHEMA come back. legs: what was compared.
    """
    excepted = pl.col("outcome") == ComparedOutcome.EXCEPTION.value
    # Without receipts nobody knows what they would have shown.
    shown = pl.when(legs.received is not None).then(pl.col("by_receipts").fill_null(False))
    lines = lines.with_columns(shown.alias("by_receipts"))
    told = _with_history(lines.filter(excepted), earlier, rules=rules)
    by_themselves = _as_schema(lines.with_columns(pl.lit("").alias("state")), LINES_SCHEMA)
    whole = pl.concat([told.select(*LINES_SCHEMA), by_themselves.filter(~excepted)])
    missing = earlier.listed.join(told, on="exception_id", how="anti", maintain_order="left")
    gone = _gone(missing, whole, rules=rules, legs=legs)
    remembered, resolved = pl.concat([told, gone]), gone.select(*RESOLVED_SCHEMA)
    if not earlier.told:
        return by_themselves, resolved.clear(), earlier.trend.clear(), remembered
    nights = earlier.trend.filter(pl.col("business_date") != rules.business_date).sort("business_date")
    return whole, resolved, nights, remembered


def _as_schema(frame: pl.DataFrame, schema: Mapping[str, pl.DataType]) -> pl.DataFrame:
    return frame.select(pl.col(name).cast(kind) for name, kind in schema.items())


def _with_history(exceptions: pl.DataFrame, earlier: Earlier, *, rules: Rules) -> pl.DataFrame:
    """Tonight's exceptions (MEMORY_SCHEMA)."""
    known = earlier.listed.with_columns((pl.col("mrp_returned") - pl.col("mrp_announced")).alias("mrp_delta"))
    was = known.select(
        "exception_id", *ENTRIES, *ACCEPTED_SCHEMA, *(pl.col(name).alias(f"was_{name}") for name in _COMPARED)
    )
    bare = exceptions.drop(*ENTRIES, "accepted_as")
    joined = bare.join(was, on="exception_id", how="left", maintain_order="left")
    # What was accepted of each is its earlier state, where it was accepted before it grew, and not anew as it is now.
    anew = _says(_ACCEPTED_WORDS) & (pl.col("was_state") == State.CHANGED.value)
    kept = is_given("accepted_code") & ~anew.fill_null(False)
    accepted_as = {name: f"was_{name.removeprefix('accepted_')}" for name in ACCEPTED_SCHEMA}
    joined = joined.with_columns(
        pl.when(kept).then(name).otherwise(was_name).alias(was_name) for name, was_name in accepted_as.items()
    )
    accepted = _claimed() & _no_more_than_accepted()
    before = pl.col("was_nights_open").fill_null(0)
    # A second report of the same night counts no second night.
    again = earlier.business_date == rules.business_date
    standing = pl.when(accepted).then(pl.lit(Standing.ACCEPTED.value)).otherwise(pl.lit(Standing.OPEN.value))
    told = joined.with_columns(pl.col(ENTRIES).fill_null("")).with_columns(
        pl.when(accepted).then(pl.lit(ComparedOutcome.ACCEPTED.value)).otherwise("outcome").alias("outcome"),
        _state(rules).alias("state"),
        pl.coalesce("was_first_seen", pl.lit(rules.business_date)).alias("first_seen"),
        _remark(rules).fill_null("").alias("remark"),
        _status().alias("analyst_status"),
        pl.when(_claimed()).then(_accepted_as()).otherwise(pl.lit("")).alias("accepted_as"),
        (pl.max_horizontal(before, pl.lit(1)) if again else before + 1).alias("nights_open"),
        *(pl.when(_claimed()).then(was_name).alias(name) for name, was_name in accepted_as.items()),
        standing.alias("standing"),
        pl.lit(rules.business_date).alias("last_seen"),
        pl.lit(None, pl.Date).alias("gone_since"),
        pl.lit("").alias("became"),
    )
    return _as_schema(told, MEMORY_SCHEMA)


def _accepted_as() -> pl.Expr:
    """What is accepted, for people; what tells nothing apart is left out."""
    sizes = (pl.format(f"{word} {{}}", plain(f"was_{name}", none="0")) for name, word in _WORDS_OF_SIZES.items())
    also = pl.format("also {}", pl.col("was_also").fill_null(""))
    found = pl.format("found {}", pl.when(pl.col("was_found_sku") != "").then("was_found_sku"))
    since = pl.format("since {}", pl.when(pl.col("was_grounds").fill_null("") != "").then("was_grounds"))
    return pl.concat_str(pl.col("was_code"), *sizes, also, found, since, separator="; ", ignore_nulls=True)


def _says(words: tuple[str, ...]) -> pl.Expr:
    return pl.col("analyst_status").str.strip_chars().str.to_lowercase().is_in(words)


def _claimed() -> pl.Expr:
    """Whether an analyst accepted it, be it that it was something else in the nights between."""
    suspended = (pl.col("was_state") == State.CHANGED.value) & (pl.col("accepted_code").fill_null("") != "")
    return (_says(_ACCEPTED_WORDS) | (suspended & _says((_SUSPENDED.lower(),)))).fill_null(False)


def _no_more_than_accepted() -> pl.Expr:
    """The same classes, and no more of them than there was when it was accepted."""
    alike = pl.col("code") == pl.col("was_code")
    beside = pl.col("also").str.split(", ").list.set_difference(pl.col("was_also").fill_null("").str.split(", "))
    no_other = beside.list.len() == 0
    pieces = pl.col("qty_affected").fill_null(0) <= pl.col("was_qty_affected").fill_null(0)
    worth = pl.col("impact_inr").fill_null(0) <= pl.col("was_impact_inr").fill_null(0)
    mrp = pl.col("mrp_returned") - pl.col("mrp_announced")
    deltas = (
        _no_further(pl.col("qty_delta"), pl.col("was_qty_delta")),
        _no_further(pl.col("price_delta"), pl.col("was_price_delta")),
        _no_further(mrp, pl.col("was_mrp_delta")),
    )
    swapped = pl.col("found_sku") == pl.col("was_found_sku").fill_null("")
    said = pl.col("grounds").fill_null("") == pl.col("was_grounds").fill_null("")
    return pl.all_horizontal(alike, no_other, pieces, worth, *deltas, swapped, said).fill_null(False)


def _no_further(now: pl.Expr, then: pl.Expr) -> pl.Expr:
    """A difference on the same side as before, and no greater."""
    now, then = now.fill_null(0), then.fill_null(0)
    return (now == 0) | ((now.sign() == then.sign()) & (now.abs() <= then.abs()))


def _grown() -> pl.Expr:
    """What is not as it was accepted: it has to be accepted anew, or to become that again."""
    return _claimed() & ~_no_more_than_accepted()


def _state(rules: Rules) -> pl.Expr:
    """A second report of the same night calls new what the first one called new."""
    first_today = pl.col("was_code").is_null() | (pl.col("was_first_seen") >= pl.lit(rules.business_date))
    was = pl.col("was_state").is_in([State.CHANGED.value, State.BACK.value])
    return first_that_holds(
        [
            (_grown(), State.CHANGED.value),
            (first_today.fill_null(False), State.NEW.value),
            (pl.col("was_standing") == Standing.RESOLVED.value, State.BACK.value),
            (was & ~_claimed(), pl.col("was_state")),
            (pl.lit(True), State.OPEN.value),
        ]
    )


def _remark(rules: Rules) -> pl.Expr:
    accepted = "It was accepted as {was_code:text} of {pieces} units; "
    grown = f"{accepted}it is another class, for another reason or more today."
    unseen = f"{accepted}tonight's report may be incomplete and cannot tell. When it is seen as that, it is accepted."
    is_unseen = (pl.col("code") == Discrepancy.UNVERIFIABLE.value) & (not rules.whole)
    pieces = plain("was_qty_affected", none="0")
    said_before = pl.col("was_state").is_in([State.CHANGED.value, State.BACK.value]) & ~_claimed()
    return first_that_holds(
        [
            (_grown() & is_unseen, sentence(unseen, pieces=pieces)),
            (_grown(), sentence(grown, pieces=pieces)),
            (
                _says(_CLOSED_WORDS) & ~_says(_ACCEPTED_WORDS),
                "Closed by an analyst, but the difference is still there.",
            ),
            (pl.col("was_standing") == Standing.RESOLVED.value, "It had gone away and is back."),
            (said_before, pl.col("was_remark")),
        ]
    )


def _status() -> pl.Expr:
    back = _claimed() & ~_says(_ACCEPTED_WORDS)
    return pl.when(_grown()).then(pl.lit(_SUSPENDED)).when(back).then(pl.lit("Accepted")).otherwise("analyst_status")


def _gone(missing: pl.DataFrame, lines: pl.DataFrame, *, rules: Rules, legs: Legs) -> pl.DataFrame:
    """What was listed and is no exception tonight (MEMORY_SCHEMA): resolved, or not looked at."""
    today = pl.lit(rules.business_date)
    was_resolved = pl.col("standing") == Standing.RESOLVED.value
    remembered = pl.col("gone_since") > today - timedelta(days=REMEMBERED_DAYS)
    told = _with_outcome(missing.filter(~was_resolved), lines)
    unordered = (pl.col("level") == ExceptionLevel.ORDER.value) & pl.col("now").is_null()
    unreceived = pl.col("by_receipts").fill_null(False) & (legs.received is None)
    seen = pl.col("now").is_not_null() & ~unreceived
    # What was accepted is accepted again when it is compared again.
    closed = _says(_CLOSED_WORDS) & ~(_says(_ACCEPTED_WORDS) & (unordered | unreceived))
    unseen = unordered | unreceived | pl.col("uncompared")
    resolved = seen | (_inside(rules) & pl.lit(rules.whole) & ~unseen) | closed
    remark = first_that_holds(
        [
            (seen, pl.format("Tonight it is {}.", pl.col("now").fill_null(""))),
            (closed, "Accepted or closed by an analyst, and no longer looked at."),
            (resolved, "Nothing shows it any more."),
            (unordered & (legs.ordered is not None), "No purchase order of tonight names it."),
            (unordered, "No purchase orders were compared tonight."),
            (unreceived, "No receipts were compared tonight."),
            (pl.col("uncompared") & rules.whole, "Tonight it could not be compared with the service."),
            (pl.lit(not rules.whole), "Tonight's report may be incomplete."),
            (pl.lit(True), "Its ASN lies outside the dates that are looked at now."),
        ]
    )
    standing = pl.when(resolved).then(pl.lit(Standing.RESOLVED.value)).otherwise(pl.lit(Standing.NOT_CHECKED.value))
    judged = told.with_columns(
        standing.alias("standing"),
        pl.when(resolved | (pl.col("standing") != Standing.NOT_CHECKED.value))
        .then(today)
        .otherwise(pl.coalesce("gone_since", today))
        .alias("gone_since"),
        remark.alias("became"),
    )
    kept = missing.filter(was_resolved & remembered)
    return pl.concat([_as_schema(judged, MEMORY_SCHEMA), _as_schema(kept, MEMORY_SCHEMA)])


def _inside(rules: Rules) -> pl.Expr:
    followed = _folded("invoice_number").is_in(sorted(rules.followed))
    if rules.due is None:
        return followed
    return pl.col("due_date").is_between(*rules.due).fill_null(False) | followed


_NOTICE_KEYS = ("invoice_key", "supplier_key", "site_key")


def _with_outcome(missing: pl.DataFrame, lines: pl.DataFrame) -> pl.DataFrame:
    """`now`: how the same SKU of the same ASN came out tonight, or for an ASN's own finding what of it was compared.

    `uncompared`: lines of the ASN are there, and none of them was held against the service's record.
    """
    asked = _keyed(missing)
    judged = lines.filter(pl.col("outcome") != ComparedOutcome.OUTSIDE_WINDOW.value)
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
    whole = (pl.col("level") == ExceptionLevel.NOTICE.value) | (pl.col("sku_key") == "")
    of_asn = (pl.col("level") == ExceptionLevel.NOTICE.value) & pl.col("uncompared").fill_null(False)
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
    names = {"invoice_number": "invoice_key", "supplier": "supplier_key", "site": "site_key", "sku_name": "sku_key"}
    keyed = frame.with_columns(_folded(name).alias(key) for name, key in names.items())
    # The line of an order is no line of an ASN, whatever invoice it names.
    number = order_number("po_number")
    by_invoice = pl.when(number == "").then("invoice_key").otherwise(pl.lit(""))
    order = pl.concat_str(pl.lit("order:"), number, pl.lit(":"), by_invoice)
    is_order = pl.col("level") == ExceptionLevel.ORDER.value
    return keyed.with_columns(pl.when(is_order).then(order).otherwise("invoice_key").alias("invoice_key"))


class ExceptionChange(StrEnum):
    """What became of an exception between two nights."""

    CAME = "new"
    REOPENED = "opened again"  # it had been accepted
    ACCEPTED = "accepted"  # it differs as before, and an analyst accepted that
    WENT = "resolved"
    NOT_SEEN = "not looked at"
    STAYED = "still open"
    CHANGED = "changed"


COMPARED_SCHEMA: dict[str, pl.DataType] = {
    "change": pl.String(),
    "exception_id": pl.String(),
    **{name: LINES_SCHEMA[name] for name in ("invoice_number", "supplier", "site", "sku_name", "due_date")},
    "code_first": pl.String(),
    "code_second": pl.String(),  # "" where it is no exception
    "qty_affected_first": QUANTITY,
    "qty_affected_second": QUANTITY,
    "impact_inr_first": MONEY,
    "impact_inr_second": MONEY,
}


def compared(first: pl.DataFrame, second: pl.DataFrame) -> pl.DataFrame:
    """What changed in the exceptions from one night to another (COMPARED_SCHEMA), by change and INR at stake.

    first, second: how they stood (`standing`) after each, with the columns of COMPARED_SCHEMA without its endings.
    """
    listed = pl.col("standing").is_in([Standing.OPEN.value, Standing.ACCEPTED.value])
    both = first.filter(listed).join(second, on="exception_id", how="full", coalesce=True, suffix="_second")
    was_open, is_open = (pl.col(f"standing{end}") == Standing.OPEN.value for end in ("", "_second"))
    both = both.filter(was_open.fill_null(False) | is_open.fill_null(False))
    now = pl.col("standing_second")
    there = now.is_in([Standing.OPEN.value, Standing.ACCEPTED.value]).fill_null(False)
    same = (pl.col("code") == pl.col("code_second")) & pl.col("qty_affected").eq_missing(pl.col("qty_affected_second"))
    steps = (
        (pl.col("standing").is_null(), ExceptionChange.CAME),
        (~there & (now == Standing.RESOLVED.value), ExceptionChange.WENT),
        (~there, ExceptionChange.NOT_SEEN),
        (now == Standing.ACCEPTED.value, ExceptionChange.ACCEPTED),
        (pl.col("standing") == Standing.ACCEPTED.value, ExceptionChange.REOPENED),
        (same, ExceptionChange.STAYED),
    )
    change = pl.coalesce(*(pl.when(applies).then(pl.lit(word.value)) for applies, word in steps))
    shown = both.with_columns(
        change.fill_null(ExceptionChange.CHANGED.value).alias("change"),
        *(pl.coalesce(f"{name}_second", name).alias(name) for name in list(COMPARED_SCHEMA)[2:7]),
        *(
            pl.when(there).then(f"{name}_second").alias(f"{name}_second")
            for name in ("code", "qty_affected", "impact_inr")
        ),
    ).rename({name: f"{name}_first" for name in ("code", "qty_affected", "impact_inr")})
    order = {word.value: place for place, word in enumerate(ExceptionChange)}
    ordered = shown.sort(
        pl.col("change").replace_strict(order, return_dtype=pl.Int8),
        pl.coalesce("impact_inr_second", "impact_inr_first").neg(),
        "exception_id",
        nulls_last=True,
    )
    return _as_schema(ordered, COMPARED_SCHEMA).with_columns(pl.col("code_first", "code_second").fill_null(""))
