"""`runs show`: what an operator wants to know of a night, besides its files."""

import sys
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest
from cli.conftest import Run
from support.event_receiver import receiving
from support.sandbox_process import RunningSandbox, sandbox_for_a_test
from support.terminals import said_at_terminal
from support.workspace import Workspace, order_lines

from logistics_batch.ledger import NewNotice, open_ledger
from logistics_batch.operate.alerts import Teller
from logistics_batch.operate.run_job import told

NIGHTLY = """\
kind: push
mapping: orders
source: {folder: ., path: /inbound, ready: {unchanged_for: 2, poll_every: 10ms}, archive: /archive, quarantine: /bad}
results: {folder: results, formats: [csv]}
"""


@pytest.fixture
def sandbox(tmp_path: Path) -> Iterator[RunningSandbox]:
    yield from sandbox_for_a_test(tmp_path)


@pytest.fixture
def workspace(tmp_path: Path, sandbox: RunningSandbox) -> Iterator[Workspace]:
    made = Workspace(tmp_path, url=sandbox.url)
    with receiving() as people:
        made.configure("[notify]", f'urls = ["json://{people.url.removeprefix("http://")}"]')
        yield made


def test_where_there_is_no_address_nobody_was_told(tmp_path: Path) -> None:
    with closing(open_ledger(f"sqlite:///{tmp_path / 'ledger.db'}", account="http://service.test")) as ledger:
        ledger.notices.note(NewNotice("k", "on_failure", "orders", "orders failed", "x"), now="2026-11-03T21:15")
        said = [told(*ledger.notices.open())]
        Teller(ledger, (), "site").tell(datetime(2026, 11, 3, 21, 16, tzinfo=UTC))
        said.append(told(*ledger.notices.open()))
    assert said == ["not told yet", "nobody to tell"]


def test_a_run_is_shown_with_what_it_did_besides_its_files(
    run: Run, workspace: Workspace, sandbox: RunningSandbox
) -> None:
    """One order's answer is lost; the next run finds it out. A run that only sent what a person released says so."""
    workspace.job("orders", NIGHTLY)
    (workspace.root / "inbound").mkdir()
    sandbox.set_faults([{"endpoint": "order.create", "kind": "drop_after", "times": 1}])
    workspace.drop("lost.csv", order_lines(["B-1"]))
    environment = {"LOGISTICS_BATCH_SERVICE__SETTLE_AFTER": "180s"}
    first = run("run", "orders", "--json", **environment)
    assert first.code == 4
    sandbox.set_faults([])
    text = run("runs", "show", "orders").out
    assert "exit 4: something is in doubt or held" in text
    assert "1 file, 1 in doubt" in text
    assert "Alert (told): orders: something waits for a person" in text
    assert "Next: `logistics-batch settle`" in text
    workspace.drop("bad.csv", order_lines(["B-2"]).replace("560001", "56"))
    workspace.drop("cut.xlsx", b"PK\x03\x04 not a workbook")
    second = run("run", "orders", "--json")
    shown = run("runs", "show", second.json["run"], "--json").json
    assert [each["reference"] for each in shown["settled"]] == ["B-1"]
    assert shown["kind"] == "push"
    assert shown["seconds"] > 0
    assert "1 document accepted after a doubt" in run("runs", "show", "orders").out
    assert shown["next"].startswith("Correct the files that are held as a whole")
    assert [each["title"] for each in shown["alerts"] if not each["over_at"]]

    changed = order_lines(["B-1"]).replace("Market Road", "Station Road")
    workspace.drop("changed.csv", changed)
    assert run("run", "orders").code == 4
    (held,) = run("held", "list", "--json").json["held"]
    assert run("order", "cancel", shown["settled"][0]["awb_number"]).code == 0
    assert run("held", "decide", str(held["id"]), "send-again", "--reissue", "--reason", "they moved").code == 0
    assert run("run", "orders").code == 0
    text = run("runs", "show", "orders").out
    assert "released by a person, went out with this run" in text
    workspace.job("settle", "kind: settle\n")
    assert run("run", "settle").code == 0
    text = run("runs", "show", "settle").out
    assert "exit 0: nothing left to do" in text
    assert "No file was found" not in text


def test_runs_fits_a_terminal_of_110_columns(tmp_path: Path) -> None:
    """One line a run at the least, whole numbers and times, and nothing cut; what came of it may go on below."""
    place = Workspace(tmp_path, url="http://127.0.0.1:9")
    ledger = open_ledger(f"sqlite:///{tmp_path}/var/ledger.db", account="http://127.0.0.1:9")
    with closing(ledger):
        for number in range(2):
            run, at = f"20261103-21150{number}-ab12", f"2026-11-03T21:15:0{number}.123456+05:30"
            ledger.runs.start(run, job="asns-unicommerce-south", kind="push", business_date="2026-11-03", now=at)
            counts = {"accepted": 1250, "refused": 3, "invalid": 12, "blocked": 4, "in_doubt": 1, "skipped": 2}
            ledger.runs.finish(run, exit_code=4, summary=counts, stopped="", now=at)
    command = [sys.executable, "-m", "logistics_batch", "--workspace", str(place.root), "runs"]
    lines = said_at_terminal(command, columns=110).splitlines()
    assert max(map(len, lines)) <= 110
    assert len([line for line in lines if line.startswith("20261103-21150")]) == 2
    whole = " ".join(" ".join(lines).split())
    for part in ("asns-unicommerce-south", "2026-11-03 21:15+05:30", "1250 accepted,", "1 in doubt,", "2 skipped"):
        assert whole.count(part) == 2, part


def test_runs_says_what_came_of_each(run: Run, workspace: Workspace) -> None:
    header, first, second = order_lines(["A-1", "A-2"]).splitlines()
    for name, text in (
        ("rows.csv", "\n".join([header, first, second, second.replace("SKU-2", "SKU-3")])),
        ("held.csv", ""),
        ("none.csv", header),
    ):
        run("push", workspace.drop(name, text), "--mapping", "orders")
    said = [" ".join(line.split()[-9:]) for line in run("runs").out.splitlines()[2:]]
    assert said[0].endswith(" 0 no rows")
    assert said[1].endswith(" 4 1 file held as a whole")
    assert said[2].endswith(" 3 1 accepted, 2 blocked, 2 orders")
