"""What a clerk with ordinary spreadsheets found that a draft took, or left out, without a word."""

import json
from typing import Any

import pytest
from mapping.sheets import mapping_of, run, sheet_of, states
from mapping.test_first_hour import FIRST, HEADER, SECOND, THIRD, drafted, sample

from logistics_batch.errors import SpecificationError
from logistics_batch.mapping.suggest.draft import draft_of
from logistics_batch.mapping.suggest.text import mapping_of as data_of
from logistics_batch.model.document import Operation
from logistics_batch.model.sheet import Sheet

ROWS = [HEADER, FIRST, SECOND, THIRD]


def fields(sheet: Sheet) -> dict[str, Any]:
    """What a draft says of the fields, and of the lines."""
    _, data, _ = drafted(sheet)
    return {**data["fields"], **data["lines"]}


@pytest.mark.parametrize(
    ("name", "cells", "below"),
    [
        ("UOM", ["PCS", "SET", "PCS"], "PCS"),
        ("UOM", ["PCS", "PCS", "PCS"], "pcs"),
        ("Currency", ["INR", "INR", "INR"], "INR"),
        ("Unit", ["KG", "KG", "KG"], "KG"),
        ("Remark", ["", "", ""], "*"),  # which every row would fit
    ],
)
def test_a_unit_below_the_rows_is_no_mark_by_which_rows_are_left_out(name: str, cells: list[str], below: str) -> None:
    header, *rows = ([*row, cell] for row, cell in zip(ROWS, [name, *cells], strict=True))
    total = ["", "", "", "", "", "", "7", "", below]
    draft, data, _ = drafted(sheet_of([header, *rows, total]))
    assert "skip_rows_where" not in data.get("sheet", {}) and draft.table.cells.height == len(rows)


def test_a_word_below_the_rows_that_none_of_them_has_is_a_mark_beside_a_unit_that_they_have() -> None:
    header, *rows = ([*row, cell] for row, cell in zip(ROWS, ["UOM", "NOS", "NOS", "NOS"], strict=True))
    sheet = sheet_of([header, *rows, ["", "", "", "", "", "", "7", "All", "NOS"]])
    draft = draft_of([sheet], operation=Operation.ORDER_CREATE)
    assert draft is not None and data_of(draft)["sheet"] == {"skip_rows_where": {"Payment": ["All"]}}


@pytest.mark.parametrize(("first", "second"), [("Phone", "Phone 2"), ("Mobile 1", "Mobile 2")])
def test_the_second_of_two_phones_is_the_alternate_one(first: str, second: str) -> None:
    header, *rows = ([*row[:2], *row[3:]] for row in ROWS)
    numbers = [[f"984501234{row}", f"984501235{row}"] for row in range(len(rows))]
    sheet = sheet_of([[*header, first, second], *([*row, *pair] for row, pair in zip(rows, numbers, strict=True))])
    found = fields(sheet)
    assert (found["customer_mobile"]["from"], found["alternate_customer_mobile"]["from"]) == (first, second)


@pytest.mark.parametrize(
    "cells",
    [
        ["Lamp x 2; Bulb x 1", "Bulb x 4", "Lamp x 1; Wire x 3"],
        ["Lamp x 2, Bulb x 1", "Bulb x 4", "Lamp x 1, Wire x 3"],
        ["Lamp (2) | Bulb (1)", "Bulb (4)", "Lamp (1) | Wire (3)"],
        ["Lamp - 2\nBulb - 1", "Bulb - 4", "Lamp - 1\nWire - 3"],
    ],
)
def test_several_items_in_a_cell_are_asked_about_also_beside_their_total(cells: list[str]) -> None:
    rows = [[*row[:5], cell, qty, row[7]] for row, cell, qty in zip(ROWS[1:], cells, ["3", "4", "4"], strict=True)]
    _, data, text = drafted(sheet_of([[*HEADER[:5], "Items", "Total Qty", "Payment"], *rows]))
    assert data["lines"]["item_name"] == {"from": "? Items"} and "`lines_from: {split: Items, …}`" in text


@pytest.mark.parametrize("cells", [["Tray (2), Tea (1)", "Bulb (4)", "Wire (9)"], ["Tee-3", "Tee-4", "Tee-2"]])
def test_numbers_behind_names_that_do_not_come_to_the_quantity_are_the_goods_own(cells: list[str]) -> None:
    assert fields(sample(SKU=cells, Qty=["3", "4", "2"]))["item_name"] == {"from": "SKU"}


TOWNS = ["Gurugram, Haryana - 122001", "Noida, Uttar Pradesh - 201301", "Gurugram, Haryana - 122002"]


@pytest.mark.parametrize(
    ("street", "name", "cells"),
    [
        ("Address", "City-State-Pin*", TOWNS),
        ("Address", "City/Pincode", ["Gurugram - 122000", "Gurugram - 122001", "Gurugram - 122002"]),
        ("Street", "Location", ["Indore", "Bhopal", "Ujjain"]),
        ("Pata", "Sheher", ["Surat", "Surat", "Surat"]),
        ("Pata", "Sheher", ["Surat", "Rajkot", "Surat"]),
    ],
)
@pytest.mark.parametrize("payment", ["Payment", "Remarks"])
def test_a_town_beside_the_street_is_asked_about_as_its_part(
    street: str, name: str, cells: list[str], payment: str
) -> None:
    rows = [[*row[:3], row[3].split(",")[0], cell, *row[5:7], "Prepaid" if payment == "Payment" else ""]
            for row, cell in zip(ROWS[1:], cells, strict=True)]  # fmt: skip
    _, data, _ = drafted(sheet_of([[*HEADER[:3], street, name, *HEADER[5:7], payment], *rows]))
    assert data["fields"]["delivery_address"]["join"] == [f"? {street}", f"? {name}"]


def test_a_town_with_its_pin_is_a_part_of_the_address_wherever_it_stands() -> None:
    rows = [[*row[:4], *row[5:], cell] for row, cell in zip(ROWS, ["City-State-Pin", *TOWNS], strict=True)]
    _, data, _ = drafted(sheet_of(rows))
    assert data["fields"]["delivery_address"]["join"] == ["? Address", "? City-State-Pin"]


def test_the_place_of_supply_beside_the_street_is_no_part_of_the_address() -> None:
    cells = ["Place of Supply", "Gujarat", "Gujarat", "Gujarat"]
    _, data, _ = drafted(sheet_of([[*row[:4], cell, *row[4:]] for row, cell in zip(ROWS, cells, strict=True)]))
    assert data["fields"]["delivery_address"] == {"from": "Address"}


@pytest.mark.parametrize(
    ("name", "cells", "unit", "weights"),
    [
        ("Weight (Kg)", ["12.5 kg", "3 kg", "4 kg"], "kg -> kg", ["12.5", "3", "4"]),
        ("Weight", ["12.5 kg", "3 KGS.", "4Kg"], "kg -> kg", ["12.5", "3", "4"]),
        ("Weight (Kg)", ["12.5", "3 kg", "4"], "kg -> kg", ["12.5", "3", "4"]),
        ("Weight", ["500 gm", "250 g", "1,200 gms"], "g -> kg", ["0.5", "0.25", "1.2"]),
        ("Weight (g)", ["1.5 kg", "3 kg", "4 kg"], "? kg -> kg", None),
    ],
)
def test_a_unit_behind_the_numbers_is_read(name: str, cells: list[str], unit: str, weights: list[str] | None) -> None:
    rows = [[*row, cell] for row, cell in zip(ROWS, [name, *cells], strict=True)]
    _, data, text = drafted(sheet_of(rows))
    assert data["fields"]["weight"]["read"] == {"unit": unit}
    if weights:
        assert [json.loads(each.body)["weight"] for each in run(text, sheet_of(rows)).documents] == weights


def test_numbers_without_a_unit_are_in_that_of_their_name() -> None:
    assert fields(sheet_of([[*row, cell] for row, cell in zip(ROWS, ["Weight (Kg)", "2", "3", "4"], strict=True)]))[
        "weight"
    ] == {"from": "Weight (Kg)"}


@pytest.mark.parametrize(
    ("days", "formats"),
    [
        (["15/12/2026", "15-Dec-26", "16/12/2026"], ["%d/%m/%Y", "%d-%b-%y"]),
        (["15-Dec-26", "16-Dec-26", "16.12.2026"], ["%d-%b-%y", "%d.%m.%Y"]),
        (["05/12/2026", "5-Dec-26", "2026-12-06"], ["%d-%b-%y", "? %d/%m/%Y", "? %m/%d/%Y"]),
        (["15/12/2026", "12/16/2026", "17/12/2026"], "%d/%m/%Y"),  # two orders of day and month are never both right
        (["15/12/2026", "15/12/26", "16/12/2026"], ["%d/%m/%Y", "%d/%m/%y"]),
        (["2026/12/15", "15/12/2026", "2026/12/17"], "%Y/%m/%d"),
    ],
)
def test_days_that_are_written_in_two_ways_are_read_in_both(days: list[str], formats: list[str] | str) -> None:
    sheet = sample(Delivery_Date=days)
    _, data, text = drafted(sheet)
    assert data["fields"]["expected_delivery_time"] == {"from": "Delivery Date", "read": {"date": formats}}
    if "?" in str(formats):
        with pytest.raises(SpecificationError) as refused:
            mapping_of(text)
        assert "`%d/%m/%Y` or `%m/%d/%Y`" in refused.value.findings[0].message
    elif isinstance(formats, list):
        sent = [json.loads(each.body)["expected_delivery_time"][:7] for each in run(text, sheet).documents]
        assert sent == ["2026-12"] * 3


@pytest.mark.parametrize(
    ("days", "wanted"),
    [
        (["2026-12-05T18:29:59+00:00", "2026-12-06T18:29:59+00:00", "2026-12-07T18:29:59+00:00"],
         "%Y-%m-%dT%H:%M:%S%z"),
        (["2026-12-05 18:30", "2026-12-06 18:30", "2026-12-07 18:30"], "%Y-%m-%d %H:%M"),
        (["2026/12/05", "2026/12/06", "2026/12/07"], "%Y/%m/%d"),
    ],
)  # fmt: skip
def test_behind_the_year_the_month_comes_first_and_nobody_is_asked(days: list[str], wanted: str) -> None:
    assert fields(sample(Delivery_Date=days))["expected_delivery_time"]["read"] == {"date": wanted}


def test_that_no_format_reads_days_is_said_of_all_of_them_together() -> None:
    _, _, text = drafted(sample(Delivery_Date=["05/12/26", "06-12-2026", "7 Dec"]))
    assert "no single format that is known reads “05/12/26” and “06-12-2026” and “7 Dec”" in text


def test_an_empty_column_does_not_stand_before_a_filled_one() -> None:
    header = [*HEADER[:7], "payment-method-details", "payment-method", "cod-collectible-amount"]
    cells = [["", "COD", "500"], ["", "Other", "0"], ["", "COD", "90"]]
    rows = [[*row[:7], *paid] for row, paid in zip(ROWS[1:], cells, strict=True)]
    draft, data, _ = drafted(sheet_of([header, *rows]))
    assert data["fields"]["is_cod"]["from"] == "payment-method"
    assert data["fields"]["cash_on_delivery"] == {"from": "cod-collectible-amount"}
    assert draft.unused["payment-method-details"] == ("empty",)


@pytest.mark.parametrize("name", ["Location", "Tracking Number", "Reverse Pickup Code"])
def test_an_empty_column_that_need_not_be_there_is_not_asked_about(name: str) -> None:
    draft, _, text = drafted(sample(**{name.replace(" ", "_"): ["", "", ""]}))
    assert draft.unused[name] == ("empty",)
    mapping_of(text)


@pytest.mark.parametrize("word", ["G. Total", "G.TOTAL", "Gross total", "GTotal:", "Totals"])
@pytest.mark.parametrize("place", [0, 1, 5])
def test_a_total_is_known_by_what_stands_before_the_word(word: str, place: int) -> None:
    total = ["", "", "", "", "", "", "7", ""]
    total[place] = word
    sheet = sheet_of([*ROWS, total])
    draft, data, text = drafted(sheet)
    assert data["checks"]["control_total"] == [{"column": "Qty", "row_where": {HEADER[place]: word}}]
    found = states(run(text, sheet))
    assert found.pop(5).startswith("skipped ") and {*found.values()} == {"ready"}
    assert draft.table.cells.height == 3


@pytest.mark.parametrize(
    "total", [[], ["", "Total", "", "", "", "", "8", ""], ["", "Total 4", "", "", "", "", "8", ""]]
)
@pytest.mark.parametrize("name", ["Total Gas Agency", "Total Gas Agency of Eastern India"])
def test_no_rule_leaves_out_a_customer_called_total(name: str, total: list[str]) -> None:
    sheet = sheet_of([*ROWS, ["A4", name, *FIRST[2:6], "1", "Prepaid"], total])
    _, _, text = drafted(sheet)
    mapped = run(text, sheet)
    assert [json.loads(each.body)["customer_name"] for each in mapped.documents][-1] == name
    assert len(mapped.documents) == 4


def test_of_two_columns_a_question_speaks_as_of_two() -> None:
    _, _, text = drafted(sample(Financial_Status=["pending", "paid", "paid"], Requires_Shipping=["true", "", "true"]))
    assert "nobody knows what the words in “Financial Status” and “Requires Shipping” say: keep the words" in text
    _, _, text = drafted(sample(State=["Cancelled", "", ""], Remark=["", "cancelled", ""]))
    assert "cells in “State” and “Remark” say of rows that they must not be sent" in text


def test_a_column_of_zeros_is_no_quantity() -> None:
    rows = [[*row[:6], qty, "0", "0.00", row[7]] for row, qty in zip(ROWS[1:], ["5", "2", "3"], strict=True)]
    header = [*HEADER[:6], "QuantityOrdered", "QuantityFulfilled", "QuantityPacked", "Payment"]
    _, data, _ = drafted(sheet_of([header, *rows]))
    assert data["lines"]["item_quantity"]["from"] == "QuantityOrdered"
    _, data, _ = drafted(sample(Qty=["0", "0", "0"]))
    assert data["lines"]["item_quantity"]["from"] == "? Qty"


@pytest.mark.parametrize("second", [", 9822222222", " / 9822222222", ",9822222222"])
def test_a_second_number_behind_a_phone_is_told_by_a_comma_as_well(second: str) -> None:
    cells = [FIRST[2] + second, SECOND[2], THIRD[2]]
    rows = [[*row[:2], cell, *row[3:]] for row, cell in zip(ROWS, ["Contact Details", *cells], strict=True)]
    _, data, text = drafted(sheet_of(rows))
    assert data["fields"]["customer_mobile"] == {"from": "? Contact Details"}
    assert len(run(text.replace("? Contact", "Contact"), sheet_of(rows)).documents) == 3


def test_goods_of_the_last_order_are_not_left_out_as_a_foot_unasked() -> None:
    _, data, text = drafted(
        sheet_of([*ROWS, ["", "", "", "", "", "K-4", "2", ""], ["", "", "", "", "", "K-5", "1", ""]])
    )
    assert data["sheet"]["skip_rows_where"] == {"SKU": ["? K-4", "? K-5"]}
    assert "cells in “SKU” stand with a quantity below the other rows" in text


@pytest.mark.parametrize("foot", [["Freight", "1"], ["Sum", "7"], ["Grand Total", "9"], ["Thank you", ""]])
def test_what_stands_below_the_rows_and_is_no_goods_is_not_asked_about(foot: list[str]) -> None:
    _, data, _ = drafted(sheet_of([*ROWS, ["", "", "", "", "", *foot, ""]]))
    assert data["sheet"]["skip_rows_where"] == {"SKU": [foot[0]]}
