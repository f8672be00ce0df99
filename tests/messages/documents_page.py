"""The page of states and reasons, from their tables: `python tests/messages/documents_page.py` writes it anew."""

import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import wrap

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))

from logistics_batch.ledger.documents.decide import (
    FOLLOW,
    FOLLOW_AND_REPLACE,
    NEXT_RULE,
    PART,
    PLAN,
    PLAN_INSTEAD,
    RULES,
    THING,
    UNCHANGED,
    WHOLE,
)
from logistics_batch.messages.documents import REASONS
from logistics_batch.messages.reasons import REPLACEABLE, Reason, WaitsFor
from logistics_batch.model.document import FATE_OF_STATE, TRANSITIONS

PAGE = Path(__file__).parents[2] / "docs" / "documents.md"

HEAD = """\
# What happens to a document

A document is the rows that share a key and become one call. This page is printed from the program's tables: its
states, what a file means for it, and why it may wait. The database refuses every other change of state.
"""
REASONS_HEAD = """\
## Why a document waits

Below each thing that documents wait for stand the reasons ([their words](messages.md)), whether something of the
document may exist at the service, and what a person can decide.
"""
RULES_HEAD = """\
## What a file means for what is known

Of each document that a file asks for, the ledger looks at everything that it knows under its key. The first line below
that fits counts. *order, ASN*: what is created; *whole*: an update that stands for an order or ASN; *part*: any other
change. *follows*: shows what became of that.
"""
KINDS = {THING: "order, ASN", WHOLE: "whole", PART: "part"}
OUTCOMES = {
    FOLLOW: "follows",
    FOLLOW_AND_REPLACE: "follows, and replaces what waits of an older version",
    UNCHANGED: "unchanged",
    PLAN: "goes out",
    PLAN_INSTEAD: "a newer version of its file goes out instead; else waits: `two_files`",
    NEXT_RULE: "–",
}
WAITS = {
    WaitsFor.SETTLING: "It was sent; the service is asked what became of it.",
    WaitsFor.SHOWING: "It was sent; for a week the service is asked again, and a person may decide before.",
    WaitsFor.DECISION: "A person decides about it before anything newer under its key goes out.",
    WaitsFor.CHOICE: "A person says which of several is wanted; nothing of it was sent.",
    WaitsFor.REPEAT: "A person says whether it is wanted once more: its content went out before.",
    WaitsFor.APPROVAL: "A person approves what would go out.",
    WaitsFor.OTHERS: "Another version or change of the same thing has its end first.",
    WaitsFor.NEXT_RUN: "Any run takes it along.",
}


def written() -> str:
    """The page as it must be."""
    return "\n".join([HEAD, *_diagram(), "", *_states(), "", RULES_HEAD, *_rules(), "", REASONS_HEAD, *_waits(), ""])


def _diagram() -> Iterator[str]:
    yield "```mermaid"
    yield "stateDiagram-v2"
    yield "    [*] --> planned"
    yield "    [*] --> held"
    for before, afters in TRANSITIONS.items():
        for after, when in afters.items():
            yield f"    {before} --> {after}: {when}"
    yield "```"


def _states() -> Iterator[str]:
    shown = ", ".join(f"`{state}` {fate}" for state, fate in FATE_OF_STATE.items())
    yield from wrap(f"Its rows show: {shown}.", width=120)


def _rules() -> Iterator[str]:
    yield "| of | if | this very content | any other |"
    yield "|---|---|---|---|"
    for rule in RULES:
        same, other = (OUTCOMES.get(outcome, f"waits: `{outcome}`") for outcome in (rule.same, rule.other))
        kinds = "any" if len(rule.of) == len(KINDS) else ", ".join(KINDS[kind] for kind in rule.of)
        yield f"| {kinds} | {rule.words} | {same} | {other} |"


def _waits() -> Iterator[str]:
    for waits, words in WAITS.items():
        replaced = " A newer version of its file takes its place." if waits in REPLACEABLE else ""
        yield from wrap(f"- `{waits}`: {words}{replaced}", width=120, subsequent_indent="  ")
        alike: dict[str, list[str]] = {}
        for code, reason in REASONS.items():
            if reason.waits_for is waits:
                alike.setdefault(_facts(reason), []).append(f"`{code}`")
        for facts, codes in alike.items():
            yield from wrap(f"  - {facts}: {', '.join(codes)}", width=120, subsequent_indent="    ")


def _facts(reason: Reason) -> str:
    facts = ["may exist"] if reason.may_exist else []
    if reason.waits_for is WaitsFor.SETTLING:
        facts.append("is sent again by itself" if reason.resend else "is not sent again by itself")
    if reason.choices:
        facts.append(f"*{', '.join(reason.choices)}*")
    return "; ".join(facts) or "nothing to decide"


if __name__ == "__main__":
    PAGE.write_text(written(), encoding="utf-8")
