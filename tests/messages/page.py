"""The page of all messages, written from the program: `python tests/messages/page.py` writes docs/messages.md anew."""

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))

import polars as pl
from messages.said_in_source import CHANGING, Message, holds, refusals, shown, waiting
from messages.service_answers import ANSWERS
from messages.wrong_rows import BLOCKED, INVALID, SKIPPED, WrongRow

from logistics_batch.messages import CATALOGUE, packed, rule_of
from logistics_batch.messages.cells import CELLS
from logistics_batch.model.document import RowState
from logistics_batch.model.payloads import forms
from logistics_batch.model.report import FATES, Fate, FileReport
from logistics_batch.paper.row_answers import answered
from logistics_batch.paper.xlsx_active import REMOVED_WORDS

PAGE = Path(__file__).parents[2] / "docs" / "messages.md"
Line = tuple[str, ...]
"""Rule, reason, what to do; of what is held also what the operator is told."""

HEAD = """\
# What the answers say

Every message that can stand in a result's `Reason` and `What to do`, by its `rule`. The texts are the program's own;
`…` stands where it fills in a name, a number or a place. In a result the rule of a cell has the field before it, as
`customer_mobile|mobile`, and beside it stand the cell's address and what was seen there.
"""
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
}


def written() -> str:
    """The page as it must be."""
    lines = [HEAD]
    for (title, words), rows in zip(PARTS.items(), parts(), strict=True):
        columns = ["rule", "reason", "what to do", *(["the operator"] if title == "A document is held" else [])]
        lines += [f"## {title}", "", words, "", f"| {' | '.join(columns)} |", "|" + "---|" * len(columns)]
        lines += [f"| {' | '.join(_cell(text) for text in row)} |" for row in rows]
        lines.append("")
    return "\n".join(lines)


def parts() -> Iterator[list[Line]]:
    """The lines of each part of the page, in order."""
    issues = [_issue_line(name, row) for name, row in INVALID.items()]
    yield [*issues, *sorted(_further_issues({name.rpartition("|")[2] for name in (*INVALID, *BLOCKED)}))]
    yield sorted(_form_lines())
    yield [_row_line(name, row, RowState.BLOCKED) for name, row in BLOCKED.items()]
    yield [_row_line(name, row, RowState.SKIPPED) for name, row in SKIPPED.items()]
    yield [(answer.rule, answer.reason, _told(answer.rule, answer.reason, answer.fix)) for answer in ANSWERS]
    held = _lines(sorted([*holds(), *waiting()]))
    yield [(rule, reason, _told(rule, reason, "", Fate.HELD), fix) for rule, reason, fix in held]
    yield _lines(refusals())
    yield [(each.value, words, "") for each, words in REMOVED_WORDS.items()]


def _lines(messages: Iterable[Message]) -> list[Line]:
    told = dict.fromkeys((each.rule, each.reason, each.fix) for each in messages)
    return [line for line in told if line[0] != CHANGING]


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


FATES_OF_ANSWERS = {
    "refused": Fate.REFUSED,
    "in_doubt": Fate.IN_DOUBT,
    "refused_after_doubt": Fate.HELD,
    "not_sent": Fate.PENDING,
}


def _told(rule: str, reason: str, fix: str, fate: Fate | None = None) -> str:
    """What a row is told to do about that."""
    fate = fate or FATES_OF_ANSWERS[rule]
    words = packed({"reason": reason, "remedy": fix})
    return _answer({"document": "A-1", "fate": fate.value, "code": rule, "values": words})[1]


def _answer(told: dict[str, str]) -> tuple[str, str]:
    """Reason and remedy as the answers to a file have them."""
    rows = pl.DataFrame([dict.fromkeys(FATES, "") | {"row": 2} | told], schema=FATES)
    line = answered(FileReport("", "", 0, "", "", "", rows=rows)).row(0, named=True)
    return line["reason"], line["fix"]


def _form_lines() -> Iterator[Line]:
    for alias in vars(forms).values():
        for form in getattr(alias, "__metadata__", ()):
            if isinstance(form, forms.Form):
                entry = CATALOGUE[f"{form.rule}.contract"]
                yield form.rule, entry.reason, entry.remedy


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ") or "–"


if __name__ == "__main__":
    PAGE.write_text(written(), encoding="utf-8")
