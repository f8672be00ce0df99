"""Of ten creates three go wrong, of twenty reads one, in many ways: nothing doubled, every doubt settled or listed."""

import json
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from campaigns.nights import Night, Verdict, created, held, judge, night, what_is_held_is_listed
from campaigns.scale import FULL, SEED, numbers, report, size
from support.commands import Forker
from support.sandbox_process import RunningSandbox, start_sandbox
from support.workspace import Workspace

BATCHES = {"sample": 1, "full": 20}  # of orders, in each of six services
BATCHES_OF_ASNS = {"sample": 1, "full": 4}  # 12,000 over the six ways to answer and to search
DOCUMENTS = size(sample=40, full=500)  # of one batch
CREATES_SPOILED, READS_SPOILED = 0.3, 0.05
ROUNDS = 60
SETTLED_AT_MOST = 5
KINDS = (
    {"kind": "drop_before"},
    {"kind": "drop_after"},
    {"kind": "drop_midway"},
    {"kind": "drop_midway", "part": "head"},
    {"kind": "late_effect", "seconds": 0.4},
    {"kind": "late_effect", "seconds": 3, "answer": "error_500"},  # later than the pause after which one asks
    {"kind": "reset_after"},
    {"kind": "slow_drip", "bytes_per_second": 3000},
    {"kind": "error_500_before"},
    {"kind": "error_500_after"},
    {"kind": "status_502", "phase": "after"},
    {"kind": "status_503", "phase": "after"},
    {"kind": "status_504", "phase": "after"},
    {"kind": "status_429", "retry_after": "0.05"},
    *(
        {"kind": "gateway_page", "status": status, "page": status == 502, "phase": "after"}
        for status in (200, 400, 502)
    ),
    {"kind": "swapped_answer"},
    {"kind": "html_200", "phase": "after"},
    {"kind": "empty_200"},
    {"kind": "fail_200", "phase": "after"},
    {"kind": "pass_without_awb"},
    {"kind": "truncated_json"},
    {"kind": "garbage_json"},
    {"kind": "gzip_garbage"},
    {"kind": "duplicate_keys"},
    {"kind": "wrong_types", "as": "array"},
    {"kind": "deep_json", "levels": 2000},
)
NAMES = {str(each["kind"]) for each in KINDS}
DUPLICATES = ("refuse", "replay", "error")
READINGS = ("fetch_both", "id")


def rules(endpoint: str, share: float, *, batch: int) -> list[dict[str, object]]:
    """Rules that together spoil so large a share of the requests, each kind as often as the others."""
    each = 1 - (1 - share) ** (1 / len(KINDS))
    return [kind | {"endpoint": endpoint, "probability": each, "seed": SEED + batch} for kind in KINDS]


@contextmanager
def service_of(tmp_path: Path, batch: int, **switches: str) -> Iterator[tuple[RunningSandbox, Path]]:
    """A service for one batch, and the folder of that batch."""
    folder = tmp_path / str(batch)
    folder.mkdir()
    running = start_sandbox(folder, **switches)
    try:
        yield running, folder
    finally:
        running.stop()


def spoiled(service: RunningSandbox) -> Counter[str]:
    """How many requests each kind of fault has spoiled since the plan was set."""
    found: Counter[str] = Counter()
    for rule in service.control("GET", "/faults"):
        found[rule["kind"]] += rule["fired"]
    return found


def work_through(forker: Forker, each: Night, service: RunningSandbox, *, readable: bool = True) -> tuple[Verdict, int]:
    """The job as often as it takes, then settling likewise, which gives up when three questions in a row go wrong.

    readable: one can ask by reference, so that an answer that was mixed up shows. Returns the verdict, and how many
    runs of the job that were.
    """
    rounds = 0
    while rounds < ROUNDS:
        rounds += 1
        done = each.run(forker)
        if done.code in (0, 3) or (done.code == 4 and not judge(each, service).unanswered):
            break
        time.sleep(1.0)
    for _ in range(SETTLED_AT_MOST):
        settled = forker.run(each.workspace, "settle", "--wait", "--json", seconds=3600)
        if not json.loads(settled.out)["open"]:
            break
    return judge(each, service, readable=readable), rounds


def at_work(tmp_path: Path, service: RunningSandbox) -> Workspace:
    workspace = Workspace(tmp_path / "workspace", url=service.url, settle_after="1s")
    workspace.configure("concurrency = 8")
    return workspace


@pytest.mark.slow
@pytest.mark.parametrize("reading", READINGS)
@pytest.mark.parametrize("duplicate", DUPLICATES)
def test_orders(duplicate: str, reading: str, forker: Forker, tmp_path: Path) -> None:
    assert len(NAMES) >= 13
    for batch in numbers(**BATCHES):
        with service_of(tmp_path, batch, duplicate_reference=duplicate, order_id_reading=reading) as (service, folder):
            send_orders(forker, service, folder, batch=batch, readable=reading == "fetch_both")


def send_orders(forker: Forker, service: RunningSandbox, folder: Path, *, batch: int, readable: bool) -> None:
    plan = [*rules("order.create", CREATES_SPOILED, batch=batch), *rules("order.fetch", READS_SPOILED, batch=batch)]
    service.set_faults(plan)
    each = night(at_work(folder, service), "orders", documents=DOCUMENTS, in_each=200, mark=f"{batch}-")
    verdict, rounds = work_through(forker, each, service, readable=readable)
    times = sum(spoiled(service).values())
    switches = service.control("GET", "/switches")
    report(
        "lying network",
        kind="orders",
        number=batch,
        duplicate=switches["duplicate_reference"],
        reading=switches["order_id_reading"],
        documents=DOCUMENTS,
        kinds=len(NAMES),
        spoiled=times,
        runs=rounds,
        **verdict.figures(),
    )
    assert verdict.faults == {}
    assert what_is_held_is_listed(forker, each)
    assert times >= DOCUMENTS * CREATES_SPOILED / 2
    if readable:  # where one can ask, hardly anybody has to decide
        assert verdict.fates["held"] <= max(1, DOCUMENTS // 200)


@pytest.mark.slow
@pytest.mark.parametrize("marker", [False, True] if FULL else [True])
@pytest.mark.parametrize("replies", ["id", "text", "empty"] if FULL else ["id"])
def test_asns(replies: str, marker: bool, forker: Forker, tmp_path: Path) -> None:
    for batch in numbers(**BATCHES_OF_ASNS):
        with service_of(tmp_path, batch, asn_replies=replies) as (service, folder):
            send_asns(forker, service, folder, batch=batch, marker=marker)


def send_asns(forker: Forker, service: RunningSandbox, folder: Path, *, batch: int, marker: bool) -> None:
    plan = [*rules("asn.create", CREATES_SPOILED, batch=batch), *rules("asn.fetch", READS_SPOILED, batch=batch)]
    service.set_faults(plan)
    workspace = at_work(folder, service)
    workspace.configure("[service.asn]", f"marker = {str(marker).lower()}")
    each = night(workspace, "asns", documents=DOCUMENTS, in_each=200, mark=f"{batch}-")
    verdict, rounds = work_through(forker, each, service)
    there = created(service, "asns")
    held_but_there = sum(one in there for one in held(forker, workspace))
    report(
        "lying network",
        kind="asns",
        number=batch,
        replies=service.control("GET", "/switches")["asn_replies"],
        marker=marker,
        documents=DOCUMENTS,
        kinds=len(NAMES),
        spoiled=sum(spoiled(service).values()),
        runs=rounds,
        held_but_there=held_but_there,
        **verdict.figures(),
    )
    assert verdict.faults == {}
    assert what_is_held_is_listed(forker, each)
