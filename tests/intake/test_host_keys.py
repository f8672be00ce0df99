"""The server proves who it is before we say who we are."""

import base64
import hashlib
import subprocess

import paramiko
import pytest
from paramiko.hostkeys import HostKeys
from support.sftp_servers import FakeSFTP, fake_access, real_access

from logistics_batch.errors import HostKeyRefused, SettingsError
from logistics_batch.intake.stores.sftp import SftpStore
from logistics_batch.intake.stores.sftp_keys import pinned_keys

RSA = paramiko.RSAKey.generate(2048)


def test_an_unpinned_server_is_refused_with_its_fingerprint_and_the_line_to_pin(fake_sftp, sftp_store):
    with pytest.raises(HostKeyRefused) as caught:
        sftp_store(host_key=None).list("/")
    assert fake_sftp.key.fingerprint in caught.value.message
    assert "[sftp.bhiwandi]" in caught.value.remedy
    assert caught.value.exit_code == 2
    assert fake_sftp.auth_attempts == 0
    line = caught.value.remedy.rsplit("\n", 1)[1]
    assert line == f'host_key = "{fake_sftp.host_key_line}"'
    assert sftp_store(host_key=line.split('"')[1]).list("/") == []


def test_a_changed_key_is_refused_before_any_login(fake_sftp, sftp_store):
    pinned = paramiko.ECDSAKey.generate()
    with pytest.raises(HostKeyRefused, match="has changed") as caught:
        sftp_store(host_key=f"{pinned.get_name()} {pinned.get_base64()}").list("/")
    assert pinned.fingerprint in caught.value.message and fake_sftp.key.fingerprint in caught.value.message
    assert fake_sftp.auth_attempts == 0


def test_a_key_of_another_type_is_refused_before_any_login(fake_sftp, sftp_store):
    with pytest.raises(HostKeyRefused, match="ssh-rsa"):
        sftp_store(host_key=f"{RSA.get_name()} {RSA.get_base64()}").list("/")
    assert fake_sftp.auth_attempts == 0


def test_a_key_that_changes_between_two_connections_is_refused(fake_sftp, sftp_store):
    store = sftp_store()
    assert store.list("/") == []
    fake_sftp.key = paramiko.ECDSAKey.generate()
    fake_sftp.drop_connections()
    attempts = fake_sftp.auth_attempts
    with pytest.raises(HostKeyRefused):
        store.list("/")
    assert fake_sftp.auth_attempts == attempts


@pytest.mark.parametrize("port_form", [True, False])
@pytest.mark.parametrize("hashed", [True, False])
def test_a_known_hosts_file_pins(fake_sftp, sftp_store, tmp_path, hashed, port_form):
    name = f"[127.0.0.1]:{fake_sftp.port}" if port_form else "127.0.0.1"
    known_hosts = tmp_path / "known_hosts"
    shown = HostKeys.hash_host(name) if hashed else name
    known_hosts.write_text(f"# ours\n\nother.example ssh-rsa AAAA\n{shown} {fake_sftp.host_key_line} comment\n")
    store = sftp_store(host_key=None, known_hosts=known_hosts)
    if port_form:
        assert store.list("/") == []
    else:  # a line without the port speaks of port 22
        with pytest.raises(HostKeyRefused, match="no key is pinned"):
            store.list("/")


def test_of_several_known_keys_any_one_serves_and_a_revoked_one_never(fake_sftp, sftp_store, tmp_path):
    name = f"[127.0.0.1]:{fake_sftp.port}"
    old = paramiko.ECDSAKey.generate()
    known_hosts = tmp_path / "known_hosts"
    lines = [f"{name} {old.get_name()} {old.get_base64()}", f"{name} {fake_sftp.host_key_line}"]
    known_hosts.write_text("\n".join(lines))
    assert sftp_store(host_key=None, known_hosts=known_hosts).list("/") == []
    known_hosts.write_text("\n".join([*lines, f"@revoked {name} {fake_sftp.host_key_line}"]))
    with pytest.raises(HostKeyRefused):
        sftp_store(host_key=None, known_hosts=known_hosts).list("/")


def test_a_line_that_was_commented_out_pins_nothing(fake_sftp, sftp_store, tmp_path):
    known_hosts = tmp_path / "known_hosts"
    known_hosts.write_text(f"#old.example,[127.0.0.1]:{fake_sftp.port} {fake_sftp.host_key_line}\n")
    with pytest.raises(HostKeyRefused, match="no key is pinned"):
        sftp_store(host_key=None, known_hosts=known_hosts).list("/")


@pytest.mark.parametrize("other", ["ssh-dss AAAAB3NzaC1kc3M=", "sk-ssh-ed25519@openssh.com AAAAGnNrLXNzaC1lZDI1NTE5"])
@pytest.mark.parametrize("marker", ["", "@revoked "])
def test_a_known_key_of_a_kind_that_is_never_taken_stands_in_nobody_s_way(
    fake_sftp, sftp_store, tmp_path, other, marker
):
    name, known_hosts = f"[127.0.0.1]:{fake_sftp.port}", tmp_path / "known_hosts"
    known_hosts.write_text(f"{name} {fake_sftp.host_key_line}\n{marker}{name} {other}\n")
    assert sftp_store(host_key=None, known_hosts=known_hosts).list("/") == []


@pytest.mark.parametrize(
    "line", ["ssh-ed25519", "AAAA", "ssh-ed25519 not-base64!", "ssh-rsa AAAAC3NzaC1lZDI1NTE5AAAAIA=="]
)
def test_a_pinned_key_that_is_none_is_a_settings_error(fake_sftp, line):
    with pytest.raises(SettingsError, match="sftp:bhiwandi"):
        pinned_keys(fake_access(fake_sftp, host_key=line))


def test_a_missing_known_hosts_file_is_a_settings_error(fake_sftp, tmp_path):
    with pytest.raises(SettingsError, match="known_hosts"):
        pinned_keys(fake_access(fake_sftp, host_key=None, known_hosts=tmp_path / "none"))


def test_a_server_with_an_rsa_key_can_be_pinned(tmp_path):
    server = FakeSFTP(tmp_path, key=RSA)
    store = SftpStore(fake_access(server))
    try:
        assert store.list("/") == []
    finally:
        store.close()
        server.close()


@pytest.mark.real
def test_the_fingerprint_is_the_one_that_openssh_shows(openssh_server, tmp_path):
    access = real_access(openssh_server)
    (key,) = pinned_keys(access)
    public = tmp_path / "key.pub"
    public.write_text(openssh_server.host_key_line)
    shown = subprocess.run(["ssh-keygen", "-l", "-f", public], check=True, capture_output=True, text=True).stdout
    assert key.fingerprint in shown
    assert key.fingerprint == "SHA256:" + base64.b64encode(hashlib.sha256(key.asbytes()).digest()).decode().rstrip("=")
