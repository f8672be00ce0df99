"""One file by hand: good orders are created, bad rows named, and nothing goes out in half or twice."""

import csv
import io
import json
import time
from contextlib import closing
from datetime import datetime, timedelta

from support.sandbox_process import RunningSandbox, created
from support.workspace import ORDER_COLUMNS, Workspace, asn_lines, order_lines

from logistics_batch.ledger.failures import sqlite3

BAD_ROWS = f"""{ORDER_COLUMNS}
A-1,9876543210,1 Market Road,560001,SKU-1,2
A-1,9876543210,1 Market Road,560001,SKU-2,zero
A-2,9876543211,2 Market Road,56001,SKU-1,1
A-3,9876543212,3 Market Road,560003,SKU-1,1
A-3,9876543212,3 Market Road,560003,SKU-2,4
TOTAL,,,,,8
A-4,9876543213,4 Market Road,560004,SKU-1,1
"""


def result_rows(workspace: Workspace, name: str) -> dict[int, dict[str, str]]:
    text = (workspace.root / "reports" / f"{name}.result.csv").read_text(encoding="utf-8-sig")
    return {int(line["row"]): line for line in csv.DictReader(io.StringIO(text))}


def test_good_orders_are_created_and_bad_rows_named(workspace: Workspace, sandbox: RunningSandbox) -> None:
    file = workspace.drop("orders_0903.csv", BAD_ROWS)
    done = workspace.run("push", file, "--mapping", "orders", "--json")
    assert done.code == 3, done.err
    assert created(sandbox) == {"A-3": 1, "A-4": 1}  # A-1 has one bad line: no order goes out in half
    rows = result_rows(workspace, "orders_0903")
    assert {row: line["fate"] for row, line in rows.items()} == {
        2: "blocked",
        3: "invalid",
        4: "invalid",
        5: "accepted",
        6: "accepted",
        7: "skipped",
        8: "accepted",
    }
    assert (rows[3]["cell"], rows[3]["column"], rows[3]["value"]) == ("F3", "Qty", "zero")
    assert (rows[4]["cell"], rows[4]["column"], rows[4]["value"]) == ("D4", "PIN", "56001")
    assert all(rows[row]["reason"] and rows[row]["fix"] for row in (3, 4))
    assert rows[5]["awb_number"].startswith("SH-")
    assert rows[5]["src:Address"] == "3 Market Road"
    file_report = done.json["files"][0]
    assert sum(file_report["counts"].values()) == len(file_report["rows"]) == 7
    assert {path.name for path in (workspace.root / "reports").glob("orders_0903.*")} == {
        "orders_0903.ack.json",
        "orders_0903.result.csv",
        "orders_0903.result.xlsx",
        "orders_0903.fix.xlsx",
    }


def test_the_acknowledgement_says_when_the_result_will_come(workspace: Workspace, sandbox: RunningSandbox) -> None:
    """After as long as all that waits takes at the rate: also what came in the file before."""
    workspace.settings = [line for line in workspace.settings if not line.startswith("rate")]
    workspace.configure('rate = "30/min"')
    files = [workspace.drop(f"{name}.csv", order_lines([f"{name}-{n}" for n in range(20)])) for name in ("one", "two")]
    before = datetime.now().astimezone()
    process = workspace.start("push", *files, "--mapping", "orders")
    while not sandbox.received("order.create"):
        assert process.poll() is None
        time.sleep(0.05)
    after = datetime.now().astimezone()
    process.terminate()
    process.communicate(timeout=60)
    for name, calls in (("one", 20), ("two", 40)):
        ack = json.loads((workspace.root / f"reports/{name}.ack.json").read_text())
        due = datetime.fromisoformat(ack["result_due"]) - timedelta(seconds=2 * (calls - 1))
        assert before - timedelta(seconds=1) <= due <= after


def test_a_dry_run_sends_and_writes_nothing_and_shows_the_exact_bytes(
    workspace: Workspace, sandbox: RunningSandbox
) -> None:
    file = workspace.drop("orders.csv", order_lines(["A-1", "A-2"], items=2))
    before = sorted(workspace.root.rglob("*"))
    planned = workspace.run("push", file, "--mapping", "orders", "--dry-run", "--json")
    assert planned.code == 0, planned.err
    assert sorted(workspace.root.rglob("*")) == before
    assert sandbox.journal() == []
    rows = planned.json["files"][0]["rows"]
    assert [(row["fate"], row["would"]) for row in rows] == [("pending", "create")] * 4
    workspace.run("push", file, "--mapping", "orders")
    sent = [line["body"] for line in sandbox.received("order.create")]
    texts = [text if isinstance(text, str) else json.dumps(text, separators=(",", ":")) for text in sent]
    assert sorted(document["body"] for document in planned.json["files"][0]["documents"]) == sorted(texts)


def test_asns_are_created_once_and_a_second_file_finds_them_unchanged(
    workspace: Workspace, sandbox: RunningSandbox
) -> None:
    file = workspace.drop("asns.csv", asn_lines(["INV-1", "INV-2"]))
    assert workspace.run("push", file, "--mapping", "asns").code == 0
    assert workspace.run("push", file, "--mapping", "asns").code == 0
    assert len(sandbox.committed("asn.created")) == 2


def test_how_far_each_call_came_is_kept_with_it(workspace: Workspace, sandbox: RunningSandbox) -> None:
    """Whether it connected, sent, and heard the beginning of an answer: what a doubt is judged by."""
    faults = {"B": "drop_after", "C": "status_400"}
    sandbox.set_faults([{"endpoint": "order.create", "reference": name, "kind": kind} for name, kind in faults.items()])
    slow = Workspace(workspace.root, url=sandbox.url, settle_after="1h")
    slow.run("push", slow.drop("orders.csv", order_lines(["A", "B", "C"])), "--mapping", "orders")
    with closing(sqlite3.connect(workspace.root / "var/ledger.db")) as ledger:
        kept = ledger.execute(
            "SELECT d.reference, a.trace, a.status, a.reply FROM attempt a JOIN document d ON d.id = a.document_id "
            "WHERE a.trace <> ''"  # a call that was taken back before it began has none
        ).fetchall()
    came = {reference: (json.loads(trace), status, reply) for reference, trace, status, reply in kept}
    steps = ("send", "body", "reply")
    assert [came["A"][0][step] for step in ("connect", *steps)] == [True] * 4
    assert [came["B"][0][step] for step in steps] == [True, True, False]  # it may go out on A's connection
    assert came["A"][1] == 200
    assert '"awb_number"' in came["A"][2]
    assert came["B"][1:] == (None, "")
    assert (came["C"][1], bool(came["C"][2])) == (400, True)


def test_results_go_where_they_are_asked_for(workspace: Workspace) -> None:
    file = workspace.drop("orders.csv", order_lines(["A-1"]))
    assert workspace.run("push", file, "--mapping", "orders", "--results", "answers").code == 0
    assert (workspace.root / "answers/orders.result.xlsx").exists()
    assert not list((workspace.root / "reports").glob("orders.*"))
    both = workspace.run("push", file, "--mapping", "orders", "--results", "answers", "--dry-run")
    assert both.code == 2


def test_files_of_one_name_from_two_folders_are_told_apart(workspace: Workspace) -> None:
    paths = [workspace.drop("orders.csv", order_lines([name]), folder=f"from-{name}") for name in ("a", "b")]
    done = workspace.run("push", *paths, "--mapping", "orders")
    assert [line for line in done.out.splitlines() if "1 row," in line] == [
        f"{path}: 1 row, mapping orders" for path in paths
    ]
    places = [line.rpartition("/")[2] for line in done.out.splitlines() if "Answers:" in line]
    assert len(set(places)) == 2


def test_a_redirect_of_the_first_create_stops_the_run_and_is_a_doubt(
    workspace: Workspace, sandbox: RunningSandbox
) -> None:
    """Whoever redirects may have passed the order on: 307 proves a wrong address, not that nothing was done."""
    sandbox.set_faults([{"endpoint": "order.create", "kind": "redirect_307", "phase": "after", "times": 1}])
    file = workspace.drop("orders.csv", order_lines(["A", "B"]))
    stopped = workspace.run("push", file, "--mapping", "orders", "--json")
    assert stopped.code == 4
    assert "address or path is wrong: it answered 307" in stopped.json["stopped"]
    assert [row["fate"] for row in stopped.json["files"][0]["rows"]] == ["in_doubt", "pending"]
    assert workspace.run("push", file, "--mapping", "orders").code == 0
    assert sorted(line["reference_number"] for line in sandbox.committed("order.created")) == ["A", "B"]
