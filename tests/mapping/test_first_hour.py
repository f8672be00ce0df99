"""What newcomers met in their first hour with a sheet of their own: the draft asks, or says what becomes of it."""

import json
from typing import Any

import pytest
import yaml
from mapping.sheets import mapping_of, run, sheet_of, states

from logistics_batch import messages
from logistics_batch.errors import SpecificationError
from logistics_batch.mapping import hints_of
from logistics_batch.mapping.suggest.draft import Draft, draft_of
from logistics_batch.mapping.suggest.text import draft_json, draft_text
from logistics_batch.model.document import Operation
from logistics_batch.model.issue import Issue
from logistics_batch.model.sheet import Sheet, merged_facts

HEADER = ["Order No", "Name", "Mobile", "Address", "PIN", "SKU", "Qty", "Payment"]
FIRST = ["A1", "Asha Rao", "9822012345", "12 MG Road, Pune", "411001", "K-1", "2", "Prepaid"]
SECOND = ["A2", "Ravi Iyer", "9822012346", "7 Hill St, Pune", "411002", "K-2", "1", "Prepaid"]
THIRD = ["A3", "Tina Shah", "9822012347", "A-4 Palm, Thane", "400601", "K-3", "4", "Prepaid"]


def sample(**columns: list[str]) -> Sheet:
    """Three good orders with further columns, or others in place of their own; blanks in names as underscores."""
    header, rows = [*HEADER], [[*FIRST], [*SECOND], [*THIRD]]
    for name, cells in ((name.replace("_", " "), cells) for name, cells in columns.items()):
        at = header.index(name) if name in header else len(header)
        header[at : at + 1] = [name]
        for row, cell in zip(rows, cells, strict=True):
            row[at : at + 1] = [cell]
    return sheet_of([header, *rows])


def drafted(sheet: Sheet) -> tuple[Draft, dict[str, Any], str]:
    draft = draft_of([sheet], operation=Operation.ORDER_CREATE)
    assert draft is not None
    text = draft_text(draft, file_name="x.csv")
    return draft, yaml.safe_load(text), text


@pytest.mark.parametrize(
    ("days", "wanted"),
    [
        (["3. Dez. 26", "12. Dez. 26", "4. Mai 26"], "%d. %b %y"),
        (["3. Dezember 2026", "12. März 2026", "4. OKT. 2026"], "%d. %b %Y"),
        (["3 déc. 2026", "12 août 2026", "4 FÉVRIER 2026"], "%d %b %Y"),
        (["3 de diciembre de 2026", "12 de enero de 2026", "4 de abr. de 2026"], "%d de %b de %Y"),
        (["03-Dec-2026", "12-Jan-2026", "04-Sept-2026"], "%d-%b-%Y"),
    ],
)
def test_days_with_the_name_of_their_month_go_out_in_four_languages(days: list[str], wanted: str) -> None:
    sheet = sample(Delivery_Date=days)
    _, data, text = drafted(sheet)
    assert data["fields"]["expected_delivery_time"] == {"from": "Delivery Date", "read": {"date": wanted}}
    mapped = run(text, sheet)
    sent = [json.loads(each.body)["expected_delivery_time"][:10] for each in mapped.documents]
    assert sent[0] == "2026-12-03" and len({*sent}) == 3, mapped.issues


@pytest.mark.parametrize("name", ["Delivery Date", "Pickup Date"])
@pytest.mark.parametrize(
    "days", [["Do, 3/12/26", "Fr, 4/12/26", "Sa, 5/12/26"], ["05/12/26", "06-12-2026", "7 Dec"],
             ["3 दिसंबर 2026", "4 दिसंबर 2026", "5 दिसंबर 2026"], ["25/11/2026 10-13", "25/11/2026 14-17", "26/11/2026"]]
)  # fmt: skip
def test_a_day_of_delivery_that_no_format_reads_is_asked_about(name: str, days: list[str]) -> None:
    draft, data, text = drafted(sample(**{name.replace(" ", "_"): days}))
    place = "pickup_datetime" if "Pickup" in name else "expected_delivery_time"
    assert data["fields"][place] == {"from": name, "read": {"date": "?"}}
    with pytest.raises(SpecificationError) as refused:
        mapping_of(text)
    assert [each.message.count(f"`{place}`") for each in refused.value.findings] == [1]
    (asked,) = draft_json(draft, file_name="x.csv")["questions"]
    assert (asked["place"], asked["answers"]) == (f"fields.{place}", [""])
    assert asked["candidates"][0]["columns"] == [name] and asked["candidates"][0]["samples"][0] == days[0]


@pytest.mark.parametrize(
    ("name", "cells"),
    [
        ("Delivery Date", ["asap", "urgent", "asap"]),
        ("Expected Delivery", ["2 days", "3 days", "2 days"]),
        ("Slot", ["10-13", "14-17", "10-13"]),
        ("Order Date", ["Do, 3/12/26", "Fr, 4/12/26", "Sa, 5/12/26"]),
        ("Abholung", ["Do, 3/12/26", "Fr, 4/12/26", "Sa, 5/12/26"]),  # no name of whoever gives the goods
    ],
)
def test_what_is_no_day_of_delivery_is_not_asked_about(name: str, cells: list[str]) -> None:
    draft, _, text = drafted(sample(**{name.replace(" ", "_"): cells}))
    assert name in draft.unused and not [each for each in draft.guesses.values() if each.asked]
    mapping_of(text)


def test_of_ids_of_packages_and_their_number_a_draft_takes_one() -> None:
    sheet = sample(No_of_Boxes=["2", "1", "1"], Box_No=["B-1", "B-2", "B-3"])
    draft, data, text = drafted(sheet)
    assert data["lines"]["package_id"] == {"from": "Box No"} and "packages_count" not in data["fields"]
    assert draft.unused["No of Boxes"] == ("ids_or_count", "Box No")
    assert len(run(text, sheet).documents) == 3


@pytest.mark.parametrize(("word", "is_known"), [("Pair", False), ("Set", False), ("Pcs", True)])
def test_how_many_a_word_stands_for_is_asked_without_a_guess_where_nobody_knows(word: str, is_known: bool) -> None:
    draft, data, _ = drafted(sample(Qty=[f"2 {word}", f"1 {word}", f"4 {word}"]))
    read = data["lines"]["item_quantity"]["read"]["suffix"]
    assert read == ([word] if is_known else {word: "?"})
    asked = draft_json(draft, file_name="x.csv")["questions"]
    assert [(each["place"], each["answers"]) for each in asked] == [("lines.item_quantity", [""])] * (not is_known)


PAGES = [HEADER, FIRST, [*SECOND[:6], "3", "Prepaid"], THIRD]
MAPPED = """
operation: order.create
key: [Order No]
fields:
  reference_number: {from: Order No}
  customer_name: {from: Name}
  customer_mobile: {from: Mobile}
  delivery_address: {from: Address}
  delivery_postal_code: {from: PIN}
  is_cod: {from: Payment}
lines:
  item_name: {from: SKU}
  item_quantity: {from: Qty, required: true}
"""


@pytest.mark.parametrize("place", [0, 1, 5])  # of the foot: in place of the key, of a name, of the goods
@pytest.mark.parametrize("is_filled", [False, True])
def test_feet_of_printed_pages_are_no_orders_and_no_goods(place: int, is_filled: bool) -> None:
    feet = [["", "", "", "", "", "", count, ""] for count in ("5", "4")]
    for at, foot in enumerate(feet, 1):
        foot[place] = f"Page {at} of 2"
    sheet = sheet_of([*PAGES[:3], feet[0], PAGES[3], feet[1]])
    rule = "sheet: {fill_down: [Order No, Name, Mobile, Address, PIN, Payment]}\n" if is_filled else ""
    mapped = run(MAPPED + rule, sheet)
    assert [each.key for each in mapped.documents] == ["A1", "A2", "A3"], mapped.issues
    assert states(mapped) == {2: "ready", 3: "ready", 4: "skipped total", 5: "ready", 6: "skipped total"}
    _, data, text = drafted(sheet)
    assert [each.key for each in run(text, sheet).documents] == ["A1", "A2", "A3"]
    assert data.get("sheet", {}) == ({} if place == 0 else {"skip_rows_where": {HEADER[place]: ["Page * of *"]}})


def test_a_foot_of_a_page_in_place_of_goods_that_is_no_sum_is_asked_about_and_not_sent() -> None:
    rule = "sheet: {fill_down: [Order No, Name, Mobile, Address, PIN, Payment]}\n"
    mapped = run(MAPPED + rule, sheet_of([*PAGES[:3], ["", "", "", "", "", "Page 1 of 2", "7", ""], THIRD]))
    assert [(each.code, each.cell) for each in mapped.issues] == [("total.keyless", "F4")]
    assert [each.key for each in mapped.documents] == ["A1", "A3"]


@pytest.mark.parametrize(("word", "is_told"), [("*COD*", True), ("COD*", True), ("*", False), ("5*10", False)])
def test_a_pattern_in_a_lookup_is_told_with_what_to_write(word: str, is_told: bool) -> None:
    text = MAPPED.replace(
        "is_cod: {from: Payment}", f'is_cod: {{from: Payment, read: {{lookup: {{"{word}": "true", Paid: "false"}}}}}}'
    )
    (*told,) = hints_of(mapping_of(text), text, path="m.yaml")
    assert ["skip_rows_where" in each.remedy and f"`{word}`" in each.message for each in told] == [True] * is_told
    assert all(text.splitlines()[each.line - 1].strip().startswith("is_cod") for each in told)


PIECES = MAPPED.replace("  item_quantity: {from: Qty, required: true}\n", "")


@pytest.mark.parametrize(
    ("more", "is_told"),
    [
        ("", True),
        ("  item_quantity: {constant: 1}\n", True),
        ("  item_quantity: {from: Qty}\n", False),
        ("checks: {equal_rows: allow}\n", False),
        ("checks: {equal_rows: block}\n", False),
        ("checks: {equal_rows: note}\n", False),
    ],
)
def test_what_becomes_of_equal_rows_is_told_where_each_row_is_a_piece(more: str, is_told: bool) -> None:
    text = PIECES + more
    (*told,) = hints_of(mapping_of(text), text, path="m.yaml")
    assert ["equal_rows: allow" in each.remedy for each in told] == [True] * is_told
    held = run(text, sheet_of([HEADER, FIRST, FIRST]))
    assert (not held.documents) == ("allow" not in more and "note" not in more)


@pytest.mark.parametrize(
    ("filled", "merged", "told"),
    [
        ("[Name, Address]", [(1, 1, 1, 5), (3, 1, 4, 1), (3, 2, 4, 2), (3, 4, 4, 4)], []),
        ("[Name]", [(3, 1, 4, 1), (3, 2, 4, 2), (3, 4, 4, 4)], ["D3:D4"]),
        ("[Name]", [(3, 2, 4, 3)], ["B3:C4"]),  # whatever stood in C
    ],
)
def test_merged_cells_are_told_where_the_mapping_does_not_fill_them_down(
    filled: str, merged: list[tuple[int, int, int, int]], told: list[str]
) -> None:
    note = Issue.of("merged_cells", ranges="of the reader")
    cells = sheet_of([["Orders"], HEADER, FIRST, [*FIRST[:5], "K-9", *FIRST[6:]]])
    sheet = Sheet("", cells.frame, facts=merged_facts(merged), notes=(note,))
    mapped = run(f"{MAPPED}sheet: {{fill_down: {filled}}}\n", sheet)
    assert [each.given["ranges"] for each in mapped.notes if each.code == "merged_cells"] == told


@pytest.mark.parametrize("person", ["Joshi Stores, 9822077889", "Asha Rao (Mob 98220 77889)"])
@pytest.mark.parametrize("paid", ["COD Rs. 48,750.00", "To Pay / COD Rs. 48,750.00"])
def test_two_things_in_one_cell_above_the_table_are_asked_about_and_frozen_into_nothing(person: str, paid: str) -> None:
    rows = [["Order No", "PL-7"], ["Payment", paid], ["Consignee", person], ["Address", "12 MG Road, Pune 411001"],
            ["Article", "Qty", "Rate"], ["Bucket", "250", "120"], ["Mug", "80", "30"]]  # fmt: skip
    draft, data, text = drafted(sheet_of(rows))
    fields = data["fields"]
    assert [fields[name]["beside"] for name in ("customer_name", "customer_mobile", "is_cod")] == [
        "? Consignee", "? Consignee", "? Payment"
    ]  # fmt: skip
    assert ("name_and_phone",) in draft.guesses["fields.customer_mobile"].reasons
    assert ("payment_and_amount",) in draft.guesses["fields.is_cod"].reasons
    assert "constant: …" not in text and "48,750" not in str(fields)


@pytest.mark.parametrize("is_one", [True, False])
def test_an_amount_and_a_weight_above_the_table_are_read_and_for_several_orders_asked_about(is_one: bool) -> None:
    above = [["Payment", "COD"], ["COD Amount", "4,500"], ["Weight", "12"]]
    above += [["Order No", "PL-7"], ["Name", "Asha"], ["Mobile", "9822077889"], ["Address", "12 MG Road"]] * is_one
    table = (
        [["SKU", "Qty", "Rate"], ["K-1", "2", "9"], ["K-2", "1", "8"]]
        if is_one
        else [HEADER[:-1], FIRST[:-1], SECOND[:-1]]
    )
    sheet = sheet_of([*above, *table])
    _, data, text = drafted(sheet)
    assert data["fields"]["cash_on_delivery"] == {"beside": "COD Amount" if is_one else "? COD Amount"}
    assert data["fields"]["weight"] == {"beside": "Weight" if is_one else "? Weight"}
    if is_one:
        (document,) = run(text, sheet).documents
        assert json.loads(document.body)["cash_on_delivery"] == "4500.00"


def test_a_column_of_names_with_phones_is_no_name_unasked() -> None:
    parties = [f"{row[1]} {row[2]}" for row in (FIRST, SECOND, THIRD)]
    header, rows = (
        [*HEADER[:1], "Party", *HEADER[3:]],
        [[row[0], party, *row[3:]] for row, party in zip((FIRST, SECOND, THIRD), parties, strict=True)],
    )
    _, data, _ = drafted(sheet_of([header, *rows]))
    assert [data["fields"][name]["from"] for name in ("customer_name", "customer_mobile")] == ["? Party"] * 2


def test_the_amount_of_paid_orders_is_said_to_be_nothing_that_is_collected() -> None:
    draft, _, text = drafted(sample(Payment=["COD", "Prepaid", "COD"], COD_Amount=["599", "349", "120"]))
    guess = draft.guesses["fields.cash_on_delivery"]
    assert ("left_out_on_paid", "Payment") in guess.reasons
    said = messages.reason("mapping.reason.left_out_on_paid", {"names": ["Payment"]})
    assert said in text and "nothing is collected" in said


STREETS = {"Address": ["Church Street", "Hill Road", "Beach Road"]}


def with_column(name: str, cells: list[str], *, behind: str) -> Sheet:
    """Three good orders with a street for an address, and a further column behind one of theirs."""
    rows = [[*each] for each in (HEADER, FIRST, SECOND, THIRD)]
    at = HEADER.index("Address")
    for row, text in zip(rows, ["Street", *STREETS["Address"]], strict=True):
        row[at] = text
    at = rows[0].index(behind) + 1
    for row, cell in zip(rows, [name, *cells], strict=True):
        row.insert(at, cell)
    return sheet_of(rows)


@pytest.mark.parametrize("name", ["House", "H No", "Hs.-Nr.", "Plot", "Floor", "Etage", "Nagar", "Complément"])
def test_the_parts_of_an_address_go_out_with_it(name: str) -> None:
    _, data, _ = drafted(with_column(name, ["14-B", "C-12", "88"], behind="Street"))
    assert name in data["fields"]["delivery_address"]["join"]


@pytest.mark.parametrize(
    ("name", "cells"), [("Número", ["14", "12", "88"]), ("Mohalla", ["Old Fort", "Bandra", "Aundh"])]
)
def test_what_may_be_a_part_of_the_address_beside_it_is_asked_about(name: str, cells: list[str]) -> None:
    _, data, _ = drafted(with_column(name, cells, behind="Street"))
    assert data["fields"]["delivery_address"]["join"] == ["? Street", f"? {name}"]


def test_a_street_stays_beside_the_second_line_of_an_address() -> None:
    rows = [[*each] for each in (HEADER, FIRST, SECOND, THIRD)]
    extra = (["House No", "Street"], ["14", "Church Street"], ["C-12", "Hill Road"], ["88", "Beach Road"])
    at = HEADER.index("Address")
    for row, more in zip(rows, extra, strict=True):
        row[at:at] = more
    rows[0][at + 2] = "Address Line 2"
    _, data, _ = drafted(sheet_of(rows))
    assert data["fields"]["delivery_address"]["join"] == ["House No", "Street", "Address Line 2"]


@pytest.mark.parametrize("name", ["UOM", "Unit", "Per", "Einheit"])
def test_a_column_of_units_beside_a_quantity_is_asked_about(name: str) -> None:
    _, data, text = drafted(with_column(name, ["Doz", "Pcs", "Box"], behind="Qty"))
    assert data["lines"]["item_quantity"]["from"] == "? Qty" and "(Doz)" in text
    _, data, _ = drafted(with_column(name, ["Pcs", "Nos", "Pcs"], behind="Qty"))
    assert data["lines"]["item_quantity"]["from"] == "Qty"


@pytest.mark.parametrize(("name", "is_asked"), [("Due Date", True), ("Due On", True), ("Delivery Due Date", False)])
def test_a_day_that_is_due_may_be_that_of_the_money(name: str, is_asked: bool) -> None:
    _, data, _ = drafted(with_column(name, ["2026-12-28", "2026-12-13", "2026-12-14"], behind="Payment"))
    assert data["fields"]["expected_delivery_time"]["from"] == f"{'? ' * is_asked}{name}"
