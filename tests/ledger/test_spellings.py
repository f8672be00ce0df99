"""Between files, a reference in another spelling is asked about: not merged, and not sent."""

import json

import pytest
from ledger.arrivals import arrival, evaluated, planned

from logistics_batch.ledger import NEW, Decision, Ledger, Outcome
from logistics_batch.model.document import Document, Operation

NOW = "2026-11-21T21:16:00+05:30"


@pytest.fixture
def known(ledger: Ledger) -> Ledger:
    """A ledger with one order of each state, each with a letter of its own."""
    ledger.runs.start("R1", job="nightly", kind="push", business_date="2026-11-21", now=NOW)
    states = ("accepted", "in_doubt", "refused", "held")
    ledger.planning.plan_file(
        "R1", arrival({f"{state}-É1": "{}" for state in (*states, "sending", "planned")}, name="first.csv")
    )
    for document in planned(ledger):
        state = document.key.split("-")[0]
        if state != "planned":
            ledger.attempts.step(outcomes=[], claim=[document], run="R1", now=NOW)
        if state in states:
            ledger.attempts.step(outcomes=[Outcome(document.id, state, state)], claim=[], run="R1", now=NOW)
    return ledger


def judged(ledger: Ledger, key: str) -> Decision:
    (decision,) = evaluated(ledger, arrival({key: "[]"}, name="second.csv"))
    return decision


@pytest.mark.parametrize(
    ("state", "row", "became"),
    [
        ("accepted", 2, "was accepted"),
        ("in_doubt", 3, "was sent without an answer"),
        ("held", 5, "waits for a decision"),
        ("sending", 6, "is being sent"),
        ("planned", 7, "is about to go out"),
    ],
)
def test_what_lives_under_another_spelling_is_named(known: Ledger, state: str, row: int, became: str) -> None:
    key = f"{state}\u2011e\u03011"
    decision = judged(known, key)
    assert (decision.action, decision.generation, decision.rule) == ("hold", 1, "other_spelling")
    ways = "the form of a letter and a dash and capital letters"
    place = f'"{state}-É1" (first.csv, row {row})'
    assert decision.why.reason == f'"{key}" differs only in {ways} from {place}, which {became}: are they one?'


def test_what_is_over_is_not_asked_about(known: Ledger) -> None:
    assert judged(known, "refused-é1").action == "plan"
    known.awb_numbers.record_by_hand(reference_or_awb="accepted-É1", at=NOW, text="cancelled", cancelled=True)
    assert judged(known, "ACCEPTED-É1").action == "plan"


def test_a_reference_without_its_zeros_is_asked_about(ledger: Ledger) -> None:
    """A file for corrections went through a spreadsheet program."""
    ledger.runs.start("R1", job="nightly", kind="push", business_date="2026-11-21", now=NOW)
    ledger.planning.plan_file("R1", arrival({"00992": "{}", "010.50": "{}"}, name="first.csv"))
    found = evaluated(ledger, arrival({"992": "{}", "10.50": "{}", "9920": "{}"}))
    assert [each.rule for each in found] == ["other_spelling", "other_spelling", ""]
    assert "differs only in leading zeros" in found[0].why.reason


def test_its_own_spelling_is_judged_as_ever(known: Ledger) -> None:
    assert judged(known, "accepted-É1").rule == "changed_after_acceptance"
    (same,) = evaluated(known, arrival({"accepted-É1": "{}"}))
    assert same.action == "unchanged"


def test_an_asn_is_asked_about_for_the_same_supplier_and_site_only(ledger: Ledger) -> None:
    ledger.runs.start("R1", job="nightly", kind="push", business_date="2026-11-21", now=NOW)
    keys = {"Acme | Pune | INV-1": "plan", "ACME | Pune | inv-1": "hold", "Acme | Nagpur | inv-1": "plan"}
    for row, (key, action) in enumerate(keys.items(), 2):
        file = arrival({key: json.dumps({"invoice_number": key})}, name=f"{row}.csv")
        asn = Document(key, Operation.ASN_CREATE, (2,), "{}", key.rpartition(" | ")[2])
        assert file.mapped is not None
        object.__setattr__(file.mapped, "documents", (asn,))
        assert [each.action for each in ledger.planning.evaluate(file, [asn])] == [action]
        ledger.planning.plan_file("R1", file)


def test_a_corrected_file_takes_the_place_of_one_that_waits(known: Ledger) -> None:
    known.planning.plan_file("R1", arrival({"Accepted-É1": "[]"}, name="second.csv"))
    waits = known.documents.select(states=["held"])[-1]
    (corrected,) = evaluated(known, arrival({"Accepted-É1": "[1]"}, name="second.csv"))
    assert (corrected.rule, corrected.generation) == ("other_spelling", 2)
    assert [each.id for each in corrected.supersede] == [waits.id]
    (again,) = evaluated(known, arrival({"Accepted-É1": "[]"}))
    assert (again.action, again.existing and again.existing.id) == ("follow", waits.id)


def test_any_number_of_keys_is_asked_for_at_once(ledger: Ledger) -> None:
    """PostgreSQL takes 65,535 values in one question."""
    found = evaluated(ledger, arrival(dict.fromkeys(map("K{}".format, range(70_000)), "{}")))
    assert {each.action for each in found} == {NEW.action}
