"""No damage to a file crashes its reader, keeps it busy or makes it grow: it is read, or held with a reason."""

import os

import pytest
from fuzz.fuzz_reading import KINDS, SEED, fuzz, inputs

INPUTS_OF_A_KIND = 12_500 if os.environ.get("CAMPAIGN") == "full" else 60


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_damaged_file_is_read_or_held(kind: str) -> None:
    outcome = fuzz(kind, count=INPUTS_OF_A_KIND)
    assert outcome.failures == {}
    assert outcome.read + outcome.held == outcome.inputs == INPUTS_OF_A_KIND
    assert outcome.read and outcome.held, "the damage is too small or too great to show anything"


@pytest.mark.parametrize("kind", KINDS)
def test_a_seed_and_a_number_make_the_same_input_each_time(kind: str) -> None:
    first = list(inputs(kind, seed=SEED, start=0, count=8))
    assert list(inputs(kind, seed=SEED, start=5, count=8)) == first[5:]
    assert len(set(first)) > 6
