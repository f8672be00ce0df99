"""Reconciliation to work in: the last reports, their classes, and the exceptions with what analysts write beside them.

What is written here stands in the next report and its workbook, as what is written in the workbook does.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any, Final
from urllib.parse import parse_qsl, urlencode

import polars as pl

from logistics_batch.errors import UsageError
from logistics_batch.flows.reconcile.memory import ACCEPTED, exceptions_since, open_exceptions, write_entries
from logistics_batch.ledger import StoredNight
from logistics_batch.model.counting import counted
from logistics_batch.model.reconciliation import Standing
from logistics_batch.web.workbench.asked import Changed, Moved, NotThere, PageData, PageRequest, number_of
from logistics_batch.web.workbench.people import RECONCILE

_ROWS_A_PART: Final = 50
_NIGHTS, _IN_TREND, _MONTHS = 14, 60, 6
_LONGEST_REASON, _LONGEST_OWNER = 1000, 100
_SHOWN: Final = (
    *("exception_id", "code", "severity", "standing", "state", "supplier", "site", "invoice_number", "sku_name"),
    *("qty_announced", "qty_returned", "qty_received", "qty_affected", "impact_inr", "due_date", "first_seen"),
    *("nights_open", "reason", "owner", "comment", "analyst_status", "accepted_as", "remark", "file_name", "rows"),
)
_OWN: Final = ("supplier", "site")  # filtered as a whole
_FILTERS: Final = ("standing", "code", "text", "owner", "sort", "group", *_OWN)
_GROUPS: Final = {"class": "code", "owner": "owner", "supplier": "supplier", "site": "site"}
_MOST_VIEWS, _LONGEST_NAME, _LONGEST_QUERY = 30, 60, 1000
_PLACE: Final = "/reconciliation"
_SORTS: Final = {"worth": "impact_inr", "age": "first_seen", "invoice": "invoice_number"}


def overview(asked: PageRequest) -> PageData:
    """The last reports of a job, the classes of its exceptions with their worth, and the exceptions of a filter."""
    series, nights = _series(asked)
    listed = open_exceptions(asked.parts, series).select(_SHOWN) if nights else pl.DataFrame()
    wanted = {name: asked.query.get(name, "") for name in _FILTERS}
    wanted["standing"] = asked.query.get("standing", "open")
    found = _sorted(_filtered(listed, wanted), wanted["sort"]) if nights else listed
    first = min(number_of(asked.query.get("after", "")) or 0, found.height)
    shown = found.slice(first, _ROWS_A_PART).to_dicts()
    data = {
        "series": _all_series(asked),
        "of": series,
        "nights": [_night(each) for each in nights[-_NIGHTS:][::-1]],
        "trend": [_night(each) for each in nights[-_IN_TREND:]],
        "classes": _worth(listed, "code", "severity") if nights else [],
        "groups": _worth(found, column) if nights and (column := _GROUPS.get(wanted["group"])) else [],
        "views": asked.parts.ledger.people.views(asked.who.name, place=_PLACE),
        "standings": dict(sorted(listed["standing"].value_counts().iter_rows())) if nights else {},
        "filter": wanted,
        "rows": [each | {"seen": _seen(nights[-1], each)} for each in shown],
        "rows_of_filter": found.height,
        "worth": found["impact_inr"].sum() if found.height else 0,
        "first": first,
        "next": first + _ROWS_A_PART if first + _ROWS_A_PART < found.height else None,
    }
    return PageData("reconciliation.html", data)


def exceptions_with(asked: PageRequest, text: str) -> list[dict[str, Any]]:
    """The series of reconciliations with open exceptions whose supplier, site, invoice or SKU holds a text, and how
    many; none for who may not see them.
    """
    if asked.who.role not in RECONCILE or not text:
        return []
    wanted = dict.fromkeys(_FILTERS, "") | {"standing": Standing.OPEN.value, "text": text}
    counts = {
        each: _filtered(open_exceptions(asked.parts, each).select(_SHOWN), wanted).height for each in _all_series(asked)
    }
    return [{"series": each, "exceptions": count} for each, count in counts.items() if count]


def scorecards(asked: PageRequest) -> PageData:
    """Each supplier, or site, with the exceptions that its lines brought, month by month, and those that are open."""
    series, _ = _series(asked)
    by = asked.query.get("by", "")
    by = by if by in _OWN else _OWN[0]
    day = asked.parts.clock.now().date()
    months: list[str] = []
    for _ in range(_MONTHS):
        months.insert(0, f"{day:%Y-%m}")
        first = day.replace(day=1)
        day = first - timedelta(days=1)
    month = pl.col("first_seen").cast(pl.String).str.head(7)
    is_open = ~pl.col("standing").is_in([Standing.RESOLVED.value, Standing.ACCEPTED.value])
    listed = exceptions_since(asked.parts, series, first).filter(is_open | month.is_in(months))
    found = listed.group_by(pl.col(by).fill_null("")).agg(
        *((month == each).sum().alias(each) for each in months),
        pl.col("impact_inr").sum(),
        is_open.sum().alias("open"),
        pl.col("impact_inr").filter(is_open).sum().alias("open_inr"),
    )
    lines = found.sort("impact_inr", by, descending=[True, False]).to_dicts()
    cards = [{"name": each[by], "raised": [each[month] for month in months]} | each for each in lines]
    return PageData("scorecards.html", {"of": series, "by": by, "months": months, "cards": cards})


def write(asked: PageRequest) -> Moved:
    """Accept, assign or open again the exceptions that are marked, with a reason, if they are as they were shown."""
    marked = dict(each.rpartition("~")[::2] for each in asked.several.get("id", ()))
    if not marked:
        raise UsageError("Nothing is marked.", remedy="Mark the exceptions.")
    series, nights = _series(asked, of=asked.form.get("of", ""))
    doing, why = asked.form.get("do", ""), " ".join(asked.form.get("reason", "").split())
    owner = " ".join(asked.form.get("owner", "").split())
    words = {"accept": {"status": ACCEPTED}, "open": {"status": ""}, "assign": {"owner": owner}}.get(doing)
    if words is None or (doing == "assign" and not owner):
        raise UsageError("It is not said what to do, or to whom to assign it.", remedy="Choose it, or write a name.")
    if doing != "assign" and owner:
        words["owner"] = owner
    if not why or len(why) > _LONGEST_REASON or len(owner) > _LONGEST_OWNER:
        raise UsageError("The reason is missing, or something is too long.", remedy="Say why in a sentence.")
    listed = {each["exception_id"]: each for each in open_exceptions(asked.parts, series).select(_SHOWN).to_dicts()}
    if any(_seen(nights[-1], listed.get(name, {})) != seen for name, seen in marked.items()):
        raise Changed("Some of these exceptions changed since they were shown.")
    lines = [listed[name] for name in marked]
    write_entries(replace(asked.parts, person=asked.who.name), nights[-1], lines, words, why=why)
    done = {"accept": "accepted", "open": "opened again", "assign": f"assigned to {owner}"}[doing]
    told = f"{counted(len(lines), 'exception')} {done}: {why.rstrip('.')}. The next report and its workbook have it."
    return Moved(f"/reconciliation?series={asked.form.get('of', '')}", told)


def keep_view(asked: PageRequest) -> Moved:
    """Keep what is filtered, grouped and sorted under a name of one's own, or forget it."""
    name, people = " ".join(asked.form.get("view", "").split()), asked.parts.ledger.people
    wanted = dict(parse_qsl(asked.form.get("query", "")[:_LONGEST_QUERY]))
    query = urlencode([(each, wanted[each]) for each in ("series", *_FILTERS) if each in wanted])
    is_more = query and name not in (known := people.views(asked.who.name, place=_PLACE)) and len(known) >= _MOST_VIEWS
    if not name or len(name) > _LONGEST_NAME or is_more:
        raise UsageError("The view has no name, one of more than 60 signs, or there are 30.", remedy="Write another.")
    people.keep_view(asked.who.name, place=_PLACE, view=name, query=query)
    return Moved(f"{_PLACE}?{query}", f"The view {name} is {'kept' if query else 'forgotten'}.")


def _all_series(asked: PageRequest) -> list[str]:
    return sorted({each.series for each in asked.parts.ledger.exceptions.latest(limit=1000)})


def _series(asked: PageRequest, *, of: str | None = None) -> tuple[str, list[StoredNight]]:
    """The series that is asked for, else that of the last report; and its nights, the oldest first."""
    memory = asked.parts.ledger.exceptions
    latest = memory.latest(limit=1)
    name = of if of is not None else asked.query.get("series", latest[0].series if latest else "")
    nights = memory.nights(name)
    if not nights and (of is not None or "series" in asked.query):
        raise NotThere(f"There is no reconciliation “{name}”.")
    return name, nights


def _night(night: StoredNight) -> dict[str, Any]:
    figures: Mapping[str, Any] = json.loads(night.figures)
    names = ("complete", "lines", "exceptions", "new", "still_open", "resolved", "accepted", "impact_inr", "from", "to")
    told = {name: figures.get(name) for name in names}
    return {"run": night.run, "business_date": night.business_date} | told | {"complete": told["complete"] == "true"}


def _worth(listed: pl.DataFrame, *by: str) -> list[dict[str, Any]]:
    """Each group with how many exceptions it has and what they are worth; and how many accepted ones beside them."""
    accepted = pl.col("standing") == Standing.ACCEPTED.value
    found = (
        listed.with_columns(pl.col(by).fill_null(""))
        .group_by(by)
        .agg(
            (~accepted).sum().alias("lines"),
            pl.col("impact_inr").filter(~accepted).sum(),
            accepted.sum().alias("accepted"),
        )
    )
    return found.sort("impact_inr", by[0], descending=[True, False]).to_dicts()


def _filtered(listed: pl.DataFrame, wanted: Mapping[str, str]) -> pl.DataFrame:
    for name in ("standing", "code", *_OWN):
        if wanted[name]:
            listed = listed.filter(pl.col(name) == wanted[name])
    if owner := wanted["owner"].strip().casefold():
        owned = pl.col("owner").str.strip_chars().str.to_lowercase()
        listed = listed.filter(owned == "" if owner == "nobody" else owned == owner)
    if text := wanted["text"].strip().casefold():
        places = ("exception_id", "supplier", "site", "invoice_number", "sku_name", "comment", "file_name")
        told = (pl.col(name).fill_null("").str.to_lowercase().str.contains(text, literal=True) for name in places)
        listed = listed.filter(pl.any_horizontal(told))
    return listed


def _sorted(found: pl.DataFrame, sort: str) -> pl.DataFrame:
    name = _SORTS.get(sort, "impact_inr")
    return found.sort(name, "exception_id", descending=[name == "impact_inr", False], nulls_last=True)


def _seen(night: StoredNight, line: Mapping[str, Any]) -> str:
    """A digest of an exception as it is now."""
    names = ("exception_id", "code", "standing", "qty_affected", "impact_inr", "owner", "comment", "analyst_status")
    told = [night.run, *(str(line.get(name)) for name in names)]
    return hashlib.sha256(repr(told).encode()).hexdigest()[:16]
