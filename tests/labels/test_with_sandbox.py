"""Labels from the whole service: orders created over HTTP, labels read back from the printed pages."""

import io
import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import pikepdf
import pytest
from labels.label_files import scan
from labels.print_room import PrintRoom, Wish
from support.sandbox_process import RunningSandbox, start_sandbox

from logistics_batch.flows.dispatch import Dispatcher
from logistics_batch.flows.label_orders import Choice, LabelOrder, choose_orders
from logistics_batch.flows.label_sorting import sort_orders
from logistics_batch.flows.labels import LabelsPlan, make_labels


@pytest.fixture
def sandbox(tmp_path: Path) -> Iterator[RunningSandbox]:
    running = start_sandbox(tmp_path)
    yield running
    running.stop()


@pytest.fixture
def room(sandbox: RunningSandbox, tmp_path: Path) -> Iterator[PrintRoom]:
    opened = PrintRoom(tmp_path, url=sandbox.url)
    yield opened
    opened.close()


def push(room: PrintRoom, *wishes: Wish) -> None:
    room.drop(*wishes)
    Dispatcher(room.parts, run="run-1").send(room.ledger.planned_of("run-1"))


def wishes(count: int) -> list[Wish]:
    return [
        Wish(
            f"ORD-{number}",
            pincode=("560001", "400001", "110001")[number % 3],
            item=f"SKU-{number % 7}",
            cash="649.00" if number % 4 == 0 else "",
            name=("Asha Rao", "सुनीता क्षीरसागर", "தமிழ்ச்செல்வன்")[number % 3],
            keep={"route": f"R-{number % 12}"},
        )
        for number in range(1, count + 1)
    ]


def test_bundle_of_the_nightly_run(room: PrintRoom, sandbox: RunningSandbox) -> None:
    push(room, *wishes(60), Wish("ORD-BOX", packages=3))
    report = make_labels(room.parts, LabelsPlan(orders=Choice(run="orders-nightly")))
    assert (report.exit_code, report.orders, report.labels) == (0, 61, 63)
    served = {order["reference_number"]: order["awb_number"] for order in sandbox.orders()}
    content = next(path for path in report.files if path.name == "labels.pdf").read_bytes()
    printed = [codes for codes in scan(content) if codes]
    assert all(len(codes) == 1 for codes in printed)
    assert {
        code.partition("-0")[0] if code.startswith(f"{served['ORD-BOX']}-") else code for (code,) in printed
    } == set(served.values())
    keys = ("hub", "route", "pincode", "sku", "file")
    wanted = []
    for order in sort_orders(_orders(room), keys):
        wanted += order.children or (order.awb_number,)
    assert [code for (code,) in printed] == wanted
    with pikepdf.open(io.BytesIO(content)) as pdf:
        streams = [thing for thing in pdf.objects if isinstance(thing, pikepdf.Stream)]
        fonts = [bytes(stream.read_raw_bytes()) for stream in streams if "/Length1" in stream]
    assert len(set(fonts)) == len(fonts), "no font is stored twice"


def _orders(room: PrintRoom) -> Sequence[LabelOrder]:
    return choose_orders(room.parts, Choice(run="run-1"), reprint=True).orders


def test_link_that_expires_at_once_is_asked_for_again_and_listed(room: PrintRoom, sandbox: RunningSandbox) -> None:
    push(room, *wishes(2))
    sandbox.set_switches(link_lifetime_seconds=-1)
    report = make_labels(room.parts, LabelsPlan())
    assert report.exit_code == 3
    assert ["expired" in lost.reason for lost in report.missing] == [True, True]
    assert len(sandbox.committed("label.created")) == 6
    sandbox.set_switches(link_lifetime_seconds=900)
    assert make_labels(room.parts, LabelsPlan()).exit_code == 0


def test_faults_on_the_way_cost_no_label(room: PrintRoom, sandbox: RunningSandbox) -> None:
    push(room, *wishes(12))
    sandbox.set_faults(
        [
            {"kind": "error_500_before", "endpoint": "label.create", "requests": [2]},
            {"kind": "drop_after", "endpoint": "label.create", "requests": [4]},
            {"kind": "html_200", "endpoint": "label.create", "requests": [6]},
            {"kind": "status_429", "endpoint": "label.create", "requests": [8], "retry_after": "0"},
        ]
    )
    report = make_labels(room.parts, LabelsPlan())
    assert (report.exit_code, report.labels) == (0, 12)


def test_order_cancelled_at_the_service_is_refused_and_listed(room: PrintRoom, sandbox: RunningSandbox) -> None:
    push(room, *wishes(3))
    (document,) = room.ledger.documents(references=["ORD-2"])
    reply = room.parts.client.call("order.cancel", order_id=document.awb_number)
    assert reply.status == 200
    report = make_labels(room.parts, LabelsPlan())
    assert (report.exit_code, report.labels) == (3, 2)
    (lost,) = report.missing
    assert lost.reference_number == "ORD-2"
    assert "The order is cancelled" in lost.reason


def test_key_is_in_no_file(room: PrintRoom, sandbox: RunningSandbox, tmp_path: Path) -> None:
    push(room, *wishes(2))
    make_labels(room.parts, LabelsPlan())
    room.close()
    ours = [path for path in tmp_path.rglob("*") if path.is_file() and "sandbox" not in path.parts]
    assert ours
    assert not [path for path in ours if b"test-key" in path.read_bytes()]
    label_calls = [line for line in sandbox.received() if line["endpoint"] == "label.create"]
    assert [set(json.loads(json.dumps(line["body"]))) for line in label_calls] == [{"order_numbers[]"}] * 2
