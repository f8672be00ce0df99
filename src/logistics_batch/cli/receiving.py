"""The receiver put together: settings, its secret, the ledger, and a log."""

from collections.abc import Callable
from threading import Event
from zoneinfo import ZoneInfo

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
    settings = workspace.settings().receive
    gate = Gate(settings.path, settings.header, event_secret(workspace.folder, settings))
    place = Place(settings.host, settings.port if port is None else port)
    with workspace.parts(Need(calls=False, stop=stop)) as parts:

        def log(line: str) -> None:
            say(f"{parts.clock.now().isoformat(timespec='seconds')} {line}")

        if not place.is_local:
            log(f"listens on {place.host}, where others can read the secret unless a server in front speaks TLS")
        around = Surroundings(parts.clock.now, ZoneInfo(parts.policy.timezone), log, on_ready)
        log(f"stopped: {receive(place, gate, parts.ledger, around, stop=stop)}")
