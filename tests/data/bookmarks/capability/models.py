"""Answers about bookmarks."""

from graphiti_pkm.core.model.answers import Answer


class BookmarkStored(Answer):
    message: str
    episode_uuid: str


class BookmarkView(Answer):
    entity_uuid: str
    name: str
    note: str
    fact_uuid: str


class BookmarkList(Answer):
    message: str
    total: int
    bookmarks: list[BookmarkView]
