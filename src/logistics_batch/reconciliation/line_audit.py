"""The whole audit of lines, the gravest class first: every line of the legs comes out once, with its reason."""

import hashlib
from dataclasses import replace

import polars as pl

from logistics_batch.model.reconciliation import LINES_SCHEMA, MEANINGS, ComparedOutcome, Discrepancy, ExceptionLevel
from logistics_batch.model.reconciliation_history import BASIS_SCHEMA
from logistics_batch.reconciliation import findings
from logistics_batch.reconciliation.ageing import bucket, claim_days_left, claim_until, days_overdue
from logistics_batch.reconciliation.amounts import affected, also, causes_beside, delta, delta_percent, impact, parts
from logistics_batch.reconciliation.causes import shown_by_receipts
from logistics_batch.reconciliation.classes import Rules, with_facts, with_verdict
from logistics_batch.reconciliation.faces import tier_words
from logistics_batch.reconciliation.grounds import first_cause, grounds_of_lines
from logistics_batch.reconciliation.legs import RECEIVED_LINES, Legs, with_units
from logistics_batch.reconciliation.lines import received_side, side_by_side, stand_in, swaps
from logistics_batch.reconciliation.orders import ordered_lines
from logistics_batch.reconciliation.pairs import with_pairs
from logistics_batch.reconciliation.reasons import doubts, reason
from logistics_batch.reconciliation.rows_not_sent import with_rows_not_sent
from logistics_batch.reconciliation.sides import Sides, matched_sides
from logistics_batch.reconciliation.statuses import is_new
from logistics_batch.reconciliation.unread import loose, nameless_rows, with_unread
from logistics_batch.reconciliation.version_pieces import with_pieces_told

_SHOWN = {"supplier_shown": "supplier", "site_shown": "site", "batch_shown": "batch", "status": "asn_status"}
# Of these the numbers do not tell whether it is the same still.
_TOLD_BY_GROUNDS = [
    code.value
    for code in (
        *(Discrepancy.LATE, Discrepancy.EARLY, Discrepancy.SHELF_LIFE),
        *(Discrepancy.NOT_SENT, Discrepancy.UNVERIFIABLE),
    )
]
_SETTLED = {"settled_lines": pl.UInt32, "settled_received": pl.Boolean}


def audited_lines(legs: Legs, *, rules: Rules) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The lines of the legs (LINES_SCHEMA, in no order), and the matched notices that they belong to."""
    sides = matched_sides(_as_parted(legs))
    judged = _judged_lines(sides, legs.unopened, rules=rules)
    apart = [
        findings.surplus_notices(sides.whole, sides.returned),
        findings.notices_without_lines(sides.whole),
        findings.changed_headers(sides.whole),
        findings.differing_amounts(sides, rules=rules),
        _told_by_no_line(findings.odd_statuses(sides.whole, sides.received, rules=rules), judged),
    ]
    shown = [_shown(frame) for frame in (judged, *apart)]
    lines = pl.concat([*shown, findings.unsent_rows(legs.unsent_rows)], how="diagonal_relaxed")
    finished = _identified(_finished(lines, rules=rules, receipts=sides.received is not None))
    return with_pairs(with_rows_not_sent(finished)), sides.whole


def _told_by_no_line(statuses: pl.DataFrame, judged: pl.DataFrame) -> pl.DataFrame:
    """Without ASNs that are not closed because a line of them waits for somebody: the line says what is up."""
    codes = [code.value for code in Discrepancy]
    waiting = judged.filter(pl.col("verdict").is_in(codes)).select("notice").unique()
    forgotten = (pl.col("verdict") == Discrepancy.STALE_STATUS.value) & is_new()
    return statuses.filter(~forgotten | ~pl.col("notice").is_in(waiting["notice"].implode()))


def audited_orders(legs: Legs, *, rules: Rules) -> pl.DataFrame:
    """The lines of the purchase orders (LINES_SCHEMA, in no order)."""
    lines = ordered_lines(legs, rules=rules)
    shown = lines.select(
        name for name in (*LINES_SCHEMA, "grounds", "verdict", "in_window", "identity") if name in lines.columns
    )
    nowhere = [pl.lit(None, pl.String).alias(name) for name in ("party", "place", "batch_key", "announced")]
    # What nobody announced, nobody sent: there is nothing to claim, whatever was received.
    finished = _identified(_finished(shown.with_columns(nowhere), rules=rules, receipts=False))
    return finished.with_columns(pl.lit("").alias("pair_id"))


def _as_parted(legs: Legs) -> Legs:
    """The legs with what `set_aside` would say where nothing was set aside."""
    absent = [pl.lit(None, kind).alias(name) for name, kind in _SETTLED.items()]
    notices = legs.returned_notices
    return legs if "settled_lines" in notices.columns else replace(legs, returned_notices=notices.with_columns(absent))


def _judged_lines(sides: Sides, unopened: pl.DataFrame, *, rules: Rules) -> pl.DataFrame:
    receipts = sides.received is not None
    paired = _side_by_side_with_swaps(sides)
    lines = paired.join(sides.whole, on="notice", how="left", maintain_order="left")
    not_opened = unopened.group_by("invoice").agg(pl.col("lists").unique(maintain_order=True).str.join(", and "))
    not_opened = not_opened.rename({"lists": "unopened"})
    lines = lines.join(not_opened, on="invoice", how="left", maintain_order="left")
    lines = with_unread(lines, sides.unread, nameless=nameless_rows(sides.unread))
    facts = with_pieces_told(
        with_verdict(with_facts(lines, rules=rules, receipts=receipts), rules=rules, receipts=receipts)
    ).with_columns(days_overdue("due_date", business_date=rules.business_date).alias("days_overdue"))
    verdicts, beside = facts["verdict"].unique().to_list(), causes_beside(facts)
    words = reason(rules=rules, verdicts=verdicts, beside=beside)
    return (
        facts.lazy()
        .with_columns(delta().alias("qty_delta"))
        .with_columns(affected().alias("qty_affected"), delta_percent().alias("delta_percent"))
        .with_columns(impact().alias("impact_inr"), also(beside=beside).alias("also"), words.alias("words"))
        .with_columns(grounds_of_lines(first_cause(doubts(rules), "no date")).alias("grounds"))
        .with_columns(parts(verdicts=verdicts, beside=beside).alias("impact_by_class"))
        .with_columns(pl.concat_str("words", pl.col("told_in").fill_null("")).alias("reason"))
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
    paired = sides.whole.filter(pl.col("tier").is_not_null() & pl.col("accepted")).select("notice")
    has = {leg: pl.col(f"lines_{leg}") > 0 for leg in ("announced", "returned", "received")}
    in_service = swaps(
        lines.join(paired, on="notice", how="semi"),
        expected=pl.col("qty_announced"),
        absent=has["announced"] & ~has["returned"],
        found=pl.col("qty_returned"),
        surplus=has["returned"] & ~has["announced"],
    )
    returned, received = stand_in(returned, in_service), stand_in(received, in_service)
    if in_service.height:
        lines = side_by_side(announced, returned, received)
    expected_side = has["announced"] | has["returned"]
    readable = lines.join(sides.unread, on="notice", how="anti").join(loose(sides.unread), on="sku", how="anti")
    on_receipt = swaps(
        readable.join(paired, on="notice", how="semi"),
        expected=pl.coalesce("qty_announced", "qty_returned"),
        absent=expected_side & ~has["received"],
        found=pl.col("qty_received"),
        surplus=has["received"] & ~expected_side,
    )
    return side_by_side(announced, returned, stand_in(received, on_receipt)) if on_receipt.height else lines


def _shown(lines: pl.DataFrame) -> pl.DataFrame:
    renamed = {old: new for old, new in _SHOWN.items() if old in lines.columns}
    has_receipts = pl.col("lines_received") > 0 if "lines_received" in lines.columns else pl.lit(False)
    told = lines.with_columns(tier_words(has_receipts=has_receipts).alias("match_tier")).rename(renamed)
    keep = [
        name
        for name in (
            *LINES_SCHEMA,
            *BASIS_SCHEMA,
            "verdict",
            "in_window",
            "identity",
            "party",
            "place",
            "batch_key",
            "announced",
            "notice",
        )
        if name in told.columns and name != "state"  # that of the document, not what became of the exception
    ]
    return told.select(keep)


def _finished(lines: pl.DataFrame, *, rules: Rules, receipts: bool) -> pl.DataFrame:
    """Outcome, code, severity and age from the verdict; what lies outside the window is not judged.

    receipts: whether the lines were held against what was received.
    """
    codes = [code.value for code in Discrepancy]
    severities = {code.value: meaning.severity.value for code, meaning in MEANINGS.items()}
    outside = ~pl.col("in_window").fill_null(True)
    excepted = pl.col("verdict").is_in(codes) & ~outside
    words = [name for name in ("reason", "also", "impact_by_class") if name in lines.columns]
    settled = lines.with_columns(
        pl.when(outside)
        .then(pl.lit(ComparedOutcome.OUTSIDE_WINDOW.value))
        .when(excepted)
        .then(pl.lit(ComparedOutcome.EXCEPTION.value))
        .otherwise("verdict")
        .alias("outcome"),
        pl.when(excepted).then("verdict").otherwise(pl.lit("")).alias("code"),
        days_overdue("due_date", business_date=rules.business_date).alias("days_overdue"),
        pl.when(~outside).then("impact_inr").alias("impact_inr"),
        *(pl.when(~outside).then(name).otherwise(pl.lit("")).alias(name) for name in words),
    )
    schema = LINES_SCHEMA | BASIS_SCHEMA
    missing = [pl.lit(None, kind).alias(name) for name, kind in schema.items() if name not in settled.columns]
    by_grounds = (pl.col("level") == ExceptionLevel.NOTICE.value) | pl.col("code").is_in(_TOLD_BY_GROUNDS)
    whole = (
        settled.with_columns(*missing)
        .with_columns(
            pl.col("code").replace_strict(severities, default="", return_dtype=pl.String).alias("severity"),
            bucket("days_overdue").alias("bucket"),
            pl.when(by_grounds).then("grounds").fill_null("").alias("grounds"),
            claim_until(claim_days=rules.claim_days, receipts=receipts).alias("claim_until"),
        )
        .with_columns(claim_days_left(business_date=rules.business_date).alias("claim_days_left"))
    )
    texts = [name for name, kind in LINES_SCHEMA.items() if kind == pl.String]
    counts = [f"lines_{leg}" for leg in ("announced", "returned", "received", "ordered")]
    return whole.with_columns(pl.col(texts).fill_null(""), pl.col(counts).fill_null(0))


def _identified(lines: pl.DataFrame) -> pl.DataFrame:
    """Exceptions with an id that hangs on what the line is (invoice, supplier, site, SKU, batch), not on its class.

    What only the service has is known by the service's id: replies name a supplier now by id, now by name.
    """
    only_there = pl.col("announced").is_null() & (pl.col("record_id") != "")
    parts = [
        pl.col("invoice_number").str.strip_chars().str.to_lowercase(),
        pl.when(only_there).then("record_id").otherwise(pl.col("party").fill_null("")),
        pl.when(only_there).then(pl.lit("")).otherwise(pl.col("place").fill_null("")),
        pl.col("identity").fill_null(""),
        # That of the file: a batch that the service adds later makes no other line of it.
        pl.when(only_there).then(pl.lit("")).otherwise(pl.col("batch_key").fill_null("")),
    ]
    named = lines.with_columns(pl.concat_str(parts, separator="\x1f").alias("who"))
    alone = named["who"].n_unique() == named.height
    nth = pl.lit(0) if alone else pl.int_range(pl.len()).over("who")
    numbered = named.with_columns(pl.concat_str("who", pl.lit("\x1f"), nth.cast(pl.String)).alias("who"))
    excepted = (numbered["code"] != "").to_list()
    ids = [
        _exception_id(who) if is_exception else ""
        for who, is_exception in zip(numbered["who"].to_list(), excepted, strict=True)
    ]
    return numbered.with_columns(pl.Series("exception_id", ids, dtype=pl.String))


def _exception_id(who: str) -> str:
    # The prefix keeps spreadsheet programs from reading an id like 12e45678 as a number.
    return "EX-" + hashlib.sha256(who.encode()).hexdigest()[:16].upper()
