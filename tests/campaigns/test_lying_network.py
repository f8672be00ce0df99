"""Of ten creates three go wrong, of twenty reads one, in many ways: nothing doubled, every doubt settled or listed."""

import json
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from campaigns.commands import Forker
from campaigns.nights import Night, Verdict, answers, created, judge, night
from campaigns.scale import FULL, SEED, report, size
from support.sandbox_process import RunningSandbox, start_sandbox
from support.workspace import Workspace

DOCUMENTS = size(sample=40, full=10_000)
CREATES_SPOILED, READS_SPOILED = 0.3, 0.05
ROUNDS = 60
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


def rules(endpoint: str, share: float) -> list[dict[str, object]]:
    """Rules that together spoil so large a share of the requests, each kind as often as the others."""
    each = 1 - (1 - share) ** (1 / len(KINDS))
    return [kind | {"endpoint": endpoint, "probability": each, "seed": SEED} for kind in KINDS]


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningSandbox]:
    running = start_sandbox(tmp_path_factory.mktemp("service"))
    yield running
    running.stop()


def spoiled(service: RunningSandbox) -> Counter[str]:
    """How many requests each kind of fault has spoiled since the plan was set."""
    found: Counter[str] = Counter()
    for rule in service.control("GET", "/faults"):
        found[rule["kind"]] += rule["fired"]
    return found


def work_through(forker: Forker, each: Night, service: RunningSandbox) -> tuple[Verdict, int]:
    """The job as often as it takes, then settling; the verdict, and how many runs that were."""
    rounds = 0
    while rounds < ROUNDS:
        rounds += 1
        done = each.run(forker)
        if done.code in (0, 3) or (done.code == 4 and not judge(each, service).unanswered):
            break
        time.sleep(1.0)
    forker.run(each.workspace, "settle", "--wait", seconds=3600)
    return judge(each, service), rounds


def held(forker: Forker, workspace: Workspace) -> set[str]:
    """What waits for a person."""
    return {line["reference"] for line in json.loads(forker.run(workspace, "held", "list", "--json").out)["held"]}


def at_work(tmp_path: Path, service: RunningSandbox) -> Workspace:
    workspace = Workspace(tmp_path / "workspace", url=service.url, settle_after="1s")
    workspace.configure("concurrency = 8")
    return workspace


@pytest.mark.slow
@pytest.mark.parametrize("reading", READINGS)
@pytest.mark.parametrize("duplicate", DUPLICATES)
def test_orders(duplicate: str, reading: str, forker: Forker, service: RunningSandbox, tmp_path: Path) -> None:
    assert len(NAMES) >= 13
    service.set_switches(duplicate_reference=duplicate, order_id_reading=reading)
    service.set_faults([*rules("order.create", CREATES_SPOILED), *rules("order.fetch", READS_SPOILED)])
    each = night(at_work(tmp_path, service), "orders", documents=DOCUMENTS, in_each=200, mark=f"{duplicate}-{reading}-")
    verdict, rounds = work_through(forker, each, service)
    times = sum(spoiled(service).values())
    report(
        "lying network",
        kind="orders",
        duplicate=duplicate,
        reading=reading,
        documents=DOCUMENTS,
        kinds=len(NAMES),
        spoiled=times,
        runs=rounds,
        **verdict.figures(),
    )
    assert verdict.faults == {}
    assert held(forker, each.workspace) == {one for one, fate in answers(each).items() if fate == "held"}
    assert times >= DOCUMENTS * CREATES_SPOILED / 2
    if reading == "fetch_both":  # where one can ask, hardly anybody has to decide
        assert verdict.fates["held"] <= max(1, DOCUMENTS // 200)


@pytest.mark.slow
@pytest.mark.parametrize("replies", ["id", "text", "empty"] if FULL else ["id"])
def test_asns(replies: str, forker: Forker, service: RunningSandbox, tmp_path: Path) -> None:
    service.set_switches(asn_replies=replies)
    service.set_faults([*rules("asn.create", CREATES_SPOILED), *rules("asn.fetch", READS_SPOILED)])
    each = night(at_work(tmp_path, service), "asns", documents=DOCUMENTS, in_each=200, mark=f"{replies}-")
    verdict, rounds = work_through(forker, each, service)
    waiting, there = held(forker, each.workspace), created(service, "asns")
    report(
        "lying network",
        kind="asns",
        replies=replies,
        documents=DOCUMENTS,
        kinds=len(NAMES),
        spoiled=sum(spoiled(service).values()),
        runs=rounds,
        held_but_there=sum(one in there for one in waiting),
        **verdict.figures(),
    )
    assert verdict.faults == {}
    assert waiting == {one for one, fate in answers(each).items() if fate == "held"}
