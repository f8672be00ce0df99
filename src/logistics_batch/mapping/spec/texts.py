"""The kinds of values that a mapping file is made of, and complaints about them.

Names of columns, patterns and constants are texts; whole numbers and true/false written plainly become their text.
"""

import re
from collections.abc import Callable
from typing import Annotated, Any, ClassVar, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictBool,
    StrictInt,
    model_validator,
)
from pydantic_core import PydanticCustomError

from logistics_batch import messages
from logistics_batch.model.complaints import PLAIN_DECIMAL


def printable_text(text: str) -> str:
    """A text for a message: what cannot be seen is escaped."""
    return "".join(char if char.isprintable() else f"\\x{ord(char):02x}" for char in text)


def complaint(code: str, **values: Any) -> PydanticCustomError:
    """A complaint in the catalogue's words, for `load_specification` to place; code: without its `mapping.`."""
    code = f"mapping.{code}"
    said = {"message": messages.reason(code, values), "remedy": messages.remedy(code, values)}
    return PydanticCustomError("mapping", "{message}", said)


def _text(value: Any) -> Any:
    """`yes`, `12` and `true` as the words they were typed as."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, int) else value


def _address(text: str) -> str:
    """The address of a cell in capital letters."""
    if re.fullmatch("[A-Z]{1,3}[1-9][0-9]{0,6}", text.upper()) is None:
        raise complaint("address", name=printable_text(text))
    return text.upper()


def listed(value: Any) -> Any:
    """A single value as a list of one."""
    return value if isinstance(value, list) else [value]


def _visible(name: str) -> str:
    if not name.strip():
        raise complaint("name")
    return name


def on_one_line(text: str) -> str:
    """A text that can stand in a payload. Raises a complaint for line breaks and tabs."""
    if any(char in "\t\r\n\v\f" for char in text):
        raise complaint("one_line")
    return text


Text = Annotated[str, BeforeValidator(_text, json_schema_input_type=str | int | bool)]
SentText = Annotated[str, BeforeValidator(_text, json_schema_input_type=str | int | bool), AfterValidator(on_one_line)]
Name = Annotated[
    str, BeforeValidator(_text, json_schema_input_type=str | int), Field(min_length=1), AfterValidator(_visible)
]
Columns = Annotated[list[Name], BeforeValidator(listed, json_schema_input_type=str | list[str])]
Names = Annotated[Columns, Field(min_length=1)]
Texts = Annotated[list[str], BeforeValidator(listed, json_schema_input_type=str | list[str])]
Patterns = Annotated[
    list[Text],
    BeforeValidator(listed, json_schema_input_type=str | int | bool | list[str | int | bool]),
    Field(min_length=1),
]
Address = Annotated[str, AfterValidator(_address)]
Flag = StrictBool
RowNumber = Annotated[StrictInt, Field(ge=1)]
DecimalText = Annotated[str, BeforeValidator(_text, json_schema_input_type=str | int), Field(pattern=PLAIN_DECIMAL)]


class Part(BaseModel):
    """A part of a mapping file: unknown keys are errors, nothing changes after loading.

    rules: what must not be, each as a code and a test that gives what the message names, or True; the first counts.
    """

    rules: ClassVar[tuple[tuple[str, Callable[[Any], object]], ...]] = ()

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    @model_validator(mode="after")
    def _keeps_its_rules(self) -> Self:
        for code, broken in self.rules:
            if found := broken(self):
                raise complaint(code, name=found)
        return self
