"""Small charts as SVG: drawn once, without a script, and readable without colour since each bar has its numbers."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from html import escape

import polars as pl

from logistics_batch.paper.safe_text import page_text

_WIDTH = 400
_LABEL_WIDTH = 164
_VALUE_WIDTH = 96
_ROW_HEIGHT = 24
_LONGEST_LABEL = 22
_TREND_HEIGHT, _TREND_TOP, _TREND_BOTTOM = 190, 26, 34
_NIGHTS = 30


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar: what it stands for, how long it is, what is written behind it, and its CSS class (a severity)."""

    label: str
    size: Decimal
    value: str
    look: str = ""


def bar_chart_svg(bars: Sequence[Bar]) -> str:
    """Lying bars, "" for none."""
    if not bars:
        return ""
    most = max((bar.size for bar in bars), default=Decimal(0)) or Decimal(1)
    height = _ROW_HEIGHT * len(bars)
    parts = [f'<svg viewBox="0 0 {_WIDTH} {height}" role="group">']
    for place, bar in enumerate(bars):
        parts += _bar(bar, y=place * _ROW_HEIGHT, share=float(bar.size / most))
    return "".join([*parts, "</svg>"])


def _bar(bar: Bar, *, y: int, share: float) -> Iterator[str]:
    label = page_text(bar.label)
    shown = bar.label if len(bar.label) <= _LONGEST_LABEL else bar.label[: _LONGEST_LABEL - 1] + "…"
    room = _WIDTH - _LABEL_WIDTH - _VALUE_WIDTH
    width = max(share * room, 1.5 if bar.size else 0)
    yield f"<g><title>{label}: {page_text(bar.value)}</title>"
    yield f'<text x="0" y="{y + 16}">{page_text(shown or "(none named)")}</text>'
    yield (
        f'<rect class="fill {escape(bar.look)}" x="{_LABEL_WIDTH}" y="{y + 5}" width="{width:.1f}" '
        f'height="{_ROW_HEIGHT - 10}" rx="2"/>'
    )
    yield f'<text class="v" x="{_LABEL_WIDTH + width + 6:.1f}" y="{y + 16}">{page_text(bar.value)}</text></g>'


def trend_svg(trend: pl.DataFrame) -> str:
    """Open exceptions of the latest nights (TREND_SCHEMA), each a column; its new part is dark."""
    nights = trend.tail(_NIGHTS)
    most = max(int(nights["exceptions"].max() or 0), 1)  # type: ignore[arg-type]
    step = _WIDTH / max(nights.height, 8)
    parts = [f'<svg viewBox="0 0 {_WIDTH} {_TREND_HEIGHT}" role="group" aria-label="Open exceptions by night">']
    every = 1 + nights.height // 8
    for place, night in enumerate(nights.iter_rows(named=True)):
        parts += _night(night, x=place * step, width=step, most=most)
        if (nights.height - 1 - place) % every == 0:
            parts.append(
                f'<text class="m" x="{(place + 0.5) * step:.1f}" y="{_TREND_HEIGHT - 18}">'
                f"{night['business_date']:%d %b}</text>"
            )
    words = "Dark: new that night. Pale: the report may be incomplete."
    return "".join([*parts, f'<text x="0" y="{_TREND_HEIGHT - 2}" class="k">{words}</text></svg>'])


def _night(night: dict[str, object], *, x: float, width: float, most: int) -> Iterator[str]:
    room = _TREND_HEIGHT - _TREND_TOP - _TREND_BOTTOM
    count, new = int(str(night["exceptions"] or 0)), int(str(night["new"] or 0))
    tall, dark = room * count / most, room * min(new, count) / most
    base = _TREND_HEIGHT - _TREND_BOTTOM
    inner, left = width * 0.7, x + width * 0.15
    words = f"{night['business_date']}: {count:,} open, {new:,} new, {int(str(night['resolved'] or 0)):,} resolved"
    hollow = "" if night["complete"] else " hollow"
    yield f"<g><title>{escape(words)}</title>"
    for look, height in (("fill", tall), ("fill new", dark)):
        yield (
            f'<rect class="{look}{hollow}" x="{left:.1f}" y="{base - height:.1f}" '
            f'width="{inner:.1f}" height="{height:.1f}"/>'
        )
    yield f'<text class="m v" x="{x + width / 2:.1f}" y="{base - tall - 5:.1f}">{count:,}</text></g>'
