"""Jobs that run every so many minutes, by real time: no slot is left out or doubled where clocks are changed."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from logistics_batch.model.jobs.cron import Slot
from logistics_batch.model.jobs.duration import duration_seconds

_ANCHOR = datetime(2000, 1, 3, tzinfo=UTC)  # a Monday
_LONGEST = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class Every:
    """A length of time between slots; they lie where full hours of the zone's clock are (in winter, where it changes).

    text: as it was written.
    """

    text: str
    step: timedelta

    @classmethod
    def parse(cls, text: str) -> "Every":
        """Read a length of time.

        Raises ValueError with a sentence for the person who wrote it.
        """
        step = timedelta(seconds=duration_seconds(text))
        if step.total_seconds() % 60 or not timedelta(minutes=1) <= step <= _LONGEST:
            raise ValueError(f'"{text}" is no interval of a job. Write whole minutes, as "15m" or "2h", at most "7d".')
        return cls(text.strip(), step)

    def slots(self, after: datetime, zone: ZoneInfo) -> Iterator[Slot]:
        """The slots later than `after` (with zone), in order and without end."""
        start = _ANCHOR - (_ANCHOR.astimezone(zone).utcoffset() or timedelta())
        at = start + ((after.astimezone(UTC) - start) // self.step + 1) * self.step
        while True:
            local = at.astimezone(zone)
            yield Slot(local.replace(tzinfo=None, fold=0), local)
            at += self.step
