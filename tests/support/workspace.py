"""A workspace as an operator has it, and the command line run in it as a process of its own."""

import os
import subprocess
import sys
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from support.canary import key_of_tests
from support.commands import Finished, Piped, forker_of_tests, may_be_forked
from support.sandbox_process import SftpPlace

from logistics_batch.api.client import ServiceAccess
from logistics_batch.api.key_print import key_print
from logistics_batch.api.secret import Secret
from logistics_batch.ledger import ServiceFacts, open_ledger

if TYPE_CHECKING:
    from support.sftp_servers import RunningSshd

ORDERS_MAPPING = """\
operation: order.create
key: [Order No]
fields:
  reference_number: {from: Order No, required: true}
  customer_mobile: {from: Phone, read: mobile, required: true}
  delivery_address: {from: Address, required: true}
  delivery_postal_code: {from: PIN, read: pincode}
lines:
  item_name: {from: SKU, required: true}
  item_quantity: {from: Qty, read: integer}
"""

ASNS_MAPPING = """\
operation: asn.create
key: [Supplier, Site, Invoice]
fields:
  supplier_name: {from: Supplier, required: true}
  site_name: {from: Site, required: true}
  invoice_number: {from: Invoice, required: true}
lines:
  sku_name: {from: SKU, required: true}
  qty: {from: Qty, read: integer, required: true}
"""

APPROVED_JOB = """\
kind: push
mapping: orders
source: {folder: inbound, path: /, pattern: "*.csv", ready: {unchanged_for: 2, poll_every: 0.01s}}
results: {folder: results, path: /}
approve: required
"""

ORDER_COLUMNS = "Order No,Phone,Address,PIN,SKU,Qty"
ASN_COLUMNS = "Supplier,Site,Invoice,SKU,Qty"


def order_lines(references: Iterable[str], *, items: int = 1) -> str:
    """A CSV of valid orders with `items` lines each."""
    rows = [
        f"{reference},98765{index:05d},{index} Market Road,560{index % 900:03d},SKU-{item},{item}"
        for index, reference in enumerate(references, 1)
        for item in range(1, items + 1)
    ]
    return "\n".join([ORDER_COLUMNS, *rows, ""])


def asn_lines(invoices: Iterable[str]) -> str:
    """A CSV of valid ASNs with two lines each."""
    rows = [f"Acme,Bhiwandi,{invoice},SKU-{item},{item * 10}" for invoice in invoices for item in (1, 2)]
    return "\n".join([ASN_COLUMNS, *rows, ""])


class Workspace:
    """A folder with settings for a service at `url`, two mappings, and whatever jobs a test writes."""

    def __init__(self, root: Path, *, url: str, api_key: str = "", settle_after: str = "0s") -> None:
        self.root, self.url, self.is_patient = root, url, False
        root.mkdir(parents=True, exist_ok=True)
        for name in ("mappings", "jobs", "secrets"):
            (root / name).mkdir(exist_ok=True)
        self.secret("api-key", api_key or key_of_tests())
        self.settings = [
            "[service]",
            f'base_url = "{url}"',
            'api_key_file = "secrets/api-key"',
            'rate = "none"',
            f'settle_after = "{settle_after}"',
        ]
        self._write_settings()
        self.mapping("orders", ORDERS_MAPPING)
        self.mapping("asns", ASNS_MAPPING)

    def secret(self, name: str, value: str) -> Path:
        """A private file under secrets/."""
        path = self.root / "secrets" / name
        path.unlink(missing_ok=True)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT, 0o600)
        with os.fdopen(descriptor, "w") as handle:
            handle.write(value)
        return path

    def sftp(self, name: str, server: "RunningSshd | SftpPlace", *, port: int = 0, host_key: str = "") -> None:
        """Settings of an SFTP server, with the key or password that it lets in among the secrets.

        port, host_key: others than the server's own.
        """
        if isinstance(server, SftpPlace):
            kind, secret, known = "password_file", server.password, server.host_key
        else:
            kind, secret, known = "key_file", server.key_file.read_text(), server.host_key_line
        self.secret(name, secret)
        self.configure(
            f"[sftp.{name}]",
            f'host = "{server.host}"',
            f"port = {port or server.port}",
            f'username = "{server.username}"',
            f'{kind} = "secrets/{name}"',
            f'host_key = "{host_key or known}"',
        )

    def configure(self, *lines: str) -> None:
        """More lines for logistics-batch.toml."""
        self.settings += lines
        self._write_settings()

    def _write_settings(self) -> None:
        (self.root / "logistics-batch.toml").write_text("\n".join([*self.settings, ""]))

    def mapping(self, name: str, text: str) -> None:
        """A mapping file."""
        (self.root / "mappings" / f"{name}.yaml").write_text(text)

    def job(self, name: str, text: str) -> None:
        """A job file."""
        (self.root / "jobs" / f"{name}.yaml").write_text(text)

    def second_creates_are_refused(self) -> None:
        """As if test orders had shown it (`doctor --staging`): then no acceptance is looked at."""
        access = ServiceAccess(self.url, Secret((self.root / "secrets" / "api-key").read_text()))
        facts = ServiceFacts("2026-11-21T10:00:00+05:30", False, "refused", "", (), key_print(access))
        (self.root / "var").mkdir(exist_ok=True, mode=0o700)
        with closing(open_ledger(f"sqlite:///{self.root}/var/ledger.db", account=self.url)) as ledger:
            ledger.facts.keep(facts)

    def drop(self, name: str, content: str | bytes, *, folder: str = "inbound") -> Path:
        """A file as a clerk would drop it into a folder of the workspace."""
        path = self.root / folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def run(self, *arguments: str | Path, timeout: float = 120, **environment: str) -> Finished:
        """Run `logistics-batch` in this workspace."""
        whole = self.environment(environment)
        if may_be_forked(whole):
            hurried = not self.is_patient
            return forker_of_tests().run(self, *arguments, seconds=timeout, environment=environment, hurried=hurried)
        done = subprocess.run(
            self.command(*arguments),
            cwd=self.root,
            env=whole,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout,
        )
        return Finished(done.returncode, done.stdout, done.stderr)

    def start(self, *arguments: str | Path, **environment: str) -> Piped:
        """The same without waiting for its end."""
        assert may_be_forked(self.environment(environment))
        return forker_of_tests().pipe(self, *arguments, environment=environment)

    @staticmethod
    def command(*arguments: str | Path) -> list[str]:
        """The command line of this checkout."""
        return [sys.executable, "-m", "logistics_batch", *(str(argument) for argument in arguments)]

    @staticmethod
    def environment(extra: dict[str, str]) -> dict[str, str]:
        """An environment without settings of whoever runs the tests."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith("LOGISTICS_BATCH_")}
        return kept | {"COLUMNS": "120"} | extra
