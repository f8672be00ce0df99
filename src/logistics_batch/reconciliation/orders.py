"""What was ordered against what was announced: one line for each SKU of each purchase order.

An ASN has no field for the purchase order (API §2.1), so its number stands in what a mapping keeps or in the ASN's
description. Order lines without a number are matched by invoice number. Announced counts what the service accepted;
what it holds and what was received stand beside it, to be seen from the order to the dock.
"""

import polars as pl

from logistics_batch.model.reconciliation import MONEY, PRICE, QUANTITY, ComparedOutcome, Discrepancy, ExceptionLevel
from logistics_batch.reconciliation.ageing import days_overdue
from logistics_batch.reconciliation.classes import Rules
from logistics_batch.reconciliation.due_parts import with_open_part
from logistics_batch.reconciliation.legs import Legs, day, identifier, order_number, price, spelling
from logistics_batch.reconciliation.lines import price_mix
from logistics_batch.reconciliation.order_words import order_grounds, order_reason
from logistics_batch.reconciliation.several_orders import with_shared_asns
from logistics_batch.reconciliation.tolerance import near_price, near_quantity

_KEYS = ["link", "sku"]
_OWN = ("own_party", "own_place")
_BY_NUMBER, _BY_INVOICE = "purchase order number", "invoice number"
_ZERO = pl.lit(0, QUANTITY)


def ordered_lines(legs: Legs, *, rules: Rules) -> pl.DataFrame:
    """The lines of the orders with verdict, reason and amounts; every order line stands in one of them.

    `legs.ordered` and all lines need `units`.
    """
    assert legs.ordered is not None
    orders = _linked_orders(legs.ordered, legs.announced_notices)
    notices = _linked_notices(legs, orders)
    whole = _ordered(orders).join(
        _announced(legs, notices), on=_KEYS, how="full", coalesce=True, maintain_order="left_right"
    )
    for leg, sums in (("returned", _sums_in_service(legs)), ("received", _sums_received(legs))):
        whole = whole.join(_by_link(notices, sums, name=f"qty_{leg}"), on=_KEYS, how="left", maintain_order="left")
    heads = _heads(orders, notices)
    whole = whole.join(heads, on="link", how="left", maintain_order="left")
    whole = with_shared_asns(with_open_part(whole, orders, rules=rules), legs, orders)
    told = _with_facts(whole, rules)
    judged = told.with_columns(_verdict().alias("verdict")).with_columns(*_amounts())
    return judged.with_columns(
        order_reason(rules=rules).alias("reason"), order_grounds().alias("grounds")
    ).with_columns(
        pl.lit(ExceptionLevel.ORDER.value).alias("level"),
        pl.lit(True).alias("in_window"),
        pl.concat_str(pl.lit("order"), "link", "sku", separator="|").alias("identity"),
        pl.coalesce("ordered_sku", "announced_sku").alias("sku_name"),
        pl.when(pl.col("by_number")).then(pl.lit(_BY_NUMBER)).otherwise(pl.lit(_BY_INVOICE)).alias("match_tier"),
    )


def _linked_orders(ordered: pl.DataFrame, notices: pl.DataFrame) -> pl.DataFrame:
    """The order lines with `link` ("" where there is none): the order's number, else the invoice's.

    So it is where no ASN names the order, and one has the invoice number. Of suppliers who share an invoice number each
    has an order of its own; so has each supplier and site of one order, where each ASN tells whose part it is, since
    what one of them lacks is not made good by another.
    """
    number, invoice = order_number("po_number"), identifier("invoice_number")
    numbers, invoices = (notices.select(one.unique()).to_series().implode() for one in (number, invoice))
    unknown = (number == "") | (~number.is_in(numbers) & invoice.is_in(invoices))
    told = ordered.with_columns(
        ((invoice != "") & unknown).alias("by_invoice"),
        identifier("sku_name").alias("sku"),
        spelling("supplier_name").alias("party"),
        spelling("site_name").alias("place"),
    )
    based = told.with_columns(
        pl.when("by_invoice")
        .then(pl.concat_str(pl.lit("invoice:"), invoice))
        .when(number != "")
        .then(pl.concat_str(pl.lit("po:"), number))
        .otherwise(pl.lit(""))
        .alias("base"),
        ((number != "") & ~pl.col("by_invoice")).alias("by_number"),
    )
    several = pl.col("by_invoice") & (_named("party").n_unique().over("base") > 1)
    own = pl.concat_str("base", pl.lit("|"), "party")
    shared = based.with_columns(pl.when(several).then(own).otherwise("base").alias("link")).drop("by_invoice")
    return _in_parts(shared, _with_names(notices))


def _named(column: str) -> pl.Expr:
    return pl.col(column).filter(pl.col(column) != "")


def _in_parts(orders: pl.DataFrame, notices: pl.DataFrame) -> pl.DataFrame:
    """Orders by number with a link for each supplier and site, where every ASN fits exactly one of these.

    Adds `own_party` and `own_place`, whose part of an order a line is; "" where it is of all.
    """
    split = orders.with_columns(
        pl.when("by_number", (pl.col(name) != "").all().over("base"), pl.col(name).n_unique().over("base") > 1)
        .then(name)
        .otherwise(pl.lit(""))
        .alias(f"own_{name}")
        for name in ("party", "place")
    )
    parts = split.select("base", *_OWN).unique().filter((pl.col("own_party") != "") | (pl.col("own_place") != ""))
    accepted = notices.filter(pl.col("accepted").fill_null(False))
    theirs = accepted.join(parts, left_on="number_link", right_on="base")
    told = theirs.group_by("number_link", "notice").agg(_is_part().sum().alias("fits"))
    odd = told.filter(pl.col("fits") != 1)["number_link"]
    whole = pl.col("base").is_in(odd.implode())
    kept = split.with_columns(pl.when(~whole).then(name).otherwise(pl.lit("")).alias(name) for name in _OWN)
    own = pl.concat_str("link", *_OWN, separator="|")
    in_part = (pl.col("own_party") != "") | (pl.col("own_place") != "")
    return kept.with_columns(pl.when(in_part).then(own).otherwise("link").alias("link"))


def _is_part() -> pl.Expr:
    """Whether an ASN names supplier and site of a part of an order."""
    fits = (
        (pl.col(own) == "") | pl.col(names).list.contains(pl.col(own))
        for own, names in zip(_OWN, ("a_parties", "a_places"), strict=True)
    )
    return pl.all_horizontal(*fits)


def _with_names(notices: pl.DataFrame) -> pl.DataFrame:
    """The announced notices with the links that they may have, and the names that they give supplier and site."""
    return notices.with_columns(
        pl.concat_str(pl.lit("po:"), order_number("po_number")).alias("number_link"),
        pl.concat_str(pl.lit("invoice:"), identifier("invoice_number")).alias("invoice_link"),
        pl.concat_list(spelling("supplier"), spelling("supplier_name")).alias("a_parties"),
        pl.concat_list(spelling("site"), spelling("site_name")).alias("a_places"),
    )


def _linked_notices(legs: Legs, orders: pl.DataFrame) -> pl.DataFrame:
    """The announced notices under the links of the orders: by number, or by invoice where the supplier fits.

    `alone`: no other supplier announced the invoice number.
    """
    links = (
        orders.filter(pl.col("link") != "")
        .group_by("link")
        .agg(pl.col("base", *_OWN).first(), *(_named(name).unique() for name in ("party", "place")))
        .with_columns((pl.len().over("base") > 1).alias("shared"))
    )
    named = _with_names(legs.announced_notices)
    one_party = pl.concat_str(spelling("supplier"), spelling("supplier_name"), ignore_nulls=True)
    named = named.with_columns((one_party.n_unique().over("invoice_link") == 1).alias("alone"))
    by_number, by_invoice = (
        named.with_columns(pl.col(link).alias("base")).join(links, on="base", maintain_order="left")
        for link in ("number_link", "invoice_link")
    )
    fits = (pl.col("alone") & ~pl.col("shared")) | (pl.col("party").list.set_intersection("a_parties").list.len() > 0)
    return pl.concat([by_number.filter(_is_part()), by_invoice.filter(fits)]).with_columns(_strangers())


def _strangers() -> pl.Expr:
    """Whom an ASN names in the place of the order's supplier and site; an id says nothing against a name."""
    others = [
        pl.when(
            (spelling(shown) != "")
            & (pl.col(ordered).list.len() > 0)
            & (pl.col(ordered).list.set_intersection(theirs).list.len() == 0)
        ).then(pl.format("{} of ASN {}", shown, "invoice_number"))
        for shown, ordered, theirs in (("supplier_name", "party", "a_parties"), ("site_name", "place", "a_places"))
    ]
    return (
        pl.when(pl.col("accepted").fill_null(False)).then(pl.concat_list(others).list.drop_nulls()).alias("strangers")
    )


def _ordered(orders: pl.DataFrame) -> pl.DataFrame:
    prices = price()
    mixes = price_mix(orders.with_columns(prices.alias("unit_price")), "unit_price", keys=_KEYS)
    summed = orders.group_by(_KEYS, maintain_order=True).agg(
        pl.when(pl.col("units").null_count() < pl.len()).then(pl.col("units").sum()).alias("qty_ordered"),
        pl.len().alias("lines_ordered"),
        pl.col("units").null_count().alias("unreadable_ordered"),
        pl.when(prices.n_unique() == 1).then(prices.first()).alias("price_ordered"),
        pl.col("sku_name").first().alias("ordered_sku"),
        day("delivery_date").max().alias("ordered_for"),
        pl.col("file_name", "sheet").first(),
        pl.col("row").unique(maintain_order=True).cast(pl.String).str.join(", ").alias("rows"),
        pl.col("repeats", "absent_from").filter(pl.col("repeats", "absent_from") != "").unique().str.join("; "),
    )
    return summed.join(mixes.rename({"mix": "mix_ordered"}), on=_KEYS, how="left", maintain_order="left")


def _announced(legs: Legs, notices: pl.DataFrame) -> pl.DataFrame:
    """What the linked notices announce: accepted, and beside it what was not."""
    ours = notices.select("link", "notice", "accepted", "invoice_number", "in_window")
    lines = legs.announced_lines.join(ours, on="notice", maintain_order="left").with_columns(
        identifier("sku_name").alias("sku"), price().alias("unit_price")
    )
    accepted = pl.col("accepted").fill_null(False)
    prices, units = pl.col("unit_price").filter(accepted), pl.col("units").filter(accepted)
    average = (prices * units).sum() / pl.when(units.sum() != 0).then(units.sum())
    known = (prices.null_count() == 0) & (units.null_count() == 0)
    mixes = price_mix(lines.filter(accepted), "unit_price", keys=_KEYS).rename({"mix": "mix_announced"})
    summed = lines.group_by(_KEYS, maintain_order=True).agg(
        pl.col("units").filter(accepted).sum().alias("qty_announced"),
        pl.col("units").filter(~accepted).sum().alias("qty_not_accepted"),
        pl.col("units").filter(accepted).null_count().alias("unreadable_announced"),
        pl.when(prices.n_unique() == 1)
        .then(prices.first())
        .when(known)
        .then(average)
        .cast(PRICE)
        .alias("price_announced"),
        pl.col("sku_name").first().alias("announced_sku"),
        pl.col("invoice_number").filter(accepted).unique(maintain_order=True).str.join(", ").alias("invoices"),
        accepted.any().alias("is_announced"),
        (~pl.col("in_window").fill_null(False)).any().alias("beyond"),
    )
    return summed.join(mixes, on=_KEYS, how="left", maintain_order="left")


def _sums_in_service(legs: Legs) -> pl.DataFrame:
    invoices = legs.returned_notices.select("notice", identifier("invoice_number").alias("invoice"))
    lines = legs.returned_lines.join(invoices, on="notice")
    return lines.group_by("invoice", identifier("sku_name").alias("sku")).agg(pl.col("units").sum())


def _sums_received(legs: Legs) -> pl.DataFrame:
    if legs.received is None:
        return pl.DataFrame(schema={"invoice": pl.String, "sku": pl.String, "units": QUANTITY})
    return legs.received.group_by(
        identifier("invoice_number").alias("invoice"), identifier("sku_name").alias("sku")
    ).agg(pl.col("units").sum())


def _by_link(notices: pl.DataFrame, sums: pl.DataFrame, *, name: str) -> pl.DataFrame:
    # Of a number that several suppliers have nobody can say here whose goods these are.
    alone = notices.filter(pl.col("alone") & (pl.col("link").n_unique().over("base", "invoice_link") == 1))
    invoices = alone.select("link", identifier("invoice_number").alias("invoice")).unique()
    return invoices.join(sums, on="invoice").group_by(_KEYS).agg(pl.col("units").sum().alias(name))


def _heads(orders: pl.DataFrame, notices: pl.DataFrame) -> pl.DataFrame:
    """What is known of each order as a whole."""
    said = orders.group_by("link", maintain_order=True).agg(
        pl.col("by_number").first(),
        pl.col("po_number", "supplier_name", "site_name").drop_nulls().first(),
        pl.when(~pl.col("by_number").first()).then(pl.col("invoice_number").first()).alias("invoice_number"),
    )
    dues = notices.group_by("link").agg(
        day("delivery_date").max().alias("announced_for"),
        pl.col("accepted").any().alias("any_announced"),
        _each("a_parties").filter(_each("a_parties") != "").unique().alias("a_parties"),
        _each("strangers").unique(maintain_order=True).str.join(", ").alias("strangers"),
    )
    heads = said.join(dues, on="link", how="left", maintain_order="left")
    return heads.with_columns(pl.col("any_announced").fill_null(False), pl.col("a_parties").alias("r_parties")).rename(
        {"supplier_name": "supplier", "site_name": "site"}
    )


def _each(lists: str) -> pl.Expr:
    return pl.col(lists).list.explode(keep_nulls=False, empty_as_null=False)


def _with_facts(whole: pl.DataFrame, rules: Rules) -> pl.DataFrame:
    ordered, announced = pl.col("qty_ordered").fill_null(_ZERO), pl.col("qty_announced").fill_null(_ZERO)
    facts = whole.with_columns(
        pl.col("lines_ordered", "unreadable_ordered", "unreadable_announced").fill_null(0),
        pl.col("is_announced").fill_null(False),
        pl.coalesce("open_for", "ordered_for", "announced_for").alias("due_date"),
        (announced - ordered).alias("qty_delta"),
        # Of ASNs outside the range neither the service nor the docks were asked.
        *(
            pl.when(~pl.col("beyond").fill_null(False)).then(name).alias(name)
            for name in ("qty_returned", "qty_received")
        ),
        (pl.col("price_announced") - pl.col("price_ordered")).alias("price_delta"),
    ).with_columns(
        days_overdue("due_date", business_date=rules.business_date).alias("days_overdue"),
        (pl.col("due_date") <= rules.judged_until).alias("due"),
    )
    delta, off = pl.col("qty_delta"), pl.col("price_delta")
    more, less = (
        near_quantity(delta, of=ordered, limit=rules.limit(code)) for code in (Discrepancy.OVER, Discrepancy.SHORT)
    )
    # Prices of several lines: an average may be alike, or be none, where the prices are not.
    mixed = (pl.col("mix_ordered") != pl.col("mix_announced").fill_null("")) & (delta == 0) & (off.fill_null(0) == 0)
    near = pl.when(delta == 0).then(True).when(delta > 0).then(more).otherwise(less)
    price_near = near_price(off, of=pl.col("price_ordered"), limit=rules.limit(Discrepancy.PRICE_VAR))
    return facts.with_columns(
        near.alias("near"),
        price_near.fill_null(True).alias("price_near"),
        mixed.fill_null(False).alias("mixed"),
        # Of an order in parts only what is due is missing.
        pl.when((delta < 0) & ~near)
        .then(announced - pl.coalesce("qty_due_part", ordered))
        .otherwise(delta)
        .alias("qty_delta"),
        (pl.col("absent_from").fill_null("") != "").alias("perhaps_cancelled"),
        pl.col("strangers").fill_null(""),
    )


def _verdict() -> pl.Expr:
    has_ordered, announced, delta = pl.col("lines_ordered") > 0, pl.col("is_announced"), pl.col("qty_delta")
    less = (delta < 0) & ~pl.col("near")
    unclear = (pl.col("unreadable_ordered") + pl.col("unreadable_announced") > 0) | (pl.col("link") == "")
    steps: list[tuple[pl.Expr, Discrepancy | ComparedOutcome]] = [
        (unclear | (pl.col("sku") == ""), Discrepancy.UNVERIFIABLE),
        (~has_ordered & announced, Discrepancy.EXTRA_SKU),
        (less & (pl.col("due").is_null() | pl.col("perhaps_cancelled")), Discrepancy.UNVERIFIABLE),
        (less & ~pl.col("due"), ComparedOutcome.TOO_EARLY),
        (less & pl.col("shared").is_not_null(), Discrepancy.UNVERIFIABLE),
        (less & ~announced & pl.col("any_announced"), Discrepancy.MISSING_SKU),
        (less & ~announced, Discrepancy.NO_ASN),
        (less, Discrepancy.SHORT),
        (~pl.col("near"), Discrepancy.OVER),
        (~pl.col("price_near"), Discrepancy.PRICE_VAR),
        (pl.col("mixed"), Discrepancy.UNVERIFIABLE),
        (pl.col("strangers") != "", Discrepancy.HEADER_DIFF),
        ((delta != 0) | (pl.col("price_delta").fill_null(0) != 0), ComparedOutcome.WITHIN_TOLERANCE),
    ]
    return pl.coalesce(
        *(pl.when(rule).then(pl.lit(word.value)) for rule, word in steps), pl.lit(ComparedOutcome.MATCHED.value)
    )


def _amounts() -> list[pl.Expr]:
    """Units and INR, never negative; a price that differs counts beside a quantity that does."""
    unclear = pl.col("verdict") == Discrepancy.UNVERIFIABLE.value
    units = pl.col("qty_delta").abs()
    by_price = pl.col("price_delta").abs() * pl.col("qty_announced")
    beside = pl.when(~pl.col("price_near")).then(by_price).fill_null(_ZERO)
    worth = units * pl.coalesce("price_ordered", "price_announced") + beside
    silent = unclear | (pl.col("verdict") == ComparedOutcome.TOO_EARLY.value)
    of_price = pl.col("verdict") == Discrepancy.PRICE_VAR.value
    return [
        pl.when(of_price).then("qty_announced").otherwise(units).cast(QUANTITY).alias("qty_affected"),
        pl.when(~silent).then(worth).round(2, mode="half_away_from_zero").cast(MONEY).alias("impact_inr"),
        pl.when(~unclear).then("qty_delta").alias("qty_delta"),
        pl.when(pl.col("qty_ordered") > 0)
        .then(pl.col("qty_delta").cast(pl.Float64) * 100 / pl.coalesce("qty_due_part", "qty_ordered").cast(pl.Float64))
        .round(2)
        .alias("delta_percent"),
    ]
