"""What is known of an order after it was sent, and how events and answers change that. Pure.

An event is a hint (API §6): whoever learned the secret could send one, and events come late, twice and out of order.
So a hint only says that it is worth asking; what the service shows when it is asked becomes the state, and of the event
only the time of the status is taken over, where both name the same.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from logistics_batch.model.issue import NOTHING_SAID, Issue

# The statuses seen so far; services have more. Compare by `status_word`.
KNOWN_STATUSES = frozenset(
    (
        *("pending", "neworder", "assigned", "inprogress", "outforpickup", "picked", "pickupfailed"),
        *("athub", "movingtohub", "outfordelivery", "attempted", "athubrto", "movingtoorigin"),
        *("complete", "delivered", "returned", "cancelled"),
    )
)
END_STATUSES = ("Complete", "Delivered", "Returned", "cancelled")
CANCELLED = "cancelled"
DELIVERED = frozenset({"complete", "delivered"})
_CLOCKS_APART = timedelta(minutes=15)  # how far the service's clock may be from ours


def status_word(status: str) -> str:
    """A status without case, hyphens and blanks, in which services differ.

    >>> status_word("Out-For-Delivery") == status_word("out for delivery"), status_word("Canceled")
    (True, 'cancelled')
    """
    word = re.sub(r"[\W_]+", "", status.casefold())
    return CANCELLED if word == "canceled" else word


def has_ended(status: str, end_statuses: Iterable[str]) -> bool:
    """Whether an order with this status is at its end.

    >>> has_ended("COMPLETE", END_STATUSES), has_ended("", END_STATUSES)
    (True, False)
    """
    return status_word(status) in {status_word(each) for each in end_statuses}


@dataclass(frozen=True, slots=True)
class ShownItem:
    """One item as the service shows it; "" for what it does not tell (API §2.3)."""

    name: str
    quantity: str = ""
    picked: str = ""
    delivered: str = ""


@dataclass(frozen=True, slots=True)
class Shown:
    """What the service shows of an order besides its status: amount to collect in INR, and its items."""

    cash_on_delivery: str = ""
    items: tuple[ShownItem, ...] = ()


@dataclass(frozen=True, slots=True)
class Hint:
    """What one stored event says: its number in the ledger, status and time of the status, and when it came."""

    event_id: int
    status: str
    at: str
    received_at: str


@dataclass(frozen=True, slots=True)
class OrderState:
    """What is known of one order.

    status, status_at, source: as the service showed it; since when: by an event that says the same ("event"), else when
    it was first seen ("fetch"). "" before it was asked. problem: what was wrong when it was asked last.
    hint_status, hint_at: what the newest event says that was not verified yet. event_id: the last event that was taken
    into account. change: the number of its last change, counted over all orders.
    """

    document_id: int
    status: str = ""
    status_at: str = ""
    source: str = ""
    shown: Shown = Shown()
    problem: Issue = NOTHING_SAID
    asked_at: str = ""
    hint_status: str = ""
    hint_at: str = ""
    event_id: int = 0
    change: int = 0

    @property
    def is_unknown(self) -> bool:
        """Whether the service does not have the order."""
        return self.problem.code in (".order_unknown", ".order_unknown.said")

    @property
    def is_anothers(self) -> bool:
        """Whether the service shows another order under its AWB number."""
        return self.problem.code == ".order_anothers"

    @property
    def could_not_be_asked(self) -> bool:
        """Whether asking for this order failed the last time."""
        return self.problem.code == ".order_not_asked"

    @property
    def is_hinted(self) -> bool:
        """Whether an event waits to be verified."""
        return bool(self.hint_status)

    def heard(self, hint: Hint) -> "OrderState":
        """The state after an event: only newer ones are hints, each is looked at once.

        A time from the future counts as that of its coming: a wrong clock, or a forger, must not hide what follows.
        """
        if hint.event_id <= self.event_id:
            return self
        known = replace(self, event_id=hint.event_id)
        at = min(_moment(hint.at), _moment(hint.received_at) + _CLOCKS_APART)
        if not self._is_news(hint.status, at):
            return known
        return replace(known, hint_status=hint.status, hint_at=hint.at if _moment(hint.at) == at else hint.received_at)

    def _is_news(self, status: str, at: datetime) -> bool:
        if self.hint_at and (at, status_word(status)) != (_moment(self.hint_at), status_word(self.hint_status)):
            return at >= _moment(self.hint_at)
        if self.hint_at or not self.status_at:
            return not self.hint_at
        if status_word(status) == status_word(self.status):
            return at > _moment(self.status_at)
        # The time of a status that was only seen is ours; the service's clock may be behind it.
        since = _moment(self.status_at) - (_CLOCKS_APART if self.source == "fetch" else timedelta())
        return at >= since

    def seen(self, status: str, shown: Shown, *, at: str) -> "OrderState":
        """The state after the service showed the order at a moment of our clock."""
        hinted = self.is_hinted and status_word(self.hint_status) == status_word(status)
        refuted = self.is_hinted and not hinted
        same = bool(self.status) and status_word(status) == status_word(self.status)
        return replace(
            self,
            status=status,
            status_at=self.hint_at if hinted else self.status_at if same else at,
            source="event" if hinted else self.source if same else "fetch",
            shown=shown,
            problem=Issue.of(".event_refuted", said=self.hint_status, shown=status) if refuted else NOTHING_SAID,
            asked_at=at,
            hint_status="",
            hint_at="",
        )

    def not_shown(self, problem: Issue, *, at: str) -> "OrderState":
        """The state after the service answered, but did not show the order; what was known stays, hints as well."""
        return replace(self, problem=problem, asked_at=at)

    def not_asked(self, why: str, *, at: str) -> "OrderState":
        """The state after asking for the order failed; others are asked for first the next time."""
        if self.is_unknown or self.is_anothers:  # that is no less so
            return replace(self, asked_at=at)
        return replace(self, problem=Issue.of(".order_not_asked", said=why), asked_at=at)

    def differs_from(self, before: "OrderState") -> bool:
        """Whether somebody who knows the state before should be told: another status, quantity or amount."""
        return bool(self.status) and (status_word(self.status), self.shown) != (
            status_word(before.status),
            before.shown,
        )


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text)
