"""One night behind the pages: orders accepted, refused, invalid and held; a file that waits for approval."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.pages_process import RunningPages
from support.sandbox_process import RunningSandbox, sandbox_for_a_test
from support.workspace import APPROVED_JOB, ORDER_COLUMNS, Workspace, asn_lines, order_lines

STRANGE = "<script>alert(1)</script>"
SLASHED = "INV/26-27/7"
JOB = (
    APPROVED_JOB.replace("approve: required\n", "")
    .replace("folder: inbound", "folder: drop")
    .replace("ready:", "archive: /done, ready:")
)


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningSandbox]:
    yield from sandbox_for_a_test(tmp_path_factory.mktemp("service"))


@pytest.fixture(scope="module")
def night(tmp_path_factory: pytest.TempPathFactory, service: RunningSandbox) -> Workspace:
    """A workspace after a night."""
    workspace = Workspace(tmp_path_factory.mktemp("night") / "workspace", url=service.url)
    workspace.second_creates_are_refused()
    workspace.job("nightly", JOB)
    workspace.job("approved", APPROVED_JOB)
    bad = f"{STRANGE},98,9 Market Road,560001,{STRANGE},x\n"
    workspace.drop("orders.csv", order_lines(["R-1", "R-2", "R-3"]) + bad, folder="drop")
    workspace.drop("more.csv", order_lines([SLASHED, "R-9"]), folder="drop")
    assert workspace.run("run", "nightly").code == 3
    # The same references with another address: held, for the service has them already.
    changed = "\n".join([ORDER_COLUMNS, *(f"R-{n},9876500001,88 Station Road,560002,SKU-1,1" for n in (1, 2)), ""])
    workspace.drop("changed.csv", changed, folder="drop")
    assert workspace.run("run", "nightly").code == 4
    workspace.drop("new.csv", order_lines(["N-1", "N-2"]))
    assert workspace.run("run", "approved").code == 4
    asns = workspace.drop("asns.csv", asn_lines(["A-1"]), folder="hand")
    assert workspace.run("push", asns, "--mapping", "asns").code == 0
    return workspace


def a_printing_system(night: Workspace) -> Path:
    """A folder with an `lp` that keeps what it is given, and whose queue "office" is out of order."""
    folder = night.root / "printing"
    folder.mkdir()
    lp = folder / "lp"
    lines = (
        "#!/bin/sh",
        'if [ "$2" = office ]; then echo "lp: The printer is not accepting jobs." >&2; exit 1; fi',
        f'cp "$8" "{folder}/printed"; echo "$1 $2 $3 $4" > "{folder}/asked"; echo "request id is $2-7 (1 file(s))"',
    )
    lp.write_text("\n".join([*lines, ""]))
    lp.chmod(0o755)
    return folder


@pytest.fixture(scope="module")
def pages(night: Workspace) -> Iterator[RunningPages]:
    night.configure("[web]", 'print_queues = ["dock", "office"]')
    running = RunningPages(night, PATH=f"{a_printing_system(night)}:{os.environ['PATH']}")
    yield running
    running.close()
