"""A service that answers an ASN search without results with 400 or 404 and FAIL: calibrated, as it is for orders."""

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from flows.asn_service import AsnService, record
from support.commands import Finished
from support.workspace import Workspace, asn_lines

from logistics_batch.ledger.failures import sqlite3


def answers_none(service: AsnService, status: int, words: str) -> None:
    """Searches that find nothing are answered so; {} stands for the number."""

    def fails(query: dict[str, str]) -> tuple[int, str, bytes] | None:
        if service.found(query)["result"]:
            return None
        said = {"status": "FAIL", "message": words.format(query["invoice_number"])}
        return status, "application/json", json.dumps(said).encode()

    service.fails = fails


@pytest.fixture
def service() -> Iterator[AsnService]:
    running = AsnService()
    yield running
    running.stop()


@pytest.fixture
def asns(tmp_path: Path, service: AsnService) -> Workspace:
    return Workspace(tmp_path / "asns", url=service.url)


def push(workspace: Workspace, *invoices: str) -> Finished:
    drop = workspace.drop(f"{invoices[0]}.csv", asn_lines(invoices))
    return workspace.run("push", drop, "--mapping", "asns", "--json")


def first_is_lost(workspace: Workspace, service: AsnService) -> None:
    """The very first ASN never arrives."""
    workspace.configure("[service.asn]", 'resend = "after_absent"')
    service.lost.add("INV-1")
    assert counts(push(workspace, "INV-1")) == {"in_doubt": 2}


def held(workspace: Workspace) -> list[str]:
    """The whole code of each reason, of which `held list --json` gives the first word."""
    with closing(sqlite3.connect(workspace.root / "var/ledger.db")) as ledger:
        return [code for (code,) in ledger.execute("SELECT code FROM document WHERE state = 'held'")]


def counts(done: Finished) -> dict[str, int]:
    return {fate: n for fate, n in done.json["files"][0]["counts"].items() if n}


@pytest.mark.parametrize(("status", "words"), [(404, "No ASN found"), (400, "No PO with number {}")])
def test_none_in_the_service_s_own_words_lets_asns_go_out(
    asns: Workspace, service: AsnService, status: int, words: str
) -> None:
    answers_none(service, status, words)
    first = push(asns, "INV-1", "INV-2", "INV-3")
    assert (first.code, counts(first)) == (0, {"accepted": 6}), first.out + first.err
    again = push(asns, "INV-4", "INV-5")
    assert (again.code, counts(again)) == (0, {"accepted": 4})
    assert sorted(one["invoice_number"] for one in service.records) == [f"INV-{n}" for n in range(1, 6)]


def test_one_that_is_there_already_is_still_held(asns: Workspace, service: AsnService) -> None:
    answers_none(service, 404, "No ASN found")
    assert counts(push(asns, "INV-1")) == {"accepted": 2}
    service.records.append(record(7, "INV-2", ("SKU-1", 10), ("SKU-2", 20)))
    assert counts(push(asns, "INV-2", "INV-3")) == {"held": 2, "accepted": 2}


def test_where_searches_never_find_anything_no_second_one_goes_out(asns: Workspace, service: AsnService) -> None:
    said = json.dumps({"status": "FAIL", "message": "No ASN found"}).encode()
    service.fails = lambda query: (404, "application/json", said)
    done = push(asns, "INV-1", "INV-2", "INV-3")
    assert (done.code, counts(done)) == (5, {"accepted": 2, "pending": 4})
    assert len(service.records) == 1


def test_another_no_is_not_taken_for_none(asns: Workspace, service: AsnService) -> None:
    """About one number only: the others go out, and it is held in the service's words."""
    answers_none(service, 404, "No ASN found")
    none = service.fails
    odd = json.dumps({"status": "FAIL", "message": "invoice_number is malformed"}).encode()
    service.fails = lambda query: (400, "application/json", odd) if query["invoice_number"] == "INV-2" else none(query)
    done = push(asns, "INV-1", "INV-2", "INV-3")
    assert (done.code, counts(done)) == (4, {"accepted": 4, "held": 2}), done.out
    assert "invoice_number is malformed" in done.out


def test_a_search_that_always_fails_for_one_number_holds_that_one(asns: Workspace, service: AsnService) -> None:
    service.fails = lambda query: (500, "text/plain", b"oops") if query["invoice_number"] == "INV-1" else None
    done = push(asns, "INV-1", "INV-2", "INV-3")
    assert (done.code, counts(done)) == (4, {"accepted": 4, "held": 2}), done.out
    assert {row["rule"] for row in done.json["files"][0]["rows"] if row["fate"] == "held"} == {"not_answered"}


@pytest.mark.parametrize(("status", "words"), [(200, ""), (400, "No PO with number {}")])
def test_the_very_first_asn_that_never_arrived_is_sent_again(
    asns: Workspace, service: AsnService, status: int, words: str
) -> None:
    """When it went out, nobody could say what such a no means; now that it is known, it meant that there was none."""
    if words:
        answers_none(service, status, words)
    first_is_lost(asns, service)
    assert counts(push(asns, "INV-2")) == {"accepted": 2}
    settled = asns.run("settle", "--wait")
    assert (settled.code, held(asns)) == (0, []), settled.out
    assert sorted(one["invoice_number"] for one in service.records) == ["INV-1", "INV-2"]


def test_the_very_first_asn_is_found_where_it_arrived_after_a_no(asns: Workspace, service: AsnService) -> None:
    answers_none(service, 404, "No ASN found")
    first_is_lost(asns, service)
    service.records.append(record(7, "INV-1", ("SKU-1", 10), ("SKU-2", 20)))
    assert counts(push(asns, "INV-2")) == {"accepted": 2}
    settled = asns.run("settle", "--wait")
    assert (settled.code, held(asns)) == (0, []), settled.out
    assert len(service.records) == 2


def test_a_no_in_other_words_than_those_for_none_proves_nothing_later(asns: Workspace, service: AsnService) -> None:
    answers_none(service, 404, "The list is being built")
    first_is_lost(asns, service)
    answers_none(service, 404, "No ASN found")
    assert counts(push(asns, "INV-2")) == {"accepted": 2}
    asns.run("settle", "--wait")
    assert [one["invoice_number"] for one in service.records] == ["INV-2"]
    assert held(asns) == ["not_all_shown.before"]


def test_a_no_before_any_asn_is_known_is_not_told_as_a_part(asns: Workspace, service: AsnService) -> None:
    """Nothing was ever shown: then a person is told that, and nothing goes out again."""
    answers_none(service, 404, "No ASN found")
    first_is_lost(asns, service)
    assert asns.run("settle", "--wait").code == 4
    assert (held(asns), service.records) == (["search_not_believed.nothing_known"], [])


def test_settle_says_so_while_something_is_held_that_it_asks_for_in_vain(asns: Workspace, service: AsnService) -> None:
    answers_none(service, 404, "No ASN found")
    first_is_lost(asns, service)
    asns.run("settle", "--wait")
    for again in (asns.run("settle"), asns.run("settle", "--wait")):
        assert again.code == 4
        assert "0 settled, 0 held for a person, 0 still in doubt, 1 held since before" in again.out
    (number,) = asns.run("settle", "--json").json["still_held"]
    asns.run("held", "decide", str(number), "drop", "--reason", "asked")
    assert asns.run("settle").code == 0
