"""Mapping files: what loads, and every complaint with its place."""

import json
from pathlib import Path

import pytest
from mapping.sheets import HEADER, ORDERS, SHIPPED, mapping_of, order, run, sheet_of, states

from logistics_batch.errors import SpecificationError
from logistics_batch.mapping import load_mapping, schema_json


def complaints(text: str, **files: str) -> list[str]:
    with pytest.raises(SpecificationError) as caught:
        mapping_of(text, **files)
    return [f"{each.line}:{each.column} {each.message} {each.remedy}".strip() for each in caught.value.findings]


def test_faults_of_form_and_of_meaning_are_reported_together() -> None:
    text = """\
operation: order.create
kye: [Order No]
fields:
  refrence_number: {from: Order No}
  customer_mobile: {form: Phone, read: mobil}
  weight: {from: W, join: [A], read: {unit: g -> kg}}
lines:
  delivery_address: {from: Address}
"""
    found = complaints(text)
    assert "2:1 Unknown key `kye`. Did you mean `key`?" in found
    assert (
        "4:3 `refrence_number` is no target of `order.create` under `fields`. Did you mean `reference_number`? "
        "What the service has no place for stands under `keep`, for reports, or `ignore`." in found
    )
    assert "5:21 Unknown key `form`. Did you mean `from`?" in found
    assert "5:34 `mobil` is not known here. Did you mean `mobile`?" in found
    assert any(
        each.startswith("6:3 A field wants exactly one source; here stands `from` and `join`.") for each in found
    )
    assert "8:3 `delivery_address` is no target of `order.create` under `lines`. It belongs under `fields`." in found


@pytest.mark.parametrize(
    ("addition", "said"),
    [
        ("  weight: {from: W, read: {unit: g -> cm}}", "`g -> cm` is no conversion."),
        ("  weight: {from: W, read: {unit: stone -> kg}}", "`stone -> kg` is no conversion."),
        ("  pickup_datetime: {from: D, read: {date: '%d.%q'}}", "is no date format"),
        ("  pickup_datetime: {from: D, read: {date: '%d-%m'}}", "does not say day, month and year"),
        (
            "  pickup_datetime: {from: D, read: {date: ['%d/%m/%Y', '%m/%d/%Y']}}",
            "read the same cell as different dates",
        ),
        ("  pickup_datetime: {from: D, read: {date: ['%d/%m/%y', '%D']}}", "read the same cell as different dates"),
        ("  pickup_datetime: {from: D, read: {date: '%d/%m/%Y %I:%M'}}", "reads no date: %I goes with %p"),
        ("  pickup_datetime: {from: D, read: {date: '%d/%m/%Y %H:%M %p'}}", "reads no date"),
        ("  pickup_datetime: {from: D, read: {date: '%d/%m/%Y %'}}", "reads no date"),
        ("  pickup_datetime: {from: D, read: {date: '%d/%m/%Y%z'}}", "reads no date"),
        ("  division: {from: P, read: lokup}", "`lokup` is not known here. Did you mean `lookup`?"),
        ("  division: {from: P, read: [upper, 5]}", "`5` is not known here."),
        ("  division: {from:}", "Write a blank and a value behind the colon."),
        ("  is_cod: {from: P, read: {lookup: {'': 'false', COD: 'true'}}}", 'Write `default: "false"` beside `read`'),
        ("sheet: {header_rows: true}", "`true` is not known here."),
        ("sheet: {encoding: punycode}", "is no encoding that is known here"),
        ("sheet: {encoding: unicode_escape}", "is no encoding that is known here"),
        ("  pickup_datetime: {join: [D, T], read: {date: '%d/%m/%Y'}}", "Joined columns cannot be read as a date"),
        ("  pickup_datetime: {from: D, read: {date: '%d/%m/%Y', at: 25:00}}", "does not fit here"),
        ("  is_cod: {from: P, read: {lookup: {COD: 'yes'}}}", "`yes` is not allowed here: It is neither"),
        ("  is_cod: {from: P, read: {lookup: {COD: 'true', cod: 'false'}}}", "listed with different answers"),
        ("  is_cod: {from: P, read: {lookup: {}}}", "The table is empty."),
        ("  division: {from: P, read: {lookup: {file: absent.csv, from: a, to: b}}}", "cannot be read"),
        ("  division: {from: P, read: {lookup: {file: areas.csv, from: pin, to: b}}}", "not exactly one column `b`"),
        ("  division: {from: P, read: {lookup: {file: areas.csv, from: pin, to: area}}}", "gives `1` two answers"),
        ("  division: {constant: South, read: upper}", "`constant` needs no"),
        ("  division: {from: A, with: '-'}", "`with` belongs to `join`"),
        ("  division: {first: A, times: B}", "belongs to `from` or `sum`"),
        ("  division: {from: A, when: {B: []}}", "does not fit here"),
        ("  division: {}", "here stands none"),
        ("lines_from: {split: Items, pattern: '{sku} x {qty'}", "A brace of the pattern has no partner."),
        ("lines_from: {split: Items, pattern: '{sku} x {qty} }'}", "A brace of the pattern has no partner."),
        ("ignore: [Phone]", "`Phone` is ignored and used."),
        ("sheet: {header: 0}", "does not fit here"),
        ('  division: {constant: "a\\nb"}', "A line break or a tab"),
        ('  division: {from: A, read: {lookup: {x: "a\\tb"}}}', "A line break or a tab"),
        ("sheet: {hidden_rows: maybe}", "`maybe` is not known here."),
        ("checks: {line_total: {quantity: Q, price: P, total: T, tolerance: -1}}", "does not fit here"),
    ],
)
def test_each_fault_is_found_at_load(addition: str, said: str) -> None:
    text = ORDERS.replace("lines:", f"{addition}\nlines:") if addition.startswith("  ") else f"{ORDERS}{addition}\n"
    found = complaints(text, areas="pin,area\n1,North\n1,South\n")
    assert any(said in each for each in found), found
    assert all(not each.startswith("0:") for each in found)


def test_a_column_is_not_the_name_of_a_person_and_of_the_goods() -> None:
    both = ORDERS.replace("{from: Name}", "{from: [Name, SKU]}")
    (found,) = complaints(both)
    assert found.startswith("6:3 `SKU` is both `customer_name` and `item_name`: a column names a person or goods.")
    mapping_of(ORDERS.replace("{from: Name}", "{from: SKU, read: {lookup: {tea: Asha}}}"))


def test_what_the_service_demands_must_be_mapped() -> None:
    assert complaints(
        "operation: asn.create\nfields: {invoice_number: {from: I}, supplier: {from: S}}\nlines: {}\n"
    ) == [
        "1:1 `key` is missing. Name the columns whose values rows of one document share.",
        "2:1 `site` or `site_name` is required and neither is mapped. Map one of them.",
        "3:1 `qty` is required and not mapped. Add `qty:` under `lines`.",
    ]


def test_an_unknown_operation_names_the_nearest() -> None:
    assert (
        complaints("operation: order.crate\n")[0] == "1:1 `order.crate` is not known here. Did you mean `order.create`?"
    )


def test_sums_speak_of_documents_not_of_lines() -> None:
    assert "cannot stand under `lines`" in complaints(ORDERS + "  weight: {sum: W}\n")[0]


def test_plain_words_and_numbers_stand_for_their_texts() -> None:
    mapping = mapping_of(ORDERS + "  brand: {constant: 12}\nsheet: {only_rows_where: {Ship: [true, 1, NO, 007]}}\n")
    assert mapping.spec.lines["brand"].constant == "12"
    assert mapping.spec.sheet.only_rows_where == {"Ship": ["true", "1", "NO", "007"]}


def test_a_mapping_says_how_its_files_are_read() -> None:
    options = mapping_of(ORDERS + 'sheet: {name: "Orders*", delimiter: ";", hidden_rows: skip}\n').read_options
    assert (options.name, options.delimiter, options.encoding, options.hidden_rows) == ("Orders*", ";", "auto", "skip")


def test_the_digest_covers_the_text_and_its_lookup_files() -> None:
    text = ORDERS.replace("{from: Name}", "{from: Name, read: {lookup: {file: a.csv, from: k, to: v}}}")
    one, same, other = (mapping_of(text, a=f"k,v\nx,{answer}\n").digest for answer in ("1", "1", "2"))
    assert one == same != other
    assert mapping_of(ORDERS).digest != mapping_of(ORDERS + "# changed\n").digest


@pytest.mark.parametrize(
    "attack", ["__class__", "{{ 7*7 }}", "${x}", "read_csv('/etc/passwd')", "(a+)+$", "a{1000000}"]
)
def test_texts_are_never_more_than_texts(attack: str) -> None:
    """Patterns, constants and column names are no programs: they load, and match or do not match."""
    text = (
        ORDERS
        + f"  brand: {{constant: {json.dumps(attack)}}}\nsheet: {{skip_rows_where: {{Name: {json.dumps(attack)}}}}}\n"
    )
    mapping = mapping_of(text)
    assert mapping.spec.lines["brand"].constant == attack
    sent, skipped = order(Address=f"{attack} Road"), order(Order_No="A2", Name=attack)
    mapped = run(mapping, sheet_of([HEADER, sent, skipped]))
    assert states(mapped) == {2: "ready", 3: "skipped skip_rows_where"}
    body = json.loads(mapped.documents[0].body)
    assert (body["item_details"][0]["brand"], body["delivery_address"]) == (attack, f"{attack} Road")


@pytest.mark.parametrize("path", sorted(SHIPPED.glob("*.yaml")), ids=lambda path: path.stem)
def test_every_shipped_mapping_loads(path: Path) -> None:
    folder = path.parent
    mapping = load_mapping(
        path.read_text("utf-8"),
        path=str(path),
        read_lookup=lambda name: (folder / name).read_text(),
        updates_asns=lambda: True,
    )
    assert mapping.name == path.stem


def test_the_schema_is_made_from_the_models_that_load() -> None:
    schema = schema_json()
    assert schema["additionalProperties"] is False
    assert set(schema["properties"]) == {
        "operation",
        "order_id",
        "sheet",
        "key",
        "fields",
        "lines",
        "lines_from",
        "lines_sheet",
        "kits",
        "keep",
        "ignore",
        "checks",
    }
    assert "from" in schema["$defs"]["FieldSpec"]["properties"]


@pytest.mark.parametrize("delimiter", ["", ";;", '"', "\n", "a"])
def test_a_delimiter_that_cannot_part_cells_is_a_finding(delimiter: str) -> None:
    (found,) = complaints(ORDERS + f"sheet: {{delimiter: {json.dumps(delimiter)}}}\n")
    assert "The delimiter is one character." in found and "Write auto, tab" in found


@pytest.mark.parametrize("encoding", ["utf9", "rot13", "base64", "a\0b", ""])
def test_an_encoding_that_is_none_of_text_is_a_finding(encoding: str) -> None:
    (found,) = complaints(ORDERS + f"sheet: {{encoding: {json.dumps(encoding)}}}\n")
    assert "is no encoding that is known here" in found


@pytest.mark.parametrize(("key", "value"), [("delimiter", each) for each in ("tab", ";", "|", "\t", "\\t")])
def test_delimiters_that_can(key: str, value: str) -> None:
    assert (
        mapping_of(ORDERS + f"sheet: {{{key}: {json.dumps(value)}, encoding: cp1252}}\n").read_options.delimiter
        == value
    )
