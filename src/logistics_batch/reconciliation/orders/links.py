"""Which ASNs announce what a purchase order holds.

An ASN has no field for the purchase order (API §2.1), so its number stands in what a mapping keeps or in the ASN's
description. Order lines without a number are matched by invoice number.
"""

import polars as pl

from logistics_batch.reconciliation.legs.columns import Legs
from logistics_batch.reconciliation.legs.reading import identifier, order_number, spelling
from logistics_batch.reconciliation.sentences import sentence

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
