"""Two answers that were exchanged on the way: each order has the other's AWB number, and no answer shows it.

Nothing may be changed or cancelled under such a number, by file, by hand, or by trying again.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Barrier
from typing import Any

from support.commands import Finished
from support.http_answers import Asked, Between, Service, Told, between
from support.sandbox_process import RunningSandbox, start_sandbox
from support.workspace import Workspace, order_lines

BY_REFERENCE = "order_id: {ledger: Order No}\nkey: [Order No]\n"
MAPPINGS = {
    "cancel": f"operation: order.cancel\n{BY_REFERENCE}",
    "cancel_awb": "operation: order.cancel\norder_id: {from: AWB}\nkey: [AWB]\n",
    "update": f"operation: order.update\n{BY_REFERENCE}fields:\n  customer_mobile: {{from: Phone}}\n"
    "  delivery_address: {from: Address}\n",
}
EFFECTS = ("order.cancelled", "order.updated", "order.items_added", "order.items_deleted")


NO_ORDER = Told(400, b'{"status": "FAIL", "message": "no such order"}')


@contextmanager
def exchanging(url: str, *, blind: int = 0) -> Iterator[Between]:
    """The creates of A and B, which are under way at the same moment, get each other's answer.

    blind: so many of the first questions find no order.
    """
    both, answers = Barrier(2, timeout=30), dict[str, Told]()
    asked_for: list[str] = []

    def rule(asked: Asked, service: Service) -> Told:
        name = next((each for each in "AB" if f'"reference_number":"{each}"' in asked.body.decode()), "")
        if asked.method == "GET":
            asked_for.append(asked.path)
            return NO_ORDER if len(asked_for) <= blind else service(asked)
        if asked.method != "POST" or not name:
            return service(asked)
        both.wait()
        answers[name] = service(asked)
        both.wait()
        return answers["B" if name == "A" else "A"]

    with between(url, rule) as proxy:
        yield proxy


def exchanged(workspace: Workspace) -> None:
    """Orders C, A and B, all accepted; A has B's AWB number, and B has A's."""
    workspace.second_creates_are_refused()
    for name, text in MAPPINGS.items():
        workspace.mapping(name, text)
    done = workspace.run(
        "push", workspace.drop("orders.csv", order_lines(["C", "A", "B"])), "--mapping", "orders", "--json"
    )
    assert {row["fate"] for row in rows(done)} == {"accepted"}, done.out


def with_orders(tmp_path: Path, proxy: Between, *, settle_after: str = "0s") -> Workspace:
    workspace = Workspace(tmp_path / "workspace", url=proxy.url, settle_after=settle_after)
    exchanged(workspace)
    return workspace


def rows(done: Finished) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = done.json["files"][0]["rows"]
    return found


def push(workspace: Workspace, mapping: str, *lines: str, name: str = "changes.csv") -> list[dict[str, Any]]:
    file = workspace.drop(name, "\n".join([*lines, ""]))
    return rows(workspace.run("push", file, "--mapping", mapping, "--json"))


def only_held(workspace: Workspace) -> dict[str, Any]:
    (held,) = workspace.run("held", "list", "--json").json["held"]
    return dict(held)


def own_numbers(sandbox: RunningSandbox) -> dict[str, str]:
    return {each["reference_number"]: each["awb_number"] for each in sandbox.orders()}


def changed(sandbox: RunningSandbox) -> list[str]:
    """The AWB numbers of orders that were changed or cancelled."""
    return [line["awb_number"] for effect in EFFECTS for line in sandbox.committed(effect)]


def test_no_change_goes_to_the_other_orders_number(tmp_path: Path, sandbox: RunningSandbox) -> None:
    """Both orders are in doubt again; once they are settled, the same file reaches the order that it means."""
    with exchanging(sandbox.url) as proxy:
        workspace = Workspace(tmp_path / "workspace", url=proxy.url, settle_after="1h")
        exchanged(workspace)
        own = own_numbers(sandbox)
        (row,) = push(workspace, "cancel", "Order No", "A")
        assert (row["fate"], row["rule"]) == ("held", "anothers_number")
        assert f"{own['B']}, with which A was answered, is that of the order B" in row["reason"]
        assert changed(sandbox) == []
        doubts = rows(workspace.run("push", workspace.root / "inbound/orders.csv", "--mapping", "orders", "--json"))
        assert {each["document"]: each["fate"] for each in doubts} == {
            "A": "in_doubt",
            "B": "in_doubt",
            "C": "unchanged",
        }
        workspace = Workspace(tmp_path / "workspace", url=proxy.url)
        workspace.run("settle", "--wait")
        assert [each["fate"] for each in push(workspace, "cancel", "Order No", "A")] == ["accepted"]
        assert set(changed(sandbox)) == {own["A"]}


def test_each_order_is_looked_at_once(tmp_path: Path, sandbox: RunningSandbox) -> None:
    """Before its first change; what was seen is known to later runs."""
    workspace = Workspace(tmp_path / "workspace", url=sandbox.url)
    exchanged(workspace)
    looks = len(sandbox.received("order.fetch"))
    update = [f"{each},9000000001,7 New Road" for each in "ABC"]
    assert [row["fate"] for row in push(workspace, "update", "Order No,Phone,Address", *update)] == ["accepted"] * 3
    assert len(sandbox.received("order.fetch")) - looks == 3
    assert [row["fate"] for row in push(workspace, "cancel", "Order No", "A", "B", "C")] == ["accepted"] * 3
    assert len(sandbox.received("order.fetch")) - looks == 3


def test_a_number_that_was_found_out_by_hand_is_not_used_by_a_file_that_waits(
    tmp_path: Path, sandbox: RunningSandbox
) -> None:
    """A cancellation of A was planned under B's number, and its run broke off before it went out."""
    with exchanging(sandbox.url) as proxy:
        workspace = with_orders(tmp_path, proxy, settle_after="1h")
        file = workspace.drop("cancel.csv", "Order No\nA\n")
        workspace.run("push", file, "--mapping", "cancel", LOGISTICS_BATCH_CRASH_AT="file.after_commit:1")
        assert "B and A are in doubt again" in workspace.run("order", "cancel", "B").out
        (row,) = rows(workspace.run("push", file, "--mapping", "cancel", "--json"))
        assert (row["fate"], row["rule"]) == ("held", "anothers_number")
    assert changed(sandbox) == []


def test_a_held_change_cannot_be_sent_to_the_other_order_and_hides_none_of_that_one(
    tmp_path: Path, sandbox: RunningSandbox
) -> None:
    with exchanging(sandbox.url) as proxy:
        workspace = with_orders(tmp_path, proxy)
        own = own_numbers(sandbox)
        assert push(workspace, "cancel", "Order No", "A")[0]["rule"] == "anothers_number"
        held = only_held(workspace)
        for decision in ("accept", "send-again"):
            refused = workspace.run("held", "decide", str(held["id"]), decision, "--reason", "x")
            assert (refused.code, "is not the AWB number of the order A" in refused.err) == (2, True)
        workspace.run("settle", "--wait")
        # The same number, and the same empty body: it is another order's cancellation.
        assert push(workspace, "cancel", "Order No", "B", name="b.csv")[0]["fate"] == "accepted"
        assert changed(sandbox) == [own["B"]]
        workspace.run("held", "decide", str(held["id"]), "drop", "--reason", "exchanged")
        assert push(workspace, "cancel", "Order No", "A", name="a.csv")[0]["fate"] == "accepted"
        assert changed(sandbox) == [own["B"], own["A"]]


def test_where_orders_are_found_by_reference_only_that_shows_it(tmp_path: Path) -> None:
    sandbox = start_sandbox(tmp_path, order_id_reading="reference")
    try:
        with exchanging(sandbox.url) as proxy:
            workspace = with_orders(tmp_path, proxy, settle_after="1h")
            cancelled = push(workspace, "cancel", "Order No", "A", "C")
            assert [(row["fate"], row["rule"]) for row in cancelled] == [("held", "anothers_number"), ("accepted", "")]
            assert changed(sandbox) == [own_numbers(sandbox)["C"]]
    finally:
        sandbox.stop()


@contextmanager
def blind(url: str) -> Iterator[Between]:
    """A service that never shows an order."""
    with between(url, lambda asked, service: NO_ORDER if asked.method == "GET" else service(asked)) as proxy:
        yield proxy


def test_what_the_service_does_not_show_is_held_until_a_person_has_looked(
    tmp_path: Path, sandbox: RunningSandbox
) -> None:
    with blind(sandbox.url) as proxy:
        workspace = with_orders(tmp_path, proxy)
        own = own_numbers(sandbox)
        (row,) = push(workspace, "cancel", "Order No", "A")
        assert (row["fate"], row["rule"]) == ("held", "order_not_shown")
        assert f"{own['A']} is the order A (no such order)" in row["reason"]
        refused = workspace.run("order", "cancel", "A")
        assert (refused.code, "does not show" in refused.out) == (4, True)
        assert changed(sandbox) == []
        held = only_held(workspace)
        workspace.run("held", "decide", str(held["id"]), "send-again", "--reason", "looked it up")
        assert push(workspace, "cancel", "Order No", "A")[0]["fate"] == "accepted"
        proxy.honest = True
        push(workspace, "cancel", "Order No", "B", name="b.csv")
    assert changed(sandbox) == [own["A"], own["B"]]


def test_what_was_not_shown_goes_out_when_it_is_dropped_again_and_shown(
    tmp_path: Path, sandbox: RunningSandbox
) -> None:
    with blind(sandbox.url) as proxy:
        workspace = with_orders(tmp_path, proxy)
        assert push(workspace, "cancel", "Order No", "A")[0]["rule"] == "order_not_shown"
        proxy.honest = True
        assert push(workspace, "cancel", "Order No", "A")[0]["fate"] == "accepted"
    assert len(changed(sandbox)) == 1


def test_a_setting_sends_what_is_not_shown_and_says_so(tmp_path: Path, sandbox: RunningSandbox) -> None:
    with blind(sandbox.url) as proxy:
        workspace = Workspace(tmp_path / "workspace", url=proxy.url)
        workspace.configure('change_unseen = "send"')
        exchanged(workspace)
        done = workspace.run("push", workspace.drop("c.csv", "Order No\nA\nB\n"), "--mapping", "cancel", "--json")
        assert [row["fate"] for row in rows(done)] == ["accepted"] * 2
        assert "Changed though the service does not show whose the AWB number is: 2 orders." in done.json["notes"]
    assert len(changed(sandbox)) == 2


def test_one_order_that_cannot_be_asked_for_keeps_no_others_back(tmp_path: Path, sandbox: RunningSandbox) -> None:
    broken: list[str] = []

    def rule(asked: Asked, service: Service) -> Told:
        return Told(500, b"") if asked.method == "GET" and asked.path.split("/")[-1] in broken else service(asked)

    with between(sandbox.url, rule) as proxy:
        workspace = with_orders(tmp_path, proxy)
        broken.append(own_numbers(sandbox)["A"])
        fates = [row["fate"] for row in push(workspace, "cancel", "Order No", "A", "B", "C")]
        assert fates == ["held", "accepted", "accepted"]
        broken.clear()
        (held,) = workspace.run("held", "list", "--json").json["held"]
        assert held["rule"] == "not_answered"
        workspace.run("held", "decide", str(held["id"]), "send-again", "--reason", "it answers again")
        assert push(workspace, "cancel", "Order No", "A", "B", "C")[0]["fate"] == "accepted"


def test_a_change_that_went_to_another_order_is_not_taken_for_done(tmp_path: Path, sandbox: RunningSandbox) -> None:
    """It went out unlooked, by the setting; its answer was lost, and the order under that number shows the change."""
    with exchanging(sandbox.url, blind=2) as proxy:
        workspace = Workspace(tmp_path / "workspace", url=proxy.url, settle_after="1h")
        workspace.configure('change_unseen = "send"')
        exchanged(workspace)
        sandbox.set_faults([{"endpoint": "order.cancel", "kind": "drop_after", "times": 1}])
        assert push(workspace, "cancel", "Order No", "A")[0]["fate"] == "in_doubt"
        workspace = Workspace(tmp_path / "workspace", url=proxy.url)
        workspace.run("settle")
        (held,) = [
            each for each in workspace.run("held", "list", "--json").json["held"] if each["rule"] == "another_order"
        ]
        assert "under this number the service has the order B" in held["reason"]
