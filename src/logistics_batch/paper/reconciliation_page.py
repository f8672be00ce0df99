"""reconciliation.html: the report as one page that opens from a mail, without network, scripts or other files."""

from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from html import escape
from typing import Any

from logistics_batch.model.counting import counted
from logistics_batch.model.reconciliation import Outcome
from logistics_batch.paper.reconciliation_account import Account, class_words
from logistics_batch.paper.safe_text import visible

LARGEST_PAGE = 5_000
"""Exceptions that the page lists; more would make it slow to open."""

_STYLE = """
:root { color-scheme: light; }
body { font: 14px/1.45 system-ui, "Segoe UI", Roboto, "Noto Sans", sans-serif; color: #262626; margin: 2rem; }
h1 { font-size: 1.6rem; margin: 0 0 .3rem; } h2 { font-size: 1.1rem; margin: 2rem 0 .6rem; }
p.faint { color: #6b7785; margin: .1rem 0; }
.band { padding: .6rem .9rem; border-radius: 4px; color: #fff; font-weight: 600; margin: 1.2rem 0 0; }
.complete { background: #1e7b45; } .incomplete { background: #c0392b; }
ul.doubts { background: #fbe3e1; color: #8a1c12; margin: 0; padding: .5rem 2rem; }
dl { display: flex; flex-wrap: wrap; gap: 1rem 2.5rem; margin: 1.2rem 0; }
dt { color: #6b7785; font-size: .85rem; } dd { margin: 0; font-size: 1.5rem; font-weight: 600; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; min-width: 60%; }
th { background: #33475b; color: #fff; text-align: left; padding: .45rem .6rem; position: sticky; top: 0; }
td { border-bottom: 1px solid #d9dfe5; padding: .35rem .6rem; vertical-align: top; }
.n { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
tr.sum td { background: #e8edf2; font-weight: 600; }
.w { font-weight: 600; white-space: nowrap; }
.critical { background: #c0392b; color: #fff; } .high { background: #f9d4d1; color: #8a1c12; }
.medium { background: #ffe9c2; color: #7a3b00; } .low { background: #e3edf7; color: #1e4a72; }
.b { min-width: 9rem; vertical-align: middle; } .k { white-space: nowrap; }
.t { min-width: 18rem; } .s { min-width: 7rem; overflow-wrap: anywhere; }
.i { font-size: .75rem; color: #6b7785; white-space: nowrap; }
.bar { background: #1f5a8a; height: .8rem; min-width: 2px; border-radius: 2px; }
@media print { body { margin: 0; font-size: 11px; } th { position: static; } }
"""

Cell = tuple[str, str]  # text and CSS class


def reconciliation_page(account: Account) -> bytes:
    """The page, UTF-8; every text in it is escaped, and it may load nothing."""
    parts = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">",
        f"<title>ASN reconciliation {_safe(str(account.business_date))}</title><style>{_STYLE}</style></head><body>",
        *_headline(account),
        *_numbers(account),
        *_classes(account),
        *_exceptions(account),
        *_legs(account),
        "</body></html>",
    ]
    return "\n".join(parts).encode("utf-8", "replace")


def _safe(text: str) -> str:
    return escape(visible(text))


def _headline(account: Account) -> Iterator[str]:
    yield "<h1>ASN reconciliation</h1>"
    made = account.made_at.isoformat(sep=" ", timespec="minutes")
    yield f'<p class="faint">{_safe(account.window_words)}</p>'
    yield f'<p class="faint">Compared: {_safe(account.legs_words)}</p>'
    yield f'<p class="faint">Business date {account.business_date} · made {made} · run {_safe(account.run)}</p>'
    kind = "complete" if account.complete else "incomplete"
    word = "COMPLETE" if account.complete else "MAY BE INCOMPLETE — do not sign off"
    yield f'<p class="band {kind}">{word} · {_safe(account.verdict_words)}</p>'
    if account.doubts:
        yield f'<ul class="doubts">{"".join(f"<li>{_safe(doubt)}</li>" for doubt in account.doubts)}</ul>'


def _numbers(account: Account) -> Iterator[str]:
    result = account.result
    rate = result.match_rate
    tiles = (
        ("Exceptions", f"{result.exceptions.height:,}"),
        ("INR at stake", rupees(Decimal(str(result.exceptions["impact_inr"].sum() or 0)))),
        ("Match rate, lines", _percent(rate.line_percent)),
        ("Match rate, units", _percent(rate.unit_percent)),
        ("Within tolerance", f"{result.outcome(Outcome.WITHIN_TOLERANCE).height:,}"),
        ("Too early to judge", f"{result.outcome(Outcome.TOO_EARLY).height:,}"),
    )
    yield f"<dl>{''.join(f'<div><dt>{name}</dt><dd>{value}</dd></div>' for name, value in tiles)}</dl>"


def _percent(value: float | None) -> str:
    return "nothing to judge" if value is None else f"{value:.1f} %"


def rupees(amount: Decimal) -> str:
    """An amount in lakh grouping.

    >>> rupees(Decimal("1234567.5"))
    '₹ 12,34,567.50'
    """
    whole, _, paise = f"{abs(amount):.2f}".partition(".")
    head, tail = whole[:-3], whole[-3:]
    groups: list[str] = []
    while head:
        groups.insert(0, head[-2:])
        head = head[:-2]
    return f"₹ {'-' if amount < 0 else ''}{','.join([*groups, tail])}.{paise}"


def _classes(account: Account) -> Iterator[str]:
    classes = account.result.classes
    most = max((line["lines"] for line in classes.iter_rows(named=True) if line["severity"]), default=1)
    yield "<h2>All lines by class</h2>"
    titles = ("Class", "Lines", "", "Announced", "In service", "Received", "INR", "What it says")
    rows = (_class(line, most=most) for line in classes.iter_rows(named=True))
    yield from _table(titles, rows, numbers=(1, 3, 4, 5, 6))


def _class(line: dict[str, Any], *, most: int) -> list[Cell]:
    """A class with a bar of its share; what is no exception has none, or the others would vanish beside it."""
    word, severity = line["class"], line["severity"]
    bar = f'<div class="bar" style="width:{100 * line["lines"] / most:.1f}%"></div>' if severity else ""
    return [
        (_safe(word), f"w {severity}"),
        (f"{line['lines']:,}", "n"),
        (bar, "b"),
        *((_quantity(line[f"qty_{leg}"]), "n") for leg in ("announced", "returned", "received")),
        (rupees(line["impact_inr"]) if line["impact_inr"] else "", "n"),
        (_safe(class_words(word)), "t"),
    ]


def _exceptions(account: Account) -> Iterator[str]:
    exceptions = account.result.exceptions
    yield "<h2>Exceptions, the dearest first</h2>"
    if exceptions.is_empty():
        yield f"<p>0 exceptions, {counted(account.result.lines.height, 'line')} checked.</p>"
        return
    titles = ("Class", "INR", "Invoice", "SKU", "Supplier", "Site", "Difference", "What we see", "Due", "Age", "Source")
    lines = exceptions.head(LARGEST_PAGE).iter_rows(named=True)
    yield from _table((*titles, "exception_id"), map(_exception, lines), numbers=(1, 6))
    if exceptions.height > LARGEST_PAGE:
        yield f"<p>{exceptions.height - LARGEST_PAGE:,} more exceptions stand in the workbook.</p>"


def _exception(line: dict[str, object]) -> list[Cell]:
    impact = line["impact_inr"]
    source = " · ".join(
        str(part) for part in (line["file_name"], line["sheet"], line["rows"] and f"row {line['rows']}") if part
    )
    texts = [_safe(str(line[name] or "")) for name in ("invoice_number", "sku_name", "supplier", "site")]
    return [
        (_safe(str(line["code"])), f"w {line['severity']}"),
        (rupees(impact) if isinstance(impact, Decimal) else "", "n"),
        *((text, "s") for text in texts),
        (_difference(line["qty_delta"]), "n"),
        (_safe(str(line["reason"])), "t"),
        (str(line["due_date"] or ""), "k"),
        (_safe(str(line["bucket"])), "k"),
        (_safe(source), "s"),
        (_safe(str(line["exception_id"])), "i"),
    ]


def _legs(account: Account) -> Iterator[str]:
    yield "<h2>Control totals</h2>"
    yield '<p class="faint">Every line and unit of every leg stands in exactly one class; the residual is 0.</p>'
    legs = account.result.legs
    rows: list[list[Cell]] = [
        [(_safe(leg.name), ""), (f"{leg.notices:,}", "n"), (f"{leg.lines:,}", "n"), (_quantity(leg.quantity), "n")]
        for leg in legs
    ]
    yield from _table(("Leg", "ASNs", "Lines", "Units"), rows, numbers=(1, 2, 3))
    facts = [*account.log, *(("Note", note) for note in account.notes)]
    if facts:
        yield "<h2>Run</h2>"
        yield from _table((), [[(_safe(name), "w"), (_safe(value), "")] for name, value in facts], numbers=())


def _quantity(value: object) -> str:
    """A quantity as people write it, "" where it is not known."""
    if value is None or value == "":
        return ""
    number = Decimal(str(value))
    return f"{number:,.0f}" if number == number.to_integral_value() else f"{number.normalize():,f}"


def _difference(value: object) -> str:
    """A difference with its sign."""
    text = _quantity(value)
    return f"+{text}" if text and Decimal(str(value)) > 0 else text


def _table(titles: Sequence[str], rows: Iterable[list[Cell]], *, numbers: tuple[int, ...]) -> Iterator[str]:
    heads = "".join(f"<th{' class=n' if index in numbers else ''}>{title}</th>" for index, title in enumerate(titles))
    yield f'<div class="scroll"><table>{f"<thead><tr>{heads}</tr></thead>" if heads else ""}<tbody>'
    for row in rows:
        yield (
            "<tr>"
            + "".join(f'<td class="{kind}">{text}</td>' if kind else f"<td>{text}</td>" for text, kind in row)
            + "</tr>"
        )
    yield "</tbody></table></div>"
