"""The forms that a published value can take, and what the service says of a body that does not meet them (API §7)."""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic_core import PydanticCustomError
from starlette.exceptions import HTTPException

MISSING = "Missing required parameters."
MALFORMED = "Malformed data: the body is not a JSON object"
_RULE = "rule"
# Parts of a place that pydantic adds and a body does not have.
_NO_NAMES = frozenset({"orders", "shipment", "str", "list[str]", "[key]"})

Schema = dict[str, Any]


class Refused(HTTPException):
    """The service says no: HTTP status and the message of the FAIL envelope (API §7)."""

    def __init__(self, message: str, *, status: int = 400) -> None:
        super().__init__(status, message)
        self.message = message


def read_by(kind: type[date], wanted: str, pattern: str) -> Callable[[str], str]:
    """A validator of texts of this pattern that are such a date."""

    def checked(text: str) -> str:
        try:
            kind.fromisoformat(re.fullmatch(pattern, text, re.ASCII)[0])  # type: ignore[index]
        except (TypeError, ValueError):
            raise ValueError(f"{wanted} is expected") from None
        return text

    return checked


# What Python strips and the patterns of a schema do not call space stands beside `\s`.
NOT_BLANK = r"[^\s\x1c-\x1f\x85]"
Filled = Annotated[str, Field(pattern=NOT_BLANK)]  # is required
Flag = Literal["true", "false"]
Number = Annotated[float, Field(gt=0, le=1_000_000_000)]
Count = Annotated[int, Field(ge=0, le=999)]
AwbNumber = Annotated[str, Field(pattern=r"^[A-Za-z0-9-]{4,24}$")]
Amount = Annotated[str, Field(pattern=r"^([0-9]+(\.[0-9]+)?|-0+(\.0+)?)$")]
Quantity = Annotated[str, Field(pattern=r"^(0*[1-9][0-9]*(\.[0-9]+)?|0+\.0*[1-9][0-9]*)$")]
Coordinate = Annotated[str, Field(pattern=r"^-?[0-9]+(\.[0-9]+)?$")]
Phone = Annotated[str, Field(pattern=r"^\+?[0-9][0-9 -]{5,17}$")]
check_day = read_by(date, "a date of the form YYYY-MM-DD", r"\d{4}-\d\d-\d\d")
Day = Annotated[str, AfterValidator(check_day), Field(json_schema_extra={"format": "date"})]
Moment = Annotated[
    str,
    AfterValidator(read_by(datetime, "an ISO 8601 date-time", r".*T.*")),
    Field(json_schema_extra={"format": "date-time"}),
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

    model_config = ConfigDict(strict=True, extra="forbid", json_schema_extra=describe)
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
    place = [part for part in wrong["loc"] if part not in _NO_NAMES]
    if kind == "extra_forbidden":
        return f"Unknown parameter: {_named(place)}"
    return f"Malformed value of {_named(place)}: {wrong['msg']}" if place else MALFORMED


def first_of(error: ValidationError) -> str:
    """The first thing that is wrong: where, what is wanted there, and what was given."""
    wrong = error.errors()[0]
    return f"{_named(wrong['loc'])}: {wrong['msg']}; not {wrong['input']!r}"


def _named(place: Sequence[str | int]) -> str:
    """``sku_lines[0].qty``."""
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in place).removeprefix(".")
