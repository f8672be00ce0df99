"""What newcomers met in their first hour with a sheet of their own: the draft asks, or says what becomes of it."""

import json
from typing import Any

import pytest
import yaml
from mapping.sheets import mapping_of, run, sheet_of

from logistics_batch.errors import SpecificationError
from logistics_batch.mapping.suggest.draft import Draft, draft_of
from logistics_batch.mapping.suggest.text import draft_json, draft_text
from logistics_batch.model.document import Operation
from logistics_batch.model.sheet import Sheet

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


@pytest.mark.parametrize("name", ["Delivery Date", "Expected Delivery", "Deliver By", "Pickup Date", "ETA"])
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
