"""Kill -9 of the sandbox at random moments, under load: nothing that was answered is lost."""

import random
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from campaigns.scale import size
from sandbox.test_durability import Load, agree, in_database, in_journal
from support.sandbox_process import RunningSandbox, sandbox_for_a_test

SEEDS, KILLS = size(sample=2, full=12), size(sample=3, full=10)


@pytest.fixture
def own_sandbox(tmp_path: Path) -> Iterator[RunningSandbox]:
    yield from sandbox_for_a_test(tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(SEEDS))
def test_kills_at_random_moments_lose_nothing(own_sandbox: RunningSandbox, seed: int) -> None:
    chance = random.Random(seed)
    answered: set[tuple[str, str]] = set()
    cancelled: set[str] = set()
    for life in range(KILLS):
        load = Load(own_sandbox, prefix=f"{seed}-{life}")
        wait_seconds = chance.uniform(0.02, 0.8)
        threading.Event().wait(wait_seconds)
        own_sandbox.kill()
        load.end()
        answered |= load.created
        cancelled |= load.cancelled
        assert set(in_journal(own_sandbox)) <= in_database(own_sandbox)
        assert answered <= in_database(own_sandbox)
        own_sandbox.restart()
        agree(own_sandbox, answered=answered, cancelled=cancelled)
    assert answered
