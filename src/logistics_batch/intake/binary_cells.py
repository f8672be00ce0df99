"""What the two binary formats of workbooks, .xls and .xlsb, have in common."""

from dataclasses import dataclass, field

from logistics_batch.intake.number_formats import BUILT_IN, added, padded_width
from logistics_batch.intake.sheet_facts import SheetFacts

_ERRORS = {
    0x00: "#NULL!",
    0x07: "#DIV/0!",
    0x0F: "#VALUE!",
    0x17: "#REF!",
    0x1D: "#NAME?",
    0x24: "#NUM!",
    0x2A: "#N/A",
    0x2B: "#GETTING_DATA",
}


@dataclass(slots=True)
class BinaryFacts(SheetFacts):
    """As `SheetFacts`; last_row and last_column are those in which something stands. cells: how many there are."""

    cells: int = 0

    def take(self, row: int, column: int) -> None:
        """Count a cell in which something stands."""
        self.cells += 1
        self.last_row = max(self.last_row, row)
        self.last_column = max(self.last_column, column)


@dataclass(slots=True)
class NumberFormats:
    """codes: by their numbers; styles: the number of the code of each cell style.

    fonts: of each style the number of its font, from 0; strikes: whether each font strikes through.
    """

    codes: dict[int, str] = field(default_factory=dict)
    styles: list[int] = field(default_factory=list)
    fonts: list[int] = field(default_factory=list)
    strikes: list[bool] = field(default_factory=list)
    _known: dict[int, tuple[int, str]] = field(default_factory=dict)

    def note(self, facts: SheetFacts, row: int, column: int, style: int) -> None:
        """Put down what a number shows beyond its digits."""
        if style not in self._known:
            number = self.styles[style] if style < len(self.styles) else 0
            code = self.codes.get(number, BUILT_IN.get(number, ""))
            self._known[style] = padded_width(code), added(code)
        width, shown = self._known[style]
        if width:
            facts.note_padded((row, column), width)
        if shown:
            facts.worded[row, column] = shown

    def note_struck(self, facts: SheetFacts, row: int, column: int, style: int) -> None:
        """Put down a cell that its style strikes through; a text of which only a part is does not tell."""
        font = self.fonts[style] if style < len(self.fonts) else len(self.strikes)
        if font < len(self.strikes) and self.strikes[font]:
            facts.struck[row, column] = "", ""


def error_word(code: int) -> str:
    """The word that a cell shows for an error's number."""
    return _ERRORS.get(code, "#VALUE!")
