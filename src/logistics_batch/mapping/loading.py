"""A mapping file is loaded, with every complaint about it before any row is read; and what it says and need not."""

import csv
import hashlib
import io
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import PurePath
from typing import Final

from pydantic import BaseModel

from logistics_batch.errors import Finding, LogisticsBatchError
from logistics_batch.mapping.fields.values.verbs import NATURAL, verb_of
from logistics_batch.mapping.lint import (
    GIVES,
    LintFinding,
    Place,
    open_questions,
    place_of,
    raw_findings,
    said,
    structure_findings,
)
from logistics_batch.mapping.loaded import Mapping, is_demanded
from logistics_batch.mapping.spec.model import ChecksSpec, FieldSpec, LookupFile, LookupRead, MappingSpec, SheetSpec
from logistics_batch.mapping.spec.names import ColumnName
from logistics_batch.mapping.spec.targets import FieldForm, form_of
from logistics_batch.mapping.spec.texts import complaint, on_one_line
from logistics_batch.mapping.spec.words import PAYMENT_WORDS, is_known_pattern
from logistics_batch.model.document import Operation
from logistics_batch.specification import read_yaml

_SAID_ON_PURPOSE: Final = {(SheetSpec, "decimal"), (ChecksSpec, "equal_rows")}
"""Where the default is another thing than the same value said: what it leaves open is no longer asked about."""
_QUANTITIES: Final = ("item_quantity", "qty")
_OF_PIECES: Final = (Operation.ORDER_CREATE, Operation.ASN_CREATE)


def load_mapping(
    text: str, *, path: str, read_lookup: Callable[[str], str], updates_asns: Callable[[], bool] = lambda: False
) -> Mapping:
    """Load a mapping file.

    text: its content. path: its name, for findings. read_lookup: gives the text of a lookup file named in it; raises
    OSError or one of our errors where it cannot. updates_asns: whether the settings say what identifies an ASN that is
    updated (API §4.3 does not). Raises SpecificationError with every complaint.
    """
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass"))

    def read_table(lookup: LookupFile) -> dict[str, str]:
        try:
            content = read_lookup(lookup.file)
        except (OSError, UnicodeError, LogisticsBatchError) as error:
            raise complaint("lookup_file", file=lookup.file, error=str(error)) from error
        digest.update(b"\0" + content.encode("utf-8", "surrogatepass"))
        return _table(lookup, content)

    document = read_yaml(text, path=path)
    data = document.root.plain()
    if asked := list(open_questions(data)):  # a draft: its mistakes may well go with the answers
        raise document.refused([*document.findings, *document.findings_at(asked)])
    early = document.findings_at(raw_findings(data))
    spec, findings = document.fitted(MappingSpec, context={"read_table": read_table})
    if spec is not None:
        early += document.findings_at(structure_findings(spec))
        if spec.operation is Operation.ASN_UPDATE and not updates_asns():  # somebody vouches for how it is found
            early += document.findings_at([said(("operation",), "asn_update")])
    if spec is None or findings or early:
        raise document.refused([*findings, *early])
    return Mapping(name=PurePath(path).stem, digest=digest.hexdigest(), spec=spec)


def _table(lookup: LookupFile, content: str) -> dict[str, str]:
    """The two columns of a lookup file; the same value with two answers is refused."""
    rows = [row for row in csv.reader(io.StringIO(content.removeprefix("\ufeff"), newline="")) if any(row)]
    header = [ColumnName.of(cell).identity for cell in rows[0]] if rows else []
    places: list[int] = []
    for name in (lookup.from_, lookup.to):
        if header.count(ColumnName.of(name).identity) != 1:
            raise complaint("lookup_column", file=lookup.file, name=name)
        places.append(header.index(ColumnName.of(name).identity))
    table: dict[str, str] = {}
    for row in rows[1:]:
        value, answer = (row[place].strip() if place < len(row) else "" for place in places)
        on_one_line(answer)
        if value and table.setdefault(value, answer) != answer:
            raise complaint("lookup_twice", file=lookup.file, name=value)
    return table


def hints_of(mapping: Mapping, text: str, *, path: str) -> list[Finding]:
    """What a mapping says and need not or may not mean, in the order of its text. path: the file's name, for the
    findings.
    """
    said_of = chain(restated_defaults(mapping.spec), doubtful(mapping.spec))
    found = read_yaml(text, path=path).findings_at(said_of)
    return sorted(found, key=lambda each: (each.line, each.column))


def restated_defaults(spec: MappingSpec) -> Iterator[LintFinding]:
    """What a mapping says and need not."""
    yield from _values(spec, ())
    for place, field in spec.everything.items():
        part, target = place.split(".", 1)
        if field.required and is_demanded(spec, place):
            where = (*place_of(place), "required")
            yield said(where, "default.required", operation=spec.operation.value, name=target)
        form = FieldForm.TEXT if part == "keep" else form_of(target, spec.operation)
        yield from _steps((*place_of(place), "read"), field, target, form)
    # Patterns for totals and signatures, in the columns where rows are known by them.
    invoice = spec.fields.get("invoice_number")
    named = spec.key or [names[0] for names in (invoice.columns if invoice else [])]
    keys = {ColumnName.of(name).identity for name in named}
    for column, patterns in spec.sheet.skip_rows_where.items():
        for index, pattern in enumerate(patterns):
            if ColumnName.of(column).identity in keys and is_known_pattern(pattern):
                yield said(("sheet", "skip_rows_where", column, index), "default.rows", pattern=pattern)


def doubtful(spec: MappingSpec) -> Iterator[LintFinding]:
    """What a mapping may not mean: patterns where none are known, and lines of one piece that may be equal."""
    for place, field in spec.everything.items():
        for step in field.read or ():
            table = step.lookup if isinstance(step, LookupRead) and isinstance(step.lookup, dict) else {}
            for key in (each for each in table if "*" in (each.strip()[:1], each.strip()[-1:]) and each.strip() != "*"):
                yield said((*place_of(place), "read", "lookup", key), "lookup_pattern", key=key)
    ids = [place for place in spec.everything if place.endswith(".package_id")]
    if ids and "packages_count" in spec.fields:
        yield said(("fields", "packages_count"), "packages", ids=ids[0])
    yield from _written_once(spec)
    counts = any(name in spec.lines and not spec.lines[name].is_always_filled for name in _QUANTITIES)
    if spec.lines and spec.operation in _OF_PIECES and not counts and "equal_rows" not in spec.checks.model_fields_set:
        yield said(("lines",), "equal_lines")


def _written_once(spec: MappingSpec) -> Iterator[LintFinding]:
    """Rules on columns that may be written on a document's first row only, as its key is, and are not filled down."""
    lines = (names for place, field in spec.everything.items() if place.startswith("lines.") for names in field.columns)
    filled, keys, goods = (
        {ColumnName.of(name).identity for name in names}
        for names in (spec.sheet.fill_down, spec.key, chain.from_iterable(lines))
    )
    for name, patterns in spec.sheet.skip_rows_where.items() if keys & filled else ():
        if ColumnName.of(name).identity not in filled | keys | goods and not all(map(is_known_pattern, patterns)):
            yield said(("sheet", "skip_rows_where", name), "rule_once", name=name)


def _values(part: BaseModel, here: Place) -> Iterator[LintFinding]:
    """The keys of a part, and of the parts within it, that are given their default."""
    for name, field in type(part).model_fields.items():
        if name not in part.model_fields_set:
            continue
        value, key = getattr(part, name), field.alias or name
        is_default = not field.is_required() and value == field.get_default(call_default_factory=True)
        if isinstance(value, BaseModel) and value.model_fields_set:
            yield from _values(value, (*here, key))
        elif is_default and (type(part), name) not in _SAID_ON_PURPOSE:
            yield said((*here, key), "default", key=key)
        elif isinstance(value, dict | list):
            for at, each in value.items() if isinstance(value, dict) else enumerate(value):
                if isinstance(each, BaseModel):
                    yield from _values(each, (*here, key, at))


def _steps(here: Place, field: FieldSpec, target: str, form: FieldForm) -> Iterator[LintFinding]:
    """Steps of `read` that do nothing, or what the target is read as without them."""
    steps = field.read or []
    only_text = all(verb_of(step).name not in GIVES for step in steps[:-1])
    for index, step in enumerate(steps):
        place = (*here, index) if len(steps) > 1 else here
        if step == "text":
            yield said(place, "default.text")
        elif index == len(steps) - 1 and only_text and step == NATURAL.get(form):
            yield said(place, "default.step", step=f"read: {step}" if len(steps) == 1 else step, name=target)
        elif isinstance(step, LookupRead) and isinstance(step.lookup, dict) and form is FieldForm.PAYMENT:
            known = {word.lower(): answer for word, answer in PAYMENT_WORDS.items()}
            if all(known.get(word.strip().lower()) == answer for word, answer in step.lookup.items()):
                yield said((*place, "lookup"), "default.lookup", name=target)
