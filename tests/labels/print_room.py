"""A print room for tests: a real ledger with accepted orders, a real client, and parts around them."""

import hashlib
import json
import threading
import time
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import polars as pl
from support.canary import key_of_tests
from support.issues import said

from logistics_batch.api.client import Client, ServiceAccess
from logistics_batch.api.pacing import Pacer
from logistics_batch.api.secret import Secret
from logistics_batch.flows.parts import Parts, Policy
from logistics_batch.intake.stores.folder import FolderStore
from logistics_batch.ledger import Arrival, Outcome, open_ledger
from logistics_batch.model.document import ROWS_SCHEMA, Document, MappedFile, Operation
from logistics_batch.model.issue import NOTHING_SAID
from logistics_batch.model.jobs.job import JobPlace
from logistics_batch.model.sheet import SourceFile

ZONE = ZoneInfo("Asia/Kolkata")


@dataclass(frozen=True)
class WallClock:
    """This machine's clock; waiting is kept short."""

    stop: threading.Event = field(default_factory=threading.Event)

    def now(self) -> datetime:
        return datetime.now(ZONE)

    def monotonic(self) -> float:
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        self.stop.wait(min(seconds, 0.05))


@dataclass(frozen=True)
class Wish:
    """An order that a file asks for."""

    reference: str
    item: str = "LAMP"
    quantity: int = 1
    pincode: str = "560001"
    hub: str = ""
    cash: str = ""
    name: str = "Asha Rao"
    packages: int = 1
    items: tuple[str, ...] = ()
    keep: dict[str, str] = field(default_factory=dict)

    @property
    def body(self) -> dict[str, Any]:
        body: dict[str, Any] = {
            "reference_number": self.reference,
            "customer_name": self.name,
            "customer_mobile": "9876543210",
            "delivery_address": "12 MG Road, Bengaluru",
            "delivery_postal_code": self.pincode,
            "is_cod": "true" if self.cash else "false",
            "item_details": [
                {"item_name": item, "item_quantity": self.quantity} for item in self.items or (self.item,)
            ],
        }
        if self.hub:
            body["delivery_hub"] = self.hub
        if self.cash:
            body["cash_on_delivery"] = self.cash
        if self.packages > 1:
            body["packages_count"] = self.packages
        return body


class PrintRoom:
    """Parts over real things; `close` lets go of them."""

    def __init__(self, root: Path, *, url: str, label_hosts: tuple[str, ...] = ()) -> None:
        self.root = root
        self.ledger = open_ledger(f"sqlite:///{root}/ledger.db", account=url)
        access = ServiceAccess(base_url=url, api_key=Secret(key_of_tests()), deadline_seconds=10)
        self.parts = Parts(
            ledger=self.ledger,
            client=Client(access, pacer=Pacer("none")),
            open_store=self._store,
            mapping=self._no_mapping,
            reports=root / "reports",
            files=root / "files",
            clock=WallClock(),
            policy=Policy(label_hosts=label_hosts),
        )
        self._files = 0

    def close(self) -> None:
        self.parts.client.close()
        self.ledger.close()

    def drop(self, *wishes: Wish, run: str = "run-1", job: str = "orders-nightly") -> dict[str, int]:
        """A file with these orders is planned in a run; the document's number by reference."""
        documents = (
            Document(
                key=wish.reference,
                operation=Operation.ORDER_CREATE,
                rows=(row,),
                body=json.dumps(wish.body),
                reference=wish.reference,
                line_rows=(row,),
                keep=wish.keep,
            )
            for row, wish in enumerate(wishes, start=2)
        )
        return self.plan(*documents, run=run, job=job)

    def plan(self, *documents: Document, run: str, job: str = "orders-nightly") -> dict[str, int]:
        """A file that asks for these calls is planned in a run; the document's number by reference."""
        self._files += 1
        now = self.parts.clock.now().isoformat()
        if self.ledger.runs.get(run) is None:
            self.ledger.runs.start(run, job=job, kind="push", business_date=now[:10], now=now)
        self.ledger.planning.plan_file(run, self._arrival(documents, now))
        return {
            document.reference: document.id
            for document in self.ledger.documents.stored(self.ledger.documents.planned_of(run)["id"])
        }

    def accept(self, numbers: dict[str, int], awbs: dict[str, str], *, run: str = "run-1", **told: Any) -> None:
        """The service took these orders: AWB by reference."""
        self._settle(numbers, {reference: ("accepted", awb) for reference, awb in awbs.items()}, run=run, **told)

    def settle(self, numbers: dict[str, int], states: dict[str, str], *, run: str = "run-1") -> None:
        """These documents end in other states."""
        self._settle(numbers, {reference: (state, "") for reference, state in states.items()}, run=run)

    def _settle(self, numbers: dict[str, int], ends: dict[str, tuple[str, str]], *, run: str, **told: Any) -> None:
        now = self.parts.clock.now().isoformat()
        planned = {
            document.id: document
            for document in self.ledger.documents.stored(self.ledger.documents.planned_of(run)["id"])
        }
        self.ledger.attempts.step(outcomes=[], claim=[planned[numbers[name]] for name in ends], run=run, now=now)
        outcomes = [
            Outcome(
                numbers[reference],
                state,
                meaning=state,
                why=NOTHING_SAID if state == "accepted" else said(f"because {state}"),
                awb_number=awb,
                accepted_run=run if state == "accepted" else "",
                **told,
            )
            for reference, (state, awb) in ends.items()
        ]
        self.ledger.attempts.step(outcomes=outcomes, claim=[], run=run, now=now)

    def with_policy(self, **changes: Any) -> Parts:
        return replace(self.parts, policy=replace(self.parts.policy, **changes))

    def _arrival(self, documents: tuple[Document, ...], now: str) -> Arrival:
        lines = [
            (document.rows[0], "ready", None, index, document.key, None, "") for index, document in enumerate(documents)
        ]
        name = f"orders-{self._files}.csv"
        digest = hashlib.sha256(f"{name}{documents}".encode()).hexdigest()
        return Arrival(
            source=SourceFile(name, 100, digest, "csv"),
            mapping="orders",
            mapping_digest="d" * 64,
            operation=documents[0].operation,
            received_at=now,
            mapped=MappedFile(
                sheet="Orders",
                header_row=1,
                columns=("Order No",),
                rows=pl.DataFrame(lines, schema=ROWS_SCHEMA, orient="row"),
                documents=documents,
                issues=(),
            ),
            calls={document.operation: ("POST", "/orders/shipment") for document in documents},
        )

    def _store(self, place: JobPlace) -> FolderStore:
        return FolderStore(self.root / (place.folder or "sftp"))

    def _no_mapping(self, name: str) -> Any:
        raise AssertionError(f"labels need no mapping, {name} was asked for")
