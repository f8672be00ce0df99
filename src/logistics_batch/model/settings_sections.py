"""What each section of the settings file may say; where the values come from is `settings`."""

import re
from ipaddress import ip_address
from typing import Annotated, Any, Literal, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, SecretStr, model_validator

from logistics_batch.model.complaints import FROM_THE_ROOT, PRINT_QUEUE
from logistics_batch.model.jobs.job_fields import Seconds, Zone

_RATE = re.compile(r"none|\d+(\.\d+)?/(s|min)")
_SHORTEST_RETENTION_SECONDS = 30 * 86400.0

Tree = dict[str, Any]


def _rate(value: str) -> str:
    if not _RATE.fullmatch(value) or float(value.partition("/")[0].replace("none", "1")) <= 0:
        raise ValueError(f'"{value}" is no rate. Write "1/s", "30/min" or "none".')
    return value


def _web_address(value: str) -> str:
    parts = urlsplit(value)
    if value and (parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment):
        raise ValueError('This is no address of a service. Write it as "https://api.example.com".')
    if parts.username or parts.password:
        raise ValueError("An address does not carry a user name or password here. Remove them.")
    return value.rstrip("/")


def _ip_address(value: str) -> str:
    try:
        return str(ip_address(value)) if value else ""
    except ValueError:
        raise ValueError(f'"{value}" is no IP address. Write it as "10.0.0.5".') from None


def _header(value: str) -> str:
    if "_" in value:
        raise ValueError(
            f'"{value}" has an underscore: many servers and proxies drop such headers in silence. Write hyphens.'
        )
    if not re.fullmatch(r"[A-Za-z0-9]+(-[A-Za-z0-9]+)+", value):
        raise ValueError(f'"{value}" is no name of a header of our own. Write one as "X-Logistics-Secret".')
    return value


def _time_of_day(value: str) -> str:
    if value and not re.fullmatch(r"([01]\d|2[0-3]):[0-5]\d", value):
        raise ValueError(f'"{value}" is no time of day. Write it as "07:00", or "" for none.')
    return value


def _retention(seconds: float) -> float:
    if 0 < seconds < _SHORTEST_RETENTION_SECONDS:
        raise ValueError(
            'What is younger than 30 days is still worked with. Write "30d" or more, or leave the key out.'
        )
    return seconds


def _whole_paths(values: tuple[str, ...]) -> tuple[str, ...]:
    for value in values:
        if not value.startswith("/"):
            raise ValueError(f'"{value}" is no whole path. Write a folder from / on, as "/run/secrets".')
    return values


def _listed(value: object) -> object:
    """A list comes from the environment as text with commas."""
    if isinstance(value, str):
        if value.lstrip().startswith("["):
            raise ValueError("Write the values themselves with commas between them, without brackets and quotes.")
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


Listed = Annotated[tuple[str, ...], BeforeValidator(_listed)]
WebAddress = Annotated[str, AfterValidator(_web_address)]
PathTemplate = Annotated[str, Field(pattern=FROM_THE_ROOT)]


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True, defer_build=True)


class AsnSettings(_Section):
    """`[service.asn]`: what is believed about ASNs, of which the API document does not say how they are identified."""

    update_identity: Literal["", "invoice_number"] = ""
    resend: Literal["never", "after_absent"] = "never"
    marker: bool = False


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
    timezone: Zone = "Asia/Kolkata"
    longitude: Literal["delivery_long", "delivery_lon"] = "delivery_long"
    ca_file: str | None = None
    proxy: WebAddress = ""
    change_unseen: Literal["hold", "send"] = "hold"
    asn: AsnSettings = Field(default_factory=AsnSettings)


class LedgerSettings(_Section):
    """`[ledger]`: the memory; its URL is a secret where it carries a password."""

    url: SecretStr | None = None
    url_file: str | None = None
    purge_after_seconds: Annotated[Seconds, AfterValidator(_retention)] = Field(default=0.0, alias="purge_after")


class ReportsSettings(_Section):
    """`[reports]`: where the reports of runs lie, relative to the workspace, and how long they and labels are kept."""

    dir: str = "reports"
    purge_after_seconds: Annotated[Seconds, AfterValidator(_retention)] = Field(default=0.0, alias="purge_after")
    purge_labels_after_seconds: Annotated[Seconds, AfterValidator(_retention)] = Field(
        default=0.0, alias="purge_labels_after"
    )


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
    public_url: WebAddress = ""
    purge_after_seconds: Annotated[Seconds, AfterValidator(_retention)] = Field(
        default=90 * 86400.0, alias="purge_after"
    )
    quota_mb: int = Field(default=1024, ge=1)


class OidcSettings(_Section):
    """`[web.oidc]`: signing in with an account of the organisation, by OpenID Connect.

    issuer: the provider's address. client_id, client_secret_file: as what it knows the pages. name_claim: what a person
    is called; one that people cannot change themselves. roles_claim: what they belong to; roles: which role each of
    that has. partners_claim: the partners to whom they are limited, "*" for all; "": nobody is limited. label: what the
    provider is called on the page.
    """

    issuer: WebAddress
    client_id: str = Field(min_length=1)
    client_secret_file: str | None = None
    name_claim: str = Field(default="email", min_length=1)
    roles_claim: str = Field(default="groups", min_length=1)
    roles: dict[str, str] = Field(min_length=1)
    partners_claim: str = ""
    label: str = Field(default="your organisation", min_length=1, max_length=60)


class WebSettings(_Section):
    """`[web]`: the pages of `serve`.

    hosts: further names under which browsers reach them, as `pages.example.com` or `10.1.2.3:8490`. cert_file,
    key_file: for TLS. proxy: the address of the server in front that speaks TLS for them. print_queues: the queues of
    this machine's printing system to which bundles may be sent.
    """

    host: str = Field(default="127.0.0.1", min_length=1)
    port: int = Field(default=8490, ge=0, le=65535)
    hosts: Listed = ()
    cert_file: str | None = None
    key_file: str | None = None
    proxy: Annotated[str, AfterValidator(_ip_address)] = ""
    print_queues: Annotated[tuple[Annotated[str, Field(pattern=PRINT_QUEUE)], ...], BeforeValidator(_listed)] = ()
    oidc: OidcSettings | None = None


class PgpSettings(_Section):
    """`[pgp]`: our private key, with which files that were encrypted for us are opened."""

    key_file: str | None = None
    passphrase: SecretStr | None = None
    passphrase_file: str | None = None


class SecretsSettings(_Section):
    """`[secrets]`: folders besides the workspace in which files with secrets may lie."""

    outside_workspace: Annotated[Listed, AfterValidator(_whole_paths)] = ()


class NotifySettings(_Section):
    """`[notify]`: addresses of alerts, as Apprise writes them, and when the daily digest goes out.

    file_names: whether alerts show whole names of files, which may be those of people.
    """

    urls: Annotated[tuple[SecretStr, ...], BeforeValidator(_listed)] = ()
    urls_file: str | None = None
    digest: Annotated[str, AfterValidator(_time_of_day)] = ""
    file_names: bool = False


class LogSettings(_Section):
    """`[log]`: what `schedule` and `run` write of what they do."""

    format: Literal["text", "json"] = "text"
    file: str = ""


class MetricsSettings(_Section):
    """`[metrics]`: figures for Prometheus; a text file for node_exporter."""

    textfile: str = ""
