"""Converts the types of entities and facts in the settings into the form Graphiti needs: models with descriptions."""

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import BaseModel, create_model

from graphiti_pkm.core.model.labels import BASE, as_label
from graphiti_pkm.core.model.names import relation_name
from graphiti_pkm.errors import ConfigurationError
from graphiti_pkm.settings.ontology import EdgeTypeSetting, EntityTypeSetting


@dataclass(frozen=True)
class Ontology:
    """The types that a model is asked to look for; if empty, it may extract any."""

    entities: dict[str, type[BaseModel]]
    """Entity types by label."""
    facts: dict[str, type[BaseModel]]
    """Fact types by relation."""
    signatures: dict[tuple[str, str], list[str]]
    """Relations by the labels they may connect."""
    excluded: tuple[str, ...]

    def left_out(self, more: Sequence[str]) -> list[str]:
        """The known labels that must not be extracted; Graphiti refuses unknown ones."""
        asked = {name.casefold() for given in (*self.excluded, *more) for name in (given, as_label(given) or "")}
        return [label for label in (BASE, *self.entities) if label.casefold() in asked]

    def described(self, labels: Sequence[str]) -> str:
        """Descriptions of excluded types for the model, which does not see these types and would choose another."""
        return "; ".join(f"{label} ({self.entities[label].__doc__})" for label in labels if label in self.entities)


def read_types(
    entity_types: Sequence[EntityTypeSetting], edge_types: Sequence[EdgeTypeSetting], excluded: Sequence[str]
) -> Ontology:
    """Validate and convert the types at the start. Raises ConfigurationError."""
    entities = {_label(one.name): _model(_label(one.name), one.description) for one in entity_types if one.name != BASE}
    facts = {_relation(one.name): _model(_relation(one.name), one.description) for one in edge_types}
    signatures: dict[tuple[str, str], list[str]] = {}
    for one in edge_types:
        for pair in one.between or ((BASE, BASE),):
            source, target = (BASE if name == BASE else _label(name) for name in pair)
            signatures.setdefault((source, target), []).append(_relation(one.name))
    return Ontology(entities, facts, signatures, tuple(excluded))


def _label(name: str) -> str:
    label = as_label(name)
    if label is None:
        raise ConfigurationError(
            f"entity_types: {name} is a word of the database itself. Give the type another name, for example My{name}."
        )
    return label


def _relation(name: str) -> str:
    relation = relation_name(name)
    if not relation:
        raise ConfigurationError(f"edge_types: {name!r} holds no letter. Give the type a name such as WORKS_AT.")
    return relation


def _model(name: str, description: str) -> type[BaseModel]:
    words = name.replace("_", " ").lower()
    return create_model(name, __doc__=description.strip() or f"Whatever is a case of {words}")
