"""Lines that agree in every respect, told from the others cheaply, so that only the others go through the whole audit.

A line is set aside only where nothing could be found about it: its notice is in order (see `orderly_pairs`), its SKU
stands once on each side, and quantity, prices and what was received are alike. In doubt it is left to the audit, which
finds the same.
"""

from dataclasses import dataclass, replace

import polars as pl

from logistics_batch.model.reconciliation import Discrepancy
from logistics_batch.reconciliation.classes import Rules
from logistics_batch.reconciliation.legs import Legs, day, identifier, price
from logistics_batch.reconciliation.orderly_pairs import orderly_pairs
from logistics_batch.reconciliation.receipts import CONDITION_CODES

_GOOD = [word for word, code in CONDITION_CODES.items() if code == "good"]
_HALF = 2**32


@dataclass(frozen=True, slots=True)
class Agreement:
    """What was set aside, and what is left.

    pairs: one row for each notice with lines that were set aside: the headers of `orderly_pairs`, `lines`, `units`
    (announced, and returned alike), and of these `taken` lines with `units_received`; the others are too early.
    whole: the legs. aside: by leg, which lines were set aside. left: the legs of all other lines; there,
    `returned_notices` says in `settled_lines` and `settled_received` what of a notice was set aside.
    """

    pairs: pl.DataFrame
    whole: Legs
    aside: dict[str, pl.Series]
    left: Legs

    def settled_pairs(self) -> pl.DataFrame:
        """The pairs that are not among the notices left."""
        return self.pairs.filter("whole")

    def legs_aside(self) -> Legs:
        """The legs of the lines that were set aside."""
        lines = {name: getattr(self.whole, name).filter(mask) for name, mask in self.aside.items()}
        for leg in ("announced", "returned"):
            notices = getattr(self.whole, f"{leg}_notices")
            ours = self.pairs.select(pl.col(leg).alias("notice"))
            lines[f"{leg}_notices"] = notices.join(ours, on="notice", how="semi", maintain_order="left")
        return replace(self.whole, **lines, unsent_rows=self.whole.unsent_rows.clear())


def set_aside(legs: Legs, *, rules: Rules, looked_at: pl.Series) -> Agreement:
    """Part the legs, whose lines have `units`; invoices in `looked_at` (normalised) are left in full."""
    pairs = orderly_pairs(legs, rules=rules, looked_at=looked_at)
    announced, returned = (
        _of_pairs(getattr(legs, f"{leg}_lines"), pairs.select("pair", pl.col(leg).alias("notice")), on="notice")
        for leg in ("announced", "returned")
    )
    counts = _counts(pairs, announced=announced, returned=returned)
    alike = _alike(_joined(_under_key(announced), _under_key(returned), suffix="_returned"))
    if legs.received is None:
        alike = alike.with_columns(pl.lit(None, pl.UInt32).alias("line_received"))
    else:
        taken = _receipts(legs.received, pairs, rules=rules)
        counts = _counts(counts, received=taken)
        alike = _with_receipts(alike, _under_key(taken), pairs)
    return _parted(legs, alike, counts)


def _of_pairs(lines: pl.DataFrame, notices: pl.DataFrame, *, on: str) -> pl.DataFrame:
    """The lines of the pairs; `line` is their place in the leg."""
    ours = lines.with_row_index("line").join(notices, on=on)
    return ours.select("line", "pair", identifier("sku_name").alias("sku"), "units", "price", "mrp")


def _under_key(lines: pl.DataFrame) -> pl.DataFrame:
    """The lines with a SKU, under a `key` for it and its notice."""
    # 32 bits of hash tell the SKUs of one notice apart; two that share them look like a SKU that stands twice.
    key = pl.col("pair").cast(pl.UInt64) * _HALF + pl.col("sku").hash() % _HALF
    return lines.filter(pl.col("sku") != "").with_columns(key.alias("key"))


def _joined(left: pl.DataFrame, right: pl.DataFrame, *, suffix: str) -> pl.DataFrame:
    """The lines whose SKU stands once on each side: where it stands more often, its key comes out more often."""
    both = left.join(right, on="key", suffix=suffix)
    return both if both["key"].n_unique() == both.height else both.filter(pl.col("key").is_unique())


def _alike(joined: pl.DataFrame) -> pl.DataFrame:
    same = (
        (pl.col("sku") == pl.col("sku_returned"))
        & (pl.col("units") == pl.col("units_returned"))
        & (pl.col("units") > 0)
        & _same_text("price")
        & _same_text("mrp")
    )
    kept = ("key", "pair", "sku", "line", "line_returned", "units")
    by_text = joined.with_columns(same.fill_null(False).alias("same"))
    others = by_text.filter(~pl.col("same")).filter(
        (pl.col("sku") == pl.col("sku_returned"))
        & (pl.col("units") == pl.col("units_returned"))
        & (pl.col("units") > 0)
        & price().eq_missing(price("price_returned"))
        & price("mrp").eq_missing(price("mrp_returned"))
    )
    return pl.concat([by_text.filter("same").select(kept), others.select(kept)])


def _same_text(column: str) -> pl.Expr:
    return pl.col(column).eq_missing(pl.col(f"{column}_returned"))


def _counts(pairs: pl.DataFrame, **legs: pl.DataFrame) -> pl.DataFrame:
    """The pairs with `lines_…`: how many lines each leg has of them."""
    for leg, lines in legs.items():
        count = lines.group_by("pair").agg(pl.len().alias(f"lines_{leg}"))
        pairs = pairs.join(count, on="pair", how="left", maintain_order="left")
    return pairs


def _receipts(received: pl.DataFrame, pairs: pl.DataFrame, *, rules: Rules) -> pl.DataFrame:
    """The receipts of the pairs, with `fine`: good goods that came when they should."""
    rows = received.with_row_index("line").with_columns(identifier("invoice_number").alias("invoice"))
    dates = ("pair", "invoice", "due_first", "due_last", "expiry_date")
    ours = rows.join(pairs.select(dates), on="invoice").with_columns(day("received_date").alias("on"))
    late = _days(pl.col("on") - pl.col("due_last")) > (rules.limit(Discrepancy.LATE).days or 0)
    early = _days(pl.col("due_first") - pl.col("on")) > (rules.limit(Discrepancy.EARLY).days or 0)
    stale = _days(pl.col("expiry_date") - pl.col("on")) < (rules.limit(Discrepancy.SHELF_LIFE).days or 0)
    good = pl.col("condition").fill_null("").str.to_lowercase().is_in(_GOOD)
    fine = good & ~pl.any_horizontal(odd.fill_null(False) for odd in (late, early, stale))
    return ours.select("line", "pair", identifier("sku_name").alias("sku"), "units", fine.alias("fine"))


def _days(span: pl.Expr) -> pl.Expr:
    return span.dt.total_days()


def _with_receipts(alike: pl.DataFrame, taken: pl.DataFrame, pairs: pl.DataFrame) -> pl.DataFrame:
    """The lines that came as announced, and those of which nothing came that is not due yet either."""
    came = _joined(alike, taken, suffix="_received")
    exact = came.filter(
        pl.col("fine") & (pl.col("sku") == pl.col("sku_received")) & (pl.col("units") == pl.col("units_received"))
    )
    waits = pairs.filter(pl.col("waits")).select("pair")
    early = alike.join(waits, on="pair", how="semi").with_columns(pl.lit(None, pl.UInt32).alias("line_received"))
    kept = ("key", "pair", "line", "line_returned", "units", "line_received")
    return pl.concat([exact.select(kept), early.select(kept)])


def _parted(legs: Legs, alike: pl.DataFrame, counts: pl.DataFrame) -> Agreement:
    """Lines aside and lines left; a pair all of whose lines are aside goes with them, else its headers stay, too."""
    sums = alike.group_by("pair").agg(
        pl.len().alias("lines"),
        pl.col("units").sum(),
        pl.col("line_received").count().alias("taken"),
        pl.col("units").filter(pl.col("line_received").is_not_null()).sum().alias("units_received"),
    )
    pairs = counts.join(sums, on="pair", maintain_order="left")
    legs_there = [name for name in ("lines_announced", "lines_returned") if name in pairs.columns]
    every = pl.all_horizontal(*(pl.col(name) == pl.col("lines") for name in legs_there))
    if legs.received is not None:
        every &= pl.col("lines_received").fill_null(0) == pl.col("taken")
    pairs = pairs.with_columns(every.alias("whole"))
    # Where a total stands, it is held against all lines together.
    pairs = pairs.filter(pl.col("whole") | ~pl.col("has_total"))
    ours = alike.join(pairs.select("pair"), on="pair", how="semi")
    masks = {
        "announced_lines": _mask(legs.announced_lines, ours["line"]),
        "returned_lines": _mask(legs.returned_lines, ours["line_returned"]),
    }
    if legs.received is not None:
        masks["received"] = _mask(legs.received, ours["line_received"].drop_nulls())
    return Agreement(pairs, legs, masks, _left(legs, masks, pairs))


def _left(legs: Legs, masks: dict[str, pl.Series], pairs: pl.DataFrame) -> Legs:
    left = {name: getattr(legs, name).filter(~mask) for name, mask in masks.items()}
    for leg in ("announced", "returned"):
        gone = pairs.filter("whole").select(pl.col(leg).alias("notice"))
        left[f"{leg}_notices"] = getattr(legs, f"{leg}_notices").join(
            gone, on="notice", how="anti", maintain_order="left"
        )
    settled = pairs.select(
        pl.col("returned").alias("notice"),
        pl.col("lines").alias("settled_lines"),
        (pl.col("taken") > 0).alias("settled_received"),
    )
    left["returned_notices"] = left["returned_notices"].join(settled, on="notice", how="left", maintain_order="left")
    return replace(legs, **left)


def _mask(lines: pl.DataFrame, places: pl.Series) -> pl.Series:
    return pl.int_range(lines.height, dtype=pl.UInt32, eager=True).is_in(places.implode())
