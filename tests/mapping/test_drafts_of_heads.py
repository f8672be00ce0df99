"""What stands above a table as a draft takes it: a value with another thing in its cell is asked about."""

from typing import Any

import pytest
import yaml
from mapping.sheets import sheet_of

from logistics_batch.mapping.suggest.draft import draft_of
from logistics_batch.mapping.suggest.text import draft_text
from logistics_batch.model.document import Operation

TABLE = [["SKU", "Description", "Pcs", "MRP"], ["T-M", "Tee M", "400", "499"], ["T-L", "Tee L", "240", "499"],
         ["P-M", "Polo M", "90", "799"]]  # fmt: skip


def _asn(*head: list[str]) -> dict[str, Any]:
    draft = draft_of([sheet_of([*head, *TABLE])], operation=Operation.ASN_CREATE)
    assert draft is not None
    return yaml.safe_load(draft_text(draft, file_name="x.csv"))  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("label", "value", "place", "is_asked"),
    [
        ("Invoice No", "TXP-0906 dated 27/11/2026", "invoice_number", True),
        ("Invoice No", "KX-77 / 27-11-2026", "invoice_number", True),
        ("Invoice No", "KX-77/27-11-2026", "invoice_number", True),
        ("Invoice No", "TXP-0906 dt. 27.11.2026", "invoice_number", True),
        ("Invoice No", "TXP-0906, TXP-0907", "invoice_number", True),
        ("Invoice No", "TXP-0906 (revised)", "invoice_number", True),
        ("Invoice No", "SGE/26-27/118", "invoice_number", False),
        ("Invoice No", "INV 0906", "invoice_number", False),
        ("Supplier", "Tirupur Knits GSTIN 33AAACT1234C1Z5", "supplier_name", True),
        ("Supplier", "Tirupur Knits (TK-01)", "supplier_name", True),
        ("Supplier", "Tirupur Knits", "supplier_name", False),
        ("Site", "BHIWANDI-01 (Gate 3)", "site_name", True),
        ("Site", "BHIWANDI-01", "site", False),
    ],
)
@pytest.mark.parametrize("is_one_cell", [True, False])
def test_a_value_above_the_table_with_another_thing_in_it_is_asked_about(
    label: str, value: str, place: str, is_asked: bool, is_one_cell: bool
) -> None:
    found = _asn([f"{label}: {value}"] if is_one_cell else [label, value], [])["fields"][place]
    assert found == {"beside": f"? {label}" if is_asked else label}


def test_a_value_two_cells_right_of_its_label_is_offered_though_a_text_stands_below_this() -> None:
    head = [["Invoice No.", "", "SGE/26-27/118", "", "Dt.", "", "26-11-2026"], ["Buyer's order", "PO-44021"],
            ["Consignee", "Urban Loft"], []]  # fmt: skip
    assert _asn(*head)["fields"]["invoice_number"] == {"cell": "C1"}


def test_the_head_is_read_also_where_a_person_says_which_row_is_the_header() -> None:
    sheet = sheet_of([["Invoice No", "TXP-0906", "Supplier code", "TK-1"], *TABLE])
    drafts = [draft_of([sheet], operation=Operation.ASN_CREATE, header=row) for row in (0, 2)]
    found, told = (each.guesses for each in drafts if each is not None)
    assert found == told and found["fields.invoice_number"].fact
