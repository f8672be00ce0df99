"""What the demo tells at its end: fates by file, discrepancies by class, the bundle, and where to open what."""

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from logistics_batch.model.report import Fate


@dataclass(frozen=True, slots=True)
class Opened:
    """A file to open: where it lies on the SFTP server ("" if only here), and its copy on this machine."""

    server_path: str
    path: Path


@dataclass(frozen=True, slots=True)
class BadRow:
    """A row that somebody has to correct; the cell as a spreadsheet program names it."""

    row: int
    fate: str
    document: str
    column: str
    cell: str
    value: str
    reason: str
    fix: str


@dataclass(frozen=True, slots=True)
class FileAccount:
    """What became of one spreadsheet.

    rows: how many were read. sent: documents that the service took. of_documents: documents in the file. noun: what a
    document is here, "order" or "ASN". held: why the whole file was refused, "" if it was not.
    """

    job: str
    run: str
    file: str
    rows: int
    counts: dict[str, int]
    noun: str
    sent: int
    of_documents: int
    bad_rows: tuple[BadRow, ...]
    answers: tuple[Opened, ...]
    held: str = ""

    @property
    def balanced(self) -> bool:
        """Every row that came in has exactly one fate."""
        return self.rows == sum(self.counts.values())


@dataclass(frozen=True, slots=True)
class ClassAccount:
    """One class of discrepancies, or of lines without one (severity "").

    units: affected (of lines without a discrepancy: announced). inr: what they are worth as a plain number, "" if not
    known; rupees: the same for people.
    """

    name: str
    severity: str
    lines: int
    units: str
    inr: str
    rupees: str
    says: str = ""


@dataclass(frozen=True, slots=True)
class ReconciliationAccount:
    """What the comparison of ASNs found. exceptions: lines that a person should look at, of all `lines`."""

    window: str
    complete: bool
    lines: int
    exceptions: int
    classes: tuple[ClassAccount, ...]
    notes: tuple[str, ...]
    files: tuple[Opened, ...]


@dataclass(frozen=True, slots=True)
class LabelsAccount:
    """The print bundle. pages: of all its label files. missing: orders without a label, and why."""

    bundle: str
    orders: int
    labels: int
    pages: int
    missing: tuple[str, ...]
    files: tuple[Opened, ...]


@dataclass(frozen=True, slots=True)
class StatusAccount:
    """What became of the orders once they were sent.

    events: how many came in, of `announced` that the service sent. asked: orders that the service was asked for;
    changed: those that it showed changed. fed: orders in the feed. files: the feed first, then the report.
    """

    announced: int
    events: int
    asked: int
    changed: int
    fed: int
    files: tuple[Opened, ...]


@dataclass(frozen=True, slots=True)
class Account:
    """The whole demo.

    created: how many orders and ASNs the service made, by its own journal; doubled: those it made twice.
    reached: statuses that orders came to. faults: what did not go as designed; empty when the loop closed.
    seconds: how long it took.
    """

    folder: Path
    server_folder: Path
    business_date: str
    files: tuple[FileAccount, ...]
    created: dict[str, int]
    doubled: dict[str, list[str]]
    reached: dict[str, int]
    receipts: Opened
    receipt_lines: int
    reconciliation: ReconciliationAccount | None
    labels: LabelsAccount | None
    status: StatusAccount | None
    seconds: float
    faults: tuple[str, ...] = field(default=())

    @property
    def sent(self) -> dict[str, int]:
        """Documents that the service took, by noun, as the ledger has it."""
        total: dict[str, int] = {}
        for file in self.files:
            total[file.noun] = total.get(file.noun, 0) + file.sent
        return total

    def document(self) -> dict[str, Any]:
        """The account as plain values; paths as text."""
        return _plain(asdict(self) | {"closed": not self.faults})  # type: ignore[no-any-return]


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    return str(value) if isinstance(value, Path) else value


def faults_of(account: Account) -> tuple[str, ...]:
    """What did not go as designed, in sentences. Bad rows are no fault: the samples have them on purpose."""
    return (*_file_faults(account), *_journal_faults(account), *_paper_faults(account))


def _file_faults(account: Account) -> list[str]:
    found = []
    for file in account.files:
        if file.held:
            found.append(f"{file.file} was held as a whole: {file.held}")
        if not file.balanced:
            found.append(f"{file.file}: {file.rows} rows were read, {sum(file.counts.values())} have a fate.")
        for fate in (Fate.IN_DOUBT, Fate.HELD, Fate.PENDING, Fate.REFUSED):
            if file.counts.get(fate):
                found.append(f"{file.file}: {file.counts[fate]} rows are {fate.replace('_', ' ')}.")
        if not file.answers and file.rows:
            found.append(f"{file.file}: no answers lie on the server.")
    return found


def _journal_faults(account: Account) -> list[str]:
    found = [f"The {noun} {one} was created twice." for noun, twice in account.doubled.items() for one in twice]
    return found + [
        f"The ledger has {count} accepted {noun}s, the service's journal {account.created.get(noun, 0)}."
        for noun, count in account.sent.items()
        if count != account.created.get(noun, 0)
    ]


def _paper_faults(account: Account) -> list[str]:
    found = []
    if account.reconciliation is None:
        found.append("Nothing was reconciled.")
    elif not account.reconciliation.complete:
        found += [f"The reconciliation may be incomplete: {note}" for note in account.reconciliation.notes]
    if account.labels is None:
        found.append("No labels were made.")
    elif account.labels.orders != account.sent.get("order", 0):
        found.append(f"{account.labels.orders} orders have labels, {account.sent.get('order', 0)} were accepted.")
    return [*found, *_status_faults(account)]


def _status_faults(account: Account) -> list[str]:
    status = account.status
    if status is None:
        return ["Nobody asked what became of the orders."]
    found = []
    if status.events < status.announced:
        found.append(f"{status.events} events came in, {status.announced} were sent.")
    if status.fed != account.sent.get("order", 0):
        found.append(f"The feed tells of {status.fed} orders, {account.sent.get('order', 0)} were accepted.")
    return found
