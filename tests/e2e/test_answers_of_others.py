"""Answers that are not the service's, or speak of something else: a gateway's page, a cache, a mixed-up proxy."""

from contextlib import closing
from pathlib import Path

import pytest
from support.http_answers import Asked, Service, Told, between, said
from support.sandbox_process import RunningSandbox, start_sandbox
from support.workspace import ASN_COLUMNS, Workspace, asn_lines, order_lines

from logistics_batch.ledger.failures import sqlite3

TWO_SITES = f"{ASN_COLUMNS}\nAcme,Chennai,INV-30,TEA,10\nAcme,Bhiwandi,INV-30,TEA,10\n"
CANCEL = "operation: order.cancel\nkey: [AWB]\norder_id: {from: AWB}\n"


def numbers(sandbox: RunningSandbox, operation: str) -> list[str]:
    return [line["reference_number"] for line in sandbox.committed(operation)]


@pytest.mark.parametrize("purged", [False, True])
def test_an_asn_that_never_arrived_is_not_found_in_the_record_of_another_one(tmp_path: Path, purged: bool) -> None:
    """Two sites, one invoice number, the same lines; the service shows ids of the parties where names were sent."""
    sandbox = start_sandbox(tmp_path, asn_parties="id")
    try:
        workspace = Workspace(tmp_path / "workspace", url=sandbox.url, settle_after="1h")
        sandbox.set_faults([{"endpoint": "asn.create", "kind": "drop_before", "times": 1}])
        workspace.run("push", workspace.drop("asns.csv", TWO_SITES), "--mapping", "asns")
        workspace = Workspace(tmp_path / "workspace", url=sandbox.url)
        if purged:
            with closing(sqlite3.connect(workspace.root / "var/ledger.db")) as ledger, ledger:  # as if long ago
                ledger.execute(
                    "UPDATE document SET settled_at = '2020' || substr(settled_at, 5) WHERE settled_at != ''"
                )
            workspace.configure("[ledger]", 'purge_after = "30d"')
        workspace.run("settle", "--wait")
        listed = workspace.run("held", "list", "--json").json["held"]
        assert [(line["rule"], line["key"]) for line in listed] == [("not_distinct", "Acme | Chennai | INV-30")]
        assert len(sandbox.committed("asn.created")) == 1
    finally:
        sandbox.stop()


def test_an_asn_is_found_beside_another_one_that_looks_the_same(tmp_path: Path) -> None:
    """The other one was accepted by an answer, and there is one record more: that is it."""
    sandbox = start_sandbox(tmp_path, asn_parties="id")
    try:
        workspace = Workspace(tmp_path / "workspace", url=sandbox.url)
        drop = workspace.drop("asns.csv", TWO_SITES)
        assert workspace.run("push", drop, "--mapping", "asns").code == 4
        (second,) = workspace.run("held", "list", "--json").json["held"]
        assert second["rule"] == "already_present"
        sandbox.set_faults([{"endpoint": "asn.create", "kind": "drop_after", "times": 1}])
        workspace.run("held", "decide", str(second["id"]), "send-again", "--reason", "two sites")
        workspace.run("push", drop, "--mapping", "asns")
        workspace.run("settle", "--wait")
        assert workspace.run("held", "list", "--json").json["held"] == []
        assert len(sandbox.committed("asn.created")) == 2
    finally:
        sandbox.stop()


@pytest.mark.parametrize("there", [True, False])
def test_asns_that_are_always_answered_without_a_word_go_out_while_a_search_shows_them(
    tmp_path: Path, sandbox: RunningSandbox, there: bool
) -> None:
    def rule(asked: Asked, service: Service) -> Told:
        if asked.method != "POST":
            return service(asked)
        if there:
            service(asked)
        return said(200, {})

    with between(sandbox.url, rule) as proxy:
        workspace = Workspace(tmp_path / "workspace", url=proxy.url)
        drop = workspace.drop("asns.csv", asn_lines([f"INV-{n}" for n in range(12)]))
        pushed = workspace.run("push", drop, "--mapping", "asns", "--json")
        assert len(sandbox.committed("asn.created")) == (12 if there else 0)
        fates = {row["fate"] for row in pushed.json["files"][0]["rows"]}
        assert fates == ({"accepted"} if there else {"in_doubt", "pending"})


def test_a_gateways_400_behind_which_the_order_was_created_is_no_refusal(
    tmp_path: Path, sandbox: RunningSandbox
) -> None:
    told = Told(400, b"<html>400 Bad Request nginx</html>", "text/html")

    def rule(asked: Asked, service: Service) -> Told:
        answer = service(asked)
        return told if asked.method == "POST" else answer

    with between(sandbox.url, rule) as proxy:
        workspace = Workspace(tmp_path / "workspace", url=proxy.url, settle_after="1h")
        drop = workspace.drop("orders.csv", order_lines([f"R{n}" for n in range(9)]))
        pushed = workspace.run("push", drop, "--mapping", "orders", "--json")
        fates = [row["fate"] for row in pushed.json["files"][0]["rows"]]
        assert "refused" not in fates
        assert fates.count("in_doubt") == len(sandbox.committed("order.created")) <= 8
        proxy.honest = True
        workspace = Workspace(tmp_path / "workspace", url=proxy.url)
        assert workspace.run("push", drop, "--mapping", "orders").code == 0
    assert sorted(numbers(sandbox, "order.created")) == [f"R{n}" for n in range(9)]


def test_a_change_is_not_found_in_another_orders_answer(tmp_path: Path, sandbox: RunningSandbox) -> None:
    awbs: list[str] = []

    def rule(asked: Asked, service: Service) -> Told:
        if asked.method == "PUT":
            return Told(502, b"")
        return service(Asked(asked.method, asked.path.replace(*awbs), asked.headers, asked.body))

    with between(sandbox.url, rule) as proxy:
        workspace = Workspace(tmp_path / "workspace", url=proxy.url)
        workspace.mapping("cancel", CANCEL)
        proxy.honest = True
        drop = workspace.drop("a.csv", order_lines(["E1", "E2"]))
        assert workspace.run("push", drop, "--mapping", "orders").code == 0
        awbs += [sandbox.orders(reference=each)[0]["awb_number"] for each in ("E1", "E2")]
        assert workspace.run("order", "cancel", awbs[1]).code == 0
        proxy.honest = False
        workspace.run("push", workspace.drop("cancel.csv", f"AWB\n{awbs[0]}\n"), "--mapping", "cancel")
        workspace.run("settle", "--wait")
        (line,) = workspace.run("held", "list", "--json").json["held"]
    assert "another order came back" in line["reason"]


def test_sending_stops_where_answers_keep_naming_other_orders(tmp_path: Path, sandbox: RunningSandbox) -> None:
    first: list[Told] = []

    def rule(asked: Asked, service: Service) -> Told:
        answer = service(asked)
        if asked.method != "POST":
            return answer
        first.append(answer)
        return first[0]

    with between(sandbox.url, rule) as proxy:
        workspace = Workspace(tmp_path / "workspace", url=proxy.url, settle_after="1h")
        workspace.second_creates_are_refused()  # so that no acceptance is looked at
        drop = workspace.drop("orders.csv", order_lines([f"M{n}" for n in range(60)]))
        pushed = workspace.run("push", drop, "--mapping", "orders", "--json")
    fates = [row["fate"] for row in pushed.json["files"][0]["rows"]]
    assert set(fates) == {"accepted", "in_doubt", "pending"}
    assert fates.count("in_doubt") >= 5
    assert len(sandbox.committed("order.created")) == 60 - fates.count("pending")
    assert "answers carried the AWB numbers of other orders" in pushed.out


@pytest.mark.parametrize("arrived", [True, False])
def test_an_order_that_got_the_answer_of_another_one_is_in_doubt_again(
    tmp_path: Path, sandbox: RunningSandbox, arrived: bool
) -> None:
    """The answer to A is lost and comes to B, which nobody can tell at first; looking at A's number shows it."""
    kept: list[Told] = []

    def rule(asked: Asked, service: Service) -> Told:
        if asked.method != "POST":
            return service(asked)
        if arrived or not kept:
            kept.append(service(asked))
        return Told(502, b"") if asked.body is not None and b'"A"' in asked.body else kept[0]

    with between(sandbox.url, rule) as proxy:
        workspace = Workspace(tmp_path / "workspace", url=proxy.url, settle_after="1h")
        workspace.second_creates_are_refused()  # so that no acceptance is looked at
        workspace.run("push", workspace.drop("orders.csv", order_lines(["A", "B"])), "--mapping", "orders")
        proxy.honest = True
        if arrived:
            refused = workspace.run("order", "cancel", "B")
            assert (refused.code, "B is in doubt again" in refused.out) == (4, True)
        workspace = Workspace(tmp_path / "workspace", url=proxy.url)
        assert workspace.run("settle", "--wait").code == 0
    with closing(sqlite3.connect(workspace.root / "var/ledger.db")) as ledger:
        known = dict(ledger.execute("SELECT reference, awb_number FROM document").fetchall())
    assert known == {one["reference_number"]: one["awb_number"] for one in sandbox.orders()}
    assert sandbox.committed("order.cancelled") == []
    assert len(sandbox.committed("order.created")) == len(known)
