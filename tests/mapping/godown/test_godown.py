"""A clerk's own register, made up from the habits of clerks: his three sheets are sent with three short YAML files.

What must come of it was read off the register by hand; nothing here was written by the program.
"""

import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from mapping.godown.register import write_csv, write_workbook
from mapping.sheets import mapping_of, rules, states

from logistics_batch.intake.readers import read_file
from logistics_batch.mapping.fields.compile import RunValues
from logistics_batch.mapping.whole_file import apply_mapping
from logistics_batch.model.document import MappedFile

HERE = Path(__file__).parent
DELIVERIES: dict[str, dict[str, Any]] = {
    "00231": {
        "reference_number": "00231",
        "customer_name": "Faisal Kutty",
        "customer_mobile": "9495038812",
        "delivery_address": "Puthen Veedu, Boat Jetty Road, Kochi",
        "delivery_postal_code": "682005",
        "expected_delivery_time": "2026-11-05T18:00:00+05:30",
        "is_cod": "true",
        "cash_on_delivery": "1697.00",
        "weight": "2.43",
        "item_details": [
            {"item_name": "KTL-15-SS", "item_quantity": 1},
            {"item_name": "MUG-2-CR", "item_quantity": 2},
        ],
    },
    "00232": {
        "reference_number": "00232",
        "customer_name": "Arul Prakasam",
        "customer_mobile": "8939002716",
        "delivery_address": "Block D, Flat 6, Marina Nest,  Chennai",
        "delivery_postal_code": "600004",
        "expected_delivery_time": "2026-11-06T18:00:00+05:30",
        "is_cod": "false",
        "weight": "1.92",
        "item_details": [{"item_name": "AGB-100", "item_quantity": 12}],
    },
    "00233": {
        "reference_number": "00233",
        "customer_name": "Thamarai Selvi",
        "customer_mobile": "9003311250",
        "delivery_address": "New 17 (Old 9), Canal Bank Road, Chennai",
        "delivery_postal_code": "600028",
        "expected_delivery_time": "2026-11-06T18:00:00+05:30",
        "is_cod": "true",
        "cash_on_delivery": "3096.00",
        "weight": "3.8",
        "item_details": [
            {"item_name": "TIF-3-SS", "item_quantity": 2},
            {"item_name": "TIF-4-SS", "item_quantity": 1},
            {"item_name": "SPB-7-WD", "item_quantity": 1},
        ],
    },
    "00238": {
        "reference_number": "00238",
        "customer_name": "सुनीता यादव",
        "customer_mobile": "7019234561",
        "delivery_address": "मकान नं. 12, नीम गली, Bengaluru",
        "delivery_postal_code": "560027",
        "expected_delivery_time": "2026-11-06T18:00:00+05:30",
        "is_cod": "false",
        "weight": "0.93",
        "item_details": [{"item_name": "BTL-1L-CU", "item_quantity": 3}],
    },
}
KETTLES = {
    "supplier_name": "Suvarna Metal Works",
    "site": "KOCHI-02",
    "invoice_number": "SMW/0118",
    "delivery_date": "2026-11-05",
    "sku_lines": [
        {
            "sku_name": "KTL-15-SS",
            "item_desc": "Kettle 1.5 ltr",
            "qty": "24",
            "price_per_qty": "557.00",
            "maximum_retail_price": "1299.00",
        },
        {
            "sku_name": "KTL-18-GL",
            "item_desc": "Kettle 1.8 ltr",
            "qty": "12",
            "price_per_qty": "743.50",
            "maximum_retail_price": "1699.00",
        },
        {
            "sku_name": "TIF-3-SS",
            "item_desc": "Tiffin 3 tier",
            "qty": "24",
            "price_per_qty": "402.00",
            "maximum_retail_price": "899.00",
        },
    ],
}


@pytest.fixture
def workbook(tmp_path: Path) -> Path:
    write_workbook(tmp_path / "register.xlsx")
    return tmp_path / "register.xlsx"


def mapped(path: Path, name: str) -> MappedFile:
    mapping = mapping_of((HERE / f"{name}.yaml").read_text("utf-8"))
    sheets = read_file(path, name=path.name, options=mapping.read_options)
    return apply_mapping(mapping, sheets, run_values=RunValues(path.name, date(2026, 11, 3), "Asia/Kolkata"))


def bodies(found: MappedFile) -> dict[str, dict[str, Any]]:
    return {each.key: json.loads(each.body) for each in found.documents}


def test_deliveries_go_out_as_the_register_says(workbook: Path) -> None:
    assert bodies(mapped(workbook, "despatch")) == DELIVERIES


def test_each_row_of_the_despatch_sheet_has_its_fate(workbook: Path) -> None:
    """Pages carried forward, the header again, the order that he hid, the number that he took twice."""
    assert states(mapped(workbook, "despatch")) == {
        1: "skipped title",
        2: "skipped title",
        3: "skipped blank",
        4: "skipped title",
        6: "skipped skip_rows_where",
        **dict.fromkeys((7, 8, 9), "ready"),
        **dict.fromkeys((10, 11, 12, 13), "invalid"),
        14: "skipped skip_rows_where",
        15: "skipped repeated header",
        16: "skipped skip_rows_where",
        17: "ready",
        18: "skipped hidden row",
        **dict.fromkeys((19, 20), "invalid"),
        **dict.fromkeys((21, 22), "blocked disagree"),
        23: "skipped blank",
        **dict.fromkeys((24, 25, 26), "skipped skip_rows_where"),
    }


def test_each_mistake_of_the_despatch_sheet_is_told_with_its_cell(workbook: Path) -> None:
    assert rules(mapped(workbook, "despatch")) == [
        ("M10", "is_cod|lookup"),  # "To pay": by whom?
        ("H11", "item_quantity|integer"),  # "1 doz"
        ("J12", "lines_from|half_filled"),  # a second item, but how many?
        ("N13", "cash_on_delivery|cod"),
        ("F19", "customer_mobile|scientific"),
        ("N19", "cash_on_delivery|no_value"),  # a formula that no program has worked out
        ("O20", "weight|unit"),  # kilograms in a column of grams
        ("P20", "expected_delivery_time|date"),  # 31 November
    ]


def test_the_same_sheet_as_csv_loses_only_what_his_program_lost(tmp_path: Path) -> None:
    """Saved as CSV the sheet has no hidden rows any more, and two phones are seven digits short."""
    write_csv(tmp_path / "despatch.csv")
    found = mapped(tmp_path / "despatch.csv", "despatch")
    rings = DELIVERIES["00232"] | {
        "reference_number": "00239",
        "weight": "3.6",
        "item_details": [{"item_name": "RNG-KIT-6", "item_quantity": 5}],
    }
    assert bodies(found) == {name: DELIVERIES[name] for name in ("00232", "00233")} | {"00239": rings}
    short = [cell for cell, rule in rules(found) if rule == "customer_mobile|scientific"]
    assert short == ["F5", "F15", "F17"]


def test_goods_come_in_with_what_stands_once_in_merged_cells(workbook: Path) -> None:
    found = mapped(workbook, "inward")
    assert bodies(found) == {"Suvarna Metal Works | KOCHI-02 | SMW/0118": KETTLES}
    assert states(found) == {
        1: "skipped title",
        **dict.fromkeys((3, 4, 5), "ready"),
        6: "blocked sibling",
        **dict.fromkeys((7, 8, 9), "invalid"),
        10: "skipped total",
        11: "skipped skip_rows_where",
    }
    assert rules(found) == [
        ("E7", "sku_name|error_value"),
        ("J8", "row|line_total"),  # 40 x 371 is no 18,840
        ("A9", "delivery_date|date_window"),  # 2062 for 2026
    ]


def test_only_what_somebody_signed_is_called_off(workbook: Path) -> None:
    found = mapped(workbook, "called_off")
    assert [each.key for each in found.documents] == ["00228", "00230", "00231 / 00232"]  # no order has the last name
    assert states(found) == {
        1: "skipped title",
        **dict.fromkeys((3, 4, 5), "ready"),
        **dict.fromkeys((6, 7), "skipped only_rows_where"),
    }
