"""The page of all messages, written from the program: `python tests/messages/page.py` writes docs/messages.md anew."""

import string
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from textwrap import wrap

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))

import polars as pl
from messages.wrong_rows import BLOCKED, INVALID, SKIPPED, WrongRow

from logistics_batch.messages import CATALOGUE, Entry, rule_of
from logistics_batch.messages.cells import CELLS
from logistics_batch.messages.documents import ANSWERED, FATES, HELD_AFTER_SENDING, HELD_BEFORE_SENDING
from logistics_batch.messages.files import FILES, LEFT
from logistics_batch.messages.reading import READING
from logistics_batch.messages.runs import RUNS
from logistics_batch.messages.sheets import SHEETS
from logistics_batch.model.document import RowState
from logistics_batch.model.payloads import forms
from logistics_batch.model.report import FATES as ROWS_OF_REPORT
from logistics_batch.model.report import FileReport
from logistics_batch.paper.answers.row_answers import answered

CHANGING = "…"  # stands where the program fills something in
REFUSALS = {code: entry for subject in (FILES, READING, SHEETS) for code, entry in subject.items() if entry.remedy}
"""Why a file as a whole is not taken, and what is noted of its sheets."""
PAGE = Path(__file__).parents[2] / "docs" / "messages.md"
Line = tuple[str, ...]
"""Rule, reason, what to do; of what is held also what the operator is told."""

HEAD = """\
# What the answers say

Look a message up by its `rule`: the text of `Reason`, and in italics that of `What to do`. `…` stands where something
is filled in, `[a · b]` for one of these. Bold type tells what to do about all messages below it. In a result the name
of the field stands before the rule: `customer_mobile|mobile`.
"""
OFTEN = 2  # so many lines with one remedy stand below it
ALIKE = 3  # so many words in common make one of two reasons
LONGEST = 20  # words in brackets, each
NO_REMEDY = "No step of its own."
WIDTH = 120
PARTS = {
    "A row is invalid": "One cell, or the row as a whole, must be corrected. Nothing of its document is sent.",
    "A value does not fit the service": (
        "The cell was read, and what the mapping makes of it breaks the service's contract. The rule is that of the "
        "form which the field must have."
    ),
    "A row is blocked": "Nothing is wrong with the row itself; its document is not sent because of another row.",
    "A row is skipped": "It holds no data. It is listed so that nothing is left out unnoticed.",
    "What the service said": "The document was sent.",
    "A document is held": (
        "A person decides: `logistics-batch held list` shows it to the operator, `held decide` takes the decision."
    ),
    "A file is held as a whole": "Nothing of it is sent. It goes to quarantine, and its result says why.",
    "A workbook came back with less in it": (
        "`NAME.result.xlsx` holds nothing that fetches, starts or links to anything. What was taken out stands in the\n"
        "comment on its `Status` and in the notes of the run. Where that cannot be done safely, it is a plain copy of\n"
        "the rows, and the comment says why."
    ),
    "What a run says": "Beside the answers: `logistics-batch runs show RUN` has it, and the end of each command.",
    "A file is left where it lies": "It is not taken, or not yet; the run says so.",
}


def written() -> str:
    """The page as it must be."""
    lines = [HEAD]
    for (title, words), rows in zip(PARTS.items(), parts(), strict=True):
        lines += [f"## {title}", "", words, "", *_listed(rows)]
    return "\n".join(lines)


def _listed(rows: list[Line]) -> Iterator[str]:
    """The lines of a part: those whose remedy is their own, then under each remedy that several have its lines."""
    told: dict[tuple[str, ...], list[str]] = {}
    said_below = {(rule, f"{reason} {remedy}") for rule, reason, remedy, *_ in rows}
    for rule, reason, *rest in rows:
        if (rule, reason) not in said_below and any(map(str.isalpha, reason)):
            told.setdefault((rule, *rest), []).append(reason)
    times = Counter(remedy for _, remedy, *_ in told)
    many = [remedy for remedy, count in times.items() if count >= OFTEN or len(times) == 1]
    yield from _items(told, lambda remedy: remedy not in many)
    for remedy in many:
        if len(times) > 1 or remedy:
            yield from (f"**{remedy or NO_REMEDY}**", "")
        yield from _items(told, remedy.__eq__, is_told_above=True)


def _items(
    told: dict[tuple[str, ...], list[str]], fits: Callable[[str], bool], *, is_told_above: bool = False
) -> list[str]:
    items = []
    for (rule, remedy, *operator), reasons in told.items():
        if fits(remedy):
            name = f"- `{rule}`: " if rule else "- "
            step = f" *{remedy}*" if remedy and not is_told_above else ""
            also = "".join(f" *Operator:* {words}" for words in operator)
            ways = list(together(reasons))
            if len(ways) > ALIKE and not step + also:
                items += [name, *(f"  - {way}" for way in ways)] if rule else [f"- {way}" for way in ways]
            else:
                items.append(f"{name}{' · '.join(ways)}{step}{also}")
    lines = [line for item in items for line in _wrapped(item)]
    return [*lines, ""] if lines else []


def _wrapped(item: str) -> list[str]:
    indent = " " * (item.index("- ") + 2)
    text = item.replace("\n", " ")
    return wrap(text, WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def together(reasons: list[str]) -> Iterator[str]:
    """Reasons that begin alike as one, with what differs between them in brackets."""
    groups: list[list[list[str]]] = []
    for words in sorted(reason.split(" ") for reason in reasons):
        if groups and _alike(groups[-1][0], words) >= ALIKE:
            groups[-1].append(words)
        else:
            groups.append([words])
    for group in groups:
        first, last = group[0], group[-1]
        begin = _alike(first, last) if len(group) > 1 else len(first)
        rest = [words[begin:] for words in group]
        end = min(_alike(rest[0][::-1], words[::-1]) for words in rest)
        differing = [" ".join(words[: len(words) - end]) for words in rest]
        if len(group) > 1 and all(map(_stands_alone, differing)):
            yield " ".join([*first[:begin], f"[{' · '.join(differing)}]", *rest[0][len(rest[0]) - end :]])
        else:
            yield from (" ".join(words) for words in group)


def _stands_alone(words: str) -> bool:
    return 0 < len(words.split()) <= LONGEST and words.count("(") == words.count(")")


def _alike(one: list[str], other: list[str]) -> int:
    """With how many words the two begin alike."""
    return next((at for at, (a, b) in enumerate(zip(one, other)) if a != b), min(len(one), len(other)))  # noqa: B905


@cache
def parts() -> tuple[list[Line], ...]:
    """The lines of each part of the page, in order."""
    return tuple(_parts())


def _parts() -> Iterator[list[Line]]:
    issues = [_issue_line(name, row) for name, row in INVALID.items()]
    yield [*issues, *sorted(_further_issues({name.rpartition("|")[2] for name in (*INVALID, *BLOCKED)}))]
    yield sorted(_form_lines())
    yield [_row_line(name, row, RowState.BLOCKED) for name, row in BLOCKED.items()]
    yield [_row_line(name, row, RowState.SKIPPED) for name, row in SKIPPED.items()]
    yield _entries(FATES | ANSWERED)
    yield _entries(HELD_AFTER_SENDING | HELD_BEFORE_SENDING, operator=True)
    yield _entries({code: entry for code, entry in REFUSALS.items() if entry.remedy})
    yield [(code.partition(".")[2], shown(RUNS[code].reason), "") for code in RUNS if code.startswith("taken_out.")]
    yield _entries({code: entry for code, entry in RUNS.items() if not code.startswith("taken_out.")})
    yield _entries(LEFT)


def _entries(subject: Mapping[str, Entry], *, operator: bool = False) -> list[Line]:
    """Entries that stand for themselves, each text once. What begins with a full stop, and is no fate, does not."""
    lines = []
    for code, entry in sorted(subject.items()):
        if not code.startswith(".") or code in FATES:
            line = (rule_of(code), shown(entry.reason), shown(entry.remedy))
            lines.append((*line, shown(entry.operator)) if operator else line)
    return list(dict.fromkeys(lines))


def shown(words: str) -> str:
    """Words of the catalogue with the sign for what is filled in."""
    return "".join(
        text + (CHANGING if name is not None else "") for text, name, _, _ in string.Formatter().parse(words)
    )


def _issue_line(name: str, row: WrongRow) -> Line:
    (issue,) = [each for each in row.mapped().issues if each.rule.endswith(name)]
    return name, issue.reason, issue.fix


def _further_issues(told: set[str]) -> Iterator[Line]:
    """What the catalogue has beside them."""
    for code, entry in CELLS.items():
        if rule_of(code) not in told and "contract" not in code:
            yield rule_of(code), shown(entry.reason), shown(entry.remedy)


def _row_line(name: str, row: WrongRow, state: RowState) -> Line:
    found = [each for each in row.mapped().rows.iter_rows(named=True) if each["state"] == state.value]
    told = {"fate": state.value, "code": found[-1]["code"], "values": found[-1]["values"] or ""}
    return name, *_answer(told)


def _answer(told: dict[str, str]) -> tuple[str, str]:
    """Reason and remedy as the answers to a file have them."""
    rows = pl.DataFrame([dict.fromkeys(ROWS_OF_REPORT, "") | {"row": 2} | told], schema=ROWS_OF_REPORT)
    line = answered(FileReport("", "", 0, "", "", "", rows=rows)).row(0, named=True)
    return line["reason"], line["fix"]


def _form_lines() -> Iterator[Line]:
    for alias in vars(forms).values():
        for form in getattr(alias, "__metadata__", ()):
            if isinstance(form, forms.Form):
                entry = CATALOGUE[f"{form.rule}.contract"]
                yield form.rule, entry.reason, entry.remedy


if __name__ == "__main__":
    PAGE.write_text(written(), encoding="utf-8")
