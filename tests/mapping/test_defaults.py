"""What a mapping need not say, because it is known without it; and what `mapping lint` says where it is said."""

import json

import polars as pl
import pytest
from mapping.sheets import HEADER, ORDERS, ROW, mapping_of, order, orders, rules, run, sheet_of, states
from mapping.test_shipped import NAMES, load

from logistics_batch.mapping import hints_of
from logistics_batch.mapping.rows.header import fits
from logistics_batch.mapping.spec.model import FieldSpec
from logistics_batch.mapping.spec.words import PAYMENT_WORDS

BARE = """\
operation: order.create
key: [Order No]
fields:
  reference_number: {from: Order No}
  customer_mobile: {from: Phone}
  delivery_address: {from: Address}
  delivery_postal_code: {from: PIN}
  is_cod: {from: Pay}
  cash_on_delivery: {from: Amount}
lines:
  item_name: {from: SKU}
  item_quantity: {from: Qty}
"""
COLUMNS = ["Order No", "Phone", "Address", "PIN", "Pay", "Amount", "SKU", "Qty"]
ASNS = """\
operation: asn.create
sheet: {fill_down: [Invoice]}
key: [Invoice]
fields: {invoice_number: {from: Invoice}, supplier: {from: Party}, site: {constant: BHW}}
lines: {sku_name: {from: SKU}, qty: {from: Qty}}
"""
GOODS = ["No", "Invoice", "Party", "SKU", "Qty"]


def hints(text: str) -> list[str]:
    found = hints_of(mapping_of(text), text, path="test.yaml")
    return [f"{each.line}:{each.column} {each.message} {each.remedy}".strip() for each in found]


def paid(word: str, amount: str = "", *, mapping: str = BARE) -> tuple[list[tuple[str, str]], object]:
    """The rules that an order with a word of payment breaks, and its flag."""
    row = ["A1", "+91 98765 43210", "12 MG Road", "560 001", word, amount, "tea", "2"]
    mapped = run(mapping, sheet_of([COLUMNS, row]))
    return rules(mapped), json.loads(mapped.documents[0].body).get("is_cod") if mapped.documents else None


def test_a_mobile_a_pin_an_amount_and_a_quantity_are_read_as_what_they_are() -> None:
    row = ["A1", "+91 98765 43210", "12 MG Road", "560 001", "cod", "Rs. 1,299/-", "tea", "2.0"]
    (document,) = run(BARE, sheet_of([COLUMNS, row])).documents
    body = json.loads(document.body)
    assert body["customer_mobile"] == "9876543210"
    assert body["delivery_postal_code"] == "560001"
    assert (body["is_cod"], body["cash_on_delivery"]) == ("true", "1299.00")
    assert body["item_details"] == [{"item_name": "tea", "item_quantity": 2}]


@pytest.mark.parametrize("word", ["COD", "c.o.d.", " C O D", "Cash on delivery", "CASH", "To pay", "true"])
def test_words_for_cash_on_delivery_are_known(word: str) -> None:
    assert paid(word, "99") == ([], "true")


@pytest.mark.parametrize(
    "word", ["Prepaid", "PRE-PAID", "pre paid", "PPD", "Paid", "online", "UPI", "razorpay", "FALSE"]
)
def test_words_for_what_is_paid_are_known(word: str) -> None:
    assert paid(word) == ([], "false")


@pytest.mark.parametrize("word", ["Wallet", "cheque", "Y", "0"])
def test_an_unknown_word_for_payment_is_an_issue_that_names_known_ones(word: str) -> None:
    assert paid(word) == ([("E2", "is_cod|lookup")], None)
    row = ["A1", "9876543210", "12 MG Road", "560001", word, "", "tea", "2"]
    (issue,) = run(BARE, sheet_of([COLUMNS, row])).issues
    assert issue.fix.startswith("Write one of: COD, Cash on delivery, Cash, To pay, Prepaid, Paid, Online, UPI")


def test_a_lookup_in_the_mapping_replaces_the_known_words() -> None:
    own = BARE.replace("{from: Pay}", '{from: Pay, read: {lookup: {Doorstep: "true", Cash: "false"}}}')
    assert paid("doorstep", "99", mapping=own) == ([], "true")
    assert paid("Cash", mapping=own) == ([], "false")
    assert paid("COD", mapping=own) == ([("E2", "is_cod|lookup")], None)


@pytest.mark.parametrize("name", NAMES)
def test_a_shipped_mapping_that_knows_a_word_for_cod_collects_its_amount(name: str) -> None:
    fields = load(name).spec.fields
    if "is_cod" not in fields:
        return
    flag, amount = fields["is_cod"], fields.get("cash_on_delivery", FieldSpec(constant="0"))
    if flag.read is None and flag.source == "from" and amount.when:
        words = [word for word, answer in PAYMENT_WORDS.items() if answer == "true" and word != "true"]
        (patterns,) = amount.when.values()
        assert pl.DataFrame({"word": words}).filter(~fits(pl.col("word"), patterns))["word"].to_list() == []


@pytest.mark.parametrize(
    "row",
    [
        ["", "TOTAL", "", "", "4"],
        ["4", "Grand Total", "", "", "4"],  # behind a running number
        ["", "INV-1 Total", "", "", "4"],  # as a spreadsheet program writes subtotals
        ["Total", "", "", "", "4"],
        ["Sub --- Total", "", "", "", "4"],
        ["G. Total", "", "", "", "4"],
        ["", "TOTAL:", "Acme", "All", "4"],  # no invoice is called so, though nothing lacks
        ["", "", "", "Total", "4"],  # in place of goods, and their sum
    ],
)
def test_a_row_called_total_is_no_data_without_a_rule(row: list[str]) -> None:
    rows = [["1", "INV-1", "Acme", "tea", "3"], ["2", "", "Acme", "jug", "1"], row]
    mapped = run(ASNS, sheet_of([GOODS, *rows]))
    assert states(mapped) == {2: "ready", 3: "ready", 4: "skipped total"}


@pytest.mark.parametrize("key", ["INV-2 Total", "Total Gas 5"])
def test_a_row_whose_key_only_sounds_like_a_total_is_not_lost(key: str) -> None:
    rows = [["1", "INV-1", "Acme", "tea", "3"], ["2", key, "Acme", "", "1"]]
    mapped = run(ASNS.replace("{from: SKU}", "{from: SKU, required: true}"), sheet_of([GOODS, *rows]))
    assert states(mapped)[3] == "invalid"


@pytest.mark.parametrize(
    ("row", "state"),
    [
        (["", "Prepared by: R. Kumar", "", "Checked by", ""], "skipped comment"),
        (["Authorised signatory", "", "", "", ""], "skipped comment"),
        (["Received by hand", "", "Acme", "jug", ""], "skipped comment"),
        (["Prepared by", "Suresh", "", "", ""], "skipped comment"),  # the name stands beside it
        (["Received by hand", "INV-2", "Acme", "jug", ""], "invalid"),  # it has a key and goods
        (["Received by phone", "INV-2", "Acme", "", ""], "invalid"),  # it says for whom
        (["Packed by Ravi", "", "Acme", "", "5"], "invalid"),  # it has a quantity
    ],
)
def test_a_row_for_signatures_is_no_data_without_a_rule(row: list[str], state: str) -> None:
    mapped = run(
        ASNS.replace("{from: SKU}", "{from: SKU, required: true}"),
        sheet_of([GOODS, ["1", "INV-1", "Acme", "tea", "3"], [], row]),
    )
    assert states(mapped)[4] == state


def test_the_only_name_of_a_party_that_is_mapped_is_required() -> None:
    mapped = run(ASNS, sheet_of([GOODS, ["1", "INV-1", "", "tea", "3"]]))
    assert rules(mapped) == [("C2", "supplier|required")]


@pytest.mark.parametrize(
    ("old", "new", "hint"),
    [
        ("{from: Phone}", "{from: Phone, read: mobile}", "5:34 `read: mobile` restates the default: `customer_mobile`"),
        ("{from: PIN}", "{from: PIN, read: [text, pincode]}", "7:44 `text` restates the default: every cell is read"),
        ("{from: Amount}", "{from: Amount, read: money}", "9:36 `read: money` restates the default: `cash_on_del"),
        ("{from: Qty}", "{from: Qty, read: [{lookup: {dozen: 12}}, integer]}", "12:60 `integer` restates the default"),
        ("{from: SKU}", "{from: SKU, required: true}", "11:26 `required: true` restates the default: `order"),
        ("{from: SKU}", "{from: SKU, required: false}", "11:26 `required` restates the default. Remove it."),
        ("{from: Pay}", '{from: Pay, read: {lookup: {COD: "true", PPD: "false"}}}', "8:30 The lookup restates the def"),
        ("key:", "sheet: {header: auto}\nkey:", "2:9 `header` restates the default. Remove it."),
        ("key:", "sheet: {skip_rows_where: {Order No: [Draft, TOTAL*]}}\nkey:", "2:45 `TOTAL*` restates the"),
        ("key:", "sheet: {skip_rows_where: {Order No: [Checked by*]}}\nkey:", "2:38 `Checked by*` restates"),
        ("lines:", "checks: {sample_values: false}\nlines:", "10:10 `sample_values` restates the default."),
    ],
)
def test_what_restates_a_default_is_named_with_its_line(old: str, new: str, hint: str) -> None:
    text = BARE.replace(old, new, 1)
    assert [each for each in hints(text) if each.startswith(hint)], hints(text)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("", ""),
        ("{from: SKU}", "{from: SKU, read: upper}"),
        ("{from: Phone}", '{from: Phone, default: "9876543210", required: true}'),
        ("{from: PIN}", "{from: PIN, required: true}"),
        ("{from: Qty}", "{from: Qty, read: decimal}"),
        ("{from: Pay}", '{from: Pay, read: {lookup: {Y: "true", N: "false"}}}'),
        ("{from: Pay}", '{from: Pay, read: {lookup: {COD: "true", "*": "false"}}}'),
        ("key:", 'sheet: {decimal: "."}\nkey:'),  # amounts such as 1.200 are no longer asked about
        ("key:", "sheet: {skip_rows_where: {Order No: [Total Gas*], SKU: [TOTAL]}}\nkey:"),
        ("lines:", "keep: {deposit: {from: Deposit, read: money}}\nlines:"),
    ],
)
def test_what_says_more_than_a_default_is_not_named(old: str, new: str) -> None:
    assert hints(BARE.replace(old, new, 1)) == []


@pytest.mark.parametrize(
    ("sheet", "told"),
    [
        ("fill_down: [Order No, Phone], skip_rows_where: {Status: Cancelled}", True),
        ("fill_down: [Order No, Phone, Status], skip_rows_where: {Status: Cancelled}", False),
        ("fill_down: [Phone], skip_rows_where: {Status: Cancelled}", False),
        ('fill_down: [Order No], skip_rows_where: {SKU: Freight, Order No: "VOID*", "S.No": "Page * of *"}', False),
    ],
)
def test_a_rule_on_a_column_that_may_be_written_once_is_named_where_it_is_not_filled_down(
    sheet: str, told: bool
) -> None:
    found = hints(BARE.replace("key:", f"sheet: {{{sheet}}}\nkey:"))
    assert ["`Status`: it is not in `fill_down`, and the key is" in each for each in found] == [True] * told


def test_a_mapping_that_restates_defaults_makes_the_same_documents() -> None:
    said = orders(ROW, order(Order_No="A2", Qty="x"))
    bare = orders(
        ROW,
        order(Order_No="A2", Qty="x"),
        mapping=ORDERS.replace(", read: mobile", "").replace(", read: integer", "").replace(", required: true", ""),
    )
    assert HEADER
    assert [each.body for each in said.documents] == [each.body for each in bare.documents]
    assert said.issues == bare.issues
