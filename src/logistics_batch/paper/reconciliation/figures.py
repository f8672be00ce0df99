"""The open exceptions in figures: by class, by age, by supplier and over the nights, and their charts for the page.

The charts are SVG: drawn once, without a script, and readable without colour since each bar has its numbers.
"""

from collections.abc import Iterator
from decimal import Decimal
from html import escape
from typing import Any

import polars as pl

from logistics_batch.model.reconciliation import MONEY, QUANTITY
from logistics_batch.paper.amounts import decimal_of, short_rupees
from logistics_batch.paper.reconciliation.account import ReconciliationReport
from logistics_batch.paper.safe_text import page_text

_MOST_SUPPLIERS = 10
_WIDTH, _LABEL_WIDTH, _VALUE_WIDTH, _ROW_HEIGHT = 400, 164, 96, 24
_LONGEST_LABEL = 22
_TREND_HEIGHT, _TREND_TOP, _TREND_BOTTOM = 190, 26, 34
_NIGHTS = 30

Bar = tuple[str, Decimal, str, str]  # what it stands for, how long it is, what is written behind it, its CSS class


def open_by(account: ReconciliationReport, *names: str) -> pl.DataFrame:
    """Open exceptions by these columns: `lines`, `qty_affected`, `impact_inr`, in the order of their first line."""
    return account.open.group_by(*names, maintain_order=True).agg(
        pl.len().cast(pl.UInt32).alias("lines"),
        pl.col("qty_affected").sum().cast(QUANTITY),
        pl.col("impact_inr").sum().cast(MONEY),
    )


def by_class(account: ReconciliationReport) -> pl.DataFrame:
    """The classes of the open exceptions (CLASSES_SCHEMA), the gravest first."""
    return account.result.classes.filter(pl.col("severity") != "")


def ageing(account: ReconciliationReport) -> pl.DataFrame:
    """Open exceptions by age, class, supplier and site, ready for a pivot table; the oldest first."""
    order = {bucket: -place for place, bucket in enumerate(account.result.ageing["bucket"])}
    found = open_by(account, "bucket", "code", "severity", "supplier", "site")
    rank = pl.col("bucket").replace_strict(order, default=1, return_dtype=pl.Int32)
    return found.sort(rank, pl.col("impact_inr").neg(), maintain_order=True)


def by_supplier(account: ReconciliationReport) -> pl.DataFrame:
    """`supplier`, lines, units, INR of those with most at stake."""
    found = open_by(account, "supplier").sort("impact_inr", "lines", descending=True, maintain_order=True)
    return found.head(_MOST_SUPPLIERS)


def page_charts(account: ReconciliationReport) -> str:
    """The charts of the page, "" where there is nothing to draw."""
    if account.open.is_empty() and not account.compared:
        return ""
    classes = [
        (line["class"], Decimal(line["lines"]), _worth(line), line["severity"])
        for line in by_class(account).iter_rows(named=True)
    ]
    ages = [
        (line["bucket"], Decimal(line["lines"]), _worth(line) if line["lines"] else "0", "")
        for line in account.result.ageing.iter_rows(named=True)
    ]
    suppliers = [
        (line["supplier"], worth, f"{short_rupees(worth)} · {line['lines']:,}", "")
        for line in by_supplier(account).iter_rows(named=True)
        for worth in [decimal_of(line["impact_inr"])]
    ]
    bars = {"Open by class": classes, "Open by age in days": ages, "Most at stake, by supplier": suppliers}
    figures = {title: _bar_chart(lines) for title, lines in bars.items()}
    if account.trend.height > 1:
        figures["Night by night"] = _trend(account.trend)
    shown = [f"<figure><figcaption>{title}</figcaption>{svg}</figure>" for title, svg in figures.items()]
    return f'<div class="charts{" four" if len(shown) == 4 else ""}">{"".join(shown)}</div>'


def _worth(line: dict[str, Any]) -> str:
    worth = f" · {short_rupees(line['impact_inr'])}" if line["impact_inr"] else ""
    return f"{line['lines']:,}{worth}"


def _bar_chart(bars: list[Bar]) -> str:
    """Lying bars."""
    if not bars:
        return "<p>None.</p>"
    most = max(size for _, size, _, _ in bars) or Decimal(1)
    parts = [f'<svg viewBox="0 0 {_WIDTH} {_ROW_HEIGHT * len(bars)}" role="group">']
    for place, (label, size, value, look) in enumerate(bars):
        y, room = place * _ROW_HEIGHT, _WIDTH - _LABEL_WIDTH - _VALUE_WIDTH
        width = max(float(size / most) * room, 1.5 if size else 0)
        shown = label if len(label) <= _LONGEST_LABEL else label[: _LONGEST_LABEL - 1] + "…"
        parts.append(
            f"<g><title>{page_text(label)}: {page_text(value)}</title>"
            f'<text x="0" y="{y + 16}">{page_text(shown or "(none named)")}</text>'
            f'<rect class="fill {escape(look)}" x="{_LABEL_WIDTH}" y="{y + 5}" width="{width:.1f}" '
            f'height="{_ROW_HEIGHT - 10}" rx="2"/>'
            f'<text class="v" x="{_LABEL_WIDTH + width + 6:.1f}" y="{y + 16}">{page_text(value)}</text></g>'
        )
    return "".join([*parts, "</svg>"])


def _trend(trend: pl.DataFrame) -> str:
    """Open exceptions of the latest nights (TREND_SCHEMA), each a column; its new part is dark."""
    nights = trend.tail(_NIGHTS)
    most = max(*nights["exceptions"].fill_null(0), 1)
    step, every = _WIDTH / max(nights.height, 8), 1 + nights.height // 8
    parts = [f'<svg viewBox="0 0 {_WIDTH} {_TREND_HEIGHT}" role="group" aria-label="Open exceptions by night">']
    for place, night in enumerate(nights.iter_rows(named=True)):
        parts += _night(night, x=place * step, width=step, most=most)
        if (nights.height - 1 - place) % every == 0:
            parts.append(
                f'<text class="m" x="{(place + 0.5) * step:.1f}" y="{_TREND_HEIGHT - 18}">'
                f"{night['business_date']:%d %b}</text>"
            )
    words = "Dark: new that night. Pale: the report may be incomplete."
    return "".join([*parts, f'<text x="0" y="{_TREND_HEIGHT - 2}" class="k">{words}</text></svg>'])


def _night(night: dict[str, Any], *, x: float, width: float, most: int) -> Iterator[str]:
    count, new, gone = (night[name] or 0 for name in ("exceptions", "new", "resolved"))
    base, room = _TREND_HEIGHT - _TREND_BOTTOM, _TREND_HEIGHT - _TREND_TOP - _TREND_BOTTOM
    tall, dark = room * count / most, room * min(new, count) / most
    words = f"{night['business_date']}: {count:,} open, {new:,} new, {gone:,} resolved"
    yield f"<g><title>{escape(words)}</title>"
    for look, height in (("fill", tall), ("fill new", dark)):
        yield (
            f'<rect class="{look}{"" if night["complete"] else " hollow"}" x="{x + width * 0.15:.1f}" '
            f'y="{base - height:.1f}" width="{width * 0.7:.1f}" height="{height:.1f}"/>'
        )
    yield f'<text class="m v" x="{x + width / 2:.1f}" y="{base - tall - 5:.1f}">{count:,}</text></g>'
