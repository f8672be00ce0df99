"""The styles of a workbook with our looks added: status cells, and failing cells that keep everything but their fill.

A failing cell's new style is its old one with another fill, so number format, font and border stay. The colour it had
goes into the background colour of the solid pattern, where no program shows it and Excel keeps it: a round later the
old style is found again. Equal styles are added once only, so the part does not grow from round to round.
"""

import re
from collections.abc import Iterator

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
from logistics_batch.paper.xlsx.xml_bytes import (
    NotPatchable,
    Section,
    attribute,
    element_pattern,
    opening_tag,
    require_plain_xml,
    root_prefix,
    whole_number,
    with_attribute,
    without_attribute,
)

_MOST_STYLES = 64_000  # Excel takes 65,490
_TEXT_FORMAT = b"49"  # "@": what is typed into the cell stays as it is typed


class StyleSheet:
    """The styles part, open for additions; `failing` and `restored` are asked for each cell."""

    def __init__(self, xml: bytes) -> None:
        require_plain_xml(xml, part="styles")
        self._prefix = root_prefix(xml, "styleSheet")
        self._fonts = self._section(xml, "fonts", "font")
        self._fills = self._section(self._fonts.after, "fills", "fill")
        self._xfs = self._section(self._fills.after, "cellXfs", "xf")
        if len(self._xfs.items) > _MOST_STYLES:
            raise NotPatchable("the workbook has nearly as many cell styles as Excel allows")
        self._has_style_parents = b"cellStyleXfs" in self._fills.after
        self._failing: dict[int, int] = {}
        self.restored = self._earlier_marks()

    def _section(self, xml: bytes, name: str, item: str) -> Section:
        return Section.of(xml, tag=self._prefix + name.encode(), item=self._prefix + item.encode())

    @property
    def count(self) -> int:
        """How many cell styles there are."""
        return len(self._xfs.items)

    def rendered(self) -> bytes:
        """The part with everything that was added."""
        return b"".join(self._pieces())

    def _pieces(self) -> Iterator[bytes]:
        yield self._fonts.before
        yield from self._fonts.pieces()
        yield self._fills.before
        yield from self._fills.pieces()
        yield self._xfs.before
        yield from self._xfs.pieces()
        yield self._xfs.after

    # -- our own cells ------------------------------------------------------------------------------------------------

    def header(self) -> int:
        """The style of our header cells."""
        return self._own(HEADER_PAINT)

    def status(self, fate: Fate) -> int:
        """The style of a status cell."""
        return self._own(FATE_PAINTS[fate])

    def text(self, fate: Fate, *, wrap: bool, guarded: bool) -> int:
        """The style of the other cells of a row; `guarded` ones stay text when they are edited (quotePrefix)."""
        return self._own(MUTED_PAINT if fate is Fate.SKIPPED else TEXT_PAINT, wrap=wrap, guarded=guarded)

    def _own(self, paint: Paint, *, wrap: bool = False, guarded: bool = False) -> int:
        p = self._prefix
        font = self._fonts.add(self._font(paint))
        fill = self._fills.add(self._solid(paint.fill.encode())) if paint.fill else 0
        look = b'<%sxf numFmtId="%s" fontId="%d" fillId="%d" borderId="0"' % (p, _TEXT_FORMAT, font, fill)
        look += b' xfId="0"' if self._has_style_parents else b""
        look += b' quotePrefix="1"' if guarded else b""
        look += b' applyNumberFormat="1" applyFont="1" applyFill="1" applyAlignment="1">'
        place = b'vertical="center" wrapText="1"' if wrap else b'vertical="center"'
        alignment = b'<%salignment horizontal="left" %s indent="1"/>' % (p, place)
        return self._xfs.add(look + alignment + b"</%sxf>" % p)

    def _font(self, paint: Paint) -> bytes:
        """The workbook's default font in our colour, so that the added columns look like the user's own."""
        p = self._prefix
        default = self._fonts.items[0] if self._fonts.items else b""
        kept = {name: self._child(default, name) for name in (b"sz", b"name", b"family", b"charset", b"scheme")}
        bold = b"<%sb/>" % p if paint.bold else b""
        colour = b'<%scolor rgb="%s"/>' % (p, paint.text.encode())
        rest = b"".join(kept[name] for name in (b"name", b"family", b"charset", b"scheme"))
        return b"<%sfont>" % p + bold + kept[b"sz"] + colour + rest + b"</%sfont>" % p

    def _child(self, element: bytes, name: bytes) -> bytes:
        found = element_pattern(self._prefix + name).search(element)
        return found[0] if found is not None else b""

    def _solid(self, colour: bytes, background: bytes = b'indexed="64"') -> bytes:
        p = self._prefix
        colours = b'<%sfgColor rgb="%s"/><%sbgColor %s/>' % (p, colour, p, background)
        return b'<%sfill><%spatternFill patternType="solid">' % (p, p) + colours + b"</%spatternFill></%sfill>" % (p, p)

    # -- the user's cells ---------------------------------------------------------------------------------------------

    def failing(self, style: int) -> int:
        """The style of a failing cell whose own style that is."""
        if style not in self._failing:
            self._failing[style] = self._with_failing_fill(self.restored.get(style, style))
        return self._failing[style]

    def _with_failing_fill(self, style: int) -> int:
        if style >= len(self._xfs.items):
            raise NotPatchable("a cell has a style that the workbook does not define")
        xf = self._xfs.items[style]
        colour = self._shown_colour(self._fill_of(xf))
        fill = self._solid(FAILING_FILL.encode())
        if colour:
            fill = self._solid(FAILING_FILL_OVER_ANOTHER.encode(), colour)
        return self._xfs.add(self._with_fill(xf, self._fills.add(fill), apply=True))

    def _with_fill(self, xf: bytes, fill: int, *, apply: bool) -> bytes:
        opening = opening_tag(xf)
        changed = with_attribute(opening, b"fillId", str(fill).encode())
        changed = with_attribute(changed, b"applyFill", b"1") if apply else without_attribute(changed, b"applyFill")
        return changed + xf[len(opening) :]

    def _fill_of(self, xf: bytes) -> bytes:
        index = whole_number(opening_tag(xf), b"fillId")
        return self._fills.items[index] if index < len(self._fills.items) else b""

    def _colour(self, fill: bytes, name: bytes) -> bytes:
        found = element_pattern(self._prefix + name).search(fill)
        return found[1].strip() if found is not None else b""

    def _shown_colour(self, fill: bytes) -> bytes:
        """The attributes of a solid fill's colour; b"" for no fill and for patterns that have no one colour."""
        if not re.search(rb"patternType\s*=\s*[\"']solid[\"']", fill):
            return b""
        return self._colour(fill, b"fgColor")

    def _earlier_marks(self) -> dict[int, int]:
        """For each style that an earlier round gave to failing cells: the style that the cells had before."""
        found: dict[int, int] = {}
        for index, xf in enumerate(tuple(self._xfs.items)):
            fill = self._fill_of(xf)
            colour = (attribute(b"<c " + self._shown_colour(fill) + b">", b"rgb") or b"").decode().upper()
            if colour == FAILING_FILL:
                found[index] = self._unmarked(xf, 0)
            elif colour == FAILING_FILL_OVER_ANOTHER:
                found[index] = self._unmarked(xf, self._earlier_fill(fill))
        return found

    def _earlier_fill(self, fill: bytes) -> int:
        background = self._colour(fill, b"bgColor")
        if not background or attribute(b"<c " + background + b">", b"indexed") == b"64":
            return 0
        p = self._prefix
        same = re.compile(rb"fgColor\s+" + re.escape(background) + rb"\s*/?>")
        for index, each in enumerate(self._fills.items):
            if self._shown_colour(each) and same.search(each):
                return index
        colours = b'<%sfgColor %s/><%sbgColor indexed="64"/>' % (p, background, p)
        solid = b'<%sfill><%spatternFill patternType="solid">' % (p, p) + colours
        return self._fills.add(solid + b"</%spatternFill></%sfill>" % (p, p))

    def _unmarked(self, xf: bytes, fill: int) -> int:
        wanted = _essence(self._with_fill(xf, fill, apply=False))
        for index, each in enumerate(self._xfs.items):
            if _essence(without_attribute(each, b"applyFill")) == wanted:
                return index
        return self._xfs.add(self._with_fill(xf, fill, apply=fill != 0))


def _essence(xf: bytes) -> tuple[frozenset[bytes], bytes]:
    """What makes two styles equal: their attributes in any order, and what stands inside."""
    opening = opening_tag(xf)
    attributes = frozenset(re.findall(rb"(?<![\w:])[\w:]+\s*=\s*[\"'][^\"']*[\"']", opening))
    return attributes, b"" if opening.endswith(b"/>") else xf[len(opening) :]
