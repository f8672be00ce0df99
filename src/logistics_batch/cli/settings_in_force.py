"""The settings that a scheduler works with: read again when they were changed; a mistake leaves them as they were."""

from logistics_batch.settings import FILE_NAME
from logistics_batch.wiring import Workspace


class SettingsInForce:
    """`now`: the settings as they were last read without a mistake."""

    def __init__(self, workspace: Workspace) -> None:
        """Read them. Raises UsageError, SettingsError."""
        self._workspace = workspace
        self._seen = self._stamp()
        self.now = self._first = workspace.settings()

    def were_changed(self) -> bool:
        """Whether their file was written since the last look."""
        before, self._seen = self._seen, self._stamp()
        return self._seen != before

    def read_again(self) -> None:
        """Take them as they are now. Raises SettingsError with every complaint; then they stay as they were."""
        self.now = self._workspace.settings()

    def wait_for_restart(self) -> list[str]:
        """What was changed and is only read at the start: the scheduler stands on it."""
        first, now = self._first, self.now
        pairs = {
            "service.base_url": (first.service.base_url, now.service.base_url),
            "service.timezone": (first.service.timezone, now.service.timezone),
            "notify.file_names": (first.notify.file_names, now.notify.file_names),
            "[ledger]": (first.ledger, now.ledger),
            "[reports]": (first.reports, now.reports),
        }
        return [name for name, (was, is_) in pairs.items() if was != is_]

    def _stamp(self) -> tuple[int, int, int] | None:
        try:
            found = (self._workspace.folder / FILE_NAME).stat()
        except OSError:
            return None
        return found.st_mtime_ns, found.st_size, found.st_ino
