"""The main story: files become documents, documents go out, and every row comes back with an answer."""

import hashlib
import os
import shutil
from collections.abc import Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from pathlib import Path, PurePosixPath
from uuid import uuid4

from logistics_batch.errors import FileUnstable, LogisticsBatchError, StoreError, UsageError
from logistics_batch.flows.files.deliver import kept_file
from logistics_batch.flows.files.pull import Pulled, is_changed, origin_of, pull, put_away
from logistics_batch.flows.files.receive import (
    OPEN_GATE,
    ReceivedFile,
    arrival_of,
    gate_of,
    held_arrival,
    unpacked,
)
from logistics_batch.flows.parts import Parts
from logistics_batch.flows.push.preview import preview_files
from logistics_batch.flows.push.run import (
    PushRun,
    deliver_answers,
    finish,
    is_finished,
    plan_anew,
    plan_arrival,
    run_of,
    send,
)
from logistics_batch.intake.names import copy_name, printable
from logistics_batch.intake.stores.store import FileStore, RemoteFile, local_disk, sync_folder
from logistics_batch.ledger import StoredFile
from logistics_batch.mapping import Mapping
from logistics_batch.model.document import Operation
from logistics_batch.model.issue import Issue
from logistics_batch.model.jobs.job import JobPlace, PushJob
from logistics_batch.model.report import RunReport
from logistics_batch.model.sheet import SourceFile
from logistics_batch.scratch import scratch_folder

_NOT_PUSHED = (Operation.RECEIPT_READ, Operation.LABEL_CREATE)


@dataclass(frozen=True, slots=True)
class _Came:
    """What a job's run found where files are dropped, and where that is."""

    pulled: Pulled
    store: FileStore
    job: PushJob
    business_date: date


def push_by_hand(
    parts: Parts, paths: Sequence[Path], *, mapping: str, results: Path | None, dry_run: bool
) -> RunReport:
    """Push files of this machine; answers go to `results`, else to the reports folder.

    Raises:
        UsageError: a file is missing, or the mapping does not send anything.
        LedgerBusy: another sending run holds the ledger.
    """
    missing = [f"{path}{' (a folder)' if path.is_dir() else ''}" for path in paths if not path.is_file()]
    if missing:
        raise UsageError(f"No such file: {', '.join(missing)}.", remedy="Check the name and the folder.")
    odd = [repr(path.name) for path in paths if not path.name.isprintable()]
    if odd:
        raise UsageError(f"The name {', '.join(odd)} holds control characters.", remedy="Rename the file.")
    rules = sending_mapping(parts.mapping(mapping))
    today = parts.clock.now().date()
    if dry_run:
        if results is not None:
            raise UsageError("A dry run writes nothing, so it has no --results.", remedy="Leave one of the two out.")
        parts.ledger.itself.require_newest()
        with scratch_folder() as folder:
            files = unpacked(parts, [ReceivedFile(path, path.name) for path in paths], to=folder)
            return preview_files(parts, files, rules, business_date=today, job="push")
    parts.files.mkdir(parents=True, exist_ok=True, mode=0o700)
    origin: dict[str, object] = {"store": "", "business_date": today.isoformat()}
    if results is not None:
        _require_writable(results)
        origin |= {"results": JobPlace(folder=str(results.resolve())).model_dump(), "results_only": True}
    received = unpacked(parts, [_keep(parts, path, origin) for path in paths], to=parts.files)
    meant = {file.path.stem for file in received}, str(rules.operation)
    with parts.ledger.sending("push"), run_of(parts, "push", business_date=today, meant=meant) as run:
        _plan(parts, run, received, rules, business_date=today)
        send(parts, run)
        deliver_answers(parts, run)
        return finish(parts, run)


def _require_writable(results: Path) -> None:
    """Raises UsageError where no answer could be written, before anything is sent."""
    place = results.resolve()
    there = next(each for each in (place, *place.parents) if each.exists())
    if not (there.is_dir() and os.access(there, os.W_OK | os.X_OK)):
        raise UsageError(
            f"The answers cannot go to {results}: {there} is no folder that you can write to.",
            remedy="Give --results another folder.",
        )


def run_push_job(
    parts: Parts, job: PushJob, *, business_date: date, dry_run: bool, wait_for_ledger: bool = False
) -> RunReport:
    """Pull a job's files, push them, deliver the answers, and put the files away.

    Raises:
        UsageError: the job cannot run as it is written, or the server's host key is refused; nothing was sent.
        StoreError: the place where files lie cannot be reached.
        LedgerBusy: another sending run holds the ledger.
        RunStopped: the program was asked to end before its files were there, or sending stopped early.
    """
    rules = sending_mapping(parts.mapping(job.mapping))
    store = parts.open_store(job.source.place)
    answers = parts.open_store(job.results_place or job.source.place)  # held open: every file is answered there
    with closing(store), closing(answers), ExitStack() as held:
        if dry_run:
            parts.ledger.itself.require_newest()
            folder = held.enter_context(scratch_folder())  # files are read where they lie, and nothing is written
            files = _pulled(parts, store, job, business_date=business_date, to=folder).files
            return preview_files(parts, files, rules, business_date=business_date, job=job.name, gate=gate_of(job))
        holding = parts.ledger.sending(job.name, wait=wait_for_ledger, stop=parts.stop.is_set)
        if not wait_for_ledger:
            held.enter_context(holding)
        landing = parts.files / f".{uuid4().hex}.part"  # if we die, `purge.remove_leftovers` removes it
        held.callback(shutil.rmtree, landing, ignore_errors=True)
        brought = _brought(parts, store, job, business_date=business_date, to=landing)
        if wait_for_ledger:  # only now: waiting for uploads, and for servers, keeps nobody else from sending
            held.enter_context(holding)
        with run_of(parts, job.name, business_date=business_date) as run:
            if wait_for_ledger and isinstance(brought, Pulled) and is_changed(store, job, brought):
                brought = _brought(parts, store, job, business_date=business_date, to=landing)
            if isinstance(brought, LogisticsBatchError):
                raise brought
            pulled = _kept(parts, brought)
            run.notes += pulled.notes
            run.names.update(pulled.names)
            run.left = pulled.left
            run.undelivered += pulled.failed
            came = _Came(pulled, store, job, business_date)
            _plan(parts, run, pulled.files, rules, business_date=business_date, job=job)
            _answer_refused(parts, run, came, rules)
            send(parts, run)
            deliver_answers(parts, run)
            _put_files_away(parts, run, came)
            _put_misnamed_away(parts, run, came)
            return finish(parts, run)


def _brought(
    parts: Parts, store: FileStore, job: PushJob, *, business_date: date, to: Path
) -> Pulled | LogisticsBatchError:
    """What was found, or why nothing could be: for the run, which is written down once the ledger is held."""
    try:
        with local_disk(to):
            to.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            to.mkdir(exist_ok=True, mode=0o700)
        return _pulled(parts, store, job, business_date=business_date, to=to)
    except LogisticsBatchError as error:
        return error


def _kept(parts: Parts, pulled: Pulled) -> Pulled:
    """The same files, moved to the kept originals."""
    if not pulled.files:
        return pulled
    with local_disk(parts.files):
        kept = {path: path.replace(parts.files / path.name) for path in {file.path for file in pulled.files}}
        sync_folder(parts.files)
    return replace(pulled, files=tuple(replace(file, path=kept[file.path]) for file in pulled.files))


def _pulled(parts: Parts, store: FileStore, job: PushJob, *, business_date: date, to: Path) -> Pulled:
    pulled = pull(parts, store, job, business_date=business_date, to=to)
    if pulled.files:
        parts.start_worker()
    return replace(pulled, files=unpacked(parts, pulled.files, to=to))


def sending_mapping(mapping: Mapping) -> Mapping:
    """The mapping of a push; UsageError if it is one that sends nothing."""
    if mapping.operation in _NOT_PUSHED:
        raise UsageError(
            f"The mapping {mapping.name} is for {mapping.operation}, which sends nothing.",
            remedy="Use it with “reconcile” (receipt.read) or “labels --orders” (label.create).",
        )
    return mapping


def _keep(parts: Parts, path: Path, origin: dict[str, object]) -> ReceivedFile:
    """A private copy under the hash of its bytes: the file may change or go while we work.

    Raises UsageError if it cannot be read, before anything is sent.
    """
    landing = parts.files / f".{uuid4().hex}.part"  # two pushes may bring files of one name at the same time
    try:
        shutil.copyfile(path, landing)
        with landing.open("rb") as copied:
            digest = hashlib.file_digest(copied, "sha256").hexdigest()
            os.fsync(copied.fileno())
        kept = parts.files / copy_name(digest, path.name)
        landing.replace(kept)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}.", remedy="Mend that, then push it.") from error
    finally:
        landing.unlink(missing_ok=True)
    return ReceivedFile(kept, path.name, origin | {"path": str(path.resolve())})


def _plan(
    parts: Parts,
    run: PushRun,
    received: Sequence[ReceivedFile],
    mapping: Mapping,
    *,
    business_date: date,
    job: PushJob | None = None,
) -> None:
    """Every file becomes rows and documents in the ledger, and is acknowledged.

    A file of an interrupted run is planned anew if its mapping was changed since.
    """
    gate = gate_of(job) if job else OPEN_GATE
    planned = parts.ledger.files.of_run(run=run.id)
    known = {(file.sha256, file.name) for file in planned}
    run.unacknowledged |= {file.id for file in planned if file.state == "planned"}
    anew: set[tuple[str, str]] = set()
    for before in planned:
        same = (before.mapping, before.mapping_digest) == (mapping.name, mapping.digest)
        if same or before.operation != str(mapping.operation) or not parts.ledger.documents.planned_in(before.id):
            continue
        day = date.fromisoformat(str(before.origin["business_date"]))
        kept = ReceivedFile(kept_file(parts, before), before.name, before.origin)
        plan_anew(parts, run, before, arrival_of(parts, kept, mapping, business_date=day, gate=gate))
        anew.add((before.sha256, before.name))
    parts.progress.start("Reading", len(received))
    for file in received:
        if (file.path.stem, file.name) in known:
            if (file.path.stem, file.name) not in anew:
                run.notes.append(Issue.of("file.goes_on", name=file.name))
        else:
            plan_arrival(parts, run, arrival_of(parts, file, mapping, business_date=business_date, gate=gate))
            known.add((file.path.stem, file.name))
        parts.progress.advance()
    parts.progress.done()


def _answer_refused(parts: Parts, run: PushRun, came: _Came, mapping: Mapping) -> None:
    """Files that could not even be fetched get an arrival without rows, so that they are answered as well."""
    known = {file.sha256 for file in parts.ledger.files.of_run(run=run.id)}
    for remote, held in came.pulled.refused:
        source = SourceFile(remote.name, remote.size, _identity_without_bytes(remote), "unknown")
        if source.sha256 in known:
            continue
        origin = origin_of(came.job, remote, business_date=came.business_date, store=came.store.label)
        plan_arrival(parts, run, held_arrival(parts, source, mapping, held=held, origin=origin))


def _identity_without_bytes(remote: RemoteFile) -> str:
    """A stand-in for the hash of bytes that were never fetched: path, size and time tell the file apart."""
    return hashlib.sha256(f"{remote.path}|{remote.size}|{remote.modified}".encode()).hexdigest()


def _put_files_away(parts: Parts, run: PushRun, came: _Came) -> None:
    """Move answered files to archive or quarantine; a file that waits for more sending stays where it lies."""
    here = {(file.path.stem, file.remote.path): file.remote for file in came.pulled.files if file.remote}
    here |= {(_identity_without_bytes(remote), remote.path): remote for remote, _ in came.pulled.refused}
    grouped = _by_path(parts.ledger.files.of_run(run=run.id))
    again = _same_again(came, grouped)
    closed: list[int] = []
    parts.progress.start("Putting files away", len(grouped))
    for path, files in grouped:
        parts.progress.advance()
        if not all(is_finished(parts, file) for file in files):
            continue
        pulled = next((here[file.sha256, path] for file in files if (file.sha256, path) in here), None)
        why_held = _why_held(run, files)
        remotes = [*([pulled] if pulled else []), *again.get(path, ())]
        away = [_put_one_away(parts, run, came, remote, why_held=why_held) for remote in remotes]
        if all(away):
            closed += [file.id for file in files]
    parts.progress.done()
    parts.ledger.files.close_files(closed)


def _why_held(run: PushRun, files: Sequence[StoredFile]) -> str:
    """The note for quarantine, for whoever finds the file there; "" if nothing of it was held as a whole."""
    held, others = [file for file in files if file.rule], [file.name for file in files if not file.rule]
    if not held:
        return ""
    told = "Nothing of this was sent."
    if others:  # of one archive
        told = f"Nothing of {', '.join(file.name for file in held)} was sent. "
        told += f"The answers to the others say what became of them: {', '.join(others)}. Do not send those again."
    lines = (f"{file.name}: {file.reason}\nWhat to do: {file.remedy or 'ask the operator'}" for file in held)
    return "\n\n".join([told, *lines, f"Run {run.id}, job {run.job}."]) + "\n"


def _put_one_away(parts: Parts, run: PushRun, came: _Came, remote: RemoteFile, *, why_held: str) -> bool:
    """False if it should go away and could not; nothing is sent again for that: the ledger knows the file."""
    name = PurePosixPath(remote.path).name
    parts.ledger.require_lock()
    try:
        put_away(came.store, came.job, remote, why_held=why_held, business_date=came.business_date)
    except FileUnstable:
        run.notes.append(Issue.of("file.replaced", name=name))
    except StoreError as error:
        run.undelivered.append(f"{name} was not put away: {error.message} {error.remedy}".strip())
        return False
    return True


def _put_misnamed_away(parts: Parts, run: PushRun, came: _Came) -> None:
    """Move what nobody takes to quarantine with a note, once it has lain there for as long as the job says."""
    patience = came.job.source.misnamed_after_seconds
    if patience is None or run.left is None:
        return
    since = {each.name: datetime.fromisoformat(each.since) for each in parts.ledger.files.left(job=run.job)}
    for remote, why in came.pulled.misnamed:
        name, now = printable(remote.name), parts.clock.now()
        told = (
            f"Nothing of this was sent.\n\n{name}: {why.reason}, and drop it again.\n\nRun {run.id}, job {run.job}.\n"
        )
        if now - since.get(name, now) >= timedelta(seconds=patience) and _put_one_away(
            parts, run, came, remote, why_held=told
        ):
            run.left = [each for each in run.left if each[0] != remote]
            moved = Issue.of("file.misnamed", name=name, folder=came.job.source.quarantine)
            is_left = Issue.of("file.left", name=name, why=[why.pair])
            run.notes[:] = [note for note in run.notes if note != is_left] + [moved]


def _same_again(came: _Came, grouped: Sequence[tuple[str, list[StoredFile]]]) -> dict[str, list[RemoteFile]]:
    """Archives that hold nothing but files of another one that came with them, by where that one lay."""
    inside: dict[str, set[tuple[str, str]]] = {}
    remotes: dict[str, RemoteFile] = {}
    for file in came.pulled.files:
        if file.remote is not None:
            inside.setdefault(file.remote.path, set()).add((file.path.stem, file.name))
            remotes[file.remote.path] = file.remote
    for path, _ in grouped:
        inside.pop(path, None)
    found: dict[str, list[RemoteFile]] = {}
    for path, files in grouped:
        known = {(file.sha256, file.name) for file in files}
        for other in [each for each, members in inside.items() if members <= known]:
            found.setdefault(path, []).append(remotes[other])
            del inside[other]
    return found


def _by_path(files: Sequence[StoredFile]) -> list[tuple[str, list[StoredFile]]]:
    """Files by where they lay: those that came in one archive lie, and are put away, together."""
    grouped: dict[str, list[StoredFile]] = {}
    for file in files:
        path = str(file.origin.get("path", ""))
        grouped.setdefault(path if "archive" in file.origin else f"{path}\0{file.id}", []).append(file)
    return [(path.partition("\0")[0], each) for path, each in grouped.items()]
