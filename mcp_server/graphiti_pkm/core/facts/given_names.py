"""Names that a caller gives an entity."""

from graphiti_pkm.core.facts.parsed_facts import MAX_NAME, is_me
from graphiti_pkm.core.model.names import display_name, normalise_name
from graphiti_pkm.core.model.requests import ME
from graphiti_pkm.errors import InvalidInput


def given_name(text: str, parameter: str, failure: str = "") -> str:
    """The name as it is shown. Raises InvalidInput, with ``failure`` before the reason, if it can be none."""
    name = display_name(text)
    if not normalise_name(name):
        raise InvalidInput(f"{failure}{parameter} is blank.")
    if len(name) > MAX_NAME:
        raise InvalidInput(f"{failure}{parameter} has {len(name)} characters; a name has at most {MAX_NAME}.")
    if is_me(name, ME):
        raise InvalidInput(f"{failure}{parameter} is a word for the user, who keeps it.")
    return name
