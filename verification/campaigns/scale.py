"""How much of a campaign runs: a sample in the suite, all of it with CAMPAIGN=full, a share of it with CAMPAIGN=0.2."""

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path

_ASKED = os.environ.get("CAMPAIGN", "")
SHARE = 1.0 if _ASKED == "full" else float(_ASKED or 0)
FULL = SHARE > 0
FROM = int(os.environ.get("CAMPAIGN_FROM", "0"))
SECONDS = float(os.environ.get("CAMPAIGN_SECONDS", "inf"))
_BEGAN = time.monotonic()
SEED = int(os.environ.get("CAMPAIGN_SEED", "20261121"))


def size(sample: int, full: int) -> int:
    """The sample's size, or that of the whole campaign or of the share that was asked for."""
    return max(sample, round(full * SHARE))


def numbers(sample: int, full: int) -> Iterator[int]:
    """The numbers of a campaign's rounds, each of which draws its own lots; so a long campaign can be run in parts.

    CAMPAIGN_FROM names the first number, CAMPAIGN_SECONDS after how long no more is begun.
    """
    began = time.monotonic()
    for number in range(FROM, size(sample, full)):
        if time.monotonic() - began > SECONDS:
            return
        yield number


def is_over() -> bool:
    """Whether CAMPAIGN_SECONDS are over, for cases that are tests of their own: since all of them began."""
    return time.monotonic() - _BEGAN > SECONDS


def report(campaign: str, **figures: object) -> None:
    """Print what was found, with the seed; CAMPAIGN_FIGURES names a file that gets it as a line of JSON too."""
    head: dict[str, object] = {"campaign": campaign, "seed": SEED, "share": SHARE}
    line = json.dumps(head | {"at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())} | figures)
    print(line)  # noqa: T201
    if path := os.environ.get("CAMPAIGN_FIGURES"):
        with Path(path).open("a", encoding="utf-8") as file:
            file.write(line + "\n")
