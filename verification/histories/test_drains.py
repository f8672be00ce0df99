"""Any mix of faults for ten minutes, then none: five minutes of `schedule` alone bring everything to an end."""

import random
import time
from pathlib import Path

import pytest
from campaigns.scale import SEED, numbers, report
from histories.drawing import POINTS, READS, REFERENCES
from histories.judging import Broken
from histories.night import Night
from histories.playing import Play, World
from histories.service import FAULTS, Habits
from histories.stage import file_of
from histories.test_histories import in_a_copy, template

__all__ = ["template"]

NIGHTS = {"sample": 4, "full": 400}
FAULTS_SECONDS, QUIET_SECONDS = 600.0, 300.0


def draw_night(dice: random.Random) -> tuple[World, float, dict[str, str]]:
    """What holds for a night: the share of calls that go wrong, and what befalls single orders as long as it lasts."""
    habits = Habits(
        duplicate=dice.choice(("refuse", "error")),
        readable=dice.random() < 0.8,
        absent=dice.choice((400, 404)),
        asn_ids=dice.random() < 0.7,
    )
    world = World(habits, concurrency=dice.choice((1, 4)), marker=dice.random() < 0.5, settle_after=10.0)
    ailing = {reference: dice.choice(FAULTS) for reference in REFERENCES if dice.random() < 0.2}
    return world, dice.choice((0.1, 0.3, 0.7, 1.0)), ailing


def drawn(number: int) -> tuple[random.Random, World, float, dict[str, str]]:
    """The night of that number, and the dice for what befalls it."""
    dice = random.Random(f"{SEED}-drains-{number}")
    return dice, *draw_night(dice)


def one_night(root: Path, number: int) -> Play:
    """Faults for ten minutes of a night, then five minutes without; what is broken stands in the result."""
    dice, world, share, ailing = drawn(number)
    played = world.on(root)
    stage = played.stage
    stage.service.ailing |= ailing
    endpoints = {"order.create": FAULTS, "asn.create": FAULTS, "order.fetch": READS, "asn.fetch": READS}
    stage.service.down = lambda endpoint: dice.choice(endpoints[endpoint]) if dice.random() < share else ""
    night = Night(stage)

    def befalls() -> None:
        if dice.random() < 0.05:
            stage.kill_at = dice.choice(POINTS), 1

    with stage.set_up():
        for kind in ("order", "asn"):
            lines = [(f"{reference}{extra}", "A") for reference in REFERENCES for extra in ("", "-2", "-3")]
            stage.drop(file_of(kind, f"{kind}.csv", lines))
        night.goes_on_for(FAULTS_SECONDS, each=befalls)
        stage.service.ailing.clear()
        stage.service.down = lambda _: ""
        stage.kill_at = "", 0
        night.goes_on_for(QUIET_SECONDS)
        night.close()
        try:
            played.judge.look(("end",))
            played.judge.end(played.lying())
            played.judge.nobody_is_asked_in_vain()
        except Broken as broken:
            played.broken = broken
    played.told += night.lines
    return played


@pytest.mark.slow
@pytest.mark.parametrize("readable", [True, False])
def test_everything_drains_by_itself(readable: bool, template: Path) -> None:
    began, found = time.monotonic(), []
    nights = 0
    for number in numbers(**NIGHTS):
        if drawn(number)[1].habits.readable is not readable:
            continue
        played = in_a_copy(template, lambda root: one_night(root, number))  # noqa: B023 - it is called here
        nights += 1
        if played.broken:
            found.append(f"night {number}: {played.broken}")
    report("drains", readable=readable, nights=nights, broken=len(found), seconds=round(time.monotonic() - began))
    assert not found, "\n".join(found)


@pytest.mark.slow
def test_many_in_a_row_about_which_the_service_always_fails_keep_no_others_back(template: Path) -> None:
    """A try of the night ends behind ten of them; the next ones go on with what stands behind."""
    sick = [f"S-{number}" for number in range(12)]
    well = [f"R-{number}" for number in range(10)]

    def night_of(root: Path) -> Play:
        here = World(Habits()).on(root)
        here.stage.service.ailing |= dict.fromkeys(sick, "error_500")
        with here.stage.set_up():
            here.stage.drop(file_of("order", "order.csv", [(each, "A") for each in (*well[:3], *sick, *well[3:])]))
            night = Night(here.stage)
            night.goes_on_for(900.0)
            night.close()
            here.ended = here.judge.documents()
        return here

    ended = {each.reference: each.state for each in in_a_copy(template, night_of).ended}
    assert {each: ended[each] for each in well} == dict.fromkeys(well, "accepted")
    assert not {ended[each] for each in sick} & {"accepted", "refused"}
