"""Which of the answers that came in together are believed."""

import pytest
from support.documents import stored_document

from logistics_batch.api.answers import Answer, ReplyVerdict
from logistics_batch.api.reply import Reply
from logistics_batch.flows.push.outcomes import outcome_of, unless_sent_before, without_others_numbers
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
    ("message", "may_exist", "state", "rule"),
    [
        ("Invalid postcode", False, "refused", "refused"),
        ("Invalid postcode", True, "held", "refused_after_doubt"),  # it may be the second of two
        ("Reference ORDER-7 was used", False, "held", "reference_taken"),
    ],
)
def test_a_refusal_counts_only_for_what_cannot_have_arrived(
    message: str, may_exist: bool, state: str, rule: str
) -> None:
    document = stored_document(id=7, key="ORDER-7", reference="ORDER-7", body="{}", may_exist=may_exist)
    facts = ServiceFacts("2026-11-21", True, "refused", "Reference * was used", (), "")
    reply = Reply("order.create", status=400)
    answer = Answer(ReplyVerdict.REFUSED, message)
    outcome = outcome_of(document, reply, answer, run="R", facts=facts)
    assert (outcome.state, outcome.rule) == (state, rule)


OWN_WORDS = ServiceFacts("2026-11-21", True, "refused", "Reference * was used", (), "")
NO_WORDS = ServiceFacts("2026-11-21", True, "refused", "", (), "")


@pytest.mark.parametrize(
    ("known", "facts", "message", "state"),
    [
        ({}, OWN_WORDS, "Reference ORDER-7 was used", "in_doubt"),  # by ourselves, as far as anybody knows
        ({}, OWN_WORDS, "Invalid postcode", "refused"),  # a taken one is told in other words
        ({}, NO_WORDS, "Invalid postcode", "in_doubt"),
        ({}, None, "Invalid postcode", "in_doubt"),
        ({"may_exist": True}, OWN_WORDS, "Invalid postcode", "held"),
        ({"may_exist": True}, OWN_WORDS, "Reference ORDER-7 was used", "accepted"),
        ({"operation": "asn.create"}, None, "Invalid site", "refused"),
    ],
)
def test_behind_a_lost_history_a_refusal_may_be_that_of_a_second_create(
    known: dict[str, object], facts: ServiceFacts | None, message: str, state: str
) -> None:
    document = stored_document(id=7, key="ORDER-7", reference="ORDER-7", body="{}", **known)
    said = outcome_of(
        document, Reply("order.create", status=400), Answer(ReplyVerdict.REFUSED, message), run="R", facts=facts
    )
    outcome = unless_sent_before(said, document, facts=facts)
    assert outcome.state == state
    assert ("restored from an older copy" in outcome.why.reason) is (state == "in_doubt")


def test_of_a_long_reply_the_beginning_is_kept() -> None:
    document = stored_document(id=7, key="ORDER-7", reference="ORDER-7", body="{}")
    reply = Reply("order.create", status=502, body=b"<html>" + b"x" * 10_000)
    outcome = outcome_of(document, reply, Answer(ReplyVerdict.UNKNOWN), run="R")
    assert outcome.reply == "<html>" + "x" * 3_994
