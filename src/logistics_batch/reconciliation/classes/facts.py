"""What the rules ask of a line: which legs have it, by how much they differ, and whether that is tolerated."""

import polars as pl

from logistics_batch.model.reconciliation import QUANTITY, Discrepancy
from logistics_batch.reconciliation.classes.rules import Limit, Rules, near, near_either_way

_D = Discrepancy
ZERO = pl.lit(0, QUANTITY)


def with_facts(lines: pl.DataFrame, *, rules: Rules, receipts: bool) -> pl.DataFrame:
    """The lines with their facts.

    Needs what `side_by_side` gives plus, from the notice, `announced`, `returned`, `accepted`, `due_date` and
    `returned_lines` (lines of the service's notice). receipts: whether receipts are compared at all.
    """
    legs, none = ("announced", "returned", "received"), pl.lit(None, QUANTITY)
    expected = pl.coalesce("qty_announced", "qty_returned")
    received = pl.col("qty_received").fill_null(ZERO) if receipts else none
    of_service = {
        f"{name}_delta": pl.col(f"{column}_returned") - pl.col(f"{column}_announced")
        for name, column in (("service", "qty"), *((name, name) for name in ("price", "mrp", "discount", "percentage")))
    }
    wanted = (pl.col("lines_announced") > 0) | (pl.col("lines_returned") > 0)
    came = pl.col("qty_received").fill_null(ZERO) > 0  # a dock that writes 0 received nothing
    known = lines.with_columns(
        *((pl.col(f"lines_{leg}") > 0).alias(f"has_{leg}") for leg in legs),
        expected.alias("expected"),
        received.alias("received"),
        (received - expected).alias("receipt_delta"),
        (pl.col("qty_once") - expected if receipts else none).alias("once_delta"),
        ((wanted & came).any().over("notice") | pl.col("settled_received").fill_null(False)).alias("notice_received"),
        (pl.col("due_date") <= rules.judged_until).alias("due"),
        pl.max_horizontal(pl.col(f"qty_{leg}").abs() for leg in legs).fill_null(ZERO).alias("largest_leg"),
        **of_service,
    )
    prices = {"price": _D.PRICE_VAR, "mrp": _D.MRP_VAR}
    return (
        known.with_columns(
            *(
                near_either_way(pl.col(f"{name}_delta"), of=pl.col("expected"), rules=rules).alias(f"{name}_near")
                for name in ("service", "receipt", "once")
            ),
            *(_near_price(name, rules.limit(code)).alias(f"{name}_near") for name, code in prices.items()),
            _other_discount(rules).alias("other_discount"),
        )
        .with_columns(_open_receipt().alias("open_receipt"))
        .with_columns(
            (_unread_may_matter() | less_than_nothing() | perhaps_corrected()).fill_null(False).alias("doubtful")
        )
    )


def _near_price(name: str, limit: Limit) -> pl.Expr:
    return near(pl.col(f"{name}_delta"), of=pl.col(f"{name}_announced"), limit=limit)


def _other_discount(rules: Rules) -> pl.Expr:
    """Both sides name a discount, and not the same; an amount may follow the pieces, so it is told for as many only."""
    differs = ~_near_price("discount", rules.limit(_D.PRICE_VAR)) & (pl.col("service_delta") == 0)
    return differs.fill_null(False) | (pl.col("percentage_delta") != 0).fill_null(False)


def nothing_came() -> pl.Expr:
    """Nothing of an expected line was received."""
    return (pl.col("qty_received").fill_null(ZERO) == 0) & (pl.col("expected") > 0)


def _open_receipt() -> pl.Expr:
    """Less came than was expected, beyond the tolerance."""
    return (nothing_came() | ((pl.col("receipt_delta") < 0) & ~pl.col("receipt_near"))).fill_null(False)


def _unread_may_matter() -> pl.Expr:
    """Whether what was not read may change what is said of the line's goods."""
    elsewhere = pl.col("unread_near").is_not_null() | pl.col("unopened").is_not_null()
    return pl.col("unread_own").is_not_null() | (elsewhere & pl.col("open_receipt"))


def less_than_nothing() -> pl.Expr:
    """Corrections take back more than was received."""
    return (pl.col("qty_received") < 0).fill_null(False)


def perhaps_corrected() -> pl.Expr:
    """Whether the goods agree, are too few or too many hangs on whether a later list corrects an earlier one.

    Different quantities that make together what was expected are no correction; where all may be taken back, they are.
    """
    counted, once = (
        pl.when(pl.col(f"{name}_near")).then(0).otherwise(pl.col(f"{name}_delta").sign())
        for name in ("receipt", "once")
    )
    exact = (pl.col("receipt_delta") == 0) & (pl.col("alike_lists").fill_null("") == "") & (pl.col("qty_once") != 0)
    return ((counted != once) & ~exact & (pl.col("lines_received") > 0)).fill_null(False)


def undated_receipt() -> pl.Expr:
    """Less came than was expected, and without a delivery date nobody can say whether more is due."""
    return pl.col("open_receipt") & pl.col("due_date").is_null()


def unreadable() -> pl.Expr:
    """A quantity of some leg is absent or no plain number."""
    return pl.sum_horizontal("unreadable_announced", "unreadable_returned", "unreadable_received") > 0


def which_is_unclear() -> pl.Expr:
    """The notice is paired with none, since it may be any of several that name no supplier and site."""
    return pl.col("possible").is_not_null()


def without_lines() -> pl.Expr:
    """The service's notice came without any SKU lines."""
    return pl.col("returned").is_not_null() & (pl.col("returned_lines") == 0)


def other_price() -> pl.Expr:
    """The price per unit differs, beyond the tolerance."""
    return ((pl.col("price_delta") != 0) & ~pl.col("price_near")).fill_null(False)


def not_shown(kind: str) -> pl.Expr:
    """A price was announced, and the service's reply has none to compare. kind: "price" or "mrp"."""
    return pl.col(f"{kind}_announced").is_not_null() & pl.col(f"{kind}_returned").is_null()


def mixed(kind: str) -> pl.Expr:
    """A SKU of several lines has other prices on both sides, and their averages hide it or cannot be made.

    kind: "price" or "mrp". While the quantities differ, the averages do, and nothing is hidden; a side that has one
    line for all has no other price to say than the average.
    """
    differs = pl.col(f"{kind}_mix_announced") != pl.col(f"{kind}_mix_returned").fill_null("")
    several = (pl.col("lines_announced") > 1) & (pl.col("lines_returned") > 1)
    hidden = pl.col(f"{kind}_delta").is_null() | ((pl.col(f"{kind}_delta") == 0) & several)
    return (differs & hidden & (pl.col("service_delta") == 0)).fill_null(False)


def by_receipts(code: Discrepancy) -> pl.Expr:
    """Whether SHORT or OVER is about what was received, and not about what the service holds."""
    decisive = (pl.col("receipt_delta") != 0) & ~pl.col("receipt_near") & ~pl.col("doubtful")
    sign = (pl.col("receipt_delta") > 0) if code is _D.OVER else (pl.col("receipt_delta") < 0) & pl.col("due")
    return (decisive & sign).fill_null(False)


def by_service(code: Discrepancy) -> pl.Expr:
    """Whether the service holds less (SHORT) or more (OVER) than was announced."""
    delta = pl.col("service_delta")
    sign = delta < 0 if code is _D.SHORT else delta > 0
    return (sign & ~pl.col("service_near")).fill_null(False)


def unit_price() -> pl.Expr:
    """What a piece is worth: the price announced, else the service's."""
    return pl.coalesce("price_announced", "price_returned")
