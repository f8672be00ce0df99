"""What a document that comes in means, given every earlier generation of its key: pure.

The oldest open question counts first: a version in doubt, then one that was sent and waits for a person, then one that
is planned, then the accepted one. What was refused or dropped never hides any of these.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

# Versions that were held before anything of them was sent; a newer version may replace them.
NEVER_SENT = (
    "earlier_in_doubt",
    "earlier_held",
    "changed_after_acceptance",
    "cancelled",
    "order_in_doubt",
    "older_file",
    "dropped_in_doubt",
    "undone_since",
    "approval",
    "other_grouping",
    "other_spelling",
    "anothers_number",
    "order_not_shown",
)
OTHER_SPELLING = "other_spelling"
# What waits so waits for something else to end, not for a word about itself: the same content that comes once more
# after that is looked at anew.
_FOR_SOMETHING_ELSE = ("earlier_in_doubt", "earlier_held", "order_in_doubt", "anothers_number", "order_not_shown")


@dataclass(frozen=True, slots=True)
class Known:
    """One earlier generation of a document.

    file_id: the arrival that planned it. tainted: an attempt of it may have arrived unseen. reference: of a change, the
    order that it was meant for, "" if only its number was known.
    """

    id: int
    generation: int
    state: str
    body_sha256: str
    rule: str
    file_id: int = 0
    tainted: bool = False
    reference: str = ""


@dataclass(frozen=True, slots=True)
class Decision:
    """What becomes of a document that a file asks for.

    action: "plan" (a new generation goes out), "follow" (the rows show what became of `existing`),
    "unchanged" (`existing` was accepted with this very content), "hold" (a new generation waits for a person).
    supersede: the generation that this one replaces, None if none. marker: what the description of a new generation
    carries, "" if nothing.
    """

    action: str
    generation: int = 0
    existing: Known | None = None
    supersede: Known | None = None
    rule: str = ""
    reason: str = ""
    fix: str = ""
    marker: str = ""


_WHY = {
    "earlier_in_doubt": (
        "An earlier version was sent and its answer is not known yet.",
        "Wait until the earlier version is settled, then decide.",
    ),
    "earlier_held": ("An earlier version waits for a decision.", "Decide about the earlier version first."),
    "cancelled": (
        "This order was accepted earlier and has been cancelled since.",
        "To use the reference again, decide “send-again” with --reissue.",
    ),
    "changed_after_acceptance": (
        "The service already accepted this document with other content.",
        "Restore the accepted content, change it at the service, or drop this version.",
    ),
    "order_in_doubt": (
        "Another change of this order was sent and its answer is not known yet.",
        "Wait until the other change is settled, then decide.",
    ),
    "undone_since": (
        "This was accepted before, and a later file added or deleted items of this order since.",
        "If it is wanted once more, decide “send-again”; if the file came by mistake, “drop”.",
    ),
    "older_file": (
        "This very file was processed before, and a later file changed the same thing since.",
        "If the older content is wanted again, decide “send-again”; if the file came by mistake, “drop”.",
    ),
    "dropped_in_doubt": (
        "A later change of this had no answer and was dropped, so what the service has now is not known.",
        "Look at the order: if this content is not there and is wanted, decide “send-again”, else “drop”.",
    ),
    "other_grouping": (
        "Some rows of this were sent by the mapping as it was before, in other documents.",
        "Look at the results of those rows; if all of it is to go out, decide “send-again”, else “drop”.",
    ),
    "other_spelling": (
        '"…" differs only in … from "…" (…, row …), which …: are they one?',
        "If they are one, decide “drop”; if they are two, decide “send-again”: then this one goes out as well.",
    ),
    "approval": (
        "It goes out when a person has approved it.",
        "“held show” tells what would go out, “held decide” approves or drops it.",
    ),
}


@dataclass(frozen=True, slots=True)
class _History:
    """All generations of one key by what they mean; each the newest of its kind."""

    doubt: Known | None
    held: Known | None  # sent, and undecided
    waiting: Known | None  # held before it was sent
    planned: Known | None
    accepted: Known | None
    ended: Known | None  # refused or dropped


def _sorted_out(history: Sequence[Known]) -> _History:
    def newest(*states: str, never_sent: bool | None = None) -> Known | None:
        fitting = [known for known in history if known.state in states]
        if never_sent is not None:
            fitting = [known for known in fitting if (known.rule in NEVER_SENT) is never_sent]
        return fitting[-1] if fitting else None

    return _History(
        doubt=newest("sending", "in_doubt") or _released_doubt(history),
        held=newest("held", never_sent=False),
        waiting=newest("held", never_sent=True),
        planned=newest("planned"),  # a tainted one counts as a doubt before
        accepted=newest("accepted"),
        ended=newest("refused", "abandoned"),
    )


def _released_doubt(history: Sequence[Known]) -> Known | None:
    """What goes out again although an attempt of it may have arrived: a correction must not take its place."""
    return next((known for known in reversed(history) if known.state == "planned" and known.tainted), None)


def decide(history: Sequence[Known], body_sha256: str) -> Decision:
    """The table of re-dropped and corrected files: `history` holds all generations of one key, oldest first."""
    found = _sorted_out(history)
    following = history[-1].generation + 1 if history else 1
    # The oldest open question first, each with the rule under which another content waits for its end.
    for known, rule in ((found.doubt, "earlier_in_doubt"), (found.held, "earlier_held")):
        if known is not None:
            return _beside(known, found.waiting, body_sha256, following, rule)
    if found.planned is not None and found.accepted is not None:  # a person decided to use the reference again
        return _beside(found.planned, found.waiting, body_sha256, following, "changed_after_acceptance")
    if found.planned is not None:
        if found.planned.body_sha256 == body_sha256:
            return Decision("follow", existing=found.planned)
        return Decision("plan", following, supersede=found.planned)
    if found.accepted is not None:
        return _after_acceptance(found.accepted, found.waiting, body_sha256, following)
    if found.waiting is not None and _goes_on_waiting(found.waiting, body_sha256):
        return Decision("follow", existing=found.waiting)
    if found.ended is not None and found.ended.body_sha256 == body_sha256:
        return Decision("follow", existing=found.ended)
    return Decision("plan", following, supersede=found.waiting)


def decide_change(
    history: Sequence[Known],
    body_sha256: str,
    *,
    came_before: int = 0,
    order_in_doubt: bool = False,
    undone_since: int = 0,
    reference: str = "",
) -> Decision:
    """The table for updates, items and cancellations: any content but the last accepted one is a new change.

    history: all generations of this kind of change under one key, oldest first. came_before: the last arrival of the
    very same file, 0 if it never came. order_in_doubt: a change of another kind under this key has no answer yet.
    undone_since: the last accepted change that may have undone earlier ones of this kind (its id), 0 if none was.
    reference: the order that is meant; a change that was meant for another one, when that was believed to have this
    number, says nothing about it.
    """
    about = [known for known in history if not reference or known.reference in ("", reference)]
    found = _sorted_out(about)
    following = history[-1].generation + 1 if history else 1
    for known, rule in ((found.doubt, "earlier_in_doubt"), (found.held, "earlier_held")):
        if known is not None:
            return _beside(known, found.waiting, body_sha256, following, rule)
    if found.planned is not None and found.planned.body_sha256 == body_sha256:
        return Decision("follow", existing=found.planned)
    last = found.accepted
    if last is not None and last.body_sha256 == body_sha256 and found.planned is None:
        dropped = any(known.tainted and known.state == "abandoned" and known.id > last.id for known in about)
        rule = "dropped_in_doubt" if dropped else "undone_since" if undone_since > last.id else ""
        if not rule:
            return Decision("unchanged", existing=last, supersede=found.waiting)
        return _waiting(found.waiting, body_sha256, following, rule)
    if found.waiting is not None and _goes_on_waiting(found.waiting, body_sha256):
        return Decision("follow", existing=found.waiting)
    waited = found.waiting if found.waiting is not None and found.waiting.body_sha256 == body_sha256 else None
    since = max((known.generation for known in (last, waited) if known is not None), default=0)
    if found.ended is not None and found.ended.body_sha256 == body_sha256 and found.ended.generation > since:
        return Decision("follow", existing=found.ended)
    if order_in_doubt:
        return _waiting(found.waiting, body_sha256, following, "order_in_doubt")
    latest = found.planned or last
    if latest is not None and 0 < came_before < latest.file_id:
        return _hold(following, "older_file", found.waiting)
    if last is not None and last.body_sha256 == body_sha256:  # what is planned was never sent, and is taken back
        return Decision("unchanged", existing=last, supersede=found.planned)
    return Decision("plan", following, supersede=found.planned or found.waiting)


def held_for_mapping(generation: int) -> Decision:
    """A document that holds rows which a mapping that was corrected since has sent in another one."""
    return _hold(generation, "other_grouping", None)


def for_approval(decision: Decision) -> Decision:
    """The same decision where a person must approve what goes out."""
    if decision.action != "plan":
        return decision
    return replace(_hold(decision.generation, "approval", decision.supersede), marker=decision.marker)


def _after_acceptance(accepted: Known, waiting: Known | None, body_sha256: str, following: int) -> Decision:
    if accepted.rule == "cancelled":
        return _waiting(waiting, body_sha256, following, "cancelled")
    if accepted.body_sha256 == body_sha256:
        return Decision("unchanged", existing=accepted, supersede=waiting)
    return _beside(accepted, waiting, body_sha256, following, "changed_after_acceptance")


def _beside(known: Known, waiting: Known | None, body_sha256: str, following: int, rule: str) -> Decision:
    """The same content follows what is known; any other content waits beside it."""
    if known.body_sha256 == body_sha256:
        return Decision("follow", existing=known, supersede=waiting)
    return _waiting(waiting, body_sha256, following, rule)


def _waiting(waiting: Known | None, body_sha256: str, following: int, rule: str) -> Decision:
    """The same content follows what already waits, if it waits for this; any other content waits in its place."""
    if waiting is not None and (waiting.body_sha256, waiting.rule) == (body_sha256, rule):
        return Decision("follow", existing=waiting)
    if waiting is not None and _goes_on_waiting(waiting, body_sha256):
        return Decision("follow", existing=waiting)
    return _hold(following, rule, waiting)


def _goes_on_waiting(waiting: Known, body_sha256: str) -> bool:
    """Whether this very content waits for a person's word, whatever else ends meanwhile."""
    return waiting.body_sha256 == body_sha256 and waiting.rule not in _FOR_SOMETHING_ELSE


def said_of(rule: str, *values: str) -> tuple[str, str]:
    """Why a document waits, with values in the places that its words leave open, and what the operator does."""
    reason, fix = _WHY[rule]
    first, *rest = reason.split("…")
    return first + "".join(value + words for value, words in zip(values, rest, strict=True)), fix


def _hold(generation: int, rule: str, supersede: Known | None) -> Decision:
    reason, fix = _WHY[rule]
    return Decision("hold", generation, supersede=supersede, rule=rule, reason=reason, fix=fix)
