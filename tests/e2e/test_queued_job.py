"""A scheduled job that finds the ledger in use waits for it, and then does its work."""

from concurrent.futures import ThreadPoolExecutor, wait
from datetime import date

import pytest
from support.sandbox_process import RunningSandbox, created
from support.workspace import Workspace, order_lines

from logistics_batch.errors import LedgerBusy
from logistics_batch.jobs import load_job
from logistics_batch.operate.run_job import Order, run_job
from logistics_batch.wiring import Need
from logistics_batch.wiring import Workspace as Opened

JOB = """\
kind: push
mapping: orders
source: {folder: ., path: /inbound, ready: {unchanged_for: 2, poll_every: 50ms}}
results: {folder: results}
"""
DAY = date(2026, 11, 3)


@pytest.mark.parametrize("queues", [True, False])
def test_a_push_job_queues_for_the_ledger_where_it_is_scheduled(
    workspace: Workspace, sandbox: RunningSandbox, queues: bool
) -> None:
    workspace.job("nightly", JOB)
    workspace.drop("orders.csv", order_lines(["A", "B"]))
    opened = Opened(workspace.root)
    with (
        opened.parts(Need(calls=False)) as other,
        opened.parts(Need()) as parts,
        ThreadPoolExecutor(1) as scheduler,
    ):
        with other.ledger.sending("another run"):
            running = scheduler.submit(run_job, parts, load_job(workspace.root, "nightly"), Order(DAY, queues=queues))
            wait([running], timeout=1.5 if queues else None)
            assert running.done() is not queues
            assert created(sandbox) == {}
        if not queues:
            with pytest.raises(LedgerBusy, match=r"Another sending run holds the ledger \(another run, process "):
                running.result()
            return
        assert running.result().exit_code == 0
    assert created(sandbox) == {"A": 1, "B": 1}
