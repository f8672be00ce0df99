"""Reads damaged files in processes of their own, one after another, and tells of each that crashes, hangs or grows.

`python verification/fuzz/fuzz_reading.py KIND --count 12500` fuzzes csv, xlsx, ods or yaml; `--only NUMBER
--write FILE` writes one input down instead. A seed and a number make the same input each time.
"""

import argparse
import contextlib
import json
import os
import random
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))

from fuzz import seeds
from fuzz.mutations import damaged
from hostile.make_hostile import MAPPING

from logistics_batch.errors import FileHeld, SpecificationError
from logistics_batch.intake.readers import read_file
from logistics_batch.mapping import Mapping, load_mapping
from logistics_batch.mapping.fields.compile import RunValues
from logistics_batch.mapping.whole_file import apply_mapping

SEED = 20261121
KINDS = ("csv", "xlsx", "ods", "yaml")
CPU_SECONDS = 5
MEMORY_BYTES = 500 << 20
_ADDRESS_BYTES = 6 << 30  # a net below the net: what a runaway input may take of this machine
_STATUS, _CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")
_RESET_PEAK = "5"


@dataclass(slots=True)
class Outcome:
    """What came of all inputs of a kind. failures: by the number of the input."""

    kind: str
    inputs: int = 0
    read: int = 0
    held: int = 0
    slowest_seconds: float = 0.0
    largest_bytes: int = 0
    failures: dict[int, str] = field(default_factory=dict)


def fuzz(kind: str, *, count: int, seed: int = SEED) -> Outcome:
    """Damage and read `count` files of a kind."""
    outcome = Outcome(kind)
    while outcome.inputs < count:
        command = [sys.executable, __file__, kind, "--worker", f"--from={outcome.inputs}", f"--count={count}"]
        environment = {**os.environ, "POLARS_MAX_THREADS": "1"}
        with subprocess.Popen([*command, f"--seed={seed}"], stdout=subprocess.PIPE, env=environment) as worker:
            assert worker.stdout is not None
            for line in worker.stdout:
                _take(outcome, json.loads(line))
        if worker.returncode:  # it died of the input after the last one that it told of
            why = f"over {CPU_SECONDS} s" if worker.returncode == -signal.SIGPROF else f"died ({worker.returncode})"
            outcome.failures[outcome.inputs] = why
            outcome.inputs += 1
    return outcome


def _take(outcome: Outcome, said: dict[str, object]) -> None:
    number, seconds, peak, what = outcome.inputs, said["seconds"], said["peak"], str(said["what"])
    assert isinstance(seconds, float)
    assert isinstance(peak, int)
    outcome.inputs += 1
    outcome.slowest_seconds = max(outcome.slowest_seconds, seconds)
    outcome.largest_bytes = max(outcome.largest_bytes, peak)
    if what in ("read", "held"):
        setattr(outcome, what, getattr(outcome, what) + 1)
    else:
        outcome.failures[number] = what
    if peak > MEMORY_BYTES:
        outcome.failures[number] = f"{peak >> 20} MB"


def inputs(kind: str, *, seed: int, start: int, count: int) -> Iterator[bytes]:
    """The inputs from number `start` on."""
    with TemporaryDirectory() as folder:
        chance = random.Random(seed)
        made = {
            "csv": lambda: seeds.csv_seeds(chance),
            "xlsx": lambda: seeds.xlsx_seeds(chance, Path(folder)),
            "ods": lambda: seeds.ods_seeds(chance, Path(folder)),
            "yaml": seeds.yaml_seeds,
        }[kind]()
    for number in range(start, count):
        own = random.Random(f"{seed} {kind} {number}")
        yield damaged(own.choice(made), kind=kind, chance=own)


def work(kind: str, *, seed: int, start: int, count: int) -> None:
    """Read one input after another; one line about each."""
    resource.setrlimit(resource.RLIMIT_AS, (_ADDRESS_BYTES, _ADDRESS_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # a panic of a library writes there what a message tells already
    mapping = load_mapping(MAPPING, path="fuzz.yaml", read_lookup=str)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "input"
        for content in inputs(kind, seed=seed, start=start, count=count):
            path.write_bytes(content)
            with contextlib.suppress(OSError):
                _CLEAR.write_text(_RESET_PEAK)
            begin = time.process_time()
            signal.setitimer(signal.ITIMER_PROF, CPU_SECONDS)
            what = _outcome(kind, path, mapping)
            signal.setitimer(signal.ITIMER_PROF, 0)
            said = {"what": what, "seconds": time.process_time() - begin, "peak": _peak_bytes()}
            sys.stdout.write(json.dumps(said) + "\n")
            sys.stdout.flush()


def _outcome(kind: str, path: Path, mapping: Mapping) -> str:
    try:
        if kind == "yaml":
            load_mapping(path.read_bytes().decode("utf-8", "replace"), path="fuzz.yaml", read_lookup=_no_file)
            return "read"
        name = f"orders.{kind}"
        sheets = read_file(path, name=name, options=mapping.read_options)
        values = RunValues(file_name=name, business_date=date(2026, 11, 3), timezone="Asia/Kolkata")
        mapped = apply_mapping(mapping, sheets, run_values=values)
        fates = mapped.rows["row"]
        return "read" if fates.n_unique() == fates.len() else "a row has two fates"
    except (FileHeld, SpecificationError) as told:
        return "held" if str(told).strip() else "held without a word"
    except BaseException as error:  # also the panics of Rust libraries
        if isinstance(error, KeyboardInterrupt):
            raise
        return f"{type(error).__name__}: {error}"[:300]


def _no_file(name: str) -> str:
    raise SpecificationError(f"{name} is not there.", remedy="Correct the name.")


def _peak_bytes() -> int:
    with contextlib.suppress(OSError, StopIteration):
        line = next(line for line in _STATUS.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) << 10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("--count", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--from", type=int, default=0, dest="start")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--only", type=int)
    parser.add_argument("--write", type=Path)
    chosen = parser.parse_args()
    if chosen.only is not None:
        content = next(inputs(chosen.kind, seed=chosen.seed, start=chosen.only, count=chosen.only + 1))
        (chosen.write or Path(f"{chosen.only}.{chosen.kind}")).write_bytes(content)
    elif chosen.worker:
        work(chosen.kind, seed=chosen.seed, start=chosen.start, count=chosen.count)
    else:
        sys.stdout.write(json.dumps(asdict(fuzz(chosen.kind, count=chosen.count, seed=chosen.seed)), indent=1) + "\n")


if __name__ == "__main__":
    main()
