"""Every exception of ours, ordered by what one does next.

::

    LogisticsBatchError            says operation, object, cause and remedy; `exit_code` is that of the command line
    ├── UsageError            (2)  mend the command, the settings or a specification; nothing was sent
    │   ├── SettingsError              a key of logistics-batch.toml or of the environment
    │   ├── SpecificationError         a mapping or job file; carries every finding with line and column
    │   └── HostKeyRefused             pin the server's key, or find out why it changed
    ├── FileHeld              (4)  a person looks at the file; none of its rows was sent
    ├── StoreError            (5)  the place where files lie did not do what was asked; the next run tries again
    │   ├── FileVanished               somebody else took the file: no harm
    │   ├── FileUnstable               the file moved while it was read: left for the next run
    │   └── StoreUnreachable           no connection to the server, or it broke: nothing there can be done now
    ├── RunStopped            (5)  sending stopped early; rows wait as pending for the next run
    │   ├── KeyRefused                 the service does not take the API key
    │   └── ServiceMisaddressed        whatever answers at base_url is not the service
    ├── MachineFailed         (5)  this machine's disk or memory failed: nothing is wrong with files or the program
    ├── ProgramFailed         (5)  the program itself has a mistake, outside one file; report it with the log
    ├── LedgerBusy            (75) another sending run holds the ledger; wait for it
    └── LedgerRefused         (2)  the ledger is damaged, older than its own trace, or not writable; nothing is sent
                                   (5 where its disk failed)

A bad row is never an exception: it is an `Issue`. Messages hold neither secrets nor personal data.
"""

import errno
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, Self

from logistics_batch import messages

_FRAMES_NAMED = 12
_CAUSES_NAMED = 3


class LogisticsBatchError(Exception):
    """Something a person can act on: `str()` gives what happened, `remedy` what to do about it."""

    exit_code = 2

    def __init__(self, message: str, *, remedy: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy

    @classmethod
    def of(cls, code: str, **values: Any) -> Self:
        """The error that a code of the catalogue tells of, with its values."""
        return cls(messages.reason(code, values), remedy=messages.remedy(code, values))


class UsageError(LogisticsBatchError):
    """The command, the settings or a specification is wrong; nothing was sent."""

    exit_code = 2


class SettingsError(UsageError):
    """A key of the settings is unknown, missing or has a wrong value."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One complaint about a specification file; line and column count from 1 (0: the file as a whole)."""

    path: str
    line: int
    column: int
    message: str
    remedy: str = ""

    def __str__(self) -> str:
        place = f"{self.path}:{self.line}:{self.column}" if self.line else self.path
        return f"{place}: {self.message}" + (f" {self.remedy}" if self.remedy else "")


class SpecificationError(UsageError):
    """A mapping or job file cannot be used; `findings` holds every complaint, not just the first."""

    def __init__(self, findings: list[Finding]) -> None:
        super().__init__("\n".join(str(finding) for finding in findings))
        self.findings = findings


class HostKeyRefused(UsageError):
    """The SFTP server's host key is unknown or is not the pinned one; no login was tried."""


class FileHeld(LogisticsBatchError):
    """A file is refused as a whole, before or after it has rows.

    code: of the catalogue, told with `values`. field: the field of the mapping that it is about; it stands before the
    code from then on. sheet, header_row: where they are known by then.
    """

    exit_code = 4

    def __init__(
        self,
        code: str,
        *,
        values: Mapping[str, Any] | None = None,
        field: str = "",
        sheet: str = "",
        header_row: int = 0,
    ) -> None:
        self.code, self.values = f"{field}|{code}" if field else code, dict(values or {})
        super().__init__(messages.reason(code, self.values), remedy=messages.remedy(code, self.values))
        self.rule = messages.rule_of(self.code)
        self.sheet = sheet
        self.header_row = header_row


class StoreError(LogisticsBatchError):
    """A file store (SFTP server or folder) failed; names store, operation and path."""

    exit_code = 5


class FileVanished(StoreError):
    """The file is gone: another consumer took it."""


class FileUnstable(StoreError):
    """The file changed while it was read, or came shorter than announced; it is left where it lies."""


class StoreUnreachable(StoreError):
    """There is no connection to the server, or it broke twice: whatever else is wanted there fails as well."""


class RunStopped(LogisticsBatchError):
    """Sending stopped before everything was sent; what is left stays pending."""

    exit_code = 5


class KeyRefused(RunStopped):
    """The service answered 401 to the API key."""


class ServiceMisaddressed(RunStopped):
    """Something else than the service answers at base_url, or a path is wrong."""


_OF_THIS_MACHINE = {errno.ENOSPC, errno.EDQUOT, errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EIO, errno.EROFS}


class MachineFailed(LogisticsBatchError):
    """This machine failed, such as its disk; the folder is named, for the name of a file may be a person's."""

    exit_code = 5

    def __init__(self, error: OSError) -> None:
        folder = f" in {PurePath(error.filename).parent}" if isinstance(error.filename, str) else ""
        super().__init__(
            f"This machine failed{folder}: {error.strerror}.",
            remedy="See to its disk and its free space; what was not sent waits for the next run.",
        )


class ProgramFailed(LogisticsBatchError):
    """A mistake of the program itself ended a run; its kind and place are told, never its text."""

    exit_code = 5

    def __init__(self, error: BaseException) -> None:
        super().__init__(
            f"The program itself failed ({type(error).__name__}).",
            remedy="Report it with the line of the log that says where; what was not sent waits for the next run.",
        )


class LedgerBusy(LogisticsBatchError):
    """Another sending run holds the ledger."""

    exit_code = 75


class LedgerRefused(LogisticsBatchError):
    """The ledger cannot be trusted or written; nothing is sent. of_disk: for the disk that it lies on failed."""

    exit_code = 2

    def __init__(self, message: str, *, remedy: str = "", of_disk: bool = False) -> None:
        super().__init__(message, remedy=remedy)
        if of_disk:
            self.exit_code = 5


def is_of_machine(error: BaseException) -> bool:
    """Whether an error says that this machine failed."""
    return isinstance(error, OSError) and error.errno in _OF_THIS_MACHINE


def as_told(error: BaseException) -> BaseException:
    """An error of ours, and the wish to end the program, as it is; any other as MachineFailed or ProgramFailed.

    A panic of polars is a mistake of the program, too, though it is no Exception.
    """
    if isinstance(error, LogisticsBatchError | KeyboardInterrupt | SystemExit | GeneratorExit):
        return error
    return MachineFailed(error) if isinstance(error, OSError) and is_of_machine(error) else ProgramFailed(error)


def where_it_failed(error: BaseException) -> str:
    """One line with the kind of an error and of its causes, each with the places in the code it came through.

    The error's text and the values at these places are left out: they may hold data of a row, or a secret.
    """
    import traceback  # help pages come without it

    told: list[str] = []
    cause: BaseException | None = error
    while cause is not None and len(told) < _CAUSES_NAMED:
        frames = traceback.StackSummary.extract(traceback.walk_tb(cause.__traceback__), lookup_lines=False)
        places = [f"{'/'.join(each.filename.split('/')[-3:])}:{each.lineno}" for each in frames[-_FRAMES_NAMED:]]
        told.append(f"{type(cause).__name__} at {' < '.join(reversed(places)) or 'an unknown place'}")
        cause = cause.__cause__ or (None if cause.__suppress_context__ else cause.__context__)
    return "; caused by ".join(told)
