"""Numbers of nodes told as labels, within the bounds of an answer."""

from collections.abc import Iterable, Sequence

from graphiti_pkm.capabilities.scratch.models.analysis import Ranking

_MOST_CHARACTERS = 16_000
"""Of the labels of one list of lists."""
_MOST_IN_A_ROW = 6_000
"""Of the labels of one plain list."""
_WHOLE = 500
"""Labels up to which every part is listed whole."""
_OF_A_PART = 20
"""Labels of each part otherwise."""
_BETWEEN = 3
"""Characters around a label."""
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

    def along(self, path: Sequence[int]) -> list[str]:
        """The labels of a path, or of as many of its first nodes as there is room for."""
        return self._fitting(path, _MOST_CHARACTERS)

    def some_of(self, nodes: Sequence[int], most: int, room: int = _MOST_IN_A_ROW) -> list[str]:
        """The labels of the first ones; fewer than ``most`` if they are long."""
        return self._fitting(nodes[:most], room)

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
            labels = self._fitting(group, room)
            if len(labels) < len(group):
                return shown or [labels], False
            shown.append(labels)
            room -= sum(map(len, labels))
        return shown, True

    def parts(self, parts: Sequence[Sequence[int]], room: int = _MOST_CHARACTERS) -> tuple[list[list[str]], bool]:
        """The first labels of each part, as many as there is room for; whether that is every label."""
        most = _WHOLE if sum(map(len, parts)) <= _WHOLE else _OF_A_PART
        shown: list[list[str]] = []
        for part in parts:
            labels = self._fitting(part[:most], room)
            if not labels:
                break
            shown.append(labels)
            room -= sum(map(len, labels))
        return shown, sum(map(len, shown)) == sum(map(len, parts))

    def _fitting(self, nodes: Iterable[int], room: int) -> list[str]:
        """Labels up to so many characters."""
        labels: list[str] = []
        for node in nodes:
            room -= len(self._labels[node]) + _BETWEEN
            if room < 0:
                break
            labels.append(self._labels[node])
        return labels
