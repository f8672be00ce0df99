"""The receiver put together: settings, its secret, the ledger, and a log."""

from collections.abc import Callable
from functools import partial
from threading import Event
from zoneinfo import ZoneInfo

from logistics_batch.cli.watching import log_of
from logistics_batch.flows.orders.receive_event import EventStore
from logistics_batch.settings import event_secret
from logistics_batch.web.receiver import Gate
from logistics_batch.web.serve import Place, Surroundings, receive
from logistics_batch.wiring import Need, Workspace


def receive_events(
    workspace: Workspace,
    *,
    port: int | None,
    stop: Event,
    say: Callable[[str], None],
    on_ready: Callable[[str], None],
) -> None:
    """Store events until `stop` is set. say: one line of the log. on_ready: told the address once it listens.

    Raises UsageError, SettingsError, LedgerRefused.
    """
    everything = workspace.settings()
    settings = everything.receive
    gate = Gate(settings.path, settings.header, event_secret(workspace.folder, settings))
    place = Place(settings.host, settings.port if port is None else port)
    with workspace.parts(Need(calls=False, stop=stop)) as parts:
        log = partial(log_of(workspace, everything, parts, say).say, "receiver")
        if not place.is_local:
            log(f"listens on {place.host}, where others can read the secret unless a server in front speaks TLS")
        around = Surroundings(parts.clock.now, ZoneInfo(parts.policy.timezone), log, on_ready)
        store = EventStore(
            parts.ledger,
            keep_seconds=settings.purge_after_seconds,
            quota_bytes=settings.quota_mb << 20,
            now=parts.clock.now,
        )
        log(f"stopped: {receive(place, gate, store, around, stop=stop)}")
