"""The open exceptions in figures: by class, by age, by supplier, and over the nights."""

from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import Any

import polars as pl

from logistics_batch.model.reconciliation import MEANINGS, MONEY, QUANTITY, Discrepancy
from logistics_batch.paper.reconciliation.account import ReconciliationReport
from logistics_batch.paper.reconciliation.charts import Bar, bar_chart_svg, trend_svg
from logistics_batch.paper.reconciliation.words import decimal_of, short_rupees

MOST_SUPPLIERS = 10


def open_by(account: ReconciliationReport, *names: str) -> pl.DataFrame:
    """Open exceptions by these columns: `lines`, `qty_affected`, `impact_inr`, in the order of their first line."""
    return account.open.group_by(*names, maintain_order=True).agg(
        pl.len().cast(pl.UInt32).alias("lines"),
        pl.col("qty_affected").sum().cast(QUANTITY),
        pl.col("impact_inr").sum().cast(MONEY),
    )


def by_class(account: ReconciliationReport) -> pl.DataFrame:
    """`class`, lines, units, INR; the gravest first."""
    order = {code.value: place for place, code in enumerate(Discrepancy)}
    found = open_by(account, "code").rename({"code": "class"})
    return found.sort(pl.col("class").replace_strict(order, default=len(order), return_dtype=pl.Int32))


def by_age(account: ReconciliationReport) -> pl.DataFrame:
    """`bucket`, lines, units, INR; every bucket, the youngest first."""
    every = account.result.ageing.select("bucket")
    return every.join(open_by(account, "bucket"), on="bucket", how="left", maintain_order="left").with_columns(
        pl.col("lines").fill_null(0), pl.col("qty_affected").fill_null(0), pl.col("impact_inr").fill_null(0)
    )


def ageing(account: ReconciliationReport) -> pl.DataFrame:
    """Open exceptions by age, class, supplier and site, ready for a pivot table; the oldest first."""
    order = {bucket: -place for place, bucket in enumerate(account.result.ageing["bucket"])}
    found = open_by(account, "bucket", "code", "severity", "supplier", "site")
    rank = pl.col("bucket").replace_strict(order, default=1, return_dtype=pl.Int32)
    return found.sort(rank, pl.col("impact_inr").neg(), maintain_order=True)


def by_supplier(account: ReconciliationReport) -> pl.DataFrame:
    """`supplier`, lines, units, INR of those with most at stake."""
    found = open_by(account, "supplier").sort("impact_inr", "lines", descending=True, maintain_order=True)
    return found.head(MOST_SUPPLIERS)


def page_charts(account: ReconciliationReport) -> Iterator[str]:
    """The charts of the page."""
    if account.open.is_empty() and not account.compared:
        return
    figures = [
        ("Open by class", _chart(map(_class_bar, by_class(account).iter_rows(named=True)))),
        ("Open by age in days", _chart(map(_age_bar, by_age(account).iter_rows(named=True)))),
        (
            "Most at stake, by supplier",
            _chart(map(_supplier_bar, by_supplier(account).iter_rows(named=True))),
        ),
    ]
    if account.trend.height > 1:
        figures.append(("Night by night", trend_svg(account.trend)))
    shown = [f"<figure><figcaption>{title}</figcaption>{svg}</figure>" for title, svg in figures]
    yield f'<div class="charts{" four" if len(shown) == 4 else ""}">{"".join(shown)}</div>'


def _chart(bars: Iterable[Bar]) -> str:
    return bar_chart_svg(list(bars)) or "<p>None.</p>"


def _class_bar(line: dict[str, Any]) -> Bar:
    severity = MEANINGS[Discrepancy(line["class"])].severity.value
    return Bar(line["class"], Decimal(line["lines"]), _lines_and_worth(line), severity)


def _age_bar(line: dict[str, Any]) -> Bar:
    return Bar(line["bucket"], Decimal(line["lines"]), _lines_and_worth(line) if line["lines"] else "0")


def _supplier_bar(line: dict[str, Any]) -> Bar:
    return Bar(
        line["supplier"],
        decimal_of(line["impact_inr"]),
        f"{short_rupees(decimal_of(line['impact_inr']))} · {line['lines']:,}",
    )


def _lines_and_worth(line: dict[str, Any]) -> str:
    worth = f" · {short_rupees(line['impact_inr'])}" if line["impact_inr"] else ""
    return f"{line['lines']:,}{worth}"
