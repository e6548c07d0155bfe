"""Caches the names of a group between calls: which entities a text names, and which names are similar."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from typing import TypeAlias

from graphiti_pkm.core.identity.mentions import MentionFinder, capitalised_words, word_forms
from graphiti_pkm.core.identity.name_parts import first_name, is_date_word, parts_of_names
from graphiti_pkm.core.identity.shared_names import NamesInText, shared_in
from graphiti_pkm.core.identity.spelling import MOST_EXTRA_WORDS, NameForm, close_spelling, deletions
from graphiti_pkm.core.model.queries import NameBook
from graphiti_pkm.core.model.records import Name
from graphiti_pkm.core.ports.graph import Graph
from graphiti_pkm.core.waiting import in_thread_if

Words: TypeAlias = tuple[str, ...]

_MOST_COMPARED = 200
"""Limits on the names compared for one form, and for one new name."""
_LONGEST_WITH_TYPOS = 64
"""Names up to this length are indexed by every form with one letter left out."""
_MOST_GROUPS = 64
_FEW = 50
"""Names that are compared faster than they are handed to a thread."""
_NO_ONE = ""
_NEW = "new"
_MOST_BEARERS = 20
"""People of one first name that are told apart."""


@dataclass(frozen=True)
class NewNames:
    """Names that a call gives for the first time, before they are known."""

    finder: MentionFinder | None = None
    first_names: frozenset[str] = frozenset()
    """First names of the people among them, in compared form."""

    @classmethod
    def of(cls, names: Iterable[str], people: Iterable[str]) -> "NewNames":
        """``names``: all of them; ``people``: those of people."""
        new = [Name(key=_NEW, group_id=_NEW, text=name, entity_uuid=_NEW) for name in names]
        first = (first_name(name) for name in people)
        return cls(MentionFinder(new) if new else None, frozenset(name for name in first if name))


_NO_NEW_NAMES = NewNames()


class KnownNames:
    """All linkable names of one group; names are added incrementally, so a growing group stays cheap."""

    def __init__(self, names: Iterable[Name] = ()) -> None:
        self.version: int | None = None
        self._names: dict[str, Name] = {}
        self._main: dict[str, str] = {}
        self._finder = MentionFinder()
        self._forms: defaultdict[str, dict[str, NameForm]] = defaultdict(dict)
        """The forms of each name, by its spellings."""
        self._by_words: defaultdict[Words, dict[str, None]] = defaultdict(dict)
        self._by_edge: defaultdict[Words, dict[str, None]] = defaultdict(dict)
        self._by_spelling: defaultdict[int, list[str]] = defaultdict(list)
        """Hashes instead of the forms, which would take a hundred times the memory of the name."""
        self._by_part: dict[str, str] = {}
        self._by_first_name: dict[str, tuple[str, ...]] = {}
        for name in names:
            self.add(name)

    def __len__(self) -> int:
        return len(self._names)

    def add(self, name: Name) -> list[str]:
        """Add a name, or new spellings of a known one; returns the new spellings."""
        if not name.is_linkable:
            return []
        spellings = dict.fromkeys((name.text, *name.spellings))
        known = self._names.get(name.key)
        if known is None:
            self._names[name.key] = name
            self._finder.add(name)
            self._index(name)
            return list(spellings)
        new = [spelling for spelling in spellings if spelling not in _spelt(known)]
        if new:
            self._names[name.key] = known.model_copy(update={"spellings": (*known.spellings, *new)})
            self._finder.add(self._names[name.key])
            self._index_words(name.key, new)
        return new

    def _index(self, name: Name) -> None:
        if not name.is_alias or name.entity_uuid not in self._main:
            self._main[name.entity_uuid] = name.text
        self._index_words(name.key, _spelt(name))
        for form in _typos(self._forms[name.key][name.text].compared):
            keys = self._by_spelling[form]
            if len(keys) < _MOST_COMPARED:
                keys.append(name.key)

    def _index_words(self, key: str, spellings: Iterable[str]) -> None:
        """Index the words of a name: its spellings differ in their words, not in the form compared for typos."""
        for spelling in spellings:
            form = self._forms[key][spelling] = NameForm.of(spelling)
            _keep(self._by_words[form.words], key)
            for edge in _edges(form.words):
                _keep(self._by_edge[edge], key)
            self._index_parts(spelling, self._names[key].entity_uuid)

    def _index_parts(self, spelling: str, entity_uuid: str) -> None:
        """Index the entity whose name contains a word; none if the word is a name itself or belongs to several."""
        parts = parts_of_names([spelling])
        for form in word_forms(spelling):
            is_free = form in parts and self._by_part.get(form, entity_uuid) == entity_uuid
            self._by_part[form] = entity_uuid if is_free else _NO_ONE
        first = first_name(spelling)
        if first is not None and entity_uuid not in (bearers := self._by_first_name.get(first, ())):
            self._by_first_name[first] = (*bearers, entity_uuid)[:_MOST_BEARERS]

    def updated(self, book: NameBook) -> "KnownNames":
        """These names updated to the state of the book: the same object, unless names were removed."""
        latest = {name.key: name for name in book.names}
        gone = any(key not in latest or not _continues(latest[key], name) for key, name in self._names.items())
        known = KnownNames() if gone else self
        for name in book.names:
            known.add(name)
        known.version = book.version
        return known

    def mentioned(self, text: str) -> set[str]:
        """Uuids of the entities that a text names."""
        return self._finder.find(text)

    def read(self, text: str, new: NewNames = _NO_NEW_NAMES) -> NamesInText:
        """What a text names; a name that the call gives for the first time takes its words from shorter known ones."""
        ways = self._finder.ways(text, new.finder)
        ways.pop(_NEW, None)
        words = capitalised_words(text) if self._by_part else {}
        words = {form: word for form, word in words.items() if not is_date_word(form)}
        found = ((word, self._by_part.get(form)) for form, word in words.items())
        parts = {word: uuid for word, uuid in found if uuid}
        return NamesInText(ways, parts, shared_in(words, ways, self._by_first_name, new.first_names))

    def sharing(self, spelling: str) -> tuple[str, ...]:
        """All entities that a name of one word may mean, if it is the first name of several; else none."""
        form = first_name(spelling)
        bearers = self._by_first_name.get(form, ()) if form is not None and len(spelling.split()) == 1 else ()
        return bearers if len(bearers) > 1 else ()

    def name_of(self, entity_uuid: str) -> str | None:
        """The name of an entity; None if it has no linkable name here."""
        return self._main.get(entity_uuid)

    def lookalikes(self, text: str) -> list[str]:
        """Uuids of other entities whose name, in any spelling, differs by a typo or by an additional word."""
        asked = NameForm.of(text)
        sharing = (key for form in _typos(asked.compared) for key in self._by_spelling.get(form, ()))
        close = {
            key
            for key in _first(sharing)
            if close_spelling(asked.compared, self._forms[key][self._names[key].text].compared)
        }
        longer = tuple(self._by_edge.get(asked.words, ()))  # a copy, since other calls may add names meanwhile
        shorter = (key for edge in _edges(asked.words) for key in tuple(self._by_words.get(edge, ())))
        parts = (
            key
            for key in sorted(_first(chain(longer, shorter)))
            if any(asked.contains(other) or other.contains(asked) for other in tuple(self._forms[key].values()))
        )
        return list(dict.fromkeys(self._names[key].entity_uuid for key in (*sorted(close), *parts)))


def _first(keys: Iterable[str]) -> list[str]:
    """The first distinct ones, at most as many as are compared."""
    found: dict[str, None] = {}
    for key in keys:
        found[key] = None
        if len(found) == _MOST_COMPARED:
            break
    return list(found)


def _keep(keys: dict[str, None], key: str) -> None:
    if len(keys) < _MOST_COMPARED:
        keys[key] = None


def _typos(compared: str) -> set[int]:
    return {hash(form) for form in deletions(compared)} if len(compared) <= _LONGEST_WITH_TYPOS else set()


def _continues(latest: Name, known: Name) -> bool:
    """Whether it is the same name, possibly with more spellings."""
    same = latest.entity_uuid == known.entity_uuid and latest.text == known.text
    return same and set(known.spellings) <= set(latest.spellings)


def _spelt(name: Name) -> set[str]:
    return {name.text, *name.spellings}


def _edges(words: Words) -> set[Words]:
    """The name without one or two words at its start or end; finds a longer name by a shorter one."""
    kept = range(max(1, len(words) - MOST_EXTRA_WORDS), len(words))
    return {edge for count in kept for edge in (words[:count], words[-count:])}


class NameBooks:
    """Cached names of recently written groups; use it under the group's lock."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._groups: dict[str, KnownNames] = {}

    async def of(self, group_id: str) -> KnownNames:
        """The current names of a group."""
        known = self._groups.pop(group_id, None) or KnownNames()
        book = await self._graph.records.name_book(group_id, known.version)
        if book is not None:
            known = await in_thread_if(len(book.names) > _FEW, known.updated, book)
        self._groups[group_id] = known
        if len(self._groups) > _MOST_GROUPS:
            self._groups.pop(next(iter(self._groups)))
        return known

    def version_of(self, group_id: str) -> int | None:
        """The version of the names that are cached of a group; None: there are none, or it is not known."""
        known = self._groups.get(group_id)
        return known.version if known is not None else None

    @contextmanager
    def writing(self, group_id: str) -> Iterator[None]:
        """Drop the cached names of a group if what is done here fails: they may contain some that were not stored."""
        try:
            yield
        except BaseException:
            self.forget(group_id)
            raise

    def forget(self, group_id: str) -> None:
        """Drop the cached names of a group; the next call reads them again."""
        self._groups.pop(group_id, None)
