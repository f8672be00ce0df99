"""A workbook that fetches and links comes back through the whole program without that, and everybody is told."""

import io
from collections.abc import Iterator
from pathlib import Path

import pytest
from openpyxl import Workbook, load_workbook
from support.result_samples import parts_of
from support.sandbox_process import RunningSandbox, created, sandbox_for_a_test
from support.workspace import Workspace, order_lines

NOTES = ("replaced by their values", "Links to anything but https pages")


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningSandbox]:
    yield from sandbox_for_a_test(tmp_path_factory.mktemp("service"))


def active_workbook(references: list[str]) -> bytes:
    book = Workbook()
    sheet = book.active
    assert sheet is not None
    for line in order_lines(references).splitlines():
        sheet.append(line.split(","))
    sheet["I2"] = '=_xlfn.WEBSERVICE("http://127.0.0.1:9/"&A2)'
    sheet["I3"] = "=LEN(A3)"
    sheet["A2"].hyperlink = "file://127.0.0.1/x.exe"
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def test_a_workbook_that_fetches_and_links_comes_back_without_that_and_says_so(
    tmp_path: Path, service: RunningSandbox
) -> None:
    office = Workspace(tmp_path / "workspace", url=service.url)
    file = office.drop("orders.xlsx", active_workbook(["WEB-1", "WEB-2"]))
    done = office.run("push", file, "--mapping", "orders", "--json")
    assert done.code == 0, done.err
    assert created(service)["WEB-1"] == 1
    reports = office.root / "reports"
    content = (reports / "orders.result.xlsx").read_bytes()
    text = b"\n".join(parts_of(content).values())
    assert b"WEBSERVICE" in b"\n".join(parts_of(Path(file).read_bytes()).values())
    assert b"WEBSERVICE" not in text
    assert b"127.0.0.1" not in text
    assert b"LEN(A3)" in text
    told_to_clerk = load_workbook(io.BytesIO(content)).active
    assert told_to_clerk is not None
    legend = next(cell.comment.text for cell in told_to_clerk[1] if cell.comment is not None)
    for told in (legend, "\n".join(done.json["notes"])):
        assert [note for note in NOTES if note not in told] == [], told
