"""What a document that comes in means, given every earlier generation of its key: pure.

The oldest open question counts first: a version in doubt, then one that was sent and waits for a person, then one that
is planned, then the accepted one. What was refused or dropped never hides any of these.

Of an order or an ASN a file says all there is to say, so that its newer version replaces what was not sent of the older
one. Another file that says something else is no newer version: which of the two counts, a person knows. A change
(items, an update, a cancellation) says but a part, so that none replaces another: they go out one after the other.
"""

from collections.abc import Container, Sequence
from dataclasses import dataclass, replace

APPROVAL = "approval"
OTHER_SPELLING = "other_spelling"
TWO_FILES = "two_files"

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
    APPROVAL,
    "other_grouping",
    OTHER_SPELLING,
    TWO_FILES,
)
_UNTIL_ANSWERED = ("earlier_in_doubt", "order_in_doubt")  # what waits so waits for an answer, not for a person


@dataclass(frozen=True, slots=True)
class Known:
    """One earlier generation of a document.

    file_id: the arrival that planned it. tainted: an attempt of it may have arrived unseen. released: a person decided
    that it goes out.
    """

    id: int
    generation: int
    state: str
    body_sha256: str
    rule: str
    file_id: int = 0
    tainted: bool = False
    released: bool = False


@dataclass(frozen=True, slots=True)
class Decision:
    """What becomes of a document that a file asks for.

    action: "plan" (a new generation goes out), "follow" (the rows show what became of `existing`),
    "unchanged" (`existing` was accepted with this very content), "hold" (a new generation waits for a person).
    supersede: the generation that this one replaces, None if none. rival: one of another file that says something else
    and has not been sent either; where it is planned, it waits as well. marker: what the description of a new
    generation carries, "" if nothing.
    """

    action: str
    generation: int = 0
    existing: Known | None = None
    supersede: Known | None = None
    rival: Known | None = None
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
    "two_files": (
        "… (row …) says something else about it, and neither of the two has gone out: which one counts?",
        "Decide “drop” for the one that is wrong, then “send-again” for the other.",
    ),
    "approval": (
        "It goes out when a person has approved it.",
        "“held show” tells what would go out, “held decide” approves or drops it.",
    ),
}


@dataclass(frozen=True, slots=True)
class _History:
    """All generations of one key by what they mean; of those of which one counts, the newest."""

    doubt: Known | None
    held: Known | None  # sent, and undecided
    waiting: Sequence[Known]  # held before they were sent, oldest first
    planned: Known | None
    accepted: Known | None
    ended: Known | None  # refused or dropped

    def waits(self, body_sha256: str) -> Known | None:
        """What waits with this content."""
        return next((known for known in reversed(self.waiting) if known.body_sha256 == body_sha256), None)

    def replaceable(self, versions: Container[int]) -> Known | None:
        """What waits of an earlier version of the same file."""
        return next((known for known in reversed(self.waiting) if known.file_id in versions), None)


def _sorted_out(history: Sequence[Known]) -> _History:
    def newest(*states: str) -> Known | None:
        return next((known for known in reversed(history) if known.state in states), None)

    held = [known for known in history if known.state == "held"]
    sent = [known for known in held if known.rule not in NEVER_SENT]
    return _History(
        doubt=newest("sending", "in_doubt") or _released_doubt(history),
        held=sent[-1] if sent else None,
        waiting=[known for known in held if known.rule in NEVER_SENT],
        planned=newest("planned"),  # a tainted one counts as a doubt before
        accepted=newest("accepted"),
        ended=newest("refused", "abandoned"),
    )


def _released_doubt(history: Sequence[Known]) -> Known | None:
    """What goes out again although an attempt of it may have arrived: a correction must not take its place."""
    return next((known for known in reversed(history) if known.state == "planned" and known.tainted), None)


def decide(history: Sequence[Known], body_sha256: str, *, versions: Container[int] = ()) -> Decision:
    """The table of re-dropped and corrected files: `history` holds all generations of one key, oldest first.

    versions: the arrivals that were earlier versions of the file that came in; only of these anything is replaced.
    """
    found = _sorted_out(history)
    following = history[-1].generation + 1 if history else 1
    # The oldest open question first, each with the rule under which another content waits for its end.
    for known, rule in ((found.doubt, "earlier_in_doubt"), (found.held, "earlier_held")):
        if known is not None:
            return _beside(known, found, body_sha256, following, rule, versions)
    if found.planned is not None and found.accepted is not None:  # a person decided to use the reference again
        return _beside(found.planned, found, body_sha256, following, "changed_after_acceptance", versions)
    if found.planned is not None:
        return _beside_planned(found.planned, found, body_sha256, following, versions)
    if found.accepted is not None:
        return _after_acceptance(found.accepted, found, body_sha256, following, versions)
    for known in (found.waits(body_sha256), found.ended):
        if known is not None and known.body_sha256 == body_sha256:
            return Decision("follow", existing=known)
    return _unless_rivals(found, following, versions)


def decide_change(
    history: Sequence[Known],
    body_sha256: str,
    *,
    versions: Container[int] | None = None,
    approval: bool = False,
    came_before: int = 0,
    order_in_doubt: bool = False,
    undone_since: int = 0,
) -> Decision:
    """The table for updates, items and cancellations: any content but the last accepted one is a new change.

    history: all generations of this kind of change under one key, oldest first. versions: for an update that stands for
    a whole order or ASN, the arrivals that were earlier versions of its file; None: it changes a part, and follows what
    is planned. approval: a person is to approve it. came_before: the last arrival of the very same file, 0 if it never
    came. order_in_doubt: a change of another kind under this key has no answer yet. undone_since: the last accepted
    change that may have undone earlier ones of this kind (its id), 0 if none was.
    """
    found, older = _sorted_out(history), () if versions is None else versions
    following = history[-1].generation + 1 if history else 1
    for known, rule in ((found.doubt, "earlier_in_doubt"), (found.held, "earlier_held")):
        if known is not None:
            return _beside(known, found, body_sha256, following, rule, older)
    if found.planned is not None and found.planned.body_sha256 == body_sha256:
        return Decision("follow", existing=found.planned)
    waits, last, replaced = found.waits(body_sha256), found.accepted, found.replaceable(older)
    if (
        last is not None
        and last.body_sha256 == body_sha256
        and (found.planned is None or found.planned.file_id in older)
    ):
        dropped = any(known.tainted and known.state == "abandoned" and known.id > last.id for known in history)
        rule = "dropped_in_doubt" if dropped else "undone_since" if undone_since > last.id else ""
        if not rule:  # what is planned of an older version was never sent, and is taken back
            return Decision("unchanged", existing=last, supersede=found.planned or replaced)
        return Decision("follow", existing=waits) if waits else _hold(following, rule, replaced)
    if waits is not None and (order_in_doubt or waits.rule not in _UNTIL_ANSWERED):
        return Decision("follow", existing=waits)
    ended_last = found.ended is not None and found.ended.generation > (last.generation if last else 0)
    if found.ended is not None and ended_last and found.ended.body_sha256 == body_sha256:
        return Decision("follow", existing=found.ended)
    if order_in_doubt:
        return _hold(following, "order_in_doubt", replaced)
    latest = found.planned or last
    if latest is not None and 0 < came_before < latest.file_id:
        return _hold(following, "older_file", replaced)
    if versions is not None:
        if found.planned is not None:
            return _beside_planned(found.planned, found, body_sha256, following, versions)
        return _unless_rivals(found, following, versions, waits=waits)
    if any(known is not waits and not (approval and known.rule == APPROVAL) for known in found.waiting):
        return Decision("follow", existing=waits) if waits else _hold(following, "earlier_held", None)
    return Decision("plan", following, supersede=waits)


def _beside_planned(
    planned: Known, found: _History, body_sha256: str, following: int, versions: Container[int]
) -> Decision:
    """A newer version replaces what is planned; another file that says something else is asked about."""
    if planned.body_sha256 == body_sha256:
        return Decision("follow", existing=planned)
    if planned.file_id in versions and not planned.released:
        return Decision("plan", following, supersede=planned)
    if waits := found.waits(body_sha256):
        return Decision("follow", existing=waits)
    return replace(_hold(following, TWO_FILES, found.replaceable(versions)), rival=planned)


def _unless_rivals(
    found: _History, following: int, versions: Container[int], *, waits: Known | None = None
) -> Decision:
    """It goes out unless another file's version, which says something else, waits; it replaces that of its own file."""
    replaced = found.replaceable(versions) or waits
    rivals = [known for known in found.waiting if known is not waits and known.file_id not in versions]
    if rivals:
        return replace(_hold(following, TWO_FILES, replaced), rival=rivals[-1])
    return Decision("plan", following, supersede=replaced)


def held_for_mapping(generation: int) -> Decision:
    """A document that holds rows which a mapping that was corrected since has sent in another one."""
    return _hold(generation, "other_grouping", None)


def for_approval(decision: Decision) -> Decision:
    """The same decision where a person must approve what goes out."""
    if decision.action != "plan":
        return decision
    return replace(_hold(decision.generation, APPROVAL, decision.supersede), marker=decision.marker)


def _after_acceptance(
    accepted: Known, found: _History, body_sha256: str, following: int, versions: Container[int]
) -> Decision:
    if accepted.rule == "cancelled":
        if waits := found.waits(body_sha256):
            return Decision("follow", existing=waits)
        return _hold(following, "cancelled", found.replaceable(versions))
    if accepted.body_sha256 == body_sha256:
        return Decision("unchanged", existing=accepted, supersede=found.replaceable(versions))
    return _beside(accepted, found, body_sha256, following, "changed_after_acceptance", versions)


def _beside(
    known: Known, found: _History, body_sha256: str, following: int, rule: str, versions: Container[int]
) -> Decision:
    """The same content follows what is known, also what already waits; any other content waits for its end."""
    replaced = found.replaceable(versions)
    if known.body_sha256 == body_sha256:
        return Decision("follow", existing=known, supersede=replaced)
    if waits := found.waits(body_sha256):
        return Decision("follow", existing=waits)
    return _hold(following, rule, replaced)


def said_of(rule: str, *values: str) -> tuple[str, str]:
    """Why a document waits, with values in the places that its words leave open, and what the operator does."""
    reason, fix = _WHY[rule]
    first, *rest = reason.split("…")
    return first + "".join(value + words for value, words in zip(values, rest, strict=True)), fix


def _hold(generation: int, rule: str, supersede: Known | None) -> Decision:
    reason, fix = _WHY[rule]
    return Decision("hold", generation, supersede=supersede, rule=rule, reason=reason, fix=fix)
