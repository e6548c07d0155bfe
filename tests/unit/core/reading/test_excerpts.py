"""Which sentence of an episode is shown."""

import pytest
from tests.builders import a_fact, an_entity

from graphiti_pkm.core.model.queries import EpisodeHit
from graphiti_pkm.core.model.records import Fact
from graphiti_pkm.core.reading.excerpts import matching_sentence, supporting_sentence

DULL = "One more line of a report that never ends.\n" * 4_000


def test_words_that_come_only_late_in_a_very_long_text_are_found_there() -> None:
    sentence = "Then a quagga crossed the courtyard."
    content = f"{DULL}{sentence} It did not look back.\n{DULL}"
    span = matching_sentence(content, None, ["quagga"])
    assert span is not None
    assert content[slice(*span)] == sentence


def test_words_that_are_nowhere_have_no_sentence() -> None:
    assert matching_sentence(DULL, None, ["quagga"]) is None


MOOD = a_fact(an_entity("me"), an_entity("mood"), text="me: mood 5/10", value="5/10")
GLOBEX = a_fact(an_entity("Anna"), an_entity("Globex"), text="Anna is employed by Globex.")
FLAT = a_fact(an_entity("me"), an_entity("flat in Oslo"), text="I rent the flat in Oslo")
MENTOR = a_fact(an_entity("Lena"), an_entity("me"), text="Lena mentors me")
BIRTHDAY = a_fact(an_entity("Tom"), an_entity("birthday"), text="Tom has birthday: 5 May", value="5 May")


@pytest.mark.parametrize(
    ("fact", "body", "near", "shown"),
    [
        (MOOD, "Mood 7/10. Yesterday was mistyped. Five it was.", "Mood 7/10.", None),
        (MOOD.model_copy(update={"text": "My mood was five of ten"}), "Mood 7/10.", "Mood 7/10.", None),
        (MOOD, "Mood 7/10. Yesterday my mood was 5/10.", "Mood 7/10.", "Yesterday my mood was 5/10."),
        (GLOBEX, "Anna is employed by Acme. Anna is quiet.", "Anna is employed by Acme.", None),
        (GLOBEX, "Anna was employed once. Globex it is for Anna.", "Anna was employed once.", "Globex it is for Anna."),
        (FLAT, "Mood 7/10. The Oslo flat is ours now.", "The Oslo flat is ours now.", "The Oslo flat is ours now."),
        (MENTOR, "Lena is my mentor.", "Lena is my mentor.", "Lena is my mentor."),
        (BIRTHDAY, "Tom's mood is fine. Correction: 5 May.", "Tom's mood is fine.", "Correction: 5 May."),
        (BIRTHDAY, "Tom's mood is fine.", "Tom's mood is fine.", None),
    ],
)
def test_only_a_sentence_that_holds_the_words_of_a_fact_supports_it(
    fact: Fact, body: str, near: str, shown: str | None
) -> None:
    start = body.index(near)
    hit = EpisodeHit(cosine=0.8, start=start, end=start + len(near))
    assert supporting_sentence(body, fact, hit) == shown
