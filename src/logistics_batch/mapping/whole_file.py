"""Sheets in, documents and issues out: the story of a mapping from header to body."""

from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from logistics_batch.mapping.checks.checks import check_rows
from logistics_batch.mapping.checks.documents import blocked_documents, stray_rows, told_of_twins, with_siblings
from logistics_batch.mapping.checks.held import hold_header, hold_table
from logistics_batch.mapping.documents.documents import Material, documents_of, find_refused
from logistics_batch.mapping.fields.compile import CompiledSheet, compile_sheet, written_key
from logistics_batch.mapping.lines.exploded import BoundSheet, at_rows, blame_faults, rows_once, split_rows
from logistics_batch.mapping.lines.two_sheets import join_sheets, views
from logistics_batch.mapping.loaded import Mapping, RunValues
from logistics_batch.mapping.notes import notes_of
from logistics_batch.mapping.rows.classify import classify_rows
from logistics_batch.mapping.rows.header import choose
from logistics_batch.mapping.rows.outside import with_above
from logistics_batch.model.document import ROWS_SCHEMA, MappedFile, Operation, OrderNumber, RowState
from logistics_batch.model.issue import Issue
from logistics_batch.model.payloads import LongitudeName
from logistics_batch.model.sheet import Sheet


def apply_mapping(
    mapping: Mapping,
    sheets: Sequence[Sheet],
    *,
    run_values: RunValues,
    longitude: LongitudeName = "delivery_long",
) -> MappedFile:
    """Map a file: every row but the header once, the documents that can be sent, an issue for each cell that is wrong.

    sheets: the candidates; the one whose header fits is taken. Rows of it are lines, or hold several, or have their
    lines on a second sheet. longitude: how the longitude fields are spelt on the wire. Raises FileHeld where the file
    as a whole cannot be trusted.
    """
    return _map_sheet(_bound(mapping, sheets), run_values, longitude)


def legible_rows(mapping: Mapping, sheets: Sequence[Sheet], *, run_values: RunValues) -> pl.DataFrame:
    """The rows of data with `row` (UInt32) and a String column for each target of fields and lines, null where its
    cell breaks a rule or is blank.

    No row where a row makes several lines or lines stand on a second sheet. Raises FileHeld where no header fits.
    """
    if mapping.spec.lines_from is not None or mapping.spec.lines_sheet is not None:
        return pl.DataFrame(schema={"row": pl.UInt32})
    if mapping.operation is Operation.RECEIPT_READ:  # each row stands alone, also one that names no invoice
        mapping = replace(mapping, spec=mapping.spec.model_copy(update={"key": []}))
    chosen, chosen_header, _ = choose(mapping, sheets)
    sheet, header = with_above(mapping, chosen, chosen_header)
    table = compile_sheet(mapping, sheet, header, classify_rows(mapping, sheet, header), run_values)
    values = {field.target: pl.col(field.value_name) for field in (*table.header, *table.line)}
    heads = table.heads.lazy().select("head", *(field.value_name for field in table.header))
    both = table.lines.lazy().join(heads, on="head", how="left", maintain_order="left")
    return both.select(pl.col("row").cast(pl.UInt32), **values).sort("row").collect(engine="in-memory")


def _bound(mapping: Mapping, sheets: Sequence[Sheet]) -> BoundSheet:
    if mapping.spec.lines_sheet is not None:
        return join_sheets(mapping, sheets)
    ((view, candidates),) = views(mapping, sheets)
    chosen, chosen_header, notes = choose(view, candidates)
    sheet, header = with_above(view, chosen, chosen_header)
    if mapping.spec.lines_from is not None:
        return split_rows(mapping, mapping.spec.lines_from, sheet, header, notes=notes)
    return BoundSheet(mapping, sheet, header, notes)


def _map_sheet(bound: BoundSheet, run_values: RunValues, longitude: LongitudeName) -> MappedFile:
    mapping, sheet, header = bound.mapping, bound.sheet, bound.header
    hold_header(mapping, sheet, header)
    rows = classify_rows(mapping, sheet, header)
    table = compile_sheet(mapping, sheet, header, rows, run_values)
    hold_table(table, rows)
    found = check_rows(table, rows)
    blame_faults(found, table, bound.faults)
    notes = notes_of(table, rows)
    skipped = rows.skipped
    heads = _heads(table)
    strays, blocked = stray_rows(table), blocked_documents(table, heads, rows, notes)
    notes += (*found.notes, *bound.notes)
    barred = with_siblings(blocked, table, found, strays)
    del rows
    sends = mapping.operation is not Operation.RECEIPT_READ
    table = table.without_cells(head_values=not sends)
    material = _material(table, heads, barred, longitude=longitude)
    if sends:
        find_refused(found, table, material)
        barred = with_siblings(blocked, table, found, strays)
        material = replace(material, barred=barred["doc"])
    issues = found.issues(sheet, header, fallback=table.key_column)
    states = _states(table, skipped, heads, barred=barred, issues=issues)
    if bound.lost:
        issues = tuple(sorted((*issues, *bound.lost), key=lambda issue: (issue.sheet, issue.row)))
    return MappedFile(
        sheet=sheet.name,
        header_row=header.row,
        columns=header.texts[: sheet.width - sheet.added],
        rows=states if bound.others.is_empty() else pl.concat([states, bound.others]).sort("sheet", "row"),
        documents=documents_of(material) if sends else (),
        issues=issues,
        notes=tuple(notes),
        keep=pl.DataFrame() if sends else _kept(table, states),
        lines_sheet=sheet.origins.second if sheet.origins else "",
        lines_header_row=bound.second.row if bound.second else 0,
    )


def _heads(table: CompiledSheet) -> pl.DataFrame:
    """One line a document: doc, natural (its natural key), reference, and the header fields' values.

    The natural key is written as people write it; where it cannot be read, it is what the key columns hold.
    """
    targets, names = table.mapping.targets, [field.value_name for field in table.header]

    def first_of(group: Sequence[str]) -> pl.Expr:
        values = [name for target in group if (name := f"v:fields.{target}") in names]
        return pl.coalesce(*values, pl.lit(None, dtype=pl.String))

    parts = [first_of(group) for group in targets.natural]
    natural = parts[0] if len(parts) == 1 else pl.concat_str(parts, separator=" | ", ignore_nulls=True)
    if "key" in table.heads.columns:
        natural = pl.coalesce(natural, written_key(pl.col("key")))
    heads = (
        table.heads.lazy().filter("first").select("doc", *names, natural=natural, reference=first_of(targets.reference))
    )
    return heads.collect(engine="in-memory")


def _material(table: CompiledSheet, heads: pl.DataFrame, barred: pl.DataFrame, *, longitude: LongitudeName) -> Material:
    names = [field.value_name for field in (*table.line, *table.keep)]
    return Material(
        mapping=table.mapping,
        heads=heads,
        lines=_in_file(table.lines.select("doc", "row", "first", *names), table.sheet),
        barred=barred["doc"],
        line=table.line,
        keep=table.keep,
        rows_repeat=table.sheet.origins is not None,
        order=_order_named(table),
        lent=tuple(field.target for field in (*table.header, *table.line) if field.spec.source == "run"),
        longitude=longitude,
    )


def _order_named(table: CompiledSheet) -> OrderNumber | None:
    """How the sheet names the orders that its documents are about, without a number yet; None if they change none."""
    spec = table.mapping.spec
    if spec.order_id is None or not table.mapping.operation.changes_order:
        return None
    named = table.field("fields.order_id")
    items = table.field("lines.item_name") or table.field("lines.item_id")
    return OrderNumber(
        "",
        is_reference=spec.order_id.ledger is not None,
        column=(named.column if named else None) or table.key_column,
        item_column=table.sheet.column_of_file((items.column if items else None) or 0),
    )


def _in_file(lines: pl.DataFrame, sheet: Sheet) -> pl.DataFrame:
    """Lines with the rows of the file that they were made of."""
    return lines.with_columns(sheet.places(lines.select("row", column=0))["row"])


def _states(
    table: CompiledSheet, skipped: pl.DataFrame, heads: pl.DataFrame, *, barred: pl.DataFrame, issues: Sequence[Issue]
) -> pl.DataFrame:
    """Every row but the header, with what became of it."""
    is_sent = ~pl.col("doc").is_in(barred["doc"].implode()) & (table.mapping.operation is not Operation.RECEIPT_READ)
    told = heads.select("doc", key="natural", document=pl.when(is_sent).then(is_sent.cum_sum() - 1))
    told = told.join(barred, on="doc", how="left")
    known = table.lines.select("row", "doc").join(told, on="doc", how="left", maintain_order="left")
    of_skipped = skipped.with_columns(state=pl.lit(RowState.SKIPPED.value))
    together = at_rows(pl.concat([known, table.keyless.select("row"), of_skipped], how="diagonal"), table.sheet)
    first, second = ([issue.row for issue in issues if bool(issue.sheet) is there] for there in (False, True))
    is_wrong = pl.when(pl.col("sheet") == "").then(pl.col("row").is_in(first)).otherwise(pl.col("row").is_in(second))
    state = pl.coalesce(
        "state",
        pl.when(is_wrong).then(pl.lit(RowState.INVALID.value)),
        pl.when(pl.col("code").is_not_null()).then(pl.lit(RowState.BLOCKED.value)),
        pl.lit(RowState.READY.value),
    )
    told = told_of_twins(together).with_columns(state=state)
    own_word = pl.col("state") != RowState.INVALID.value
    told = told.with_columns(pl.when(own_word).then(pl.col(name)).alias(name) for name in ("code", "values"))
    rows = told.select(pl.col(name).cast(kind) for name, kind in ROWS_SCHEMA.items())
    if table.sheet.origins is not None:
        return rows_once(rows)
    return rows if rows["row"].is_sorted() else rows.sort("row")


def _kept(table: CompiledSheet, states: pl.DataFrame) -> pl.DataFrame:
    """For each ready row of receipts what was read and what is kept; documents have theirs with them."""
    ready = states["row"].filter(states["state"] == RowState.READY.value)
    lines = _in_file(table.lines.select("row", "head", *(f.value_name for f in table.keep)), table.sheet)
    values = table.heads.select("head", *(field.value_name for field in table.header))
    lines = lines.filter(pl.col("row").is_in(ready.implode())).join(values, on="head", how="left")
    names = {field.target: pl.col(field.value_name) for field in (*table.keep, *table.header)}
    nothing = pl.lit(None, dtype=pl.String)
    kept = lines.select("row", *(names.get(name, nothing).alias(name) for name in table.mapping.keep_names))
    return kept if kept["row"].is_sorted() else kept.sort("row")
