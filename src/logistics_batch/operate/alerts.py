"""Alerts: what should be known is told to every address, once, and again until it arrives."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from hashlib import sha256
from typing import Any
from urllib.parse import urlsplit

from logistics_batch.errors import SettingsError
from logistics_batch.ledger import Ledger, StoredNotice
from logistics_batch.messages import moment

_MISSING = "pip install 'logistics-batch[alerts]'"
_TIMEOUT_SECONDS = 20.0


class Gravity(StrEnum):
    """How grave a message is, in Apprise's words: receivers colour, sort and ring by it."""

    INFO = "info"
    SUCCESS = "success"
    WARNING = "warning"
    FAILURE = "failure"


class AlertAddress:
    """Where alerts go; its URL holds secrets and is never shown.

    digest tells it from others; shown is what a log may say of it: its kind and host.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        self.digest = sha256(url.encode()).hexdigest()[:12]
        parts = urlsplit(url)
        host = parts.hostname if parts.scheme in ("json", "jsons", "xml", "xmls", "mailto", "mailtos") else ""
        self.shown = f"{parts.scheme}://{host or '…'}"

    def send(self, title: str, body: str, gravity: Gravity = Gravity.INFO) -> bool:
        """Send one message; False if it did not arrive.

        Raises SettingsError as `open` does.
        """
        return bool(
            self.open().notify(body, title, notify_type=gravity.value, body_format="text", timeout=_TIMEOUT_SECONDS)
        )

    def open(self) -> Any:
        """The address as Apprise knows it.

        Raises SettingsError if Apprise is not installed or does not know such addresses.
        """
        try:
            from apprise import Apprise, AppriseAsset
        except ImportError as error:
            raise SettingsError(
                "[notify] needs the extra “alerts”, which is not installed.", remedy=_MISSING
            ) from error
        for name in ("apprise", "requests", "urllib3"):
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)  # they write whole URLs
        opened = Apprise(asset=AppriseAsset(http_redirects=False))
        if not opened.add(self._url):
            raise SettingsError(
                f"notify.urls: {self.shown} is no address that Apprise knows.",
                remedy="Write it as the service's page of Apprise's documentation shows.",
            )
        return opened


def addresses(urls: Sequence[str]) -> list[AlertAddress]:
    """Every address once."""
    return [AlertAddress(url) for url in dict.fromkeys(urls)]


_AGAIN_MINUTES = (1, 2, 5, 15, 30, 60)  # after the n-th failure; then the last
_IN_ONE_MESSAGE = 20
_ALONE = timedelta(minutes=5)  # so long nobody else tells what one process is telling
_GRAVITIES = {"on_failure": Gravity.FAILURE, "on_success": Gravity.SUCCESS, "digest": Gravity.INFO}


@dataclass(frozen=True, slots=True)
class Told:
    """What came of telling: messages that arrived, addresses that could not be reached, notices still owed."""

    arrived: int = 0
    failed: tuple[str, ...] = ()
    owed: int = 0


@dataclass(frozen=True)
class Teller:
    """Tells addresses of notices. site: what messages call this installation."""

    ledger: Ledger
    to: Sequence[AlertAddress]
    site: str
    is_stopping: Callable[[], bool] = lambda: False

    def tell(self, now: datetime) -> Told:
        """Send what is owed and due; where there is no address, nobody is owed it any more.

        Raises LedgerRefused if it cannot be read or written down; what was sent may then be sent again.
        """
        due = self.ledger.notices.take_owed(now=now.isoformat(), until=(now + _ALONE).isoformat())
        done: dict[int, dict[str, str]] = {each.id: dict(_told(each)) for each in due}
        arrived, failed = 0, []
        for address in self.to:
            mine = [each for each in due if address.digest not in done[each.id]]
            if mine and not self.is_stopping():
                if self._send(address, mine):
                    arrived += 1
                    for each in mine:
                        done[each.id][address.digest] = now.isoformat()
                else:
                    failed.append(address.shown)
        for each in due:
            self._write_down(each, done[each.id], now)
        return Told(arrived, tuple(failed), len(self.ledger.notices.owed()))

    def _send(self, address: AlertAddress, notices: Sequence[StoredNotice]) -> bool:
        title, body = message(notices, site=self.site, address=address.digest)
        try:
            return not body or address.send(title, body, gravity_of(notices))
        except SettingsError:
            return False  # `doctor` says why

    def _write_down(self, notice: StoredNotice, told: dict[str, str], now: datetime) -> None:
        complete = all(address.digest in told for address in self.to)
        wait = timedelta(minutes=_AGAIN_MINUTES[min(notice.tries, len(_AGAIN_MINUTES) - 1)])
        self.ledger.notices.note_telling(
            notice.id,
            told=told,
            over=bool(notice.over_at),
            next_try_at="" if complete else (now + wait).isoformat(),
        )


def _told(notice: StoredNotice) -> dict[str, str]:
    return notice.over_told if notice.over_at else notice.told


def gravity_of(notices: Sequence[StoredNotice]) -> Gravity:
    """That of the gravest: a failure, what somebody should look at, good news, or a digest."""
    return max((_gravity(each) for each in notices), key=list(Gravity).index)


def _gravity(notice: StoredNotice) -> Gravity:
    found = _GRAVITIES.get(notice.kind, Gravity.WARNING)
    return Gravity.SUCCESS if notice.over_text and found in (Gravity.WARNING, Gravity.FAILURE) else found


def message(notices: Sequence[StoredNotice], *, site: str, address: str) -> tuple[str, str]:
    """Title and body of one message to an address; empty if it knows all of it already."""
    parts = [part for each in notices if (part := _part(each, knows=address in each.told))]
    if not parts:
        return "", ""
    titles = [part.partition("\n")[0] for part in parts]
    title = titles[0] if len(parts) == 1 else f"{len(parts)} messages: {titles[0]} …"
    shown = parts[:_IN_ONE_MESSAGE]
    if len(parts) > len(shown):
        shown.append(f"… and {len(parts) - len(shown)} more: `logistics-batch runs`")
    return f"[{site}] {title}", "\n\n".join(shown)


def _part(notice: StoredNotice, *, knows: bool) -> str:
    """What an address has still to hear of a notice; "" if there is nothing."""
    if not notice.over_at:
        times = f"\nSeen {notice.seen} times since {moment(notice.since)}." if notice.seen > 1 else ""
        return f"{notice.title}\n{notice.text}{times}"
    if knows:
        return f"Over: {notice.title}\n{notice.over_text}" if notice.over_text else ""
    over = f"\nOver since {moment(notice.over_at)}: {notice.over_text}" if notice.over_text else ""
    return f"{notice.title}\n{notice.text}{over}"
