"""The mention rules of the design, as a table."""

import pytest

from graphiti_pkm.core.identity.mentions import MentionFinder, NamedIn
from graphiti_pkm.core.model.names import name_key
from graphiti_pkm.core.model.records import Name


def named(*texts: str, linkable: bool = True) -> MentionFinder:
    """A finder in which every name stands for itself."""
    return MentionFinder(
        Name(key=name_key("t1", text), group_id="t1", text=text, entity_uuid=text, is_linkable=linkable)
        for text in texts
    )


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("Will", "I saw Will."),
        ("Will", "WILL came"),
        ("Will", "Will's dog"),
        ("Will", "Will’s dog"),
        ("WILL", "Will's dog"),
        ("Will", "“Will”"),
        ("Will", "*Will*, #Will"),
        ("Will", "Will-power"),
        ("May", "with May and June"),
        ("It", "It is a book by King"),
        ("user service", "the user service broke"),
        ("user service", "The User-Service"),
        ("user-service", "user_service"),
        ("user service", "userservice"),
        ("User Service", "the UserService"),
        ("New York", "New\nYork"),
        ("C++", "I use C++."),
        ("C#", "C# and F#"),
        ("Node.js", "use Node.js now"),
        ("R&D", "in R&D"),
        ("St. James's", "in St. James's park"),
        ("James", "James' book"),
        ("O'Brien", "Mr O’Brien"),
        ("O'Brien", "OBrien"),
        ("Lloyd's of London", "Lloyd’s of London"),
        ("University of London", "University Of London"),
        ("Tom", "Sarah/Tom"),
        ("Then", "Sarah.Then"),
        ("iPhone", "my iPhone"),
        ("iPhone", "IPHONE"),
        ("3M", "3M tape"),
        ("MÜNCHEN", "München"),
        ("Café", "Cafe\u0301"),
        ("Straße", "STRASSE"),
        ("田中", "私は田中さんと会った"),
        ("サラ", "サラと会った"),
        ("사라", "사라가 왔다"),
        ("हिन्दी", "हिन्दी में"),
        ("שרה", "הלכתי עם שרה"),
        ("run", "Run! RUN!"),
        ("rack-1-12", "in Rack 1_12, below"),
        ("Q1 2026", "by Q1-2026."),
        ("GPT-4", "with GPT4"),
        ("return code -1", "a return code \u22121"),
        ("rack 1-12", "rack 1\n12 hums"),
        ("rack 1-12", "rack 1 -12 hums"),
        ("+49 170 1234567", "call +491701234567"),
        ("+49 170 1234567", "On +49-170-123-45-67 nobody answers."),
        ("+491701234567", "(+49 170\n123 45 67)"),
        ("+49-170-123-45-67", "Tel.: +49 170 - 1234567, 9 to 5"),
        ("+49 170 1234567", "+49_170 -1234567"),
        ("+49 170 1234567", "call +49170 1234567 at 9"),
        ("+49 170 1234567", "1. +49 1701 234567\n2. +49 171 5550000"),
        ("+49 170 1234567", "on 49170, +49 1701 234567 18:30 and later"),
        ("+49 170 1234567", "since +49 1701 234567 2026-05-10"),
        ("🎉", "we won 🎉 at last"),
        ("🎉", "great🎉🎉!"),
        ("❤", "with ❤️"),
        ("❤️", "with ❤"),
        ("👨‍👩‍👧", "home: 👨‍👩‍👧."),
        ("👍🏽", "ok 👍🏽"),
        ("🇩🇪", "in 🇩🇪"),
    ],
)
def test_a_name_is_found(name: str, text: str) -> None:
    assert name in NamedIn(text)
    assert named(name).find(text) == {name}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("Will", "i will go"),
        ("Will", "Willing"),
        ("Will", "Goodwill"),
        ("it", "it is"),
        ("of the", "of the"),
        ("x", "x marks"),
        ("C", "I use C."),
        ("李", "李さん"),
        ("Maya", "in May a"),
        ("Whitehall", "White Hall"),
        ("C++", "I use C#"),
        ("Notepad", "Notepad++ rocks"),
        ("node", "use node.js"),
        ("sarah", "sarah@example.com"),
        ("example", "sarah@example.com"),
        ("AT", "AT&T"),
        ("Dr. Strange", "Dr Strange"),
        ("New York", "New\n\nYork"),
        ("The Who", "the Who"),
        ("iPhone", "iphone"),
        ("3M", "3m of rope"),
        ("Café", "café"),
        ("Cafe", "Café"),
        ("サラ", "サラダを食べた"),
        ("", "anything"),
        (" - ", "a - b"),
        ("🎉", "we won 🎊"),
        ("👨", "home: 👨‍👩‍👧."),
        ("👧", "home: 👨‍👩‍👧."),
        ("👍", "ok 👍🏽"),
        ("🇩", "in 🇩🇪"),
        ("rack-1-12", "in rack 11-2"),
        ("rack-1-12", "in rack 112"),
        ("rack 1-12", "rack 1-123, rack 11\n2"),
        ("rack 1-12", "rack 1\n\n12 hums"),
        ("+49 170 1234567", "+49 170 12345678, +49 170 1234567-8, +49 1701 234567 8 or +49 170 123456"),
        ("+49 170 1234567", "49 170 1234567, 0049 170 1234567, ++1 49 170 1234567"),
        ("+49 170 1234567", "+49 (170) 1234567, +49 170/1234567, +49 170.1234567"),
        ("+49 170 1234567", "+49 170\n\n1234567"),
        ("+49 1234", "+491234"),
        ("return code 1", "a return code -1"),
        ("return code -1", "a return code 1"),
        ("12 monkeys", "it had -12 monkeys"),
        ("+", "1 + 1"),
        ("°", "20° outside"),
        ("\ufe0f", "❤️"),
    ],
)
def test_a_name_is_not_found(name: str, text: str) -> None:
    assert name not in NamedIn(text)
    assert named(name).find(text) == set()


@pytest.mark.parametrize(
    ("names", "text", "found"),
    [
        (("Will", "Will Hewer"), "Will Hewer came", {"Will Hewer"}),
        (("Will", "Will Hewer"), "Will and Will Hewer came", {"Will", "Will Hewer"}),
        (("New York", "New York Times", "Times"), "the New York Times", {"New York Times"}),
        (("Node", "Node.js"), "Node.js or Node", {"Node", "Node.js"}),
        (("Sarah", "sarah lee"), "Sarah lee", {"sarah lee"}),
        (("Sarah", "Sarah Lee"), "Sarah lee", {"Sarah"}),
        (("C++", "C#"), "C, C++ or C#", {"C++", "C#"}),
        (("Tom", "Sarah"), "nobody", set()),
    ],
)
def test_the_longest_name_wins(names: tuple[str, ...], text: str, found: set[str]) -> None:
    assert named(*names).find(text) == found


def test_names_that_are_not_linkable_are_never_found() -> None:
    assert named("Anna", linkable=False).find("Anna came") == set()


def test_a_name_added_later_is_found() -> None:
    finder = named("Sarah")
    finder.add(Name(key="k", group_id="t1", text="Tom", entity_uuid="Tom"))
    assert finder.find("Sarah met Tom") == {"Sarah", "Tom"}


def test_two_entities_may_share_a_spelling() -> None:
    finder = named("O'Brien", "OBrien")
    assert finder.find("O’Brien") == {"O'Brien", "OBrien"}
