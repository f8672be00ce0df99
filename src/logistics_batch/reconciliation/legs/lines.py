"""The legs side by side: one line for each SKU of each notice, duplicates within a notice summed first."""

import polars as pl

from logistics_batch.model.reconciliation import PRICE
from logistics_batch.reconciliation.legs.columns import Legs
from logistics_batch.reconciliation.legs.reading import (
    CONDITION_CLASSES,
    condition_code,
    day,
    identifier,
    price,
    quantity,
)
from logistics_batch.reconciliation.sentences import plain

_KEYS = ["notice", "sku"]


def notice_side(lines: pl.DataFrame) -> pl.DataFrame:
    """Announced or returned lines, typed; `notice` is still that of the leg."""
    return _typed(lines).with_columns(
        price().alias("unit_price"),
        price("mrp").alias("unit_mrp"),
        *(price(name).alias(name) for name in ("discount", "discount_percentage")),
    )


def received_side(lines: pl.DataFrame) -> pl.DataFrame:
    """Receipt lines, typed, with the class of their condition (null: a word that is not known)."""
    return _typed(lines).with_columns(condition_code().alias("condition_code"))


def _typed(lines: pl.DataFrame) -> pl.DataFrame:
    return lines.with_columns(identifier("sku_name").alias("sku"), pl.lit(None, pl.String).alias("found_sku"))


def side_by_side(announced: pl.DataFrame, returned: pl.DataFrame, received: pl.DataFrame) -> pl.DataFrame:
    """One line a (`notice`, `sku`), with what each side says about it; `notice` is that of the match.

    Sums are null where a side has nothing readable; lines whose quantity cannot be read are counted in `unreadable_*`.
    """
    whole = _summed_announced(announced)
    for side in (_summed_returned(returned), _summed_received(received)):
        whole = whole.join(side, on=_KEYS, how="full", coalesce=True, maintain_order="left_right")
    counts = [f"{count}_{leg}" for count in ("lines", "unreadable") for leg in ("announced", "returned", "received")]
    return _with_mixes(whole, announced, returned).with_columns(
        pl.col(counts).fill_null(0).cast(pl.UInt32),
        pl.col("condition_unknown").fill_null(0),
        pl.coalesce("sku_announced", "sku_returned", "sku_received").alias("sku_name"),
        pl.coalesce("found_returned", "found_received").fill_null("").alias("found_sku"),
    )


def _with_mixes(lines: pl.DataFrame, announced: pl.DataFrame, returned: pl.DataFrame) -> pl.DataFrame:
    """The lines with `price_mix_…` and `mrp_mix_…`: how many pieces at which price, as text that can be compared.

    Only of SKUs of which a side has several lines, and both have some: averages may be alike where the prices are not.
    """
    several = lines.filter((pl.col("lines_announced") > 1) | (pl.col("lines_returned") > 1)).select(_KEYS)
    for leg, side in (("announced", announced), ("returned", returned)):
        ours = side.join(several, on=_KEYS, how="semi")
        for price_column, name in (("unit_price", "price_mix"), ("unit_mrp", "mrp_mix")):
            mixed = price_mix(ours, price_column, keys=_KEYS).rename({"mix": f"{name}_{leg}"})
            lines = lines.join(mixed, on=_KEYS, how="left", maintain_order="left")
    return lines


def price_mix(lines: pl.DataFrame, price_column: str, *, keys: list[str]) -> pl.DataFrame:
    """By key, how many `units` stand at which price: "10 at 100, 5 at no price"; null where no price is known."""
    each = lines.group_by(*keys, price_column).agg(pl.col("units").sum()).sort(price_column, nulls_last=True)
    told = pl.format("{} at {}", plain("units"), plain(price_column, none="no price"))
    known = pl.col(price_column).is_not_null().any()
    return each.group_by(keys, maintain_order=True).agg(pl.when(known).then(told.str.join(", ")).alias("mix"))


def discounts_not_returned(legs: Legs) -> int:
    """How many accepted ASNs of the window were sent with a discount, and the service's reply shows none to compare."""
    ours = legs.announced_notices.filter("accepted", "in_window")
    sent = _invoices_with_discount(ours, legs.announced_lines)
    replies = legs.returned_notices.select(identifier("invoice_number").alias("invoice"))
    shown = _invoices_with_discount(legs.returned_notices, legs.returned_lines)
    return sent.join(replies, on="invoice", how="semi").join(shown, on="invoice", how="anti").height


def _invoices_with_discount(notices: pl.DataFrame, lines: pl.DataFrame) -> pl.DataFrame:
    # That nothing is taken off needs no reply.
    named = pl.any_horizontal((price(name) != 0).fill_null(False) for name in ("discount", "discount_percentage"))
    with_one = lines.filter(named).select("notice").unique()
    return notices.join(with_one, on="notice", how="semi").select(identifier("invoice_number").alias("invoice"))


def _summed(side: pl.DataFrame, leg: str, *more: pl.Expr) -> pl.DataFrame:
    readable = pl.col("units").null_count() < pl.len()
    return side.group_by(_KEYS, maintain_order=True).agg(
        pl.when(readable).then(pl.col("units").sum()).alias(f"qty_{leg}"),
        pl.len().alias(f"lines_{leg}"),
        pl.col("units").null_count().alias(f"unreadable_{leg}"),
        pl.col("sku_name").first().alias(f"sku_{leg}"),
        *more,
    )


def _summed_announced(side: pl.DataFrame) -> pl.DataFrame:
    rows = pl.col("row").unique(maintain_order=True).cast(pl.String).str.join(", ").alias("rows")
    beside = price("beside_inr").sum().alias("beside_inr")
    version = pl.col("version", "version_of").drop_nulls().first()
    return _summed(side, "announced", *_prices("announced"), rows, beside, version)


def _summed_returned(side: pl.DataFrame) -> pl.DataFrame:
    requested = quantity("qty_requested")
    return _summed(
        side,
        "returned",
        *_prices("returned"),
        pl.col("found_sku").drop_nulls().first().alias("found_returned"),
        pl.when(requested.null_count() < pl.len()).then(requested.sum()).alias("qty_requested"),
    )


def _summed_received(side: pl.DataFrame) -> pl.DataFrame:
    code, units, place = pl.col("condition_code"), pl.col("units"), pl.format("{} row {}", "file_name", "row")
    # Corrections and rows that say nothing came are booked when they are found out, and no goods came then.
    came = day("received_date").filter(units > 0)
    files = pl.col("file_name").unique(maintain_order=True)
    rows = pl.col("row").unique(maintain_order=True).cast(pl.String).str.join(", ")
    places = place.unique(maintain_order=True).str.join("; ")
    taken_back = pl.format("{} ({})", plain("units"), place).filter(units < 0).str.join("; ")
    return _summed(
        side,
        "received",
        pl.col("found_sku").drop_nulls().first().alias("found_received"),
        pl.col("condition").filter(code.is_null()).first().alias("condition_word"),
        code.null_count().alias("condition_unknown"),
        files.str.join("; ").alias("receipt_file"),
        pl.col("sheet").first().alias("receipt_sheet"),
        pl.when(files.len() > 1).then(places).otherwise(rows).alias("receipt_rows"),
        units.filter(~pl.col("again").fill_null(False)).sum().alias("qty_once"),
        _named("reissued").unique(maintain_order=True).str.join("; "),
        _named("repeats").str.join("; ").alias("receipts_repeated"),
        _named("alike").unique(maintain_order=True).str.join("; ").alias("alike_lists"),
        taken_back.alias("receipts_taken_back"),
        came.min().alias("received_first"),
        came.max().alias("received_date"),
        (pl.len() - pl.struct("units", "condition", "received_date").n_unique()).alias("receipts_alike"),
        *(units.filter(code == one.value).sum().alias(f"units_{one.value}") for one in CONDITION_CLASSES),
    )


def _named(column: str) -> pl.Expr:
    return pl.col(column).filter(pl.col(column) != "")


def _prices(leg: str) -> list[pl.Expr]:
    """Price, retail price and discount of the summed lines; null where a line does not say."""
    amount, percentage = pl.col("discount"), pl.col("discount_percentage")
    one_percentage = (percentage.null_count() == 0) & (percentage.n_unique() == 1)
    return [
        average_price("unit_price").alias(f"price_{leg}"),
        average_price("unit_mrp").alias(f"mrp_{leg}"),
        pl.when(amount.null_count() == 0).then(amount.sum()).alias(f"discount_{leg}"),
        pl.when(one_percentage).then(percentage.first()).alias(f"percentage_{leg}"),
    ]


def average_price(column: str) -> pl.Expr:
    """The price of the summed lines: theirs if it is one, else the average by quantity."""
    prices, units = pl.col(column), pl.col("units").sum()
    # Null instead of zero: the branch not taken is computed, too, and decimals raise.
    average = (prices * pl.col("units")).sum() / pl.when(units != 0).then(units)
    known = prices.null_count() == 0
    return pl.when(known & (prices.n_unique() == 1)).then(prices.first()).when(known).then(average).cast(PRICE)


def swaps(lines: pl.DataFrame, *, expected: pl.Expr, absent: pl.Expr, found: pl.Expr, surplus: pl.Expr) -> pl.DataFrame:
    """Pairs of SKUs of one notice of which one is missing and the other one stands there with the same quantity.

    expected: quantity of a line that is `absent`; found: quantity of a line that is `surplus`. Only pairs that leave no
    choice. Returns `notice`, `sku` (the surplus one), `missing` (the one it stands for) and `stands`, its name.
    """
    missing = _only_one(lines.filter(absent).with_columns(expected.alias("mirrored")))
    instead = _only_one(lines.filter(surplus).with_columns(found.alias("mirrored")))
    pairs = instead.join(missing, on=["notice", "mirrored"], suffix="_missing")
    return pairs.select("notice", "sku", pl.col("sku_missing").alias("missing"), pl.col("sku_name").alias("stands"))


def _only_one(lines: pl.DataFrame) -> pl.DataFrame:
    usable = lines.filter((pl.col("mirrored") > 0) & (pl.col("sku") != ""))
    return usable.filter(pl.len().over("notice", "mirrored") == 1).select("notice", "sku", "sku_name", "mirrored")


def stand_in(side: pl.DataFrame, pairs: pl.DataFrame) -> pl.DataFrame:
    """A side in which the surplus SKU of each pair is counted under the one it stands for."""
    joined = side.join(pairs, on=_KEYS, how="left", maintain_order="left")
    return joined.with_columns(
        pl.coalesce("missing", "sku").alias("sku"), pl.coalesce("found_sku", "stands").alias("found_sku")
    ).drop("missing", "stands")
