"""Which of the answers that came in together are believed."""

import pytest
from support.documents import stored_document

from logistics_batch.api.answers import Answer, Meaning
from logistics_batch.api.reply import Reply
from logistics_batch.flows.outcomes import outcome_of, without_others_numbers
from logistics_batch.ledger import Outcome, ServiceFacts


@pytest.mark.parametrize(
    ("numbers", "owned", "states"),
    [
        (("SH-1", "SH-2"), {}, ["accepted", "accepted"]),
        (("SH-1", "SH-1"), {}, ["in_doubt", "in_doubt"]),  # whose it is nobody can tell
        (("SH-1", "SH-1"), {"SH-1": 1}, ["in_doubt", "in_doubt"]),
        (("SH-1", "SH-2"), {"SH-1": 9}, ["in_doubt", "accepted"]),
        (("SH-1", "SH-2"), {"SH-1": 1}, ["accepted", "accepted"]),  # the same answer once more
        (("", ""), {"": 9}, ["accepted", "accepted"]),
    ],
)
def test_the_number_of_another_order_is_not_believed(
    numbers: tuple[str, str], owned: dict[str, int], states: list[str]
) -> None:
    came = [Outcome(n, "accepted", "accepted", awb_number=number) for n, number in enumerate(numbers, 1)]
    judged = without_others_numbers(came, orders={1, 2}, owners=lambda _: owned)
    assert [each.state for each in judged] == states
    assert [each.awb_number for each in judged] == [
        number * (state == "accepted") for number, state in zip(numbers, states, strict=True)
    ]


@pytest.mark.parametrize(
    ("message", "tainted", "state", "rule"),
    [
        ("Invalid postcode", False, "refused", "refused"),
        ("Invalid postcode", True, "held", "refused_after_doubt"),  # it may be the second of two
        ("Reference ORDER-7 was used", False, "held", "reference_taken"),
    ],
)
def test_a_refusal_counts_only_for_what_cannot_have_arrived(message: str, tainted: bool, state: str, rule: str) -> None:
    document = stored_document(id=7, key="ORDER-7", reference="ORDER-7", body="{}", tainted=tainted)
    facts = ServiceFacts("2026-11-21", True, "refused", "Reference * was used", ())
    reply = Reply("order.create", status=400)
    answer = Answer(Meaning.REFUSED, message)
    outcome = outcome_of(document, reply, answer, run="R", facts=facts)
    assert (outcome.state, outcome.rule) == (state, rule)


def test_of_a_long_reply_the_beginning_is_kept() -> None:
    document = stored_document(id=7, key="ORDER-7", reference="ORDER-7", body="{}")
    reply = Reply("order.create", status=502, body=b"<html>" + b"x" * 10_000)
    outcome = outcome_of(document, reply, Answer(Meaning.UNKNOWN), run="R")
    assert outcome.reply == "<html>" + "x" * 3_994
