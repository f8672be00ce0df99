"""Work that a person began on a page and that goes on behind it: what it is, since when, and what came of it."""

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from concurrent.futures import TimeoutError as TooSoon
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final

from logistics_batch.errors import LogisticsBatchError, UsageError, as_told, where_it_failed

_AT_ONCE, _KEPT = 4, 30
_PATIENCE_SECONDS: Final = 2.0  # most of what cannot begin says so at once


@dataclass(frozen=True, slots=True)
class Begun:
    """A piece of work. what: in words. outcome: what came of it, "" while it goes on; page: where that is shown."""

    key: str
    what: str
    who: str
    at: str
    outcome: str = ""
    failed: bool = False
    page: str = ""


Worker = Callable[[], tuple[str, str]]
"""Does the work: what came of it in words, and the page that shows it."""


class Work:
    """What was begun last; of one key only one at a time."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say, self._threads = say, ThreadPoolExecutor(_AT_ONCE, "work")
        self._lock = threading.Lock()
        self._begun: dict[str, Begun] = {}

    def begin(self, new: Begun, do: Worker) -> Begun:
        """Begin it, and wait a moment; how it stands then.

        Raises UsageError while another of its key goes on.
        """
        with self._lock:
            known = self._begun.get(new.key)
            if known is not None and not known.outcome:
                raise UsageError(f"{known.what} goes on already; {known.who} began it.", remedy="Wait for its end.")
            self._begun.pop(new.key, None)
            self._begun[new.key] = new
            for key in [key for key, each in self._begun.items() if each.outcome][: max(0, len(self._begun) - _KEPT)]:
                del self._begun[key]
        future: Future[None] = self._threads.submit(self._do, new, do)
        with suppress(TooSoon):
            wait([future], timeout=_PATIENCE_SECONDS)
        with self._lock:
            return self._begun.get(new.key, new)

    def all(self) -> list[Begun]:
        """What goes on, and what came to an end lately; the newest first."""
        with self._lock:
            return list(reversed(self._begun.values()))

    def close(self) -> None:
        """Begin nothing more; what goes on was asked to end."""
        self._threads.shutdown(wait=True, cancel_futures=True)

    def _do(self, new: Begun, do: Worker) -> None:
        outcome, failed, page = "The program failed; its log says where.", True, ""
        try:
            outcome, page = do()
            failed = False
        except LogisticsBatchError as error:
            outcome = f"{error.message} {error.remedy}".strip()
        except BaseException as error:
            if isinstance(told := as_told(error), LogisticsBatchError):
                outcome = f"{told.message} {told.remedy}".strip()
            self._say(f"{new.what} failed: {where_it_failed(error)}")
            raise
        finally:
            with self._lock:
                self._begun[new.key] = replace(new, outcome=outcome or "done", failed=failed, page=page)
