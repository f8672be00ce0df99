"""Receipts that share an invoice number with ASNs and cannot be given to one of them by supplier and site.

A row that names no supplier or site may belong to any ASN of its number; SKUs and quantities tell which, where they
leave no choice. One that names another supplier than the only ASN may be goods of somebody else who uses the same
number, and goods that another site booked never came where they were announced. Nothing is claimed of the lines that
such rows may be about, and both names are told.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from logistics_batch.reconciliation.name_likeness import is_another

_NAMED = 3


@dataclass(frozen=True, slots=True)
class Strays:
    """Groups of receipts that fit no ASN for certain.

    allotted: `line` (place in the receipts) and `notice`, of rows whose SKU and quantity leave no choice. candidates:
    `group`, `notice`, which ASNs the others may belong to, with `contradicts`: supplier and site are other ones.
    """

    allotted: pl.DataFrame
    candidates: pl.DataFrame


def contradicting(found: pl.DataFrame, groups: pl.DataFrame, targets: pl.DataFrame) -> pl.DataFrame:
    """The matches (`group`, `notice`) by less than supplier and site whose receipts name another of one of them."""
    loose = found.filter(pl.col("tier") >= 3).select("group", "notice")
    both = loose.join(groups, on="group", maintain_order="left").join(
        targets.select("notice", "parties", "places"), on="notice", maintain_order="left"
    )
    return both.filter(_another("party", "parties") | _another("place", "places")).select("group", "notice")


def strays(
    rows: pl.DataFrame, lonely: pl.DataFrame, targets: pl.DataFrame, *, others: pl.DataFrame, expected: pl.DataFrame
) -> Strays:
    """What the lonely groups may belong to.

    rows: the receipts with `line`, `group`, `sku` and `units`; others: as `contradicting` gives them; expected: the
    lines (`notice`, `sku`, `units`) that ASNs have.
    """
    silent = lonely.filter((pl.col("invoice") != "") & ((pl.col("party") == "") | (pl.col("place") == "")))
    both = silent.join(targets.select("notice", "invoice", "parties", "places"), on="invoice", maintain_order="left")
    fits = [
        (pl.col(name) == "") | (pl.col(several).list.len() == 0) | pl.col(several).list.contains(pl.col(name))
        for name, several in (("party", "parties"), ("place", "places"))
    ]
    candidates = both.filter(pl.all_horizontal(fits)).select("group", "notice")
    allotted = _by_contents(rows, candidates, expected)
    settled = rows.join(allotted, on="line", how="semi").select("group").unique()
    left = candidates.join(settled, on="group", how="anti", maintain_order="left")
    told = pl.concat(
        [
            left.with_columns(pl.lit(False).alias("contradicts")),
            others.select("group", "notice", pl.lit(True).alias("contradicts")),
        ]
    )
    return Strays(allotted, told)


def stray_rows(rows: pl.DataFrame, candidates: pl.DataFrame, whole: pl.DataFrame) -> pl.DataFrame:
    """The rows of the groups as `unread_by_notice` gives such that could not be read: for each ASN that they may be
    about."""
    named = candidates.join(_named_notices(whole), on="notice", how="left", maintain_order="left")
    ours = rows.join(named.select("group", "notice", "contradicts", "asn"), on="group", maintain_order="left")
    other = pl.when(pl.col("contradicts")).then(pl.format(", the ASN {}", "asn")).otherwise(pl.lit(""))
    spot = pl.concat_str(pl.format("{} row {}: ", "file_name", "row"), _names(), other)
    return ours.select(pl.col("line").alias("nth"), "sku", spot.alias("spot"), "invoice_number", "notice")


def stray_words(rows: pl.DataFrame, candidates: pl.DataFrame, whole: pl.DataFrame) -> pl.DataFrame:
    """By group what is said of its own lines (`stray`)."""
    asns = candidates.join(_named_notices(whole), on="notice", how="left", maintain_order="left")
    first = pl.when(pl.col("contradicts")).then("asn").first()
    counts = asns.group_by("group", maintain_order=True).agg(pl.len().alias("choice"), first.alias("asn"))
    names = rows.group_by("group", maintain_order=True).agg(_names().first().alias("names"))
    told = counts.join(names, on="group", maintain_order="left")
    whose = pl.when(pl.col("choice") == 1).then(pl.lit("the ASN")).otherwise(pl.format("one of {} ASNs", "choice"))
    words = pl.format(
        "the row {}: whether these are goods of {} with this invoice number{} cannot be told.",
        "names",
        whose,
        pl.when(pl.col("asn").is_not_null()).then(pl.format(", which {},", "asn")).otherwise(pl.lit("")),
    )
    return told.select("group", words.alias("stray"))


def other_names(groups: pl.DataFrame, rows: pl.DataFrame, found: pl.DataFrame, targets: pl.DataFrame) -> pl.DataFrame:
    """`notice` and `receipts_name`: supplier and site as receipts name them, where they were matched without them."""
    both = found.join(groups, on="group", maintain_order="left").join(
        targets.select("notice", "parties", "places"), on="notice", maintain_order="left"
    )
    other = [
        (pl.col(name) != "") & (pl.col(several).list.len() > 0) & ~pl.col(several).list.contains(pl.col(name))
        for name, several in (("party", "parties"), ("place", "places"))
    ]
    told = both.filter(pl.any_horizontal(other)).select("group", "notice")
    names = rows.join(told, on="group", maintain_order="left").with_columns(_names().alias("receipts_name"))
    each = names.unique(["notice", "receipts_name"], maintain_order=True).group_by("notice", maintain_order=True)
    return each.agg(pl.col("receipts_name").head(_NAMED).str.join("; "))


def _names(columns: Sequence[str] = ("supplier_name", "site_name")) -> pl.Expr:
    """Which supplier and site a row or an ASN names, in words."""
    parts = [
        pl.when(text != "").then(pl.format('{} "{}"', pl.lit(word), text)).otherwise(pl.lit(f"no {word}"))
        for word, text in zip(
            ("supplier", "site"), (pl.col(name).fill_null("").str.strip_chars() for name in columns), strict=True
        )
    ]
    return pl.format("names {} and {}", *parts)


def _named_notices(whole: pl.DataFrame) -> pl.DataFrame:
    """`notice` and `asn`: the names that it shows."""
    return whole.select("notice", _names(("supplier_shown", "site_shown")).alias("asn"))


def _by_contents(rows: pl.DataFrame, candidates: pl.DataFrame, expected: pl.DataFrame) -> pl.DataFrame:
    """The rows of groups all of whose rows have SKU and quantity of one line of one candidate, and each its own."""
    lines = expected.join(candidates.select("notice").unique(), on="notice", how="semi")
    wanted = lines.select("notice", "sku", "units").with_row_index("place")
    ours = rows.select("line", "group", "sku", "units").join(candidates, on="group", maintain_order="left")
    fitting = ours.join(wanted, on=["notice", "sku", "units"], maintain_order="left")
    alone = fitting.filter((pl.len().over("line") == 1) & (pl.len().over("place") == 1))
    sizes = rows.group_by("group").agg(pl.len().alias("rows"))
    whole = alone.group_by("group").agg(pl.len().alias("told")).join(sizes, on="group")
    settled = whole.filter(pl.col("told") == pl.col("rows")).select("group")
    return alone.join(settled, on="group", how="semi", maintain_order="left").select("line", "notice")


def _another(name: str, several: str) -> pl.Expr:
    """The receipt's name is none of the ASN's, nor a spelling of one or a code for it."""
    return pl.struct(name, several).map_batches(_are_others, return_dtype=pl.Boolean, is_elementwise=True)


def _are_others(named: pl.Series) -> pl.Series:
    """Worked out once for each pair of names, of which there are few."""
    name, several = named.struct.fields
    pairs = named.struct.unnest().with_columns(pl.col(several).list.join("|").alias("known"))
    few = pairs.unique([name, "known"])
    judged = few.select(name, "known").with_columns(
        pl.Series("other", [is_another(one, known) for one, known in few.select(name, several).iter_rows()], pl.Boolean)
    )
    return pairs.join(judged, on=[name, "known"], how="left", nulls_equal=True, maintain_order="left")["other"]
