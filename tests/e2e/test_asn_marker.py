"""ASNs with a marker in their description: found again by it, confirmed by it, and otherwise as without one."""

import csv
import io
import json
import urllib.request
from contextlib import closing
from typing import Any

import pytest
from support.commands import Finished
from support.sandbox_process import RunningSandbox
from support.workspace import ASNS_MAPPING, Workspace, asn_lines

from logistics_batch.ledger.failures import sqlite3
from logistics_batch.model.asn_marker import LONGEST_DESCRIPTION, marker_of

WITH_DESCRIPTION = ASNS_MAPPING.replace("lines:", "  description: {from: Text}\nlines:")


NIGHTLY = """\
kind: push
mapping: asns
on_change: update
source: {folder: ., path: /inbound, pattern: "*.csv", ready: {unchanged_for: 2, poll_every: 10ms}}
results: {folder: results}
"""


@pytest.fixture
def marking(workspace: Workspace) -> Workspace:
    workspace.configure("[service.asn]", "marker = true")
    return workspace


def own(sandbox: RunningSandbox, invoice: str, *, generation: int = 1) -> str:
    return marker_of(sandbox.url, f"Acme | Bhiwandi | {invoice}", generation)


def push(workspace: Workspace, name: str, text: str, *options: str) -> Finished:
    return workspace.run("push", workspace.drop(name, text), "--mapping", "asns", *options)


def sent(sandbox: RunningSandbox) -> list[dict[str, Any]]:
    """The bodies of all creates, by invoice number."""
    return sorted((line["body"] for line in sandbox.received("asn.create")), key=lambda body: body["invoice_number"])


def rows(workspace: Workspace, name: str) -> list[dict[str, str]]:
    text = (workspace.root / f"reports/{name}.result.csv").read_text("utf-8-sig")
    return list(csv.DictReader(io.StringIO(text)))


def evidence(workspace: Workspace) -> dict[str, int]:
    with closing(sqlite3.connect(workspace.root / "var/ledger.db")) as connection:
        return dict(connection.execute("SELECT kind, count(*) FROM evidence GROUP BY kind").fetchall())


def post_again(sandbox: RunningSandbox, body: dict[str, Any]) -> None:
    """As a proxy that sends a request twice."""
    headers = {"API_KEY": sandbox.api_key, "Content-Type": "application/json"}
    address = f"{sandbox.url}/wms/advance-shipping-notice"
    request = urllib.request.Request(address, data=json.dumps(body).encode(), headers=headers, method="POST")
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=30) as reply:
        assert reply.status == 200


def test_without_the_setting_nothing_is_added(workspace: Workspace, sandbox: RunningSandbox) -> None:
    assert push(workspace, "asns.csv", asn_lines(["I-1"])).code == 0
    assert "description" not in sent(sandbox)[0]
    assert evidence(workspace) == {}


def test_it_is_shown_before_sent_and_confirmed(marking: Workspace, sandbox: RunningSandbox) -> None:
    marking.mapping("asns", WITH_DESCRIPTION)
    text = "Supplier,Site,Invoice,SKU,Qty,Text\nAcme,Bhiwandi,I-1,TEA,1,For Diwali\nAcme,Bhiwandi,I-2,TEA,1,\n"
    long = "x" * (LONGEST_DESCRIPTION - 5)
    text += f"Acme,Bhiwandi,I-3,TEA,1,{long}\n"
    dry = push(marking, "asns.csv", text, "--dry-run", "--json").json["files"][0]["documents"]
    assert push(marking, "asns.csv", text).code == 0
    assert [json.loads(document["body"]) for document in dry] == sent(sandbox)
    assert [body.get("description") for body in sent(sandbox)] == [
        f"For Diwali {own(sandbox, 'I-1')}",
        own(sandbox, "I-2"),
        long,
    ]
    searches = [line["query"].get("description") for line in sandbox.received("asn.fetch")]
    assert set(searches[-2:]) == {own(sandbox, "I-1"), own(sandbox, "I-2")}
    assert evidence(marking) == {"confirmed": 2}
    assert marking.run("settle").code == 0
    assert evidence(marking) == {"confirmed": 2}, "what was seen is not looked for again"


def test_the_same_file_is_unchanged_whether_it_is_on_or_off(workspace: Workspace, sandbox: RunningSandbox) -> None:
    on, off = ("[service.asn]", "marker = true"), ("[service.asn]", "marker = false")
    settings = list(workspace.settings)
    for name, lines in (("first", on), ("again", off)):
        workspace.settings = list(settings)
        workspace.configure(*lines)
        assert push(workspace, f"{name}.csv", asn_lines(["I-1"]) + "\n" * (name == "again")).code == 0
    assert {row["fate"] for row in rows(workspace, "again") if row["fate"] != "skipped"} == {"unchanged"}
    assert len(sent(sandbox)) == 1
    assert push(workspace, "other.csv", asn_lines(["I-1"]).replace(",10", ",12")).code == 4
    assert {row["rule"] for row in rows(workspace, "other")} == {"changed_after_acceptance"}


@pytest.mark.parametrize(
    ("twice", "fault"),
    [(False, "drop_after"), (True, "drop_after"), (False, "drop_before")],
    ids=["once", "twice", "none"],
)
def test_a_doubt_is_settled_by_its_marker(marking: Workspace, sandbox: RunningSandbox, twice: bool, fault: str) -> None:
    """Also where others enter the same goods under the same invoice number meanwhile."""
    sandbox.set_faults([{"endpoint": "asn.create", "times": 1, "kind": fault}])
    marking.settings = [line.replace('"0s"', '"1h"') for line in marking.settings]
    marking.configure()
    assert push(marking, "asns.csv", asn_lines(["I-1"])).code == 4
    body = sent(sandbox)[0]
    for _ in range(2):
        post_again(sandbox, body | {"description": "entered by hand"})
    if twice:
        post_again(sandbox, body)
    marking.settings = [line.replace('"1h"', '"0s"') for line in marking.settings]
    marking.configure()
    settled = marking.run("settle", "--wait")
    row = rows(marking, "asns")[0]
    if fault == "drop_before":
        assert (settled.code, row["fate"], row["rule"]) == (4, "held", "possible_duplicate")  # as without a marker
        return
    assert (settled.code, row["fate"]) == (0, "accepted")
    assert ("shows 2 ASNs with its marker" in row["reason"]) is twice
    assert ("more than once" in settled.out) is twice
    with closing(sqlite3.connect(marking.root / "var/ledger.db")) as connection:
        notices = connection.execute("SELECT key, wanted FROM notice").fetchall()
        assert notices == [("asn|duplicate|1", 1)] * twice
    if twice:
        assert marking.run("held", "decide", "1", "accept", "--reason", "closed the other").code == 0
        assert over(marking)[0].endswith("closed the other") and rows(marking, "asns")[0]["rule"] == "decided"


def test_a_record_that_showed_its_marker_before_it_was_sent_settles_no_doubt(
    marking: Workspace, sandbox: RunningSandbox
) -> None:
    """Somebody entered it by hand, marker and all; a person wanted ours as well, and that never arrived."""
    marking.settings = [line.replace('"0s"', '"1h"') for line in marking.settings]
    marking.configure()
    body = {"supplier_name": "Acme", "site_name": "Bhiwandi", "invoice_number": "I-1"}
    line = {"sku_name": "SKU-1", "qty": "99"}
    post_again(sandbox, body | {"sku_lines": [line], "description": own(sandbox, "I-1")})
    assert push(marking, "asns.csv", asn_lines(["I-1"])).code == 4
    (waiting,) = marking.run("held", "list", "--json").json["held"]
    assert waiting["rule"] == "already_present"
    marking.run("held", "decide", str(waiting["id"]), "send-again", "--reason", "wanted as well")
    sandbox.set_faults([{"endpoint": "asn.create", "times": 1, "kind": "drop_before"}])
    assert push(marking, "asns.csv", asn_lines(["I-1"])).code == 4
    assert {row["fate"] for row in rows(marking, "asns")} == {"in_doubt"}
    marking.settings = [line.replace('"1h"', '"0s"') for line in marking.settings]
    marking.configure()
    assert marking.run("settle", "--wait").code == 4
    assert {(row["fate"], row["rule"]) for row in rows(marking, "asns")} == {("held", "not_found")}


def test_a_proxy_that_sends_it_twice_is_noticed(marking: Workspace, sandbox: RunningSandbox) -> None:
    """The first was accepted and answered; the search that confirms it shows two."""
    marking.run("push", marking.drop("none.csv", asn_lines([])), "--mapping", "asns")
    sandbox.set_faults([{"endpoint": "asn.fetch", "requests": [2], "kind": "drop_before"}])
    assert push(marking, "asns.csv", asn_lines(["I-1"])).code == 0
    assert evidence(marking) == {}, "a search that came to nothing says nothing"
    post_again(sandbox, sent(sandbox)[0])
    assert "stand more than once" in marking.run("settle").out
    assert rows(marking, "asns")[0]["rule"] == "possible_duplicate"
    assert over(marking) == [""]
    marking.run("settle")
    assert over(marking) == [""], "both are there still"


def over(workspace: Workspace) -> list[str]:
    """What ended each alarm of an ASN that stands more than once, "" while it lasts."""
    with closing(sqlite3.connect(workspace.root / "var/ledger.db")) as connection:
        return [text for (text,) in connection.execute("SELECT over_text FROM notice WHERE key LIKE 'asn|%'")]


def test_one_that_is_not_found_is_told_and_is_no_error(marking: Workspace, sandbox: RunningSandbox) -> None:
    """The service keeps no descriptions."""
    (database,) = sandbox.data.glob("*.db")
    with closing(sqlite3.connect(database, timeout=30)) as connection, connection:
        connection.execute(
            "CREATE TRIGGER forget AFTER INSERT ON asns BEGIN "
            "UPDATE asns SET body = json_remove(body, '$.description') WHERE asn_id = NEW.asn_id; END"
        )
    done = push(marking, "asns.csv", asn_lines(["I-1"]), "--json")
    assert done.code == 0
    assert "1 of 1 accepted ASNs are not found yet" in done.out
    for _ in range(4):
        marking.run("settle")
    assert evidence(marking) == {"unconfirmed": 3}
    assert rows(marking, "asns")[0]["fate"] == "accepted"


def test_an_update_keeps_the_marker(marking: Workspace, sandbox: RunningSandbox) -> None:
    marking.configure('update_identity = "invoice_number"')
    marking.job("nightly", NIGHTLY)
    marking.drop("monday.csv", asn_lines(["I-1"]))
    assert marking.run("run", "nightly").code == 0
    for name, quantity in (("tuesday", "12"), ("wednesday", "14")):
        marking.drop(f"{name}.csv", asn_lines(["I-1"]).replace(",10", f",{quantity}"))
        assert marking.run("run", "nightly").code == 0
    updates = [line["body"] for line in sandbox.received("asn.update")]
    assert [body["description"] for body in updates] == [own(sandbox, "I-1")] * 2
    assert [body["sku_lines"][0]["qty"] for body in updates] == ["12", "14"]
    marking.drop("again.csv", asn_lines(["I-1"]).replace(",10", ",14") + "\n")
    assert marking.run("run", "nightly").code == 0
    assert len(sandbox.received("asn.update")) == 2, "the same content again is unchanged"
