"""`make demo` on machines that lack something: it says what, and goes on where it was once that is there."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


def make(venv: Path, *variables: str) -> "subprocess.CompletedProcess[str]":
    command = ["make", "--silent", f"VENV={venv}", "PIP=true", *variables, f"{venv}/runtime"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=100)


def test_an_environment_that_was_made_before_pip_could_be_is_completed(tmp_path: Path) -> None:
    """Debian's Python without python3-venv leaves one behind."""
    venv = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", venv], check=True)
    made = make(venv, f"PYTHON={sys.executable}")
    assert made.returncode == 0, made.stderr
    subprocess.run([venv / "bin" / "python", "-m", "pip", "--version"], check=True, stdout=subprocess.DEVNULL)


def test_an_old_python_is_refused_in_a_line_that_says_what_to_do(tmp_path: Path) -> None:
    old = tmp_path / "python3"
    old.write_text(f'#!/bin/sh\nexec {sys.executable} -c "import sys; sys.version_info = (3, 10, 13); $2"\n')
    old.chmod(0o700)
    refused = make(tmp_path / "venv", f"PYTHON={old}")
    assert refused.returncode
    assert refused.stderr.splitlines()[0] == "graphiti-pkm needs Python 3.11 or newer; set PYTHON=python3.11"
    assert not (tmp_path / "venv").exists()
