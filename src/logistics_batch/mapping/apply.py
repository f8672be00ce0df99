"""Sheets in, documents and issues out: the story of a mapping from header to body."""

from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from logistics_batch.mapping.checks.checks import check_rows, hold_header, hold_table
from logistics_batch.mapping.checks.documents import blocked_documents, stray_rows, with_siblings
from logistics_batch.mapping.documents.changes import order_named
from logistics_batch.mapping.documents.contract import find_refused
from logistics_batch.mapping.documents.documents import Material, documents_of
from logistics_batch.mapping.fields.compile import (
    CELLS,
    HEAD_VALUES,
    RULES,
    CompiledSheet,
    compile_sheet,
)
from logistics_batch.mapping.fields.grouping import written_key
from logistics_batch.mapping.lines.exploded import BoundSheet, at_rows, blame_faults, rows_once
from logistics_batch.mapping.loading import RunValues
from logistics_batch.mapping.notes.notes import notes_of
from logistics_batch.mapping.rows.classify import classify_rows
from logistics_batch.model.document import ROWS_SCHEMA, MappedFile, Operation, RowState
from logistics_batch.model.issue import Issue, Note
from logistics_batch.model.payloads import LongitudeName


def map_sheet(bound: BoundSheet, *, run_values: RunValues, longitude: LongitudeName = "delivery_long") -> MappedFile:
    """Map a file: every row but the header once, the documents that can be sent, an issue for each cell that is wrong.

    longitude: how the longitude fields are spelt on the wire. Raises FileHeld where the file as a whole cannot be
    trusted.
    """
    mapping, sheet, header = bound.mapping, bound.sheet, bound.header
    hold_header(mapping, sheet, header)
    rows = classify_rows(mapping, sheet, header)
    table = compile_sheet(mapping, sheet, header, rows, run_values)
    hold_table(table, rows)
    found = check_rows(table, rows)
    blame_faults(found, table, bound.lines)
    notes: tuple[Note, ...] = (*notes_of(table, rows), *bound.notes)
    skipped = rows.skipped
    documents = _documents(table)
    strays, blocked = stray_rows(table), blocked_documents(table, documents)
    barred = with_siblings(blocked, table, found, strays)
    del rows
    sends = mapping.operation is not Operation.RECEIPT_READ
    table = table.without(*CELLS, *RULES, *(HEAD_VALUES if sends else ()))
    material = _material(table, documents, barred, longitude=longitude)
    if sends:
        find_refused(found, table, material)
        barred = with_siblings(blocked, table, found, strays)
        material = replace(material, barred=barred["doc"])
    issues = found.issues(sheet, header, fallback=table.key_column)
    states = _states(
        table, skipped, documents.select("doc", "natural"), barred=barred, bad_rows=found.bad_rows(), issues=issues
    )
    return MappedFile(
        sheet=sheet.name,
        header_row=header.row,
        columns=bound.physical_columns,
        rows=states if bound.others.is_empty() else pl.concat([states, bound.others]).sort("sheet", "row"),
        documents=documents_of(material) if sends else (),
        issues=tuple(sorted((*issues, *bound.lost), key=lambda issue: (issue.sheet, issue.row)))
        if bound.lost
        else issues,
        notes=notes,
        keep=_kept(table, states),
        lines_sheet=sheet.origins.second if sheet.origins else "",
        lines_header_row=bound.second.row if bound.second else 0,
    )


def _documents(table: CompiledSheet) -> pl.DataFrame:
    """One line a document: doc, natural (its natural key), reference, and the header fields' values."""
    names = [field.value_name for field in table.header]
    known = [name for name in ("doc", "first", "key", *names) if name in table.grouped.heads.columns]
    heads = table.grouped.heads.select(known).filter("first")
    natural = _natural_key(table, heads)
    return heads.select("doc", natural.alias("natural"), _reference(table, heads).alias("reference"), *names)


def _value(heads: pl.DataFrame, target: str) -> pl.Expr:
    name = f"v:fields.{target}"
    return pl.col(name) if name in heads.columns else pl.lit(None, dtype=pl.String)


def _reference(table: CompiledSheet, heads: pl.DataFrame) -> pl.Expr:
    return pl.coalesce(_value(heads, target) for target in table.mapping.targets.reference)


def _natural_key(table: CompiledSheet, heads: pl.DataFrame) -> pl.Expr:
    """The key as people write it; where it cannot be read, what the key columns hold."""
    parts = [pl.coalesce(_value(heads, target) for target in group) for group in table.mapping.targets.natural]
    natural = parts[0] if len(parts) == 1 else pl.concat_str(parts, separator=" | ", ignore_nulls=True)
    if "key" not in heads.columns:
        return natural
    return pl.coalesce(natural, written_key(pl.col("key")))


def _material(
    table: CompiledSheet, documents: pl.DataFrame, barred: pl.DataFrame, *, longitude: LongitudeName
) -> Material:
    names = [field.value_name for field in (*table.line, *table.keep)]
    return Material(
        mapping=table.mapping,
        heads=documents,
        lines=_with_physical_rows(table, table.grouped.lines.select("doc", "row", "first", *names)),
        barred=barred["doc"],
        line=table.line,
        keep=table.keep,
        rows_repeat=table.sheet.origins is not None,
        order=order_named(table),
        lent=tuple(field.target for field in (*table.header, *table.line) if field.spec.source == "run"),
        longitude=longitude,
    )


def _with_physical_rows(table: CompiledSheet, lines: pl.DataFrame) -> pl.DataFrame:
    """Lines with the rows of the file that they were made of."""
    if table.sheet.origins is None:
        return lines
    origins = table.sheet.origins.lines.select("row", "origin")
    placed = lines.join(origins, on="row", how="left", maintain_order="left")
    return placed.with_columns(pl.col("origin").alias("row")).drop("origin")


def _states(
    table: CompiledSheet,
    skipped: pl.DataFrame,
    documents: pl.DataFrame,
    *,
    barred: pl.DataFrame,
    bad_rows: pl.Series,
    issues: Sequence[Issue],
) -> pl.DataFrame:
    """Every row but the header, with what became of it."""
    invalid = pl.col("row").is_in(bad_rows.implode())
    good = documents.join(barred, on="doc", how="anti", maintain_order="left").select("doc")
    numbered = good.with_row_index("document") if table.mapping.operation is not Operation.RECEIPT_READ else good
    known = table.grouped.lines.select("row", "doc")
    known = known.join(documents.select("doc", "natural"), on="doc", how="left")
    known = known.join(barred, on="doc", how="left").join(numbered, on="doc", how="left")
    keyless = table.keyless.select("row")
    parts = [known, keyless, skipped.with_columns(pl.lit(value=True).alias("skipped"))]
    together = pl.concat(parts, how="diagonal").with_columns(invalid.alias("invalid"))
    together = at_rows(together, table.sheet, issues)
    skipped_row = pl.col("skipped").fill_null(value=False) if "skipped" in together.columns else pl.lit(value=False)
    state = (
        pl.when(skipped_row)
        .then(pl.lit(RowState.SKIPPED.value))
        .when("invalid")
        .then(pl.lit(RowState.INVALID.value))
        .when(pl.col("code").is_not_null())
        .then(pl.lit(RowState.BLOCKED.value))
        .otherwise(pl.lit(RowState.READY.value))
    )
    document = pl.col("document") if "document" in together.columns else pl.lit(None, dtype=pl.UInt32)
    told = together.with_columns(state.alias("state"), document.alias("document"), pl.col("natural").alias("key"))
    own_word = pl.col("state") != RowState.INVALID.value
    told = told.with_columns(pl.when(own_word).then(pl.col(name)).alias(name) for name in ("code", "values"))
    rows = told.select(pl.col(name).cast(kind) for name, kind in ROWS_SCHEMA.items())
    if table.sheet.origins is not None:
        return rows_once(rows)
    return rows if rows["row"].is_sorted() else rows.sort("row")


def _kept(table: CompiledSheet, states: pl.DataFrame) -> pl.DataFrame:
    """For each ready row of receipts what was read and what is kept; documents have theirs with them."""
    if table.mapping.operation is not Operation.RECEIPT_READ:
        return pl.DataFrame()
    ready = states["row"].filter(states["state"] == RowState.READY.value)
    lines = _with_physical_rows(table, table.grouped.lines.select("row", "head", *(f.value_name for f in table.keep)))
    values = table.grouped.heads.select("head", *(field.value_name for field in table.header))
    lines = lines.join(values, on="head", how="left")
    names = {field.target: field.value_name for field in (*table.keep, *table.header)}
    columns = [
        pl.col(names[name]).alias(name)
        if names.get(name) in lines.columns
        else pl.lit(None, dtype=pl.String).alias(name)
        for name in table.mapping.keep_names
    ]
    last_row = int(states["row"].max() or 0)  # type: ignore[arg-type]
    is_ready = pl.repeat(False, last_row + 1, eager=True).scatter(ready, True)
    kept = lines.select("row", *columns).filter(is_ready.gather(lines["row"]))
    return kept if kept["row"].is_sorted() else kept.sort("row")
