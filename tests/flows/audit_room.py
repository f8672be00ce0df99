"""Parts over real things for a service at an address: a workspace, its ledger, its mappings."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from support.workspace import Workspace

from logistics_batch.flows.parts import Parts
from logistics_batch.wiring import Need
from logistics_batch.wiring import Workspace as Opened

ASNS = """\
operation: asn.create
key: [Supplier, Site, Invoice]
fields:
  supplier_name: {from: Supplier, required: true}
  site_name: {from: Site, required: true}
  invoice_number: {from: Invoice, required: true}
  delivery_date: {from: Due, read: {date: ["%Y-%m-%d"]}}
lines:
  sku_name: {from: SKU, required: true}
  qty: {from: Qty, read: integer, required: true}
  price_per_qty: {from: Rate, read: money}
"""

RECEIPTS = """\
operation: receipt.read
key: [Invoice]
fields:
  invoice_number: {from: Invoice, required: true}
  sku_name: {from: SKU, required: true}
  qty: {from: Received, read: integer, required: true}
  condition: {from: Condition}
  received_date: {from: Date, read: {date: ["%Y-%m-%d"]}}
"""


@dataclass(frozen=True)
class Fixed:
    """A clock that stands still at a given time; waiting takes no time."""

    at: datetime

    def now(self) -> datetime:
        return self.at

    def monotonic(self) -> float:
        return 0.0

    def sleep(self, seconds: float) -> None:
        pass


NIGHT = datetime(2026, 11, 5, 22, 15, tzinfo=ZoneInfo("Asia/Kolkata"))


@contextmanager
def audit_room(root: Path, *, url: str, at: datetime = NIGHT, updates: bool = False) -> Iterator[Parts]:
    """Parts of a workspace at `root`/workspace, at a fixed time; updates: with a mapping that updates ASNs."""
    workspace = Workspace(root / "workspace", url=url)
    if updates:
        workspace.configure("[service.asn]", 'update_identity = "invoice_number"')
        workspace.mapping("updates", ASNS.replace("asn.create", "asn.update"))
    workspace.mapping("asns", ASNS)
    workspace.mapping("receipts", RECEIPTS)
    with Opened(root / "workspace").parts(Need()) as parts:
        yield replace(parts, clock=Fixed(at))
