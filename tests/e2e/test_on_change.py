"""A job that updates what was accepted and came again with other content: by one call, or not at all."""

import csv
import io
import json
from collections import Counter
from datetime import date
from typing import Any
from zoneinfo import ZoneInfo

from support.sandbox_process import RunningSandbox
from support.workspace import ORDER_COLUMNS, Workspace, asn_lines

from logistics_batch.flows.asns.fetch import AsnRange
from logistics_batch.flows.reconcile.notices import Scope, announced_documents
from logistics_batch.wiring import Need
from logistics_batch.wiring import Workspace as Opened

JOB = """\
kind: push
mapping: {mapping}
source: {{folder: ., path: /inbound, pattern: "*.csv", ready: {{poll_every: 0.01s}}, archive: /archive}}
on_change: update
"""


def night(workspace: Workspace, name: str, *lines: str, mapping: str = "orders", columns: str = ORDER_COLUMNS) -> Any:
    """The job's run with this file: its report."""
    workspace.job("nightly", JOB.format(mapping=mapping))
    workspace.drop(f"{name}.csv", "\n".join([columns, *lines, ""]))
    done = workspace.run("run", "nightly", "--json")
    assert done.code in (0, 4), done.err
    return done.json


def answers(workspace: Workspace, name: str) -> dict[str, tuple[str, str]]:
    text = (workspace.root / f"reports/{name}.result.csv").read_text("utf-8-sig")
    return {line["reference_number"]: (line["fate"], line["reason"]) for line in csv.DictReader(io.StringIO(text))}


def done(sandbox: RunningSandbox, effect: str) -> Counter[str]:
    return Counter(line["reference_number"] for line in sandbox.committed(effect))


def stored(sandbox: RunningSandbox, reference: str) -> tuple[str, list[float]]:
    (order,) = sandbox.orders(reference=reference)
    return order["body"]["delivery_address"], [item["body"]["item_quantity"] for item in order["items"]]


def test_an_order_that_changed_is_updated_once_and_back_again(workspace: Workspace, sandbox: RunningSandbox) -> None:
    first = ["A,9876500001,1 Market Road,560001,TEA,1", "A,9876500001,1 Market Road,560001,SALT,5"]
    moved = ["A,9876500001,2 Station Road,560001,TEA,3", "A,9876500001,2 Station Road,560001,SALT,5"]
    other = "B,9876500002,7 Market Road,560002,TEA,1"
    night(workspace, "monday", *first)
    workspace.drop("tuesday.csv", "\n".join([ORDER_COLUMNS, *moved, ""]))
    dry = workspace.run("run", "nightly", "--dry-run", "--json").json["files"][0]
    assert ([row["would"] for row in dry["rows"]], dry["documents"][0]["method"]) == (["update", "update"], "PUT")
    night(workspace, "tuesday", *moved)
    assert answers(workspace, "tuesday")["A"][0] == "accepted"
    assert stored(sandbox, "A") == ("2 Station Road", [3, 5])

    night(workspace, "wednesday", *moved, other)
    assert {name: fate for name, (fate, _) in answers(workspace, "wednesday").items()} == {
        "A": "unchanged",
        "B": "accepted",
    }
    night(workspace, "thursday", *first, other)
    assert stored(sandbox, "A") == ("1 Market Road", [1, 5])
    night(workspace, "tuesday-again", *moved)
    assert answers(workspace, "tuesday-again")["A"][0] == "held", "an old file does not turn the order back"
    assert done(sandbox, "order.created") == {"A": 1, "B": 1}
    assert done(sandbox, "order.updated") == {"A": 2}


def test_what_one_update_cannot_bring_is_held_with_the_reason(workspace: Workspace, sandbox: RunningSandbox) -> None:
    night(workspace, "monday", *(f"{name},9876500001,1 Market Road,560001,TEA,1" for name in "ABCD"))
    night(
        workspace,
        "tuesday",
        "A,9876500001,2 Station Road,560001,TEA,1",
        "B,9876500001,1 Market Road,560001,TEA,1",
        "B,9876500001,1 Market Road,560001,SALT,5",
        "C,9876500001,1 Market Road,,TEA,1",
        "D,9876500001,1 Market Road,560001,SALT,1",
    )
    said = answers(workspace, "tuesday")
    assert {name: fate for name, (fate, _) in said.items()} == {
        "A": "accepted",
        "B": "held",
        "C": "held",
        "D": "held",
    }
    assert "its items are not the same" in said["B"][1]
    assert "delivery_postal_code has no value any more" in said["C"][1]
    assert done(sandbox, "order.updated") == {"A": 1}
    assert done(sandbox, "order.created") == dict.fromkeys("ABCD", 1)


def test_what_an_update_cannot_take_back_is_held_and_not_called_unchanged(
    workspace: Workspace, sandbox: RunningSandbox
) -> None:
    first = ["A,9876500001,1 Market Road,,TEA,1", "B,9876500001,1 Market Road,,TEA,1"]
    night(workspace, "monday", *first)
    night(workspace, "tuesday", "A,9876500001,1 Market Road,560001,TEA,1", first[1])
    night(workspace, "wednesday", *first)
    said = answers(workspace, "wednesday")
    assert (said["A"][0], said["B"][0]) == ("held", "unchanged")
    assert "delivery_postal_code has no value any more" in said["A"][1]
    held = workspace.run("held", "list", "--json").json["held"]
    night(workspace, "thursday", *first)
    assert workspace.run("held", "list", "--json").json["held"] == held, "it waits once, however often it comes"


def test_an_order_file_updates_what_sheets_of_changes_left(workspace: Workspace, sandbox: RunningSandbox) -> None:
    night(
        workspace, "monday", *(f"{each},9876500001,1 Market Road,,{sku},1" for each in "AB" for sku in ("TEA", "SALT"))
    )
    by_reference = "order_id: {ledger: Order No}\nkey: [Order No]\n"
    fields = "customer_mobile: {from: Phone}, delivery_address: {from: Address}, delivery_postal_code: {from: PIN}"
    workspace.mapping("change", f"operation: order.update\n{by_reference}fields: {{{fields}}}\n")
    workspace.mapping("delete", f"operation: order.delete_items\n{by_reference}lines: {{item_name: {{from: SKU}}}}\n")
    changed = workspace.drop(
        "changed.csv", "Order No,Phone,PIN,Address\nA,9876500001,560001,1 Market Road\n", folder="sheets"
    )
    deleted = workspace.drop("deleted.csv", "Order No,SKU\nB,SALT\n", folder="sheets")
    assert workspace.run("push", changed, "--mapping", "change").code == 0
    assert workspace.run("push", deleted, "--mapping", "delete").code == 0
    night(workspace, "tuesday", "A,9876500001,9 Market Road,,TEA,1", "A,9876500001,9 Market Road,,SALT,1")
    assert "delivery_postal_code has no value any more" in answers(workspace, "tuesday")["A"][1]
    night(workspace, "wednesday", "B,9876500001,1 Market Road,,TEA,5")
    assert "items of it were added or deleted by another file" in answers(workspace, "wednesday")["B"][1]
    night(workspace, "thursday", "B,9876500001,9 Market Road,,TEA,1", "B,9876500001,9 Market Road,,SALT,1")
    assert answers(workspace, "thursday")["B"][0] == "held", "no row of a deleted item is called accepted"
    assert done(sandbox, "order.updated") == {"A": 1}


def test_an_update_without_an_answer_is_no_second_order(workspace: Workspace, sandbox: RunningSandbox) -> None:
    night(workspace, "monday", "A,9876500001,1 Market Road,560001,TEA,1")
    sandbox.set_faults([{"endpoint": "order.update", "times": 1, "kind": "drop_after"}])
    night(workspace, "tuesday", "A,9876500001,2 Station Road,560001,TEA,1")
    assert workspace.run("settle").code == 0
    assert answers(workspace, "tuesday")["A"][0] == "accepted"
    assert done(sandbox, "order.created") == done(sandbox, "order.updated") == {"A": 1}


def test_an_asn_is_updated_only_where_its_identity_is_known(workspace: Workspace, sandbox: RunningSandbox) -> None:
    columns, *first = asn_lines(["I-1"]).splitlines()
    more = [line.replace(",10", ",12") for line in first]
    night(workspace, "monday", *first, mapping="asns", columns=columns)
    report = night(workspace, "tuesday", *more, mapping="asns", columns=columns)
    (held,) = report["files"][0]["documents"]
    assert (held["state"], "update_identity" in str(report)) == ("held", True)
    decided = workspace.run("held", "list", "--json").json["held"][0]["id"]
    assert workspace.run("held", "decide", str(decided), "drop", "--reason", "test").code == 0
    workspace.configure("[service.asn]", 'update_identity = "invoice_number"')
    newer = [line.replace(",10", ",13") for line in first]  # what was dropped stays dropped
    night(workspace, "wednesday", *newer, "Acme,Bhiwandi,I-2,SKU-1,4", mapping="asns", columns=columns)
    assert len(sandbox.committed("asn.created")) == 2
    assert [line["invoice_number"] for line in sandbox.committed("asn.updated")] == ["I-1"]
    with Opened(workspace.root).parts(Need(calls=False)) as parts:
        wide = AsnRange("created", date(2020, 1, 1), date(2120, 1, 1))
        scope = Scope(wide, ZoneInfo("Asia/Kolkata"))
        announced = announced_documents(parts.ledger, scope, references=[])
    quantities = [[line["qty"] for line in json.loads(one.body)["sku_lines"]] for one in announced]
    assert quantities == [["13", "20"], ["4"]], "reconciliation compares with what the update said"
