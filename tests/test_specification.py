"""Strict YAML: what is read, what is refused, and that every complaint says where and what was probably meant."""

import json
import re
from typing import Annotated, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field, RootModel, field_validator

from logistics_batch.errors import SpecificationError
from logistics_batch.mapping.spec.model import MappingSpec
from logistics_batch.model.complaints import TIME_OF_DAY, wanted
from logistics_batch.model.jobs.job import LabelsJob, PushJob, ReconcileJob, SettleJob
from logistics_batch.settings import Settings
from logistics_batch.specification import load_specification


class Part(BaseModel):
    model_config = ConfigDict(extra="forbid")
    size: int = 1
    colour: str = "red"


class Spec(BaseModel):
    model_config = ConfigDict(extra="forbid")
    name: str
    kind: Literal["small", "large"] = "small"
    value: str | int | bool | None = None
    table: dict[str, str | int | bool | None] = {}
    parts: list[Part] = []
    by_name: dict[str, Part] = {}

    @field_validator("name")
    @classmethod
    def _no_blank(cls, name: str) -> str:
        if " " in name:
            raise ValueError("A name holds no blanks.")
        return name


def findings(text: str, model: type = Spec) -> list[tuple[int, int, str]]:
    with pytest.raises(SpecificationError) as caught:
        load_specification(text, path="a.yaml", model=model)
    return [(each.line, each.column, f"{each.message} {each.remedy}".strip()) for each in caught.value.findings]


@pytest.mark.parametrize(
    ("typed", "read"),
    [
        ("true", True),
        ("false", False),
        ("null", None),
        ("12", 12),
        ("0", 0),
        ("-3", -3),
        ("NO", "NO"),
        ("yes", "yes"),
        ("True", "True"),
        ("010", "010"),
        ("12:30", "12:30"),
        ("1.50", "1.50"),
        ("1e3", "1e3"),
        ("0x1F", "0x1F"),
        ("1_000", "1_000"),
        ("+7", "+7"),
        ("-3d", "-3d"),
        ("2026-11-03", "2026-11-03"),
        ("~", "~"),
        ("=", "="),
        ('"12"', "12"),
        ("'true'", "true"),
        ("12345678901234567890123", "12345678901234567890123"),
    ],
)
def test_only_four_kinds_of_plain_words_are_more_than_text(typed: str, read: object) -> None:
    assert load_specification(f"name: x\nvalue: {typed}\n", path="a.yaml", model=Spec).value == read


def test_keys_are_text() -> None:
    spec = load_specification("name: x\ntable: {1: a, no: b, true: c, 010: d}\n", path="a.yaml", model=Spec)
    assert list(spec.table) == ["1", "no", "true", "010"]


def test_every_complaint_is_listed_with_its_place_and_the_nearest_name() -> None:
    text = "kind: larg\nparts:\n  - size: many\n  - color: blue\nby_name:\n  a: {sise: 3}\n"
    assert findings(text) == [
        (1, 1, "`name` is missing. Add `name:`."),
        (1, 1, "`larg` is not known here. Did you mean `large`?"),
        (
            3,
            5,
            "`many` does not fit here. Write a whole number.",
        ),
        (4, 5, "Unknown key `color`. Did you mean `colour`?"),
        (6, 7, "Unknown key `sise`. Did you mean `size`?"),
    ]


def test_a_far_name_lists_what_is_known() -> None:
    assert findings("name: x\nparts: [{weight: 3}]\n") == [
        (2, 10, "Unknown key `weight`. Known here: `colour`, `size`.")
    ]


def test_a_validators_own_words_stand_alone() -> None:
    assert findings("name: a b\n") == [(1, 1, "A name holds no blanks.")]


def test_duplicate_keys_are_refused_beside_other_findings() -> None:
    assert findings("name: x\nname: y\nkint: small\n") == [
        (2, 1, "The key `name` stands twice; the first is in line 1. Remove one of them."),
        (3, 1, "Unknown key `kint`. Did you mean `kind`?"),
    ]


class Kinds(BaseModel):
    model_config = ConfigDict(extra="forbid")
    header: Literal["auto"] | Annotated[int, Field(ge=1)] = "auto"
    at: str = Field(default="18:00", pattern=TIME_OF_DAY)
    on: bool = False
    names: list[str] = Field(default=[], min_length=1)
    pair: tuple[str, ...] = ()
    part: Part | None = None
    by_name: dict[str, Part] = {}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("header: x", "`x` does not fit here. Write `auto` or a whole number."),
        ("header: 0", "`0` does not fit here. Write `auto` or 1 or more."),
        ("at: 25:00", '`25:00` does not fit here. Write a time of day, as "18:00".'),
        ("at: 18", "`18` does not fit here. Write a text (in quotation marks if it is a number)."),
        ("on: maybe", "`maybe` does not fit here. Write true or false."),
        ("names: []", "This list does not fit here. Write at least one value."),
        ("names: a", '`a` does not fit here. Write a list, as ["a", "b"].'),
        ("pair: true", '`true` does not fit here. Write a list, as ["a", "b"].'),
        ("part: City", "`City` does not fit here. Write keys with values, as {key: value}."),
        ("by_name:", "An empty value does not fit here. Write keys with values, as {key: value}."),
    ],
)
def test_a_value_of_the_wrong_kind_is_explained_once_and_without_programmers_words(text: str, said: str) -> None:
    assert [each[2] for each in findings(text + "\n", Kinds)] == [said]


def test_every_pattern_of_a_mapping_a_job_or_the_settings_has_words() -> None:
    models = (MappingSpec, PushJob, ReconcileJob, LabelsJob, SettleJob, Settings)
    patterns = set(
        re.findall(r'"pattern": ("(?:[^"\\\\]|\\\\.)*")', json.dumps([each.model_json_schema() for each in models]))
    )
    assert len(patterns) >= 3
    for pattern in patterns:
        assert "another form" not in wanted("string_pattern_mismatch", {"pattern": json.loads(pattern)}), pattern


class Cat(BaseModel):
    model_config = ConfigDict(extra="forbid")
    kind: Literal["cat"]
    lives: int = 9


class Dog(BaseModel):
    model_config = ConfigDict(extra="forbid")
    kind: Literal["dog"]
    tricks: int = 0


class Animal(RootModel[Annotated[Cat | Dog, Field(discriminator="kind")]]):
    pass


def test_a_union_by_kind_is_explained_from_its_branch() -> None:
    assert load_specification("kind: dog\ntricks: 2\n", path="a.yaml", model=Animal).root == Dog(kind="dog", tricks=2)
    assert findings("kind: dog\ntrick: 2\n", Animal) == [(2, 1, "Unknown key `trick`. Did you mean `tricks`?")]
    assert findings("kind: dogg\n", Animal) == [(1, 1, "`dogg` is not known here. Did you mean `dog`?")]
    assert findings("lives: 2\n", Animal) == [(1, 1, "`kind` is missing. Add `kind:`.")]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("name: !!python/object/apply:os.system [ls]\n", "tag"),
        ("name: !!str x\n", "tag"),
        ("a: &a [x]\nb: *a\n", "Anchors and aliases"),
        ("name: *x\n", "Anchors and aliases"),
        ("name: &a x\n", "Anchors and aliases"),
        ("name: x\n---\nname: y\n", "second document"),
        ("- a\n- b\n", "no `key: value` lines"),
        ("", "no `key: value` lines"),
        ("name: [a\n", "a comma is missing before this place, or the `]` that closes what is opened in line 1"),
        ("table:\n  a: {b: 1\n  c: 2\n", "the `}` that closes what is opened in line 2"),
        ("name: 'a\nother: b\n", "the quotation mark of line 1 is never closed"),
        ("name: Ship: to\n", "a `:` stands where a value is read already"),
        ("name: %x\n", "no value begins with `%`"),
        ("table:\n  a: x\n b: y\n", "no line above is indented as this one"),
        ("names:\n  - x\n  y: z\n", "does not begin with `- `"),
        ('name: "\\d"\n', "a backslash means something of its own"),
        ("? [a]\n: b\n", "A key must be plain text"),
        ("name: {sku} x {qty}\n", "and something stands behind it"),
        ("name: " + "[" * 21 + "]" * 21 + "\n", "nested deeper than 20"),
        ("table:\n" + "".join(f"  k{n}: v\n" for n in range(10_001)), "more than 10000 values"),
        ("name: " + "x" * 300_000 + "\n", "larger than 256 kB"),
        ("name: \x00\n", "not readable as YAML"),
    ],
)
def test_tricks_and_damage_are_refused(text: str, said: str) -> None:
    assert said in findings(text)[-1][2]


@pytest.mark.parametrize("text", ["[" * 250_000, "{a: " * 60_000, "- " * 120_000])
def test_deep_nesting_is_refused_without_reading_on(text: str) -> None:
    assert "nested deeper than 20" in findings("name:\n " + text)[-1][2]
