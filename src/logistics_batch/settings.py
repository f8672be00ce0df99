"""The settings of a workspace, `logistics-batch.toml` and the environment: read here and nowhere else.

Every key can come from the environment as LOGISTICS_BATCH_ + its path joined by two underscores, which wins over the
file: LOGISTICS_BATCH_SERVICE__BASE_URL. Every secret has a twin `…_file` that names a file holding it.
"""

import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError
from pydantic_core import ErrorDetails

from logistics_batch.errors import SettingsError, UsageError
from logistics_batch.file_rights import is_of_another, other_readers
from logistics_batch.model.complaints import own_words, remedy_of, wanted
from logistics_batch.model.settings_sections import (
    LedgerSettings,
    LogSettings,
    MetricsSettings,
    NotifySettings,
    PgpSettings,
    ReceiveSettings,
    ReportsSettings,
    SecretsSettings,
    ServiceSettings,
    SftpSettings,
    Tree,
    WebSettings,
)
from logistics_batch.specification import nearest

FILE_NAME = "logistics-batch.toml"
PREFIX = "LOGISTICS_BATCH_"
CRASH_POINT = "LOGISTICS_BATCH_CRASH_AT"

_SECRETS = ("api_key", "passphrase", "password", "secret", "url", "urls")
_SHORTEST_SECRET = 32
_PASSWORD_IN_URL = re.compile(r"://[^:@/?]*:[^@]+@|[?&](ssl)?password=[^&]")
_HIDDEN, _NOT_SHOWN = str(SecretStr("x")), "given, not shown"
_MAKE_ONE = "Make one: (umask 077; openssl rand -hex 32 > secrets/events)"


class Settings(BaseModel):
    """All settings of one workspace."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True, defer_build=True)

    service: ServiceSettings = Field(default_factory=ServiceSettings)
    ledger: LedgerSettings = Field(default_factory=LedgerSettings)
    reports: ReportsSettings = Field(default_factory=ReportsSettings)
    sftp: dict[str, SftpSettings] = Field(default_factory=dict)
    receive: ReceiveSettings = Field(default_factory=ReceiveSettings)
    web: WebSettings = Field(default_factory=WebSettings)
    notify: NotifySettings = Field(default_factory=NotifySettings)
    log: LogSettings = Field(default_factory=LogSettings)
    metrics: MetricsSettings = Field(default_factory=MetricsSettings)
    pgp: PgpSettings = Field(default_factory=PgpSettings)
    secrets: SecretsSettings = Field(default_factory=SecretsSettings)


class _Environment:
    """Variables LOGISTICS_BATCH_SECTION__KEY as a tree; `names` gives the variable of each path."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self.tree: Tree = {}
        self.names: dict[tuple[str, ...], str] = {}
        meant = {PREFIX + "_".join(path).upper(): PREFIX + "__".join(path).upper() for path in _every_key()}
        for name, text in sorted(environment.items()):
            if name.startswith(PREFIX) and "__" in name:
                self._take(name, text)
            elif name in meant:
                raise SettingsError(f"{name} is no setting, and nothing reads it.", remedy=f"Write {meant[name]}.")

    def _take(self, name: str, text: str) -> None:
        path = tuple(part.lower() for part in name.removeprefix(PREFIX).split("__"))
        node = self.tree
        for part in path[:-1]:
            node = node.setdefault(part, {})
            if not isinstance(node, dict):
                raise SettingsError(f"{name}: another variable already gives this key a value.", remedy="Unset one.")
        node[path[-1]] = text
        self.names[path] = name


def _every_key() -> Iterator[tuple[str, ...]]:
    """The section and the name of every key, but for ports: Kubernetes makes LOGISTICS_BATCH_WEB_PORT of a service that
    is called so."""
    for section in Settings.model_fields:
        yield from ((section, key) for key in _known_keys((section,)) if section != "sftp" and key != "port")


def _of_file(path: Path) -> Tree:
    """What the settings file says; nothing where there is none."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"{path} is no TOML: {error}.", remedy="Mend that line.") from error
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path} cannot be read: {error}.") from error


def _merged(tree: Tree, winner: Tree) -> Tree:
    """A tree in which the winner's values stand over the other's, and a secret of the winner over its other form."""
    kept: Tree = {}
    for name, value in tree.items():
        twin = name.removesuffix("_file") if name.endswith("_file") else f"{name}_file"
        if twin in winner and twin.removesuffix("_file") in _SECRETS:
            continue
        below = winner.get(name)
        if isinstance(value, dict) and isinstance(below, dict):
            kept[name] = _merged(value, below)
        else:
            kept[name] = winner.get(name, value)
    return kept | {name: value for name, value in winner.items() if name not in kept}


def load_settings(workspace: Path, environment: Mapping[str, str] = os.environ) -> Settings:
    """The settings of a workspace; without a file they are the defaults and what the environment says.

    Raises UsageError if the folder is missing, SettingsError with every complaint.
    """
    if not workspace.is_dir():
        remedy = "Name a workspace with --workspace, or make one with `logistics-batch init DIR`."
        raise UsageError(f"The workspace {workspace} is no folder.", remedy=remedy)
    variables = _Environment(environment)
    found = _merged(_of_file(workspace / FILE_NAME), variables.tree)
    try:
        settings = Settings.model_validate(found)
    except ValidationError as error:
        complaints = [
            _complaint(each, variables.names) for each in error.errors(include_url=False, include_input=False)
        ]
        raise SettingsError("\n".join(complaints)) from None
    _require_secrets_inside(workspace, settings)
    return settings


def trusted_files(settings: BaseModel, name: str = "") -> Iterator[tuple[str, str]]:
    """The key and the path of each file that holds a secret or says whom is trusted."""
    for field, value in settings:
        entries = value.items() if isinstance(value, dict) else [("", value)]
        for key, each in entries:
            inner = ".".join(filter(None, (name, field, key)))
            if isinstance(each, BaseModel):
                yield from trusted_files(each, inner)
            elif isinstance(each, str) and (field.endswith("_file") or field == "known_hosts"):
                yield inner, each


def _require_secrets_inside(workspace: Path, settings: Settings) -> None:
    """Raises SettingsError for a secret that lies, or is linked, outside the workspace and the places named for it."""
    places = [workspace.resolve(), *(Path(each).resolve() for each in settings.secrets.outside_workspace)]
    for name, file in trusted_files(settings):
        path = (workspace / file).resolve()
        holds_secret = not name.endswith((".ca_file", ".cert_file", ".known_hosts"))
        if holds_secret and not any(path.is_relative_to(place) for place in places):
            raise SettingsError(
                f"{name}: {workspace / file} leads out of the workspace, to {path}.",
                remedy=f'If that is meant, write outside_workspace = ["{path.parent}"] under [secrets] in {FILE_NAME}, '
                f"or set {PREFIX}SECRETS__OUTSIDE_WORKSPACE={path.parent}.",
            )


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
    context = error.get("ctx") or {}
    if error["type"] == "job":  # a value that settings and jobs share
        return f"{place}: {context['text']} {context['remedy']}".rstrip()
    if error["type"] in ("value_error", "assertion_error"):
        return f"{place}: {own_words(error['msg'])}"
    return f"{place}: this value does not fit. {remedy_of([wanted(error['type'], context)])}"


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
    except PermissionError as error:
        remedy = "Give it to the user that runs this (chown)."
        raise SettingsError(
            f"{name}_file: {path} cannot be read: it belongs to somebody else.", remedy=remedy
        ) from error
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{name}_file: {path} cannot be read as text.") from error
    if not text:
        raise SettingsError(f"{name}_file: {path} is empty.", remedy="Write the secret into it.")
    return SecretStr(text)


def event_secret(folder: Path, settings: ReceiveSettings) -> str:
    """What senders of events must know.

    Raises SettingsError if there is no secret, or none that deserves the name.
    """
    found = read_secret(folder, name="receive.secret", inline=settings.secret, file=settings.secret_file)
    if found is None:
        raise SettingsError(
            "There is no secret for the senders of events (receive.secret_file); without one anybody could send them.",
            remedy=f'{_MAKE_ONE} and write secret_file = "secrets/events" under [receive].',
        )
    text = found.get_secret_value()
    if len(text) < _SHORTEST_SECRET or not text.isascii() or not text.isprintable() or " " in text:
        raise SettingsError(
            f"receive.secret is no secret: it needs at least {_SHORTEST_SECRET} plain letters and digits.",
            remedy=f"{_MAKE_ONE}.",
        )
    return text


def notify_urls(workspace: Path, settings: NotifySettings) -> list[str]:
    """The addresses of alerts, each a secret: from the settings, or a line each from their file.

    Raises SettingsError if both are given, or the file is missing, empty, or open to others than its owner.
    """
    if settings.urls and settings.urls_file:
        raise SettingsError("notify.urls and notify.urls_file are both given.", remedy="Remove one of them.")
    if not settings.urls_file:
        return [url.get_secret_value() for url in settings.urls]
    found = read_secret(workspace, name="notify.urls", inline=None, file=settings.urls_file)
    lines = found.get_secret_value().splitlines() if found else []
    return [line.strip() for line in lines if line.strip() and not line.startswith("#")]


def private_file(path: Path, *, name: str) -> Path:
    """The path itself, once it is sure that only we can read the file, or replace it.

    Raises SettingsError if the file is missing, belongs to somebody else, or is open to group or others.
    """
    try:
        found, owner = path.stat(), is_of_another(path)
    except OSError as error:
        raise SettingsError(f"{name}: {path} cannot be read: {error.strerror}.", remedy="Create it.") from error
    if not path.is_file():
        raise SettingsError(
            f"{name}: {path} is a folder, not a file.", remedy="Name the file, or put the file in its place."
        )
    if owner:
        raise SettingsError(
            f"{name}: {path} belongs to {owner}, who can replace it.",
            remedy=f"As root: chown {os.geteuid()} {path}; or work as {owner}.",
        )
    if other_readers(path):
        is_ours = found.st_uid == os.geteuid()
        raise SettingsError(
            f"{name}: {path} can be read by others (mode {found.st_mode & 0o7777:o}).",
            remedy=f"chmod 600 {path}"
            if is_ours
            else f"Give it mode 0400 and the user {os.geteuid()} where it is declared (compose, Kubernetes, systemd).",
        )
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


def in_force(settings: Settings) -> Iterator[tuple[str, str, bool]]:
    """Each setting as the file names it, its value, and whether the workspace gives it; secrets are not shown."""
    given = dict(_flat(settings.model_dump(mode="json", by_alias=True, exclude_unset=True)))
    whole = settings.model_dump(mode="json", by_alias=True)
    for (name, value), (own_name, _) in zip(_flat(whole), _flat(settings.model_dump(mode="json")), strict=True):
        text = _in_words(value) + " s" * (own_name.endswith("_seconds") and value is not None)
        yield name, _NOT_SHOWN if _HIDDEN in text or _PASSWORD_IN_URL.search(text) else text, name in given


def _in_words(value: object) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case float():
            return f"{value:.10g}"
        case list():
            return ", ".join(map(_in_words, value))
    return str(value)


def _flat(tree: Mapping[str, object], above: str = "") -> Iterator[tuple[str, object]]:
    for name, value in tree.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{above}{name}.")
        else:
            yield f"{above}{name}", value


def open_secrets(workspace: Path) -> str:
    """A warning if the settings file itself holds a secret and others can read it, else ""."""
    path = workspace / FILE_NAME
    if not path.is_file() or not other_readers(path):
        return ""
    written = load_settings(workspace, {})
    passwords = (server.password for server in written.sftp.values())
    inline = [written.service.api_key, written.receive.secret, written.pgp.passphrase, *passwords]
    ledger = written.ledger.url.get_secret_value() if written.ledger.url else ""
    if not any(inline) and not written.notify.urls and not _PASSWORD_IN_URL.search(ledger):
        return ""
    return (
        f"{path} holds a secret and can be read by others. Put the secret into a file of its own, or: chmod 600 {path}"
    )


def armed_crash_point(environment: Mapping[str, str] = os.environ) -> str:
    """The point at which a test wants the process to die, "" outside tests."""
    return environment.get(CRASH_POINT, "")


def proxies_of_environment(environment: Mapping[str, str] = os.environ) -> list[str]:
    """The variables that name a proxy, none of which is used; what they hold may carry a password.

    >>> proxies_of_environment({"https_proxy": "http://proxy:3128", "HTTP_PROXY": ""})
    ['https_proxy']
    """
    names = ("HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY")
    return sorted(name for name, value in environment.items() if name.upper() in names and value)
