"""Yesterday's workbook, with what analysts wrote in it: found where results go, or named by hand, and read back."""

from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path, PurePosixPath
from uuid import uuid4

from logistics_batch.errors import FileHeld, FileUnstable, FileVanished, LogisticsBatchError, UsageError
from logistics_batch.flows.files.foreign_files import earlier_workbook
from logistics_batch.flows.parts import Parts
from logistics_batch.flows.program_errors import holding_file
from logistics_batch.flows.reconcile.output import WORKBOOK
from logistics_batch.flows.reconcile.snapshots import exceptions_of
from logistics_batch.intake.names import printable
from logistics_batch.intake.stores.store import FileStore, RemoteFile
from logistics_batch.model.counting import counted
from logistics_batch.model.job import Place
from logistics_batch.model.reconciliation_history import Earlier

LOOK_BACK_DAYS = 31
"""So many days a dated folder is looked for, the latest first."""

_NAMED = 3
_MANY = 10
_AS_IF_OPEN = (
    "What was accepted there is open again in this report. Repair the workbook (the replaced one is in the folder "
    "“earlier”) and reconcile again with --previous FILE."
)


@dataclass(frozen=True, slots=True)
class Previous:
    """What an earlier report says; None: none was asked for, or it cannot be read.

    doubts: why what analysts wrote is not there. notes: what else should be known.
    """

    earlier: Earlier | None = None
    doubts: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def previous_by_hand(parts: Parts, path: Path) -> Previous:
    """The workbook that a person names. Raises UsageError if there is none, FileHeld if it cannot be read."""
    if not path.is_file():
        raise UsageError(f"There is no workbook {path}.", remedy="Check the path after --previous.")
    return _told(parts, _read(parts, path, str(path)))


def previous_at(parts: Parts, results: Place, business_date: date) -> Previous:
    """The latest workbook where results go; with `{date}` in the path, of the latest day that has one.

    One that cannot be read makes tonight's report doubtful: it would show as open what analysts have accepted. Raises
    StoreError if the place cannot be reached.
    """
    store = parts.open_store(results)
    try:
        found = _latest(store, results, business_date)
        if found is None:
            note = f"No earlier workbook lies in {store.label} {results.path}; every exception counts as new."
            return Previous(Earlier(), notes=(note,))
        where = f"{store.label}:{found.path}"
        try:
            with holding_file(found.name):
                return _told(parts, _fetched(parts, store, found, where))
        except (FileHeld, FileVanished, FileUnstable) as error:
            return Previous(doubts=(_unreadable(where, error),))
    finally:
        store.close()


def _latest(store: FileStore, results: Place, business_date: date) -> RemoteFile | None:
    paths = [results.on(business_date - timedelta(days=days)).path for days in range(LOOK_BACK_DAYS + 1)]
    for path in dict.fromkeys(paths):
        if store.exists(str(PurePosixPath(path) / WORKBOOK)):
            return next((file for file in store.list(path) if file.name == WORKBOOK and not file.is_link), None)
    return None


def _fetched(parts: Parts, store: FileStore, file: RemoteFile, where: str) -> Earlier:
    folder = parts.files / "reconciliation"
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    landing = folder / f"previous-{uuid4().hex}.xlsx"
    try:
        store.fetch(file, to=landing)
        return _read(parts, landing, where)
    finally:
        landing.unlink(missing_ok=True)


def _read(parts: Parts, path: Path, where: str) -> Earlier:
    return parts.limited(earlier_workbook, about=WORKBOOK, returns=(Earlier,))(path, name=WORKBOOK, where=where)


def _told(parts: Parts, earlier: Earlier) -> Previous:
    when = f" of {earlier.business_date}" if earlier.business_date else ""
    source = f"Compared with the report{when}, run {printable(earlier.run)}, and what analysts wrote in it."
    lost, most = _lost_rows(parts, earlier)
    doubts = [f"{one} {_AS_IF_OPEN}" for one in (*earlier.unread, *(lost if most else ()))]
    return Previous(earlier, tuple(doubts), notes=(source, *earlier.notes, *(() if most else lost)))


def _lost_rows(parts: Parts, earlier: Earlier) -> tuple[tuple[str, ...], bool]:
    """Exceptions that the earlier report listed and its workbook does not list any more: somebody deleted the rows.

    And whether they are many: then the workbook is rather spoilt than cleared up.
    """
    still_there = set(earlier.listed["exception_id"])
    listed = exceptions_of(parts, earlier.run)
    lost = [number for one, number in listed.items() if one not in still_there]
    if not lost:
        return (), False
    named = ", ".join(printable(number) for number in list(dict.fromkeys(lost))[:_NAMED])
    rows = counted(len(lost), "exception")
    gone = f"The earlier workbook no longer has the rows of {rows} that its report listed (invoice numbers: {named})"
    told = f"{gone}: what was written there is lost, and what still differs counts as new."
    return (told,), len(lost) >= _MANY and len(lost) * 2 > len(listed)


def _unreadable(where: str, error: LogisticsBatchError) -> str:
    return (
        f"The earlier workbook {printable(where)} cannot be read: {error.message} What analysts wrote and accepted is "
        "missing here. It was moved to the folder “earlier”; repair it there and reconcile again with --previous FILE."
    )
