"""The play itself: a day's files come in, the night's jobs run, and somebody tells what happened."""

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from pathlib import Path
from typing import Protocol
from zoneinfo import ZoneInfo

from logistics_batch.demo.account import (
    Account,
    FileAccount,
    LabelsAccount,
    ReconciliationAccount,
    StatusAccount,
    faults_of,
)
from logistics_batch.demo.comparison import comparison_of
from logistics_batch.demo.dock import receipts_csv, usual_receipts
from logistics_batch.demo.findings import ServerFolder, files_of, labels_of, status_of
from logistics_batch.demo.grounds import claimed
from logistics_batch.demo.receiver import address_of, running_receiver
from logistics_batch.demo.service import Sandbox, running_sandbox
from logistics_batch.demo.stage import API_KEY_FILE, EVENTS_FILE, DemoWorkspace, connect, drop_samples, furnish
from logistics_batch.errors import RunStopped
from logistics_batch.flows.orders.webhook_commands import subscribe_webhook
from logistics_batch.flows.parts import Parts, Progress
from logistics_batch.jobs import load_jobs
from logistics_batch.model.jobs.job import JobSpec, LabelsJob, OrderStatusJob, PushJob, ReconcileJob
from logistics_batch.model.report import RunReport
from logistics_batch.model.run_reports import LabelReport, OrderStatusReport, ReconcileReport
from logistics_batch.operate.run_job import Order, run_job
from logistics_batch.wiring import Need

_ZONE = ZoneInfo("Asia/Kolkata")
_SEED = 5  # of the dock: shorts, overs, one damaged line, one swapped SKU
_STATUSES = ("Assigned", "Out-For-Pickup")  # orders get a driver, who sets out
_EVENTS_SECONDS = 10.0  # after the jobs of the night; the events came long before
_EVENTS_POLL_SECONDS = 0.05
_WEBHOOK = 1  # its number at the service
_RECEIPTS = "/inbound/receipts/receipts_{day:%Y%m%d}.csv"


class Narrator(Progress, Protocol):
    """Says what happens while it happens; `stage` begins the next act."""

    def stage(self, text: str) -> None:
        """The next act begins."""


@dataclass
class _Told:
    """What is known so far."""

    files: list[FileAccount] = field(default_factory=list)
    reached: dict[str, int] = field(default_factory=dict)
    receipt_lines: int = 0
    reconciliation: ReconciliationAccount | None = None
    labels: LabelsAccount | None = None
    status: StatusAccount | None = None


def play(folder: Path, narrator: Narrator, stop: threading.Event) -> Account:
    """Run the whole loop in a folder and give the account of it; everything that was started is stopped again.

    Raises UsageError (the folder, or a part that is not installed), RunStopped if it was asked to stop, and what else
    the jobs raise.
    """
    began = time.monotonic()
    with claimed(folder.resolve()) as ground:
        narrator.stage("Setting up a workspace")
        furnish(ground)
        narrator.stage("Starting the service and an SFTP server on this machine")
        server = ServerFolder(ground / "sftp")
        with running_sandbox(ground / "sandbox", api_key_file=ground / API_KEY_FILE, sftp_root=server.root) as sandbox:
            night = _Night(connect(ground, sandbox), sandbox, server, narrator, stop)
            account = night.run()
    account = replace(account, seconds=round(time.monotonic() - began, 1))
    return replace(account, faults=faults_of(account))


class _Night:
    """One night in the demo's workspace."""

    def __init__(
        self,
        workspace: DemoWorkspace,
        sandbox: Sandbox,
        server: ServerFolder,
        narrator: Narrator,
        stop: threading.Event,
    ) -> None:
        self._workspace = workspace
        self._sandbox = sandbox
        self._server = server
        self._narrator = narrator
        self._stop = stop
        self._today: date = datetime.now(_ZONE).date()
        self._told = _Told()

    def run(self) -> Account:
        """Files in, jobs, vans and dock, jobs again; then what came of it."""
        self._act("Dropping the day's spreadsheets into the SFTP inboxes")
        drop_samples(self._workspace, business_date=self._today)
        jobs = load_jobs(self._workspace.folder)
        with (
            self._workspace.parts(Need(progress=self._narrator, stop=self._stop)) as parts,
            running_receiver(self._workspace.folder) as receiver,
        ):
            self._run_all(parts, [job for job in jobs if isinstance(job, PushJob)])
            self._subscribe(parts, address_of(receiver))
            receipts = self._day_goes_on()
            self._run_all(parts, [job for job in jobs if isinstance(job, ReconcileJob)])
            self._run_all(parts, [job for job in jobs if isinstance(job, LabelsJob)])
            self._wait_for_events(parts)
            self._run_all(parts, [job for job in jobs if isinstance(job, OrderStatusJob)])
        told = self._told
        created = {noun: self._sandbox.created(noun) for noun in ("order", "ASN")}
        return Account(
            folder=self._workspace.folder,
            server_folder=self._server.root,
            business_date=self._today.isoformat(),
            files=tuple(told.files),
            created={noun: len(numbers) for noun, numbers in created.items()},
            doubled={
                noun: sorted({one for one in numbers if numbers.count(one) > 1}) for noun, numbers in created.items()
            },
            reached=told.reached,
            receipts=self._server.opened(receipts),
            receipt_lines=told.receipt_lines,
            reconciliation=told.reconciliation,
            labels=told.labels,
            status=told.status,
            seconds=0.0,
        )

    def _run_all(self, parts: Parts, jobs: Sequence[JobSpec]) -> None:
        for job in jobs:
            self._act(f"Running the job {job.name}")
            report = run_job(parts, job, Order(self._today)).report
            match report:
                case RunReport():
                    self._told.files += files_of(parts, report, self._server)
                case ReconcileReport():
                    self._told.reconciliation = comparison_of(report, self._server)
                case LabelReport():
                    self._told.labels = labels_of(report, self._server)
                case OrderStatusReport():
                    announced = sum(self._told.reached.values())
                    self._told.status = status_of(report, self._server, announced=announced)

    def _subscribe(self, parts: Parts, address: str) -> None:
        """Ask the service to tell the receiver of each change of an order."""
        receive = self._workspace.settings().receive
        secret = (self._workspace.folder / EVENTS_FILE).read_text(encoding="utf-8")
        wanted = {"webhookId": _WEBHOOK, "callbackUrl": address + receive.path, "headers": {receive.header: secret}}
        conclusion = subscribe_webhook(parts, wanted)
        if conclusion.exit_code:
            raise RunStopped(f"The subscription to events did not work. {conclusion.text}", remedy="Run it again.")

    def _wait_for_events(self, parts: Parts) -> None:
        """The service sends its events beside its other work."""
        until = time.monotonic() + _EVENTS_SECONDS
        announced = sum(self._told.reached.values())
        while sum(1 for _ in parts.ledger.orders.hints()) < announced and time.monotonic() < until:
            parts.clock.sleep(_EVENTS_POLL_SECONDS)

    def _day_goes_on(self) -> str:
        """Vans set out, and the dock writes down what it received; the path of its list on the server."""
        self._act("Drivers set out, and the dock counts what came in")
        self._told.reached = self._sandbox.advance_orders(_STATUSES)
        path = _RECEIPTS.format(day=self._today)
        receipts = usual_receipts(self._sandbox.open_asns(), seed=_SEED)
        text = receipts_csv(receipts, received_on=self._today)
        place = self._server.local(path)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8", newline="")
        self._told.receipt_lines = len(receipts)
        return path

    def _act(self, text: str) -> None:
        if self._stop.is_set():
            raise RunStopped("The demo was stopped before its end.", remedy="Run it again; it begins anew.")
        self._narrator.stage(text)
