"""Columns that may say that an order must not be sent, under whatever name; and what else later trials of somebody
with the documents alone found: sheets `g` and `h` in `suggest_layouts`, and small ones here."""

import json

import pytest
import yaml
from mapping.sheets import mapping_of, run, sheet_of
from mapping.suggest_judge import LAYOUT_NAMES, case_of, drafted, judged
from mapping.test_first_hour import FIRST, HEADER, SECOND, THIRD, sample
from mapping.test_first_hour import drafted as draft_of_sheet
from mapping.test_told_by_values import notice, table

from logistics_batch.errors import SpecificationError
from logistics_batch.mapping.suggest.draft import draft_of
from logistics_batch.mapping.suggest.text import draft_json
from logistics_batch.model.document import Operation
from logistics_batch.model.sheet import Sheet

LATER_TRIALS = [name for name in LAYOUT_NAMES if name[0] in "gh"]
FOURTH = ["A4", "Leela K", "9822012348", "9 Lake View, Pune", "411004", "K-3", "2", "Prepaid"]


def with_states(name: str, cells: list[str]) -> Sheet:
    """Four orders, the second and the third of two rows, with a column behind their own."""
    orders = zip((FIRST, SECOND, THIRD, FOURTH), cells, strict=True)
    rows = [[*order, word] for order, word in orders]
    rows[2:2] = [[*rows[1][:5], "K-7", "1", *rows[1][7:]]]
    rows[4:4] = [[*rows[3][:5], "K-9", "5", *rows[3][7:]]]
    return sheet_of([[*HEADER, name], *rows])


@pytest.mark.parametrize("name", LATER_TRIALS)
def test_of_the_layouts_of_later_trials_nothing_is_wrong_missed_or_needless(name: str) -> None:
    score = judged(case_of(name))
    assert (score.wrong, score.missed, score.asked, score.needless, score.keys) == (0, 0, 0, 0, 1), score.told


@pytest.mark.parametrize(
    ("name", "cells", "words"),
    [
        ("Makulerad", ["Nej", "Ja", "Nej", "Nej"], {"Nej", "Ja"}),
        ("Makulerad", ["Nej", "Makulerad", "Nej", "Nej"], {"Nej", "Makulerad"}),
        ("İptal", ["Hayır", "Evet", "Hayır", "Hayır"], {"Hayır", "Evet"}),
        ("Status", ["Nowe", "Anulowane", "Nowe", "Gotowe"], {"Nowe", "Anulowane", "Gotowe"}),
        ("Order Status", ["Open", "Blocked", "Open", "Open"], {"Open", "Blocked"}),
        ("Ship?", ["Yes", "No", "Yes", "Yes"], {"Yes", "No"}),
        ("Ship (Y/N)", ["Y", "N", "Y", "Y"], {"Y", "N"}),
        ("Dispatch", ["Yes", "No", "Yes", "Yes"], {"Yes", "No"}),
        ("Delivered", ["No", "Yes", "No", "No"], {"Yes", "No"}),
        ("Shipped", ["0", "1", "0", "0"], {"0", "1"}),
        ("Approved", ["Yes", "No", "Yes", "Yes"], {"Yes", "No"}),
        ("Xyz", ["", "x", "", ""], {"x"}),
        ("", ["", "✗", "", ""], {"✗"}),
        ("Xyz", ["", "nicht senden", "", ""], {"nicht senden"}),
        ("Annullato il", ["", "24.11.2026", "", "25.11.2026"], {"*"}),
    ],
)
def test_what_may_say_that_an_order_is_not_to_be_sent_is_asked_about(
    name: str, cells: list[str], words: set[str]
) -> None:
    sheet = with_states(name, cells)
    draft, data, text = draft_of_sheet(sheet)
    named = name or "Payment, column 2"
    assert {*data["sheet"]["skip_rows_where"].pop(named)} == {f"? {word}" for word in words}
    assert not data["sheet"]["skip_rows_where"] and f'# "{named}":' in text and "must not be sent" in text
    with pytest.raises(SpecificationError):
        mapping_of(text)
    (asked,) = [each for each in draft_json(draft, file_name="x")["questions"] if "skip_rows" in each["place"]]
    assert any("×" in shown for shown in asked["candidates"][0]["samples"]), asked
    kept = ["*"] if "*" in words else [cells[1]]
    rules = {"skip_rows_where": {named: kept}}
    answered = yaml.safe_load(text) | {"sheet": rules}
    for field in ("is_cod", "expected_delivery_time"):
        if "?" in str(answered["fields"].get(field)):
            del answered["fields"][field]
    mapped = run(yaml.safe_dump(answered, allow_unicode=True), sheet)
    left = {"A2", "A4"} if "*" in words else {"A2"}
    assert {each.key for each in mapped.documents} == {"A1", "A2", "A3", "A4"} - left, mapped.issues


@pytest.mark.parametrize(
    ("name", "cells", "words"),
    [
        ("Shipped on", ["", "28-11-2026", "", ""], ["*"]),
        ("Despatch date", ["", "27-11-2026", "28-11-2026", ""], ["*"]),
        ("Delivered?", ["", "27-11", "28-11", ""], ["*"]),
        ("Exchange / Return", ["", "R", "", ""], ["*"]),
        ("Remarks", ["", "do not ship until we confirm", "", "hold"], ["do not ship until we confirm", "hold"]),
        ("Remarks", ["", "wrong entry, ignore", "", "duplicate of A1"], ["wrong entry, ignore", "duplicate of A1"]),
        ("Observaciones", ["", "no entregar hasta aviso", "", ""], ["no entregar hasta aviso"]),
    ],
)
def test_what_is_gone_already_or_must_wait_is_asked_about(name: str, cells: list[str], words: list[str]) -> None:
    """As a third trial by somebody with the documents alone had it: each of them was sent, and nobody asked."""
    _, data, _ = draft_of_sheet(with_states(name, cells))
    assert data["sheet"]["skip_rows_where"] == {name: [f"? {word}" for word in words]}


@pytest.mark.parametrize(
    ("name", "cells"),
    [
        ("Delivery date", ["", "28-12-2026", "", ""]),
        ("Remarks", ["", "Deliver before noon, call first", "", ""]),
        ("Return address", ["", "12 Market Road, Thane", "", ""]),
    ],
)
def test_days_and_notes_of_a_delivery_to_come_are_not_asked_about(name: str, cells: list[str]) -> None:
    _, data, _ = draft_of_sheet(with_states(name, cells))
    assert "skip_rows_where" not in data.get("sheet", {})


@pytest.mark.parametrize(("weights", "decimal"), [(["4", "5", "6"], ","), (["0.5", "1.25", "2.75"], None)])
def test_decimal_commas_of_a_column_that_nobody_knows_are_proposed(weights: list[str], decimal: str | None) -> None:
    """Whoever adds the column by hand would else have its cells refused."""
    amounts = ["4.500,00", "1.250,50", "85,50"]
    rows = [[*order, *more] for order, *more in zip((FIRST, SECOND, THIRD), amounts, weights, strict=True)]
    _, data, _ = draft_of_sheet(sheet_of([[*HEADER, "Importo", "Xyz"], *rows]))
    assert data.get("sheet", {}).get("decimal") == decimal


def test_a_row_of_totals_does_not_fill_the_number_of_the_order() -> None:
    """An order's second row without its number was blocked: its first cell, and that of the totals, counted alike."""
    second = ["", "", "", "", "", "K-7", "4", ""]
    rows = [FIRST, second, SECOND, THIRD, FOURTH, ["Page total", *[""] * 7]]
    _, data, _ = draft_of_sheet(sheet_of([HEADER, *rows]))
    assert data["sheet"]["fill_down"][0] == HEADER[0]


def test_pins_under_a_name_of_something_else_are_offered() -> None:
    rows = [[*order[:4], *order[5:], order[4]] for order in (FIRST, SECOND, THIRD)]
    at = HEADER[:4] + HEADER[5:]
    _, data, _ = draft_of_sheet(sheet_of([[*at, "Area code"], *rows]))
    assert data["fields"]["delivery_postal_code"] == {"from": "? Area code"}


@pytest.mark.parametrize(
    ("name", "cells"),
    [
        ("Xyz", ["Yes", "Yes", "Yes", "Yes"]),  # of all alike
        ("Xyz", ["Ring first", "", "Gate is behind the temple", ""]),  # sentences
        ("Xyz", ["", "", "", ""]),
        ("Xyz", ["12", "7", "12", "7"]),
        ("Xyz", ["A-1", "A-2", "A-1", "A-2"]),
        ("Xyz", ["Pcs", "Box", "Pcs", "Pcs"]),
        ("City", ["Pune", "Pune", "Thane", "Pune"]),
        ("Channel", ["Web", "Shop", "Web", "Web"]),
        ("Remarks", ["", "urgent", "", ""]),
        ("Xyz", ["Asha", "Ravi", "Tina", "Leela"]),  # another one for each
    ],
)
def test_what_says_something_else_is_not_asked_about(name: str, cells: list[str]) -> None:
    _, data, _ = draft_of_sheet(with_states(name, cells))
    assert "skip_rows_where" not in data.get("sheet", {})


def test_words_that_differ_within_an_order_say_nothing_of_the_whole() -> None:
    rows = [[*FIRST, "Red"], [*FIRST[:5], "K-2", "1", FIRST[7], "Blue"], [*SECOND, "Red"], [*THIRD, "Blue"]]
    assert "sheet" not in draft_of_sheet(sheet_of([[*HEADER, "Xyz"], *rows]))[1]


def test_a_void_notice_is_asked_about_as_a_void_order_is() -> None:
    header = ["Bill No", "Party", "Godown", "SKU", "Qty", "Anulado"]
    rows = [["B-1", "Om", "Pune DC", "K-1", "5", ""], ["B-2", "Om", "Pune DC", "K-2", "6", "Sí"],
            ["B-3", "Om", "Pune DC", "K-1", "5", ""]]  # fmt: skip
    assert notice(header, *rows)[1]["sheet"] == {"skip_rows_where": {"Anulado": ["? Sí"]}}


@pytest.mark.parametrize(
    "names", [["Straße", "PSČ", "Mjesto"], ["Gade", "Postnr", "Kommune"], ["Utca", "Mjesto", "PSČ"]]
)
def test_streets_towns_and_pins_are_told_apart_by_their_values(names: list[str]) -> None:
    street, *others = names
    town, pin = sorted(others, key=lambda name: name.startswith("P"))
    streets = ["12 MG Road", "7 Hill Street", "4 Palm Court", "9 Lake View"]
    rows = []
    for row, road, city, pay in zip((FIRST, SECOND, THIRD, FOURTH), streets, ["Pune", "Pune", "Thane", "Pune"],
                                    ["Kartou", "Hotově", "Kartou", "Kartou"], strict=True):  # fmt: skip
        cells = {street: road, town: city, pin: row[4]}
        rows.append([*row[:3], *(cells[name] for name in names), *row[5:7], pay])
    fields = draft_of_sheet(sheet_of([[*HEADER[:3], *names, *HEADER[5:7], "Platba"], *rows]))[1]["fields"]
    assert fields["delivery_address"]["join"] == [f"? {street}", f"? {town}"]
    assert fields["delivery_postal_code"] == {"from": f"? {pin}"}
    assert fields["is_cod"]["from"] == "? Platba"


def test_names_of_people_under_particulars_are_no_goods_unasked() -> None:
    rows = table("""
        Date | Particulars | Vch No | Mobile | Address | PIN | Qty | Payment
        1-Nov-26 | Asha Rao | V-1 | 9822012345 | 12 MG Road, Pune | 411001 | 2 | Prepaid
        2-Nov-26 | Ravi Iyer | V-2 | 9822012346 | 7 Hill St, Pune | 411002 | 1 | Prepaid
        3-Nov-26 | Asha Rao | V-3 | 9822012345 | 12 MG Road, Pune | 411001 | 4 | Prepaid
    """)
    _, data, _ = draft_of_sheet(sheet_of(rows))
    assert data["fields"]["customer_name"] == data["lines"]["item_name"] == {"from": "? Particulars"}
    rows[0][1], rows[0][6:6] = "Description", ["Name"]
    named = [rows[0], *([*row[:6], who, *row[6:]] for row, who in zip(rows[1:], ["A B", "C D", "E F"], strict=True))]
    assert draft_of_sheet(sheet_of(named))[1]["lines"]["item_name"] == {"from": "Description"}


def test_balances_around_the_rows_are_left_out_by_what_they_say_and_not_by_their_day() -> None:
    case = case_of("g03_purchase_register_particulars")
    draft, text = drafted(case)
    assert draft is not None
    rules = yaml.safe_load(text)["sheet"]["skip_rows_where"]
    assert rules == {"Particulars": ["Opening Balance", "Closing Balance"]}
    answered = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("item_desc"))
    mapped = run(answered.replace('"? ', '"').replace("operation: ? ", "operation: "), *case.sheets)
    assert [json.loads(each.body)["supplier_name"] for each in mapped.documents] == [
        "Om Traders", "Shree Mills", "Om Traders"
    ]  # fmt: skip
    assert {*mapped.rows["state"]} <= {"ready", "skipped"}, mapped.issues


def test_an_order_above_its_items_is_no_balance() -> None:
    rows = [["Name", "Mobile", "SKU", "Qty", "Rate", "Amount"], ["Asha Rao", "9822012345", "", "", "", ""]]
    rows += [["", "", f"K-{n}", f"{n}", "10", f"{n}0"] for n in (2, 3, 4)]
    assert "skip_rows_where" not in draft_of_sheet(sheet_of(rows))[1].get("sheet", {})


def test_a_signature_below_the_total_leaves_the_total_a_check() -> None:
    data = yaml.safe_load(drafted(case_of("g05_dispatch_list_ship_yes_or_no"))[1])
    assert "checks" not in data  # rows may be left out that the total counts
    case = case_of("g05_dispatch_list_ship_yes_or_no")
    rows = [[*map(str.strip, line.split(","))][:-1] for line in case.file.replace(", ", " ").splitlines()]
    _, without, _ = draft_of_sheet(sheet_of(rows))
    assert [each["column"] for each in without["checks"]["control_total"]] == ["COD Amount", "Qty"]


def test_a_decimal_comma_is_seen_before_a_word_behind_the_price() -> None:
    case = case_of("g06_german_prices_per_piece")
    _, text = drafted(case)
    assert yaml.safe_load(text)["sheet"]["decimal"] == ","
    mapped = run(text.replace('{"Vorkasse": "?"}', '{"Vorkasse": "false"}'), *case.sheets)
    prices = [json.loads(each.body)["item_details"][0]["item_price_per_each"] for each in mapped.documents]
    assert [*map(float, prices)] == [85.5, 1210.0, 10.0], mapped.issues


def test_a_value_beside_a_label_with_a_colon_is_no_label() -> None:
    case = case_of("g04_stock_transfer_note")
    draft, text = drafted(case)
    assert draft is not None and draft.guesses["fields.site_name"].asked
    mapped = run(text.replace('"? ', '"'), *case.sheets)
    (document,) = mapped.documents
    sent = json.loads(document.body)
    told = (sent["invoice_number"], sent["site_name"], sent["supplier_name"])
    assert told == ("STN/26/118", "Bhiwandi FC", "Nilgiri Foods Pvt Ltd")


def test_a_number_behind_its_label_is_no_value_of_the_title_above_it() -> None:
    rows = [["Nilgiri Foods, Coonoor", "", "", ""], ["Stock Transfer Note", "", "", ""],
            ["STN No: STN/26/118", "", "", "To: Bhiwandi FC"], ["SKU", "Description", "Qty", "Rate"],
            ["K-1", "Kettle", "12", "100"], ["K-2", "Mug", "24", "20"]]  # fmt: skip
    fields = notice(*rows)[1]["fields"]
    assert fields["invoice_number"] == {"beside": "? STN No"} and fields["site_name"] == {"beside": "? To"}
    assert fields["supplier_name"] == {"from": "?"}  # nothing says that the title is one


@pytest.mark.parametrize("sheet", [
    "Order | Name | Qty | SKU\nO-1 | Asha Rao | 2 | K-1\nO-2 | Ravi Iyer | 1 | K-2",
    "Order No | Customer | City | Item | Qty | Amount\nO-1 | Asha | Pune | K-1 | 2 | 50\nO-2 | R | Goa | K-2 | 1 | 6",
])  # fmt: skip
def test_a_list_of_orders_is_not_asked_whether_it_is_one_of_receipts(sheet: str) -> None:
    draft = draft_of([sheet_of(table(sheet))])
    assert draft is not None
    assert (draft.operation, draft.rival) == (Operation.ORDER_CREATE, Operation.ASN_CREATE)


def test_yes_and_no_are_nobodys_name() -> None:
    draft, data, _ = draft_of_sheet(sample(Ship=["Yes", "No", "Yes"]))
    assert data["fields"]["customer_name"] == {"from": "Name"} and [each.code for each in draft.left_out] == [
        "may_say_void"
    ]


def test_a_rule_that_every_mapping_has_is_not_written_where_the_key_is_asked_about() -> None:
    text = drafted(case_of("g10_portuguese_notices_situacao"))[1]
    assert "Nota fiscal" not in yaml.safe_load(text)["sheet"]["skip_rows_where"]


@pytest.mark.parametrize("name", ["g01", "g02", "g05", "g07", "g08", "g09", "g10", "g11", "g12", "g13"])
def test_what_is_void_stays_here_once_a_person_has_said_so(name: str) -> None:
    case = case_of(next(each for each in LATER_TRIALS if each.startswith(name)))
    draft, _ = drafted(case)
    assert draft is not None
    offered = {word for each in draft.left_out for word in each.words}
    assert {*case.left_out} <= offered, offered


def test_yes_and_no_of_a_line_are_asked_about_as_those_of_an_order() -> None:
    rows = [[*FIRST, "No"], [*FIRST[:5], "K-2", "1", FIRST[7], "Yes"], [*SECOND, "No"], [*THIRD, "No"]]
    _, data, _ = draft_of_sheet(sheet_of([[*HEADER, "Backorder"], *rows]))
    assert {*data["sheet"]["skip_rows_where"]["Backorder"]} == {"? Yes", "? No"}


def test_goods_that_are_out_of_stock_are_asked_about_below_a_name_of_goods() -> None:
    _, data, _ = draft_of_sheet(with_states("Stock", ["In stock", "Out of stock", "In stock", "In stock"]))
    assert data["sheet"] == {"skip_rows_where": {"Stock": ["? Out of stock"]}}
