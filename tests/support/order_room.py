"""A workspace with accepted orders, its open parts, and the sandbox that moves them."""

import csv
import io
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import Any

from support.receiver_process import event
from support.sandbox_process import RunningSandbox
from support.workspace import Workspace

from logistics_batch.flows.orders.receive_event import read_event
from logistics_batch.flows.orders.status import run_order_status
from logistics_batch.flows.parts import Parts
from logistics_batch.flows.push.push import push_by_hand
from logistics_batch.jobs import parse_job
from logistics_batch.model.jobs.job import OrderStatusJob
from logistics_batch.model.run_reports import OrderStatusReport
from logistics_batch.wiring import Need
from logistics_batch.wiring import Workspace as Opened

DAY = date(2026, 11, 21)
JOB = """\
kind: order_status
poll_after: 0s
results: {folder: out, path: /reports}
feed: {folder: out, path: /status}
"""
COD_MAPPING = """\
operation: order.create
key: [Order No]
fields:
  reference_number: {from: Order No, required: true}
  customer_mobile: {from: Phone, read: mobile, required: true}
  delivery_address: {from: Address, required: true}
  is_cod: {from: Pay, read: {lookup: {COD: "true", Prepaid: "false"}}}
  cash_on_delivery: {from: COD, read: money}
lines:
  item_name: {from: SKU, required: true}
  item_quantity: {from: Qty, read: integer}
"""


class Room:
    """A workspace with accepted orders, its open parts, and the sandbox that moves them."""

    def __init__(self, root: Path, sandbox: RunningSandbox, parts: Parts) -> None:
        self.root, self.sandbox, self.parts = root, sandbox, parts

    def send(self, *orders: str, name: str = "orders.csv") -> None:
        """Lines "ORDER,SKU,QTY,COD"."""
        rows = []
        for number, sku, quantity, cod in (order.split(",") for order in orders):
            pay = "Prepaid" if cod == "0.00" else "COD"
            rows.append(f"{number},9876543210,1 Market Road,{sku},{quantity},{pay},{'' if pay == 'Prepaid' else cod}")
        path = self.root / name
        path.write_text("\n".join(["Order No,Phone,Address,SKU,Qty,Pay,COD", *rows, ""]))
        report = push_by_hand(self.parts, [path], mapping="cod", results=None, dry_run=False)
        assert report.exit_code == 0, report

    def run(self, text: str = JOB, **changes: Any) -> OrderStatusReport:
        job = parse_job(text, name="order-status", path="jobs/order-status.yaml")
        assert isinstance(job, OrderStatusJob)
        return run_order_status(self.parts, job.model_copy(update=changes), business_date=DAY)

    def move(self, reference: str, status: str, **more: Any) -> None:
        self.sandbox.control("POST", f"/orders/{reference}/status", {"status": status, **more})

    def awb(self, reference: str) -> str:
        return self.parts.ledger.orders.sent(numbers=[reference])[0].awb_number

    def hear(self, reference: str, status: str, at: str, **more: Any) -> None:
        """An event as the receiver stores it; `waybill` in another form than the AWB."""
        body = event(str(more.pop("waybill", self.awb(reference))), status, at=at, **more)
        now = self.parts.clock.now()
        found = read_event(body, received_at=now, zone=now.tzinfo)  # type: ignore[arg-type]
        self.parts.ledger.events.store([found], patience_seconds=5)  # type: ignore[list-item]

    def fetched(self) -> int:
        return len(self.sandbox.received("order.fetch"))

    def report(self) -> list[dict[str, str]]:
        return table((self.root / "out/reports/order_status.csv").read_bytes())

    def feeds(self) -> dict[str, list[dict[str, str]]]:
        return {path.name: table(path.read_bytes()) for path in sorted((self.root / "out/status").glob("*"))}


def table(content: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(content.decode("utf-8-sig"))))


@contextmanager
def order_room(root: Path, sandbox: RunningSandbox) -> Iterator[Room]:
    """A room of one's own over a sandbox that others may use, too."""
    workspace = Workspace(root, url=sandbox.url)
    workspace.mapping("cod", COD_MAPPING)
    with Opened(root).parts(Need()) as parts:
        yield Room(root, sandbox, parts)
