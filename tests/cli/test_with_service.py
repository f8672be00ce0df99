"""Commands that talk to a service: single calls by hand, history, decisions, the doctor; against the sandbox."""

import socket
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cli.conftest import Run
from support.commands import Finished
from support.event_receiver import receiving
from support.sandbox_process import RunningSandbox, sandbox_for_a_test
from support.workspace import Workspace, asn_lines, order_lines


@pytest.fixture
def sandbox(tmp_path: Path) -> Iterator[RunningSandbox]:
    yield from sandbox_for_a_test(tmp_path, sftp=True)


@pytest.fixture
def workspace(tmp_path: Path, sandbox: RunningSandbox) -> Workspace:
    return Workspace(tmp_path, url=sandbox.url)


def push(run: Run, workspace: Workspace, references: list[str], *, mapping: str = "orders") -> Finished:
    lines = order_lines(references) if mapping == "orders" else asn_lines(references)
    return run("push", workspace.drop(f"{mapping}.csv", lines), "--mapping", mapping, "--json")


def row(done: Finished) -> dict[str, Any]:
    found: dict[str, Any] = done.json["files"][0]["rows"][0]
    return found


def test_an_order_is_looked_at_and_cancelled_by_its_awb(
    run: Run, workspace: Workspace, sandbox: RunningSandbox
) -> None:
    awb = row(push(run, workspace, ["A-1"]))["awb_number"]
    assert run("order", "get", awb, "--json").json["order"]["reference_number"] == "A-1"
    cancelled = run("order", "cancel", awb)
    assert cancelled.code == 0
    assert cancelled.out.endswith("is cancelled: Order Cancelled Successfully. The ledger knows it.\n")
    shown = run("order", "get", awb).out
    assert "name SKU-1, quantity 1, qty_picked 0, qty_delivered 0" in shown, "a person reads it"
    assert [line["awb_number"] for line in sandbox.committed("order.cancelled")] == [awb]
    again = run("order", "cancel", awb)  # the service refuses it; what was wanted is so
    assert (again.code, "is cancelled: the service shows it so" in again.out) == (0, True)
    ours = row(push(run, workspace, ["FEED-1"]))["awb_number"]
    assert run("order", "cancel", "FEED-1").code == 0, "by its reference"
    assert [line["awb_number"] for line in sandbox.committed("order.cancelled")] == [awb, ours]
    assert run("order", "cancel", "FEED-2").code == 3, "not of ours: sent as it is"
    absent = run("order", "get", "SH-0000000", "--json")
    assert (absent.code, absent.json["order"]) == (3, None)


def test_an_order_on_its_way_is_not_cancelled(run: Run, workspace: Workspace, sandbox: RunningSandbox) -> None:
    awb = row(push(run, workspace, ["A-1"]))["awb_number"]
    sandbox.control("POST", "/orders/A-1/status", {"status": "Picked"})
    refused = run("order", "cancel", awb)
    assert (refused.code, "The order can't be cancelled now" in refused.out) == (3, True)


def test_a_call_by_hand_with_a_wrong_key_says_so(run: Run, workspace: Workspace) -> None:
    workspace.secret("api-key", "another-key-altogether")
    for command in (
        ["order", "get", "SH-1"],
        ["order", "cancel", "SH-1"],
        ["webhook", "subscribe", "--url", "https://x.example"],
    ):
        done = run(*command)
        assert done.code == 5, command
        assert "does not take the API key" in done.err
        assert "another-key-altogether" not in done.out + done.err


def test_each_address_of_alerts_gets_a_test_message(run: Run, workspace: Workspace) -> None:
    with receiving() as people, socket.create_server(("127.0.0.1", 0)) as taken:
        nobody = taken.getsockname()[1]
        taken.close()
        addresses = [f"json://{people.url.removeprefix('http://')}", f"json://127.0.0.1:{nobody}/?cto=1"]
        workspace.configure("[notify]", f"urls = {addresses}")
        checks = [each for each in run("doctor", "--json").json["checks"] if each["name"] == "notify"]
        assert [each["state"] for each in checks] == ["ok", "ok"]
        assert people.events.empty(), "nothing is sent unless it is asked for"
        done = run("doctor", "--notify", "--json")
        assert people.next()[1]["title"].endswith("Test of the alerts")
    checks = [each for each in done.json["checks"] if each["name"] == "notify"]
    assert [each["state"] for each in checks] == ["ok", "problem"]
    assert "(address 1 of 2) took a test message" in checks[0]["text"]
    assert "(address 2 of 2) did not take" in checks[1]["text"]
    assert done.code == 2


def test_a_webhook_is_subscribed_and_changed(run: Run, workspace: Workspace, sandbox: RunningSandbox) -> None:
    headers = workspace.secret("hook-headers", "API_KEY: for-our-receiver\n")
    hook = ["--id", "7", "--url", "https://hooks.example.com/orders", "--headers-file", headers, "--verify"]
    subscribed = run("webhook", "subscribe", *hook)
    assert subscribed.code == 0
    assert "drop a header with an underscore in its name: API_KEY." in subscribed.err
    body = sandbox.received("webhook.subscribe")[0]["body"]
    assert "https://hooks.example.com/orders" in str(body)
    assert run("webhook", "update", "--id", "7", "--inactive").code == 0
    nothing = run("webhook", "update", "--id", "7")
    assert nothing.code == 2
    assert "Nothing to update" in nothing.err
    headers.chmod(0o644)
    assert "chmod 600" in run("webhook", "subscribe", *hook).err


def test_asns_are_fetched_by_dates_or_by_invoice(run: Run, workspace: Workspace) -> None:
    assert push(run, workspace, ["INV-1", "INV-2"], mapping="asns").code == 0
    one = run("asn", "fetch", "--invoice", "INV-1", "--json")
    assert one.code == 0
    assert [each["invoice_number"] for each in one.json["asns"]] == ["INV-1"]
    both = run("asn", "fetch", "--by", "created", "--from", "2020-01-01", "--to", "2099-12-31")
    assert both.code == 0
    assert "INV-1" in both.out
    assert "INV-2" in both.out
    assert run("asn", "fetch", "--supplier-name", "Acme").code == 2
    half = run("asn", "fetch", "--by", "created", "--from", "2026-01-01")
    assert half.code == 2
    assert "both ends" in half.err


def test_runs_are_listed_shown_and_written_again(run: Run, workspace: Workspace) -> None:
    first = push(run, workspace, ["A-1"]).json["run"]
    second = push(run, workspace, ["A-1", "A-2"]).json["run"]
    assert [each["id"] for each in run("runs", "--json").json["runs"]] == [second, first]
    assert len(run("runs", "--json", "--limit", "1").json["runs"]) == 1
    assert first in run("runs").out
    shown = run("runs", "show", first, "--json").json
    assert [each["fate"] for each in shown["files"][0]["rows"]] == ["accepted"]
    (result,) = (workspace.root / "reports/earlier").glob(f"orders.{first}.result.csv")
    result.unlink()
    again = run("runs", "report", first)
    assert again.code == 0
    assert str(result) in again.out.splitlines()
    assert result.exists()
    assert run("runs", "show", "nothing").code == 2
    assert run("runs", "show", "push", "--json").json["run"] == second  # a job's name is its latest run


def test_a_push_tells_people_what_became_of_their_rows(run: Run, workspace: Workspace) -> None:
    file = workspace.drop("orders.csv", order_lines(["A-1", "A-2"]).replace("560002", "56002"))
    done = run("push", file, "--mapping", "orders")
    assert done.code == 3
    assert "orders.csv: 2 rows, mapping orders" in done.out
    assert "accepted         1  the service took them" in done.out
    assert "Row 3, cell D3 (PIN):" in done.out
    assert f"Answers: {workspace.root / 'reports/orders'}.*" in done.out
    written = [*(workspace.root / "reports").rglob("*"), *(workspace.root / "var").rglob("*")]
    assert len(written) > 5
    assert not [path for path in written if stat.S_IMODE(path.stat().st_mode) & 0o077], "they hold names and addresses"


def test_labels_are_bundled_once_and_again_only_with_a_reason(run: Run, workspace: Workspace) -> None:
    push(run, workspace, ["A-1", "A-2", "A-3"])
    first = run("labels", "--output", workspace.root / "bundle", "--json")
    assert first.code == 0, first.err
    assert first.json["labels"] == 3
    assert (workspace.root / "bundle/labels.pdf").read_bytes().startswith(b"%PDF-")
    assert run("labels", "--json").json["labels"] == 0
    listed = workspace.root / "numbers.txt"
    listed.write_text("A-1\n\nA-2\n")
    again = run("labels", "--orders", listed, "--reprint", "--reason", "printer jam", "--json")
    assert again.json["labels"] == 2
    unknown = run("labels", "--orders", "A-1,A-9", "--reprint", "--reason", "printer jam")
    assert unknown.code == 3
    assert unknown.out.startswith("Missing: A-9")
    assert "1 label of 1 order, 1 missing." in unknown.out


def test_a_reference_with_a_slash_is_no_missing_file(run: Run, workspace: Workspace) -> None:
    push(run, workspace, ["SO/2026/1"])
    assert run("labels", "--orders", "SO/2026/1", "--json").json["labels"] == 1


def test_a_reconciliation_by_hand_writes_its_report(run: Run, workspace: Workspace) -> None:
    push(run, workspace, ["INV-1"], mapping="asns")
    window = ["--by", "created", "--from", "2020-01-01", "--to", "2099-12-31"]
    done = run("reconcile", *window, "--output", workspace.root / "out", "--json")
    assert done.code in (0, 3, 4), done.err
    assert {"window", "complete", "exceptions"} <= set(done.json)
    assert {path.suffix for path in (workspace.root / "out").iterdir()} == {".xlsx", ".html", ".csv", ".json"}
    told = run("reconcile", *window)
    assert "reconciliation.xlsx" in told.out
    assert run("reconcile", *window, "--receipts-mapping", "receipts").code == 2
    assert run("reconcile", *window, "--purchase-orders-mapping", "purchase_orders").code == 2
    other = workspace.root / "other.csv"
    other.write_text("Foo,Bar\n1,2\n")
    assert run("init", workspace.root, "--layout", "receipts").code == 0
    held = run("reconcile", *window, "--receipts", other, "--receipts-mapping", "receipts", "--json")
    assert held.code == 4 and held.json["complete"] is False and held.json["exceptions"] == []
    assert "Receipts file other.csv could not be read" in held.json["doubts"][0] and held.err
    told = run("runs", "show", "reconcile").out
    assert "exit 4: the report may be incomplete" in told and "settle" not in told


def test_two_reconciliations_are_compared(run: Run, workspace: Workspace) -> None:
    window = ["--by", "created", "--from", "2020-01-01", "--to", "2099-12-31"]
    push(run, workspace, ["INV-1"], mapping="asns")
    first = run("reconcile", *window, "--json").json["run"]
    push(run, workspace, ["INV-2"], mapping="asns")
    second = run("reconcile", *window, "--json").json["run"]
    compared = run("reconcile", "--compare", first, second, "--json")
    assert compared.code == 0 and compared.json["counts"]["new"] == 0
    told = run("reconcile", "--compare", first, second, "--output", workspace.root / "changes")
    assert f"Run {first}, business date" in told.out
    assert {path.name for path in (workspace.root / "changes").iterdir()} == {"exceptions.csv", "comparison.json"}
    assert run("reconcile", "--compare", first, "2001-01-01").code == 2
    assert run("reconcile", "--compare", first, second, *window).code == 2
    assert "Missing option '--from'" in run("reconcile", "--by", "created").err


def test_settle_has_nothing_to_do_after_a_quiet_night(run: Run, workspace: Workspace) -> None:
    push(run, workspace, ["A-1"])
    assert run("settle", "--json").json == {"settled": [], "held": [], "open": [], "still_held": []}
    assert run("settle").code == 0


def test_the_doctor_finds_nothing_in_a_sound_workspace(run: Run, workspace: Workspace, sandbox: RunningSandbox) -> None:
    configure_sftp(workspace, sandbox)
    done = run("doctor", "--json")
    assert done.code == 0, done.out
    states = {each["name"]: each["state"] for each in done.json["checks"]}
    assert states["service"] == "ok"
    assert states["ledger"] == "ok"
    assert states["sftp.bhiwandi:/inbound"] == "ok"
    assert states["settle_after"] == "warning"  # 0 s in this workspace
    told = run("doctor").out
    assert "warning  settle_after:" in told and "What to do:" in told


def configure_sftp(workspace: Workspace, sandbox: RunningSandbox) -> None:
    assert sandbox.sftp is not None
    (sandbox.sftp.root / "inbound").mkdir(exist_ok=True)
    workspace.sftp("bhiwandi", sandbox.sftp)
    workspace.job("nightly", "kind: push\nmapping: orders\nsource: {sftp: bhiwandi, path: /inbound}\n")
