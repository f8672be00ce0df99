"""Serve the pages until asked to stop."""

import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from threading import Event

from logistics_batch.errors import LogisticsBatchError, UsageError
from logistics_batch.web.serve import ListeningPlace, listening, serve_until
from logistics_batch.web.workbench import Surface, Workbench
from logistics_batch.web.workbench.application import Around
from logistics_batch.web.workbench.sign_on import SignOn

# A page asks the ledger ten times, and after each answer waits for its turn behind pages that are being written.
_TURN_SECONDS = 0.001


@dataclass(frozen=True)
class Secured:
    """How the pages are kept from strangers on the way. cert, key: files for TLS; proxy: see `Around`."""

    hosts: tuple[str, ...] = ()
    cert: Path | None = None
    key: Path | None = None
    proxy: str = ""

    @property
    def is_safe(self) -> bool:
        """Whether what passes cannot be read on the way."""
        return bool(self.cert or self.proxy)


class Behind:
    """Does pieces of work after the answers, one at a time; a failing one is told, and keeps no other."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say, self._thread = say, ThreadPoolExecutor(1, "behind")

    def __call__(self, work: Callable[[], None]) -> None:
        """Put a piece of work behind those that wait."""
        self._thread.submit(self._do, work)

    def _do(self, work: Callable[[], None]) -> None:
        try:
            work()
        except LogisticsBatchError as error:
            self._say(f"answers were not written, the next run does it: {error.message}")

    def close(self) -> None:
        """Begin nothing more."""
        self._thread.shutdown(wait=False, cancel_futures=True)


def require_safe(place: ListeningPlace, secured: Secured, *, has_people: bool) -> None:
    """Raises UsageError where strangers could read along, or sign in before anybody was set up."""
    if place.is_local:
        return
    if not secured.is_safe:
        raise UsageError(
            f"On {place.host} others could read passwords and orders on the way.",
            remedy="Under [web] write cert_file and key_file, or proxy, the address of a server in front.",
        )
    if not has_people:
        raise UsageError(
            f"Nobody was set up yet, and on {place.host} the first to come would be the admin.",
            remedy="Add the first one here: logistics-batch user add NAME --role admin",
        )


def serve_pages(
    place: ListeningPlace,
    secured: Secured,
    on: Surface,
    *,
    on_ready: Callable[[str], None],
    say: Callable[[str], None],
    stop: Event,
    sign_on: SignOn | None = None,
) -> None:
    """Serve the pages until `stop` is set; on_ready: is told the address. Raises UsageError: the port is taken."""
    sys.setswitchinterval(_TURN_SECONDS)
    with listening(place) as listener:
        port = listener.getsockname()[1]
        scheme = "https" if secured.cert else "http"
        own = {place.shown, "localhost", "127.0.0.1", "[::1]"} if place.is_local else {place.shown}
        hosts = {f"{name}:{port}" for name in own} | {name.casefold() for name in secured.hosts}
        app = Workbench(
            on,
            Around(
                frozenset(hosts),
                is_safe=secured.is_safe,
                cookie=f"{'__Host-' if secured.is_safe else ''}logistics_batch_{port}",
                proxy=secured.proxy,
                only_proxy=bool(secured.proxy) and secured.cert is None,
                log=say,
            ),
            sign_on,
        )
        serve_until(
            listener,
            app,
            on_ready=lambda: on_ready(f"{scheme}://{place.shown}:{port}"),
            must_end=stop.is_set,
            certificate=(secured.cert, secured.key) if secured.cert else None,
            patiently=True,
        )
