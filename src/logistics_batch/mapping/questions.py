"""What a draft leaves open: marks that `mapping suggest` writes and that keep a mapping from being loaded."""

from collections.abc import Iterator
from typing import Any, Final

from logistics_batch.mapping.lint_fields import Complaint, Place

MARK: Final = "? "
"""Stands before a name, a format or a unit that a person has to confirm; alone, for an answer that is missing."""


def open_questions(data: Any, place: Place = ()) -> Iterator[Complaint]:
    """A complaint for each question of a draft that nobody has answered yet, in the order of the file."""
    if isinstance(data, dict):
        for key, value in data.items():
            yield from open_questions(value, (*place, key))
    elif isinstance(data, list) and (asked := [each for each in data if is_open(each)]):
        yield _complaint((*place, data.index(asked[0])), asked)
        yield from open_questions([each for each in data if not is_open(each)], place)
    elif isinstance(data, list):
        for index, value in enumerate(data):
            yield from open_questions(value, (*place, index))
    elif is_open(data):
        yield _complaint(place, [data])


def is_open(value: Any) -> bool:
    """Whether a text of a mapping is a question."""
    return isinstance(value, str) and (value == MARK.strip() or value.startswith(MARK))


def _complaint(place: Place, asked: list[str]) -> Complaint:
    field = next((str(part) for part in (place[1:2] or place[:1])), "")
    names = [text.removeprefix(MARK.strip()).strip() for text in asked]
    listed = " or ".join(f"`{name}`" for name in names)
    if place[:1] == ("key",):
        return Complaint(
            place,
            f"The draft asks: is {listed} the key?",
            "Write the column that the rows of a document share, without the `?`.",
        )
    if "lookup" in place:
        return Complaint(
            place,
            f"The draft asks: what does `{place[-1]}` mean for `{field}`?",
            'Write "true" or "false" for the `?`.',
        )
    if "date" in place:
        return Complaint(
            place,
            f"The draft asks: how are the dates of `{field}` written, {listed}?",
            "Keep the right one, without the `?`, and delete the other.",
        )
    if "unit" in place:
        return Complaint(
            place,
            f"The draft asks: is `{field}` to be read as {listed}?",
            "Take the `?` away, or write the unit that the sheet uses.",
        )
    if len(names) > 1:
        return Complaint(
            place,
            f"The draft asks: which column is `{field}`, {listed}?",
            "Keep the right one, without the `?`, and delete the others.",
        )
    return Complaint(
        place,
        f"The draft asks: is {listed} the column of `{field}`?",
        "Write the column's name without the `?`; if there is none, `{constant: …}`, or delete the line.",
    )
