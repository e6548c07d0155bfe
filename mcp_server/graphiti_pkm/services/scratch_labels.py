"""Numbers of nodes told as labels, within the bounds of an answer."""

from collections.abc import Iterable, Sequence

from graphiti_pkm.domain.scratch_analysis_answers import Ranking

_MOST_CHARACTERS = 16_000
"""Of the labels of one list of lists."""
_MOST_IN_A_ROW = 6_000
"""Of the labels of one plain list."""
_WHOLE = 500
"""Labels up to which every part is listed whole."""
_OF_A_PART = 20
"""Labels of each part otherwise."""
_TIES = 12
"""Decimals of a score; what differs less is equal."""


class Labels:
    """The labels of a view's nodes."""

    def __init__(self, labels: Sequence[str]) -> None:
        self._labels = labels

    def of(self, node: int) -> str:
        return self._labels[node]

    def all_of(self, nodes: Iterable[int]) -> list[str]:
        """The label of each node."""
        return [self._labels[node] for node in nodes]

    def some_of(self, nodes: Sequence[int], most: int) -> list[str]:
        """The labels of the first ones; fewer than ``most`` if they are long."""
        shown: list[str] = []
        room = _MOST_IN_A_ROW
        for node in nodes[:most]:
            room -= len(self._labels[node])
            if room < 0:
                break
            shown.append(self._labels[node])
        return shown

    def ranked(self, scores: Sequence[float], most: int) -> list[Ranking]:
        """Highest score first, then by label."""
        rounded = [round(score, _TIES) for score in scores]
        order = sorted(range(len(rounded)), key=lambda node: (-rounded[node], self._labels[node]))
        return [Ranking(label=self._labels[node], score=rounded[node]) for node in order[:most]]

    def groups(self, groups: Iterable[Sequence[int]]) -> tuple[list[list[str]], bool]:
        """Each group whole, as many as there is room for; whether that is all of them."""
        shown: list[list[str]] = []
        room = _MOST_CHARACTERS
        for group in groups:
            labels = self.all_of(group)
            room -= sum(map(len, labels))
            if room < 0 and shown:
                return shown, False
            shown.append(labels)
        return shown, True

    def parts(self, parts: Sequence[Sequence[int]]) -> tuple[list[list[str]], bool]:
        """The first labels of each part, as many parts as there is room for; whether that is every label."""
        is_whole = sum(map(len, parts)) <= _WHOLE
        shown, all_shown = self.groups(parts if is_whole else [part[:_OF_A_PART] for part in parts])
        return shown, all_shown and (is_whole or all(len(part) <= _OF_A_PART for part in parts))
