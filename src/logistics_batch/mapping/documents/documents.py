"""The documents of a mapped file, and what the contract's models say against them, at the rows that they come from.

A body is text built from columns when it is asked for: compact JSON in the contract's field order, blanks left out. Of
a large file never all bodies are there at once.
"""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, Final, Literal, NamedTuple

import polars as pl
from pydantic import BaseModel, TypeAdapter, ValidationError

from logistics_batch.mapping.documents.changes import SPELT_IN_SAMPLES, check_change, finished
from logistics_batch.mapping.fields.compile import CompiledSheet
from logistics_batch.mapping.fields.fields import KIT, Field
from logistics_batch.mapping.findings import Findings
from logistics_batch.mapping.loaded import Mapping
from logistics_batch.mapping.rows.cells import repeats
from logistics_batch.mapping.spec.targets import JSON_NUMBERS, element_of, targets_of
from logistics_batch.model.document import DOCUMENTS_SCHEMA, Documents, Operation, OrderNumber
from logistics_batch.model.issue import Issue
from logistics_batch.model.payloads import PAYLOADS, Complaint, LongitudeName, complaints

BLOCK_DOCUMENTS: Final = 10_000
"""So many documents at a time become text, which bounds the memory that takes."""

_ENDS: Final[tuple[tuple[int, Literal["left", "right"]], ...]] = ((0, "left"), (-1, "right"))
_SPECIAL: Final = r'["\\\x00-\x1f]'
_BY_PRESENCE: Final = frozenset({Operation.ASN_CREATE, Operation.ASN_UPDATE, Operation.ORDER_CREATE})
"""Operations in whose models the rules between fields ask only which fields are there, not what they hold."""

BIN: Final = "bin"
"""The name under `keep` of where goods lie, which is kept for every item."""
_ITEM: Final = "v:lines."

_FEW: Final = 20  # documents: the model is as fast as the columns
_BREAKS_JSON: Final = r"[\x00-\x1f]"


@dataclass(frozen=True, slots=True)
class Material:
    """What documents are made of; gone through, it gives them in file order, some at a time (DOCUMENTS_SCHEMA).

    heads: one line a document, in file order: doc, natural (its natural key), reference, and the header fields' values
    v:fields.*. lines: one line each of their lines, sorted by doc: doc, row, first (of its document), and values.
    barred: the docs that are not made. line, keep: the fields of lines, and those that are kept. rows_repeat: some row
    has become several lines. order: how the sheet names orders, for operations that change one. lent: targets whose
    values the run gave.
    """

    mapping: Mapping
    heads: pl.DataFrame
    lines: pl.DataFrame
    barred: pl.Series
    line: tuple[Field, ...]
    keep: tuple[Field, ...]
    rows_repeat: bool
    order: OrderNumber | None
    lent: tuple[str, ...]
    longitude: LongitudeName

    def blocks(self) -> Iterator[tuple[pl.DataFrame, pl.DataFrame]]:
        """Some heads at a time with their lines, without those that are barred."""
        fit = pl.col("doc").is_in(self.barred.implode()).not_()
        for block in self.heads.iter_slices(BLOCK_DOCUMENTS):
            yield block.filter(fit), _between(block, self.lines).filter(fit)

    def __iter__(self) -> Iterator[pl.DataFrame]:
        for heads, lines in self.blocks():
            grouped = lines.group_by("doc", maintain_order=True).agg("row")["row"]
            columns: dict[str, object] = {
                "key": heads["natural"],
                "reference": heads["reference"],
                "body": self.bodies(heads, lines),
                "rows": grouped.list.unique(maintain_order=True) if self.rows_repeat else grouped,
                "line_rows": grouped if self.line else [[]] * heads.height,
                "keep": _kept_of(lines, self.keep),
                "order": [None] * heads.height if self.order is None else heads["reference"],
            }
            yield pl.DataFrame(columns, schema=DOCUMENTS_SCHEMA)

    def bodies(self, heads: pl.DataFrame, lines: pl.DataFrame) -> pl.Series:
        """The exact text of each of some documents; lines: theirs and no others."""
        targets = self.mapping.targets
        parts = self._members(heads, "fields", targets.header)
        if self.line:
            own = lines
            if KIT in lines.columns:
                own = lines.filter(pl.col(KIT).is_null())
                parts["kit_skus"] = _array("kit_skus", heads, self._kits(lines.filter(pl.col(KIT).is_not_null())))
            items = own.select("doc", text=_object(self._members(own, "lines", targets.lines).values()))
            items = items if own is lines else items.filter(pl.col("text") != "{}")
            parts[targets.lines_field] = _array(targets.lines_field, heads, items)
            order = [*PAYLOADS[targets.operation].model_fields]
            parts = {name: parts[name] for name in sorted(parts, key=order.index)}
        texts = heads.select("doc", text=_object(parts.values()))["text"]
        return texts if targets.operation.creates else pl.Series([finished(text, targets.operation) for text in texts])

    def _kits(self, lines: pl.DataFrame) -> pl.DataFrame:
        """The kits of documents: doc, text; lines: their contents, of which the first says what the kit is called."""
        once = [name for name in ("v:kits.name", "v:kits.description") if name in lines.columns]
        items = _object(self._members(lines, "kit_lines", self.mapping.targets.lines).values())
        inside = lines.select("doc", KIT, *once, item=items).group_by("doc", KIT, maintain_order=True)
        kits = inside.agg(pl.col(once).first(), pl.col("item").str.join(","))
        named = self._members(kits, "kits", ("name", "description")).values()
        contents = _Member(',"item_details":[', pl.col("item"), "]", is_always=True)
        return kits.select("doc", text=_object((*named, contents)))

    def _members(self, frame: pl.DataFrame, part: str, names: Sequence[str]) -> dict[str, "_Member"]:
        """For each mapped target its member of a JSON object."""
        found: dict[str, _Member] = {}
        for name in names:
            if (column := f"v:{part}.{name}") in frame.columns:
                spelt = SPELT_IN_SAMPLES.get(name, name) if self.longitude == "delivery_lon" else name
                value, is_always = pl.col(column), not frame[column].null_count()
                is_text = name not in JSON_NUMBERS
                if is_text and frame[column].str.contains(_SPECIAL).any():  # some value holds a sign that JSON escapes
                    value = value.str.replace_all("\\", "\\\\", literal=True).str.replace_all('"', '\\"', literal=True)
                mark = '"' if is_text else ""
                found[name] = _Member(f',"{spelt}":{mark}', value, mark, is_always)
        return found


class _Member(NamedTuple):
    """A member of a JSON object: what stands before its value, the value, and what stands behind it; none where the
    value is null.
    """

    before: str
    value: pl.Expr
    behind: str
    is_always: bool

    @property
    def pieces(self) -> list[pl.Expr]:
        """Texts that follow each other, all there or one that is null; to put few together is faster than many."""
        every = [pl.lit(self.before), self.value, pl.lit(self.behind)]
        return every if self.is_always else [pl.concat_str(every)]


def _object(members: Iterable[_Member]) -> pl.Expr:
    """A JSON object of those members that are there."""
    every = list(members)
    if every and every[0].is_always:
        every[0] = every[0]._replace(before="{" + every[0].before.removeprefix(","))
        return pl.concat_str([*(piece for each in every for piece in each.pieces), pl.lit("}")], ignore_nulls=True)
    pieces = [pl.lit(""), *(piece for each in every for piece in each.pieces)]
    return pl.lit("{") + pl.concat_str(pieces, ignore_nulls=True).str.strip_prefix(",") + pl.lit("}")


def _array(name: str, heads: pl.DataFrame, elements: pl.DataFrame) -> _Member:
    """The member of each head that lists its elements (doc, text, by doc); null where it has none."""
    grouped = elements.with_columns(pl.col("doc").set_sorted()).group_by("doc", maintain_order=True).agg("text")
    listed = heads.select("doc").join(grouped, on="doc", how="left", maintain_order="left")["text"].list.join(",")
    return _Member(f',"{name}":[', pl.lit(listed), "]", is_always=not listed.null_count())


def documents_of(material: Material) -> Documents:
    """The documents; those of an ordinary file are made at once."""
    heads = material.heads["doc"]
    return Documents(
        list(material) if heads.len() <= BLOCK_DOCUMENTS else material,
        count=heads.len() - int(heads.is_in(material.barred.implode()).sum()),
        operation=material.mapping.operation,
        order=material.order,
        lent=material.lent,
    )


def _between(documents: pl.DataFrame, lines: pl.DataFrame) -> pl.DataFrame:
    """The lines from the first document's to the last one's; both are sorted by doc."""
    begin, end = (lines["doc"].search_sorted(documents["doc"][place], side) for place, side in _ENDS)
    return lines.slice(begin, end - begin)


def _kept_of(lines: pl.DataFrame, keep: Sequence[Field]) -> pl.Series:
    """For each document what is kept of its first row, without blanks, as JSON; of several items the bin of each."""
    firsts = lines.filter("first")
    members: list[_Member] = []
    for field in keep:
        text = _json_text(lines[field.value_name])
        members.append(_Member(f",{json.dumps(field.target)}:", text, "", is_always=False))
        if field.target == BIN and any(name.startswith(_ITEM) or name == KIT for name in lines.columns):
            firsts = firsts.join(_bins(lines, text), on="doc", how="left", maintain_order="left")
            members.append(_Member("", pl.col("bins"), "", is_always=False))
    return firsts.with_columns(keep=_object(members))["keep"]


def _bins(lines: pl.DataFrame, text: pl.Expr) -> pl.DataFrame:
    """The bins of items as members of a JSON object, `bin:2` of the second item: doc, bins.

    The first item's is left out where it is that of the first row. text: the bin as JSON has it.
    """
    if KIT in lines.columns:  # items of the order itself come before those of its kits
        items = [pl.col(name).is_not_null() for name in lines.columns if name.startswith(_ITEM)]
        lines = lines.filter(pl.any_horizontal(pl.col(KIT).is_not_null(), *items)).with_row_index("nth")
        kit = pl.when(pl.col(KIT).is_null()).then(-1).otherwise(pl.col("nth").first().over("doc", KIT))
        lines = lines.sort("doc", kit, maintain_order=True)
    number, begins = pl.int_range(pl.len()), pl.col("doc").ne_missing(pl.col("doc").shift(1))
    place = number - pl.when(begins).then(number).forward_fill() + 1
    placed = lines.select("doc", "first", place=place, bin=text)
    told = placed.filter(pl.col("bin").is_not_null() & ~(pl.col("first") & (pl.col("place") == 1)))
    members = told.select("doc", bins=pl.format(f',"{BIN}:{{}}":{{}}', "place", "bin"))
    return members.group_by("doc", maintain_order=True).agg(pl.col("bins")).with_columns(pl.col("bins").list.join(""))


def _json_text(column: pl.Series) -> pl.Expr:
    """A column's texts as JSON has them."""
    value = pl.col(column.name)
    if column.str.contains(_SPECIAL).any():
        told = pl.struct(value.alias("v")).struct.json_encode().str.extract(r"^\{\"v\":(.*)\}$")
        return pl.when(value.is_not_null()).then(told)
    return pl.concat_str(pl.lit('"'), value, pl.lit('"'))


def body_complaints(body: str, operation: Operation, *, longitude: LongitudeName) -> list[Complaint]:
    """What the contract's model says against the body of a document that is about to be sent; empty if nothing."""
    published = {spelt: name for name, spelt in SPELT_IN_SAMPLES.items()} if longitude == "delivery_lon" else {}
    if operation.changes_order:
        return check_change(body, targets_of(operation), published)
    try:
        if published:
            fields = {published.get(name, name): value for name, value in json.loads(body).items()}
            PAYLOADS[operation].model_validate(fields)
        else:
            PAYLOADS[operation].model_validate_json(body)
    except ValidationError as error:
        return complaints(error)
    return []


def find_refused(found: Findings, table: CompiledSheet, material: Material) -> None:
    """Find what the contract says against the documents that nothing else bars."""
    for doc, said in _refused(material).items():
        rows = table.lines.filter(pl.col("doc") == doc)["row"]
        for complaint in said:
            position = next((step for step in complaint.place if isinstance(step, int)), None)
            in_line = position is not None and position < rows.len()
            name = complaint.field or complaint.rule
            told_at = re.split("_(?:or|and)_", name)[0]  # the first of two that go or do not go together
            field = table.field(f"{'lines' if in_line else 'fields'}.{told_at}")
            row = pl.Series([rows[position] if in_line else rows[0]])
            found.add(row, field.column if field else None, name, Issue.of(complaint.code, **complaint.values))


def _refused(material: Material) -> dict[int, list[Complaint]]:
    """The documents that the contract refuses, with what it says.

    Of many documents those whose values the contract takes one by one are believed that have the same fields filled as
    one that the model accepts; every other document is shown to the model, and so are all where there are few.
    """
    heads, lines, operation = material.heads, material.lines, material.mapping.operation
    may_go = ~pl.col("doc").is_in(material.barred.implode())
    if heads.height <= _FEW or operation not in _BY_PRESENCE or KIT in lines.columns:
        return _judged(material, heads.filter(may_go)["doc"])
    model = PAYLOADS[operation]
    parts = {"fields": (heads, model), "lines": (lines, element_of(model, material.mapping.targets.lines_field))}
    wrong = pl.concat(_with_wrong_values(frame, part, each) for part, (frame, each) in parts.items() if each)
    shapes = _shapes(heads, lines).filter(may_go & ~pl.col("doc").is_in(wrong.implode()))
    firsts = shapes.unique("shape", keep="first", maintain_order=True)
    refused = _judged(material, pl.concat([wrong, firsts["doc"]]))
    of_refused = firsts.filter(pl.col("doc").is_in([*refused]))["shape"]
    refused |= _judged(material, shapes.filter(pl.col("shape").is_in(of_refused.implode()))["doc"])
    return {doc: refused[doc] for doc in sorted(refused)}


def _judged(material: Material, docs: pl.Series) -> dict[int, list[Complaint]]:
    """What the contract's model says against some documents, where it does; nothing of those that are barred."""
    refused: dict[int, list[Complaint]] = {}
    asked = pl.col("doc").is_in(docs.implode()) & ~pl.col("doc").is_in(material.barred.implode())
    for heads in material.heads.filter(asked).iter_slices(BLOCK_DOCUMENTS):
        bodies = material.bodies(heads, _between(heads, material.lines).filter(asked))
        for doc, body in zip(heads["doc"], bodies, strict=True):
            if said := body_complaints(body, material.mapping.operation, longitude=material.longitude):
                refused[doc] = said
    return refused


def _with_wrong_values(frame: pl.DataFrame, part: str, model: type[BaseModel]) -> pl.Series:
    """The documents with a value that the model refuses by itself, or that breaks JSON."""
    has_wrong, prefix = [pl.lit(value=False)], f"v:{part}."
    for column in (name for name in frame.columns if name.startswith(prefix)):
        name, there = column.removeprefix(prefix), frame[column].drop_nulls()
        there = there.unique() if repeats(there) else there
        breaks = there.str.contains(_BREAKS_JSON)
        asked, wrong = there.filter(~breaks), there.filter(breaks).to_list()
        values = json.loads(f"[{','.join(asked)}]") if name in JSON_NUMBERS else asked.to_list()
        try:
            _values_of(model, name).validate_python(values)
        except ValidationError as error:
            found = error.errors(include_url=False, include_context=False, include_input=False)
            wrong += [asked[int(each["loc"][0])] for each in found]
        has_wrong += [pl.col(column).is_in(wrong)] if wrong else []
    return frame.filter(pl.any_horizontal(has_wrong))["doc"].unique()


@cache
def _values_of(model: type[BaseModel], name: str) -> TypeAdapter[list[Any]]:
    """A list of values of one field; made once, and not for each of a folder's small files."""
    field = model.model_fields[name]
    annotated: Any = Annotated[(field.annotation, *field.metadata, None)]
    return TypeAdapter(list[annotated])


def _shapes(heads: pl.DataFrame, lines: pl.DataFrame) -> pl.DataFrame:
    """For each document (doc) a number that stands for which of its fields are filled, in some and in all of its lines
    (shape).

    Columns that are filled, or blank, in all of the file tell no document from another.
    """
    telling = [name for name in lines.columns if name != "doc" and 0 < lines[name].null_count() < lines.height]
    lacks = [pl.col(name).is_null() for name in telling]
    of_lines = lines.group_by("doc", maintain_order=True).agg(
        *(each.any() for each in lacks), *(each.all().name.suffix(":all") for each in lacks)
    )
    own = heads.select("doc", pl.col("^v:.*$").is_null())
    both = own.join(of_lines, on="doc", how="left", maintain_order="left")
    return both.select("doc", shape=pl.struct(pl.exclude("doc")).hash())
