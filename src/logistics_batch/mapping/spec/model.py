"""What a mapping file may say: the models that load it and that its JSON Schema is made from."""

import codecs
from collections.abc import Callable
from typing import Annotated, Any, Final, Literal, Self, get_args

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Discriminator,
    Field,
    ModelWrapValidatorHandler,
    PrivateAttr,
    StrictInt,
    Tag,
    ValidationInfo,
    field_validator,
    model_validator,
)

from logistics_batch.mapping.spec.texts import (
    Address,
    Columns,
    DecimalText,
    Flag,
    LinesFromSpec,
    LinesSheetSpec,
    Name,
    Names,
    Part,
    Patterns,
    RowNumber,
    SentText,
    Texts,
    complaint,
    listed,
    on_one_line,
    printable_text,
)
from logistics_batch.model.complaints import TIME_OF_DAY
from logistics_batch.model.document import Operation
from logistics_batch.specification import nearest

ABOVE: Final = "Outside the table: "
"""So begins the name under which a value from above or below the table is a column, the same in every row."""
ABOVE_CELL: Final = f"{ABOVE}cell "
UNDER: Final = ", under "
WHOLE_FILE: Final = f"{ABOVE}the whole file"

_OF_SOMETHING_ELSE = ("idna", "punycode", "raw-unicode-escape", "unicode-escape", "undefined", "utf-7")
"""Encodings of host names, source text and mail: what they make of a file is no table."""


class LookupFile(Part):
    """A lookup kept in a CSV file: the value is found in column `from`, the answer stands in column `to`."""

    file: str = Field(description="The CSV file, beside the mapping.")
    from_: Name = Field(alias="from", description="Its column of values as sheets write them.")
    to: Name = Field(description="Its column of values as the service wants them.")


class DateRead(Part):
    """`{date: ["%d/%m/%Y"], at: "18:00"}`: how dates are written, and the time of day where one is wanted."""

    date: Texts
    at: str = Field(default="23:59:59", pattern=TIME_OF_DAY)


class UnitRead(Part):
    """`{unit: g -> kg}`: the sheet's unit and the unit that the service wants."""

    unit: str


def _counted(value: Any) -> Any:
    """Words that stand for one each, as a table."""
    return value if isinstance(value, dict) else dict.fromkeys(listed(value), 1)


class SuffixRead(Part):
    """`{suffix: [Nos, Pcs]}` or `{suffix: {Nos: 1, Doz: 12}}`: words behind a number, and how many each stands for."""

    suffix: Annotated[
        dict[Annotated[str, Field(min_length=1), AfterValidator(on_one_line)], Annotated[StrictInt, Field(ge=1)]],
        BeforeValidator(_counted, json_schema_input_type=str | list[str] | dict[str, int]),
        Field(min_length=1),
    ]
    _is_counted: bool = PrivateAttr(default=False)

    @model_validator(mode="wrap")
    @classmethod
    def _keeps_whether_it_counts(cls, given: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        made = handler(given)
        made._is_counted = isinstance(given, dict) and isinstance(given.get("suffix"), dict)
        return made

    @property
    def is_counted(self) -> bool:
        """Whether it says how many each word stands for, also where that is one."""
        return self._is_counted


class BeforeRead(Part):
    """`{before: "PO "}`: this text before what is there, and nothing where nothing is."""

    before: Annotated[str, Field(min_length=1), AfterValidator(on_one_line)]


class LookupRead(Part):
    """`{lookup: {COD: "true"}}` or `{lookup: {file: skus.csv, from: code, to: name}}`."""

    lookup: Annotated[
        Annotated[dict[str, SentText], Tag("table")] | Annotated[LookupFile, Tag("file")],
        Discriminator(lambda value: "file" if isinstance(value, dict) and "file" in value else "table"),
    ]

    @field_validator("lookup")
    @classmethod
    def _read_file(cls, lookup: dict[str, str] | LookupFile, info: ValidationInfo) -> dict[str, str] | LookupFile:
        """A table from a file, by the reader that loading hands in; with no reader the reference stays."""
        if isinstance(lookup, LookupFile) and info.context:
            read: Callable[[LookupFile], dict[str, str]] = info.context["read_table"]
            return read(lookup)
        return lookup


Word = Literal["text", "upper", "lower", "integer", "decimal", "percent", "money", "mobile", "pincode"]
WORDS: Final = get_args(Word)
TOLD: Final = {
    "date": '{date: "%d/%m/%Y"}',
    "unit": "{unit: g -> kg}",
    "lookup": '{lookup: {Yes: "true"}}',
    "before": '{before: "PO "}',
    "suffix": "{suffix: [Nos, Pcs]}",
}
"""The verbs that need to be told more, with an example."""


def _one_verb(value: Any) -> Any:
    """A step is one word or one verb with what it needs."""
    known = [*WORDS, *TOLD]
    if not isinstance(value, dict) and value not in WORDS:
        name = str(value)
        if name in TOLD:
            raise complaint("told_more", name=name, example=TOLD[name])
        raise complaint("no_word", name=printable_text(name), nearest=nearest(name, known))
    if isinstance(value, dict) and len(named := [key for key in value if key in TOLD]) != 1:
        key = str(next(iter(value), ""))
        raise complaint("steps", names=named) if named else complaint("no_step", name=key, nearest=nearest(key, known))
    return value


Step = Annotated[
    Annotated[Word, Tag("word")]
    | Annotated[DateRead, Tag("date")]
    | Annotated[UnitRead, Tag("unit")]
    | Annotated[LookupRead, Tag("lookup")]
    | Annotated[BeforeRead, Tag("before")]
    | Annotated[SuffixRead, Tag("suffix")],
    Discriminator(lambda value: "word" if isinstance(value, str) else next(verb for verb in TOLD if verb in value)),
    BeforeValidator(_one_verb),
]
Steps = Annotated[list[Step], BeforeValidator(listed, json_schema_input_type=Step | list[Step]), Field(min_length=1)]

NamePart = str | dict[Literal["cell", "beside"], str]
"""A column by its name, or a value above the table."""


def _named(value: Any) -> Any:
    """A column's name as it is, a value above the table as the first name under which it is a column."""
    if not isinstance(value, dict):
        return value
    if [*value] not in (["cell"], ["beside"]) or not isinstance(value[next(iter(value))], str):
        raise complaint("name_part")
    return FieldSpec.model_validate(value).above[0]


def _key_names(value: Any) -> Any:
    """The parts of a key as a list."""
    return [WHOLE_FILE] if value == "file" else listed(value)


NamedParts = Annotated[
    list[Annotated[Name, BeforeValidator(_named)]],
    BeforeValidator(listed, json_schema_input_type=NamePart | list[NamePart]),
]
Joined = Annotated[NamedParts, Field(min_length=1)]

SOURCES = ("from", "join", "constant", "run", "sum", "first", "cell", "beside")


class FieldSpec(Part):
    """Where the value of one target comes from; exactly one of from, join, constant, run, sum, first, cell, beside."""

    from_: Names | None = Field(default=None, alias="from", description="The column, by its name and other names.")
    join: list[Joined] | None = Field(
        default=None,
        min_length=1,
        description="What is joined where it is filled: columns, `{cell: A6}`.",
    )
    with_: Annotated[str, AfterValidator(on_one_line)] | None = Field(
        default=None, alias="with", description="What stands between joined cells, else a blank."
    )
    constant: SentText | None = Field(default=None, description="The same value for every row.")
    run: Literal["file_name", "business_date"] | None = Field(
        default=None, description="`file_name` or `business_date`."
    )
    sum: Names | None = Field(default=None, description="The document's sum of a column.")
    less: Names | None = Field(default=None, description="With sum: this column's cell is taken off first.")
    times: Names | None = Field(default=None, description="With from or sum: then multiplied by this column's cell.")
    cartons: Names | None = Field(
        default=None,
        description="With from: multiplied by how many cartons this column's cell names; `1-5` is five, `7` is one.",
    )
    plus: list[Names] = Field(default=[], description="With sum: columns whose first value in the document is added.")
    minus: list[Names] = Field(default=[], description="With sum: columns whose first value is taken off.")
    first: Names | None = Field(default=None, description="The document's first filled cell; the others may differ.")
    cell: Address | None = Field(default=None, description="A value above the table, by the address of its cell.")
    beside: Names | None = Field(
        default=None,
        description="A value above or below the table, by its label: right of it, below it, or behind it in its cell.",
    )
    under: Name | None = Field(
        default=None, description="With beside: the value stands in the label's row under this column, as a total does."
    )
    default: SentText | None = Field(default=None, description="The value when the cell is empty.")
    when: dict[str, Patterns] | None = Field(
        default=None, min_length=1, description="Only in rows where each column fits a pattern."
    )
    required: Flag = Field(default=False, description="The column must be there and the cell filled.")
    read: Steps | None = Field(default=None, description="How the cell is read, one step after another.")

    rules = (
        ("source", lambda self: len(self.given) != 1 and (" and ".join(f"`{name}`" for name in self.given) or "none")),
        ("with_alone", lambda self: self.with_ is not None and self.join is None),
        ("less_alone", lambda self: (self.less or self.plus or self.minus) and self.sum is None),
        ("times_alone", lambda self: self.times and self.sum is None and self.from_ is None),
        ("cartons_alone", lambda self: self.cartons and (self.from_ is None or self.times)),
        (
            "constant_alone",
            lambda self: (
                self.source in ("constant", "run") and (self.read or self.default or self.required) and self.source
            ),
        ),
        ("under_alone", lambda self: self.under and self.beside is None),
        ("sum_alone", lambda self: self.sum is not None and self.read),
    )

    @classmethod
    def of(cls, names: list[str], *, required: bool = True) -> "FieldSpec":
        """A field that reads a column, by its names."""
        return cls.model_validate({"from": names, "required": required})

    @property
    def given(self) -> list[str]:
        """The sources that stand there."""
        return [name for name in SOURCES if getattr(self, {"from": "from_"}.get(name, name)) is not None]

    @property
    def source(self) -> str:
        """The one source that is given."""
        return self.given[0]

    @property
    def above(self) -> list[str]:
        """The names under which a value from above the table is a column; none where it does not stand there."""
        if self.cell:
            return [f"{ABOVE_CELL}{self.cell}"]
        under = f"{UNDER}{self.under}" if self.under else ""
        return [f"{ABOVE}{label.strip()}{under}" for label in self.beside or ()]

    @property
    def is_always_filled(self) -> bool:
        """Whether the value is there whatever the cells hold."""
        return self.default is not None or self.source in ("constant", "run")

    @property
    def columns(self) -> list[list[str]]:
        """The columns that the value is made of, each by its names; without those of `when`."""
        single = (self.from_, self.above, self.first, self.sum, self.less, self.times, self.cartons)
        return [*filter(None, single), *(self.join or []), *self.plus, *self.minus]

    @property
    def own_columns(self) -> list[list[str]]:
        """The columns whose own values it is made of: not those that are joined, or that it is multiplied by."""
        single = (self.from_, self.above, self.first, self.sum, self.less)
        return [*filter(None, single), *self.plus, *self.minus]

    @property
    def dates(self) -> list[str]:
        """The formats of dates that `read` declares."""
        return [each for step in self.read or () if isinstance(step, DateRead) for each in step.date]


def _no_flag(value: Any) -> Any:
    """A number as it is; `true` counts as 1 in Python."""
    return "true" if value is True else value


class SheetSpec(Part):
    """How the file is read; the defaults cope with ordinary files."""

    name: Name | None = Field(default=None, description="Sheet name or pattern; hidden sheets are never taken.")
    header: Literal["auto"] | RowNumber = Field(default="auto", description="auto or a row number.")
    header_rows: Annotated[Literal[1, 2], BeforeValidator(_no_flag, json_schema_input_type=Literal[1, 2])] = Field(
        default=1, description="2 where column names run over two rows: `Consignee` above `Name` is `Consignee Name`."
    )
    delimiter: str = Field(default="auto", description="CSV: auto or the character.")
    encoding: str = Field(default="auto", description="CSV: auto or the encoding's name.")
    decimal: Literal[".", ","] = Field(
        default=".",
        description="The decimal mark of numbers written as text; not said, an amount such as 1.200 is asked about.",
    )
    hidden_rows: Literal["read", "skip", "leave_out"] = Field(
        default="read",
        description="Rows that the user cannot see: `read`; `skip`, and what they leave of a document is not sent; "
        "`leave_out`, and it is sent. They are always listed.",
    )
    max_embedded_newlines: Annotated[StrictInt, Field(ge=0)] = Field(
        default=3, description="Line breaks in one CSV cell."
    )
    skip_rows_where: dict[str, Patterns] = Field(default={}, description="Rows that are no data: any column fits.")
    only_rows_where: dict[str, Patterns] = Field(default={}, description="Rows that are data: every column fits.")
    fill_down: Columns = Field(
        default=[], description="Columns whose blank cells take the value above, within one block."
    )

    @field_validator("delimiter")
    @classmethod
    def _one_character(cls, delimiter: str) -> str:
        """`auto`, a word for the tab, or one character that can part cells."""
        if delimiter in ("auto", "tab", "\\t"):
            return delimiter
        # The reader works on UTF-8 and knows the quotation mark and the ends of lines.
        if len(delimiter) != 1 or delimiter in '"\r\n\0' or delimiter.isalnum():
            raise complaint("delimiter")
        return delimiter

    @field_validator("encoding")
    @classmethod
    def _of_text(cls, encoding: str) -> str:
        """`auto` or an encoding of text that Python knows."""
        if encoding == "auto":
            return encoding
        try:
            "a".encode(encoding)  # refuses also those that are no encodings of text, such as rot13
            if codecs.lookup(encoding).name in _OF_SOMETHING_ELSE:
                raise LookupError(encoding)
        except (LookupError, ValueError) as error:
            raise complaint("encoding", name=printable_text(encoding)) from error
        return encoding


class ControlTotal(Part):
    """What the rows come to must be what the sheet's own total row says; a fix file has none, and is not compared."""

    column: Name = Field(description="The column that is added up; in the total row it holds the total.")
    row_where: dict[str, Patterns] = Field(min_length=1, description="Which row is the total row: all columns fit.")
    says: Literal["sum", "rows", "documents"] = Field(
        default="sum",
        description="What the total row says: the column's `sum`, or how many `rows` or `documents` there are.",
    )
    also_rows_where: dict[str, Patterns] = Field(
        default={},
        description="Rows that a rule leaves out and the total counts all the same, as cancelled lines: all columns "
        "fit.",
    )


class LineTotal(Part):
    """Quantity times price must be the row's total, within a tolerance in the sheet's money."""

    quantity: Name = Field(description="The column of quantities.")
    price: Name = Field(description="The column of prices of one piece.")
    total: Name = Field(description="The column of totals.")
    tolerance: DecimalText = Field(default="0.01", description="By how much a total may be off.")


class ChecksSpec(Part):
    """Checks beyond those that are always on."""

    control_total: Annotated[
        list[ControlTotal], BeforeValidator(listed, json_schema_input_type=ControlTotal | list[ControlTotal])
    ] = Field(default=[], description="A column adds up to the sheet's own total row; several totals as a list.")
    line_total: LineTotal | None = Field(default=None, description="Quantity times price is the total of the row.")
    equal_rows: Literal["note", "block", "allow"] = Field(
        default="block",
        description="Rows equal within a document, but for a running number: not sent, told, or right as they are.",
    )
    short_rows: Literal["block", "allow"] = Field(
        default="block", description="CSV rows that end before a column: not sent, or the sender leaves blanks out."
    )
    sample_values: Flag = Field(default=False, description="Rows that a template brought along: ORD001, John Doe …")


class KitsSpec(Part):
    """Kits: rows in which the key columns are filled are the contents of a kit, a kit for each key of an order."""

    key: Names = Field(description="The columns that say which kit a row belongs to; blank in rows of no kit.")
    name: FieldSpec = Field(description="The kit's name (API §2.3).")
    description: FieldSpec | None = Field(default=None, description="The kit's description (API §2.3).")
    lines: dict[str, FieldSpec] = Field(min_length=1, description="The items of one kit.")

    @property
    def everything(self) -> dict[str, FieldSpec]:
        """The fields with their places, and which kit a row belongs to."""
        key = FieldSpec.model_validate({"join": self.key, "with": "\x1f"})
        once = {"kits.key": key, "kits.name": self.name}
        if self.description is not None:
            once["kits.description"] = self.description
        return once | {f"kit_lines.{name}": spec for name, spec in self.lines.items()}


class OrderIdSpec(Part):
    """`{from: AWB}` or `{ledger: Order No}`: which order a change is about."""

    from_: Names | None = Field(default=None, alias="from", description="The column of AWB numbers or order ids.")
    ledger: Names | None = Field(
        default=None, description="The column of reference numbers; the AWB number comes from the ledger."
    )

    rules = (("order_id_source", lambda self: (self.from_ is None) == (self.ledger is None)),)


class MappingSpec(Part):
    """A mapping file."""

    operation: Operation = Field(description="What the rows become; see the targets of each below.")
    order_id: OrderIdSpec | None = Field(default=None, description="Which order a change is about.")
    sheet: SheetSpec = Field(default=SheetSpec(), description="How the file is read.")
    key: Annotated[NamedParts, BeforeValidator(_key_names, json_schema_input_type=NamePart | list[NamePart])] = Field(
        default=[],
        description="Rows with the same values here form one document: columns, `{cell: C5}`, `{beside: Invoice No}`; "
        "`file` alone makes the whole file one document.",
    )
    fields: dict[str, FieldSpec] = Field(default={}, description="What stands once in a document.")
    lines: dict[str, FieldSpec] = Field(default={}, description="What stands once a row: items, SKU lines.")
    lines_from: LinesFromSpec | None = Field(default=None, description="Several lines in one row.")
    lines_sheet: LinesSheetSpec | None = Field(default=None, description="Lines on a second sheet, joined by key.")
    kits: KitsSpec | None = Field(default=None, description="Kits, instead of or beside `lines`.")
    keep: dict[str, FieldSpec] = Field(default={}, description="Not sent: for reports, labels and reconciliation.")
    ignore: Columns = Field(default=[], description="Columns that are known and not used.")
    checks: ChecksSpec = Field(default=ChecksSpec(), description="Checks beyond those that are always on.")

    @property
    def everything(self) -> dict[str, FieldSpec]:
        """All fields with their place in the file: `fields.weight`, `lines.weight`, `keep.bin`.

        Which order a change is about counts as a field, `fields.order_id`.
        """
        order_id = (
            {"order_id": FieldSpec.of(self.order_id.from_ or self.order_id.ledger or [])} if self.order_id else {}
        )
        parts = {"fields": order_id | self.fields, "lines": self.lines, "keep": self.keep}
        named = {f"{part}.{name}": spec for part, specs in parts.items() for name, spec in specs.items()}
        return named | (self.kits.everything if self.kits else {})


def schema_json() -> dict[str, Any]:
    """The JSON Schema of mapping files, for editors."""
    schema = MappingSpec.model_json_schema(by_alias=True)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}
