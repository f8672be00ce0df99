"""The one place where concrete things meet: settings become the parts that flows work with."""

import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary
from zoneinfo import ZoneInfo

from pydantic import SecretStr

from logistics_batch.api.client import Client, ServiceAccess
from logistics_batch.api.pacing import Pacer
from logistics_batch.api.secret import Secret, install_redaction
from logistics_batch.child_process import WORKER, WORKER_PRELOAD, Child
from logistics_batch.crash_points import arm
from logistics_batch.errors import Finding, SettingsError, SpecificationError, UsageError
from logistics_batch.file_rights import Exposure, way_is_exposed, words_of, writable_by_others
from logistics_batch.flows.parts import Clock, Parts, Policy, Progress
from logistics_batch.intake.containers import Unpacker
from logistics_batch.intake.limited_work import LimitedWork
from logistics_batch.intake.pgp import PgpKey
from logistics_batch.intake.stores.folder import FolderStore
from logistics_batch.intake.stores.store import FileStore, SftpAccess
from logistics_batch.jobs import fingerprint, watched_places
from logistics_batch.ledger import Ledger, open_ledger
from logistics_batch.mapping import Mapping, Verb, load_mapping, schema_json, vocabulary
from logistics_batch.model.jobs.job import JobPlace
from logistics_batch.model.settings_sections import SftpSettings
from logistics_batch.settings import (
    FILE_NAME,
    Settings,
    armed_crash_point,
    load_settings,
    private_file,
    read_secret,
    trusted_files,
)
from logistics_batch.specification import nearest

MAPPINGS = "mappings"
LEDGER_URL = "sqlite:///var/ledger.db"
_SQLITE = "sqlite:///"
_FILES = Path("var") / "files"
_MARK = Path("var") / "ledger.mark"
_MAX_LOOKUP_BYTES = 16 << 20
_MOST_TOLD = 5
_NOWHERE = "https://service.invalid"  # stands in for the address where nothing is called
_NO_KEY_NEEDED = "no-call-is-made"  # stands in for the key where a client is asked for paths only


@dataclass(frozen=True)
class Need:
    """What a command wants of its parts.

    calls: whether the service is called; without that no API key is needed. writes: whether the ledger is written.
    knows_service: whether it must be said where the service is; the ledger keeps documents by that.
    """

    calls: bool = True
    writes: bool = True
    knows_service: bool = True
    progress: Progress = field(default_factory=Progress)
    stop: threading.Event = field(default_factory=threading.Event)


class Workspace:
    """A workspace folder; opens its settings, mappings, stores and ledger.

    All parts that one object opens share one pacer, so that jobs that run side by side keep one rate together; with
    other processes and machines they share the turns in the ledger.
    """

    def __init__(self, folder: Path, *, worker: Child | None = None) -> None:
        """worker: a process for the first parts, if one was started already."""
        self.folder = folder.resolve()
        self._as_named = folder.absolute()
        self._worker = worker
        self._pacers: dict[str, Pacer] = {}
        self._lock = threading.Lock()
        self._redacted: set[Secret] = set()
        self._sftp_stores: WeakValueDictionary[tuple[int, SftpAccess], Any] = WeakValueDictionary()
        self._watched: tuple[object, Sequence[tuple[JobPlace, tuple[str, ...]]] | None] | None = None

    def settings(self) -> Settings:
        """The settings as they are now.

        Raises UsageError if the folder is missing, SettingsError with every complaint.
        """
        return load_settings(self.folder)

    @contextmanager
    def parts(self, need: Need) -> Iterator[Parts]:
        """Everything a flow needs, closed at the end.

        Raises SettingsError, LedgerRefused; UsageError if another user can change what would be sent.
        """
        settings = self.settings()
        self._guard(self.exposures(settings), need)
        arm(armed_crash_point())
        with ExitStack() as stack:
            client = self._client(settings, need)
            stack.callback(client.close)
            ledger = self.ledger(settings, account=client.settings.base_url, read_only=not need.writes)
            stack.callback(ledger.close)
            if need.calls:
                stack.enter_context(client.pacer.sharing(ledger.pace))
            worker, self._worker = self._worker or Child(WORKER, preload=WORKER_PRELOAD), None
            worker.stop = need.stop
            stack.callback(worker.close)
            limited = LimitedWork(worker)
            assembled = self._assembled(settings, client=client, ledger=ledger, need=need)
            unpack = self._unpacker(settings, limited)
            yield replace(assembled, limited=limited, start_worker=worker.start, unpack=unpack)

    def exposures(self, settings: Settings) -> list[Exposure]:
        """What another user of this machine can change of the workspace and of what its settings name."""
        also = [self.folder / file for _, file in trusted_files(settings)]
        url = settings.ledger.url.get_secret_value() if settings.ledger.url else ""
        if url.startswith(_SQLITE):
            file = self.folder / url.removeprefix(_SQLITE)
            also += [file.parent, file]
        return writable_by_others(self._as_named, also=also)

    def _guard(self, found: Sequence[Exposure], need: Need) -> None:
        """Raises UsageError if another user could say what is sent, and where the key goes; who only reads is told."""
        if not found:
            return
        words = [words_of(each) for each in found]
        more = f" and {len(words) - _MOST_TOLD} more" if len(words) > _MOST_TOLD else ""
        told = "; ".join(wrong for wrong, _ in words[:_MOST_TOLD]) + more
        remedy = "; ".join(mended for _, mended in words[:_MOST_TOLD]) + (" … (`doctor` lists all)" if more else "")
        if need.calls or need.writes:
            raise UsageError(f"Another user can change what this workspace sends, and where: {told}.", remedy=remedy)
        sys.stderr.write(f"Warning: commands that send will refuse this workspace: {told}. What to do: {remedy}\n")

    def ledger(self, settings: Settings, *, account: str, read_only: bool) -> Ledger:
        """The ledger; `account` is the service's address.

        Raises SettingsError, LedgerRefused.
        """
        secret = read_secret(
            self.folder, name="ledger.url", inline=settings.ledger.url, file=settings.ledger.url_file
        ) or SecretStr(LEDGER_URL)
        url = secret.get_secret_value()
        if url.startswith(_SQLITE):
            url = _SQLITE + str(self.folder / url.removeprefix(_SQLITE))
        elif not url.startswith("postgresql://"):
            raise SettingsError(
                "ledger.url is neither a SQLite file nor a PostgreSQL database.",
                remedy=f'Write it as "{LEDGER_URL}" or "postgresql://USER@HOST/DATABASE".',
            )
        # The second mark lies elsewhere: who restores the folder of the ledger restores the first mark with it.
        marks = (self.folder / _MARK, self.folder / settings.reports.dir / ".ledger.mark")
        zone = ZoneInfo(settings.service.timezone)
        return open_ledger(url, account=account, read_only=read_only, marks=marks, zone=zone)

    def store(self, settings: Settings, place: JobPlace) -> FileStore:
        """The store behind a place.

        Raises SettingsError if the settings know no such server, or a secret of it cannot be read.
        """
        if place.folder is not None:
            return FolderStore(self.folder / place.folder)
        name = place.sftp or ""
        if name not in settings.sftp:
            raise SettingsError(
                f'The settings know no SFTP server "{name}".',
                remedy=nearest(name, sorted(settings.sftp)) or f"Add a section [sftp.{name}] to {FILE_NAME}.",
            )
        return self._sftp_store(self._sftp_access(name, settings.sftp[name]))

    def _sftp_store(self, access: SftpAccess) -> FileStore:
        """One connection to a server for all who use it in a thread at the same time: a log-in for each file is slow,
        and servers limit how many come."""
        from logistics_batch.intake.stores.sftp import (
            SftpStore,  # its library takes a while to import; folders need none of it
        )

        key = (threading.get_ident(), access)
        with self._lock:
            known: SftpStore | None = self._sftp_stores.get(key)
            if known is not None:
                return known.held()
            self._sftp_stores[key] = store = SftpStore(access)
            return store

    def mapping_names(self) -> list[str]:
        """The names of the workspace's mappings, sorted."""
        return sorted(path.stem for path in (self.folder / MAPPINGS).glob("*.yaml") if path.is_file())

    def mapping(self, name: str) -> Mapping:
        """A mapping by its name, or by the path of its file (from the current folder or from the workspace).

        Raises UsageError if there is none, SpecificationError with every finding if it cannot be used.
        """
        text, _, load = self.mapping_as_text(name)
        return load(text)

    def mapping_as_text(self, name: str) -> tuple[str, str, Callable[[str], Mapping]]:
        """A mapping's text, where it lies, and how a changed text would load.

        Raises UsageError if there is none, SpecificationError if it cannot be read.
        """
        path = self.mapping_path(name)
        shown = str(path.relative_to(self.folder)) if path.is_relative_to(self.folder) else str(path)
        try:
            content = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            reason = "It is not UTF-8 text." if isinstance(error, UnicodeDecodeError) else f"{error.strerror}."
            raise SpecificationError([Finding(str(path), 0, 0, f"The mapping cannot be read. {reason}")]) from error
        return content, shown, self._loader_of(path, shown)

    def _loader_of(self, path: Path, shown: str) -> Callable[[str], Mapping]:
        # How the settings are read, so that another process can be told of it.
        return partial(_loaded_beside, path=path, shown=shown, settings=partial(load_settings, self.folder))

    def mapping_loader(self, name: str) -> Callable[[str], Mapping]:
        """How a text would load if it stood in the file of a mapping of this name."""
        return self._loader_of(self.folder / MAPPINGS / f"{name}.yaml", f"{MAPPINGS}/{name}.yaml")

    def mapping_path(self, name: str) -> Path:
        """Where a mapping's file lies.

        Raises UsageError that names the nearest mapping if there is none.
        """
        if name in self.mapping_names():
            return self.folder / MAPPINGS / f"{name}.yaml"
        if name.endswith((".yaml", ".yml")):
            for path in (Path(name), self.folder / name):
                if path.is_file():
                    return path.resolve()
        raise UsageError(
            f'There is no mapping "{name}" in {self.folder / MAPPINGS}.',
            remedy=nearest(name, self.mapping_names()) or f"Write {MAPPINGS}/{name}.yaml, or give the path of a file.",
        )

    def _assembled(self, settings: Settings, *, client: Client, ledger: Ledger, need: Need) -> Parts:
        service = settings.service
        known: dict[str, Mapping] = {}

        def mapping(name: str) -> Mapping:
            if name not in known:
                if need.calls or need.writes:  # it may lie beside `mappings`
                    self._guard(way_is_exposed(self.mapping_path(name)), need)
                known[name] = self.mapping(name)
            return known[name]

        return Parts(
            ledger=ledger,
            client=client,
            open_store=lambda place: self.store(settings, place),
            mapping=mapping,
            reports=self.folder / settings.reports.dir,
            files=self.folder / _FILES,
            clock=Clock(ZoneInfo(service.timezone), need.stop, lambda: ledger.clock_ahead_seconds),
            policy=Policy(
                timezone=service.timezone,
                concurrency=service.concurrency,
                settle_after_seconds=service.settle_after_seconds,
                asn_resend=service.asn.resend,
                marks_asns=service.asn.marker,
                purge_after_seconds=settings.ledger.purge_after_seconds,
                keep_events_seconds=settings.receive.purge_after_seconds,
                keep_reports_seconds=settings.reports.purge_after_seconds,
                keep_labels_seconds=settings.reports.purge_labels_after_seconds,
                label_hosts=service.label_hosts,
                label_orders_per_call=service.label_orders_per_call,
                longitude=service.longitude,
                updates_asns=service.asn.update_identity == "invoice_number",
                names_in_alerts=settings.notify.file_names,
                change_unseen=service.change_unseen,
            ),
            progress=need.progress,
            stop=need.stop,
            kept_names=self.kept_names,
            watched=self.watched,
        )

    def watched(self) -> Sequence[tuple[JobPlace, tuple[str, ...]]] | None:
        """As `watched_places`; job files are read again once one was changed, came or went, or could not be read."""
        seen = fingerprint(self.folder)
        if self._watched is None or self._watched[0] != seen or self._watched[1] is None:
            self._watched = seen, watched_places(self.folder)
        return self._watched[1]

    def kept_names(self) -> set[str]:
        """What the mappings keep beside what they send; a mapping with mistakes keeps nothing."""
        kept: set[str] = set()
        for name in self.mapping_names():
            with suppress(SpecificationError):
                kept.update(self.mapping(name).keep_names)
        return kept

    def _client(self, settings: Settings, need: Need) -> Client:
        service = settings.service
        base_url = service.base_url or self._no_base_url(need)
        key = Secret(_NO_KEY_NEEDED)
        if need.calls:
            found = read_secret(self.folder, name="service.api_key", inline=service.api_key, file=service.api_key_file)
            if found is None or not found.get_secret_value():
                raise SettingsError(
                    "There is no API key (service.api_key_file).",
                    remedy="Write the key into a file that only you can read, and its path under [service].",
                )
            key = Secret(found.get_secret_value())
        with self._lock:
            if key not in self._redacted:
                install_redaction([key])
                self._redacted.add(key)
            # One for all, even where another event is handed in: the rate holds, and one event ends a process.
            pacer = self._pacers.setdefault(service.rate, Pacer(service.rate, stop=need.stop))
        access = ServiceAccess(
            base_url=base_url,
            api_key=key,
            paths=service.paths,
            deadline_seconds=service.deadline_seconds,
            create_deadline_seconds=service.create_deadline_seconds,
            ca_file=str(self.folder / service.ca_file) if service.ca_file else None,
            proxy=service.proxy or None,
        )
        return Client(access, pacer=pacer)

    def _unpacker(self, settings: Settings, limited: LimitedWork) -> Unpacker:
        pgp = settings.pgp
        if not pgp.key_file:
            return Unpacker(limited=limited)
        key_file = private_file(self.folder / pgp.key_file, name="pgp.key_file")
        passphrase = read_secret(self.folder, name="pgp.passphrase", inline=pgp.passphrase, file=pgp.passphrase_file)
        decrypt = PgpKey(key_file, passphrase.get_secret_value() if passphrase else "").decrypt
        return Unpacker(decrypt, limited=limited)

    def _no_base_url(self, need: Need) -> str:
        """What stands for the service's address where it is not said. Raises SettingsError if it has to be known."""
        file = self.folder / FILE_NAME
        if not need.knows_service:
            return _NOWHERE
        if not file.is_file():
            raise SettingsError(
                f"There is no {FILE_NAME} in {self.folder}.",
                remedy="Name the folder of your workspace with --workspace DIR, or make a new one with "
                "`logistics-batch init DIR`.",
            )
        raise SettingsError(
            f"{file} does not say where the service is (service.base_url).",
            remedy="Write it under [service], set LOGISTICS_BATCH_SERVICE__BASE_URL, or name another --workspace.",
        )

    def _sftp_access(self, name: str, server: SftpSettings) -> SftpAccess:
        password = read_secret(
            self.folder, name=f"sftp.{name}.password", inline=server.password, file=server.password_file
        )
        key_file = self.folder / server.key_file if server.key_file else None
        return SftpAccess(
            name=name,
            host=server.host,
            port=server.port,
            username=server.username,
            key_file=private_file(key_file, name=f"sftp.{name}.key_file") if key_file else None,
            password=password.get_secret_value() if password else None,
            host_key=server.host_key,
            known_hosts=self.folder / server.known_hosts if server.known_hosts else None,
            timeout_seconds=server.timeout_seconds,
        )


def _loaded_beside(text: str, *, path: Path, shown: str, settings: Callable[[], Settings]) -> Mapping:
    """A mapping as it would be if this text stood in its file."""

    def updates_asns() -> bool:
        return settings().service.asn.update_identity == "invoice_number"

    return load_mapping(text, path=shown, read_lookup=_lookups_beside(path), updates_asns=updates_asns)


def _lookups_beside(mapping: Path) -> Callable[[str], str]:
    """Reads the lookup files of a mapping: below its folder, and nowhere else.

    Whoever reads the mapping says which file it is and where it is named; the errors here say only what is wrong.
    """
    folder = mapping.parent.resolve()

    def read_lookup(name: str) -> str:
        path = (folder / name).resolve()
        if not path.is_relative_to(folder):
            raise UsageError("it lies outside the mapping's folder")
        if not path.is_file():
            raise UsageError(f"there is no such file in {folder}")
        if path.stat().st_size > _MAX_LOOKUP_BYTES:
            raise UsageError(f"it is larger than {_MAX_LOOKUP_BYTES >> 20} MB")
        try:
            return path.read_text(encoding="utf-8-sig")
        except UnicodeDecodeError as error:
            raise UsageError("it is not UTF-8 text; save it as CSV UTF-8") from error
        except OSError as error:
            raise UsageError(str(error.strerror).lower()) from error

    return read_lookup


def mapping_schema() -> dict[str, object]:
    """The JSON Schema of mapping files."""
    return schema_json()


def mapping_vocabulary() -> list[Verb]:
    """Every verb of mapping files."""
    return vocabulary()
