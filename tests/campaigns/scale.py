"""How much of a campaign runs: a sample in the suite, all of it with CAMPAIGN=full; and where its figures go."""

import json
import os
import time
from pathlib import Path

FULL = os.environ.get("CAMPAIGN") == "full"
SEED = int(os.environ.get("CAMPAIGN_SEED", "20261121"))


def size(sample: int, full: int) -> int:
    """The sample's size, or that of the whole campaign."""
    return full if FULL else sample


def report(campaign: str, **figures: object) -> None:
    """Print what was found, with the seed; CAMPAIGN_FIGURES names a file that gets it as a line of JSON too."""
    line = json.dumps(
        {"campaign": campaign, "seed": SEED, "full": FULL, "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}
        | figures
    )
    print(line)  # noqa: T201
    if path := os.environ.get("CAMPAIGN_FIGURES"):
        with Path(path).open("a", encoding="utf-8") as file:
            file.write(line + "\n")
