"""The page of all messages is the program's own, whole, and in words for the people who read answers."""

import ast
import re
from collections.abc import Iterator
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
*FOR_CLERKS, OF_RUNS, WHY_LEFT = parts()
LINES: list[Line] = list(dict.fromkeys(line[:3] for rows in FOR_CLERKS for line in rows))
OPERATORS_WORDS = re.compile(r"--\w|“|`|\bheld (?:list|show|decide)\b|\bsettle\b|\bledger\b|\bdecide “")
PROGRAMMERS_WORDS = re.compile(
    r"\b(None|NULL|null|NaN|HTTP|JSON|[Ee]xception|[Tt]raceback|[Rr]egex|[Pp]arse[rd]?|[Ss]trings?|[Ii]nteger|[Bb]oolean|"
    r"dict|tuple|stderr|schema)\b"
)
WHOLE_FILES = {(rule_of(code), shown(each.reason), shown(each.remedy)) for code, each in REFUSALS.items()}
END_OF_A_SENTENCE = (".", "?", CHANGING)  # what is filled in at the end brings its own


def test_the_page_is_the_program_s_own() -> None:
    assert PAGE.read_text("utf-8") == written(), "run: python tests/messages/page.py"


def test_the_page_of_states_and_reasons_is_the_program_s_own() -> None:
    assert documents_page.PAGE.read_text("utf-8") == documents_page.written(), (
        "run: python tests/messages/documents_page.py"
    )


@pytest.mark.parametrize(("rule", "reason", "fix"), LINES)
def test_each_message_is_for_a_clerk(rule: str, reason: str, fix: str) -> None:
    assert reason.endswith(END_OF_A_SENTENCE), reason
    assert reason[0].isupper() or reason[0] in '"…', reason
    assert not PROGRAMMERS_WORDS.search((reason + fix).replace("a JSON file", ""))
    assert not fix or fix.endswith(END_OF_A_SENTENCE)


@pytest.mark.parametrize(("rule", "reason", "fix"), OF_RUNS)
def test_what_a_run_says_is_a_sentence(rule: str, reason: str, fix: str) -> None:
    assert reason.endswith(END_OF_A_SENTENCE), reason
    assert not fix or fix.endswith(END_OF_A_SENTENCE)


@pytest.mark.parametrize(("rule", "reason", "fix"), WHY_LEFT)
def test_why_a_file_is_left_follows_its_name(rule: str, reason: str, fix: str) -> None:
    assert not fix
    assert not reason.endswith(".")


@pytest.mark.parametrize(("rule", "reason", "fix"), [line for line in LINES if line[2] and line not in WHOLE_FILES])
def test_no_row_is_told_what_only_an_operator_can_do(rule: str, reason: str, fix: str) -> None:
    assert not OPERATORS_WORDS.search(fix.replace("the operator decides “reopen”", ""))
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
    assert of_rows | {str(each) for each in Damage} <= {rule.rpartition("|")[2] for rule, *_ in LINES}


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
