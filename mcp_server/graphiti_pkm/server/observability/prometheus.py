"""Implements the port ``Metrics`` with prometheus_client, which is imported only if metrics are enabled.

A single process keeps its metrics in memory. Several workers keep them in files of a common directory, so that each
worker can answer for all.
"""

import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphiti_pkm.core.ports.metrics import COUNTED, LOOKED_UP, PREFIX, Measure, Sample

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 20.0, 30.0, 60.0)
"""Upper bounds in seconds; clients wait at most 60."""
_DIRECTORY = "PROMETHEUS_MULTIPROC_DIR"


@contextmanager
def shared_by_workers() -> Iterator[None]:
    """Add up the metrics of all workers. Enter this before the worker processes start."""
    directory = tempfile.mkdtemp(prefix="graphiti-pkm-metrics-")
    os.environ[_DIRECTORY] = directory
    try:
        yield
    finally:
        os.environ.pop(_DIRECTORY, None)
        shutil.rmtree(directory, ignore_errors=True)


def forget_worker(pid: int) -> None:
    """Remove the gauges of a worker that has ended, such as its calls under way; its counters are kept."""
    directory = os.environ.get(_DIRECTORY)
    if directory is not None:
        for path in Path(directory).glob(f"gauge_live*_{pid}.db"):
            path.unlink(missing_ok=True)


class PrometheusMetrics:
    """The metrics of this process, or of all workers. Create one per process."""

    def __init__(self) -> None:
        import prometheus_client as client  # noqa: PLC0415  (takes a tenth of a second; only for servers with metrics)
        from prometheus_client import core, multiprocess  # noqa: PLC0415

        self._client, self._core = client, core
        registry = client.CollectorRegistry()
        self._shown = client.CollectorRegistry() if _DIRECTORY in os.environ else registry
        self._made = {measure: self._make(measure, registry) for measure in COUNTED}
        if self._shown is registry:
            client.ProcessCollector(registry=registry)
        else:
            multiprocess.MultiProcessCollector(self._shown)  # type: ignore[no-untyped-call]
            self._shown.register(_Processes(client, core, Path(os.environ[_DIRECTORY])))

    @property
    def content_type(self) -> str:
        return str(self._client.CONTENT_TYPE_LATEST)

    def add(self, measure: Measure, amount: float, *labels: str) -> None:
        made = self._made[measure]
        (made.labels(*labels) if labels else made).inc(amount)

    def observe(self, measure: Measure, seconds: float, *labels: str) -> None:
        made = self._made[measure]
        (made.labels(*labels) if labels else made).observe(seconds)

    def text(self, found: Sequence[Sample]) -> bytes:
        """All metrics in Prometheus' text format."""
        registry = self._client.CollectorRegistry()
        registry.register(_Found(self._core, found))
        return self._client.generate_latest(self._shown) + self._client.generate_latest(registry)

    def _make(self, measure: Measure, registry: "CollectorRegistry") -> Any:
        name, labels = PREFIX + measure.name, measure.labels
        if measure.kind == "histogram":
            return self._client.Histogram(name, measure.help, labels, buckets=BUCKETS, registry=registry)
        if measure.kind == "gauge":
            return self._client.Gauge(name, measure.help, labels, registry=registry, multiprocess_mode="livesum")
        return self._client.Counter(name, measure.help, labels, registry=registry)


class _Found:
    """The samples that were looked up for one answer."""

    def __init__(self, core: Any, found: Sequence[Sample]) -> None:
        self._core = core
        self._found = found

    def collect(self) -> Iterator[Any]:
        for measure in LOOKED_UP:
            kind = self._core.CounterMetricFamily if measure.kind == "counter" else self._core.GaugeMetricFamily
            family = kind(PREFIX + measure.name, measure.help, labels=measure.labels)
            for sample in self._found:
                if sample.measure == measure:
                    family.add_metric(sample.labels, sample.value)
            if family.samples:
                yield family


class _Processes:
    """Memory, processor time and open files, by pid, of every running worker that has counted something."""

    def __init__(self, client: Any, core: Any, directory: Path) -> None:
        self._client, self._core = client, core
        self._directory = directory

    def collect(self) -> Iterator[Any]:
        families: dict[str, Any] = {}
        for pid in sorted({path.stem.rpartition("_")[2] for path in self._directory.glob("*.db")}):
            for family in self._client.ProcessCollector(pid=pid.__str__, registry=None).collect():
                kind = self._core.CounterMetricFamily if family.type == "counter" else self._core.GaugeMetricFamily
                own = families.setdefault(family.name, kind(family.name, family.documentation, labels=("pid",)))
                for sample in family.samples:
                    own.add_metric((pid,), sample.value)
        yield from families.values()
