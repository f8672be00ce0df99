"""A dropped file: what became of its rows, its problems by what repairs them, and its rows."""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any, Final

import polars as pl

from logistics_batch.flows.files.answer_names import FIX
from logistics_batch.flows.files.deliver import answers_as_known, kept_file
from logistics_batch.ledger import StoredFile
from logistics_batch.model.issue import Issue
from logistics_batch.model.report import NEEDS_CORRECTING, FileReport
from logistics_batch.web.workbench.asked import Download, NotThere, PageData, PageRequest, number_of

_PAGE: Final = 100
_ROWS_NAMED, _ROUNDS_TOLD, _LONGEST_TEXT = 20, 5, 100
_ORIGINAL: Final = "original"
_NAMES: Final = ("document", "reference_number", "awb_number")
_HIDDEN: Final = "•••"


def latest(asked: PageRequest) -> PageData:
    """The files that came last; further ones by `before`."""
    found = asked.parts.ledger.files.latest(limit=_PAGE, before=number_of(asked.query.get("before", "")))
    files = [
        {
            "id": each.id,
            "name": each.name,
            "run": each.run,
            "mapping": each.mapping,
            "received_at": each.received_at,
            "rows_read": each.rows_read,
            "held": each.reason,
        }
        for each in found
    ]
    return PageData("files.html", {"files": files, "before": found[-1].id if len(found) == _PAGE else None})


def one(asked: PageRequest) -> PageData:
    """One file: counts by fate, problems grouped by what repairs them, and its rows, by fate, cause and text."""
    name, ledger = asked.path["name"], asked.parts.ledger
    file = _file(asked, name)
    report = ledger.documents.file_report(file.id, with_documents=False)
    by_row: dict[tuple[str, int], list[Issue]] = {}
    for issue in report.issues:
        by_row.setdefault((issue.place.sheet or report.sheet, issue.place.row), []).append(issue)
    wanted = {name: asked.query.get(name, "").strip()[:_LONGEST_TEXT] for name in ("fate", "rule", "text")}
    rows = _filtered(report.rows, by_row, wanted)
    first = min(number_of(asked.query.get("after", "")) or 0, rows.height)
    shown = rows.slice(first, _PAGE)
    stem = _stem(file)
    rounds = (f"{stem}.fix.", f"{stem}.result.")
    same = [each for each in ledger.files.named(stem) if each.name == file.name or each.name.startswith(rounds)]
    later = [each for each in same if each.id > file.id][-_ROUNDS_TOLD:]
    data = what_became(report, sees_people=asked.who.sees_people) | {
        "id": file.id,
        "name": file.name,
        "run": file.run,
        "mapping": file.mapping,
        "received_at": file.received_at,
        "documents": report.documents_of(),
        "held": {"reason": report.reason, "remedy": report.remedy},
        "keeps": _endings(asked, file, report) if asked.who.sees_people else [],
        "filter": wanted,
        "rows": [
            _row(line, by_row.get((line["sheet"], line["row"]), ()), sees_people=asked.who.sees_people)
            for line in shown.iter_rows(named=True)
        ],
        "rows_of_filter": rows.height,
        "next": first + _PAGE if first + _PAGE < rows.height else None,
        "later": [{"id": each.id, "name": each.name, "received_at": each.received_at} for each in later],
    }
    return PageData("file.html", data)


def download(asked: PageRequest) -> Download:
    """The file as it came, or an answer with what is known of its rows now; named NUMBER/original, or by its ending."""
    number, _, ending = asked.path["name"].partition("/")
    file = _file(asked, number)
    if ending == _ORIGINAL:
        try:
            return Download(file.name, kept_file(asked.parts, file).read_bytes())
        except FileNotFoundError:
            raise NotThere("The file as it came is not kept here any more.") from None
    answers = answers_as_known(asked.parts, file)
    if ending not in answers:
        raise NotThere("There is no such answer now: nothing of the file is to be corrected any more.")
    return Download(f"{_stem(file)}.{ending}", answers[ending])


def _endings(asked: PageRequest, file: StoredFile, report: FileReport) -> list[str]:
    """What can be kept of a file: as it came, its answers, and its rows to correct."""
    originals = [_ORIGINAL] if kept_file(asked.parts, file).exists() else []
    answers = [f"result.{each}" for each in file.origin.get("formats") or ("xlsx", "csv")]
    return originals + answers + ([FIX] if any(map(report.counts.get, NEEDS_CORRECTING)) else [])


def _file(asked: PageRequest, name: str) -> StoredFile:
    try:
        return asked.parts.ledger.files.get(number_of(name) or 0)
    except ValueError as error:
        raise NotThere(f"There is no file number “{name}”.") from error


def _stem(file: StoredFile) -> str:
    return file.name.rpartition(".")[0] or file.name


def _filtered(
    rows: pl.DataFrame, by_row: Mapping[tuple[str, int], Sequence[Issue]], wanted: Mapping[str, str]
) -> pl.DataFrame:
    """The rows of a fate, with a cause of their own or in a cell, and whose document's names hold a text."""
    if wanted["fate"]:
        rows = rows.filter(fate=wanted["fate"])
    if rule := wanted["rule"]:
        places = rows.select("sheet", "row").iter_rows()
        in_cells = [any(each.code == rule for each in by_row.get((sheet, row), ())) for sheet, row in places]
        rows = rows.filter((pl.col("code") == rule) | pl.Series(in_cells, dtype=pl.Boolean))
    if text := wanted["text"].casefold():
        named = (pl.col(name).str.to_lowercase().str.contains(text, literal=True) for name in _NAMES)
        rows = rows.filter(pl.any_horizontal(named))
    return rows


def what_became(report: FileReport, *, sees_people: bool) -> dict[str, Any]:
    """What became of a file: how many rows and documents came to what, what is wrong with cells, and remarks."""
    counts = {fate.value: {"rows": n, "documents": report.documents_of(fate)} for fate, n in report.counts.items() if n}
    return {
        "rows_read": report.rows_read,
        "thing": report.thing,
        "counts": counts,
        "problems": _problems(report, sees_people=sees_people),
        "notes": [each.reason for each in report.notes if each.code != "sending.preview"],
    }


def _problems(report: FileReport, *, sees_people: bool) -> list[dict[str, Any]]:
    """What is wrong with cells, one entry for all that the same step repairs; the most rows first."""

    def cause(issue: Issue) -> tuple[str, str, str]:
        return issue.code, issue.place.column, issue.fix

    found = []
    for (code, column, fix), some in groupby(sorted(report.issues, key=cause), cause):
        issues = list(some)
        is_one = len({each.reason for each in issues}) == 1
        values = Counter(each.place.value for each in issues if each.place.value)
        found.append(
            {
                "code": code,
                "column": column,
                "reason": issues[0].reason if sees_people and is_one else issues[0].rule,
                "fix": fix if sees_people else "",
                "rows": sorted({each.place.row for each in issues})[:_ROWS_NAMED],
                "count": len({each.place.row for each in issues}),
                "values": [value if sees_people else _HIDDEN for value, _ in values.most_common(3)],
            }
        )
    return sorted(found, key=lambda each: (-each["count"], each["column"], each["code"]))


def _row(line: dict[str, Any], issues: Sequence[Issue], *, sees_people: bool) -> dict[str, Any]:
    """One row as it stands, with its reasons in words."""
    found = Issue(line["code"], values=line["values"])
    why = [found.reason if sees_people else found.rule.replace("_", " ")] if line["code"] else []
    own = [f"{each.place.cell}: {each.reason if sees_people else each.rule}" for each in issues]
    names = ("sheet", "row", "fate", "document", "reference_number", "awb_number")
    return {name: line[name] for name in names} | {"reasons": why + own}
