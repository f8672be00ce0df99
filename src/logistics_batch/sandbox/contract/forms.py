"""The forms that a published value can take, and what the service says of a body that does not meet them (API §7)."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Annotated, Any, ClassVar

from pydantic import BaseModel, ConfigDict, GetCoreSchemaHandler, GetJsonSchemaHandler, ValidationError, model_validator
from pydantic_core import PydanticCustomError, core_schema
from starlette.exceptions import HTTPException

MISSING = "Missing required parameters."
MALFORMED = "Malformed data: the body is not a JSON object"
UNION_TAGS = frozenset({"text", "object", "list", "orders", "shipment"})
_RULE, _FORM = "rule", "form"
_ARRAY, _BY_ID = "an array of objects", "an object keyed by item id"
_CONTAINERS = {"list_type": _ARRAY, "dict_type": _BY_ID, "string_too_short": _BY_ID}

Schema = dict[str, Any]


class Refused(HTTPException):
    """The service says no: HTTP status and the message of the FAIL envelope (API §7)."""

    def __init__(self, message: str, *, status: int = 400) -> None:
        super().__init__(status, message)
        self.message = message


@dataclass(frozen=True, eq=False)
class ContractForm:
    """One form of a value, beside its type: what is wanted, in words, the test for it, and the same as JSON Schema."""

    wanted: str
    accepts: Callable[[Any], bool]
    schema: Schema

    def __get_pydantic_core_schema__(self, _source: Any, _handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        """The test, in pydantic's words."""
        return core_schema.no_info_plain_validator_function(self._checked)

    def __get_pydantic_json_schema__(self, _schema: Any, _handler: GetJsonSchemaHandler) -> Schema:
        """The schema as it stands here."""
        return dict(self.schema)

    def _checked(self, value: Any) -> Any:
        if not self.accepts(value):
            raise PydanticCustomError(_FORM, "{wanted}", {"wanted": self.wanted})
        return value


def text_like(wanted: str, pattern: str) -> ContractForm:
    """A string that the pattern describes as a whole."""
    compiled = re.compile(pattern, re.ASCII)
    schema = {"type": "string", "pattern": f"^{pattern}$"}
    return ContractForm(wanted, lambda value: isinstance(value, str) and compiled.fullmatch(value) is not None, schema)


def one_of(*words: str) -> ContractForm:
    """A string out of a closed list."""
    wanted = "one of " + ", ".join(filter(None, words))
    return ContractForm(wanted, lambda value: isinstance(value, str) and value in words, {"enum": list(words)})


def is_date(value: object) -> bool:
    """Whether a value is a date of the form YYYY-MM-DD."""
    return isinstance(value, str) and bool(re.fullmatch(r"\d{4}-\d\d-\d\d", value, re.ASCII)) and _reads(date, value)


def _reads(kind: type[date], text: str) -> bool:
    try:
        kind.fromisoformat(text)
    except ValueError:
        return False
    return True


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value <= 1_000_000_000


def _is_text(value: object) -> bool:
    return isinstance(value, str)


Text = Annotated[str, ContractForm("a string", _is_text, {"type": "string"})]
# What Python strips and the patterns of a schema do not call space stands beside `\s`.
NOT_BLANK = r"[^\s\x1c-\x1f\x85]"
Filled = Annotated[str, ContractForm("a string", _is_text, {"type": "string", "pattern": NOT_BLANK})]  # is required
Flag = Annotated[
    str,
    ContractForm(
        "'true' or 'false' as a string", lambda value: value in ("true", "false"), {"enum": ["true", "false"]}
    ),
]
Boolean = Annotated[bool, ContractForm("true or false", lambda value: isinstance(value, bool), {"type": "boolean"})]
Number = Annotated[
    float,
    ContractForm("a number above 0", _is_number, {"type": "number", "exclusiveMinimum": 0, "maximum": 1_000_000_000}),
]
Whole = Annotated[int, ContractForm("a number", lambda value: type(value) is int, {"type": "integer"})]
Count = Annotated[
    int,
    ContractForm(
        "a whole number from 0 to 999",
        lambda value: type(value) is int and 0 <= value <= 999,
        {"type": "integer", "minimum": 0, "maximum": 999},
    ),
]
AwbNumber = Annotated[str, text_like("4 to 24 letters, digits and dashes", "[A-Za-z0-9-]{4,24}")]
Amount = Annotated[str, text_like("a decimal number as a string", r"([0-9]+(\.[0-9]+)?|-0+(\.0+)?)")]
Quantity = Annotated[
    str, text_like("a decimal number above 0 as a string", r"(0*[1-9][0-9]*(\.[0-9]+)?|0+\.0*[1-9][0-9]*)")
]
Coordinate = Annotated[str, text_like("a decimal number as a string", r"-?[0-9]+(\.[0-9]+)?")]
Phone = Annotated[str, text_like("a phone number as a string", r"\+?[0-9][0-9 -]{5,17}")]
Day = Annotated[str, ContractForm("a date of the form YYYY-MM-DD", is_date, {"type": "string", "format": "date"})]
Moment = Annotated[
    str,
    ContractForm(
        "an ISO 8601 date-time",
        lambda value: isinstance(value, str) and "T" in value and _reads(datetime, value),
        {"type": "string", "format": "date-time"},
    ),
]
ABSENT: Any = None  # the default of what need not be sent


def rule(message: str) -> PydanticCustomError:
    """A refusal in these words."""
    return PydanticCustomError(_RULE, "{message}", {"message": message})


def has(body: Mapping[str, object], name: str) -> bool:
    """Whether a required value is there and not blank."""
    value = body.get(name)
    return bool(value.strip()) if isinstance(value, str) else value is not None


def describe(schema: Schema, model: type[BaseModel]) -> None:
    """Leave out of a schema what says nothing, and add the rules that hold between the fields of the model."""
    schema.pop("title", None)
    for inner in schema.get("properties", {}).values():
        inner.pop("title", None)
        inner.pop("default", None)
    schema.update(getattr(model, "rules", {}))


class BodyModel(BaseModel):
    """An object that knows no other fields than these; `missing` has the words for a field that is not there."""

    model_config = ConfigDict(extra="forbid", json_schema_extra=describe)
    missing: ClassVar[Mapping[str, str]] = {}
    rules: ClassVar[Schema] = {}

    @model_validator(mode="before")
    @classmethod
    def _is_complete(cls, given: Any) -> Any:
        if isinstance(given, dict):
            cls.check_presence(given)
            for name, field in cls.model_fields.items():
                if field.is_required() and not has(given, field.alias or name):
                    raise rule(cls.missing.get(name, MISSING))
        return given

    @classmethod
    def check_presence(cls, given: dict[str, Any]) -> None:
        """Nothing; for bodies in which one of several fields is required."""


def check(model: type[BaseModel], body: object) -> None:
    """Refuse a body that is not of this model."""
    try:
        model.model_validate(body)
    except ValidationError as error:
        raise Refused(refusal(error.errors())) from None


def refusal(errors: Sequence[Any]) -> str:
    """What the service says of a body with these errors: the first of them, but a missing value before all others."""
    wrong = next((error for error in errors if error["type"] == _RULE or error["type"] == "too_short"), errors[0])
    kind = wrong["type"]
    if kind == _RULE:
        return str(wrong["msg"])
    if kind in ("missing", "too_short"):
        return MISSING
    place = [part for part in wrong["loc"] if part not in UNION_TAGS]
    if kind == _FORM:
        return f"Malformed value of {_named(place)}: {wrong['msg']} is expected"
    if kind == "extra_forbidden":
        return f"Unknown parameter: {_named(place)}"
    if not place:
        return MALFORMED
    if kind == "string_too_short":
        place = place[:-2]  # a blank key
    elif kind not in _CONTAINERS:  # no object in an array or under a key
        place, kind = place[:-1], "list_type" if isinstance(place[-1], int) else "dict_type"
    return f"Malformed value of {_named(place)}: {_CONTAINERS[kind]} is expected"


def _named(place: Sequence[str | int]) -> str:
    """``sku_lines[0].qty``."""
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in place).removeprefix(".")
