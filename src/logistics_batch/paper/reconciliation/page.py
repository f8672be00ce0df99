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
from logistics_batch.paper.reconciliation.account import DEFINITIONS, ReconciliationReport, class_words
from logistics_batch.paper.reconciliation.figures import page_charts
from logistics_batch.paper.reconciliation.words import (
    decimal_of,
    difference_words,
    percent_words,
    quantity_words,
    rupees,
)
from logistics_batch.paper.safe_text import page_text

LARGEST_LIST: Final = 10_000
"""Lines that a list of the page has, the dearest first: a browser shows, and prints, so many."""

_FIRST = 3
_LONGEST = 2_000  # characters of a text in the list
_COLUMNS = (
    ("Class", ""),
    ("INR at stake", "n"),
    ("Invoice · SKU", ""),
    ("Supplier · site", ""),
    ("Difference", "n"),
    ("What we see", "t"),
    ("Age · due", ""),
    ("Since last time · owner", ""),
    ("Source", ""),
)

Cell = tuple[str, str]  # HTML and CSS class


def reconciliation_page(account: ReconciliationReport) -> bytes:
    """The page, UTF-8; every text in it is escaped, and it may load and run nothing."""
    style = _asset("page.css")
    doubts = "".join(f"<li>{page_text(doubt)}</li>" for doubt in account.doubts)
    page = Template(_asset("page.html")).substitute(
        policy=f"default-src 'none'; style-src {_hash(style)}; img-src data:; base-uri 'none'; form-action 'none'",
        style=style,
        day=account.business_date,
        made=account.made_at.isoformat(sep=" ", timespec="minutes"),
        run=page_text(account.run),
        window=page_text(account.window_words),
        legs=page_text(account.legs_words),
        look=account.look,
        headline=page_text(account.headline),
        doubts=f'<ul class="doubts">{doubts}</ul>' if doubts else "",
        tiles="".join(_tiles(account)),
        first="\n".join(_first(account)),
        charts="\n".join(page_charts(account)),
        exceptions="\n".join(_list(account.open, f"0 exceptions, {counted(account.judged, 'line')} checked.")),
        others="\n".join(_other_lists(account)),
        classes="\n".join(_classes(account)),
        suppliers="\n".join(_suppliers(account)),
        meanings="\n".join(_meanings()),
        words="\n".join(_table((), [[(page_text(name), ""), (page_text(words), "")] for name, words in DEFINITIONS])),
        facts="\n".join(_facts(account)),
    )
    return page.encode("utf-8", "replace")


def _asset(name: str) -> str:
    return (files("logistics_batch.paper.reconciliation") / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _tiles(account: ReconciliationReport) -> Iterator[str]:
    result = account.result
    rate = result.match_rate
    since = (("New", account.new), ("Resolved", account.resolved))
    tiles = (
        ("Open exceptions", f"{account.open.height:,}"),
        *((name, f"{count:,}") for name, count in since if account.compared),
        ("INR at stake", rupees(decimal_of(account.open["impact_inr"].sum()))),
        ("Units concerned", quantity_words(decimal_of(account.open["qty_affected"].sum()))),
        ("Match rate, lines", percent_words(rate.line_percent, account.no_rate_words)),
        ("Match rate, units", percent_words(rate.unit_percent, account.no_rate_words)),
        ("Within tolerance", f"{result.outcome(ComparedOutcome.WITHIN_TOLERANCE).height:,}"),
        ("Too early to judge", f"{result.outcome(ComparedOutcome.TOO_EARLY).height:,}"),
    )
    yield from (f"<div><dt>{name}</dt><dd>{value}</dd></div>" for name, value in tiles)


def _first(account: ReconciliationReport) -> Iterator[str]:
    """The worst lines, one a cause: what is wrong, what it is worth, what to do, and where it comes from."""
    if account.open.is_empty():
        return
    yield '<h2>Look at these first</h2><ul class="first">'
    for line in account.first(_FIRST).iter_rows(named=True):
        code = Discrepancy(line["code"])
        names = " · ".join(page_text(line[name]) for name in ("invoice_number", "sku_name", "supplier") if line[name])
        more = f' <span class="faint">and {counted(line["alike"], "line")} like it</span>' if line["alike"] else ""
        yield (
            f'<li class="{line["severity"]}"><bdi class="code {line["severity"]}">{code.value}</bdi> '
            f'<span class="faint">{line["severity"]}</span>'
            f'<span class="money">{_worth(line)}</span><bdi>{names}</bdi>{more}'
            f"<p>{_cut(line['reason'])}</p><p><b>What to do:</b> {page_text(MEANINGS[code].do)}</p>"
            f'<p class="faint">{_source(line)}</p></li>'
        )
    yield "</ul>"


def _worth(line: dict[str, Any]) -> str:
    """The INR at stake; where nobody can say what is at stake, the price, as far as one is known."""
    prices = (line[name] for name in ("price_announced", "price_returned", "price_ordered"))
    price = next((price for price in prices if price is not None), None)
    known = "no price known" if price is None else f"{rupees(price)} a unit"
    return _money(line["impact_inr"]) or known


def _other_lists(account: ReconciliationReport) -> Iterator[str]:
    """What was an exception of an earlier night, or was accepted; only where there is any."""
    lists = (
        ("Accepted", account.accepted),
        ("Not checked any more", account.gone(Standing.NOT_CHECKED)),
        ("Resolved", account.gone(Standing.RESOLVED)),
    )
    for title, lines in lists:
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
    heads = "".join(f'<th scope="col"{f" class={look}" if look else ""}>{title}</th>' for title, look in _COLUMNS)
    yield f'<div class="scroll"><table><thead><tr>{heads}</tr></thead><tbody>'
    for line in lines.head(LARGEST_LIST).iter_rows(named=True):
        cells = zip(_COLUMNS, _exception(line), strict=True)
        inner = "".join(f'<td data-label="{title}" class="{look}">{text}</td>' for (title, look), text in cells)
        yield f'<tr class="line">{inner}</tr>'
    if lines.is_empty():
        yield f'<tr><td colspan="{len(_COLUMNS)}">{nothing}</td></tr>'
    yield "</tbody></table></div>"


def _exception(line: dict[str, Any]) -> list[str]:
    severity = line["severity"]
    said = [line.get("became") or "", line["reason"], line["remark"], line["comment"] and f"“{line['comment']}”"]
    return [
        f'<bdi class="code {severity}">{page_text(line["code"])}</bdi> {severity}',
        _money(line["impact_inr"]),
        _pair(line["invoice_number"], line["sku_name"]),
        _pair(line["supplier"], line["site"]),
        difference_words(line["qty_delta"]),
        "<br>".join(f"<bdi>{_cut(text)}</bdi>" for text in said if text),
        f'{page_text(line["bucket"])}<br><span class="nowrap">{line["due_date"] or ""}</span>',
        _pair(line["state"], line["owner"]),
        f'{_source(line)}<br><span class="id">{page_text(line["exception_id"])}</span>',
    ]


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


def _classes(account: ReconciliationReport) -> Iterator[str]:
    """All lines by class, and that they tie out with what the legs brought in."""
    titles = ("Class", "Lines", "Announced", "In service", "Received", "INR", "What it says")
    classes = account.result.classes
    rows = [_class(line) for line in classes.iter_rows(named=True)]
    legs = account.result.legs
    sums = [quantity_words(decimal_of(classes[f"qty_{leg}"].sum())) for leg in ("announced", "returned", "received")]
    counted_before = [quantity_words(leg.quantity) for leg in legs] + [""] * (3 - len(legs))
    words = " · ".join(f"{leg.name} {counted(leg.notices, 'ASN')}, {counted(leg.lines, 'line')}" for leg in legs)
    rows += [
        [
            ("All lines", ""),
            (f"{int(classes['lines'].sum()):,}", "n"),
            *((text, "n") for text in sums),
            ("", ""),
            ("", ""),
        ],
        [("Counted before matching", ""), ("", ""), *((text, "n") for text in counted_before), ("", ""), (words, "")],
        [("Residual", ""), ("", ""), *[("0", "n")] * len(legs), *[("", "")] * (3 - len(legs)), ("", ""), (_TIES, "")],
    ]
    yield from _table(titles, rows, numbers=(1, 2, 3, 4, 5), sums=3)


_TIES = "Every line and unit of every leg stands in exactly one class."


def _class(line: dict[str, Any]) -> list[Cell]:
    word, severity = line["class"], line["severity"]
    return [
        (f'<span class="code {severity}">{page_text(word)}</span> {severity}', ""),
        (f"{line['lines']:,}", "n"),
        *((quantity_words(line[f"qty_{leg}"]), "n") for leg in ("announced", "returned", "received")),
        (rupees(line["impact_inr"]) if line["impact_inr"] else "", "n"),
        (page_text(class_words(word)), ""),
    ]


def _suppliers(account: ReconciliationReport) -> Iterator[str]:
    titles = ("Supplier", "ASNs", "Lines", "Match rate", "INR at stake", "Exceptions", "Short", "Over", "Not received")
    rows: list[list[Cell]] = [
        [
            (f"<bdi>{page_text(line['supplier']) or '(none named)'}</bdi>", ""),
            *((f"{line[name]:,}", "n") for name in ("notices", "lines")),
            (percent_words(line["match_percent"], account.no_rate_words), "n"),
            (rupees(line["impact_inr"] or Decimal(0)), "n"),
            *((f"{line[name]:,}", "n") for name in ("exceptions", "short", "over", "not_received")),
        ]
        for line in account.result.suppliers.iter_rows(named=True)
    ]
    yield from _table(titles, rows, numbers=tuple(range(1, 9)))


def _meanings() -> Iterator[str]:
    meanings: list[list[Cell]] = [
        [
            (f'<span class="code {meaning.severity}">{code}</span> {meaning.severity}', ""),
            (meaning.says, ""),
            (meaning.do, ""),
        ]
        for code, meaning in MEANINGS.items()
    ]
    yield from _table(("Class", "What it says", "What to do"), meanings)


def _facts(account: ReconciliationReport) -> Iterator[str]:
    facts = [*account.log, *(("Note", note) for note in account.notes)]
    yield from _table((), [[(page_text(name), ""), (page_text(value), "")] for name, value in facts])


def _table(
    titles: Sequence[str], rows: Iterable[list[Cell]], *, numbers: tuple[int, ...] = (), sums: int = 0
) -> Iterator[str]:
    """A table; the last `sums` rows are totals."""
    heads = "".join(
        f'<th scope="col"{" class=n" if index in numbers else ""}>{title}</th>' for index, title in enumerate(titles)
    )
    yield f'<div class="scroll"><table>{f"<thead><tr>{heads}</tr></thead>" if heads else ""}<tbody>'
    lines = list(rows)
    yield from (_row(line, look="sum-line" if place >= len(lines) - sums else "") for place, line in enumerate(lines))
    yield "</tbody></table></div>"


def _row(cells: list[Cell], *, look: str = "") -> str:
    inner = "".join(f'<td class="{kind}">{text}</td>' if kind else f"<td>{text}</td>" for text, kind in cells)
    return f'<tr class="{look}">{inner}</tr>' if look else f"<tr>{inner}</tr>"
