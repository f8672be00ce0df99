"""Lines that agree in every respect, told from the others cheaply, so that only the others go through the whole audit.

A line is set aside only where nothing could be found about it: its notice is in order (see `orderly_pairs`), its SKU
stands once on each side, and quantity, prices and what was received are alike. In doubt it is left to the audit, which
finds the same.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import polars as pl

from logistics_batch.model.reconciliation import QUANTITY, Discrepancy
from logistics_batch.reconciliation.classes import Rules
from logistics_batch.reconciliation.legs import Legs, day, identifier
from logistics_batch.reconciliation.orderly_pairs import orderly_pairs
from logistics_batch.reconciliation.receipts import CONDITION_CODES
from logistics_batch.reconciliation.twin_lines import joined, keyed, twin_lines, with_places

_GOOD = [word for word, code in CONDITION_CODES.items() if code == "good"]


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
        """The pairs that are not among the notices left, but for those whose reply says all that was sent."""
        return self.pairs.filter(pl.col("whole") & ~pl.col("echoed"))

    def legs_aside(self, *, notices_at_once: int) -> Iterator[Legs]:
        """The legs of the lines that were set aside, so many notices after the other."""
        lines = {name: getattr(self.whole, name).filter(mask) for name, mask in self.aside.items()}
        for pairs in self.pairs.iter_slices(notices_at_once):
            part: dict[str, pl.DataFrame] = {"unsent_rows": self.whole.unsent_rows.clear()}
            for leg in ("announced", "returned"):
                is_ours = pl.col("notice").is_in(pairs[leg].implode())
                part[f"{leg}_notices"] = getattr(self.whole, f"{leg}_notices").filter(is_ours)
                part[f"{leg}_lines"] = lines[f"{leg}_lines"].filter(is_ours)
            if "received" in lines:
                of_ours = identifier("invoice_number").is_in(pairs["invoice"].implode())
                part["received"] = lines["received"].filter(of_ours)
            yield replace(self.whole, **part)


def set_aside(legs: Legs, *, rules: Rules, looked_at: pl.Series) -> Agreement:
    """Part the legs, whose lines have `units`; invoices in `looked_at` (normalised) are left in full."""
    pairs = with_places(orderly_pairs(legs, rules=rules, looked_at=looked_at), legs)
    alike = twin_lines(legs, pairs)
    if legs.received is None:
        alike = alike.with_columns(pl.lit(None, pl.UInt32).alias("line_received"))
    else:
        taken = _receipts(legs.received, pairs, rules=rules)
        received = taken.group_by("pair").agg(pl.len().alias("lines_received"))
        pairs = pairs.join(received, on="pair", how="left", maintain_order="left")
        alike = _with_receipts(alike, taken, legs=legs, waits=pairs["waits"])
    return _parted(legs, alike, pairs)


def _receipts(received: pl.DataFrame, pairs: pl.DataFrame, *, rules: Rules) -> pl.DataFrame:
    """The receipts of the pairs, with `fine`: good goods that came for certain, and when they should."""
    rows = received.with_row_index("line").with_columns(identifier("invoice_number").alias("invoice"))
    dates = ("pair", "invoice", "due_first", "due_last", "expiry_date")
    ours = rows.join(pairs.select(dates), on="invoice").with_columns(day("received_date").alias("on"))
    late = _days(pl.col("on") - pl.col("due_last")) > (rules.limit(Discrepancy.LATE).days or 0)
    early = _days(pl.col("due_first") - pl.col("on")) > (rules.limit(Discrepancy.EARLY).days or 0)
    stale = _days(pl.col("expiry_date") - pl.col("on")) < (rules.limit(Discrepancy.SHELF_LIFE).days or 0)
    good = pl.col("condition").fill_null("").str.to_lowercase().is_in(_GOOD)
    fine = good & ~pl.any_horizontal(odd.fill_null(False) for odd in (late, early, stale, pl.col("again")))
    return ours.select("line", "pair", "sku_name", "units", fine.alias("fine"))


def _days(span: pl.Expr) -> pl.Expr:
    return span.dt.total_days()


def _with_receipts(alike: pl.DataFrame, taken: pl.DataFrame, *, legs: Legs, waits: pl.Series) -> pl.DataFrame:
    """The lines that came as announced, and those of which nothing came that is not due yet either."""
    named = keyed(taken.rename({"line": "line_received"}).lazy()).drop("pair").filter(pl.col("key").is_not_null())
    places = alike.lazy().with_columns(legs.announced_lines["sku_name"].gather(alike["line"]))
    came = joined(keyed(places).drop("sku", "sku_name").collect(), named.collect(), suffix="_received")
    announced = legs.announced_lines[came["line"]].select(identifier("sku_name"), "units")
    exact = came.filter(
        pl.col("fine") & (pl.col("sku") == announced["sku_name"]) & (pl.col("units") == announced["units"])
    )
    early = alike.filter(waits.gather(alike["pair"])).with_columns(pl.lit(None, pl.UInt32).alias("line_received"))
    return pl.concat([exact.select(early.columns), early])


def _parted(legs: Legs, alike: pl.DataFrame, pairs: pl.DataFrame) -> Agreement:
    """Lines aside and lines left; a pair all of whose lines are aside goes with them, else its headers stay, too."""
    summed = pairs.join(_sums(legs, alike), on="pair", how="left", maintain_order="left")
    pairs = summed.with_columns(pl.col("lines", "units", "taken", "units_received").fill_null(0))
    every = pl.all_horizontal(pl.col(f"lines_{leg}") == pl.col("lines") for leg in ("announced", "returned"))
    if legs.received is not None:
        every &= pl.col("lines_received").fill_null(0) == pl.col("taken")
    # Where a total stands, it is held against all lines together.
    pairs = pairs.with_columns(every.fill_null(False).alias("whole"))
    pairs = pairs.with_columns(((pl.col("lines") > 0) & (pl.col("whole") | ~pl.col("has_total"))).alias("parted"))
    parted = pairs["parted"]
    ours = alike if parted.all() else alike.filter(parted.gather(alike["pair"]))
    pairs = (pairs if parted.all() else pairs.filter(parted)).drop("parted")
    masks = {
        "announced_lines": _mask(legs.announced_lines, ours["line"]),
        "returned_lines": _mask(legs.returned_lines, ours["line_returned"]),
    }
    if legs.received is not None:
        masks["received"] = _mask(legs.received, ours["line_received"].drop_nulls())
    return Agreement(pairs, legs, masks, _left(legs, masks, pairs))


def _sums(legs: Legs, alike: pl.DataFrame) -> pl.DataFrame:
    """By pair, how many `lines` and `units` are alike, and how many lines of these were `taken`, `units_received`."""
    units = legs.announced_lines["units"].gather(alike["line"])
    none, nothing = pl.lit(0, pl.UInt32), pl.lit(0, QUANTITY)
    came = pl.col("line_received").is_not_null()
    taken, received = came.cum_sum(), pl.when(came).then(units).otherwise(nothing).cum_sum()
    if legs.received is None:
        taken, received = none, nothing
    # Sums up to the end of each run, since the lines of a pair stand mostly together.
    runs = alike["pair"].rle().struct.unnest().rename({"value": "pair", "len": "lines"})
    ends = runs["lines"].cum_sum() - 1
    running = alike.select(units.cum_sum().alias("units"), taken.alias("taken"), received.alias("units_received"))
    upto = running.select(pl.all().gather(ends))
    sums = runs.hstack(upto.select(pl.all() - pl.all().shift(1, fill_value=0)))
    return sums if runs["pair"].n_unique() == runs.height else sums.group_by("pair").agg(pl.all().sum())


def _left(legs: Legs, masks: dict[str, pl.Series], pairs: pl.DataFrame) -> Legs:
    left = {name: getattr(legs, name).filter(~mask) for name, mask in masks.items()}
    for leg in ("announced", "returned"):
        gone = pairs[leg].filter(pairs["whole"])
        left[f"{leg}_notices"] = getattr(legs, f"{leg}_notices").filter(~pl.col("notice").is_in(gone.implode()))
    settled = pairs.select(
        pl.col("returned").alias("notice"),
        pl.col("lines").alias("settled_lines"),
        (pl.col("taken") > 0).alias("settled_received"),
    )
    left["returned_notices"] = left["returned_notices"].join(settled, on="notice", how="left", maintain_order="left")
    return replace(legs, **left)


def _mask(lines: pl.DataFrame, places: pl.Series) -> pl.Series:
    return pl.repeat(False, lines.height, eager=True).scatter(places, True)
