"""Figures for Prometheus, as a text file or over HTTP; the only door to prometheus-client, imported when asked for."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from logistics_batch.errors import SettingsError, UsageError
from logistics_batch.operate.figures import Figure

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
