"""Mapping files looked at before they are used: complaints, what they make of a file, and their golden examples.

A golden example is a file, a business date, and the documents and issues that must come of it.

mappings/examples/NAME/ holds `input.*`, `business_date.txt`, `documents.ndjson` and `issues.ndjson`.
"""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

from logistics_batch.errors import Finding, LogisticsBatchError, SpecificationError, UsageError
from logistics_batch.flows.files.receive import ReceivedFile, unpacked
from logistics_batch.flows.parts import Parts
from logistics_batch.flows.push.preview import preview_files
from logistics_batch.intake.readers import read_file
from logistics_batch.mapping import Mapping, RunValues, hints_of
from logistics_batch.mapping.whole_file import apply_mapping
from logistics_batch.model.report import FileReport, RunReport
from logistics_batch.scratch import scratch_folder


@dataclass(frozen=True, slots=True)
class Linted:
    """One mapping file: what it is for, and what is to be said of it.

    findings: what is wrong; with any the mapping cannot be used. hints: what it says and need not.
    """

    name: str
    operation: str
    findings: tuple[Finding, ...] = ()
    hints: tuple[Finding, ...] = ()


def lint(names: Iterable[str], *, open_: Callable[[str], tuple[str, str, Callable[[str], Mapping]]]) -> list[Linted]:
    """Load every mapping and collect the complaints.

    open_: gives a mapping's text, where it lies, and how the text loads. Raises UsageError for a name without a file.
    """
    found: list[Linted] = []
    for name in names:
        try:
            text, path, load = open_(name)
            mapping = load(text)
        except SpecificationError as error:
            found.append(Linted(name, "", tuple(error.findings)))
        else:
            hints = hints_of(mapping, text, path=path)
            found.append(Linted(name, str(mapping.operation), hints=tuple(hints)))
    return found


def preview(parts: Parts, path: Path, *, mapping: str) -> RunReport:
    """What a push of the file would do, with any mapping that makes documents; nothing is sent or written.

    Raises UsageError for a missing file, SpecificationError for a mapping with mistakes.
    """
    if not path.is_file():
        raise UsageError(f"No such file: {path}.", remedy="Check the name and the folder.")
    today = parts.clock.now().date()
    with scratch_folder() as folder:
        received = unpacked(parts, [ReceivedFile(path, path.name)], to=folder)
        if len(received) > 1:
            raise UsageError(f"{path.name} holds {len(received)} files.", remedy="Unpack it and preview one of them.")
        return preview_files(parts, received, parts.mapping(mapping), business_date=today, job="preview")


def write_preview(report: FileReport, folder: Path) -> list[Path]:
    """Write documents.ndjson and issues.ndjson of a previewed file, a JSON object a line.

    Raises UsageError if the folder cannot be written.
    """
    issues = (json.dumps(issue.as_told(), ensure_ascii=False) + "\n" for issue in report.issues)
    written = [folder / "documents.ndjson", folder / "issues.ndjson"]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        report.documents.write_ndjson(written[0])
        with written[1].open("w", encoding="utf-8") as file:
            file.writelines(issues)
    except OSError as error:
        raise UsageError(f"{folder} cannot be written: {error.strerror}.", remedy="Name another --output.") from error
    return written


DATE = "business_date.txt"


@dataclass(frozen=True, slots=True)
class Bench:
    """Where examples are tried: how mappings are loaded, where examples lie, the service's zone, and today."""

    load: Callable[[str], Mapping]
    folder: Path
    timezone: str
    today: date


@dataclass(frozen=True, slots=True)
class Tried:
    """One example: what differs from what must be, in words, and which files were written."""

    name: str
    problems: tuple[str, ...] = ()
    written: tuple[str, ...] = ()


def try_example(bench: Bench, name: str, *, generate: bool = False, force: bool = False) -> Tried:
    """Map an example's input and compare; with `generate` missing files are written, with `force` all are."""
    folder = bench.folder / name
    sources = sorted(folder.glob("input.*"))
    if not sources:
        return Tried(name, (f"There is no example: put a file input.xlsx or input.csv into {folder}.",))
    if len(sources) > 1:  # the golden files are those of one
        names = ", ".join(path.name for path in sources)
        return Tried(name, (f"{folder} holds several inputs: {names}. Keep one; an example is of one file.",))
    (source,) = sources
    written = []
    if generate and not (folder / DATE).exists():
        (folder / DATE).write_text(f"{bench.today}\n", encoding="utf-8")
        written.append(DATE)
    try:
        day = date.fromisoformat((folder / DATE).read_text(encoding="utf-8").strip())
        found = golden_of(source, bench.load(name), name=source.name, day=day, timezone=bench.timezone)
    except LogisticsBatchError as error:
        return Tried(name, (error.message,), tuple(written))
    except (OSError, ValueError):
        return Tried(name, (f"{DATE} must hold a date, as 2026-11-03; --generate writes today's.",), tuple(written))
    problems: list[str] = []
    for file, lines in found.items():
        golden = folder / file
        if generate and (force or not golden.exists()):
            golden.write_text("".join(lines), encoding="utf-8")
            written.append(file)
        problems += _differences(golden, lines)
    return Tried(name, tuple(problems), tuple(written))


def golden_of(source: Path, mapping: Mapping, *, name: str, day: date, timezone: str) -> dict[str, list[str]]:
    """The lines of each golden file of an input that is called by a name."""
    sheets = read_file(source, name=name, options=mapping.read_options)
    found = apply_mapping(mapping, sheets, run_values=RunValues(name, day, timezone))
    documents: list[dict[str, Any]] = [
        {"key": each.key, "operation": each.operation, "rows": each.rows, "body": each.body} for each in found.documents
    ]
    return {"documents.ndjson": _lines(documents), "issues.ndjson": _lines([each.as_told() for each in found.issues])}


def _lines(values: list[dict[str, Any]]) -> list[str]:
    return [json.dumps(value, ensure_ascii=False) + "\n" for value in values]


def _differences(golden: Path, found: list[str]) -> list[str]:
    """What differs, line by line as people compare: a line that is missing does not make all below it differ."""
    try:
        wanted = golden.read_text(encoding="utf-8").splitlines(keepends=True)
    except OSError:
        return [f"{golden.name} is missing; --generate writes it."]
    problems: list[str] = []
    for kind, start, end, now, until in SequenceMatcher(None, wanted, found, autojunk=False).get_opcodes():
        if kind == "equal":
            continue
        both = min(end - start, until - now)
        for place in range(both):
            must, made = wanted[start + place].strip(), found[now + place].strip()
            problems.append(f"{golden.name}, line {start + place + 1}: must be {must}, is {made}")
        problems += [
            f"{golden.name}, line {n + 1}: does not come: {wanted[n].strip()}" for n in range(start + both, end)
        ]
        problems += [f"{golden.name}: comes and is not wanted: {found[n].strip()}" for n in range(now + both, until)]
    return problems
