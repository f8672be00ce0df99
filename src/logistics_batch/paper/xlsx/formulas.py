"""Formulas that do more than calculate.

They are judged by what is known to be harmless, never by what is known to harm: a function, a sign or a form of
reference that is not listed here makes a formula an active one.
"""

import re
from collections.abc import Collection
from functools import cache
from typing import Final


@cache
def _calculating() -> frozenset[str]:
    """The functions that only calculate."""
    from openpyxl.utils import FORMULAE  # takes a quarter of a second, and few workbooks have formulas

    return frozenset(FORMULAE - set(_REACHING_OUT.split()) | set(_LATER.split()))


_LONGEST_FORMULA_CHARACTERS = 8_192  # what the programs take
_REACHING_OUT: Final = (
    "CUBEKPIMEMBER CUBEMEMBER CUBEMEMBERPROPERTY CUBERANKEDMEMBER CUBESET CUBESETCOUNT CUBEVALUE HYPERLINK INDIRECT RTD"
)
_LATER: Final = (
    "ACOT ACOTH AGGREGATE ANCHORARRAY ARABIC ARRAYTOTEXT BASE BETA.DIST BETA.INV BINOM.DIST BINOM.DIST.RANGE BINOM.INV "
    "BITAND BITLSHIFT BITOR BITRSHIFT BITXOR BYCOL BYROW CEILING.MATH CEILING.PRECISE CHISQ.DIST CHISQ.DIST.RT "
    "CHISQ.INV CHISQ.INV.RT CHISQ.TEST CHOOSECOLS CHOOSEROWS COMBINA CONCAT CONFIDENCE.NORM CONFIDENCE.T COT COTH "
    "COVARIANCE.P COVARIANCE.S CSC CSCH DAYS DBCS DECIMAL DROP ENCODEURL ERF.PRECISE ERFC.PRECISE EXPAND EXPON.DIST "
    "F.DIST F.DIST.RT F.INV F.INV.RT F.TEST FILTER FLOOR.MATH FLOOR.PRECISE FORECAST.LINEAR FORMULATEXT GAMMA "
    "GAMMA.DIST GAMMA.INV GAMMALN.PRECISE GAUSS GROUPBY HSTACK HYPGEOM.DIST IFNA IFS ISFORMULA ISOMITTED ISOWEEKNUM "
    "LAMBDA LET LOGNORM.DIST LOGNORM.INV MAKEARRAY MAP MAXIFS MINIFS MODE.MULT MODE.SNGL MUNIT NEGBINOM.DIST NORM.DIST "
    "NORM.INV NORM.S.DIST NORM.S.INV NUMBERVALUE PDURATION PERCENTILE.EXC PERCENTILE.INC PERCENTOF PERCENTRANK.EXC "
    "PERCENTRANK.INC PERMUTATIONA PHI PIVOTBY POISSON.DIST QUARTILE.EXC QUARTILE.INC RANDARRAY RANK.AVG RANK.EQ REDUCE "
    "RRI SCAN SEC SECH SEQUENCE SHEET SHEETS SINGLE SKEW.P SORT SORTBY STDEV.P STDEV.S SWITCH T.DIST T.DIST.2T "
    "T.DIST.RT T.INV T.INV.2T T.TEST TAKE TEXTAFTER TEXTBEFORE TEXTJOIN TEXTSPLIT TOCOL TOROW TRIMRANGE UNICHAR "
    "UNICODE UNIQUE VALUETOTEXT VAR.P VAR.S VSTACK WEIBULL.DIST WRAPCOLS WRAPROWS XLOOKUP XMATCH XOR Z.TEST"
)
_PIECES: Final = re.compile(
    r'"[^"]*"'  # a text; a quote inside stands twice, which makes two texts
    r"|'(?P<quoted>(?:[^']|'')*+)'!"  # a sheet whose name needs quotes
    r"|(?P<sheet>[\w.]+(?::[\w.]+)?)!"
    r"|(?P<function>[\w.]+)\s*\("
    r"|(?P<name>[\w.$?]+)"
    r"|(?<=[\w.])\[(?:'.|[^\[\]']|\[(?:'.|[^\[\]'])*+\])*+\](?![\w'!])"  # columns of a table
    r"|[\s!:,;(){}+\-*/^&=<>%@#]",
    re.DOTALL,
)
_NO_SHEET: Final = re.compile(r"[\[\]:*?/\\]")
_GOOD_LINK: Final = re.compile(r'\s*"(?:https://|mailto:|#)', re.IGNORECASE)


class FormulaJudge:
    """Tells active formulas of one workbook from those that only calculate.

    sheets: the names of its sheets. names: its defined names with their formulas; one that is active, or that uses such
    a one, makes the formulas active that use it.
    """

    def __init__(self, sheets: Collection[str], names: Collection[tuple[str, str]] = ()) -> None:
        # #REF! is what is left of a reference to a sheet that is gone. A name that no program gives a sheet is made up
        # so that a reference to another file looks like one to a sheet.
        self._sheets = {"ref", *(name.casefold() for name in sheets if not _NO_SHEET.search(name))}
        self._active_names: set[str] = set()
        users: dict[str, set[str]] = {}
        for name, text in names:
            for used in self._names_in(text):
                users.setdefault(used, set()).add(name.casefold())
        waiting = {name.casefold() for name, text in names if self.is_active(text)}
        while waiting:
            self._active_names |= waiting
            waiting = {user for name in waiting for user in users.get(name, ())} - self._active_names

    def _names_in(self, formula: str) -> set[str]:
        """The defined names that a formula uses, as far as it can be read."""
        text, found, position = formula.strip()[:_LONGEST_FORMULA_CHARACTERS], set[str](), 0
        while (piece := _PIECES.match(text, position)) is not None and piece.end() > position:
            if piece.lastgroup == "name":
                found.add(piece["name"].casefold())
            position = piece.end()
        return found

    def is_active(self, formula: str) -> bool:
        """Whether it may do more than calculate.

        >>> judge = FormulaJudge(["Orders", "Price list"])
        >>> [judge.is_active(text) for text in ("SUM(F5:F9)*'Price list'!B2", 'HYPERLINK("https://example.com/"&A5)')]
        [False, False]
        >>> [judge.is_active(text) for text in ("[1]Orders!B2", "cmd|'/C calc'!A0", 'HYPERLINK("file://"&A5)')]
        [True, True, True]
        """
        text = formula.strip()
        if len(text) > _LONGEST_FORMULA_CHARACTERS:
            return True
        position = 0
        while position < len(text):
            piece = _PIECES.match(text, position)
            if piece is None or self._is_active_piece(piece, text):
                return True
            position = piece.end()
        return False

    def _is_active_piece(self, piece: re.Match[str], text: str) -> bool:
        kind, said = piece.lastgroup, piece[piece.lastgroup or 0]
        if kind == "function":
            name = said.upper().removeprefix("_XLFN.").removeprefix("_XLWS.")
            return name not in _calculating() and not (name == "HYPERLINK" and _GOOD_LINK.match(text, piece.end()))
        if kind == "name":
            return said.casefold() in self._active_names
        if kind in ("quoted", "sheet"):
            whole = said.replace("''", "'").casefold()
            return whole not in self._sheets and not set(whole.split(":")) <= self._sheets
        return False
