"""The page of all messages is the program's own, whole, and in words for the people who read answers."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from messages import documents_page
from messages.page import CHANGING, PAGE, REFUSALS, Line, parts, shown, written
from messages.wrong_rows import HELD, INVALID

from logistics_batch.errors import FileHeld
from logistics_batch.mapping.rows.cells import Damage
from logistics_batch.messages import CATALOGUE, rule_of
from logistics_batch.messages.cells import CELLS

SOURCE = Path(__file__).parents[2] / "src" / "logistics_batch"
OPERATORS_WORDS = re.compile(r"--\w|“|`|\bheld (?:list|show|decide)\b|\bsettle\b|\bledger\b|\bdecide “")
PROGRAMMERS_WORDS = re.compile(
    r"\b(None|NULL|null|NaN|HTTP|JSON|[Ee]xception|[Tt]raceback|[Rr]egex|[Pp]arse[rd]?|[Ss]trings?|[Ii]nteger|[Bb]oolean|"
    r"dict|tuple|stderr|schema)\b"
)
WHOLE_FILES = {(rule_of(code), shown(each.reason), shown(each.remedy)) for code, each in REFUSALS.items()}
END_OF_A_SENTENCE = (".", "?", CHANGING)  # what is filled in at the end brings its own


@cache
def for_clerks() -> list[Line]:
    *rows_for_clerks, _, _ = parts()
    return list(dict.fromkeys(line[:3] for rows in rows_for_clerks for line in rows))


def test_the_page_is_the_program_s_own() -> None:
    assert PAGE.read_text("utf-8") == written(), "run: python tests/messages/page.py"


def test_the_page_of_states_and_reasons_is_the_program_s_own() -> None:
    assert documents_page.PAGE.read_text("utf-8") == documents_page.written(), (
        "run: python tests/messages/documents_page.py"
    )


def test_each_message_is_for_a_clerk() -> None:
    for rule, reason, fix in for_clerks():
        assert reason.endswith(END_OF_A_SENTENCE), (rule, reason)
        assert reason[0].isupper() or reason[0] in '"…', (rule, reason)
        assert not PROGRAMMERS_WORDS.search((reason + fix).replace("a JSON file", "")), (rule, reason, fix)
        assert not fix or fix.endswith(END_OF_A_SENTENCE), (rule, fix)


def test_what_a_run_says_is_a_sentence_and_why_a_file_is_left_follows_its_name() -> None:
    *_, of_runs, why_left = parts()
    for rule, reason, fix in of_runs:
        assert reason.endswith(END_OF_A_SENTENCE), (rule, reason)
        assert not fix or fix.endswith(END_OF_A_SENTENCE), (rule, fix)
    for rule, reason, fix in why_left:
        assert not fix, rule
        assert not reason.endswith("."), (rule, reason)


def test_no_row_is_told_what_only_an_operator_can_do() -> None:
    for line in for_clerks():
        _, reason, fix = line
        if fix and line not in WHOLE_FILES:
            assert not OPERATORS_WORDS.search(fix.replace("the operator decides “reopen”", "")), line
            assert not re.search(r"\brun `", reason), "a reason is no place for a step"


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
    assert of_rows | {str(each) for each in Damage} <= {rule.rpartition("|")[2] for rule, *_ in for_clerks()}


def test_every_code_of_the_program_is_in_the_catalogue() -> None:
    assert {code for code in _codes_in_source() if code not in CATALOGUE} == set()


def _codes_in_source() -> Iterator[str]:
    """Codes that are written out where something is said: Issue("…"), Issue.of("…"), FileHeld("…")."""
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            match node:
                case ast.Call(
                    func=ast.Name(id="Issue" | "FileHeld") | ast.Attribute(value=ast.Name(), attr="of"),
                    args=[ast.Constant(value=str(code)), *_],
                    keywords=given,
                ) if code and all(each.arg != "rule" for each in given):
                    yield code
