"""The hidden name in which a workbook repeats where a sheet's filter lies; programs that save one keep both alike."""

import re

from logistics_batch.model.issue import column_letters
from logistics_batch.paper.xlsx_package import Package, packed
from logistics_batch.paper.xlsx_parts import MAIN, parsed, workbook_part
from logistics_batch.paper.xlsx_sheet import Area, checked
from logistics_batch.paper.xml_bytes import attribute, element_pattern, opening_tag

_NAME = b"_xlnm._FilterDatabase"
_AREA = re.compile(rb"(.*!)\$[A-Z]{1,3}\$\d+:\$[A-Z]{1,3}\$\d+", re.DOTALL)
_DEFINED_NAME = re.compile(rb"<((?:[\w.-]+:)?definedName)(?=\s)")


def with_filter_named(content: bytes, sheet: str, area: Area) -> bytes:
    """The workbook whose name for that sheet's filter says this area; one without such a name stays as it is."""
    package = Package(content)
    workbook = workbook_part(package)
    xml = package.read(workbook)
    tag = _DEFINED_NAME.search(xml)
    if tag is None or _NAME not in xml:
        return content
    names = [line.get("name") for line in parsed(xml, part=workbook).iter(f"{{{MAIN}}}sheet")]
    number = str(names.index(sheet)).encode()
    changed = element_pattern(tag[1]).sub(lambda found: _named(found, number, area), xml)
    return package.with_parts({workbook: packed(checked([changed]))})


def _named(found: re.Match[bytes], sheet_number: bytes, area: Area) -> bytes:
    known = _AREA.fullmatch(found[2] or b"")
    if known is None or (attribute(found[1], b"name"), attribute(found[1], b"localSheetId")) != (_NAME, sheet_number):
        return found[0]
    left, right = column_letters(area.left), column_letters(area.right)
    written = f"${left}${area.top}:${right}${area.bottom}".encode()
    return b"".join([opening_tag(found[0]), known[1], written, found[0][found.end(2) - found.start() :]])
