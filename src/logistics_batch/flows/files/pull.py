"""Files come in from where they were dropped: only complete ones, verified, each kept by the hash of its bytes."""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from uuid import uuid4

from logistics_batch.crash_points import crash_point
from logistics_batch.errors import FileHeld, FileUnstable, FileVanished, RunStopped, StoreError, StoreUnreachable
from logistics_batch.flows.files.misnamed import is_meant, misnamed, where
from logistics_batch.flows.files.receive import ReceivedFile
from logistics_batch.flows.parts import Parts
from logistics_batch.flows.program_errors import holding_file
from logistics_batch.intake.names import beside, copy_name, name_fault, name_matches, printable
from logistics_batch.intake.stores.readiness import (
    Readiness,
    done_files,
    is_unfinished,
    judge_listings,
    never_input,
    why_unclosed,
)
from logistics_batch.intake.stores.store import (
    Fetched,
    FileStore,
    Kind,
    ListingCut,
    RemoteFile,
)
from logistics_batch.model.answers import EARLIER
from logistics_batch.model.counting import counted
from logistics_batch.model.issue import Issue
from logistics_batch.model.jobs.job import JobPlace, PushJob, Source

_MORE_LISTINGS = 3
_TOLD_ONE_BY_ONE = 5
_MOST_NAMES = 100
_LOOKED_FOR = timedelta(days=7)  # after an older copy was taken up
_A_DAY = timedelta(days=1)
_MISSES = 2  # in a row; a single one may be the file's own


FetchOutcome = Fetched | StoreError | FileHeld
"""What became of a file: it is there, or why it is not."""


@dataclass(frozen=True, slots=True)
class Pulled:
    """What a run found where files are dropped.

    notes: files that were left, and why. refused: files that could not even be brought here, with the reason.
    failed: files that should have come and did not; the next run tries again. names: of all that were to come. left:
    those among the files left that should be taken one day; others are none of ours, as lock files and answers. None
    where the folder was not listed to its end. misnamed: those of them that fit no job. listed: all that lay there.
    """

    files: tuple[ReceivedFile, ...] = ()
    notes: tuple[Issue, ...] = ()
    refused: tuple[tuple[RemoteFile, FileHeld], ...] = ()
    failed: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    left: tuple[tuple[RemoteFile, Issue], ...] | None = ()
    misnamed: tuple[tuple[RemoteFile, Issue], ...] = ()
    listed: frozenset[RemoteFile] = frozenset()


def pull(parts: Parts, store: FileStore, job: PushJob, *, business_date: date, to: Path) -> Pulled:
    """Bring every complete file of a job to the private folder `to`; nothing is moved or changed where it lies."""
    readiness, listed, cut = _listen(parts, store, job)
    # What fits the patterns of other jobs is theirs and is not mentioned; a done-file is no news.
    ignored = [
        (file, why)
        for file, why in readiness.ignored
        if why.code != "left.done_file" and is_meant(file.name, job.source.pattern)
    ]
    lost = misnamed(parts, job, readiness.ignored)
    notes = list(_left([*readiness.waiting, *ignored, *lost]))
    left = [*readiness.waiting, *(each for each in ignored if _should_come(each[0])), *lost]
    files: list[ReceivedFile] = []
    refused: list[tuple[RemoteFile, FileHeld]] = []
    failed: list[str] = [cut] if cut else []
    not_asked = 0
    parts.progress.start("Fetching", len(readiness.ready))
    wanted = [(remote, to / f".{uuid4().hex}.part") for remote in readiness.ready]
    for (remote, landing), outcome in zip(wanted, fetch_each(store, wanted), strict=True):
        match outcome:
            case Fetched():
                origin = origin_of(job, remote, business_date=business_date, store=store.label)
                crash_point("file.fetched")
                kept = landing.replace(landing.with_name(copy_name(outcome.sha256, remote.name)))
                read = replace(remote, sha256=outcome.sha256)
                files.append(ReceivedFile(kept, remote.name, origin, read))
            case FileVanished():
                notes.append(Issue.of("file.gone", name=printable(remote.name)))
            case FileUnstable():
                why = Issue.of("left.unstable", why=outcome.message)
                left.append((remote, why))
                notes.append(Issue.of("file.left_now", name=printable(remote.name), why=[why.pair]))
            case FileHeld():
                refused.append((remote, outcome))
            case None:
                not_asked += 1
            case StoreError():  # one forbidden file does not stop the others
                failed.append(f"{remote.name} could not be fetched: {outcome.message} {outcome.remedy}".strip())
        parts.progress.advance()
    parts.progress.done()
    if not_asked:
        failed.append(f"{counted(not_asked, 'file')} behind them {'was' if not_asked == 1 else 'were'} not asked for.")
    files, unfinished = _with_an_end(parts, store, job, files)
    names = tuple(file.name for file in readiness.ready)
    known = None if cut else tuple(left)
    return Pulled(tuple(files), (*notes, *unfinished), tuple(refused), tuple(failed), names, known, lost, listed)


def is_changed(store: FileStore, job: PushJob, pulled: Pulled) -> bool:
    """Whether something else lies there than when it was pulled: another run took files, or new ones came.

    Raises StoreError.
    """
    return _files(_listed(store, job)[0]) != pulled.listed


def _files(entries: Sequence[RemoteFile]) -> frozenset[RemoteFile]:
    return frozenset(each for each in entries if each.kind is not Kind.FOLDER)


def fetch_each(store: FileStore, wanted: Sequence[tuple[RemoteFile, Path]]) -> Iterator[FetchOutcome | None]:
    """What became of each listed file; what stops one does not stop the others, be it a mistake of the program.

    A store that was out of reach for two files in a row is not asked again, for each try would wait as long, and
    count as a log-in that failed: None for the files behind them.
    """
    missed = 0
    for file, to in wanted:
        outcome: FetchOutcome | None = None
        if missed < _MISSES:
            try:
                with holding_file(file.name):
                    outcome = store.fetch(file, to=to)
            except (StoreError, FileHeld) as error:
                outcome = error
            missed = missed + 1 if isinstance(outcome, StoreUnreachable) else 0
        yield outcome


def _should_come(file: RemoteFile) -> bool:
    """Whether somebody seems to have meant a file for us that cannot be taken."""
    return bool(file.kind is not Kind.FILE or name_fault(file.name) or is_unfinished(file.name))


def _left(files: Sequence[tuple[RemoteFile, Issue]]) -> Iterator[Issue]:
    """A note for each file that is left, or one for many that are left for the same reason."""
    alike: dict[Issue, list[tuple[str, Issue]]] = {}
    for file, why in files:
        name = printable(file.name)
        same = {
            each: value.replace(name, "NAME") if isinstance(value, str) else value for each, value in why.given.items()
        }
        alike.setdefault(Issue.of(why.code, **same), []).append((name, why))
    for reason, group in alike.items():
        if len(group) <= _TOLD_ONE_BY_ONE:
            yield from (Issue.of("file.left", name=name, why=[why.pair]) for name, why in group)
        else:
            names = [name for name, _ in group]
            more = [(".and_more", {"count": len(names) - _MOST_NAMES})] if len(names) > _MOST_NAMES else []
            values = {"count": len(names), "names": names[:_MOST_NAMES], "more": more}
            yield Issue.of("file.left_alike", **values, why=[reason.pair])


def _with_an_end(
    parts: Parts, store: FileStore, job: PushJob, files: list[ReceivedFile]
) -> tuple[list[ReceivedFile], list[Issue]]:
    """The files without those whose upload only paused: of a file without its end some more listings are awaited.

    One that does not move meanwhile is all there will be; whoever reads it says what is wrong with it.
    """
    rule = job.source.ready
    unsure = {file.remote: why for file in files if file.remote and (why := why_unclosed(file.path, name=file.name))}
    if not unsure or rule.done_file is not None:
        return files, []
    moved: set[RemoteFile] = set()
    for _ in range(_MORE_LISTINGS):
        _wait(parts, rule.poll_every_seconds)
        lying = set(_listed(store, job)[0])
        moved |= {remote for remote in unsure if remote not in lying}
    left = [
        Issue.of("file.left_moving", name=printable(each.name), why=[why.pair])
        for each, why in unsure.items()
        if each in moved
    ]
    return [file for file in files if file.remote not in moved], left


def _listed(store: FileStore, job: PushJob) -> tuple[list[RemoteFile], str]:
    """What lies there, and why that may not be all of it, "" if it is: files can be taken without the others."""
    try:
        return store.entries(job.source.path), ""
    except ListingCut as error:
        if not error.entries:
            raise
        return list(error.entries), f"{error.message} {error.remedy}"


def _listen(parts: Parts, store: FileStore, job: PushJob) -> tuple[Readiness, frozenset[RemoteFile], str]:
    """What as many listings as the ready rule wants tell, `poll_every` apart; the last one; why it may not be whole.

    Hidden folders are left out, and those in which this job puts files away, or answers. Raises StoreError; RunStopped
    if the program was asked to end meanwhile, for nothing is proven complete then.
    """
    rule, source = job.source.ready, job.source
    here = where(parts, source.place)
    put_away = [source.place.model_copy(update={"path": path}) for path in (source.archive, source.quarantine) if path]
    answers = [place for place in (job.results_place, JobPlace(folder=str(parts.reports))) if place is not None]
    above = f"{here.rstrip('/')}/"
    below = [path for each in (*put_away, *answers) if (path := where(parts, each)).startswith(above)]
    results_here = any(where(parts, place) == here for place in answers)
    ours = [path.removeprefix(above).partition("/")[0].replace("{date}", "????-??-??") for path in below]
    ours += [EARLIER] if results_here else []
    listings: list[list[RemoteFile]] = []
    cut = ""
    while len(listings) < rule.unchanged_for:
        if listings:
            _wait(parts, rule.poll_every_seconds)
        found, why = _listed(store, job)
        cut = why or cut
        listings.append(
            [
                each
                for each in found
                if each.kind is not Kind.FOLDER or not (never_input(each.name) or name_matches(each.name, ours))
            ]
        )
        if rule.done_file is not None or not any(each.kind is Kind.FILE for each in listings[0]):
            break
    return judge_listings(listings, rule, source.pattern, results_here=results_here), _files(found), cut


def _wait(parts: Parts, seconds: float) -> None:
    parts.clock.sleep(seconds)
    if parts.stop.is_set():
        raise RunStopped("The program was asked to end while files were looked for.", remedy="Run it again.")


def origin_of(job: PushJob, remote: RemoteFile, *, business_date: date, store: str) -> dict[str, object]:
    """Where a file came from and where its answers go, as the ledger keeps it."""
    place = job.results_place
    return {
        "store": store,
        "path": remote.path,
        "modified": remote.modified,
        "business_date": business_date.isoformat(),
        "results": place.on(business_date).model_dump() if place else None,
        "formats": list(job.results.formats) if job.results else ["xlsx", "csv"],
    }


def put_away(store: FileStore, job: PushJob, file: RemoteFile, *, why_held: str, business_date: date) -> str:
    """Archive a processed file, or put a held one into quarantine with a note beside it that says why.

    Its done-file goes along. why_held: the note's text, "" for a file that was processed. Returns what was done.
    Raises FileUnstable if another file came in its place, which is left for the next run.
    """
    path = file.path
    template = job.source.quarantine if why_held else job.source.archive
    if template is None:
        return ""
    folder = template.replace("{date}", business_date.isoformat())
    crash_point("archive.before")
    try:
        final = store.move(path, to_folder=folder, as_read=file)
        done_name = job.source.ready.done_name(PurePosixPath(path).name)
        done = str(PurePosixPath(path).with_name(done_name)) if done_name else ""
        if done and store.exists(done) and not store.exists(path):  # else it may speak of a file that came just now
            store.move(done, to_folder=folder)
    except FileVanished:
        return f"{path} was gone when it was to be put away."
    if why_held:
        store.put(beside(final, ".why.txt"), why_held.encode())
    crash_point("archive.after")
    return final


@dataclass(frozen=True, slots=True)
class Forgotten:
    """An archived file that the ledger does not know. command: drops it again, in a shell or in sftp."""

    job: str
    path: str
    command: str


def forgotten_files(parts: Parts, jobs: Mapping[str, PushJob], *, workspace: Path) -> tuple[list[Forgotten], list[str]]:
    """What lies in archives since the last run before an older copy was taken up and is in none of its runs.

    Each file is read, for only its bytes tell; behind it stands its done-file, if it has one. Returns these files, and
    why some folders could not be looked at; neither if no older copy was taken up within a week.
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
                    paths = _unknown(store, folder, job.source, known, since=since)
                    found += [Forgotten(name, path, _command(job.source.place, path, workspace)) for path in paths]
            except StoreError as error:
                failed.append(f"{folder}: {error.message} {error.remedy}".strip())
            finally:
                store.close()
    return found, failed


def _unknown(store: FileStore, folder: str, source: Source, known: set[str], *, since: datetime) -> Iterator[str]:
    listed = [each for each in store.entries(folder) if each.kind is Kind.FILE]
    done = done_files(listed, source.ready)
    lying = {each.name: each.path for each in listed}
    done_of = {of: lying[name] for name, of in done.items()}
    files = [
        each
        for each in listed
        if each.name not in done
        and name_matches(each.name, source.pattern)
        and (each.modified is None or each.modified >= since.timestamp())
    ]
    with TemporaryDirectory() as scratch:
        wanted = [(each, Path(scratch) / str(number)) for number, each in enumerate(files)]
        for (each, to), outcome in zip(wanted, fetch_each(store, wanted), strict=True):
            if isinstance(outcome, Fetched) and outcome.sha256 not in known:
                yield from filter(None, (each.path, done_of.get(each.name, "")))
            to.unlink(missing_ok=True)


def _command(dropped: JobPlace, path: str, workspace: Path) -> str:
    back = str(PurePosixPath(dropped.path) / PurePosixPath(path).name)
    if dropped.folder is None:
        return f"sftp {dropped.sftp}: rename {shlex.quote(path)} {shlex.quote(back)}"
    root = workspace / dropped.folder
    here, there = (str(root / each.lstrip("/")) for each in (path, back))
    return f"mv -n {shlex.quote(here)} {shlex.quote(there)}"
