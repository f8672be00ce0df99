"""What a draft once took without a question, and what it or a run said wrong: small sheets as people write them."""

import json
from typing import Any

import pytest
import yaml
from mapping.sheets import mapping_of, notes_in, run, sheet_of, states
from mapping.test_first_hour import FIRST, HEADER, MAPPED, SECOND, THIRD, drafted, sample, with_column

from logistics_batch.errors import FileHeld, SpecificationError
from logistics_batch.mapping import hints_of
from logistics_batch.mapping.suggest.draft import draft_of
from logistics_batch.mapping.suggest.text import draft_json, draft_text
from logistics_batch.model.document import Operation
from logistics_batch.model.issue import Issue
from logistics_batch.model.sheet import Sheet, merged_facts

ROWS = [HEADER, FIRST, SECOND, THIRD]
COD = {"Payment": ["COD", "COD", "Prepaid"]}


def fields(sheet: Sheet) -> dict[str, Any]:
    """What a draft says of the fields, and of the lines."""
    _, data, _ = drafted(sheet)
    return {**data["fields"], **data["lines"]}


@pytest.mark.parametrize("name", ["Short", "Damaged Qty", "Returned_Qty", "Pending"])
def test_a_count_of_what_does_not_go_makes_the_quantity_a_question_and_is_no_answer(name: str) -> None:
    draft, data, text = drafted(sample(**{"Qty": ["2", "1", "4"], name: ["0", "1", "3"]}))
    assert data["lines"]["item_quantity"]["from"] == "? Qty" and f"“{name.replace('_', ' ')}”" in text
    assert [each.columns for each in draft.guesses["lines.item_quantity"].candidates] == [("Qty",)]
    header = [["Ordered Qty" if name == "Qty" else name for name in HEADER], *ROWS[1:]]
    cells = [name.replace("_", " "), "0", "1", "3"]
    first = fields(sheet_of([[cell, *row] for cell, row in zip(cells, header, strict=True)]))
    assert first["item_quantity"]["from"] == "? Ordered Qty"


@pytest.mark.parametrize(
    ("name", "cells", "is_asked"),
    [
        ("Picked", ["2", "0", "3"], True),
        ("Picked Qty", ["2", "0", "3"], True),
        ("Done", ["2", "0", "3"], True),  # nobody knows the word: nowhere more, somewhere less
        ("Done", ["2", "1", "4"], False),
        ("Level", ["2", "1", "9"], False),
        ("Short", ["0", "0", "0"], False),
    ],
)
def test_what_was_picked_may_be_what_goes(name: str, cells: list[str], is_asked: bool) -> None:
    asked = fields(sample(**{name.replace(" ", "_"): cells}))["item_quantity"]["from"]
    assert ("? Qty" in asked) is is_asked


def test_what_is_taken_off_already_is_not_asked_about() -> None:
    taken = fields(sample(Qty=["2", "1", "4"], Booked=["3", "1", "6"], Short=["1", "0", "2"]))
    assert taken["item_quantity"]["from"] == "Qty"


def test_a_count_of_returned_pieces_says_of_no_row_that_it_is_left_out() -> None:
    _, data, _ = drafted(sample(Returned_Qty=["0", "1", "1"]))
    assert "sheet" not in data


@pytest.mark.parametrize(
    ("name", "cells"),
    [
        ("Net COD", ["599", "300", "0"]),
        ("Amount Due", ["599", "300", "0"]),
        ("Net Payable", ["599", "300", "0"]),
        ("Advance", ["100", "0", "0"]),
        ("Part Payment", ["100", "0", "0"]),
        ("Balance", ["599", "300", "0"]),
    ],
)
def test_what_was_paid_before_makes_the_amount_to_collect_a_question(name: str, cells: list[str]) -> None:
    draft, _, text = drafted(sample(**COD, COD_Amount=["699", "300", "0"], **{name.replace(" ", "_"): cells}))
    guess = draft.guesses["fields.cash_on_delivery"]
    assert guess.asked and f"“{name}”" in text
    assert guess.candidates[0].columns == ("COD Amount",)


@pytest.mark.parametrize(
    ("name", "cells", "is_asked"),
    [
        ("Net COD", ["599", "300", "0"], False),
        ("Net Payable", ["599", "300", "0"], False),
        ("Balance", ["599", "300", "0"], True),
        ("Debit", ["706.82 Dr", "300.00 Dr", "50.00 Dr"], True),
    ],
)
def test_amounts_under_other_names_are_offered_as_what_is_collected(
    name: str, cells: list[str], is_asked: bool
) -> None:
    found = fields(sample(**COD, **{name.replace(" ", "_"): cells}))["cash_on_delivery"]
    assert found["from"] == "? " * is_asked + name


@pytest.mark.parametrize(
    "name", ["Rate incl GST", "Price with tax", "Rate ex GST", "Rate after discount", "Netto Preis"]
)
def test_of_prices_with_tax_and_without_a_person_says_which(name: str) -> None:
    prices = {"Rate": ["100", "200", "300"], name.replace(" ", "_"): ["118", "236", "354"]}
    assert fields(sample(**prices))["item_price_per_each"] == {"from": ["? Rate", f"? {name}"]}


REGISTER = ["Voucher No", "Party", "Mobile", "Address", "PIN", "Particulars", "Qty", "Rate"]


@pytest.mark.parametrize("word", ["Freight", "Output IGST @ 18%", "Carried forward"])
@pytest.mark.parametrize("qty", ["", "1"])
def test_charges_and_taxes_among_the_goods_are_no_goods_unasked(word: str, qty: str) -> None:
    (one, *_), other = [["V1", *FIRST[1:5], "Kettle", "2", "100"]], ["V2", *SECOND[1:5], "Discount kettle", "1", "90"]
    for charge in (["", "", "", "", "", word, qty, "40"], [*one[:5], word, qty, "40"]):
        _, data, text = drafted(sheet_of([REGISTER, one, charge, other, ["V3", *THIRD[1:5], "Mug", "1", "9"]]))
        assert data["sheet"]["skip_rows_where"] == {"Particulars": [f"? {word}"]}
        assert "which are no goods" in text


@pytest.mark.parametrize("wished", ["Wunschtermin", "ETA"])
@pytest.mark.parametrize("is_first", [True, False])
def test_of_two_days_of_delivery_a_person_says_which(wished: str, is_first: bool) -> None:
    days = {wished.replace(" ", "_"): ["15.12.2026", "16.12.2026", "17.12.2026"]}
    other = {"Lieferdatum": ["13.12.2026", "14.12.2026", "24.12.2026"]}
    found = fields(sample(**(days | other if is_first else other | days)))["expected_delivery_time"]
    assert found["from"] == ["? Lieferdatum", f"? {wished}"]


@pytest.mark.parametrize(
    ("name", "cells", "words"),
    [
        ("Cancellation Date", ["", "04.12.2026", ""], ["? *"]),
        ("Cancelled By", ["", "Asha", ""], ["? *"]),
        ("Cancel Date", ["01.12.2026", "04.12.2026", "05.12.2026"], []),  # of all: until then the buyer takes it
        ("Exchange", ["No", "Yes", "No"], ["? Yes"]),
        ("Order Type", ["Forward", "Exchange", "Forward"], ["? Exchange"]),
        ("Order Type", ["New", "Replacement", "New"], ["? Replacement"]),
        ("Voucher Type", ["Sales", "Credit Note", "Sales"], ["? Credit Note"]),
        ("Shipment Type", ["Forward", "Reverse", "Forward"], ["? Reverse"]),
        ("Status", ["New", "On Hold", "New"], ["? On Hold"]),
        ("Item Description", ["Kettle", "Replacement blade", "Mug"], []),
    ],
)
def test_rows_that_are_void_since_a_day_or_exchanges_are_asked_about(
    name: str, cells: list[str], words: list[str]
) -> None:
    _, data, text = drafted(with_column(name, cells, behind="Payment"))
    assert data.get("sheet", {}).get("skip_rows_where", {}).get(name, []) == words
    if words == ["? *"]:
        mapped = run(text.replace('"? *"', '"*"'), with_column(name, cells, behind="Payment"))
        assert [each.key for each in mapped.documents] == ["A1", "A3"]


def test_a_reference_with_two_values_in_one_order_is_asked_about_in_a_sheet_of_many_orders() -> None:
    rows = [[f"A{n // 2}", *FIRST[1:5], f"K-{n}", *FIRST[6:], f"P-{n // 2 if n != 7 else 99}"] for n in range(12)]
    _, data, _ = drafted(sheet_of([[*HEADER, "Customer Ref"], *rows]))
    assert data["fields"]["customer_reference_number"] == {"from": "? Customer Ref"}


WHOLE = ["Acme Mills, 4 MIDC Bhosari, Pune 411026", "Acme Mills\n7 MIDC Bhosari\nPune", "Beta Co, Plot 9, Thane"]


@pytest.mark.parametrize("name", ["Pickup From", "Sender", "Consignor"])
def test_a_name_and_an_address_in_one_cell_are_no_name_unasked(name: str) -> None:
    assert fields(sample(**{name.replace(" ", "_"): WHOLE}))["pickup_customer_name"] == {"from": f"? {name}"}
    assert fields(sample(Sender=["Acme Mills, Pune", "Beta", "Acme"]))["pickup_customer_name"] == {"from": "Sender"}


def test_a_consignee_with_his_address_is_offered_as_the_address_of_delivery() -> None:
    people = ["Asha Rao, 12 MG Road, Pune", "Ravi Iyer, 7 Hill St, Pune", "Tina Shah, A-4 Palm, Thane"]
    rows = [[*row[:1], cell, *row[2:3], *row[4:]] for row, cell in zip(ROWS, ["Consignee", *people], strict=True)]
    found = fields(sheet_of(rows))
    assert found["delivery_address"] == found["customer_name"] == {"from": "? Consignee"}


@pytest.mark.parametrize("name", ["Buyer Name", "Name"])
@pytest.mark.parametrize("contact", ["delivery_contact", "Delivery Contact", "Contact"])
def test_of_a_buyer_and_a_contact_a_person_says_who_gets_the_goods(name: str, contact: str) -> None:
    header = [name if each == "Name" else each for each in HEADER]
    people = [contact, "Sunil K", "Mohan P", "Tara D"]
    rows = zip(people, [header, FIRST, SECOND, THIRD], strict=True)
    asked = fields(sheet_of([[*row, who] for who, row in rows]))["customer_name"]["from"]
    assert {*asked} == {f"? {name}", f"? {contact}"}
    phones = zip([contact, "9822099999", "9822099998", "9822099997"], [header, FIRST, SECOND, THIRD], strict=True)
    assert fields(sheet_of([[*row, who] for who, row in phones]))["customer_name"]["from"] == name


@pytest.mark.parametrize(("cells", "is_part"), [(["4B", "12", "7"], True), (["101", "102", "7"], True),
                                                (["Pcs", "Doz", "Pcs"], False)])  # fmt: skip
def test_a_unit_beside_the_street_may_be_a_part_of_the_address(cells: list[str], is_part: bool) -> None:
    found = fields(with_column("Unit", cells, behind="Street"))["delivery_address"]
    assert found == ({"join": ["? Street", "? Unit"], "with": ", "} if is_part else {"from": "Street"})


@pytest.mark.parametrize(("other", "days"), [("Order Date", ["25.11.2026", "26.11.2026", "27.11.2026"]),
                                             ("Invoice Date", ["11/25/2026", "11/26/2026", "11/27/2026"])])  # fmt: skip
def test_whether_the_day_or_the_month_comes_first_no_other_column_says(other: str, days: list[str]) -> None:
    sign = days[0][2]
    mine = [f"0{n}{sign}12{sign}2026" for n in (3, 4, 5)]
    found = fields(sample(**{other.replace(" ", "_"): days, "Delivery_Date": mine}))["expected_delivery_time"]
    assert found["read"] == {"date": [f"? %d{sign}%m{sign}%Y", f"? %m{sign}%d{sign}%Y"]}


def test_of_two_sheets_with_the_same_columns_a_person_says_which_is_read() -> None:
    other = [HEADER, ["B1", *FIRST[1:]], ["B2", *SECOND[1:]]]
    sheets = [sheet_of(ROWS, name="Mumbai"), sheet_of(other, name="Pune"), sheet_of([["Notes"], ["x"]], name="Notes")]
    draft = draft_of(sheets, operation=Operation.ORDER_CREATE)
    assert draft is not None
    text = draft_text(draft, file_name="x.xlsx")
    assert yaml.safe_load(text)["sheet"]["name"] == ["? Mumbai", "? Pune"]
    with pytest.raises(SpecificationError) as refused:
        mapping_of(text)
    assert "`Mumbai` and `Pune`" in refused.value.findings[0].message
    (asked,) = draft_json(draft, file_name="x.xlsx")["questions"]
    assert (asked["place"], asked["answers"]) == ("sheet.name", ["Mumbai", "Pune"])
    mapping_of(text.replace('["? Mumbai", "? Pune"]', '"Pune"'))
    days = [sheet_of(rows, name=name) for rows, name in ((ROWS, "28-Nov"), (other, "29-Nov"))]
    named = draft_of(days, operation=Operation.ORDER_CREATE)
    assert named is not None and '["? 28-Nov", "? 29-Nov"]' in draft_text(named, file_name="x.xlsx")
    alone = draft_of([sheets[0], sheet_of(other[:1], name="Pune")], operation=Operation.ORDER_CREATE)
    assert alone is not None and not alone.twins


@pytest.mark.parametrize("cells", [["ETA: 2nd Dec 2026"], ["ETA", "2nd Dec 2026"]])
def test_a_day_above_the_table_is_read_as_people_write_it(cells: list[str]) -> None:
    sheet = sheet_of([cells, [], *ROWS])
    _, data, text = drafted(sheet)
    assert data["fields"]["expected_delivery_time"] == {"beside": "ETA", "read": {"date": "%d %b %Y"}}
    assert '"expected_delivery_time":"2026-12-02' in run(text, sheet).documents[0].body


def test_a_day_above_the_table_that_nobody_reads_is_asked_about() -> None:
    _, data, _ = drafted(sheet_of([["ETA: Wed, 2/12/26"], [], *ROWS]))
    assert data["fields"]["expected_delivery_time"] == {"beside": "ETA", "read": {"date": "?"}}


def test_a_price_of_a_dozen_is_refused_without_advice_that_is_refused_as_well() -> None:
    text = f"{MAPPED}  item_price_per_each: {{from: Rate, read: {{suffix: [/Dz]}}}}\n"
    with pytest.raises(SpecificationError) as refused:
        mapping_of(text)
    (finding,) = refused.value.findings
    assert "price of twelve" in finding.message and "12" not in finding.remedy


def test_what_was_taken_off_an_amount_that_is_not_sent_is_not_told() -> None:
    text = MAPPED.replace("lines:", "  cash_on_delivery: {from: COD, when: {Payment: [COD]}}\nlines:")
    rows = [[*each[:7], pay, amount] for each, pay, amount in
            zip(ROWS[1:], ["Prepaid", "COD", "Prepaid"], ["1,200.00", "1,300.00", "9.005"], strict=True)]  # fmt: skip
    (told,) = notes_in(run(text, sheet_of([[*HEADER, "COD"], *rows])))
    assert 'in row 3 ("1,300.00" is 1300.00)' in told


def test_ids_of_packages_beside_their_number_are_told() -> None:
    text = f"{MAPPED}  package_id: {{from: Box}}\n".replace("lines:", "  packages_count: {from: Boxes}\nlines:")
    (told,) = hints_of(mapping_of(text), text, path="m.yaml")
    assert "`packages_count` and `lines.package_id`" in told.message


@pytest.mark.parametrize(
    ("columns", "name", "code"),
    [
        ({"Shipping": ["50", "60", "0"]}, "Shipping", ("values_differ", "text")),
        ({"Valid_Until": ["2026-12-30", "2026-12-30", "2026-12-31"]}, "Valid Until", ("papers_date",)),
    ],
)
def test_why_a_column_is_left_out_is_said_rightly(columns: Any, name: str, code: tuple[str, ...]) -> None:
    assert drafted(sample(**columns))[0].unused[name] == code


def test_terms_of_payment_are_no_payment_with_its_amount() -> None:
    draft, data, _ = drafted(sample(Payment=["Net 30", "Net 15", "COD"]))
    assert ("payment_and_amount",) not in draft.guesses["fields.is_cod"].reasons
    assert data["fields"]["is_cod"]["read"] == {"lookup": {"Net 30": "?", "Net 15": "?", "COD": "true"}}


FEET = ["Page 1 of 2 subtotal", "Subtotal page 1 of 2", "Page 1 of 2 - Sub Total", "Page 1/2 (subtotal)",
        "Page 1 total", "Total of page 1", "Page Total 1 of 2"]  # fmt: skip


@pytest.mark.parametrize(("foot", "place"), [*zip(FEET, [0, 1, 5, 0, 1, 5, 0], strict=True)])
def test_sums_of_pages_are_no_orders_and_no_goods(foot: str, place: int) -> None:
    row = ["", "", "", "", "", "", "3", ""]
    row[place] = foot
    sheet = sheet_of([*ROWS[:3], row, THIRD])
    rule = "sheet: {fill_down: [Order No, Name, Mobile, Address, PIN, Payment]}\n"
    assert states(run(MAPPED + rule, sheet)) == {2: "ready", 3: "ready", 4: "skipped total", 5: "ready"}
    _, data, text = drafted(sheet)
    assert "fill_down" not in data.get("sheet", {})
    assert [json.loads(each.body)["reference_number"] for each in run(text, sheet).documents] == ["A1", "A2", "A3"]


@pytest.mark.parametrize(("column", "is_told"), [(4, True), (9, False)])
def test_merged_cells_that_nothing_reads_are_not_told(column: int, is_told: bool) -> None:
    cells = sheet_of([[*HEADER, "Remark"], [*FIRST, "x"], ["A1", *FIRST[1:3], "", *FIRST[4:], ""]])
    facts = merged_facts([(2, column, 3, column)])
    sheet = Sheet("", cells.frame, facts=facts, notes=(Issue.of("merged_cells", ranges="D2:D3"),))
    mapped = run(MAPPED + "ignore: [Remark]\n", sheet)
    assert ("merged_cells" in [each.code for each in mapped.notes]) is is_told


@pytest.mark.parametrize(("price", "quantity", "is_asked"), [
    ("Rate/sqft", "Boxes", True), ("Price per kg", "Qty", True), ("Rate / Dozen", "Qty", True),
    ("Rate/kg", "Qty (kg)", False), ("Rate/Pc", "Qty", False), ("Rate / MRP", "Qty", False),
])  # fmt: skip
def test_a_price_that_is_that_of_a_measure_is_asked_about(price: str, quantity: str, is_asked: bool) -> None:
    header = [quantity if name == "Qty" else name for name in HEADER]
    cells = [price, "45.50", "60.00", "52.25"]
    sheet = sheet_of([[*row, cell] for row, cell in zip([header, *ROWS[1:]], cells, strict=True)])
    found = drafted(sheet)[0].guesses.get("lines.item_price_per_each")
    assert ("price_per" in [code for code, *_ in found.reasons] if found else False) is is_asked


@pytest.mark.parametrize(
    ("name", "cells", "words"),
    [
        ("Remarks", ["call first", "pls cancel this", "leave at gate"], {"pls cancel this"}),
        ("Note", ["", "Customer cancelled on phone", "out of stock - don't ship"],
         {"Customer cancelled on phone", "out of stock - don't ship"}),
        ("Observations", ["", "annulée par le client", "merci"], {"annulée par le client"}),
        ("Uwagi", ["", "nie wysyłać", ""], {"nie wysyłać"}),
        ("Ghi chú", ["", "không gửi", ""], {"không gửi"}),
        ("Do_not_ship_before", ["2026-12-01", "", "2026-12-05"], {"*"}),
        ("AWB", ["", "SH-998877", ""], {"*"}),
    ],
)  # fmt: skip
def test_a_word_within_a_remark_may_say_that_an_order_must_not_go(name: str, cells: list[str], words: set[str]) -> None:
    _, data, _ = drafted(sample(**{name: cells}))
    assert {*data["sheet"]["skip_rows_where"][name.replace("_", " ")]} == {f"? {word}" for word in words}


@pytest.mark.parametrize("word", ["Received", "Short closed", "not coming this week"])
def test_goods_that_came_or_never_will_are_not_announced_unasked(word: str) -> None:
    header = ["Supplier", "Invoice No", "SKU", "Qty", "WH", "Status"]
    rows = [["Kiran", "K-1", "BKT", "100", "PNQ", "In transit"], ["Kiran", "K-1", "MUG", "50", "PNQ", word]]
    draft = draft_of([sheet_of([header, *rows])], operation=Operation.ASN_CREATE)
    assert draft and yaml.safe_load(draft_text(draft, file_name="x"))["sheet"] == {
        "skip_rows_where": {"Status": [f"? {word}"]}
    }


@pytest.mark.parametrize(("numbers", "is_asked"), [
    (["A-101, A-105", "A-102", "A-103"], True), (["A-1", "A-2 & A-3", "A-4"], True), (["K-1/K-2", "K-3", "K-4"], True),
    (["SO/26-27/0417", "SO/26-27/0418", "SO/26-27/0419"], False), (["PO-55/1", "PO-55/2", "PO-56/1"], False),
])  # fmt: skip
def test_two_numbers_in_one_cell_are_no_key_unasked(numbers: list[str], is_asked: bool) -> None:
    asked = fields(sample(Order_No=numbers))["reference_number"]["from"]
    assert asked == ("? Order No" if is_asked else "Order No")
    rows = [["Invoice No:", numbers[1]], [], ["Supplier:", "Kiran"], ["Site:", "PNQ"], [], ["SKU", "Qty"], ["K-1", "5"]]
    draft = draft_of([sheet_of(rows)], operation=Operation.ASN_CREATE)
    assert draft and draft.guesses["fields.invoice_number"].asked is ("&" in numbers[1])


def test_of_what_is_shipped_now_and_what_waits_the_quantity_is_asked_and_no_order_is_known_by_it() -> None:
    draft, data, _ = drafted(
        sample(**{"Qty": ["2", "1", "4"], "Ship_Now": ["2", "1", "1"], "Back-order": ["0", "0", "3"]})
    )
    assert data["lines"]["item_quantity"]["from"] == "? Qty" and data["key"] == ["Order No"]
    assert ("parts", "Ship Now", "Back-order") in draft.guesses["lines.item_quantity"].reasons


@pytest.mark.parametrize("columns", [
    {"UOM": ["PCS", "SET OF 6", "PCS"]},
    {"Ctn": ["2", "1", "4"], "Pcs/Ctn": ["12", "24", "12"]},
])  # fmt: skip
def test_a_quantity_that_may_count_sets_or_cartons_is_asked_about(columns: dict[str, list[str]]) -> None:
    assert fields(sample(**columns))["item_quantity"]["from"] == "? Qty"


def test_no_rule_leaves_out_rows_by_a_number_that_stands_below_the_rows() -> None:
    total = ["", "", "", "", "", "", "7", ""]
    _, data, _ = drafted(sheet_of([*ROWS, total]))
    assert "skip_rows_where" not in data.get("sheet", {})


@pytest.mark.parametrize("words", ["Cancelled today:", "-- Not to be shipped today --", "Returns expected"])
def test_a_heading_that_says_void_of_the_rows_below_it_is_asked_about(words: str) -> None:
    _, data, text = drafted(sheet_of([*ROWS[:3], [words], THIRD]))
    assert data["sheet"]["skip_rows_where"] == {"Order No": [f"? {words}"]}
    assert "which go out all the same" in text and data["key"] == ["Order No"]


def test_terms_of_sale_below_the_rows_speak_of_no_order() -> None:
    terms = "Terms: goods once sold will not be cancelled or returned"
    _, data, _ = drafted(sheet_of([*ROWS, ["Total", "", "", "", "", "", "7"], [], [terms]]))
    assert "?" not in str(data["sheet"]["skip_rows_where"])


def test_headings_of_routes_are_no_orders_and_a_note_on_an_order_is_asked_about() -> None:
    note = "2. A2 is cancelled by customer"
    sheet = sheet_of(
        [
            HEADER,
            ["Route: North"],
            FIRST,
            ["Route: South"],
            HEADER,
            SECOND,
            THIRD,
            [],
            ["1. Send the bill to their office"],
            [note],
        ]
    )
    _, data, text = drafted(sheet)
    assert data["sheet"]["skip_rows_where"] == {"Order No": ["Route: North", "Route: South", f"? {note}"]}
    assert data["fields"]["is_cod"] == {"from": "Payment"}
    mapped = run(text.replace("? 2.", "2."), sheet)
    assert [each.key for each in mapped.documents] == ["A1", "A2", "A3"] and not mapped.issues


@pytest.mark.parametrize("total", [["", "", "", "", "180", ""], ["", "", "", "", "180", "2100"]])
def test_a_sum_without_a_word_is_no_row_and_holds_no_document_back(total: list[str]) -> None:
    rows = [["Supplier", "Invoice No", "WH", "SKU", "Qty", "Amount"], ["Kiran", "K-1", "PNQ", "BKT", "100", "1000"],
            ["Kiran", "K-1", "PNQ", "MUG", "50", "500"], ["Deepak", "D-9", "PNQ", "CRT", "30", "600"]]  # fmt: skip
    sheet = sheet_of([*rows, total])
    draft = draft_of([sheet], operation=Operation.ASN_CREATE)
    assert draft is not None
    mapped = run(draft_text(draft, file_name="x"), sheet)
    assert states(mapped)[5] == "skipped total" and len(mapped.documents) == 2, mapped.issues
    other = run(draft_text(draft, file_name="x"), sheet_of([*rows, [*total[:4], "170", total[5]]]))
    assert states(other)[5].startswith("invalid")  # not what the rows come to


def test_goods_without_a_name_are_no_sum_where_they_may_belong_to_the_order_above() -> None:
    again = ["", "", "", "", "", "", "3", ""]
    rule = "sheet: {fill_down: [Order No, Name, Mobile, Address, PIN, Payment]}\n"
    assert states(run(MAPPED + rule, sheet_of([*ROWS[:3], again])))[4].startswith("invalid")


@pytest.mark.parametrize("above", [True, False])
def test_an_invoice_number_outside_the_table_is_held_against_a_column_of_purchase_orders(above: bool) -> None:
    facts = [["Supplier:", "Kiran"], ["Site:", "PNQ"], ["Invoice No:", "K-1"]]
    table = [["PO No", "SKU", "Description", "Qty"], ["PO-1", "BKT", "Bucket", "100"], ["PO-2", "CRT", "Crate", "30"]]
    sheet = sheet_of([*facts, [], *table] if above else [*facts[:2], [], *table, [], facts[2]])
    draft = draft_of([sheet], operation=Operation.ASN_CREATE)
    assert draft is not None
    asked = draft.guesses["fields.invoice_number"]
    assert asked.asked and [each.fact.value if each.fact else each.columns[0] for each in asked.candidates] == [
        "K-1",
        "PO No",
    ]
    assert f"{'above' if above else 'below'} the table, beside “Invoice No”" in draft_text(draft, file_name="x")


def test_groups_that_are_called_details_say_no_more_than_their_columns() -> None:
    upper = ["Party Details", "", "", "", "Order Details", "", "", "Payment Details"]
    lower = ["Customer", "Mobile", "Address", "PIN", "Ord#", "Style", "Pcs", "Mode"]
    cells = [[*each[1:5], each[0], *each[5:]] for each in (FIRST, SECOND, THIRD)]
    sheet = sheet_of([upper, lower, *cells])
    found = drafted(sheet)[0].guesses
    assert (
        found["fields.customer_mobile"].column == "Party Details Mobile" and not found["fields.customer_mobile"].asked
    )
    assert found["fields.reference_number"].column == "Order Details Ord#" and not any(
        each.asked for each in found.values()
    )


NOTICE = [
    ["Supplier", "Invoice No", "SKU", "Qty", "WH"],
    ["Kiran", "K-1", "BKT", "100", "PNQ"],
    ["Kiran", "K-1", "MUG", "50", "PNQ"],
]


@pytest.mark.parametrize("rows", [
    [["GOODS RECEIPT NOTE"], [], *NOTICE],
    [["Goods received in November"], [], *NOTICE],
    [["GRN No", *NOTICE[0]], ["G-1", *NOTICE[1]], ["G-1", *NOTICE[2]]],
])  # fmt: skip
def test_whether_goods_that_came_are_announced_is_asked(rows: list[list[str]]) -> None:
    draft = draft_of([sheet_of(rows)])
    assert draft and (draft.operation, draft.rival) == (Operation.ASN_CREATE, Operation.RECEIPT_READ)
    plain = draft_of([sheet_of(NOTICE)])
    assert plain and plain.rival is None


def test_rows_of_receipts_that_share_an_invoice_are_no_doubt() -> None:
    header = ["GRN No", "Supplier", "Invoice No", "SKU", "Recd Qty", "WH"]
    draft = draft_of([sheet_of([header, ["G-1", *NOTICE[1]], ["G-2", *NOTICE[2]]])], operation=Operation.RECEIPT_READ)
    assert draft is not None
    assert not draft.guesses["fields.qty"].asked and not draft.guesses["fields.sku_name"].asked


def test_a_total_that_counts_cancelled_rows_as_well_stays_a_check() -> None:
    rows = [[*HEADER, "Status"], [*FIRST, "New"], [*SECOND, "Cancelled"], [*THIRD, "New"]]
    sheet = sheet_of([*rows, ["Total", "", "", "", "", "", "7"]])
    _, data, text = drafted(sheet)
    (total,) = data["checks"]["control_total"]
    assert total["also_rows_where"] == {"Status": ["Cancelled"]}
    answered = text.replace("? ", "")
    assert len(run(answered, sheet).documents) == 2
    with pytest.raises(FileHeld):
        run(answered, sheet_of([*rows[:3], ["Total", "", "", "", "", "", "7"]]))


def test_the_total_is_offered_beside_what_one_carton_holds_in_vietnamese() -> None:
    rows = [["STT", "Mã hàng", "Số thùng", "SL/thùng", "Tổng SL", "Đơn giá", "Thành tiền"],
            ["1", "AO-01", "10", "40", "400", "120", "48000"], ["2", "QU-02", "6", "20", "120", "450", "54000"],
            ["3", "VA-03", "2", "25", "50", "380", "19000"]]  # fmt: skip
    draft = draft_of([sheet_of(rows)], operation=Operation.ASN_CREATE)
    assert draft and [each.columns for each in draft.guesses["lines.qty"].candidates] == [("Tổng SL",), ("SL/thùng",)]


def test_of_boxes_that_nobody_counts_the_draft_says_what_is_lacking() -> None:
    rows = [["Box From", "Box To", "Item Code", "Qty/Box"], ["1", "20", "P-10", "12"], ["21", "28", "B-6", "24"]]
    draft = draft_of([sheet_of(rows)], operation=Operation.ASN_CREATE)
    assert draft and "“Qty/Box” says what one box holds, and no column says how many boxes" in draft_text(
        draft, file_name="x"
    )


@pytest.mark.parametrize("name", ["Release_Date", "Do_not_ship_before", "Dispatch_after", "Hold_until"])
@pytest.mark.parametrize("last", ["2026-12-09", ""])
def test_a_day_before_which_an_order_must_wait_is_asked_about(name: str, last: str) -> None:
    _, data, text = drafted(sample(**{name: ["2026-12-01", "2026-12-05", last]}))
    assert data["sheet"] == {"skip_rows_where": {name.replace("_", " "): ["? *"]}}
    assert "before which an order must wait" in text and "expected_delivery_time" not in data["fields"]


@pytest.mark.parametrize("column", ["", "Name"])
def test_a_heading_is_asked_about_where_it_may_be_the_only_name_of_the_customer(column: str) -> None:
    rows = [[row[0], *([row[1]] if column else []), *row[2:]] for row in ROWS]
    parties = ["Maruti Stores", "Sai Kirana"]
    _, data, text = drafted(sheet_of([rows[0], parties[:1], *rows[1:3], parties[1:], rows[3]]))
    mark = "" if column else "? "
    assert data["sheet"] == {"skip_rows_where": {"Order No": [f"{mark}{each}" for each in parties]}}
    assert ("in a column of its own" in text.replace("\n", " ")) is (not column)


@pytest.mark.parametrize("cells", [["", "anulowane", "dzwonić przed"], ["anulowane", "", "proszę dzwonić"]])
def test_a_remark_in_an_unknown_language_on_most_of_few_rows_is_asked_about(cells: list[str]) -> None:
    _, data, _ = drafted(sample(Uwagi=cells))
    assert data["sheet"]["skip_rows_where"] == {"Uwagi": [f"? {cell}" for cell in cells if cell]}
