"""The golden examples beside the shipped mappings: the documents and issues that each input must give.

`LOGISTICS_BATCH_GENERATE=1 pytest tests/mapping/test_examples.py` writes those that are missing.
"""

import json
import os
from dataclasses import asdict
from datetime import date
from pathlib import Path

import pytest
from mapping.sheets import SHIPPED

from logistics_batch.intake.reading import read_file
from logistics_batch.mapping import RunValues, apply_mapping, load_mapping
from logistics_batch.model.document import MappedFile

EXAMPLES = sorted(path for path in (SHIPPED / "examples").iterdir() if path.is_dir())


def mapped(example: Path) -> MappedFile:
    text = (SHIPPED / f"{example.name}.yaml").read_text("utf-8")
    mapping = load_mapping(text, path=example.name, read_lookup=lambda name: (SHIPPED / name).read_text("utf-8"))
    source = next(path for path in example.iterdir() if path.stem == "input")
    day = date.fromisoformat((example / "business_date.txt").read_text().strip())
    sheets = read_file(source, name=source.name, options=mapping.read_options)
    return apply_mapping(mapping, sheets, run_values=RunValues(source.name, day, "Asia/Kolkata"))


def lines(values: list[dict[str, object]]) -> str:
    return "".join(json.dumps(value, ensure_ascii=False) + "\n" for value in values)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
def test_the_example_gives_its_documents_and_issues(example: Path) -> None:
    found = mapped(example)
    documents = [
        {"key": each.key, "operation": each.operation, "rows": each.rows, "body": each.body} for each in found.documents
    ]
    for name, text in (
        ("documents.ndjson", lines(documents)),
        ("issues.ndjson", lines([asdict(issue) for issue in found.issues])),
    ):
        golden = example / name
        if not golden.exists() and os.environ.get("LOGISTICS_BATCH_GENERATE"):
            golden.write_text(text, encoding="utf-8")
        assert text == golden.read_text("utf-8")


def test_each_example_belongs_to_a_mapping_and_has_something_wrong_in_it() -> None:
    """An example without a bad row shows only half of what its mapping does."""
    assert len(EXAMPLES) >= 2
    for example in EXAMPLES:
        assert (SHIPPED / f"{example.name}.yaml").is_file()
        assert (example / "issues.ndjson").read_text("utf-8").strip()
