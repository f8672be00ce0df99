"""Lines of orderly pairs that say the same on both sides: SKU, quantity and prices, each SKU once on each side.

Most notices come back as they went out. Their lines stand in step and are compared place by place; only what is left is
joined by SKU.
"""

from functools import reduce
from operator import and_

import polars as pl

from logistics_batch.reconciliation.legs import Legs, identifier, price

_LEGS = ("announced", "returned")
_HALF = 2**32
_PLACES = ("start_announced", "start_returned")
_PAIRS_AT_ONCE = 8192

Sides = tuple[pl.DataFrame, pl.DataFrame]
_DISCOUNTS = ("discount", "discount_percentage")


def with_places(pairs: pl.DataFrame, legs: Legs) -> pl.DataFrame:
    """The pairs with `lines_…`, how many lines each leg has of them, and `start_…`, their place if they are one run."""
    for leg in _LEGS:
        runs = getattr(legs, f"{leg}_lines")["notice"].rle().struct.unnest()
        start = pl.col("len").cum_sum() - pl.col("len")
        places = runs.select("value", pl.col("len").alias(f"lines_{leg}"), start.alias(f"start_{leg}"))
        if _is_counted_up(places["value"], of=getattr(legs, f"{leg}_notices").height):
            pairs = pairs.with_columns(places.select(pl.exclude("value").gather(pairs[leg])))
            continue
        if places["value"].n_unique() < places.height:
            in_one = pl.when(pl.len() == 1).then(pl.col(f"start_{leg}").first())
            places = places.group_by("value").agg(pl.col(f"lines_{leg}").sum(), in_one)
        pairs = pairs.join(places, left_on=leg, right_on="value", how="left", maintain_order="left")
    return pairs


def _is_counted_up(notices: pl.Series, *, of: int) -> bool:
    """Whether they are 0, 1, 2 and so on: so it is where each of all those notices has lines, and none is in pieces."""
    return notices.len() == of and notices.equals(pl.int_range(of, dtype=pl.UInt32, eager=True))


def twin_lines(legs: Legs, pairs: pl.DataFrame) -> pl.DataFrame:
    """`pair`, `line` and `line_returned` (places in the legs) of the lines that are alike.

    pairs: those of `with_places`; legs: with `units`.
    """
    sides = _compared(legs)
    in_step = _in_step(sides, pairs)
    others = pairs.filter(~pl.col("pair").is_in(in_step["pair"].rle().struct.field("value").implode()))
    by_sku = joined(*pl.collect_all([_under_key(legs, others, leg) for leg in _LEGS]), suffix="_returned")
    by_sku = by_sku.with_columns((pl.col("key") // _HALF).cast(pl.UInt32).alias("pair")).drop("key")
    told = by_sku.with_columns(*_comparison(*_facing(sides, by_sku)))
    return pl.concat([_alike(lines, legs) for lines in (in_step, told)], rechunk=True)


def keyed(lines: pl.LazyFrame) -> pl.LazyFrame:
    """Lines (`sku_name`, `pair`) with their `sku`, normalised, and a `key` of both, null without a SKU or a pair."""
    return lines.with_columns(identifier("sku_name").alias("sku")).with_columns(_key("sku"))


def _key(sku: str) -> pl.Expr:
    # 32 bits of hash tell the SKUs of one notice apart; two that share them look like a SKU that stands twice.
    short = _hash(sku).cast(pl.UInt32, wrap_numerical=True)
    return pl.when(pl.col(sku) != "").then(pl.col("pair").cast(pl.UInt64) * _HALF + short).alias("key")


def _hash(sku: str) -> pl.Expr:
    return pl.col(sku).hash()


def joined(left: pl.DataFrame, right: pl.DataFrame, *, suffix: str) -> pl.DataFrame:
    """The lines whose SKU stands once on each side: where it stands more often, its key comes out more often."""
    return _once(left.lazy().join(right.lazy(), on="key", suffix=suffix).collect(engine="streaming"))


def _once(lines: pl.DataFrame) -> pl.DataFrame:
    return lines if lines["key"].n_unique() == lines.height else lines.filter(pl.col("key").is_unique())


def _in_step(sides: Sides, pairs: pl.DataFrame) -> pl.DataFrame:
    """The lines of the pairs that have the same SKUs, letter by letter, in the same order on both sides."""
    placed = pairs.select("pair", *_PLACES, "lines_announced", "lines_returned").drop_nulls(_PLACES)
    facing = placed.filter(pl.col("lines_announced") == pl.col("lines_returned"))
    # In parts that the processor's cache holds.
    parts = [_part_in_step(sides, part) for part in facing.iter_slices(_PAIRS_AT_ONCE)]
    return pl.concat(parts or [_part_in_step(sides, facing)], rechunk=True)


def _part_in_step(sides: Sides, pairs: pl.DataFrame) -> pl.DataFrame:
    ranges = (pl.int_ranges(start, pl.col(start) + pl.col("lines_announced"), dtype=pl.UInt32) for start in _PLACES)
    lines = pairs.select("pair", line=next(ranges), line_returned=next(ranges)).explode("line", "line_returned")
    ours, theirs = _facing(sides, lines)
    told = lines.with_columns(ours["sku_name"], *_comparison(ours, theirs))
    odd = told.filter(~pl.col("named"))["pair"].unique()
    in_step = told.filter(~pl.col("pair").is_in(odd.implode())) if odd.len() else told
    return _named_once(in_step).drop("sku_name")


def _named_once(lines: pl.DataFrame) -> pl.DataFrame:
    """The lines (`pair`, `sku_name`) with a SKU that no other line of their pair has."""
    if not _differ_as_they_read(lines["sku_name"]):
        named = keyed(lines.lazy()).drop("sku").collect()
    else:
        named = lines.with_columns(_key("sku_name"))
    return _once(named if named["key"].null_count() == 0 else named.drop_nulls("key")).drop("key")


def _differ_as_they_read(skus: pl.Series) -> bool:
    """Whether no two different texts can be one SKU: if they are as usual, without small letters and blanks."""
    together = skus.str.join().item()
    return together.isascii() and together == together.upper() and len(together.split(None, 1)) == 1


def _under_key(legs: Legs, pairs: pl.DataFrame, leg: str) -> pl.LazyFrame:
    """The lines of the pairs that have a SKU: `line` (their place in the leg), under their `key`."""
    lines = getattr(legs, f"{leg}_lines").lazy().select("sku_name", pl.col("notice").alias(leg)).with_row_index("line")
    ours = lines.join(pairs.lazy().select("pair", leg), on=leg)
    return keyed(ours).filter(pl.col("key").is_not_null()).select("key", "line")


def _compared(legs: Legs) -> Sides:
    """The announced and the returned lines with what is compared of them by its text."""
    sides = (legs.announced_lines, legs.returned_lines)
    given = {name: [_is_given(side[name]) for side in sides] for name in ("qty", "price", "mrp", *_DISCOUNTS)}
    # A discount that one side never names is not compared.
    names = [name for name, told in given.items() if (all(told) if name in _DISCOUNTS else any(told))]
    return sides[0].select("sku_name", *names, "units"), sides[1].select("sku_name", *names)


def _facing(sides: Sides, lines: pl.DataFrame) -> Sides:
    """The sides' lines, one beside the other."""
    return sides[0][lines["line"]], sides[1][lines["line_returned"]]


def _comparison(ours: pl.DataFrame, theirs: pl.DataFrame) -> tuple[pl.Series, pl.Series]:
    """Of lines side by side: `named`, whether their SKUs have the same text, and `same`, whether they have a quantity,
    and it, prices and discounts have the same text.
    """
    same = [ours[name].eq_missing(theirs[name]) for name in theirs.columns]
    counted = (ours["units"] > 0).fill_null(False)
    return same[0].alias("named"), reduce(and_, same[1:], counted).alias("same")


def _is_given(texts: pl.Series) -> bool:
    """Whether any line says something."""
    return texts.null_count() < texts.len() and bool((texts != "").any())


def _alike(lines: pl.DataFrame, legs: Legs) -> pl.DataFrame:
    """The lines with the same SKU, quantity and prices: by their text, and what is left by its meaning."""
    same = pl.col("named") & pl.col("same")
    others = lines.filter(~same)
    left = _meant(legs.announced_lines, others["line"])
    right = _meant(legs.returned_lines, others["line_returned"])
    both = [pl.col(name).eq_missing(right[name]) for name in left.columns if name not in _DISCOUNTS]
    # What one side does not name is not compared.
    discounts = [(pl.col(name) == right[name]).fill_null(True) for name in _DISCOUNTS]
    by_meaning = left.select((pl.col("units") > 0) & pl.all_horizontal(*both, *discounts)).to_series()
    kept = pl.concat([lines.filter(same), others.filter(by_meaning.fill_null(False))])
    return kept.select("pair", "line", "line_returned")


def _meant(lines: pl.DataFrame, places: pl.Series) -> pl.DataFrame:
    """The lines at some places: what is compared of them, by its meaning."""
    prices = (price(name).alias(name) for name in ("price", "mrp", *_DISCOUNTS))
    return lines[places].select(identifier("sku_name"), "units", *prices)
