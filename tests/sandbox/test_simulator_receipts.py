"""The dock of the simulator: the receipts file, what is planted in it and in the service, and that each is named."""

import csv
import io
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from pathlib import Path
from typing import Any

import httpx
import pytest
from openpyxl import load_workbook
from support.sandbox_process import RunningSandbox, start_sandbox

from logistics_batch.sandbox.forms import Refused
from logistics_batch.sandbox.receipts import COLUMNS, receipts_csv, usual_receipts
from logistics_batch.sandbox.receipts_dock import CONDITIONS
from logistics_batch.sandbox.receipts_plan import ADDED_KINDS, KINDS, Outcome, received_with
from logistics_batch.sandbox.receipts_service import SERVICE_KINDS

DAY = date(2026, 11, 20)
DUE = "2026-11-15"
Key = tuple[str, str]


def asns(count: int = 6, lines: int = 4) -> list[dict[str, Any]]:
    """ASNs as the service shows them, all due on `DUE`."""
    header = {"supplier": "SUP-1", "supplier_name": "Acme", "site": "S1", "site_name": None, "status": "New"}
    header |= {"delivery_date": DUE, "expiry_date": None, "batch": None, "serial_number": None}
    line = {"item_desc": None, "price_per_qty": "10.00", "maximum_retail_price": "12.00"}
    return [
        {
            "id": number,
            "invoice_number": f"INV-{number}",
            **dict.fromkeys(("description", "total_price")),
            **header,
            "sku_lines": [
                {"id": number * 100 + place, "sku_name": f"SKU-{number}-{place}", "qty": str(40 + place), **line}
                for place in range(lines)
            ],
        }
        for number in range(1, count + 1)
    ]


def announced(world: list[dict[str, Any]]) -> dict[Key, int]:
    return {(asn["invoice_number"], line["sku_name"]): int(line["qty"]) for asn in world for line in asn["sku_lines"]}


def totals(outcome: Outcome) -> dict[Key, float]:
    counted: dict[Key, float] = {}
    for row in outcome.receipts:
        counted[row.invoice_number, row.item] = counted.get((row.invoice_number, row.item), 0) + row.quantity
    return counted


def test_an_ordinary_day_has_shorts_overs_one_swap_and_one_damaged_line() -> None:
    expected = announced(asns())
    received = usual_receipts(asns(), seed=3)
    oddities = Counter(line.oddity for line in received)
    assert oddities["swapped"] == oddities["damaged"] == 1
    assert oddities["short"] == oddities["over"] == 2
    counted = totals(Outcome(received, []))
    differences = {key for key in expected | counted if expected.get(key, 0) != counted.get(key, 0)}
    assert len(differences) == 2 + 2 + 2  # shorts, overs, both SKUs of the swap
    for line in received:
        sent = expected.get((line.invoice_number, line.item), 0)
        assert line.oddity != "short" or line.quantity < sent
        assert line.oddity != "over" or line.quantity > sent
        assert (line.oddity == "damaged") == (line.condition == "Damaged")
        assert (line.oddity == "swapped") == ((line.invoice_number, line.item) not in expected)
    assert usual_receipts(asns(), seed=3) == received
    assert usual_receipts(asns(), seed=4) != received


@pytest.mark.parametrize("lines", [0, 1, 2])
def test_few_lines_are_enough_for_an_ordinary_day(lines: int) -> None:
    assert len(usual_receipts(asns(1, lines), seed=1)) >= lines


def test_the_receipts_file_is_what_a_warehouse_sends() -> None:
    rows = list(csv.DictReader(io.StringIO(receipts_csv(usual_receipts(asns(1, 3), seed=1), received_on=DAY))))
    assert tuple(rows[0]) == COLUMNS
    assert {row["Received On"] for row in rows} == {"20/11/2026"}
    assert {(row["Supplier"], row["Site"]) for row in rows} == {("Acme", "S1")}


@pytest.mark.parametrize("share", [0.01, 0.02])
def test_every_kind_is_planted_as_often_as_asked_and_the_file_differs_nowhere_else(share: float) -> None:
    world = asns(100, 5)
    outcome = received_with(world, dict.fromkeys(KINDS, share), seed=1, received_on=DAY)
    planted = Counter(one.oddity for one in outcome.oddities)
    assert set(planted) == set(KINDS)
    assert planted["short"] == round(share * 500)
    assert planted["mirrored"] == 2 * round(share * 500)
    assert planted["price_changed"] == planted["no_asn"] == round(share * 100)
    assert planted["never_received"] == planted["late"] == 5 * round(share * 100)
    expected, counted = announced(world), totals(outcome)
    named = {(one.invoice_number, one.item) for one in outcome.oddities}
    elsewhere = {(one.other_invoice_number, one.item) for one in outcome.oddities if one.other_invoice_number}
    swapped_in = {(one.invoice_number, one.other_item) for one in outcome.oddities if one.oddity == "swapped"}
    for key in expected | counted:
        if key not in named | elsewhere | swapped_in:
            assert counted[key] == expected[key], key
    for one in outcome.oddities:
        if one.item and one.oddity != "unexpected_asn":
            assert counted.get((one.invoice_number, one.item), 0) == one.quantity, one
            assert expected.get((one.invoice_number, one.item), 0) == one.announced, one


def test_the_same_seed_plants_the_same() -> None:
    plan = dict.fromkeys(KINDS, 1)
    first, again, other = (received_with(asns(60), plan, seed=seed, received_on=DAY) for seed in (1, 1, 2))
    assert first == again
    assert first.receipts != other.receipts


def test_each_kind_does_what_its_name_says() -> None:
    outcome = received_with(asns(60), dict.fromkeys(KINDS, 1), seed=5, received_on=DAY)
    odd = {one.oddity: one for one in outcome.oddities}
    rows = {kind: [row for row in outcome.receipts if row.oddity == kind] for kind in KINDS}
    assert odd["short"].quantity < odd["short"].announced < odd["over"].announced + odd["over"].quantity
    assert odd["over"].quantity > odd["over"].announced
    assert rows["swapped"][0].item == odd["swapped"].other_item != odd["swapped"].item
    low, high = (one for one in outcome.oddities if one.oddity == "mirrored")
    assert low.announced - low.quantity == high.quantity - high.announced > 0
    assert (low.invoice_number, low.other_item) == (high.invoice_number, high.item)
    assert odd["extra_sku"].announced == 0 < odd["extra_sku"].quantity
    assert odd["missing_sku"].quantity == 0
    assert odd["duplicate_line"].quantity == 2 * odd["duplicate_line"].announced
    assert len(rows["two_trucks"]) == 2
    assert odd["two_trucks"].quantity == odd["two_trucks"].announced
    assert rows["booked_elsewhere"][0].invoice_number == odd["booked_elsewhere"].other_invoice_number
    for kind, word in CONDITIONS.items():
        assert [row.condition for row in rows[kind]].count(word) == 1
    assert not rows["never_received"] + rows["expired"]
    assert {row.received_on > DUE for row in rows["late"]} == {True}
    assert max(row.received_on for row in rows["late"]) <= DAY.isoformat()
    assert {row.received_on < DUE for row in rows["early"]} == {True}
    assert rows["no_asn"][0].invoice_number.startswith("NOASN-")
    assert odd["completed_short"].quantity < odd["completed_short"].announced


def test_what_is_not_due_yet_has_no_rows() -> None:
    world = asns(3)
    world[1]["delivery_date"] = "2026-11-21"
    world[2]["delivery_date"] = None
    outcome = received_with(world, {}, seed=1, received_on=DAY)
    assert outcome.not_due == 1
    assert {(row.invoice_number, row.received_on) for row in outcome.receipts} == {
        ("INV-1", DUE),
        ("INV-3", DAY.isoformat()),
    }


def test_more_than_there_is_room_for_is_refused() -> None:
    with pytest.raises(Refused, match="short is wanted 30 times, but only 24 places"):
        received_with(asns(), {"short": 30}, seed=1, received_on=DAY)
    with pytest.raises(Refused, match="nothing to plant"):
        received_with([], {"short": 1}, seed=1, received_on=DAY)


def test_asns_that_stand_twice_are_left_exact() -> None:
    world = [*asns(2), asns(1)[0] | {"id": 77}]
    outcome = received_with(world, {"short": 4}, seed=1, received_on=DAY)
    assert {one.invoice_number for one in outcome.oddities} == {"INV-2"}


@pytest.fixture(scope="module")
def dock(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningSandbox]:
    running = start_sandbox(tmp_path_factory.mktemp("dock"), sftp=True)
    yield running
    running.kill()


@pytest.fixture
def client(dock: RunningSandbox) -> Iterator[httpx.Client]:
    headers = {"API_KEY": dock.api_key}
    with httpx.Client(base_url=dock.url, headers=headers, trust_env=False) as client:
        yield client


def send_asns(client: httpx.Client, prefix: str, count: int) -> None:
    for asn in asns(count):
        body = {name: value for name, value in asn.items() if value is not None and name != "id"}
        kept = ("sku_name", "qty", "price_per_qty", "maximum_retail_price")
        lines = [{name: line[name] for name in kept} for line in asn["sku_lines"]]
        body |= {"invoice_number": f"{prefix}-{asn['id']}", "sku_lines": lines}
        reply = client.post("/wms/advance-shipping-notice", json=body)
        assert reply.status_code == 200, reply.text


def close_all(dock: RunningSandbox) -> None:
    for asn in dock.control("GET", "/asns"):
        dock.control("POST", f"/asns/{asn['id']}", {"status": "Completed"})


def test_the_receipts_file_is_dropped_on_the_sftp_server(dock: RunningSandbox, client: httpx.Client) -> None:
    assert dock.sftp is not None
    close_all(dock)
    send_asns(client, "PLAIN", 2)
    asked = {"seed": 5, "received_on": "2026-11-20", "file": "/inbound/receipts/receipts.csv"}
    said = dock.control("POST", "/receipts", asked)
    assert (dock.sftp.root / "inbound/receipts/receipts.csv").read_bytes().decode() == said["csv"]
    assert said["lines"] == len(said["csv"].splitlines()) - 1
    assert {one["oddity"] for one in said["odd"]} == {"short", "over", "swapped", "damaged"}
    again = dock.control("POST", "/receipts", asked | {"file": "receipts.xlsx", "format": "xlsx"})
    (sheet,) = load_workbook(dock.sftp.root / "receipts.xlsx").worksheets
    assert [[str(cell) for cell in row] for row in sheet.iter_rows(values_only=True)] == list(
        csv.reader(io.StringIO(again["csv"]))
    )
    outside = client.post("/_sandbox/receipts", json={"file": "../outside.csv"})
    assert outside.status_code == 400
    assert not (dock.sftp.root.parent / "outside.csv").exists()


def test_the_service_changes_as_planted(dock: RunningSandbox, client: httpx.Client) -> None:
    close_all(dock)
    send_asns(client, "SVC", 30)
    before = {asn["invoice_number"]: asn for asn in dock.control("GET", "/asns")}
    plan = {**dict.fromkeys(SERVICE_KINDS, 1), "unexpected_asn": 1}
    said = dock.control("POST", "/receipts", {"seed": 2, "received_on": "2026-11-20", "plant": plan})
    odd = {one["oddity"]: one["invoice_number"] for one in said["odd"]}
    listed = dock.control("GET", "/asns")
    after = {asn["invoice_number"]: asn for asn in listed}
    counts = Counter(asn["invoice_number"] for asn in listed)
    assert odd["deleted_asn"] not in after
    assert counts[odd["duplicate_asn"]] == 2
    assert odd["unexpected_asn"] in after.keys() - before.keys()
    changed = {
        "supplier_changed": "supplier_name",
        "site_changed": "site",
        "delivery_date_changed": "delivery_date",
        "description_changed": "description",
        "batch_changed": "batch",
        "total_changed": "total_price",
    }
    for kind, name in changed.items():
        assert after[odd[kind]][name] != before[odd[kind]][name], kind
    lines = {
        "price_changed": "price_per_qty",
        "mrp_changed": "maximum_retail_price",
        "announced_quantity_changed": "qty",
    }
    for kind, name in lines.items():
        assert after[odd[kind]]["sku_lines"][0][name] != before[odd[kind]]["sku_lines"][0][name], kind
    assert [len(after[odd[kind]]["sku_lines"]) for kind in ("line_removed", "line_added")] == [3, 5]
    statuses = {"status_went_back": "New", "stuck_in_progress": "In-Progress", "completed_short": "Completed"}
    for kind, status in (statuses | {"expired": "Expired"}).items():
        assert after[odd[kind]]["status"] == status
    assert after[odd["stuck_in_progress"]]["modified_date"].startswith("2026-11-06")
    untouched = before.keys() - set(odd.values())
    assert {number: after[number] for number in untouched} == {number: before[number] for number in untouched}


def test_the_day_moves_the_statuses_of_asns_when_asked(dock: RunningSandbox, client: httpx.Client) -> None:
    close_all(dock)
    send_asns(client, "DAY", 4)
    asked = {"seed": 2, "received_on": "2026-11-20", "plant": {"missing_sku": 1, "never_received": 1}}
    said = dock.control("POST", "/receipts", asked | {"move_asns": True})
    odd = {one["oddity"]: one["invoice_number"] for one in said["odd"]}
    for asn in dock.control("GET", "/asns"):
        if asn["invoice_number"].startswith("DAY-"):
            kind = next((name for name, number in odd.items() if number == asn["invoice_number"]), "")
            assert asn["status"] == {"missing_sku": "In-Progress", "never_received": "New"}.get(kind, "Completed")
            assert (asn["modified_date"] > asn["created_date"]) == (kind != "never_received")


def test_requests_are_answered_while_the_dock_is_busy(dock: RunningSandbox, client: httpx.Client) -> None:
    close_all(dock)
    lines = [{"sku_name": f"SKU-{number}", "qty": "10"} for number in range(1_000)]
    for number in range(20):
        body = {"supplier": "S", "site": "W", "invoice_number": f"BIG-{number}", "sku_lines": lines}
        assert client.post("/wms/advance-shipping-notice", json=body).status_code == 200
    asked = {"seed": 1, "plant": {"short": 0.1, "swapped": 0.1, "price_changed": 3}, "move_asns": True}
    with ThreadPoolExecutor(1) as callers:
        said = callers.submit(dock.control, "POST", "/receipts", asked)
        answered = 0
        while not said.done():
            answered += client.get("/orders/shipment/NOSUCH").status_code == 400
    assert said.result()["lines"] == 20_000
    assert answered > 5  # all of them would have waited for the dock, but for the one under way


@pytest.mark.parametrize(
    "body",
    [
        {"plant": {"gremlins": 0.1}},
        {"plant": {"short": 1.5}},
        {"plant": {"short": -1}},
        {"plant": {"short": True}},
        {"plant": ["short"]},
        {"format": "pdf"},
        {"received_on": "tomorrow"},
        {"seed": None},
        {"file": ""},
        {"file": "/"},
        {"file": "a\0b"},
        {"file": "x" * 300},
    ],
)
def test_a_wrong_order_to_the_dock_is_refused(client: httpx.Client, body: dict[str, Any], tmp_path: Path) -> None:
    reply = client.post("/_sandbox/receipts", json=body)
    assert (reply.status_code, reply.json()["message"].split(" ")[0]) == (400, "Malformed")


def test_no_kind_is_without_a_place() -> None:
    assert len(set(KINDS)) == len(KINDS)
    assert set(ADDED_KINDS) | set(SERVICE_KINDS) | set(CONDITIONS) <= set(KINDS)
