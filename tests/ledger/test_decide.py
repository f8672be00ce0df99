"""What a document that came in means, given what the ledger knows about its key."""

from collections.abc import Collection
from dataclasses import replace
from typing import Any

import pytest

from logistics_batch.ledger.documents import decide as rules
from logistics_batch.ledger.documents.decide import PART, WHOLE, Case, Decision, Generation

SAME, OTHER = "a" * 64, "b" * 64


THIS_FILE = {7}
"""The arrivals that were earlier versions of the file that comes in."""


def known(state: str, body: str = SAME, *, generation: int = 1, rule: str = "", file_id: int = 7) -> Generation:
    return Generation(generation * 10, generation, state, body, rule, file_id)


def decide(history: list[Generation], body: str, *, versions: Collection[int] = ()) -> Decision:
    """versions: the arrivals that were earlier versions of the file that comes in."""
    return without_versions(rules.decide(Case(with_versions(history, versions), body)))


def decide_change(
    history: list[Generation], body: str, *, versions: Collection[int] | None = None, **case: Any
) -> Decision:
    kind = PART if versions is None else WHOLE
    return without_versions(rules.decide(Case(with_versions(history, versions or ()), body, kind, **case)))


def with_versions(history: list[Generation], versions: Collection[int]) -> list[Generation]:
    return [replace(each, of_older_version=each.file_id in versions) for each in history]


def without_versions(decision: Decision) -> Decision:
    """The same, with the generations as they were given."""
    named = {name: each for name in ("existing", "rival") if (each := getattr(decision, name))}
    plain = {name: replace(each, of_older_version=False) for name, each in named.items()}
    superseded = tuple(replace(each, of_older_version=False) for each in decision.supersede)
    return replace(decision, supersede=superseded, **plain)


def test_a_new_key_goes_out() -> None:
    assert decide([], SAME) == Decision("plan", 1)


@pytest.mark.parametrize("state", ["planned", "sending", "in_doubt", "refused", "held", "abandoned"])
def test_the_same_content_again_shows_what_became_of_the_first(state: str) -> None:
    decision = decide([known(state)], SAME)
    assert (decision.action, decision.existing) == ("follow", known(state))


def test_what_was_dropped_and_reopened_goes_out_when_it_comes_again() -> None:
    """But not where it was sent before it was dropped, or where anything else of it lives."""
    reopened = known("abandoned", rule="reopened")
    assert decide([reopened], SAME) == Decision("plan", 2)
    assert decide_change([reopened], SAME) == Decision("plan", 2)
    may_exist = replace(reopened, may_exist=True)
    for decision in (decide([may_exist], SAME), decide_change([may_exist], SAME)):
        assert (decision.action, decision.generation, decision.rule) == ("hold", 2, "reopened")
    assert decide([may_exist, known("held", generation=2, rule="reopened")], SAME).action == "follow", "asked once"
    for state in ("planned", "in_doubt", "sending", "held"):
        alive = known(state, generation=2)
        assert decide([reopened, alive], SAME) == Decision("follow", existing=alive)
    assert decide([reopened, known("accepted", generation=2)], SAME).action == "unchanged"
    assert decide([reopened, known("accepted", OTHER, generation=2)], SAME).action == "hold"
    dropped_again = known("abandoned", generation=2, rule="dropped")
    assert decide([reopened, dropped_again], SAME) == Decision("follow", existing=dropped_again)


@pytest.mark.parametrize("state", ["in_doubt", "held", "refused", "accepted", "superseded", "abandoned"])
def test_what_was_dropped_stays_dropped_whatever_came_under_its_key_since(state: str) -> None:
    dropped = known("abandoned", rule="dropped")
    decision = decide([dropped, known(state, OTHER, generation=2, file_id=9)], SAME)
    assert decision == Decision("follow", existing=dropped)


def test_what_was_dropped_of_a_change_stays_dropped_behind_one_that_was_refused() -> None:
    history = [change("abandoned", A, 1, rule="dropped"), change("refused", B, 2)]
    assert decide_change(history, A) == Decision("follow", existing=history[0])
    later = [*history, change("accepted", C, 3)]
    assert decide_change(later, A, came_before=1) == Decision("follow", existing=history[0])
    assert decide_change(later, A).action == "plan", "another file wants it"


@pytest.mark.parametrize("rule", ["two_files", "approval", "earlier_in_doubt", "older_file"])
def test_what_may_exist_is_replaced_by_nothing_whatever_it_waits_for(rule: str) -> None:
    """As all that is open in an older copy of the ledger which goes on."""
    waiting = replace(known("held", rule=rule), may_exist=True)
    decision = decide([waiting], OTHER, versions=THIS_FILE)
    assert (decision.action, decision.rule, decision.supersede) == ("hold", "earlier_held", ())
    assert decide([waiting], SAME) == Decision("follow", existing=waiting)


def test_the_same_content_after_acceptance_is_unchanged() -> None:
    assert decide([known("accepted")], SAME).action == "unchanged"


def test_a_newer_version_of_a_file_replaces_what_was_not_sent() -> None:
    decision = decide([known("planned")], OTHER, versions=THIS_FILE)
    assert (decision.action, decision.generation, decision.supersede) == ("plan", 2, (known("planned"),))


def test_another_file_that_says_something_else_replaces_nothing_and_both_wait() -> None:
    planned = known("planned", file_id=8)
    decision = decide([planned], OTHER, versions=THIS_FILE)
    assert (decision.action, decision.rule, decision.supersede, decision.rival) == ("hold", "two_files", (), planned)
    rival = replace(planned, state="held", rule="two_files")
    own = known("held", OTHER, generation=2, rule="two_files")
    third = decide([rival, own], "c" * 64, versions=THIS_FILE)  # a newer version of the second file
    assert (third.rule, third.supersede, third.rival) == ("two_files", (own,), rival)
    assert decide([rival, own], SAME, versions=THIS_FILE) == Decision("follow", existing=rival)


def test_what_a_person_decided_to_send_is_replaced_by_no_file() -> None:
    released = replace(known("planned"), send_approved=True)
    assert decide([released], OTHER, versions=THIS_FILE).action == "hold"


def test_what_waits_for_approval_is_not_replaced_by_another_file() -> None:
    waiting = known("held", rule="approval", file_id=8)
    assert decide([waiting], OTHER, versions=THIS_FILE).rule == "two_files"
    newer = decide([known("held", rule="approval")], OTHER, versions=THIS_FILE)
    assert (newer.action, newer.supersede) == ("plan", (known("held", rule="approval"),))


@pytest.mark.parametrize("state", ["in_doubt", "accepted"])
def test_no_file_takes_the_place_of_what_waits_of_another_one(state: str) -> None:
    waiting = known("held", OTHER, generation=2, rule="earlier_in_doubt", file_id=8)
    decision = decide([known(state, file_id=8), waiting], "c" * 64, versions=THIS_FILE)
    assert (decision.action, decision.supersede) == ("hold", ())
    assert decide([known(state, file_id=8), waiting], SAME, versions=THIS_FILE).supersede == ()


@pytest.mark.parametrize("state", ["sending", "in_doubt"])
def test_new_content_waits_while_the_earlier_is_in_doubt(state: str) -> None:
    decision = decide([known(state)], OTHER)
    assert (decision.action, decision.generation, decision.rule) == ("hold", 2, "earlier_in_doubt")


@pytest.mark.parametrize("state", ["refused", "abandoned"])
def test_a_corrected_version_goes_out(state: str) -> None:
    assert decide([known(state)], OTHER) == Decision("plan", 2)


def test_changed_after_acceptance_needs_a_person() -> None:
    assert decide([known("accepted")], OTHER).rule == "changed_after_acceptance"


def test_back_to_the_accepted_content_is_unchanged_and_drops_the_held_change() -> None:
    held = known("held", OTHER, generation=2, rule="changed_after_acceptance")
    decision = decide([known("accepted"), held], SAME, versions=THIS_FILE)
    assert (decision.action, decision.existing, decision.supersede) == ("unchanged", known("accepted"), (held,))


@pytest.mark.parametrize(
    ("earlier", "action", "rule"),
    [
        (known("in_doubt"), "follow", ""),
        (known("held"), "hold", "earlier_held"),
        (known("accepted"), "hold", "changed_after_acceptance"),
        (known("accepted", rule="cancelled"), "hold", "cancelled"),
        (known("refused"), "plan", ""),
        (known("abandoned"), "plan", ""),
    ],
    ids=lambda each: f"{each.state} {each.rule}" if isinstance(each, Generation) else each,
)
def test_what_waited_for_an_earlier_version_is_told_what_became_of_that(
    earlier: Generation, action: str, rule: str
) -> None:
    """Not for ever that its answer is not known yet."""
    waiting = known("held", OTHER, generation=2, rule="earlier_in_doubt")
    decision = decide([earlier, waiting], OTHER)
    assert (decision.action, decision.rule) == (action, rule)
    assert (decision.existing or decision.supersede[0]) == waiting


def test_a_change_meant_for_another_order_says_nothing() -> None:
    """Under a number that once was believed to be that one's."""
    others = [
        replace(known("held", rule="anothers_number"), reference="A"),
        replace(known("abandoned", generation=2), reference="A"),
    ]
    assert decide_change(others, SAME, reference="B") == Decision("plan", 3)
    assert decide_change(others, SAME, reference="A").action == "follow"


@pytest.mark.parametrize("rule", ["order_not_shown", "anothers_number", "earlier_held", "order_in_doubt"])
def test_a_change_that_waited_for_something_else_is_looked_at_anew(rule: str) -> None:
    waiting = known("held", rule=rule)
    assert decide_change([waiting], SAME) == Decision("plan", 2, supersede=(waiting,))
    again = decide_change([waiting], SAME, order_in_doubt=True)
    assert (again.action, again.rule) == (("follow", "") if rule == "order_in_doubt" else ("hold", "order_in_doubt"))


def test_another_change_replaces_the_held_one() -> None:
    held = known("held", OTHER, generation=2, rule="changed_after_acceptance")
    decision = decide([known("accepted"), held], "c" * 64, versions=THIS_FILE)
    assert (decision.action, decision.generation, decision.supersede) == ("hold", 3, (held,))


def test_a_dropped_change_does_not_free_the_reference() -> None:
    dropped = known("abandoned", OTHER, generation=2)
    assert decide([known("accepted"), dropped], "c" * 64).rule == "changed_after_acceptance"


@pytest.mark.parametrize("body", [SAME, OTHER])
def test_a_cancelled_order_is_never_created_again_by_itself(body: str) -> None:
    assert decide([known("accepted", rule="cancelled")], body).rule == "cancelled"


def test_superseded_versions_do_not_count() -> None:
    assert decide([known("superseded")], SAME) == Decision("plan", 2)


def test_an_open_doubt_counts_whatever_came_after_it() -> None:
    doubt = known("in_doubt")
    dropped = known("abandoned", OTHER, generation=2)
    assert decide([doubt, dropped], "c" * 64).rule == "earlier_in_doubt"
    assert decide([doubt, dropped], SAME).existing == doubt


def test_back_to_the_version_in_doubt_follows_it_and_drops_the_waiting_one() -> None:
    waiting = known("held", OTHER, generation=2, rule="earlier_in_doubt")
    decision = decide([known("in_doubt"), waiting], SAME, versions=THIS_FILE)
    assert (decision.action, decision.existing, decision.supersede) == ("follow", known("in_doubt"), (waiting,))


def test_what_was_sent_and_is_held_is_never_hidden_by_a_dropped_version() -> None:
    undecided = known("held", rule="not_found")
    dropped = known("abandoned", OTHER, generation=2)
    assert decide([undecided, dropped], "c" * 64).rule == "earlier_held"
    assert decide([undecided, dropped], SAME).existing == undecided


def test_a_cancelled_order_stays_cancelled_beside_a_held_version() -> None:
    waiting = known("held", OTHER, generation=2, rule="cancelled")
    assert decide([known("accepted", rule="cancelled"), waiting], SAME).rule == "cancelled"
    assert decide([known("accepted", rule="cancelled"), waiting], OTHER).existing == waiting


def test_a_reference_that_a_person_released_again_is_not_changed_by_a_file() -> None:
    released = known("planned", OTHER, generation=2)
    assert decide([known("accepted", rule="cancelled"), released], "c" * 64).action == "hold"
    assert decide([known("accepted", rule="cancelled"), released], OTHER).existing == released


A, B, C = (letter * 64 for letter in "abc")


def change(state: str, body: str, generation: int, *, rule: str = "") -> Generation:
    """A generation that the file of the same number planned."""
    return Generation(generation * 10, generation, state, body, rule, generation)


def test_there_and_back_again_are_three_changes() -> None:
    first = decide_change([], A)
    second = decide_change([change("accepted", A, 1)], B)
    third = decide_change([change("accepted", A, 1), change("accepted", B, 2)], A)
    assert [(each.action, each.generation) for each in (first, second, third)] == [
        ("plan", 1),
        ("plan", 2),
        ("plan", 3),
    ]


def test_a_change_equal_to_the_last_accepted_is_unchanged() -> None:
    history = [change("accepted", A, 1), change("accepted", B, 2)]
    assert decide_change(history, B, came_before=1) == Decision("unchanged", existing=history[1])


def test_an_older_file_that_comes_again_is_held() -> None:
    history = [change("accepted", A, 1), change("accepted", B, 2)]
    assert decide_change(history, A, came_before=1).rule == "older_file"
    assert decide_change(history, A, came_before=2).action == "plan"  # the bytes of the last one, mapped otherwise
    again = [*history, change("held", A, 3, rule="older_file")]
    assert decide_change(again, A, came_before=1) == Decision("follow", existing=again[2])


def test_an_older_file_does_not_take_back_what_is_planned() -> None:
    history = [change("accepted", A, 1), change("planned", B, 2)]
    assert decide_change(history, A, came_before=1).rule == "older_file"


def test_back_to_what_is_accepted_takes_back_what_an_older_version_of_the_file_had_not_sent() -> None:
    history = [change("accepted", A, 1), change("planned", B, 2)]
    whole = decide_change(history, A, versions={2})
    assert whole == Decision("unchanged", existing=history[0], supersede=(history[1],))


def test_changes_of_a_part_go_out_one_after_the_other_and_replace_nothing() -> None:
    planned = change("planned", A, 1)
    assert decide_change([planned], B) == Decision("plan", 2)
    assert decide_change([change("accepted", A, 1), change("planned", B, 2)], A) == Decision("plan", 3)
    assert decide_change([planned], A) == Decision("follow", existing=planned)


def test_a_change_that_waits_is_not_replaced_by_the_next_one() -> None:
    doubt, waiting = change("in_doubt", A, 1), change("held", B, 2, rule="earlier_in_doubt")
    assert decide_change([doubt, waiting], C).supersede == ()
    after = decide_change([change("accepted", A, 1), waiting], C)  # a person decides about the earlier one first
    assert (after.action, after.rule, after.supersede) == ("hold", "earlier_held", ())
    approvals = [change("held", A, 1, rule="approval")]
    assert decide_change(approvals, B, approval=True) == Decision("plan", 2)
    assert decide_change(approvals, B).rule == "earlier_held"


def test_two_files_that_change_a_whole_order_in_different_ways_both_wait() -> None:
    planned = change("planned", A, 1)
    decision = decide_change([planned], B, versions={7})
    assert (decision.rule, decision.rival) == ("two_files", planned)
    assert decide_change([planned], B, versions={1}) == Decision("plan", 2, supersede=(planned,))


@pytest.mark.parametrize("state", ["sending", "in_doubt", "held"])
def test_an_open_change_stops_every_other(state: str) -> None:
    history = [change("accepted", A, 1), change(state, B, 2)]
    assert decide_change(history, C).action == "hold"
    assert decide_change(history, A).action == "hold"
    assert decide_change(history, B) == Decision("follow", existing=history[1])


def test_a_doubt_about_another_kind_of_change_stops_this_one() -> None:
    assert decide_change([], A, order_in_doubt=True).rule == "order_in_doubt"
    assert decide_change([change("accepted", A, 1)], A, order_in_doubt=True).action == "unchanged"


def test_items_that_were_deleted_since_are_not_called_added() -> None:
    history = [change("accepted", A, 1)]
    later = history[0].id + 1
    held = decide_change(history, A, undone_since=later)
    assert (held.action, held.rule) == ("hold", "undone_since")
    assert decide_change(history, A, undone_since=history[0].id - 1).action == "unchanged"
    waiting = change("held", A, 2, rule="undone_since")
    assert decide_change([*history, waiting], A, undone_since=later) == Decision("follow", existing=waiting)


@pytest.mark.parametrize("rule", ["earlier_in_doubt", "order_in_doubt"])
def test_what_waited_for_an_answer_goes_out_when_it_comes_again_after_that(rule: str) -> None:
    history = [change("accepted", A, 1), change("held", B, 2, rule=rule)]
    again = decide_change(history, B, order_in_doubt=True)  # for the answer that it waits for now
    told = (again.action, again.rule, again.existing or again.supersede[0])
    assert told == (*(("follow", "") if rule == "order_in_doubt" else ("hold", "order_in_doubt")), history[1])
    assert decide_change(history, B) == Decision("plan", 3, supersede=(history[1],))


def test_a_refused_change_is_not_sent_again_but_another_is() -> None:
    history = [change("accepted", A, 1), change("refused", B, 2)]
    assert decide_change(history, B) == Decision("follow", existing=history[1])
    assert decide_change(history, C) == Decision("plan", 3)
    later = [*history, change("accepted", C, 3)]
    assert decide_change(later, B) == Decision("plan", 4)


@pytest.mark.parametrize(("may_exist", "action"), [(True, "hold"), (False, "unchanged")])
def test_after_a_doubt_that_was_dropped_the_version_before_it_is_not_called_unchanged(
    may_exist: bool, action: str
) -> None:
    dropped = replace(known("abandoned", OTHER, generation=2), may_exist=may_exist)
    decision = decide_change([known("accepted"), dropped], SAME)
    assert decision.action == action
    waiting = known("held", generation=3, rule="dropped_in_doubt")
    again = decide_change([known("accepted"), dropped, waiting], SAME)
    assert (again.action, again.existing) == (("follow", waiting) if may_exist else ("unchanged", known("accepted")))
    later = known("accepted", OTHER, generation=4)
    assert decide_change([known("accepted"), dropped, later], OTHER).action == "unchanged"


def test_items_that_were_added_stay_added_however_many_others_came_since() -> None:
    history = [change("accepted", A, 1), change("accepted", B, 2)]
    assert decide_change(history, A, lasting=True, came_before=1) == Decision("unchanged", existing=history[0])
    planned = [*history, change("planned", C, 3)]
    assert decide_change(planned, A, lasting=True) == Decision("unchanged", existing=history[0])
    assert decide_change(history, A, lasting=True, undone_since=history[0].id + 1).rule == "undone_since"
    assert decide_change(history, C, lasting=True).action == "plan"
