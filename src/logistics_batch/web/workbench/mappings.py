"""The mappings, and the studio in which one is made of a sample: the text is the state, and choices change the text.

What a sample comes to is what `mapping suggest`, `lint`, `preview` and `test` say of it. Nothing is written before it
is saved.
"""

import difflib
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Final

from logistics_batch.errors import Finding, LogisticsBatchError, SpecificationError, UsageError
from logistics_batch.flows.files.check import one_sheet
from logistics_batch.flows.mappings import choices
from logistics_batch.flows.mappings.check_mapping import lint
from logistics_batch.flows.mappings.mapping_files import MOST_EXAMPLE_BYTES, digest_of, replay, tried
from logistics_batch.flows.mappings.suggest_mapping import Wanted, look_at
from logistics_batch.model.document import Operation
from logistics_batch.model.report import FileReport
from logistics_batch.scratch import scratch_folder
from logistics_batch.web.workbench.asked import (
    Changed,
    KnownJobs,
    Moved,
    PageData,
    PageRequest,
    StudioSheet,
    number_of,
)
from logistics_batch.web.workbench.files import what_became

_ROWS, _DOCUMENTS, _LONGEST_TEXT, _FILES_REPLAYED = 200, 10, 2000, 5
_SPLIT: Final = "|"
_NOT_YET: Final = "The mapping cannot be used yet: answer what is asked, and mend what is wrong."


def all_of_them(asked: PageRequest) -> PageData:
    """The mappings: what each makes, whether it can be used, which jobs use it, and what it read."""
    files, jobs = asked.on.files, asked.on.jobs()
    used = _used(jobs)
    versions: dict[str, list[tuple[str, int, str]]] = {}
    for name, digest, count, last in asked.parts.ledger.files.by_mapping():
        versions.setdefault(name, []).append((digest, count, last))
    lines = []
    for name in asked.on.mappings():
        (linted,) = lint([name], open_=lambda n: (files.text(n) or "", f"mappings/{n}.yaml", files.loader(n)))
        read = versions.get(name, [])
        lines.append(
            {
                "name": name,
                "operation": linted.operation,
                "wrong": [str(each) for each in linted.findings],
                "hints": len(linted.hints),
                "jobs": used.get(name, []),
                "versions": len(read),
                "files": sum(count for _, count, _ in read),
                "last": max((last for *_, last in read), default=""),
                "has_example": files.sample_of(name) is not None,
            }
        )
    return PageData("mappings.html", {"mappings": lines, "jobs_wrong": jobs.wrong})


def start(asked: PageRequest) -> PageData:
    """The form for a sample, and the samples on which this person works."""
    mine = [_head(name, each) for name, each in reversed(asked.on.studios.of(asked).items())]
    name = asked.query.get("mapping", "")
    data = {"mapping": name if name in asked.on.mappings() else "", "studios": mine}
    has_example = bool(data["mapping"]) and asked.on.files.sample_of(name) is not None
    return PageData("studio_start.html", data | {"has_example": has_example})


def open_one(asked: PageRequest) -> Moved:
    """Look at a sample: as a new mapping, or with one that is there, whose example is the sample if none comes."""
    name = asked.form.get("mapping", "")
    if name and name not in asked.on.mappings():
        raise UsageError(f"There is no mapping “{name}”.", remedy="Open the page again.")
    example = asked.on.files.sample_of(name) if name and asked.upload is None else None
    if example is not None:
        came = example.name, example.read_bytes()
    elif asked.upload is not None and asked.upload.content:
        came = asked.upload.name, asked.upload.content
    else:
        raise UsageError("No sheet was chosen, or it is empty.", remedy="Choose one.")
    with scratch_folder() as folder:
        file, content = one_sheet(asked.parts, *came, folder=folder)
    text = asked.on.files.text(name) if name else None
    new = StudioSheet(
        person=asked.who.name,
        at=asked.parts.clock.monotonic(),
        file=file,
        content=content,
        wanted=_wanted_by(text),
        look={},
        text=text or "",
        name=name,
    )
    return Moved(f"/mappings/new/{asked.on.studios.keep(_looked(asked, new))}")


def draft(asked: PageRequest) -> Moved:
    """Draft the mapping anew: from another sheet or header, or for other documents."""
    name, seen = asked.on.studios.as_seen(asked)
    header, rows = (number_of(asked.form.get(each, "")) or 0 for each in ("header", "header_rows"))
    wanted = Wanted(asked.form.get("operation", ""), asked.form.get("sheet", ""), header, rows)
    asked.on.studios.change(name, seen, _looked(asked, replace(seen, wanted=wanted, text="")))
    return Moved(f"/mappings/new/{name}", "Drafted anew.")


def studio(asked: PageRequest) -> PageData:
    """A mapping with its sample: what is asked, each column with what becomes of it, what comes of it, and its text."""
    name = asked.path["name"]
    seen = asked.on.studios.one(asked, name)
    data: dict[str, Any] = _head(name, seen) | {
        "look": {each: seen.look[each] for each in ("sheets", "sheet", "head", "more")},
        "header_row": _header_of(seen)[0],
        "header_rows": _header_of(seen)[1],
        "text": seen.text,
        "wrong": seen.wrong,
        "hints": seen.hints,
        "operations": [each.value for each in Operation],
        "came": _came(seen.report) if seen.report else None,
        "save": _save_look(asked, seen, asked.query["save"]) if "save" in asked.query else None,
    }
    return PageData("studio.html", data | _drawn(seen))


def change(asked: PageRequest) -> Moved:
    """Write what was chosen into the text; a text that was written into counts alone."""
    name, seen = asked.on.studios.as_seen(asked)
    text = asked.form.get("text", seen.text).replace("\r\n", "\n").removeprefix("\ufeff")
    if text.strip() == seen.text.strip():
        text = _chosen(asked.form, seen)
    asked.on.studios.change(name, seen, _tried(asked, replace(seen, text=text)))
    return Moved(f"/mappings/new/{name}")


def save(asked: PageRequest) -> Moved:
    """Write the mapping, as it was shown, into its file, with the sample as its golden example if that is wanted."""
    name, seen = asked.on.studios.as_seen(asked)
    to, files = asked.form.get("name", ""), asked.on.files
    if seen.report is None:
        raise UsageError(_NOT_YET, remedy="Then look at it again.")
    mapping = files.loader(to)(seen.text)
    files.save(to, seen.text, replaces=asked.form.get("replaces", ""))
    said = f"mappings/{to}.yaml was written. {_used_words(asked, to)}"
    if asked.form.get("example"):
        try:
            with scratch_folder() as folder:
                files.keep_example(asked.parts, to, mapping, sample=(seen.file, _laid(folder, seen)))
            said += f" Its example lies in mappings/examples/{to}."
        except UsageError as error:
            said += f" Its example was not written: {error.message}"
    asked.on.studios.change(name, seen, replace(seen, name=to))
    return Moved(f"/mappings/new/{name}", said)


def _head(name: str, seen: StudioSheet) -> dict[str, Any]:
    return {"id": name, "file": seen.file, "mapping": seen.name, "seen": seen.seen}


def _laid(folder: Path, seen: StudioSheet) -> Path:
    path = folder / "sample"
    path.write_bytes(seen.content)
    return path


def _wanted_by(text: str | None) -> Wanted:
    """How a mapping that is there reads a sample."""
    try:
        data = choices.plain(text or "")
    except SpecificationError:
        return Wanted()
    sheet = data.get("sheet")
    given = sheet if isinstance(sheet, dict) else {}
    row, rows = given.get("header"), given.get("header_rows")
    header = (row, rows if rows == 2 else 1) if isinstance(row, int) else (0, 0)
    return Wanted(choices.operation_of(data).value, str(given.get("name", "")), *header)


def _looked(asked: PageRequest, seen: StudioSheet) -> StudioSheet:
    """The sample looked at as it is wanted, with a draft where there is no text, and tried."""
    with scratch_folder() as folder:
        look = look_at(asked.parts, _laid(folder, seen), name=seen.file, wanted=seen.wanted)
    text = seen.text or choices.drafted(look, seen.wanted, name=seen.file)
    return _tried(asked, replace(seen, look=look, text=text))


def _tried(asked: PageRequest, seen: StudioSheet) -> StudioSheet:
    """The sample mapped by the text, or why it cannot be."""
    name = seen.name or "draft"
    load = asked.on.files.loader(name)
    (linted,) = lint([name], open_=lambda _: (seen.text, f"{name}.yaml", load))
    wrong, hints = (tuple(map(_in_line, found)) for found in (linted.findings, linted.hints))
    report = None
    if not wrong:
        try:
            with scratch_folder() as folder:
                report = tried(asked.parts, load(seen.text), _laid(folder, seen), name=seen.file)
        except UsageError as error:
            wrong = (f"{error.message} {error.remedy}".strip(),)
    return replace(seen, report=report, wrong=wrong, hints=hints)


def _in_line(finding: Finding) -> str:
    place = f"Line {finding.line}: " if finding.line else ""
    return f"{place}{finding.message} {finding.remedy}".strip()


def _header_of(seen: StudioSheet) -> tuple[int, int]:
    """The row with the names, of two the lower, and how many there are; 0 where none is found."""
    if seen.wanted.header:
        return seen.wanted.header, seen.wanted.header_rows or 1
    found = seen.look["draft"]
    return (found["header_row"] + found["header_rows"] - 1, found["header_rows"]) if found else (0, 1)


def _drawn(seen: StudioSheet) -> dict[str, Any]:
    """The choices that the text makes; none while it cannot be read."""
    try:
        data = choices.plain(seen.text)
    except SpecificationError:
        none: dict[str, Any] = {"questions": [], "columns": [], "targets": {}, "rules": [], "outside": []}
        return none | {"operation": "", "key_is_file": False, "beside": [], "can_choose": False}
    beside = seen.look["draft"]["outside"] if seen.look["draft"] else []
    return {
        "questions": choices.asked_in(data, seen.look),
        "columns": choices.columns_of(data, seen.look),
        "targets": choices.targets_in(data),
        "rules": choices.rules_of(data),
        "outside": choices.outside_of(data),
        "operation": choices.operation_of(data).value,
        "key_is_file": data.get("key") in ("file", ["file"]),
        "beside": beside[:_ROWS],
        "can_choose": True,
    }


def _came(report: FileReport) -> dict[str, Any]:
    """What comes of the sample: counts of all, problems of all, and the documents of the first rows."""
    shown = report.rows.slice(0, _ROWS)
    keys = [each for each in dict.fromkeys(shown["document"]) if each]
    documents = []
    for key in keys[:_DOCUMENTS]:
        for found in report.documents.filter(key=key).head(1).rows(named=True):
            body = json.dumps(json.loads(found["body"]), indent=1, ensure_ascii=False) if found["body"] else ""
            documents.append({"key": key, "state": found["state"], "would": found["would"], "body": body})
    return what_became(report, sees_people=True) | {
        "held": f"{report.reason} {report.remedy}".strip(),
        "documents": documents,
        "documents_left": max(0, len(keys) - _DOCUMENTS),
    }


def _chosen(form: Mapping[str, str], seen: StudioSheet) -> str:
    """The text with every choice of a form that differs from what the text said."""
    drawn, text = _drawn(seen), seen.text
    for n, asked in enumerate(drawn["questions"]):
        if answer := _answer(form, n, asked):
            text = choices.answered(text, asked, answer)
    for n, column in enumerate(drawn["columns"] if text == seen.text else ()):  # an answer may have moved them
        if not column["fixed"]:
            text = _column_chosen(form, n, drawn, text)
    for n, rule in enumerate(drawn["rules"]):
        if form.get(f"rule-{n}"):
            text = choices.rule_set(text, rule["column"], rule["pattern"], holds=False)
    if (column := form.get("skip-column", "")) and (pattern := _line(form, "skip-pattern")):
        text = choices.rule_set(text, column, pattern, holds=True)
    for n, each in enumerate(drawn["outside"]):
        if form.get(f"outside-{n}"):
            text = choices.outside_set(text, each["place"], "", "")
    if (value := _line(form, "fill-text")) and "fill-place" in form:
        text = choices.outside_set(text, _place(form["fill-place"], drawn), form.get("fill-how", "constant"), value)
    return text


def _answer(form: Mapping[str, str], n: int, asked: Mapping[str, Any]) -> choices.ChosenAnswer | None:
    """What a form says to the question of a number; what is written there goes before what is chosen."""
    kind, _, value = form.get(f"answer-{n}", "").partition(":")
    if written := _line(form, f"written-{n}"):
        return choices.ChosenAnswer(written, is_constant=asked["constant"])
    if kind == "leave" and asked["may_leave"]:
        return choices.ChosenAnswer(is_left=True)
    return choices.ChosenAnswer(value, is_column=kind == "of") if kind in ("is", "of") else None


def _column_chosen(form: Mapping[str, str], n: int, drawn: Mapping[str, Any], text: str) -> str:
    """The text with what a form says of the column of a number."""
    column = drawn["columns"][n]
    name = column["name"]
    to = _place(form[f"to-{n}"], drawn) if f"to-{n}" in form else column["place"]
    if to != column["place"] and not (to == choices.KEEP and column["place"].startswith(choices.KEEP)):
        text = choices.moved(text, name, to)
    elif column["place"] not in ("", choices.IGNORE):
        way = number_of(form.get(f"read-{n}", ""))
        ways = column["reads"]
        if way is not None and way < len(ways) and ways[way] != column["read"]:
            text = choices.read_as(text, name, ways[way])
        others = [each for part in _line(form, f"called-{n}").split(_SPLIT) if (each := part.strip())]
        if f"called-{n}" in form and others != column["called"]:
            text = choices.called(text, name, others)
    is_filled = bool(form.get(f"down-{n}"))
    if is_filled is not column["is_filled"] and to == column["place"]:
        text = choices.filled_set(text, name, is_filled=is_filled)
    is_key = bool(form.get(f"key-{n}"))
    return choices.key_set(text, name, is_key=is_key) if is_key is not column["is_key"] else text


def _place(chosen: str, drawn: Mapping[str, Any]) -> str:
    """The place that an option stands for: a number among the targets, of a joined one behind its sign."""
    number = number_of(chosen.removeprefix(choices.JOIN))
    if number is None:
        return chosen
    places: list[str] = [each["place"] for some in drawn["targets"].values() for each in some]
    if number >= len(places):
        raise Changed("There is no such target.")
    return (choices.JOIN if chosen.startswith(choices.JOIN) else "") + places[number]


def _line(form: Mapping[str, str], name: str) -> str:
    return " ".join(form.get(name, "").split())[:_LONGEST_TEXT]


def _save_look(asked: PageRequest, seen: StudioSheet, name: str) -> dict[str, Any]:
    """What saving under a name would do: what it would replace, whom it is for, and what the example says."""
    files, name = asked.on.files, name.strip()
    try:
        old = files.text(name)
        texts = (old or "").splitlines(), seen.text.splitlines()
        diff = difflib.unified_diff(*texts, "there now", "to be saved", n=2, lineterm="")
        example = None
        if old is not None and seen.report is not None:
            example = files.try_example_of(asked.parts, name, files.loader(name)(seen.text))
    except LogisticsBatchError as error:
        return {"name": name, "why_not": f"{error.message} {error.remedy}".strip()}
    return {
        "name": name,
        "why_not": "" if seen.report else _NOT_YET,
        "replaces": digest_of(old),
        "diff": list(diff) if old is not None else [],
        "is_there": old is not None,
        "used": _used_words(asked, name),
        "example": asdict(example) if example else None,
        "replay": _replay(asked, seen, name, old) if "replay" in asked.query and old and seen.report else None,
        "may_keep": len(seen.content) <= MOST_EXAMPLE_BYTES,
    }


def _replay(asked: PageRequest, seen: StudioSheet, name: str, old: str) -> list[dict[str, Any]] | str:
    """What saving would change for the files that the mapping read last; or why the one that is there reads none."""
    load, ledger = asked.on.files.loader(name), asked.parts.ledger
    try:
        before = load(old)
    except LogisticsBatchError:
        return "The mapping that is there cannot be used, so that there is nothing to compare with."
    files = ledger.files.latest(mapping=name, limit=_FILES_REPLAYED)
    return [asdict(each) for each in replay(asked.parts, files, before=before, after=load(seen.text))]


def _used(jobs: KnownJobs) -> dict[str, list[str]]:
    """The jobs that use each mapping."""
    found: dict[str, list[str]] = {}
    for job in jobs.usable:
        for name in dict.fromkeys(_named(job.model_dump())):
            found.setdefault(name, []).append(job.name)
    return found


def _named(data: Any) -> Iterator[str]:
    """The mappings that a job names."""
    for key, value in data.items() if isinstance(data, dict) else ():
        if key == "mapping" and isinstance(value, str):
            yield value
        yield from _named(value)


def _used_words(asked: PageRequest, name: str) -> str:
    jobs = asked.on.jobs()
    used = _used(jobs).get(name, [])
    words = f"Jobs that use it: {', '.join(used)}." if used else "No job uses it yet."
    return f"{words} Jobs that cannot be used are left out: {jobs.wrong}" if jobs.wrong else words
