"""What a mapping file says of lines that do not stand one a row: several in a row, or on a sheet of their own."""

import re
from typing import Annotated, Final, Literal

from pydantic import BeforeValidator, Field, StrictInt, model_validator

from logistics_batch.mapping.spec_texts import Name, Names, Part, RowNumber, complaint, listed

NUMBERS_AT_MOST: Final = 200
"""The highest number of numbered columns."""


def parts_of(pattern: str) -> list[str]:
    """The names of a pattern's parts, in order."""
    return re.findall(r"\{(\w+)\}", pattern)


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
    pattern: Annotated[
        list[str] | None, BeforeValidator(listed, json_schema_input_type=str | list[str]), Field(min_length=1)
    ] = Field(default=None, description="How a piece is written, its parts in braces; several ways as a list.")
    columns: Names | None = Field(default=None, min_length=1, description="Numbered columns, with {n} in each.")
    up_to: Annotated[StrictInt, Field(ge=1, le=NUMBERS_AT_MOST)] | None = Field(
        default=None, description="With columns: each is there for the numbers from 1 to this; else the file is held."
    )

    @model_validator(mode="after")
    def _one_form(self) -> "LinesFromSpec":
        if (self.split is None) == (self.columns is None):
            raise complaint("`lines_from` wants exactly one of `split` and `columns`.")
        if self.columns is not None and "on" in self.model_fields_set:
            raise complaint("`on` belongs to `split`.")
        if self.columns is None and self.up_to is not None:
            raise complaint("`up_to` belongs to `columns`.")
        for name in self.columns or ():
            if name.count("{n}") != 1:
                raise complaint(f"`{name}` has no place for the number.", "Write the number as {n}, as `SKU {n}`.")
        if self.pattern is not None:
            self._check_pattern()
        return self

    def _check_pattern(self) -> None:
        if len(self.split or self.columns or ()) > 1:
            raise complaint("A pattern reads the pieces of one column.", "Name one column, or leave out `pattern`.")
        for pattern in self.pattern or ():
            self._check_one(pattern, parts_of(pattern))

    def _check_one(self, pattern: str, parts: list[str]) -> None:
        if re.search(r"[{}]", re.sub(r"\{\w+\}", "", pattern)):
            raise complaint("A brace of the pattern has no partner.", 'Write each part as "{name}".')
        if not parts:
            raise complaint("The pattern names no part.", 'Write the parts in braces, as "{sku} x {qty}".')
        if len(set(parts)) < len(parts):
            raise complaint("The pattern names a part twice.", "Give each part a name of its own.")
        if "}{" in pattern:
            raise complaint("Two parts of the pattern touch each other.", "Write what stands between them.")
        if set(parts) != set(self.parts):
            raise complaint("The patterns have different parts.", "Name the same parts in each of them.")

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
    key: Annotated[list[Name], BeforeValidator(listed, json_schema_input_type=str | list[str]), Field(min_length=1)] = (
        Field(description="Its columns that say which document a line belongs to, in the order of the mapping's `key`.")
    )
    header: Literal["auto"] | RowNumber = Field(default="auto", description="auto or a row number.")
