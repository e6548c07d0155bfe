"""A string planted in a memory, looked for in every file of its data directory."""

import json
from pathlib import Path


def forms(text: str) -> tuple[bytes, ...]:
    """The bytes in which a text may stand in a file."""
    escaped = json.dumps(text)[1:-1]
    codes = "".join(f"\\u{ord(character):04x}" for character in text)
    return (
        text.encode(),
        text.lower().encode(),
        text.encode("utf-16-le"),
        text.encode("utf-16-be"),
        escaped.encode(),
        codes.encode(),
        codes.upper().replace("\\U", "\\u").encode(),
    )


def files_with(directory: Path, text: str) -> list[str]:
    """Files that hold the text in any of these forms, by their paths inside the directory."""
    found = []
    for path in sorted(path for path in directory.rglob("*") if path.is_file()):
        try:
            data = path.read_bytes()
        except FileNotFoundError:  # replaced while we look
            continue
        if any(form in data for form in forms(text)):
            found.append(str(path.relative_to(directory)))
    return found
