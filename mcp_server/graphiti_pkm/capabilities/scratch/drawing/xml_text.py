"""Texts inside XML: pictures and GraphML are both written by hand."""

import re
from xml.sax.saxutils import escape

_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def xml_text(text: str) -> str:
    """A text within XML, also between quotes; characters that XML has no words for become �."""
    clean = _NO_XML.sub("�", text)
    return escape(clean, {'"': "&quot;", "'": "&#39;", "\n": "&#10;", "\r": "&#13;", "\t": "&#9;"})
