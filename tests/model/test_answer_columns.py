"""Our own columns are known again when an answer comes back, whatever is left of them."""

import pytest

from logistics_batch.model.answers import ANSWER_COLUMNS, earlier_columns

OURS = list(ANSWER_COLUMNS)


@pytest.mark.parametrize(
    ("headers", "found"),
    [
        (OURS, (0, 1, 2, 3, 4)),
        (["Qty", *OURS], (1, 2, 3, 4, 5)),
        (["Status", *OURS, "Remarks"], (1, 2, 3, 4, 5)),
        (["Reason", *OURS, "Status"], (1, 2, 3, 4, 5)),
        ([*OURS, "Qty", *OURS], (0, 1, 2, 3, 4, 6, 7, 8, 9, 10)),
        (["Qty", *OURS[:3]], (1, 2, 3)),
        (["Qty", *OURS[2:]], (1, 2, 3)),
        (["Qty", "Status", "What to do"], (1, 2)),
        (["Qty", "Status", "Reason"], ()),
        (["Qty", "Status", "Run"], ()),
        (["What to do"], ()),
        (["Run", "What to do", "Reason"], ()),
        ([], ()),
    ],
)
def test_ours_are_told_from_the_users(headers: list[str], found: tuple[int, ...]) -> None:
    assert earlier_columns(headers) == found
    assert earlier_columns([f" {text} " for text in headers]) == found
