"""A new workspace: settings with a word on each key, and the shipped mappings and jobs to begin from."""

import shutil
from collections.abc import Iterable, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Final

from logistics_batch.errors import UsageError
from logistics_batch.specification import nearest

SETTINGS_FILE = "logistics-batch.toml"
_FOLDERS = ("mappings", "jobs", "sample_data")
_HIDDEN = shutil.ignore_patterns("__pycache__", ".*", "*.py")

STARTERS: Final = (
    "asn_handmade",
    "asn_unicommerce",
    "orders_standard",
    "receipts",
    "shiprocket_orders",
    "shopify_orders",
)
"""The mappings that every workspace begins with: those of the shipped jobs."""

_SETTINGS = """\
# Settings of this workspace. Every key can also come from the environment, which wins over this file:
# LOGISTICS_BATCH_SERVICE__BASE_URL, LOGISTICS_BATCH_SERVICE__API_KEY …
# Every secret has a twin "…_file": a path, from here, of a file that only you can read (chmod 600).
# `logistics-batch doctor` checks all of it.

[service]
base_url = "https://api.example.com"
api_key_file = "secrets/api-key"
rate = "1/s"                     # N/s, N/min or none; for everything that uses this key
concurrency = 4
deadline = "45s"                 # for a whole call
create_deadline = "60s"
settle_after = "180s"            # how long after a doubt the service may still act on a call
timezone = "Asia/Kolkata"
label_hosts = []                 # hosts of label links besides that of base_url
# longitude = "delivery_lon"     # if the service wants the spelling of the samples
# ca_file = "secrets/ca.pem"     # if the service's certificate is not a public one
# proxy = "http://proxy:3128"

[service.asn]
update_identity = ""             # "invoice_number" if the operator confirms that it identifies an ASN
resend = "never"                 # or after_absent: an ASN without an answer may then arrive twice
marker = false                   # true: a short word in each description, by which an ASN without an answer is found

# [service.paths]                # where the service differs from the published paths
# "order.cancel" = "/orders/cancel/{orderId}"

[ledger]
url = "sqlite:///var/ledger.db"  # or postgresql://USER@HOST/DATABASE

[reports]
dir = "reports"

# One section for each SFTP server; jobs name it as `sftp: bhiwandi`.
# [sftp.bhiwandi]
# host = "sftp.example.com"
# port = 22
# username = "wms"
# key_file = "secrets/bhiwandi"  # or password_file
# host_key = "ssh-ed25519 AAAA…" # or known_hosts = "path"; without either nothing connects

# Whom to tell when a run fails or a file does not come; needs the extra logistics-batch[alerts].
# [notify]
# urls_file = "secrets/alerts"   # one Apprise address a line: mailto://…, slack://…, json://…
# digest = "07:00"               # a daily digest

# [log]
# format = "json"                # or text
# file = "var/log.jsonl"         # by default standard error

# [metrics]
# textfile = "var/metrics.prom"  # needs the extra logistics-batch[metrics]

# Where `logistics-batch receive` takes events of orders; put a server that speaks TLS in front.
# [receive]
# host = "127.0.0.1"
# port = 8480
# path = "/events"               # a part of it may be long and secret, too
# header = "X-Logistics-Secret"  # the header that carries the secret; with hyphens, or proxies drop it
# secret_file = "secrets/events" # openssl rand -hex 32 > secrets/events
"""


def create_workspace(folder: Path) -> list[Path]:
    """Make a workspace in `folder`; gives the files that were written. What is there already stays as it is.

    Raises UsageError if the folder is a workspace already, or cannot be written.
    """
    settings = folder / SETTINGS_FILE
    if settings.exists():
        raise UsageError(f"{folder} is a workspace already.", remedy="Name another folder.")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "secrets").mkdir(mode=0o700, exist_ok=True)
        written = [path for name in _FOLDERS for path in _copy(shipped(name), folder / name)]
        settings.write_text(_SETTINGS, encoding="utf-8")
    except OSError as error:
        raise _unwritable(error, folder) from error
    return [settings, *written]


def more_layouts() -> list[str]:
    """The names of the shipped mappings that a workspace does not begin with, sorted."""
    return sorted(path.stem for path in shipped("mappings").glob("*.yaml") if path.stem not in STARTERS)


def add_layouts(folder: Path, names: Sequence[str]) -> list[Path]:
    """Put shipped mappings with their examples into a workspace; gives the files that were written.

    What is there already stays as it is. Raises UsageError if there is no such mapping, or the folder cannot be
    written.
    """
    known = [*STARTERS, *more_layouts()]
    for name in names:
        if name not in known:
            remedy = nearest(name, known) or f"There are: {', '.join(sorted(known))}."
            raise UsageError(f'No layout "{name}" comes with the program.', remedy=remedy)
    try:
        (folder / "mappings").mkdir(parents=True, exist_ok=True)
        return _copy(shipped("mappings"), folder / "mappings", mappings=names)
    except OSError as error:
        raise _unwritable(error, folder) from error


def shipped(name: str) -> Path:
    """A folder that comes with the program: inside the installed package, or at the top of a checkout."""
    package = Path(str(files("logistics_batch")))
    installed = package / "_shipped" / name
    return installed if installed.is_dir() else package.parent.parent / name


def left_out(folder: str, names: Iterable[str], mappings: Sequence[str] = STARTERS) -> set[str]:
    """Which names in a shipped folder are not copied: programs, and other mappings with their examples."""
    found = set(_HIDDEN(folder, [*names]))
    if Path(folder).name in ("mappings", "examples"):
        found |= {name for name in names if name != "examples" and name.removesuffix(".yaml") not in mappings}
    return found


def _unwritable(error: OSError, folder: Path) -> UsageError:
    return UsageError(f"{error.filename or folder} cannot be written: {error.strerror}.")


def _copy(source: Path, target: Path, mappings: Sequence[str] = STARTERS) -> list[Path]:
    written: list[Path] = []
    target.mkdir(exist_ok=True)
    for path in sorted(source.rglob("*")) if source.is_dir() else ():
        goal = target / path.relative_to(source)
        if left_out(str(path.parent), [path.name], mappings) or goal.exists():
            continue
        if path.is_dir():
            goal.mkdir()
        elif goal.parent.is_dir():
            goal.write_bytes(path.read_bytes())
            written.append(goal)
    return written
