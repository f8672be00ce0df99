"""Ranges of dates by which ASNs are asked for, and the smaller questions that a range falls into."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Any

from logistics_batch.api.answers import asn_header
from logistics_batch.errors import UsageError

RANGES = ("created", "modified", "delivery")
_STATUSES = ("New", "In-Progress", "Completed", "Expired")  # API §2.1
_OLDEST_DAYS = 1_000


@dataclass(frozen=True, slots=True)
class AsnRange:
    """A range of dates, both ends inclusive, and which date of an ASN is meant."""

    by: str
    date_from: date
    date_to: date

    def query(self) -> dict[str, str]:
        """The range as the service takes it."""
        return {
            f"{self.by}_date_start": self.date_from.isoformat(),
            f"{self.by}_date_end": self.date_to.isoformat(),
        }

    def halves(self) -> tuple["AsnRange", ...]:
        """Two ranges that make up this one; none for a single day."""
        days = (self.date_to - self.date_from).days
        if not days:
            return ()
        middle = self.date_from + timedelta(days=days // 2)
        return replace(self, date_to=middle), replace(self, date_from=middle + timedelta(days=1))

    def __str__(self) -> str:
        return f"{self.by} {self.date_from} to {self.date_to}"


def asn_range(by: str | None, date_from: date | None, date_to: date | None) -> AsnRange:
    """A checked range; the service would ignore one with a single end without a word (API §8.2).

    Raises UsageError.
    """
    if by not in RANGES:
        raise UsageError(f'There is no range by "{by}".', remedy=f"There are: {', '.join(RANGES)}.")
    if date_from is None or date_to is None:
        missing = "last" if date_to is None else "first"
        raise UsageError(
            f"The range by {by} date has no {missing} day.",
            remedy="Give both ends, as in --from 2026-11-01 --to 2026-11-07; the service ignores a lone one.",
        )
    if date_from > date_to:
        raise UsageError(f"The range from {date_from} to {date_to} ends before it begins.", remedy="Swap the dates.")
    return AsnRange(by, date_from, date_to)


Pieces = list[tuple[AsnRange, dict[str, str]]]


def pieces_of(wanted: AsnRange | None, query: Mapping[str, str]) -> Pieces:
    """What a search falls into: halves of the range, or the statuses of one day."""
    if wanted is None:
        return []
    halves = wanted.halves()
    if halves:
        return [(half, {}) for half in halves]
    return [] if query.get("status") else [(wanted, {"status": status}) for status in _STATUSES]


def around_created(wanted: AsnRange, extra: Mapping[str, str], records: Iterable[dict[str, Any]]) -> Pieces:
    """Of one day and status, what was created before and after the records that were shown; for delivery dates only."""
    moments = [asn_header(record).created_date[:10] for record in records]
    if wanted.by != "delivery" or not moments or not all(moments):
        return []
    try:
        first, last = date.fromisoformat(min(moments)), date.fromisoformat(max(moments))
    except ValueError:
        return []
    far = timedelta(days=_OLDEST_DAYS)
    spans = (
        AsnRange("created", first - far, first - timedelta(days=1)),
        AsnRange("created", last + timedelta(days=1), last + far),
    )
    return [(wanted, {**extra, **span.query()}) for span in spans]
