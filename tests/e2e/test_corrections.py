"""Corrected, reverted and released documents, in awkward orders: never two alive, never one forgotten."""

import csv
import io
import signal
import threading
import time
from collections import Counter

from openpyxl import load_workbook
from support.commands import Finished
from support.sandbox_process import RunningSandbox
from support.workspace import ORDER_COLUMNS, ORDERS_MAPPING, Workspace, asn_lines, order_lines


def created(sandbox: RunningSandbox, effect: str, name: str) -> Counter[str]:
    return Counter(line[name] for line in sandbox.committed(effect))


def asns(sandbox: RunningSandbox) -> Counter[str]:
    return created(sandbox, "asn.created", "invoice_number")


def orders(sandbox: RunningSandbox) -> Counter[str]:
    return created(sandbox, "order.created", "reference_number")


def push(workspace: Workspace, name: str, content: str, mapping: str) -> Finished:
    return workspace.run("push", workspace.drop(name, content), "--mapping", mapping)


def fates(workspace: Workspace, stem: str) -> set[str]:
    text = (workspace.root / f"reports/{stem}.result.csv").read_text("utf-8-sig")
    return {line["fate"] for line in csv.DictReader(io.StringIO(text))}


def held(workspace: Workspace) -> list[dict[str, str]]:
    found: list[dict[str, str]] = workspace.run("held", "list", "--json").json["held"]
    return found


def decide(workspace: Workspace, number: object, *words: str) -> Finished:
    return workspace.run("held", "decide", str(number), *words, "--reason", "tested")


def slow(workspace: Workspace, sandbox: RunningSandbox, after: str = "1h") -> None:
    Workspace(workspace.root, url=sandbox.url, settle_after=after)


def test_a_later_version_is_not_released_while_an_earlier_one_is_open(
    workspace: Workspace, sandbox: RunningSandbox
) -> None:
    sandbox.set_faults([{"endpoint": "asn.create", "requests": [1], "kind": "drop_before"}])
    slow(workspace, sandbox)
    base = asn_lines(["I1"])
    push(workspace, "a.csv", base, "asns")
    push(workspace, "b.csv", base.replace(",10", ",11"), "asns")
    refused = decide(workspace, held(workspace)[0]["id"], "send-again", "--reissue")
    assert refused.code == 2
    assert "settle" in refused.err
    slow(workspace, sandbox, "0s")
    workspace.run("settle", "--wait")
    first, second = sorted(held(workspace), key=lambda line: int(line["id"]))
    assert decide(workspace, second["id"], "send-again").code == 2  # the earlier one is undecided
    assert decide(workspace, first["id"], "drop").code == 0
    assert decide(workspace, second["id"], "send-again").code == 0
    assert push(workspace, "b.csv", base.replace(",10", ",11"), "asns").code == 0
    assert asns(sandbox) == {"I1": 1}
    assert fates(workspace, "b") == {"accepted"}
    assert fates(workspace, "a") == {"skipped"}


def test_two_files_that_say_different_things_about_one_order_both_wait_for_a_person(
    workspace: Workspace, sandbox: RunningSandbox
) -> None:
    north = workspace.drop("north.csv", order_lines(["1001", "1002"]))
    south = workspace.drop("south.csv", order_lines(["1001"]).replace("Market", "Station"))
    done = workspace.run("push", north, south, "--mapping", "orders")
    assert done.code == 4
    assert orders(sandbox) == {"1002": 1}
    assert fates(workspace, "north") == {"accepted", "held"}
    assert fates(workspace, "south") == {"held"}
    first, second = sorted(held(workspace), key=lambda line: int(line["id"]))
    assert "south.csv (row 2)" in first["reason"]
    assert "north.csv (row 2)" in second["reason"]
    assert decide(workspace, second["id"], "send-again").code == 2  # the other one is undecided
    assert decide(workspace, first["id"], "drop").code == 0
    assert decide(workspace, second["id"], "send-again").code == 0
    assert workspace.run("push", south, "--mapping", "orders").code == 0
    assert orders(sandbox) == {"1001": 1, "1002": 1}
    assert fates(workspace, "north") == {"accepted", "skipped"}


def test_a_version_that_waits_to_go_out_is_named_as_what_a_decision_waits_for(
    workspace: Workspace, sandbox: RunningSandbox
) -> None:
    north = workspace.drop("north.csv", order_lines(["1001"]))
    south = workspace.drop("south.csv", order_lines(["1001"]).replace("Market", "Station"))
    workspace.run("push", north, south, "--mapping", "orders")
    first, second = sorted(held(workspace), key=lambda line: int(line["id"]))
    assert decide(workspace, first["id"], "send-again").code == 0
    refused = decide(workspace, second["id"], "send-again")
    assert (refused.code, "next run" in refused.err, "settle" in refused.err) == (2, True, False)


BY_FILE = """
operation: asn.create
key: [Site]
fields:
  supplier_name: {constant: Acme}
  site: {from: Site, required: true}
  invoice_number: {run: file_name}
lines: {sku_name: {from: SKU, required: true}, qty: {from: Qty, read: integer, required: true}}
"""


def test_the_same_file_under_another_name_is_asked_about_where_its_name_is_the_number(
    workspace: Workspace, sandbox: RunningSandbox
) -> None:
    workspace.mapping("by_file", BY_FILE)
    content = "Site,SKU,Qty\nBLR,TEA,10\nPNQ,MUG,5\n"
    assert push(workspace, "STA-118.csv", content, "by_file").code == 0
    assert push(workspace, "STA-118.csv", content, "by_file").code == 0  # known by its key
    assert push(workspace, "STA-118 (1).csv", content, "by_file").code == 4
    waiting = held(workspace)
    assert [line["rule"] for line in waiting] == ["same_bytes"] * 2
    assert "STA-118.csv" in waiting[0]["reason"]
    assert sum(asns(sandbox).values()) == 2
    assert decide(workspace, waiting[0]["id"], "send-again").code == 0
    assert decide(workspace, waiting[1]["id"], "drop").code == 0
    assert push(workspace, "STA-118 (1).csv", content, "by_file").code == 0
    assert sum(asns(sandbox).values()) == 3
    assert push(workspace, "STA-119.csv", content.replace("10", "11"), "by_file").code == 0  # another file


def test_a_copy_of_what_was_dropped_in_doubt_is_asked_about(workspace: Workspace, sandbox: RunningSandbox) -> None:
    """It may have arrived all the same; that its name is another one now does not make it another ASN."""
    workspace.mapping("by_file", BY_FILE)
    content = "Site,SKU,Qty\nBLR,TEA,10\n"
    assert push(workspace, "STA-1.csv", content.replace("TEA", "MUG"), "by_file").code == 0
    sandbox.set_faults([{"endpoint": "asn.create", "requests": [1], "kind": "late_effect", "seconds": 3600}])
    assert push(workspace, "STA-2.csv", content, "by_file").code == 4
    workspace.run("settle", "--wait")
    assert decide(workspace, held(workspace)[0]["id"], "drop").code == 0
    assert push(workspace, "STA-2 (1).csv", content, "by_file").code == 4
    assert [line["rule"] for line in held(workspace)] == ["same_bytes"]


def test_a_version_that_a_newer_one_was_to_replace_is_not_sent_again(
    workspace: Workspace, sandbox: RunningSandbox
) -> None:
    sandbox.set_switches(order_id_reading="id")
    sandbox.set_faults([{"endpoint": "order.create", "requests": [1], "kind": "drop_before"}])
    push(workspace, "a.csv", order_lines(["1001"]), "orders")
    workspace.run("settle", "--wait")
    assert push(workspace, "a.csv", order_lines(["1001"]).replace("Market", "Station"), "orders").code == 4
    wrong, right = sorted(held(workspace), key=lambda line: int(line["id"]))
    refused = decide(workspace, wrong["id"], "send-again")
    assert (refused.code, "A newer version waits" in refused.err) == (2, True)
    assert decide(workspace, wrong["id"], "drop").code == 0
    assert decide(workspace, right["id"], "send-again").code == 0
    assert push(workspace, "b.csv", order_lines(["B"]), "orders").code == 0
    (there,) = sandbox.orders(reference="1001")
    shown = sandbox.call("GET", f"/orders/shipment/{there['awb_number']}")["message"]["order_details"]
    assert shown["delivery_address"] == "1 Station Road"


def test_a_refusal_of_a_released_document_proves_nothing_and_is_told(
    workspace: Workspace, sandbox: RunningSandbox
) -> None:
    sandbox.set_switches(order_id_reading="id")
    sandbox.set_faults([{"endpoint": "order.create", "requests": [1], "kind": "drop_after"}])
    push(workspace, "a.csv", order_lines(["A"]), "orders")
    workspace.run("settle", "--wait")
    assert decide(workspace, held(workspace)[0]["id"], "send-again").code == 0
    other = push(workspace, "b.csv", order_lines(["B"]), "orders")
    assert other.code == 4  # A went out with it and is held again
    assert "A, released by a person" in other.out + other.err
    assert [line["rule"] for line in held(workspace)] == ["refused_after_doubt"]
    assert fates(workspace, "a") == {"held"}
    assert orders(sandbox) == {"A": 1, "B": 1}


def test_an_odd_reference_in_doubt_stops_nobody(workspace: Workspace, sandbox: RunningSandbox) -> None:
    sandbox.set_faults([{"endpoint": "order.create", "requests": [1], "kind": "drop_before"}])
    push(workspace, "a.csv", order_lines(["a/../.."]), "orders")
    assert push(workspace, "b.csv", order_lines(["B"]), "orders").code == 0
    assert orders(sandbox)["B"] == 1


def test_two_files_of_the_same_bytes_and_name_are_one_push(workspace: Workspace, sandbox: RunningSandbox) -> None:
    one = workspace.drop("x.csv", order_lines(["A"]), folder="d1")
    two = workspace.drop("x.csv", order_lines(["A"]), folder="d2")
    assert workspace.run("push", one, two, "--mapping", "orders").code == 0
    assert orders(sandbox) == {"A": 1}


def test_settling_while_nobody_answers_ends_and_gives_nothing_away(
    workspace: Workspace, sandbox: RunningSandbox
) -> None:
    sandbox.set_faults([{"endpoint": "order.create", "requests": [2], "kind": "drop_after"}])
    slow(workspace, sandbox)
    push(workspace, "a.csv", order_lines(["A", "B"]), "orders")
    slow(workspace, sandbox, "0s")
    sandbox.stop()
    assert workspace.run("settle", "--wait").code == 4
    assert held(workspace) == []
    sandbox.restart()
    assert workspace.run("settle", "--wait").code == 0
    assert fates(workspace, "a") == {"accepted"}


JOB = """\
kind: push
mapping: orders
source: {folder: ., path: /inbound, pattern: "*.csv", ready: {poll_every: POLL}, archive: /archive}
results: {path: RESULTS}
"""


def test_a_file_that_came_under_the_same_name_meanwhile_is_not_put_away(
    workspace: Workspace, sandbox: RunningSandbox
) -> None:
    workspace.job("nightly", JOB.replace("POLL", "10ms").replace("RESULTS", "/results"))
    sandbox.set_faults([{"endpoint": "order.create", "requests": [1], "kind": "delay", "seconds": 1}])
    workspace.drop("orders.csv", order_lines(["A", "B"]))
    run = workspace.start("run", "nightly")
    while not sandbox.received("order.create"):
        time.sleep(0.05)
    workspace.drop("orders.csv", order_lines(["X", "Y", "Z"]))
    run.communicate(timeout=60)
    assert run.returncode == 0
    assert workspace.run("run", "nightly").code == 0
    assert orders(sandbox) == dict.fromkeys("ABXYZ", 1)


def test_a_stop_while_a_file_is_watched_takes_nothing(workspace: Workspace, sandbox: RunningSandbox) -> None:
    workspace.job("nightly", JOB.replace("POLL", "60s").replace("RESULTS", "/results"))
    half = order_lines(["ORD-9", "ORD-12"])[:-20]
    workspace.drop("orders.csv", half)
    run = workspace.start("run", "nightly")
    while not (workspace.root / "var/ledger.db").exists():
        time.sleep(0.05)
    timer = threading.Timer(0.5, run.send_signal, [signal.SIGTERM])
    timer.start()
    run.communicate(timeout=60)
    workspace.drop("orders.csv", order_lines(["ORD-9", "ORD-1234"]))
    workspace.job("nightly", JOB.replace("POLL", "10ms").replace("RESULTS", "/results"))
    assert workspace.run("run", "nightly").code == 0
    assert orders(sandbox) == {"ORD-9": 1, "ORD-1234": 1}


def test_results_in_the_folder_of_the_files_are_not_read_however_it_is_spelt(workspace: Workspace) -> None:
    workspace.job("nightly", JOB.replace("POLL", "10ms").replace("RESULTS", "inbound/").replace('"*.csv"', '"*"'))
    workspace.drop("orders.csv", order_lines(["A"]).replace("560001", "56001"))
    first = workspace.run("run", "nightly", "--json").json
    second = workspace.run("run", "nightly", "--json").json
    assert (len(first["files"]), len(second["files"])) == (1, 0)


def test_answers_to_a_file_are_made_as_it_was_read_whatever_mapping_bears_that_name(
    workspace: Workspace, sandbox: RunningSandbox
) -> None:
    """A mapping may lie anywhere, and another one of its name in the workspace."""
    elsewhere = workspace.root / "elsewhere" / "orders.yaml"
    elsewhere.parent.mkdir()
    elsewhere.write_text(ORDERS_MAPPING.replace("fields:", "sheet: {header: 2, fill_down: [Order No]}\nfields:"))
    file = workspace.drop("filled.csv", f"Tuesday\n{ORDER_COLUMNS}\nF1,98765,9 Lake,560001,tea,1\n,,,,rice,2\n")
    run = workspace.run("push", file, "--mapping", elsewhere, "--json").json["run"]
    fix = workspace.root / "reports/filled.fix.xlsx"
    for _ in range(2):
        rows = load_workbook(fix).worksheets[0].iter_rows(min_col=3, values_only=True)
        assert [row[0] for row in rows] == ["Tuesday", "Order No", "F1", "F1"]
        fix.unlink()
        workspace.run("runs", "report", run)
