"""What a line is about: how many units, and what they are worth in INR (exact; each part rounded to the paisa)."""

from collections.abc import Collection

import polars as pl

from logistics_batch.model.reconciliation import MONEY, QUANTITY, ComparedOutcome, Discrepancy
from logistics_batch.reconciliation.causes import CAUSES, COUNTED, VALUED, by_receipts, is_wrong, unit_price, unreadable
from logistics_batch.reconciliation.receipts import CONDITION_CLASSES

_D = Discrepancy
_PRICES = (_D.PRICE_VAR, _D.MRP_VAR)
_DATES = (_D.LATE, _D.EARLY)
# What is said of a line as a whole, with all its pieces.
_WHOLE = (
    *(_D.NOT_SENT, _D.MISSING_IN_SERVICE, _D.UNEXPECTED_IN_SERVICE, _D.NO_ASN),
    *(_D.WRONG_SKU, _D.MISSING_SKU, _D.EXTRA_SKU, _D.NOT_RECEIVED, _D.EXPIRED_UNRECEIVED),
)


def _is(*words: Discrepancy | ComparedOutcome) -> pl.Expr:
    return pl.col("verdict").is_in([word.value for word in words])


def is_exception() -> pl.Expr:
    """Whether the verdict is a class, and not an outcome that needs nobody."""
    return _is(*Discrepancy)


def is_whole() -> pl.Expr:
    """Whether the verdict is about all pieces of the line, so that no other count of pieces adds to it."""
    return _is(*_WHOLE) | (_is(*CONDITION_CLASSES) & ~pl.col("has_announced"))


def delta() -> pl.Expr:
    """What is there minus what should be; null where that cannot be said."""
    return (
        pl.when(_is(_D.UNVERIFIABLE))
        .then(None)
        .when(_is(_D.WRONG_SKU))
        .then(-pl.coalesce("qty_announced", "qty_returned"))  # of this SKU; what stands there is another one
        .when(_is(_D.NOT_SENT, _D.MISSING_IN_SERVICE, _D.MISSING_SKU))
        .then(-pl.col("qty_announced"))
        .when(_is(_D.UNEXPECTED_IN_SERVICE, _D.EXTRA_SKU, _D.NO_ASN))
        .then(pl.coalesce("qty_returned", "qty_received"))
        .when(~pl.col("has_announced") & _is(*CONDITION_CLASSES))
        .then(pl.coalesce("qty_returned", "qty_received"))
        .when(_of_service(_D.SHORT) | _of_service(_D.OVER))
        .then(pl.col("service_delta"))
        .otherwise(pl.coalesce("receipt_delta", "service_delta"))
    )


def _of_service(code: Discrepancy) -> pl.Expr:
    return _is(code) & ~by_receipts(code)


def affected() -> pl.Expr:
    """How many units the line is about, never negative, each once; needs `qty_delta`."""
    return (
        pl.when(_is(_D.UNVERIFIABLE))
        .then(pl.coalesce("expected", "qty_received"))
        .when(is_whole() | (_is(*_PRICES) & is_wrong(_D.OVER)))
        .then(_own_pieces())
        .when(_is(*_PRICES))
        .then(pl.col("expected"))
        .when(_is(*_DATES))
        .then(pl.col("received"))
        .when(is_exception())
        .then(pl.sum_horizontal(pl.col(f"units_of_{code.value}") for code in COUNTED))
        .otherwise(pl.col("qty_delta"))
        .abs()
        .cast(QUANTITY)
    )


def _own_pieces() -> pl.Expr:
    """The pieces of a line that is at stake as a whole, but those that another line claims; see `with_pieces_told`."""
    return pl.max_horizontal(pl.col("largest_leg") - pl.col("units_told"), pl.lit(0, QUANTITY))


def impact() -> pl.Expr:
    """INR at stake, never negative: the sum of `parts`; null where no price is known or nothing can be said."""
    by_quantity = pl.col("qty_affected") * unit_price()
    by_price = (pl.col("price_delta").abs() * pl.col("expected")).fill_null(pl.lit(0, MONEY))
    priced = unit_price().is_not_null() | ~pl.any_horizontal(is_whole(), *(is_wrong(code) for code in COUNTED))
    told = pl.any_horizontal(~_is(_D.UNVERIFIABLE), *(amount.is_not_null() for amount in _amounts().values()))
    return (
        pl.when(_is(ComparedOutcome.TOO_EARLY))
        .then(None)
        .when(is_exception() & priced & told)
        .then(pl.sum_horizontal(_amounts().values()))
        .when(_is(ComparedOutcome.WITHIN_TOLERANCE))
        .then((by_quantity + by_price).round(2, mode="half_away_from_zero"))
        .when(~is_exception())
        .then(by_quantity.round(2, mode="half_away_from_zero"))
        .cast(MONEY)
    )


def _amounts() -> dict[Discrepancy | None, pl.Expr]:
    """INR by cause, null where it costs nothing; None stands for the class of a line that is at stake as a whole.

    Nothing is lost by goods that came in full, only not on their day.
    """
    beside = pl.col("beside_inr").fill_null(pl.lit(0, MONEY))
    whole = (_own_pieces() * unit_price() + beside).round(2, mode="half_away_from_zero").cast(MONEY)
    can_tell = ~unreadable()
    amounts: dict[Discrepancy | None, pl.Expr] = {None: pl.when(is_whole()).then(whole)}
    for code in VALUED:
        counts = ~is_whole() & can_tell if code in COUNTED else pl.lit(True)
        amounts[code] = pl.when(counts & is_wrong(code)).then(pl.col(f"inr_of_{code.value}"))
    return amounts


def parts(*, verdicts: Collection[str], beside: Collection[Discrepancy]) -> pl.Expr:
    """The causes with their INR, that of the class first: "SHORT 9800.00; DAMAGED 200.00". Needs `impact_inr`.

    verdicts: those that any line has; beside: see `causes_beside`.
    """
    amounts = _amounts()
    classes = (code for code in VALUED if code.value in verdicts)
    first = pl.coalesce(amounts[None], *(pl.when(_is(code)).then(amounts[code]) for code in classes))
    others = (
        pl.when(~_is(code) & (amounts[code] > 0)).then(pl.format("{} {}", pl.lit(code.value), amounts[code]))
        for code in VALUED
        if code in beside
    )
    told = pl.concat_str(pl.format("{} {}", "verdict", first), *others, separator="; ", ignore_nulls=True)
    return pl.when(is_exception() & pl.col("impact_inr").is_not_null()).then(told).fill_null("")


def causes_beside(lines: pl.DataFrame) -> list[Discrepancy]:
    """The causes that apply to any line beside its class: few, and an expression works out each for all lines."""
    told = lines.select(applies_beside(code).any().alias(code.value) for code in CAUSES)
    return [code for code in CAUSES if told[code.value].item()]


def also(*, beside: Collection[Discrepancy]) -> pl.Expr:
    """The other classes that apply to the line, the first cause first: "DAMAGED, PRICE_VAR"; see `causes_beside`."""
    others = [pl.when(applies_beside(code)).then(pl.lit(code.value)) for code in beside]
    return pl.concat_str(*others, separator=", ", ignore_nulls=True) if others else pl.lit("")


def applies_beside(code: Discrepancy) -> pl.Expr:
    """Whether a cause is to be told beside the class of the line."""
    told = is_exception() & is_wrong(code) & ~_is(code)
    return told & ~is_whole() & ~unreadable() if code in (_D.SHORT, _D.OVER) else told


def delta_percent() -> pl.Expr:
    """The difference as a share of what was expected, in percent; for display only."""
    return (
        pl.when(pl.col("expected") != 0)
        .then(pl.col("qty_delta").cast(pl.Float64) * 100 / pl.col("expected").cast(pl.Float64))
        .round(2)
    )
