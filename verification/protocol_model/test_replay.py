"""Paths of the model on the real program: after every step the ledger holds what the model says."""

import multiprocessing
import os
import shutil
from collections.abc import Callable, Iterator
from multiprocessing import forkserver
from pathlib import Path

import pytest
from campaigns.scale import FROM, is_over, report
from protocol_model.paths import covering_paths, told, walk
from protocol_model.played_service import first_ledger
from protocol_model.played_worker import heedless
from protocol_model.replay import Diverged, Replay
from protocol_model.replay_lanes import ReplayOfLanes
from protocol_model.states import World
from protocol_model.worlds import LARGE_WORLDS, WORLDS
from support.postgres import drop_database, new_database, postgres_server

FULL = os.environ.get("CAMPAIGN") == "full"
WALKS = range(FROM, 500 if FULL else 6)
WALKS_OF_SENDERS = range(FROM, 200 if FULL else 4)
STEPS = 60 if FULL else 40
STRIDE = 7  # so that few seeds already meet worlds of all kinds

# The ledger that is played knows an accepted ASN. On PostgreSQL, whose lock its holder can lose, who sends has a lease.
PLAYED = [world for world in WORLDS if world.lock == "kernel" and world.known_asn]
SENDERS = [world for world in WORLDS if world.helpers and world.guarded]
MORE_HAPPENS = {"pauses": 3, "faults": 3, "crashes": 2, "decisions": 2}  # than could be searched
ALL_SENDERS = [world._replace(**MORE_HAPPENS) for world in (*WORLDS, *LARGE_WORLDS) if world.helpers and world.guarded]


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ledger to begin with."""
    folder = tmp_path_factory.mktemp("played") / "first"
    first_ledger(folder)
    return folder


@pytest.fixture(scope="module", autouse=True)
def _forking() -> None:
    """A server from which processes are forked with everything imported."""
    with pytest.MonkeyPatch.context() as patch:
        for tree in ("tests", "verification"):
            patch.setenv("PYTHONPATH", str(Path(__file__).parents[2] / tree), prepend=os.pathsep)
        imported = ["__main__", "protocol_model.played_worker", "sqlalchemy.dialects.postgresql.psycopg"]
        multiprocessing.get_context("forkserver").set_forkserver_preload(imported)
        forkserver.ensure_running()


@pytest.fixture(scope="module")
def databases(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[], str]]:
    """Makes the URL of such a ledger on PostgreSQL, which is there until the next one is made."""
    with postgres_server(tmp_path_factory.mktemp("pg")) as server:
        first = new_database(server)
        first_ledger(tmp_path_factory.mktemp("played") / "first", url=first)
        last = new_database(server)

        def another() -> str:
            nonlocal last
            drop_database(server, last)
            last = new_database(server, like=first)
            return last

        yield another


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


@pytest.mark.slow
@pytest.mark.real
@pytest.mark.parametrize("kind", ["order", "asn"])
def test_every_kind_of_transition_happens_where_several_send(
    kind: str, databases: Callable[[], str], tmp_path: Path
) -> None:
    for world, path in covering_paths([world for world in SENDERS if world.kind == kind]):
        ReplayOfLanes(world, tmp_path, databases()).run(path)


@pytest.mark.slow
@pytest.mark.real
@pytest.mark.parametrize("seed", WALKS_OF_SENDERS)
def test_a_way_by_chance_happens_where_several_send(seed: int, databases: Callable[[], str], tmp_path: Path) -> None:
    if is_over():
        pytest.skip("CAMPAIGN_SECONDS are over")
    world = ALL_SENDERS[seed % len(ALL_SENDERS)]
    way = walk(world, seed=seed, steps_at_most=STEPS)
    ReplayOfLanes(world, tmp_path, databases()).run(way)
    report("walks of senders", number=seed, world=world.name, steps=len(way))


@pytest.mark.slow
@pytest.mark.real
def test_a_program_that_sends_after_its_lease_is_found(databases: Callable[[], str], tmp_path: Path) -> None:
    world = next(world for world in SENDERS if world.pauses)
    way = told(
        world,
        "drop_file: A",
        "start by worker 1",
        "take_over by worker 1",
        "plan_file by worker 1: A",
        "help by worker 2",
        "take_lane by worker 2",
        "claim of generation 1 by worker 2",
        "lose_connection by worker 2",
        "find_intent_too_old of generation 1 by worker 2: its lease ended",
    )
    with pytest.raises(Diverged, match=r"at “call order\.create”.*expects “send\.after”"):
        ReplayOfLanes(world, tmp_path, databases(), life=heedless).run(way)
