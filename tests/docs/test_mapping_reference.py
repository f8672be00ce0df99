"""The mapping reference is what the program writes, names everything that it knows, and its examples work."""

import pytest
from docs.mapping_reference_page import PAGE, Example, examples, reference_text

from logistics_batch.mapping import hints_of, load_mapping, schema_json, vocabulary
from logistics_batch.mapping.fields.values.dates import CODES, format_fault
from logistics_batch.mapping.spec.targets import targets_of
from logistics_batch.model.document import Operation

TEXT = PAGE.read_text(encoding="utf-8")
LOOKUPS = {"skus.csv": "code,name\nT-100,Tea\n"}
EXAMPLES = examples()


def test_the_page_is_what_the_program_writes() -> None:
    assert reference_text() == TEXT, "run: python tests/docs/mapping_reference_page.py"


def test_it_names_every_key_verb_operation_and_target() -> None:
    parts = [schema_json(), *schema_json()["$defs"].values()]
    keys = {key for part in parts for key in part.get("properties", {})}
    targets = {name for each in Operation for name in (*targets_of(each).header, *targets_of(each).lines)}
    wanted = keys | targets | {verb.name for verb in vocabulary()} | {each.value for each in Operation}
    assert not {name for name in wanted if f"`{name}`" not in TEXT} - {"at", "date", "unit", "lookup"}


@pytest.mark.parametrize("example", EXAMPLES, ids=[each.title for each in EXAMPLES])
def test_every_mapping_of_it_loads_and_restates_nothing(example: Example) -> None:
    text = example.mapping
    loaded = load_mapping(text, path="example.yaml", read_lookup=LOOKUPS.__getitem__, updates_asns=lambda: True)
    assert hints_of(loaded, text, path="example.yaml") == []


def test_every_form_has_an_example() -> None:
    shown = "\n".join(each.mapping for each in EXAMPLES)
    forms = [
        "split: Items",
        "split: [SKU",
        "columns: [",
        "lines_sheet:",
        "kits:",
        "package_id:",
        "sum:",
        "first:",
        "join:",
    ]
    forms += ["constant:", "default:", "when:", "run:", "keep:", "skip_rows_where:", "only_rows_where:", "fill_down:"]
    forms += ["control_total:", "line_total:", "sample_values:", "ledger:", "file: skus.csv"]
    assert not [form for form in forms if form not in shown]
    assert not [verb.name for verb in vocabulary() if f"- `{verb.name}`: {verb.doc.split()[0]}" not in TEXT]


def test_every_code_of_a_date_that_may_be_written_is_read_and_listed() -> None:
    letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
    assert [code for code in letters if _is_taken(code) and f"`%{code}`" not in TEXT] == []
    assert [code for code in CODES if not _is_taken(code)] == []


def _is_taken(code: str) -> bool:
    """Whether a format may have a code beside day, month and year; those of a time stand in a whole time."""
    times = {
        **dict.fromkeys("HM", "%H:%M"),
        **dict.fromkeys("Ip", "%I:%M %p"),
        "S": "%T",
        "z": "%H:%M %z",
        ".f": "%T%.f",
    }
    return code == "f" or not format_fault(f"%Y-%m-%d {times.get(code, f'%{code}')}")
