"""Finds similar relations or measures: all names are normalised once and compared in one pass."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property

from rapidfuzz import process
from rapidfuzz.distance import OSA

from graphiti_pkm.core.identity.relation_kinds import direction_of
from graphiti_pkm.core.identity.spelling import digits_in, measure_form, relation_form, stems, typos_allowed
from graphiti_pkm.core.model.names import normalise_name

_MOST_NEAR = 50
"""The most similar relations returned, most used first."""
_NEVER_PLANNED = frozenset({"USES", "SUPERSEDES"})


class Relations(Mapping[str, int]):
    """The relations of a group by how often each is used, and lookups of similar ones."""

    def __init__(self, uses: Mapping[str, int]) -> None:
        self._uses = uses
        self._forms = _Forms(uses)
        self._place = {relation: place for place, relation in enumerate(uses)}
        self._same: defaultdict[str, list[str]] = defaultdict(list)
        self._inflected: defaultdict[tuple[str, ...], list[str]] = defaultdict(list)
        for relation, compared in zip(uses, self._forms.compared, strict=True):
            self._same[compared].append(relation)
            self._inflected[relation_form(relation)].append(relation)
        self._near: dict[str, list[str]] = {}
        self._spelling_variants: dict[str, set[str]] = {}

    def __getitem__(self, relation: str) -> int:
        return self._uses[relation]

    def __iter__(self) -> Iterator[str]:
        return iter(self._uses)

    def __len__(self) -> int:
        return len(self._uses)

    def same(self, relation: str) -> list[str]:
        """The spellings of one relation: WORKS_AT and WORKSAT."""
        return self._same.get(normalise_name(relation), [])

    def near(self, relation: str, *, is_plan: bool) -> list[str]:
        """Other relations that this one may be a variant of, as stored; never USES and SUPERSEDES for a plan."""
        self._compare(relation)
        found = self._near[relation]
        return [other for other in found if other not in _NEVER_PLANNED] if is_plan else list(found)

    def inverse(self, relation: str) -> list[str]:
        """Those that say the same from the other end of a fact, as stored: HAS_COACH and COACHED_BY for COACHES."""
        told = direction_of(relation)
        if told is None:
            return []
        is_of_source, words = told
        return list(
            dict.fromkeys(other for word in sorted(words) for other in self._ends.get((not is_of_source, word), ()))
        )

    @cached_property
    def _ends(self) -> dict[tuple[bool, str], list[str]]:
        found: defaultdict[tuple[bool, str], list[str]] = defaultdict(list)
        for relation in self._uses:
            is_of_source, words = direction_of(relation) or (False, set[str]())
            for word in words:
                found[is_of_source, word].append(relation)
        return dict(found)

    def spelling_variants(self, relation: str) -> set[str]:
        """Variants that differ only by a typo or an ending, not by a word such as AT or WITH."""
        self._compare(relation)
        return self._spelling_variants[relation]

    def _compare(self, relation: str) -> None:
        if relation in self._near:
            return
        inflected = self._inflected.get(relation_form(relation), ())
        names = self._forms.names
        spelt = {*self.same(relation), *(names[place] for place in self._forms.close_to(normalise_name(relation)))}
        near = sorted({*spelt, *inflected} - {relation}, key=self._place.__getitem__)[:_MOST_NEAR]
        self._near[relation] = near
        words = stems(relation)
        self._spelling_variants[relation] = {other for other in near if other in spelt or stems(other) == words}


class Measures:
    """Names of series of readings, in order."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        self._forms = _Forms()
        self._same: dict[str, int] = {}
        self._worded: dict[frozenset[str], int] = {}
        for name in names:
            self.add(name)

    @property
    def names(self) -> list[str]:
        """Names in the order they were added."""
        return self._forms.names

    def add(self, name: str) -> None:
        """One more series."""
        place = len(self.names)
        self._same.setdefault(self._forms.add(name), place)
        self._worded.setdefault(measure_form(name), place)

    def same(self, measure: str) -> str | None:
        """The first series of this name, in any spelling."""
        place = self._same.get(normalise_name(measure))
        return None if place is None else self.names[place]

    def like(self, measure: str) -> str | None:
        """The first series with the same words, or whose name differs by a typo."""
        worded = self._worded.get(measure_form(measure))
        close = self._forms.close_to(normalise_name(measure))
        place = min((*close, *(() if worded is None else (worded,))), default=None)
        return None if place is None else self.names[place]


def near_measure(measure: str, *series: Measures, other_names: Iterable[str] = ()) -> str | None:
    """The series of a measure: one of the same name or of another name of it, else the first similar one."""
    names = (measure, *other_names)
    same = (found for name in names for one in series if (found := one.same(name)) is not None)
    like = (found for one in series if (found := one.like(measure)) is not None)
    return next(same, None) or next(like, None)


class _Forms:
    """Names in the form compared for typos."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        self.names: list[str] = []
        self.compared: list[str] = []
        self._digits: list[list[str]] = []
        for name in names:
            self.add(name)

    def add(self, name: str) -> str:
        """Add a name; returns its compared form."""
        compared = normalise_name(name)
        self.names.append(name)
        self.compared.append(compared)
        self._digits.append(digits_in(compared))
        return compared

    def close_to(self, compared: str) -> list[int]:
        """Positions of names within a typo of this one (see ``close_spelling``), compared in one pass."""
        most = typos_allowed(len(compared))
        if not most:
            return []
        digits = digits_in(compared)
        found = process.extract(compared, self.compared, scorer=OSA.distance, score_cutoff=most, limit=None)
        return [
            place
            for other, slips, place in found
            if 0 < slips <= typos_allowed(min(len(compared), len(other))) and self._digits[place] == digits
        ]
