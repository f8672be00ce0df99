"""The forms a published value can take, and the check of an object against a table of fields."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from typing import Any

MISSING = "Missing required parameters."


class Refused(Exception):
    """The service says no: HTTP status and the message of the FAIL envelope (API §7)."""

    def __init__(self, message: str, *, status: int = 400) -> None:
        super().__init__(message)
        self.message = message
        self.status = status


@dataclass(frozen=True)
class Form:
    """One form of a value: what is wanted, in words, the test for it, and the same as JSON Schema for the API page."""

    wanted: str
    accepts: Callable[[object], bool]
    schema: Mapping[str, Any] = field(default_factory=dict)


Fields = Mapping[str, Form]


def one_of(*words: str) -> Form:
    """A string out of a closed list."""
    return Form("one of " + ", ".join(words), lambda value: value in words, {"enum": list(words)})


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value <= 1_000_000_000


def _decimal(value: object) -> Decimal | None:
    if not isinstance(value, str) or not re.fullmatch(r"-?\d+(\.\d+)?", value, re.ASCII):
        return None
    try:
        return Decimal(value)
    except InvalidOperation:
        return None


def _matches(pattern: str, value: object) -> bool:
    return isinstance(value, str) and re.fullmatch(pattern, value, re.ASCII) is not None


def _is_amount(value: object) -> bool:
    number = _decimal(value)
    return number is not None and number >= 0


def _is_quantity(value: object) -> bool:
    number = _decimal(value)
    return number is not None and number > 0


def _is_date(value: object) -> bool:
    if not isinstance(value, str) or not _matches(r"\d{4}-\d{2}-\d{2}", value):
        return False
    try:
        date.fromisoformat(value)
    except ValueError:
        return False
    return True


def _is_date_time(value: object) -> bool:
    if not isinstance(value, str) or "T" not in value:
        return False
    try:
        datetime.fromisoformat(value)
    except ValueError:
        return False
    return True


def _is_phone(value: object) -> bool:
    return _matches(r"\+?\d[\d -]{5,17}", value)


TEXT = Form("a string", lambda value: isinstance(value, str), {"type": "string"})
FLAG = Form(
    "'true' or 'false' as a string",
    lambda value: value in ("true", "false") and isinstance(value, str),
    {"enum": ["true", "false"]},
)
BOOLEAN = Form("true or false", lambda value: isinstance(value, bool), {"type": "boolean"})
NUMBER = Form("a number above 0", _is_number, {"type": "number", "exclusiveMinimum": 0, "maximum": 1_000_000_000})
AWB = Form(
    "4 to 24 letters, digits and dashes",
    lambda value: _matches(r"[A-Za-z0-9-]{4,24}", value),
    {"type": "string", "pattern": "^[A-Za-z0-9-]{4,24}$"},
)
COUNT = Form(
    "a whole number from 0 to 999",
    lambda value: type(value) is int and 0 <= value <= 999,
    {"type": "integer", "minimum": 0, "maximum": 999},
)
AMOUNT = Form(
    "a decimal number as a string",
    _is_amount,
    {"type": "string", "pattern": r"^([0-9]+(\.[0-9]+)?|-0+(\.0+)?)$"},
)
QUANTITY = Form(
    "a decimal number above 0 as a string",
    _is_quantity,
    {"type": "string", "pattern": r"^(0*[1-9][0-9]*(\.[0-9]+)?|0+\.0*[1-9][0-9]*)$"},
)
COORDINATE = Form(
    "a decimal number as a string",
    lambda value: _decimal(value) is not None,
    {"type": "string", "pattern": r"^-?[0-9]+(\.[0-9]+)?$"},
)
DATE = Form("a date of the form YYYY-MM-DD", _is_date, {"type": "string", "format": "date"})
DATE_TIME = Form("an ISO 8601 date-time", _is_date_time, {"type": "string", "format": "date-time"})
PHONE = Form("a phone number as a string", _is_phone, {"type": "string", "pattern": r"^\+?[0-9][0-9 -]{5,17}$"})
LIST = Form(
    "an array of objects",
    lambda value: isinstance(value, list) and all(isinstance(one, dict) for one in value),
    {"type": "array", "items": {"type": "object"}},
)
OBJECT = Form("an object", lambda value: isinstance(value, dict), {"type": "object"})
BY_ID = Form(
    "an object keyed by item id",
    lambda value: isinstance(value, dict) and all(key and isinstance(one, dict) for key, one in value.items()),
    {"type": "object", "propertyNames": {"minLength": 1}, "additionalProperties": {"type": "object"}},
)


def check_fields(body: Mapping[str, object], fields: Fields, *, where: str = "") -> None:
    """Refuse a key that the document does not know and a value that is not of its published form."""
    for name, value in body.items():
        if name not in fields:
            raise Refused(f"Unknown parameter: {where}{name}")
        if not fields[name].accepts(value):
            raise Refused(f"Malformed value of {where}{name}: {fields[name].wanted} is expected")


def has(body: Mapping[str, object], name: str) -> bool:
    """Whether a required value is there and not blank."""
    value = body.get(name)
    return bool(value.strip()) if isinstance(value, str) else value is not None


def require(body: Mapping[str, object], *names: str) -> None:
    """Refuse a body in which one of `names` is missing or blank."""
    if not all(has(body, name) for name in names):
        raise Refused(MISSING)
