"""What is wrong with a row, said so that a clerk can mend it."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Final

from logistics_batch import messages


def column_letters(index: int) -> str:
    """The spreadsheet's name of a column: 1 is A, 27 is AA.

    >>> column_letters(28)
    'AB'
    """
    letters = ""
    while index > 0:
        index, rest = divmod(index - 1, 26)
        letters = chr(ord("A") + rest) + letters
    return letters


def cell_address(row: int, column: int) -> str:
    """The A1 address of a cell; both numbers count from 1, as the spreadsheet program shows them.

    >>> cell_address(17, 3)
    'C17'
    """
    return f"{column_letters(column)}{row}"


@dataclass(frozen=True, slots=True)
class Place:
    """Where something is wrong; what is not known is 0 or "".

    row: the physical row. column: the column's header as the sheet shows it. cell: its A1 address, also for CSV.
    value: what was seen there, as text, cut to 200 characters. sheet: the second sheet's name where the row is one of
    that, else "". field: the field of the mapping that is read from it, as `customer_mobile`.
    """

    row: int = 0
    column: str = ""
    cell: str = ""
    value: str = ""
    sheet: str = ""
    field: str = ""


@dataclass(frozen=True, slots=True)
class Issue:
    """One finding about a row, or about a file where the place is blank: a code of the catalogue, where, and values.

    values: packed as `messages.packed` does, so that issues are hashable and travel as they are.
    """

    code: str
    place: Place = Place()
    values: str = ""

    @classmethod
    def of(cls, code: str, place: Place | None = None, /, **values: Any) -> "Issue":
        """An issue with its values by name."""
        return cls(code, place or Place(), messages.packed(values))

    def at(self, **changes: Any) -> "Issue":
        """The same at another place."""
        return replace(self, place=replace(self.place, **changes))

    @property
    def rule(self) -> str:
        """The rule as users see it: `customer_mobile|mobile`, or a bare word where it is about the whole row."""
        rule = messages.rule_of(self.code)
        return f"{self.place.field}|{rule}" if self.place.field else rule

    @property
    def reason(self) -> str:
        """What is wrong, in words."""
        return messages.told(self.code, self.values)[0]

    @property
    def fix(self) -> str:
        """What to do, in words."""
        return messages.told(self.code, self.values)[1]

    @property
    def operator_words(self) -> str:
        """What the operator does about it."""
        return messages.operator_words(self.code, self.given)

    @property
    def given(self) -> dict[str, Any]:
        """Its values by name."""
        return messages.unpacked(self.values)

    @property
    def pair(self) -> tuple[str, dict[str, Any]]:
        """Its code and values, as another message has them within its own."""
        return self.code, self.given

    @property
    def row(self) -> int:
        """That of its place."""
        return self.place.row

    @property
    def column(self) -> str:
        """That of its place."""
        return self.place.column

    @property
    def cell(self) -> str:
        """That of its place."""
        return self.place.cell

    @property
    def value(self) -> str:
        """That of its place."""
        return self.place.value

    @property
    def sheet(self) -> str:
        """That of its place."""
        return self.place.sheet

    def as_told(self) -> dict[str, object]:
        """What is printed of it, by name; the sheet only where it is a second one."""
        names = ("row", "rule", "column", "cell", "value", "reason", "fix", "sheet")
        return {name: getattr(self, name) for name in names if name != "sheet" or self.sheet}


NOTHING_SAID: Final = Issue("")
"""Where there is nothing to say."""


def stored_notes(notes: Iterable[Issue]) -> list[tuple[str, str]]:
    """Notes as the ledger keeps them: (code, values)."""
    return [(note.code, note.values) for note in notes]


def read_notes(stored: Iterable[tuple[str, str]]) -> tuple[Issue, ...]:
    """Notes as they were before they were stored."""
    return tuple(Issue(code, values=values) for code, values in stored)
