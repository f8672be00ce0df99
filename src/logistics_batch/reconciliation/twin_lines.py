"""Lines of orderly pairs that say the same on both sides: SKU, quantity and prices, each SKU once on each side.

Most notices come back as they went out. Their lines stand in step and are compared place by place; only what is left is
joined by SKU.
"""

import polars as pl

from logistics_batch.reconciliation.legs import Legs, identifier, price

_LEGS = ("announced", "returned")
_HALF = 2**32
_DISCOUNTS = ("discount", "discount_percentage")


def with_places(pairs: pl.DataFrame, legs: Legs) -> pl.DataFrame:
    """The pairs with `lines_…`, how many lines each leg has of them, and `start_…`, their place if they are one run."""
    placed = pairs.lazy().select("pair", *_LEGS)
    for leg in _LEGS:
        runs = getattr(legs, f"{leg}_lines")["notice"].rle().struct.unnest().rename({"value": leg})
        begun = runs.lazy().with_columns((pl.col("len").cum_sum() - pl.col("len")).alias("start"))
        places = begun.group_by(leg).agg(
            pl.col("len").sum().alias(f"lines_{leg}"),
            pl.when(pl.len() == 1).then(pl.col("start").first()).alias(f"start_{leg}"),
        )
        placed = placed.join(places, on=leg, how="left")
    return pairs.hstack(placed.sort("pair").drop("pair", *_LEGS).collect())


def twin_lines(legs: Legs, pairs: pl.DataFrame) -> pl.DataFrame:
    """`key` (see `keyed`), `pair`, `line` and `line_returned` (places in the legs) of the lines that are alike.

    pairs: those of `with_places`; legs: with `units`.
    """
    in_step = _in_step(legs, pairs)
    others = pairs.join(in_step.select("pair").unique(), on="pair", how="anti", maintain_order="left")
    sides = pl.collect_all([_under_key(legs, others, leg) for leg in _LEGS])
    by_sku = joined(*sides, suffix="_returned").with_columns((pl.col("key") // _HALF).cast(pl.UInt32).alias("pair"))
    told = by_sku.lazy().with_columns(_same_text(legs, "sku_name").alias("named"), _same(legs).alias("same")).collect()
    return pl.concat([_alike(in_step, legs), _alike(told, legs)])


def keyed(lines: pl.LazyFrame) -> pl.LazyFrame:
    """Lines (`sku_name`, `pair`) with their `sku`, normalised, and a `key` of both, null without a SKU or a pair."""
    # 32 bits of hash tell the SKUs of one notice apart; two that share them look like a SKU that stands twice.
    short = pl.col("sku").hash().cast(pl.UInt32, wrap_numerical=True)
    key = pl.when(pl.col("sku") != "").then(pl.col("pair").cast(pl.UInt64) * _HALF + short)
    return lines.with_columns(identifier("sku_name").alias("sku")).with_columns(key.alias("key"))


def joined(left: pl.DataFrame, right: pl.DataFrame, *, suffix: str) -> pl.DataFrame:
    """The lines whose SKU stands once on each side: where it stands more often, its key comes out more often."""
    return _once(left.lazy().join(right.lazy(), on="key", suffix=suffix).collect(engine="streaming"))


def _once(lines: pl.DataFrame) -> pl.DataFrame:
    return lines if lines["key"].n_unique() == lines.height else lines.filter(pl.col("key").is_unique())


def _in_step(legs: Legs, pairs: pl.DataFrame) -> pl.DataFrame:
    """The lines of the pairs that have the same SKUs, letter by letter, in the same order on both sides."""
    count = pl.col("lines_announced")
    as_many = pairs.drop_nulls(["start_announced", "start_returned"]).filter(count == pl.col("lines_returned"))
    spans = {
        place: pl.int_ranges(f"start_{leg}", pl.col(f"start_{leg}") + count, dtype=pl.UInt32)
        for place, leg in zip(("line", "line_returned"), _LEGS, strict=True)
    }
    lines = as_many.lazy().select("pair", **spans).explode(*spans)
    named = pl.lit(legs.announced_lines["sku_name"]).gather("line").alias("sku_name")
    told = keyed(lines.with_columns(named, _same_text(legs, "sku_name").alias("named"), _same(legs).alias("same")))
    shown = told.select("key", "pair", "line", "line_returned", "named", "same").collect(engine="streaming")
    odd = shown.filter(~pl.col("named"))["pair"].unique()
    return _once(shown.filter(pl.col("key").is_not_null() & ~pl.col("pair").is_in(odd.implode())))


def _under_key(legs: Legs, pairs: pl.DataFrame, leg: str) -> pl.LazyFrame:
    """The lines of the pairs that have a SKU: `line` (their place in the leg), under their `key`."""
    lines = getattr(legs, f"{leg}_lines").lazy().select("sku_name", pl.col("notice").alias(leg)).with_row_index("line")
    ours = lines.join(pairs.lazy().select("pair", leg), on=leg)
    return keyed(ours).filter(pl.col("key").is_not_null()).select("key", "line")


def _same(legs: Legs) -> pl.Expr:
    """Whether a line has a quantity, and it, prices and discounts have the same text on both sides."""
    counted = pl.lit(legs.announced_lines["units"] > 0).gather("line").fill_null(False)
    named = [
        name for name in _DISCOUNTS if all(_is_given(leg[name]) for leg in (legs.announced_lines, legs.returned_lines))
    ]
    return pl.all_horizontal(counted, *(_same_text(legs, name) for name in ("qty", "price", "mrp", *named)))


def _is_given(texts: pl.Series) -> bool:
    """Whether any line says something."""
    return texts.null_count() < texts.len() and bool((texts != "").any())


def _same_text(legs: Legs, column: str) -> pl.Expr:
    left, right = legs.announced_lines[column], legs.returned_lines[column]
    if left.null_count() == left.len() and right.null_count() == right.len():
        return pl.lit(True)
    return pl.lit(left).gather("line").eq_missing(pl.lit(right).gather("line_returned"))


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
    return kept.select("key", "pair", "line", "line_returned")


def _meant(lines: pl.DataFrame, places: pl.Series) -> pl.DataFrame:
    """The lines at some places: what is compared of them, by its meaning."""
    prices = (price(name).alias(name) for name in ("price", "mrp", *_DISCOUNTS))
    return lines[places].select(identifier("sku_name"), "units", *prices)
