"""A mistake of the program itself costs the one file it happened on: that is held and answered, the run goes on."""

import errno
import hashlib
import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import date
from pathlib import Path

from logistics_batch.errors import FileHeld, StoreError, StoreUnreachable, is_of_program, where_it_failed
from logistics_batch.flows.files.gate import OPEN_GATE, Gate
from logistics_batch.flows.files.receive_file import ReceivedFile, arrival_of
from logistics_batch.flows.parts import Parts
from logistics_batch.intake.names import printable
from logistics_batch.intake.stores.store import Fetched, FileStore, RemoteFile
from logistics_batch.ledger import Arrival
from logistics_batch.mapping import Mapping
from logistics_batch.model.sheet import SourceFile

_OF_THIS_MACHINE = {errno.ENOSPC, errno.EDQUOT, errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EIO, errno.EROFS}
_MISSES = 2  # in a row; a single one may be the file's own
_log = logging.getLogger(__name__)


@contextmanager
def holding_file(name: str) -> Iterator[None]:
    """Work on one file; whatever the program itself fails with becomes FileHeld, and the log says where it failed.

    Raises:
        FileHeld: the program failed on this file.
        StoreError: this machine has no room left, or too many files open; that is no matter of the file.
    """
    try:
        yield
    except BaseException as error:  # also a panic of polars, which is no Exception
        if not is_of_program(error):
            raise
        if isinstance(error, OSError) and error.errno in _OF_THIS_MACHINE:
            raise StoreError(
                f"{printable(name)} cannot be worked on here: {error.strerror}.",
                remedy="Correct that on this machine; the next run takes the file.",
            ) from error
        _log.error("The program failed on %s: %s", printable(name), where_it_failed(error))
        raise FileHeld("file|program_error", values={"name": printable(name), "error": type(error).__name__}) from error


FetchOutcome = Fetched | StoreError | FileHeld
"""What became of a file: it is there, or why it is not."""


def fetch_each(store: FileStore, wanted: Sequence[tuple[RemoteFile, Path]]) -> Iterator[FetchOutcome | None]:
    """What became of each listed file; what stops one does not stop the others, be it a mistake of the program.

    A store that was out of reach for two files in a row is not asked again, for each try would wait as long, and
    count as a log-in that failed: None for the files behind them.
    """
    missed = 0
    for file, to in wanted:
        outcome = _fetched(store, file, to) if missed < _MISSES else None
        missed = missed + 1 if isinstance(outcome, StoreUnreachable) else missed if outcome is None else 0
        yield outcome


def _fetched(store: FileStore, file: RemoteFile, to: Path) -> FetchOutcome:
    try:
        with holding_file(file.name):
            return store.fetch(file, to=to)
    except (StoreError, FileHeld) as error:
        return error


def safe_arrival(
    parts: Parts, received: ReceivedFile, mapping: Mapping, *, business_date: date, gate: Gate = OPEN_GATE
) -> Arrival:
    """What a file asks for; one on which the program fails is an arrival with `held`, as any other refused file."""
    try:
        with holding_file(received.name):
            return arrival_of(parts, received, mapping, business_date=business_date, gate=gate)
    except FileHeld as held:
        return held_arrival(parts, _source_of(received), mapping, held=held, origin=received.origin)


def held_arrival(
    parts: Parts, source: SourceFile, mapping: Mapping, *, held: FileHeld, origin: dict[str, object]
) -> Arrival:
    """A file without rows, so that it is answered although nothing of it could be read."""
    return Arrival(
        source=source,
        mapping=mapping.name,
        mapping_digest=mapping.digest,
        operation=str(mapping.operation),
        received_at=parts.clock.now().isoformat(),
        held=held,
        origin=origin,
    )


def _source_of(received: ReceivedFile) -> SourceFile:
    try:
        with received.path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        size = received.path.stat().st_size
    except OSError:  # our own copy is not there: its name tells the hash
        digest, size = received.path.stem, 0
    return SourceFile(received.name, size, digest, "unknown")
