"""reconciliation.html: the report as one static page that opens from a mail, without network or scripts."""

import base64
import hashlib
from decimal import Decimal
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template

from logistics_batch.messages.words import rupees
from logistics_batch.model.counting import counted
from logistics_batch.model.reconciliation import MEANINGS, ComparedOutcome, Standing
from logistics_batch.paper.amounts import (
    decimal_of,
    difference_words,
    percent_words,
    quantity_words,
    short_rupees,
)
from logistics_batch.paper.reconciliation.account import DEFINITIONS, ReconciliationReport, class_words
from logistics_batch.paper.safe_text import page_text

LARGEST_LIST: Final = 10_000
"""Lines that a list of the page has, the dearest first: a browser shows, and prints, so many."""

_FOLDER: Final = Path(__file__).parent
_LONGEST: Final = 2_000  # characters of a text in the list
_LEGS: Final = {"announced": "announced", "in service": "returned", "received": "received"}

Bar = tuple[str, Decimal, str, str]  # what it stands for, how long it is, what is written behind it, its CSS class


def reconciliation_page(account: ReconciliationReport) -> bytes:
    """The page, UTF-8; every text in it is escaped, and it may load and run nothing."""
    style = (_FOLDER / "page.css").read_text(encoding="utf-8")
    page = _template().render(
        account=account,
        style=style,
        digest=base64.b64encode(hashlib.sha256(style.encode()).digest()).decode(),
        charts=_charts(account),
        others={
            "Accepted": account.accepted,
            "Not checked any more": account.gone(Standing.NOT_CHECKED),
            "Resolved": account.gone(Standing.RESOLVED),
        },
        largest=LARGEST_LIST,
        legs=_LEGS,
        before={leg.name: leg.quantity for leg in account.result.legs},
        outcomes=ComparedOutcome,
        meanings=MEANINGS,
        definitions=DEFINITIONS,
    )
    return page.encode("utf-8", "replace")


@cache
def _template() -> Template:
    made = Environment(
        loader=FileSystemLoader(_FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: page_text(value) if type(value) is str else value,
    )
    made.filters |= {
        "counted": counted,
        "cut": lambda text: text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…",
        "difference": difference_words,
        "number": lambda value: f"{value:,}",
        "percent": percent_words,
        "quantity": quantity_words,
        "rows": lambda frame: (SimpleNamespace(**line) for line in frame.iter_rows(named=True)),
        "rupees": lambda amount: "" if amount is None else rupees(amount),
        "says": class_words,
        "tenths": lambda length: f"{length:.1f}",
        "worth": _worth,
    }
    return made.get_template("page.html")


def _worth(line: SimpleNamespace) -> str:
    """What is at stake; where nobody can say it, the price, as far as one is known."""
    if line.impact_inr is not None:
        return rupees(line.impact_inr)
    prices = (line.price_announced, line.price_returned, line.price_ordered)
    return next((f"{rupees(price)} a unit" for price in prices if price is not None), "no price known")


def _charts(account: ReconciliationReport) -> dict[str, list[tuple[str, float, str, str]]]:
    """The bars of each chart with their shares of the longest; none where there is nothing to draw."""
    if account.open.is_empty() and not account.compared:
        return {}
    classes: list[Bar] = [
        (line["class"], Decimal(line["lines"]), _counted(line), line["severity"])
        for line in account.by_class.iter_rows(named=True)
    ]
    ages: list[Bar] = [
        (line["bucket"], Decimal(line["lines"]), _counted(line), "")
        for line in account.result.ageing.iter_rows(named=True)
    ]
    suppliers: list[Bar] = [
        (line["supplier"], worth, f"{short_rupees(worth)} · {line['lines']:,}", "")
        for line in account.by_supplier.iter_rows(named=True)
        for worth in [decimal_of(line["impact_inr"])]
    ]
    charts = {"Open by class": classes, "Open by age in days": ages, "Most at stake, by supplier": suppliers}
    most = {title: max((size for _, size, _, _ in bars), default=0) or Decimal(1) for title, bars in charts.items()}
    return {
        title: [(label, float(size / most[title]), value, look) for label, size, value, look in bars]
        for title, bars in charts.items()
    }


def _counted(line: dict[str, Any]) -> str:
    worth = f" · {short_rupees(line['impact_inr'])}" if line["impact_inr"] else ""
    return f"{line['lines']:,}{worth}"
