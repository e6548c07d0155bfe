"""Builds the bundle for Claude Desktop: ``python packaging/mcpb/build.py --out DIRECTORY``.

It has the source of the package; uv brings Python and the dependencies when it is first started.
"""

import argparse
import json
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
ROOT_FILES = ("pyproject.toml", "setup.py", "README.md", "LICENSE", "NOTICE")
_DATE = (2026, 1, 1, 0, 0, 0)  # the same content is the same file


def main() -> None:
    """Print the path of the bundle."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True, metavar="DIRECTORY")
    options = parser.parse_args()
    manifest = json.loads((HERE / "manifest.json").read_text(encoding="utf-8"))
    options.out.mkdir(parents=True, exist_ok=True)
    bundle = options.out / f"{manifest['name']}-{manifest['version']}.mcpb"
    with zipfile.ZipFile(bundle, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, path in sorted(_files().items()):
            archive.writestr(zipfile.ZipInfo(name, _DATE), path.read_bytes(), zipfile.ZIP_DEFLATED)
    print(bundle)


def _files() -> dict[str, Path]:
    ours = {name: HERE / name for name in ("manifest.json", "server.py")}
    package = ROOT / "mcp_server" / "graphiti_pkm"
    source = {
        path.relative_to(ROOT).as_posix(): path
        for path in package.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    return ours | {name: ROOT / name for name in ROOT_FILES} | source


if __name__ == "__main__":
    main()
