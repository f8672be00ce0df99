"""Two layouts of another hand, each mapped by YAML: a printed dispatch register, and an inward plan of two sites.

Beside each stand the bodies that its warehouse wants of it; the rows that it wants refused are named below.
"""

import json
from pathlib import Path

import pytest
from mapping.sheets import mapping_of, notes_in, run

from logistics_batch.intake.readers import read_file
from logistics_batch.model.document import MappedFile

HERE = Path(__file__).parent


def mapped(name: str, file: str) -> MappedFile:
    mapping = mapping_of((HERE / f"{name}.yaml").read_text(encoding="utf-8"))
    return run(mapping, *read_file(HERE / file, name=file, options=mapping.read_options))


@pytest.mark.parametrize(
    ("name", "file", "bodies", "refused"),
    [
        ("dispatch", "dispatch.csv", slice(None), [10, 11, 16, 19, 20, 26, 28, 29]),
        ("inward_bhw", "inward.xlsx", slice(3), [14, 15]),
        ("inward_pnv", "inward.xlsx", slice(3, 5), [9, 11, 12, 18]),
    ],
)
def test_every_body_is_the_one_that_is_wanted_and_every_other_row_comes_back(
    name: str, file: str, bodies: slice, refused: list[int]
) -> None:
    found = mapped(name, file)
    wanted = json.loads((HERE / f"{file.split('.')[0]}.json").read_text(encoding="utf-8"))
    assert [json.loads(document.body) for document in found.documents] == list(wanted.values())[bodies]
    held_back = found.rows["state"].is_in(["invalid", "blocked"])
    assert found.rows.filter(held_back)["row"].to_list() == refused


def test_landlines_and_pages_of_the_register_are_told() -> None:
    found = mapped("dispatch", "dispatch.csv")
    assert 'Column "Mob. No" has two numbers in row 25; the first mobile number was taken.' in notes_in(found)
    rules = dict(found.rows.filter(found.rows["state"] == "skipped").select("row", "code").iter_rows())
    assert {row for row, rule in rules.items() if rule == "repeated header"} == {14, 23}
    assert rules[18] == "skip_rows_where.row"
