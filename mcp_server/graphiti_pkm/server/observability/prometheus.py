"""The port ``Metrics`` by prometheus_client, which is imported only where figures are asked for.

One process keeps its figures in memory. Several workers of one server keep them in files of a common directory, so
that whichever of them is asked answers for all.
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
"""Seconds; a client waits 60 at most."""
_DIRECTORY = "PROMETHEUS_MULTIPROC_DIR"


@contextmanager
def shared_by_workers() -> Iterator[None]:
    """Around the start of worker processes, before any of them counts: what each counts is added up."""
    directory = tempfile.mkdtemp(prefix="graphiti-pkm-metrics-")
    os.environ[_DIRECTORY] = directory
    try:
        yield
    finally:
        os.environ.pop(_DIRECTORY, None)
        shutil.rmtree(directory, ignore_errors=True)


def forget_worker(pid: int) -> None:
    """A worker has ended: what it had under way is not under way any more; what it counted stays counted."""
    directory = os.environ.get(_DIRECTORY)
    if directory is not None:
        for path in Path(directory).glob(f"gauge_live*_{pid}.db"):
            path.unlink(missing_ok=True)


class PrometheusMetrics:
    """Figures of this process, or of all workers; one for a process."""

    def __init__(self) -> None:
        import prometheus_client as client  # noqa: PLC0415  (a tenth of a second, for those who ask)
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
        """All of it in Prometheus' text format."""
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
    """What was looked up for one answer."""

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
    """Memory, processor time and open files of every worker that has counted and lives, by its pid."""

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
