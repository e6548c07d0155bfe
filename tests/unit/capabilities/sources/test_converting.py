"""HTML, PDF and DOCX become text with the words that a reader sees; what cannot be read is refused with the reason."""

import io
import sys
import zipfile
from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from pypdf import PdfWriter
from tests.worlds.sources_world import SourcesWorld

from graphiti_pkm.capabilities.sources import converting
from graphiti_pkm.capabilities.sources.converting import converted
from graphiti_pkm.capabilities.sources.html import DEEPEST, html_as_markdown
from graphiti_pkm.capabilities.sources.ingesting import Given
from graphiti_pkm.core.model.access import LOCAL
from graphiti_pkm.errors import InvalidInput

PAGE = """\
<!doctype html><html><head><title>Hidden title</title><style>p {color: red}</style><script>alert("no")</script></head>
<body><h1>Guide &amp; more</h1><p>Tom <b>runs</b>  it.<br>See <a href="https://x.org">the <i>site</i></a>.
<p hidden>secret<p># no heading<ul><li>one<ul><li>two</ul><li>three</ul><ol start="3"><li>x</ol>
<table><tr><th>a<th>b<tr><td>1<td>2|3</table><pre>x  = 1
  y</pre><blockquote><p>q1</p><p>q2</blockquote><hr><div>2 * 3 &lt; 7 <img src=a alt="a picture"></div>
"""
MARKDOWN = """\
# Guide & more

Tom **runs** it.
See [the *site*](https://x.org).

\\# no heading

- one
  - two
- three

3. x

| a | b |
| --- | --- |
| 1 | 2\\|3 |

```
x  = 1
  y
```

> q1
>
> q2

---

2 \\* 3 \\< 7 a picture
"""


def pdf_of(text: str) -> bytes:
    """A page with one line."""
    stream = f"BT /F1 12 Tf 20 100 Td ({text}) Tj ET".encode()
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 200]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>",
        b"<</Length %d>>stream\n%s\nendstream" % (len(stream), stream),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ]
    out, places = b"%PDF-1.4\n", []
    for number, one in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj%sendobj\n" % (number, one)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    return out + b"xref\n0 6\n0000000000 65535 f \n%strailer<</Size 6/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF" % (
        table,
        len(out),
    )


def pictures(pages: int) -> bytes:
    writer, out = PdfWriter(), io.BytesIO()
    for _ in range(pages):
        writer.add_blank_page(200, 200)
    writer.write(out)
    return out.getvalue()


def docx_of(*paragraphs: tuple[str, str], padding: int = 0) -> bytes:
    """A document of paragraphs, each with its style."""
    word = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
    relations = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    body = "".join(
        f'<w:p><w:pPr><w:pStyle w:val="{style}"/></w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>'
        for style, text in paragraphs
    )
    styles = "".join(
        f'<w:style w:type="paragraph" w:styleId="{one}"><w:name w:val="{name}"/></w:style>'
        for one, name in (("Heading1", "heading 1"), ("Normal", "Normal"))
    )
    parts = {
        "[Content_Types].xml": '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>',
        "_rels/.rels": '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
        f'<Relationship Id="r1" Type="{relations}/officeDocument" Target="word/document.xml"/></Relationships>',
        "word/styles.xml": f"<w:styles {word}>{styles}</w:styles>",
        "word/document.xml": f"<w:document {word}><w:body>{body}</w:body></w:document>",
        "padding": " " * padding,
    }
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in parts.items():
            archive.writestr(name, text)
    return out.getvalue()


def test_a_page_becomes_the_markdown_of_what_is_seen() -> None:
    assert html_as_markdown(PAGE) == MARKDOWN


def test_another_parser_reads_the_same_words_from_that_markdown() -> None:
    rendered = MarkdownIt("commonmark").enable("table").render(MARKDOWN)
    assert html_as_markdown(rendered).split() == MARKDOWN.split(), "but for the break of a line"


def test_the_title_stands_for_a_heading_that_is_missing() -> None:
    assert html_as_markdown("<title> A\n page </title><p>Text.") == "# A page\n\nText.\n"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "iso-8859-1"])
def test_the_encoding_of_a_page_is_the_one_it_names(encoding: str) -> None:
    page = f'<meta charset="{encoding}"><p>Zürich'.encode(encoding)
    assert converted(page, Path("a.html")) == ("Zürich\n", "markdown")


async def test_a_page_is_ingested_as_its_markdown(tmp_path: Path) -> None:
    world = SourcesWorld(tmp_path)
    (tmp_path / "page.html").write_text(PAGE, encoding="utf-8")
    given = [Given(tmp_path / "page.html", "page")]
    (done,) = [one async for one in world.ingesting.ingest(LOCAL, given, tmp_path, None)]
    assert done.outcome == "new"
    assert await world.text("page") == MARKDOWN
    (again,) = [one async for one in world.ingesting.ingest(LOCAL, given, tmp_path, None)]
    assert again.outcome == "unchanged"


@pytest.mark.parametrize("element", ["div", "blockquote", "ul><li", "b", "table><td"])
def test_a_page_that_is_nested_without_end_is_refused(element: str) -> None:
    with pytest.raises(InvalidInput, match=f"nested deeper than {DEEPEST} levels"):
        converted(f"<{element}>".encode() * 10_000, Path("bomb.html"))


@pytest.mark.parametrize("piece", ["<a ", '<a b="', "<!--", "<p>", "<", "<br>", '<a b=">" '])
def test_a_page_of_broken_pieces_is_read_or_refused(piece: str) -> None:
    try:
        text, _ = converted(piece.encode() * 20_000, Path("bomb.html"))
    except InvalidInput:
        return
    assert len(text) < 50_000


def test_a_page_with_too_many_elements_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("graphiti_pkm.capabilities.sources.html.MOST_ELEMENTS", 100)
    with pytest.raises(InvalidInput, match="more than 100 elements"):
        converted(b"<i>a</i>" * 100, Path("bomb.html"))


def test_a_pdf_becomes_its_words() -> None:
    assert converted(pdf_of("Tom runs it."), Path("a.PDF")) == ("Tom runs it.\n", "text")


def test_a_pdf_of_pictures_says_so() -> None:
    with pytest.raises(InvalidInput, match=r"scan\.pdf: Its 2 page\(s\) are pictures without text"):
        converted(pictures(2), Path("scan.pdf"))


def test_a_pdf_with_a_password_says_so() -> None:
    writer, out = PdfWriter(), io.BytesIO()
    writer.add_blank_page(200, 200)
    writer.encrypt("secret", algorithm="RC4-128")
    writer.write(out)
    with pytest.raises(InvalidInput, match="needs a password"):
        converted(out.getvalue(), Path("a.pdf"))


def test_a_docx_becomes_markdown() -> None:
    document = docx_of(("Heading1", "Guide"), ("Normal", "Tom runs &amp; owns it."))
    assert converted(document, Path("a.docx")) == ("# Guide\n\nTom runs & owns it.\n", "markdown")


def test_a_docx_that_unpacks_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(converting, "_MOST_UNPACKED", 10_000)
    with pytest.raises(InvalidInput, match="unpacks to more than"):
        converted(docx_of(("Normal", "a"), padding=20_000), Path("a.docx"))


@pytest.mark.parametrize("name", ["a.pdf", "a.docx"])
@pytest.mark.parametrize("content", [b"", b"no such file", b"PK\x03\x04", b"%PDF-1.4\n%%EOF", pdf_of("a")[:200]])
def test_a_damaged_file_is_refused(name: str, content: bytes) -> None:
    with pytest.raises(InvalidInput, match=rf"{name}.*Nothing"):
        converted(content, Path(name))


@pytest.mark.parametrize(("name", "module"), [("a.pdf", "pypdf"), ("a.docx", "mammoth")])
def test_what_reads_a_format_is_named_if_it_is_not_installed(
    name: str, module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(InvalidInput, match=rf"needs {module}: install graphiti-pkm\[documents\]"):
        converted(b"", Path(name))
