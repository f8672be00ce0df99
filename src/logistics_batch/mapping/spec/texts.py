"""The kinds of values that a mapping file is made of, and complaints about them.

Names of columns, patterns and constants are texts; whole numbers and true/false written plainly become their text.

How a mapping file says where lines stand that have no row of the sheet each.
"""

import re
from collections.abc import Callable
from typing import Annotated, Any, ClassVar, Final, Literal, Self

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


NUMBERS_AT_MOST: Final = 200
"""The highest number of numbered columns."""


_PART: Final = re.compile(r"\{(\w+)\}")


def parts_of(pattern: str) -> list[str]:
    """The names of a pattern's parts, in order."""
    return _PART.findall(pattern)


class LinesFromSpec(Part):
    """Several lines in one row: items in one cell, parallel cells, or numbered columns.

    `{split: Items, on: ["|", ";"], pattern: "{sku} x {qty}"}` makes columns `sku` and `qty`. `{split: [SKU, Qty],
    on: "|"}` parts these cells side by side. `{columns: ["SKU {n}", "Qty {n}"]}` reads numbered columns from 1 on;
    with `pattern` one of them holds the whole item: `{columns: "Item {n}", pattern: "{sku} x {qty}"}`. Of several
    patterns each has the same parts.
    """

    split: Names | None = Field(default=None, description="The column whose cell holds several, or parallel columns.")
    on: Annotated[
        list[Annotated[str, Field(min_length=1)]],
        BeforeValidator(listed, json_schema_input_type=str | list[str]),
        Field(min_length=1),
    ] = Field(default=["|", ";"], description="With split: what stands between the pieces.")
    pattern: Annotated[Texts, Field(min_length=1)] | None = Field(
        default=None, description="How a piece is written, its parts in braces; several ways as a list."
    )
    columns: Names | None = Field(default=None, min_length=1, description="Numbered columns, with {n} in each.")
    up_to: Annotated[StrictInt, Field(ge=1, le=NUMBERS_AT_MOST)] | None = Field(
        default=None, description="With columns: each is there for the numbers from 1 to this; else the file is held."
    )

    rules = (
        ("lines_from", lambda self: (self.split is None) == (self.columns is None)),
        ("on_alone", lambda self: self.columns is not None and "on" in self.model_fields_set),
        ("up_to_alone", lambda self: self.columns is None and self.up_to is not None),
        ("no_number", lambda self: next((name for name in self.columns or () if name.count("{n}") != 1), None)),
        ("pattern.columns", lambda self: self.pattern and len(self.split or self.columns) > 1),
        ("pattern.brace", lambda self: any(re.search(r"[{}]", re.sub(_PART, "", each)) for each in self.pattern or ())),
        ("pattern.no_part", lambda self: not all(map(parts_of, self.pattern or ()))),
        ("pattern.twice", lambda self: any(len(set(each)) < len(each) for each in map(parts_of, self.pattern or ()))),
        ("pattern.touch", lambda self: any("}{" in each for each in self.pattern or ())),
        ("pattern.other", lambda self: any(set(parts_of(each)) != set(self.parts) for each in self.pattern or ())),
    )

    @property
    def parts(self) -> list[str]:
        """The names of the pattern's parts, in the order of the first one."""
        return parts_of(self.pattern[0]) if self.pattern else []

    @property
    def made(self) -> list[str]:
        """The names of the columns that it makes."""
        return self.parts or list(self.columns or ())


class LinesSheetSpec(Part):
    """Lines on a sheet of their own, joined by key: `{name: Lines, key: [Order No]}`."""

    name: Name = Field(description="Name or pattern of the sheet with the lines; hidden sheets are never taken.")
    key: Names = Field(
        description="Its columns that say which document a line belongs to, in the order of the mapping's `key`."
    )
    header: Literal["auto"] | RowNumber = Field(default="auto", description="auto or a row number.")
