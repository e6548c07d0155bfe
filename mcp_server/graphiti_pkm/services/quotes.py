"""Finding the quoted words of a fact in the body of its episode."""

import re
import unicodedata

_SAME = {
    **dict.fromkeys("‘’‚‛′`´ʼ", "'"),
    **dict.fromkeys("“”„‟″«»", '"'),
    **dict.fromkeys("‐‑‒–—−", "-"),
}
_ELLIPSIS = re.compile(r"^(?:\.\.\.|…|\[…\])|(?:\.\.\.|…|\[…\])$")
_ENCLOSED = re.compile(r"""^["'“”„«»‘’](.*)["'“”„«»‘’]$""", re.DOTALL)


def locate_quote(body: str, quote: str) -> tuple[int, int] | None:
    """Half-open code-point offsets of the first place with these words: exactly, else whatever space and quote marks.

    Marks of quotation around the whole quote and an ellipsis at its ends are no part of the words.
    """
    for words in _forms(quote):
        start = body.find(words)
        if start >= 0:
            return start, start + len(words)
    for words in _forms(quote):
        match = _loose(words).search(body)
        if match:
            return match.span()
    return None


def _forms(quote: str) -> list[str]:
    forms = [quote.strip()]
    if enclosed := _ENCLOSED.match(forms[0]):
        forms.append(enclosed[1].strip())
    forms.append(_ELLIPSIS.sub("", forms[-1]).strip())
    return [form for form in dict.fromkeys(forms) if form]


def _loose(words: str) -> re.Pattern[str]:
    composed = unicodedata.normalize("NFC", words)
    return re.compile(r"\s+".join("".join(map(_alike, word)) for word in composed.split()), re.IGNORECASE)


def _alike(character: str) -> str:
    plain = _SAME.get(character, character)
    variants = "".join([plain, *(other for other, same in _SAME.items() if same == plain)])
    if len(variants) > 1:
        return f"[{re.escape(variants)}]"
    if (decomposed := unicodedata.normalize("NFD", character)) != character:
        return f"(?:{re.escape(character)}|{re.escape(decomposed)})"
    return re.escape(character)
