"""A file without its end is known as one: workbooks and archives by their last record, texts by their last line."""

import io
import zipfile
from pathlib import Path

import pytest

from logistics_batch.intake.stores.readiness import why_unclosed


def archive(comment: bytes = b"") -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as book:
        book.writestr("xl/workbook.xml", b"<workbook/>" * 40)
        book.comment = comment
    return out.getvalue()


def why(tmp_path: Path, content: bytes, name: str = "orders.xlsx") -> str:
    path = tmp_path / "arrived"
    path.write_bytes(content)
    why = why_unclosed(path, name=name)
    return why.reason if why else ""


@pytest.mark.parametrize("comment", [b"", b"made by the warehouse", b"PK\x05\x06 in a comment" + bytes(300)])
def test_a_whole_workbook_has_its_end_and_a_cut_one_has_not(tmp_path: Path, comment: bytes) -> None:
    whole = archive(comment)
    assert why(tmp_path, whole) == ""
    for length in (4, 100, len(whole) // 2, len(whole) - 1):
        assert "its end is missing" in why(tmp_path, whole[:length])


def test_a_directory_far_from_the_end_is_found(tmp_path: Path) -> None:
    assert why(tmp_path, archive(bytes(65_535))) == ""
    assert "its end is missing" in why(tmp_path, archive(bytes(65_535))[:-1])


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le", "utf-16-be"])
def test_the_last_line_of_a_text_ends(tmp_path: Path, encoding: str) -> None:
    assert why(tmp_path, "Order,Qty\r\nA,1\r\n".encode(encoding), "orders.CSV") == ""
    assert why(tmp_path, "Order,Qty\r\nA,1".encode(encoding), "orders.CSV") == "its last line does not end"


def test_of_other_files_nothing_is_said(tmp_path: Path) -> None:
    assert why(tmp_path, b"", "orders.csv") == ""
    assert why(tmp_path, b"\xd0\xcf\x11\xe0 an old workbook", "orders.xls") == ""
