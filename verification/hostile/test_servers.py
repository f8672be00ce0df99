"""Servers that are weak, list without end, or hold names that are no text: refused, left off or named, and told."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from support.sandbox_process import RunningSandbox, created, sandbox_for_a_test
from support.sftp_servers import FakeSFTP, fake_access, real_access, running_sshd
from support.workspace import Workspace, order_lines

from logistics_batch.errors import StoreError
from logistics_batch.intake.stores.folder import FolderStore
from logistics_batch.intake.stores.sftp import SftpStore
from logistics_batch.intake.stores.store import FileStore, ListingCut
from logistics_batch.jobs import load_job
from logistics_batch.model.report import RunReport
from logistics_batch.operate.run_job import Order, run_job
from logistics_batch.wiring import Need
from logistics_batch.wiring import Workspace as Opened

JOB = """\
kind: push
mapping: orders
source:
  {where}
  path: {root}/inbound
  pattern: ["*.csv"]
  ready: {{unchanged_for: 2, poll_every: 10ms}}
  archive: {root}/archive
  quarantine: {root}/rejected
results: {{path: {root}/results}}
"""
NO_UNICODE = b"orders_\xff\xfe.csv"


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningSandbox]:
    yield from sandbox_for_a_test(tmp_path_factory.mktemp("service"))


def restricted(**only: tuple[str, ...]) -> Callable[[Any], None]:
    """A server that offers nothing else; by the names of paramiko's security options."""

    def restrict(options: Any) -> None:
        for name, algorithms in only.items():
            setattr(options, name, algorithms)

    return restrict


@pytest.mark.parametrize(
    ("only", "offered", "wanted"),
    [
        ({"ciphers": ("3des-cbc",)}, "3des-cbc", "aes256-gcm@openssh.com"),
        ({"ciphers": ("aes128-cbc", "aes256-cbc")}, "aes128-cbc, aes256-cbc", "aes256-ctr"),
        ({"ciphers": ("aes256-ctr",), "digests": ("hmac-md5",)}, "hmac-md5", "hmac-sha2-256-etm@openssh.com"),
        ({"ciphers": ("aes256-ctr",), "digests": ("hmac-sha1",)}, "hmac-sha1", "hmac-sha2-256-etm@openssh.com"),
        ({"ciphers": ("aes256-ctr",), "digests": ("hmac-sha2-256",)}, "hmac-sha2-256", "hmac-sha2-512-etm"),
    ],
    ids=["3des", "cbc", "md5", "sha1", "no etm"],
)
def test_a_weak_server_in_process_is_refused_before_any_login(
    tmp_path: Path, only: dict[str, tuple[str, ...]], offered: str, wanted: str
) -> None:
    server = FakeSFTP(tmp_path, restrict=restricted(**only))
    try:
        assert_refused(SftpStore(fake_access(server)), offered, wanted)
        assert server.auth_attempts == 0
    finally:
        server.close()


@pytest.mark.parametrize(
    "only",
    [
        {"ciphers": ("aes128-gcm@openssh.com",), "digests": ("hmac-sha2-256",)},  # not used beside this cipher
        {"ciphers": ("3des-cbc", "aes256-ctr"), "digests": ("hmac-md5", "hmac-sha2-512-etm@openssh.com")},
        {"kex": ("diffie-hellman-group14-sha256",)},
    ],
    ids=["gcm alone", "ctr with etm", "group14"],
)
def test_a_server_that_offers_something_sound_is_used_by_that(tmp_path: Path, only: dict[str, tuple[str, ...]]) -> None:
    (tmp_path / "a.csv").touch()
    server = FakeSFTP(tmp_path, restrict=restricted(**only))
    store = SftpStore(fake_access(server))
    try:
        assert [file.name for file in store.list("/")] == ["a.csv"]
    finally:
        store.close()
        server.close()


@pytest.mark.real
@pytest.mark.parametrize(
    ("lines", "host_key", "offered", "wanted"),
    [
        (["Ciphers 3des-cbc"], "ed25519", "3des-cbc", "aes256-gcm@openssh.com"),
        (["Ciphers aes128-cbc,aes256-cbc"], "ed25519", "aes128-cbc, aes256-cbc", "aes256-ctr"),
        (["Ciphers aes256-ctr", "MACs hmac-md5,hmac-sha1"], "ed25519", "hmac-md5, hmac-sha1", "hmac-sha2-256-etm"),
        (["Ciphers aes256-ctr", "MACs hmac-sha1-etm@openssh.com"], "ed25519", "hmac-sha1-etm", "hmac-sha2-512-etm"),
        (["KexAlgorithms diffie-hellman-group14-sha1"], "ed25519", "diffie-hellman-group14-sha1", "curve25519-sha256"),
        (["KexAlgorithms diffie-hellman-group1-sha1"], "ed25519", "diffie-hellman-group1-sha1", "curve25519-sha256"),
        (["HostKeyAlgorithms ssh-rsa"], "rsa", "ssh-rsa", "rsa-sha2-512"),
    ],
    ids=["3des", "cbc", "md5 and sha1", "sha1 etm", "group14 sha1", "group1", "ssh-rsa"],
)
def test_a_weak_sshd_is_refused_in_words_for_its_operator(
    tmp_path: Path, lines: list[str], host_key: str, offered: str, wanted: str
) -> None:
    with running_sshd(tmp_path / "sshd", *lines, host_key=host_key) as server:
        assert_refused(SftpStore(real_access(server)), offered, wanted)


def assert_refused(store: SftpStore, offered: str, wanted: str) -> None:
    with pytest.raises(StoreError) as caught:
        store.list("/")
    store.close()
    assert "nothing was logged in to" in caught.value.message
    assert f"it offers {offered}" in caught.value.message
    assert wanted in caught.value.message.partition("taken is")[2]
    assert "switch one of the taken ones on" in caught.value.remedy


@pytest.mark.real
def test_an_sshd_as_it_comes_is_reached_by_what_is_sound(tmp_path: Path) -> None:
    with running_sshd(tmp_path / "sshd", "LogLevel DEBUG1") as server:
        store = SftpStore(real_access(server))
        store.list(str(server.root))
        store.close()
        log = (tmp_path / "sshd/sshd.log").read_text()
    assert "cipher: aes128-gcm@openssh.com" in log
    assert "mac: <implicit>" in log or "MAC: <implicit>" in log


@pytest.fixture(params=["folder", "sftp"])
def crowded(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[FileStore]:
    """A folder with 30 files, of which 20 names at most are listed."""
    for number in range(30):
        (tmp_path / f"{number:02}.csv").touch()
    if request.param == "folder":
        yield FolderStore(tmp_path, max_names=20)
        return
    server = FakeSFTP(tmp_path)
    store = SftpStore(fake_access(server), max_names=20)
    yield store
    store.close()
    server.close()


def test_a_listing_ends_at_so_many_names_and_says_so(crowded: FileStore) -> None:
    with pytest.raises(ListingCut, match="after 20 names") as caught:
        crowded.list("/")
    assert len(caught.value.entries) == 20
    assert crowded.exists("/00.csv")  # it goes on after that


def test_a_server_that_lists_without_end_is_left_at_the_limit(tmp_path: Path) -> None:
    server = FakeSFTP(tmp_path)
    server.faults.names = [b"%d.csv" % number for number in range(20_000)]
    store = SftpStore(fake_access(server), max_names=10_000)
    try:
        with pytest.raises(ListingCut, match="after 10,000 names"):
            store.list("/")
    finally:
        store.close()
        server.close()


def test_a_server_that_takes_its_time_with_a_listing_is_left_at_the_deadline(tmp_path: Path) -> None:
    (tmp_path / "a.csv").touch()
    server = FakeSFTP(tmp_path)
    server.faults.on_list = lambda: time.sleep(5)
    store = SftpStore(fake_access(server, listing_deadline_seconds=0.5, timeout_seconds=30.0))
    started = time.monotonic()
    try:
        with pytest.raises(ListingCut, match=r"longer than 0\.5 s") as caught:
            store.list("/")
        assert caught.value.entries == ()
        assert time.monotonic() - started < 4
    finally:
        store.close()
        server.close()


@pytest.fixture
def workspace(tmp_path: Path, service: RunningSandbox) -> Workspace:
    return Workspace(tmp_path / "workspace", url=service.url)


def dropped(root: Path, name: bytes, content: str) -> None:
    (root / "inbound").mkdir(exist_ok=True)
    with open(os.fsencode(root / "inbound") + b"/" + name, "w") as file:  # noqa: PTH123 - no name of text
        file.write(content)


def test_a_job_goes_on_with_what_a_cut_listing_told_and_says_so(
    workspace: Workspace, service: RunningSandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing that was not seen counts as gone, and nothing is called complete."""
    root = workspace.root / "drop"
    workspace.job("orders", JOB.format(where=f"folder: {root}", root=""))
    root.mkdir()
    for number in range(5):
        dropped(root, b"cut_%d.csv" % number, order_lines([f"CUT-{number}"]))
    monkeypatch.setattr("logistics_batch.wiring.FolderStore", lambda folder: FolderStore(folder, max_names=3))
    with Opened(workspace.root).parts(Need()) as parts:
        job = load_job(workspace.root, "orders")
        first, second = (run_job(parts, job, Order(date(2026, 11, 20))) for _ in range(2))
    assert isinstance(first.report, RunReport)
    assert (first.exit_code, second.exit_code) == (5, 0)
    assert "left off after 3 names" in first.cause
    assert {name: count for name, count in created(service).items() if name.startswith("CUT")} == {
        f"CUT-{number}": 1 for number in range(5)
    }


@pytest.mark.parametrize("place", ["folder", pytest.param("sshd", marks=pytest.mark.real), "sandbox"])
def test_a_name_that_is_no_unicode_is_named_and_left_beside_a_file_that_is_answered(
    workspace: Workspace, tmp_path: Path, place: str
) -> None:
    with ExitStack() as around:
        if place == "folder":
            root, where, prefix = workspace.root / "drop", f"folder: {workspace.root / 'drop'}", ""
            root.mkdir()
        elif place == "sshd":
            server = around.enter_context(running_sshd(tmp_path / "sshd"))
            workspace.sftp("bhiwandi", server)
            root, where, prefix = server.root, "sftp: bhiwandi", str(server.root)
        else:
            (tmp_path / "other").mkdir()
            running = sandbox_for_a_test(tmp_path / "other", sftp=True)
            sandbox = next(running)
            around.callback(lambda: list(running))
            assert sandbox.sftp
            workspace.sftp("bhiwandi", sandbox.sftp)
            root, where, prefix = sandbox.sftp.root, "sftp: bhiwandi", ""
        workspace.job("orders", JOB.format(where=where, root=prefix))
        dropped(root, NO_UNICODE, order_lines(["NEVER-1"]))
        dropped(root, b"innocent.csv", order_lines([f"INNOCENT-{place}"]))
        done = workspace.run("run", "orders", "--json")
        assert done.code == 0, done.err
        (file,) = done.json["files"]
        assert (file["file"], file["counts"]["accepted"]) == ("innocent.csv", 1)
        assert (root / "archive/innocent.csv").exists()
        assert (root / "results/innocent.result.csv").exists()
        (note,) = [each for each in done.json["notes"] if "not valid Unicode" in each]
        assert note.isascii()
        assert "rename it" in note
        assert [os.fsencode(path.name) for path in (root / "inbound").iterdir()] == [NO_UNICODE]
        assert workspace.run("runs", "show", "orders").code == 0
        assert workspace.run("run", "orders").code == 0
