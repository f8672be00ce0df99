"""What an alert says of a file: its name may be a person's, and alerts leave the house.

Of a name stands there only what the job's own patterns say of it, unless the settings want whole names
(`notify.file_names`); the run's id leads to the rest.
"""

import re
from collections.abc import Iterable
from pathlib import PurePosixPath

from logistics_batch.flows.parts import Parts
from logistics_batch.intake.names import name_matches, printable
from logistics_batch.model.job import JobSpec, PushJob

_SHORTEST = 4  # a shorter name would be found in every other word


def shown_name(parts: Parts, job: JobSpec, name: str) -> str:
    """How an alert of a job calls a file."""
    if parts.policy.names_in_alerts:
        return printable(name)
    return masked(name, job.source.pattern if isinstance(job, PushJob) else ())


def masked(name: str, patterns: Iterable[str]) -> str:
    """A name with "…" for all that the first pattern which fits leaves open; "a file" if that is everything.

    >>> masked("orders_asha_rao.csv", ["orders_*.csv"]), masked("Asha Rao.xlsx", ["*"]), masked("a.csv", [])
    ('orders_….csv', 'a file', 'a file')
    """
    fits = next((each for each in patterns if name_matches(name, [each])), "*")
    shown = re.sub(r"[*?]+", "…", fits.strip())
    return shown if any(sign.isalnum() for sign in shown) else "a file"


def without_names(parts: Parts, job: JobSpec, text: str, names: Iterable[str]) -> str:
    """A text with each of these names as an alert may show it; also where it stands in a path, or begins an answer's.

    names: of files; longer ones first, so that none is left over behind a shorter.
    """
    for name in sorted(set(names), key=len, reverse=True):
        if len(name) < _SHORTEST:
            continue
        shown = shown_name(parts, job, name)
        text = text.replace(name, shown).replace(printable(name), shown)
        if not parts.policy.names_in_alerts and len(stem := PurePosixPath(name).stem) >= _SHORTEST:
            text = re.sub(rf"(?<![^/\s]){re.escape(stem)}(?=\.\w)", "…", text)
    return text
