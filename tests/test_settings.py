"""The settings: a file, the environment over it, secrets that stay secret, and plain words for every mistake."""

from pathlib import Path

import pytest
from pydantic import SecretStr

from logistics_batch.errors import SettingsError, UsageError
from logistics_batch.settings import load_settings, open_secrets, private_file, private_headers, read_secret

CANARY = "kq7-canary-93jd"


def write(workspace: Path, text: str) -> None:
    (workspace / "logistics-batch.toml").write_text(text, encoding="utf-8")


def complaint(workspace: Path, text: str = "", **environment: str) -> str:
    write(workspace, text)
    with pytest.raises(SettingsError) as caught:
        load_settings(workspace, environment)
    return f"{caught.value.message} {caught.value.remedy}"


def test_without_a_file_the_defaults_hold(tmp_path: Path) -> None:
    settings = load_settings(tmp_path, {})
    assert settings.service.rate == "1/s"
    assert settings.service.timezone == "Asia/Kolkata"
    assert settings.service.settle_after_seconds == 180
    assert settings.service.create_deadline_seconds == 60
    assert settings.reports.dir == "reports"


def test_every_documented_key_is_taken(tmp_path: Path) -> None:
    write(
        tmp_path,
        """
[service]
base_url = "https://api.example.com/"
api_key_file = "secrets/api-key"
rate = "30/min"
concurrency = 8
deadline = "45s"
create_deadline = "2m"
label_hosts = ["labels.example.com"]
settle_after = "500ms"
timezone = "Asia/Dubai"
[service.asn]
update_identity = "invoice_number"
resend = "after_absent"
[service.paths]
order.cancel = "/orders/cancel/{orderId}"
"asn.fetch" = "/asns"
[ledger]
url = "sqlite:///var/ledger.db"
[reports]
dir = "out"
[sftp.bhiwandi]
host = "sftp.example.com"
port = 2222
username = "wms"
key_file = "secrets/bhiwandi"
host_key = "ssh-ed25519 AAAA"
[receive]
host = "0.0.0.0"
port = 8481
path = "/events/9f8e7d6c"
header = "X-Shop-Key"
secret_file = "secrets/events"
[notify]
urls = ["mailto://ops@example.com"]
""",
    )
    settings = load_settings(tmp_path, {})
    assert settings.service.base_url == "https://api.example.com"
    assert settings.service.create_deadline_seconds == 120
    assert settings.service.settle_after_seconds == 0.5
    assert settings.service.paths == {"order.cancel": "/orders/cancel/{orderId}", "asn.fetch": "/asns"}
    assert settings.service.asn.update_identity == "invoice_number"
    assert settings.sftp["bhiwandi"].port == 2222
    assert (settings.receive.port, settings.receive.header) == (8481, "X-Shop-Key")


def test_the_environment_wins_over_the_file(tmp_path: Path) -> None:
    write(tmp_path, '[service]\nbase_url = "https://a.example.com"\nconcurrency = 2\n')
    environment = {
        "LOGISTICS_BATCH_SERVICE__BASE_URL": "https://b.example.com",
        "LOGISTICS_BATCH_SERVICE__LABEL_HOSTS": "one.example.com, two.example.com",
        "LOGISTICS_BATCH_SERVICE__ASN__RESEND": "after_absent",
        "LOGISTICS_BATCH_SERVICE__PATHS__ORDER__CREATE": "/orders",
        "LOGISTICS_BATCH_SFTP__BHIWANDI__HOST": "sftp.example.com",
        "LOGISTICS_BATCH_SFTP__BHIWANDI__USERNAME": "wms",
        "LOGISTICS_BATCH_SFTP__BHIWANDI__PASSWORD": CANARY,
        "LOGISTICS_BATCH_CAMPAIGN": "full",  # not a setting: no section
    }
    settings = load_settings(tmp_path, environment)
    assert settings.service.base_url == "https://b.example.com"
    assert settings.service.concurrency == 2
    assert settings.service.label_hosts == ("one.example.com", "two.example.com")
    assert settings.service.asn.resend == "after_absent"
    assert settings.service.paths == {"order.create": "/orders"}
    assert settings.sftp["bhiwandi"].host == "sftp.example.com"


def test_a_secret_of_the_environment_replaces_the_other_form_in_the_file(tmp_path: Path) -> None:
    write(tmp_path, '[service]\napi_key_file = "secrets/api-key"\n[ledger]\nurl = "sqlite:///a.db"\n')
    environment = {"LOGISTICS_BATCH_SERVICE__API_KEY": CANARY, "LOGISTICS_BATCH_LEDGER__URL_FILE": "secrets/url"}
    settings = load_settings(tmp_path, environment)
    assert settings.service.api_key == SecretStr(CANARY)
    assert settings.service.api_key_file is None
    assert settings.ledger.url is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('[service]\nbase_ulr = "x"\n', "service.base_ulr: there is no key `base_ulr`. Did you mean `base_url`?"),
        ('[servcie]\nrate = "1/s"\n', "there is no key `servcie`. Did you mean `service`?"),
        ('[service]\ndead_line = "4s"\n', "Did you mean `deadline`?"),
        ('[service.asn]\nresnd = "never"\n', "Did you mean `resend`?"),
        (
            '[sftp.a]\nhots = "h"\nusername = "u"\nkey_file = "k"\n',
            "sftp.a.hots: there is no key `hots`. Did you mean `host`?",
        ),
        ('[service]\nrate = "fast"\n', 'service.rate: "fast" is no rate. Write "1/s", "30/min" or "none".'),
        ('[service]\nrate = "0/s"\n', "is no rate"),
        ('[service]\ndeadline = "45"\n', 'service.deadline: "45" is no length of time.'),
        ('[service]\ndeadline = "0s"\n', "service.deadline: this value does not fit. Write more than 0."),
        ("[service]\nconcurrency = 99\n", "service.concurrency: this value does not fit. Write at most 64."),
        ('[service]\nconcurrency = "many"\n', "service.concurrency: this value does not fit. Write a whole number."),
        ('[service.asn]\nresend = "maybe"\n', "asn.resend: this value does not fit. Write `never` or `after_absent`."),
        ("[service]\nca_file = 5\n", "service.ca_file: this value does not fit. Write a text"),
        ("service = 5\n", "service: this value does not fit. Write keys with values"),
        ('[service]\ntimezone = "Kolkata"\n', '"Kolkata" is no time zone'),
        ('[service]\nbase_url = "api.example.com"\n', "This is no address of a service."),
        ('[service]\nbase_url = "https://u:p@api.example.com"\n', "does not carry a user name or password"),
        ('[service.paths]\n"order.create" = "orders"\n', 'does not fit. Write a path that begins with "/".'),
        ('[sftp.a]\nhost = "h"\nusername = "u"\n', "nothing to log in with"),
        ('[sftp.a]\nusername = "u"\nkey_file = "k"\n', "sftp.a.host: this key is missing."),
        ("[service\n", "is no TOML"),
    ],
)
def test_a_mistake_is_named_with_its_place(tmp_path: Path, text: str, words: str) -> None:
    assert words in complaint(tmp_path, text)


def test_a_complaint_ends_with_what_helps(tmp_path: Path) -> None:
    """ "What to do: Nothing was sent." is no help."""
    write(tmp_path, '[service]\nconcurrency = "many"\n')
    with pytest.raises(SettingsError) as caught:
        load_settings(tmp_path, {})
    assert caught.value.remedy == ""
    assert caught.value.message.endswith("Write a whole number.")


def test_every_mistake_is_named_at_once(tmp_path: Path) -> None:
    said = complaint(tmp_path, '[service]\nrate = "x"\ndeadline = "y"\n[reprots]\n')
    assert all(word in said for word in ("service.rate", "service.deadline", "reprots"))


def test_a_mistake_in_the_environment_names_the_variable(tmp_path: Path) -> None:
    said = complaint(tmp_path, LOGISTICS_BATCH_SERVICE__RATE="fast")
    assert "LOGISTICS_BATCH_SERVICE__RATE:" in said
    said = complaint(tmp_path, LOGISTICS_BATCH_SERVICE__LABEL_HOSTS='["a.example.com"]')
    assert said.startswith("LOGISTICS_BATCH_SERVICE__LABEL_HOSTS: Write the values themselves with commas between them")
    said = complaint(tmp_path, LOGISTICS_BATCH_LEDGRE__URL="x")
    assert "LOGISTICS_BATCH_LEDGRE" in said
    assert "Did you mean `ledger`?" in said


def test_a_variable_with_one_underscore_too_few_is_not_passed_over(tmp_path: Path) -> None:
    """A run would keep another ledger than the one that was meant, and create its orders again."""
    said = complaint(tmp_path, LOGISTICS_BATCH_LEDGER_URL="postgresql://wms@db/ledger")
    assert said == "LOGISTICS_BATCH_LEDGER_URL is no setting, and nothing reads it. Write LOGISTICS_BATCH_LEDGER__URL."
    of_kubernetes = {"LOGISTICS_BATCH_SERVICE_HOST": "10.0.0.1", "LOGISTICS_BATCH_WEB_PORT": "tcp://10.0.0.1:80"}
    assert load_settings(tmp_path, of_kubernetes).ledger.url is None


def test_two_variables_that_contradict_each_other_are_named(tmp_path: Path) -> None:
    said = complaint(tmp_path, LOGISTICS_BATCH_SERVICE__ASN="x", LOGISTICS_BATCH_SERVICE__ASN__RESEND="never")
    assert "LOGISTICS_BATCH_SERVICE__ASN" in said


def test_a_complaint_shows_no_secret(tmp_path: Path) -> None:
    text = (
        f'[service]\napi_key = "{CANARY}"\nrate = "x"\n[ledger]\nurl = "postgresql://u:{CANARY}@h/d"\nurll = "y"\n'
        f'[sftp.a]\npassword = "{CANARY}"\n[notify]\nurls = ["slack://{CANARY}"]\n'
    )
    write(tmp_path, text)
    with pytest.raises(SettingsError) as caught:
        load_settings(tmp_path, {})
    assert CANARY not in f"{caught.value} {caught.value!r} {caught.value.__cause__} {caught.value.__context__}"


def test_settings_can_be_shown_without_their_secrets(tmp_path: Path) -> None:
    write(tmp_path, f'[service]\napi_key = "{CANARY}"\n[ledger]\nurl = "postgresql://u:{CANARY}@h/d"\n')
    settings = load_settings(tmp_path, {"LOGISTICS_BATCH_NOTIFY__URLS": f"slack://{CANARY}"})
    assert CANARY not in f"{settings!r} {settings} {settings.model_dump_json()}"


def test_a_workspace_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is no folder"):
        load_settings(tmp_path / "nowhere", {})


def test_a_secret_comes_from_a_file_that_only_its_owner_can_read(tmp_path: Path) -> None:
    path = tmp_path / "api-key"
    path.write_text(f"  {CANARY}\n")
    path.chmod(0o600)
    found = read_secret(tmp_path, name="service.api_key", inline=None, file="api-key")
    assert found == SecretStr(CANARY)


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o666])
def test_a_secret_that_others_can_read_or_change_is_refused(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "api-key"
    path.write_text(CANARY)
    path.chmod(mode)
    with pytest.raises(SettingsError, match="can be read by others") as caught:
        private_file(path, name="service.api_key_file")
    assert caught.value.remedy == f"chmod 600 {path}"
    assert CANARY not in str(caught.value)


def test_a_secret_that_is_not_there_or_empty_is_named(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"service\.api_key_file: .* cannot be read"):
        read_secret(tmp_path, name="service.api_key", inline=None, file="nowhere")
    (tmp_path / "empty").touch(mode=0o600)
    with pytest.raises(SettingsError, match="is empty"):
        read_secret(tmp_path, name="service.api_key", inline=None, file="empty")
    with pytest.raises(SettingsError, match="both given"):
        read_secret(tmp_path, name="service.api_key", inline=SecretStr(CANARY), file="empty")


def test_a_secret_that_root_wrote_for_another_user_says_whose_it_must_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "api-key").touch(mode=0o600)

    def forbidden(*_: object, **__: object) -> str:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_text", forbidden)
    with pytest.raises(SettingsError, match="cannot be read: it belongs to somebody else") as told:
        read_secret(tmp_path, name="service.api_key", inline=None, file="api-key")
    assert "chown" in told.value.remedy


def test_a_settings_file_that_shows_a_secret_to_others_is_warned_about(tmp_path: Path) -> None:
    write(tmp_path, f'[service]\napi_key = "{CANARY}"\n')
    settings = tmp_path / "logistics-batch.toml"
    settings.chmod(0o644)
    assert "chmod 600" in open_secrets(tmp_path)
    settings.chmod(0o600)
    assert open_secrets(tmp_path) == ""
    write(tmp_path, '[service]\napi_key_file = "secrets/api-key"\n')
    settings.chmod(0o644)
    assert open_secrets(tmp_path) == ""


@pytest.mark.parametrize(
    ("url", "secret"),
    [
        (f"postgresql://lb:{CANARY}@db.example.com/ledger", True),
        (f"postgresql://lb:a/b#{CANARY}@db.example.com/ledger", True),
        (f"postgresql:///ledger?host=db.example.com&user=lb&password={CANARY}", True),
        (f"postgresql://lb@db.example.com/ledger?sslkey=k&sslpassword={CANARY}", True),
        ("postgresql://lb@db.example.com:5432/ledger?sslmode=verify-full", False),
        ("postgresql:///ledger?host=/var/run/postgresql", False),
        ("sqlite:///var/ledger.db", False),
    ],
)
def test_a_ledger_s_password_in_a_readable_settings_file_is_told(tmp_path: Path, url: str, secret: bool) -> None:
    write(tmp_path, f'[ledger]\nurl = "{url}"\n')
    (tmp_path / "logistics-batch.toml").chmod(0o644)
    warning = open_secrets(tmp_path)
    assert ("chmod 600" in warning) is secret
    assert CANARY not in warning
    (tmp_path / "logistics-batch.toml").chmod(0o600)
    assert open_secrets(tmp_path) == ""


def test_a_folder_in_the_place_of_a_key_is_told_as_one(tmp_path: Path) -> None:
    (tmp_path / "api-key").mkdir()
    with pytest.raises(SettingsError, match="is a folder, not a file") as refused:
        private_file(tmp_path / "api-key", name="service.api_key_file")
    assert "chmod" not in refused.value.remedy


def test_headers_of_callbacks_come_from_a_private_file(tmp_path: Path) -> None:
    path = tmp_path / "headers"
    path.touch(mode=0o600)
    path.write_text("API_KEY: abc\n\nX-Site: bhiwandi\n")
    assert private_headers(path) == {"API_KEY": "abc", "X-Site": "bhiwandi"}
    path.write_text("no header\n")
    with pytest.raises(SettingsError, match="headers:1"):
        private_headers(path)
