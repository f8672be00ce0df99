"""Drafts for unknown files and proposals for drifted ones, measured on the shipped layouts."""

import subprocess
import sys
from pathlib import Path

import pytest
from mapping.sheets import HEADER, ORDERS, ROW, SHIPPED, mapping_of, run, sheet_of
from mapping.suggest_judge import answered, places_of

from logistics_batch.errors import SpecificationError
from logistics_batch.intake.readers import read_file
from logistics_batch.mapping import Mapping, load_mapping
from logistics_batch.mapping.drift import drift_of
from logistics_batch.mapping.spec.names import ColumnName
from logistics_batch.mapping.suggest.draft import Draft, draft_of
from logistics_batch.mapping.suggest.text import draft_text
from logistics_batch.model.document import Operation
from logistics_batch.model.sheet import ReadOptions

GUESSED = (Operation.ORDER_CREATE, Operation.ASN_CREATE, Operation.RECEIPT_READ)
LAYOUTS = sorted(path.stem for path in SHIPPED.glob("*.yaml") if (SHIPPED / "examples" / path.stem).is_dir())

PREPAID = ('is_cod: {from: "?"}', 'is_cod: {constant: "false"}')
"""A question and its answer."""

ON_TWO_SHEETS = ("asn_mini_wms",)  # a draft is of one sheet


def drafted(*rows: list[str], operation: Operation | None = None) -> tuple[Draft, str]:
    draft = draft_of([sheet_of(list(rows))], operation=operation)
    assert draft is not None
    return draft, draft_text(draft, file_name="drop.csv")


def example(name: str) -> Path:
    return next((SHIPPED / "examples" / name).glob("input.*"))


def loaded(text: str) -> Mapping:
    return load_mapping(
        text, path="m.yaml", read_lookup=lambda file: (SHIPPED / file).read_text(), updates_asns=lambda: True
    )


def recovered(name: str) -> tuple[int, int, bool]:
    """How many of a shipped mapping's targets its draft fills from the same column, of how many, and whether it is for
    the same operation."""
    wanted = loaded((SHIPPED / f"{name}.yaml").read_text())
    sheets = read_file(example(name), name=example(name).name, options=ReadOptions())
    draft = draft_of(sheets, operation=None if wanted.operation in GUESSED else wanted.operation)
    assert draft is not None, name
    if draft.rival is not None:  # it is asked
        draft = draft_of(sheets, operation=wanted.operation)
        assert draft is not None, name
    there = {ColumnName.of(column).identity: column for column in draft.table.profiles}

    def truth(place: str) -> list[str]:
        field = wanted.spec.everything.get(place if "." in place else f"fields.{place}")
        named = [ColumnName.of(each).identity for names in (field.columns if field else ()) for each in names]
        return [there[name] for name in named if name in there]

    text = draft_text(draft, file_name="drop.csv")
    found_in = places_of(text)
    if name not in ON_TWO_SHEETS:
        loaded(answered(text, truth))  # without a complaint
    found = total = 0
    for place, field in wanted.spec.everything.items():
        columns = {ColumnName.of(each).identity for names in field.columns for each in names} & set(there)
        if place.startswith(("fields.", "lines.")) and columns:
            mine = {place.removeprefix("fields."), f"?{place.removeprefix('fields.')}"}
            own = {ColumnName.of(column).identity for column, places in found_in.items() if places & mine}
            total, found = total + 1, found + bool(own & columns)
    return found, total, draft.operation is wanted.operation


def test_most_targets_of_the_shipped_layouts_are_recovered() -> None:
    results = {name: recovered(name) for name in LAYOUTS}
    found, total = (sum(result[place] for result in results.values()) for place in (0, 1))
    assert found / total > 0.9, results
    assert sum(result[2] for result in results.values()) >= 0.9 * len(results), results


def test_a_draft_maps_its_file_as_it_is() -> None:
    rows = [
        ["Order No.", "Customer", "Mob. No.", "Ship To Addr", "City", "PIN Code", "Payment", "COD Amt", "SKU", "Qty"],
        ["A1", "Asha", "98765 43210", "12 MG Road", "Kochi", "682001", "C.O.D", "1,200/-", "tea", "2"],
        ["A2", "Ravi", "9876543211", "7 Hill St", "Kochi", "682002", "Prepaid", "", "milk", "1"],
    ]
    draft, text = drafted(*rows)
    assert draft.operation is Operation.ORDER_CREATE and not [*draft.unused]
    mapped = run(text, sheet_of(rows))
    assert [document.key for document in mapped.documents] == ["A1", "A2"]
    assert '"delivery_address":"12 MG Road, Kochi"' in mapped.documents[0].body
    assert '"is_cod":"true","cash_on_delivery":"1200.00"' in mapped.documents[0].body


def test_each_line_says_how_sure_it_is_and_why() -> None:
    draft, text = drafted(HEADER, ROW, ["A2", "Ravi", "9876543211", "x", "milk", "1"])
    assert '  customer_mobile: {from: "Phone"}  # 0.9' in text
    guess = draft.guesses.get("fields.customer_mobile")
    assert guess is not None and guess.reasons == (("usual_name",), ("values_fit", "phone"))
    assert 0 < guess.confidence < 1


def test_values_are_asked_about_where_names_say_nothing_and_speak_against_names_that_lie() -> None:
    header = ["Order No", "Xyz", "Phone", "Address", "SKU", "Qty"]
    rows = [[f"A{n}", f"98765432{n:02d}", f"shelf {n}", "x", "tea", "1"] for n in range(10, 15)]
    draft, text = drafted(header, *rows)
    guess = draft.guesses.get("fields.customer_mobile")
    assert guess is not None and (guess.column, guess.confidence, guess.asked) == ("Xyz", 0.4, True)
    assert "Phone" in [*draft.unused] and 'customer_mobile: {from: "? Xyz"}' in text


def test_what_is_not_found_is_said_and_no_row_gets_through() -> None:
    rows = [["Order No", "SKU", "Qty", "Remark"], ["A1", "tea", "2", "x"], ["A2", "milk", "1", ""]]
    draft, text = drafted(*rows, operation=Operation.ORDER_CREATE)
    assert 'customer_mobile: {from: "?"}  # ask! 0.00: not found' in text
    assert [*draft.unused] == ["Remark"] and '  - "Remark"  # the column is empty' not in text
    with pytest.raises(SpecificationError) as refused:
        run(text, sheet_of(rows))
    asked = {finding.message for finding in refused.value.findings}
    assert "The draft asks: nothing in the file was found for `customer_mobile`: where does it stand?" in asked


def test_dates_units_and_blanks_below_are_seen() -> None:
    header = ["Order No", "Phone", "Address", "Deliver by", "Weight (g)", "SKU", "Qty"]
    rows = [
        ["A1", "9876543210", "x", "25-Nov-26", "500", "tea", "1"],
        ["", "", "", "", "", "milk", "2"],
        ["A2", "9876543211", "y", "03-Nov-26", "250", "tea", "1"],
        ["", "", "", "", "", "cup", "1"],
    ]
    _, text = drafted(header, *rows)
    assert 'fill_down: ["Order No"' in text
    assert 'read: {date: "%d-%b-%y"}' in text and "read: {unit: g -> kg}" in text
    mapped = run(text.replace(*PREPAID), sheet_of([header, *rows]))
    assert [document.rows for document in mapped.documents] == [(2, 3), (4, 5)]


def test_blanks_below_are_seen_also_where_no_column_of_goods_is_known() -> None:
    header = ["Order No", "Phone", "Address", "Xyz"]
    rows = [["A1", "9876543210", "x", "tea"], ["", "", "", "milk"], ["A2", "9876543211", "y", "cup"]]
    assert 'fill_down: ["Order No", "Phone", "Address"]' in drafted(header, *rows)[1].replace("? ", "")
    assert "fill_down" not in drafted(header, *rows[::2], ["A3", "9876543212", "", "jug"])[1]


def test_the_header_is_found_under_titles_and_asns_are_told_from_orders() -> None:
    rows = [
        ["Acme Stores", "", "", "", ""],
        ["Inward", "", "", "", ""],
        ["Invoice No.", "Party", "Item Code", "Qty (Pcs)", "Rate"],
        ["I1", "Nilgiri", "T-1", "10", "12.50"],
    ]
    draft, text = drafted(*rows)
    assert (draft.operation, draft.table.row) == (Operation.ASN_CREATE, 3)
    assert "price_per_qty" in text and 'site_name: {from: "?"}' in text


@pytest.mark.parametrize("operation", list(Operation))
def test_drafts_of_every_operation_load_but_for_their_questions(operation: Operation) -> None:
    _, text = drafted(HEADER, ROW, operation=operation)
    try:
        assert loaded(text).operation is operation
    except SpecificationError as refused:
        assert all("The draft asks" in finding.message for finding in refused.findings), refused.findings


def test_a_sheet_of_anything_else_has_no_draft() -> None:
    assert draft_of([sheet_of([["1", "2"], ["3", "4"]])]) is None
    assert draft_of([sheet_of([])]) is None


def test_a_sheet_that_adds_items_is_told_from_one_that_announces_goods() -> None:
    rows = [["AWB", "Item id", "SKU", "Qty", "Weight (kg)"], ["SH-22T70ZX", "901", "tea", "2", "0.25"]]
    draft, text = drafted(*rows)
    assert draft.operation is Operation.ORDER_ADD_ITEMS
    assert 'order_id: {from: "AWB"}' in text and 'weight: {from: "Weight (kg)", read: {unit: kg -> g}}' in text
    assert drafted(["Order No", "SKU"], ["A1", "tea"])[0].operation is not Operation.ORDER_DELETE_ITEMS


def test_codes_and_names_of_sites_are_told_apart_and_examples_are_passed_over() -> None:
    header = ["Invoice No", "Warehouse", "Vendor", "SKU", "Qty"]
    show = sheet_of([header, ["I-0", "BOM7", "Acme", "x", "1"], ["I-9", "BOM7", "Acme", "y", "1"]], name="Example")
    real = sheet_of([header, ["I-1", "BHIWANDI-01", "Acme Traders", "tea", "5"]], name="Drop")
    draft = draft_of([show, real])
    assert draft is not None and draft.table.sheet == "Drop"
    assert {"fields.site", "fields.supplier_name"} <= draft.guesses.keys()


def test_names_with_odd_signs_stay_text() -> None:
    header = ['Order "No": #1', "Phone", "Address", "SKU", "Qty", "x: {y}"]
    _, text = drafted(header, ["A1", "9876543210", "x", "tea", "1", "z"])
    spec = mapping_of(text.replace(*PREPAID)).spec
    assert {*spec.key, *spec.ignore} >= {'Order "No": #1', "x: {y}"}


def drift(header: list[str], text: str = ORDERS) -> tuple[str, list[tuple[str, str]], tuple[str, ...]]:
    row = dict(zip(HEADER, ROW, strict=True))
    cells = [row.get(name, row["Phone"] if "ontact" in name else "2" if "uan" in name else "x") for name in header]
    found = drift_of(mapping_of(text), [sheet_of([header, cells])], text, load=mapping_of)
    assert found is not None
    return found.diff(text, path="orders.yaml"), [each[:2] for each in found.renamed], found.fresh


def test_a_renamed_column_becomes_a_further_name() -> None:
    diff, renamed, _ = drift(["Order No", "Name", "Contact Number", "Address", "SKU", "Quantity"])
    assert set(renamed) == {("Phone", "Contact Number"), ("Qty", "Quantity")}
    assert "-  customer_mobile: {from: Phone, read: mobile}\n" in diff
    assert '+  customer_mobile: {from: [Phone, "Contact Number"], read: mobile}\n' in diff
    assert '+  item_quantity: {from: [Qty, "Quantity"], read: integer}' in diff


def test_a_new_column_is_proposed_to_be_ignored_and_the_rest_stays() -> None:
    diff, renamed, fresh = drift([*HEADER, "Gift note"])
    assert (renamed, fresh) == ([], ("Gift note",))
    added = [line for line in diff.splitlines() if line.startswith(("+", "-")) and not line.startswith(("+++", "---"))]
    assert added == ["+ignore:", '+  - "Gift note"']


def test_names_in_lists_and_joins_are_extended_in_their_place() -> None:
    text = ORDERS.replace("{from: Address}", '{join: [Address, Name], with: ", "}')
    diff, renamed, _ = drift(["Order Number", "Name", "Phone", "Delivery Address", "SKU", "Qty"], text)
    assert ("Address", "Delivery Address") in renamed
    assert '{join: [[Address, "Delivery Address"], Name], with: ", "}' in diff
    assert '{from: [Order No, "Order Number", "Order Id", "#"], required: true}' in diff


@pytest.mark.parametrize(
    ("old", "block", "changed"),
    [
        ("Phone", "  customer_mobile:\n    from:\n      - Phone  # 1\n", '      - Phone\n      - "Phone no"  # 1\n'),
        ("Phone", "  customer_mobile:\n    from: Phone\n", '    from: [Phone, "Phone no"]\n'),
        ("Address", "  delivery_address:\n    join:\n      - Address\n      - Name\n",
         '      - [Address, "Address no"]\n      - Name\n'),
    ],
)  # fmt: skip
def test_lists_that_stand_over_several_lines_are_extended_in_their_place(old: str, block: str, changed: str) -> None:
    field = block.strip().split(":")[0]
    text = "".join(block if line.startswith(f"  {field}:") else line for line in ORDERS.splitlines(keepends=True))
    text += "ignore: [Remark]\n"
    header = [f"{old} no" if name == old else name for name in HEADER]
    row = dict(zip(HEADER, ROW, strict=True))
    cells = [row.get(name, row[old]) for name in [*header, "Status"]]
    found = drift_of(mapping_of(text), [sheet_of([[*header, "Status"], cells])], text, load=mapping_of)
    assert found is not None and changed in found.text
    assert 'ignore: [Remark, "Status"]\n' in found.text
    assert mapping_of(found.text).spec.ignore == ["Remark", "Status"]


def test_a_word_of_a_lookup_that_is_spelt_like_the_renamed_column_stays_as_it_is() -> None:
    text = ORDERS.replace("{from: Name}", "{from: Name, read: {lookup: {Phone: Phone}}}")
    diff, renamed, _ = drift(["Order No", "Name", "Contact Number", *HEADER[3:]], text)
    assert renamed == [("Phone", "Contact Number")]
    assert "+  customer_mobile" in diff and "+  customer_name" not in diff


def test_whoever_only_loads_a_mapping_does_not_load_what_applies_or_drafts_one() -> None:
    shown = "import sys, logistics_batch.mapping; print(*(name for name in sys.modules if '.mapping.' in name))"
    done = subprocess.run([sys.executable, "-c", shown], capture_output=True, text=True, check=True)
    rooms = {name.split(".")[2] for name in done.stdout.split()}
    assert rooms == {"spec", "fields", "lint", "loaded", "loading"} and ".mapping.fields.compile" not in done.stdout


def test_a_push_of_a_known_layout_does_not_load_what_makes_drafts() -> None:
    program = (
        "import sys, logistics_batch.wiring, logistics_batch.flows.push\n"
        "print([name for name in sys.modules if name.endswith('mapping.suggest')])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "[]"


def test_a_name_among_several_of_one_joined_column_gets_its_further_name_beside_them() -> None:
    text = ORDERS.replace("{from: Address}", '{join: [[Street, Address], Name], with: ", "}')
    diff, renamed, _ = drift([*HEADER[:3], "Street Addr", *HEADER[4:]], text)
    assert renamed == [("Street", "Street Addr")]
    assert '{join: [[Street, "Street Addr", Address], Name], with: ", "}' in diff


def test_values_help_to_know_a_renamed_column_and_nothing_is_ignored_while_one_is_wanted() -> None:
    renamed = ["Ring up", *HEADER[1:]]
    rows = [[*HEADER[:2], "Mobile Nmbr", *HEADER[3:]], ROW, ROW]
    found = drift_of(mapping_of(ORDERS), [sheet_of(rows)], ORDERS, load=mapping_of)
    assert found is not None and [pair[:2] for pair in found.renamed] == [("Phone", "Mobile Nmbr")]
    unknown = drift_of(mapping_of(ORDERS), [sheet_of([renamed, ROW])], ORDERS, load=mapping_of)
    assert unknown is not None and (unknown.fresh, unknown.lost[:1]) == (("Ring up",), ("Order No",))
    assert not unknown.diff(ORDERS, path="orders.yaml")


def test_a_file_of_two_sheets_or_packed_lines_is_compared_with_what_each_sheet_has() -> None:
    two = ORDERS + "lines_sheet: {name: Lines, key: [Order No]}\n"
    heads = sheet_of([HEADER[:4], ROW[:4]], name="Orders")
    lines = sheet_of([["Order No", "SKU", "Quantity"], ["A1", "tea", "2"]], name="Lines")
    found = drift_of(mapping_of(two), [heads, lines], two, load=mapping_of)
    assert found is not None and [pair[:2] for pair in found.renamed] == [("Qty", "Quantity")]
    assert not found.lost and not found.fresh
    packed = ORDERS.replace("{from: SKU,", "{from: sku,").replace("{from: Qty,", "{from: qty,")
    packed += 'lines_from: {split: Items, pattern: "{sku} x {qty}"}\n'
    same = drift_of(
        mapping_of(packed), [sheet_of([[*HEADER[:4], "Items"], [*ROW[:4], "tea x 2"]])], packed, load=mapping_of
    )
    assert same is not None and not same.lost


def test_a_file_of_another_layout_has_no_drift() -> None:
    assert drift_of(mapping_of(ORDERS), [sheet_of([["a", "b"], ["1", "2"]])], ORDERS, load=mapping_of) is None


def test_a_file_that_fits_needs_no_change() -> None:
    assert drift(HEADER)[0] == ""


def test_two_new_columns_that_are_equally_like_a_missing_one_are_left_to_a_person() -> None:
    header = [*HEADER[:5], "Qty (ordered)", "Qty (sent)"]
    found = drift_of(mapping_of(ORDERS), [sheet_of([header, [*ROW, "2"]])], ORDERS, load=mapping_of)
    assert found is not None
    assert (found.doubtful, found.renamed) == ((("Qty", ("Qty (ordered)", "Qty (sent)")),), ())
    assert not found.fresh and not found.lost and not found.diff(ORDERS, path="orders.yaml")


@pytest.mark.parametrize(
    ("dates", "said"),
    [
        (("03/24/2027", "05/06/2027"), '{date: "%m/%d/%Y"}}'),
        (("24/03/2027", "05/06/2027"), '{date: "%d/%m/%Y"}}'),
        (("03/04/2027", "05/06/2027"), '{date: ["? %d/%m/%Y", "? %m/%d/%Y"]}}'),
    ],
)
def test_all_dates_of_a_column_tell_whether_day_or_month_comes_first(dates: tuple[str, str], said: str) -> None:
    rows = [[*HEADER, "Delivery Date"], *([*ROW, date] for date in dates)]
    _, text = drafted(*rows)
    assert said in text


def test_weights_that_can_hardly_be_kilograms_are_doubted() -> None:
    _, text = drafted([*HEADER, "Weight"], [*ROW, "750"], [*ROW, "1,200"])
    assert 'read: {unit: "? g -> kg"}' in text
    assert "unit" not in drafted([*HEADER, "Weight"], [*ROW, "0.75"])[1]
