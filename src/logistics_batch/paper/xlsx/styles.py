"""The styles of a workbook with our looks added: status cells, and failing cells that keep everything but their fill.

A failing cell's new style is its old one with another fill, so number format, font and border stay. The colour it had
goes into the background colour of the solid pattern, where no program shows it and Excel keeps it: a round later the
old style is found again. Equal styles are added once only, so the part does not grow from round to round.
"""

from copy import deepcopy

from lxml.etree import _Element as Element

from logistics_batch.model.report import Fate
from logistics_batch.paper.palette import (
    FAILING_FILL,
    FAILING_FILL_OVER_ANOTHER,
    FATE_PAINTS,
    HEADER_PAINT,
    MUTED_PAINT,
    TEXT_PAINT,
    Paint,
)
from logistics_batch.paper.xlsx.package import NotPatchable, main, whole_number, written

_MOST_STYLES = 64_000  # Excel takes 65,490
_TEXT_FORMAT = "49"  # "@": what is typed into the cell stays as it is typed


class _Items:
    """A counted list inside the part; an item equal to one that is there is not added again."""

    def __init__(self, root: Element, name: str) -> None:
        found = root.find(main(name))
        if found is None:
            raise NotPatchable(f"the styles have no <{name}>")
        self.element = found
        self.items = list(found)
        self._index_of: dict[object, int] = {}
        for index, each in enumerate(self.items):
            self._index_of.setdefault(_essence(each), index)

    def add(self, item: Element) -> int:
        key = _essence(item)
        if key not in self._index_of:
            self._index_of[key] = len(self.items)
            self.items.append(item)
            self.element.append(item)
            self.element.set("count", str(len(self.items)))
        return self._index_of[key]


def _essence(item: Element) -> object:
    """What makes two items equal: names, attributes in any order, and what stands inside."""
    return item.tag, frozenset(item.attrib.items()), (item.text or "").strip(), tuple(map(_essence, item))


class StyleSheet:
    """The styles part, open for additions; `failing` and `restored` are asked for each cell."""

    def __init__(self, root: Element) -> None:
        self._root = root
        self._fonts, self._fills, self._xfs = (_Items(root, name) for name in ("fonts", "fills", "cellXfs"))
        if len(self._xfs.items) > _MOST_STYLES:
            raise NotPatchable("the workbook has nearly as many cell styles as Excel allows")
        self._has_parents = root.find(main("cellStyleXfs")) is not None
        self._failing: dict[int, int] = {}
        self.restored = self._earlier_marks()

    def written(self) -> bytes:
        """The part with everything that was added."""
        return written(self._root)

    # -- our own cells ------------------------------------------------------------------------------------------------

    def header(self) -> int:
        """The style of our header cells."""
        return self._own(HEADER_PAINT)

    def status(self, fate: Fate) -> int:
        """The style of a status cell."""
        return self._own(FATE_PAINTS[fate])

    def text(self, *, muted: bool, wrap: bool, guarded: bool) -> int:
        """The style of the other cells of a row; `guarded` ones stay text when they are edited (quotePrefix)."""
        return self._own(MUTED_PAINT if muted else TEXT_PAINT, wrap=wrap, guarded=guarded)

    def _own(self, paint: Paint, *, wrap: bool = False, guarded: bool = False) -> int:
        font = self._fonts.add(self._font(paint))
        fill = self._fills.add(self._solid({"rgb": paint.fill}, {"indexed": "64"})) if paint.fill else 0
        look = {"numFmtId": _TEXT_FORMAT, "fontId": str(font), "fillId": str(fill), "borderId": "0"}
        look |= {"xfId": "0"} if self._has_parents else {}
        look |= {"quotePrefix": "1"} if guarded else {}
        look |= dict.fromkeys(("applyNumberFormat", "applyFont", "applyFill", "applyAlignment"), "1")
        place = {"horizontal": "left", "vertical": "center", "indent": "1"} | ({"wrapText": "1"} if wrap else {})
        return self._xfs.add(self._made("xf", look, self._made("alignment", place)))

    def _font(self, paint: Paint) -> Element:
        """The workbook's default font in our colour, so that the added columns look like the user's own."""
        default = self._fonts.items[0] if self._fonts.items else self._made("font")
        parts = {name: default.find(main(name)) for name in ("sz", "name", "family", "charset", "scheme")}
        kept = {name: deepcopy(part) for name, part in parts.items() if part is not None}
        for part in kept.values():
            part.tail = None
        first = [self._made("b")] if paint.bold else []
        size = [kept.pop("sz")] if "sz" in kept else []
        return self._made("font", {}, *first, *size, self._made("color", {"rgb": paint.text}), *kept.values())

    def _solid(self, colour: dict[str, str], background: dict[str, str]) -> Element:
        colours = self._made("fgColor", colour), self._made("bgColor", background)
        return self._made("fill", {}, self._made("patternFill", {"patternType": "solid"}, *colours))

    def _made(self, name: str, attributes: dict[str, str] | None = None, *children: Element) -> Element:
        element = self._root.makeelement(main(name), attributes or {})
        element.extend(children)
        return element

    # -- the user's cells ---------------------------------------------------------------------------------------------

    def failing(self, style: int) -> int:
        """The style of a failing cell whose own style that is."""
        if style not in self._failing:
            own = self.restored.get(style, style)
            if own >= len(self._xfs.items):
                raise NotPatchable("a cell has a style that the workbook does not define")
            xf = self._xfs.items[own]
            colour = _colour(self._fill_of(xf), "fgColor")
            mark = FAILING_FILL_OVER_ANOTHER if colour else FAILING_FILL
            fill = self._fills.add(self._solid({"rgb": mark}, colour or {"indexed": "64"}))
            self._failing[style] = self._xfs.add(_with_fill(xf, fill))
        return self._failing[style]

    def _fill_of(self, xf: Element) -> Element | None:
        index = whole_number(xf, "fillId")
        return self._fills.items[index] if index < len(self._fills.items) else None

    def _earlier_marks(self) -> dict[int, int]:
        """For each style that an earlier round gave to failing cells: the style that the cells had before."""
        found: dict[int, int] = {}
        self._unmarked_styles: dict[object, int] = {}
        for index, xf in enumerate(tuple(self._xfs.items)):
            fill = self._fill_of(xf)
            colour = _colour(fill, "fgColor").get("rgb", "").upper()
            if colour == FAILING_FILL:
                found[index] = self._unmarked(xf, 0)
            elif colour == FAILING_FILL_OVER_ANOTHER:
                found[index] = self._unmarked(xf, self._earlier_fill(_colour(fill, "bgColor")))
        return found

    def _earlier_fill(self, colour: dict[str, str]) -> int:
        if colour.get("indexed", "64" if not colour else "") == "64":
            return 0
        same = (index for index, fill in enumerate(self._fills.items) if _colour(fill, "fgColor") == colour)
        known = next(same, None)
        return known if known is not None else self._fills.add(self._solid(colour, {"indexed": "64"}))

    def _unmarked(self, xf: Element, fill: int) -> int:
        if not self._unmarked_styles:
            for index, each in enumerate(self._xfs.items):
                self._unmarked_styles.setdefault(_essence(_with_fill(each, whole_number(each, "fillId"))), index)
        wanted = _with_fill(xf, fill)
        essence = _essence(wanted)
        if essence not in self._unmarked_styles:
            if not fill:
                wanted.attrib.pop("applyFill")
            self._unmarked_styles[essence] = self._xfs.add(wanted)
        return self._unmarked_styles[essence]


def _with_fill(xf: Element, fill: int) -> Element:
    made = deepcopy(xf)
    made.tail = None
    made.set("fillId", str(fill))
    made.set("applyFill", "1")
    return made


def _colour(fill: Element | None, name: str) -> dict[str, str]:
    """The attributes of a solid fill's colour; none for no fill and for patterns that have no one colour."""
    pattern = fill.find(main("patternFill")) if fill is not None else None
    if pattern is None or pattern.get("patternType") != "solid":
        return {}
    colour = pattern.find(main(name))
    return {str(key): str(value) for key, value in colour.attrib.items()} if colour is not None else {}
