"""Two tables of ASN lines, compared: by the auditor with all its classes, and by what people use instead."""

from datetime import date
from importlib import import_module
from pathlib import Path
from typing import Any

import polars as pl
from inputs import SEED

LINES_AN_ASN = 8
KEYS = ["invoice_number", "supplier_name", "site_name", "sku_name"]
_OF_LINES = ("sku_name", "qty", "price", "mrp")
_DIFFERING = 50  # one line in so many
_RETURNED = "returned.csv"


def write_sides(source: Path, *, lines: int, whole: bool) -> None:
    """Two CSVs of so many lines, eight an ASN: announced, and as a service returns them, ASNs in another order.

    Of a hundred lines two differ: one in quantity, half of one in price, and a quarter each is missing or extra.
    whole: with batch, expiry date, description and MRP (API §2.1), alike on both sides; all of them are compared.
    """
    line = pl.int_range(lines, dtype=pl.Int64)
    drawn = pl.col("line").hash(SEED)
    asn = pl.col("line") // LINES_AN_ASN
    announced = pl.select(line.alias("line")).select(
        "line",
        pl.format("INV-{}", asn + 100_000).alias("invoice_number"),
        pl.format("Supplier {}", asn % 300).alias("supplier_name"),
        pl.format("Site {}", asn % 7).alias("site_name"),
        pl.lit("2026-11-02").alias("delivery_date"),
        pl.format("SKU-{}", drawn % 5_000 * LINES_AN_ASN + pl.col("line") % LINES_AN_ASN).alias("sku_name"),
        (drawn % 500 + 1).alias("qty"),
        pl.format("{}.50", drawn // 512 % 900 + 1).alias("price"),
        *(_other_columns(asn, drawn) if whole else []),
    )
    odd = pl.when(drawn % _DIFFERING == 0).then(drawn // _DIFFERING % 8)
    returned = announced.with_columns(odd.alias("odd")).with_columns(
        pl.when(pl.col("odd") < 4).then(pl.col("qty") + 3).otherwise("qty").alias("qty"),
        pl.when(pl.col("odd").is_in([4, 5])).then(pl.lit("7.77")).otherwise("price").alias("price"),
        pl.when(pl.col("odd") == 7).then(pl.format("{}-X", "sku_name")).otherwise("sku_name").alias("sku_name"),
    )
    # An SKU under another name is missing here and extra there; with another quantity nobody takes it for a swap.
    shown = returned.filter((pl.col("odd") != 6).fill_null(True)).with_columns(
        pl.when(pl.col("odd") == 7).then(pl.col("qty") + 1_000).otherwise("qty").alias("qty")
    )
    announced.drop("line").write_csv(source)
    order = shown.with_columns((pl.col("line") // LINES_AN_ASN).hash(SEED + 1).alias("order")).sort("order", "line")
    order.drop("line", "odd", "order").write_csv(source.with_name(_RETURNED))


def _other_columns(asn: pl.Expr, drawn: pl.Expr) -> list[pl.Expr]:
    return [
        pl.format("B{}", asn % 5_000 + 20_000).alias("batch"),
        pl.lit("2027-05-31").alias("expiry_date"),
        pl.format("Order of week {}", asn % 52 + 1).alias("description"),
        pl.format("{}.50", drawn // 512 % 900 + 21).alias("mrp"),
    ]


def _read(source: Path) -> tuple[pl.DataFrame, pl.DataFrame]:
    left, right = (pl.read_csv(path, infer_schema=False) for path in (source, source.with_name(_RETURNED)))
    return left, right


def read_both(source: Path) -> dict[str, Any]:
    """Nothing but reading both tables."""
    left, right = _read(source)
    return {"lines": left.height + right.height}


def by_polars(source: Path) -> dict[str, Any]:
    """A full join of the four keys, and which values differ; no classes, no reasons, no tiers."""
    left, right = _read(source)
    joined = left.join(right, on=KEYS, how="full", coalesce=True, suffix="_returned")
    differs = pl.any_horizontal(pl.col(name).ne_missing(pl.col(f"{name}_returned")) for name in ("qty", "price"))
    return {"differing_lines": joined.filter(differs).height}


def by_datacompy(source: Path) -> dict[str, Any]:
    """The usual library for it, on polars."""
    left, right = _read(source)
    compared = import_module("datacompy").PolarsCompare(left, right, join_columns=KEYS)
    unequal = compared.intersect_rows.height - compared.count_matching_rows()
    return {"differing_lines": unequal + compared.df1_unq_rows.height + compared.df2_unq_rows.height}


def by_pandas(source: Path) -> dict[str, Any]:
    """What most people write."""
    pandas = import_module("pandas")
    left, right = (pandas.read_csv(path, dtype=str) for path in (source, source.with_name(_RETURNED)))
    joined = left.merge(right, on=KEYS, how="outer", suffixes=("", "_returned"))
    differs = (joined["qty"] != joined["qty_returned"]) | (joined["price"] != joined["price_returned"])
    return {"differing_lines": int(differs.sum())}


def by_auditor(source: Path) -> dict[str, Any]:
    """All classes, tiers, tolerances, reasons, ids and sums that tie out."""
    from logistics_batch.reconciliation import Legs, Rules, audit

    left, right = (
        _leg(path, side) for path, side in ((source, "announced"), (source.with_name(_RETURNED), "returned"))
    )
    found = audit(Legs(*left, *right), rules=Rules(business_date=date(2026, 11, 5)))
    return {"differing_lines": found.exceptions.height}


def _leg(path: Path, side: str) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Notices and lines as the auditor takes them."""
    from logistics_batch import reconciliation

    table = pl.read_csv(path, infer_schema=False)
    notice = table["invoice_number"].rle_id().alias("notice")
    told = {
        "in_window": pl.lit(True),
        "accepted": pl.lit(True),
        "status": pl.lit("Completed"),
        "record_id": _text("notice"),
    }
    is_first = notice != notice.shift(fill_value=2**32 - 1)
    firsts = (
        table.filter(is_first)
        .with_columns(notice.filter(is_first))
        .with_columns(value.alias(name) for name, value in told.items())
    )
    row = (pl.int_range(pl.len(), dtype=pl.UInt32) + 2).alias("row")
    names = [name for name in _OF_LINES if name in table.columns]
    lines = table.select(names).rechunk().with_columns(notice, row)
    schemas = (getattr(reconciliation, f"{side.upper()}_{part}") for part in ("NOTICES", "LINES"))
    notices, shown = (_as(frame, schema) for frame, schema in zip((firsts, lines), schemas, strict=True))
    return notices, shown


def _text(column: str) -> pl.Expr:
    return pl.col(column).cast(pl.String)


def _as(frame: pl.DataFrame, schema: dict[str, Any]) -> pl.DataFrame:
    present = set(frame.columns)
    return frame.select(
        pl.col(name).cast(kind) if name in present else pl.lit(None, kind).alias(name) for name, kind in schema.items()
    )


WAYS = {"auditor": by_auditor, "read": read_both, "polars": by_polars, "datacompy": by_datacompy, "pandas": by_pandas}
