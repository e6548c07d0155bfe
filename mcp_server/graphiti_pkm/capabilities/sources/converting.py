"""Files that are no text as the text that is stored: HTML and DOCX as Markdown, PDF as its words. Pure.

Offsets count in that text, which is kept, so a later version of a converter changes no quote.
"""

import io
import logging
import zipfile
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from graphiti_pkm.capabilities.sources.html import html_as_markdown
from graphiti_pkm.capabilities.sources.layout import Format
from graphiti_pkm.errors import InvalidInput

MOST_PAGES = 2_000
MOST_CHARACTERS = 4_000_000
"""Of what a file is converted to."""
_MOST_UNPACKED = 100_000_000


def converted(read: bytes, path: Path) -> tuple[str, Format]:
    """The text of a file, and how it is divided.

    Raises:
        InvalidInput: the file is damaged, has no text or too much of it, or what reads it is not installed.
    """
    convert, kind = CONVERTERS[path.suffix.lower()]
    try:
        text = convert(read).replace("\x00", "")
    except InvalidInput as error:
        raise InvalidInput(f"{path}: {error.message}") from None
    except (RecursionError, MemoryError):
        raise InvalidInput(f"{path} is built too deeply to be read. Nothing of it was stored.") from None
    except Exception as error:  # noqa: BLE001 whatever a damaged file makes of its reader
        raise InvalidInput(f"{path} is damaged ({type(error).__name__}). Nothing of it was stored.") from None
    if len(text) > MOST_CHARACTERS:
        raise InvalidInput(
            f"{path} has more than {MOST_CHARACTERS:,} characters of text. Nothing of it was stored; divide it."
        )
    return text, kind


def _html(read: bytes) -> str:
    return html_as_markdown(read)


def _pdf(read: bytes) -> str:
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # its warnings show parts of the file
    reader = _extra("pypdf", "PDF").PdfReader(io.BytesIO(read))
    if reader.is_encrypted and not reader.decrypt(""):
        raise InvalidInput("It needs a password. Nothing of it was stored; save it without one.")
    if len(reader.pages) > MOST_PAGES:
        raise InvalidInput(f"It has more than {MOST_PAGES:,} pages. Nothing of it was stored; divide it.")
    pages, length = list[str](), 0
    for page in reader.pages:
        pages.append(page.extract_text().strip())
        length += len(pages[-1])
        if length > MOST_CHARACTERS:
            break
    if not any(pages):
        raise InvalidInput(
            f"Its {len(pages)} page(s) are pictures without text. Nothing of it was stored; "
            "make its text readable (OCR) and ingest it again."
        )
    return "\n\n".join(filter(None, pages)) + "\n"


def _docx(read: bytes) -> str:
    mammoth = _extra("mammoth", "DOCX")
    with zipfile.ZipFile(io.BytesIO(read)) as parts:
        size = sum(one.file_size for one in parts.infolist())
    if size > _MOST_UNPACKED:
        raise InvalidInput(f"It unpacks to more than {_MOST_UNPACKED:,} bytes. Nothing of it was stored.")
    return html_as_markdown(mammoth.convert_to_html(io.BytesIO(read), convert_image=lambda _image: []).value)


def _extra(name: str, format_: str) -> Any:
    """Raises InvalidInput: it is not installed."""
    try:
        return import_module(name)
    except ImportError:
        raise InvalidInput(
            f"{format_} needs {name}: install graphiti-pkm[documents]. Nothing of it was stored."
        ) from None


CONVERTERS: Mapping[str, tuple[Callable[[bytes], str], Format]] = {
    ".html": (_html, "markdown"),
    ".htm": (_html, "markdown"),
    ".pdf": (_pdf, "text"),
    ".docx": (_docx, "markdown"),
}
"""By the ending of a file: what makes text of it, and how the text is divided."""
