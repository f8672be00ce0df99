"""A dry run: what a file would do, compared with the ledger, without a request and without a write."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date
from typing import Final

import polars as pl

from logistics_batch.flows.doubts.held import preview_id
from logistics_batch.flows.files.receive import OPEN_GATE, FileAdmissionPolicy, ReceivedFile, arrival_of
from logistics_batch.flows.parts import Parts
from logistics_batch.ledger import FATE_OF_STATE, KNOWN, LINES, NEW, Arrival, Decision, Decisions, fates
from logistics_batch.mapping import Mapping
from logistics_batch.messages import packed
from logistics_batch.messages.reasons import WaitsFor
from logistics_batch.model.asn_marker import with_marker
from logistics_batch.model.document import Document, MappedFile, Operation, RowState, calls_of
from logistics_batch.model.issue import NOTHING_SAID, Issue
from logistics_batch.model.report import DOCUMENT_RESULTS, FATES, Fate, FileReport, RunReport, exit_code

_NOT_PUSHED: Final[dict[str, str]] = {
    Operation.LABEL_CREATE: ".would_ask_label",
    Operation.RECEIPT_READ: ".would_reconcile",
}
"""What becomes of the rows of mappings that no push takes; the ledger knows nothing of them."""
_ROWS_A_BLOCK: Final = 100_000
_STATES: Final = {"plan": "planned", "hold": "held"}
_WOULD: Final = {
    operation.value: "create" if operation.creates else "update"
    for operation in Operation
    if operation not in _NOT_PUSHED
}


def preview_files(
    parts: Parts,
    files: Sequence[ReceivedFile],
    mapping: Mapping,
    *,
    business_date: date,
    job: str,
    gate: FileAdmissionPolicy = OPEN_GATE,
) -> RunReport:
    """The report that a run would give if the service took everything; rows that would go out are `pending`.

    `exit_code` is 0 if nothing else is found.
    """
    reports = []
    parts.progress.start("Reading", len(files))
    for file in files:
        arrival = arrival_of(parts, file, mapping, business_date=business_date, gate=gate)
        reports.append(_preview(parts, arrival))
        parts.progress.advance()
    parts.progress.done()
    found = RunReport("", job, tuple(reports), notes=(Issue("sending.preview"),))
    rest = found.counts | {Fate.PENDING: 0}
    return replace(found, exit_code=exit_code(rest, file_held=any(report.reason for report in reports)))


def _preview(parts: Parts, arrival: Arrival) -> FileReport:
    mapped, held = arrival.mapped, arrival.held
    report = FileReport(
        file=arrival.source.name,
        sha256=arrival.source.sha256,
        size=arrival.source.size,
        run="",
        mapping=arrival.mapping,
        mapping_digest=arrival.mapping_digest,
        held=Issue(held.code, values=packed(held.values)) if held else NOTHING_SAID,
        received_at=arrival.received_at,
        operation=arrival.operation,
    )
    if mapped is None:
        return report
    documents = mapped.documents if held is None else ()
    is_pushed = Operation(arrival.operation) not in _NOT_PUSHED
    decisions = parts.ledger.planning.evaluate(arrival, documents) if is_pushed else Decisions(len(documents), NEW, {})
    known = {place: decision.existing.id for place, decision in decisions.others.items() if decision.existing}
    existing = parts.ledger.documents.known_documents(list(known.values()))
    shown = _documents(arrival, documents, decisions, existing)
    return replace(
        report,
        sheet=mapped.sheet,
        header_row=mapped.header_row,
        rows_read=mapped.rows.height,
        lines_sheet=mapped.lines_sheet,
        lines_header_row=mapped.lines_header_row,
        rows=_rows(arrival, mapped, decisions, existing, shown),
        documents=shown.select(list(DOCUMENT_RESULTS)),
        issues=mapped.issues,
        notes=(*mapped.notes, *_approval_note(shown, decisions)),
    )


def _approval_note(shown: pl.DataFrame, decisions: Decisions) -> Iterator[Issue]:
    waits = {place: decision.waits_for == WaitsFor.APPROVAL for place, decision in decisions.others.items()}
    usually = decisions.usual.waits_for == WaitsFor.APPROVAL
    if waiting := [
        place for place in (range(decisions.count) if usually else sorted(waits)) if waits.get(place, usually)
    ]:
        calls = shown.select("method", "path", "operation", "key", "body")[waiting].iter_rows()
        yield Issue.of("approval.preview", number=preview_id(calls))


def _documents(
    arrival: Arrival, documents: Sequence[Document], decisions: Decisions, existing: pl.DataFrame
) -> pl.DataFrame:
    """DOCUMENT_RESULTS, with each document's reference and, as `document_id`, the one that it stands for already."""
    calls = {str(operation): call for operation, call in (arrival.calls or {}).items()}
    operation = pl.col("operation")
    path = operation.replace_strict({name: path for name, (_, path) in calls.items()}, return_dtype=pl.String)
    own = calls_of(documents).with_columns(
        operation.replace_strict({name: method for name, (method, _) in calls.items()}, return_dtype=pl.String).alias(
            "method"
        ),
        pl.when(pl.col("path") != "").then("path").otherwise(path).alias("path"),
        pl.lit(_STATES[decisions.usual.action]).alias("state"),
        pl.lit(None, dtype=pl.Int64).alias("document_id"),
        pl.int_range(pl.len(), dtype=pl.Int64).alias("place"),
    )
    differing = pl.DataFrame(
        [
            (at, _STATES.get(decision.action, ""), decision.existing.id if decision.existing else None, decision.marker)
            for at, decision in decisions.others.items()
        ],
        schema={"place": pl.Int64, "state": pl.String, "document_id": pl.Int64, "marker": pl.String},
        orient="row",
    )
    if differing.height:
        own = own.update(differing.drop("marker"), on="place", how="left", include_nulls=False)
        marked = differing.filter(pl.col("marker") != "").join(own.select("place", "body"), on="place")
        bodies = [with_marker(body, marker) for body, marker in marked.select("body", "marker").iter_rows()]
        own = own.update(marked.select("place", pl.Series("body", bodies, dtype=pl.String)), on="place", how="left")
    known = existing.select(
        pl.col("id").alias("document_id"), pl.col("state", "awb_number", "body").name.prefix("its:")
    )
    both = own.join(known, on="document_id", how="left", maintain_order="left")
    state = pl.coalesce("its:state", "state")
    goes_out = state.replace_strict(FATE_OF_STATE, default="") == Fate.PENDING.value
    would = pl.col("operation").replace_strict(_WOULD, default="", return_dtype=pl.String)
    return both.with_columns(
        state.alias("state"),
        pl.coalesce(pl.when(pl.col("its:body") != "").then("its:body"), "body").alias("body"),
        pl.coalesce("its:awb_number", "order_id").alias("awb_number"),
        pl.when(goes_out).then(would).otherwise(pl.lit("")).alias("would"),
    )


def _rows(
    arrival: Arrival, mapped: MappedFile, decisions: Decisions, existing: pl.DataFrame, shown: pl.DataFrame
) -> pl.DataFrame:
    """What would become of each row; see FATES."""
    told: list[tuple[int, str, str, str]] = []
    if arrival.held is not None:
        usual = (Fate.HELD.value, arrival.held.code, packed(arrival.held.values))
    else:
        told += [(at, *_told(decision, arrival.operation)) for at, decision in decisions.others.items()]
        told.append((-1, *_told(NEW, arrival.operation)))
        usual = _told(decisions.usual, arrival.operation)
    names, mapping_says = ("fate", "code", "values"), ("state", "code", "values")
    schema = {"place": pl.Int64} | {f"told:{name}": pl.String for name in names}
    those = pl.DataFrame(told, schema=schema, orient="row")
    own = shown.select("document_id", "reference", "order_id", "operation").head(0 if arrival.held else shown.height)
    ready = pl.col("state") == RowState.READY.value
    found = [FATES.to_frame()]
    for rows in mapped.rows.iter_slices(_ROWS_A_BLOCK):
        lines = rows.with_columns(
            pl.when(pl.col("sheet") != "").then("sheet").otherwise(pl.lit(mapped.sheet)).alias("sheet"),
            pl.col("key", "code", "values").fill_null(""),
            # Rows without a document are lines of goods, of which none is made.
            pl.when(ready).then(pl.coalesce(pl.col("document").cast(pl.Int64), pl.lit(-1))).alias("place"),
        ).join(those, on="place", how="left", maintain_order="left")
        of_document = pl.when(pl.col("place").is_between(0, own.height - 1)).then("place").alias("place")
        lines = lines.with_columns(
            pl.when(ready).then(pl.coalesce(f"told:{name}", pl.lit(text))).otherwise(says).alias(name)
            for name, says, text in zip(names, mapping_says, usual, strict=True)
        ).hstack(own.select(pl.all().gather(lines.select(of_document)["place"])))
        is_new = lines["document_id"].is_null() & lines["operation"].is_not_null()
        operation = pl.coalesce(lines["operation"], pl.lit(arrival.operation))
        would = operation.replace_strict(_WOULD, default="", return_dtype=pl.String)
        block = fates(lines.select(list(LINES)), existing.select(list(KNOWN)))
        found.append(
            block.with_columns(
                pl.when(is_new).then(lines["reference"]).otherwise("reference_number").alias("reference_number"),
                pl.when(is_new).then(lines["order_id"]).otherwise("awb_number").alias("awb_number"),
                pl.when(pl.col("fate") == Fate.PENDING.value).then(would).otherwise(pl.lit("")).alias("would"),
            )
        )
    return pl.concat(found)


def _told(decision: Decision, operation: str) -> tuple[str, str, str]:
    """Fate, code and values of the rows of a document; "" where those of the one count that it stands for already."""
    match decision.action:
        case "plan":
            return Fate.PENDING.value, _NOT_PUSHED.get(operation, ".would_go_out"), ""
        case "hold":
            return Fate.HELD.value, decision.why.code, decision.why.values
        case "unchanged":
            return Fate.UNCHANGED.value, "", ""
        case _:
            return "", "", ""
