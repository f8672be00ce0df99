"""Labels from the whole service: orders created over HTTP, labels read back from the printed pages."""

import json
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import pikepdf
import pytest
from campaigns.scale import report as report_figures
from campaigns.scale import size
from labels.label_files import scan
from labels.print_room import PrintRoom, Wish
from labels.test_manifest import text_of
from support.canary import key_of_tests
from support.sandbox_process import RunningSandbox, sandbox_for_a_test

from logistics_batch.flows.labels.labels import LabelsPlan, make_labels
from logistics_batch.flows.labels.orders import LabelChoice, LabelOrder, choose_orders, sort_orders
from logistics_batch.flows.push.dispatch import Dispatcher


@pytest.fixture
def sandbox(tmp_path: Path) -> Iterator[RunningSandbox]:
    yield from sandbox_for_a_test(tmp_path)


@pytest.fixture
def room(sandbox: RunningSandbox, tmp_path: Path) -> Iterator[PrintRoom]:
    opened = PrintRoom(tmp_path, url=sandbox.url)
    yield opened
    opened.close()


def push(room: PrintRoom, *wishes: Wish) -> None:
    room.drop(*wishes)
    Dispatcher(room.parts, run="run-1").send(room.ledger.documents.planned_of("run-1")["id"])


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
    """Every barcode of the printed pages, in the declared order; the whole campaign prints 2,000 labels."""
    count = size(60, 1997)
    began = time.monotonic()
    push(room, *wishes(count), Wish("ORD-BOX", packages=3))
    pushed = time.monotonic()
    report = make_labels(room.parts, LabelsPlan(orders=LabelChoice(run="orders-nightly")))
    made = time.monotonic()
    assert (report.exit_code, report.orders, report.labels) == (0, count + 1, count + 3)
    served = {order["reference_number"]: order["awb_number"] for order in sandbox.orders()}
    parts = sorted(path for path in report.files if path.name.startswith("labels"))
    printed = [codes for path in parts for codes in scan(path.read_bytes()) if codes]
    assert all(len(codes) == 1 for codes in printed)
    assert {
        code.partition("-0")[0] if code.startswith(f"{served['ORD-BOX']}-") else code for (code,) in printed
    } == set(served.values())
    keys = ("hub", "route", "pincode", "sku", "file")
    wanted = []
    for order in sort_orders(_orders(room), keys):
        wanted += order.children or (order.awb_number,)
    assert [code for (code,) in printed] == wanted
    for path in parts:
        with pikepdf.open(path) as pdf:
            streams = [thing for thing in pdf.objects if isinstance(thing, pikepdf.Stream)]
            fonts = [bytes(stream.read_raw_bytes()) for stream in streams if "/Length1" in stream]
        assert len(set(fonts)) == len(fonts), "no font is stored twice"
    size_bytes = sum(path.stat().st_size for path in parts)
    fetched_bytes = sum(path.stat().st_size for path in (room.parts.files / "labels").iterdir())
    report_figures(
        "labels",
        labels=report.labels,
        pushed_seconds=round(pushed - began, 1),
        made_seconds=round(made - pushed, 1),
        bundle_bytes=size_bytes,
        fetched_bytes=fetched_bytes,
    )
    assert size_bytes < fetched_bytes / 4


def _orders(room: PrintRoom) -> Sequence[LabelOrder]:
    return choose_orders(room.parts, LabelChoice(run="run-1"), reprint=True).orders


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
    (document,) = room.ledger.documents.select(references=["ORD-2"])
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
    assert not [path for path in ours if key_of_tests().encode() in path.read_bytes()]
    label_calls = [line for line in sandbox.received() if line["endpoint"] == "label.create"]
    assert [set(json.loads(json.dumps(line["body"]))) for line in label_calls] == [{"order_numbers[]"}] * 2


def test_every_spoiled_label_is_listed_and_the_rest_is_printed(room: PrintRoom, sandbox: RunningSandbox) -> None:
    """Kinds that another link may mend are asked for three times."""
    spoiled = {
        "expired": ("expired", 3),
        "truncated": ("cut off", 3),
        "html": ("web page", 3),
        "wrong": ("that of another package", 3),
        "blank": ("blank", 1),
        "encrypted": ("encrypted", 1),
        "hostile": ("", 1),
        "oversized": ("larger than 20 MB", 1),
    }
    fine = ("rotated", "cropped", "none")
    push(room, *[Wish(f"ORD-{kind}") for kind in (*spoiled, *fine)])
    faults, request = [], 0
    for kind, (_, asked) in spoiled.items():
        faults.append(_fault(kind, range(request + 1, request + asked + 1)))
        request += asked
    faults += [_fault("rotated", [request + 1]), _fault("cropped", [request + 2])]
    sandbox.set_faults(faults)
    room.parts = room.with_policy(concurrency=1)
    report = make_labels(room.parts, LabelsPlan(sort=("file",)))
    assert report.exit_code == 3
    reasons = {lost.reference_number.removeprefix("ORD-"): lost.reason for lost in report.missing}
    assert set(reasons) == set(spoiled)
    for kind, (words, _) in spoiled.items():
        assert words in reasons[kind], reasons[kind]
    (path,) = [path for path in report.files if path.name == "labels.pdf"]
    awbs = {order["reference_number"]: order["awb_number"] for order in sandbox.orders()}
    assert scan(path.read_bytes()) == [[awbs[f"ORD-{kind}"]] for kind in fine]
    first_page = text_of(next(path for path in report.files if path.name == "manifest.pdf").read_bytes())[0]
    assert all(f"ORD-{kind}" in first_page for kind in spoiled)
    sandbox.set_faults([])
    assert make_labels(room.parts, LabelsPlan()).labels == len(spoiled), "they come with the next bundle"


def _fault(kind: str, requests: Iterable[int]) -> dict[str, object]:
    return {"kind": f"label_{kind}", "endpoint": "label.download", "requests": list(requests)}


@pytest.mark.parametrize("many", ["one_pdf", "one_pdf_reversed", "first_only", "refused"])
def test_calls_for_several_orders_whatever_the_service_makes_of_them(
    room: PrintRoom, sandbox: RunningSandbox, many: str
) -> None:
    sandbox.set_switches(multi_order_labels=many)
    push(room, *wishes(5), Wish("ORD-BOX", packages=2))
    room.parts = room.with_policy(label_orders_per_call=3)
    report = make_labels(room.parts, LabelsPlan())
    assert (report.exit_code, report.labels) == (0, 7)
    (path,) = [path for path in report.files if path.name == "labels.pdf"]
    wanted = [awb for order in sort_orders(_orders(room)) for awb in order.package_awbs]
    assert [code for codes in scan(path.read_bytes()) for code in codes] == wanted
    calls = len([line for line in sandbox.received() if line["endpoint"] == "label.create"])
    assert calls == (2 if many.startswith("one_pdf") else 8)
