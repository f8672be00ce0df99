"""The mapping reference, written from the models, the verbs and the interpreter: it cannot say what is not so.

`python tests/docs/mapping_reference_page.py` writes the page anew. Its examples stand in `mapping_examples.txt`; what
comes of them is worked out here, by the interpreter itself.
"""

import json
import re
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any, Final

import polars as pl
from pydantic import BaseModel
from support.issues import reasons

from logistics_batch.mapping.fields.compile import RunValues
from logistics_batch.mapping.fields.values.dates import CODES, written
from logistics_batch.mapping.fields.values.verbs import Verb, vocabulary
from logistics_batch.mapping.loaded import Mapping
from logistics_batch.mapping.loading import load_mapping
from logistics_batch.mapping.spec.model import (
    ChecksSpec,
    ControlTotal,
    FieldSpec,
    KitsSpec,
    LineTotal,
    LookupFile,
    MappingSpec,
    OrderIdSpec,
    SheetSpec,
)
from logistics_batch.mapping.spec.targets import JSON_NUMBERS, FieldForm, Targets, form_of, targets_of
from logistics_batch.mapping.spec.texts import LinesFromSpec, LinesSheetSpec
from logistics_batch.mapping.spec.words import PAYMENT_WORDS
from logistics_batch.mapping.whole_file import apply_mapping
from logistics_batch.model.document import MappedFile, Operation, RowState
from logistics_batch.model.issue import column_letters
from logistics_batch.model.sheet import Sheet

PAGE: Final = Path(__file__).parents[2] / "docs/mapping-reference.md"
_WIDTH: Final = 120
_FORM_WORDS: Final[dict[FieldForm, str]] = {
    FieldForm.TEXT: "text",
    FieldForm.IDENTITY: "a number or name",
    FieldForm.WAYBILL: "an AWB number or order id",
    FieldForm.GOODS: "name or code of one item",
    FieldForm.ADDRESS: "text; line breaks become commas",
    FieldForm.FLAG: "`true` or `false`",
    FieldForm.PAYMENT: "[a word for payment](#words-for-payment)",
    FieldForm.MONEY: "an amount",
    FieldForm.DECIMAL: "a number",
    FieldForm.PERCENT: "a percentage",
    FieldForm.DEGREES: "degrees",
    FieldForm.QUANTITY: "a whole number from 1 on",
    FieldForm.COUNT: "a whole number from 0 on",
    FieldForm.MOBILE: "ten digits",
    FieldForm.PINCODE: "six digits",
    FieldForm.DATE: "a date",
    FieldForm.MOMENT: "a date and time with offset",
}
_EXAMPLES: Final = Path(__file__).with_name("mapping_examples.txt")
_RUN: Final = RunValues("orders_0311.xlsx", date(2026, 11, 3), "Asia/Kolkata")
_ORDER: Final = """\
operation: order.create
key: [Order]
fields:
  reference_number: {from: Order}
  customer_mobile: {from: Phone}
  delivery_address: {from: Address}
"""
_VERB_CELLS: Final[dict[str, tuple[str, ...]]] = {
    "text": ("  Asha  Rao ", "007"),
    "upper": ("t-100",),
    "lower": ("Asha@Example.com",),
    "integer": ("12.0", "1,200", "1.5"),
    "decimal": ("0.750", "1,23,456.5", "a lot"),
    "percent": ("5", "12.5 %", "5 per cent"),
    "before": ("South",),
    "suffix": ("2 Nos", "12 pcs.", "12", "1 doz"),
    "money": ("₹ 1,499/-", "(250)", "12"),
    "mobile": ("+91 98765-43210", "098765 43210 / 98765 11111", "Mob: 98765 43210", "98765*****"),
    "pincode": ("560 001", "PIN-560001", "56001"),
    "date": ("05/11/2026", "5-Nov-2026", "11.05.2026"),
    "unit": ("1970", "1970 g", "1.97 kg"),
    "lookup": ("return", " FORWARD ", "exchange"),
}
"""Cells that show what each verb reads and what it refuses."""

_OPENING: Final = """\
# Mapping reference

A mapping is a YAML file in `mappings/` that says what the columns of a sheet mean. [Map a new
layout](how-to/map-a-new-layout.md) makes one step by step; here stands every word of it. For completion in an editor,
save the output of `logistics-batch mapping schema` and begin the mapping with
`# yaml-language-server: $schema=mapping.schema.json`.

Words are read as text: `NO`, `007` and `18:00` are what they look like. Only `true`, `false`, `null` and whole numbers
without leading zeros are not text. The program itself worked out what stands below each example, for 3 November 2026.
"""


def reference_text() -> str:
    """The whole page, as Markdown."""
    forms = ["## Forms, one example each\n", _prose(_ON_FORMS), _fenced("yaml", _ORDER), *map(_example, examples())]
    parts = [_OPENING, *_keys(), *_verbs(), *_defaults(), *forms, *_targets()]
    return "\n".join(part.rstrip("\n") + "\n" for part in parts)


_LEFT_OUT: Final = """\
Only these rows, and the answer names each with its reason:

- blank rows, rows above the header, and rows in which no mapped column is filled
- the header again, and units in brackets right below it, as `(pcs)`
- lines of dashes, and rows that begin with `;` and lack a cell that data needs
- totals that lack a cell that data needs: they begin with Total, Sub total, Grand total, Page total, Net total or
  Running total, or are `Page 1 of 2`, or another row's key with `Total` behind it
- signatures without a key or number: they begin with Prepared by, Checked by, Verified by, Approved by, Received by,
  Packed by or Authorised signatory
- a note below the last row of data: one or two filled cells, one of which is a sentence of four words or more

Anything else below the table is invalid until `skip_rows_where` names it.
"""
_ON_FORMS: Final = "An example that does not begin with `operation:` goes on below these lines:"
_SECTIONS: Final[tuple[tuple[str, type[BaseModel]], ...]] = (
    ("`sheet`: how the file is read", SheetSpec),
    ("A field, under `fields`, `lines` and `keep`", FieldSpec),
    ("`lines_from`: several lines in one row", LinesFromSpec),
    ("`lines_sheet`: lines on a second sheet", LinesSheetSpec),
    ("`kits`", KitsSpec),
    ("`order_id`: which order a change is about", OrderIdSpec),
    ("`checks`: beyond those that are always on", ChecksSpec),
    ("`line_total` of `checks`", LineTotal),
    ("`control_total` of `checks`", ControlTotal),
    ("`lookup` from a file", LookupFile),
)
_ON_SECTIONS: Final = {
    FieldSpec: "Exactly one of `from`, `join`, `constant`, `run`, `sum`, `first`, `cell` and `beside`. Without `read` "
    "a cell is read as its target wants it.",
    LinesFromSpec: "Either `split` or `columns`.",
    OrderIdSpec: "Either `from` or `ledger`.",
    ChecksSpec: "Always on are the contract of the service, COD flag and amount, PIN, mobile number, the window of "
    "dates with day and month in their places, rows of one document that disagree or are "
    "equal in every cell, and documents that stand twice.",
}


def _keys() -> Iterator[str]:
    yield "## Keys\n"
    yield "**Bold** keys are required; defaults stand in brackets.\n"
    yield _key_list(MappingSpec)
    for title, model in _SECTIONS:
        yield f"### {title}\n"
        if model in _ON_SECTIONS:
            yield _prose(_ON_SECTIONS[model])
        yield _key_list(model)


def _key_list(model: type[BaseModel]) -> str:
    lines = []
    for name, field in model.model_fields.items():
        key = f"`{field.alias or name}`"
        shown = f"**{key}**" if field.is_required() else key + _default(field.get_default(call_default_factory=True))
        lines.append(_prose(f"- {shown}: {field.description or _first_line(field.annotation)}"))
    return "".join(lines)


def _default(value: Any) -> str:
    if value is None or value in ([], {}) or isinstance(value, BaseModel):
        return ""
    return f" (`{json.dumps(value) if isinstance(value, list | bool | int) else value}`)"


def _first_line(annotation: Any) -> str:
    return str(getattr(annotation, "__doc__", "") or "").strip().splitlines()[0] if annotation is Operation else ""


def _verbs() -> Iterator[str]:
    yield "## Ways to read a cell\n"
    yield _prose(
        "Alone (`read: upper`) or listed, one step after another (`read: [upper, {before: A-}]`). An empty cell gives "
        "nothing; patterns and tables ignore case and outer blanks."
    )
    yield "".join(
        _prose(f"- `{verb.name}`: {verb.doc} {_with(verb)}{' · '.join(_read_cells(verb))}") for verb in vocabulary()
    )
    yield from _date_codes()


def _defaults() -> Iterator[str]:
    """What is known without a word in the mapping."""
    yield "## What need not be said\n"
    yield _prose(
        "A cell is read as [its target](#targets-of-each-operation) wants it, what the service demands is `required`, "
        "and some rows are [left out without a rule](#rows-that-are-left-out-without-a-rule). `logistics-batch mapping "
        "lint` gives a hint for each line that says such a thing once more; it does no harm."
    )
    yield "### Words for payment\n"
    yield _prose(
        "`is_cod` understands these words, in capitals or not. A row with any other word is invalid. A `lookup` in the "
        "mapping replaces the whole list."
    )
    yield "".join(
        _prose(f"- `{answer}`: " + ", ".join(f"`{word}`" for word, each in PAYMENT_WORDS.items() if each == answer))
        for answer in ("true", "false")
    )
    yield "### Rows that are left out without a rule\n"
    yield _LEFT_OUT


def _date_codes() -> Iterator[str]:
    """The codes of date formats, with what each writes."""
    yield "### Formats of dates\n"
    yield _prose(
        "A format is made of these codes and of what stands between them: `%d.%m.%Y %H:%M`. It says day, month and "
        "year; a time has hour and minute at least. ISO dates (`2026-11-03`, `2026-11-03 18:05:09`) and true date "
        "cells need none. In brackets: what the code writes for 3 November 2026, 18:05:09.25."
    )
    alike: dict[str, list[str]] = {}
    for code, words in CODES.items():
        of = next(reversed(alike)) if words == "the same" else f"{words} (`{written(f'%{code}')}`)"
        alike.setdefault(of, []).append(f"`%{code}`")
    yield "".join(_prose(f"- {', '.join(codes)}: {words}") for words, codes in alike.items())


_AROUND_VERB: Final = {
    "order.create": """\
operation: order.create
key: [No]
fields: {reference_number: {from: No}, customer_mobile: {constant: 9876543210}, delivery_address: {constant: x}}
lines: {item_name: {constant: x}}
""",
    "asn.create": """\
operation: asn.create
key: [No]
fields: {invoice_number: {from: No}, supplier: {constant: x}, site: {constant: x}}
lines: {sku_name: {constant: x}, qty: {constant: 1}}
""",
}


def _with(verb: Verb) -> str:
    """How a verb is written that takes values."""
    written_so = verb.example.partition(" read: ")[2].removesuffix("}")
    return f"With `{written_so}`: " if written_so != verb.name else ""


def _read_cells(verb: Verb) -> Iterator[str]:
    """What the verb's example makes of some cells, each as a row of a sheet, or what is told of them."""
    target = verb.example.split(":", 1)[0]
    asn, order = targets_of(Operation.ASN_CREATE), targets_of(Operation.ORDER_CREATE)
    targets = order if target in (*order.header, *order.lines) else asn
    part = "fields" if target in targets.header else "lines"
    around = re.sub(rf"\b{target}: {{constant: \w+}}(, )?", "", _AROUND_VERB[targets.operation])
    between = "" if around.endswith("lines: {}\n") else ", "
    mapping = _loaded(re.sub(rf"^({part}: {{)", rf"\1{verb.example}{between}", around, flags=re.MULTILINE), {})
    column = mapping.spec.everything[f"{part}.{target}"].columns[0][0]
    cells = _VERB_CELLS[verb.name]
    sheet = _sheet("", [["No", column], *([str(number), cell] for number, cell in enumerate(cells))])
    mapped = apply_mapping(mapping, [sheet], run_values=_RUN)
    told = {issue.row: issue.reason for issue in mapped.issues if issue.rule.startswith(f"{target}|")}
    bodies = {document.rows[0]: json.loads(document.body) for document in mapped.documents}
    for row, cell in enumerate(cells, 2):
        body = bodies.get(row, {})
        value = body[targets.lines_field][0][target] if part == "lines" and body else body.get(target)
        yield f"`{cell}` → {told.get(row) or f'`{json.dumps(value, ensure_ascii=False)}`'}"


@dataclass(frozen=True, slots=True)
class Example:
    """One form and what it is for.

    shown: the file, or what it has besides `_ORDER`. sheets: by name the rows of cells. tables: lookup files by name.
    """

    title: str
    words: str
    shown: str
    sheets: dict[str, list[list[str]]]
    tables: dict[str, str]

    @property
    def mapping(self) -> str:
        """The whole file: what is shown, below the lines that most have in common."""
        return self.shown if self.shown.startswith("operation:") else _ORDER + self.shown


def examples() -> list[Example]:
    """Every form once, the ordinary ones first."""
    return [_read_example(text) for text in _EXAMPLES.read_text(encoding="utf-8").split("### ") if text]


def _read_example(text: str) -> Example:
    opening, *blocks = re.split(r"^~~~ (.*)\n", text, flags=re.MULTILINE)
    title, words = opening.split("\n", 1)
    named = list(zip(blocks[::2], blocks[1::2], strict=True))
    sheets = {
        name.removeprefix("sheet").strip(): [[cell.strip() for cell in row.split("|")] for row in rows.splitlines()]
        for name, rows in named
        if name.startswith("sheet")
    }
    tables = {name.removeprefix("table "): rows for name, rows in named if name.startswith("table")}
    shown = next(content for name, content in named if name == "mapping")
    return Example(title, words.strip(), shown, sheets, tables)


def _example(example: Example) -> str:
    mapping = _loaded(example.mapping, example.tables)
    sheets = [_sheet(name, rows) for name, rows in example.sheets.items()]
    mapped = apply_mapping(mapping, sheets, run_values=_RUN)
    words = [f"{example.words}\n"] if example.words else []
    parts = [f"### {example.title}\n", *words, _fenced("yaml", example.shown)]
    parts += [f"`{name}`:\n\n{_fenced('csv', text)}" for name, text in example.tables.items()]
    for sheet in sheets:
        parts += [f"Sheet `{sheet.name}`:\n"] if sheet.name else []
        parts.append(_shown(sheet))
    return "\n".join([*parts, *_outcome(mapped)])


def _outcome(mapped: MappedFile) -> Iterator[str]:
    """The documents as they are sent, and every row that is in none."""
    bodies = [document.body for document in mapped.documents]
    if bodies:
        yield _fenced("json", "\n".join(bodies))
    if not mapped.documents and mapped.keep.height:
        lines = mapped.keep.drop("row").iter_rows(named=True)
        found = [{name: value for name, value in line.items() if value is not None} for line in lines]
        yield _fenced("json", "\n".join(json.dumps(line, ensure_ascii=False) for line in found))
    told = [f"- `{issue.cell}`{_on(issue.sheet)} **invalid**: {issue.reason} {issue.fix}" for issue in mapped.issues]
    others = mapped.rows.filter(pl.col("state").is_in([RowState.BLOCKED.value, RowState.SKIPPED.value]))
    alike: dict[str, list[int]] = {}
    for (row, state, sheet), reason in zip(
        others.select("row", "state", "sheet").iter_rows(), reasons(others), strict=True
    ):
        alike.setdefault(f"{_on(sheet)} **{state}**: {reason}", []).append(row)
    told += [
        f"- {'row' if len(rows) == 1 else 'rows'} {', '.join(map(str, rows))}{rest}" for rest, rows in alike.items()
    ]
    if told:
        yield "".join(map(_prose, told))


def _on(sheet: str) -> str:
    return f" of `{sheet}`" if sheet else ""


def _words_of(name: str, targets: Targets) -> str:
    if targets.operation is Operation.RECEIPT_READ and name == "qty":
        return "a whole number; a negative one corrects what was received before"
    return _FORM_WORDS[form_of(name, targets.operation)]


def _targets() -> Iterator[str]:
    yield "## Targets of each operation\n"
    yield "What stands under `fields` and under `lines`, by what the value must be. **Bold** ones must be mapped.\n"
    earlier: dict[tuple[str, frozenset[tuple[str, str]]], str] = {}
    for operation in Operation:
        targets = targets_of(operation)
        yield f"### `{operation.value}`\n"
        if targets.either:
            groups = ["one of " + " and ".join(f"`{name}`" for name in group) for group in targets.either]
            yield f"Must be mapped as well: {'; '.join(groups)}.\n"
        if not (targets.header or targets.lines):
            yield "None: the call has no body.\n"
        for part, names in (("fields", targets.header), ("lines", targets.lines)):
            rows = [_target_row(part, name, targets) for name in names]
            like = max((each for each in earlier if each[0] == part and each[1] <= set(rows)), key=_size, default=None)
            if like is not None and like[1]:
                yield f"`{part}`: all of `{earlier[like]}`{', and also' if len(like[1]) < len(rows) else '.'}\n"
                rows = [row for row in rows if row not in like[1]]
            if rows:
                yield f"`{part}`:\n"
                yield "".join(_prose(f"- {names}: {words}") for names, words in _alike(rows))
            earlier.setdefault((part, frozenset(_target_row(part, name, targets) for name in names)), operation.value)


def _size(each: tuple[str, frozenset[tuple[str, str]]]) -> int:
    return len(each[1])


def _target_row(part: str, name: str, targets: Targets) -> tuple[str, str]:
    is_number = name in JSON_NUMBERS and targets.operation is not Operation.RECEIPT_READ
    shown = f"**`{name}`**" if f"{part}.{name}" in targets.required else f"`{name}`"
    return shown, _words_of(name, targets) + (", sent as a JSON number" if is_number else "")


def _alike(rows: Sequence[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """The names of one form together."""
    forms: dict[str, list[str]] = {}
    for shown, words in rows:
        forms.setdefault(words, []).append(shown)
    yield from ((", ".join(names), words) for words, names in forms.items())


def _loaded(text: str, tables: dict[str, str]) -> Mapping:
    return load_mapping(text, path="example.yaml", read_lookup=tables.__getitem__, updates_asns=lambda: True)


def _sheet(name: str, rows: Sequence[Sequence[str]]) -> Sheet:
    width = max(len(row) for row in rows)
    cells = [[row[column].strip() or None if column < len(row) else None for row in rows] for column in range(width)]
    columns = {str(number): pl.Series(values, dtype=pl.String) for number, values in enumerate(cells, 1)}
    return Sheet(name, pl.DataFrame({"row": pl.Series(range(1, len(rows) + 1), dtype=pl.UInt32), **columns}))


def _shown(sheet: Sheet) -> str:
    """The sheet as a spreadsheet program shows it, with its letters and row numbers."""
    header = ["", *(column_letters(number) for number in range(1, sheet.width + 1))]
    rows = [header, *([str(row), *(cell or "" for cell in cells)] for row, *cells in sheet.frame.iter_rows())]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return _fenced("text", "\n".join(lines))


def _prose(text: str) -> str:
    indent = "  " if text.startswith("- ") else ""
    lines = textwrap.wrap(text, _WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
    return "\n".join(lines) + "\n"


def _fenced(language: str, text: str) -> str:
    return f"```{language}\n{text.rstrip()}\n```\n"


if __name__ == "__main__":
    PAGE.write_text(reference_text(), encoding="utf-8")
