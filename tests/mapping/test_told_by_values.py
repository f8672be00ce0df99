"""What a draft tells by the values of a sheet where its names say too little, and what these names say and it once did
not ask about: dozens and boxes in headers, the number of the last carton, columns in other languages."""

from typing import Any

import pytest
import yaml
from mapping.sheets import mapping_of, run, sheet_of, states
from mapping.test_first_hour import FIRST, HEADER, SECOND, THIRD, drafted, sample

from logistics_batch.errors import SpecificationError
from logistics_batch.mapping.suggest.draft import Draft, draft_of
from logistics_batch.mapping.suggest.text import draft_text
from logistics_batch.model.document import Operation
from logistics_batch.model.sheet import Sheet, merged_facts


def table(text: str) -> list[list[str]]:
    """The cells of a sheet as it is written here."""
    return [[cell.strip() for cell in line.split("|")] for line in text.strip().splitlines()]


def notice(*rows: list[str]) -> tuple[Draft, dict[str, Any], str]:
    """The draft for a sheet of an ASN."""
    draft = draft_of([sheet_of([*rows])], operation=Operation.ASN_CREATE)
    assert draft is not None
    text = draft_text(draft, file_name="x.csv")
    return draft, yaml.safe_load(text), text


def asn(**columns: list[str]) -> dict[str, Any]:
    """What a draft says of the lines of three notices with these columns; blanks in names as underscores."""
    names, cells = [name.replace("_", " ") for name in columns], zip(*columns.values(), strict=True)
    rows = [[f"B-{at // 2}", "Om Traders", "Bhiwandi", *each] for at, each in enumerate(cells)]
    lines: dict[str, Any] = notice(["Bill No", "Party", "Godown", *names], *rows)[1]["lines"]
    return lines


@pytest.mark.parametrize("name", ["Status", "Cancelled On"])
@pytest.mark.parametrize("is_merged", [True, False])
def test_an_order_that_is_cancelled_in_its_first_row_is_left_out_whole(name: str, is_merged: bool) -> None:
    said = ["Ready", "Cancelled", "Ready"] if name == "Status" else ["", "26-11-2026", ""]
    rows = [[*HEADER, name]]
    for order, word in zip((FIRST, SECOND, THIRD), said, strict=True):
        rows += [[*order, word], ["", "", "", "", "", "K-9", "1", "", ""]]
    spans = [(top, column, top + 1, column) for top in (2, 4, 6) for column in (1, 2, 3, 4, 5, 8, 9)]
    sheet = Sheet("", sheet_of(rows).frame, facts=merged_facts(spans if is_merged else []))
    _, data, text = drafted(sheet)
    assert name in data["sheet"]["fill_down"]
    assert [each.key for each in run(text.replace('"? ', '"'), sheet).documents] == ["A1", "A3"]


def test_a_line_that_is_cancelled_for_itself_takes_no_other_with_it() -> None:
    rows = [
        [*HEADER, "Status"],
        [*FIRST, "Ready"],
        ["", "", "", "", "", "K-9", "1", "", "Cancelled"],
        [*SECOND, "Ready"],
    ]
    rows += [["", "", "", "", "", "K-7", "3", "", ""]]
    _, data, _ = drafted(sheet_of(rows))
    assert "Status" not in data["sheet"]["fill_down"]


@pytest.mark.parametrize("name", ["Qty (Doz)", "Qty (Box)", "Quantity (kg)", "Qty (000)", "Qty (Sets)", "Qty in Doz"])
def test_a_quantity_whose_name_says_a_unit_is_asked_about(name: str) -> None:
    cells = ["5", "6", "7"]
    header = [name if each == "Qty" else each for each in HEADER]
    assert drafted(sheet_of([header, FIRST, SECOND, THIRD]))[1]["lines"]["item_quantity"]["from"] == f"? {name}"
    found = asn(Item=["K-1", "K-2", "K-3"], **{name.replace(" ", "_"): cells}, Rate=["240", "240", "260"])
    assert found["qty"] == {"from": f"? {name}"}


@pytest.mark.parametrize("name", ["Cases", "Qty in Ctn", "Qty Pairs", "Pairs"])
def test_a_column_that_counts_packs_alone_is_offered_as_the_quantity(name: str) -> None:
    assert asn(Item=["K-1", "K-2", "K-3"], **{name.replace(" ", "_"): ["5", "7", "6"]})["qty"]["from"] == f"? {name}"


def test_the_price_of_a_dozen_is_asked_about_beside_a_quantity_in_dozens() -> None:
    found = asn(Item=["K-1", "K-2"], **{"Qty_(Doz)": ["5", "6"], "Rate/Doz": ["240", "260"]})
    assert found["price_per_qty"] == {"from": "? Rate/Doz"}


@pytest.mark.parametrize("name", ["MSKU", "FNSKU", "ASIN", "Barcode", "EAN", "Model", "Variant"])
def test_a_notice_without_a_column_of_skus_asks_for_it(name: str) -> None:
    goods = {"Title": ["Blue mug", "Red mug", "Tea"], "Qty": ["24", "36", "12"]}
    assert asn(**{name: ["MUG-BL", "MUG-RD", "TEA-5"]}, **goods)["sku_name"] == {"from": f"? {name}"}
    assert asn(**goods)["sku_name"] == {"from": "?"}


def test_of_two_columns_that_may_be_the_sku_a_person_says_which() -> None:
    found = asn(MSKU=["MUG-BL", "TEA-5"], FNSKU=["X001A", "X001C"], Title=["Mug", "Tea"], Qty=["24", "36"])
    assert found["sku_name"] == {"from": ["? MSKU", "? FNSKU"]}


SLIP = table("""
Invoice No | Supplier | Warehouse | Item Code | Pcs per Box | Box From | Box To | Boxes
I-1 | Mehta | Hosur | TILE-01 | 6 | 1 | 2 | 2
I-1 | Mehta | Hosur | TILE-02 | 10 | 3 | 3 | 1
I-1 | Mehta | Hosur | TILE-03 | 16 | 4 | 8 | 5
I-1 | Mehta | Hosur | TILE-04 | 16 | 9 | 11 | three
I-1 | Mehta | Hosur | TILE-05 | 20 | 12 | 12 | 1
""")


@pytest.mark.parametrize("names", [("Box From", "Box To", "Boxes"), ("Carton From", "Carton To", "No. of Cartons"),
                                   ("From", "To", "Ctns")])  # fmt: skip
def test_the_number_of_the_last_box_is_no_count_and_the_count_carries_the_mark(names: tuple[str, ...]) -> None:
    _, data, text = notice([*SLIP[0][:5], *names], *SLIP[1:])
    assert data["lines"]["qty"] == {"from": "? Pcs per Box", "times": f"? {names[2]}"}
    with pytest.raises(SpecificationError) as refused:
        mapping_of(text.replace("? Pcs per Box", "Pcs per Box"))
    assert [f"`Pcs per Box` × `{names[2]}`" in each.message for each in refused.value.findings] == [True]


def test_without_a_count_of_boxes_nothing_is_multiplied_by_their_numbers() -> None:
    _, data, _ = notice(*([*row[:7]] for row in SLIP))
    assert "times" not in data["lines"]["qty"]


DUTCH = table("""
Bestelnr. | Naam | Mobiel | Straat | Postcode | Artikel | Aantal | Stukprijs | Bedrag | Betaalwijze | Te innen
NL26-501 | Leela Krishnan | 9513099453 | 90, Temple Street | 641007 | BR-1 | 1 | 799,00 | 799,00 | Vooruitbetaald |
NL26-502 | Asha Rao | 9822012345 | 12, MG Road | 411001 | CU-2 | 2 | 1.299,00 | 2.598,00 | iDEAL |
NL26-503 | Ravi Iyer | 9822012346 | 7, Hill Street | 411002 | BR-1 | 3 | 199,00 | 597,00 | Rembours | 1.196,00
NL26-503 | Ravi Iyer | 9822012346 | 7, Hill Street | 411002 | CU-7 | 1 | 599,00 | 599,00 | Rembours | 1.196,00
NL26-504 | Leela Krishnan | 9513099453 | 90, Temple Street | 641007 | BR-1 | 1 | 799,00 | 799,00 | iDEAL |
Totaal | | | | | | 8 | | 5.592,00 | |
""")


def test_columns_in_a_language_that_nobody_knows_are_offered_by_their_values() -> None:
    _, data, _ = drafted(sheet_of(DUTCH))
    fields, lines = data["fields"], data["lines"]
    assert fields["reference_number"] == {"from": "? Bestelnr."}
    assert fields["delivery_address"] == {"from": "? Straat"}
    assert fields["is_cod"]["from"] == "? Betaalwijze"
    assert fields["cash_on_delivery"]["from"] == "? Te innen"
    assert lines["item_quantity"]["from"] == "? Aantal"
    assert data["sheet"]["decimal"] == "," and data["sheet"]["skip_rows_where"] == {"Bestelnr.": ["Totaal"]}


POLISH = table("""
Awizacja dostaw
Nr faktury | Dostawca | Magazyn | Indeks | Nazwa towaru | Zam. | Cena | Planowana dostawa
FV/1200/11/2026 | Bałtyk Meble | Mumbai-3 | TW-5001 | Krzesło typ pierwszy | 120 | 150,00 | 09.12.2026
FV/1200/11/2026 | Bałtyk Meble | Mumbai-3 | TW-5002 | Krzesło typ drugi | 20 | 24,99 | 09.12.2026
FV/1201/11/2026 | Śląska Ceramika | Pune-1 | TW-5001 | Krzesło typ pierwszy | 43 | 150,00 | 16.12.2026
FV/1202/11/2026 | Bałtyk Meble | Pune-1 | TW-5003 | Krzesło typ trzeci | 10 | 99,00 | 17.12.2026
""")


@pytest.mark.parametrize("operation", [None, Operation.ASN_CREATE])
def test_a_sheet_of_which_nobody_knows_a_name_gives_a_skeleton_of_questions(operation: Operation | None) -> None:
    width = len(POLISH[1])
    draft = draft_of([sheet_of([[*row, *[""] * (width - len(row))] for row in POLISH])], operation=operation)
    assert draft is not None
    data = yaml.safe_load(draft_text(draft, file_name="x.xlsx"))
    assert data["operation"] == ("asn.create" if operation else "? asn.create")
    assert data["fields"]["invoice_number"] == {"from": "? Nr faktury"}
    assert (
        "? Dostawca" in data["fields"]["supplier_name"]["from"] and "? Magazyn" in data["fields"]["site_name"]["from"]
    )
    assert data["fields"]["delivery_date"] == {"from": "? Planowana dostawa", "read": {"date": "%d.%m.%Y"}}
    assert data["lines"] == {"sku_name": {"from": "? Indeks"}, "qty": {"from": "? Zam."}}


def test_sentences_and_columns_of_text_are_no_table() -> None:
    assert draft_of([sheet_of([["Dear", "all", "please", "find"], ["the", "list", "below", "soon"]])]) is None


def test_ranges_of_cartons_are_told_by_their_values() -> None:
    _, data, _ = notice(*table("""
        Invoice No | Supplier | Warehouse | C/No. | Art. No. | Qty/Ctn
        I-1 | Ludhiana | Gurugram | 1 TO 4 | LHM-1 | 12 PCS
        I-1 | Ludhiana | Gurugram | 5 TO 5 | LHM-2 | 2 DOZ
        I-1 | Ludhiana | Gurugram | 6 TO 9 | LHM-3 | 24 PCS
    """))  # fmt: skip
    wanted = {"from": "? Qty/Ctn", "cartons": "? C/No.", "read": {"suffix": {"PCS": 1, "DOZ": "? 12"}}}
    assert data["lines"]["qty"] == wanted


ZOHO = {"Payment": ["COD", "Prepaid", "COD"], "Total": ["647", "199", "894"]}


def test_what_is_left_to_pay_is_offered_beside_the_total() -> None:
    assert drafted(sample(**ZOHO, Balance=["647", "0", "400"]))[1]["fields"]["cash_on_delivery"]["from"] == [
        "? Total",
        "? Balance",
    ]


@pytest.mark.parametrize("name", ["Shipping Attention", "Shipping Attn", "Ship To Care Of"])
def test_a_name_beside_the_address_that_is_shipped_to_is_offered_beside_the_buyers(name: str) -> None:
    header = ["Order No", "Customer Name", "Shipping Phone", "Shipping Address", "Shipping PIN", *HEADER[5:], name]
    people = ["Leela K", "Mohan P", "Tara D"]
    rows = [[*row, who] for row, who in zip((FIRST, SECOND, THIRD), people, strict=True)]
    asked = drafted(sheet_of([header, *rows]))[1]["fields"]["customer_name"]
    assert asked == {"from": ["? Customer Name", f"? {name}"]} or asked == {"from": name}


def test_of_an_invoice_and_an_order_behind_it_a_person_says_by_which_the_order_is_known() -> None:
    rows = [[f"INV-{at}", *row] for at, row in enumerate((FIRST, SECOND, THIRD))]
    found = drafted(sheet_of([["Invoice Number", *HEADER], *rows]))[1]["fields"]["reference_number"]
    assert found == {"from": ["? Order No", "? Invoice Number"]}


def test_days_under_a_name_that_nobody_knows_are_offered_as_those_of_the_delivery() -> None:
    rows = [
        ["B-1", "Om Traders", "Bhiwandi", "K-1", "5", "03.12.2026"],
        ["B-2", "Om", "Pune", "K-2", "6", "14.12.2026"],
    ]
    _, data, _ = notice(["Bill No", "Party", "Godown", "Item", "Qty", "Appointment"], *rows)
    assert data["fields"]["delivery_date"]["from"] == "? Appointment"


@pytest.mark.parametrize(
    "note",
    [
        ["E. & O. E. Balance qty will follow by road."],
        ["Downloaded from seller panel on 29-11-2026 18:02"],
        ["Received the above goods in good condition", "", "", "", "For Ludhiana Hosiery Mills"],
    ],
)
def test_a_closing_note_makes_no_order_and_no_question(note: list[str]) -> None:
    rows = [HEADER, FIRST, ["", "", "", "", "", "K-9", "one", ""], SECOND, [""] * 8, [*note, *[""] * (8 - len(note))]]
    sheet = sheet_of(rows)
    _, data, text = drafted(sheet)
    assert "skip_rows_where" not in data.get("sheet", {})
    mapped = run(text.replace('"? ', '"'), sheet)
    assert states(mapped)[6] == "skipped comment" and len(mapped.documents) == 1, states(mapped)


def test_units_below_the_header_make_no_order_and_no_question() -> None:
    sheet = sheet_of([HEADER, ["", "", "", "", "", "(name)", "(pcs)", ""], FIRST, SECOND, THIRD])
    _, data, text = drafted(sheet)
    assert "sheet" not in data
    assert states(run(text.replace('"? ', '"'), sheet))[2] == "skipped comment"


def test_an_address_with_its_pin_is_offered_and_paid_is_no_amount() -> None:
    _, data, _ = drafted(sheet_of(table("""
        Order id | Mobile | Address with pincode | Item | Qty | To collect
        WA-71 | 9845012345 | 12, Church Street, Bengaluru 560001 | Mug | 1 | 647
        WA-72 | 9820098200 | 4, Hill Road, Mumbai 400050 | Tea | 2 | PAID
        WA-73 | 9447011223 | 8, Beach Road, Kochi-682001 | Mug | 1 | 894
    """)))  # fmt: skip
    assert data["fields"]["delivery_address"] == {"from": "? Address with pincode"}
    assert data["fields"]["is_cod"]["read"] == {"lookup": {"PAID": "false", "*": "true"}}


def test_sizes_as_columns_are_no_product_of_each_other() -> None:
    names = [name for name in HEADER if name != "Qty"]
    rows = [[*row[:6], *row[7:], "4", "2", "2"] for row in (FIRST, SECOND, THIRD)]
    found = drafted(sheet_of([[*names, "Jk", "Mq", "Zv"], *rows]))[1]["lines"]["item_quantity"]
    assert found["from"] == ["? Jk", "? Mq", "? Zv"]


BOXED = table("""
    Zamówienie | Odbiorca | Tel. | Ulica | Towar | Ilość w kartonie | Kartony | Razem szt.
    ZAM/71 | Rahul Verma | 9810012012 | A-3 Saket | Kubek | 6 | 2 | 12
    ZAM/71 | Rahul Verma | 9810012012 | A-3 Saket | Talerz | 4 | 1 | 4
    ZAM/72 | Deepa Nair | 9810023023 | 14 Koregaon Park | Kubek | 6 | 1 | 6
    ZAM/74 | Sonal Mehta | 9810045045 | 8 Law Garden | Talerz | 4 | 3 | 12
""")


def test_of_what_one_box_holds_and_what_all_hold_a_person_says_which_in_any_language() -> None:
    lines = drafted(sheet_of(BOXED))[1]["lines"]
    assert lines["item_quantity"]["from"] == ["? Razem szt.", "? Ilość w kartonie"]


def test_the_number_of_an_order_is_not_offered_as_its_goods_where_words_may_name_these() -> None:
    _, data, _ = drafted(sheet_of(BOXED))
    assert data["fields"]["reference_number"]["from"] == "? Zamówienie"
    assert data["lines"]["item_name"]["from"] == "? Towar"


def test_words_of_towns_and_of_goods_are_offered_as_both_where_nothing_tells_them_apart() -> None:
    turkish = table("""
        Sipariş No | Alıcı Adı | Alıcı Cep | Adres | Şehir | Posta Kodu | Ürün | Adet | Kapıda Ödeme
        TR-1 | Rahul Verma | 9810012012 | A-3 Saket | New Delhi | 110017 | Kilim | 1 | Evet
        TR-2 | Deepa Nair | 9810023023 | 14 Koregaon Park | Pune | 411001 | Lamba | 2 | Hayır
        TR-3 | Imtiaz Ali | 9810034034 | 22 Bandra West | Mumbai | 400050 | Kilim | 1 | Evet
    """)
    _, data, _ = drafted(sheet_of(turkish))
    assert data["lines"]["item_name"]["from"][:2] == ["? Şehir", "? Ürün"]
    assert data["fields"]["delivery_address"]["join"] == ["? Adres", "? Şehir", "? Ürün"]


@pytest.mark.parametrize(
    ("names", "offered"),
    [
        (("Inwards", "Closing Bal."), ["? Inwards", "? Closing Bal."]),
        (("Ordered", "Ship now"), ["? Ordered", "? Ship now"]),
    ],
)
def test_counts_of_what_is_done_with_goods_are_offered_as_the_quantity(
    names: tuple[str, str], offered: list[str]
) -> None:
    first, second = ["120 Nos", "78 Nos", "48 Nos"], ["160 Nos", "88 Nos", "58 Nos"]
    lines = asn(SKU=["K-1", "K-2", "K-3"], **{names[0]: first, names[1]: second})
    assert lines["qty"]["from"] == offered


def test_a_column_of_where_to_ship_is_no_name_where_it_holds_addresses() -> None:
    fields = drafted(sheet_of(table("""
        Order ref | Buyer | Ship to | PIN | Phone | SKU | Qty
        X-1 | Asha Rao | 12 Market Road Bengaluru | 560001 | 9876500001 | TEA | 2
        X-2 | Vikram Shah | 4 Hill Street Pune | 411001 | 9876500002 | TEA | 1
        X-3 | Meera Nair | Beach View, Kochi | 682001 | 9876500003 | MUG | 4
    """)))[1]["fields"]  # fmt: skip
    assert fields["customer_name"] == {"from": "Buyer"}
    assert fields["delivery_address"] == {"from": "? Ship to"}
