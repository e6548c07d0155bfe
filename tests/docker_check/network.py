"""A network of the check's own: loopback alone, under the names of the services of compose.yaml."""

import ctypes
import os
from pathlib import Path

from tests.docker_check.tools import done
from tests.docker_env import services

_CLONE_NEWNET = 0x40000000


def leave_the_network() -> None:
    """From here on this process and its children reach each other and nothing else. Raises OSError."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(_CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    done("ip", "link", "set", "lo", "up")


def hosts_file(directory: Path) -> Path:
    """What an engine's DNS would answer."""
    file = directory / "hosts"
    file.write_text(f"127.0.0.1 localhost {' '.join(services())}\n", encoding="utf-8")
    file.chmod(0o644)
    return file
