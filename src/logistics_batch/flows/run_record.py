"""The line that a run which sends nothing has in the ledger's history, however it ends."""

import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date

from logistics_batch.errors import LogisticsBatchError
from logistics_batch.flows.parts import Parts
from logistics_batch.model.report import ExitCode


@dataclass
class RunRecord:
    """A run while it goes on; without a word about its end it counts as stopped early."""

    id: str
    exit_code: int = ExitCode.STOPPED_EARLY
    summary: Mapping[str, int] = field(default_factory=dict)
    stopped: str = ""

    def ended(self, exit_code: int, summary: Mapping[str, int]) -> None:
        """The run came to its end, with these counts."""
        self.exit_code, self.summary = exit_code, summary


@contextmanager
def recorded_run(parts: Parts, *, letter: str, kind: str, job: str, business_date: date) -> Iterator[RunRecord]:
    """Write the run's beginning and its end; `letter` begins its id, so that kinds are told apart at a glance."""
    now = parts.clock.now()
    run = RunRecord(f"{letter}{now:%Y%m%d-%H%M%S}-{secrets.token_hex(2)}")
    day = business_date.isoformat()
    parts.ledger.start_run(run.id, job=job, kind=kind, business_date=day, now=now.isoformat())
    try:
        yield run
    except LogisticsBatchError as error:
        run.exit_code, run.stopped = error.exit_code, error.message
        raise
    finally:
        parts.ledger.finish_run(
            run.id,
            exit_code=run.exit_code,
            summary=run.summary,
            now=parts.clock.now().isoformat(),
            stopped=run.stopped,
        )
