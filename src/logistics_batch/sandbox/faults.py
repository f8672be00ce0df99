"""A fault plan: which requests go wrong, and how.

A plan is a list of rules (YAML: the list itself, or under ``faults``)::

    - {kind: drop_after, endpoint: order.create, requests: [3, 4]}
    - {kind: delay, seconds: 2, phase: after, endpoint: "asn.*", every: 5}
    - {kind: status_429, retry_after: 1, probability: 0.1, seed: 7}
    - {kind: status_401, from: 137}

``endpoint`` is a pattern or a list of them (default: every endpoint), ``reference`` a reference or invoice number,
or the id in the path. A rule counts the requests that match both, from 1; ``requests``, ``every``, ``from``/``to`` and
``probability`` (with ``seed``) say which of them go wrong, ``times`` how often at most. Rules apply in their order.
"""

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

import yaml

KINDS = (
    *("drop_before", "drop_after", "delay", "error_500_before", "error_500_after"),
    *("status_400", "status_401", "status_429", "html_200"),
)
_BEFORE_UNLESS_SAID = ("delay", "html_200")


@dataclass(frozen=True)
class Fault:
    """What happens to one request: before or after its effect."""

    kind: str
    before: bool
    seconds: float = 0.0
    retry_after: str = ""
    message: str = ""


def _words(value: object) -> tuple[str, ...]:
    return tuple(str(one) for one in value) if isinstance(value, list) else (str(value),)


def _numbers(value: object) -> frozenset[int]:
    return frozenset(int(str(one)) for one in (value if isinstance(value, list) else [value]))


_READ: dict[str, Callable[[Any], Any]] = {
    **dict.fromkeys(("kind", "phase", "retry_after", "message"), str),
    **dict.fromkeys(("endpoint", "reference"), _words),
    **dict.fromkeys(("seconds", "probability"), float),
    **dict.fromkeys(("every", "from", "to", "seed", "times"), int),
    "requests": _numbers,
}


@dataclass
class Rule:
    """One line of the plan, and how many requests it has seen and spoiled."""

    given: dict[str, Any]
    values: dict[str, Any]
    number: int
    seen: int = 0
    fired: int = 0
    fault: Fault = field(init=False)

    def __post_init__(self) -> None:
        kind = self.values["kind"]
        before = (
            self.values.get("phase", "before") == "before"
            if kind in _BEFORE_UNLESS_SAID
            else not kind.endswith("_after")
        )
        self.fault = Fault(
            kind=kind,
            before=before,
            seconds=self.values.get("seconds", 0.0),
            retry_after=self.values.get("retry_after", "1"),
            message=self.values.get("message", "Missing required parameters."),
        )

    def strikes(self, endpoint: str, reference: str) -> bool:
        """Whether this request goes wrong; counts it when it matches."""
        if not any(fnmatchcase(endpoint, pattern) for pattern in self.values.get("endpoint", ("*",))):
            return False
        if "reference" in self.values and reference not in self.values["reference"]:
            return False
        self.seen += 1
        if self.fired >= self.values.get("times", self.seen) or not self._chosen():
            return False
        self.fired += 1
        return True

    def _chosen(self) -> bool:
        values, seen = self.values, self.seen
        if not values.get("from", 1) <= seen <= values.get("to", seen):
            return False
        if "requests" in values and seen not in values["requests"]:
            return False
        if "every" in values and seen % values["every"]:
            return False
        chance = random.Random(f"{values.get('seed', 0)}:{self.number}:{seen}").random()  # noqa: S311
        return "probability" not in values or chance < values["probability"]


class FaultPlan:
    """The rules in force."""

    def __init__(self, rules: list[Rule] | None = None) -> None:
        self.rules = rules or []

    def faults_for(self, endpoint: str, reference: str) -> list[Fault]:
        """The faults of this request, in the order of their rules; every matching rule counts it."""
        return [rule.fault for rule in self.rules if rule.strikes(endpoint, reference)]

    def as_list(self) -> list[dict[str, Any]]:
        """The rules as given, with what they have seen and spoiled."""
        return [{**rule.given, "seen": rule.seen, "fired": rule.fired} for rule in self.rules]


def read_plan(text: str) -> FaultPlan:
    """A plan from YAML text; ValueError says which rule is wrong."""
    try:
        content = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ValueError(f"the fault plan is not YAML: {error}") from error
    return make_plan(content)


def make_plan(content: object) -> FaultPlan:
    """A plan from a list of rules, or an object with such a list under ``faults``."""
    rules = content.get("faults") if isinstance(content, Mapping) else content
    if rules is None:
        return FaultPlan()
    if not isinstance(rules, list):
        raise ValueError("a fault plan is a list of rules")
    return FaultPlan([_rule(number, given) for number, given in enumerate(rules, start=1)])


def _rule(number: int, given: object) -> Rule:
    if not isinstance(given, dict) or given.get("kind") not in KINDS:
        raise ValueError(f"fault rule {number}: kind must be one of {', '.join(KINDS)}")
    unknown = sorted(set(map(str, given)) - set(_READ))
    if unknown:
        raise ValueError(f"fault rule {number}: unknown key {unknown[0]!r}; there are {', '.join(_READ)}")
    try:
        values = {name: _READ[name](value) for name, value in given.items()}
    except (TypeError, ValueError) as error:
        raise ValueError(f"fault rule {number}: {error}") from error
    if values.get("every", 1) < 1 or values.get("phase", "before") not in ("before", "after"):
        raise ValueError(f"fault rule {number}: every is at least 1, phase is before or after")
    return Rule(given=given, values=values, number=number)
