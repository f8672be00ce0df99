"""A paused job is not begun by the scheduler until a person resumes it; by hand it runs as ever.

A pause is a notice that lasts: it stands among what was noticed, and is kept with its end.
"""

from collections.abc import Mapping

from logistics_batch.errors import UsageError
from logistics_batch.flows.parts import Parts
from logistics_batch.ledger import Ledger, NewNotice, StoredNotice

_KIND = "paused"


def pause(parts: Parts, job: str, *, why: str) -> str:
    """Pause a job in the name of `parts.person`; what to tell. Raises UsageError if it is paused already."""
    title = f"{job} is paused by {parts.person}"
    # Asked first, for what is noticed again takes on the new words.
    if is_paused(parts.ledger, job) or not parts.ledger.notices.note(
        NewNotice(_key(job), _KIND, job, title, why, wanted=False), now=parts.now
    ):
        raise UsageError(f"{job} is paused already.", remedy="Resume it first.")
    return f"{title}: {why}"


def resume(parts: Parts, job: str, *, why: str) -> str:
    """Resume a job; what to tell. Raises UsageError if it is not paused."""
    told = f"{job} is resumed by {parts.person}"
    if not parts.ledger.notices.over(_key(job), f"{told}: {why}", now=parts.now):
        raise UsageError(f"{job} is not paused.", remedy="Nothing has to be done.")
    return f"{told}: {why}"


def is_paused(ledger: Ledger, job: str) -> bool:
    """Whether the scheduler leaves a job alone."""
    return job in paused(ledger)


def paused(ledger: Ledger) -> Mapping[str, StoredNotice]:
    """What is paused, by the job's name: since when, by whom (title) and why (text)."""
    return {each.job: each for each in ledger.notices.open() if each.kind == _KIND}


def pauses_of(ledger: Ledger, job: str) -> list[StoredNotice]:
    """Every pause of a job, the newest first."""
    return ledger.notices.notices_of(_key(job))[::-1]


def _key(job: str) -> str:
    return f"{job}|{_KIND}"
