"""Sheets in, documents and issues out: the story of a mapping from header to body."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Final

import polars as pl

from logistics_batch.mapping.checks.ambiguous_amounts import blame_ambiguous_amounts
from logistics_batch.mapping.checks.checks import check, hold_mixed_dates, hold_swapped_dates
from logistics_batch.mapping.checks.control_totals import hold_control_totals
from logistics_batch.mapping.checks.equal_rows import documents_with_equal_rows
from logistics_batch.mapping.checks.header_units import hold_other_units
from logistics_batch.mapping.checks.idle_rules import hold_idle_conditions, hold_idle_payment, hold_idle_skips
from logistics_batch.mapping.checks.kits import check_kits
from logistics_batch.mapping.checks.lines_named_total import blame_totals
from logistics_batch.mapping.checks.renamed_columns import hold_renamed
from logistics_batch.mapping.checks.stray_rows import stray_rows
from logistics_batch.mapping.documents.bodies import check_body
from logistics_batch.mapping.documents.changes import check_items, order_named
from logistics_batch.mapping.documents.contract import refused
from logistics_batch.mapping.documents.documents import Material, documents_of
from logistics_batch.mapping.fields.compile import (
    CELLS,
    COLUMN,
    HEAD_VALUES,
    RULES,
    CompiledSheet,
    compile_sheet,
)
from logistics_batch.mapping.fields.grouping import disagreements, written_key
from logistics_batch.mapping.fields.values.reading import say
from logistics_batch.mapping.findings import Findings
from logistics_batch.mapping.lines.exploded import BoundSheet, at_rows, blame_faults, rows_once
from logistics_batch.mapping.loading import RunValues
from logistics_batch.mapping.notes.notes import notes_of
from logistics_batch.mapping.rows.classify import classify_rows
from logistics_batch.messages import packed
from logistics_batch.messages.words import listed, row_list
from logistics_batch.model.document import ROWS_SCHEMA, MappedFile, Operation, RowState
from logistics_batch.model.issue import Issue
from logistics_batch.model.payloads import Complaint, LongitudeName
from logistics_batch.model.sheet import Sheet
from logistics_batch.model.spelling import differences, folded_key

_PLAIN: Final = "^[!-_a-~]+( [!-_a-~]+)*$"
_NEEDLESS_ZEROS: Final = "(^| )0[0-9]|[.][0-9]*0($| )"  # perhaps: a part of a key that is but a number may have them


def map_sheet(bound: BoundSheet, *, run_values: RunValues, longitude: LongitudeName = "delivery_long") -> MappedFile:
    """Map a file: every row but the header once, the documents that can be sent, an issue for each cell that is wrong.

    longitude: how the longitude fields are spelt on the wire. Raises FileHeld where the file as a whole cannot be
    trusted.
    """
    mapping, sheet, header = bound.mapping, bound.sheet, bound.header
    hold_idle_skips(mapping, [(sheet, header)])
    hold_idle_conditions(mapping, sheet, header)
    hold_idle_payment(mapping, sheet, header)
    hold_renamed(mapping, sheet, header)
    rows = classify_rows(mapping, sheet, header)
    table = compile_sheet(mapping, sheet, header, rows, run_values)
    hold_other_units(table)
    hold_mixed_dates(table)
    hold_swapped_dates(table)
    hold_control_totals(table, rows)
    found = check(table, rows.cleaned)
    check_items(found, table)
    check_kits(found, table)
    blame_totals(found, table)
    blame_ambiguous_amounts(found, table)
    blame_faults(found, table, bound.lines)
    notes, skipped = (*notes_of(table, rows), *bound.notes), rows.skipped
    documents = _documents(table)
    torn = [*_torn_documents(table), *documents_with_equal_rows(table)]
    strays = stray_rows(table)
    barred = _barred(table, documents, found, torn=torn, strays=strays)
    del rows
    sends = mapping.operation is not Operation.RECEIPT_READ
    table = table.without(*CELLS, *RULES, *(HEAD_VALUES if sends else ()))
    material = _material(table, documents, barred, longitude=longitude)
    if sends:
        _judge(material, table, found)
        barred = _barred(table, documents, found, torn=torn, strays=strays)
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


def _barred(
    table: CompiledSheet,
    documents: pl.DataFrame,
    found: Findings,
    *,
    torn: Sequence[tuple[int, str, str]],
    strays: pl.DataFrame,
) -> pl.DataFrame:
    """Documents that are not sent (doc, code, values).

    Disagreement (`torn`) comes first, then two documents of one name, then a row that is wrong itself.
    """
    placed = pl.concat([table.grouped.lines.select("row", "doc"), strays.select("row", "doc")])
    hidden = [
        (
            doc,
            "hidden row",
            f"The document is not sent: its row {row_list(table.sheet.physical_rows(rows))} is hidden and was skipped.",
        )
        for doc, rows in table.hidden.group_by("doc", maintain_order=True).agg("row").iter_rows()
    ]
    reasons = [*hidden, *torn, *_doubled(table, documents)]
    schema = {"doc": pl.UInt32, "rule": pl.String, "reason": pl.String}
    together = _coded(pl.DataFrame(reasons, schema=schema, orient="row"))
    together = pl.concat([together, _siblings(table.sheet, placed, found)], how="diagonal")
    return together.unique("doc", keep="first", maintain_order=True)


def _siblings(sheet: Sheet, placed: pl.DataFrame, found: Findings) -> pl.DataFrame:
    """Documents of which a row is wrong itself: doc, code, values; and those that rows of a second sheet are told.

    placed: row, doc.
    """
    wrong = found.frame()
    places = sheet.places(wrong).select("sheet", pl.col("row").alias("at"))
    rows = placed.join(pl.concat([wrong.select("row"), places], how="horizontal").drop_nulls(), on="row")
    second = sheet.origins.second if sheet.origins else ""
    by_doc = rows.group_by("doc").agg(
        pl.col("at").filter(pl.col("sheet") == name).unique().sort().alias(f"at {name}") for name in ("", second or "-")
    )
    told = [
        (doc, *_not_sent(here, there, second), *_not_sent(there, here, sheet.name))
        for doc, here, there in by_doc.iter_rows()
    ]
    schema = dict.fromkeys(("code", "values", "code_there", "values_there"), pl.String)
    return pl.DataFrame(told, schema={"doc": pl.UInt32, **schema}, orient="row")


def _not_sent(here: Sequence[int], there: Sequence[int], other: str) -> tuple[str, str]:
    """What rows of one sheet are told of the wrong ones there and on the other sheet."""
    if not there:
        return "sibling.own_sheet", packed({"rows": list(here)})
    code = "sibling.both_sheets" if here else "sibling.other_sheet"
    return code, packed({"rows": list(here), "others": list(there), "sheet": other})


def _torn_documents(table: CompiledSheet) -> list[tuple[int, str, str]]:
    """Documents whose rows say different things."""
    torn = pl.concat([disagreements(table.grouped.heads, table.header), table.torn])
    if torn.is_empty():
        return []
    placed = table.grouped.lines.select("row", "doc")
    rows = placed.filter(pl.col("doc").is_in(torn["doc"].unique().implode())).group_by("doc").agg("row")
    rows_of = {doc: sorted(numbers) for doc, numbers in rows.iter_rows()}
    reasons: list[tuple[int, str, str]] = []
    for doc, places in torn.group_by("doc", maintain_order=True).agg("place").iter_rows():
        names = listed(dict.fromkeys(_column_text(table, place) for place in places))
        verb = "differs" if len(places) == 1 else "differ"
        reasons.append(
            (
                doc,
                "disagree",
                f"{names} {verb} between the rows {row_list(table.sheet.physical_rows(rows_of[doc]))} of one document.",
            )
        )
    return reasons


def _column_text(table: CompiledSheet, place: str) -> str:
    if place.startswith(COLUMN):
        return table.bound.texts[int(place.removeprefix(COLUMN)) - 1].strip()
    field = table.field(place)
    if field is None or field.column is None:
        return place.split(".", 1)[1]
    return table.bound.texts[field.column - 1].strip()


def _doubled(table: CompiledSheet, documents: pl.DataFrame) -> list[tuple[int, str, str]]:
    """Documents that differ in their key columns and would be one document to the service."""
    if documents.height < 2 or table.mapping.operation is Operation.RECEIPT_READ:
        return []
    read = documents.drop_nulls("natural").select("doc", "natural", _as_read(pl.col("natural")).alias("read"))
    doubled = read.filter(pl.col("read").is_duplicated())
    if doubled.is_empty():
        return []
    rows = table.grouped.lines.select("row", "doc").group_by("doc", maintain_order=True).agg("row")
    placed = doubled.join(rows, on="doc", how="left", maintain_order="left")
    reasons: list[tuple[int, str, str]] = []
    groups = placed.group_by("read", maintain_order=True).agg("natural", "doc", "row")
    for _, naturals, docs, places in groups.iter_rows():
        numbers = row_list(table.sheet.physical_rows(number for place in places for number in place))
        spellings = dict.fromkeys(naturals)
        reason = f'"{naturals[0]}" stands for different documents of this file (rows {numbers}).'
        if len(spellings) > 1:
            first, *others = spellings
            told = dict.fromkeys(name for other in others for name in differences(first, other))
            reason = f"{listed(spellings)} differ only in {' and '.join(told)} (rows {numbers}): are they one?"
        reasons += [(doc, "duplicate", reason) for doc in docs]
    return reasons


def _as_read(names: pl.Expr) -> pl.Expr:
    """`folded_key`, which has only letters to make small in plain names; these are nearly all."""
    plain = names.str.contains(_PLAIN) & ~names.str.contains(_NEEDLESS_ZEROS)
    others = pl.when(~plain).then(names).map_elements(folded_key, return_dtype=pl.String)
    return pl.when(plain).then(names.str.to_lowercase()).otherwise(others)


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


def _judge(material: Material, table: CompiledSheet, found: Findings) -> None:
    """What the contract's model says against documents that nothing else bars becomes findings."""
    for heads, lines in material.blocks():
        judge = partial(_complaints, material, heads, lines)
        if table.mapping.spec.kits:
            wrong = judge(range(heads.height))
        else:
            wrong = refused(heads, material.cells(lines), table.mapping.targets, judge=judge)
        for place, complaints in wrong.items():
            _refuse(found, table, heads["doc"][place], complaints)


def _complaints(
    material: Material, heads: pl.DataFrame, lines: pl.DataFrame, places: Sequence[int]
) -> dict[int, list[Complaint]]:
    """What the contract's model says against the documents at some places, where it does."""
    some = heads[places]
    bodies = material.bodies(some, lines.filter(pl.col("doc").is_in(some["doc"].implode()))) if places else []
    targets, longitude = material.mapping.targets, material.longitude
    told = {place: check_body(body, targets, longitude=longitude) for place, body in zip(places, bodies, strict=True)}
    return {place: complaints for place, complaints in told.items() if complaints}


def _refuse(found: Findings, table: CompiledSheet, doc: int, complaints: Sequence[Complaint]) -> None:
    """The contract's complaints about a document, at the rows and cells they come from."""
    rows = table.grouped.lines.filter(pl.col("doc") == doc)["row"]
    for complaint in complaints:
        position = next((step for step in complaint.place if isinstance(step, int)), None)
        in_line = position is not None and position < rows.len()
        name = complaint.field or complaint.rule
        field = table.field(f"{'lines' if in_line else 'fields'}.{name}")
        row = rows[position] if in_line else rows[0]
        words = say(complaint.sentence, "Correct the cell; if it is right, ask who maintains the mapping.")
        column = field.column if field else None
        found.add(pl.Series([row]), column, f"{name}|{complaint.rule if complaint.field else 'contract'}", words)


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
    parts = [known, keyless, _coded(skipped).with_columns(pl.lit(value=True).alias("skipped"))]
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


def _coded(told: pl.DataFrame) -> pl.DataFrame:
    """Rules and reasons in words as codes and values."""
    values = pl.when(pl.col("reason").is_not_null()).then(pl.struct("reason").struct.json_encode())
    return told.with_columns(values.alias("values"), pl.col("rule").alias("code")).drop("rule", "reason")


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
