"""Files that were put away after a copy of the ledger was made: it does not know them; somebody drops them again."""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

from logistics_batch.errors import StoreError
from logistics_batch.flows.files.pull import fetch_each
from logistics_batch.flows.parts import Parts
from logistics_batch.intake.names import name_matches
from logistics_batch.intake.stores.store import Fetched, FileStore, Kind
from logistics_batch.model.jobs.job import JobPlace, PushJob

_LOOKED_FOR = timedelta(days=7)  # after an older copy was taken up
_A_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Forgotten:
    """An archived file that the ledger does not know. command: drops it again, in a shell or in sftp."""

    job: str
    path: str
    command: str


def forgotten_files(parts: Parts, jobs: Mapping[str, PushJob], *, workspace: Path) -> tuple[list[Forgotten], list[str]]:
    """What lies in archives since the last run before an older copy was taken up and is in none of its runs.

    Each file is read, for only its bytes tell. Returns these files, and why some folders could not be looked at;
    neither if no older copy was taken up within a week.
    """
    restored = [str(each["at"]) for each in parts.ledger.itself.restorations()]
    now = parts.clock.now()
    if not restored or datetime.fromisoformat(restored[-1]) < now - _LOOKED_FOR:
        return [], []
    before = [run.business_date for run in parts.ledger.runs.latest(limit=1000) if run.started_at < restored[-1]]
    first = date.fromisoformat(before[0]) if before else now.date() - _LOOKED_FOR
    known = {file.sha256 for file in parts.ledger.files.of_run()}
    found: list[Forgotten] = []
    failed: list[str] = []
    for name, job in jobs.items():
        days = [first + n * _A_DAY for n in range((now.date() - first).days + 2)]
        for folder in dict.fromkeys(str(job.source.archive).replace("{date}", day.isoformat()) for day in days):
            store = parts.open_store(job.source.place)
            try:
                if job.source.archive is not None and store.exists(folder):
                    since = datetime.combine(first - _A_DAY, now.timetz())
                    paths = _unknown(store, folder, job.source.pattern, known, since=since)
                    found += [Forgotten(name, path, _command(job.source.place, path, workspace)) for path in paths]
            except StoreError as error:
                failed.append(f"{folder}: {error.message} {error.remedy}".strip())
            finally:
                store.close()
    return found, failed


def _unknown(
    store: FileStore, folder: str, pattern: Sequence[str], known: set[str], *, since: datetime
) -> Iterator[str]:
    files = [
        each
        for each in store.entries(folder)
        if each.kind is Kind.FILE
        and name_matches(each.name, pattern)
        and (each.modified is None or each.modified >= since.timestamp())
    ]
    with TemporaryDirectory() as scratch:
        wanted = [(each, Path(scratch) / str(number)) for number, each in enumerate(files)]
        for (each, to), outcome in zip(wanted, fetch_each(store, wanted), strict=True):
            if isinstance(outcome, Fetched) and outcome.sha256 not in known:
                yield each.path
            to.unlink(missing_ok=True)


def _command(dropped: JobPlace, path: str, workspace: Path) -> str:
    back = str(PurePosixPath(dropped.path) / PurePosixPath(path).name)
    if dropped.folder is None:
        return f"sftp {dropped.sftp}: rename {shlex.quote(path)} {shlex.quote(back)}"
    root = workspace / dropped.folder
    here, there = (str(root / each.lstrip("/")) for each in (path, back))
    return f"mv -n {shlex.quote(here)} {shlex.quote(there)}"
