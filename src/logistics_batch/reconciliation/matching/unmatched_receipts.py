"""Receipts that share an invoice number with ASNs and cannot be given to one of them by supplier and site.

A row that names no supplier or site may belong to any ASN of its number; SKUs and quantities tell which, where they
leave no choice. One that names another supplier than the only ASN may be goods of somebody else who uses the same
number, and goods that another site booked never came where they were announced. Nothing is claimed of the lines that
such rows may be about, and both names are told.
"""

from dataclasses import dataclass

import polars as pl

from logistics_batch.reconciliation.matching.names import other_parties
from logistics_batch.reconciliation.matching.receipts import PARTIES

_NAMED = 3


@dataclass(frozen=True, slots=True)
class UnmatchedReceipts:
    """Groups of receipts that fit no ASN for certain.

    allotted: `line` (place in the receipts) and `notice`, of rows whose SKU and quantity leave no choice. candidates:
    `group`, `notice`, which ASNs the others may belong to, with `contradicts`: supplier and site are other ones, and
    `asn`, the names that it shows. names: by `line`, `group` and `sku` of the rows the names that each shows.
    """

    allotted: pl.DataFrame
    candidates: pl.DataFrame
    names: pl.DataFrame

    def as_unread(self) -> pl.DataFrame:
        """The rows as `unread_by_notice` gives such that could not be read: for each ASN that they may be about."""
        ours = self.names.join(self.candidates, on="group", maintain_order="left")
        other = pl.when("contradicts").then(pl.format(", the ASN {}", "asn")).otherwise(pl.lit(""))
        spot = pl.concat_str(pl.format("{} row {}: ", "file_name", "row"), "names", other)
        return ours.select(pl.col("line").alias("nth"), "sku", spot.alias("spot"), "invoice_number", "notice")

    def words(self) -> pl.DataFrame:
        """By group what is said of its own lines (`stray`)."""
        first = pl.when("contradicts").then("asn").first()
        counts = self.candidates.group_by("group", maintain_order=True).agg(
            pl.len().alias("choice"), first.alias("asn")
        )
        names = self.names.group_by("group", maintain_order=True).agg(pl.col("names").first())
        whose = pl.when(pl.col("choice") == 1).then(pl.lit("the ASN")).otherwise(pl.format("one of {} ASNs", "choice"))
        words = pl.format(
            "the row {}: whether these are goods of {} with this invoice number{} cannot be told.",
            "names",
            whose,
            pl.when(pl.col("asn").is_not_null()).then(pl.format(", which {},", "asn")).otherwise(pl.lit("")),
        )
        return counts.join(names, on="group", maintain_order="left").select("group", words.alias("stray"))


def contradicting(found: pl.DataFrame, groups: pl.DataFrame, targets: pl.DataFrame) -> pl.DataFrame:
    """The matches (`group`, `notice`) by less than supplier and site whose receipts name another of one of them."""
    both = _with_names_of_both(found.filter(pl.col("tier") >= 3), groups, targets)
    another = [other_parties(both.with_columns(pl.concat_list(name)), name, several) for name, several in PARTIES]
    return both.filter((another[0].fill_null(False)) | another[1].fill_null(False)).select("group", "notice")


def unmatched_receipts(
    rows: pl.DataFrame,
    lonely: pl.DataFrame,
    whole: pl.DataFrame,
    *,
    targets: pl.DataFrame,
    others: pl.DataFrame,
    expected: pl.DataFrame,
) -> UnmatchedReceipts:
    """What the lonely groups may belong to.

    rows: the receipts with `line`, `group`, `sku` and `units`; whole: the notices; others: as `contradicting` gives
    them; expected: the lines (`notice`, `sku`, `units`) that ASNs have.
    """
    silent = lonely.filter((pl.col("invoice") != "") & ((pl.col("party") == "") | (pl.col("place") == "")))
    both = silent.join(targets.select("notice", "invoice", "parties", "places"), on="invoice", maintain_order="left")
    fits = [
        (pl.col(name) == "") | (pl.col(several).list.len() == 0) | _is_one_of(name, several)
        for name, several in PARTIES
    ]
    candidates = both.filter(pl.all_horizontal(fits)).select("group", "notice")
    allotted = _by_contents(rows, candidates, expected)
    settled = rows.join(allotted, on="line", how="semi").select("group").unique()
    left = candidates.join(settled, on="group", how="anti", maintain_order="left")
    told = pl.concat([left.with_columns(contradicts=False), others.with_columns(contradicts=True)])
    shown = whole.select("notice", _names("supplier_shown", "site_shown").alias("asn"))
    named = rows.select("line", "group", "sku", "file_name", "row", "invoice_number", _names().alias("names"))
    return UnmatchedReceipts(allotted, told.join(shown, on="notice", how="left", maintain_order="left"), named)


def other_names(groups: pl.DataFrame, rows: pl.DataFrame, found: pl.DataFrame, targets: pl.DataFrame) -> pl.DataFrame:
    """`notice` and `receipts_name`: supplier and site as receipts name them, where they were matched without them."""
    both = _with_names_of_both(found, groups, targets)
    other = [
        (pl.col(name) != "") & (pl.col(several).list.len() > 0) & ~_is_one_of(name, several)
        for name, several in PARTIES
    ]
    told = both.filter(pl.any_horizontal(other)).select("group", "notice")
    names = rows.join(told, on="group", maintain_order="left").with_columns(_names().alias("receipts_name"))
    each = names.unique(["notice", "receipts_name"], maintain_order=True).group_by("notice", maintain_order=True)
    return each.agg(pl.col("receipts_name").head(_NAMED).str.join("; "))


def _with_names_of_both(found: pl.DataFrame, groups: pl.DataFrame, targets: pl.DataFrame) -> pl.DataFrame:
    named = found.select("group", "notice").join(groups, on="group", maintain_order="left")
    return named.join(targets.select("notice", "parties", "places"), on="notice", maintain_order="left")


def _is_one_of(name: str, several: str) -> pl.Expr:
    return pl.col(several).list.contains(pl.col(name))


def _names(supplier: str = "supplier_name", site: str = "site_name") -> pl.Expr:
    """Which supplier and site a row or an ASN names, in words."""
    parts = []
    for word, column in (("supplier", supplier), ("site", site)):
        text = pl.col(column).fill_null("").str.strip_chars()
        parts.append(pl.when(text != "").then(pl.format(f'{word} "{{}}"', text)).otherwise(pl.lit(f"no {word}")))
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
