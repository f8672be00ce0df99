"""The stage is set: a workspace with settings, secrets, mappings and jobs, and the samples in the SFTP inboxes.

Samples are dated around one day and moved to the demo's: every date keeps its form, everything else stays as it is.
"""

import csv
import io
import re
import secrets
import shutil
from collections.abc import Callable
from datetime import date, datetime, timedelta
from functools import partial
from itertools import chain
from pathlib import Path

from openpyxl import load_workbook

from logistics_batch.demo.service import Sandbox
from logistics_batch.errors import UsageError
from logistics_batch.file_rights import Exposure
from logistics_batch.model.jobs.job import JobPlace
from logistics_batch.operate.new_workspace import SETTINGS_FILE, left_out, shipped
from logistics_batch.settings import Settings, load_settings
from logistics_batch.wiring import Workspace

# How a date looks in the text of a cell, with the form that `strptime` reads it by; a longer form comes before one that
# it contains. No digit, point or slash may stand beside a date: an order or invoice number must not be taken for one.
_FORMS = (
    (r"\d{4}-\d{2}-\d{2}", "%Y-%m-%d"),
    (r"\d{2}-\d{2}-\d{4}", "%d-%m-%Y"),
    (r"\d{2}/\d{2}/\d{4}", "%d/%m/%Y"),
    (r"\d{2}\.\d{2}\.\d{4}", "%d.%m.%Y"),
    (r"\d{2}\.\d{2}\.\d{2}", "%d.%m.%y"),
    (r"\d{2}-[A-Z][a-z]{2}-\d{4}", "%d-%b-%Y"),
    (r"\d{2}-[A-Z][a-z]{2}-\d{2}", "%d-%b-%y"),
)
_DATE = re.compile(rf"(?<![\w./-])(?:{'|'.join(f'({pattern})' for pattern, _ in _FORMS)})(?![\d/-]|\.\d)")
_FARTHEST = timedelta(days=5 * 366)  # from the anchor: what is farther away is a number that looks like a date


def read_anchor(folder: Path) -> date:
    """The day that the samples of a folder are dated around."""
    return date.fromisoformat((folder / "anchor.txt").read_text(encoding="ascii").strip())


def shift_file(source: Path, target: Path, *, anchor: date, to: date) -> None:
    """Copy a CSV file or a workbook with its dates moved from `anchor` to `to`."""
    if source.suffix == ".xlsx":
        _shift_workbook(source, target, anchor=anchor, days=to - anchor)
    else:
        target.write_bytes(_shift_csv(source.read_bytes(), anchor=anchor, days=to - anchor))


def shift_text(text: str, *, anchor: date, days: timedelta) -> str:
    """The text with every date in it moved.

    >>> shift_text("Date: 03.11.26  Dock: 3", anchor=date(2026, 11, 3), days=timedelta(days=30))
    'Date: 03.12.26  Dock: 3'
    """

    def moved(match: re.Match[str]) -> str:
        form = _FORMS[(match.lastindex or 1) - 1][1]
        try:
            day = datetime.strptime(match[0], form).date()  # noqa: DTZ007 - a day, no moment
        except ValueError:
            return match[0]
        return match[0] if abs(day - anchor) > _FARTHEST else (day + days).strftime(form)

    return _DATE.sub(moved, text)


def _shift_csv(content: bytes, *, anchor: date, days: timedelta) -> bytes:
    """Cell by cell; quotes and line ends are written as the samples have them, and a BOM stays."""
    mark = b"\xef\xbb\xbf"
    rows = csv.reader(io.StringIO(content.removeprefix(mark).decode("utf-8"), newline=""))
    shifted = io.StringIO(newline="")
    csv.writer(shifted).writerows([[shift_text(cell, anchor=anchor, days=days) for cell in row] for row in rows])
    return (mark if content.startswith(mark) else b"") + shifted.getvalue().encode()


def _shift_workbook(source: Path, target: Path, *, anchor: date, days: timedelta) -> None:
    book = load_workbook(source)
    for sheet in book.worksheets:
        for cell in chain.from_iterable(sheet.iter_rows()):
            if isinstance(cell.value, str) and cell.data_type == "s":
                cell.value = shift_text(cell.value, anchor=anchor, days=days)
            elif isinstance(cell.value, date):
                cell.value = cell.value + days
    book.save(target)
    book.close()


SERVER = "bhiwandi"
API_KEY_FILE = Path("secrets") / "api-key"
EVENTS_FILE = Path("secrets") / "events"
_PASSWORD_FILE = Path("secrets") / SERVER
# What lies in each inbox at the end of the day.
DROPS = {
    "/inbound/asns": ("asn_bhiwandi_handmade.xlsx", "asn_unicommerce.csv"),
    "/inbound/orders": ("orders_standard_blr.xlsx", "shiprocket_orders.csv", "shopify_orders_export.csv"),
}
# The sample jobs look twice, ten seconds apart, whether a file still grows; nobody writes into the demo's inbox.
_PATIENT, _BRISK = "poll_every: 10s", "poll_every: 200ms"

_SETTINGS = """\
# The workspace of a demo. The service and the SFTP server were a sandbox on this machine and are gone when it ended.

[service]
base_url = "{url}"
api_key_file = "{api_key_file}"
rate = "none"
concurrency = 1                  # one after the other, so that every demo gets the same AWB numbers
timezone = "Asia/Kolkata"

[ledger]
url = "sqlite:///var/ledger.db"

[reports]
dir = "reports"

[receive]
secret_file = "{events_file}"

[sftp.{server}]
host = "{host}"
port = {port}
username = "{username}"
password_file = "{password_file}"
host_key = "{host_key}"
"""


class DemoWorkspace(Workspace):
    """A workspace that heeds no LOGISTICS_BATCH_… variable: one that names a real service must not get the samples."""

    def settings(self) -> Settings:
        """The settings as the demo wrote them."""
        return load_settings(self.folder, {})

    def _settings_again(self) -> Callable[[], Settings]:
        return partial(load_settings, self.folder, {})

    def exposures(self, settings: Settings) -> list[Exposure]:  # noqa: ARG002
        """None: nothing real is sent, wherever the demo is tried."""
        return []


def furnish(folder: Path) -> None:
    """Mappings, jobs, and keys for the sandbox and for the receiver of its events, in a new workspace.

    Raises UsageError if the program came without its samples.
    """
    for name in ("mappings", "jobs", "sample_data"):
        if not shipped(name).is_dir():
            raise UsageError(f"The folder {shipped(name)} is missing.", remedy="Install logistics-batch again.")
    for name in ("mappings", "jobs"):
        shutil.copytree(shipped(name), folder / name, ignore=left_out)
    for path in (folder / "jobs").glob("*.yaml"):
        path.write_text(path.read_text(encoding="utf-8").replace(_PATIENT, _BRISK), encoding="utf-8")
    (folder / "secrets").mkdir(mode=0o700)
    for path in (API_KEY_FILE, EVENTS_FILE):
        _write_secret(folder / path, f"demo-{secrets.token_hex(16)}")


def connect(folder: Path, sandbox: Sandbox) -> DemoWorkspace:
    """Settings that lead to the sandbox, with its host key pinned."""
    _write_secret(folder / _PASSWORD_FILE, sandbox.sftp["password"])
    text = _SETTINGS.format(
        url=sandbox.url,
        api_key_file=API_KEY_FILE.as_posix(),
        events_file=EVENTS_FILE.as_posix(),
        server=SERVER,
        password_file=_PASSWORD_FILE.as_posix(),
        **{name: sandbox.sftp[name] for name in ("host", "port", "username", "host_key")},
    )
    (folder / SETTINGS_FILE).write_text(text, encoding="utf-8")
    return DemoWorkspace(folder)


def drop_samples(workspace: DemoWorkspace, *, business_date: date) -> int:
    """Upload the samples, dated around the business date, as the warehouses would; how many there are."""
    source, dated = shipped("sample_data"), workspace.folder / "sample_data"
    anchor = read_anchor(source)
    dated.mkdir()
    store = workspace.store(workspace.settings(), JobPlace(sftp=SERVER))
    try:
        for inbox, names in DROPS.items():
            for name in names:
                shift_file(source / name, dated / name, anchor=anchor, to=business_date)
                store.put(f"{inbox}/{name}", (dated / name).read_bytes())
    finally:
        store.close()
    return sum(len(names) for names in DROPS.values())


def _write_secret(path: Path, text: str) -> None:
    path.touch(mode=0o600)
    path.write_text(text, encoding="utf-8")
