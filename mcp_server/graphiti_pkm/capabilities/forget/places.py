"""Lists forms that may mean what was forgotten: where, how often, and the call that removes each. Pure."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from graphiti_pkm.capabilities.forget.saved_graphs import texts_of_graph
from graphiti_pkm.capabilities.forget.trace import every_text_of
from graphiti_pkm.core.identity.mentions import STOP_WORDS
from graphiti_pkm.core.model.counted import counted
from graphiti_pkm.core.model.name_forms import NameForms
from graphiti_pkm.core.model.names import fold
from graphiti_pkm.core.ports.erasing import RowContent
from graphiti_pkm.core.ports.saved_graphs import SavedGraphContent
from graphiti_pkm.core.reading.views import clipped

_TEXT = 200
_UUID = 8
_SAVED = "saved graph"
_ENTITY, _FACT, _EPISODE = "entity_uuid", "fact_uuid", "episode_uuid"
_TAKEN_BY = {
    "episode": _EPISODE,
    "title": _EPISODE,
    "note": _EPISODE,
    "fact": _FACT,
    "relation": _FACT,
    "name": _ENTITY,
    "summary": _ENTITY,
    "type": _ENTITY,
}
"""The argument of ``forget`` that removes the record behind each kind of text."""


@dataclass
class Form:
    """One form as written, and where it occurs."""

    word: str
    places: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    """Uuids by kind of place."""

    @property
    def count(self) -> int:
        return sum(map(len, self.places.values()))

    @property
    def line(self) -> str:
        """A line of the answer."""
        *counts, last = [counted(len(uuids), kind) for kind, uuids in self.places.items()]
        places = f"{', '.join(counts)} and {last}" if counts else last
        verb = "holds" if self.count == 1 else "hold"
        return f"{places} {verb} {clipped(self.word, _TEXT)!r}, which may be meant: {self._call}"

    @property
    def _call(self) -> str:
        """The call by its words, unless that would remove ordinary sentences."""
        if len(self.word) <= _TEXT and frozenset(fold(self.word).split()) - STOP_WORDS:
            return by_words(self.word)
        kind, uuids = next(iter(self.places.items()))
        return call_of(kind, min(uuids))


class FormsFound:
    """Collects forms from rows, graphs and relations."""

    def __init__(self, forms: NameForms) -> None:
        self._forms = forms
        self._found: dict[str, Form] = {}

    def look_at_rows(self, rows: Iterable[RowContent]) -> None:
        """Examine rows of the journal."""
        for held in (one for row in rows for one in every_text_of(row)):
            self._take(held.kind, held.text, {held.uuid})

    def look_at_graphs(self, graphs: Iterable[SavedGraphContent]) -> None:
        """Examine saved scratch graphs."""
        for graph in graphs:
            for text in texts_of_graph(graph):
                self._take(_SAVED, text, {graph.name})

    def look_at_relations(self, relations: Mapping[str, int]) -> None:
        """Examine relations of the graph with their uses, after the rows, which do not include Graphiti's own data."""
        for relation, count in relations.items():
            for form in self._forms_in(relation.replace("_", " ")):
                places = form.places["relation"]
                places.update(f"{relation} {number}" for number in range(len(places), count))

    def listed(self) -> list[Form]:
        """Forms, most frequent first."""
        return sorted(self._found.values(), key=lambda form: -form.count)

    def _take(self, kind: str, text: str, uuids: Iterable[str]) -> None:
        for form in self._forms_in(text):
            form.places[kind].update(uuids)

    def _forms_in(self, text: str) -> Sequence[Form]:
        return [self._found.setdefault(fold(word), Form(word)) for word in self._forms.found(text)]


def by_words(words: str) -> str:
    """The call that removes every sentence, fact, name, relation and type that contains them."""
    return f"forget with query={words!r} takes it out"


def call_of(kind: str, uuid: str) -> str:
    """The call that removes the record of such a text."""
    if kind == _SAVED:
        return f"delete_graph with name={uuid!r} and saved=true removes it"
    if kind in _TAKEN_BY:
        return f"forget with {_TAKEN_BY[kind]}={uuid[:_UUID]} takes out the whole {_TAKEN_BY[kind][: -len('_uuid')]}"
    return "clear_graph takes it out with its group"
