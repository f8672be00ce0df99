"""Mapping files looked at before they are used: complaints, and what they make of a file."""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from logistics_batch.errors import Finding, SpecificationError, UsageError
from logistics_batch.flows.files.receive import ReceivedFile, unpacked
from logistics_batch.flows.parts import Parts
from logistics_batch.flows.push.preview import preview_files
from logistics_batch.mapping import Mapping, hints_of
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
