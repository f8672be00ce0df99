"""Telling people: what is owed goes out in one message to each address; what does not arrive is tried again.

An address is told of a notice once, of a failure that lasts once a night, and once that it is over. Notices of one
moment share a message, which is as grave as the gravest of them. Nothing here breaks a run: an address that cannot be
reached is left for later, minutes at first, then an hour apart.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from logistics_batch.errors import SettingsError
from logistics_batch.ledger import Ledger, StoredNotice
from logistics_batch.operate.alerts import Address, Gravity

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
    to: Sequence[Address]
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

    def _send(self, address: Address, notices: Sequence[StoredNotice]) -> bool:
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
        times = f"\nSeen {notice.seen} times since {notice.since[:16]}." if notice.seen > 1 else ""
        return f"{notice.title}\n{notice.text}{times}"
    if knows:
        return f"Over: {notice.title}\n{notice.over_text}" if notice.over_text else ""
    over = f"\nOver since {notice.over_at[:16]}: {notice.over_text}" if notice.over_text else ""
    return f"{notice.title}\n{notice.text}{over}"
