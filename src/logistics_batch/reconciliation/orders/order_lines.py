"""What was ordered against what was announced: one line for each SKU of each purchase order.

Announced counts what the service accepted; what it holds and what was received stand beside it, to be seen from the
order to the dock.
"""

import polars as pl

from logistics_batch.model.reconciliation import MONEY, PRICE, QUANTITY, ComparedOutcome, Discrepancy, ExceptionLevel
from logistics_batch.reconciliation.classes.rules import Rules, near, near_either_way
from logistics_batch.reconciliation.legs.columns import Legs
from logistics_batch.reconciliation.legs.lines import price_mix
from logistics_batch.reconciliation.legs.reading import day, identifier, price
from logistics_batch.reconciliation.orders.links import asns_of_several_orders, linked_notices, linked_orders
from logistics_batch.reconciliation.sentences import (
    all_that_hold,
    first_that_holds,
    grounds_of,
    is_given,
    plain,
    sentence,
    verdict_is,
)

_D = Discrepancy
_KEYS = ["link", "sku"]
_ZERO = pl.lit(0, QUANTITY)
_WORDS: dict[Discrepancy | ComparedOutcome, str] = {
    _D.EXTRA_SKU: "Announced {qty_announced}; the order does not hold the SKU.",
    _D.MISSING_SKU: "Ordered {ordered}, due {due_date:day}; none of it announced, though other SKUs of the order were.",
    _D.NO_ASN: "Ordered {ordered}, due {due_date:day}; no accepted ASN of the order.",
    _D.SHORT: "Ordered {ordered}, announced {qty_announced}: {qty_delta:size} fewer.",
    _D.OVER: "Ordered {qty_ordered}, announced {qty_announced}: {qty_delta:size} more.",
    _D.PRICE_VAR: "Ordered at INR {price_ordered:money} a unit, announced at INR {price_announced:money}.",
    _D.HEADER_DIFF: "Ordered from {supplier} for {site}, but announced by or for {strangers:known}.",
    ComparedOutcome.TOO_EARLY: "Ordered {qty_ordered}, announced {so_far} so far; due {due_date:day}, judged from "
    "{until} on.",
    ComparedOutcome.WITHIN_TOLERANCE: "Differs from the order by {qty_delta} units and INR {price_delta:money} a "
    "unit, which is tolerated.",
}
_UNDATED = (
    "Ordered {qty_ordered}, announced {qty_announced}; without a delivery date nobody can say whether more is due."
)
_MIXED = (
    "The prices of its lines are not the same, and which line is which cannot be told: ordered {mix_ordered:known}; "
    "announced {announced}."
)
_PERHAPS_CANCELLED = (
    "Ordered {qty_ordered}, announced {qty_announced}; the later list {absent_from:known} names the order without this "
    "SKU, and does not say whether it is cancelled."
)
_SHARED = (
    "Ordered {qty_ordered}, announced {qty_announced}; but {shared:known}, and which pieces are for which order cannot "
    "be told."
)


def ordered_lines(legs: Legs, *, rules: Rules) -> pl.DataFrame:
    """The lines of the orders with verdict, reason and amounts; every order line stands in one of them.

    `legs.ordered` and all lines need `units`.
    """
    assert legs.ordered is not None
    orders = linked_orders(legs.ordered, legs.announced_notices)
    notices = linked_notices(legs, orders)
    announced = _announced(legs, notices)
    whole = _ordered(orders).join(announced, on=_KEYS, how="full", coalesce=True, maintain_order="left_right")
    for sums in (*_beside(legs, notices), asns_of_several_orders(legs, orders)):
        whole = whole.join(sums, on=_KEYS, how="left", maintain_order="left")
    whole = whole.join(_heads(orders, notices), on="link", how="left", maintain_order="left")
    facts = _with_facts(_with_open_part(whole, orders, rules=rules), rules)
    judged = facts.with_columns(_verdict().alias("verdict")).with_columns(*_amounts())
    tier = pl.when("by_number").then(pl.lit("purchase order number")).otherwise(pl.lit("invoice number"))
    return _with_words(judged, rules=rules).with_columns(
        pl.lit(ExceptionLevel.ORDER.value).alias("level"),
        pl.lit(True).alias("in_window"),
        pl.concat_str(pl.lit("order"), "link", "sku", separator="|").alias("identity"),
        pl.coalesce("ordered_sku", "announced_sku").alias("sku_name"),
        tier.alias("match_tier"),
    )


def _ordered(orders: pl.DataFrame) -> pl.DataFrame:
    priced = orders.with_columns(price().alias("unit_price"))
    prices, units = pl.col("unit_price"), pl.col("units")
    summed = priced.group_by(_KEYS, maintain_order=True).agg(
        pl.when(units.null_count() < pl.len()).then(units.sum()).alias("qty_ordered"),
        pl.len().alias("lines_ordered"),
        units.null_count().alias("unreadable_ordered"),
        pl.when(prices.n_unique() == 1).then(prices.first()).alias("price_ordered"),
        pl.col("sku_name").first().alias("ordered_sku"),
        day("delivery_date").max().alias("ordered_for"),
        pl.col("file_name", "sheet").first(),
        pl.col("row").unique(maintain_order=True).cast(pl.String).str.join(", ").alias("rows"),
        pl.col("repeats", "absent_from").filter(pl.col("repeats", "absent_from") != "").unique().str.join("; "),
    )
    mixes = price_mix(priced, "unit_price", keys=_KEYS).rename({"mix": "mix_ordered"})
    return summed.join(mixes, on=_KEYS, how="left", maintain_order="left")


def _announced(legs: Legs, notices: pl.DataFrame) -> pl.DataFrame:
    """What the linked notices announce: accepted, and beside it what was not."""
    ours = notices.select("link", "notice", pl.col("accepted").fill_null(False), "invoice_number", "in_window")
    lines = legs.announced_lines.join(ours, on="notice", maintain_order="left").with_columns(
        identifier("sku_name").alias("sku"), price().alias("unit_price")
    )
    accepted = pl.col("accepted")
    prices, units = pl.col("unit_price").filter(accepted), pl.col("units").filter(accepted)
    average = (prices * units).sum() / pl.when(units.sum() != 0).then(units.sum())
    known = (prices.null_count() == 0) & (units.null_count() == 0)
    one_price = pl.when(prices.n_unique() == 1).then(prices.first()).when(known).then(average)
    summed = lines.group_by(_KEYS, maintain_order=True).agg(
        units.sum().alias("qty_announced"),
        pl.col("units").filter(~accepted).sum().alias("qty_not_accepted"),
        units.null_count().alias("unreadable_announced"),
        one_price.cast(PRICE).alias("price_announced"),
        pl.col("sku_name").first().alias("announced_sku"),
        pl.col("invoice_number").filter(accepted).unique(maintain_order=True).str.join(", ").alias("invoices"),
        accepted.any().alias("is_announced"),
        (~pl.col("in_window").fill_null(False)).any().alias("beyond"),
    )
    mixes = price_mix(lines.filter(accepted), "unit_price", keys=_KEYS).rename({"mix": "mix_announced"})
    return summed.join(mixes, on=_KEYS, how="left", maintain_order="left")


def _beside(legs: Legs, notices: pl.DataFrame) -> list[pl.DataFrame]:
    """By order line what the service holds and what was received on the invoices of its ASNs."""
    # Of a number that several suppliers have nobody can say here whose goods these are.
    alone = notices.filter(pl.col("alone") & (pl.col("link").n_unique().over("base", "invoice_link") == 1))
    invoices = alone.select("link", identifier("invoice_number").alias("invoice")).unique()
    invoice = identifier("invoice_number").alias("invoice")
    returned = legs.returned_lines.join(legs.returned_notices.select("notice", "invoice_number"), on="notice")
    legs_beside = {
        "qty_returned": returned,
        "qty_received": returned.clear() if legs.received is None else legs.received,
    }
    found = []
    for name, lines in legs_beside.items():
        sums = lines.group_by(invoice, identifier("sku_name").alias("sku")).agg(pl.col("units").sum())
        found.append(invoices.join(sums, on="invoice").group_by(_KEYS).agg(pl.col("units").sum().alias(name)))
    return found


def _heads(orders: pl.DataFrame, notices: pl.DataFrame) -> pl.DataFrame:
    """What is known of each order as a whole."""
    by_number = pl.col("by_number").first()
    told = orders.group_by("link", maintain_order=True).agg(
        by_number,
        pl.col("po_number").drop_nulls().first(),
        pl.col("supplier_name").drop_nulls().first().alias("supplier"),
        pl.col("site_name").drop_nulls().first().alias("site"),
        pl.when(~by_number).then(pl.col("invoice_number").first()).alias("invoice_number"),
    )
    parties = _each("a_parties")
    dues = notices.group_by("link").agg(
        day("delivery_date").max().alias("announced_for"),
        pl.col("accepted").any().alias("any_announced"),
        parties.filter(parties != "").unique().alias("a_parties"),
        _each("strangers").unique(maintain_order=True).str.join(", ").alias("strangers"),
    )
    heads = told.join(dues, on="link", how="left", maintain_order="left")
    return heads.with_columns(pl.col("any_announced").fill_null(False), pl.col("a_parties").alias("r_parties"))


def _each(lists: str) -> pl.Expr:
    return pl.col(lists).list.explode(keep_nulls=False, empty_as_null=False)


def _with_open_part(whole: pl.DataFrame, orders: pl.DataFrame, *, rules: Rules) -> pl.DataFrame:
    """The order lines with `open_for` and `qty_due_part`, null where there is one date, or all that is due came.

    Each date's pieces are due on their own day. open_for: the first date up to which fewer were announced than ordered.
    qty_due_part: what was ordered up to the last date that is judged today, if `open_for` is one. Rows without a date
    are due with the last one.
    """
    part = day("delivery_date")
    dated = orders.with_columns(part.fill_null(part.max().over(_KEYS)).alias("part"))
    several = dated.filter(pl.col("part").n_unique().over(_KEYS) > 1)
    parts = several.group_by(*_KEYS, "part").agg(pl.col("units").sum()).sort(*_KEYS, "part")
    upto = parts.with_columns(pl.col("units").cum_sum().over(_KEYS).cast(QUANTITY).alias("upto"))
    known = whole.select(*_KEYS, "a_parties", "r_parties", pl.col("qty_announced").fill_null(_ZERO))
    delta = pl.col("qty_announced") - pl.col("upto")
    is_near = near(delta, of=pl.col("upto"), limit=rules.limit(_D.SHORT), scale=QUANTITY)
    opened = (
        upto.join(known, on=_KEYS)
        .group_by(_KEYS)
        .agg(
            pl.col("part").filter((delta < 0) & ~is_near).min().alias("open_for"),
            pl.col("upto").filter(pl.col("part") <= rules.judged_until).max().alias("qty_due_part"),
        )
    )
    due = pl.when(pl.col("open_for") <= rules.judged_until).then("qty_due_part").alias("qty_due_part")
    return whole.join(opened.with_columns(due), on=_KEYS, how="left", maintain_order="left")


def _with_facts(whole: pl.DataFrame, rules: Rules) -> pl.DataFrame:
    ordered, announced = pl.col("qty_ordered").fill_null(_ZERO), pl.col("qty_announced").fill_null(_ZERO)
    inside = ~pl.col("beyond").fill_null(False)
    facts = whole.with_columns(
        pl.col("lines_ordered", "unreadable_ordered", "unreadable_announced").fill_null(0),
        pl.col("is_announced").fill_null(False),
        pl.coalesce("open_for", "ordered_for", "announced_for").alias("due_date"),
        (announced - ordered).alias("qty_delta"),
        # Of ASNs outside the range neither the service nor the docks were asked.
        *(pl.when(inside).then(name).alias(name) for name in ("qty_returned", "qty_received")),
        (pl.col("price_announced") - pl.col("price_ordered")).alias("price_delta"),
        (pl.col("absent_from").fill_null("") != "").alias("perhaps_cancelled"),
        pl.col("strangers").fill_null(""),
    ).with_columns((pl.col("due_date") <= rules.judged_until).alias("due"))
    delta, off = pl.col("qty_delta"), pl.col("price_delta")
    # Prices of several lines: an average may be alike, or be none, where the prices are not.
    mixed = (pl.col("mix_ordered") != pl.col("mix_announced").fill_null("")) & (delta == 0) & (off.fill_null(0) == 0)
    is_near = near_either_way(delta, of=ordered, rules=rules)
    price_near = near(off, of=pl.col("price_ordered"), limit=rules.limit(_D.PRICE_VAR))
    # Of an order in parts only what is due is missing.
    missing = pl.when((delta < 0) & ~is_near).then(announced - pl.coalesce("qty_due_part", ordered)).otherwise(delta)
    return facts.with_columns(
        is_near.alias("near"),
        price_near.fill_null(True).alias("price_near"),
        mixed.fill_null(False).alias("mixed"),
        missing.alias("qty_delta"),
    )


def _verdict() -> pl.Expr:
    has_ordered, announced, delta = pl.col("lines_ordered") > 0, pl.col("is_announced"), pl.col("qty_delta")
    less = (delta < 0) & ~pl.col("near")
    unclear = (pl.col("unreadable_ordered") + pl.col("unreadable_announced") > 0) | (pl.col("link") == "")
    steps: list[tuple[pl.Expr, Discrepancy | ComparedOutcome]] = [
        (unclear | (pl.col("sku") == ""), _D.UNVERIFIABLE),
        (~has_ordered & announced, _D.EXTRA_SKU),
        (less & (pl.col("due").is_null() | pl.col("perhaps_cancelled")), _D.UNVERIFIABLE),
        (less & ~pl.col("due"), ComparedOutcome.TOO_EARLY),
        (less & pl.col("shared").is_not_null(), _D.UNVERIFIABLE),
        (less & ~announced & pl.col("any_announced"), _D.MISSING_SKU),
        (less & ~announced, _D.NO_ASN),
        (less, _D.SHORT),
        (~pl.col("near"), _D.OVER),
        (~pl.col("price_near"), _D.PRICE_VAR),
        (pl.col("mixed"), _D.UNVERIFIABLE),
        (pl.col("strangers") != "", _D.HEADER_DIFF),
        ((delta != 0) | (pl.col("price_delta").fill_null(0) != 0), ComparedOutcome.WITHIN_TOLERANCE),
        (pl.lit(True), ComparedOutcome.MATCHED),
    ]
    return first_that_holds((rule, word.value) for rule, word in steps)


def _amounts() -> list[pl.Expr]:
    """Units and INR, never negative; a price that differs counts beside a quantity that does."""
    unclear, units = verdict_is(_D.UNVERIFIABLE), pl.col("qty_delta").abs()
    by_price = pl.col("price_delta").abs() * pl.col("qty_announced")
    beside = pl.when(~pl.col("price_near")).then(by_price).fill_null(_ZERO)
    worth = units * pl.coalesce("price_ordered", "price_announced") + beside
    silent = unclear | verdict_is(ComparedOutcome.TOO_EARLY)
    due = pl.coalesce("qty_due_part", "qty_ordered").cast(pl.Float64)
    percent = (pl.col("qty_delta").cast(pl.Float64) * 100 / due).round(2)
    affected = pl.when(verdict_is(_D.PRICE_VAR)).then("qty_announced").otherwise(units)
    return [
        affected.cast(QUANTITY).alias("qty_affected"),
        pl.when(~silent).then(worth).round(2, mode="half_away_from_zero").cast(MONEY).alias("impact_inr"),
        pl.when(~unclear).then("qty_delta").alias("qty_delta"),
        pl.when(pl.col("qty_ordered") > 0).then(percent).alias("delta_percent"),
    ]


def _with_words(judged: pl.DataFrame, *, rules: Rules) -> pl.DataFrame:
    """The order lines (with facts and verdict) with `reason` and `grounds`."""
    part = pl.when(pl.col("qty_due_part") < pl.col("qty_ordered")).then(sentence(" ({qty_due_part} of it due by now)"))
    until = (pl.col("due_date") + pl.duration(days=rules.grace_days + 1)).dt.to_string("%Y-%m-%d").fill_null("?")
    values = {
        "ordered": pl.concat_str(plain("qty_ordered"), part.otherwise(pl.lit(""))),
        "so_far": plain("qty_announced", none="0"),
        "until": until,
        **{name: pl.col(name).fill_null("?") for name in ("supplier", "site")},
    }
    doubts = _doubts()
    unclear = pl.coalesce(first_that_holds(doubts.values()), sentence(_UNDATED))
    words = [(verdict_is(word), sentence(template, **values)) for word, template in _WORDS.items()]
    told = first_that_holds([(verdict_is(_D.UNVERIFIABLE), unclear), *words])
    number = pl.when(told.is_not_null() & pl.col("by_number")).then(sentence("Order {po_number:known}: "))
    cause = pl.coalesce(first_that_holds((holds, name) for name, (holds, _) in doubts.items()), pl.lit("no date"))
    mixes = pl.format("{} / {}", "mix_ordered", pl.col("mix_announced").fill_null(""))
    grounds = grounds_of(
        cause=cause,
        ordered=plain("qty_ordered"),
        announced=plain("qty_announced"),
        prices=pl.when(cause == "prices").then(mixes),
    )
    return judged.with_columns(
        pl.concat_str(number.otherwise(pl.lit("")), told.fill_null(""), _besides()).alias("reason"),
        pl.when(verdict_is(_D.UNVERIFIABLE)).then(grounds).alias("grounds"),
    )


def _doubts() -> dict[str, tuple[pl.Expr, pl.Expr | str]]:
    """Why nothing can be said of an order line, the first that holds: condition and sentence by name."""
    return {
        "no order": (pl.col("link") == "", "The order line names neither a purchase order nor an invoice."),
        "no SKU": (pl.col("sku") == "", "The order line names no SKU."),
        "quantity": (
            pl.col("unreadable_ordered") + pl.col("unreadable_announced") > 0,
            "A quantity is absent or no plain number, so nothing can be compared.",
        ),
        "prices": (pl.col("mixed"), sentence(_MIXED, announced=pl.col("mix_announced").fill_null("without a price"))),
        "perhaps cancelled": (pl.col("perhaps_cancelled"), sentence(_PERHAPS_CANCELLED)),
        "shared": (pl.col("due_date").is_not_null() & pl.col("shared").is_not_null(), sentence(_SHARED)),
    }


def _besides() -> pl.Expr:
    """The ASNs, what became of the goods after them, and what else is wrong."""
    there = is_given("invoices")
    price = ~pl.col("price_near") & ~verdict_is(_D.PRICE_VAR)
    parts = [
        (there, " On ASN {invoices:known}"),
        (there & pl.col("qty_returned").is_not_null(), "; in the service {qty_returned}"),
        (there & pl.col("qty_received").is_not_null(), "; received {qty_received}"),
        (there, "."),
        (
            pl.col("qty_not_accepted").fill_null(0) > 0,
            " {qty_not_accepted} more stand in files, but were not accepted.",
        ),
        (price, " Also ordered at INR {price_ordered:money} a unit, announced at INR {price_announced:money}."),
        (
            is_given("strangers") & ~verdict_is(_D.HEADER_DIFF),
            " Announced by or for others than ordered: {strangers:known}.",
        ),
        (is_given("repeats"), " Stands in the place of earlier lists: {repeats:known}."),
    ]
    return all_that_hold((verdict_is(*_D) & condition, sentence(words)) for condition, words in parts)
