"""What a clerk is told of a row that somebody else decides: the operator reads other words in `held list`."""

from collections.abc import Mapping
from typing import Final

_LOOKED_UP: Final = "Nothing: the operator looks it up at the service and decides. Do not send it another way."
_NUMBER: Final = "give it another number and drop the file again"

HELD_FIXES: Final[Mapping[str, str]] = {
    "already_present": _LOOKED_UP,
    "another_order": _LOOKED_UP,
    "anothers_number": "Nothing now: the order is checked with the service first. Then drop the file again.",
    "approval": "Nothing: it goes out when the operator has approved it.",
    "cancelled": f"If it is wanted again, {_NUMBER}, or ask the operator.",
    "changed_after_acceptance": (
        "If the change was a mistake, put back what was accepted and drop the file again; else ask the operator."
    ),
    "contract": "Ask the operator: the row or the mapping has to be corrected.",
    "dropped_in_doubt": _LOOKED_UP,
    "earlier_held": "Nothing now: the operator decides about the earlier version first.",
    "earlier_in_doubt": "Nothing now: the earlier version is checked with the service first.",
    "found_cancelled": f"If it is still wanted, {_NUMBER}, or ask the operator.",
    "not_all_shown": _LOOKED_UP,
    "not_distinct": _LOOKED_UP,
    "not_found": _LOOKED_UP,
    "not_shown": _LOOKED_UP,
    "older_file": "Nothing, if the later file is right; if this one is, ask the operator.",
    "order_not_shown": _LOOKED_UP,
    "order_in_doubt": "Nothing now: the other change of this order is checked with the service first.",
    "other_grouping": "Nothing now: the operator decides, for some rows of it were sent in another order.",
    "other_spelling": f"If they are one, write it as it is there; if it is another order, {_NUMBER}.",
    "possible_duplicate": _LOOKED_UP,
    "reference_taken": f"If it is another order, {_NUMBER}; else ask the operator.",
    "refused_after_doubt": _LOOKED_UP,
    "reopened": _LOOKED_UP,
    "same_bytes": "Nothing, if the file was dropped twice by mistake; if the goods come once more, tell the operator.",
    "search_not_believed": _LOOKED_UP,
    "two_files": "Nothing now: the operator decides which of the two files counts. Tell them if you know.",
    "undone_since": f"If it is wanted once more, {_NUMBER}, or ask the operator.",
    "unknown": _LOOKED_UP,
}
"""For each rule under which a document is held: what the clerk does about it, or that there is nothing to do.

A row that is held for what its own cells say keeps its own remedy.
"""

IN_DOUBT_FIX: Final = "Nothing now: it is checked with the service later. Do not send it another way."
"""What a clerk does about a row in doubt."""

OPERATOR_DECIDES: Final = "Nothing now: the operator decides."
"""What the clerk does about a document that is held under any other rule."""
