"""What goes back under our name, in the program that opens it: it opens, and fetches nothing from anywhere."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from paper.test_inert_workbook import PATCHED, answers
from support.active_workbooks import ACTIVE
from support.libreoffice import converted
from support.result_samples import SHEET, order_workbook, read_again


@contextmanager
def listening() -> Iterator[tuple[str, list[bytes]]]:
    """An address on this machine, and what was asked for there."""
    asked: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.2)
        stopped = threading.Event()

        def answer() -> None:
            while not stopped.is_set():
                try:
                    connection, _ = server.accept()
                except TimeoutError:
                    continue
                with connection:
                    connection.settimeout(5)
                    asked.append(connection.recv(200))
                    connection.sendall(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")

        thread = threading.Thread(target=answer)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.getsockname()[1]}", asked
        finally:
            stopped.set()
            thread.join()


def drawn(contents: dict[str, bytes], folder: Path) -> set[str]:
    """The workbooks that LibreOffice made a PDF of."""
    folder.mkdir()
    for name, content in contents.items():
        (folder / f"{name}.xlsx").write_bytes(content)
    return {path.stem for path in converted([folder / f"{name}.xlsx" for name in contents], "pdf")}


@pytest.mark.real
def test_libreoffice_opens_every_answer_and_asks_nobody(tmp_path: Path) -> None:
    orders = next(sheet for sheet in read_again(order_workbook(), tmp_path) if sheet.name == SHEET)
    with listening() as (there, asked):
        drawn({"came": ACTIVE["picture from elsewhere"].workbook(there)}, tmp_path / "before")
        assert any(b"pixel.png" in request for request in asked)  # so that silence means something
        asked.clear()
        contents = {
            f"{name} {kind}": content
            for name, active in PATCHED.items()
            for kind, content in answers(active.workbook(there), orders).items()
        }
        assert drawn(contents, tmp_path / "after") == set(contents)
        assert asked == []
