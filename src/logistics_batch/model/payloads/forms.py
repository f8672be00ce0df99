"""The forms that the texts of the API take: dates, decimals, coordinates, 'true' and 'false'.

The API publishes most values as String, so these are texts and stay texts: a number is refused, not turned into one.
Each form has a stable error type and a pattern, by which columns are checked as well.

What all bodies have in common, and how one becomes the text that is sent.

What is wrong with a payload, as codes of the catalogue and values.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, GetCoreSchemaHandler, ValidationError
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from logistics_batch import messages


def _words(rule: str) -> str:
    """The words of a rule; names in braces are for pydantic to fill in."""
    return messages.CATALOGUE[f"{rule}.contract"].reason


@dataclass(frozen=True, slots=True)
class Form:
    """A text form: `Annotated[str, Form(...)]`.

    rule: the error type that pydantic reports, with its words in the catalogue as RULE.contract. pattern: what the
    whole text must match (Rust regex syntax). exists: a further test that no pattern can make (is 2026-02-30 a date?).
    """

    rule: str
    pattern: str
    exists: Callable[[str], bool] | None = None

    def __get_pydantic_core_schema__(self, source: type[Any], handler: GetCoreSchemaHandler) -> CoreSchema:
        text = core_schema.custom_error_schema(
            core_schema.str_schema(strict=True),
            custom_error_type="not_text",
            custom_error_message=_words("not_text"),
        )
        formed = core_schema.custom_error_schema(
            core_schema.str_schema(pattern=self.pattern),
            custom_error_type=self.rule,
            custom_error_message=_words(self.rule),
        )
        steps: list[CoreSchema] = [text, formed]
        if self.exists is not None:
            steps.append(core_schema.no_info_plain_validator_function(self._existing))
        return core_schema.chain_schema(steps)

    def _existing(self, text: str) -> str:
        if self.exists is not None and not self.exists(text):
            raise PydanticCustomError(self.rule, "{sentence}", {"sentence": _words(self.rule)})
        return text


@dataclass(frozen=True, slots=True)
class Choice:
    """One of a few words: `Annotated[Literal[...], Choice()]`; the error names them all."""

    rule: str = "choice"

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        words = handler(source)
        return core_schema.custom_error_schema(
            words,
            custom_error_type=self.rule,
            custom_error_message=_words(self.rule),
            custom_error_context={"words": ", ".join(words.get("expected", ()))},
        )


@dataclass(frozen=True, slots=True)
class Count:
    """A JSON number of at least `least`, whole unless `fractions` are allowed; never a text, never true or false."""

    least: int
    fractions: bool = False

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        whole: CoreSchema = core_schema.int_schema(strict=True, ge=self.least)  # no Python for each line of an order
        any_number = core_schema.no_info_plain_validator_function(self._check)
        return core_schema.custom_error_schema(
            core_schema.union_schema([whole, any_number], mode="left_to_right") if self.fractions else whole,
            custom_error_type="count",
            custom_error_message=_words("count"),
            custom_error_context={"kind": "number" if self.fractions else "whole number", "least": self.least},
        )

    def _check(self, value: object) -> int | float:
        if isinstance(value, bool) or not isinstance(value, int | float) or not self.least <= value < float("inf"):
            raise ValueError
        return int(value) if value == int(value) else value


def _is_moment(text: str) -> bool:
    """Whether the calendar and the clock have this date or date-time."""
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


_DATE = r"[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])"
_CLOCK = r"(?:[01][0-9]|2[0-3]):[0-5][0-9]"
_DECIMAL = r"[0-9]+(?:\.[0-9]+)?"

Text = Annotated[
    str, Form("text", r"^[^\x00-\x08\x0B\x0C\x0E-\x1F\x7F]*[^\s\x00-\x1F\x7F][^\x00-\x08\x0B\x0C\x0E-\x1F\x7F]*$")
]
Key = Annotated[str, Form("key_text", r"^[^\s\x00-\x1F\x7F](?:[^\x00-\x1F\x7F]*[^\s\x00-\x1F\x7F])?$")]
Phone = Annotated[str, Form("phone", r"^\+?[0-9][0-9 ()-]{3,24}$")]
Date = Annotated[str, Form("date", f"^{_DATE}$", exists=_is_moment)]
DateTime = Annotated[
    str,
    Form("date_time", rf"^{_DATE}T{_CLOCK}(?::[0-5][0-9](?:\.[0-9]{{1,6}})?)?(?:Z|[+-]{_CLOCK})?$", exists=_is_moment),
]
PlacedAt = Annotated[str, Form("placed_at", rf"^{_DATE} {_CLOCK}:[0-5][0-9]$", exists=_is_moment)]
Decimal = Annotated[str, Form("decimal", f"^{_DECIMAL}$")]
Percentage = Annotated[str, Form("percentage", r"^(?:100(?:\.0+)?|[0-9]{1,2}(?:\.[0-9]+)?)$")]
Quantity = Annotated[str, Form("quantity", r"^0*[1-9][0-9]*(?:\.[0-9]+)?$")]
Latitude = Annotated[str, Form("latitude", r"^-?(?:90(?:\.0+)?|[0-8]?[0-9](?:\.[0-9]+)?)$")]
Longitude = Annotated[str, Form("longitude", r"^-?(?:180(?:\.0+)?|(?:1[0-7][0-9]|[0-9]{1,2})(?:\.[0-9]+)?)$")]
WebAddress = Annotated[str, Form("web_address", r"^https?://[^\s/?#]+[^\s]*$")]
TrueFalse = Annotated[Literal["true", "false"], Choice()]

ItemQuantity = Annotated[int | float, Count(least=1, fractions=True)]
WholeCount = Annotated[int, Count(least=0)]


LongitudeName = Literal["delivery_long", "delivery_lon"]


class Payload(BaseModel):
    """A body that we send: nothing outside the contract, nothing converted, nothing changed after it is made."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        strict=True,
        validate_by_name=True,
        validate_by_alias=True,
        hide_input_in_errors=True,  # rows hold names, phones and addresses
        defer_build=True,  # most commands need few of the models, and building them takes a tenth of a second
    )


def body_text(payload: BaseModel) -> str:
    """The exact text that is sent: compact JSON in the contract's field order, absent fields left out.

    >>> from logistics_batch.model.payloads import DeleteItems
    >>> body_text(DeleteItems(item_list=["17"]))
    '{"item_list":["17"]}'
    """
    return compact(payload.model_dump(mode="json", by_alias=True, exclude_none=True))


def compact(fields: Mapping[str, Any]) -> str:
    """Fields as the text of a body. Raises ValueError for a number that JSON does not have."""
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


_SHOWN = ("words", "kind", "least")  # what a model's own rule says of itself; never the value, which may be personal


@dataclass(frozen=True, slots=True)
class Complaint:
    """One finding of a model.

    rule: the stable error type. place: where, as field names and positions from 0, () for the payload as a whole.
    code, values: what is wrong and what is wanted; the value is not among them, for it may be personal.
    """

    rule: str
    place: tuple[str | int, ...]
    code: str
    values: dict[str, Any]

    @property
    def field(self) -> str:
        """The innermost field's name, "" for the payload as a whole."""
        names = [step for step in self.place if isinstance(step, str)]
        return names[-1] if names else ""


def complaints(error: ValidationError) -> list[Complaint]:
    """Every finding of a model, in its order."""
    found: list[Complaint] = []
    for each in error.errors(include_url=False, include_input=False):
        values = {name: value for name, value in each.get("ctx", {}).items() if name in _SHOWN}
        code = f"{each['type']}.contract" if each["loc"] else f"contract.{each['type']}"
        if code not in messages.CATALOGUE:
            code, values = "other.contract" if each["loc"] else "contract.other", {"said": each["msg"]}
        found.append(Complaint(each["type"], each["loc"], code, values))
    return found


def between_fields(rule: str) -> PydanticCustomError:
    """The error of a rule between fields."""
    return PydanticCustomError(rule, "{said}", {"said": messages.reason(f"contract.{rule}", {})})
