"""References are compared as people read them."""

import pytest

from logistics_batch.model.spelling import differences, folded, folded_key


@pytest.mark.parametrize(
    ("one", "other", "told"),
    [
        ("Z-1", "z-1", "capital letters"),
        ("STRASSE", "straße", "capital letters"),
        ("Z-1", "Z\u20111", "a dash"),
        ("Z-1", "Z\u22121", "a dash"),
        ("Zé-2", "Ze\u0301-2", "the form of a letter"),
        ("Ｒ-1", "R-1", "the form of a letter"),
        ("Z-1", "Z\u200b-1", "a mark that nobody sees"),
        ("Z-1", "\u202aZ-1\u202c", "a mark that nobody sees"),
        ("Z-1", "Z\u00ad-1", "a mark that nobody sees"),
        ("Ze\u0301", "Ze\u200b\u0301", "a mark that nobody sees"),
        ("D'Souza 1", "D\u2019Souza 1", "a quotation mark"),
        ('12" A', "12\u2033 A", "a quotation mark"),
        ("Q'1", "Q\uff401", "a quotation mark, the form of a letter"),
        ("ORD 1", "ORD  1 ", "blanks"),
        ("Z-1", "z\u20131", "a dash, capital letters"),
    ],
)
def test_what_is_read_as_one_name_is_folded_to_one_text(one: str, other: str, told: str) -> None:
    assert folded(one) == folded(other)
    assert ", ".join(differences(one, other)) == ", ".join(differences(other, one)) == told


@pytest.mark.parametrize("other", ["Z-2", "Z1", "Z 1", "Z_1", "Z-1A", "Z-01", "Ž-1", "Z/1", "Z.1"])
def test_what_people_tell_apart_stays_apart(other: str) -> None:
    assert folded("Z-1") != folded(other)


@pytest.mark.parametrize(
    ("one", "other", "told"),
    [
        ("00992", "992", "leading zeros"),
        ("010.50", "10.50", "leading zeros"),
        ("000.0", "0.0", "leading zeros"),
        ("Acme | 07 | 0087", "acme | 7 | 87", "capital letters, leading zeros"),
        ("\uff10\uff11", "1", "the form of a letter, leading zeros"),
    ],
)
def test_a_key_is_the_same_one_when_a_spreadsheet_program_took_it_for_a_number(one: str, other: str, told: str) -> None:
    assert folded_key(one) == folded_key(other)
    assert folded(one) != folded(other)  # as of SKUs
    assert ", ".join(differences(one, other)) == told


@pytest.mark.parametrize(
    ("one", "other"), [("100", "10"), ("10.05", "10.5"), ("007-A", "07-A"), ("1.2.0", "1.2"), ("1001.10", "1001.1")]
)
def test_keys_that_no_spreadsheet_program_makes_one_stay_two(one: str, other: str) -> None:
    assert folded_key(one) != folded_key(other)
