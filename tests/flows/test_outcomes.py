"""Which of the answers that came in together are believed."""

import pytest

from logistics_batch.flows.outcomes import without_others_numbers
from logistics_batch.ledger import Outcome


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
