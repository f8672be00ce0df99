"""One message of the catalogue."""

from dataclasses import dataclass
from enum import StrEnum


class Level(StrEnum):
    """How much a message weighs."""

    ERROR = "error"  # nothing is sent of what it is about until somebody mends it
    WARNING = "warning"  # it may be right; a person should look
    NOTE = "note"  # it is told so that nothing happens unseen


@dataclass(frozen=True, slots=True)
class Entry:
    """The words of one code; names in braces are values, with the formats of `messages.words`.

    reason: what is wrong or was noticed. remedy: what the clerk does. operator: what the operator is told beside it.
    """

    reason: str
    remedy: str = ""
    operator: str = ""
    level: Level = Level.ERROR
