"""What is wrong with a row, said so that a clerk can mend it."""

from dataclasses import asdict, dataclass


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
class Issue:
    """One finding about one row before sending.

    rule: the rule's name, `field|rule` (as `customer_mobile|mobile`), or a bare word for a rule over the whole row.
    column: the column's header as the sheet shows it; cell: its A1 address, also for CSV.
    sheet: the second sheet's name where the row is one of that, else "".
    value: what was seen, as text, cut to 200 characters. reason: what is wrong. fix: what to write instead.
    """

    row: int
    rule: str
    column: str
    cell: str
    value: str
    reason: str
    fix: str
    sheet: str = ""

    def as_told(self) -> dict[str, object]:
        """Its values by name; the sheet only where it is a second one."""
        return {name: value for name, value in asdict(self).items() if name != "sheet" or value}
