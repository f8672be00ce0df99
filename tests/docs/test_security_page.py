"""The page about OWASP ASVS names every requirement of levels 1 and 2 once, and nothing that does not exist."""

import csv
import re
from collections import Counter
from pathlib import Path

import pytest
from docs.pages import ROOT

PAGE = (ROOT / "docs/security-asvs.md").read_text(encoding="utf-8")
STANDARD = Path(__file__).with_name("asvs_5_0_0.csv")  # of the standard, which OWASP gives under CC BY-SA 4.0
SECTIONS = {part.split("\n")[0]: part.replace("\n  ", " ") for part in PAGE.split("\n## ")[1:]}
ROWS = {  # by how it is judged: numbers, what they are about, where or why
    verdict: re.findall(r"^- ((?:\d+\.\d+\.\d+ )+)(.+?): (.*)$", SECTIONS[verdict], re.MULTILINE)
    for verdict in ("Met", "Not met", "Not applicable")
}
REFERENCES = sorted(
    set(re.findall(r"`([\w./-]+/[\w.-]+\.\w+(?:::\w+)?|[\w-]+\.(?:py|md|toml)|(?:intake|mapping|paper)/)`", PAGE))
    - {"var/ledger.db"}
)


def test_every_requirement_stands_there_once() -> None:
    with STANDARD.open(encoding="utf-8", newline="") as file:
        wanted = [row["requirement"] for row in csv.DictReader(file)]
    assert len(wanted) == 253
    named = Counter(number for rows in ROWS.values() for numbers, _, _ in rows for number in numbers.split())
    assert named == Counter(wanted)


def test_the_counts_at_its_top_add_up() -> None:
    met, missed, foreign = (sum(len(numbers.split()) for numbers, _, _ in rows) for rows in ROWS.values())
    told = " ".join(PAGE.split("\n## ")[0].split())
    assert f"{met} are met, {missed} are not met, {foreign} are not applicable" in told


def test_what_is_met_names_where_and_what_is_not_says_why() -> None:
    for numbers, _, text in (row for rows in ROWS.values() for row in rows):
        assert len(text) > 8, numbers
    for numbers, _, text in ROWS["Met"]:
        assert re.search(r"`[^`]+`|\]\([^)]+\)", text), numbers


@pytest.mark.parametrize("reference", REFERENCES)
def test_what_it_names_exists(reference: str) -> None:
    path, _, test = reference.partition("::")
    places = [
        place
        for place in (ROOT / path, ROOT / "src/logistics_batch" / path)
        if place.is_file() or (path.endswith("/") and place.is_dir())
    ]
    assert places, path
    if test:
        assert re.search(rf"^\s*def {test}\(", places[0].read_text(encoding="utf-8"), re.MULTILINE), test


def test_it_names_many() -> None:
    assert len(REFERENCES) > 100
