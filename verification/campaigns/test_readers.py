"""Whoever reads the results folder of a real OpenSSH server while answers are written never sees a part of one."""

import threading
from pathlib import Path

import pytest
from support.sftp_servers import RunningSshd, openssh_server, real_access

from logistics_batch.intake.stores.sftp import SftpStore

__all__ = ["openssh_server"]

READERS = 4
VERSIONS = 30
LINE_BYTES = 32


def version(number: int) -> bytes:
    """An answer of one to two MB, every line of which says which one it is."""
    return f"version {number:04d}".encode().ljust(LINE_BYTES - 1) + b"\n"


def whole(number: int) -> bytes:
    return version(number) * (30_000 + 1000 * number)


class Reader(threading.Thread):
    """A program on the server's side that reads the file again and again, as those that wait for answers do."""

    def __init__(self, path: Path, stop: threading.Event) -> None:
        super().__init__(daemon=True)
        self.path, self.done = path, stop
        self.seen: set[int] = set()
        self.partial: list[str] = []

    def run(self) -> None:
        while not self.done.is_set():
            try:
                content = self.path.read_bytes()
            except FileNotFoundError:
                self.partial.append("it was gone for a moment")
                return
            number = int(content[8:12] or b"-1")
            self.seen.add(number)
            if content != whole(number):
                self.partial.append(f"{len(content)} bytes that are no version")


@pytest.mark.real
def test_an_answer_is_whole_at_every_moment(openssh_server: RunningSshd) -> None:
    folder = openssh_server.root / "results"
    folder.mkdir()
    answer = folder / "orders.result.csv"
    store = SftpStore(real_access(openssh_server))
    store.put(str(answer), whole(0))
    stop = threading.Event()
    readers = [Reader(answer, stop) for _ in range(READERS)]
    for reader in readers:
        reader.start()
    try:
        for number in range(1, VERSIONS):
            store.put(str(answer), whole(number))
    finally:
        stop.set()
        for reader in readers:
            reader.join(timeout=30)
        store.close()
    assert [reader.partial for reader in readers] == [[]] * READERS
    assert len(set().union(*(reader.seen for reader in readers))) > VERSIONS // 3, "the readers really read meanwhile"
    assert [path.name for path in folder.iterdir()] == [answer.name], "nothing half-written is left behind"
