"""The forms that the texts of the API take: dates, decimals, coordinates, 'true' and 'false'.

The API publishes most values as String, so these are texts and stay texts: a number is refused, not turned into one.
Each form has a stable error type and a pattern, by which columns are checked as well.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import GetCoreSchemaHandler
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
