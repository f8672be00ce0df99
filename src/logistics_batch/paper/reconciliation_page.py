"""reconciliation.html: the report as one page that opens from a mail, without network or other files.

Its own script makes the list sortable, filterable and so on; without scripts (some mail programs run none) the figures,
the charts and the dearest exceptions are there all the same. The page's policy lets nothing else run and nothing load.
"""

import base64
import hashlib
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from importlib.resources import files
from typing import Any

from logistics_batch.model.counting import counted
from logistics_batch.model.reconciliation import MEANINGS, Discrepancy, Outcome
from logistics_batch.paper.reconciliation_account import DEFINITIONS, Account, class_words
from logistics_batch.paper.reconciliation_figures import page_charts
from logistics_batch.paper.reconciliation_page_data import LARGEST_LIST, page_data
from logistics_batch.paper.reconciliation_page_text import page_text
from logistics_batch.paper.reconciliation_words import (
    decimal_of,
    difference_words,
    percent_words,
    quantity_words,
    rupees,
)

WITHOUT_SCRIPT = 100
"""Exceptions that the page shows where no script runs."""

_FIRST = 3
_LONGEST = 400  # characters of a text in the list; whatever is longer opens with its line
_COLUMNS = (
    ("code", "Class", ""),
    ("impact_inr", "INR at stake", "n"),
    ("invoice_number", "Invoice · SKU", ""),
    ("supplier", "Supplier · site", ""),
    ("qty_delta", "Difference", "n"),
    ("reason", "What we see", "t"),
    ("days_overdue", "Age", ""),
    ("state", "Since last time", ""),
    ("file_name", "Source", ""),
)

Cell = tuple[str, str]  # HTML and CSS class


def reconciliation_page(account: Account) -> bytes:
    """The page, UTF-8; every text in it is escaped, and it may load nothing."""
    style, script = _asset("reconciliation_page.css"), _asset("reconciliation_page.js")
    policy = (
        f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; img-src data:; base-uri 'none'; "
        "form-action 'none'; require-trusted-types-for 'script'"
    )
    parts = [
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="data:,">',
        f"<title>ASN reconciliation {account.business_date}</title><style>{style}</style></head>",
        '<body><div class="page">',
        *_headline(account),
        *_tiles(account),
        *_first(account),
        *page_charts(account),
        *_list(account),
        *_classes(account),
        *_suppliers(account),
        *_definitions(),
        *_run(account),
        f'</div><script type="application/json" id="data">{page_data(account)}</script>',
        f"<script>{script}</script></body></html>",
    ]
    return "\n".join(parts).encode("utf-8", "replace")


def _asset(name: str) -> str:
    return (files("logistics_batch.paper") / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _headline(account: Account) -> Iterator[str]:
    yield "<h1>ASN reconciliation</h1>"
    made = account.made_at.isoformat(sep=" ", timespec="minutes")
    yield f'<p class="facts">{page_text(account.window_words)}</p>'
    yield f'<p class="facts">Compared: {page_text(account.legs_words)}</p>'
    yield f'<p class="facts">Business date {account.business_date} · made {made} · run {page_text(account.run)}</p>'
    yield f'<p class="band {account.look}">{page_text(account.headline)}</p>'
    if account.doubts:
        yield f'<ul class="doubts">{"".join(f"<li>{page_text(doubt)}</li>" for doubt in account.doubts)}</ul>'


def _tiles(account: Account) -> Iterator[str]:
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
        ("Within tolerance", f"{result.outcome(Outcome.WITHIN_TOLERANCE).height:,}"),
        ("Too early to judge", f"{result.outcome(Outcome.TOO_EARLY).height:,}"),
    )
    yield f'<dl class="tiles">{"".join(f"<div><dt>{name}</dt><dd>{value}</dd></div>" for name, value in tiles)}</dl>'


def _first(account: Account) -> Iterator[str]:
    """The worst lines, whole: what is wrong, what it is worth, what to do, and where it comes from."""
    if account.open.is_empty():
        return
    yield '<h2>Look at these first</h2><ul class="first">'
    for line in account.open.head(_FIRST).iter_rows(named=True):
        code = Discrepancy(line["code"])
        names = " · ".join(page_text(line[name]) for name in ("invoice_number", "sku_name", "supplier") if line[name])
        yield (
            f'<li class="{line["severity"]}"><bdi class="code {line["severity"]}">{code.value}</bdi> '
            f'<span class="faint">{line["severity"]}</span>'
            f'<span class="money">{_money(line["impact_inr"]) or "no price known"}</span><bdi>{names}</bdi>'
            f"<p>{_cut(line['reason'])}</p><p><b>What to do:</b> {page_text(MEANINGS[code].do)}</p>"
            f'<p class="faint">{_source(line)}</p></li>'
        )
    yield "</ul>"


def _list(account: Account) -> Iterator[str]:
    """The list: for the script an empty frame, without a script its first lines."""
    shown = account.open.head(WITHOUT_SCRIPT)
    yield '<h2 id="list-title">Exceptions, the dearest first</h2><section id="list" aria-labelledby="list-title">'
    yield from _not_listed(account)
    yield (
        '<div id="tools" hidden><div id="tabs" role="group" aria-label="Lists"></div><div id="controls">'
        '<label><span>Search (key /)</span><input id="search" type="search" '
        'placeholder="invoice, SKU, supplier, file …" autocomplete="off"></label></div>'
        '<div class="sum"><span id="count" role="status"></span>'
        '<button type="button" id="reset" hidden>Show all</button>'
        '<button type="button" id="export">Save these lines as CSV</button></div></div>'
    )
    heads = "".join(
        f'<th scope="col" data-field="{field}"{f" class={look}" if look else ""}>{title}</th>'
        for field, title, look in _COLUMNS
    )
    yield f'<div class="scroll"><table><thead><tr>{heads}</tr></thead><tbody id="lines">'
    yield from (_row(_exception(line)) for line in shown.iter_rows(named=True))
    if shown.is_empty():
        yield f'<tr><td colspan="{len(_COLUMNS)}">0 exceptions, {counted(account.judged, "line")} checked.</td></tr>'
    yield '</tbody></table><div id="pages" hidden><button type="button" id="before">Before</button>'
    yield '<span id="page"></span><button type="button" id="after">Next</button></div></div><p id="printed"></p>'
    rest = account.open.height - shown.height
    if rest > 0:
        yield f"<noscript><p>{rest:,} more exceptions stand in the workbook.</p></noscript>"
    yield "</section>"


def _not_listed(account: Account) -> Iterator[str]:
    """What the list does not hold, and where it stands."""
    every = account.listed.height
    if every > LARGEST_LIST:
        yield (
            f"<p>The list has {LARGEST_LIST:,} of {every:,} lines, the dearest first. Every open exception stands in "
            '<a href="reconciliation.csv">reconciliation.csv</a> beside this page.</p>'
        )


def _exception(line: dict[str, Any]) -> list[Cell]:
    severity = line["severity"]
    return [
        (f'<bdi class="code {severity}">{page_text(line["code"])}</bdi> {severity}', ""),
        (_money(line["impact_inr"]), "n"),
        (_pair(line["invoice_number"], line["sku_name"]), ""),
        (_pair(line["supplier"], line["site"]), ""),
        (difference_words(line["qty_delta"]), "n"),
        (f"<bdi>{_cut(line['reason'])}</bdi>", "t"),
        (_pair(line["bucket"], str(line["due_date"] or "")), ""),
        (_pair(line["state"], line["owner"]), ""),
        (_source(line), ""),
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


def _classes(account: Account) -> Iterator[str]:
    """All lines by class, and that they tie out with what the legs brought in."""
    yield "<details open><summary>All lines by class, and control totals</summary>"
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
    yield "</details>"


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


def _suppliers(account: Account) -> Iterator[str]:
    titles = ("Supplier", "ASNs", "Lines", "Match rate", "INR at stake", "Exceptions", "Short", "Over", "Not received")
    yield "<details><summary>Supplier scorecard</summary>"
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
    yield "</details>"


def _definitions() -> Iterator[str]:
    yield "<details><summary>What the classes and words mean</summary>"
    meanings: list[list[Cell]] = [
        [
            (f'<span class="code {meaning.severity}">{code}</span> {meaning.severity}', ""),
            (meaning.says, ""),
            (meaning.do, ""),
        ]
        for code, meaning in MEANINGS.items()
    ]
    yield from _table(("Class", "What it says", "What to do"), meanings)
    yield from _table((), [[(page_text(name), ""), (page_text(words), "")] for name, words in DEFINITIONS])
    yield "</details>"


def _run(account: Account) -> Iterator[str]:
    facts = [*account.log, *(("Note", note) for note in account.notes)]
    yield "<details><summary>Run</summary>"
    yield from _table((), [[(page_text(name), ""), (page_text(value), "")] for name, value in facts])
    yield "</details>"


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
