"""From the ledger's rows to the one fate that each row has: the reports' only source."""

import json
from typing import Final

import polars as pl
from sqlalchemy import ColumnElement, Connection, RowMapping, select

from logistics_batch.ledger.bulk import read_frame
from logistics_batch.ledger.schema import document
from logistics_batch.model.document_state import FATE_OF_STATE
from logistics_batch.model.issue import Issue, Place, read_notes
from logistics_batch.model.report import FATES, Fate, FileReport

LINES: Final = pl.Schema(
    {
        "sheet": pl.String,
        "row": pl.UInt32,
        "document_id": pl.Int64,  # the document whose fate the row has, null if it has its own
        "fate": pl.String,  # the row's own fate, "" where its document's counts
        "key": pl.String,
        "code": pl.String,
        "values": pl.String,
    }
)
"""Rows of a file as the ledger holds them."""

KNOWN: Final = pl.Schema(
    {
        "id": pl.Int64,
        "operation": pl.String,
        "state": pl.String,
        "key": pl.String,
        "reference": pl.String,
        "awb_number": pl.String,
        "code": pl.String,
        "values": pl.String,
        "accepted_run": pl.String,
    }
)
"""What of a document its rows show."""


def fates(lines: pl.DataFrame, known: pl.DataFrame) -> pl.DataFrame:
    """What became of each row. lines: see LINES; known: see KNOWN, the documents that the rows point to."""
    shown = known.select(pl.all().name.prefix("its:"))
    both = lines.join(shown, left_on="document_id", right_on="its:id", how="left", maintain_order="left")
    state, own = pl.col("its:state"), pl.col("fate") != ""
    fate = pl.when(own).then("fate").otherwise(state.replace_strict(FATE_OF_STATE, default=Fate.SKIPPED.value))
    unchanged = (pl.col("fate") == Fate.UNCHANGED.value) & state.is_not_null()
    has_its = ~own & state.is_not_null()
    before = pl.struct(pl.col("its:accepted_run").alias("run")).struct.json_encode()
    blank, nameless = pl.lit(""), (state == "accepted") & (pl.col("its:awb_number") == "")
    nameless &= pl.col("its:operation") == "order.create"
    # Of a document that goes its way nothing else is to be said.
    its_code = (
        pl.when((state == "sending") | ((state == "planned") & (pl.col("its:code") == "")))
        .then(pl.format(".{}", state))
        .when(nameless & (pl.col("its:code") == ""))
        .then(pl.lit(".no_awb_number"))
        .otherwise("its:code")
    )
    return both.select(
        "sheet",
        "row",
        pl.coalesce("its:key", "key").alias("document"),
        fate.cast(pl.String).alias("fate"),
        pl.when(unchanged).then(pl.lit("unchanged")).when(has_its).then(its_code).otherwise("code").alias("code"),
        pl.when(unchanged).then(before).when(has_its).then("its:values").otherwise("values").alias("values"),
        pl.col("its:reference").fill_null("").alias("reference_number"),
        pl.col("its:awb_number").fill_null("").alias("awb_number"),
        blank.alias("would"),
    ).cast(FATES)


def documents_where(connection: Connection, wanted: ColumnElement[bool]) -> pl.DataFrame:
    more = {"method": pl.String, "path": pl.String, "rows": pl.String, "body": pl.Binary}
    query = select(*(document.c[name] for name in (*KNOWN, *more))).where(wanted).order_by(document.c.id)
    found = read_frame(connection, query, {**KNOWN, **more})
    return found.with_columns(
        pl.col("rows").str.json_decode(pl.List(pl.UInt32)),
        pl.col("body").cast(pl.String, strict=True),
    )


def report_of(head: RowMapping, rows: pl.DataFrame, documents: pl.DataFrame, issues: tuple[Issue, ...]) -> FileReport:
    """All that is known of one arrival. head: its record; rows, documents: as `FileReport` has them."""
    same = ("sha256", "size", "mapping", "mapping_digest", "sheet", "header_row", "rows_read", "received_at")
    return FileReport(
        **{name: head[name] for name in (*same, "lines_sheet", "lines_header_row", "earlier_file")},
        file=head["name"],
        run=head["run_id"],
        rows=rows,
        documents=documents,
        issues=issues,
        notes=read_notes(json.loads(head["notes"])),
        held=Issue(head["code"], values=head["values"]),
    )


def issue_of(line: RowMapping) -> Issue:
    """An issue of a file's row, from its record."""
    return Issue(line["code"], Place(**{name: line[name] for name in Place.__dataclass_fields__}), line["values"])
