"""Where answers lie: NAME.* answers what came last under that name, earlier/NAME.<run>.* what came before it.

What would be written over is moved there first, so that no answer is ever lost: also one of another workspace, and a
fix file that somebody has changed.
"""

import hashlib
import json
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import PurePosixPath
from typing import Any, Final

from logistics_batch.crash_points import crash_point
from logistics_batch.errors import FileVanished, StoreError
from logistics_batch.flows.parts import Parts
from logistics_batch.intake.stores.store import FileStore
from logistics_batch.ledger import StoredFile
from logistics_batch.model.answers import EARLIER, is_run, names_it_answers, result_stem
from logistics_batch.model.issue import Issue
from logistics_batch.model.jobs.job import JobPlace

FIX: Final = "fix.xlsx"
_ACK: Final = "ack.json"
_UNKNOWN: Final = "unknown"  # whose answers
_ENDINGS: Final = ("result.xlsx", "result.csv", FIX, _ACK)  # the receipt last: it says whose the others are


def places_of(parts: Parts, file: StoredFile) -> list[JobPlace]:
    """Where a file's answers go: its own results place, and the reports folder unless it was told otherwise."""
    results = file.origin.get("results")
    places = [JobPlace.model_validate(results)] if results else []
    if not file.origin.get("results_only"):
        places.append(JobPlace(folder=str(parts.reports), path="/"))
    return places


def path_at(place: JobPlace, stem: str, ending: str) -> str:
    """The path of an answer at a place."""
    return str(PurePosixPath(place.path) / f"{stem}.{ending}")


def take_name(parts: Parts, store: FileStore, place: JobPlace, file: StoredFile) -> tuple[str, list[Issue]]:
    """How the names of a file's answers begin at one of its places, and what people should know of it.

    A file that came last under its name takes it over: what lies there and answers other content is moved away. Whose
    that is its receipt says, for another workspace may answer there, too, or a job that writes the place otherwise;
    else the ledger, for receipts are taken away.
    """
    at, name = _where(store, place), _own_name(parts, place, file)
    held_by = parts.ledger.files.name_holder(place=at, name=name)
    receipt = _receipt(store, path_at(place, name, _ACK))
    holder = held_by if receipt is None else str(receipt.get("sha256", _UNKNOWN))
    is_ours = holder == file.sha256 and (receipt is None or receipt.get("mapping") == file.mapping)
    called = {"name": file.name, "own": name, "place": at}
    notes: list[Issue] = []
    if holder and not is_ours:
        last = _last_answered(parts, place, name, holder)
        if last.id > file.id if last else _came_at(receipt) > datetime.fromisoformat(file.received_at):
            stem = _earlier_name(parts, place, name, file)
            return stem, [Issue.of("answers.called", **called, stem=stem)] if file.state == "planned" else []
        run = str((receipt or {}).get("run", ""))
        unknown = f"{EARLIER}/{name}.{run if is_run(run) else f'before-{file.run}'}"
        stem = _earlier_name(parts, place, name, last) if last else unknown
        _move_away(store, place, name, to=stem)
        if last is None or _folder(last) != _folder(file) or _is_another(last, file):
            notes.append(Issue.of("answers.moved", **called, stem=stem))
    elif not holder and name != result_stem(file.name):
        notes.append(Issue.of("answers.called_by_mapping", **called))
    if held_by != file.sha256:
        parts.ledger.files.hold_name(place=at, name=name, sha256=file.sha256)
    return name, notes


def name_of(parts: Parts, store: FileStore, place: JobPlace, file: StoredFile) -> str:
    """How the names of a file's answers begin at one of its places, as they lie now."""
    name = _own_name(parts, place, file)
    holder = parts.ledger.files.name_holder(place=_where(store, place), name=name)
    return name if holder in ("", file.sha256) else _earlier_name(parts, place, name, file)


def _where(store: FileStore, place: JobPlace) -> str:
    """How the ledger calls a place."""
    return f"{store.label}:{place.path}"


def _folder(file: StoredFile) -> tuple[str, str]:
    """Where a file was dropped."""
    return str(file.origin.get("store", "")), str(PurePosixPath(str(file.origin.get("path", ""))).parent)


def _is_another(last: StoredFile, file: StoredFile) -> bool:
    """Whether two files are no rounds of one, though they share NAME: their own names differ in the ending."""
    names = last.name, file.name
    return names[0].casefold() != names[1].casefold() and not any(map(names_it_answers, names))


def _own_name(parts: Parts, place: JobPlace, file: StoredFile) -> str:
    """NAME of a file's answers at a place.

    The very same bytes may be orders by one mapping and ASNs by another: the later one's answers get its name.
    """
    own = result_stem(file.name)
    alike = [each for each in parts.ledger.files.of_run(sha256=file.sha256) if result_stem(each.name) == own]
    first = next((each for each in alike if place in places_of(parts, each)), file)
    return own if first.mapping == file.mapping else f"{own}.{file.mapping}"


def _last_answered(parts: Parts, place: JobPlace, name: str, holder: str) -> StoredFile | None:
    """The last arrival of the content whose answers have a name at a place; None if the ledger does not know it."""
    arrivals = parts.ledger.files.of_run(sha256=holder) if holder else []
    return next((each for each in reversed(arrivals) if _own_name(parts, place, each) == name), None)


def _earlier_name(parts: Parts, place: JobPlace, name: str, file: StoredFile) -> str:
    """How the names begin of a file's answers once another took its name; its run may have met several of one name."""
    named = parts.ledger.files.named(result_stem(file.name), run=file.run)
    same = [each.id for each in named if _own_name(parts, place, each) == name]
    number = same.index(file.id) + 1
    return f"{EARLIER}/{name}.{file.run}{f'-{number}' if number > 1 else ''}"


def _receipt(store: FileStore, path: str) -> dict[str, Any] | None:
    """The acknowledgement that lies there, without words if it cannot be read; None if none does."""
    try:
        told = json.loads(store.read(path))
    except FileVanished:
        return None
    except (StoreError, ValueError):
        return {}
    return told if isinstance(told, dict) else {}


def _came_at(receipt: Mapping[str, Any] | None) -> datetime:
    """When the file came that a receipt is for; long ago if it does not say."""
    with suppress(ValueError):
        return datetime.fromisoformat(str((receipt or {}).get("received_at", ""))).astimezone()
    return datetime.min.replace(tzinfo=UTC)


def _move_away(store: FileStore, place: JobPlace, name: str, *, to: str) -> None:
    for ending in _ENDINGS:
        crash_point("answers.move")
        if store.exists(path := path_at(place, name, ending)):
            _move(store, path, to=path_at(place, to, ending))


def _move(store: FileStore, path: str, *, to: str) -> str:
    target = PurePosixPath(to)
    try:
        return store.move(path, to_folder=str(target.parent), name=target.name)
    except FileVanished:
        return to


def put_fix(
    parts: Parts, store: FileStore, place: JobPlace, stem: str, content: bytes | None, *, run: str
) -> list[Issue]:
    """Write a fix file, or take it away where nothing is left to correct (None); returns what people should know.

    One that somebody has changed since it was written may hold a clerk's corrections. It stays where there is nothing
    newer to correct, else it is moved to what came earlier.
    """
    path, at = path_at(place, stem, FIX), _where(store, place)
    is_current = not stem.startswith(f"{EARLIER}/")
    name = f"{stem}/{FIX}"  # no name of an answer holds a slash, so that this one is never taken for one
    ours = parts.ledger.files.name_holder(place=at, name=name) if is_current else ""
    if content is None and not ours:
        return []
    new, lies = hashlib.sha256(content).hexdigest() if content is not None else "", _digest_at(store, path)
    if lies and new and new == ours:
        return []
    notes = []
    if lies == new:  # it was written, and the program ended before it was noted
        content = None
    elif lies not in ("", ours):
        moved = _move(store, path, to=path_at(place, stem if not is_current else f"{EARLIER}/{stem}.{run}", FIX))
        if is_current:
            notes.append(Issue.of("answers.fix_changed", changed=f"{stem}.{FIX}", place=at, moved=moved))
    elif lies and content is None:
        store.remove(path)
    if content is not None:
        store.put(path, content)
        crash_point("answers.fix")
    if is_current and ours != new:
        parts.ledger.files.hold_name(place=at, name=name, sha256=new)
    return notes


def _digest_at(store: FileStore, path: str) -> str:
    """The sha256 of what lies there; "" if nothing does."""
    try:
        return hashlib.sha256(store.read(path)).hexdigest()
    except FileVanished:
        return ""
