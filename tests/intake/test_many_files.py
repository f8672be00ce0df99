"""Many files in one go, over every store: each verified as if it came alone, in order, none in another's way."""

import hashlib
import itertools
import os
import stat

from logistics_batch.errors import FileUnstable, FileVanished, StoreError, StoreUnreachable
from logistics_batch.flows.files.pull import fetch_each
from logistics_batch.intake.stores.store import Fetched, RemoteFile

SIZES = (0, 1, 20_000, 32_768, 70_000, 131_072, 131_073, 400_000)


def wanted(files, to):
    return [(file, to / f"{number}.part") for number, file in enumerate(files)]


def fill(root, contents):
    for name, content in contents.items():
        (root / name).write_bytes(content)
        os.utime(root / name, (1_000_000 + len(name), 1_000_000 + len(name)))


def test_each_comes_whole_private_and_in_order(under_test, tmp_path):
    contents = {f"{number:03}.csv": os.urandom(SIZES[number % len(SIZES)]) for number in range(90)}
    (under_test.root / "in").mkdir()
    fill(under_test.root / "in", contents)
    files = list(reversed(under_test.store.list(under_test.path("/in"))))
    to = tmp_path / "files"
    to.mkdir()
    found = list(fetch_each(under_test.store, wanted(files, to)))
    for number, (file, outcome) in enumerate(zip(files, found, strict=True)):
        content = contents[file.name]
        assert outcome == Fetched(len(content), hashlib.sha256(content).hexdigest())
        assert (to / f"{number}.part").read_bytes() == content
        assert stat.S_IMODE((to / f"{number}.part").stat().st_mode) == 0o600
    assert len(list(to.iterdir())) == len(files)


def test_what_stops_one_stops_no_other(under_test, tmp_path):
    (under_test.root / "in").mkdir()
    fill(under_test.root / "in", {name: name.encode() * 500 for name in ("a", "gone", "grown", "swapped", "z")})
    files = {file.name: file for file in under_test.store.list(under_test.path("/in"))}
    (under_test.root / "in/gone").unlink()
    with (under_test.root / "in/grown").open("ab") as grown:
        grown.write(b"more")
    (under_test.root / "in/swapped").write_bytes(b"swappeD" * 500)
    (under_test.root / "in/link").symlink_to(under_test.root / "in/a")
    files["link"] = RemoteFile("link", under_test.path("/in/link"), 500, None)
    files["b/../c"] = RemoteFile("b\\c", under_test.path("/in/b\\c"), 5, None)
    names = ["a", "gone", "link", "grown", "b/../c", "swapped", "z"]
    to = tmp_path / "files"
    to.mkdir()
    found = dict(zip(names, fetch_each(under_test.store, wanted([files[name] for name in names], to)), strict=True))
    assert isinstance(found["a"], Fetched)
    assert isinstance(found["z"], Fetched)
    assert isinstance(found["gone"], FileVanished)
    assert isinstance(found["grown"], FileUnstable)
    assert isinstance(found["swapped"], FileUnstable)
    for name in ("link", "b/../c"):
        assert isinstance(found[name], StoreError)
    assert sorted(path.name for path in to.iterdir()) == ["0.part", "6.part"]


def test_a_forbidden_file_and_one_that_comes_short(fake_sftp, sftp_store, tmp_path):
    fill(fake_sftp.root, {name: name.encode() * 40_000 for name in "abc"})
    fake_sftp.faults.forbid = {"b"}
    found = list(fetch_each(sftp_store(), wanted(sftp_store().list("/"), tmp_path)))
    assert [type(outcome) for outcome in found] == [Fetched, StoreError, Fetched]
    assert "permission denied" in found[1].message
    fake_sftp.faults.stop_at_bytes = 1_000
    for outcome in fetch_each(sftp_store(), wanted(sftp_store().list("/"), tmp_path)):
        assert isinstance(outcome, StoreError)


def test_a_connection_that_drops_among_them_is_opened_again_once(fake_sftp, sftp_store, tmp_path):
    contents = {f"{number:03}": os.urandom(40_000) for number in range(150)}
    fill(fake_sftp.root, contents)
    store = sftp_store()
    files = store.list("/")
    fake_sftp.faults.cut_at_block = 2
    found = list(fetch_each(store, wanted(files, tmp_path)))
    assert all(isinstance(outcome, Fetched) for outcome in found)
    assert [(tmp_path / f"{number}.part").read_bytes() for number in range(150)] == [
        contents[file.name] for file in files
    ]
    assert fake_sftp.connections == 2
    fake_sftp.faults.cuts = 10**6
    *tried, third = itertools.islice(fetch_each(store, wanted(files, tmp_path)), 3)
    assert ([type(outcome) for outcome in tried], third) == ([StoreUnreachable] * 2, None)
    assert fake_sftp.connections == 5  # two tries for each of two files, of which the first had a connection
