"""A fault plan: which requests go wrong, and how.

A plan is a list of rules (YAML: the list itself, or under ``faults``)::

    - {kind: drop_after, endpoint: order.create, requests: [3, 4]}
    - {kind: delay, seconds: 2, phase: after, endpoint: "asn.*", every: 5}
    - {kind: status_429, retry_after: 1, probability: 0.1, seed: 7}
    - {kind: status_401, from: 137, api_key: 9f3c}

``kinds.KINDS`` has the kinds and their own keys. The others choose: ``endpoint`` is a pattern or a list of them
(default: every endpoint), ``reference`` a reference, AWB or invoice number, or the id in the path, ``api_key`` the end
of a key. A rule counts the requests that match all three, from 1; ``requests``, ``every``, ``from``/``to`` and
``probability`` (with ``seed``) say which of them go wrong, ``times`` how often at most. Rules apply in their order.
"""

import difflib
import random
import re
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from types import MappingProxyType
from typing import Annotated, Any, Literal

import yaml
from pydantic import BeforeValidator, ConfigDict, Field, ValidationError, create_model

from logistics_batch.sandbox.contract.forms import first_of
from logistics_batch.sandbox.endpoints import ENDPOINT_NAMES, LABEL_DOWNLOAD
from logistics_batch.sandbox.faults.kinds import BEFORE, KINDS, LABEL_KINDS

LARGEST_BODY_BYTES = 100_000_000
LONGEST_SECONDS = 86_400.0
SHORTEST_KEY_END = 4

# The keys that choose requests; every kind takes them.
CHOOSING: Mapping[str, str] = MappingProxyType(
    {
        "endpoint": "a pattern such as `order.*`, or a list of them; every endpoint without it",
        "reference": "a reference, AWB or invoice number as the request names it, or the id in its path; or a list",
        "api_key": "the end of an API key, at least 4 characters: only requests with this key",
        "requests": "a number or a list: the first matching request is 1",
        "every": "every so many matching requests",
        "from": "from this matching request on",
        "to": "up to this one",
        "probability": "the share of the matching requests, 0 to 1, drawn by `seed`",
        "seed": "a whole number; the same seed spoils the same requests (0 without it)",
        "times": "at most so many faults",
    }
)

_SECONDS_OR_NONE = r"none|[0-9]{1,5}(\.[0-9]+)?"
_Positive = Annotated[int, Field(ge=1)]
_Bytes = Annotated[int, Field(ge=1, le=LARGEST_BODY_BYTES)]
_AsText = BeforeValidator(lambda value: str(value) if type(value) in (int, float) else value)
_Header = Annotated[str, Field(pattern="^[ -~]*$"), _AsText]
_Listed = BeforeValidator(lambda value: value if isinstance(value, list) else [value])
_Texts = Annotated[list[Annotated[str, Field(min_length=1), _AsText]], _Listed]
_FORMS: Mapping[str, Any] = {
    "kind": str,
    "phase": Literal["before", "after"],
    "endpoint": _Texts,
    "reference": _Texts,
    "api_key": Annotated[str, Field(min_length=SHORTEST_KEY_END), _AsText],
    "requests": Annotated[list[_Positive], _Listed],
    **dict.fromkeys(("every", "from", "to", "times", "burst"), _Positive),
    "seed": Annotated[int, Field(ge=-(2**63), le=2**63)],
    "probability": Annotated[float, Field(ge=0, le=1)],
    "seconds": Annotated[float, Field(ge=0, le=LONGEST_SECONDS)],
    "message": Annotated[str, _AsText],
    "retry_after": _Header,
    "retry_after_as": Literal["seconds", "date"],
    "page": bool,
    "status": Literal[200, 400, 502],
    "location": _Header,
    "answer": Literal["drop", "error_500"],
    "part": Literal["body", "head"],
    "share": Annotated[float, Field(ge=0, le=0.999)],
    "bytes_per_second": Annotated[float, Field(ge=0.1, le=1_000_000)],
    **dict.fromkeys(("bytes", "digits", "levels"), _Bytes),
    "as": Annotated[
        Literal["numbers", "array", "null"], BeforeValidator(lambda value: "null" if value is None else value)
    ],
    "per_second": Annotated[float, Field(ge=0.0001, le=100_000)],
}
_FIELDS: dict[str, Any] = {name: (form, None) for name, form in _FORMS.items()}
_Values: Any = create_model("_Values", __config__=ConfigDict(strict=True), **_FIELDS)


@dataclass(frozen=True)
class Fault:
    """What happens to one request, before or after its effect.

    options: those of its kind, all of them. draw: what chance is drawn from, another one for each request.
    """

    kind: str
    before: bool
    options: Mapping[str, Any]
    draw: str = ""


class RateLimit:
    """One limit for each client; kept as the time at which all that was let through is paid off.

    In any `t` seconds a client gets at most ``burst + per_second * t`` calls through.
    """

    def __init__(self, per_second: float, burst: int, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._interval = 1 / per_second
        self._credit = self._interval * (burst - 1)
        self._clock = clock
        self._paid_at: dict[str, float] = {}

    def wait_seconds(self, client: str) -> float:
        """0 and the call counts, or the seconds until there is room for it, and it does not count."""
        now = self._clock()
        paid_at = max(self._paid_at.get(client, now), now)
        wait = paid_at - now - self._credit
        if wait > 0:
            return wait
        self._paid_at[client] = paid_at + self._interval
        return 0.0


@dataclass
class FaultRule:
    """One line of the plan, and how many requests it has seen and spoiled."""

    given: dict[str, Any]
    values: dict[str, Any]
    number: int
    seen: int = 0
    fired: int = 0

    def __post_init__(self) -> None:
        name, kind = self.values["kind"], KINDS[self.values["kind"]]
        self._options = {option: self.values.get(option, default) for option, default in kind.options.items()}
        self._before = self.values.get("phase", kind.phases[0]) == BEFORE
        self._limit = RateLimit(self._options["per_second"], self._options["burst"]) if name == "rate_limit" else None

    def strike(self, endpoint: str, reference: str, api_key: str) -> Fault | None:
        """The fault of this request; counts the request when it matches."""
        if not self._matches(endpoint, reference, api_key):
            return None
        self.seen += 1
        if self.fired >= self.values.get("times", self.seen) or not self._chosen():
            return None
        wait = self._limit.wait_seconds(api_key) if self._limit else None
        if wait == 0:
            return None
        self.fired += 1
        return Fault(self.values["kind"], self._before, self._options | {"wait_seconds": wait}, self._draw)

    def _matches(self, endpoint: str, reference: str, api_key: str) -> bool:
        values = self.values
        if "endpoint" in values and not any(fnmatchcase(endpoint, pattern) for pattern in values["endpoint"]):
            return False
        if "reference" in values and reference not in values["reference"]:
            return False
        return "api_key" not in values or api_key.endswith(values["api_key"])

    def _chosen(self) -> bool:
        values, seen = self.values, self.seen
        if not values.get("from", 1) <= seen <= values.get("to", seen):
            return False
        if "requests" in values and seen not in values["requests"]:
            return False
        if "every" in values and seen % values["every"]:
            return False
        return "probability" not in values or random.Random(self._draw).random() < values["probability"]  # noqa: S311

    @property
    def _draw(self) -> str:
        return f"{self.values.get('seed', 0)}:{self.number}:{self.seen}"


class FaultPlan:
    """The rules in force."""

    def __init__(self, rules: Iterable[FaultRule] = ()) -> None:
        self.rules = tuple(rules)
        self.asks_for_references = any("reference" in rule.values for rule in self.rules)

    def faults_for(self, endpoint: str, reference: str, *, api_key: str = "") -> list[Fault]:
        """The faults of this request, in the order of their rules; every matching rule counts it."""
        struck = (rule.strike(endpoint, reference, api_key) for rule in self.rules)
        return [fault for fault in struck if fault is not None]

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
    """A plan from a list of rules, or an object with such a list under ``faults``; ValueError says what is wrong."""
    rules = content
    if isinstance(content, Mapping):
        unknown = [str(name) for name in content if name != "faults"]
        if unknown:
            raise ValueError(f"a fault plan is a list of rules, or an object that holds it as faults; not {unknown[0]}")
        rules = content.get("faults")
    if rules is None:
        return FaultPlan()
    if not isinstance(rules, list):
        raise ValueError("a fault plan is a list of rules")
    return FaultPlan([_rule(number, given) for number, given in enumerate(rules, start=1)])


def _rule(number: int, given: object) -> FaultRule:
    try:
        if not isinstance(given, dict):
            raise ValueError("a rule is an object such as {kind: drop_after, requests: [3]}")
        values = _values(given)
        _check_together(values)
    except ValueError as error:
        raise ValueError(f"fault rule {number}: {error}") from error
    return FaultRule(given=given, values=values, number=number)


def _values(given: dict[Any, Any]) -> dict[str, Any]:
    kind = given.get("kind")
    if not isinstance(kind, str) or kind not in KINDS:
        raise ValueError(f"kind must be one of {', '.join(KINDS)}" + _nearest(kind, KINDS))
    known = ("kind", *KINDS[kind].keys(), *CHOOSING)
    for name in given:
        if name not in known:
            near = _nearest(name, known)
            raise ValueError(f"unknown key {str(name)!r} of {kind}{near}; it takes {', '.join(known)}")
    try:
        return _Values.model_validate(given).model_dump(exclude_unset=True)
    except ValidationError as error:
        raise ValueError(first_of(error)) from None


def _check_together(values: dict[str, Any]) -> None:
    kind = values["kind"]
    for pattern in values.get("endpoint", ()):
        found = [name for name in ENDPOINT_NAMES if fnmatchcase(name, pattern)]
        if not found:
            near = _nearest(pattern, ENDPOINT_NAMES)
            raise ValueError(f"no endpoint is called {pattern!r}{near}; there are {', '.join(ENDPOINT_NAMES)}")
        if kind in LABEL_KINDS and found != [LABEL_DOWNLOAD]:
            raise ValueError(f"{kind} is for {LABEL_DOWNLOAD} only, not for {pattern!r}")
    if kind in LABEL_KINDS:
        values.setdefault("endpoint", (LABEL_DOWNLOAD,))
    if values.get("to", values.get("from", 1)) < values.get("from", 1):
        raise ValueError("to comes before from")
    if values.get("retry_after_as") == "date" and not re.fullmatch(_SECONDS_OR_NONE, values.get("retry_after", "none")):
        raise ValueError(f"retry_after: seconds are expected where a date is told; not {values['retry_after']!r}")


def _nearest(given: object, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(str(given), list(known), n=1)
    return f"; did you mean {near[0]}?" if near else ""
