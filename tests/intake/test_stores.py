"""What every store promises, run over a folder, an SFTP server in process and a real OpenSSH server."""

import hashlib
import os
import stat
from dataclasses import replace
from pathlib import Path

import pytest

from logistics_batch.errors import FileHeld, FileUnstable, FileVanished, StoreError
from logistics_batch.intake.stores.folder import FolderStore
from logistics_batch.intake.stores.store import FileStore, Kind, RemoteFile

CONTENT = bytes(range(256)) * 700  # some blocks, and not a whole number of them


def test_lists_files_oldest_first_without_folders(under_test):
    (under_test.root / "in" / "sub").mkdir(parents=True)
    for name, modified in (("b.csv", 2_000_000), ("a.csv", 3_000_000), ("c.csv", 1_000_000)):
        (under_test.root / "in" / name).write_text(name)
        os.utime(under_test.root / "in" / name, (modified, modified))
    listed = under_test.store.list(under_test.path("/in"))
    assert [(file.name, file.size, file.modified) for file in listed] == [
        ("c.csv", 5, 1_000_000),
        ("b.csv", 5, 2_000_000),
        ("a.csv", 5, 3_000_000),
    ]
    assert listed[0].path == under_test.path("/in/c.csv")


def test_lists_an_empty_folder_and_many_files(under_test):
    (under_test.root / "in").mkdir()
    assert under_test.store.list(under_test.path("/in")) == []
    for number in range(1_200):
        (under_test.root / "in" / f"{number:04}.csv").touch()
    names = sorted(file.name for file in under_test.store.list(under_test.path("/in")))
    assert names == [f"{number:04}.csv" for number in range(1_200)]


def test_a_missing_folder_is_an_error_that_names_store_and_path(under_test):
    with pytest.raises(StoreError) as caught:
        under_test.store.list(under_test.path("/nowhere"))
    assert not isinstance(caught.value, FileVanished)
    assert under_test.store.label in caught.value.message
    assert "/nowhere" in caught.value.message
    assert caught.value.remedy


@pytest.mark.parametrize("size", [0, 1, 32768, len(CONTENT)])
def test_fetches_whole_files_privately(under_test, tmp_path, size):
    (under_test.root / "a.csv").write_bytes(CONTENT[:size])
    to = tmp_path / "a"
    fetched = under_test.store.fetch(under_test.listed("/a.csv"), to=to)
    assert to.read_bytes() == CONTENT[:size]
    assert (fetched.size, fetched.sha256) == (size, hashlib.sha256(CONTENT[:size]).hexdigest())
    assert stat.S_IMODE(to.stat().st_mode) == 0o600
    assert not list(tmp_path.glob("*.part"))


def test_a_file_that_somebody_else_took_has_vanished(under_test, tmp_path):
    (under_test.root / "a.csv").write_text("x")
    file = under_test.listed("/a.csv")
    (under_test.root / "a.csv").unlink()
    with pytest.raises(FileVanished):
        under_test.store.fetch(file, to=tmp_path / "a")
    with pytest.raises(FileVanished):
        under_test.store.read(file.path)
    with pytest.raises(FileVanished):
        under_test.store.move(file.path, to_folder=under_test.path("/archive"))
    assert not (tmp_path / "a").exists()
    assert not list(tmp_path.glob("*.part"))


@pytest.mark.parametrize("content", [b"longer than it was", b"x"])
def test_a_file_that_is_no_longer_what_was_listed_is_left(under_test, tmp_path, content):
    (under_test.root / "a.csv").write_bytes(b"as listed")
    file = under_test.listed("/a.csv")
    (under_test.root / "a.csv").write_bytes(content)
    with pytest.raises(FileUnstable):
        under_test.store.fetch(file, to=tmp_path / "a")
    assert not (tmp_path / "a").exists()


def test_a_file_of_the_same_size_but_another_time_is_left(under_test, tmp_path):
    (under_test.root / "a.csv").write_bytes(b"one")
    file = under_test.listed("/a.csv")
    (under_test.root / "a.csv").write_bytes(b"two")
    os.utime(under_test.root / "a.csv", (5_000, 5_000))
    with pytest.raises(FileUnstable):
        under_test.store.fetch(file, to=tmp_path / "a")


def test_links_are_listed_as_such_and_never_followed(under_test, tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("not yours")
    (under_test.root / "link.csv").symlink_to(secret)
    (under_test.root / "loop.csv").symlink_to("loop.csv")
    assert {(file.name, file.is_link) for file in under_test.store.list(under_test.path("/"))} == {
        ("link.csv", True),
        ("loop.csv", True),
    }
    # Also a file that becomes a link behind our back is not followed.
    for name in ("link.csv", "loop.csv"):
        disguised = RemoteFile(name=name, path=under_test.path(f"/{name}"), size=9, modified=None)
        with pytest.raises(StoreError):
            under_test.store.fetch(disguised, to=tmp_path / "a")
    with pytest.raises(StoreError):
        under_test.store.read(under_test.path("/link.csv"))
    assert not (tmp_path / "a").exists()


def test_what_is_no_file_is_told_by_its_kind_and_never_read(under_test, tmp_path):
    (under_test.root / "box.csv").mkdir()
    (under_test.root / "dangling.csv").symlink_to("nowhere")
    os.mkfifo(under_test.root / "pipe.csv")
    (under_test.root / "a.csv").write_text("x")
    kinds = {entry.name: entry.kind for entry in under_test.store.entries(under_test.path("/"))}
    box, pipe = Kind.FOLDER, Kind.SPECIAL
    assert kinds == {"a.csv": Kind.FILE, "box.csv": box, "dangling.csv": Kind.LINK, "pipe.csv": pipe}
    assert {file.name for file in under_test.store.list(under_test.path("/"))} == {"a.csv", "dangling.csv"}


HOSTILE = ["../../x", "a/../../x", "a\\b.csv", "a\nb.csv", "a\x00b.csv", "\x1b[2J.csv", "x" * 300, "..", "."]


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_are_refused_before_anything_is_touched(under_test, tmp_path, name):
    before = sorted(tmp_path.rglob("*"))
    path = under_test.path(f"/in/{name}")
    if name == ".":
        path = under_test.path("/in/..")
    attempts = [
        lambda: under_test.store.fetch(RemoteFile(name, path, 3, None), to=tmp_path / "a"),
        lambda: under_test.store.put(path, b"x"),
        lambda: under_test.store.read(path),
        lambda: under_test.store.move(path, to_folder=under_test.path("/out")),
        lambda: under_test.store.move(under_test.path("/a.csv"), to_folder=under_test.path("/out"), name=name),
    ]
    for attempt in attempts[: 4 if name == "." else 5]:
        with pytest.raises(StoreError) as caught:
            attempt()
        assert caught.value.message.isprintable()
    assert sorted(tmp_path.rglob("*")) == before


def test_puts_whole_files_into_new_folders_and_over_old_ones(under_test):
    under_test.store.put(under_test.path("/out/results/a.json"), b"first")
    under_test.store.put(under_test.path("/out/results/a.json"), CONTENT)
    folder = under_test.root / "out" / "results"
    assert (folder / "a.json").read_bytes() == CONTENT
    assert [path.name for path in folder.iterdir()] == ["a.json"]
    under_test.store.put(under_test.path("/out/empty.csv"), b"")
    assert (under_test.root / "out" / "empty.csv").read_bytes() == b""


def test_moves_never_over_another_file(under_test):
    finals = []
    for number in range(13):
        (under_test.root / "orders.xlsx").write_text(str(number))
        finals.append(under_test.store.move(under_test.path("/orders.xlsx"), to_folder=under_test.path("/archive/day")))
    assert finals[:3] == [under_test.path(f"/archive/day/orders{part}.xlsx") for part in ("", ".2", ".3")]
    assert sorted(path.read_text() for path in (under_test.root / "archive" / "day").iterdir()) == sorted(
        map(str, range(13))
    )
    assert not (under_test.root / "orders.xlsx").exists()


def test_a_file_whose_archive_is_away_is_not_gone(under_test):
    (under_test.root / "a.csv").write_text("x")
    (under_test.root / "archive").symlink_to(under_test.root / "nas")
    with pytest.raises(StoreError) as caught:
        under_test.store.move(under_test.path("/a.csv"), to_folder=under_test.path("/archive"))
    assert not isinstance(caught.value, FileVanished) and "archive" in caught.value.message
    with pytest.raises(FileVanished):
        under_test.store.move(under_test.path("/b.csv"), to_folder=under_test.path("/out"))


def test_moves_under_a_new_name(under_test):
    (under_test.root / "a.csv").write_text("x")
    final = under_test.store.move(under_test.path("/a.csv"), to_folder=under_test.path("/q"), name="a.1a2b3c4d.csv")
    assert final == under_test.path("/q/a.1a2b3c4d.csv")
    assert (under_test.root / "q" / "a.1a2b3c4d.csv").read_text() == "x"


def test_moves_the_file_that_was_read(under_test, tmp_path):
    (under_test.root / "a.csv").write_text("as read")
    file = read(under_test, "/a.csv", to=tmp_path / "a")
    final = under_test.store.move(file.path, to_folder=under_test.path("/archive"), as_read=file)
    assert final == under_test.path("/archive/a.csv")
    assert not (under_test.root / "a.csv").exists()


@pytest.mark.parametrize("content", ["another", "another, longer one"])
def test_a_file_that_came_in_the_place_of_the_one_that_was_read_stays(under_test, tmp_path, content):
    (under_test.root / "a.csv").write_text("as read")
    file = read(under_test, "/a.csv", to=tmp_path / "a")
    replacement = under_test.root / "new"
    replacement.write_text(content)
    os.utime(replacement, (5_000_000, 5_000_000))
    replacement.replace(under_test.root / "a.csv")
    with pytest.raises(FileUnstable):
        under_test.store.move(file.path, to_folder=under_test.path("/archive"), as_read=file)
    assert (under_test.root / "a.csv").read_text() == content
    assert not list((under_test.root / "archive").glob("*"))


def test_another_file_of_the_same_size_and_time_is_known_by_its_bytes(under_test, tmp_path):
    (under_test.root / "a.csv").write_text("as read")
    file = read(under_test, "/a.csv", to=tmp_path / "a")
    before = (under_test.root / "a.csv").stat()
    (under_test.root / "a.csv").write_text("another")
    os.utime(under_test.root / "a.csv", ns=(before.st_atime_ns, before.st_mtime_ns))
    with pytest.raises(FileUnstable):
        under_test.store.move(file.path, to_folder=under_test.path("/archive"), as_read=file)
    assert (under_test.root / "a.csv").read_text() == "another"


def read(under_test, path: str, *, to: Path) -> RemoteFile:
    file = under_test.listed(path)
    return replace(file, sha256=under_test.store.fetch(file, to=to).sha256)


def test_reads_small_files_and_refuses_large_ones(under_test):
    (under_test.root / "a.json").write_bytes(CONTENT)
    assert under_test.store.read(under_test.path("/a.json")) == CONTENT
    with pytest.raises(StoreError, match=r"a\.json"):
        under_test.store.read(under_test.path("/a.json"), limit_bytes=len(CONTENT) - 1)


def test_knows_what_exists(under_test):
    (under_test.root / "a").mkdir()
    assert under_test.store.exists(under_test.path("/a"))
    assert not under_test.store.exists(under_test.path("/a/b"))
    assert not under_test.store.exists(under_test.path("/nowhere/b"))


def test_works_again_after_close(under_test):
    under_test.store.put(under_test.path("/a"), b"1")
    under_test.store.close()
    assert under_test.store.read(under_test.path("/a")) == b"1"


def test_a_file_beyond_the_cap_is_held_before_a_byte_is_fetched(under_test, tmp_path):
    huge = RemoteFile("a.csv", under_test.path("/a.csv"), (1 << 30) + 1, None)
    with pytest.raises(FileHeld, match=r"a\.csv") as caught:
        under_test.store.fetch(huge, to=tmp_path / "a")
    assert caught.value.rule == "file|too_large"
    assert not (tmp_path / "a").exists()


def test_a_local_disk_that_refuses_is_told_from_the_server(under_test, tmp_path):
    (under_test.root / "a.csv").write_text("x")
    with pytest.raises(StoreError, match="Cannot write") as caught:
        under_test.store.fetch(under_test.listed("/a.csv"), to=tmp_path / "missing" / "a")
    assert "still lies at its source" in caught.value.remedy


def test_two_pollers_take_each_file_once(under_test):
    """Claiming by move: of two that try, one gets the file and the other learns that it is gone."""
    for number in range(20):
        (under_test.root / f"{number}.csv").write_text(str(number))
    files = under_test.store.list(under_test.path("/"))
    claimed = [_claim(under_test.store, file, under_test.path("/mine")) for file in files for _ in range(2)]
    assert claimed == [True, False] * 20
    assert len(list((under_test.root / "mine").iterdir())) == 20


def _claim(store: FileStore, file: RemoteFile, folder: str) -> bool:
    try:
        store.move(file.path, to_folder=folder)
    except FileVanished:
        return False
    return True


def test_a_folder_that_is_a_link_out_of_the_root_is_refused(tmp_path):
    (tmp_path / "root").mkdir()
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "a.csv").write_text("x")
    Path(tmp_path / "root" / "in").symlink_to(tmp_path / "other")
    store = FolderStore(tmp_path / "root")
    for attempt in (
        lambda: store.list("/in"),
        lambda: store.put("/in/b", b"x"),
        lambda: store.read("/in/a.csv"),
        lambda: store.move("/in/a.csv", to_folder="/"),
    ):
        with pytest.raises(StoreError, match="leads out"):
            attempt()
    assert [path.name for path in (tmp_path / "other").iterdir()] == ["a.csv"]
