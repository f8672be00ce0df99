"""A sheet before it is dropped: what would become of every row, its cells corrected in place, and handing it to a job.

Nothing is sent from here. What is handed over lies where the job's files are dropped, and goes the way of every file.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final
from urllib.parse import urlencode

import polars as pl

from logistics_batch.errors import UsageError
from logistics_batch.flows.files.check import CheckedSheet, checked, corrected, hand_to_job, one_sheet, why_not_of
from logistics_batch.model.counting import counted
from logistics_batch.model.issue import Issue, cell_address
from logistics_batch.model.jobs.job import PushJob
from logistics_batch.model.report import Fate, FileReport
from logistics_batch.scratch import scratch_folder
from logistics_batch.web.workbench.asked import (
    Changed,
    Download,
    Moved,
    PageData,
    PageRequest,
    SheetCheck,
    number_of,
)
from logistics_batch.web.workbench.files import what_became

_ROWS_A_PART: Final = 50
_LONGEST_TEXT: Final = 32_767  # of a cell
_CELL: Final = "cell-"
_WRONG: Final = (Fate.INVALID.value, Fate.BLOCKED.value)
_VIEWS: Final = ("", "wrong", *(each.value for each in Fate))


def start(asked: PageRequest) -> PageData:
    """The form for a sheet, and the sheets that this person looks at."""
    jobs = [{"job": each.name, "mapping": each.mapping} for each in _push_jobs(asked)]
    mine = [_head(name, each) for name, each in reversed(asked.on.checks.of(asked).items())]
    return PageData("check.html", {"jobs": jobs, "mappings": list(asked.on.mappings()), "checks": mine})


def upload(asked: PageRequest) -> Moved:
    """Look at a sheet as the job, or the mapping alone, would take it."""
    if asked.upload is None or not asked.upload.content:
        raise UsageError("No sheet was chosen, or it is empty.", remedy="Choose one.")
    kind, _, chosen = asked.form.get("as", "").partition(":")
    job = _job(asked, chosen) if kind == "job" else None
    if job is None and (kind != "mapping" or chosen not in asked.on.mappings()):
        raise UsageError("It is not said which job or mapping the sheet is for.", remedy="Choose one.")
    mapping = job.mapping if job else chosen
    with scratch_folder() as folder:
        name, content = one_sheet(asked.parts, asked.upload.name, asked.upload.content, folder=folder)
        came = checked(asked.parts, name, content, mapping=mapping, job=job, folder=folder)
    made = SheetCheck(
        person=asked.who.name,
        at=asked.parts.clock.monotonic(),
        job=job.name if job else "",
        mapping=mapping,
        came=came,
        now=came,
    )
    return Moved(f"/check/{asked.on.checks.keep(made)}")


def grid(asked: PageRequest) -> PageData:
    """A sheet that is looked at: counts, problems, and a part of its rows with what would become of each."""
    name = asked.path["name"]
    check = asked.on.checks.one(asked, name)
    sheet, report = check.now, check.now.report
    each_sheet = report.by_sheet if report.header_row else (report,)
    own = next((each for each in each_sheet if each.sheet == asked.query.get("sheet")), each_sheet[0])
    fates = {*own.rows["fate"].unique(), "wrong"}
    default = "wrong" if own.rows["fate"].is_in(_WRONG).any() else ""
    fate = asked.query.get("fate", default) if asked.query.get("fate", default) in fates else ""
    rows = own.rows
    written = {(row, column) for name, row, column in check.cells if name == _as_it_came(check, own.sheet)}
    if fate == "wrong":  # what was corrected stays where it stood
        rows = rows.filter(pl.col("fate").is_in(_WRONG) | pl.col("row").is_in({row for row, _ in written}))
    elif fate:
        rows = rows.filter(pl.col("fate") == fate)
    first = min(number_of(asked.query.get("after", "")) or 0, rows.height)
    opened = number_of(asked.query.get("row", ""))
    data = (
        _head(name, check)
        | what_became(report, sees_people=True)
        | {
            "documents": report.documents_of(),
            "held": {"reason": report.reason, "remedy": report.remedy},
            "sheet": own.sheet,
            "sheets": [each.sheet for each in each_sheet],
            "fate": fate,
            "columns": _columns(sheet, own),
            "rows": list(_rows(sheet, own, rows.slice(first, _ROWS_A_PART), opened=opened, written=written)),
            "opened": opened,
            "first": first,
            "rows_of_fate": rows.height,
            "next": first + _ROWS_A_PART if first + _ROWS_A_PART < rows.height else None,
            "before": max(0, first - _ROWS_A_PART) if first else None,
            "would": _would(report, asked.query.get("document", "")),
            "why_not": _why_not(asked, check),
        }
    )
    return PageData("checked.html", data)


def correct(asked: PageRequest) -> Moved:
    """Write other texts into cells of the sheet, and look at it again as a whole."""
    name, check = asked.on.checks.as_seen(asked)
    sheet = asked.form.get("sheet", "")
    changes = dict(_changes(asked.form, check.now, sheet))
    back = f"/check/{name}?{urlencode({'sheet': sheet} | _view(asked.form))}"
    if not changes:
        return Moved(back, "No cell was changed.")
    cells = {**check.cells} | {(_as_it_came(check, sheet), *cell): text for cell, text in changes.items()}
    with scratch_folder() as folder:
        made = corrected(asked.parts, check.came, cells, mapping=check.mapping, folder=folder)
        job = _job(asked, check.job) if check.job else None
        now = checked(asked.parts, *made, mapping=check.mapping, job=job, folder=folder)
    asked.on.checks.change(name, check, replace(check, now=now, cells=cells))
    left = sum(now.report.counts[Fate(fate)] for fate in _WRONG)
    return Moved(back, f"{counted(len(changes), 'cell')} corrected; {counted(left, 'row')} to correct.")


def hand(asked: PageRequest) -> Moved:
    """Put the sheet as it was seen where the job's files are dropped."""
    name, check = asked.on.checks.as_seen(asked)
    if not check.job:
        raise UsageError("The sheet was checked by a mapping alone.", remedy="Check it for a job.")
    job = _job(asked, check.job)
    with asked.on.calling() as parts:
        hand_to_job(parts, job, check.now.name, check.now.content)
    asked.on.checks.forget(name)
    return Moved("/check", f"{check.now.name} was handed over: the next run of {job.name} takes and answers it.")


def download(asked: PageRequest) -> Download:
    """The sheet with the cells corrected so far."""
    check = asked.on.checks.one(asked, asked.path["name"])
    return Download(check.now.name, check.now.content)


def _as_it_came(check: SheetCheck, sheet: str) -> str:
    """The name that a sheet of the file has in the file as it came: corrected, a CSV file is a workbook."""
    return dict(zip(check.now.frames, check.came.frames, strict=True)).get(sheet, sheet)


def _view(form: Mapping[str, str]) -> dict[str, str]:
    """The part of the sheet that a form showed."""
    numbers = {name: form[name] for name in ("after", "row") if number_of(form.get(name, ""))}
    return ({"fate": form["fate"]} if form.get("fate") in _VIEWS else {}) | numbers


def _head(name: str, check: SheetCheck) -> dict[str, Any]:
    report = check.now.report
    return {
        "id": name,
        "name": check.now.name,
        "job": check.job,
        "mapping": check.mapping,
        "seen": check.seen,
        "rows_read": report.rows_read,
        "corrected": len(check.cells),
        "to_correct": sum(report.counts[Fate(fate)] for fate in _WRONG),
    }


def _why_not(asked: PageRequest, check: SheetCheck) -> str:
    """Why the sheet cannot be handed over; "" if it can."""
    if not check.job:
        return "It was checked by a mapping alone. Check it for a job to hand it over."
    return why_not_of(_job(asked, check.job), check.now.name)


def _columns(sheet: CheckedSheet, report: FileReport) -> list[str]:
    """The texts of the header row."""
    frame = sheet.frames.get(report.sheet)
    if frame is None:
        return []
    head = frame.filter(pl.col("row") == report.header_row).drop("row")
    return [text or "" for text in head.row(0)] if head.height else [""] * head.width


def _rows(
    sheet: CheckedSheet,
    report: FileReport,
    shown: pl.DataFrame,
    *,
    opened: int | None,
    written: Collection[tuple[int, int]],
) -> Iterator[dict[str, Any]]:
    """Rows with their cells; a cell can be written into where something is or was wrong with it, or in opened rows."""
    frame = sheet.frames.get(report.sheet)
    texts = {} if frame is None else {row[0]: row[1:] for row in frame.join(shown.select("row"), on="row").iter_rows()}
    second = report.sheet if report.is_of_lines else ""
    wrong: dict[int, dict[str, list[Issue]]] = {}
    for issue in report.issues:
        if issue.sheet == second:
            wrong.setdefault(issue.row, {}).setdefault(issue.cell, []).append(issue)
    for line in shown.iter_rows(named=True):
        number, of_row = line["row"], wrong.get(line["row"], {})
        cells = []
        for column, text in enumerate(texts.get(number, ()), start=1):
            told = _told(of_row.pop(cell_address(number, column), ()))
            may_write = bool(told) or number == opened or (number, column) in written
            cells.append({"column": column, "text": text or "", "wrong": told, "open": may_write})
        rest = [words for issues in of_row.values() for words in _told(issues)]  # of no cell, or of one above the table
        why = Issue(line["code"], values=line["values"])
        own = (
            f"{why.reason} {why.fix}".strip()
            if line["code"] and not rest and not any(c["wrong"] for c in cells)
            else ""
        )
        yield {
            "row": number,
            "fate": line["fate"],
            "would": line["would"],
            "document": line["document"],
            "awb_number": line["awb_number"],
            "reasons": ([own] if own else []) + rest,
            "cells": cells,
        }


def _told(issues: Sequence[Issue]) -> list[str]:
    return list(dict.fromkeys(f"{each.reason} {each.fix}".strip() for each in issues))


def _would(report: FileReport, key: str) -> dict[str, Any] | None:
    """What would be sent of one document; None if none is asked for."""
    found = report.documents.filter(key=key).head(1).rows(named=True) if key else []
    names = ("key", "operation", "state", "method", "path", "body", "would")
    return {name: found[0][name] for name in names} if found else None


def _changes(form: Mapping[str, str], sheet: CheckedSheet, name: str) -> Iterator[tuple[tuple[int, int], str]]:
    """The cells of a form whose text is another than the sheet's."""
    frame = sheet.frames.get(name)
    if frame is None:
        raise Changed("There is no such sheet in the file.")
    for field, typed in form.items():
        row, _, column = field.removeprefix(_CELL).partition("-")
        at = number_of(row), number_of(column)
        if not field.startswith(_CELL) or at[0] is None or at[1] is None or not 0 < at[1] < frame.width:
            continue
        found = frame.filter(pl.col("row") == at[0])[str(at[1])]
        text = typed.replace("\r\n", "\n")
        if len(text) > _LONGEST_TEXT:
            raise UsageError(f"The text for {cell_address(at[0], at[1])} is longer than a cell.", remedy="Shorten it.")
        if found.len() and text != (found[0] or "").replace("\r\n", "\n"):
            yield (at[0], at[1]), text


def _push_jobs(asked: PageRequest) -> list[PushJob]:
    return [each for each in asked.on.jobs().usable if isinstance(each, PushJob)]


def _job(asked: PageRequest, name: str) -> PushJob:
    found = next((each for each in _push_jobs(asked) if each.name == name), None)
    if found is None:
        raise UsageError(f'There is no job "{name}" that takes files.', remedy="Choose another.")
    return found
