"""After a backup of the ledger was put back no number of a feed comes twice with other contents: readers skip those."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.order_room import Room, order_room
from support.sandbox_process import RunningSandbox, sandbox_for_a_test

from logistics_batch.errors import LedgerRefused
from logistics_batch.flows.labels.labels import LabelsPlan, make_labels
from logistics_batch.flows.verify_ledger import accept_restored

FEED = "out/status/order-status-{:06}.csv"


@pytest.fixture(scope="module")
def sandbox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningSandbox]:
    yield from sandbox_for_a_test(tmp_path_factory.mktemp("shared"))


def fed_twice(room: Room, order: str) -> bytes:
    """A feed, a backup, and one more feed; gives the bytes of the second."""
    room.send(f"{order},Wires,1,0.00")
    room.run()
    room.parts.ledger.itself.back_up(room.root / "backup.db")
    room.move(order, "Assigned")
    room.run()
    return (room.root / FEED.format(2)).read_bytes()


def put_back(root: Path) -> None:
    ledger = root / "var/ledger.db"
    for path in ledger.parent.glob("ledger.db*"):
        path.unlink()
    shutil.copy(root / "backup.db", ledger)


def statuses(room: Room) -> dict[str, list[str]]:
    return {name: [line["status"] for line in lines] for name, lines in room.feeds().items()}


@pytest.mark.parametrize("gone", ["nothing", "the reader's folder", "the reports", "copies by age"])
def test_it_counts_on_from_the_highest_number_that_is_known_anywhere(
    tmp_path: Path, sandbox: RunningSandbox, gone: str
) -> None:
    order = f"R{abs(hash(gone)) % 10**8}"
    with order_room(tmp_path, sandbox) as room:
        second = fed_twice(room, order)
    put_back(tmp_path)
    with order_room(tmp_path, sandbox) as room:
        with pytest.raises(LedgerRefused, match="older copy"):
            room.run()
        with pytest.raises(LedgerRefused, match="older copy"):
            make_labels(room.parts, LabelsPlan())
        assert (tmp_path / FEED.format(2)).read_bytes() == second
        accept_restored(room.parts, reason="the disk died")
        if gone == "the reader's folder":
            shutil.rmtree(tmp_path / "out/status")
        elif gone == "the reports":
            shutil.rmtree(tmp_path / "reports")
        elif gone == "copies by age":
            shutil.rmtree(tmp_path / "out/status")
            for copy in (tmp_path / "reports/feeds/order-status").glob("order*"):
                copy.unlink()
        room.move(order, "Picked")
        assert room.run().exit_code == 0
        found = statuses(room)
    assert found.pop("order-status-000003.csv") == ["Picked"]
    if gone in ("nothing", "the reports"):
        assert (tmp_path / FEED.format(2)).read_bytes() == second
        assert found == {"order-status-000001.csv": ["Pending"], "order-status-000002.csv": ["Assigned"]}


def test_what_lies_there_with_other_contents_is_never_written_over(tmp_path: Path, sandbox: RunningSandbox) -> None:
    with order_room(tmp_path, sandbox) as room:
        room.send("F1,Wires,1,0.00")
        (tmp_path / "out").mkdir()
        (tmp_path / "out/status").write_text("a file where a folder should be")
        assert room.run().exit_code == 5  # the feed is made, and waits
        (tmp_path / "out/status").unlink()
        foreign = tmp_path / FEED.format(1)
        foreign.parent.mkdir()
        foreign.write_text("somebody else's")
        report = room.run()
        assert report.exit_code == 5
        assert "order-status-000001.csv lies there with other contents, and is not written over" in report.feed.failed
        assert foreign.read_text() == "somebody else's"
        foreign.unlink()
        assert room.run().exit_code == 0
        assert statuses(room) == {"order-status-000001.csv": ["Pending"]}


def test_feeds_may_lie_at_the_top_of_a_folder_that_is_not_there_yet(tmp_path: Path, sandbox: RunningSandbox) -> None:
    with order_room(tmp_path, sandbox) as room:
        room.send("T1,Wires,1,0.00")
        assert room.run("kind: order_status\npoll_after: 0s\nfeed: {folder: fed}\n").exit_code == 0
        room.move("T1", "Assigned")
        assert room.run("kind: order_status\npoll_after: 0s\nfeed: {folder: fed}\n").exit_code == 0
    names = sorted(path.name for path in (tmp_path / "fed").iterdir())
    assert names == ["order-status-000001.csv", "order-status-000002.csv"]
