"""The audit: three legs in, one outcome for every line out, and sums that tie out to zero.

Lines that point to each other are named: as much too little here as too much there is probably one mistake, not two.
"""

import hashlib
from dataclasses import replace
from functools import cache, partial

import polars as pl

from logistics_batch.model.reconciliation import (
    BASIS_SCHEMA,
    LINES_SCHEMA,
    MEANINGS,
    ComparedOutcome,
    Discrepancy,
    Earlier,
    ExceptionLevel,
    Reconciliation,
)
from logistics_batch.reconciliation import totals
from logistics_batch.reconciliation.classes.amounts import causes_beside, is_exception, with_amounts, with_pieces_told
from logistics_batch.reconciliation.classes.facts import with_facts
from logistics_batch.reconciliation.classes.reasons import with_reasons
from logistics_batch.reconciliation.classes.rules import Rules
from logistics_batch.reconciliation.classes.verdicts import shown_by_receipts, with_verdict
from logistics_batch.reconciliation.history import carried
from logistics_batch.reconciliation.legs.columns import RECEIVED_LINES, Legs
from logistics_batch.reconciliation.legs.lines import received_side, side_by_side, stand_in, swaps
from logistics_batch.reconciliation.legs.reading import identifier, spelling, with_units
from logistics_batch.reconciliation.matching.exact_matches import ExactMatches, exact_matches
from logistics_batch.reconciliation.matching.sides import Sides, matched_sides
from logistics_batch.reconciliation.matching.unread_receipts import with_unread, without_invoice
from logistics_batch.reconciliation.notices.findings import notice_findings, unsent_rows
from logistics_batch.reconciliation.notices.headers import accepted_pairs, not_returned, tier_words
from logistics_batch.reconciliation.order_lines import ordered_lines
from logistics_batch.reconciliation.sentences import sentence
from logistics_batch.reconciliation.totals import bucket, claim_days_left, claim_until, days_overdue

_D = Discrepancy
# A SKU that does not belong on the ASN at all: somebody else's goods may well have been booked there.
_STRANGE = (_D.UNEXPECTED_IN_SERVICE, _D.NO_ASN, _D.EXTRA_SKU)
_PAIRED = (
    *(_D.MISSING_IN_SERVICE, _D.MISSING_SKU, _D.NOT_RECEIVED, _D.EXPIRED_UNRECEIVED, _D.SHORT),
    *(*_STRANGE, _D.OVER),
)
_WORDS = {
    "spelled": ' {size} {more} of it on this invoice number under supplier "{supplier_other:known}": the same one, '
    "spelled otherwise?",
    "elsewhere": " {size} {more} of it on invoice {invoice_number_other:known}: booked on the wrong ASN?",
    "beside": ' {size} {more} of SKU "{sku_name_other:known}" on the same invoice: counted as the wrong SKU?',
}
# By what lines are paired, the likeliest first.
_TIERS = (
    ("spelled", ("invoice", "sku", "size")),
    ("elsewhere", ("sku", "place", "size", "party")),
    ("elsewhere", ("sku", "place", "size")),
    ("beside", ("notice", "size")),
    ("elsewhere", ("sku", "size")),
)


def with_pairs(lines: pl.DataFrame) -> pl.DataFrame:
    """The lines with `pair_id` and, in the reason, what stands against it.

    First goods that came on the very invoice under another spelling, then one SKU on two notices of a site, the same
    supplier's before all others, then two SKUs of one notice, then one SKU on notices of different sites; only pairs
    that leave no choice, and of different suppliers only where the SKU does not belong on one of the notices.
    Needs `exception_id`, `code`, `qty_delta`, `reason`, `notice`, `party` and the names that people see.
    """
    usable = (pl.col("qty_delta") != 0) & pl.col("code").is_in([code.value for code in _PAIRED])
    left = lines.filter(usable).select(
        *("exception_id", "code", "invoice_number", "supplier", "sku_name", "notice"),
        identifier("invoice_number").alias("invoice"),
        identifier("sku_name").alias("sku"),
        spelling("site").alias("place"),
        pl.col("party").fill_null("").alias("party"),
        pl.col("qty_delta").abs().alias("size"),
        (pl.col("qty_delta") < 0).alias("less"),
    )
    stray = (pl.col("less") | (pl.col("code") == _D.NO_ASN.value)) & (pl.col("invoice") != "")
    pairs = []
    for kind, keys in _TIERS:
        fitting = pl.col("notice").is_not_null() if kind == "beside" else pl.col("sku") != ""
        pairs.append(_paired(left.filter(fitting & stray if kind == "spelled" else fitting), keys=keys, kind=kind))
        left = left.join(pairs[-1], on="exception_id", how="anti", maintain_order="left")
    joined = lines.drop("pair_id", strict=False).join(
        pl.concat(pairs), on="exception_id", how="left", maintain_order="left"
    )
    return joined.with_columns(
        pl.col("pair_id").fill_null(""), pl.concat_str("reason", pl.col("pair_words").fill_null(""))
    ).drop("pair_words")


def _paired(lines: pl.DataFrame, *, keys: tuple[str, ...], kind: str) -> pl.DataFrame:
    """`exception_id`, `pair_id` and `pair_words` of both lines of each pair."""
    sides = lines.filter(pl.len().over(*keys, "less") == 1).with_columns(pl.col("party").alias("own_party"))
    less, more = sides.filter(pl.col("less")), sides.filter(~pl.col("less"))
    either = pl.concat([less.join(more, on=keys, suffix="_other"), more.join(less, on=keys, suffix="_other")])
    direction = pl.when(pl.col("less")).then(pl.lit("more")).otherwise(pl.lit("fewer"))
    return either.filter(_may_belong_together()).select(
        "exception_id",
        pl.col("exception_id_other").alias("pair_id"),
        sentence(_WORDS[kind], more=direction).alias("pair_words"),
    )


def _may_belong_together() -> pl.Expr:
    """A line shows no supplier or a strange SKU, or both lines share a supplier's id or name."""
    parties = ("own_party", "own_party_other")
    ours, others = (pl.col(name).str.split("|") for name in parties)
    unknown = pl.any_horizontal(pl.col(name) == "" for name in parties)
    strange = pl.any_horizontal(pl.col("code", "code_other").is_in([code.value for code in _STRANGE]))
    return unknown | strange | (ours.list.set_intersection(others).list.len() > 0)


def with_rows_not_sent(lines: pl.DataFrame) -> pl.DataFrame:
    """The lines with, in the reason, the row that was not sent where goods have no ASN, and the other way round.

    Needs `code`, `level`, `invoice_number`, `qty_received`, `file_name`, `rows` and `reason`.
    """
    numbered = lines.with_columns(identifier("invoice_number").alias("invoice"))
    named = pl.col("invoice") != ""
    is_row = named & (pl.col("code") == _D.NOT_SENT.value) & (pl.col("level") == ExceptionLevel.ROW.value)
    came = named & (pl.col("code") == _D.NO_ASN.value)
    row = sentence(" {file_name:known} row {rows:known} announced this invoice and was not sent.")
    units = pl.col("qty_received").sum().alias("units")
    rows = numbered.filter(is_row).group_by("invoice", maintain_order=True).agg(row.first().alias("announced_by"))
    goods = numbered.filter(came).group_by("invoice").agg(units)
    for told in (rows, goods):
        numbered = numbered.join(told, on="invoice", how="left", maintain_order="left")
    arrived = pl.when(pl.col("units").is_not_null()).then(sentence(" {units} units came on this invoice."))
    more = pl.when(came).then("announced_by").when(is_row).then(arrived).fill_null("")
    return numbered.with_columns(pl.concat_str("reason", more).alias("reason")).select(lines.columns)


_NOTICES_AT_ONCE = 10_000
_SHOWN = {"supplier_shown": "supplier", "site_shown": "site", "batch_shown": "batch", "status": "asn_status"}
_SETTLED = {"settled_lines": pl.UInt32, "settled_received": pl.Boolean}
_WHO = ("party", "place", "batch_key", "announced")
_KEPT = {*LINES_SCHEMA, *BASIS_SCHEMA, "verdict", "in_window", "identity", *_WHO, "notice"}
# Of these the numbers do not tell whether it is the same still.
_TOLD_BY_GROUNDS = [Discrepancy[name].value for name in ("LATE", "EARLY", "SHELF_LIFE", "NOT_SENT", "UNVERIFIABLE")]


_NO_NIGHTS = Earlier(told=False)


def audit(legs: Legs, *, rules: Rules, earlier: Earlier = _NO_NIGHTS) -> Reconciliation:
    """Compare the legs line by line, and the outcome with the nights before.

    What the next night has to know is `remembered` also where nothing is told of others.
    Raises LogisticsBatchError if lines or quantities over all classes do not equal those of each leg.
    """
    read = _read(legs)
    # The lines of the earlier night's exceptions, and those with receipts not read, are all looked at.
    named = [frame.select(identifier("invoice_number")) for frame in (earlier.listed, legs.unread)]
    matches = exact_matches(read, rules=rules, looked_at=pl.concat(named).to_series())
    found, whole = audited_lines(matches.left, rules=rules)
    if read.ordered is not None:
        found = pl.concat([found, _audited_orders(read, rules=rules)], how="diagonal_relaxed")
    told, resolved, trend, remembered = carried(found, earlier, rules=rules, legs=legs)
    lines = totals.in_report_order(told)
    counted = totals.counted_lines(lines, matches.pairs, receipts=legs.received is not None)
    classes, legs_totals = totals.class_totals(counted), totals.leg_totals(read)
    totals.check_residual(classes, legs_totals)
    return Reconciliation(
        differing=lines,
        agreeing=cache(partial(_agreeing_lines, matches, rules)),
        classes=classes,
        suppliers=totals.supplier_totals(counted, matches.pairs),
        ageing=totals.ageing_totals(lines),
        legs=legs_totals,
        match_rate=totals.match_rate(counted),
        not_returned=not_returned(accepted_pairs(whole), matches.settled_pairs()),
        resolved=resolved,
        trend=trend,
        previous_run=earlier.run if earlier.told else "",
        remembered=remembered,
    )


def _read(legs: Legs) -> Legs:
    """The legs with the quantities of their lines read."""
    return replace(
        legs,
        announced_notices=legs.announced_notices.rechunk(),
        returned_notices=legs.returned_notices.rechunk(),
        announced_lines=with_units(legs.announced_lines.rechunk()),
        returned_lines=with_units(legs.returned_lines.rechunk()),
        received=None if legs.received is None else with_units(legs.received),
        ordered=None if legs.ordered is None else with_units(legs.ordered),
    )


def _agreeing_lines(matches: ExactMatches, rules: Rules) -> pl.DataFrame:
    """The lines that were set aside, put together as the whole audit does it, in parts: there may be millions.

    Of each part only what differs from line to line is kept, and the first line, which says what the others hold.
    """
    parts = []
    for legs in matches.legs_aside(notices_at_once=_NOTICES_AT_ONCE):
        lines, _ = audited_lines(legs, rules=rules)
        differing = [column.name for column in lines if column.name == "invoice_number" or column.n_unique() > 1]
        parts.append((lines.select(differing), lines.head(1)))
    if not parts:
        return pl.DataFrame(schema=LINES_SCHEMA)
    firsts = pl.concat([first for _, first in parts], how="vertical_relaxed")
    told = {name for part, _ in parts for name in part.columns}
    others = [column.name for column in firsts if column.name in told or column.n_unique() > 1]
    whole = pl.concat(
        [
            part.with_columns(_everywhere(first.select(others).drop(part.columns))).select(others)
            for part, first in parts
        ],
        how="vertical_relaxed",
    )
    return totals.in_report_order(whole.with_columns(_everywhere(firsts.drop(others))))


def _everywhere(lines: pl.DataFrame) -> list[pl.Expr]:
    """What the first line says, for all lines."""
    return [pl.lit(column).first().alias(column.name) for column in lines]


def audited_lines(legs: Legs, *, rules: Rules) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The lines of the legs (LINES_SCHEMA, in no order), each with its reason, and the notices that they belong to."""
    if "settled_lines" not in legs.returned_notices.columns:
        absent = [pl.lit(None, kind).alias(name) for name, kind in _SETTLED.items()]
        legs = replace(legs, returned_notices=legs.returned_notices.with_columns(absent))
    sides = matched_sides(legs)
    judged = _judged_lines(sides, legs.unopened, rules=rules)
    shown = [_shown(frame) for frame in (judged, *notice_findings(sides, judged, rules=rules))]
    lines = pl.concat([*shown, unsent_rows(legs.unsent_rows)], how="diagonal_relaxed")
    finished = _identified(_finished(lines, rules=rules, receipts=sides.received is not None))
    return with_pairs(with_rows_not_sent(finished)), sides.whole


def _audited_orders(legs: Legs, *, rules: Rules) -> pl.DataFrame:
    """The lines of the purchase orders (LINES_SCHEMA, in no order)."""
    lines = ordered_lines(legs, rules=rules)
    shown = lines.select(name for name in lines.columns if name in _KEPT)
    nowhere = [pl.lit(None, pl.String).alias(name) for name in _WHO]
    # What nobody announced, nobody sent: there is nothing to claim, whatever was received.
    finished = _identified(_finished(shown.with_columns(nowhere), rules=rules, receipts=False))
    return finished.with_columns(pl.lit("").alias("pair_id"))


def _judged_lines(sides: Sides, unopened: pl.DataFrame, *, rules: Rules) -> pl.DataFrame:
    receipts = sides.received is not None
    not_opened = unopened.group_by("invoice").agg(
        pl.col("lists").unique(maintain_order=True).str.join(", and ").alias("unopened")
    )
    lines = _side_by_side_with_swaps(sides)
    for frame, on in ((sides.whole, "notice"), (not_opened, "invoice")):
        lines = lines.join(frame, on=on, how="left", maintain_order="left")
    facts = with_facts(with_unread(lines, sides.unread), rules=rules, receipts=receipts)
    judged = with_pieces_told(with_verdict(facts, rules=rules, receipts=receipts))
    judged = judged.with_columns(days_overdue(rules.business_date).alias("days_overdue"))
    verdicts, beside = judged["verdict"].unique().to_list(), causes_beside(judged)
    valued = with_amounts(judged, beside=beside)
    return (
        with_reasons(valued, rules=rules, verdicts=verdicts, beside=beside)
        .with_columns(shown_by_receipts().alias("by_receipts"))
        .with_columns(pl.lit(ExceptionLevel.LINE.value).alias("level"), pl.col("sku").alias("identity"))
        .collect()
    )


def _side_by_side_with_swaps(sides: Sides) -> pl.DataFrame:
    """SKUs swapped in the service's notice are paired first, then those swapped in what was received."""
    announced, returned = sides.announced, sides.judged_returned
    received = received_side(with_units(pl.DataFrame(schema=RECEIVED_LINES | {"notice": pl.UInt32})))
    if sides.received is not None:
        received = sides.received
    lines = side_by_side(announced, returned, received)
    paired = accepted_pairs(sides.whole).select("notice")
    has = {leg: pl.col(f"lines_{leg}") > 0 for leg in ("announced", "returned", "received")}
    in_service = swaps(
        lines.join(paired, on="notice", how="semi"),
        expected=pl.col("qty_announced"),
        absent=has["announced"] & ~has["returned"],
        found=pl.col("qty_returned"),
        surplus=has["returned"] & ~has["announced"],
    )
    if in_service.height:
        returned, received = stand_in(returned, in_service), stand_in(received, in_service)
        lines = side_by_side(announced, returned, received)
    expected_side = has["announced"] | has["returned"]
    readable = lines.join(sides.unread, on="notice", how="anti").join(
        without_invoice(sides.unread), on="sku", how="anti"
    )
    on_receipt = swaps(
        readable.join(paired, on="notice", how="semi"),
        expected=pl.coalesce("qty_announced", "qty_returned"),
        absent=expected_side & ~has["received"],
        found=pl.col("qty_received"),
        surplus=has["received"] & ~expected_side,
    )
    return side_by_side(announced, returned, stand_in(received, on_receipt)) if on_receipt.height else lines


def _shown(lines: pl.DataFrame) -> pl.DataFrame:
    has_receipts = pl.col("lines_received") > 0 if "lines_received" in lines.columns else pl.lit(False)
    told = lines.with_columns(tier_words(has_receipts=has_receipts).alias("match_tier")).rename(_SHOWN, strict=False)
    # `state` is that of the document, not what became of the exception.
    return told.select(name for name in told.columns if name in _KEPT and name != "state")


def _finished(lines: pl.DataFrame, *, rules: Rules, receipts: bool) -> pl.DataFrame:
    """Outcome, code, severity and age from the verdict; what lies outside the window is not judged.

    receipts: whether the lines were held against what was received.
    """
    severities = {code.value: meaning.severity.value for code, meaning in MEANINGS.items()}
    outside, nothing = ~pl.col("in_window").fill_null(True), pl.lit("")
    excepted = is_exception() & ~outside
    outcome = pl.when(excepted).then(pl.lit(ComparedOutcome.EXCEPTION.value)).otherwise("verdict")
    schema = LINES_SCHEMA | BASIS_SCHEMA
    missing = [pl.lit(None, kind).alias(name) for name, kind in schema.items() if name not in lines.columns]
    settled = lines.with_columns(*missing).with_columns(
        pl.when(outside).then(pl.lit(ComparedOutcome.OUTSIDE_WINDOW.value)).otherwise(outcome).alias("outcome"),
        pl.when(excepted).then("verdict").otherwise(nothing).alias("code"),
        days_overdue(rules.business_date).alias("days_overdue"),
        pl.when(~outside).then("impact_inr").alias("impact_inr"),
        *(
            pl.when(~outside).then(name).otherwise(nothing).alias(name)
            for name in ("reason", "also", "impact_by_class")
        ),
    )
    by_grounds = (pl.col("level") == ExceptionLevel.NOTICE.value) | pl.col("code").is_in(_TOLD_BY_GROUNDS)
    whole = settled.with_columns(
        pl.col("code").replace_strict(severities, default="", return_dtype=pl.String).alias("severity"),
        bucket("days_overdue").alias("bucket"),
        pl.when(by_grounds).then("grounds").fill_null("").alias("grounds"),
        claim_until(claim_days=rules.claim_days, receipts=receipts).alias("claim_until"),
    ).with_columns(claim_days_left(business_date=rules.business_date).alias("claim_days_left"))
    texts = [name for name, kind in LINES_SCHEMA.items() if kind == pl.String]
    counts = [f"lines_{leg}" for leg in ("announced", "returned", "received", "ordered")]
    return whole.with_columns(pl.col(texts).fill_null(""), pl.col(counts).fill_null(0))


def _identified(lines: pl.DataFrame) -> pl.DataFrame:
    """Exceptions with an id that hangs on what the line is (invoice, supplier, site, SKU, batch), not on its class.

    What only the service has is known by the service's id: replies name a supplier now by id, now by name.
    """
    only_there = pl.col("announced").is_null() & (pl.col("record_id") != "")
    # The batch is that of the file: one that the service adds later makes no other line of it.
    party, place, batch = (pl.when(~only_there).then(name).fill_null("") for name in ("party", "place", "batch_key"))
    invoice = pl.col("invoice_number").str.strip_chars().str.to_lowercase()
    who = [
        invoice,
        pl.when(only_there).then("record_id").otherwise(party),
        place,
        pl.col("identity").fill_null(""),
        batch,
    ]
    named = lines.with_columns(pl.concat_str(who, separator="\x1f").alias("who"))
    nth = pl.int_range(pl.len()).over("who").cast(pl.String)
    numbered = named.select(pl.concat_str("who", pl.lit("\x1f"), nth).alias("who"), pl.col("code") != "")
    ids = [_exception_id(who) if is_exception else "" for who, is_exception in numbered.iter_rows()]
    return lines.with_columns(pl.Series("exception_id", ids, dtype=pl.String))


def _exception_id(who: str) -> str:
    # The prefix keeps spreadsheet programs from reading an id like 12e45678 as a number.
    return "EX-" + hashlib.sha256(who.encode()).hexdigest()[:16].upper()
