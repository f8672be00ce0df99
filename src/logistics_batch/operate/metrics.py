"""What a monitoring system wants to know, as names and numbers, in Prometheus' way."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from logistics_batch.errors import SettingsError, UsageError
from logistics_batch.ledger import FATE_OF_STATE, Ledger
from logistics_batch.model.report import Fate
from logistics_batch.operate.agenda import PlannedJob

Values = Mapping[tuple[str, ...], float]

_FATES = ("accepted", "unchanged", "refused", "invalid", "blocked", "in_doubt", "held", "pending", "skipped")


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure with its values by label values. counts: it only grows. labels: the names of the labels."""

    name: str
    help: str
    labels: tuple[str, ...] = ()
    values: Values = field(default_factory=dict)
    counts: bool = False


def figures(
    ledger: Ledger, *, now: datetime, jobs: Sequence[PlannedJob] = (), running: Sequence[str] = ()
) -> list[Figure]:
    """All figures at this moment; those of the scheduler only where there are jobs that it runs."""
    return [*_of_ledger(ledger), *(_of_scheduler(now, jobs, running) if jobs else ())]


def document_fates(ledger: Ledger) -> Counter[Fate]:
    """How many documents have which fate, as the rows of reports show it: without an answer is in doubt."""
    fates: Counter[Fate] = Counter()
    for state, count in ledger.documents.tally().documents.items():
        fates[FATE_OF_STATE[state]] += count
    return fates


def _of_ledger(ledger: Ledger) -> Iterator[Figure]:
    tally = ledger.documents.tally()
    documents: Values = {(state,): float(count) for state, count in tally.documents.items()}
    yield Figure("documents", "Documents by state.", ("state",), documents)
    runs: Values = {(job, "" if code is None else str(code)): float(count) for (job, code), count in tally.runs.items()}
    yield Figure("runs", "Runs by job and exit code.", ("job", "exit_code"), runs, counts=True)
    last = {each.job: each for each in tally.last_runs if each.finished_at}
    ends = {job: _epoch(each.finished_at) for job, each in last.items()}
    took = {job: ends[job] - _epoch(each.started_at) for job, each in last.items()}
    good = {job: _epoch(at) for job, at in tally.last_good_runs.items() if at}
    codes = {job: each.exit_code or 0 for job, each in last.items()}
    yield _by_job("job_last_exit_code", "Exit code of the last run.", codes)
    yield _by_job("job_last_end_timestamp_seconds", "When the last run ended.", ends)
    yield _by_job("job_last_duration_seconds", "How long the last run took.", took)
    yield _by_job("job_last_success_timestamp_seconds", "When the last run with exit code 0 ended.", good)
    rows: Values = {
        (job, fate): float(each.summary[fate]) for job, each in last.items() for fate in _FATES if fate in each.summary
    }
    yield Figure("job_last_rows", "Rows of the last run by fate.", ("job", "fate"), rows)
    notices: Values = {key: float(count) for key, count in ledger.notices.counts().items()}
    yield Figure("notices", "What should be known and still lasts, by job and kind.", ("job", "kind"), notices)
    held, left = ledger.files.counts_of_waiting_files()
    yield _by_job("files_held_as_a_whole", "Files that are held as a whole and waiting, by job.", held)
    yield _by_job("files_left", "Files that are left lying, by job.", left)
    yield Figure("notices_untold", "Alerts that did not arrive everywhere yet.", (), {(): float(tally.owed)})


def _of_scheduler(now: datetime, jobs: Sequence[PlannedJob], running: Sequence[str]) -> Iterator[Figure]:
    yield Figure("scheduler_heartbeat_timestamp_seconds", "When the scheduler last worked.", (), {(): now.timestamp()})
    yield _by_job("job_running", "1 while a run is on.", {job.name: job.name in running for job in jobs})
    times = {job.name: slot.at.timestamp() for job in jobs if (slot := job.next_slot(now))}
    yield _by_job("job_next_run_timestamp_seconds", "When the job is due next.", times)


def _by_job(name: str, help_: str, values: Mapping[str, float]) -> Figure:
    return Figure(name, help_, ("job",), {(job,): float(value) for job, value in values.items()})


def _epoch(moment: str) -> float:
    return datetime.fromisoformat(moment).timestamp()


_PREFIX = "logistics_batch_"
_MISSING = "pip install 'logistics-batch[metrics]'"


def write_metrics(file: Path, figures: Sequence[Figure]) -> None:
    """Write a text file for node_exporter's textfile collector, whole or not at all; others may read it.

    Raises SettingsError if prometheus-client is not installed, OSError.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    _client().write_to_textfile(str(file), _registry(lambda: figures))
    file.chmod(0o644)


@contextmanager
def metrics_server(port: int, figures: Callable[[], Sequence[Figure]]) -> Iterator[int]:
    """Answer on 127.0.0.1 with the figures as they are then; gives the port (0 asks for a free one).

    Raises SettingsError if prometheus-client is not installed, UsageError if the port is taken.
    """
    client = _client()
    try:
        server, thread = client.start_http_server(port, addr="127.0.0.1", registry=_registry(figures))
    except OSError as error:
        raise UsageError(f"Port {port} is taken: {error.strerror}.", remedy="Name another --metrics-port.") from error
    try:
        yield int(server.server_port)
    finally:
        server.shutdown()
        server.server_close()
        thread.join(1)


def require_client() -> None:
    """Raises SettingsError if prometheus-client is not installed."""
    _client()


def _client() -> Any:
    try:
        import prometheus_client
    except ImportError as error:
        raise SettingsError("Metrics need the extra “metrics”, which is not installed.", remedy=_MISSING) from error
    return prometheus_client


def _registry(figures: Callable[[], Sequence[Figure]]) -> Any:
    from prometheus_client.core import CollectorRegistry, CounterMetricFamily, GaugeMetricFamily

    class Collector:
        """Asked at every look."""

        def collect(self) -> Iterator[Any]:
            """Each figure as a family of Prometheus."""
            for each in figures():
                family = CounterMetricFamily if each.counts else GaugeMetricFamily
                shown = family(_PREFIX + each.name, each.help, labels=each.labels)
                for labels, value in sorted(each.values.items()):
                    shown.add_metric(labels, value)
                yield shown

    registry = CollectorRegistry(auto_describe=False)
    registry.register(Collector())
    return registry
