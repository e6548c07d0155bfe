"""What callers send: the base of every request, and what is to be stored. Field descriptions are prompt text."""

import json
import unicodedata
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, TypeAlias

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema, model_validator

from graphiti_pkm.core.model.records import EpisodeSource, FactKind

ME = "me"
"""The name of the group's person inside a call."""
MAX_BODY = 2_000_000
"""Characters of an episode."""
MAX_STEERING = 10_000
"""Characters of the instructions for the model that reads an episode."""
STEERING = (
    "excluded_entity_types",
    "custom_extraction_instructions",
    "previous_episode_uuids",
    "update_communities",
    "saga",
    "saga_previous_episode_uuid",
)
"""Fields of ``AddMemory`` that say how to read an episode, not what it holds."""
MAX_QUOTE = 5_000
MAX_ALIASES = 50
MAX_REPLACES = 20
FREE_TEXTS = frozenset(
    {
        *("custom_extraction_instructions", "fact", "query", "quote", "source_description", "summary"),
        *("graph", "name", "relation", "replaced_by", "saga", "target", "type"),
        *("because_of", "confirm", "measure", "unit", "value", "weight"),
    }
)
"""Optional arguments in which the word "null" may be meant: names and sentences."""
_NOTHING = frozenset({"null", "None", "undefined"})
_SHAPELESS = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
"""Invisible characters that Unicode classes as letters, marks or symbols."""


def as_list(value: object) -> object:
    """Accepts lists in the forms that models send: also a single value, or the list as a JSON text."""
    if isinstance(value, str):
        text = value.strip()
        if not text:
            return []
        if text[0] not in "[{":
            return [value]
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            return [value]
    return [value] if isinstance(value, Mapping) else value


def is_blank(value: object) -> bool:
    """Whether a value is empty: null, an empty or invisible text, an empty object, a list of only such values."""
    if isinstance(value, list):
        return all(one is None or (isinstance(one, str) and _is_invisible(one)) for one in value)
    return value is None or value == {} or (isinstance(value, str) and _is_invisible(value))


def _is_invisible(text: str) -> bool:
    """Whether a text contains only white space and invisible characters, such as a zero-width space."""
    return all(one.isspace() or one in _SHAPELESS or unicodedata.category(one) == "Cf" for one in text)


def without_blanks(given: Mapping[str, Any], model: type[BaseModel]) -> dict[str, Any]:
    """The arguments without nulls, and without blank values of optional fields.

    Models in strict mode have to fill every field; what they have nothing for comes as a null, "", [] or "null". A
    blank value of a required field stays, so that it is an error, and so does the word "null" where a text is free.
    """
    given = _by_present_names(given, getattr(model, "other_names", {}))
    fields = model.model_fields
    free = FREE_TEXTS - getattr(model, "choices", frozenset[str]())
    optional = {name for name, field in fields.items() if not field.is_required()}

    def is_left_out(name: str, value: object) -> bool:
        if value is None or name not in optional:
            return value is None
        return is_blank(value) or (name not in free and isinstance(value, str) and value.strip() in _NOTHING)

    return {name: value for name, value in given.items() if not is_left_out(name, value)}


def _by_present_names(given: Mapping[str, Any], other_names: Mapping[str, str]) -> Mapping[str, Any]:
    """The arguments under the names in the schema; another name beside a filled one stays, so that it is an error."""
    renamed = {name: value for name, value in given.items() if name not in other_names}
    for other in given.keys() & other_names.keys():
        name = other_names[other] if is_blank(renamed.get(other_names[other])) else other
        if not (name == other and is_blank(given[other])):
            renamed[name] = given[other]
    return renamed


ONLY_WITH_MODEL = "only where a model reads episodes"
ONLY_WITH_SAGAS = "only where a model reads episodes or the toolset graph is on"
ONLY_WITH_BOOST = "only where the setting fitness is boost"
SELDOM_NEEDED = "never: few calls need it"
"""Mark fields that are always accepted but in the tool's schema only then: their tokens are paid on every turn."""
PER_PAGE = "may differ from page to page"
"""Marks a field that changes how much of an answer is shown, not what is found: cursors are valid for any value."""


class Request(BaseModel):
    """Base of what a caller sends: closed, so that a misspelt field is an error and not lost."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)  # many tools are never offered or called

    other_names: ClassVar[Mapping[str, str]] = {}
    """Names of fields that are accepted but not shown: upstream's, and those of earlier versions."""
    choices: ClassVar[frozenset[str]] = frozenset()
    """Fields that take one of several words here, although they are free texts elsewhere."""

    @model_validator(mode="before")
    @classmethod
    def _without_blanks(cls, given: Any) -> Any:
        return without_blanks(given, cls) if isinstance(given, dict) else given

    def filters(self) -> dict[str, object]:
        """The fields that determine what is found, by name: all that are not marked with ``PER_PAGE``."""
        fields = type(self).model_fields
        return {name: getattr(self, name) for name, field in fields.items() if PER_PAGE not in field.metadata}


Strings: TypeAlias = Annotated[list[str], BeforeValidator(as_list)]
GroupId: TypeAlias = Annotated[str | None, Field(description="namespace; default group if left out")]
Value: TypeAlias = Annotated[str | float, WithJsonSchema({"type": "string"})]
"""Models may send a number as well; the schema has a single type, since some clients accept no union."""


class EntityInput(Request):
    """A person, place, project or thing named in the body."""

    name: Annotated[str, Field(min_length=1, max_length=200)]
    type: Annotated[str | None, Field(description="Person, Project, Decision, ...")] = None
    summary: Annotated[str | None, Field(max_length=2000)] = None
    aliases: Annotated[
        Annotated[list[str], Field(max_length=MAX_ALIASES)] | None,
        BeforeValidator(as_list),
        Field(description="other names, a first name too; also a new one of a known entity"),
    ] = None


class FactInput(Request):
    """One relation. ``me`` stands for the user."""

    source: Annotated[str, Field(description="entity name, or me")]
    relation: Annotated[str, Field(description="UPPER_SNAKE, e.g. WORKS_AT")]
    target: Annotated[str | None, Field(description="entity name; may be left out for a reading or a state")] = None
    fact: Annotated[str | None, Field(max_length=2000, description="one sentence with both names")] = None
    kind: FactKind = "state"
    measure: Annotated[str | None, Field(description="of a reading, e.g. sleep")] = None
    value: Annotated[Value | None, Field(description='6.5, "4-5", "6/10", a date, an amount')] = None
    unit: str | None = None
    valid_at: Annotated[
        str | None, Field(description="ISO date, or as told: 2017, May 2017, by autumn 2027, last week")
    ] = None
    invalid_at: Annotated[
        str | None,
        Field(
            description='when it ended, or "until 2026-04-30" with its last day; restate a known fact with it to end '
            "it, a plan with value kept or dropped"
        ),
    ] = None
    replaces: Annotated[
        Annotated[list[str], Field(max_length=MAX_REPLACES)] | None,
        BeforeValidator(as_list),
        Field(description="what it ends: old target name, value, fact uuid, or current"),
    ] = None
    change: Literal["changed", "corrected"] = "changed"
    because_of: Annotated[
        str | None, Field(max_length=200, description="what it follows from: entity (decision) or fact uuid")
    ] = None
    quote: Annotated[str | None, Field(max_length=MAX_QUOTE, description="exact words of the body")] = None
    confidential: Annotated[bool, Field(description="marks it as not public")] = False


MOST_OF_A_NOTE = 500
"""Entities of a call of ``add_memory``, and as many facts."""
Entities: TypeAlias = Annotated[list[EntityInput], BeforeValidator(as_list), Field(max_length=MOST_OF_A_NOTE)]
Facts: TypeAlias = Annotated[list[FactInput], BeforeValidator(as_list), Field(max_length=MOST_OF_A_NOTE)]


class AddMemory(Request):
    """What ``add_memory`` takes, from a client or from another use case; dates are still text."""

    episode_body: Annotated[
        str, Field(max_length=MAX_BODY, description="what was said, verbatim; it is kept unchanged")
    ]
    name: Annotated[str | None, Field(description="short title; made from the text if left out")] = None
    group_id: GroupId = None
    source: EpisodeSource = "text"
    source_description: str = ""
    uuid: Annotated[str | None, Field(description="own uuid of the episode, for safe repeats")] = None
    reference_time: Annotated[str | None, Field(description="when it happened; now if left out")] = None
    entities: Annotated[Entities | None, Field(description="persons, projects, things the body names")] = None
    facts: Annotated[Facts | None, Field(description="what the body says of them")] = None
    confidential: Annotated[bool, Field(description="not public, with all its facts")] = False
    excluded_entity_types: Annotated[Strings | None, ONLY_WITH_MODEL] = None
    custom_extraction_instructions: Annotated[str | None, Field(max_length=MAX_STEERING), ONLY_WITH_MODEL] = None
    previous_episode_uuids: Annotated[Strings | None, ONLY_WITH_MODEL] = None
    update_communities: Annotated[bool, ONLY_WITH_MODEL] = False
    saga: Annotated[str | None, ONLY_WITH_SAGAS] = None
    saga_previous_episode_uuid: Annotated[str | None, ONLY_WITH_SAGAS] = None
    wait_seconds: Annotated[
        int, Field(ge=0, le=45, description="wait for what a configured model finds"), ONLY_WITH_MODEL
    ] = 0

    @property
    def steering(self) -> dict[str, object]:
        """What is said to a model that reads the episode, and of its saga, without what was left out."""
        given = self.model_dump(include=set(STEERING), exclude_none=True)
        return {name: value for name, value in given.items() if value is not False}
