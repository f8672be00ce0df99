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
    announced, returned = pl.collect_all([_under_key(legs, pairs, leg) for leg in ("announced", "returned")])
    alike = _alike(_joined(announced, returned, suffix="_returned"), legs)
    counts = _counts(pairs, announced=legs.announced_lines, returned=legs.returned_lines)
    if legs.received is None:
        alike = alike.with_columns(pl.lit(None, pl.UInt32).alias("line_received"))
    else:
        taken = _receipts(legs.received, pairs, rules=rules)
        received = taken.group_by("pair").agg(pl.len().alias("lines_received"))
        counts = counts.join(received, on="pair", how="left", maintain_order="left")
        alike = _with_receipts(alike, taken, legs=legs, waits=pairs["waits"])
    return _parted(legs, alike, counts)


def _under_key(legs: Legs, pairs: pl.DataFrame, leg: str) -> pl.LazyFrame:
    """The lines of the pairs that have a SKU: `line` (their place in the leg), under a `key` for pair and SKU."""
    lines: pl.DataFrame = getattr(legs, f"{leg}_lines")
    notices = getattr(legs, f"{leg}_notices").select(pl.col("notice").alias(leg))
    pair_of = notices.join(pairs.select("pair", leg), on=leg, how="left", maintain_order="left")["pair"]
    return _keyed(lines.select("sku_name", pair_of.gather(lines["notice"]))).select("key", "line")


def _keyed(lines: pl.DataFrame) -> pl.LazyFrame:
    """The lines that have a SKU and a pair, with `line` and `key`."""
    # 32 bits of hash tell the SKUs of one notice apart; two that share them look like a SKU that stands twice.
    short = pl.col("sku").hash().cast(pl.UInt32, wrap_numerical=True)
    key = pl.when(pl.col("sku") != "").then(pl.col("pair").cast(pl.UInt64) * _HALF + short)
    named = lines.lazy().with_row_index("place").with_columns(identifier("sku_name").alias("sku"))
    return named.with_columns(key.alias("key")).filter(pl.col("key").is_not_null()).rename({"place": "line"})


def _joined(left: pl.DataFrame, right: pl.DataFrame, *, suffix: str) -> pl.DataFrame:
    """The lines whose SKU stands once on each side: where it stands more often, its key comes out more often."""
    both = left.lazy().join(right.lazy(), on="key", suffix=suffix).collect(engine="streaming")
    return both if both["key"].n_unique() == both.height else both.filter(pl.col("key").is_unique())


def _alike(joined: pl.DataFrame, legs: Legs) -> pl.DataFrame:
    """The lines with the same SKU, quantity and prices: by their text, and what is left by its meaning."""
    units = _beside(legs.announced_lines, "units", "line")
    same_text = [
        _beside(legs.announced_lines, name, "line").eq_missing(_beside(legs.returned_lines, name, "line_returned"))
        for name in ("sku_name", "qty", "price", "mrp")
    ]
    told = joined.select(
        "key", "line", "line_returned", ((units > 0).fill_null(False) & pl.all_horizontal(same_text)).alias("same")
    )
    others = told.filter(~pl.col("same"))
    places = ("line", "line_returned")
    left, right = (
        _lines(leg, others[place])
        for leg, place in zip((legs.announced_lines, legs.returned_lines), places, strict=True)
    )
    by_meaning = left.select(
        (pl.col("units") > 0) & pl.all_horizontal(pl.col(name).eq_missing(right[name]) for name in left.columns)
    ).to_series()
    kept = pl.concat([told.filter("same"), others.filter(by_meaning.fill_null(False))])
    return kept.select("key", (pl.col("key") // _HALF).cast(pl.UInt32).alias("pair"), "line", "line_returned")


def _beside(lines: pl.DataFrame, column: str, places: str) -> pl.Expr:
    return pl.lit(lines[column]).gather(pl.col(places))


def _lines(lines: pl.DataFrame, places: pl.Series) -> pl.DataFrame:
    """The lines at some places: what is compared of them, by its meaning."""
    return lines[places].select(identifier("sku_name"), "units", price().alias("price"), price("mrp").alias("mrp"))


def _counts(pairs: pl.DataFrame, **legs: pl.DataFrame) -> pl.DataFrame:
    """The pairs with `lines_…`: how many lines each leg has of them."""
    for leg, lines in legs.items():
        count = lines.group_by("notice").agg(pl.len().alias(f"lines_{leg}"))
        pairs = pairs.join(count, left_on=leg, right_on="notice", how="left", maintain_order="left")
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
    return ours.select("line", "pair", "sku_name", "units", fine.alias("fine"))


def _days(span: pl.Expr) -> pl.Expr:
    return span.dt.total_days()


def _with_receipts(alike: pl.DataFrame, taken: pl.DataFrame, *, legs: Legs, waits: pl.Series) -> pl.DataFrame:
    """The lines that came as announced, and those of which nothing came that is not due yet either."""
    named = _keyed(taken.rename({"line": "line_received"})).drop("line", "pair").collect()
    came = _joined(alike, named, suffix="_received")
    announced = _lines(legs.announced_lines, came["line"])
    exact = came.filter(
        pl.col("fine") & (pl.col("sku") == announced["sku_name"]) & (pl.col("units") == announced["units"])
    )
    early = alike.filter(waits.gather(alike["pair"])).with_columns(pl.lit(None, pl.UInt32).alias("line_received"))
    return pl.concat([exact.select(early.columns), early])


def _parted(legs: Legs, alike: pl.DataFrame, counts: pl.DataFrame) -> Agreement:
    """Lines aside and lines left; a pair all of whose lines are aside goes with them, else its headers stay, too."""
    taken = alike.filter(pl.col("line_received").is_not_null())
    pairs = _with_sums(counts, legs.announced_lines, alike["line"], names=("lines", "units"))
    pairs = _with_sums(pairs, legs.announced_lines, taken["line"], names=("taken", "units_received"))
    legs_there = [name for name in ("lines_announced", "lines_returned") if name in pairs.columns]
    every = pl.all_horizontal(*(pl.col(name) == pl.col("lines") for name in legs_there))
    if legs.received is not None:
        every &= pl.col("lines_received").fill_null(0) == pl.col("taken")
    # Where a total stands, it is held against all lines together.
    pairs = pairs.with_columns(every.fill_null(False).alias("whole"))
    pairs = pairs.with_columns(((pl.col("lines") > 0) & (pl.col("whole") | ~pl.col("has_total"))).alias("parted"))
    ours = alike.filter(pairs["parted"].gather(alike["pair"]))
    pairs = pairs.filter("parted").drop("parted")
    masks = {
        "announced_lines": _mask(legs.announced_lines, ours["line"]),
        "returned_lines": _mask(legs.returned_lines, ours["line_returned"]),
    }
    if legs.received is not None:
        masks["received"] = _mask(legs.received, ours["line_received"].drop_nulls())
    return Agreement(pairs, legs, masks, _left(legs, masks, pairs))


def _with_sums(pairs: pl.DataFrame, lines: pl.DataFrame, places: pl.Series, *, names: tuple[str, str]) -> pl.DataFrame:
    """The pairs with how many of the announced lines stand at the places, and their quantity."""
    ours = lines.select("notice", "units").filter(_mask(lines, places))
    sums = ours.group_by("notice").agg(pl.len().alias(names[0]), pl.col("units").sum().alias(names[1]))
    both = pairs.join(sums, left_on="announced", right_on="notice", how="left", maintain_order="left")
    return both.with_columns(pl.col(names).fill_null(0))


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
