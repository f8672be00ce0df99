"""Values above the table: read once for all rows, from a cell or beside a label, and never taken for one another."""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from mapping.sheets import mapping_of, notes_in, rules, run, sheet_of, states

from logistics_batch.errors import FileHeld, SpecificationError
from logistics_batch.mapping.drift import drift_of
from logistics_batch.model.document import MappedFile
from logistics_batch.model.sheet import CellFact, merged_facts

PACKING_LIST = """
operation: asn.create
key: file
fields:
  invoice_number: {beside: [Invoice No, Bill No]}
  supplier_name: {beside: Supplier}
  site: {constant: BLR}
  delivery_date: {beside: Expected, read: {date: "%d.%m.%y"}}
lines:
  sku_name: {from: Item}
  qty: {from: Qty}
keep: {lorry: {beside: Lorry}}
ignore: [Remarks]
"""
HEAD = [
    ["Packing list"],
    ["Invoice No", "INV-22", "", "Expected:", "05.11.26"],
    ["Supplier", "Sharma Traders", "", "Lorry :", "KA 01 X 7"],
    [],
]
TABLE = [["Item", "Qty", "Remarks"], ["tea", "2"], ["salt", "3"]]


def pack(
    head: Sequence[Sequence[str]] = HEAD, table: Sequence[Sequence[str]] = TABLE, *, mapping: str = PACKING_LIST
) -> MappedFile:
    """The file of some rows above a table, mapped."""
    return run(mapping, sheet_of([*head, *table]))


def head(*rows: Sequence[str]) -> list[Sequence[str]]:
    """Rows above a table in which all that is needed stands but for what some rows say of the invoice."""
    return [["Supplier:", "Sharma Traders"], *rows, []]


def number(mapped: MappedFile) -> Any:
    """The invoice number of the only document."""
    (document,) = mapped.documents
    return json.loads(document.body)["invoice_number"]


def held(*rows: Sequence[str], mapping: str = PACKING_LIST) -> FileHeld:
    """How a file with these rows above its table is refused."""
    with pytest.raises(FileHeld) as refused:
        pack(head(*rows), mapping=mapping)
    return refused.value


def test_a_packing_list_is_one_document_with_what_stands_above_its_table() -> None:
    mapped = pack()
    (document,) = mapped.documents
    assert json.loads(document.body) == {
        "invoice_number": "INV-22",
        "supplier_name": "Sharma Traders",
        "site": "BLR",
        "delivery_date": "2026-11-05",
        "sku_lines": [{"sku_name": "tea", "qty": "2"}, {"sku_name": "salt", "qty": "3"}],
    }
    assert document.keep == {"lorry": "KA 01 X 7"}
    assert states(mapped) == {**dict.fromkeys((1, 2, 3), "skipped title"), 4: "skipped blank", 6: "ready", 7: "ready"}
    assert (notes_in(mapped), mapped.columns) == ((), ("Item", "Qty", "Remarks", "", ""))


@pytest.mark.parametrize(
    "rows",
    [
        [["Invoice No", "INV-22"]],
        [["*INVOICE-NO.", "INV-22"]],
        [["Bill No", "INV-22"]],  # another name of it
        [["Invoice No", ":", "INV-22"]],
        [["Invoice No. : INV-22"]],
        [["Packing list", "", "Invoice No.:- INV-22"]],
        [["Invoice No - INV-22"]],
        [["Invoice No: INV-22\nSupplier: Sharma Traders"]],
        [["Remarks: none   Invoice No: INV-22"]],
        [["Invoice No", "", "INV-22"]],  # nothing stands in the second column
        [["Invoice No", "Dated"], ["INV-22", "05.11.26"]],  # labels above their values
        [["Invoice No", "", "PO Valid Upto"], ["INV-22", "", "31.12.26"]],
        [["Invoice No"], ["INV-22"]],
        [["Invoice No", "INV-22"], ["Transport", "VRL"]],
        [["Invoice No", "INV-22"], ["Lorry:", "KA 01"]],
        [["Invoice No", "INV-22"], ["Invoice No", "INV-22"]],  # twice, and the same
        [["Invoice No", "INV-22"], ["Invoice No:"], [""]],
    ],
)
def test_a_value_is_found_beside_its_label(rows: list[list[str]]) -> None:
    body = [["Supplier: Sharma Traders"]] if "Supplier" not in str(rows) else [["Note"]]
    assert number(pack([*body, *rows])) == "INV-22"


BELOW = [
    pytest.param([["Invoice No", "INV-22"]], id="beside it, in the columns of goods and quantities"),
    pytest.param([[], ["", "Invoice No :", "", "", "INV-22"]], id="farther right"),
    pytest.param([["Invoice No: INV-22", "", "", "Lorry:", "KA 01"]], id="in one cell"),
    pytest.param([["Invoice No"], ["INV-22"]], id="below it"),
    pytest.param([["Total", "5"], ["Prepared by", "", "Asha"], ["Invoice No", "INV-22", "Lorry"]], id="under a total"),
    pytest.param([["Invoice No", "INV-22"], ["Total", "5"], ["Prepared by", "", "Asha"]], id="over a total"),
    pytest.param([["Total", "5", "", "Invoice No", "INV-22"]], id="in the row of a total"),
]


@pytest.mark.parametrize("rows", BELOW)
def test_a_value_is_found_below_the_table(rows: list[list[str]]) -> None:
    mapped = pack(head(), [*TABLE, *rows])
    assert number(mapped) == "INV-22"
    assert [each["sku_name"] for each in json.loads(mapped.documents[0].body)["sku_lines"]] == ["tea", "salt"]
    found = next(row for row, cells in enumerate([*head(), *TABLE, *rows], 1) if "INV-22" in str(cells))
    assert states(mapped)[found] == "skipped title"


@pytest.mark.parametrize(
    ("rows", "code", "words"),
    [
        ([["Invoice No", "INV-22", "INV-23"]], "above.either", ["INV-22", "B6", "INV-23", "C6"]),
        ([["Invoice No", "INV-22"], ["7 cartons"]], "above.either", ["INV-22", "7 cartons"]),
        ([["Invoice No", "INV-22"], ["Invoice No", "INV-23"]], "above.differ", ["INV-22", "INV-23"]),
        ([["Invoice No", "INV-22"], ["rice", "4"]], "above.within", ["B6"]),
        ([["Invoice No"], ["Lorry", "KA 01"]], "required", []),
    ],
)
def test_what_may_be_another_value_below_the_table_holds_the_file(
    rows: list[list[str]], code: str, words: list[str]
) -> None:
    if code == "required":
        assert rules(pack(head(), [*TABLE, *rows])) == [("B6", "invoice_number|required")]
        return
    with pytest.raises(FileHeld) as refused:
        pack(head(), [*TABLE, *rows])
    assert refused.value.code == code
    assert all(word in refused.value.message for word in words), refused.value.message


def test_a_label_above_and_below_says_the_same_or_holds_the_file() -> None:
    assert number(pack(head(["Invoice No", "INV-22"]), [*TABLE, ["Invoice No", "INV-22"]])) == "INV-22"
    with pytest.raises(FileHeld) as refused:
        pack(head(["Invoice No", "INV-22"]), [*TABLE, ["Invoice No", "INV-23"]])
    assert refused.value.code == "above.differ"


INVOICE = """
operation: order.create
key: file
fields:
  reference_number: {beside: Invoice No}
  customer_mobile: {beside: Mob}
  delivery_address: {beside: Deliver at}
  is_cod: {beside: Payment}
  cash_on_delivery: {beside: [Total, Grand Total], under: Amount}
lines: {item_name: {from: Item}, item_quantity: {from: Qty, read: [{suffix: Nos}, integer]}}
"""
INVOICE_HEAD = [["Invoice No", "INV-22"], ["Mob: 9876543210"], ["Deliver at: 12 MG Road, Pune 411001"], []]
INVOICE_TABLE = [["Item", "Qty", "Amount"], ["fan", "2 Nos", "3,870.00"], ["pipe", "12 Nos", "780.00"]]
TAX = ["CGST", "", "837.00"]


def test_a_total_is_read_in_its_row_under_a_column() -> None:
    """Beside the word stands the number of pieces; what the customer pays is more than the goods come to."""
    foot = [TAX, ["Total", "14 Nos", "Rs. 5,487.00"], ["Payment:", "COD"]]
    mapped = pack(
        INVOICE_HEAD, [*INVOICE_TABLE, *foot], mapping=INVOICE + 'sheet: {skip_rows_where: {Item: "CGST*"}}\n'
    )
    body = json.loads(mapped.documents[0].body)
    assert (body["cash_on_delivery"], len(body["item_details"])) == ("5487.00", 2)
    beside = INVOICE.replace(", under: Amount", "")
    with pytest.raises(FileHeld) as refused:
        pack(INVOICE_HEAD, [*INVOICE_TABLE, *foot[1:]], mapping=beside)
    assert refused.value.code == "above.either" and "`under`" in refused.value.remedy


@pytest.mark.parametrize(
    ("foot", "old", "new", "code"),
    [
        ([["Total", "14 Nos", "5,487.00"], ["Grand Total", "", "5,500.00"]], "", "", "above.differ"),
        ([["Total", "14 Nos", "5,487.00"]], "under: Amount", "under: Value", "above.under"),
        ([["Total", "14 Nos", "Amount"]], "", "", "above.label"),
        (
            [["Total", "14 Nos", "4,650.00"], ["pipe", "12 Nos", "780.00"], ["Total", "12 Nos", "780.00"]],
            "",
            "",
            "above.again",
        ),
    ],
)
def test_what_may_be_another_total_holds_the_file(foot: list[list[str]], old: str, new: str, code: str) -> None:
    with pytest.raises(FileHeld) as refused:
        pack(INVOICE_HEAD, [*INVOICE_TABLE, *foot, ["Payment:", "COD"]], mapping=INVOICE.replace(old, new))
    assert refused.value.code == code


@pytest.mark.parametrize("quantity", ["2", ""])
def test_a_row_of_data_in_which_a_label_stands_is_not_taken_for_one_below_the_table(quantity: str) -> None:
    """As a remark; the last order would be left out without a word."""
    rows = [["Order No", "Phone", "Address", "SKU", "Qty", "Remarks", ""]]
    rows += [[f"A{n}", "9876543210", "12 MG Road, Pune", "tea", quantity if n == 2 else "2", "", ""] for n in (1, 2)]
    rows[-1][5:] = ["Courier", "fragile"]
    mapping = """
operation: order.create
key: [Order No]
fields: {reference_number: {from: Order No}, customer_mobile: {from: Phone}, delivery_address: {from: Address}}
lines: {item_name: {from: SKU}, item_quantity: {from: Qty, required: true}}
keep: {courier: {beside: Courier}}
"""
    assert states(run(mapping, sheet_of(rows))) == {2: "ready", 3: "ready" if quantity else "invalid"}


def test_a_word_under_quantities_makes_no_row_of_data_of_what_stands_below_the_table() -> None:
    """“Goods despatched against Invoice No. … dated …” below a packing list."""
    table = [["Item", "Ordered", "Remarks", "Qty", ""], ["tea", "2", "", "2"], ["salt", "3", "", "3"]]
    mapped = pack(head(), [*table, ["", "Total", "", "5"], [], ["Invoice No.", "", "INV-22", "dated", "05.11.26"]])
    assert number(mapped) == "INV-22"


def test_what_is_wrong_below_the_table_is_told_of_its_cell() -> None:
    mapped = pack(head(["Invoice No", "INV-22"]), [*TABLE, [], ["Expected:", "soon"]])
    assert rules(mapped) == [("B8", "delivery_date|date")]
    assert (states(mapped)[5], states(mapped)[8]) == ("invalid", "skipped title")


@pytest.mark.parametrize(
    ("rows", "code", "cell", "words"),
    [
        ([], "above.missing", "", ["Invoice No", "Bill No"]),
        ([["Invoice Nr", "INV-22"]], "above.missing", "", ["Invoice Nr"]),
        ([["Invoice No", "INV-22"], ["Invoice No", "INV-23"]], "above.differ", "B2", ["INV-22", "B2", "INV-23", "B3"]),
        ([["Invoice No", "INV-22"], ["Bill No", "B-9"]], "above.differ", "B2", ["B-9"]),
        ([["Invoice No", "INV-22"], ["7 cartons", "x"]], "above.either", "A2", ["INV-22", "B2", "7 cartons", "A3"]),
        ([["Invoice No: INV-22 Date: 05.11.26"]], "above.several", "A2", ["INV-22 Date: 05.11.26"]),
        ([["Invoice No", "Dated"]], "above.label", "B2", ["Dated"]),
        ([["Invoice No", "yes"]], "above.label", "B2", ["yes"]),  # a number has digits
    ],
)
def test_what_may_be_another_value_holds_the_file(
    rows: list[list[str]], code: str, cell: str, words: list[str]
) -> None:
    refused = held(*rows)
    assert (refused.code, refused.values.get("cell", "")) == (code, cell)
    assert all(word in f"{refused.message} {refused.remedy}" for word in words), refused.message
    assert refused.remedy


def test_two_texts_that_may_be_a_name_are_asked_about_until_the_mapping_knows_the_label() -> None:
    rows = [["Invoice No:", "INV-22"], ["Supplier", "Sharma Traders"], ["Cargo", "VRL"]]
    with pytest.raises(FileHeld) as refused:
        pack(rows)
    assert refused.value.code == "above.either"
    known = PACKING_LIST.replace("ignore: [Remarks]", "ignore: [Remarks, Cargo]")
    assert json.loads(pack(rows, mapping=known).documents[0].body)["supplier_name"] == "Sharma Traders"


def test_a_blank_value_makes_each_document_invalid_at_its_cell() -> None:
    mapped = pack([["Invoice No:", "INV-22"], ["Supplier:", ""], ["Expected:", "soon"]])
    assert rules(mapped) == [("B2", "supplier_name|required"), ("B3", "delivery_date|date")]
    assert {issue.row for issue in mapped.issues} == {5}
    assert (states(mapped)[5], states(mapped)[6]) == ("invalid", "blocked sibling")
    assert mapped.issues[1].column == "Outside the table: Expected"


def test_a_key_that_is_blank_holds_the_file() -> None:
    mapping = PACKING_LIST.replace("key: file", "key: {beside: Invoice No}")
    refused = held(["Invoice No:", ""], mapping=mapping)
    assert (refused.code, refused.values["place"]) == ("above.blank", [2, "B2"])


def test_a_key_may_stand_above_the_table_and_in_it() -> None:
    mapping = PACKING_LIST.replace("key: file", "key: [{beside: Invoice No}, Part]").replace(
        "invoice_number: {beside: [Invoice No, Bill No]}",
        'invoice_number: {join: [{beside: Invoice No}, Part], with: "/"}',
    )
    table = [["Item", "Qty", "Part"], ["tea", "2", "a"], ["salt", "3", "b"], ["Total", "5", ""]]
    mapped = pack(HEAD, table, mapping=mapping)
    assert [json.loads(document.body)["invoice_number"] for document in mapped.documents] == ["INV-22/a", "INV-22/b"]
    assert states(mapped)[8] == "skipped total"
    blank = pack(HEAD, [*table[:2], ["salt", "3", ""]], mapping=mapping)
    assert rules(blank) == [("C7", "key|required")]


@pytest.mark.parametrize("kind", ["lines_sheet", "lines"])
def test_orders_on_two_sheets_take_values_above_the_first(kind: str) -> None:
    mapping = """
operation: asn.create
key: [Part]
lines_sheet: {name: Lines, key: [Part]}
fields:
  invoice_number: {join: [{beside: Invoice No}, Part], with: "/"}
  supplier_name: {beside: Supplier, required: true}
  site: {constant: BLR}
lines: {sku_name: {from: Item}, qty: {from: Qty}}
keep: {lorry: {beside: Lorry}}
"""
    supplier = "" if kind == "lines" else "Sharma"
    first = sheet_of(
        [["Invoice No: INV-22"], ["Supplier:", supplier], ["Lorry:", "7"], ["Part", "x"], ["a"]], name="Parts"
    )
    second = sheet_of([["Part", "Item", "Qty"], ["a", "tea", "2"], ["a", "salt", "3"]], name="Lines")
    mapped = run(mapping, first, second)
    if kind == "lines":
        assert rules(mapped) == [("B2", "supplier_name|required")]
        return
    (document,) = mapped.documents
    assert json.loads(document.body)["invoice_number"] == "INV-22/a"
    assert document.keep == {"lorry": "7"}


CELLS = """
operation: order.create
key: file
fields:
  reference_number: {cell: B1}
  customer_mobile: {cell: B2}
  delivery_address: {join: [{cell: A3}, {cell: a4}], with: ", "}
lines: {item_name: {from: Item}, item_quantity: {from: Qty}}
"""
LETTER = [["Order", "A7"], ["Mobile", "98765-43210"], ["12 MG Road"], ["Mysuru"], []]


def test_cells_are_read_by_their_addresses() -> None:
    (document,) = pack(LETTER, mapping=CELLS).documents
    assert json.loads(document.body) | {"item_details": []} == {
        "reference_number": "A7",
        "customer_mobile": "9876543210",
        "delivery_address": "12 MG Road, Mysuru",
        "item_details": [],
    }


def test_an_address_counts_the_columns_of_the_sender() -> None:
    ours = [["", "", *row] for row in LETTER]
    table = [["Reason", "What to do", *TABLE[0]], ["x", "y", "tea", "2"]]
    assert json.loads(pack(ours, table, mapping=CELLS).documents[0].body)["reference_number"] == "A7"


def test_cells_that_have_moved_hold_the_file() -> None:
    with pytest.raises(FileHeld) as lower:
        pack(LETTER[:3], mapping=CELLS)
    assert (lower.value.code, lower.value.values["row"]) == ("above.in_table", 4)
    with pytest.raises(FileHeld) as moved:
        pack([*LETTER[:1], ["To", "Mobile:"], *LETTER[1:]], mapping=CELLS)
    assert (moved.value.code, moved.value.values["cell"]) == ("above.label", "B2")


def test_a_cell_keeps_what_its_program_says_of_it() -> None:
    sheet = sheet_of([*HEAD, *TABLE], types=[(2, 2, CellFact.IMPRECISE), (2, 5, CellFact.DATE)])
    assert rules(run(PACKING_LIST, sheet)) == [("B2", "invoice_number|imprecise")]


def test_a_label_over_merged_cells_has_its_value_behind_them() -> None:
    rows = [["Invoice No", "", "INV-22"], ["Supplier", "", "Sharma Traders"], ["", "y"], *TABLE]
    sheet = replace(sheet_of(rows), facts=merged_facts([(1, 1, 1, 2), (2, 1, 2, 2)]))
    assert number(run(PACKING_LIST, sheet)) == "INV-22"


def test_rows_of_names_over_two_rows_are_not_looked_at() -> None:
    mapping = PACKING_LIST.replace("ignore:", "sheet: {header_rows: 2}\nignore:").replace("Qty}", "Pieces Qty}")
    rows = [*HEAD[:3], ["", "Pieces", "Supplier"], ["Item", "Qty", "Remarks"], ["tea", "2"]]
    assert json.loads(run(mapping, sheet_of(rows)).documents[0].body)["supplier_name"] == "Sharma Traders"


def test_a_default_stands_where_no_label_does_but_not_where_one_may_be_meant() -> None:
    mapping = PACKING_LIST.replace("{beside: Supplier}", "{beside: Supplier, default: Own}")
    without = [["Invoice No", "INV-22"]]
    assert json.loads(pack(without, mapping=mapping).documents[0].body)["supplier_name"] == "Own"
    with pytest.raises(FileHeld) as refused:
        pack([*without, ["Suplier", "Sharma Traders"]], mapping=mapping)
    assert refused.value.code == "above.missing"


def test_a_total_below_the_table_is_known_without_a_key_in_it() -> None:
    table = [*TABLE, ["Total", "5"], ["Prepared by", "", "Asha"]]
    assert [states(pack(HEAD, table))[row] for row in (8, 9)] == ["skipped total", "skipped comment"]
    other = pack(HEAD, [*TABLE, ["Total", "6"]])
    assert rules(other) == [("A8", "sku_name|total")]
    assert len(other.documents) == 0


def test_the_head_on_each_page_of_a_print_is_known_again() -> None:
    page = [*HEAD[:3], TABLE[0], ["rice", "4"], ["dal", "5"]]
    mapped = pack(HEAD, [*TABLE, *page])
    assert [states(mapped)[row] for row in range(8, 14)] == [
        *["skipped title"] * 3,
        "skipped repeated header",
        *["ready"] * 2,
    ]


def test_several_lines_in_a_row_go_with_what_stands_above() -> None:
    mapping = PACKING_LIST.replace("from: Item", "from: sku").replace("from: Qty", "from: pieces")
    mapping += 'lines_from: {split: Goods, on: ";", pattern: "{sku} x {pieces}"}\n'
    table = [["Goods"], ["tea x 2; salt x 3"], ["rice x 0"]]
    mapped = pack([*HEAD[:2], ["Supplier:", ""]], table, mapping=mapping)
    assert rules(mapped) == [("B3", "supplier_name|required"), ("A6", "qty|quantity")]


def test_receipts_take_their_invoice_from_above() -> None:
    mapping = """
operation: receipt.read
fields: {invoice_number: {beside: Invoice No}, sku_name: {from: Item}, qty: {from: Qty}}
"""
    kept = pack(mapping=mapping).keep
    assert kept.select("row", "invoice_number", "qty").rows() == [(6, "INV-22", "2"), (7, "INV-22", "3")]


@pytest.mark.parametrize("key", ["file", "{beside: Invoice No}"])
def test_a_label_that_was_renamed_is_proposed_as_a_further_one(key: str) -> None:
    text = PACKING_LIST.replace("key: file", f"key: {key}").replace("[Invoice No, Bill No]", "Invoice No")
    sheet = sheet_of([["Invoice Nr.", "INV-22"], ["Supplier:", "Sharma Traders"], [], *TABLE])
    drift = drift_of(mapping_of(text), [sheet], text, load=mapping_of)
    assert drift is not None
    assert drift.renamed == (("Outside the table: Invoice No", "Invoice Nr", 1.0),)
    assert drift.lost == ("Outside the table: Expected", "Outside the table: Lorry")
    assert number(run(drift.text, sheet)) == "INV-22"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            "key: file",
            "key: [{cell: C5, beside: x}]",
            "`{cell: C5}` or `{beside: Invoice No}`, with the first of its labels",
        ),
        ("{beside: Supplier}", "{beside: Supplier, from: Party}", "here stands `from` and `beside`"),
        ("{beside: Supplier}", "{cell: 5C}", "`5C` is no address of a cell."),
        ("{beside: Supplier}", "{besides: Supplier}", "beside"),
        ("{beside: Supplier}", "{cell: C5, under: Qty}", "`under` belongs to `beside`"),
        ("{beside: [Invoice No, Bill No]}", "{constant: INV-22}", "the same for all, and in tomorrow's file"),
    ],
)
def test_a_mistake_in_the_mapping_is_told(old: str, new: str, said: str) -> None:
    with pytest.raises(SpecificationError) as refused:
        mapping_of(PACKING_LIST.replace(old, new))
    assert any(said in str(finding) for finding in refused.value.findings), refused.value.findings


@pytest.mark.parametrize("value", [": INV-22", ":INV-22", "= INV-22", "- INV-22", "\uff1a INV-22"])
def test_what_parts_a_label_from_its_value_is_no_part_of_it(value: str) -> None:
    """A corrected file without the colon would else be another ASN."""
    assert number(pack(head(["Invoice No", value]))) == "INV-22"


@pytest.mark.parametrize("text", ["Date", "To", "Ship To", "Site"])
def test_a_cell_that_names_something_is_no_value(text: str) -> None:
    """As where a column was inserted, so that another cell stands there now."""
    mapping = PACKING_LIST.replace("{beside: Supplier}", "{cell: D1}")
    with pytest.raises(FileHeld) as refused:
        pack([["Packing list", "", "", text], ["Invoice No", "INV-22"], []], mapping=mapping)
    assert (refused.value.code, refused.value.values["value"]) == ("above.label", text)


SECOND = [
    pytest.param(["Invoice No", "INV-23"], id="beside it"),
    pytest.param(["", "", "", "Invoice No: INV-23"], id="in one cell"),
    pytest.param(["", "", "Invoice No:", "", "INV-23"], id="beside the table"),
    pytest.param(["Invoice No", "5012"], id="a number, as a quantity is"),
]


@pytest.mark.parametrize("row", SECOND)
def test_the_head_of_a_second_document_holds_the_file(row: list[str]) -> None:
    """Its goods would go out under the first one's number."""
    table = [["Item", "Qty", "Remarks", "", ""], ["tea", "2"], [], row, ["Item", "Qty", "Remarks"], ["salt", "3"]]
    with pytest.raises(FileHeld) as refused:
        pack(head(["Invoice No", "INV-22"]), table)
    assert refused.value.code == "above.again"
    assert "INV-22" in refused.value.message


def test_the_same_head_on_each_page_is_read_once() -> None:
    page = [["Invoice No", "INV-22"], ["Item", "Qty", "Remarks"], ["salt", "3"]]
    mapped = pack(head(["Invoice No", "INV-22"]), [["Item", "Qty", "Remarks"], ["tea", "2"], [], *page])
    assert [each["sku_name"] for each in json.loads(mapped.documents[0].body)["sku_lines"]] == ["tea", "salt"]


TOTALS = (
    "G. Total",
    "G.TOTAL",
    "Gross Total",
    "TTL",
    "TOTAL (PCS)",
    "Total Qty in Pcs",
    "Carton Total",
    "कुल",
    "Total No. of Cartons",
)


@pytest.mark.parametrize("word", TOTALS)
def test_a_total_under_whatever_word_is_no_goods(word: str) -> None:
    mapped = pack(head(["Invoice No", "INV-22"]), [*TABLE, [word, "5"]])
    assert states(mapped).get(7, "").startswith("skipped") or rules(mapped)
    for document in mapped.documents:
        assert word not in document.body


@pytest.mark.parametrize("quantity", ["5", "5 Pcs"])
def test_a_quantity_of_no_goods_is_told(quantity: str) -> None:
    """It is mostly a total, and would be announced once more."""
    mapping = PACKING_LIST.replace("{from: Qty}", "{from: Qty, read: [{suffix: Pcs}, integer]}")
    mapped = pack(head(["Invoice No", "INV-22"]), [*TABLE, ["", quantity]], mapping=mapping)
    assert rules(mapped) == [("A7", "sku_name|required")]
    assert "is this the row of a total?" in mapped.issues[0].reason and "Leave the row out" in mapped.issues[0].fix
    assert not mapped.documents
