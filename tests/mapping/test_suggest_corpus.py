"""Drafts judged on a corpus of sheets by different hands; figures: `python -m mapping.suggest_judge` in `tests/`."""

from datetime import date

import pytest
from mapping.sheets import mapping_of, run
from mapping.suggest_judge import NAMES, Score, answered, case_of, drafted, judged

from logistics_batch.errors import SpecificationError
from logistics_batch.mapping import hints_of
from logistics_batch.mapping.lint import open_questions

SOME_ROWS_WRONG = ("a08_amazon_unshipped",)  # no column says what COD orders pay; see its rows
# No column tells what no order goes out without: a person has to.
WITHOUT = {"b02_reseller_panel": "customer_mobile", "h11_furniture_slots": "`is_cod` is missing"}
HELD_OUT = [name for name in NAMES if case_of(name).held_out]
TUNED = [name for name in NAMES if not case_of(name).held_out]


def test_what_drafts_were_tuned_on_stays_right() -> None:
    score = sum((judged(case_of(name)) for name in TUNED), Score())
    assert len(TUNED) >= 24 and score.keys == len(TUNED), score.told
    assert (score.wrong, score.missed) == (0, 0), score.told
    # The phone of a buyer who is not who gets the goods, free goods, a discount of no known price, a sub-order.
    assert (score.asked, score.needless) <= (5, 1), score.told


def test_what_drafts_were_not_tuned_on_stays_as_good_as_it_was() -> None:
    score = sum((judged(case_of(name)) for name in HELD_OUT), Score())
    assert len(HELD_OUT) >= 15 and score.keys == len(HELD_OUT), score.told
    assert score.right >= 148 and score.wrong == 0, score.told


@pytest.mark.parametrize("name", NAMES)
def test_a_draft_is_refused_with_its_questions_and_maps_its_file_once_they_are_answered(name: str) -> None:
    case = case_of(name)
    draft, text = drafted(case)
    assert draft is not None
    questions = [place for place, guess in draft.guesses.items() if guess.asked]
    if questions:
        with pytest.raises(SpecificationError) as refused:
            mapping_of(text)
        asked = [each for each in refused.value.findings if "The draft asks" in each.message]
        assert {place.split(".", 1)[1] for place in questions} <= {
            word for each in asked for word in each.message.split("`")
        }
        assert all(each.line and each.column and each.remedy for each in asked)
    done = answered(text, case.truth)
    if name in WITHOUT:
        with pytest.raises(SpecificationError, match=WITHOUT[name]):
            mapping_of(done)
        return
    mapping = mapping_of(done)
    hints = [each.message for each in hints_of(mapping, done, path="m.yaml")]
    assert set(hints) <= {"`ignore` restates the default."}  # where a person leaves nothing under it
    mapped = run(mapping, *case.sheets, day=date(2026, 11, 21))
    fates = mapped.rows["state"].to_list()
    if name not in SOME_ROWS_WRONG:
        assert set(fates) <= {"ready", "skipped"} and "ready" in fates, mapped.issues


def test_marks_in_every_place_are_questions_and_real_names_are_none() -> None:
    data = {"key": ["? A", "? B"], "fields": {"x": {"from": "? A"}, "y": {"read": {"lookup": {"Wallet": "?"}}}}}
    found = [each.message for each in open_questions(data)]
    assert found == [
        "The draft asks: is `A` or `B` the key?",
        "The draft asks: is `A` the column of `x`?",
        "The draft asks: what does `Wallet` mean for `y`?",
    ]
    assert not [*open_questions({"fields": {"x": {"from": ["Paid?", "#", "?x"]}}})]
