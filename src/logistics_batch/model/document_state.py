"""The states of a document, the changes between them that the protocol knows, and what its rows show in each."""

from enum import StrEnum
from typing import Final

from logistics_batch.model.report import Fate


class DocumentState(StrEnum):
    """Where a document is."""

    PLANNED = "planned"  # it goes out with its run
    SENDING = "sending"  # an attempt was opened, and has no answer yet
    ACCEPTED = "accepted"  # the service has it
    REFUSED = "refused"  # the service said no, and no attempt can have arrived unseen
    IN_DOUBT = "in_doubt"  # it was sent, and no trustworthy answer came
    HELD = "held"  # a person decides, or something else has its end first
    SUPERSEDED = "superseded"  # a newer version took its place before anything of it was sent
    ABANDONED = "abandoned"  # a person dropped it


_S = DocumentState
UNANSWERED: Final = (_S.SENDING, _S.IN_DOUBT)
"""It was sent, or is about to be, and nobody knows what became of it."""
OPEN: Final = (_S.PLANNED, *UNANSWERED, _S.HELD)
"""It has no end yet."""
NOT_TAKEN: Final = (_S.REFUSED, _S.SUPERSEDED, _S.ABANDONED)
"""It has an end, and the service does not have it as far as anybody knows."""
ENDED: Final = (_S.ACCEPTED, *NOT_TAKEN)

FATE_OF_STATE: Final[dict[str, Fate]] = {
    _S.PLANNED: Fate.PENDING,
    _S.SENDING: Fate.IN_DOUBT,
    _S.IN_DOUBT: Fate.IN_DOUBT,
    _S.ACCEPTED: Fate.ACCEPTED,
    _S.REFUSED: Fate.REFUSED,
    _S.HELD: Fate.HELD,
    _S.SUPERSEDED: Fate.SKIPPED,
    _S.ABANDONED: Fate.SKIPPED,
}
"""What the rows of a document show."""

TRANSITIONS: Final[dict[DocumentState, dict[DocumentState, str]]] = {
    _S.PLANNED: {
        _S.SENDING: "its intent is durable before the first byte",
        _S.ACCEPTED: "an older copy of the ledger goes on, and the service shows it",
        _S.HELD: "it must not go out as it is",
        _S.SUPERSEDED: "a newer version of its file came, or a corrected mapping",
        _S.ABANDONED: "a person drops what was planned for another address of the service",
    },
    _S.SENDING: {
        _S.ACCEPTED: "the service took it",
        _S.REFUSED: "the service said no to a clean attempt",
        _S.PLANNED: "proven not sent, or not taken (401, 429, a wrong address)",
        _S.HELD: "its reference is taken, or a refusal proves nothing",
        _S.IN_DOUBT: "no trustworthy answer, or its sender died",
    },
    _S.IN_DOUBT: {
        _S.ACCEPTED: "found at the service",
        _S.SENDING: "sent again, where no second one can come of it",
        _S.HELD: "asking gives no certainty",
        _S.SUPERSEDED: "the service certainly does not have it, and a newer version of its file waits",
    },
    _S.REFUSED: {_S.PLANNED: "a person has it tried again"},
    _S.HELD: {
        _S.ACCEPTED: "a person says that the service has it, or the service shows it",
        _S.PLANNED: "a person approves it or sends it again, or the version before it has its end",
        _S.REFUSED: "the service said no, and certainly does not have it",
        _S.ABANDONED: "a person drops it",
        _S.SUPERSEDED: "a newer version came before anything was sent",
    },
    _S.ACCEPTED: {_S.IN_DOUBT: "its AWB number is another order's"},
    _S.SUPERSEDED: {},
    _S.ABANDONED: {},
}
"""Every change of state and when it comes. The database refuses any other, and the last one but for an order that
loses its AWB number with it."""
