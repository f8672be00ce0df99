"""How a mapping file says where lines stand that have no row of the sheet each."""

import re
from typing import Annotated, Final, Literal

from pydantic import BeforeValidator, Field, StrictInt

from logistics_batch.mapping.spec.texts import Name, Names, Part, RowNumber, Texts, listed

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
