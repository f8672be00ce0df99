"""What a document that comes in means, given every earlier generation of its key: one table of rules. Pure.

The oldest open question counts first: a version in doubt, then one that was sent and waits for a person, then one that
is planned, then the accepted one. What was refused or dropped never hides any of these, and what a person dropped stays
dropped, whatever else came under its key.

Of an order or an ASN a file says all there is to say, so that its newer version replaces what was not sent of the older
one. Another file that says something else is no newer version: which of the two counts, a person knows. A change
(items, an update, a cancellation) says but a part, so that none replaces another: they go out one after the other.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from logistics_batch.messages.documents import reason_of
from logistics_batch.messages.reasons import REPLACEABLE, WaitsFor
from logistics_batch.model.document import UNANSWERED
from logistics_batch.model.issue import NOTHING_SAID, Issue

APPROVAL: Final = "approval"
OTHER_SPELLING: Final = "other_spelling"
TWO_FILES: Final = "two_files"
SAME_BYTES: Final = "same_bytes"
REOPENED: Final = "reopened"
EARLIER: Final = ("earlier_in_doubt", "earlier_held")
"""The rules of what waits for the end of an earlier version."""
OLDER_FILE: Final = "older_file"


@dataclass(frozen=True, slots=True)
class Generation:
    """One earlier generation of a document.

    file_id: the arrival that planned it; of_older_version: which was an earlier version of the file that comes in.
    may_exist: an attempt of it may have arrived unseen. send_approved: a person decided that it goes out. reference: of
    a change, the order that it was meant for, "" if only its number was known.
    """

    id: int
    generation: int
    state: str
    body_sha256: str
    rule: str
    file_id: int = 0
    may_exist: bool = False
    send_approved: bool = False
    reference: str = ""
    of_older_version: bool = False

    @property
    def waits_for(self) -> WaitsFor:
        """What it waits for, by its reason."""
        return reason_of(self.rule).waits_for


@dataclass(frozen=True, slots=True)
class Decision:
    """What becomes of a document that a file asks for.

    action: "plan" (a new generation goes out), "follow" (the rows show what became of `existing`),
    "unchanged" (`existing` was accepted with this very content), "hold" (a new generation waits for a person).
    supersede: the generations that this one replaces. rival: one of another file that says something else and has not
    been sent either; where it is planned, it waits as well. marker: what the description of a new generation carries,
    "" if nothing.
    """

    action: str
    generation: int = 0
    existing: Generation | None = None
    supersede: tuple[Generation, ...] = ()
    rival: Generation | None = None
    why: Issue = NOTHING_SAID
    marker: str = ""

    @property
    def rule(self) -> str:
        """Why it waits, as users see it: one word."""
        return self.why.rule

    @property
    def waits_for(self) -> WaitsFor:
        """What it waits for, by its reason."""
        return reason_of(self.why.code).waits_for


@dataclass(frozen=True, slots=True)
class Decisions:
    """What becomes of each of a file's documents: `usual` of most, which nobody knew before, and of some another.

    others: by the document's place in the file.
    """

    count: int
    usual: Decision
    others: Mapping[int, Decision]

    def __iter__(self) -> Iterator[Decision]:
        return (self.others.get(place, self.usual) for place in range(self.count))


NEW: Final = Decision("plan", 1)
"""Of a document of which nothing is known."""

THING, WHOLE, PART = "an order or ASN", "an update that stands for a whole one", "another change"
_ALL, _CHANGES = (THING, WHOLE, PART), (WHOLE, PART)
_NOTHING: Final = Generation(0, 0, "", "", "")  # whose content is nobody's


@dataclass(frozen=True)
class Case:
    """What came in, and all generations of its key by what they mean; where one counts, it is the newest.

    known: oldest first. lasting: what was accepted once stays so until it is undone, whatever came between, as items
    that are added or deleted; an update is undone by the next one. approval: a person is to approve it. came_before:
    the last arrival of the very same file, 0 if it never came. order_in_doubt: a change of another kind under this key
    has no answer yet. undone_since: the last accepted change that may have undone earlier ones of this kind (its id), 0
    if none was. no_update: it was updated since, and no update brings it back to this. reference: the order that a
    change is meant for; what was meant for another one, when that was believed to have this number, says nothing about
    it.
    """

    known: Sequence[Generation]
    body_sha256: str
    kind: str = THING
    lasting: bool = False
    approval: bool = False
    came_before: int = 0
    order_in_doubt: bool = False
    undone_since: int = 0
    no_update: bool = False
    reference: str = ""

    @cached_property
    def history(self) -> Sequence[Generation]:
        """What says something about it."""
        return [each for each in self.known if not self.reference or each.reference in ("", self.reference)]

    @property
    def following(self) -> int:
        """The generation that it would be."""
        return self.known[-1].generation + 1 if self.known else 1

    def is_in(self, known: Generation | None) -> bool:
        """Whether this very content is that of an earlier generation."""
        return known is not None and known.body_sha256 == self.body_sha256

    def _newest(self, *states: str) -> Generation | None:
        return next((known for known in reversed(self.history) if known.state in states), None)

    @property
    def doubt(self) -> Generation | None:
        """What has no answer; or goes out again, though an attempt of it may have arrived."""
        again = (known for known in reversed(self.history) if known.state == "planned" and known.may_exist)
        return self._newest(*UNANSWERED) or next(again, None)

    @property
    def undecided(self) -> Generation | None:
        """What was sent and is held."""
        return next((known for known in reversed(self.history) if known.state == "held" and _was_sent(known)), None)

    @cached_property
    def planned(self) -> Generation | None:
        """What goes out, and for certain did not arrive before."""
        return self._newest("planned")

    @cached_property
    def accepted(self) -> Generation | None:
        """What the service has; of what lasts, the same content as often as it was accepted."""
        same = (known for known in reversed(self.history) if known.state == "accepted" and self.is_in(known))
        return (next(same, None) if self.lasting else None) or self._newest("accepted")

    @cached_property
    def waiting(self) -> Sequence[Generation]:
        """What was held before it was sent, the newest first."""
        return [known for known in reversed(self.history) if known.state == "held" and not _was_sent(known)]

    @cached_property
    def waits(self) -> Generation | None:
        """What waits with this content."""
        return next(filter(self.is_in, self.waiting), None)

    @property
    def waits_for_a_word(self) -> Generation | None:
        """What waits with this content for a person's word about itself, whatever else ends meanwhile."""
        return self.waits if self.waits is not None and self.waits.waits_for != WaitsFor.OTHERS else None

    def _is_replaced(self, known: Generation) -> bool:
        return known.rule == OLDER_FILE or (known.of_older_version and self.kind != PART)

    @cached_property
    def replaced(self) -> tuple[Generation, ...]:
        """What waits and is nobody's wish any more: of older versions of this file, or dropped once more."""
        return tuple(filter(self._is_replaced, self.waiting))

    @property
    def rival(self) -> Generation | None:
        """What another file said otherwise, and waits."""
        others = (known for known in self.waiting if not self.is_in(known) and not self._is_replaced(known))
        return None if self.kind == PART else next(others, None)

    @property
    def standing(self) -> Generation | None:
        """What was accepted, as far as it is not about to be changed."""
        changed = self.planned is not None and not (self.kind == WHOLE and self.planned.of_older_version)
        return None if self.kind != THING and changed and not self.lasting else self.accepted

    @property
    def overtaken(self) -> Generation | None:
        """What stood with this content until a change that may have arrived was dropped."""
        last = self.standing
        dropped = (known.id for known in self.history if known.may_exist and known.state == "abandoned")
        return last if last is not None and self.is_in(last) and max(dropped, default=0) > last.id else None

    @property
    def undone(self) -> Generation | None:
        """What stood with this content until a change of the opposite kind was accepted."""
        last = self.standing
        return last if last is not None and self.is_in(last) and self.undone_since > last.id else None

    def _counts(self, ended: Generation) -> bool:
        """Whether an end is the last word: of a change, nothing was accepted or waits since."""
        since = (known.generation for known in (self.accepted, self.waits) if known is not None)
        return self.kind == THING or ended.generation > max(since, default=0)

    @property
    def dropped(self) -> Generation | None:
        """What a person dropped of this very content, if nothing of that came since; no other version ends that."""
        same = next(filter(self.is_in, reversed(self.history)), None)
        if same is None or (same.state, same.rule) != ("abandoned", "dropped"):
            return None
        return same if self.came_before or self._counts(same) else None

    def ended(self, *, reopened: bool) -> Generation | None:
        """What was refused or dropped; reopened: dropped in doubt, and a person wants it after all."""
        last = self._newest("refused", "abandoned")
        if last is None or not self._counts(last) or (last.rule == REOPENED) != reopened:
            return None
        return last if last.may_exist or not reopened else None

    @property
    def is_of_older_file(self) -> bool:
        """Whether the very same file came before what counts now."""
        latest = self.planned or self.accepted
        return latest is not None and 0 < self.came_before < latest.file_id

    @property
    def is_behind_another(self) -> bool:
        """Whether another change waits that goes first: not one that was sent before and was dropped again."""
        return any(
            known is not self.waits
            and known.waits_for != WaitsFor.REPEAT
            and not (self.approval and known.waits_for == WaitsFor.APPROVAL)
            for known in self.waiting
        )


FOLLOW, FOLLOW_AND_REPLACE, UNCHANGED = "follow", "follow and replace", "unchanged"
PLAN, PLAN_INSTEAD, NEXT_RULE = "plan", "plan instead", ""


@dataclass(frozen=True, slots=True)
class CaseRule:
    """What becomes of a document if something is known under its key; a word of above, or the rule by which it waits.

    of: kinds of documents. find: what is known, None if this is not. same: of this very content; other: of any other.
    """

    of: tuple[str, ...]
    words: str
    find: Callable[[Case], Generation | None]
    same: str
    other: str = NEXT_RULE


def _if(condition: bool) -> Generation | None:
    return _NOTHING if condition else None


RULES: Final = (
    CaseRule((THING,), "a person dropped this content, and it did not come since", lambda case: case.dropped, FOLLOW),
    CaseRule(_ALL, "one was sent without an answer", lambda case: case.doubt, FOLLOW_AND_REPLACE, "earlier_in_doubt"),
    CaseRule(_ALL, "one was sent and is held", lambda case: case.undecided, FOLLOW_AND_REPLACE, "earlier_held"),
    CaseRule(
        (THING,),
        "one is planned beside an accepted one, as a person decided",
        lambda case: case.planned if case.accepted else None,
        FOLLOW_AND_REPLACE,
        "changed_after_acceptance",
    ),
    CaseRule((THING,), "one is planned", lambda case: case.planned, FOLLOW, PLAN_INSTEAD),
    CaseRule(_CHANGES, "one is planned", lambda case: case.planned, FOLLOW),
    CaseRule(
        (THING,),
        "one was accepted and cancelled",
        lambda case: case.accepted if case.accepted and case.accepted.rule == "cancelled" else None,
        "cancelled",
        "cancelled",
    ),
    CaseRule(
        _CHANGES,
        "it was accepted, and a change that may have arrived was dropped since",
        lambda case: case.overtaken,
        "dropped_in_doubt",
    ),
    CaseRule(
        _CHANGES,
        "it was accepted, and the opposite was accepted since",
        lambda case: case.undone,
        "undone_since",
    ),
    CaseRule(
        (THING,),
        "one was accepted, and an update that is to take it back cannot be made",
        lambda case: case.accepted if case.no_update else None,
        "changed_after_acceptance",
        "changed_after_acceptance",
    ),
    CaseRule((THING,), "one was accepted", lambda case: case.accepted, UNCHANGED, "changed_after_acceptance"),
    CaseRule(_CHANGES, "one was accepted and stands", lambda case: case.standing, UNCHANGED),
    CaseRule(_ALL, "this content waits for a person", lambda case: case.waits_for_a_word, FOLLOW),
    CaseRule(_CHANGES, "a person dropped this content", lambda case: case.dropped, FOLLOW),
    CaseRule(_ALL, "the last one was refused or dropped", lambda case: case.ended(reopened=False), FOLLOW),
    CaseRule(
        _ALL, "it was dropped in doubt, and that was taken back", lambda case: case.ended(reopened=True), REOPENED
    ),
    CaseRule(
        _CHANGES,
        "another change of the order has no answer",
        lambda case: _if(case.order_in_doubt),
        NEXT_RULE,
        "order_in_doubt",
    ),
    CaseRule(
        _CHANGES,
        "the very same file came before what counts now",
        lambda case: _if(case.is_of_older_file),
        NEXT_RULE,
        OLDER_FILE,
    ),
    CaseRule((WHOLE,), "one is planned", lambda case: case.planned, NEXT_RULE, PLAN_INSTEAD),
    CaseRule((PART,), "another change waits", lambda case: _if(case.is_behind_another), NEXT_RULE, "earlier_held"),
    CaseRule((THING, WHOLE), "another file says otherwise, and waits", lambda case: case.rival, NEXT_RULE, TWO_FILES),
    CaseRule(_ALL, "nothing of this", lambda _: _NOTHING, NEXT_RULE, PLAN),
)
"""The first that says something of the content counts."""


def decide(case: Case) -> Decision:
    """What becomes of the document that came in, by the first of RULES that says it."""
    for rule in RULES:
        if case.kind in rule.of and (known := rule.find(case)) is not None:
            outcome = rule.same if case.is_in(known) else rule.other
            if outcome:
                return _decision(case, known, outcome)
    raise AssertionError("the last rule is about everything")


def _decision(case: Case, known: Generation, outcome: str) -> Decision:
    own = dict.fromkeys((*((case.waits,) if case.waits else ()), *case.replaced))
    match outcome:
        case "follow":
            return Decision("follow", existing=known)
        case "follow and replace":
            return Decision("follow", existing=known, supersede=case.replaced)
        case "unchanged":
            taken_back = (case.planned,) if case.planned and not case.lasting else ()  # it was never sent
            return Decision("unchanged", existing=known, supersede=taken_back + case.replaced)
        case "plan":
            return Decision("plan", case.following, supersede=tuple(own))
        case "plan instead" if known.of_older_version and not known.send_approved:
            return Decision("plan", case.following, supersede=(known,))
    rule = TWO_FILES if outcome == PLAN_INSTEAD else outcome
    if case.waits is not None and (case.waits_for_a_word or case.waits.rule == rule):
        return Decision("follow", existing=case.waits)
    held = Decision("hold", case.following, supersede=tuple(own), why=Issue(rule))
    return replace(held, rival=known) if rule == TWO_FILES else held


def _was_sent(known: Generation) -> bool:
    return known.may_exist or known.waits_for not in REPLACEABLE


def held_for_mapping(decision: Decision) -> Decision:
    """The same for a document that holds rows which a mapping that was corrected since has sent in another one."""
    return Decision("hold", decision.generation, supersede=decision.supersede, why=Issue("other_grouping"))


def for_approval(decision: Decision) -> Decision:
    """The same decision where a person must approve what goes out, also if it does so only later."""
    if decision.rule in EARLIER:
        return replace(decision, why=Issue.of(decision.why.code, approval=True))
    return replace(decision, action="hold", why=Issue(APPROVAL)) if decision.action == "plan" else decision
