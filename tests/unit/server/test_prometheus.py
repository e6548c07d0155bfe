"""Figures of several workers of one server: whichever is asked answers for all, also for one that has ended."""

import os
import subprocess
import sys
from collections.abc import Iterator

import pytest
from prometheus_client.parser import text_string_to_metric_families

from graphiti_pkm.core.ports.metrics import CALL_SECONDS, CALLS, CALLS_UNDER_WAY, DATABASE_UP, PREFIX, Sample
from graphiti_pkm.server.observability.prometheus import PrometheusMetrics, forget_worker, shared_by_workers

WORKER = """
import sys
from graphiti_pkm.core.ports.metrics import CALL_SECONDS, CALLS, CALLS_UNDER_WAY, DATABASE_UP, Sample
from graphiti_pkm.server.observability.prometheus import PrometheusMetrics
counted = PrometheusMetrics()
for _ in range(int(sys.argv[1])):
    counted.add(CALLS, 1, "get_status", "ok")
    counted.observe(CALL_SECONDS, 0.3, "get_status")
counted.add(CALLS_UNDER_WAY, 1)
print("counted", flush=True)
sys.stdin.readline()
sys.stdout.buffer.write(counted.text([Sample(DATABASE_UP, 1)]))
"""


def a_worker(calls: int) -> "subprocess.Popen[str]":
    process = subprocess.Popen(
        [sys.executable, "-c", WORKER, str(calls)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "counted\n"
    return process


def shown(text: str) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


@pytest.fixture
def workers() -> Iterator["list[subprocess.Popen[str]]"]:
    with shared_by_workers():
        found = [a_worker(2), a_worker(3)]
        yield found
        for process in found:
            process.communicate()
    assert "PROMETHEUS_MULTIPROC_DIR" not in os.environ


def test_one_worker_answers_for_all(workers: "list[subprocess.Popen[str]]") -> None:
    first, second = workers
    first.communicate()
    forget_worker(first.pid)
    found = shown(second.communicate("\n")[0])
    call = (("outcome", "ok"), ("tool", "get_status"))
    assert found[f"{PREFIX}calls_total", call] == 5
    assert found[f"{PREFIX}call_seconds_bucket", (("le", "0.5"), ("tool", "get_status"))] == 5
    assert found[f"{PREFIX}call_seconds_bucket", (("le", "0.25"), ("tool", "get_status"))] == 0
    assert found[f"{PREFIX}calls_under_way", ()] == 1  # of the one that has ended nothing is
    assert found[f"{PREFIX}database_up", ()] == 1
    assert found["process_resident_memory_bytes", (("pid", str(second.pid)),)] > 0
    assert ("process_resident_memory_bytes", (("pid", str(first.pid)),)) not in found


def test_alone_a_process_keeps_its_figures_to_itself() -> None:
    counted = PrometheusMetrics()
    counted.add(CALLS, 1, "get_status", "ok")
    counted.add(CALLS_UNDER_WAY, 1)
    counted.observe(CALL_SECONDS, 61, "get_status")
    counted.add(CALLS_UNDER_WAY, -1)
    found = shown(counted.text([Sample(DATABASE_UP, 0)]).decode())
    assert found[f"{PREFIX}calls_total", (("outcome", "ok"), ("tool", "get_status"))] == 1
    assert found[f"{PREFIX}calls_under_way", ()] == 0
    assert found[f"{PREFIX}call_seconds_bucket", (("le", "60.0"), ("tool", "get_status"))] == 0
    assert found[f"{PREFIX}database_up", ()] == 0
    assert shown(PrometheusMetrics().text([]).decode()).get((f"{PREFIX}calls_under_way", ())) == 0
