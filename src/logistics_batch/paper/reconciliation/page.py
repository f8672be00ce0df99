"""reconciliation.html: the report as one static page that opens from a mail, without network or scripts."""

import base64
import hashlib
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from importlib.resources import files
from string import Template
from typing import Any, Final

import polars as pl

from logistics_batch.model.counting import counted
from logistics_batch.model.reconciliation import MEANINGS, ComparedOutcome, Discrepancy, Standing
from logistics_batch.paper.amounts import (
    decimal_of,
    difference_words,
    percent_words,
    quantity_words,
    rupees,
)
from logistics_batch.paper.reconciliation.account import DEFINITIONS, ReconciliationReport, class_words
from logistics_batch.paper.reconciliation.figures import page_charts
from logistics_batch.paper.safe_text import page_text

LARGEST_LIST: Final = 10_000
"""Lines that a list of the page has, the dearest first: a browser shows, and prints, so many."""

_FIRST = 3
_LONGEST = 2_000  # characters of a text in the list
_COLUMNS = {
    "Class": "",
    "INR at stake": "n",
    "Invoice · SKU": "",
    "Supplier · site": "",
    "Difference": "n",
    "What we see": "t",
    "Age · due": "",
    "Since last time · owner": "",
    "Source": "",
}
_LEGS = ("announced", "returned", "received")
_TIES = "Every line and unit of every leg stands in exactly one class."

Row = Sequence[str]  # HTML


def reconciliation_page(account: ReconciliationReport) -> bytes:
    """The page, UTF-8; every text in it is escaped, and it may load and run nothing."""
    style = _asset("page.css")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    doubts = "".join(f"<li>{page_text(doubt)}</li>" for doubt in account.doubts)
    meanings = (
        (f'<span class="code {meaning.severity}">{code}</span> {meaning.severity}', meaning.says, meaning.do)
        for code, meaning in MEANINGS.items()
    )
    facts = (*account.log, *(("Note", note) for note in account.notes))
    page = Template(_asset("page.html")).substitute(
        policy=f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; base-uri 'none'; form-action 'none'",
        style=style,
        day=account.business_date,
        made=account.made_at.isoformat(sep=" ", timespec="minutes"),
        run=page_text(account.run),
        window=page_text(account.window_words),
        legs=page_text(account.legs_words),
        look=account.look,
        headline=page_text(account.headline),
        doubts=f'<ul class="doubts">{doubts}</ul>' if doubts else "",
        tiles="".join(f"<div><dt>{name}</dt><dd>{value}</dd></div>" for name, value in _tiles(account)),
        first="\n".join(_first(account)),
        charts=page_charts(account),
        exceptions="\n".join(_list(account.open, f"0 exceptions, {counted(account.judged, 'line')} checked.")),
        others="\n".join(_other_lists(account)),
        classes=_classes(account),
        suppliers=_suppliers(account),
        meanings=_table(("Class", "What it says", "What to do"), meanings),
        words=_table((), (tuple(map(page_text, pair)) for pair in DEFINITIONS)),
        facts=_table((), (tuple(map(page_text, pair)) for pair in facts)),
    )
    return page.encode("utf-8", "replace")


def _asset(name: str) -> str:
    return (files("logistics_batch.paper.reconciliation") / name).read_text(encoding="utf-8")


def _tiles(account: ReconciliationReport) -> Iterator[tuple[str, str]]:
    rate, outcome = account.result.match_rate, account.result.outcome
    yield "Open exceptions", f"{account.open.height:,}"
    if account.compared:
        yield "New", f"{account.new:,}"
        yield "Resolved", f"{account.resolved:,}"
    yield "INR at stake", rupees(decimal_of(account.open["impact_inr"].sum()))
    yield "Units concerned", quantity_words(decimal_of(account.open["qty_affected"].sum()))
    yield "Match rate, lines", percent_words(rate.line_percent, account.no_rate_words)
    yield "Match rate, units", percent_words(rate.unit_percent, account.no_rate_words)
    yield "Within tolerance", f"{outcome(ComparedOutcome.WITHIN_TOLERANCE).height:,}"
    yield "Too early to judge", f"{outcome(ComparedOutcome.TOO_EARLY).height:,}"


def _first(account: ReconciliationReport) -> Iterator[str]:
    """The worst lines, one a cause: what is wrong, what it is worth, what to do, and where it comes from."""
    if account.open.is_empty():
        return
    yield '<h2>Look at these first</h2><ul class="first">'
    for line in account.first(_FIRST).iter_rows(named=True):
        names = " · ".join(page_text(line[name]) for name in ("invoice_number", "sku_name", "supplier") if line[name])
        more = f' <span class="faint">and {counted(line["alike"], "line")} like it</span>' if line["alike"] else ""
        # Where nobody can say what is at stake, the price, as far as one is known.
        prices = (line[f"price_{leg}"] for leg in ("announced", "returned", "ordered"))
        known = next((f"{rupees(price)} a unit" for price in prices if price is not None), "no price known")
        yield (
            f'<li class="{line["severity"]}"><bdi class="code {line["severity"]}">{line["code"]}</bdi> '
            f'<span class="faint">{line["severity"]}</span>'
            f'<span class="money">{_money(line["impact_inr"]) or known}</span><bdi>{names}</bdi>{more}'
            f"<p>{_cut(line['reason'])}</p>"
            f"<p><b>What to do:</b> {page_text(MEANINGS[Discrepancy(line['code'])].do)}</p>"
            f'<p class="faint">{_source(line)}</p></li>'
        )
    yield "</ul>"


def _other_lists(account: ReconciliationReport) -> Iterator[str]:
    """What was an exception of an earlier night, or was accepted; only where there is any."""
    lists = {
        "Accepted": account.accepted,
        "Not checked any more": account.gone(Standing.NOT_CHECKED),
        "Resolved": account.gone(Standing.RESOLVED),
    }
    for title, lines in lists.items():
        if lines.height:
            yield f'<details class="list"><summary>{title}: {counted(lines.height, "line")}</summary>'
            yield from _list(lines)
            yield "</details>"


def _list(lines: pl.DataFrame, nothing: str = "") -> Iterator[str]:
    if lines.height > LARGEST_LIST:
        yield (
            f"<p>The list has {LARGEST_LIST:,} of {lines.height:,} lines, the dearest first. Every open exception "
            'stands in <a href="reconciliation.csv">reconciliation.csv</a> beside this page.</p>'
        )
    heads = "".join(
        f'<th scope="col"{f" class={look}" if look else ""}>{title}</th>' for title, look in _COLUMNS.items()
    )
    yield f'<div class="scroll"><table><thead><tr>{heads}</tr></thead><tbody>'
    for line in lines.head(LARGEST_LIST).iter_rows(named=True):
        cells = zip(_COLUMNS.items(), _exception(line), strict=True)
        inner = "".join(f'<td data-label="{title}" class="{look}">{text}</td>' for (title, look), text in cells)
        yield f'<tr class="line">{inner}</tr>'
    if lines.is_empty():
        yield f'<tr><td colspan="{len(_COLUMNS)}">{nothing}</td></tr>'
    yield "</tbody></table></div>"


def _exception(line: dict[str, Any]) -> Row:
    told = [line.get("became") or "", line["reason"], line["remark"], line["comment"] and f"“{line['comment']}”"]
    return (
        f'<bdi class="code {line["severity"]}">{page_text(line["code"])}</bdi> {line["severity"]}',
        _money(line["impact_inr"]),
        _pair(line["invoice_number"], line["sku_name"]),
        _pair(line["supplier"], line["site"]),
        difference_words(line["qty_delta"]),
        "<br>".join(f"<bdi>{_cut(text)}</bdi>" for text in told if text),
        f'{page_text(line["bucket"])}<br><span class="nowrap">{line["due_date"] or ""}</span>',
        _pair(line["state"], line["owner"]),
        f'{_source(line)}<br><span class="id">{page_text(line["exception_id"])}</span>',
    )


def _money(amount: Decimal | None) -> str:
    return rupees(amount) if amount is not None else ""


def _cut(text: str) -> str:
    return page_text(text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…")


def _pair(first: str, second: str) -> str:
    return f"<bdi>{_cut(first)}</bdi><br><bdi>{_cut(second)}</bdi>"


def _source(line: dict[str, Any]) -> str:
    """File, sheet and row, each by itself, so that none can turn the others around."""
    parts = [line["file_name"], line["sheet"], line["rows"] and f"row {line['rows']}"]
    if not line["file_name"]:
        parts = [line["receipt_file"], line["receipt_rows"] and f"row {line['receipt_rows']}"]
    return " · ".join(f"<bdi>{_cut(part)}</bdi>" for part in parts if part)


def _classes(account: ReconciliationReport) -> str:
    """All lines by class, and that they tie out with what the legs brought in."""
    classes, legs = account.result.classes, account.result.legs
    rows = [
        (
            f'<span class="code {line["severity"]}">{page_text(line["class"])}</span> {line["severity"]}',
            f"{line['lines']:,}",
            *(quantity_words(line[f"qty_{leg}"]) for leg in _LEGS),
            rupees(line["impact_inr"]) if line["impact_inr"] else "",
            page_text(class_words(line["class"])),
        )
        for line in classes.iter_rows(named=True)
    ]
    sums = (quantity_words(decimal_of(classes[f"qty_{leg}"].sum())) for leg in _LEGS)
    words = " · ".join(f"{leg.name} {leg.papers}, {counted(leg.lines, 'line')}" for leg in legs)
    before = {leg.name: quantity_words(leg.quantity) for leg in legs}
    names = ("announced", "in service", "received")
    rows += [
        ("All lines", f"{int(classes['lines'].sum()):,}", *sums, "", ""),
        ("Counted before matching", "", *(before.get(name, "") for name in names), "", words),
        ("Residual", "", *("0" if name in before else "" for name in names), "", _TIES),
    ]
    titles = ("Class", "Lines", "Announced", "In service", "Received", "INR", "What it says")
    return _table(titles, rows, numbers=(1, 2, 3, 4, 5), sums=3)


def _suppliers(account: ReconciliationReport) -> str:
    titles = ("Supplier", "ASNs", "Lines", "Match rate", "INR at stake", "Exceptions", "Short", "Over", "Not received")
    rows = [
        (
            f"<bdi>{page_text(line['supplier']) or '(none named)'}</bdi>",
            *(f"{line[name]:,}" for name in ("notices", "lines")),
            percent_words(line["match_percent"], account.no_rate_words),
            rupees(line["impact_inr"] or Decimal(0)),
            *(f"{line[name]:,}" for name in ("exceptions", "short", "over", "not_received")),
        )
        for line in account.result.suppliers.iter_rows(named=True)
    ]
    return _table(titles, rows, numbers=range(1, 9))


def _table(titles: Row, rows: Iterable[Row], *, numbers: Sequence[int] = (), sums: int = 0) -> str:
    """A table; numbers: which columns hold some; the last `sums` rows are totals."""
    heads = "".join(
        f'<th scope="col"{" class=n" if index in numbers else ""}>{title}</th>' for index, title in enumerate(titles)
    )
    lines = list(rows)
    body = []
    for place, line in enumerate(lines):
        cells = "".join(
            f'<td class="n">{text}</td>' if index in numbers else f"<td>{text}</td>" for index, text in enumerate(line)
        )
        body.append(f'<tr class="sum-line">{cells}</tr>' if place >= len(lines) - sums else f"<tr>{cells}</tr>")
    head = f"<thead><tr>{heads}</tr></thead>" if heads else ""
    return f'<div class="scroll"><table>{head}<tbody>\n{chr(10).join(body)}\n</tbody></table></div>'
