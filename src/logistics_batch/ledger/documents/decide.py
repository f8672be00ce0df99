"""What a document that comes in means, given every earlier generation of its key: pure.

The oldest open question counts first: a version in doubt, then one that was sent and waits for a person, then one that
is planned, then the accepted one. What was refused or dropped never hides any of these, and what a person dropped stays
dropped, whatever else came under its key.

Of an order or an ASN a file says all there is to say, so that its newer version replaces what was not sent of the older
one. Another file that says something else is no newer version: which of the two counts, a person knows. A change
(items, an update, a cancellation) says but a part, so that none replaces another: they go out one after the other.
"""

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import overload

from logistics_batch.messages import codes_of
from logistics_batch.messages.documents import reason_of
from logistics_batch.messages.reasons import REPLACEABLE, WaitsFor
from logistics_batch.model.document_state import UNANSWERED
from logistics_batch.model.issue import NOTHING_SAID, Issue

CANCELLED = codes_of("cancelled")
"""The codes of orders that were cancelled."""
APPROVAL = "approval"
OTHER_SPELLING = "other_spelling"
TWO_FILES = "two_files"
SAME_BYTES = "same_bytes"
REOPENED = "reopened"
DROPPED = "dropped"
EARLIER = ("earlier_in_doubt", "earlier_held")
"""The rules of what waits for the end of an earlier version."""

_OLDER_FILE = "older_file"


@dataclass(frozen=True, slots=True)
class Generation:
    """One earlier generation of a document.

    file_id: the arrival that planned it. may_exist: an attempt of it may have arrived unseen. send_approved: a person
    decided that it goes out. reference: of a change, the order that it was meant for, "" if only its number was known.
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

    @property
    def waits_for(self) -> WaitsFor:
        """What it waits for, by its reason."""
        return reason_of(self.rule).waits_for


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
    existing: Generation | None = None
    supersede: Generation | None = None
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


class Decisions(Sequence[Decision]):
    """What becomes of each of a file's documents: `usual` of most, which nobody knew before, and of some another."""

    def __init__(self, count: int, usual: Decision, others: Mapping[int, Decision]) -> None:
        self._count = count
        self.usual = usual
        self.others = others
        """By the document's place in the file."""

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, place: int) -> Decision: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Decision]: ...
    def __getitem__(self, place: int | slice) -> Decision | Sequence[Decision]:
        if isinstance(place, slice):
            return [self[each] for each in range(*place.indices(self._count))]
        if not -self._count <= place < self._count:
            raise IndexError(place)
        return self.others.get(place % self._count, self.usual)


NEW = Decision("plan", 1)
"""Of a document of which nothing is known."""


@dataclass(frozen=True, slots=True)
class _Case:
    """What came in, beside all generations of its key by what they mean; where one counts, it is the newest.

    versions: the arrivals that were earlier versions of the file that came in.
    """

    body_sha256: str
    all: Sequence[Generation]  # oldest first
    following: int  # the generation that it would be
    versions: Container[int]
    doubt: Generation | None
    held: Generation | None  # sent, and undecided
    waiting: Sequence[Generation]  # held before they were sent, oldest first
    planned: Generation | None
    accepted: Generation | None
    ended: Generation | None  # refused or dropped

    def is_in(self, known: Generation | None) -> bool:
        """Whether this very content is that of an earlier generation."""
        return known is not None and known.body_sha256 == self.body_sha256

    @property
    def waits(self) -> Generation | None:
        """What waits with this content."""
        return next((known for known in reversed(self.waiting) if self.is_in(known)), None)

    @property
    def waits_for_a_word(self) -> bool:
        """Whether this content waits for a person's word about itself, whatever else ends meanwhile."""
        return self.waits is not None and self.waits.waits_for != WaitsFor.OTHERS

    @property
    def replaced(self) -> Generation | None:
        """What waits and is nobody's wish any more: of an older version of this file, or dropped once more."""
        return next((known for known in reversed(self.waiting) if self._is_older(known)), None)

    @property
    def rival(self) -> Generation | None:
        """What another file said otherwise, and waits."""
        others = [known for known in self.waiting if not self.is_in(known) and not self._is_older(known)]
        return others[-1] if others else None

    def _is_older(self, known: Generation) -> bool:
        return known.file_id in self.versions or known.rule == _OLDER_FILE

    def open_question(self) -> Decision | None:
        """What becomes of it where a version was sent and has no end; None if there is none."""
        for known, rule in ((self.doubt, "earlier_in_doubt"), (self.held, "earlier_held")):
            if known is not None:
                return self.beside(known, rule)
        return None

    def beside(self, known: Generation, rule: str) -> Decision:
        """The same content follows what is known, also what already waits; any other content waits for its end."""
        if self.is_in(known):
            return Decision("follow", existing=known, supersede=self.replaced)
        return self.follow_or_hold(rule)

    def follow_or_hold(self, rule: str) -> Decision:
        """It follows what waits with this content for a person, or under this rule; or waits itself under it."""
        if self.waits is not None and (self.waits_for_a_word or self.waits.rule == rule):
            return Decision("follow", existing=self.waits)
        return _hold(self.following, rule, self.waits or self.replaced)

    def beside_planned(self, planned: Generation) -> Decision:
        """A newer version of the file replaces what is planned; another file that says otherwise is asked about."""
        if self.is_in(planned):
            return Decision("follow", existing=planned)
        if planned.file_id in self.versions and not planned.send_approved:
            return Decision("plan", self.following, supersede=planned)
        decision = self.follow_or_hold(TWO_FILES)
        return replace(decision, rival=planned) if decision.action == "hold" else decision

    @property
    def follows_its_end(self) -> bool:
        """Whether this content was refused or dropped, and nobody has taken that back."""
        return self.ended is not None and self.is_in(self.ended) and self.ended.rule != REOPENED

    @property
    def dropped(self) -> Generation | None:
        """What a person dropped of this very content, if nothing of that came since; no other version ends that."""
        same = next((known for known in reversed(self.all) if self.is_in(known)), None)
        return same if same is not None and (same.state, same.rule) == ("abandoned", DROPPED) else None

    @property
    def is_doubt_reopened(self) -> bool:
        """Whether it was dropped though it may have arrived, and a person wants it after all."""
        return (
            self.ended is not None and self.is_in(self.ended) and self.ended.rule == REOPENED and self.ended.may_exist
        )

    def plan_unless_rivals(self) -> Decision:
        """It goes out and replaces the older version of its file, unless another file's version waits."""
        replaced = self.replaced or self.waits
        if self.rival is not None:
            return replace(_hold(self.following, TWO_FILES, replaced), rival=self.rival)
        return Decision("plan", self.following, supersede=replaced)


def _case(history: Sequence[Generation], body_sha256: str, versions: Container[int]) -> _Case:
    def newest(*states: str) -> Generation | None:
        return next((known for known in reversed(history) if known.state in states), None)

    held = [known for known in history if known.state == "held"]
    sent = [known for known in held if known.may_exist or known.waits_for not in REPLACEABLE]
    return _Case(
        body_sha256,
        history,
        following=history[-1].generation + 1 if history else 1,
        versions=versions,
        doubt=newest(*UNANSWERED) or _approved_doubt(history),
        held=sent[-1] if sent else None,
        waiting=[known for known in held if known not in sent],
        planned=newest("planned"),  # one that may exist counts as a doubt before
        accepted=newest("accepted"),
        ended=newest("refused", "abandoned"),
    )


def _approved_doubt(history: Sequence[Generation]) -> Generation | None:
    """What goes out again although an attempt of it may have arrived: a correction must not take its place."""
    return next((known for known in reversed(history) if known.state == "planned" and known.may_exist), None)


def decide(history: Sequence[Generation], body_sha256: str, *, versions: Container[int] = ()) -> Decision:
    """The table of re-dropped and corrected files: `history` holds all generations of one key, oldest first.

    versions: the arrivals that were earlier versions of the file that came in; only of these anything is replaced.
    """
    case = _case(history, body_sha256, versions)
    if case.dropped is not None:
        return Decision("follow", existing=case.dropped)
    if decision := case.open_question():
        return decision
    if case.planned is not None and case.accepted is not None:  # a person decided to use the reference again
        return case.beside(case.planned, "changed_after_acceptance")
    if case.planned is not None:
        return case.beside_planned(case.planned)
    if case.accepted is not None:
        return _after_acceptance(case, case.accepted)
    if case.waits_for_a_word:
        return Decision("follow", existing=case.waits)
    if case.follows_its_end:
        return Decision("follow", existing=case.ended)
    return case.follow_or_hold(REOPENED) if case.is_doubt_reopened else case.plan_unless_rivals()


def _after_acceptance(case: _Case, accepted: Generation) -> Decision:
    if accepted.rule == "cancelled":
        return case.follow_or_hold("cancelled")
    if case.is_in(accepted):
        return Decision("unchanged", existing=accepted, supersede=case.replaced)
    return case.beside(accepted, "changed_after_acceptance")


def decide_change(
    history: Sequence[Generation],
    body_sha256: str,
    *,
    versions: Container[int] | None = None,
    lasting: bool = False,
    approval: bool = False,
    came_before: int = 0,
    order_in_doubt: bool = False,
    undone_since: int = 0,
    reference: str = "",
) -> Decision:
    """The table for updates, items and cancellations: any content but the last accepted one is a new change.

    history: all generations of this kind of change under one key, oldest first. versions: for an update that stands for
    a whole order or ASN, the arrivals that were earlier versions of its file; None: it changes a part, and follows what
    is planned. lasting: what was accepted once stays so until it is undone, whatever came between, as items that are
    added or deleted; an update is undone by the next one. approval: a person is to approve it. came_before: the last
    arrival of the very same file, 0 if it never came. order_in_doubt: a change of another kind under this key has no
    answer yet. undone_since: the last accepted change that may have undone earlier ones of this kind (its id), 0 if
    none was. reference: the order that is meant; a change meant for another one, when that was believed to have this
    number, says nothing about it.
    """
    about = [known for known in history if not reference or known.reference in ("", reference)]
    case = _case(about, body_sha256, () if versions is None else versions)
    case = replace(case, following=history[-1].generation + 1 if history else 1)
    planned, last, waits = case.planned, case.accepted, case.waits
    if decision := case.open_question():
        return decision
    if case.is_in(planned):
        return Decision("follow", existing=planned)
    if lasting:
        last = next((each for each in reversed(about) if each.state == "accepted" and case.is_in(each)), last)
    if last is not None and case.is_in(last) and (lasting or planned is None or planned.file_id in case.versions):
        dropped = any(known.may_exist and known.state == "abandoned" and known.id > last.id for known in about)
        if rule := "dropped_in_doubt" if dropped else "undone_since" if undone_since > last.id else "":
            return case.follow_or_hold(rule)
        taken_back = None if lasting else planned  # it was never sent
        return Decision("unchanged", existing=last, supersede=taken_back or case.replaced)
    if case.waits_for_a_word:
        return Decision("follow", existing=waits)
    since = max((known.generation for known in (last, waits) if known is not None), default=0)
    if case.dropped is not None and (came_before or case.dropped.generation > since):
        return Decision("follow", existing=case.dropped)
    if case.ended is not None and case.ended.generation > since:
        if case.follows_its_end:
            return Decision("follow", existing=case.ended)
        if case.is_doubt_reopened:
            return case.follow_or_hold(REOPENED)
    if order_in_doubt:
        return case.follow_or_hold("order_in_doubt")
    latest = planned or last
    if latest is not None and 0 < came_before < latest.file_id:
        return _hold(case.following, _OLDER_FILE, case.replaced)
    if versions is not None:
        return case.plan_unless_rivals() if planned is None else case.beside_planned(planned)
    if any(_goes_first(known, approval=approval) for known in case.waiting if known is not waits):
        return case.follow_or_hold("earlier_held")
    return Decision("plan", case.following, supersede=waits or case.replaced)


def _goes_first(waiting: Generation, *, approval: bool) -> bool:
    """Whether a change waits until that one is decided: not behind what was sent before and was dropped again."""
    return waiting.waits_for != WaitsFor.REPEAT and not (approval and waiting.waits_for == WaitsFor.APPROVAL)


def held_for_mapping(generation: int) -> Decision:
    """A document that holds rows which a mapping that was corrected since has sent in another one."""
    return _hold(generation, "other_grouping", None)


def for_approval(decision: Decision) -> Decision:
    """The same decision where a person must approve what goes out, also if it does so only later."""
    if decision.rule in EARLIER:
        return replace(decision, why=Issue.of(decision.why.code, approval=True))
    if decision.action != "plan":
        return decision
    return replace(_hold(decision.generation, APPROVAL, decision.supersede), marker=decision.marker)


def _hold(generation: int, rule: str, supersede: Generation | None) -> Decision:
    return Decision("hold", generation, supersede=supersede, why=Issue(rule))
