"""A workspace that another user of the machine can change sends nothing: its settings say where the key goes."""

import grp
import os
import pwd
import struct
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from support.workspace import APPROVED_JOB, Workspace, order_lines

from logistics_batch.errors import SettingsError
from logistics_batch.file_rights import writable_by_others
from logistics_batch.settings import load_settings, private_file

STRANGER = 54_321
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    made = Workspace(tmp_path / "ws", url="http://127.0.0.1:9", api_key="kq7-canary-93jd")
    made.job("nightly", f'{APPROVED_JOB}schedule: {{cron: "0 2 * * *"}}\n')
    made.mapping("orders", (made.root / "mappings/orders.yaml").read_text())
    (made.root / "mappings/cities.csv").write_text("code,name\n")
    (made.root / "calendars").mkdir()
    (made.root / "calendars/holidays.yaml").write_text("days: []\n")
    (made.root / "var").mkdir(mode=0o700)
    made.drop("a.csv", order_lines(["A-1"]), folder=".")
    return made


def codes(workspace: Workspace) -> list[tuple[str, str]]:
    return [
        (each.code, str(each.path.relative_to(workspace.root.parent))) for each in writable_by_others(workspace.root)
    ]


def test_a_workspace_of_ones_own_is_in_order(workspace: Workspace) -> None:
    assert codes(workspace) == []


EVERYTHING = [
    "ws",
    "ws/logistics-batch.toml",
    "ws/jobs",
    "ws/jobs/nightly.yaml",
    "ws/mappings",
    "ws/mappings/orders.yaml",
    "ws/mappings/cities.csv",
    "ws/calendars",
    "ws/calendars/holidays.yaml",
    "ws/var",
]


@pytest.mark.parametrize("name", EVERYTHING)
def test_what_all_can_write_is_found(workspace: Workspace, name: str) -> None:
    path = workspace.root.parent / name
    path.chmod(path.stat().st_mode | 0o002)
    assert codes(workspace) == [("others_can_write", name)]


@as_root
@pytest.mark.parametrize("name", EVERYTHING)
def test_what_a_stranger_owns_is_found(workspace: Workspace, name: str) -> None:
    os.chown(workspace.root.parent / name, STRANGER, 0)
    assert codes(workspace) == [("other_owner", name)]


@as_root
def test_what_a_stranger_owns_is_found_though_nobody_may_write_it(workspace: Workspace) -> None:
    settings = workspace.root / "logistics-batch.toml"
    os.chown(settings, STRANGER, 0)
    settings.chmod(0o444)  # its owner can change that
    assert codes(workspace) == [("other_owner", "ws/logistics-batch.toml")]


@pytest.mark.parametrize("name", ["logistics-batch.toml", "jobs", "jobs/nightly.yaml", "mappings", "var"])
def test_a_link_to_where_others_write_is_found(workspace: Workspace, name: str) -> None:
    outside = workspace.root.parent / "shared"
    outside.mkdir()
    (workspace.root / name).rename(outside / "it")
    (workspace.root / name).symlink_to("../shared/it" if "/" not in name else "../../shared/it")
    assert codes(workspace) == []
    outside.chmod(0o777)
    assert codes(workspace) == [("others_can_write", "shared")]


def test_the_folders_above_count_and_a_sticky_one_is_no_way_in(workspace: Workspace) -> None:
    above = workspace.root.parent
    above.chmod(0o777)
    assert codes(workspace) == [("others_can_write", ".")]
    above.chmod(0o1777)
    assert codes(workspace) == []
    workspace.root.chmod(0o1777)  # into the workspace itself others could put a file
    assert codes(workspace) == [("others_can_write", "ws")]


@as_root
def test_a_stranger_s_folder_or_link_above_is_found(workspace: Workspace, tmp_path: Path) -> None:
    os.chown(tmp_path, STRANGER, 0)
    assert codes(workspace) == [("other_owner", ".")]
    os.chown(tmp_path, 0, 0)
    tmp_path.chmod(0o1777)
    link = tmp_path / "link"
    link.symlink_to(workspace.root)
    assert writable_by_others(link) == []
    os.chown(link, STRANGER, 0, follow_symlinks=False)
    assert [(each.code, each.path) for each in writable_by_others(link)] == [("other_owner", link)]


def test_jobs_that_are_mounted_read_only_are_in_order(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """Kubernetes mounts a ConfigMap so, with mode 0777; what lies above the workspace is another matter."""
    (workspace.root / "jobs").chmod(0o777)
    workspace.root.parent.chmod(0o777)
    monkeypatch.setattr(os, "statvfs", lambda _: SimpleNamespace(f_flag=os.ST_RDONLY))
    assert codes(workspace) == [("others_can_write", ".")]


def test_a_secret_s_folder_that_others_can_write_is_found(workspace: Workspace) -> None:
    (workspace.root / "secrets").chmod(0o777)
    done = workspace.run("push", "a.csv", "--mapping", "orders")
    assert done.code == 2
    assert f"chmod o-w {workspace.root / 'secrets'}" in done.err


def people(monkeypatch: pytest.MonkeyPatch, *, group: str | None, members: list[str], primary: list[str]) -> None:
    """This machine has one group besides root's, of number STRANGER, and an account "lb" that is us."""

    def getgrgid(gid: int) -> SimpleNamespace:
        if group is None:
            raise KeyError(gid)
        return SimpleNamespace(gr_name=group, gr_gid=gid, gr_mem=members)

    accounts = [SimpleNamespace(pw_name=name, pw_uid=70_000 + at, pw_gid=STRANGER) for at, name in enumerate(primary)]
    monkeypatch.setattr(grp, "getgrgid", getgrgid)
    monkeypatch.setattr(pwd, "getpwall", lambda: accounts)
    monkeypatch.setattr(pwd, "getpwuid", lambda _: SimpleNamespace(pw_name="lb"))


@as_root
@pytest.mark.parametrize(
    ("group", "members", "primary", "found"),
    [
        ("lb", [], ["lb"], False),  # as Debian, Ubuntu and Red Hat make accounts, with umask 002
        ("lb", ["lb", "root"], ["lb"], False),
        ("lb", ["mallory"], ["lb"], True),
        ("lb", [], ["lb", "mallory"], True),
        ("staff", [], [], True),  # a number from 1,000 on: a directory server may know members that are not listed
        ("domain users", [], ["lb"], True),
        (None, [], [], False),  # a number without a name, as in containers
        (None, [], ["mallory"], True),
    ],
)
def test_a_group_that_holds_only_its_owner_may_write(
    workspace: Workspace,
    monkeypatch: pytest.MonkeyPatch,
    group: str | None,
    members: list[str],
    primary: list[str],
    found: bool,
) -> None:
    for path in (workspace.root, *workspace.root.rglob("*")):
        os.chown(path, -1, STRANGER)
        path.chmod(path.stat().st_mode | 0o020)
    people(monkeypatch, group=group, members=members, primary=primary)
    assert bool(codes(workspace)) is found
    assert {code for code, _ in codes(workspace)} <= {"group_can_write"}


@as_root
def test_the_group_of_all_users_is_nobodys_own(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its number is one of this machine's own, but a directory server gives it to everybody."""
    os.chown(workspace.root, -1, 100)
    workspace.root.chmod(0o770)
    people(monkeypatch, group="users", members=[], primary=[])
    assert {code for code, _ in codes(workspace)} == {"group_can_write"}


@as_root
@pytest.mark.parametrize(("entries", "found"), [([(2, 6, STRANGER)], True), ([(2, 4, STRANGER), (2, 6, 0)], False)])
def test_a_list_of_rights_counts_as_well(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, entries: list[tuple[int, int, int]], found: bool
) -> None:
    settings = workspace.root / "logistics-batch.toml"
    nobody = 0xFFFFFFFF
    whole = [(1, 6, nobody), *entries, (4, 4, nobody), (0x10, 6, nobody), (0x20, 0, nobody)]
    content = struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in whole)
    try:
        os.setxattr(settings, "system.posix_acl_access", content)
    except OSError:  # this file system has none: what the kernel would tell
        settings.chmod(0o660)
        monkeypatch.setattr(os, "getxattr", lambda path, *_, **__: content if path == settings else _no_list())
    people(monkeypatch, group="lb", members=[], primary=["lb"])
    assert codes(workspace) == ([("list_lets_write", "ws/logistics-batch.toml")] if found else [])


def _no_list() -> bytes:
    raise OSError(61, "No data available")


SENDING = [
    ["push", "a.csv", "--mapping", "orders"],
    ["run", "nightly"],
    ["schedule"],
    ["settle"],
    ["retry", "20261103-020000-abcd"],
    ["held", "decide", "1", "drop", "--reason", "x"],
    ["order", "cancel", "SH-22T70ZX"],
    ["order", "get", "SH-22T70ZX"],
    ["labels", "--orders", "A-1"],
    ["asn", "fetch", "--invoice", "1"],
    ["reconcile", "--by", "created", "--from", "2026-11-01", "--to", "2026-11-02"],
    ["receive", "--port", "0"],
]


@pytest.mark.parametrize("arguments", SENDING, ids=" ".join)
def test_a_command_that_sends_or_carries_the_key_refuses(workspace: Workspace, arguments: list[str]) -> None:
    workspace.secret("events", "0123456789abcdef0123456789abcdef")
    workspace.configure("[receive]", 'secret_file = "secrets/events"')
    (workspace.root / "jobs").chmod(0o777)
    done = workspace.run(*arguments, timeout=60)
    assert done.code == 2
    assert str(workspace.root / "jobs") in done.err
    assert f"chmod o-w {workspace.root / 'jobs'}" in done.err
    assert not (workspace.root / "var/ledger.db").exists()


@pytest.mark.parametrize("arguments", [["runs"], ["push", "a.csv", "--mapping", "orders", "--dry-run"]], ids=" ".join)
def test_a_command_that_reads_warns_once(workspace: Workspace, arguments: list[str]) -> None:
    (workspace.root / "jobs").chmod(0o777)
    done = workspace.run(*arguments)
    assert done.code == 0, done.err
    assert done.err.count(f"chmod o-w {workspace.root / 'jobs'}") == 1


def test_doctor_tells_each_finding_and_sends_no_key(workspace: Workspace) -> None:
    for name in ("jobs", "mappings/orders.yaml"):
        path = workspace.root / name
        path.chmod(path.stat().st_mode | 0o002)
    done = workspace.run("doctor", "--json")
    checks = [each for each in done.json["checks"] if each["name"] == "workspace"]
    assert {each["state"] for each in checks} == {"problem"}
    assert [each["remedy"] for each in checks] == [
        f"chmod o-w {workspace.root / name}" for name in ("jobs", "mappings/orders.yaml")
    ]
    assert not [each for each in done.json["checks"] if each["name"] == "service"]


def test_a_job_s_mapping_beside_the_mappings_is_looked_at_too(workspace: Workspace) -> None:
    other = workspace.root / "other"
    other.mkdir()
    (workspace.root / "mappings/orders.yaml").rename(other / "orders.yaml")
    workspace.job("nightly", APPROVED_JOB.replace("mapping: orders", "mapping: other/orders.yaml"))
    other.chmod(0o777)
    workspace.drop("a.csv", order_lines(["A-1"]))
    done = workspace.run("run", "nightly")
    assert done.code == 2
    assert f"chmod o-w {other}" in done.err


KEYS: dict[str, Callable[[str], str]] = {
    "service.api_key_file": lambda path: f'[service]\napi_key_file = "{path}"\n',
    "ledger.url_file": lambda path: f'[ledger]\nurl_file = "{path}"\n',
    "pgp.key_file": lambda path: f'[pgp]\nkey_file = "{path}"\n',
    "pgp.passphrase_file": lambda path: f'[pgp]\npassphrase_file = "{path}"\n',
    "receive.secret_file": lambda path: f'[receive]\nsecret_file = "{path}"\n',
    "notify.urls_file": lambda path: f'[notify]\nurls_file = "{path}"\n',
    "sftp.dock.key_file": lambda path: f'[sftp.dock]\nhost = "h"\nusername = "u"\nkey_file = "{path}"\n',
    "sftp.dock.password_file": lambda path: f'[sftp.dock]\nhost = "h"\nusername = "u"\npassword_file = "{path}"\n',
}


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("path", ["{outside}/key", "../outside/key", "link", "folder/key"])
def test_a_secret_outside_the_workspace_is_read_only_where_the_settings_say_so(
    tmp_path: Path, key: str, path: str
) -> None:
    folder, outside = tmp_path / "ws", tmp_path / "outside"
    folder.mkdir()
    outside.mkdir()
    (outside / "key").touch(mode=0o600)
    (folder / "link").symlink_to(outside / "key")
    (folder / "folder").symlink_to("../outside")
    text = KEYS[key](path.format(outside=outside))
    (folder / "logistics-batch.toml").write_text(text)
    with pytest.raises(SettingsError) as refused:
        load_settings(folder, {})
    assert key in refused.value.message
    assert f'outside_workspace = ["{outside}"]' in refused.value.remedy
    (folder / "logistics-batch.toml").write_text(f'{text}[secrets]\noutside_workspace = ["{outside}"]\n')
    load_settings(folder, {})
    (folder / "logistics-batch.toml").write_text(text)
    load_settings(folder, {"LOGISTICS_BATCH_SECRETS__OUTSIDE_WORKSPACE": f"/run/secrets,{outside}"})


def test_a_place_for_secrets_is_a_whole_path_and_its_neighbours_stay_outside(tmp_path: Path) -> None:
    (tmp_path / "secrets-of-others").mkdir()
    write = (tmp_path / "logistics-batch.toml").write_text
    write('[secrets]\noutside_workspace = ["secrets"]\n')
    with pytest.raises(SettingsError, match=r"secrets\.outside_workspace"):
        load_settings(tmp_path, {})
    (tmp_path / "ws").mkdir()
    key = tmp_path / "secrets-of-others/key"
    (tmp_path / "ws/logistics-batch.toml").write_text(
        f'[service]\napi_key_file = "{key}"\n[secrets]\noutside_workspace = ["{tmp_path}/secrets"]\n'
    )
    with pytest.raises(SettingsError, match=r"service\.api_key_file"):
        load_settings(tmp_path / "ws", {})


@as_root
def test_a_secret_of_another_user_is_refused(tmp_path: Path) -> None:
    key = tmp_path / "key"
    key.touch(mode=0o600)
    os.chown(key, STRANGER, 0)
    with pytest.raises(SettingsError, match="belongs to"):
        private_file(key, name="service.api_key_file")


@as_root
def test_a_credential_that_only_we_can_read_by_a_list_of_rights_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """systemd lays credentials down as root's, mode 0440 by the mask of a list that names the service's user."""
    key = tmp_path / "key"
    key.touch()
    key.chmod(0o440)  # whatever the umask is
    nobody = 0xFFFFFFFF

    def rights(reader: int) -> bytes:
        entries = [(1, 4, nobody), (2, 4, reader), (4, 0, nobody), (0x10, 4, nobody), (0x20, 0, nobody)]
        return struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in entries)

    monkeypatch.setattr(os, "geteuid", lambda: 990)
    monkeypatch.setattr(os, "getxattr", lambda *_, **__: rights(990))
    assert private_file(key, name="service.api_key_file") == key
    monkeypatch.setattr(os, "getxattr", lambda *_, **__: rights(991))
    with pytest.raises(SettingsError, match="can be read by others"):
        private_file(key, name="service.api_key_file")


@as_root
@pytest.mark.parametrize(("name", "taken"), [(None, True), ("team", False)])
def test_a_secret_for_the_nameless_group_of_a_container_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str | None, taken: bool
) -> None:
    """Kubernetes gives a volume's files to `fsGroup`, with mode 0440."""
    key = tmp_path / "key"
    key.touch(mode=0o600)
    os.chown(key, 0, STRANGER)
    key.chmod(0o440)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setattr(os, "getgroups", lambda: [1000, STRANGER])
    people(monkeypatch, group=name, members=[], primary=[])
    if taken:
        assert private_file(key, name="service.api_key_file") == key
    else:
        with pytest.raises(SettingsError, match="can be read by others"):
            private_file(key, name="service.api_key_file")
