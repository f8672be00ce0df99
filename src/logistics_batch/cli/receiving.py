"""The receiver put together: settings, its secret, the ledger, and a log."""

from collections.abc import Callable
from pathlib import Path
from threading import Event
from zoneinfo import ZoneInfo

from logistics_batch.errors import SettingsError
from logistics_batch.model.settings_sections import ReceiveSettings
from logistics_batch.settings import read_secret
from logistics_batch.web.receiver import Gate
from logistics_batch.web.serve import Place, Surroundings, receive
from logistics_batch.wiring import Need, Workspace

_SHORTEST_SECRET = 32
_MAKE_ONE = "Make one: (umask 077; openssl rand -hex 32 > secrets/events)"


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
