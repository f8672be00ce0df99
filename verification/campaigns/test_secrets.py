"""A canary for an API key: everything runs with all that can be logged, and the key must stand nowhere afterwards."""

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from campaigns.nights import KINDS, night
from campaigns.scale import report
from support.canary import CANARY, forms, places
from support.commands import Forker
from support.sandbox_process import RunningSandbox, start_sandbox
from support.workspace import Workspace

RECONCILE = """\
kind: reconcile
window: {by: created, from: -3d, to: 1d}
"""


@pytest.fixture
def service(tmp_path: Path) -> Iterator[RunningSandbox]:
    running = start_sandbox(tmp_path, api_key=CANARY)
    yield running
    running.stop()


@pytest.fixture
def outputs(tmp_path: Path) -> Iterator[tuple[Forker, Path]]:
    folder = tmp_path / "outputs"
    folder.mkdir()
    running = Forker(folder)
    yield running, folder
    running.close()


def test_the_search_finds_every_form(tmp_path: Path) -> None:
    for number, looks in enumerate(forms(CANARY).values()):
        (tmp_path / str(number)).write_bytes(b"log: " + looks + b"\n")
    assert {found.partition(":")[0] for found in places(tmp_path, CANARY)} == {
        str(number) for number in range(len(forms(CANARY)))
    }
    for number in range(len(forms(CANARY))):  # not for the search over all that tests leave
        (tmp_path / str(number)).unlink()


@pytest.mark.slow
@pytest.mark.repeats_key
def test_a_key_stands_nowhere(outputs: tuple[Forker, Path], service: RunningSandbox, tmp_path: Path) -> None:
    forker, folder = outputs
    workspace = Workspace(tmp_path / "workspace", url=service.url, api_key=CANARY, settle_after="0s")
    workspace.job("compare", RECONCILE)
    service.set_faults(
        [  # among answers of every kind some that repeat the key
            {"endpoint": ["order.create", "asn.create"], "every": 5, "kind": "drop_after"},
            {"endpoint": ["order.create", "asn.create"], "every": 7, "kind": "status_400", "message": f"Key {CANARY}?"},
            {"endpoint": "order.create", "every": 11, "kind": "redirect_302", "location": f"/x?API_KEY={CANARY}"},
            {"endpoint": "asn.create", "every": 6, "kind": "html_200"},
            {"endpoint": "label.create", "requests": [1], "kind": "fail_200", "message": f"No: {CANARY}"},
            {"endpoint": "label.create", "requests": [2], "kind": "drop_after"},
        ]
    )
    for kind in KINDS:
        night(workspace, kind, documents=12, in_each=6)
    asked: list[tuple[str, ...]] = [
        *(("run", kind) for kind in KINDS),
        ("settle", "--wait"),
        ("held", "list", "--json"),
        ("doctor", "--json"),
        ("asn", "fetch", "--invoice", "A-00001", "--json"),
        ("order", "get", "SH-NOTHING"),
        ("labels", "--sort", "sku"),
        ("run", "compare"),
        ("run", "nothing"),
    ]
    codes = [forker.start(workspace, *arguments, debug=True).end().code for arguments in asked]
    awb = service.orders()[0]["awb_number"]
    for arguments in (("labels", "--orders", awb), ("order", "get", awb), ("--traceback", "order", "cancel", awb)):
        codes.append(forker.start(workspace, *arguments, debug=True).end().code)
    killed = forker.start(workspace, "run", "orders", debug=True)
    killed.signal(signal.SIGTERM)
    killed.end()
    logged = sum(path.stat().st_size for path in folder.iterdir())
    found = places(workspace.root, CANARY) + places(folder, CANARY)
    files = sum(path.is_file() for path in workspace.root.rglob("*"))
    report("secrets", commands=len(codes), files=files, bytes_logged=logged, hits=len(found), exit_codes=codes)
    assert not found
    log = b"".join(path.read_bytes() for path in folder.glob("*.err"))
    assert b"DEBUG:" in log
    assert b"98765000" not in log and b"Market Road" not in log, "phones and addresses are data of people"
    assert service.received("label.create")
