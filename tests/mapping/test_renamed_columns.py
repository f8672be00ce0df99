"""Layouts that drift: a renamed column is never replaced without a word; order and number of columns do not matter."""

import random
from collections.abc import Iterator
from dataclasses import replace
from datetime import date

import polars as pl
import pytest
from mapping.sheets import HEADER, ORDERS, notes_in, order, orders, run, sheet_of
from mapping.test_shipped import EXAMPLES, NAMES, ZONE, load, mapped, source_of

from logistics_batch.errors import FileHeld
from logistics_batch.intake.readers import read_file
from logistics_batch.mapping.fields.compile import RunValues
from logistics_batch.mapping.whole_file import apply_mapping
from logistics_batch.model.document import MappedFile, Operation
from logistics_batch.model.sheet import Sheet

DEFAULT = ORDERS.replace("read: integer", 'read: integer, default: "1"')
ADDRESS = ORDERS.replace("{from: Address}", "{join: [[Addr 1, Street], [Addr 2, Line 2], Town]}").replace(
    "{from: Name}", "{from: [Name, Customer]}"
)
PARTS = ["Order No", "Name", "Phone", "Addr 1", "Addr 2", "Town", "SKU", "Qty"]
CELLS = ["A1", "Asha", "9876543210", "12 MG Road", "Indiranagar", "Bengaluru", "tea", "2"]


def held(mapping: str, header: list[str], row: list[str]) -> str:
    with pytest.raises(FileHeld) as caught:
        orders(row, mapping=mapping, header=header)
    return f"{caught.value} {caught.value.remedy}"


@pytest.mark.parametrize("new", ["Quantity", "Qty ordered", "Nos packed", "Zzyx"])
def test_a_quantity_with_a_default_whose_column_was_renamed_holds_the_file(new: str) -> None:
    """Ten pieces would go out as one."""
    told = held(DEFAULT, [*HEADER[:5], new], order(Qty="10"))
    assert f'"Qty" is missing, and `item_quantity` would be "1" in all rows; the new column "{new}" may be it' in told
    assert f'add "{new}" to the names' in told


def test_a_default_stands_where_no_new_column_can_be_the_missing_one() -> None:
    (document,) = orders(order()[:5], mapping=DEFAULT, header=HEADER[:5]).documents
    assert '"item_quantity":1' in document.body
    assert len(orders([*order()[:5], "call first"], mapping=DEFAULT, header=[*HEADER[:5], "Remark"]).documents) == 1
    ignored = DEFAULT + "ignore: [Sr]\n"
    assert len(orders([*order()[:5], "1"], mapping=ignored, header=[*HEADER[:5], "Sr"]).documents) == 1


def test_a_default_of_another_target_is_held_where_the_names_are_alike() -> None:
    mapping = ORDERS.replace("{from: Name}", "{from: Name}\n  priority: {from: Priority, default: 1}")
    told = held(mapping, [*HEADER, "Priority level"], [*order(), "9"])
    assert '`priority` would be "1" in all rows; the new column "Priority level" may be it' in told
    assert orders([*order(), "9"], mapping=mapping, header=[*HEADER, "Colour"]).documents


@pytest.mark.parametrize(
    ("old", "new"), [("Addr 1", "Zzyx"), ("Addr 1", "Delivery street"), ("Addr 2", "Address line 2")]
)
def test_a_required_address_is_not_sent_without_a_part_that_was_renamed(old: str, new: str) -> None:
    told = held(ADDRESS, [new if name == old else name for name in PARTS], CELLS)
    assert f'"{old}" is missing, and `delivery_address` would be sent without it; the new column "{new}" may' in told


def test_a_part_of_the_address_that_nothing_may_be_is_not_needed() -> None:
    header = [name for name in PARTS if name != "Addr 2"]
    cells = [cell for cell in CELLS if cell != "Indiranagar"]
    (document,) = orders([*cells, "7"], mapping=ADDRESS, header=[*header, "Crate"]).documents
    assert '"12 MG Road Bengaluru"' in document.body


def test_a_renamed_column_that_may_be_left_out_is_told_with_the_one_it_may_be() -> None:
    notes = notes_in(orders(order(), header=["Order No", "Buyer name", *HEADER[2:]]))
    assert any(note.startswith('Column "Buyer name" may be "Name" of the mapping, which this sheet') for note in notes)


def test_a_later_name_that_is_read_beside_a_new_column_is_told_with_the_first() -> None:
    mapping = ORDERS.replace("{from: SKU,", "{from: [SKU, Title],")
    header = [*HEADER[:4], "Article key", "Qty", "Title"]
    mapped = orders([*order()[:4], "T-1", "2", "Green tea"], mapping=mapping, header=header)
    assert any('these were read by a later name of the mapping: "Title" for "SKU"' in note for note in notes_in(mapped))
    plain = orders([*order()[:4], "2", "tea"], mapping=mapping, header=[*HEADER[:4], "Qty", "Title"])
    assert not [note for note in notes_in(plain) if "later name" in note]


def test_lines_on_a_sheet_of_their_own_are_watched_as_well() -> None:
    mapping = DEFAULT + "lines_sheet: {name: Lines, key: [Order No]}\n"
    first = sheet_of([HEADER[:4], order()[:4]], name="Orders")
    second = sheet_of([["Order No", "SKU", "Pieces"], ["A1", "tea", "10"]], name="Lines")
    with pytest.raises(FileHeld, match='the new column "Pieces" may be it'):
        run(mapping, first, second)


def drifted(name: str, sheets: list[Sheet]) -> MappedFile | None:
    """The example's sheets, changed, through its mapping; None where the file is held."""
    day = date.fromisoformat((EXAMPLES / name / "business_date.txt").read_text().strip())
    try:
        return apply_mapping(load(name), sheets, run_values=RunValues(source_of(name).name, day, ZONE))
    except FileHeld:
        return None


def read(name: str) -> list[Sheet]:
    return list(read_file(source_of(name), name=source_of(name).name, options=load(name).read_options))


def headers(name: str, sheets: list[Sheet]) -> Iterator[tuple[int, int]]:
    """Each sheet of an example with the number of its header row."""
    found = mapped(name)
    for place, sheet in enumerate(sheets):
        if sheet.name == found.sheet:
            yield place, found.header_row
        elif found.lines_sheet and sheet.name == found.lines_sheet:
            yield place, found.lines_header_row


def said(found: MappedFile) -> tuple[list[str], int]:
    return [document.body for document in found.documents], found.keep.height


@pytest.mark.parametrize("name", NAMES)
def test_no_column_of_a_shipped_layout_is_lost_without_a_word(name: str) -> None:
    mapping, sheets = load(name), read(name)
    for place, row in headers(name, sheets):
        sheet = sheets[place]
        texts = sheet.frame.row(by_predicate=pl.col("row") == row, named=True)
        for column, text in texts.items():
            if column == "row" or not (text or "").strip():
                continue
            cell = pl.when(pl.col("row") == row).then(pl.lit("Zzyx")).otherwise(pl.col(column)).alias(column)
            found = drifted(
                name, [*sheets[:place], replace(sheet, frame=sheet.frame.with_columns(cell)), *sheets[place + 1 :]]
            )
            if found is None or (said(found) == said(mapped(name)) and mapping.operation is not Operation.RECEIPT_READ):
                continue
            notes = " ".join(notes_in(found))
            assert '"Zzyx"' in notes, (name, text)
            known = set(notes_in(mapped(name)))
            is_told = [note for note in notes_in(found) if note not in known and "Zzyx" not in note]
            assert is_told or text.strip() in mapping.spec.ignore, (name, text)


@pytest.mark.parametrize("name", NAMES)
def test_the_order_and_number_of_columns_of_a_shipped_layout_do_not_matter(name: str) -> None:
    sheets = read(name)
    for place, row in headers(name, sheets):
        sheet = sheets[place]
        columns = list(range(1, sheet.width + 1))
        counts = sheet.cell_counts
        if counts is None or counts.filter(sheet.frame["row"] >= row).min() == sheet.width:  # else a row ends too early
            random.Random(7).shuffle(columns)
        swapped = {str(new): str(old) for new, old in enumerate(columns, 1)}
        # What a mapping reads above the table stays beside its label.
        stays = (pl.col("row") < row) & bool(load(name).above)
        moved = (pl.when(stays).then(pl.col(new)).otherwise(old).alias(new) for new, old in swapped.items())
        frame = sheet.frame.select("row", *moved)
        extra = pl.when(pl.col("row") == row).then(pl.lit("Zzyx")).alias(str(sheet.width + 1))
        new_number = {int(old): int(new) for new, old in swapped.items()}
        column = pl.col("column").replace_strict(new_number, default=None, return_dtype=pl.UInt16)
        column = pl.when(stays).then("column").otherwise(column)
        changed = replace(
            sheet,
            frame=frame.with_columns(extra),
            facts=sheet.facts.with_columns(column),
            cell_counts=None if counts is None else counts + (counts == sheet.width),
        )
        found = drifted(name, [*sheets[:place], changed, *sheets[place + 1 :]])
        assert found is not None
        assert said(found) == said(mapped(name))
        assert any('not used: "Zzyx"' in note for note in notes_in(found))
