"""Where the answers to a file lie, and how they are called there: never by a name that answers something else."""

import hashlib
import json
from itertools import count
from pathlib import PurePosixPath

from logistics_batch.errors import FileVanished, StoreError
from logistics_batch.flows.parts import Parts
from logistics_batch.intake.stores.store import FileStore
from logistics_batch.ledger import StoredFile
from logistics_batch.model.answers.answer_files import result_stem
from logistics_batch.model.issue import Issue
from logistics_batch.model.jobs.job import JobPlace


def places_of(parts: Parts, file: StoredFile) -> list[JobPlace]:
    """Where a file's answers go: its own results place, and the reports folder unless it was told otherwise."""
    results = file.origin.get("results")
    places = [JobPlace.model_validate(results)] if results else []
    if not file.origin.get("results_only"):
        places.append(JobPlace(folder=str(parts.reports), path="/"))
    return places


def where(store: FileStore, place: JobPlace) -> str:
    """How the ledger calls a place."""
    return f"{store.label}:{place.path}"


def stem_at(parts: Parts, store: FileStore, place: JobPlace, file: StoredFile) -> tuple[str, list[Issue]]:
    """How the names of a file's answers begin at one of its places, and what people should know of it.

    The very same bytes may be orders by one mapping and ASNs by another: the later one's answers get its name. People
    are told when a name is given that is not the file's own, because that answers something else.
    """
    own = result_stem(file.name)
    alike = [each for each in parts.ledger.files.of_run(sha256=file.sha256) if result_stem(each.name) == own]
    first = next((each for each in alike if place in places_of(parts, each)), file)
    name = own if first.mapping == file.mapping else f"{own}.{file.mapping}"
    free: list[bool] = []  # whether each name that was looked at is; none is where the ledger knows the file's name

    def is_free(stem: str) -> bool:
        free.append(_is_free(store, str(PurePosixPath(place.path) / f"{stem}.ack.json"), file))
        return free[-1]

    stem = parts.ledger.files.result_stem(place=where(store, place), name=name, sha256=file.sha256, is_free=is_free)
    if not free or (name == own and all(free)):
        return stem, []
    called = {"name": file.name, "stem": stem, "place": where(store, place), "own": own}
    if name != own:
        return stem, [Issue.of("answers.called_by_mapping", **called, mapping=first.mapping)]
    return stem, [Issue.of("answers.called", **called)]


def _is_free(store: FileStore, receipt: str, file: StoredFile) -> bool:
    """Whether the acknowledgement that lies under a name, if there is one, is of this very file.

    Another workspace may answer there, or a job that writes the place otherwise.
    """
    if not store.exists(receipt):
        return True
    try:
        told = json.loads(store.read(receipt))
    except (StoreError, ValueError):
        return False
    return isinstance(told, dict) and (told.get("sha256"), told.get("mapping")) == (file.sha256, file.mapping)


def put_fix(
    parts: Parts, store: FileStore, place: JobPlace, names: tuple[str, str], content: bytes
) -> tuple[str, list[Issue]]:
    """Write a fix file, but never over one that somebody has changed since: it may hold a clerk's corrections.

    names: how the answers' names begin, and the ending, as "fix.xlsx". Returns the path, and what people should know.
    """
    (stem, ending), at = names, where(store, place)
    new = hashlib.sha256(content).hexdigest()
    changed: list[str] = []
    for number in count(1):
        own = ending if number == 1 else f"newer.{ending}" if number == 2 else f"newer-{number - 1}.{ending}"
        path = str(PurePosixPath(place.path) / f"{stem}.{own}")
        lies, ours = _digest_at(store, path), parts.ledger.files.last_written(place=at, stem=stem, ending=own)
        if lies in ("", new, ours):
            break
        if ours == new:  # it was made of these very rows, so there is nothing newer to correct
            return path, []
        changed.append(f"{stem}.{own}")
    store.put(path, content)
    if ours != new:
        parts.ledger.files.keep_last_written(place=at, stem=stem, ending=own, sha256=new)
    if not changed:
        return path, []
    return path, [Issue.of("answers.fix_changed", changed=changed[-1], place=at, written=f"{stem}.{own}")]


def _digest_at(store: FileStore, path: str) -> str:
    """The sha256 of what lies there; "" if nothing does."""
    try:
        return hashlib.sha256(store.read(path)).hexdigest()
    except FileVanished:
        return ""
