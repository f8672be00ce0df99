"""The page about faults: its tables are those of the code, and every plan in it can be loaded."""

import re
from typing import get_args

import pytest
import yaml
from docs.pages import Block, blocks
from sandbox.reference_pages import FAULTS_PAGE, SANDBOX_PAGE, fault_tables, meanings, renewed

from logistics_batch.sandbox.endpoints import ENDPOINT_NAMES
from logistics_batch.sandbox.faults.kinds import KINDS
from logistics_batch.sandbox.faults.plan import make_plan, read_plan
from logistics_batch.sandbox.switches import Switches

PAGE = FAULTS_PAGE
PLANS = [block for block in blocks(PAGE) if block.language == "yaml"]


def test_the_tables_are_those_of_the_code() -> None:
    for page in (FAULTS_PAGE, SANDBOX_PAGE):
        assert renewed(page) == page.read_text(encoding="utf-8"), "renew: python tests/sandbox/reference_pages.py"


def test_every_switch_is_explained() -> None:
    assert list(meanings()) == list(Switches().model_dump())
    assert all(meanings().values())
    for name, field in Switches.model_fields.items():
        assert [choice for choice in get_args(field.annotation) if f"{choice}" not in meanings()[name]] == []


def test_every_kind_is_listed_with_its_own_keys() -> None:
    lines = fault_tables().replace("\n  ", " ").splitlines()
    for name, kind in KINDS.items():
        (line,) = (each for each in lines if f"`{name}`" in each.split(": ")[0])
        assert [key for key in kind.options if f"`{key}: " not in line] == []


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
    assert named == {"`received`", "`fault`", "`committed`", "`answered`", "`dropped`", "`lost`"}
