"""One message of the catalogue."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Entry:
    """The words of one code; names in braces are values, with the formats of `messages.words`.

    reason: what is wrong or was noticed. remedy: what the clerk does. operator: what the operator is told beside it.
    """

    reason: str
    remedy: str = ""
    operator: str = ""
