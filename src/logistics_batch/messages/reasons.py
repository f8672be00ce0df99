"""What a reason says about a document beside its words: what it waits for, and what a person may decide."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from logistics_batch.messages.entry import Entry


class WaitsFor(StrEnum):
    """What a document waits for while its reason holds; the ledger keeps it in a column."""

    NOTHING = ""
    SETTLING = "settling"  # it was sent; the service is asked what became of it
    SHOWING = "showing"  # the same, of what is held: for a week, and a person may decide before
    DECISION = "decision"  # a person decides about it before anything newer under its key goes out
    CHOICE = "choice"  # a person says which of several is wanted; nothing of it was sent
    REPEAT = "repeat"  # a person says whether it is wanted once more: its very content went out before
    APPROVAL = "approval"  # a person approves what would go out
    OTHERS = "others"  # another version or change of the same thing has its end first
    NEXT_RUN = "next_run"  # any run takes it along


REPLACEABLE: Final = (WaitsFor.CHOICE, WaitsFor.REPEAT, WaitsFor.APPROVAL, WaitsFor.OTHERS)
"""What waits so was held before anything of it was sent: a newer version of its file may take its place."""


class HeldDecision(StrEnum):
    """What a person decides about a document."""

    APPROVE = "approve"  # it goes out, as it was looked at
    SEND_AGAIN = "send-again"  # it goes out with the next run
    ACCEPT = "accept"  # the service has it
    DROP = "drop"  # it is not wanted any more
    REOPEN = "reopen"  # that it was dropped is taken back
    RETRY = "retry"  # it was refused, and goes out once more


OF_WHAT_IS_HELD: Final = (HeldDecision.ACCEPT, HeldDecision.SEND_AGAIN, HeldDecision.DROP)
"""What can be decided about most of it."""


UNSENT: Final = (HeldDecision.SEND_AGAIN, HeldDecision.DROP)
"""The same of what waits for another version of it: whatever the service has, it has not this."""


@dataclass(frozen=True, slots=True)
class Reason(Entry):
    """Why a document is held, in doubt, or goes out again: its words and what follows from it.

    may_exist: something of the document may exist at the service. resend: it may go out again without a person, where
    no second one can come of it. choices: what a person can decide about it while it is held.
    """

    waits_for: WaitsFor = WaitsFor.DECISION
    may_exist: bool = False
    resend: bool = True
    choices: tuple[HeldDecision, ...] = OF_WHAT_IS_HELD


NO_REASON: Final = Reason("", waits_for=WaitsFor.NOTHING, choices=())
"""Of a document about which nothing is to be said."""
