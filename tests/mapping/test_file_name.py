"""The file's name as a value: where it identifies a document, the file comes back under the name of its answer."""

import json
from datetime import date

import pytest
from mapping.sheets import mapping_of, sheet_of

from logistics_batch.mapping.fields.compile import RunValues
from logistics_batch.mapping.whole_file import apply_mapping

MANIFEST = """
operation: asn.create
key: [FC]
fields:
  supplier_name: {constant: Suvarna}
  site: {from: FC}
  invoice_number: {run: file_name}
lines:
  sku_name: {from: SKU, required: true}
  qty: {from: Qty, required: true}
"""


@pytest.mark.parametrize(
    ("dropped", "name"),
    [
        ("STA-118.xlsx", "STA-118.xlsx"),
        ("STA-118.result.xlsx", "STA-118.xlsx"),
        ("STA-118.fix.xlsx", "STA-118.xlsx"),
        ("STA-118.result.fix.xlsx", "STA-118.xlsx"),
        ("STA-118.result (1).xlsx", "STA-118.xlsx"),
        ("STA-118.fix - Copy.xlsx", "STA-118.xlsx"),
        ("STA-118.20261103-211500-ab12.fix.xlsx", "STA-118.xlsx"),
        ("STA-118.20261103-211500-ab12-2.result.2.xlsx", "STA-118.xlsx"),
        ("STA-118.before-20261103-211500-ab12.fix (1).xlsx", "STA-118.xlsx"),
        ("STA-118.20261103-211500-ab12.xlsx", "STA-118.20261103-211500-ab12.xlsx"),
        ("STA-118 (1).xlsx", "STA-118 (1).xlsx"),
        ("STA-118.0a1b2c3d.xlsx", "STA-118.0a1b2c3d.xlsx"),
        ("prefix.xlsx", "prefix.xlsx"),
        ("result.xlsx", "result.xlsx"),
    ],
)
def test_a_corrected_answer_is_the_file_that_it_answered(dropped: str, name: str) -> None:
    sheet = sheet_of([["FC", "SKU", "Qty"], ["BOM7", "tea", "2"]])
    values = RunValues(dropped, date(2026, 11, 3), "Asia/Kolkata")
    (document,) = apply_mapping(mapping_of(MANIFEST), [sheet], run_values=values).documents
    assert json.loads(document.body)["invoice_number"] == name
