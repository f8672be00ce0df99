"""What ran before, from the ledger: a run's report as it is now, and its result files written again."""

from collections import Counter
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from logistics_batch.errors import UsageError
from logistics_batch.flows.files.deliver import Delivered, FileReports, deliver, places_of, stem_at
from logistics_batch.flows.parts import Parts
from logistics_batch.flows.push.run import NO_FILE, not_in_files, told_along
from logistics_batch.ledger import StoredFile, StoredRun
from logistics_batch.model.report import RunReport, tally_of


@dataclass(frozen=True, slots=True)
class PastRun:
    """A run as the ledger holds it, with what its rows have become by now."""

    stored: StoredRun
    report: RunReport


def past_run(parts: Parts, run_id: str) -> PastRun:
    """One run by its id, or the latest run of a job by the job's name.

    Raises UsageError if there is none.
    """
    stored = parts.ledger.runs.get(run_id) or next(iter(parts.ledger.runs.latest(job=run_id, limit=1)), None)
    if stored is None:
        raise UsageError(f'There is no run "{run_id}", and no job of that name ran.', remedy="See `runs` for all.")
    files = FileReports(
        parts.ledger.documents.file_report, [file.id for file in parts.ledger.files.of_run(run=stored.id)]
    )
    along = not_in_files(parts.ledger.documents.sent_along(stored.id), files)
    report = RunReport(
        stored.id,
        stored.job,
        files,
        stopped=stored.stopped,
        notes=(*([] if files or stored.kind != "push" else [NO_FILE]), *told_along(along)),
        exit_code=stored.exit_code or 0,
        tally=tally_of(files),
    )
    kept = parts.ledger.runs.notes_of(stored.id)
    left = stored.summary.get("left", 0)
    return PastRun(stored, replace(report, notes=(*kept, *report.notes), left=left))


def write_again(parts: Parts, run_id: str) -> list[Delivered]:
    """Write every result file of a run again, from the ledger, and the acknowledgements as things stand now.

    Raises UsageError if there is no such run.
    """
    found = past_run(parts, run_id)
    return [deliver(parts, file, acknowledge=True) for file in parts.ledger.files.of_run(run=found.stored.id)]


def answers_of_run(parts: Parts, run_id: str) -> list[tuple[str, list[str]]]:
    """The name of each file of a run, in their order, and the start of its answers' names at each place.

    Files of one name are told apart by where they lay. Of a file whose answers could not be written yet there are none.
    """
    files = parts.ledger.files.of_run(run=run_id)
    times = Counter(file.name for file in files)
    return [
        (
            file.name if times[file.name] == 1 else str(file.origin.get("path") or file.name),
            _answers(parts, file) if file.state != "planned" else [],
        )
        for file in files
    ]


def _answers(parts: Parts, file: StoredFile) -> list[str]:
    found = []
    for place in places_of(parts, file):
        store = parts.open_store(place)
        stem, _ = stem_at(parts, store, place, file)
        path = PurePosixPath(place.path) / stem
        kind, _, root = store.label.partition(":")
        found.append(f"{root}/{str(path).lstrip('/')}" if kind == "folder" else f"{store.label}:{path}")
        store.close()
    return found
