"""Faults and switches: how the sandbox behaves now, and how that is changed."""

from typing import Any

from logistics_batch.sandbox.pages_html import Html, Node, card, said, table, tag
from logistics_batch.sandbox.pages_layout import BEHAVIOUR, badge, page
from logistics_batch.sandbox.switches import Switches
from logistics_batch.sandbox.switches_table import meanings


def behaviour_page(*, rules: list[dict[str, Any]], switches: dict[str, Any]) -> bytes:
    """The rules and switches in force."""
    return page(
        "Faults & switches",
        card("Fault rules", tag("p", _HOW_FAULTS, class_="note"), _rules(rules)),
        card("Switches", tag("p", _HOW_SWITCHES, class_="note"), _switches(switches)),
        current=BEHAVIOUR,
    )


_HOW_FAULTS = "Which requests go wrong. Set with --faults FILE at the start, or with PUT /_sandbox/faults and the key."
_HOW_SWITCHES = "What the API document leaves open. Set with --switch NAME=VALUE, or with PUT /_sandbox/switches."


def _rules(rules: list[dict[str, Any]]) -> Html:
    heads = ("Rule", "Kind", "When", "Seen", "Struck")
    return table(
        heads, (_rule_row(*one) for one in enumerate(rules, start=1)), empty="No faults: all requests are served."
    )


def _rule_row(number: int, rule: dict[str, Any]) -> list[Node]:
    counted = ("kind", "seen", "fired")
    when = ", ".join(f"{name}: {value}" for name, value in rule.items() if name not in counted)
    return [number, tag("code", said(rule["kind"])), said(when or "every request"), rule["seen"], rule["fired"]]


def _switches(switches: dict[str, Any]) -> Html:
    defaults, says = Switches().as_dict(), meanings()
    rows: list[list[Node]] = [
        [
            tag("code", name),
            tag("span", tag("code", said(_shown(value))), " ", badge("changed") if value != defaults[name] else None),
            tag("code", said(_shown(defaults[name]))),
            says[name].replace("`", ""),
        ]
        for name, value in switches.items()
    ]
    return table(("Switch", "Now", "Default", "Meaning"), rows, empty="")


def _shown(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value) or "(none)"
