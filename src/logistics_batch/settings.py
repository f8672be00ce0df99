"""The settings of a workspace, `logistics-batch.toml` and the environment: read here and nowhere else.

Every key can come from the environment as LOGISTICS_BATCH_ + its path joined by two underscores, which wins over the
file: LOGISTICS_BATCH_SERVICE__BASE_URL. Every secret has a twin `…_file` that names a file holding it.
"""

import os
import re
import stat
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SecretStr,
    ValidationError,
    model_validator,
)
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict, TomlConfigSettingsSource

from logistics_batch.errors import SettingsError, UsageError
from logistics_batch.model.complaints import FROM_THE_ROOT, own_words, remedy_of, wanted
from logistics_batch.model.duration import duration_seconds
from logistics_batch.specification import nearest

FILE_NAME = "logistics-batch.toml"
PREFIX = "LOGISTICS_BATCH_"
CRASH_POINT = "LOGISTICS_BATCH_CRASH_AT"

_RATE = re.compile(r"none|\d+(\.\d+)?/(s|min)")
_SHORTEST_RETENTION_SECONDS = 30 * 86400.0
_SECRETS = ("api_key", "passphrase", "password", "secret", "url", "urls")

Tree = dict[str, Any]


def _duration(value: object) -> float:
    return duration_seconds(str(value))


def _rate(value: str) -> str:
    if not _RATE.fullmatch(value) or float(value.partition("/")[0].replace("none", "1")) <= 0:
        raise ValueError(f'"{value}" is no rate. Write "1/s", "30/min" or "none".')
    return value


def _zone(value: str) -> str:
    try:
        ZoneInfo(value)
    except (ValueError, OSError, KeyError) as error:
        raise ValueError(f'"{value}" is no time zone. Write its IANA name, as "Asia/Kolkata".') from error
    return value


def _web_address(value: str) -> str:
    parts = urlsplit(value)
    if value and (parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment):
        raise ValueError('This is no address of a service. Write it as "https://api.example.com".')
    if parts.username or parts.password:
        raise ValueError("An address does not carry a user name or password here. Remove them.")
    return value.rstrip("/")


def _header(value: str) -> str:
    if "_" in value:
        raise ValueError(
            f'"{value}" has an underscore: many servers and proxies drop such headers in silence. Write hyphens.'
        )
    if not re.fullmatch(r"[A-Za-z0-9]+(-[A-Za-z0-9]+)+", value):
        raise ValueError(f'"{value}" is no name of a header of our own. Write one as "X-Logistics-Secret".')
    return value


def _retention(seconds: float) -> float:
    if 0 < seconds < _SHORTEST_RETENTION_SECONDS:
        raise ValueError(
            'What is younger than 30 days is still worked with. Write "30d" or more, or leave the key out.'
        )
    return seconds


def _listed(value: object) -> object:
    """A list comes from the environment as text with commas."""
    if isinstance(value, str):
        return tuple(part.strip() for part in value.split(",") if part.strip())
    return value


def _flattened(value: object) -> object:
    """`order.create = …` is a nested table to TOML, and so it is from the environment."""
    if not isinstance(value, dict):
        return value
    flat: Tree = {}
    for name, inner in value.items():
        below = _flattened(inner)
        flat.update(
            {f"{name}.{key}": path for key, path in below.items()} if isinstance(below, dict) else {name: below}
        )
    return flat


Seconds = Annotated[float, BeforeValidator(_duration)]
Listed = Annotated[tuple[str, ...], BeforeValidator(_listed)]
WebAddress = Annotated[str, AfterValidator(_web_address)]
PathTemplate = Annotated[str, Field(pattern=FROM_THE_ROOT)]


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)


class AsnSettings(_Section):
    """`[service.asn]`: what is believed about ASNs, of which the API document does not say how they are identified."""

    update_identity: Literal["", "invoice_number"] = ""
    resend: Literal["never", "after_absent"] = "never"


class ServiceSettings(_Section):
    """`[service]`: the logistics service."""

    base_url: WebAddress = ""
    api_key: SecretStr | None = None
    api_key_file: str | None = None
    paths: Annotated[dict[str, PathTemplate], BeforeValidator(_flattened)] = Field(default_factory=dict)
    rate: Annotated[str, AfterValidator(_rate)] = "1/s"
    concurrency: int = Field(default=4, ge=1, le=64)
    deadline_seconds: Seconds = Field(default=45.0, alias="deadline", gt=0)
    create_deadline_seconds: Seconds = Field(default=60.0, alias="create_deadline", gt=0)
    label_hosts: Listed = ()
    label_orders_per_call: int = Field(default=1, ge=1, le=100)
    settle_after_seconds: Seconds = Field(default=180.0, alias="settle_after", ge=0)
    timezone: Annotated[str, AfterValidator(_zone)] = "Asia/Kolkata"
    longitude: Literal["delivery_long", "delivery_lon"] = "delivery_long"
    ca_file: str | None = None
    proxy: WebAddress = ""
    asn: AsnSettings = AsnSettings()


class LedgerSettings(_Section):
    """`[ledger]`: the memory; its URL is a secret where it carries a password."""

    url: SecretStr | None = None
    url_file: str | None = None
    purge_after_seconds: Annotated[Seconds, AfterValidator(_retention)] = Field(default=0.0, alias="purge_after")


class ReportsSettings(_Section):
    """`[reports]`: where the reports of runs lie, relative to the workspace."""

    dir: str = "reports"


class SftpSettings(_Section):
    """`[sftp.NAME]`: one SFTP server."""

    host: str = Field(min_length=1)
    port: int = Field(default=22, ge=1, le=65535)
    username: str = Field(min_length=1)
    key_file: str | None = None
    password: SecretStr | None = None
    password_file: str | None = None
    host_key: str | None = None
    known_hosts: str | None = None
    timeout_seconds: Seconds = Field(default=30.0, alias="timeout", gt=0)

    @model_validator(mode="after")
    def _can_log_in(self) -> Self:
        if not (self.key_file or self.password or self.password_file):
            raise ValueError("There is nothing to log in with. Write key_file or password_file.")
        return self


class ReceiveSettings(_Section):
    """`[receive]`: the receiver of order events; it does not start without a secret."""

    host: str = Field(default="127.0.0.1", min_length=1)
    port: int = Field(default=8480, ge=0, le=65535)
    path: PathTemplate = "/events"
    header: Annotated[str, AfterValidator(_header)] = "X-Logistics-Secret"
    secret: SecretStr | None = None
    secret_file: str | None = None


class PgpSettings(_Section):
    """`[pgp]`: our private key, with which files that were encrypted for us are opened."""

    key_file: str | None = None
    passphrase: SecretStr | None = None
    passphrase_file: str | None = None


class NotifySettings(_Section):
    """`[notify]`: addresses of alerts, as Apprise writes them."""

    urls: Annotated[tuple[SecretStr, ...], BeforeValidator(_listed)] = ()
    urls_file: str | None = None


class Settings(BaseSettings):
    """All settings of one workspace."""

    model_config = SettingsConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    service: ServiceSettings = ServiceSettings()
    ledger: LedgerSettings = LedgerSettings()
    reports: ReportsSettings = ReportsSettings()
    sftp: dict[str, SftpSettings] = Field(default_factory=dict)
    receive: ReceiveSettings = ReceiveSettings()
    notify: NotifySettings = NotifySettings()
    pgp: PgpSettings = PgpSettings()


class _Environment(PydanticBaseSettingsSource):
    """Variables LOGISTICS_BATCH_SECTION__KEY as a tree; `names` gives the variable of each path."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        super().__init__(Settings)
        self.tree: Tree = {}
        self.names: dict[tuple[str, ...], str] = {}
        for name, text in sorted(environment.items()):
            if name.startswith(PREFIX) and "__" in name:
                self._take(name, text)

    def _take(self, name: str, text: str) -> None:
        path = tuple(part.lower() for part in name.removeprefix(PREFIX).split("__"))
        node = self.tree
        for part in path[:-1]:
            node = node.setdefault(part, {})
            if not isinstance(node, dict):
                raise SettingsError(f"{name}: another variable already gives this key a value.", remedy="Unset one.")
        node[path[-1]] = text
        self.names[path] = name

    def get_field_value(self, field: FieldInfo, field_name: str) -> tuple[Any, str, bool]:  # noqa: ARG002
        """The part of the tree below one section."""
        return self.tree.get(field_name), field_name, False

    def __call__(self) -> Tree:
        return self.tree


class _File(TomlConfigSettingsSource):
    """The settings file, less the secrets whose other form the environment gives."""

    def __init__(self, path: Path, environment: Tree) -> None:
        try:
            super().__init__(Settings, toml_file=path)
        except tomllib.TOMLDecodeError as error:
            raise SettingsError(f"{path} is no TOML: {error}.", remedy="Mend that line.") from error
        except (OSError, UnicodeDecodeError) as error:
            raise SettingsError(f"{path} cannot be read: {error}.") from error
        self._environment = environment

    def __call__(self) -> Tree:
        return _without_twins(self.toml_data, self._environment)


def _without_twins(tree: Tree, winner: Tree) -> Tree:
    kept: Tree = {}
    for name, value in tree.items():
        twin = name.removesuffix("_file") if name.endswith("_file") else f"{name}_file"
        if twin in winner and twin.removesuffix("_file") in _SECRETS:
            continue
        below = winner.get(name)
        kept[name] = _without_twins(value, below) if isinstance(value, dict) and isinstance(below, dict) else value
    return kept


def load_settings(workspace: Path, environment: Mapping[str, str] = os.environ) -> Settings:
    """The settings of a workspace; without a file they are the defaults and what the environment says.

    Raises UsageError if the folder is missing, SettingsError with every complaint.
    """
    if not workspace.is_dir():
        remedy = "Name a workspace with --workspace, or make one with `logistics-batch init DIR`."
        raise UsageError(f"The workspace {workspace} is no folder.", remedy=remedy)
    variables = _Environment(environment)
    file = _File(workspace / FILE_NAME, variables.tree)
    try:
        settings = Settings(_build_sources=((variables, file), {}))
    except ValidationError as error:
        complaints = [
            _complaint(each, variables.names) for each in error.errors(include_url=False, include_input=False)
        ]
        raise SettingsError("\n".join(complaints)) from None
    return settings


def _complaint(error: ErrorDetails, names: Mapping[tuple[str, ...], str]) -> str:
    path = tuple(str(part) for part in error["loc"])
    found = next((names[path[:n]] for n in range(len(path), 0, -1) if path[:n] in names), None)
    if error["type"] == "extra_forbidden" and not found:
        found = next((name for known, name in names.items() if known[: len(path)] == path), None)
    place = found or f"{FILE_NAME}, {'.'.join(path)}"
    if error["type"] == "extra_forbidden":
        return f"{place}: there is no key `{path[-1]}`. {nearest(path[-1], _known_keys(path[:-1]))}".rstrip()
    if error["type"] == "missing":
        return f"{place}: this key is missing. Add it."
    if error["type"] in ("value_error", "assertion_error"):
        return f"{place}: {own_words(error['msg'])}"
    return f"{place}: this value does not fit. {remedy_of([wanted(error['type'], error.get('ctx') or {})])}"


def _known_keys(path: tuple[str, ...]) -> list[str]:
    """The keys that a section has, in the order in which they are documented."""
    model: type[BaseModel] = SftpSettings if path[:1] == ("sftp",) else Settings
    for part in path if model is Settings else ():
        kind = model.model_fields[part].annotation if part in model.model_fields else None
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            model = kind
    return [field.alias or name for name, field in model.model_fields.items()]


def read_secret(workspace: Path, *, name: str, inline: SecretStr | None, file: str | None) -> SecretStr | None:
    """A secret from its value or its file; None if neither is given.

    name: the key's path, as "service.api_key", for messages, which never show the secret.
    Raises SettingsError if both are given, or the file is missing, empty, or open to others than its owner.
    """
    if inline is not None and file is not None:
        raise SettingsError(f"{name} and {name}_file are both given.", remedy="Remove one of them.")
    if file is None:
        return inline
    path = workspace / file
    private_file(path, name=f"{name}_file")
    try:
        text = path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{name}_file: {path} cannot be read as text.") from error
    if not text:
        raise SettingsError(f"{name}_file: {path} is empty.", remedy="Write the secret into it.")
    return SecretStr(text)


def private_file(path: Path, *, name: str) -> Path:
    """The path itself, once it is sure that only its owner can read the file.

    Raises SettingsError if the file is missing or open to group or others.
    """
    try:
        mode = stat.S_IMODE(path.stat().st_mode)
    except OSError as error:
        raise SettingsError(f"{name}: {path} cannot be read: {error.strerror}.", remedy="Create it.") from error
    if mode & 0o077:
        raise SettingsError(f"{name}: {path} can be read by others (mode {mode:o}).", remedy=f"chmod 600 {path}")
    return path


def private_headers(path: Path) -> dict[str, str]:
    """Headers from a file of "Name: value" lines that only its owner can read.

    Raises SettingsError.
    """
    headers: dict[str, str] = {}
    for number, line in enumerate(private_file(path, name="--headers-file").read_text("utf-8").splitlines(), 1):
        name, colon, value = line.partition(":")
        if line.strip() and not (colon and name.strip() and value.strip()):
            raise SettingsError(f"{path}:{number}: this is no header.", remedy='Write "Name: value".')
        if line.strip():
            headers[name.strip()] = value.strip()
    return headers


def open_secrets(workspace: Path) -> str:
    """A warning if the settings file itself holds a secret and others can read it, else ""."""
    path = workspace / FILE_NAME
    if not path.is_file() or not stat.S_IMODE(path.stat().st_mode) & 0o077:
        return ""
    written = load_settings(workspace, {})
    passwords = (server.password for server in written.sftp.values())
    inline = [written.service.api_key, written.receive.secret, written.pgp.passphrase, *passwords]
    if not any(inline):
        return ""
    return (
        f"{path} holds a secret and can be read by others. Put the secret into a file of its own, or: chmod 600 {path}"
    )


def armed_crash_point(environment: Mapping[str, str] = os.environ) -> str:
    """The point at which a test wants the process to die, "" outside tests."""
    return environment.get(CRASH_POINT, "")
