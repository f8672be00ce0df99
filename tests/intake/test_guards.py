"""A file is what its name says, and unpacking it cannot hurt; otherwise a clerk is told what to do."""

import gzip
import hashlib
import io
import tracemalloc
import zipfile
from pathlib import Path

import openpyxl
import pytest
from intake.binary_workbooks import write_ods, write_xls, write_xlsb
from support.cell_facts import types_of
from support.issues import notes_of

from logistics_batch.errors import FileHeld
from logistics_batch.intake.readers import Limits, identify, read_file, sniff_format
from logistics_batch.intake.readers.xml_trees import UnsafeXml, part_blocks
from logistics_batch.model.sheet import ReadOptions

ROWS: list[list[str | float]] = [["Order No", "Qty"], ["R1", 9876543210.0], ["00123", 2.5]]


def xlsx_bytes() -> bytes:
    content = io.BytesIO()
    book = openpyxl.Workbook()
    for row in ROWS:
        book.active.append(row)
    book.save(content)
    return content.getvalue()


def held(path: Path, name: str, *, limits: Limits | None = None) -> FileHeld:
    with pytest.raises(FileHeld) as caught:
        read_file(path, name=name, options=ReadOptions(), limits=limits)
    assert name in caught.value.message or name[:20] in caught.value.message
    assert caught.value.remedy
    return caught.value


def repacked(path: Path, *, add: dict[str, bytes] | None = None, change: dict[str, bytes] | None = None) -> Path:
    """A good workbook with parts added or replaced."""
    with zipfile.ZipFile(io.BytesIO(xlsx_bytes())) as good, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in good.namelist():
            archive.writestr(name, (change or {}).get(name, good.read(name)))
        for name, content in (add or {}).items():
            archive.writestr(name, content)
    return path


@pytest.mark.parametrize(("ending", "write"), [("xls", write_xls), ("xlsb", write_xlsb), ("ods", write_ods)])
def test_real_workbooks_of_other_formats_are_read(tmp_path, ending, write):
    path = write(tmp_path / "file", ROWS)
    (sheet,) = read_file(path, name=f"orders.{ending}", options=ReadOptions())
    assert sheet.name == "Orders"
    assert sheet.frame.rows() == [(1, "Order No", "Qty"), (2, "R1", "9876543210"), (3, "00123", "2.5")]
    assert set(types_of(sheet)) == {(2, 2), (3, 2)}
    assert notes_of(sheet) == {"values_alone": {"format": ending}}
    assert sniff_format(path) == ending


def test_identity_is_size_hash_and_content(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"a,b\n")
    source = identify(path, name="orders.csv")
    assert (source.name, source.size, sniff_format(path)) == ("orders.csv", 4, "csv")
    assert source.sha256 == hashlib.sha256(b"a,b\n").hexdigest()
    path.write_bytes(b"")
    assert sniff_format(path) == "empty"
    path.write_bytes(xlsx_bytes())
    assert sniff_format(path) == "xlsx"


DISGUISED = [
    ("orders.xls", lambda path: path.write_bytes(xlsx_bytes()), "file|disguised", ".xlsx"),
    ("orders.xlsx", lambda path: write_xls(path, ROWS), "file|disguised", ".xls"),
    ("orders.xlsx", lambda path: write_ods(path, ROWS), "file|disguised", ".ods"),
    ("orders.xls", lambda path: path.write_bytes(b"a\tb\n1\t2\n"), "file|disguised", "plain text"),
    ("orders.csv", lambda path: path.write_bytes(gzip.compress(b"a,b\n")), "file|format", "gzip"),
    ("orders.csv", lambda path: path.write_bytes(bytes(range(1, 7)) * 400), "file|format", "no text"),
    ("orders.doc", lambda path: path.write_bytes(b"a,b\n"), "file|format", ".doc"),
    ("orders", lambda path: path.write_bytes(b"a,b\n"), "file|format", "without an ending"),
    ("orders.xlsm", lambda path: path.write_bytes(xlsx_bytes()), "file|macros", "macros"),
]


@pytest.mark.parametrize(
    ("name", "write", "rule", "word"), DISGUISED, ids=lambda value: value if isinstance(value, str) else ""
)
def test_what_a_file_really_is_decides(tmp_path, name, write, rule, word):
    write(tmp_path / "file")
    refusal = held(tmp_path / "file", name)
    assert refusal.rule == rule
    assert word in refusal.message


def test_other_zip_files_are_no_workbooks(tmp_path):
    for parts, word in (
        ({"a.csv": "x"}, "zip archive"),
        ({"[Content_Types].xml": "", "word/document.xml": ""}, "Office"),
    ):
        with zipfile.ZipFile(tmp_path / "file", "w") as archive:
            for part, content in parts.items():
                archive.writestr(part, content)
        assert word in held(tmp_path / "file", "orders.xlsx").message


@pytest.mark.parametrize(("name", "rule"), [("a.xlsx", "damaged"), ("a.ods", "damaged"), ("a.csv", "format")])
def test_an_archive_without_its_end_is_no_other_kind_of_file(tmp_path, name, rule):
    """A clerk who cannot see that an upload broke off would look for a fault in the workbook."""
    (tmp_path / "file").write_bytes(xlsx_bytes()[:-200])
    refusal = held(tmp_path / "file", name)
    assert refusal.rule == f"file|{rule}"
    assert "damaged" in refusal.message
    assert sniff_format(tmp_path / "file") == "cut"


def test_a_bomb_is_counted_and_not_believed(tmp_path):
    path = repacked(tmp_path / "file", add={"xl/media/zeros.xml": b"<a>" + bytes(40 << 20)})
    assert "the part xl/media/zeros.xml unpacks to over 200 times" in held(path, "orders.xlsx").message
    assert "20 MB" in held(path, "orders.xlsx", limits=Limits(max_unpacked_bytes=20 << 20, max_ratio=10_000)).message


@pytest.mark.parametrize(
    "part", ["xl/workbook.xml", "xl/theme/theme1.xml", "docProps/app.xml", "xl/_rels/workbook.xml.rels"]
)
def test_a_document_type_in_any_part_is_refused(tmp_path, part):
    path = repacked(tmp_path / "file", change={part: b'<?xml version="1.0"?><!DOCTYPE a><a/>'})
    assert "document type" in held(path, "orders.xlsx").message


def test_a_document_type_on_the_edge_of_two_blocks_is_seen(tmp_path):
    content = b" " * ((1 << 20) - 4) + b"<!DOCTYPE a>"
    assert "document type" in held(repacked(tmp_path / "file", add={"xl/x.xml": content}), "orders.xlsx").message


def test_damage_within_a_part_is_noticed(tmp_path):
    content = bytearray(repacked(tmp_path / "file").read_bytes())
    with zipfile.ZipFile(tmp_path / "file") as archive:
        entry = archive.getinfo("xl/worksheets/sheet1.xml")
    content[entry.header_offset + 30 + len(entry.filename) + 20] ^= 0xFF
    (tmp_path / "file").write_bytes(content)
    assert held(tmp_path / "file", "orders.xlsx").rule == "file|damaged"


@pytest.mark.parametrize("write", [write_xls, write_xlsb, write_ods])
def test_other_formats_cut_off_are_held(tmp_path, write):
    whole = write(tmp_path / "whole", ROWS * 500).read_bytes()
    ending = write.__name__.removeprefix("write_")
    for share in (0.2, 0.5, 0.9):
        (tmp_path / "file").write_bytes(whole[: int(len(whole) * share)])
        held(tmp_path / "file", f"orders.{ending}")


def test_messages_show_hostile_names_escaped(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(FileHeld) as caught:
        read_file(tmp_path / "file", name="a\x1b[2J\n.csv", options=ReadOptions())
    assert caught.value.message.isprintable()


ODS_KIND = b"application/vnd.oasis.opendocument.spreadsheet"


def write_packed(path: Path, method: int, *, part: bytes) -> Path:
    with zipfile.ZipFile(path, "w", method) as archive:
        archive.writestr("mimetype", part)
    return path


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_part_that_unpacks_in_one_piece_only_is_not_looked_into(tmp_path, method):
    """The part that tells an .ods would become megabytes of a few bytes before any limit is asked."""
    path = write_packed(tmp_path / "file", method, part=ODS_KIND + bytes(60 << 20))
    tracemalloc.start()
    try:
        assert "zip archive" in held(path, "orders.ods").message
        assert sniff_format(path) == "zip"
        assert tracemalloc.get_traced_memory()[1] < 10 << 20
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_damage_within_the_part_that_is_looked_at_is_a_held_file_and_no_crash(tmp_path, method):
    whole = write_packed(tmp_path / "whole", method, part=ODS_KIND).read_bytes()
    for place in range(2, whole.index(b"PK\1\2")):
        (tmp_path / "file").write_bytes(whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :])
        assert held(tmp_path / "file", "orders.ods").rule.startswith("file|")


def test_an_archive_of_more_names_than_anybody_packs_is_not_opened(tmp_path):
    with zipfile.ZipFile(tmp_path / "file", "w") as archive:
        for number in range(10_000):
            archive.writestr(f"xl/{number:060}", b"")
    assert "more files than anybody packs" in held(tmp_path / "file", "orders.xlsx").message


def test_rows_that_are_formatted_and_empty_down_to_the_end_are_no_single_element(tmp_path):
    """Not one end tag stands among them."""
    empty = b"".join(b'<row r="%d"%s/>' % (row, b" " * 60_000) for row in range(4, 600))
    content = b"<sheetData><row><c/></row>" + empty + b"</sheetData>"
    assert len(empty) > 32 << 20
    with zipfile.ZipFile(tmp_path / "a", "w") as archive:
        archive.writestr("sheet", content)
        blocks = list(part_blocks(archive, "sheet", end=b"</row>", or_before=b"<row "))
        assert b"".join(blocks) == content and all(block.startswith(b"<row ") for block in blocks[2:])
        with pytest.raises(UnsafeXml):
            list(part_blocks(archive, "sheet", end=b"</row>", or_before=b"<cell "))


@pytest.mark.parametrize(
    ("content", "name", "words"),
    [
        (b'[{"order": 1}]', "a.csv", "it is a JSON file"),
        (b'<?xml version="1.0"?><office:document office:mimetype="application/vnd.oasis.opendocument.spreadsheet">',
         "a.fods", "it is a flat LibreOffice spreadsheet"),
    ],
)  # fmt: skip
def test_relatives_of_tables_are_called_by_their_name(tmp_path, content, name, words):
    path = tmp_path / "a"
    path.write_bytes(content)
    assert words in held(path, name).message
