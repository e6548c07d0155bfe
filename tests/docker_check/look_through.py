"""What is in the files of the final stage."""

import re

from tests.docker_check.image import Image
from tests.docker_check.report import Report
from tests.docker_check.rules import BUILD_TOOLS
from tests.docker_check.tools import ROOT, run

_LIBRARIES = re.compile(r"^\s*(\S+) => not found", re.MULTILINE)


def look_through(report: Report, image: Image) -> None:
    """Programs, packages, permissions, leftovers, and libraries of compiled packages."""
    programs = {
        path.name
        for directory in ("usr/bin", "usr/local/bin", "usr/sbin", "opt/graphiti-pkm/bin")
        for path in (image.root / directory).iterdir()
    }
    report.check("final stage: no build tools among its programs", *sorted(programs & BUILD_TOOLS))
    packages = [path.name for path in image.root.glob("opt/graphiti-pkm/lib/python3*/site-packages/*.dist-info")]
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    locked = re.findall(r"^([\w.-]+)==[^;\n]+$", lock, re.MULTILINE)  # what has a marker is of other platforms
    wanted = {_normal(name) for name in locked} | {"graphiti_pkm"}
    there = {_normal(name.partition("-")[0]) for name in packages}
    differ = sorted((wanted ^ there) - {"async_timeout"})  # of some Pythons only
    report.check("final stage: the packages of requirements.lock and no others", *differ)
    marked = [path for path in image.root.rglob("*") if path.is_file() and path.stat().st_mode & 0o6000]
    report.check("final stage: no program runs as another user", *map(str, marked))
    ours = {
        "opt": {"graphiti-pkm"},
        "usr/local/lib/graphiti-pkm": {"entrypoint.sh", "healthcheck.py", "verify_image.py"},
    }
    other = [
        str(path) for place, names in ours.items() for path in (image.root / place).iterdir() if path.name not in names
    ]
    report.check("final stage: nothing of the checkout but the program", *other, *image.root.glob("opt/*/lib/**/.env"))
    compiled = image.root.glob("opt/graphiti-pkm/lib/python3*/site-packages/**/*.so")
    inside = [f"/{path.relative_to(image.root)}" for path in compiled]
    found = run("chroot", image.root, "/usr/bin/ldd", *inside)
    lacking = sorted(set(_LIBRARIES.findall(found.stdout)))
    report.check(
        f"final stage: {len(inside)} compiled modules find their libraries", *lacking, *found.stderr.splitlines()
    )


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "_", name).lower()
