"""Paths of the model on the real program: after every step the ledger holds what the model says."""

import multiprocessing
import os
import shutil
from multiprocessing import forkserver
from pathlib import Path

import pytest
from campaigns.scale import FROM, is_over, report
from protocol_model.paths import covering_paths, walk
from protocol_model.played_service import first_ledger
from protocol_model.replay import Diverged, Replay
from protocol_model.states import World
from protocol_model.worlds import WORLDS

FULL = os.environ.get("CAMPAIGN") == "full"
WALKS = range(FROM, 500 if FULL else 6)
STEPS = 60 if FULL else 40
STRIDE = 7  # so that few seeds already meet worlds of all kinds

# A lock that its holder can lose is PostgreSQL's; the ledger that is played knows an accepted ASN.
PLAYED = [world for world in WORLDS if world.lock == "kernel" and world.known_asn]


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ledger to begin with, and a server from which processes are forked with everything imported."""
    folder = tmp_path_factory.mktemp("played") / "first"
    first_ledger(folder)
    with pytest.MonkeyPatch.context() as patch:
        for tree in ("tests", "verification"):
            patch.setenv("PYTHONPATH", str(Path(__file__).parents[2] / tree), prepend=os.pathsep)
        multiprocessing.get_context("forkserver").set_forkserver_preload(["__main__", "protocol_model.played_worker"])
        forkserver.ensure_running()
    return folder


@pytest.fixture
def folder(first: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(first, tmp_path / "played"))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["order", "asn"])
def test_every_kind_of_transition_happens_in_the_program(kind: str, first: Path, tmp_path: Path) -> None:
    worlds = [world for world in PLAYED if world.kind == kind]
    for number, (world, path) in enumerate(covering_paths(worlds)):
        Replay(world, Path(shutil.copytree(first, tmp_path / str(number)))).run(path)


@pytest.mark.slow
@pytest.mark.parametrize("seed", WALKS)
def test_a_way_by_chance_happens_in_the_program(seed: int, folder: Path) -> None:
    if is_over():
        pytest.skip("CAMPAIGN_SECONDS are over")
    world = PLAYED[seed * STRIDE % len(PLAYED)]
    way = walk(world, seed=seed, steps_at_most=STEPS)
    Replay(world, folder).run(way)
    report("walks", number=seed, world=world.name, steps=len(way))


@pytest.mark.slow
def test_a_program_that_goes_another_way_is_found(folder: Path) -> None:
    """The comparison fails where a program writes something else down than the model."""
    world = World("refused, says the model; accepted, says the service", refusals=1, faults=0)
    ways = [way for _, way in covering_paths([world])]
    path = next(way for way in ways if any(label.detail == "refuse_400: refused" for label, _ in way))
    wrong = tuple((label._replace(detail="pass") if label.kind == "answer" else label, state) for label, state in path)
    with pytest.raises(Diverged, match=r"'state': 'refused'.*\n.*'state': 'accepted'"):
        Replay(world, folder).run(wrong)
