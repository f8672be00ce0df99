"""Two nights side by side: which exceptions came, went or changed, and what the service's ASNs did in between."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import polars as pl

from logistics_batch.model.reconciliation import LINES_SCHEMA, MONEY, PRICE, QUANTITY, Level, Outcome
from logistics_batch.reconciliation.causes import shown_by_receipts
from logistics_batch.reconciliation.compare_service import VALUES_COMPARED, changed_values, named_notices
from logistics_batch.reconciliation.legs import Legs, identifier, price, with_units


class Change(StrEnum):
    """What became of an exception, or of an ASN of the service, between two nights."""

    CAME = "new"
    REOPENED = "opened again"  # it had been accepted
    ACCEPTED = "accepted"  # it differs as before, and an analyst accepted that
    WENT = "resolved"
    NOT_SEEN = "not looked at"  # the later night lacks its invoice number, or the receipts that showed it
    STAYED = "still open"
    CHANGED = "changed"


_ORDER = {change.value: place for place, change in enumerate(Change)}
_SHOWN = ("invoice_number", "supplier", "site", "sku_name", "due_date")
EXCEPTIONS_COMPARED: dict[str, pl.DataType] = {
    "change": pl.String(),
    "exception_id": pl.String(),
    **{name: LINES_SCHEMA[name] for name in _SHOWN},
    "code_first": pl.String(),
    "code_second": pl.String(),  # "" where it is no exception
    "outcome_second": pl.String(),  # what the line is instead, "agrees" where nothing was found
    "qty_affected_first": QUANTITY,
    "qty_affected_second": QUANTITY,
    "impact_inr_first": MONEY,
    "impact_inr_second": MONEY,
    "reason": pl.String(),  # of the second night where it has one
}
NOTICES_COMPARED: dict[str, pl.DataType] = {
    "change": pl.String(),  # new, resolved (here: gone) or changed
    "record_id": pl.String(),
    "invoice_number": pl.String(),
    "differs": pl.String(),  # what changed, as "status, price_per_qty of W-1"
    "status_first": pl.String(),
    "status_second": pl.String(),
    "delivery_date_first": pl.String(),
    "delivery_date_second": pl.String(),
    "lines_first": pl.UInt32(),
    "lines_second": pl.UInt32(),
    "units_first": QUANTITY,
    "units_second": QUANTITY,
    "worth_first": PRICE,  # quantity times price of its lines, INR; null where one is not known
    "worth_second": PRICE,
    "retail_first": PRICE,  # the same by retail prices
    "retail_second": PRICE,
}


@dataclass(frozen=True, slots=True)
class Night:
    """What is compared: the legs, and the lines that did not agree (LINES_SCHEMA)."""

    legs: Legs
    found: pl.DataFrame


@dataclass(frozen=True, slots=True)
class Comparison:
    """What changed.

    exceptions: EXCEPTIONS_COMPARED, by change and INR at stake. notices: NOTICES_COMPARED, but those that stayed alike.
    values: VALUES_COMPARED, each value that changed in an ASN that both nights have.
    """

    exceptions: pl.DataFrame
    notices: pl.DataFrame
    values: pl.DataFrame


def compare(first: Night, second: Night) -> Comparison:
    """What changed from the first night to the second."""
    values = changed_values(first.legs, second.legs)
    notices = _notices(first.legs, second.legs, values)
    return Comparison(_exceptions(first, second), notices, _as_schema(values, VALUES_COMPARED))


def _exceptions(first: Night, second: Night) -> pl.DataFrame:
    before, after = (_listed(night.found) for night in (first, second))
    both = before.join(after, on="exception_id", how="full", coalesce=True, suffix="_second")
    # What was accepted and is so still, or has gone, was no exception on either night.
    both = both.filter(~pl.col("accepted").fill_null(False) | ~pl.col("accepted_second").fill_null(True))
    now = second.found.filter(pl.col("exception_id") != "").select(
        "exception_id", pl.col("outcome").alias("outcome_second")
    )
    told = both.join(now.unique("exception_id"), on="exception_id", how="left")
    in_service = identifier("invoice_number").is_in(_invoices([second.legs.returned_notices]).implode())
    anywhere = identifier("invoice_number").is_in(_invoices(_named_by(second.legs)).implode())
    seen = pl.when(pl.col("level") == Level.NOTICE.value).then(in_service).otherwise(anywhere)
    same = (pl.col("code") == pl.col("code_second")) & pl.col("qty_affected").eq_missing(pl.col("qty_affected_second"))
    unreceived = shown_by_receipts() & (second.legs.received is None)
    change = (
        pl.when(pl.col("code").is_null())
        .then(pl.lit(Change.CAME.value))
        .when(pl.col("code_second").is_null() & (~seen | unreceived))
        .then(pl.lit(Change.NOT_SEEN.value))
        .when(pl.col("code_second").is_null())
        .then(pl.lit(Change.WENT.value))
        .when(pl.col("accepted_second"))
        .then(pl.lit(Change.ACCEPTED.value))
        .when(pl.col("accepted"))
        .then(pl.lit(Change.REOPENED.value))
        .when(same)
        .then(pl.lit(Change.STAYED.value))
        .otherwise(pl.lit(Change.CHANGED.value))
    )
    shown = told.with_columns(
        change.alias("change"),
        *(pl.coalesce(name, f"{name}_second").alias(name) for name in _SHOWN),
        pl.coalesce("reason_second", "reason").alias("reason"),
        pl.coalesce(
            pl.when(~unreceived | pl.col("code_second").is_not_null()).then("outcome_second"),
            pl.when(change == Change.WENT.value).then(pl.lit("agrees")),
        ),
    ).rename({name: f"{name}_first" for name in ("code", "qty_affected", "impact_inr")})
    ordered = shown.sort(
        pl.col("change").replace_strict(_ORDER, return_dtype=pl.Int8),
        pl.coalesce("impact_inr_second", "impact_inr_first").neg(),
        "exception_id",
        nulls_last=True,
    )
    return _as_schema(ordered, EXCEPTIONS_COMPARED)


def _listed(lines: pl.DataFrame) -> pl.DataFrame:
    """The exceptions, and those that were accepted."""
    wanted = ("exception_id", "code", "qty_affected", "impact_inr", "reason", "level", "also", *_SHOWN)
    ours = lines.filter(pl.col("outcome").is_in([Outcome.EXCEPTION.value, Outcome.ACCEPTED.value]))
    return ours.select(*wanted, (pl.col("outcome") == Outcome.ACCEPTED.value).alias("accepted"))


def _named_by(legs: Legs) -> list[pl.DataFrame]:
    return [legs.announced_notices, legs.returned_notices, *([] if legs.received is None else [legs.received])]


def _invoices(frames: Sequence[pl.DataFrame]) -> pl.Series:
    return pl.concat([frame.select(identifier("invoice_number")) for frame in frames])["invoice_number"].unique()


def _notices(first: Legs, second: Legs, values: pl.DataFrame) -> pl.DataFrame:
    before, after = _in_service(first), _in_service(second)
    both = before.join(after, on="who", how="full", coalesce=True, suffix="_second")
    both = both.join(_named_changes(values), on="who", how="left")
    compared = ("status", "delivery_date", "lines", "units", "worth", "retail")
    change = (
        pl.when(pl.col("invoice_number").is_null())
        .then(pl.lit(Change.CAME.value))
        .when(pl.col("invoice_number_second").is_null())
        .then(pl.lit(Change.WENT.value))
        .when(pl.col("differs").is_not_null())
        .then(pl.lit(Change.CHANGED.value))
    )
    shown = both.with_columns(
        change.alias("change"), *(pl.coalesce(name, f"{name}_second") for name in ("record_id", "invoice_number"))
    )
    told = shown.filter(pl.col("change").is_not_null()).rename({name: f"{name}_first" for name in compared})
    return _as_schema(told.sort("change", "invoice_number", "record_id"), NOTICES_COMPARED)


def _named_changes(values: pl.DataFrame) -> pl.DataFrame:
    """Each ASN's changed values in words (`differs`)."""
    of_line = pl.when(pl.col("sku_name") != "").then(pl.format(" of {}", "sku_name")).otherwise(pl.lit(""))
    words = values.select("who", pl.concat_str("field", of_line).alias("differs")).unique(maintain_order=True)
    return words.group_by("who").agg(pl.col("differs").str.join(", "))


def _in_service(legs: Legs) -> pl.DataFrame:
    named = with_units(legs.returned_lines).with_columns(price().alias("unit_price"), price("mrp").alias("unit_mrp"))
    lines = named.group_by("notice").agg(
        pl.len().alias("lines"),
        pl.col("units").sum(),
        *(_worth(unit).cast(PRICE).alias(name) for name, unit in (("worth", "unit_price"), ("retail", "unit_mrp"))),
    )
    return (
        named_notices(legs)
        .join(lines, on="notice", how="left", maintain_order="left")
        .select(*("who", "record_id", "invoice_number", "status", "delivery_date", "lines", "units", "worth", "retail"))
    )


def _worth(unit: str) -> pl.Expr:
    worth = pl.col("units") * pl.col(unit)
    return pl.when(worth.null_count() == 0).then(worth.sum())


def _as_schema(frame: pl.DataFrame, schema: dict[str, pl.DataType]) -> pl.DataFrame:
    texts = [name for name, kind in schema.items() if kind == pl.String]
    return frame.select(pl.col(name).cast(kind) for name, kind in schema.items()).with_columns(
        pl.col(texts).fill_null("")
    )
