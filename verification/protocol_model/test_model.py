"""The push protocol as a model: every promise in every state, every wrong design caught, every assumption needed."""

import os

import pytest
from protocol_model.promises import OF_STATES, OF_TRANSITIONS
from protocol_model.search import explore
from protocol_model.states import Broken, World
from protocol_model.worlds import BROKEN_DESIGNS, LARGE_WORLDS, NEEDED_ASSUMPTIONS, WORLDS, BrokenDesign

FULL = os.environ.get("CAMPAIGN") == "full"


def named(value: World | BrokenDesign) -> str:
    world = value if isinstance(value, World) else value.world
    return world.broken or world.name


@pytest.mark.slow
@pytest.mark.parametrize("world", WORLDS + (LARGE_WORLDS if FULL else ()), ids=named)
def test_every_state_keeps_every_promise(world: World) -> None:
    found = explore(world)
    assert not found.broken, found.told()


@pytest.mark.slow
@pytest.mark.parametrize("design", BROKEN_DESIGNS, ids=named)
def test_a_wrong_design_is_caught(design: BrokenDesign) -> None:
    found = explore(design.world, ends=False)
    assert found.broken == design.breaks, found.told()


def test_each_wrong_design_is_tried_once() -> None:
    assert sorted(design.world.broken for design in BROKEN_DESIGNS) == sorted(set(Broken) - {Broken.NONE})


@pytest.mark.parametrize("assumption", NEEDED_ASSUMPTIONS, ids=named)
def test_an_assumption_is_needed(assumption: BrokenDesign) -> None:
    found = explore(assumption.world, ends=False)
    assert found.broken == assumption.breaks, found.told()


def test_each_promise_is_broken_by_some_design() -> None:
    """A promise that nothing can break would promise nothing."""
    broken = {design.breaks for design in (*BROKEN_DESIGNS, *NEEDED_ASSUMPTIONS)}
    assert broken | {"states_change_as_allowed"} == {promise.__name__ for promise in (*OF_STATES, *OF_TRANSITIONS)}


def test_a_story_reads_step_by_step() -> None:
    design = next(each for each in BROKEN_DESIGNS if each.world.broken is Broken.ERROR_IS_REFUSAL)
    told = explore(design.world, ends=False).told().splitlines()
    assert told[0] == "an answer 500 is taken as a refusal: refused_is_true"
    assert told[-2].endswith("spoil_answer of generation 1 by worker 1: pass becomes error_500")
    assert told[-1].endswith("write_outcome of generation 1 by worker 1: error_500: refused")
