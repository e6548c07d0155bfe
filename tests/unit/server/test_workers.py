"""The parent of several workers, with workers of a few lines."""

import signal
import subprocess
import sys

STUCK = """
import signal, sys, time
from graphiti_pkm.server.transports.workers import Workers

def serve(slot, parent):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    print("up", flush=True)
    while True:
        time.sleep(60)

Workers(1, serve, 0.2).run()
print("ended", flush=True)
"""


def test_a_worker_that_does_not_end_is_killed() -> None:
    parent = subprocess.Popen([sys.executable, "-c", STUCK], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    assert parent.stdout.readline() == "up\n"
    parent.send_signal(signal.SIGTERM)
    out, err = parent.communicate(timeout=30)
    assert (parent.returncode, out) == (0, "ended\n")
    assert "does not end and is killed" in err
