"""An answer that is about one document never stops the others."""

import pytest
from support.sandbox_process import RunningSandbox, created
from support.workspace import Workspace, asn_lines, order_lines

REFERENCES = [f"P-{number}" for number in range(1, 9)]


def pushed(workspace: Workspace, *, code: int) -> dict[str, str]:
    """What became of each order of one file, by its reference."""
    drop = workspace.drop("orders.csv", order_lines(REFERENCES))
    done = workspace.run("push", drop, "--mapping", "orders", "--json")
    assert done.code == code, done.out + done.err
    return {row["reference_number"]: f"{row['fate']}: {row['reason']}" for row in done.json["files"][0]["rows"]}


def test_what_is_declined_alone_is_refused_in_the_service_s_words_and_the_others_go_out(
    workspace: Workspace, sandbox: RunningSandbox
) -> None:
    poison = ["P-1", "P-2", "P-8"]
    kind = {"endpoint": "order.create", "kind": "status_404", "message": "No hub for this pincode"}
    sandbox.set_faults([kind | {"reference": reference} for reference in poison])
    fates = pushed(workspace, code=3)
    assert created(sandbox) == dict.fromkeys(set(REFERENCES) - set(poison), 1)
    assert {key for key, fate in fates.items() if fate.startswith("refused")} == set(poison)
    assert all("No hub for this pincode" in fates[key] for key in poison)


def test_many_in_a_row_that_are_declined_keep_no_others_back(workspace: Workspace, sandbox: RunningSandbox) -> None:
    """A sheet that is sorted by postcode has all that go to a hub which was closed one behind the other."""
    declined = [f"D-{number}" for number in range(40)]
    kind = {"endpoint": "order.create", "kind": "status_404", "message": "No hub for this pincode"}
    sandbox.set_faults([kind | {"reference": reference} for reference in declined])
    drop = workspace.drop("orders.csv", order_lines([*REFERENCES[:4], *declined, *REFERENCES[4:]]))
    done = workspace.run("push", drop, "--mapping", "orders", "--json")
    counts = done.json["files"][0]["counts"]
    assert (done.code, counts["accepted"], counts["refused"]) == (3, len(REFERENCES), len(declined)), done.err


def test_many_that_are_declined_behind_all_others_are_not_blamed_on_the_address(
    workspace: Workspace, sandbox: RunningSandbox
) -> None:
    declined = [f"D-{number}" for number in range(30)]
    kind = {"endpoint": "order.create", "kind": "status_404", "message": "No hub for this pincode"}
    sandbox.set_faults([kind | {"reference": reference} for reference in declined])
    drop = workspace.drop("orders.csv", order_lines([*REFERENCES, *declined]))
    one_by_one = {"LOGISTICS_BATCH_SERVICE__CONCURRENCY": "1"}  # else an accepted one may come behind
    done = workspace.run("push", drop, "--mapping", "orders", "--json", **one_by_one)
    counts = done.json["files"][0]["counts"]
    assert (done.code, counts["accepted"], counts["pending"]) == (5, len(REFERENCES), len(declined)), done.err
    assert "its address is right" in done.out + done.err
    assert "base_url" not in done.out + done.err


def test_where_only_no_comes_nothing_is_refused_and_the_next_orders_show_which(
    workspace: Workspace, sandbox: RunningSandbox
) -> None:
    """An account that was blocked in the night is told from orders that are declined."""
    pushed(workspace, code=0)
    sandbox.set_faults([{"endpoint": "order.create", "kind": "status_404"}])
    drop = workspace.drop("more.csv", order_lines([f"D-{number}" for number in range(26)]))
    done = workspace.run("push", drop, "--mapping", "orders", "--json")
    assert (done.code, done.json["files"][0]["counts"]["pending"]) == (5, 26), done.err
    sandbox.set_faults([])
    assert workspace.run("push", drop, "--mapping", "orders").code == 0


@pytest.mark.parametrize(
    ("poison", "kind"),
    [("P-1", "status_404"), ("P-5", "gateway_page")],
)
def test_a_page_that_comes_for_one_alone_stops_no_other_one(
    workspace: Workspace, sandbox: RunningSandbox, poison: str, kind: str
) -> None:
    """What stands between, a firewall or a framework, answers 404 or 400 in other words than the service's own."""
    first = workspace.drop("first.csv", order_lines(["P-0"]))
    assert workspace.run("push", first, "--mapping", "orders").code == 0
    rule = {"endpoint": "order.create", "kind": kind, "page": True, "reference": poison}
    sandbox.set_faults([rule | ({"status": 400, "phase": "before"} if kind == "gateway_page" else {})])
    fates = pushed(workspace, code=4)
    assert created(sandbox) == dict.fromkeys({"P-0", *REFERENCES} - {poison}, 1)
    assert fates[poison].startswith("in_doubt")
    sandbox.set_faults([])
    assert workspace.run("settle").code == 0
    assert created(sandbox)[poison] == 1


def test_an_asn_whose_search_always_gets_a_page_is_held_alone_and_says_so(
    workspace: Workspace, sandbox: RunningSandbox
) -> None:
    sandbox.set_faults([{"endpoint": "asn.fetch", "kind": "status_404", "page": True, "reference": "P-2"}])
    drop = workspace.drop("asns.csv", asn_lines(REFERENCES[:3]))
    rows = workspace.run("push", drop, "--mapping", "asns", "--json").json["files"][0]["rows"]
    assert [row["fate"] for row in rows] == ["accepted"] * 2 + ["held"] * 2 + ["accepted"] * 2
    assert "and answered: 404" in rows[2]["reason"]


def test_pages_while_a_new_version_of_the_service_comes_up_cost_a_pause(
    workspace: Workspace, sandbox: RunningSandbox
) -> None:
    sandbox.set_faults([{"endpoint": "order.create", "kind": "status_404", "page": True, "from": 4, "to": 6}])
    assert all(fate.startswith("accepted") for fate in pushed(workspace, code=0).values())


def test_at_a_wrong_path_nothing_is_refused(workspace: Workspace, sandbox: RunningSandbox) -> None:
    sandbox.set_faults([{"endpoint": "order.create", "kind": "status_404"}])
    fates = pushed(workspace, code=5)
    assert all(fate.startswith("pending") for fate in fates.values())
    assert len(sandbox.received("order.create")) == 5
    sandbox.set_faults([])
    assert all(fate.startswith("accepted") for fate in pushed(workspace, code=0).values())


def test_one_that_comes_alone_is_refused_where_others_were_accepted_before(
    workspace: Workspace, sandbox: RunningSandbox
) -> None:
    pushed(workspace, code=0)
    sandbox.set_faults([{"endpoint": "order.create", "kind": "status_405", "message": "Not for this customer"}])
    done = workspace.run("push", workspace.drop("one.csv", order_lines(["ALONE"])), "--mapping", "orders", "--json")
    assert (done.code, done.json["files"][0]["counts"]["refused"]) == (3, 1)
    assert "Not for this customer" in done.out
