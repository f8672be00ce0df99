"""Ways to send many orders to a service, each in a process of its own: `push_ways.py WAY URL ORDERS IN_FLIGHT [RATE]`.

Prints the seconds from the first call to the last durable outcome, and those of the processor. Bodies are the same
everywhere, about 1.5 kB.
"""

import asyncio
import json
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from logistics_batch.api.client import Client, ServiceAccess
from logistics_batch.api.key_print import key_print
from logistics_batch.api.pacing import Pacer
from logistics_batch.api.secret import Secret
from logistics_batch.ledger import Ledger, ServiceFacts

KEY = "bench-key"
PATH = "/orders/shipment"
COLUMNS = ("Order", "Phone", "Address", "SKU", "Qty")
MAPPING = """\
operation: order.create
key: [Order]
fields:
  reference_number: {from: Order, required: true}
  customer_mobile: {from: Phone, read: mobile, required: true}
  delivery_address: {from: Address, required: true}
lines:
  item_name: {from: SKU, required: true}
  item_quantity: {from: Qty, read: integer}
"""


def rows(orders: int) -> list[tuple[str, ...]]:
    """The lines of a CSV file, header first: two dozen items an order make its body 1.5 kB."""
    lines = [
        (
            f"B-{number}",
            f"98765{number % 100_000:05d}",
            f"{number} Market Road",
            f"ITEM-{number:06d}-{item:04d}-BLUE",
            "1",
        )
        for number in range(orders)
        for item in range(24)
    ]
    return [COLUMNS, *lines]


def body(number: int) -> bytes:
    """The same order as a body."""
    items = [{"item_name": f"ITEM-{number:06d}-{item:04d}-BLUE", "item_quantity": 1} for item in range(24)]
    order = {
        "reference_number": f"B-{number}",
        "customer_mobile": f"98765{number % 100_000:05d}",
        "delivery_address": f"{number} Market Road",
        "item_details": items,
    }
    return json.dumps(order, separators=(",", ":")).encode()


def _since(began: float, used: float) -> tuple[float, float]:
    return time.perf_counter() - began, time.process_time() - used


def second_creates_are_refused(ledger: Ledger, url: str, key: str = KEY) -> None:
    """As `doctor --staging` would have found it: then no accepted order is looked at."""
    seen = key_print(ServiceAccess(base_url=url, api_key=Secret(key)))
    ledger.facts.keep(ServiceFacts("2026-11-21T10:00:00+05:30", True, "refused", "", (), seen))


def ours(url: str, orders: int, in_flight: int, *, rate: str = "none") -> tuple[float, float]:
    """Intents and outcomes durable: the dispatcher with its ledger on this disk; reading is not counted."""
    from logistics_batch.flows.files.receive import ReceivedFile, arrival_of
    from logistics_batch.flows.push.dispatch import Dispatcher
    from logistics_batch.flows.push.push import sending_mapping
    from logistics_batch.wiring import Need, Workspace

    with tempfile.TemporaryDirectory(dir=Path.cwd()) as made:
        folder = Path(made)
        (folder / "mappings").mkdir()
        (folder / "mappings/orders.yaml").write_text(MAPPING)
        (folder / "orders.csv").write_text("\n".join(map(",".join, rows(orders))))
        settings = f'base_url = "{url}"\nrate = "{rate}"\nconcurrency = {in_flight}\napi_key_file = "key"\n'
        (folder / "logistics-batch.toml").write_text(f"[service]\n{settings}")
        (folder / "key").touch(mode=0o600)
        (folder / "key").write_text(KEY)
        with Workspace(folder).parts(Need()) as parts, parts.ledger.sending("bench"):
            second_creates_are_refused(parts.ledger, url)
            now, ledger = parts.clock.now(), parts.ledger
            day = now.date()
            ledger.runs.start("B", job="bench", kind="push", business_date=day.isoformat(), now=now.isoformat())
            file = ReceivedFile(folder / "orders.csv", "orders.csv")
            ledger.planning.plan_file(
                "B", arrival_of(parts, file, sending_mapping(parts.mapping("orders")), business_date=day)
            )
            planned = ledger.documents.planned_of("B")["id"]
            began, used = time.perf_counter(), time.process_time()
            stopped = Dispatcher(parts, run="B").send(planned).stopped
            taken = _since(began, used)
            if stopped or len(ledger.documents.select(states=["accepted"])) != orders:
                raise SystemExit(f"Not all were accepted: {stopped}")
    return taken


def bare(url: str, orders: int, in_flight: int) -> tuple[float, float]:
    """The same client without a ledger."""
    client = Client(ServiceAccess(base_url=url, api_key=Secret(KEY)), pacer=Pacer("none"))
    bodies = [body(number) for number in range(orders)]
    began, used = time.perf_counter(), time.process_time()
    with ThreadPoolExecutor(in_flight) as workers:
        replies = workers.map(lambda content: client.call("order.create", body=content, turn_taken=True).status, bodies)
        if set(replies) != {200}:
            raise SystemExit("Not all were accepted.")
    return _since(began, used)


def script(url: str, orders: int, in_flight: int) -> tuple[float, float]:
    """What one writes in an afternoon: httpx.AsyncClient, kept connections, nothing written down."""
    import httpx

    async def send_all() -> tuple[float, float]:
        turns = asyncio.Semaphore(in_flight)
        limits = httpx.Limits(max_connections=in_flight, max_keepalive_connections=in_flight)
        async with httpx.AsyncClient(headers={"API_KEY": KEY}, limits=limits, timeout=60) as client:

            async def send(number: int) -> None:
                async with turns:
                    (await client.post(url + PATH, content=body(number))).raise_for_status()

            began, used = time.perf_counter(), time.process_time()
            await asyncio.gather(*(send(number) for number in range(orders)))
            return _since(began, used)

    return asyncio.run(send_all())


WAYS: dict[str, Callable[..., tuple[float, float]]] = {"ours": ours, "bare": bare, "script": script}

if __name__ == "__main__":
    rate = {"rate": sys.argv[5]} if len(sys.argv) > 5 else {}
    wall, processor = WAYS[sys.argv[1]](sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), **rate)
    print(json.dumps({"seconds": wall, "processor": processor}))
