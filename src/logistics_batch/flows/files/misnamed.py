"""Files that lie where jobs look and that none takes, for their names fit no pattern: nobody would answer them."""

import posixpath
from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import PurePosixPath

from logistics_batch.flows.parts import Parts
from logistics_batch.intake.names import name_matches
from logistics_batch.intake.readers.formats import FORMATS
from logistics_batch.intake.stores.readiness import finished_name, judge_listings
from logistics_batch.intake.stores.store import Kind, RemoteFile
from logistics_batch.model.answers import names_it_answers
from logistics_batch.model.issue import Issue
from logistics_batch.model.jobs.job import JobPlace, PushJob

_NEARLY = 0.5  # of the letters; names of days and places fill what a pattern leaves open


def where(parts: Parts, place: JobPlace) -> str:
    """One spelling for one folder, however a job writes it."""
    store = parts.open_store(place)
    try:
        return posixpath.normpath(f"{store.label}/{place.path}")
    finally:
        store.close()


def is_meant(name: str, patterns: Iterable[str]) -> bool:
    """Whether a name fits a job, as it is or as it will be once the upload has ended."""
    return any(name_matches(each, [*patterns]) for each in (name, finished_name(name), *names_it_answers(name)))


def misnamed(
    parts: Parts, job: PushJob, ignored: Iterable[tuple[RemoteFile, Issue]]
) -> tuple[tuple[RemoteFile, Issue], ...]:
    """Those of the files that a job leaves which fit no other job that looks there either, each with the nearest name.

    None while some job cannot be read: the file may be its. An empty file is a mark of its sender, as a done-file is.
    ignored: as `judge_listings` gives it.
    """
    others = [file for file, why in ignored if why.code == "left.pattern" and file.kind is Kind.FILE and file.size]
    watched = parts.watched() if others else None
    if watched is None:
        return ()
    here = where(parts, job.source.place)
    same = {place for place in {place for place, _ in watched} if where(parts, place) == here}
    patterns = [each for place, some in watched if place in same for each in some] or job.source.pattern
    return tuple((file, _why(file.name, patterns)) for file in others if not is_meant(file.name, patterns))


def _why(name: str, patterns: Iterable[str]) -> Issue:
    """The pattern that a name nearly fits; all of them where it is like none.

    A workbook that gets another ending by renaming would be refused for that.
    """
    known = {pattern.casefold(): pattern for pattern in patterns}
    near = [known[each] for each in get_close_matches(name.casefold(), known, n=1, cutoff=_NEARLY)]
    fitting = near or [*known.values()]
    kind, kinds = _kind(name), {_kind(pattern) for pattern in fitting}
    if kind and kind not in kinds and None not in kinds:
        return Issue.of("left.misnamed.kind", patterns=fitting, ending=PurePosixPath(name).suffix.strip())
    return Issue.of("left.misnamed.near", near=near[0]) if near else Issue.of("left.misnamed", patterns=fitting)


def _kind(name: str) -> str | None:
    """As what files of a name are read; None for one of no known ending."""
    return FORMATS.get(PurePosixPath(name.strip()).suffix.lower().removeprefix("."))


def misnamed_at(parts: Parts, job: PushJob) -> tuple[tuple[RemoteFile, Issue], ...]:
    """What lies misnamed where a job's files are dropped. Raises StoreError if that cannot be looked at."""
    store = parts.open_store(job.source.place)
    try:
        entries = store.list(job.source.path)
    finally:
        store.close()
    found = judge_listings([entries] * job.source.ready.unchanged_for, job.source.ready, job.source.pattern)
    return misnamed(parts, job, found.ignored)
