"""The page about faults: its tables are those of the code, and every plan in it can be loaded."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from docs.pages import ROOT, Block, blocks

from logistics_batch.sandbox.endpoints import ENDPOINT_NAMES
from logistics_batch.sandbox.fault_kinds import KINDS
from logistics_batch.sandbox.fault_page import example, renewed, tables
from logistics_batch.sandbox.fault_values import CHOOSING
from logistics_batch.sandbox.faults import make_plan, read_plan

PAGE = ROOT / "docs" / "sandbox-faults.md"
PLANS = [block for block in blocks(PAGE) if block.language == "yaml"]


def test_the_tables_are_those_of_the_code() -> None:
    assert renewed(PAGE.read_text(encoding="utf-8")) == PAGE.read_text(encoding="utf-8")


def test_a_page_without_its_marks_is_not_written() -> None:
    with pytest.raises(ValueError, match="lost the marks"):
        renewed("# Faults\n")


def test_the_page_is_renewed_on_demand(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(PAGE.read_text(encoding="utf-8").replace("| `drop_before` |", "| `drop_befroe` |"))
    command = [sys.executable, "-m", "logistics_batch.sandbox.fault_page", str(page)]
    found = subprocess.run(command, capture_output=True, text=True)
    assert (found.returncode, found.stderr) == (1, f"{page} is out of date; write it anew with --write\n")
    assert subprocess.run([*command, "--write"]).returncode == 0
    assert page.read_text(encoding="utf-8") == PAGE.read_text(encoding="utf-8")


@pytest.mark.parametrize("kind", KINDS)
def test_the_example_of_a_kind_can_be_loaded(kind: str) -> None:
    (rule,) = read_plan(f"- {example(kind)}").rules
    assert rule.values["kind"] == kind
    assert set(rule.given) - {"kind", "phase", *CHOOSING, *KINDS[kind].options} == set()
    assert f"`{example(kind)}`" in tables()


@pytest.mark.parametrize("kind", KINDS)
def test_the_defaults_of_a_kind_are_values_that_a_rule_may_have(kind: str) -> None:
    given = yaml.safe_load(yaml.safe_dump(dict(KINDS[kind].options)))
    for phase in KINDS[kind].phases:
        side = {"phase": phase} if len(KINDS[kind].phases) > 1 else {}
        plain, spelt = (make_plan([{"kind": kind, **side, **more}]) for more in ({}, given))
        endpoint = "label.download" if kind.startswith("label_") else "order.create"
        faults = [
            [plan.faults_for(endpoint, "") for _ in range(2)][1][0] for plan in (plain, spelt)
        ]  # a limit: the 2nd
        assert faults[0].before == faults[1].before == (phase == "before")
        assert {**faults[0].options, "wait_seconds": 0} == {**faults[1].options, "wait_seconds": 0}


@pytest.mark.parametrize("plan", PLANS, ids=lambda plan: f"line {plan.line}")
def test_a_plan_of_the_page_can_be_loaded(plan: Block) -> None:
    assert read_plan(plan.text).rules


def test_the_page_names_every_endpoint_and_every_event_of_a_fault() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert len(PLANS) >= 6
    for name in ENDPOINT_NAMES:
        assert f"`{name}`" in text
    named = set(re.findall(r"^\| (`[a-z`, ]+`) \|", text.split("## What the journal says")[1].split("<!--")[0], re.M))
    assert named == {"`received`", "`fault`", "`committed`", "`answered`", "`dropped`", "`late`, `unheard`"}
