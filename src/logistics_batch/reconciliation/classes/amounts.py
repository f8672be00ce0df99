"""What a line is about: how many units, and what they are worth in INR (exact; each part rounded to the paisa)."""

from collections.abc import Collection

import polars as pl

from logistics_batch.model.reconciliation import MONEY, QUANTITY, ComparedOutcome, Discrepancy
from logistics_batch.reconciliation.classes.facts import ZERO, by_receipts, unit_price, unreadable
from logistics_batch.reconciliation.classes.verdicts import CAUSES, COUNTED, VALUED, is_wrong
from logistics_batch.reconciliation.legs.reading import CONDITION_CLASSES
from logistics_batch.reconciliation.sentences import all_that_hold, sentence, verdict_is

_D = Discrepancy
_PRICES = (_D.PRICE_VAR, _D.MRP_VAR)
_NO_MONEY = pl.lit(0, MONEY)
# What says of all pieces of a line that they are missing.
_ALL_MISSING = (_D.MISSING_IN_SERVICE, _D.MISSING_SKU, _D.WRONG_SKU, _D.NOT_RECEIVED, _D.EXPIRED_UNRECEIVED)
# What is said of a line as a whole, with all its pieces.
_WHOLE = (*_ALL_MISSING, _D.NOT_SENT, _D.UNEXPECTED_IN_SERVICE, _D.NO_ASN, _D.EXTRA_SKU)
_TOLD = (
    " Not counted again: {units_told} pieces, which the line of the accepted version ({place_told:known}) has as {as_}."
)


def is_exception() -> pl.Expr:
    """Whether the verdict is a class, and not an outcome that needs nobody."""
    return verdict_is(*_D)


def _is_whole() -> pl.Expr:
    """Whether the verdict is about all pieces of the line, so that no other count of pieces adds to it."""
    return verdict_is(*_WHOLE) | (verdict_is(*CONDITION_CLASSES) & ~pl.col("has_announced"))


def with_amounts(judged: pl.DataFrame, *, beside: Collection[Discrepancy]) -> pl.LazyFrame:
    """The lines with `qty_delta`, `qty_affected`, `delta_percent`, `impact_inr`, `impact_by_class` and `also`.

    beside: see `causes_beside`.
    """
    also = all_that_hold(((applies_beside(code), code.value) for code in beside), ", ")
    share = pl.col("qty_delta").cast(pl.Float64) * 100 / pl.col("expected").cast(pl.Float64)
    return (
        judged.lazy()
        .with_columns(_delta().alias("qty_delta"))
        .with_columns(
            _affected().alias("qty_affected"),
            pl.when(pl.col("expected") != 0).then(share).round(2).alias("delta_percent"),
        )
        .with_columns(_impact().alias("impact_inr"), also.alias("also"))
        .with_columns(_parts(judged["verdict"].unique().to_list(), beside).alias("impact_by_class"))
    )


def _delta() -> pl.Expr:
    """What is there minus what should be; null where that cannot be said."""
    of_service = verdict_is(_D.SHORT) & ~by_receipts(_D.SHORT) | verdict_is(_D.OVER) & ~by_receipts(_D.OVER)
    surplus = verdict_is(_D.UNEXPECTED_IN_SERVICE, _D.EXTRA_SKU, _D.NO_ASN)
    return (
        pl.when(verdict_is(_D.UNVERIFIABLE))
        .then(None)
        .when(verdict_is(_D.WRONG_SKU))
        .then(-pl.coalesce("qty_announced", "qty_returned"))  # of this SKU; what stands there is another one
        .when(verdict_is(_D.NOT_SENT, _D.MISSING_IN_SERVICE, _D.MISSING_SKU))
        .then(-pl.col("qty_announced"))
        .when(surplus | (~pl.col("has_announced") & verdict_is(*CONDITION_CLASSES)))
        .then(pl.coalesce("qty_returned", "qty_received"))
        .when(of_service)
        .then(pl.col("service_delta"))
        .otherwise(pl.coalesce("receipt_delta", "service_delta"))
    )


def _affected() -> pl.Expr:
    """How many units the line is about, never negative, each once."""
    return (
        pl.when(verdict_is(_D.UNVERIFIABLE))
        .then(pl.coalesce("expected", "qty_received"))
        .when(_is_whole() | (verdict_is(*_PRICES) & is_wrong(_D.OVER)))
        .then(_own_pieces())
        .when(verdict_is(*_PRICES))
        .then(pl.col("expected"))
        .when(verdict_is(_D.LATE, _D.EARLY))
        .then(pl.col("received"))
        .when(is_exception())
        .then(pl.sum_horizontal(pl.col(f"units_of_{code.value}") for code in COUNTED))
        .otherwise(pl.col("qty_delta"))
        .abs()
        .cast(QUANTITY)
    )


def _own_pieces() -> pl.Expr:
    """The pieces of a line that is at stake as a whole, but those that another line claims; see `with_pieces_told`."""
    return pl.max_horizontal(pl.col("largest_leg") - pl.col("units_told"), ZERO)


def _impact() -> pl.Expr:
    """INR at stake, never negative: the sum of its parts; null where no price is known or nothing can be said."""
    by_quantity = pl.col("qty_affected") * unit_price()
    by_price = (pl.col("price_delta").abs() * pl.col("expected")).fill_null(_NO_MONEY)
    priced = unit_price().is_not_null() | ~pl.any_horizontal(_is_whole(), *(is_wrong(code) for code in COUNTED))
    amounts = _amounts().values()
    told = pl.any_horizontal(~verdict_is(_D.UNVERIFIABLE), *(amount.is_not_null() for amount in amounts))
    return (
        pl.when(verdict_is(ComparedOutcome.TOO_EARLY))
        .then(None)
        .when(is_exception() & priced & told)
        .then(pl.sum_horizontal(amounts))
        .when(verdict_is(ComparedOutcome.WITHIN_TOLERANCE))
        .then((by_quantity + by_price).round(2, mode="half_away_from_zero"))
        .when(~is_exception())
        .then(by_quantity.round(2, mode="half_away_from_zero"))
        .cast(MONEY)
    )


def _amounts() -> dict[Discrepancy | None, pl.Expr]:
    """INR by cause, null where it costs nothing; None stands for the class of a line that is at stake as a whole.

    Nothing is lost by goods that came in full, only not on their day.
    """
    beside = pl.col("beside_inr").fill_null(_NO_MONEY)
    whole = (_own_pieces() * unit_price() + beside).round(2, mode="half_away_from_zero").cast(MONEY)
    amounts: dict[Discrepancy | None, pl.Expr] = {None: pl.when(_is_whole()).then(whole)}
    for code in VALUED:
        counts = ~_is_whole() & ~unreadable() if code in COUNTED else pl.lit(True)
        amounts[code] = pl.when(counts & is_wrong(code)).then(pl.col(f"inr_of_{code.value}"))
    return amounts


def _parts(verdicts: Collection[str], beside: Collection[Discrepancy]) -> pl.Expr:
    """The causes with their INR, that of the class first: "SHORT 9800.00; DAMAGED 200.00"."""
    amounts = _amounts()
    classes = (code for code in VALUED if code.value in verdicts)
    first = pl.coalesce(amounts[None], *(pl.when(verdict_is(code)).then(amounts[code]) for code in classes))
    others = [
        (~verdict_is(code) & (amounts[code] > 0), pl.format(f"{code.value} {{}}", amounts[code]))
        for code in VALUED
        if code in beside
    ]
    told = all_that_hold([(first.is_not_null(), pl.format("{} {}", "verdict", first)), *others], "; ")
    return pl.when(is_exception() & pl.col("impact_inr").is_not_null()).then(told).fill_null("")


def causes_beside(lines: pl.DataFrame) -> list[Discrepancy]:
    """The causes that apply to any line beside its class: few, and an expression works out each for all lines."""
    told = lines.select(applies_beside(code).any().alias(code.value) for code in CAUSES)
    return [code for code in CAUSES if told[code.value].item()]


def applies_beside(code: Discrepancy) -> pl.Expr:
    """Whether a cause is to be told beside the class of the line."""
    told = is_exception() & is_wrong(code) & ~verdict_is(code)
    return told & ~_is_whole() & ~unreadable() if code in (_D.SHORT, _D.OVER) else told


def with_pieces_told(judged: pl.DataFrame) -> pl.DataFrame:
    """The lines with `units_told`, how many of their pieces the accepted version's line claims, and `told_in`, words.

    The version that waits says 8 instead of 10, and 8 came: that two are missing is told by the line of what was
    accepted; so it is with 12 instead of 10 where 12 came. It is one fact, at stake there only. Pieces the other way
    are others, and both lines count them.
    """
    if judged["version_of"].null_count() == judged.height:
        return judged.with_columns(ZERO.alias("units_told"), pl.lit(None, pl.String).alias("told_in"))
    inside = pl.col("in_window").fill_null(False) & is_exception()
    ours = judged.filter(inside & pl.col("announced").is_not_null() & pl.col("accepted").fill_null(False))
    row = pl.concat_str(pl.lit(" row "), "rows").fill_null("")
    claims = ours.select(
        pl.col("announced").alias("version_of"),
        "sku",
        *_claimed("fewer", verdict_is(*_ALL_MISSING), _D.SHORT),
        *_claimed("more", ~pl.col("has_announced"), _D.OVER),
        pl.concat_str(pl.col("file_name").fill_null(""), row).alias("place_told"),
    )
    joined = judged.join(claims, on=["version_of", "sku"], how="left", maintain_order="left")
    change = pl.when(verdict_is(_D.NOT_SENT)).then("qty_announced")
    fewer, more = (
        pl.min_horizontal(size, pl.col(name).fill_null(ZERO)) for size, name in ((-change, "fewer"), (change, "more"))
    )
    told = pl.when(change < 0).then(fewer).when(change > 0).then(more).otherwise(ZERO).cast(QUANTITY)
    words = sentence(_TOLD, as_=pl.when(change < 0).then("fewer_as").otherwise("more_as"))
    return (
        joined.with_columns(told.alias("units_told"))
        .with_columns(pl.when(pl.col("units_told") > 0).then(words).alias("told_in"))
        .drop("fewer", "fewer_as", "more", "more_as", "place_told")
    )


def _claimed(name: str, all_pieces: pl.Expr, code: Discrepancy) -> tuple[pl.Expr, pl.Expr]:
    """How many pieces the exception of an accepted line calls too few or too many, and as what."""
    counted = pl.when(~unreadable()).then(f"units_of_{code.value}").otherwise(ZERO)
    return (
        pl.when(all_pieces).then("largest_leg").otherwise(counted).alias(name),
        pl.when(all_pieces).then("verdict").otherwise(pl.lit(code.value)).alias(f"{name}_as"),
    )
