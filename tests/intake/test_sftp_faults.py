"""What servers and networks do to transfers, on a server in process that does it on purpose."""

import hashlib
import logging
import os
import socket
import subprocess
import threading
from dataclasses import replace

import paramiko
import pytest
from paramiko import sftp as protocol
from support.sftp_servers import PASSWORD, fake_access

from logistics_batch.errors import FileUnstable, SettingsError, StoreError, StoreUnreachable
from logistics_batch.intake.stores.sftp import FAULTS, store_error
from logistics_batch.intake.stores.store import Landing

BLOCK = 32768
BLOCKS = 6
CONTENT = os.urandom(BLOCK * (BLOCKS - 1) + 1000)


@pytest.fixture
def listed(fake_sftp, sftp_store):
    """A store and a file of several blocks as it was listed."""
    (fake_sftp.root / "a.csv").write_bytes(CONTENT)
    store = sftp_store()
    return store, store.list("/")[0]


def test_fewer_bytes_than_announced_are_no_file(fake_sftp, listed, tmp_path):
    store, file = listed
    fake_sftp.faults.stop_at_bytes = len(CONTENT) * 2 // 5
    with pytest.raises(FileUnstable, match="bytes could be read"):
        store.fetch(file, to=tmp_path / "a")
    assert not list(tmp_path.glob("a*"))
    fake_sftp.faults.stop_at_bytes = None
    assert store.fetch(file, to=tmp_path / "a").size == len(CONTENT)


@pytest.mark.parametrize("change", ["grow", "shrink", "swap", "touch"])
def test_a_file_that_moves_while_it_is_read_is_left(fake_sftp, listed, tmp_path, change):
    store, file = listed
    path = fake_sftp.root / "a.csv"

    def meddle(block: int) -> None:
        if block != 3:
            return
        if change == "grow":
            with path.open("ab") as grown:
                grown.write(b"more")
        elif change == "shrink":
            os.truncate(path, BLOCK)
        elif change == "swap":
            (fake_sftp.root / "new").write_bytes(CONTENT[::-1] + b"!")
            (fake_sftp.root / "new").replace(path)
        else:
            os.utime(path, (9_000, 9_000))

    fake_sftp.faults.on_block = meddle
    with pytest.raises(FileUnstable):
        store.fetch(file, to=tmp_path / "a")
    assert not list(tmp_path.glob("a*"))
    fake_sftp.faults.on_block = None
    assert store.fetch(store.list("/")[0], to=tmp_path / "a").size == path.stat().st_size


@pytest.mark.parametrize("block", [1, 3, BLOCKS])
def test_a_dropped_connection_starts_the_file_again_from_its_first_byte(fake_sftp, listed, tmp_path, block):
    store, file = listed
    fake_sftp.faults.cut_at_block = block
    fetched = store.fetch(file, to=tmp_path / "a")
    assert fetched.sha256 == hashlib.sha256(CONTENT).hexdigest()
    assert (tmp_path / "a").read_bytes() == CONTENT
    assert fake_sftp.connections == 2


def test_a_connection_that_drops_twice_is_an_error_and_leaves_nothing(fake_sftp, listed, tmp_path):
    store, file = listed
    fake_sftp.faults.cut_at_block, fake_sftp.faults.cuts = 2, 2
    with pytest.raises(StoreError, match="connection to") as caught:
        store.fetch(file, to=tmp_path / "a")
    assert not isinstance(caught.value, FileUnstable)
    assert "/a.csv" in caught.value.message and "sftp:bhiwandi" in caught.value.message
    assert not list(tmp_path.glob("a*"))
    assert fake_sftp.connections == 2


def test_a_connection_that_is_found_closed_as_the_next_request_goes_out_is_no_refusal(
    fake_sftp, listed, tmp_path, monkeypatch
):
    store, file = listed

    def send(channel, data):
        raise OSError("Socket is closed")  # paramiko's word, with no number of an error

    monkeypatch.setattr("paramiko.Channel.send", send)
    with pytest.raises(StoreUnreachable, match="connection to"):
        store.fetch(file, to=tmp_path / "a")


def test_a_server_that_stalls_is_left_after_the_timeout(fake_sftp, sftp_store, tmp_path):
    (fake_sftp.root / "a.csv").write_bytes(CONTENT)
    store = sftp_store(timeout_seconds=0.5)
    file = store.list("/")[0]
    fake_sftp.faults.stall = threading.Event()
    with pytest.raises(StoreError, match=r"did not answer for 0\.5 s"):
        store.fetch(file, to=tmp_path / "a")
    assert not list(tmp_path.glob("a*"))


def test_a_server_that_drips_is_left_at_the_deadline_of_the_transfer(fake_sftp, sftp_store, tmp_path):
    (fake_sftp.root / "a.csv").write_bytes(CONTENT)
    store = sftp_store(transfer_deadline_seconds=0.6)
    file = store.list("/")[0]
    fake_sftp.faults.on_block = lambda block: threading.Event().wait(0.2)
    with pytest.raises(StoreError, match=r"took longer than 0\.6 s"):
        store.fetch(file, to=tmp_path / "a")
    assert fake_sftp.connections == 1  # no second try that would take as long


@pytest.mark.parametrize("most", [100, 10_000])
def test_a_server_that_gives_less_than_asked_for_is_asked_again(fake_sftp, listed, tmp_path, most):
    store, file = listed
    fake_sftp.faults.short_reads = most
    assert store.fetch(file, to=tmp_path / "a").sha256 == hashlib.sha256(CONTENT).hexdigest()


def test_an_idle_connection_that_was_dropped_is_opened_again(fake_sftp, listed):
    store, _ = listed
    fake_sftp.drop_connections()
    assert store.move("/a.csv", to_folder="/archive") == "/archive/a.csv"
    fake_sftp.drop_connections()
    store.put("/out/a.json", b"{}")
    fake_sftp.drop_connections()
    assert [file.name for file in store.list("/out")] == ["a.json"]


def test_a_move_whose_answer_was_lost_is_not_done_twice(fake_sftp, listed):
    store, _ = listed
    fake_sftp.faults.drop_after = "rename"
    assert store.move("/a.csv", to_folder="/archive") == "/archive/a.csv"
    assert (fake_sftp.root / "archive" / "a.csv").read_bytes() == CONTENT


def test_a_file_that_came_just_before_a_move_goes_back_where_it_lay(fake_sftp, listed):
    store, file = listed
    fake_sftp.faults.before_rename = lambda: (fake_sftp.root / "a.csv").write_bytes(b"corrected")
    with pytest.raises(FileUnstable):
        store.move(file.path, to_folder="/archive", as_read=file)
    assert (fake_sftp.root / "a.csv").read_bytes() == b"corrected"
    assert not list((fake_sftp.root / "archive").iterdir())


def test_a_server_that_gives_a_moved_file_a_new_time_is_believed_by_the_bytes(fake_sftp, listed):
    store, file = listed
    fake_sftp.faults.before_rename = lambda: os.utime(fake_sftp.root / "a.csv", (7_000_000, 7_000_000))
    read = replace(file, sha256=hashlib.sha256(CONTENT).hexdigest())
    assert store.move(file.path, to_folder="/archive", as_read=read) == "/archive/a.csv"


def test_a_server_that_renames_over_files_loses_none_of_an_earlier_night(fake_sftp, listed):
    store, file = listed
    (fake_sftp.root / "archive").mkdir()
    (fake_sftp.root / "archive/a.csv").write_bytes(b"of an earlier night")
    fake_sftp.faults.renames_over = True
    assert store.move(file.path, to_folder="/archive", as_read=file) == "/archive/a.2.csv"
    assert (fake_sftp.root / "archive/a.csv").read_bytes() == b"of an earlier night"
    assert (fake_sftp.root / "archive/a.2.csv").read_bytes() == CONTENT


def test_a_refused_rename_is_an_error_and_the_file_stays(fake_sftp, listed):
    store, file = listed
    fake_sftp.faults.refuse = {"rename"}
    with pytest.raises(StoreError, match="refused"):
        store.move(file.path, to_folder="/archive")
    assert (fake_sftp.root / "a.csv").exists()


def test_without_atomic_replacement_a_file_is_removed_first_and_that_is_said(fake_sftp, sftp_store, caplog):
    store = sftp_store()
    store.put("/a.json", b"old")
    fake_sftp.faults.refuse = {"posix_rename"}
    with caplog.at_level(logging.WARNING):
        store.put("/a.json", b"new")
        store.put("/b.json", b"b")
    assert (fake_sftp.root / "a.json").read_bytes() == b"new"
    assert [record.getMessage() for record in caplog.records] == [
        "sftp:bhiwandi cannot replace a file in one step: /a.json was removed first"
    ]


@pytest.mark.parametrize("refused", [{"write"}, {"posix_rename", "rename"}])
def test_a_failed_put_leaves_the_old_file_or_none_and_no_rest(fake_sftp, sftp_store, refused):
    store = sftp_store()
    fake_sftp.faults.refuse = refused
    with pytest.raises(StoreError, match="refused"):
        store.put("/new.json", CONTENT)
    assert list(fake_sftp.root.iterdir()) == []


def test_a_put_whose_connection_drops_is_done_again_and_leaves_no_rest(fake_sftp, sftp_store):
    store = sftp_store()
    store.list("/")
    fake_sftp.faults.drop_after = "write"
    store.put("/new.json", CONTENT)
    assert [(path.name, path.read_bytes()) for path in fake_sftp.root.iterdir()] == [("new.json", CONTENT)]
    assert fake_sftp.connections == 2


def test_an_upload_that_arrives_short_is_no_file(fake_sftp, sftp_store):
    store = sftp_store()
    fake_sftp.faults.announced_size = 5
    with pytest.raises(StoreError, match=f"only 5 of {len(CONTENT)} bytes arrived"):
        store.put("/new.json", CONTENT)
    assert list(fake_sftp.root.iterdir()) == []


def test_a_forbidden_file_stops_only_itself(fake_sftp, sftp_store, tmp_path):
    for name in ("a.csv", "b.csv"):
        (fake_sftp.root / name).write_text(name)
    fake_sftp.faults.forbid = {"a.csv"}
    store = sftp_store()
    first, second = store.list("/")
    with pytest.raises(StoreError, match=r"/a\.csv: permission denied") as caught:
        store.fetch(first, to=tmp_path / "a")
    assert "wms" in caught.value.remedy
    assert store.fetch(second, to=tmp_path / "b").size == 5
    assert fake_sftp.connections == 1


def test_hostile_listings_are_data(fake_sftp, sftp_store, tmp_path):
    fake_sftp.faults.names = [b"../../x", b"a/b", b"nul\0", b"line\nbreak", b"caf\xe9.csv", b"ok.csv", b".", b".."]
    store = sftp_store()
    before = sorted(tmp_path.rglob("*"))
    names = {file.name for file in store.list("/")}
    assert {"../../x", "a/b", "nul\0", "line\nbreak", "caf\udce9.csv", "ok.csv"} <= names
    for file in store.list("/"):
        with pytest.raises(StoreError) as caught:
            store.fetch(file, to=tmp_path / "a")
        assert caught.value.message.isprintable()
    assert sorted(tmp_path.rglob("*")) == before


def test_a_wrong_password_names_the_settings_and_not_the_password(sftp_store):
    with pytest.raises(StoreError, match="does not let user wms in") as caught:
        sftp_store(password="wr0ng-secret").list("/")
    assert "[sftp.bhiwandi]" in caught.value.remedy
    assert "wr0ng-secret" not in f"{caught.value!r}{caught.value.remedy}{caught.value.__cause__!r}"


def test_the_password_is_not_shown(fake_sftp):
    assert PASSWORD not in repr(fake_access(fake_sftp))


@pytest.mark.parametrize(
    ("change", "words"),
    [({"host": "no-such-host.invalid"}, "is not known"), ({"port": 1}, "nothing listens")],
)
def test_an_unreachable_server_is_told(sftp_store, change, words):
    with pytest.raises(StoreError, match=words):
        sftp_store(**change).list("/")


def test_something_else_than_an_sftp_server_is_told(sftp_store):
    with socket.create_server(("127.0.0.1", 0)) as mute, pytest.raises(StoreError, match="connection"):
        sftp_store(port=mute.getsockname()[1], timeout_seconds=0.5).list("/")


def test_unusable_key_files_are_told_without_their_content(sftp_store, tmp_path):
    readable = tmp_path / "readable"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", readable], check=True)
    readable.chmod(0o644)
    locked = tmp_path / "locked"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "pass phrase", "-f", locked], check=True)
    nonsense = tmp_path / "nonsense"
    nonsense.write_text("S3CR3T-not-a-key")
    nonsense.chmod(0o600)
    for path, words in (
        (readable, "other users"),
        (locked, "passphrase"),
        (nonsense, "no private key"),
        (tmp_path / "missing", "No such file"),
    ):
        with pytest.raises(SettingsError, match=words) as caught:
            sftp_store(key_file=path, password=None).list("/")
        assert str(path) in caught.value.message
        assert "S3CR3T" not in f"{caught.value!r}{caught.value.__cause__!r}"
    with pytest.raises(SettingsError, match="neither key_file nor password_file"):
        sftp_store(password=None).list("/")


def _foreign_exceptions() -> list[Exception]:
    kinds: list[type[Exception]] = [
        kind
        for kind in vars(paramiko.ssh_exception).values()
        if isinstance(kind, type) and issubclass(kind, (paramiko.SSHException, OSError))
    ]
    arguments = {
        "BadAuthenticationType": ("x", ["password"]),
        "BadHostKeyException": ("host", paramiko.ECDSAKey.generate(), paramiko.ECDSAKey.generate()),
        "ChannelException": (1, "x"),
        "PartialAuthentication": (["password"],),
        "ProxyCommandFailure": ("x", 1),
        "NoValidConnectionsError": ({("127.0.0.1", 22): OSError("x")},),
    }
    made = [kind(*arguments.get(kind.__name__, ("reason",))) for kind in kinds]
    return [*made, protocol.SFTPError("x"), EOFError(), TimeoutError(), ConnectionResetError("x"), OSError("Failure")]


@pytest.mark.parametrize("error", _foreign_exceptions(), ids=lambda error: type(error).__name__)
def test_every_exception_of_the_library_is_translated(error, fake_sftp):
    assert isinstance(error, FAULTS)
    told = store_error(error, what="sftp:x: cannot list /in", access=fake_access(fake_sftp), missing=StoreError)
    assert isinstance(told, StoreError)
    assert told.message.startswith("sftp:x: cannot list /in") and told.remedy


def test_nothing_is_left_open_after_faults(fake_sftp, listed, tmp_path):
    store, file = listed
    fake_sftp.faults.cut_at_block, fake_sftp.faults.cuts = 1, 99
    for _ in range(5):
        with pytest.raises(StoreError):
            store.fetch(file, to=tmp_path / "a")
    store.close()
    names = [
        thread.name for thread in threading.enumerate() if isinstance(thread, paramiko.Transport) and thread.active
    ]
    assert not [name for name in names if "client" in name.lower()]


def test_answers_that_nobody_takes_any_more_are_not_kept(fake_sftp, sftp_store, tmp_path, monkeypatch):
    """A disk that is full breaks a transfer off: what was asked for ahead ends with the connection."""
    (fake_sftp.root / "a.csv").write_bytes(bytes(4 << 20))

    def full(*_):
        raise StoreError("The disk is full.")

    store = sftp_store()
    (file,) = store.list("/")
    with monkeypatch.context() as patched:
        patched.setattr(Landing, "write", full)
        for _ in range(3):
            with pytest.raises(StoreError):
                store.fetch(file, to=tmp_path / "to")
    assert store.fetch(file, to=tmp_path / "to").size == 4 << 20
    assert not store._session._arrived
