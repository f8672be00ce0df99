"""What the examples send, held against the API document by itself, and what they tell a clerk about each bad row."""

import csv
import io
import json
import re
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from mapping.sheets import SHIPPED
from mapping.test_shipped import EXAMPLES, NAMES, ZONE, golden, load, mapped, source_of
from openpyxl import Workbook, load_workbook

from logistics_batch.flows.mappings.check_mapping import lint
from logistics_batch.intake.readers import read_file
from logistics_batch.mapping.fields.compile import RunValues
from logistics_batch.mapping.whole_file import apply_mapping
from logistics_batch.model.document import MappedFile, Operation

# The fields of API §2, as the document spells and types them. Everything is a String but what stands in NUMBERS.
ASN = {"supplier", "supplier_name", "description", "site", "site_name", "status", "delivery_date", "expiry_date"}
ASN |= {"total_price", "batch", "serial_number", "invoice_number", "sku_lines"}
SKU_LINE = {"sku_name", "status", "qty", "price_per_qty", "item_desc", "maximum_retail_price", "discount"}
SKU_LINE |= {"discount_percentage", "tracking_level", "qty_received"}
UPDATE = {"delivery_hub", "pickup_hub", "customer_name", "customer_mobile", "alternate_customer_mobile"}
UPDATE |= {"customer_email", "delivery_address", "delivery_postal_code", "delivery_lat", "delivery_long"}
UPDATE |= {"is_commercial_address", "priority", "pickup_datetime", "expected_delivery_time", "division", "is_cod"}
UPDATE |= {"cash_on_delivery", "item_details", "return_address", "return_postal_code"}
ORDER = UPDATE | {"reference_number", "customer_reference_number", "weight", "volume", "length", "breadth", "height"}
ITEM = {"item_name", "item_quantity", "item_price_per_each", "total_item_price", "item_category", "brand", "weight"}
LABEL = {"awb_number", "primary_mobile_no", "shipping_address", "delivery_pincode", "order_id", "customer_name"}
LABEL |= {"return_address", "is_cod", "amount_to_collect", "date_placed", "weight", "sku_details", "order_numbers[]"}
LABEL_LINE = {"name", "quantity", "weight", "each_item_price", "total_item_price"}
FIELDS = {
    Operation.ASN_CREATE: (ASN, SKU_LINE, {"invoice_number", "sku_lines"}),
    Operation.ASN_UPDATE: (ASN, SKU_LINE, {"invoice_number", "sku_lines"}),
    Operation.ORDER_CREATE: (ORDER, ITEM, {"reference_number", "customer_mobile", "delivery_address"}),
    Operation.ORDER_UPDATE: (UPDATE, ITEM, {"customer_mobile", "delivery_address"}),
    Operation.ORDER_ADD_ITEMS: ({"item_details"}, ITEM, {"item_details"}),
    Operation.ORDER_DELETE_ITEMS: ({"item_list"}, {"item_id", "item_name"}, {"item_list"}),
    Operation.LABEL_CREATE: (LABEL, LABEL_LINE, set()),
}
FORMS = {
    r"(?:customer_mobile|primary_mobile_no|alternate_customer_mobile)": r"[6-9]\d{9}",
    r"delivery_(?:postal_code|pincode)": r"[1-9]\d{5}",
    r"is_\w+": r"true|false",
    r"cash_on_delivery|amount_to_collect|\w*price\w*|discount": r"\d+\.\d\d",
    r"qty|quantity": r"[1-9]\d*",
    r"weight|length|breadth|height|volume": r"\d+(?:\.\d*[1-9])?",
    r"delivery_date|expiry_date": r"20\d\d-[01]\d-[0-3]\d",
    r"expected_delivery_time|pickup_datetime": r"20\d\d-[01]\d-[0-3]\dT[0-2]\d:[0-5]\d:[0-5]\d\+05:30",
    r"date_placed": r"20\d\d-[01]\d-[0-3]\d [0-2]\d:[0-5]\d:[0-5]\d",
    r"invoice_number|reference_number|awb_number|sku_name|item_name|supplier\w*|site": r"\S(?:.*\S)?",
}
BODIES = [
    pytest.param(name, json.loads(str(document["body"])), id=f"{name}-{document['key']}")
    for name in NAMES
    for document in golden(name, "documents.ndjson")
    if document["body"]
]


def lines_of(body: dict[str, Any]) -> list[dict[str, Any]]:
    found = [body[name] for name in ("item_details", "sku_lines", "item_list", "sku_details") if name in body]
    return [line for lines in found for line in (lines.values() if isinstance(lines, dict) else lines)]


@pytest.mark.parametrize(("name", "body"), BODIES)
def test_every_field_is_of_the_document_and_written_as_it_says(name: str, body: dict[str, Any]) -> None:
    operation = load(name).operation
    header, line, required = FIELDS[operation]
    assert required <= set(body) <= header
    for part, known in ((body, header), *((each, line) for each in lines_of(body))):
        assert set(part) <= known
        for field, value in part.items():
            if field == "item_quantity":
                assert type(value) is int and value >= 1
            elif field == "is_cod" and operation is Operation.LABEL_CREATE:
                assert type(value) is bool
            elif not isinstance(value, list | dict):
                assert isinstance(value, str) and value == value.strip() != ""
                for pattern, form in FORMS.items():
                    assert not re.fullmatch(pattern, field) or re.fullmatch(form, value), (field, value)


@pytest.mark.parametrize(("name", "body"), BODIES)
def test_money_is_collected_if_and_only_if_the_flag_says_so(name: str, body: dict[str, Any]) -> None:
    due = Decimal(body.get("cash_on_delivery") or body.get("amount_to_collect") or 0)
    assert (due > 0) is (str(body.get("is_cod", "false")).lower() == "true")


@pytest.mark.parametrize(("name", "body"), BODIES)
def test_weights_are_in_the_unit_of_the_call(name: str, body: dict[str, Any]) -> None:
    """Grams for labels and added items, kilograms for new orders (API §2.2, §2.3); nothing here is under 100 g."""
    grams = load(name).operation in (Operation.LABEL_CREATE, Operation.ORDER_ADD_ITEMS)
    for part in (body, *lines_of(body)):
        assert "weight" not in part or (100 if grams else 0.1) <= float(part["weight"]) <= (50_000 if grams else 50)


@pytest.mark.parametrize("name", NAMES)
def test_lint_finds_nothing(name: str) -> None:
    text = (SHIPPED / f"{name}.yaml").read_text("utf-8")
    (linted,) = lint([name], open_=lambda name: (text, f"{name}.yaml", lambda _: load(name)))
    assert linted.findings == linted.hints == ()


def records(name: str) -> list[list[str]]:
    """The cells of a text file, read without any of the program."""
    raw = source_of(name).read_bytes()
    encoding = "utf-16" if raw[:2] == b"\xff\xfe" else "cp1252" if name == "aggregator_orders" else "utf-8-sig"
    text = raw.decode(encoding)
    delimiter = next((mark for mark in ("\t", ";") if text.count(mark) > text.count(",")), ",")
    return [*csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)]


def rows_in(name: str, sheet: str) -> int:
    """How many rows the file has, counted without any of the program."""
    source = source_of(name)
    return load_workbook(source)[sheet].max_row if source.suffix == ".xlsx" else len(records(name))


@pytest.mark.parametrize("name", NAMES)
def test_every_row_of_the_file_itself_has_one_fate(name: str) -> None:
    found = mapped(name)
    headers = {"": found.header_row} | ({found.lines_sheet: found.lines_header_row} if found.lines_sheet else {})
    for sheet, header_row in headers.items():
        rows = found.rows.filter(sheet=sheet)["row"].to_list()
        assert sorted([*rows, header_row]) == [*range(1, rows_in(name, sheet or found.sheet) + 1)]
    assert bool(found.lines_sheet) == bool(load(name).spec.lines_sheet)


@pytest.mark.parametrize("name", NAMES)
def test_a_clerk_can_act_on_every_bad_row(name: str) -> None:
    """Each is told by its cell, in sentences, in the words of the sheet and not in those of the program."""
    for issue in golden(name, "issues.ndjson"):
        reason, fix, column = str(issue["reason"]), str(issue["fix"]), str(issue["column"])
        assert re.fullmatch(rf"[A-Z]{{1,3}}{issue['row']}", str(issue["cell"]))
        assert column, "a column has a name"
        for text in (reason, fix):
            assert re.fullmatch(r"[A-Z\"“].*[.?…]", text, re.DOTALL), text
            assert not re.search(r"\b(?:None|null|NaN|regex|payload)\b|\b(?:fields|lines|keep)\.\w", text)
            assert not re.search(r"item_(?:name|quantity)|customer_mobile|delivery_postal", text.replace(column, ""))
        assert reason != fix


@pytest.mark.parametrize("name", [name for name in NAMES if name != "asn_handmade"])
def test_a_file_that_comes_again_a_day_later_says_the_same(name: str) -> None:
    """Else what was accepted would be held as changed. (The hand-made sheet has no day of its own, and says so.)"""
    mapping, source = load(name), source_of(name)
    day = date.fromisoformat((EXAMPLES / name / "business_date.txt").read_text().strip()) + timedelta(days=1)
    sheets = read_file(source, name=source.name, options=mapping.read_options)
    later = apply_mapping(mapping, sheets, run_values=RunValues(source.name, day, ZONE))
    assert [each.body for each in later.documents] == [each.body for each in mapped(name).documents]


def typed(cell: str) -> str | int | float | None:
    """What a spreadsheet program makes of a cell that somebody types: numbers where it sees one."""
    if re.fullmatch(r"[1-9]\d{0,14}", cell):
        return int(cell)
    return float(cell) if re.fullmatch(r"\d{1,6}\.\d{1,2}", cell) else cell or None


@pytest.mark.parametrize("name", [name for name in NAMES if source_of(name).suffix != ".xlsx"])
def test_a_workbook_of_the_same_cells_says_the_same(name: str, tmp_path: Path) -> None:
    """Phones, PINs and quantities become numbers in Excel, and come back as they were."""
    book, mapping = Workbook(), load(name)
    for row in records(name):
        book.worksheets[0].append([typed(cell) if mapping.spec.sheet.decimal == "." else cell for cell in row])
    path = tmp_path / "input.xlsx"
    book.save(path)
    day = date.fromisoformat((EXAMPLES / name / "business_date.txt").read_text().strip())
    sheets = read_file(path, name=path.name, options=mapping.read_options)
    found = apply_mapping(mapping, sheets, run_values=RunValues(source_of(name).name, day, ZONE))
    short = {row for row, rule in found_rules(mapped(name)) if rule == "row|cells"}  # only text files have such rows
    bodies = {each.key: each.body for each in found.documents}
    assert {each.key: each.body for each in mapped(name).documents}.items() <= bodies.items()
    assert {each for each in found_rules(mapped(name)) if each[0] not in short} == set(found_rules(found))


def found_rules(found: MappedFile) -> list[tuple[int, str]]:
    return [(issue.row, issue.rule) for issue in found.issues]


@pytest.mark.parametrize("suffix", [".tsv", ".txt"])
def test_the_template_tab_saved_as_tab_separated_text_says_the_same(suffix: str, tmp_path: Path) -> None:
    """The Amazon manifest may be sent as a workbook or as the text of its one tab; its file name is its number."""
    name = "asn_amazon_manifest"
    path = tmp_path / f"input{suffix}"
    tab = load_workbook(source_of(name))["Create workflow – template"]
    with path.open("w", encoding="utf-8", newline="") as text:
        csv.writer(text, delimiter="\t").writerows(tab.iter_rows(values_only=True))
    day = date.fromisoformat((EXAMPLES / name / "business_date.txt").read_text().strip())
    sheets = read_file(path, name=path.name, options=load(name).read_options)
    found = apply_mapping(load(name), sheets, run_values=RunValues(source_of(name).name, day, ZONE))
    assert [each.body for each in found.documents] == [each.body for each in mapped(name).documents] != []
    assert found_rules(found) == found_rules(mapped(name))
