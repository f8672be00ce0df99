"""Whatever stands in the ledger: a body that breaks the service's contract is never sent."""

from contextlib import closing

from support.canary import key_of_tests
from support.sandbox_process import RunningSandbox
from support.workspace import Workspace, order_lines

from logistics_batch.ledger.failures import sqlite3


def test_a_planned_document_that_breaks_the_contract_is_held_and_the_others_go_out(
    workspace: Workspace, sandbox: RunningSandbox
) -> None:
    file = workspace.drop("orders.csv", order_lines(["A-1", "A-2", "A-3"]))
    workspace.secret("api-key", "not-the-key-at-all")
    assert workspace.run("push", file, "--mapping", "orders").code == 5  # all three are planned and wait
    with closing(sqlite3.connect(workspace.root / "var" / "ledger.db")) as ledger, ledger:
        bodies = dict(ledger.execute("SELECT key, body FROM document"))
        broken = bodies["A-2"].replace(b'"customer_mobile"', b'"customer_mobil"')
        ledger.execute("DROP TRIGGER document_content")  # as if a disk or a person had changed it
        ledger.execute("UPDATE document SET body = ? WHERE key = 'A-2'", (broken,))
    workspace.secret("api-key", key_of_tests())
    before = len(sandbox.received("order.create"))
    done = workspace.run("push", file, "--mapping", "orders", "--json")
    counts = {fate: number for fate, number in done.json["files"][0]["counts"].items() if number}
    assert counts == {"accepted": 2, "held": 1}
    assert len(sandbox.received("order.create")) == before + 2
    held = [row for row in done.json["files"][0]["rows"] if row["fate"] == "held"]
    assert "breaks the contract" in held[0]["reason"]
    assert "customer_mobile" in held[0]["reason"]
