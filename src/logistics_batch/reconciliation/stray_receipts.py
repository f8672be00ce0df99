"""Receipts that share an invoice number with ASNs and cannot be given to one of them by supplier and site.

A row that names no supplier or site may belong to any ASN of its number; SKUs and quantities tell which, where they
leave no choice. One that names another supplier than the only ASN, and another site or none, may be goods of somebody
else who uses the same number. Nothing is claimed of the lines that such rows may be about.
"""

from dataclasses import dataclass

import polars as pl

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
    """The matches (`group`, `notice`) by invoice number alone whose receipts name another supplier, and no site in
    common."""
    loose = found.filter(pl.col("tier") == 4).select("group", "notice")
    both = loose.join(groups, on="group", maintain_order="left").join(
        targets.select("notice", "parties", "places"), on="notice", maintain_order="left"
    )
    unnamed = (pl.col("place") == "") | (pl.col("places").list.len() == 0)
    no_site = unnamed | _another("place", "places", words=False)
    return both.filter(_another("party", "parties", words=True) & no_site).select("group", "notice")


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


def stray_rows(rows: pl.DataFrame, candidates: pl.DataFrame) -> pl.DataFrame:
    """The rows of the groups as `unread_by_notice` gives such that could not be read: for each ASN that they may be
    about."""
    ours = rows.join(candidates.select("group", "notice"), on="group", maintain_order="left")
    spot = pl.concat_str(pl.format("{} row {}: ", "file_name", "row"), _names())
    return ours.select(pl.col("line").alias("nth"), "sku", spot.alias("spot"), "invoice_number", "notice")


def stray_words(rows: pl.DataFrame, candidates: pl.DataFrame) -> pl.DataFrame:
    """By group what is said of its own lines (`stray`)."""
    counts = candidates.group_by("group", maintain_order=True).agg(pl.len().alias("choice"))
    names = rows.group_by("group", maintain_order=True).agg(_names().first().alias("names"))
    told = counts.join(names, on="group", maintain_order="left")
    whose = pl.when(pl.col("choice") == 1).then(pl.lit("the ASN")).otherwise(pl.format("one of {} ASNs", "choice"))
    words = pl.format(
        "the row {}: whether these are goods of {} with this invoice number cannot be told.", "names", whose
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


def _names() -> pl.Expr:
    """Which supplier and site a row names, in words."""
    parts = [
        pl.when(text != "").then(pl.format('{} "{}"', pl.lit(word), text)).otherwise(pl.lit(f"no {word}"))
        for word, text in (
            (word, pl.col(f"{word}_name").fill_null("").str.strip_chars()) for word in ("supplier", "site")
        )
    ]
    return pl.format("names {} and {}", *parts)


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


def _beginning(name: pl.Expr) -> pl.Expr:
    return name.str.replace(r"^(messrs|ms)", "").str.head(3)


def _another(name: str, several: str, *, words: bool) -> pl.Expr:
    """The receipt's name is none of the ASN's, and both are names that can be compared: no code of one for the other.

    words: a name with digits may be a code. Names that begin alike may be one in two spellings, with M/s or without.
    """
    code = r"\d" if words else r"^\d"
    named = pl.col(several).list.eval(pl.element().filter(~pl.element().str.contains(code)))
    begins = named.list.eval(_beginning(pl.element())).list.contains(_beginning(pl.col(name)))
    comparable = (pl.col(name) != "") & ~pl.col(name).str.contains(code) & (named.list.len() > 0)
    return comparable & ~pl.col(several).list.contains(pl.col(name)) & ~begins
