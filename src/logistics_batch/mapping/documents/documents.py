"""The documents of a mapped file, and what the contract's models say against them, at the rows that they come from.

A body is text built from columns when it is asked for: compact JSON in the contract's field order, blanks left out. Of
a large file never all bodies are there at once.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, Final, Literal

import polars as pl
from pydantic import BaseModel, ValidationError, create_model
from pydantic.fields import FieldInfo

from logistics_batch.mapping.documents.changes import SPELT_IN_SAMPLES, check_change, finished
from logistics_batch.mapping.fields.compile import CompiledSheet
from logistics_batch.mapping.fields.fields import KIT, Field
from logistics_batch.mapping.findings import Findings
from logistics_batch.mapping.loaded import Mapping
from logistics_batch.mapping.spec.targets import JSON_NUMBERS, element_of, targets_of
from logistics_batch.model.document import DOCUMENTS_SCHEMA, Documents, Operation, OrderNumber
from logistics_batch.model.issue import Issue
from logistics_batch.model.payloads import PAYLOADS, Complaint, LongitudeName, complaints

BLOCK_DOCUMENTS: Final = 5_000
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

    def bodies(self, heads: pl.DataFrame, lines: pl.DataFrame) -> list[str]:
        """The exact text of each of some documents; lines: theirs and no others."""
        targets = self.mapping.targets
        parts = self._parts(heads, "fields", targets.header)
        if self.line:
            own = lines
            if KIT in lines.columns:
                own = lines.filter(pl.col(KIT).is_null())
                parts["kit_skus"] = _array("kit_skus", heads, self._kits(lines.filter(pl.col(KIT).is_not_null())))
            items = own.select("doc", text=_object(self._parts(own, "lines", targets.lines).values()))
            items = items if own is lines else items.filter(pl.col("text") != "{}")
            parts[targets.lines_field] = _array(targets.lines_field, heads, items)
            order = [*PAYLOADS[targets.operation].model_fields]
            parts = {name: parts[name] for name in sorted(parts, key=order.index)}
        texts = heads.select("doc", text=_object(parts.values()))["text"].to_list()
        return texts if targets.operation.creates else [finished(text, targets.operation) for text in texts]

    def _kits(self, lines: pl.DataFrame) -> pl.DataFrame:
        """The kits of documents: doc, text; lines: their contents, of which the first says what the kit is called."""
        once = [name for name in ("v:kits.name", "v:kits.description") if name in lines.columns]
        items = _object(self._parts(lines, "kit_lines", self.mapping.targets.lines).values())
        inside = lines.select("doc", KIT, *once, item=items).group_by("doc", KIT, maintain_order=True)
        kits = inside.agg(pl.col(once).first(), pl.col("item").str.join(","))
        named = self._parts(kits, "kits", ("name", "description")).values()
        contents = pl.lit(',"item_details":[') + pl.col("item") + pl.lit("]")
        return kits.select("doc", text=_object((*named, contents)))

    def _parts(self, frame: pl.DataFrame, part: str, names: Sequence[str]) -> dict[str, pl.Expr]:
        """For each mapped target `,"name":value`, null where there is no value."""
        columns = {name: column for name in names if (column := f"v:{part}.{name}") in frame.columns}
        texts = [pl.col(column) for name, column in columns.items() if name not in JSON_NUMBERS]
        special = frame.select(text.str.contains(_SPECIAL).any() for text in texts).row(0, named=True) if texts else {}
        found: dict[str, pl.Expr] = {}
        for name, column in columns.items():
            value = pl.col(column)
            if special.get(column):  # some value holds a sign that JSON escapes
                value = value.str.replace_all("\\", "\\\\", literal=True).str.replace_all('"', '\\"', literal=True)
            mark = "" if name in JSON_NUMBERS else '"'
            spelt = SPELT_IN_SAMPLES.get(name, name) if self.longitude == "delivery_lon" else name
            found[name] = pl.lit(f',"{spelt}":{mark}') + value + pl.lit(mark)
        return found


def _object(parts: Iterable[pl.Expr]) -> pl.Expr:
    """A JSON object of parts, without those that are null."""
    return pl.lit("{") + pl.concat_str([pl.lit(""), *parts], ignore_nulls=True).str.strip_prefix(",") + pl.lit("}")


def _array(name: str, heads: pl.DataFrame, elements: pl.DataFrame) -> pl.Expr:
    """The part of each head that lists its elements (doc, text); null where it has none."""
    grouped = elements.group_by("doc", maintain_order=True).agg("text")
    listed = heads.select("doc").join(grouped, on="doc", how="left", maintain_order="left")["text"].list.join(",")
    return pl.lit(f',"{name}":[') + pl.lit(listed) + pl.lit("]")


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
    if documents.is_empty():
        return lines.clear()
    begin, end = (lines["doc"].search_sorted(documents["doc"][place], side) for place, side in _ENDS)
    return lines.slice(begin, end - begin)


def _kept_of(lines: pl.DataFrame, keep: Sequence[Field]) -> pl.Series:
    """For each document what is kept of its first row, without blanks, as JSON; of several items the bin of each."""
    firsts = lines.filter("first")
    members: list[pl.Expr] = []
    for field in keep:
        value = pl.col(field.value_name)
        members.append(pl.when(value.is_not_null()).then(pl.lit(f",{json.dumps(field.target)}:") + _json_text(value)))
        if field.target == BIN and any(name.startswith(_ITEM) or name == KIT for name in lines.columns):
            bins = _bins(lines, value)
            firsts = firsts.join(bins, on="doc", how="left", maintain_order="left")
            members.append(pl.col("bins"))
    return firsts.with_columns(keep=_object(members))["keep"]


def _bins(lines: pl.DataFrame, value: pl.Expr) -> pl.DataFrame:
    """The bins of items as members of a JSON object, `bin:2` of the second item: doc, bins.

    The first item's is left out where it is that of the first row.
    """
    if KIT in lines.columns:  # items of the order itself come before those of its kits
        items = [pl.col(name).is_not_null() for name in lines.columns if name.startswith(_ITEM)]
        lines = lines.filter(pl.any_horizontal(pl.col(KIT).is_not_null(), *items)).with_row_index("nth")
        kit = pl.when(pl.col(KIT).is_null()).then(-1).otherwise(pl.col("nth").first().over("doc", KIT))
        lines = lines.sort("doc", kit, maintain_order=True)
    placed = lines.select("doc", "first", place=pl.int_range(1, pl.len() + 1).over("doc"), bin=value)
    told = placed.filter(pl.col("bin").is_not_null() & ~(pl.col("first") & (pl.col("place") == 1)))
    members = told.select("doc", bins=pl.format(',"{}:{}":{}', pl.lit(BIN), "place", _json_text(pl.col("bin"))))
    return members.group_by("doc", maintain_order=True).agg(pl.col("bins").str.join(""))


def _json_text(value: pl.Expr) -> pl.Expr:
    """A text as JSON has it."""
    return pl.struct(value.alias("v")).struct.json_encode().str.extract(r"^\{\"v\":(.*)\}$")


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
    for heads, lines in material.blocks():
        for place, said in _refused(material, heads, lines).items():
            rows = table.lines.filter(pl.col("doc") == heads["doc"][place])["row"]
            for complaint in said:
                position = next((step for step in complaint.place if isinstance(step, int)), None)
                in_line = position is not None and position < rows.len()
                name = complaint.field or complaint.rule
                field = table.field(f"{'lines' if in_line else 'fields'}.{name}")
                row = pl.Series([rows[position] if in_line else rows[0]])
                found.add(row, field.column if field else None, name, Issue.of(complaint.code, **complaint.values))


def _refused(material: Material, heads: pl.DataFrame, lines: pl.DataFrame) -> dict[int, list[Complaint]]:
    """The documents that the contract refuses: position in `heads` to complaints.

    Of many documents whose columns keep the contract's rules, those are believed that have the same fields filled as
    one that the model accepts; every other document is shown to the model, and so are all where there are few.
    """
    every, operation = range(heads.height), material.mapping.operation
    if heads.height <= _FEW or operation not in _BY_PRESENCE or KIT in lines.columns:
        return _judged(material, heads, lines, every)
    model = PAYLOADS[operation]
    element = element_of(model, material.mapping.targets.lines_field)
    if not (_keep_rules(heads, "fields", model) and (element is None or _keep_rules(lines, "lines", element))):
        return _judged(material, heads, lines, every)
    shapes = _shapes(heads, lines)
    wrong = shapes.gather([*_judged(material, heads, lines, shapes.arg_unique().sort().to_list())])
    return _judged(material, heads, lines, shapes.is_in(wrong.implode()).arg_true().to_list())


def _judged(
    material: Material, heads: pl.DataFrame, lines: pl.DataFrame, places: Sequence[int]
) -> dict[int, list[Complaint]]:
    """What the contract's model says against the documents at some places, where it does."""
    some = heads[places]
    bodies = material.bodies(some, lines.filter(pl.col("doc").is_in(some["doc"].implode()))) if places else []
    told = (body_complaints(body, material.mapping.operation, longitude=material.longitude) for body in bodies)
    return {place: said for place, said in zip(places, told, strict=True) if said}


def _keep_rules(frame: pl.DataFrame, part: str, model: type[BaseModel]) -> bool:
    """Whether the model accepts each value by itself, in texts that JSON can hold."""
    prefix, values = f"v:{part}.", dict[str, list[object]]()
    for name in (name.removeprefix(prefix) for name in frame.columns if name.startswith(prefix)):
        different = frame[prefix + name].drop_nulls().unique()
        if different.str.contains(_BREAKS_JSON).any():
            return False
        is_number = name in JSON_NUMBERS
        values[name] = json.loads(f"[{','.join(different)}]") if is_number else different.to_list()
    try:
        _of_columns(model).model_validate(values)
    except ValidationError:
        return False
    return True


@cache
def _of_columns(model: type[BaseModel]) -> type[BaseModel]:
    """A model whose fields list values of each field of another, without the rules between fields.

    Made once: in a folder of small files it would be made for each.
    """
    every = model.model_fields.items()
    fields: dict[str, Any] = {name: (list[_annotated(each)], []) for name, each in every}  # type: ignore[misc]
    columns: type[BaseModel] = create_model(f"ColumnsOf{model.__name__}", **fields)
    return columns


def _annotated(field: FieldInfo) -> Any:
    return Annotated[(field.annotation, *field.metadata, None)]  # no fewer than two


def _shapes(heads: pl.DataFrame, lines: pl.DataFrame) -> pl.Series:
    """For each document a number that stands for which of its fields are filled, in some and in all of its lines."""
    lacks = [pl.col(name).is_null() for name in lines.columns if name != "doc"]
    of_lines = lines.group_by("doc", maintain_order=True).agg(
        *(each.any() for each in lacks), *(each.all().name.suffix(":all") for each in lacks)
    )
    own = heads.select("doc", pl.col("^v:.*$").is_null())
    both = own.join(of_lines, on="doc", how="left", maintain_order="left")
    return both.select(pl.struct(pl.exclude("doc")).hash()).to_series()
