"""A mapping that is corrected after a run was killed: what was not sent goes out by it, what was sent stays."""

import csv
import io
import json
from collections import Counter

import pytest
from support.sandbox_process import RunningSandbox
from support.workspace import ORDERS_MAPPING, Workspace

LINES = "Order No,Other No,Phone,Address,Landmark,PIN,SKU,Qty\n" + "".join(
    f"A-{n},B-{n},98765{n:05d},Wrong Street {n},Right Street {n},560001,TEA,1\n" for n in range(1, 5)
)
CORRECTED = ORDERS_MAPPING.replace("from: Address", "from: Landmark")
OTHER_KEY = CORRECTED.replace("Order No", "Other No")


def orders(sandbox: RunningSandbox) -> Counter[str]:
    return Counter(line["reference_number"] for line in sandbox.committed("order.created"))


def results(workspace: Workspace) -> list[dict[str, str]]:
    text = (workspace.root / "reports/a.result.csv").read_text("utf-8-sig")
    return list(csv.DictReader(io.StringIO(text)))


@pytest.mark.parametrize("name", ["orders", "corrected"])
def test_what_was_not_sent_goes_out_by_the_mapping_as_it_is_now(
    workspace: Workspace, sandbox: RunningSandbox, name: str
) -> None:
    path = workspace.drop("a.csv", LINES)
    killed = workspace.run("push", path, "--mapping", "orders", LOGISTICS_BATCH_CRASH_AT="intent.before_commit:1")
    assert killed.code == -9
    workspace.mapping(name, CORRECTED)
    done = workspace.run("push", path, "--mapping", name, "--json")
    assert done.code == 0, done.err
    assert done.json["files"][0]["counts"]["accepted"] == 4
    assert "its mapping was changed since" in " ".join(done.json["notes"])
    assert orders(sandbox) == {f"A-{n}": 1 for n in range(1, 5)}
    shown = workspace.run("order", "get", results(workspace)[0]["awb_number"], "--json")
    assert "Right Street 1" in json.dumps(shown.json)
    assert {line["fate"] for line in results(workspace)} == {"accepted"}
    assert workspace.run("ledger", "verify").code == 0


def test_what_was_sent_stays_as_it_was_and_is_not_sent_under_another_reference(
    workspace: Workspace, sandbox: RunningSandbox
) -> None:
    path = workspace.drop("a.csv", LINES)
    assert workspace.run("push", path, "--mapping", "orders", LOGISTICS_BATCH_CRASH_AT="send.after:2").code == -9
    before = orders(sandbox)
    assert before
    workspace.mapping("orders", OTHER_KEY)
    done = workspace.run("push", path, "--mapping", "orders", "--json")
    workspace.run("settle", "--wait")
    sent = orders(sandbox)
    assert sum(sent.values()) == 4, (sent, done.out)
    assert {name.split("-")[1] for name in sent} == {"1", "2", "3", "4"}
    assert before.items() <= sent.items()
    assert [line["fate"] for line in results(workspace)] == ["accepted"] * 4
    assert workspace.run("ledger", "verify").code == 0
