"""The play itself, in a folder of its own: a day's files come in, the night's jobs run, somebody tells what happened.

The dock of its warehouse says what it received, one row an item of an invoice.
"""

import csv
import fcntl
import io
import os
import random
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import astuple, dataclass, replace
from datetime import date, datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from logistics_batch.demo.account import Account, bundle, comparison, faults_of, followed, opened, pushed_files
from logistics_batch.demo.service import Sandbox, address_of, running_receiver, running_sandbox
from logistics_batch.demo.stage import API_KEY_FILE, EVENTS_FILE, DemoWorkspace, connect, drop_samples, furnish
from logistics_batch.errors import RunStopped, UsageError
from logistics_batch.flows.orders.commands import configure_webhook
from logistics_batch.flows.parts import Parts, Progress
from logistics_batch.jobs import load_jobs
from logistics_batch.model.jobs.job import JobSpec, LabelsJob, OrderStatusJob, PushJob, ReconcileJob
from logistics_batch.model.report import RunReport
from logistics_batch.model.run_reports import LabelReport, OrderStatusReport, ReconcileReport
from logistics_batch.operate.run_job import Order, run_job
from logistics_batch.wiring import Need

MARKER = ".logistics-batch-demo"
EARLIER = "earlier"
_MARK = "The demo of logistics-batch made this folder. When it runs again it moves what lies here to earlier/.\n"


@contextmanager
def claimed(folder: Path) -> Iterator[Path]:
    """An empty folder for one demo, held until the demo ends; what an earlier demo left is moved to `earlier/N`.

    Raises UsageError if something else lies in the folder, if a demo runs there, or if it cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not (folder / MARKER).is_file():
            if any(folder.iterdir()):
                raise UsageError(
                    f"{folder} holds files that the demo did not make; nothing was touched.",
                    remedy="Name an empty or new folder with --dir.",
                )
            (folder / MARKER).write_text(_MARK, encoding="utf-8")
        with (folder / MARKER).open("ab") as marker:
            try:  # the kernel lets go when this process ends, however it ends
                fcntl.flock(marker, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise UsageError(
                    f"Another demo runs in {folder}.", remedy="Wait for it, or name another folder with --dir."
                ) from error
            _set_aside(folder)
            yield folder
    except OSError as error:
        raise UsageError(
            f"{error.filename or folder} cannot be used: {error.strerror}.", remedy="Name another folder with --dir."
        ) from error


def _set_aside(folder: Path) -> None:
    """Move what an earlier demo left to a new folder below `earlier`."""
    left = [path for path in folder.iterdir() if path.name not in (MARKER, EARLIER)]
    if not left:
        return
    shelf = folder / EARLIER
    shelf.mkdir(exist_ok=True)
    taken = [int(path.name) for path in shelf.iterdir() if path.name.isdecimal()]
    place = shelf / str(max(taken, default=0) + 1)
    place.mkdir()
    for path in left:
        os.rename(path, place / path.name)  # noqa: PTH104 - fails where something is in the way


COLUMNS = ("Invoice No", "Supplier", "Site", "Item", "Received Qty", "Condition", "Received On")


@dataclass(frozen=True, slots=True)
class Receipt:
    """One line of the list."""

    invoice_number: str
    supplier: str
    site: str
    item: str
    quantity: float
    condition: str = "Good"


def usual_receipts(asns: list[dict[str, Any]], *, seed: int) -> list[Receipt]:
    """An ordinary day: shorts, overs, one swapped SKU, one damaged line, the rest exact."""
    lines = [_exact(asn, line) for asn in asns for line in asn["sku_lines"]]
    chance = random.Random(seed)  # noqa: S311
    order = chance.sample(range(len(lines)), len(lines))
    share = max(1, len(lines) // 12)
    oddities = dict(zip(order, ("swapped", "damaged", *["short"] * share, *["over"] * share), strict=False))
    received: list[Receipt] = []
    for position, line in enumerate(lines):
        match oddities.get(position):
            case "swapped":  # another SKU, one that this invoice does not name
                announced = {one.item for one in lines if one.invoice_number == line.invoice_number}
                others = sorted({one.item for one in lines} - announced)
                received.append(replace(line, item=others[0] if others else f"{line.item}-ALT"))
            case "damaged":
                broken = max(1, int(line.quantity) // 10)
                parts = (
                    replace(line, quantity=line.quantity - broken),
                    replace(line, quantity=broken, condition="Damaged"),
                )
                received += [one for one in parts if one.quantity > 0]
            case "short":
                missing = chance.randint(1, max(1, int(line.quantity) // 4))
                received.append(replace(line, quantity=max(0, line.quantity - missing)))
            case "over":
                more = chance.randint(1, max(1, int(line.quantity) // 5))
                received.append(replace(line, quantity=line.quantity + more))
            case _:
                received.append(line)
    return received


def _exact(asn: dict[str, Any], line: dict[str, Any]) -> Receipt:
    """The row for an announced line that came in as announced."""
    quantity = float(line["qty"])
    return Receipt(
        invoice_number=asn["invoice_number"],
        supplier=asn["supplier_name"] or asn["supplier"],
        site=asn["site_name"] or asn["site"],
        item=line["sku_name"] or line["item_desc"] or "",
        quantity=int(quantity) if quantity.is_integer() else quantity,
    )


def receipts_csv(receipts: Sequence[Receipt], *, received_on: date) -> str:
    """The list as the warehouse sends it: CSV, dates as DD/MM/YYYY."""
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    writer.writerow(COLUMNS)
    writer.writerows((*astuple(one), f"{received_on:%d/%m/%Y}") for one in receipts)
    return buffer.getvalue()


_ZONE = ZoneInfo("Asia/Kolkata")
_SEED = 5  # of the dock: shorts, overs, one damaged line, one swapped SKU
_STATUSES = ("Assigned", "Out-For-Pickup")  # orders get a driver, who sets out
_EVENTS_SECONDS = 10.0  # after the jobs of the night; the events came long before
_EVENTS_POLL_SECONDS = 0.05
_WEBHOOK = 1  # its number at the service
_RECEIPTS = "/inbound/receipts/receipts_{day:%Y%m%d}.csv"


@contextmanager
def play(folder: Path, narrator: Progress, stop: threading.Event) -> Iterator[tuple[Account, DemoWorkspace]]:
    """Run the whole loop in a folder and give the account of it; the service stays until the block ends.

    Raises UsageError (the folder, or a part that is not installed), RunStopped if it was asked to stop, and what else
    the jobs raise.
    """
    began, today = time.monotonic(), datetime.now(_ZONE).date()

    def act(text: str) -> None:
        if stop.is_set():
            raise _stopped()
        narrator.stage(text)

    with claimed(folder.resolve()) as ground:
        act("Setting up a workspace")
        furnish(ground)
        act("Starting the service and an SFTP server on this machine")
        root = ground / "sftp"
        account: Account = {
            "folder": str(ground),
            "server_folder": str(root),
            "business_date": today.isoformat(),
            "files": [],
            **dict.fromkeys(("reconciliation", "labels", "status")),
        }
        with running_sandbox(ground / "sandbox", api_key_file=ground / API_KEY_FILE, sftp_root=root) as sandbox:
            workspace = connect(ground, sandbox)
            act("Dropping the day's spreadsheets into the SFTP inboxes")
            drop_samples(workspace, business_date=today)
            with (
                workspace.parts(Need(progress=narrator, stop=stop)) as parts,
                running_receiver(ground) as receiver,
            ):
                night = _Night(parts, load_jobs(ground), account, act)
                night.run_all(PushJob)
                _subscribe(workspace, parts, address_of(receiver))
                act("Drivers set out, and the dock counts what came in")
                _day_goes_on(sandbox, account)
                night.run_all(ReconcileJob)
                night.run_all(LabelsJob)
                _wait_for_events(parts, account["reached"])
                night.run_all(OrderStatusJob)
            created = {noun: sandbox.created(noun) for noun in ("order", "ASN")}
            account["created"] = {noun: len(numbers) for noun, numbers in created.items()}
            account["doubled"] = {
                noun: sorted({one for one in numbers if numbers.count(one) > 1}) for noun, numbers in created.items()
            }
            account["seconds"] = round(time.monotonic() - began, 1)
            account["faults"] = list(faults_of(account))
            yield account | {"closed": not account["faults"]}, workspace


def _stopped() -> RunStopped:
    return RunStopped("The demo was stopped before its end.", remedy="Run it again; it begins anew.")


class _Night:
    """Runs jobs of one kind after the other, and writes into the account what came of each."""

    def __init__(self, parts: Parts, jobs: list[JobSpec], account: Account, act: Callable[[str], None]) -> None:
        self._parts, self._jobs, self._account, self._act = parts, jobs, account, act
        self._root = Path(account["server_folder"])

    def run_all(self, kind: type[JobSpec]) -> None:
        """Run all jobs of a kind."""
        for job in self._jobs:
            if isinstance(job, kind):
                self._act(f"Running the job {job.name}")
                self._run(job)

    def _run(self, job: JobSpec) -> None:
        told, root = self._account, self._root
        try:
            report = run_job(self._parts, job, Order(date.fromisoformat(told["business_date"]))).report
        except RunStopped as error:
            if self._parts.stop.is_set():
                raise _stopped() from error
            raise
        match report:
            case RunReport():
                told["files"] += pushed_files(self._parts, report, root)
            case ReconcileReport():
                told["reconciliation"] = comparison(report, root)
            case LabelReport():
                told["labels"] = bundle(report, root)
            case OrderStatusReport():
                told["status"] = followed(report, root, announced=sum(told["reached"].values()))


def _subscribe(workspace: DemoWorkspace, parts: Parts, address: str) -> None:
    """Ask the service to tell the receiver of each change of an order."""
    receive = workspace.settings().receive
    secret = (workspace.folder / EVENTS_FILE).read_text(encoding="utf-8")
    wanted = {"webhookId": _WEBHOOK, "callbackUrl": address + receive.path, "headers": {receive.header: secret}}
    conclusion = configure_webhook(parts, wanted, updates=False)
    if conclusion.exit_code:
        raise RunStopped(f"The subscription to events did not work. {conclusion.text}", remedy="Run it again.")


def _day_goes_on(sandbox: Sandbox, account: Account) -> None:
    """Vans set out, and the dock writes the list of what it received on the server."""
    account["reached"] = sandbox.advance_orders(_STATUSES)
    today = date.fromisoformat(account["business_date"])
    receipts = usual_receipts(sandbox.open_asns(), seed=_SEED)
    account["receipts"] = opened(Path(account["server_folder"]), _RECEIPTS.format(day=today))
    account["receipt_lines"] = len(receipts)
    place = Path(account["receipts"]["path"])
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(receipts_csv(receipts, received_on=today), encoding="utf-8", newline="")


def _wait_for_events(parts: Parts, reached: dict[str, int]) -> None:
    """The service sends its events beside its other work."""
    until = time.monotonic() + _EVENTS_SECONDS
    while sum(1 for _ in parts.ledger.orders.hints()) < sum(reached.values()) and time.monotonic() < until:
        parts.clock.sleep(_EVENTS_POLL_SECONDS)
