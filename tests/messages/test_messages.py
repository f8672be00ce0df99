"""The page of all messages is the program's own, whole, and in words for the people who read answers."""

import re

import pytest
from messages.page import PAGE, Line, parts, written
from messages.said_in_source import CHANGING, holds, refusals, waiting
from messages.service_answers import SAID_BY_SERVICE
from messages.wrong_rows import HELD, INVALID

from logistics_batch.errors import FileHeld
from logistics_batch.mapping.rows.cells import Damage
from logistics_batch.messages import rule_of
from logistics_batch.messages.cells import CELLS
from logistics_batch.paper.clerks_words import HELD_FIXES

LINES: list[Line] = [line[:3] for rows in parts() for line in rows]
OPERATORS_WORDS = re.compile(r"--\w|“|`|\bheld (?:list|show|decide)\b|\bsettle\b|\bledger\b|\bdecide “")
PROGRAMMERS_WORDS = re.compile(
    r"\b(None|NULL|null|NaN|HTTP|JSON|[Ee]xception|[Tt]raceback|[Rr]egex|[Pp]arse[rd]?|[Ss]trings?|[Ii]nteger|[Bb]oolean|"
    r"dict|tuple|stderr|schema)\b"
)
WHOLE_FILES = {(message.rule, message.reason, message.fix) for message in refusals()}
END_OF_A_SENTENCE = (".", "?", CHANGING)  # what is filled in at the end brings its own


def test_the_page_is_the_program_s_own() -> None:
    assert PAGE.read_text("utf-8") == written(), "run: python tests/messages/page.py"


@pytest.mark.parametrize(("rule", "reason", "fix"), LINES)
def test_each_message_is_for_a_clerk(rule: str, reason: str, fix: str) -> None:
    assert reason.endswith(END_OF_A_SENTENCE) or SAID_BY_SERVICE in reason, reason
    assert reason[0].isupper() or reason[0] in '"…', reason
    assert not PROGRAMMERS_WORDS.search((reason + fix).replace("a JSON file", ""))
    assert not fix or fix.endswith(END_OF_A_SENTENCE)


@pytest.mark.parametrize(("rule", "reason", "fix"), [line for line in LINES if line[2] and line not in WHOLE_FILES])
def test_no_row_is_told_what_only_an_operator_can_do(rule: str, reason: str, fix: str) -> None:
    assert not OPERATORS_WORDS.search(fix)


def test_every_rule_under_which_a_document_waits_has_words_for_the_clerk() -> None:
    rules = {message.rule for message in (*holds(), *waiting())} - {CHANGING}
    assert rules <= set(HELD_FIXES)


@pytest.mark.parametrize("name", INVALID)
def test_a_wrong_row_has_one_issue_with_its_cell_and_a_remedy(name: str) -> None:
    mapped = INVALID[name].mapped()
    (issue,) = mapped.issues
    assert issue.rule.endswith(name)
    assert re.fullmatch(r"[A-Z]+[0-9]+", issue.cell)
    assert issue.fix
    assert not mapped.documents


@pytest.mark.parametrize("name", HELD)
def test_a_file_held_by_its_mapping_says_which_rule(name: str) -> None:
    with pytest.raises(FileHeld) as told:
        HELD[name].mapped()
    assert told.value.rule.endswith(name)
    assert told.value.remedy


def test_no_rule_of_a_row_is_without_its_line() -> None:
    of_rows = {rule_of(code) for code in CELLS if "contract" not in code}
    assert of_rows | {str(each) for each in Damage} <= {rule.rpartition("|")[2] for rule, *_ in LINES}


def test_every_refusal_of_a_file_says_what_to_do() -> None:
    assert len(refusals()) > 30
    assert [message for message in refusals() if not message.fix] == []
