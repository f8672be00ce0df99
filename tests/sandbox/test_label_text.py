"""Lines of a label: where they end, in which order their letters run, what is cut and how."""

import pytest

from logistics_batch.sandbox.label_bidi import in_visual_order, levels, runs_leftward
from logistics_batch.sandbox.label_text import letters, set_line, shortened, wrap

HINDI = "अतिविशालक्षेत्रविद्यार्थीकृष्णमूर्ति"


@pytest.mark.parametrize(
    ("text", "units"),
    [
        ("क्षत्रिय", ["क्ष", "त्रि", "य"]),
        ("কলকাতা", ["ক", "ল", "কা", "তা"]),
        ("கொடி", ["கொ", "டி"]),
        ("e\u0301a", ["e\u0301", "a"]),
        ("เมือง", ["เมื", "อ", "ง"]),
        ("ශ්\u200dරී", ["ශ්\u200dරී"]),
    ],
)
def test_letters_as_readers_see_them(text: str, units: list[str]) -> None:
    assert letters(text) == units


@pytest.mark.parametrize("word", [HINDI, "கொடிமரத்தெருஸ்ரீரங்கம்", "শ্রীবিবেকানন্দপল্লী", "x" * 80])
@pytest.mark.parametrize("width", [2600.0, 4000.0, 6000.0])
def test_long_word_is_cut_between_whole_letters_only(word: str, width: float) -> None:
    lines = wrap(word, width=width, most=99)
    assert "".join(lines) == word
    assert [letter for line in lines for letter in letters(line)] == letters(word)
    assert len(lines) > 1
    assert all(set_line(line).width <= width for line in lines if len(letters(line)) > 1)


def test_lines_end_at_spaces_and_then_after_commas() -> None:
    assert wrap("Flat 3, MG Road, Pune", width=5500, most=9) == ["Flat 3, MG", "Road, Pune"]
    assert wrap("Flat-3/B,Rajajinagar,Bengaluru", width=11_500, most=9) == ["Flat-3/B,Rajajinagar,", "Bengaluru"]


def test_scripts_without_spaces_fill_their_lines() -> None:
    lines = wrap("Tokyo 東京都千代田区丸の内、一丁目", width=9000, most=9)
    assert "".join(lines).replace(" ", "") == "Tokyo東京都千代田区丸の内、一丁目"
    assert lines[0].startswith("Tokyo 東京")
    assert not any(line.startswith("、") for line in lines)


def test_no_more_lines_are_made_than_asked_for_and_one() -> None:
    assert len(wrap("word " * 100_000, width=5000, most=3)) == 4
    assert len(wrap("x" * 1_000_000, width=5000, most=3)) == 4


def test_shortened_text_fits_and_ends_at_a_whole_letter() -> None:
    short = shortened(HINDI, width=6000)
    assert short.endswith("…")
    assert set_line(short).width <= 6000
    assert letters(HINDI)[: len(letters(short)) - 1] == letters(short[:-1])
    assert shortened("Pune", width=6000) == "Pune"


@pytest.mark.parametrize(
    ("text", "leftward", "expected"),
    [
        ("abc", False, [0, 0, 0]),
        ("אב 12", True, [1, 1, 1, 2, 2]),
        ("گ 1,5 a", True, [1, 1, 2, 2, 2, 1, 2]),
        ("a גד b", False, [0, 0, 1, 1, 0, 0]),
        ("12/3 א", False, [0, 0, 0, 0, 0, 1]),
        ("A-1, א 5%", True, [2, 2, 2, 1, 1, 1, 1, 2, 2]),
    ],
)
def test_levels_follow_the_bidirectional_algorithm(text: str, leftward: bool, expected: list[int]) -> None:
    """Expected values: what FriBidi 1.0 gives."""
    assert levels(text, leftward=leftward) == expected


def test_runs_are_turned_round_level_by_level() -> None:
    assert in_visual_order([0, 1, 2, 1, 0]) == [0, 3, 2, 1, 4]
    assert in_visual_order([1, 2, 1]) == [2, 1, 0]


def test_direction_of_a_paragraph_is_that_of_its_first_letter() -> None:
    assert runs_leftward("12, گلی Delhi")
    assert not runs_leftward("12, Delhi گلی")
    assert not runs_leftward("12")


def test_number_stands_left_of_the_word_before_it_in_a_leftward_line() -> None:
    line = set_line("گلی 24")
    assert "".join(piece.text for piece in line.pieces) == "24 گلی"
    assert line.leftward
