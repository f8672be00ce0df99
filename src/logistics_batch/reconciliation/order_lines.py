"""What was ordered against what was announced: one line for each SKU of each purchase order.

Announced counts what the service accepted; what it holds and what was received stand beside it, to be seen from the
order to the dock.

Which ASNs announce what a purchase order holds.

An ASN has no field for the purchase order (API §2.1), so its number stands in what a mapping keeps or in the ASN's
description. Order lines without a number are matched by invoice number.
"""

import polars as pl

from logistics_batch.model.reconciliation import MONEY, PRICE, QUANTITY, ComparedOutcome, Discrepancy, ExceptionLevel
from logistics_batch.reconciliation.classes.rules import Rules, near, near_either_way
from logistics_batch.reconciliation.legs.columns import Legs
from logistics_batch.reconciliation.legs.lines import price_mix
from logistics_batch.reconciliation.legs.reading import day, identifier, order_number, price, spelling
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


_OWN = ("own_party", "own_place")
_THEIRS = {"own_party": "a_parties", "own_place": "a_places"}


def linked_orders(ordered: pl.DataFrame, notices: pl.DataFrame) -> pl.DataFrame:
    """The order lines with `link` ("" where there is none): the order's number, else the invoice's.

    So it is where no ASN names the order, and one has the invoice number. Of suppliers who share an invoice number each
    has an order of its own; so has each supplier and site of one order, where each ASN tells whose part it is, since
    what one of them lacks is not made good by another. `own_party` and `own_place` say whose part of an order a line
    is; "" where it is of all. `base` is the link without the part, `by_number` whether it is the order's number.
    """
    number, invoice = order_number("po_number"), identifier("invoice_number")
    numbers, invoices = (notices.select(one.unique()).to_series().implode() for one in (number, invoice))
    by_invoice = (invoice != "") & ((number == "") | (~number.is_in(numbers) & invoice.is_in(invoices)))
    based = ordered.with_columns(
        identifier("sku_name").alias("sku"),
        spelling("supplier_name").alias("party"),
        spelling("site_name").alias("place"),
        pl.when(by_invoice)
        .then("invoice:" + invoice)
        .when(number != "")
        .then("po:" + number)
        .otherwise(pl.lit(""))
        .alias("base"),
        ((number != "") & ~by_invoice).alias("by_number"),
    )
    several = pl.col("base").str.starts_with("invoice:") & (_named("party").n_unique().over("base") > 1)
    own = pl.concat_str("base", pl.lit("|"), "party")
    shared = based.with_columns(pl.when(several).then(own).otherwise("base").alias("link"))
    return _in_parts(shared, _with_names(notices))


def _named(column: str) -> pl.Expr:
    return pl.col(column).filter(pl.col(column) != "")


def _in_parts(orders: pl.DataFrame, notices: pl.DataFrame) -> pl.DataFrame:
    """Orders by number with a link for each supplier and site, where every ASN fits exactly one of these."""
    has_own = (pl.col("own_party") != "") | (pl.col("own_place") != "")
    split = orders.with_columns(
        pl.when("by_number", (pl.col(name) != "").all().over("base"), pl.col(name).n_unique().over("base") > 1)
        .then(name)
        .otherwise(pl.lit(""))
        .alias(f"own_{name}")
        for name in ("party", "place")
    )
    parts = split.select("base", *_OWN).unique().filter(has_own)
    theirs = notices.filter(pl.col("accepted").fill_null(False)).join(parts, left_on="number_link", right_on="base")
    told = theirs.group_by("number_link", "notice").agg(_is_part().sum().alias("fits"))
    whole = pl.col("base").is_in(told.filter(pl.col("fits") != 1)["number_link"].implode())
    kept = split.with_columns(pl.when(~whole).then(name).otherwise(pl.lit("")).alias(name) for name in _OWN)
    own = pl.concat_str("link", *_OWN, separator="|")
    return kept.with_columns(pl.when(has_own).then(own).otherwise("link").alias("link"))


def _is_part() -> pl.Expr:
    """Whether an ASN names supplier and site of a part of an order."""
    fits = ((pl.col(own) == "") | pl.col(names).list.contains(pl.col(own)) for own, names in _THEIRS.items())
    return pl.all_horizontal(*fits)


def _with_names(notices: pl.DataFrame) -> pl.DataFrame:
    """The announced notices with the links that they may have, and the names that they give supplier and site."""
    return notices.with_columns(
        ("po:" + order_number("po_number")).alias("number_link"),
        ("invoice:" + identifier("invoice_number")).alias("invoice_link"),
        pl.concat_list(spelling("supplier"), spelling("supplier_name")).alias("a_parties"),
        pl.concat_list(spelling("site"), spelling("site_name")).alias("a_places"),
    )


def linked_notices(legs: Legs, orders: pl.DataFrame) -> pl.DataFrame:
    """The announced notices under the links of the orders: by number, or by invoice where the supplier fits.

    `alone`: no other supplier announced the invoice number. `strangers`: whom an ASN names in the place of the order's
    supplier and site; an id says nothing against a name.
    """
    links = (
        orders.filter(pl.col("link") != "")
        .group_by("link")
        .agg(pl.col("base", *_OWN).first(), *(_named(name).unique() for name in ("party", "place")))
        .with_columns((pl.len().over("base") > 1).alias("shared"))
    )
    one_party = pl.concat_str(spelling("supplier"), spelling("supplier_name"), ignore_nulls=True)
    named = _with_names(legs.announced_notices).with_columns(
        (one_party.n_unique().over("invoice_link") == 1).alias("alone")
    )
    by_number, by_invoice = (
        named.with_columns(pl.col(link).alias("base")).join(links, on="base", maintain_order="left")
        for link in ("number_link", "invoice_link")
    )
    fits = (pl.col("alone") & ~pl.col("shared")) | (pl.col("party").list.set_intersection("a_parties").list.len() > 0)
    strangers = [
        pl.when(
            (spelling(shown) != "")
            & (pl.col(ordered).list.len() > 0)
            & (pl.col(ordered).list.set_intersection(theirs).list.len() == 0)
        ).then(pl.format("{} of ASN {}", shown, "invoice_number"))
        for shown, ordered, theirs in (("supplier_name", "party", "a_parties"), ("site_name", "place", "a_places"))
    ]
    told = pl.when(pl.col("accepted").fill_null(False)).then(pl.concat_list(strangers).list.drop_nulls())
    return pl.concat([by_number.filter(_is_part()), by_invoice.filter(fits)]).with_columns(told.alias("strangers"))


def asns_of_several_orders(legs: Legs, orders: pl.DataFrame) -> pl.DataFrame:
    """By `link` and `sku` the accepted ASNs that have the SKU and name several orders, in words (`shared`).

    Which of their pieces are for which order nobody can say.
    """
    named = legs.announced_notices.filter(pl.col("accepted").fill_null(False) & (pl.col("po_several") != ""))
    numbers = pl.col("po_several").str.split(", ").alias("base")
    bases = named.select("notice", "invoice_number", "po_several", numbers).explode("base")
    theirs = bases.with_columns(("po:" + pl.col("base")).alias("base")).join(
        orders.select("base", "link").unique(), on="base"
    )
    lines = legs.announced_lines.with_columns(identifier("sku_name").alias("sku"))
    each = (
        theirs.join(lines, on="notice")
        .group_by("link", "sku", "invoice_number", "po_several")
        .agg(pl.col("units").sum())
    )
    words = sentence("ASN {invoice_number:known} with {units} names purchase orders {po_several:known}")
    return each.sort("invoice_number").group_by("link", "sku").agg(words.str.join("; ").alias("shared"))
