"""A choice changes one place of a mapping's text: what else it says, its comments and its order stay as they were."""

from pathlib import Path
from typing import Any

import pytest

from logistics_batch.errors import UsageError
from logistics_batch.flows.mappings.choices import ChosenAnswer, answered, asked_in, drafted, plain
from logistics_batch.flows.mappings.suggest_mapping import Wanted
from logistics_batch.intake.readers import read_file
from logistics_batch.mapping.rewritten import rewritten
from logistics_batch.mapping.suggest.draft import draft_of
from logistics_batch.mapping.suggest.text import draft_json
from logistics_batch.model.sheet import ReadOptions, Sheet
from logistics_batch.specification import written_in

ROOT = Path(__file__).parents[2]
TEXT = """\
# of Latha
operation: order.create  # asked on Monday
key:
  - "Order No"   # hers
fields:

  reference_number: {from: [Order No, "Ref: #1"], required: true}
  # the one that rings
  customer_mobile:
    from: Phone
    read: mobile
ignore: [A, B]
"""


@pytest.mark.parametrize(
    ("path", "value", "old", "new"),
    [
        (("key", 1), "Site", '  - "Order No"   # hers\n', '  - "Order No"   # hers\n  - "Site"\n'),
        (("fields", "customer_mobile", "read"), None, "    read: mobile\n", ""),
        (("fields", "customer_mobile"), None, "  customer_mobile:\n    from: Phone\n    read: mobile\n", ""),
        (("fields", "customer_mobile", "from"), ["P", "Q"], "from: Phone", 'from: ["P", "Q"]'),
        (("fields", "reference_number", "from", 0), "No", "[Order No,", '["No",'),
        (("fields", "reference_number", "from", 1), None, ', "Ref: #1"]', "]"),
        (("ignore", 0), None, "[A, B]", "[B]"),
        (("ignore", 2), "C", "[A, B]", '[A, B, "C"]'),
        (("keep", "bin"), {"from": "Bin"}, "ignore: [A, B]\n", 'ignore: [A, B]\nkeep:\n  bin: {from: "Bin"}\n'),
        (("sheet", "header"), 3, "ignore: [A, B]\n", "ignore: [A, B]\nsheet:\n  header: 3\n"),
        (("key",), ["X"], ':\n  - "Order No"', ': ["X"]'),
    ],
)
def test_one_place_changes(path: tuple[str | int, ...], value: Any, old: str, new: str) -> None:
    assert TEXT.count(old) == 1
    assert rewritten(TEXT, path, value) == TEXT.replace(old, new)


@pytest.mark.parametrize("path", sorted((ROOT / "mappings").glob("*.yaml"))[:5], ids=lambda path: path.stem)
def test_each_place_of_a_shipped_mapping_can_be_taken_away_and_set(path: Path) -> None:
    text = path.read_text()
    for place in (place for place in written_in(text) if 0 < len(place) <= 3):
        lines = rewritten(text, place, None).splitlines()
        assert len(lines) <= len(text.splitlines())
        assert plain(rewritten(text, place, 'a "b": #c')) != plain(text)


@pytest.mark.parametrize("text", ["a: |\n  x\nb: [1,\n  2]\n", "a:\nb: {}\n", "a", '{"a": 1}', "? a\n: b\n"])
def test_what_cannot_be_changed_alone_is_told_or_changed_rightly(text: str) -> None:
    for path in (("a",), ("b", 0), ("b", "x"), ("a", "x", 3), ("c", "d", "e")):
        for value in (None, "new"):
            try:
                new = rewritten(text, path, value)
            except UsageError:
                continue
            assert value is None or '"new"' in new


@pytest.mark.parametrize("name", ["orders_standard_blr.xlsx", "shiprocket_orders.csv", "asn_bhiwandi_handmade.xlsx"])
def test_a_draft_without_its_reasons_says_the_same(name: str) -> None:
    draft = draft_of(read_file(ROOT / "sample_data" / name, name=name, options=ReadOptions()))
    says_the_same(draft_json(draft, file_name=name)) if draft else pytest.fail("no draft")


def test_a_draft_of_names_with_signs_says_the_same() -> None:
    import polars as pl

    names = ['Order "No" # 1', "Phone \\", "Addr: # {x}", "SKU's [1]", "Qty"]
    rows = [names, ["R-1", "9845011203", "1 Road, Bengaluru", "SKU-1", "2"]]
    frame = pl.DataFrame({"row": [1, 2]} | {str(n + 1): [row[n] for row in rows] for n in range(5)})
    draft = draft_of([Sheet("S # 1", frame.cast({"row": pl.UInt32}))])
    assert draft is not None
    says_the_same(draft_json(draft, file_name='x "#.csv'))


def says_the_same(found: dict[str, Any]) -> None:
    text = drafted({"draft": found}, Wanted(), name="x\n#.csv")
    assert plain(text) == plain(found["text"])
    assert text.count("\n") < found["text"].count("\n")


@pytest.mark.parametrize(("says", "left"), [("true", ["COD", "Wallet"]), ("false", ["COD"])])
def test_the_orders_on_which_an_amount_counts_follow_what_a_word_of_payment_means(says: str, left: list[str]) -> None:
    text = """operation: order.create
fields:
  is_cod: {from: "Pay", read: {lookup: {"COD": "true", "Wallet": "?"}}}
  cash_on_delivery: {from: "Amount", when: {"Pay": ["COD", "? Wallet"]}}
"""
    asked, _ = asked_in(plain(text), {"draft": None, "columns": []})
    fields = plain(answered(text, asked, ChosenAnswer(says)))["fields"]
    assert fields["is_cod"]["read"]["lookup"]["Wallet"] == says
    assert fields["cash_on_delivery"]["when"] == {"Pay": left}


def test_a_column_of_which_no_word_leaves_rows_out_is_not_filled_down_either() -> None:
    text = """operation: order.create
sheet:
  skip_rows_where: {"Xyz": ["? No", "? Yes"]}
  fill_down: ["Order No", "Xyz"]
key: ["Order No"]
fields: {reference_number: {from: "Order No"}}
"""
    (asked,) = asked_in(plain(text), {"draft": None, "columns": []})
    assert plain(answered(text, asked, ChosenAnswer(is_left=True)))["sheet"] == {"fill_down": ["Order No"]}
