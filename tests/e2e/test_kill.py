"""kill -9 at each crash point, then again: nothing lost, nothing doubled, judged by the sandbox's journal."""

import os
import re
from collections import Counter
from pathlib import Path

import pytest
from support.sandbox_process import RunningSandbox
from support.workspace import Workspace, asn_lines, order_lines

REFERENCES = [f"K-{number}" for number in range(1, 7)]
JOB = """\
kind: push
mapping: {mapping}
source:
  folder: .
  path: /inbound
  pattern: ["*.csv"]
  ready: {{unchanged_for: 2, poll_every: 10ms}}
  archive: /archive
results: {{path: /results}}
"""

# The sample kills at the first and a middle passing; the whole campaign at each one that six orders give.
HITS = range(1, 8) if os.environ.get("CAMPAIGN") else (1, 3)
SOURCE = Path(__file__).parents[2] / "src/logistics_batch"
PUSH_POINTS = sorted(
    {
        name
        for path in [*SOURCE.glob("flows/*.py"), *SOURCE.glob("ledger/*.py")]
        for name in re.findall(r'crash_point\("([^"]+)"\)', path.read_text())
        if not name.startswith(("settle.", "resend.", "spill.", "ledger.migration."))
    }
)


def fates(workspace: Workspace) -> Counter[str]:
    """The fates in the last run's report."""
    done = workspace.run("runs", "--json")
    run = done.json["runs"][0]["id"]
    shown = workspace.run("runs", "show", run, "--json").json
    return Counter(row["fate"] for file in shown["files"] for row in file["rows"])


def run_until_settled(workspace: Workspace) -> None:
    """As operators would: the job again, then what is still in doubt."""
    for _ in range(3):
        if workspace.run("run", "nightly").code == 0:
            break
    workspace.run("settle", "--wait")


def test_the_points_stand_where_they_should() -> None:
    assert {"file.before_commit", "intent.before_commit", "send.before", "outcome.before_commit"} <= set(PUSH_POINTS)
    assert len(PUSH_POINTS) >= 12


@pytest.mark.slow
@pytest.mark.parametrize("hit", HITS)
@pytest.mark.parametrize("point", PUSH_POINTS)
def test_orders_survive_a_kill(point: str, hit: int, workspace: Workspace, sandbox: RunningSandbox) -> None:
    workspace.job("nightly", JOB.format(mapping="orders"))
    workspace.drop("orders.csv", order_lines(REFERENCES))
    killed = workspace.run("run", "nightly", LOGISTICS_BATCH_CRASH_AT=f"{point}:{hit}")
    assert killed.code in (-9, 0, 137), killed.err
    if hit == 1:
        assert killed.code in (-9, 137), f"{point} was never passed: {killed.err}"
    run_until_settled(workspace)
    created = Counter(line["reference_number"] for line in sandbox.committed("order.created"))
    assert created == dict.fromkeys(REFERENCES, 1)
    assert set(fates(workspace)) <= {"accepted", "unchanged"}
    assert (workspace.root / "results/orders.result.csv").exists()
    assert not list((workspace.root / "inbound").glob("*.csv"))
    assert [path.name for path in (workspace.root / "archive").iterdir()] == ["orders.csv"]


@pytest.mark.slow
@pytest.mark.parametrize("point", ["intent.after_commit", "send.before", "send.after", "outcome.before_commit"])
def test_asns_survive_a_kill(point: str, workspace: Workspace, sandbox: RunningSandbox) -> None:
    workspace.job("nightly", JOB.format(mapping="asns"))
    workspace.drop("asns.csv", asn_lines(["INV-1", "INV-2", "INV-3"]))
    killed = workspace.run("run", "nightly", LOGISTICS_BATCH_CRASH_AT=f"{point}:2")
    assert killed.code in (-9, 137), killed.err
    run_until_settled(workspace)
    created = Counter(line["invoice_number"] for line in sandbox.committed("asn.created"))
    assert set(created.values()) <= {1}
    lost = {"INV-1", "INV-2", "INV-3"} - set(created)
    held = workspace.run("held", "list", "--json").json["held"]
    assert {line["reference"] for line in held} == lost  # what never arrived waits for a person, and nothing else does
