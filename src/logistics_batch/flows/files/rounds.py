"""The rounds of a file: its very cells come again after some of its rows were accepted as corrected meanwhile."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Final

import polars as pl

from logistics_batch.errors import FileHeld
from logistics_batch.flows.files.deliver import kept_file
from logistics_batch.flows.files.foreign_files import cells_of_file
from logistics_batch.flows.parts import Parts
from logistics_batch.ledger import StoredDocument, StoredFile, kind_of
from logistics_batch.mapping import Mapping
from logistics_batch.messages import packed
from logistics_batch.model.answers import result_stem
from logistics_batch.model.asn_marker import without_marker
from logistics_batch.model.document import Document, MappedFile, Operation, RowState
from logistics_batch.model.issue import Issue, Place
from logistics_batch.model.sheet import SourceFile

_ASKS = (RowState.READY.value, RowState.INVALID.value, RowState.BLOCKED.value)
_LOOKED_AT: Final = 3
_UPDATES = (Operation.ORDER_UPDATE, Operation.ASN_UPDATE)


def as_accepted(parts: Parts, mapped: MappedFile, source: SourceFile, mapping: Mapping, *, path: Path) -> MappedFile:
    """The same file, in which rows that a later round of it finished stand for what was accepted then.

    Only the very same cells show that nothing else is asked for now, whatever the file is called by now and whichever
    program saved it; a round is known by its name, the order or ASN by its key. What was changed by an update since
    stays as it came. path: where the file lies.
    """
    asks = mapped.rows.filter(pl.col("state").is_in(_ASKS))["key"].drop_nulls().unique().to_list()
    if not asks or not mapping.operation.creates:
        return mapped
    kind = kind_of(mapping.operation)
    last: dict[str, int] = {}
    for file_name, number in parts.ledger.documents.files_accepted(kind=kind, keys=asks):
        name = _name(file_name, mapping)
        last[name] = max(number, last.get(name, 0))
    found: dict[str, StoredDocument] = {}
    for name, number in last.items():
        first = _first_alike(parts, name, source, mapping, path, rows=mapped.rows.height, before=number)
        if first is not None:
            later = parts.ledger.documents.accepted_since(first, kind=kind, keys=asks)
            found |= {each.key: each for each in later if _name(each.file_name, mapping) == name and each.body}
    if not found:
        return mapped
    numbers = [number for each in found.values() for number in (each.reference, each.awb_number) if number]
    for update in parts.ledger.documents.select(operations=_UPDATES, references=numbers):
        found.pop(next((key for key, each in found.items() if each.reference == update.reference), ""), None)
    return _standing_for(mapped, found)


def with_what_was_accepted(parts: Parts, mapped: MappedFile, mapping: Mapping) -> MappedFile:
    """The same file, in which each wrong row of an order or ASN that was accepted before says so.

    Who corrects the row once more should know that the service has it, and as which file said it.
    """
    is_invalid = pl.col("state") == RowState.INVALID.value
    disagrees = (pl.col("state") == RowState.BLOCKED.value) & ~is_invalid.any().over("key")
    wrong = mapped.rows.filter(is_invalid | disagrees).drop_nulls("key")
    if wrong.is_empty() or not mapping.operation.creates:
        return mapped
    keys = wrong["key"].unique().to_list()
    accepted = parts.ledger.documents.accepted_since(0, kind=kind_of(mapping.operation), keys=keys)
    last, told = {each.key: each for each in accepted}, list[Issue]()
    for sheet, row, key, code, values in wrong.select("sheet", "row", "key", "code", "values").iter_rows():
        if key in last:
            place, number = Place(row, sheet=sheet), last[key].awb_number or last[key].reference
            told += [Issue(code, place, values or "")] if code else []  # else the row would say the second thing only
            told.append(Issue.of("accepted_before", place, key=key, number=number, **_round(last[key])))
    return replace(mapped, issues=tuple(sorted((*mapped.issues, *told), key=lambda each: (each.sheet, each.row))))


def _first_alike(
    parts: Parts, name: str, source: SourceFile, mapping: Mapping, path: Path, *, rows: int, before: int
) -> int | None:
    """When the same cells came first under a name that was answered before an arrival: the number of that arrival.

    Of an original that is not at hand any more only the same bytes are known; of other contents the last few count.
    """
    came = [
        each
        for each in parts.ledger.files.named(name)
        if each.id < before and each.mapping == mapping.name and _name(each.name, mapping) == name
    ]
    firsts: dict[str, StoredFile] = {}
    for each in came:
        if each.rows_read == rows:
            firsts.setdefault(each.sha256, each)
    if source.sha256 in firsts:
        return firsts[source.sha256].id
    others = [each for each in list(firsts.values())[-_LOOKED_AT:] if kept_file(parts, each).exists()]
    own = _cells(parts, path, source.name, mapping) if others else ""
    return next((each.id for each in others if own == _cells(parts, kept_file(parts, each), each.name, mapping)), None)


def _cells(parts: Parts, path: Path, name: str, mapping: Mapping) -> str:
    with suppress(FileHeld):  # of an original that was read otherwise then
        return parts.limited(cells_of_file, about=name)(path, name=name, options=mapping.read_options)
    return name


def _name(name: str, mapping: Mapping) -> str:
    return result_stem(name).removesuffix(f".{mapping.name}")


def _standing_for(mapped: MappedFile, found: dict[str, StoredDocument]) -> MappedFile:
    """The file with these documents, by key, in the place of its own, whether those could be sent or not."""
    documents = list(mapped.documents)
    places = {document.key: place for place, document in enumerate(documents) if document.key in found}
    asks = pl.col("state").is_in(_ASKS) & pl.col("key").is_in(list(found))
    for (key,), rows in mapped.rows.filter(asks, pl.col("sheet") == "").group_by("key", maintain_order=True):
        own = _as_sent(found[str(key)], rows["row"].to_list())
        if str(key) in places:
            documents[places[str(key)]] = own
        else:
            places[str(key)] = len(documents)
            documents.append(own)
    told = {
        "state": dict.fromkeys(places, RowState.READY.value),
        "document": places,
        "code": dict.fromkeys(places, "unchanged.round"),
        "values": {key: packed(_round(found[key])) for key in places},
    }
    stand = asks & pl.col("key").is_in(list(places))
    rows = mapped.rows.with_columns(
        pl.when(stand).then(pl.col("key").replace_strict(values, default=None)).otherwise(name).alias(name)
        for name, values in told.items()
    ).cast(mapped.rows.schema)
    finished = set(rows.filter(stand).select("sheet", "row").iter_rows())
    issues = tuple(issue for issue in mapped.issues if (issue.sheet, issue.row) not in finished)
    return replace(mapped, rows=rows, documents=tuple(documents), issues=issues)


def _as_sent(accepted: StoredDocument, rows: Sequence[int]) -> Document:
    body = without_marker(accepted.body, accepted.marker)
    return Document(accepted.key, Operation(accepted.operation), tuple(rows), body, accepted.reference)


def _round(accepted: StoredDocument) -> dict[str, str]:
    return {"at": accepted.accepted_at, "file": accepted.file_name, "run": accepted.accepted_run}
