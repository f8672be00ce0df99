"""How large the searches are: `PYTHONPATH=tests:verification python -m protocol_model.figures`.

CAMPAIGN=full: the large worlds, too.
"""

import os
import sys

from protocol_model.search import explore
from protocol_model.worlds import BROKEN_DESIGNS, LARGE_WORLDS, NEEDED_ASSUMPTIONS, WORLDS


def write_figures() -> None:
    """One line a world, then the totals."""
    worlds = WORLDS + (LARGE_WORLDS if os.environ.get("CAMPAIGN") == "full" else ())
    states = transitions = 0
    for world in worlds:
        found = explore(world)
        states, transitions = states + found.states, transitions + found.transitions
        sys.stdout.write(f"{found.states:9,} {found.transitions:9,}  {world.name}: {found.broken or 'holds'}\n")
    sys.stdout.write(f"{states:9,} {transitions:9,}  {len(worlds)} worlds\n")
    caught = sum(explore(design.world, ends=False).broken == design.breaks for design in BROKEN_DESIGNS)
    sys.stdout.write(f"{caught} of {len(BROKEN_DESIGNS)} wrong designs caught\n")
    needed = sum(explore(each.world, ends=False).broken == each.breaks for each in NEEDED_ASSUMPTIONS)
    sys.stdout.write(f"{needed} of {len(NEEDED_ASSUMPTIONS)} assumptions shown to be needed\n")


if __name__ == "__main__":
    write_figures()
