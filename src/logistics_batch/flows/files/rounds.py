"""The rounds of a file: its very bytes come again after some of its rows were accepted as corrected meanwhile."""

from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from logistics_batch.flows.parts import Parts
from logistics_batch.ledger import StoredDocument, kind_of
from logistics_batch.mapping import Mapping
from logistics_batch.messages import packed
from logistics_batch.model.answers.answer_files import result_stem
from logistics_batch.model.asn_marker import without_marker
from logistics_batch.model.document import Document, MappedFile, Operation, RowState
from logistics_batch.model.sheet import SourceFile

_ASKS = (RowState.READY.value, RowState.INVALID.value, RowState.BLOCKED.value)
_UPDATES = (Operation.ORDER_UPDATE, Operation.ASN_UPDATE)


def as_accepted(parts: Parts, mapped: MappedFile, source: SourceFile, mapping: Mapping) -> MappedFile:
    """The same file, in which rows that a later round of it finished stand for what was accepted then.

    Only the very same bytes show that nothing else is asked for now; a round is known by its name, the order or ASN by
    its key. What was changed by an update since stays as it came.
    """
    same = parts.ledger.files.of_run(sha256=source.sha256) if mapping.operation.creates else []
    first = min((file.id for file in same if file.mapping == mapping.name), default=None)
    if first is None:
        return mapped
    keys = mapped.rows.filter(pl.col("state").is_in(_ASKS))["key"].drop_nulls().unique().to_list()
    kind, name = kind_of(mapping.operation), _name(source.name, mapping)
    later = parts.ledger.documents.accepted_since(first, kind=kind, keys=keys)
    found = {each.key: each for each in later if _name(each.file_name, mapping) == name and each.body}
    if not found:
        return mapped
    numbers = [number for each in found.values() for number in (each.reference, each.awb_number) if number]
    for update in parts.ledger.documents.select(operations=_UPDATES, references=numbers):
        found.pop(next((key for key, each in found.items() if each.reference == update.reference), ""), None)
    return _standing_for(mapped, found)


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
