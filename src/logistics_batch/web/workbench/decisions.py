"""What waits for a person, with its evidence; what a decision would do; and deciding, once, by what was seen."""

import hashlib
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from logistics_batch.errors import LedgerBusy, LogisticsBatchError, UsageError
from logistics_batch.flows.doubts.decisions import decide_held
from logistics_batch.flows.doubts.held import HeldId, HeldLine, beside_earlier, everything_held, held_by_id, in_words
from logistics_batch.flows.files.deliver import deliver_stale_beside
from logistics_batch.messages.reasons import HeldDecision
from logistics_batch.model.counting import counted
from logistics_batch.web.workbench.asked import Changed, Moved, NotThere, PageData, PageRequest, number_of
from logistics_batch.web.workbench.documents import HIDDEN, line_of, shown_body, words_for
from logistics_batch.web.workbench.people import DECIDE

_LONGEST_REASON = 2000


def waiting(asked: PageRequest) -> PageData:
    """Everything that waits for a person, and what is in doubt; the oldest of each first."""
    held = held_for(asked)
    words = _in_words(asked, held)
    doubts = asked.parts.ledger.attempts.in_doubt()
    data = {
        "held": [_line(each) | why for each, why in zip(held, words, strict=True)],
        "in_doubt": [line_of(each, asked.who) | {"since": each.doubt_since, "checks": each.checks} for each in doubts],
        "may_decide": asked.who.role in DECIDE,
    }
    return PageData("decisions.html", data)


def held_for(asked: PageRequest) -> list[HeldLine]:
    """What waits and is theirs to decide: all that waits at an address at once is nobody's who has partners."""
    return [each for each in everything_held(asked.parts) if not (asked.who.partners and each.is_address)]


def _waiting(asked: PageRequest) -> dict[HeldId, HeldLine]:
    found = held_by_id(asked.parts)
    return {name: each for name, each in found.items() if not (asked.who.partners and each.is_address)}


def one(asked: PageRequest) -> PageData:
    """One thing that waits: why, old beside new with what differs, what was seen, and what can be decided."""
    name = asked.path["name"]
    found = _waiting(asked).get(_number(name))
    if found is None:
        raise NotThere(f"Nothing with the number {name} waits any more: it was decided, or asking settled it.")
    (why,) = _in_words(asked, [found])
    sees = asked.who.sees_people
    documents = []
    for document in found.documents:
        beside = beside_earlier(asked.parts, document)
        documents.append(
            line_of(document, asked.who)
            | {
                "method": document.method,
                "path": document.path,
                "rows": list(document.rows),
                "body": shown_body(document.body, sees_people=sees),
                "may_exist": document.may_exist,
                "earlier": line_of(beside.earlier, asked.who) if beside.earlier else None,
                "differing": [
                    {"field": name, "before": old if sees else HIDDEN, "now": new if sees else HIDDEN}
                    for name, old, new in beside.differing
                ],
                "alike": list(beside.alike),
            }
        )
    data = _line(found) | why | {"documents": documents, "may_decide": asked.who.role in DECIDE}
    return PageData("decision.html", data)


def look(asked: PageRequest) -> PageData:
    """What a decision about several would do, each for itself; nothing is decided yet."""
    chosen, decision, reason = _chosen(asked)
    lines: list[dict[str, Any]] = []
    words: dict[str, Any] = {"decision": decision, "reason": reason, "reissue": _reissue(asked)}
    waiting_now = _waiting(asked)
    with asked.on.calling() as parts:
        for held_id in chosen:
            held = waiting_now.get(_number(held_id))
            if held is None:
                lines.append(_GONE | {"id": held_id})
                continue
            against = ""
            try:
                decide_held(parts, _number(held_id), dry_run=True, **words)
            except LogisticsBatchError as error:
                against = f"{error.message} {error.remedy}".strip()
            lines.append(_line(held) | {"against": against})
    data = {"lines": lines, "decision": decision, "reason": reason, "reissue": _reissue(asked)}
    return PageData("look.html", data)


def decide(asked: PageRequest) -> Moved:
    """Decide about each by what was seen of it; where that changed meanwhile, about none."""
    chosen, decision, reason = _chosen(asked)
    seen, waiting_now = asked.several.get("seen", ()), _waiting(asked)
    lines = {each: waiting_now.get(_number(each)) for each in chosen}
    as_seen = {each: _line(held)["seen"] for each, held in lines.items() if held is not None}
    if not as_seen:
        raise NotThere("Nothing of it waits any more: it was decided, or asking settled it.")
    if [as_seen.get(held_id) for held_id in chosen] != list(seen):
        raise Changed("What you decided about has changed since it was shown.")
    done, refused = [], []
    words: dict[str, Any] = {"decision": decision, "reason": reason, "reissue": _reissue(asked)}
    with asked.on.calling() as parts:
        in_the_name = replace(parts, person=asked.who.name)
        for held_id in chosen:
            try:
                done.append(decide_held(in_the_name, _number(held_id), **words))
            except LogisticsBatchError as error:  # of one; the others are told all the same
                if len(chosen) == 1:
                    raise
                refused.append(f"{held_id}: {error.message} {error.remedy}".strip())
    asked.on.behind(lambda: _write_answers(asked))
    told = done[0] if len(done) == 1 and not refused else f"{counted(len(done), 'decision')} written down."
    return Moved("/decisions", " ".join([told, *refused]))


def _write_answers(asked: PageRequest) -> None:
    """Write the answers of files anew that no longer show what is known; what fails is written by the next run."""
    with asked.on.calling() as parts, suppress(LedgerBusy):  # the run that holds it writes them
        deliver_stale_beside(parts)


def _chosen(asked: PageRequest) -> tuple[Sequence[str], str, str]:
    """The numbers, the decision and the reason that a form names. Raises UsageError for what is missing."""
    chosen = list(dict.fromkeys(asked.several.get("id", ())))
    decision, reason = asked.form.get("decision", ""), asked.form.get("reason", "").strip()
    if not chosen:
        raise UsageError("Nothing is marked.", remedy="Mark what you decide about.")
    if decision not in {each.value for each in HeldDecision} - {HeldDecision.RETRY, HeldDecision.REOPEN}:
        raise UsageError("No decision is chosen.", remedy="Choose one.")
    if not reason or len(reason) > _LONGEST_REASON:
        raise UsageError("The reason is missing, or longer than a page.", remedy="Say why in a sentence; it is kept.")
    return chosen, decision, reason


def _reissue(asked: PageRequest) -> bool:
    return asked.form.get("reissue") == "yes"


def _number(name: str) -> HeldId:
    """What `held list` calls it: a number, or a name."""
    return name if (number := number_of(name)) is None else number


def _in_words(asked: PageRequest, held: Sequence[HeldLine]) -> list[dict[str, Any]]:
    """What is told of each."""
    told = in_words(asked.parts, held)
    if asked.who.sees_people:
        return told
    return [
        words | {"reason": words_for(asked.who, each.why), "fix": ""} for each, words in zip(held, told, strict=True)
    ]


_GONE = {"what": "", "reference": "", "files": "", "seen": "", "against": "it does not wait any more"}


def _line(held: HeldLine) -> dict[str, Any]:
    """One thing that waits, in a list; seen: a digest of it, as it is now."""
    documents = [(each.id, each.state, each.why.code, each.attempts, each.body_sha256) for each in held.documents]
    seen = hashlib.sha256(repr((held.id, held.why.code, sorted(documents))).encode()).hexdigest()[:16]
    reference = held.document.reference if held.document else ""
    return {
        "id": held.id,
        "what": held.what,
        "reference": reference,
        "files": held.files,
        "choices": [each.value for each in held.choices],
        "seen": seen,
    }
