"""The service's own time: India, +05:30, no summer time."""

from datetime import datetime, timedelta, timezone

ZONE = timezone(timedelta(hours=5, minutes=30))


def now() -> datetime:
    """The current time in the service's zone."""
    return datetime.now(ZONE)


def now_text() -> str:
    """The current time as the service writes it: ISO 8601 with microseconds and offset."""
    return now().isoformat(timespec="microseconds")
