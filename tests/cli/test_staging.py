"""`doctor --staging`: what test orders show, and how doubts are settled with it, for a service of each kind."""

import json
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from cli.conftest import Run
from support.commands import Finished
from support.http_answers import Asked, Told, between
from support.http_answers import Service as Passed
from support.sandbox_process import RunningSandbox, start_sandbox
from support.workspace import Workspace, order_lines

from logistics_batch.ledger.failures import sqlite3

pytestmark = pytest.mark.slow

Service = Callable[..., tuple[RunningSandbox, Workspace]]


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    started: list[RunningSandbox] = []

    def start(**switches: str) -> tuple[RunningSandbox, Workspace]:
        started.append(start_sandbox(tmp_path, **switches))
        workspace = Workspace(tmp_path, url=started[0].url)
        return started[0], workspace

    yield start
    for each in started:
        each.stop()


def checks(done: Finished) -> dict[str, tuple[str, str]]:
    return {each["name"]: (each["state"], each["text"]) for each in done.json["checks"]}


def push(run: Run, workspace: Workspace, references: list[str], name: str = "orders.csv") -> Finished:
    return run("push", workspace.drop(name, order_lines(references)), "--mapping", "orders", "--json")


def created(sandbox: RunningSandbox) -> Counter[str]:
    found = Counter(line["reference_number"] for line in sandbox.committed("order.created"))
    return Counter({reference: n for reference, n in found.items() if not reference.startswith("LB-TEST-")})


def held(run: Run) -> list[str]:
    return [each["rule"] for each in run("held", "list", "--json").json["held"]]


def fates(done: Finished) -> dict[str, str]:
    return {row["document"]: row["fate"] for row in done.json["files"][0]["rows"]}


def test_what_is_seen_is_told_remembered_and_cleaned_up(run: Run, service: Service) -> None:
    sandbox, _ = service()
    before = checks(run("doctor", "--json"))
    assert "not verified on this account" in before["uniqueness"][1]
    known = {name: before[name][1].partition(":")[0] for name in list(before)[list(before).index("uniqueness") + 1 :]}
    assert known == {
        "cancelling": "assumed",
        "late effects": "assumed",
        "reading": "verified in each settling",
        "disk writes": "assumed",
        "no effect": "assumed",
    }
    assert "(service.settle_after)" in before["late effects"][1]
    done = run("doctor", "--staging", "--json")
    assert done.code == 0, done.out
    found = checks(done)
    assert found["one order for a reference"][0] == "ok"
    assert found["duplicate reference"][1].endswith("is refused, in words of its own")
    assert found["orderId"] == ("ok", "an order is found by reference number or awb number")
    assert found["test orders"] == ("ok", "all are cancelled")
    assert {order["status"] for order in sandbox.orders()} == {"cancelled"}
    assert len(sandbox.orders()) == 2  # six creates of two references
    assert "verified on" in checks(run("doctor", "--json"))["uniqueness"][1]


@pytest.mark.parametrize("duplicate", ["refuse", "replay"])
def test_doubts_are_settled_where_orders_cannot_be_looked_for(run: Run, service: Service, duplicate: str) -> None:
    """Orders are fetched by AWB only, so a lost answer leaves nothing to ask by: the verified uniqueness allows it."""
    sandbox, workspace = service(duplicate_reference=duplicate, order_id_reading="id")
    assert checks(run("doctor", "--staging", "--json"))["orderId"][0] == "warning"
    faults = [("A", "drop_before"), ("B", "drop_after"), ("C", "error_500_after")]
    sandbox.set_faults(
        [{"endpoint": "order.create", "reference": ref, "kind": kind, "times": 1} for ref, kind in faults]
    )
    first = push(run, workspace, ["A", "B", "C", "D"])
    done = push(run, workspace, ["A", "B", "C", "D"])
    assert set(fates(done).values()) <= {"accepted", "unchanged"}
    assert created(sandbox) == dict.fromkeys("ABCD", 1)
    assert run("held", "list", "--json").json["held"] == []
    (file,) = run("runs", "show", first.json["run"], "--json").json["files"]
    to_check = [
        row["document"] for row in file["rows"] if "cancelled by hand after its answer was lost" in row["reason"]
    ]
    assert to_check == ["A", "B", "C"], "nobody could look whether they had been cancelled meanwhile"


def test_what_a_sender_had_that_may_live_is_not_sent_again_though_references_are_unique(
    run: Run, service: Service
) -> None:
    """It may wake after somebody cancelled the order that was sent in its place."""
    sandbox, workspace = service(order_id_reading="id")
    run("doctor", "--staging")
    before = len(sandbox.received("order.create"))
    sandbox.set_faults([{"endpoint": "order.create", "reference": "A", "kind": "drop_before", "times": 1}])
    slow = Workspace(workspace.root, url=sandbox.url, settle_after="1h")
    assert push(run, slow, ["A"]).code == 4
    with closing(sqlite3.connect(workspace.root / "var/ledger.db")) as ledger, ledger:
        assert ledger.execute("UPDATE document SET code = 'sender_lost' WHERE state = 'in_doubt'").rowcount == 1
    assert run("settle", "--wait", LOGISTICS_BATCH_SERVICE__SETTLE_AFTER="0s").code == 4
    assert held(run) == ["unknown"]
    assert len(sandbox.received("order.create")) == before + 1


def test_where_uniqueness_cannot_be_shown_a_person_decides(run: Run, service: Service) -> None:
    sandbox, workspace = service(duplicate_reference="error", order_id_reading="id")
    found = checks(run("doctor", "--staging", "--json"))
    assert found["one order for a reference"][0] == "warning"
    assert found["duplicate reference"][1].endswith("proves nothing")
    sandbox.set_faults([{"endpoint": "order.create", "reference": "A", "kind": "drop_after", "times": 1}])
    assert push(run, workspace, ["A"]).code == 4
    assert run("settle", "--wait").code == 4
    assert [each["rule"] for each in run("held", "list", "--json").json["held"]] == ["unknown"]
    assert created(sandbox) == {"A": 1}


def test_a_service_that_makes_two_orders_of_creates_at_the_same_time_is_not_unique(run: Run, service: Service) -> None:
    """In turn it refuses the second; at once it looks whether there is one before any is written."""
    sandbox, workspace = service(order_id_reading="id")
    first, seen = Counter[str](), threading.Lock()

    def rule(asked: Asked, told: Passed) -> Told:
        if asked.method != "POST" or b"reference_number" not in asked.body:
            return told(asked)
        reference = str(json.loads(asked.body)["reference_number"])
        with seen:
            made = first[reference] = first[reference] + 1
            together = len(first) == 2
        again = f"{reference}-{made}" if together and made == 2 else reference
        return told(replace(asked, body=asked.body.replace(reference.encode(), again.encode())))

    with between(sandbox.url, rule) as proxy:
        workspace = Workspace(workspace.root, url=proxy.url)
        found = checks(run("doctor", "--staging", "--json"))
        assert found["one order for a reference"][0] == "warning"
        assert found["duplicate reference"][1].endswith("is refused, in words of its own")
        sandbox.set_faults([{"endpoint": "order.create", "reference": "A", "kind": "drop_before", "times": 1}])
        push(run, workspace, ["A"])
        assert run("settle", "--wait").code == 4
        assert (held(run), created(sandbox)) == (["unknown"], {})


def test_what_was_seen_with_another_key_does_not_count(run: Run, service: Service) -> None:
    """Whose account the new key is nobody knows: nothing is sent again on the strength of what the old one showed."""
    sandbox, workspace = service(order_id_reading="id")

    def rule(asked: Asked, told: Passed) -> Told:
        headers = {name: value for name, value in asked.headers.items() if name.upper() != "API_KEY"}
        return told(replace(asked, headers=headers | {"API_KEY": sandbox.api_key}))

    with between(sandbox.url, rule) as proxy:
        workspace = Workspace(workspace.root, url=proxy.url)
        assert run("doctor", "--staging").code == 0
        workspace.secret("api-key", "another-key-of-the-tests")
        state, text = checks(run("doctor", "--json"))["uniqueness"]
        assert (state, "seen with another API key" in text) == ("warning", True)
        sandbox.set_faults([{"endpoint": "order.create", "reference": "A", "kind": "drop_before", "times": 1}])
        done = push(run, workspace, ["A"])
        assert (fates(done), any("another API key" in note for note in done.json["notes"])) == ({"A": "in_doubt"}, True)
        assert run("settle", "--wait").code == 4
        assert (held(run), created(sandbox)) == (["unknown"], {})
        workspace.secret("api-key", sandbox.api_key)
        assert checks(run("doctor", "--json"))["uniqueness"][0] == "ok"
        text = (workspace.root / "var/ledger.db").read_bytes()
        assert sandbox.api_key.encode() not in text


def test_a_reference_of_somebody_else_is_held_not_refused(run: Run, service: Service, tmp_path: Path) -> None:
    sandbox, workspace = service()
    other = Workspace(tmp_path / "other", url=sandbox.url)
    push(lambda *given, **env: run("--workspace", other.root, *given, **env), other, ["A"])
    assert fates(push(run, workspace, ["A"], "before.csv")) == {"A": "refused"}
    assert run("doctor", "--staging").code == 0
    again = run("retry", "push", "--json")
    assert (again.code, fates(again)) == (4, {"A": "held"})
    assert [each["rule"] for each in run("held", "list", "--json").json["held"]] == ["reference_taken"]


def test_test_orders_that_could_not_be_cancelled_are_named_and_cancelled_next_time(run: Run, service: Service) -> None:
    sandbox, _ = service()
    sandbox.set_faults([{"endpoint": "order.cancel", "kind": "error_500_before"}])
    done = run("doctor", "--staging", "--json")
    state, text = checks(done)["test orders"]
    assert (done.code, state) == (2, "problem")
    assert all(order["awb_number"] in text for order in sandbox.orders())
    sandbox.set_faults([])
    assert checks(run("doctor", "--staging", "--json"))["test orders"][0] == "ok"
    assert {order["status"] for order in sandbox.orders()} == {"cancelled"}


def test_an_order_of_somebody_else_is_not_cancelled_for_a_test_order(run: Run, service: Service) -> None:
    """Test orders get no answer, and the service shows a customer's order where it is asked for one of them."""
    sandbox, workspace = service()
    push(run, workspace, ["CUSTOMER"])
    (customer,) = sandbox.orders()
    sandbox.set_faults([{"endpoint": "order.create", "kind": "drop_before"}])

    def rule(asked: Asked, told: Passed) -> Told:
        is_look = asked.method == "GET" and "LB-TEST-" in asked.path
        return told(replace(asked, path=f"/orders/shipment/{customer['awb_number']}") if is_look else asked)

    with between(sandbox.url, rule) as proxy:
        workspace = Workspace(workspace.root, url=proxy.url)
        assert run("doctor", "--staging", "--json").code == 2
    assert [order["status"] for order in sandbox.orders()] == [customer["status"]]


def test_a_service_that_takes_no_test_order_is_a_problem(run: Run, service: Service) -> None:
    sandbox, _ = service()
    sandbox.set_faults([{"endpoint": "order.create", "kind": "status_400"}])
    done = run("doctor", "--staging", "--json")
    assert done.code == 2
    assert "took no test order" in checks(done)["service and ledger"][1]
    assert sandbox.orders() == []
