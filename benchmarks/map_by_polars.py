"""The map stage in bare polars: expressions that read the cells and one mask of bad rows, nothing said about them.

No cell is repaired, no row told apart as title or total, no rows of an order compared, no word said about a bad one.
"""

from pathlib import Path

import polars as pl

_PAYMENT = {"COD": "true", "Prepaid": "false"}


def _values() -> dict[str, pl.Expr]:
    """What is sent, from the cells; null where a cell cannot be read."""
    mobile = pl.col("Phone").str.replace_all(r"[\s()./-]", "").str.extract(r"^(?:\+91)?([6-9][0-9]{9})$")
    due = pl.col("Deliver by").str.to_date("%d/%m/%Y", strict=False).dt.strftime("%Y-%m-%dT18:00:00+05:30")
    grams = pl.col("Weight (g)").cast(pl.Decimal(20, 6), strict=False)
    kilograms = (grams / 1000).cast(pl.Decimal(20, 6)).cast(pl.String)
    return {
        "reference_number": pl.col("Order No"),
        "customer_name": pl.col("Ship To"),
        "customer_mobile": mobile,
        "customer_email": pl.col("Email"),
        "delivery_address": pl.concat_str("Addr 1", "Addr 2", "City", "State", separator=", ", ignore_nulls=True),
        "delivery_postal_code": pl.col("PIN").str.extract(r"^([1-9][0-9]{5})$"),
        "priority": pl.col("Prio"),
        "expected_delivery_time": due,
        "is_cod": pl.col("Payment").replace_strict(_PAYMENT, default=None),
        "item_name": pl.col("SKU"),
        "item_quantity": pl.col("Qty").str.extract(r"^([1-9][0-9]*)$"),
        "item_price_per_each": pl.col("Price").str.extract(r"^([0-9]+\.[0-9]{2})$"),
        "item_category": pl.col("Category"),
        "brand": pl.col("Brand"),
        "weight": kilograms.str.strip_chars_end("0").str.strip_chars_end("."),
    }


_LINE = ("item_name", "item_quantity", "item_price_per_each", "item_category", "brand", "weight")
_OPTIONAL = ("priority", "cash_on_delivery")


def map_by_polars(source: Path, target: Path) -> tuple[int, list[int]]:
    """Write the orders that can be sent; gives their count and the numbers of the bad rows."""
    values = _values()
    read = (
        pl.read_csv(source, infer_schema=False).with_row_index("row", offset=2).select("row", "Price", "Qty", **values)
    )
    needed = [name for name in values if name not in _OPTIONAL]
    bad = read.filter(pl.any_horizontal(pl.col(name).is_null() for name in needed))
    good = read.join(bad.select("reference_number"), on="reference_number", how="anti", maintain_order="left")
    price = pl.col("Price").cast(pl.Decimal(20, 2))
    due = (price * pl.col("Qty").cast(pl.Int64)).sum().cast(pl.Decimal(20, 2)).cast(pl.String)
    header = [name for name in values if name not in (*_LINE, "reference_number")]
    orders = good.group_by("reference_number", maintain_order=True).agg(
        pl.col(header).first(),
        pl.when(pl.col("is_cod").first() == "true").then(due).alias("cash_on_delivery"),
        _object(_LINE).str.join(",").alias("lines"),
    )
    names = ("reference_number", *header, "cash_on_delivery")
    whole = orders.select(
        pl.concat_str(_object(names).str.strip_suffix("}"), pl.lit(',"item_details":['), "lines", pl.lit("]}"))
    )
    with target.open("w", encoding="utf-8") as out:
        out.writelines(f"{body}\n" for body in whole.to_series())
    return whole.height, bad["row"].to_list()


def _object(names: tuple[str, ...]) -> pl.Expr:
    """One JSON object of these columns; what is null is left out."""
    parts = [
        pl.format(f',"{name}":{{}}' if name == "item_quantity" else f',"{name}":"{{}}"', _escaped(name))
        for name in names
    ]
    return pl.concat_str(pl.lit("{"), pl.concat_str(parts, ignore_nulls=True).str.strip_prefix(","), pl.lit("}"))


def _escaped(name: str) -> pl.Expr:
    return pl.col(name).str.replace_all("\\", "\\\\", literal=True).str.replace_all('"', '\\"', literal=True)
