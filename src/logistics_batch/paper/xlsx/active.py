"""What is active in a part of a workbook: formulas that do more than calculate, links, and what starts by itself.

Formulas are judged by what is known to be harmless, never by what is known to harm: a function, a sign or a form of
reference that is not listed here makes a formula an active one.
"""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from typing import Final
from xml.parsers.expat import ExpatError, ParserCreate, XMLParserType

from logistics_batch.paper.xlsx.parts import OFFICE
from logistics_batch.paper.xlsx.xml_bytes import NotPatchable


@cache
def _calculating() -> frozenset[str]:
    """The functions that only calculate."""
    from openpyxl.utils import FORMULAE  # takes a quarter of a second, and few workbooks have formulas

    return frozenset(FORMULAE - set(_REACHING_OUT.split()) | set(_LATER.split()))


class RemovedParts(StrEnum):
    """What was taken out of a workbook."""

    FORMULAS = "formulas"
    LINKS = "links"
    OTHER_WORKBOOKS = "other_workbooks"
    DATA_QUERIES = "data_queries"
    PROGRAMS = "programs"
    PARTS = "parts"


LONGEST_FORMULA_CHARACTERS = 8_192
"""What the programs take."""

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
GOOD_TARGET: Final = re.compile(r"https://|mailto:|#", re.IGNORECASE)
"""How the target of a link begins that may stay: a page or an address that is asked for by a click, or a place here."""


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
        text, found, position = formula.strip()[:LONGEST_FORMULA_CHARACTERS], set[str](), 0
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
        if len(text) > LONGEST_FORMULA_CHARACTERS:
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


_NAMING: Final = frozenset(
    {
        "customPr",
        "dataRef",
        "externalReference",
        "hlinkClick",
        "hlinkHover",
        "hlinkMouseOver",
        "hyperlink",
        "picture",
        "sheetsCustomData",
        "svgBlip",
    }
)
"""Elements that may go with the reference that they name."""

_NAMING_BESIDES: Final = frozenset({"blip", "pageSetup"})
"""Elements that stay without it."""

_LISTS: Final = frozenset(
    {
        "conditionalFormatting",
        "conditionalFormattings",
        "customProperties",
        "dataConsolidate",
        "dataRefs",
        "dataValidations",
        "ext",
        "extLst",
        "externalReferences",
        "hyperlinks",
    }
)
"""Elements that go when nothing is left in them."""

_NEVER: Final = {
    "webPublishObjects": RemovedParts.PARTS,
    "webPublishItems": RemovedParts.PARTS,
    "HyperlinkBase": RemovedParts.LINKS,
    "HLinks": RemovedParts.LINKS,
}
_FORMULAS: Final = frozenset(
    {"calculatedColumnFormula", "definedName", "f", "formula", "formula1", "formula2", "totalsRowFormula"}
)
_RULES: Final = frozenset({"calculatedColumnFormula", "cfRule", "dataValidation"})
"""Elements that go with an active formula in them: an error in its place would colour cells, or forbid all values."""

_FORMULA_ATTRIBUTES: Final = frozenset({"textlink", "fmlaLink", "fmlaRange", "fmlaTxbx", "fmlaGroup"})
_SAVED_AT: Final = "absPath"
"""The element that tells where the workbook was saved, which leads nowhere once no link is relative to it."""

_ADDRESSES: Final = frozenset({"url", "href", "src", "invalidUrl", "action"})
_NEVER_ATTRIBUTES: Final = {
    "macro": RemovedParts.PROGRAMS,
    "fmlaMacro": RemovedParts.PROGRAMS,
    "refreshOnLoad": RemovedParts.DATA_QUERIES,
    "tableType": RemovedParts.DATA_QUERIES,
    "queryTableFieldId": RemovedParts.DATA_QUERIES,
    "connectionId": RemovedParts.DATA_QUERIES,
}
ELSEWHERE: Final = re.compile(r"\s*(?:[a-z][a-z0-9+.-]+:|[\\/]{2})", re.IGNORECASE)
"""How an address begins that lies outside the workbook."""

_TAG: Final = re.compile(rb"<[^\s<>/]+(?:[^<>\"']|\"[^\"]*\"|'[^']*')*>")


@dataclass(slots=True)
class _Open:
    """An element that is being read: where it begins, what is in it, and whether it goes."""

    name: str
    start: int
    inside: int
    opening: bytes
    text: list[str] = field(default_factory=list)
    children: int = 0
    kept: int = 0
    goes: bool = False


class ActiveXml:
    """Cuts what is active out of a small part, and leaves every other byte."""

    def __init__(self, xml: bytes, judge: FormulaJudge, *, lost: set[str], removed: set[RemovedParts]) -> None:
        self._xml, self._judge, self._lost, self._removed = xml, judge, lost, removed
        self._open: list[_Open] = []
        self._edits: list[tuple[int, int, bytes]] = []
        self._parser = _parser_of(xml)
        self._parser.StartElementHandler = self._started
        self._parser.CharacterDataHandler = self._read
        self._parser.EndElementHandler = self._ended

    def edited(self) -> bytes | None:
        """The part without what is active, None where nothing is."""
        _read_through(self._parser, self._xml)
        if not self._edits:
            return None
        return b"".join(self._pieces())

    def _pieces(self) -> Iterator[bytes]:
        position = 0
        for start, end, written in sorted(self._edits, key=lambda edit: (edit[0], -edit[1])):
            if start < position:  # inside of what goes as a whole
                continue
            yield self._xml[position:start]
            yield written
            position = end
        yield self._xml[position:]

    def _started(self, name: str, attributes: dict[str, str]) -> None:
        start = self._parser.CurrentByteIndex
        tag = _TAG.match(self._xml, start)
        if tag is None:
            raise NotPatchable("a part is not sound XML")
        element = _Open(name.rpartition(" ")[2], start, tag.end(), tag[0])
        if element.name in _NEVER or attributes.get("name", "").startswith("_PID_"):
            self._removed.add(_NEVER.get(element.name, RemovedParts.LINKS))
            element.goes = True
        if element.name == "cacheSource" and attributes.get("type") != "worksheet":
            raise NotPatchable("a pivot table takes its rows from outside the workbook")
        element.opening = self._changed(element, tag[0], attributes)
        self._open.append(element)

    def _changed(self, element: _Open, tag: bytes, attributes: dict[str, str]) -> bytes:
        """The opening tag with the attributes that may stay."""
        for name, value in attributes.items():
            space, _, local = name.rpartition(" ")
            if value in self._lost and (space == OFFICE or local == "relid"):
                if element.name in _NAMING:
                    element.goes = True
                elif element.name not in _NAMING_BESIDES:
                    raise NotPatchable("it holds something that cannot be taken out safely")
                tag = _without(tag, local)
            elif element.name != _SAVED_AT and (reason := self._goes(local, value)):
                self._removed.add(reason)
                tag = _without(tag, local)
            elif local == "formula" and self._judge.is_active(value.replace("'", "")):
                raise NotPatchable("a pivot table has a formula that looks outside the workbook")
        return tag

    def _goes(self, name: str, value: str) -> RemovedParts | None:
        if name in _NEVER_ATTRIBUTES and value not in ("", "0", "false", "worksheet"):
            return _NEVER_ATTRIBUTES[name]
        if name in _FORMULA_ATTRIBUTES and self._judge.is_active(value):
            return RemovedParts.FORMULAS
        if name in _ADDRESSES and ELSEWHERE.match(value) and not GOOD_TARGET.match(value):
            return RemovedParts.LINKS
        return None

    def _read(self, text: str) -> None:
        if self._open:
            self._open[-1].text.append(text)

    def _ended(self, _: str) -> None:
        element, end = self._open[-1], self._parser.CurrentByteIndex
        if element.name in _FORMULAS and self._judge.is_active("".join(element.text)):
            self._removed.add(RemovedParts.FORMULAS)
            rule = next((each for each in self._open if each.name in _RULES), None)
            if rule is not None:
                rule.goes = True
            else:
                self._edits.append((element.inside, end, b"#REF!"))
        self._open.pop()
        if element.name in _LISTS and element.children > element.kept:
            element.goes = element.goes or not element.kept
            element.opening = _without(element.opening, "count")
        if element.goes:
            is_empty_tag = self._xml.endswith(b"/>", element.start, element.inside)
            behind = element.inside if is_empty_tag else self._xml.index(b">", end) + 1
            self._edits.append((element.start, behind, b""))
        elif element.opening != self._xml[element.start : element.inside]:
            self._edits.append((element.start, element.inside, element.opening))
        if self._open and element.name != "sqref":  # the cells of a rule
            self._open[-1].children += 1
            self._open[-1].kept += not element.goes


def _without(tag: bytes, name: str) -> bytes:
    """The opening tag without an attribute, whatever its prefix."""
    return re.sub(rb"\s(?:[^\s<>/:=\"']+:)?" + re.escape(name.encode()) + rb"\s*=\s*(?:\"[^\"]*\"|'[^']*')", b"", tag)


def require_sound_xml(xml: bytes) -> None:
    """Raises NotPatchable for a part that is no XML in UTF-8, and for one with a DOCTYPE, which may name files."""
    _read_through(_parser_of(xml), xml)


def _parser_of(xml: bytes) -> XMLParserType:
    def refuse(*_: object) -> None:
        raise NotPatchable("a part of it may refer to other files")

    def check(_version: str, encoding: str | None, _standalone: int) -> None:
        if encoding is not None and encoding.lower() not in ("utf-8", "us-ascii", "ascii"):
            raise NotPatchable("a part of it is not written in UTF-8")

    if xml[:2] in (b"\xff\xfe", b"\xfe\xff") or b"\0" in xml[:4]:
        raise NotPatchable("a part of it is not written in UTF-8")
    parser = ParserCreate(namespace_separator=" ")
    parser.StartDoctypeDeclHandler, parser.XmlDeclHandler = refuse, check
    return parser


def _read_through(parser: XMLParserType, xml: bytes) -> None:
    try:
        parser.Parse(xml, True)
    except ExpatError as error:
        raise NotPatchable("a part is not sound XML") from error
