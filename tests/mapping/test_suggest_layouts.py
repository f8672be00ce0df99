"""Drafts judged on thirty layouts by hands that had not seen the program: nothing that could be wrong goes unasked."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
import yaml
from mapping.sheets import mapping_of, run, sheet_of
from mapping.suggest_judge import LAYOUT_NAMES, Case, Score, case_of, drafted, first_draft, judged

from logistics_batch.errors import SpecificationError
from logistics_batch.mapping.suggest.draft import Draft, draft_of
from logistics_batch.mapping.suggest.text import draft_json, draft_text
from logistics_batch.mapping.suggest.text import mapping_of as mapping_data
from logistics_batch.model.document import Operation
from logistics_batch.model.sheet import CellFact, Sheet, facts_frame, merged_facts

THIRTY = [name for name in LAYOUT_NAMES if name[0] in "cd"]


def test_of_thirty_strange_layouts_nothing_is_wrong_unasked() -> None:
    score = sum((judged(case_of(name)) for name in THIRTY), Score())
    assert (len(THIRTY), score.wrong, score.keys) == (30, 0, 30), score.told
    assert score.right >= 298 and score.needless <= 8 and score.missed <= 21 and score.asked <= 46, str(score)


def test_of_ten_more_that_showed_other_mistakes_nothing_is_wrong_or_missed() -> None:
    ten = [name for name in LAYOUT_NAMES if name[0] == "e"]
    score = sum((judged(case_of(name)) for name in ten), Score())
    assert (len(ten), score.wrong, score.keys, score.missed, score.needless) == (10, 0, 10, 0, 0), score.told
    assert score.right >= 91 and score.asked <= 6, str(score)


def test_of_the_layouts_of_a_newcomers_first_hour_nothing_is_wrong_or_left_out_unasked() -> None:
    first = [name for name in LAYOUT_NAMES if name[0] == "f"]
    score = sum((judged(case_of(name)) for name in first), Score())
    assert (score.wrong, score.keys, score.missed, score.needless) == (0, len(first), 0, 0), score.told


def test_what_the_rows_are_is_asked_where_nothing_tells_it() -> None:
    asked = [name for name in THIRTY if first_draft(case_of(name)).rival is not None]  # type: ignore[union-attr]
    assert len(asked) <= 9, asked


@pytest.mark.parametrize("name", LAYOUT_NAMES)
def test_the_first_quantity_is_read_from_where_it_stands_or_asked_about(name: str) -> None:
    case = case_of(name)
    draft, text = drafted(case)
    assert draft is not None
    place = "lines.item_quantity" if draft.operation is Operation.ORDER_CREATE else "lines.qty"
    guess = draft.guesses.get(place)
    assert guess is not None, text
    if not guess.asked:
        seen = draft.table.cells[guess.column][0].split()[0].replace(".", "").split(",")[0]
        words = mapping_data(draft)["lines"][place.split(".")[1]].get("read", {}).get("suffix", {})
        assert int(seen) == int(case.quantity) or "?" in str(words), text


def drafts(rows: Sequence[Sequence[str]], *, operation: Operation | None = None) -> tuple[Draft, dict[str, Any]]:
    draft = draft_of([sheet_of(rows)], operation=operation)
    assert draft is not None
    return draft, mapping_data(draft)


ODD = [
    ["Sr", "Order Ref", "Consignee", "Town", "Mob", "PIN", "Item", "Quantity (pcs)", "", "Rate", "Pay Mode"],
    ["", "", "", "", "", "", "", "Per Ctn", "Total", "", ""],
    ["1", "SO-1", "Asha Rao", "Pune", "9822012345", "411001", "Kettle", "12", "24", "599.00/Nos", "COD"],
    ["2", "SO-2", "Ravi K", "Nashik", "9822012346", "422001", "Cup", "10", "20", "99.00/Nos", "Prepaid"],
]


def test_a_town_alone_is_asked_about_and_no_run_takes_it() -> None:
    draft, data = drafts(ODD)
    assert data["fields"]["delivery_address"] == {"from": "? Town"}  # type: ignore[index]
    text = draft_text(draft, file_name="odd.csv")
    assert '# "Town": "Pune", "Nashik"' in text
    with pytest.raises(SpecificationError) as refused:
        mapping_of(text)
    assert any("`Town`" in each.message and each.line for each in refused.value.findings)


@pytest.mark.parametrize("is_merged", [False, True])
def test_a_header_over_two_rows_is_seen_and_pieces_per_carton_are_no_quantity(is_merged: bool) -> None:
    sheet = sheet_of(ODD)
    if is_merged:
        sheet = Sheet("", sheet.frame, facts=merged_facts([(1, 8, 1, 9), *((1, at, 2, at) for at in range(1, 8))]))
    draft = draft_of([sheet])
    assert draft is not None
    data = mapping_data(draft)
    assert data["sheet"] == {"header_rows": 2}
    assert data["lines"]["item_quantity"] == {"from": "Quantity (pcs) Total", "required": True}
    assert "Quantity (pcs) Per Ctn" in data["ignore"]
    data["fields"]["delivery_address"] = {"from": "Town"}
    del data["fields"]["cash_on_delivery"], data["fields"]["is_cod"]
    data["ignore"].append("Pay Mode")
    mapped = run(yaml.safe_dump(data, sort_keys=False), sheet)
    assert '"item_quantity":24' in mapped.documents[0].body


@pytest.mark.parametrize("shows", ["€ 0", "0 €"])
def test_the_sign_that_a_number_format_shows_is_asked_about_as_one_that_is_written(shows: str) -> None:
    facts = facts_frame([(row, 10, CellFact.NUMBER_FORMAT_TEXT, shows) for row in (2, 3)])
    rows = [[*ODD[0][:8], "Rate", "Price"], *([*row[:9], "12.5"] for row in ODD[2:])]
    draft = draft_of([replace(sheet_of(rows), facts=facts)], operation=Operation.ORDER_CREATE)
    assert draft is not None and draft.table.profiles["Price"].currencies == ("€",)
    assert draft.table.is_foreign("Price") and draft.table.profiles["Price"].share("amount") == 1


@pytest.mark.parametrize(
    "above",
    [
        ["ACME", "", "", "", "", "", "", "", "", "", ""],
        ["Supplier", "Acme", "", "Consigned to", "Pune DC", "", "", "", "", "", ""],
        ["1", "SO-0", "Asha", "Pune", "9822012345", "411001", "Cup", "12", "24", "9", "COD"],
    ],
)
def test_a_title_facts_and_data_above_a_row_name_no_columns(above: list[str]) -> None:
    header = [*ODD[0][:8], "Total", *ODD[0][9:]]
    draft, _ = drafts([above, header, *ODD[2:]], operation=Operation.ORDER_CREATE)
    assert (draft.table.rows, draft.table.row) == (1, 2)


SHIP_TO = ["Order No", "Buyer Name", "Ship To 1", "Ship To - Line 1", "Ship To - Line 2", "Phone", "PIN", "Item", "Qty"]


def test_numbered_lines_of_ship_to_are_the_address_and_no_name() -> None:
    cells = ["A1", "Asha", "Asha Home", "12 MG Rd", "Kothrud, Pune", "9822012345", "411001", "Kettle", "1"]
    _, data = drafts([SHIP_TO, cells])
    fields = data["fields"]
    assert fields["delivery_address"] == {"join": ["Ship To - Line 1", "Ship To - Line 2"], "with": ", "}  # type: ignore[index]
    assert fields["customer_name"] == {"from": "Buyer Name"}  # type: ignore[index]


def test_lines_of_ship_to_without_a_word_are_asked_about() -> None:
    header = [name.replace("- Line 1", "2").replace("- Line 2", "3") for name in SHIP_TO]
    cells = ["A1", "Asha", "Ravi", "12 MG Rd", "Kothrud, Pune", "9822012345", "411001", "Kettle", "1"]
    draft, data = drafts([header, cells])
    assert data["fields"]["delivery_address"]["join"] == ["? Ship To 1", "? Ship To 2", "? Ship To 3"]  # type: ignore[index]
    assert draft.guesses["fields.customer_name"].asked


PACKING = [
    ["PACKING LIST", "", "", "", ""],
    ["Invoice No", "INV/26/118", "", "Date", "12/11/2026"],
    ["Supplier", "Acme Exports", "", "Warehouse :", "Bhiwandi DC"],
    ["Carton No", "SKU", "Description", "Qty", "Rate"],
    ["1-5", "KT-15", "Kettle", "60 Nos", "599.00/Nos"],
    ["6", "CUP-2", "Cup", "20 Nos", "99.00/Nos"],
    ["Total", "", "", "80 Nos", ""],
]


def test_what_stands_above_a_packing_list_fills_what_no_column_does() -> None:
    draft, data = drafts(PACKING)
    assert data["operation"] == "asn.create"
    assert data["key"] == [{"beside": "Supplier"}, {"beside": "Warehouse"}, {"beside": "Invoice No"}]
    assert data["lines"]["qty"] == {"from": "Qty", "read": {"suffix": ["Nos"]}}  # type: ignore[index]
    mapped = run(draft_text(draft, file_name="packing.csv"), sheet_of(PACKING))
    assert len(mapped.documents) == 1
    assert '"invoice_number":"INV/26/118"' in mapped.documents[0].body and '"qty":"60"' in mapped.documents[0].body


def test_a_title_says_what_the_rows_become() -> None:
    case = case_of("c01_knitwear_packing_pcs_total")
    draft = first_draft(case)
    assert draft is not None
    assert (draft.operation, draft.rival) == (Operation.ASN_CREATE, None), draft_text(draft, file_name="x")
    named = replace(case, workbook=tuple(("Sheet1", text.replace("PACKING LIST", "")) for _, text in case.workbook))
    untold = draft_of(named.sheets)
    assert untold is not None and untold.rival is not None


def test_a_packing_list_of_parcels_to_people_stays_a_list_of_orders() -> None:
    _, data = drafts([["Packing list", *[""] * 8], SHIP_TO, ["A1", "Asha", "Ravi", "12 MG Rd", "Pune", "9822012345",
                                                          "411001", "Kettle", "1"]])  # fmt: skip
    assert data["operation"] == "order.create"


def test_numbers_on_cartons_are_not_added_up() -> None:
    draft = draft_of(case_of("c01_knitwear_packing_pcs_total").sheets, operation=Operation.ORDER_CREATE)
    assert draft is not None and "fields.packages_count" not in draft.guesses
    assert "Carton Nos. To" in draft.unused


def test_a_value_a_few_columns_from_its_label_is_named_by_its_cell() -> None:
    rows = [[*PACKING[0]], ["Invoice No", "", "INV/26/118", "", ""], *PACKING[2:]]
    _, data = drafts(rows)
    assert data["fields"]["invoice_number"] == {"cell": "C2"}  # type: ignore[index]


def test_a_dozen_is_asked_about() -> None:
    rows = [[row[0].replace("1-5", "5"), *row[1:3], row[3].replace("20 Nos", "2 dz"), row[4]] for row in PACKING]
    draft, data = drafts(rows)
    assert data["lines"]["qty"]["read"] == {"suffix": {"Nos": 1, "dz": "? 12"}}  # type: ignore[index]
    asked = draft_json(draft, file_name="packing.csv")["questions"]
    assert [(each["place"], each["answers"]) for each in asked] == [("lines.qty", ["12"])]


def test_a_sheet_of_instructions_does_not_say_what_the_rows_are() -> None:
    told = sheet_of(
        [["Column", "Supplier", "Invoice No", "Warehouse", "SKU", "Qty"], ["What", "a", "b", "c", "d", "e"]],
        name="Instructions",
    )
    orders = sheet_of([ODD[0][:7], *(row[:7] for row in ODD[2:])], name="Data")
    draft = draft_of([told, orders])
    assert draft is not None and (draft.operation, draft.table.sheet) == (Operation.ORDER_CREATE, "Data")
    assert draft.rival is None


def test_amounts_that_show_a_quantity_per_box_make_it_a_question() -> None:
    rows = [["Order No", "Phone", "Address", "PIN", "SKU", "Boxes", "Qty", "Rate", "Amount"]]
    rows += [[f"A{n}", "9822012345", "12 MG Road, Pune", "411001", "K-1", f"{n}", "12", "10", f"{n * 120}"]
             for n in range(2, 6)]  # fmt: skip
    _, data = drafts(rows)
    assert data["lines"]["item_quantity"] == {"from": "? Qty", "times": "? Boxes", "required": True}  # type: ignore[index]


def test_pieces_per_carton_alone_are_proposed_times_the_cartons() -> None:
    rows = [["Invoice No", "Supplier", "Warehouse", "Part No", "Qty/Ctn", "No. of Ctns"],
            ["I-1", "Hosur Fasteners", "Pune DC", "M8", "250", "8"]]  # fmt: skip
    _, data = drafts(rows)
    assert data["lines"]["qty"] == {"from": "? Qty/Ctn", "times": "? No. of Ctns"}  # type: ignore[index]


def test_rows_of_tax_and_freight_below_a_table_are_no_items() -> None:
    rows = [["Invoice No", "Phone", "Address", "PIN", "Description", "Qty", "Rate"]]
    rows += [
        ["I-1", "9822012345", "12 MG Road, Pune", "411001", item, "2 Nos", "65.00/Nos"] for item in ("fan", "pipe")
    ]
    rows += [["", "", "", "", "CGST @ 9%", "", ""], ["", "", "", "", "Round Off", "", ""]]
    _, data = drafts(rows, operation=Operation.ORDER_CREATE)
    assert data["sheet"] == {"skip_rows_where": {"Description": ["CGST @ 9%", "Round Off"]}}
    assert data["lines"]["item_quantity"]["required"] is True  # type: ignore[index]


def test_a_date_above_the_table_is_read_as_it_is_written() -> None:
    rows = [*PACKING[:3], ["Expected date :", "10.12.2026", "", "", ""], *PACKING[3:]]
    _, data = drafts(rows)
    assert data["fields"]["delivery_date"]["beside"] == "Expected date"  # type: ignore[index]
    assert data["fields"]["delivery_date"]["read"] == {"date": ["? %d.%m.%Y", "? %m.%d.%Y"]}  # type: ignore[index]


def test_boxes_that_differ_from_row_to_row_are_added_up_once_a_person_says_so() -> None:
    rows = [["Order No", "Phone", "Address", "PIN", "SKU", "Qty", "Boxes"]]
    rows += [["A1", "9822012345", "12 MG Road, Pune", "411001", f"K-{n}", "12", f"{n}"] for n in (1, 2)]
    _, data = drafts(rows)
    assert data["fields"]["packages_count"] == {"sum": "? Boxes"}  # type: ignore[index]


def test_each_question_is_data_with_its_candidates_their_values_and_reasons() -> None:
    rows = [["Order No", "Phone", "Address", "PIN", "SKU", "Qty (ordered)", "Qty (sent)"],
            ["A1", "9822012345", "12 MG Road, Pune", "411001", "K-1", "12", "10"]]  # fmt: skip
    draft, _ = drafts(rows)
    about_pay, question = draft_json(draft, file_name="x.csv")["questions"]
    assert about_pay["place"] == "fields.is_cod"
    assert (question["place"], question["answers"]) == ("lines.item_quantity", ["Qty (ordered)", "Qty (sent)"])
    assert [each["samples"] for each in question["candidates"]] == [["12"], ["10"]]
    assert all(each["confidence"] > 0 and each["reason"] for each in question["candidates"])
    assert question["question"] and question["remedy"]


def test_what_is_asked_above_the_table_is_asked_once_and_called_no_column() -> None:
    rows = [PACKING[0], PACKING[1], ["From", "Acme Exports", "", "Deliver To", "Bhiwandi DC"], *PACKING[3:]]
    draft, data = drafts(rows, operation=Operation.ASN_CREATE)
    assert data["key"] == "file"
    asked = draft_json(draft, file_name="packing.csv")["questions"]
    assert [each["place"] for each in asked] == ["fields.supplier_name", "fields.site_name"]
    assert all("outside the table" in each["question"] and "column" not in each["question"] for each in asked)


def test_a_way_of_paying_above_the_table_is_read_and_not_sent_as_paid() -> None:
    rows = [["Invoice No", "Terms of Payment"], ["SH/12", "Cash on delivery"], ["", ""], ["Item", "Qty"], ["Fan", "2"]]
    _, data = drafts(rows, operation=Operation.ORDER_CREATE)
    assert data["fields"]["is_cod"] == {"beside": "Terms of Payment"}  # type: ignore[index]


@pytest.mark.parametrize(
    ("name", "words", "means"),
    [
        ("COD (Y/N)", ("Y", "N"), {"Y": "true", "N": "false"}),
        ("Prepaid (Y/N)", ("Y", "N"), {"Y": "false", "N": "true"}),
        ("Is Pre-paid?", ("TRUE", "FALSE"), {"TRUE": "false", "FALSE": "true"}),
        ("Not prepaid", ("Yes", "No"), {"Yes": "?", "No": "?"}),
        ("Prepaid (wallet)", ("Yes", "No"), {"Yes": "?", "No": "?"}),
        ("Paid", ("TRUE", "FALSE"), {"TRUE": "?", "FALSE": "?"}),
        ("Payment done", ("yes", "no"), {"yes": "?", "no": "?"}),
    ],
)
def test_a_yes_says_cash_on_delivery_only_where_the_name_asks_for_that(
    name: str, words: tuple[str, str], means: dict[str, str]
) -> None:
    """Below Prepaid it says the opposite: who has paid would pay again at the door."""
    rows = [
        ["Order No", "Name", "Mobile", "Address", "PIN", "SKU", "Qty", name, "Amount"],
        ["A1", "Asha Rao", "9876543210", "12 MG Road, Pune", "411001", "SKU-1", "2", words[0], "400"],
        ["A2", "Ravi Iyer", "9876543211", "14 MG Road, Pune", "411001", "SKU-1", "1", words[1], "200"],
    ]
    draft, data = drafts(rows)
    fields: dict[str, dict[str, object]] = data["fields"]  # type: ignore[assignment]
    assert fields["is_cod"] == {"from": name, "read": {"lookup": means}}
    collected = [{"true": word, "?": f"? {word}"}[means[word]] for word in words if means[word] != "false"]
    assert fields["cash_on_delivery"] == {"from": "? Amount", "when": {name: collected}}
    with pytest.raises(SpecificationError):
        mapping_of(draft_text(draft, file_name="paid.csv"))


@pytest.mark.parametrize(
    ("label", "read"),
    [
        ("Prepaid", {"lookup": {"Yes": "false"}}),
        ("COD", {"lookup": {"Yes": "true"}}),
        ("Payment", {"lookup": {"Yes": "?"}}),
    ],
)
def test_a_yes_above_the_table_says_what_its_label_asks(label: str, read: dict[str, object]) -> None:
    rows = [["Invoice No", "SH/12"], [f"{label} :", "Yes"], ["", ""], ["Item", "Qty"], ["Fan", "2"]]
    _, data = drafts(rows, operation=Operation.ORDER_CREATE)
    assert data["fields"]["is_cod"] == {"beside": label, "read": read}  # type: ignore[index]


ORDER = ["Order No", "Deliver at", "Contact", "PIN", "Exp. Delivery", "Item", "Qty", "Tender"]
ORDER_ROW = ["A1", "12 MG Road, Pune", "Mr. Farooq - 9822012345", "411001", "12-Dec-2026", "Kettle", "1", "Cash"]


def test_a_cell_of_a_name_and_a_phone_is_asked_about_in_these_words() -> None:
    draft, data = drafts([ORDER, ORDER_ROW], operation=Operation.ORDER_CREATE)
    assert data["fields"]["customer_mobile"] == {"from": "? Contact"}  # type: ignore[index]
    assert "hold a name and a phone together" in draft_text(draft, file_name="x.csv")


def test_words_of_payment_are_asked_about_whatever_stands_above_them() -> None:
    _, data = drafts([ORDER, [*ORDER_ROW[:-1], "COD"], [*ORDER_ROW[:-1], "Udhari"]], operation=Operation.ORDER_CREATE)
    assert data["fields"]["is_cod"]["from"] == "? Tender"  # type: ignore[index]
    assert data["fields"]["is_cod"]["read"]["lookup"]["Udhari"] == "?"  # type: ignore[index]


@pytest.mark.parametrize(("word", "means"), [("सीओडी", "true"), ("कैश ऑन डिलीवरी", "true"), ("यूपीआई", "false")])
def test_words_of_payment_are_known_in_hindi(word: str, means: str) -> None:
    _, data = drafts([[*ORDER[:-1], "भुगतान"], [*ORDER_ROW[:-1], word]], operation=Operation.ORDER_CREATE)
    assert data["fields"]["is_cod"]["read"] == {"lookup": {word: means}}  # type: ignore[index]


def test_yes_and_no_under_an_unknown_name_are_no_payment() -> None:
    rows = [ORDER, [*ORDER_ROW[:-1], "Yes"], [*ORDER_ROW[:-1], "No"]]
    assert drafts(rows, operation=Operation.ORDER_CREATE)[1]["fields"]["is_cod"] == {"from": "?"}  # type: ignore[index]


def test_who_pays_is_asked_where_nothing_says_it() -> None:
    draft, _ = drafts([ORDER[:-1], ORDER_ROW[:-1]], operation=Operation.ORDER_CREATE)
    text = draft_text(draft, file_name="x.csv")
    (asked,) = [each for each in draft_json(draft, file_name="x.csv")["questions"] if each["place"] == "fields.is_cod"]
    assert '`{constant: "false"}` if all are prepaid' in asked["remedy"]
    assert any("is_cod" in line and '`{constant: "false"}` if all are prepaid' in line for line in text.split("\n"))
    answer = text.replace('is_cod: {from: "?"}', 'is_cod: {constant: "false"}').replace('"? ', '"')
    with pytest.raises(SpecificationError) as refused:
        mapping_of(text)
    assert any("`is_cod`: which orders are paid on delivery?" in each.message for each in refused.value.findings)
    rows = [ORDER[:-1], ["A1", "12 MG Road, Pune", "9822012345", *ORDER_ROW[3:-1]]]
    assert '"is_cod":"false"' in run(answer.replace('{"from": "?"}', ""), sheet_of(rows)).documents[0].body


def test_labels_of_expected_delivery_and_deliver_at_are_known() -> None:
    _, data = drafts([ORDER, ORDER_ROW], operation=Operation.ORDER_CREATE)
    assert data["fields"]["expected_delivery_time"]["from"] == "Exp. Delivery"  # type: ignore[index]
    assert "Deliver at" in str(data["fields"]["delivery_address"])  # type: ignore[index]


def test_a_demanded_field_is_not_to_be_deleted() -> None:
    rows = [[*ORDER[:1], "Town", *ORDER[2:]], ["A1", "Pune", *ORDER_ROW[2:]]]
    line = next(each for each in draft_text(drafts(rows, operation=Operation.ORDER_CREATE)[0], file_name="").split("\n")
                if "delivery_address:" in each)  # fmt: skip
    assert "delete" not in line and "write another column" in line


def test_a_column_without_a_name_is_known_by_its_values_also_where_some_are_wrong() -> None:
    cells = [["A1", "Asha", phone, "K-1", "2"] for phone in ("9822012345", "98220", "9822012346", "9822012347")]
    sheet = sheet_of([["Order No", "Ship To", "", "SKU", "Qty"], *cells])
    draft = draft_of([Sheet("", sheet.frame, facts=merged_facts([(1, 2, 1, 3)]))], operation=Operation.ORDER_CREATE)
    assert draft is not None
    assert mapping_data(draft)["fields"]["customer_mobile"] == {"from": "Ship To, column 2"}


def test_what_brackets_say_tells_who_pays_from_who_gets_the_goods() -> None:
    whose = [
        f"{part} ({who})"
        for who in ("Billing", "Shipping")
        for part in ("First Name", "Last Name", "Address", "Postcode")
    ]
    people = ["Asha", "Rao", "5 Hill Rd, Mumbai", "400050", "Ravi", "Iyer", "12 MG Road, Pune", "411001"]
    _, data = drafts([["Order Number", *whose, "Phone", "SKU", "Qty"], ["A1", *people, "9822012345", "K-1", "2"]])
    fields: dict[str, dict[str, object]] = data["fields"]  # type: ignore[assignment]
    assert fields["customer_name"] == {"join": ["First Name (Shipping)", "Last Name (Shipping)"]}
    assert fields["delivery_address"] == {"from": "Address (Shipping)"}
    assert fields["delivery_postal_code"] == {"from": "Postcode (Shipping)"}


@pytest.mark.parametrize(
    "case", [case_of(name) for name in LAYOUT_NAMES if case_of(name).said], ids=lambda case: case.name
)
def test_what_integrators_stumbled_on_is_said_in_the_draft(case: Case) -> None:
    _, text = drafted(case)
    for line, more in case.said:
        assert any(line in each and more in each for each in text.split("\n")), (line, more, text)


@pytest.mark.parametrize(
    ("layout", "place", "names"),
    [
        ("c04", "reference_number", ["DC No."]),
        ("d12", "reference_number", [""]),
        ("", "supplier_name", ["Shipper"]),
        ("", "invoice_number", [""]),
    ],
)
def test_the_key_and_what_it_is_made_of_are_one_question(layout: str, place: str, names: list[str]) -> None:
    if layout:
        draft, text = drafted(case_of(next(name for name in LAYOUT_NAMES if name.startswith(layout))))
    else:  # whose number stands nowhere
        rows = [["Shipper:", "Oriental Exim LLP", "", "Consignee:", "Nandan Retail, Plot 12, Luhari"], [], *PACKING[3:]]
        draft, _ = drafts(rows, operation=Operation.ASN_CREATE)
        text = draft_text(draft, file_name="x.csv")
    assert draft is not None
    questions = draft_json(draft, file_name="x.csv")["questions"]
    assert not [each for each in questions if each["place"] == "key"], text
    asked = [each for each in questions if "key" in each["remedy"]]
    assert (f"fields.{place}", names) in [(each["place"], each["answers"]) for each in asked]
    with pytest.raises(SpecificationError) as refused:
        mapping_of(text)
    assert len(refused.value.findings) == len(questions)
    assert any(line.startswith("key:") and f"`{place}`" in line and "below" in line for line in text.split("\n"))


@pytest.mark.parametrize("name", ["House No", "Flat No.", "Door No", "Hausnr.", "Hausnummer"])
def test_the_number_of_a_house_belongs_to_the_address_beside_it_and_is_none_alone(name: str) -> None:
    header = ["Order No", "Customer", "Phone", name, "Street", "City", "PIN", "SKU", "Qty"]
    rows = [["A1", "Asha", "9822012345", "12a", "Hill Rd", "Mumbai", "400050", "K-1", "2"],
            ["A2", "Ravi", "9822012346", "7", "MG Road", "Pune", "411001", "K-2", "1"]]  # fmt: skip
    _, data = drafts([header, *rows])
    assert data["fields"]["delivery_address"] == {"join": [name, "Street", "City"], "with": ", "}  # type: ignore[index]
    _, data = drafts([[each for each in row if each not in ("Street", "Hill Rd", "MG Road")]
                      for row in (header, *rows)], operation=Operation.ORDER_CREATE)  # fmt: skip
    assert "?" in str(data["fields"]["delivery_address"])  # type: ignore[index]


def test_the_only_sheet_needs_no_name_and_of_several_a_date_is_no_part_of_it() -> None:
    sheet = sheet_of([ORDER, ORDER_ROW], name="Despatch 28-Nov")
    alone, beside = draft_of([sheet]), draft_of([sheet, sheet_of([["Notes"], ["call first"]], name="Notes")])
    assert alone is not None and beside is not None
    assert "name" not in mapping_data(alone).get("sheet", {})
    assert mapping_data(beside)["sheet"]["name"] == "Despatch *"


@pytest.mark.parametrize(
    ("header", "first", "second", "asked"),
    [
        (["Carton No.", "Qty"], ["1-5", "24"], ["6", "12"], {"from": "? Qty"}),
        (["Carton No.", "Pcs per Carton"], ["1-5", "24"], ["6", "12"],
         {"from": "? Pcs per Carton", "cartons": "? Carton No."}),
        (["Carton No.", "Pcs per Carton", "Qty"], ["1-5", "24", "120"], ["6-7", "12", "24"], {"from": "Qty"}),
        (["Cartons", "Per Ctn", "Qty"], ["5", "24", "120"], ["1", "12", "12"], {"from": "Qty"}),
        (["Cartons", "Qty", "Rate", "Amount"], ["5", "24", "10", "240"], ["2", "12", "5", "60"], {"from": "Qty"}),
        (["Cartons", "Total Qty"], ["5", "24"], ["2", "12"], {"from": "Total Qty"}),
        (["Cartons", "Qty"], ["1", "24"], ["1", "12"], {"from": "Qty"}),  # of one carton each it is the same
        (["Carton No.", "Qty"], ["1", "24"], ["2", "12"], {"from": "Qty"}),
    ],
)  # fmt: skip
def test_a_quantity_beside_cartons_is_asked_about_unless_the_file_shows_that_it_is_the_whole(
    header: Sequence[str], first: Sequence[str], second: Sequence[str], asked: dict[str, str]
) -> None:
    cells = [["INV-1", "Kaveri", "Bhiwandi", "K-1", *first], ["INV-1", "Kaveri", "Bhiwandi", "K-2", *second]]
    rows = [["Invoice No", "Supplier", "Warehouse", "SKU", *header], *cells]
    _, data = drafts(rows, operation=Operation.ASN_CREATE)
    assert data["lines"]["qty"] == asked  # type: ignore[index]


@pytest.mark.parametrize(("total", "is_asked"), [("80 Nos", False), ("", True)])
def test_a_total_row_that_adds_up_the_quantity_shows_that_it_is_the_whole(total: str, is_asked: bool) -> None:
    _, data = drafts([*PACKING[:-1], [*PACKING[-1][:3], total, ""]])
    assert data["lines"]["qty"]["from"] == ("? Qty" if is_asked else "Qty")  # type: ignore[index]


@pytest.mark.parametrize(
    ("amounts", "known"),
    [(("599", ""), {"*": "true"}), (("599.00", "0.00"), {"0.00": "false", "*": "true"}), (("599", "349"), None)],
)
def test_the_amount_to_collect_is_offered_where_no_column_says_of_which_orders(
    amounts: Sequence[str], known: dict[str, str] | None
) -> None:
    cells = [["A1", "Asha", "9822012345", "5 Hill Rd, Mumbai", "400050", "K-1", "1", amounts[0]],
             ["A2", "Ravi", "9822012346", "12 MG Road, Pune", "411001", "K-2", "1", amounts[1]]]  # fmt: skip
    draft, data = drafts([["Order No", "Customer", "Phone", "Address", "PIN", "SKU", "Qty", "COD Amount"], *cells])
    offered = {"from": "? COD Amount", "default": "false", "read": {"lookup": known}} if known else {"from": "?"}
    assert data["fields"]["is_cod"] == offered  # type: ignore[index]
    if known:
        sheet = sheet_of([list(draft.table.names), *cells])
        mapped = run(draft_text(draft, file_name="x.csv").replace('"? ', '"'), sheet)
        assert ['"is_cod":"true"' in each.body for each in mapped.documents] == [True, False], mapped.issues


@pytest.mark.parametrize(
    ("name", "cells", "is_asked"),
    [
        ("Narration", ("COD - collect on delivery", "Prepaid (UPI)"), True),
        ("Remarks", ("Urgent", "call first, cash on delivery Rs. 500"), True),
        ("Terms", ("paid by card", "paid by UPI on 3.11."), True),
        ("Remarks", ("Urgent", "Gift wrap"), False),
        ("Description", ("Cash box", "Card holder"), False),  # of goods
        ("Remarks", ("yes", "no"), False),
    ],
)
def test_a_column_whose_cells_speak_of_payment_is_asked_about_whatever_its_name(
    name: str, cells: Sequence[str], is_asked: bool
) -> None:
    rows = [["A1", "Asha", "9822012345", "5 Hill Rd, Mumbai", "400050", "K-1", "2", cells[0]],
            ["A2", "Ravi", "9822012346", "12 MG Road, Pune", "411001", "K-2", "1", cells[1]]]  # fmt: skip
    _, data = drafts([["Order No", "Customer", "Phone", "Address", "PIN", "SKU", "Qty", name], *rows])
    assert data["fields"].get("is_cod", {}).get("from") == (f"? {name}" if is_asked else "?")  # type: ignore[attr-defined]


def test_no_remedy_of_a_question_about_cash_leads_into_another_mistake() -> None:
    draft, text = drafted(case_of(next(name for name in LAYOUT_NAMES if name.startswith("d02"))))
    assert draft is not None
    asked = [(each["place"], each["remedy"]) for each in draft_json(draft, file_name="x.csv")["questions"]]
    assert any(place == "fields.is_cod" and "delete both" in remedy for place, remedy in asked), text
    assert not any(place == "fields.cash_on_delivery" and "delete" in remedy for place, remedy in asked)


@pytest.mark.parametrize(("layout", "place"), [("d02", "reference_number"), ("c04", "reference_number"),
                                               ("c09", "invoice_number"), ("e10", "invoice_number")])  # fmt: skip
def test_no_remedy_of_a_question_about_a_documents_number_is_refused(layout: str, place: str) -> None:
    draft, text = drafted(case_of(next(name for name in LAYOUT_NAMES if name.startswith(layout))))
    assert draft is not None
    questions = draft_json(draft, file_name="x.csv")["questions"]
    remedies = [each["remedy"] for each in questions if each["place"] == f"fields.{place}"]
    assert all("constant" not in each for each in remedies), remedies
    if layout == "d02":  # which has none: two columns together are it
        assert 'join: [Date, Sr No], with: "-"' in remedies[0] and "of a join its columns" in remedies[0]
        number = '{join: ["अ.क्र.", "ग्राहकाचे नाव"], with: "-"}'
        answer = text.replace('reference_number: {from: "?"}', f"reference_number: {number}")
        answer = answer.replace('key: ["?"]', 'key: ["अ.क्र.", "ग्राहकाचे नाव"]')
        with pytest.raises(SpecificationError) as refused:
            mapping_of(answer)
        assert all("The draft asks" in each.message and place not in each.message for each in refused.value.findings)


def test_a_value_without_a_label_answers_what_was_not_found() -> None:
    draft, text = drafted(case_of("c01_knitwear_packing_pcs_total"))
    assert draft is not None
    asked = {each["place"]: each["remedy"] for each in draft_json(draft, file_name="x.xlsx")["questions"]}
    assert "`{cell: A1}` for one above it that has no label" in asked["fields.supplier_name"]
    answer = text.replace('supplier_name: {from: "?"}', "supplier_name: {cell: A1}").replace('"? ', '"')
    mapped = run(answer, *case_of("c01_knitwear_packing_pcs_total").sheets)
    assert '"supplier_name":"TIRUPUR KNIT WORKS"' in mapped.documents[0].body


ORDERED: list[list[str]] = [
    ["407-1", "Meena", "9820011223", "14 Lake View", "Chennai", "600020", "Kurta", "3", "1 unit(s)", "Online"],
    ["407-2", "Ravi", "9820011224", "2 Camp", "Pune", "411001", "Cap", "50", "48 unit(s)", "COD"],
]


@pytest.mark.parametrize("other", ["quantity-ordered", "Order Qty"])
def test_a_quantity_with_words_that_nobody_knows_leaves_its_place_to_no_other_one_unasked(other: str) -> None:
    """Of a marketplace export and of an accounting program: the ordered pieces went out for those to be shipped."""
    header = ["order-id", "recipient-name", "ship-phone", "ship-address-1", "ship-city", "ship-pincode", "product-name",
              other, "quantity-to-ship", "payment-method"]  # fmt: skip
    draft, data = drafts([header, *ORDERED], operation=Operation.ORDER_CREATE)
    assert data["lines"]["item_quantity"]["from"] == [f"? {other}", "? quantity-to-ship"]
    assert draft.guesses["lines.item_quantity"].reasons[-1] == ("put_aside", "quantity-to-ship")


def test_the_address_that_the_goods_go_to_is_whole_beside_that_of_the_bill() -> None:
    header = ["order-id", "recipient-name", "ship-phone", "ship-address-1", "ship-address-2", "ship-city",
              "ship-pincode", "bill-address-1", "bill-address-2", "bill-city", "product-name", "quantity",
              "payment-method"]  # fmt: skip
    rows = [
        [*row[:4], "Adyar", *row[4:6], "9 Race Course Rd", "Near Temple", "Mysuru", *row[6:8], row[9]]
        for row in ORDERED
    ]
    _, data = drafts([header, *rows], operation=Operation.ORDER_CREATE)
    assert data["fields"]["delivery_address"]["join"] == ["ship-address-1", "ship-address-2", "ship-city"]
    assert data["fields"]["delivery_postal_code"] == {"from": "ship-pincode"}


def test_of_a_packing_list_neither_a_range_of_cartons_nor_its_way_of_paying_goes_unasked() -> None:
    rows = [
        ["Order No", "PL-7", "", ""],
        ["Payment", "To Pay / COD Rs. 48,750.00", "", ""],
        ["Consignee", "Joshi Stores", "Phone", "9822077889"],
        ["Address", "12 MG Road, Pune", "Pin", "411001"],
        ["Ctn No.", "Article", "Total Qty", "Rate"],
        ["1-5", "Bucket", "250", "120"],
        ["6", "Mug", "80", "30"],
        ["7-9", "Tub", "60", "200"],
    ]
    draft, data = drafts(rows, operation=Operation.ORDER_CREATE)
    assert data["lines"]["package_id"] == {"from": "? Ctn No."}
    assert draft.guesses["lines.package_id"].reasons[-1] == ("ranges",)
    assert data["fields"]["is_cod"]["beside"] == "? Payment"


def test_a_date_of_several_kinds_is_asked_about_and_not_said_to_be_one_of_the_papers() -> None:
    header = ["S.N.", "Order No", "Customer", "Phone", "Address", "Delivery on", "Item", "Qty"]
    cells = [[str(n), f"A{n}", "Tina", "9870011223", "A-4 Palm, Thane", day, "Cake", "1"]
             for n, day in enumerate(("05/12/26", "06-12-2026", "7 Dec"), 1)]  # fmt: skip
    draft, data = drafts([header, *cells], operation=Operation.ORDER_CREATE)
    assert data["fields"]["expected_delivery_time"] == {"from": "Delivery on", "read": {"date": "?"}}
    assert draft.guesses["fields.expected_delivery_time"].reasons[0][:2] == ("days_unread", "05/12/26")
    assert draft.unused["S.N."] == ("counts_rows",)


@pytest.mark.parametrize(("goods", "is_merged"), [("Item", False), ("SKU", True), ("Item Details", False)])
def test_a_name_below_a_group_of_goods_is_theirs_and_below_one_of_people_a_persons(goods: str, is_merged: bool) -> None:
    rows = [
        ["Voucher No.", goods, "", "", "Party", "", ""],
        ["", "Name", "Quantity", "Rate", "Party Name", "Mobile", "Address"],
        ["V-1", "LED Bulb", "2 Pcs", "95.00", "Asha Rao", "9822012345", "12 MG Road, Pune 411001"],
        ["V-2", "Switch 6A", "3 Pcs", "45.00", "Ravi Iyer", "9822012346", "7 Hill St, Pune 411002"],
    ]
    sheet = sheet_of(rows)
    if is_merged:
        sheet = Sheet("", sheet.frame, facts=merged_facts([(1, 2, 1, 4), (1, 5, 1, 7), (1, 1, 2, 1)]))
    draft = draft_of([sheet], operation=Operation.ORDER_CREATE)
    assert draft is not None
    data = mapping_data(draft)
    assert data["lines"]["item_name"] == {"from": f"{goods} Name"}
    assert data["fields"]["customer_name"] == {"from": "Party Party Name"}
    without = draft_of([Sheet("", sheet.frame.drop("5"), facts=sheet.facts)], operation=Operation.ORDER_CREATE)
    assert without is not None and f"{goods} Name" not in str(mapping_data(without)["fields"])


STATES = [["Cancelled", "Order shipped"], ["RTO Initiated", "Delivered"], ["रद्द", "DISPATCHED"]]


@pytest.mark.parametrize(("name", "words"), [*zip(["Order Status", "Xyz", "Remarks"], STATES, strict=True)])
def test_rows_that_are_cancelled_or_gone_are_not_sent_before_a_person_says_so(name: str, words: list[str]) -> None:
    rows = [
        ["Order No", "Name", "Mobile", "Address", "PIN", "SKU", "Qty", "Payment", name],
        *(
            [f"A{n}", "Asha Rao", "9876543210", "12 MG Road, Pune", "411001", "SKU-1", "2", "Prepaid", said]
            for n, said in enumerate(["Pending", "Unshipped", *words, words[0], "Not shipped"])
        ),
    ]
    draft, data = drafts(rows, operation=Operation.ORDER_CREATE)
    assert data["sheet"] == {"skip_rows_where": {name: [f"? {word}" for word in words]}}
    assert data["fields"]["delivery_address"] == {"from": "Address"}  # type: ignore[index]
    text = draft_text(draft, file_name="x.csv")
    with pytest.raises(SpecificationError) as refused:
        mapping_of(text)
    (asked,) = refused.value.findings
    assert f"`{words[0]}` or `{words[1]}` in `{name}`" in asked.message and "only_rows_where" in asked.remedy
    assert len(draft_json(draft, file_name="x.csv")["questions"]) == 1
    mapped = run(text.replace('"? ', '"'), sheet_of(rows))
    assert [each.key for each in mapped.documents] == ["A0", "A1", "A5"]


def test_goods_on_their_way_are_what_a_notice_is_of_and_a_refund_is_a_word_of_payment() -> None:
    notice = ["Invoice No", "Supplier", "Warehouse", "SKU", "Qty", "Status"]
    said = ("In transit", "Dispatched", "Cancelled")
    _, data = drafts([notice, *(["I1", "Acme", "Pune DC", "K-1", "2", each] for each in said)])
    assert data["sheet"] == {"skip_rows_where": {"Status": ["? Cancelled"]}}
    _, data = drafts([[*ORDER[:-1], "Payment"], [*ORDER_ROW[:-1], "Prepaid"], [*ORDER_ROW[:-1], "Refunded"]])
    assert "sheet" not in data and "Refunded" in str(data["fields"])
