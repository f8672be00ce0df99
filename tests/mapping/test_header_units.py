"""Units, currencies and other meanings in a header's brackets: the same digits must not become another value."""

import pytest
from mapping.sheets import HEADER, ORDERS, ROW, mapping_of, notes_in, orders, states

from logistics_batch.errors import FileHeld, SpecificationError
from logistics_batch.mapping.spec.names import ColumnName, names_match
from logistics_batch.model.document import MappedFile

ASN = """
operation: asn.create
key: [Inv]
fields: {supplier_name: {constant: Acme}, site: {constant: B1}, invoice_number: {from: Inv}}
lines:
  sku_name: {from: Item}
  qty: {from: Qty}
"""
PAID_BY = 'is_cod: {from: Paid by, default: "true"}'


def mapped(field: str, header: str, cell: str) -> MappedFile:
    """One order with a field more, read from a last column."""
    mapping = ORDERS.replace("  delivery_address", f"  {field}\n  delivery_address")
    return orders([*ROW, cell], mapping=mapping, header=[*HEADER, header])


def held(field: str, header: str, cell: str) -> str:
    with pytest.raises(FileHeld) as caught:
        mapped(field, header, cell)
    return str(caught.value)


@pytest.mark.parametrize(
    ("wanted", "header"),
    [
        ("weight: {from: Weight (kg)}", "Weight (g)"),
        (f"cash_on_delivery: {{from: COD (Rs)}}\n  {PAID_BY}", "COD (paise)"),
        ("expected_delivery_time: {from: Due (dd/mm/yyyy)}", "Due (mm/dd/yyyy)"),
        ("division: {from: Amount (Net)}", "Amount (Gross)"),
    ],
)
def test_a_column_that_is_the_mappings_but_for_its_bracket_holds_the_file(wanted: str, header: str) -> None:
    assert f'and the file has "{header}": they may mean two things' in held(wanted, header, "90")


def test_a_required_column_with_another_bracket_is_missing() -> None:
    mapping = ORDERS.replace("from: Qty,", "from: Qty (Pcs), required: true,")
    with pytest.raises(FileHeld, match=r'required column "Qty \(Pcs\)" is missing'):
        orders(ROW, mapping=mapping, header=[*HEADER[:5], "Qty (Box)"])


@pytest.mark.parametrize(
    ("field", "header", "said"),
    [
        ("weight: {from: Weight}", "Weight (gms)", "is in g by its header, and the mapping reads it as kg"),
        ("weight: {from: Weight}", "Weight [g]", "is in g by its header, and the mapping reads it as kg"),
        ("weight: {from: Weight, read: {unit: g -> kg}}", "Weight (kg)", "is in kg by its header, and"),
        (
            "weight: {from: [Weight (kg), Weight]}",
            "Weight (g)",
            "is in g by its header, and the mapping reads it as kg",
        ),
        ("length: {from: L}", "L (mm)", "is in mm by its header, and the mapping reads it as cm"),
        (
            f"cash_on_delivery: {{from: COD}}\n  {PAID_BY}",
            "COD (in paise)",
            "is in paise by its header, and the mapping reads it as INR",
        ),
        (
            f"cash_on_delivery: {{from: COD}}\n  {PAID_BY}",
            "COD $",
            "is in USD by its header, and the mapping reads it as INR",
        ),
        (
            f"cash_on_delivery: {{from: COD}}\n  {PAID_BY}",
            "COD %",
            "is in percent by its header, and the mapping reads it as INR",
        ),
    ],
)
def test_a_header_in_another_unit_than_its_values_are_read_in_holds_the_file(
    field: str, header: str, said: str
) -> None:
    assert said in held(field, header, "9")


@pytest.mark.parametrize(
    ("field", "header", "cell", "sent"),
    [
        ("weight: {from: Weight}", "Weight (Kgs.)", "1.5", '"weight":"1.5"'),
        ("weight: {from: Weight (kg)}", "Weight", "1.5", '"weight":"1.5"'),
        ("weight: {from: Weight, read: {unit: g -> kg}}", "Weight (gm)", "500", '"weight":"0.5"'),
        ("weight: {from: Weight (kg), read: {unit: g -> kg}}", "Weight (kg)", "500", '"weight":"0.5"'),
        ("division: {from: Say (optional)}", "Say (max 50 chars)", "ring", '"division":"ring"'),
        ("order_date: {from: Day (dd/mm/yyyy)}", "Day (DD-MM-YY)", "x", ""),
    ],
)
def test_brackets_that_say_the_same_or_nothing_are_the_same_column(
    field: str, header: str, cell: str, sent: str
) -> None:
    if not sent:
        assert names_match(ColumnName.of(header), ColumnName.of(field.partition("from: ")[2].rstrip("}")))
        return
    found = mapped(field, header, cell)
    assert sent in found.documents[0].body
    assert not any("was read as" in note for note in notes_in(found))


def test_a_unit_that_nothing_confirms_or_denies_is_told() -> None:
    found = orders(ROW, header=[*HEADER[:5], "Qty (Box)"])
    assert states(found) == {2: "ready"}
    assert 'Column "Qty (Box)" was read as "Qty" of the mapping; check the unit.' in notes_in(found)
    assert not [note for note in notes_in(orders(ROW, header=[*HEADER[:5], "Qty (Nos)"])) if "was read as" in note]


@pytest.mark.parametrize(
    ("cells", "written", "is_held"),
    [
        (["05/12/2026"], "%d/%m/%Y", True),
        (["05/12/2026", "25/12/2026"], "%d/%m/%Y", False),  # the values show that the header is wrong
        (["2026-12-05"], "%d/%m/%Y", False),
        (["05/12/2026"], "%m/%d/%Y", False),
        (["05-Dec-2026"], "%d-%b-%y", False),
    ],
)
def test_a_header_with_the_month_first_holds_a_file_of_days_first(
    cells: list[str], written: str, is_held: bool
) -> None:
    field = f'  expected_delivery_time: {{from: Due, read: {{date: ["{written}", "%d-%b-%Y"]}}}}\n  delivery_address'
    mapping = ORDERS.replace("  delivery_address", field)
    rows = [[f"A{number}", *ROW[1:], cell] for number, cell in enumerate(cells)]
    header = [*HEADER, "Due (mm/dd/yyyy)"]
    if is_held:
        with pytest.raises(FileHeld, match="is in the month first by its header"):
            orders(*rows, mapping=mapping, header=header)
    else:
        assert set(states(orders(*rows, mapping=mapping, header=header)).values()) == {"ready"}


def test_a_percentage_beside_its_amount_is_a_column_of_its_own() -> None:
    mapping = ASN + '  discount: {from: Disc}\n  discount_percentage: {from: "Disc %"}\n'
    both = orders(["I1", "tea", "2", "5", "10"], mapping=mapping, header=["Inv", "Item", "Qty", "Disc %", "Disc"])
    assert '"discount":"10.00","discount_percentage":"5"' in both.documents[0].body
    one = orders(["I1", "tea", "2", "10"], mapping=mapping, header=["Inv", "Item", "Qty", "Disc"])
    assert '"discount":"10.00"' in one.documents[0].body
    assert "discount_percentage" not in one.documents[0].body


def test_a_percentage_may_be_called_by_its_bare_name_and_is_no_amount() -> None:
    header = ["Inv", "Item", "Qty", "Disc %"]
    found = orders(["I1", "tea", "2", "5"], mapping=ASN + "  discount_percentage: {from: Disc}\n", header=header)
    assert '"discount_percentage":"5"' in found.documents[0].body
    with pytest.raises(FileHeld, match='"Disc %" is in percent by its header, and the mapping reads it as INR'):
        orders(["I1", "tea", "2", "5"], mapping=ASN + "  discount: {from: Disc}\n", header=header)


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [("Disc %", "Disc", False), ("Disc %", "Disc. (%)", True), ("GST%", "Gst %*", True), ("Rate $", "Rate", False)],
)
def test_signs_that_are_read_aloud_count_in_names(one: str, other: str, equal: bool) -> None:
    assert (ColumnName.of(one).identity == ColumnName.of(other).identity) is equal


@pytest.mark.parametrize(
    ("field", "complaint"),
    [
        ("weight: {from: Weight (g)}", "`Weight (g)` is in g by its name, and `weight` wants kg."),
        ("length: {from: [L, L (mm)]}", "`L (mm)` is in mm by its name, and `length` wants cm."),
        ('cash_on_delivery: {from: "COD %"}', "`COD %` is in percent by its name, and `cash_on_delivery` wants INR."),
    ],
)
def test_a_mapping_whose_own_column_names_contradict_their_targets_is_refused(field: str, complaint: str) -> None:
    mapping = ORDERS.replace("  delivery_address", f"  {field}\n  delivery_address")
    with pytest.raises(SpecificationError, match=complaint.replace("(", r"\(").replace(")", r"\)")):
        mapping_of(mapping)
