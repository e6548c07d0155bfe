"""Answers in both forms of an MCP result: structured content with everything, and a text that is sufficient by itself.

The text is compact JSON without nulls and empty fields. Uuids are shortened to 8 characters, or to as many as make
them unique in the answer; every tool accepts shortened uuids. Times are rounded down to the second; the start of a day
in the zone is its date. What is the same in the whole answer is omitted: the entity that was asked about from its
facts, the group if only one was searched, the day of the recording. So is what is said twice: a reference_time that is
valid_at, a quote that is its sentence, names that the sentence holds, what only a relation names, title and day of a
receipt, which its message has. What adds up to a score stands in the structured content alone.
"""

import functools
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, time, tzinfo
from typing import Any, TypeAlias

from graphiti_pkm.core.model.answers import Answer, TextForm
from graphiti_pkm.core.reading.paging import DEFAULT_CHARS, MAXIMUM_CHARS
from graphiti_pkm.errors import TooLarge

Json: TypeAlias = dict[str, Any]

MAXIMUM_BYTES = 1_000_000
"""Limit for both forms together: clients that use the MCP SDK reject an event of more than 1 MiB."""

_UUID = re.compile(r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}")
_SHORT = 8
_UUID_LISTS = frozenset({"episodes", "unknown_episodes", "fact_uuids"})
_MOMENT = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2})(?:\.[0-9]+)?\+00:00")
_TIMES = frozenset(
    {
        "at",
        "told_at",
        "valid_at",
        "invalid_at",
        "former_invalid_at",
        "reference_time",
        "created_at",
        "expired_at",
        "first_mention",
        "last_mention",
        "timestamp",
        "last_entry",
        "last_seen",
        "flagged_at",
        "cleared_at",
        "confidence_at",
        "created",
    }
)
_AS_GIVEN = "metadata"
"""A field whose value is the caller's own: nothing in it is shortened."""
_TOLD = {"told_start": "valid_at", "told_end": "invalid_at"}
"""Words of a date, and the date in whose place they stand."""
_ITEMS = ("facts", "nodes", "episodes", "entities", "changes")
_OF_NOTE = ("told_at", "at", "episode_uuid", "group_id", "by")
"""Fields that the changes of one note share."""
_ENDED = frozenset({"retired", "voided"})
_LONG_TEXT = 400
_SMALL = 0.1


def rendered(answer: Answer, zone: tzinfo = UTC) -> tuple[Json, str]:
    """The structured content and the text of an answer, no larger than clients accept.

    Raises:
        TooLarge: the answer exceeds this size and may not be shortened.
    """
    data = answer.model_dump(mode="json")
    if answer.must_not_be_cut:
        text = _compact(_pruned(data))
        if _bytes(data, text) > MAXIMUM_BYTES:
            raise TooLarge(
                f"The answer has more than {MAXIMUM_BYTES:,} bytes, which clients do not accept. Ask for fewer "
                "nodes, in several calls."
            )
    else:
        write = _WRITTEN.get(answer.text_form) or functools.partial(text_of, zone=zone)
        text = write(data)
        while _bytes(data, text) > MAXIMUM_BYTES and (shorter := _with_shorter_list(data)) is not None:
            data, text = shorter, write(shorter)
    return data, text


def _bytes(data: Json, text: str) -> int:
    """The size of both forms as sent, where the text is encoded as a JSON string."""
    return sum(len(json.dumps(part, ensure_ascii=False, separators=(",", ":")).encode()) for part in (data, text))


def text_of(data: Json, zone: tzinfo = UTC) -> str:
    """The text form of an answer's JSON, within the bounds of every answer."""
    lean = _with_short_times(_said_once(_pruned(data), zone), zone)
    text = _compact(_with_short_uuids(lean, _short_forms(lean)))
    is_page = "scope" in data
    if len(text) <= (MAXIMUM_CHARS if is_page else DEFAULT_CHARS):
        return text  # a page is cut to size where its cursor is made
    return _compact(_cut_to_size(_with_short_uuids(lean, _short_forms(lean))))


def _compact(data: Json) -> str:
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"))


def _indented(data: Json) -> str:
    return json.dumps(data, ensure_ascii=False, indent=2)


_WRITTEN: Mapping[TextForm, Callable[[Json], str]] = {"plain": _compact, "indented": _indented}
"""Text forms that hold what the structured content holds."""


def _pruned(value: Any) -> Any:
    """The value without nulls and empty fields, at any depth."""
    if isinstance(value, dict):
        items = ((key, item if key == _AS_GIVEN else _pruned(item)) for key, item in value.items())
        return {key: item for key, item in items if item is not None and item not in ("", [], {})}
    if isinstance(value, list):
        return [_pruned(item) for item in value]
    return _rounded(value) if isinstance(value, float) else value


def _rounded(value: float) -> float:
    """The value to three decimals, or to three significant digits if it is small."""
    return round(value, 3) if abs(value) >= _SMALL else float(f"{value:.3g}")


def _said_once(data: Json, zone: tzinfo) -> Json:
    _say_recording_once(data, list(_items(data)), "created_at", zone)
    scope = data.get("scope", {}).get("group_ids", [])
    for item in _items(data):
        item.pop("why", None)
        if len(scope) == 1 and item.get("group_id") == scope[0]:
            del item["group_id"]
        if item.get("kind") == "state":
            del item["kind"]
        asked = {"out": "source_node", "in": "target_node"}.get(str(item.get("direction")))
        if asked:
            item.pop(f"{asked}_uuid", None)
            item.pop(f"{asked}_name", None)
        _drop_repeated(item)
        if "corrected_facts" in item:
            item.pop("corrected", None)
        if "source_node_uuid" in item or "target_node_uuid" in item:
            _shorten_ends(item)
    if "episode_uuid" in data and "message" in data:
        _shorten_add_memory_answer(data, zone)
    if "weaker" in data:
        data.pop("truncated", None)  # nothing was cut, and weaker says what follows
    if isinstance(data.get("changes"), list):
        data["changes"] = _by_note(data["changes"])
        _say_recording_once(data, data["changes"], "at", zone)
    return data


def _drop_repeated(item: Json) -> None:
    for repeated, said in (("reference_time", "valid_at"), ("quote", "fact")):
        if item.get(repeated) is not None and item[repeated] == item.get(said):
            del item[repeated]


def _shorten_add_memory_answer(data: Json, zone: tzinfo) -> None:
    """Without the title and the day that the message holds, and without counts of nothing."""
    message = str(data["message"])
    if (day := _day(data.get("valid_at"), zone)) and day in message:
        del data["valid_at"]
    if "name" in data and repr(data["name"]) in message:
        del data["name"]
    for count in ("linked", "linking"):
        if data.get(count) == 0:
            del data[count]


def _say_recording_once(data: Json, items: list[Json], key: str, zone: tzinfo) -> None:
    """The day on which most items were recorded stands in the answer, and in an item only another one."""
    dated = [(item, _day(item[key], zone)) for item in items if key in item]
    days = Counter(day for _, day in dated if day)
    if len(dated) <= 1 or not days:
        return
    data["recorded"] = max(days, key=lambda day: (days[day], day))
    for item, day in dated:
        if day == data["recorded"]:
            del item[key]


def _day(moment: Any, zone: tzinfo) -> str | None:
    local = _local(moment, zone)
    return local.date().isoformat() if local else None


def _local(moment: Any, zone: tzinfo) -> datetime | None:
    """A UTC time of an answer in the zone; None for anything else, and at the ends of the calendar."""
    if not isinstance(moment, str) or not _MOMENT.fullmatch(moment):
        return None
    try:
        return datetime.fromisoformat(moment).astimezone(zone)
    except OverflowError:
        return None


def _shorten_ends(fact: Json) -> None:
    """Without names that the sentence holds, and without a target that is only named after the relation of a value."""
    target, relation = str(fact.get("target_node_name", "")).lower(), str(fact.get("name", ""))
    if "value" in fact and target == relation.lower().removeprefix("has_").replace("_", " "):
        fact.pop("target_node_uuid", None)
        fact.pop("target_node_name", None)
    sentence = str(fact.get("fact", ""))
    for end in ("source_node_name", "target_node_name"):
        name = str(fact.get(end, ""))
        if name and _holds(sentence, name):
            del fact[end]


def _holds(sentence: str, name: str) -> bool:
    """Whether a sentence has the name as whole words."""
    place = sentence.find(name)
    while place >= 0:
        around = sentence[max(place - 1, 0) : place] + sentence[place + len(name) : place + len(name) + 1]
        if not any(one.isalnum() or one == "_" for one in around):
            return True
        place = sentence.find(name, place + 1)
    return False


def _by_note(changes: list[Json]) -> list[Json]:
    """Changes under the note that caused them, with what replaced something in the line of what it replaced."""
    ended = [one for one in changes if one.get("change") in _ENDED and one.get("replacement")]
    replacing = {(one.get("replaced_by"), one.get("at")) for one in ended}
    notes: list[Json] = []
    for change in changes:
        if change.get("change") == "added" and (change.get("fact_uuid"), change.get("at")) in replacing:
            continue
        of_note = {key: change[key] for key in _OF_NOTE if key in change}
        line = _in_one_line({key: value for key, value in change.items() if key not in _OF_NOTE})
        if notes and {key: notes[-1].get(key) for key in _OF_NOTE} == {key: of_note.get(key) for key in _OF_NOTE}:
            notes[-1]["facts"].append(line)
        else:
            notes.append({**of_note, "facts": [line]})
    return notes


def _in_one_line(change: Json) -> Json:
    """A fact whose replacement says the same of other dates: "Heron is due (10 April → 12 April)"."""
    said, _, when = str(change.get("fact", "")).rpartition(" (")
    same, _, then = str(change.get("replacement", "")).rpartition(" (")
    if not said or said != same:
        return change
    line = {key: value for key, value in change.items() if key != "replacement"}
    return {**line, "fact": f"{said} ({when.removesuffix(')')} → {then}"}


def _with_short_times(value: Any, zone: tzinfo, key: str = "") -> Any:
    """Times in the words in which they were told, else to the second.

    What is the start of a day in the zone is its date, which is read in the zone again.
    """
    if isinstance(value, dict):
        told = {date: value[words] for words, date in _TOLD.items() if words in value}
        short = {
            name: item if name == _AS_GIVEN else _with_short_times(item, zone, name)
            for name, item in (value | told).items()
        }
        return {name: item for name, item in short.items() if name not in _TOLD}
    if isinstance(value, list):
        return [_with_short_times(item, zone) for item in value]
    if key not in _TIMES or not isinstance(value, str) or (moment := _MOMENT.fullmatch(value)) is None:
        return value
    local = _local(value, zone)
    is_start = local is not None and local.time() == time() and not local.fold  # the second of two midnights is none
    return local.date().isoformat() if local and is_start else f"{moment[1]}Z"


def _items(data: Json) -> Iterator[Json]:
    for key in _ITEMS:
        for item in data.get(key, []):
            if isinstance(item, dict):
                yield item


def _is_uuid_field(key: str) -> bool:
    return key in {"uuid", "replaced_by", "entry_id", "project_id"} or key.endswith("_uuid")


def _uuids(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, item in value.items():
            if isinstance(item, str):
                if _is_uuid_field(key) and _UUID.fullmatch(item):
                    yield item
            elif key in _UUID_LISTS and isinstance(item, list):  # in other answers a count has this name
                yield from (text for text in item if isinstance(text, str) and _UUID.fullmatch(text))
                yield from _uuids(item)
            else:
                yield from _uuids(item)
    elif isinstance(value, list):
        for item in value:
            yield from _uuids(item)


def _short_forms(data: Json) -> dict[str, str]:
    """For each uuid of the answer its shortest unambiguous prefix of at least 8 characters."""
    uuids = sorted(set(_uuids(data)))
    forms: dict[str, str] = {}
    for before, uuid, after in zip(["", *uuids], uuids, [*uuids[1:], ""], strict=False):
        length = max(_SHORT, _common(before, uuid) + 1, _common(uuid, after) + 1)
        forms[uuid] = uuid[: length + 1] if uuid[length - 1] == "-" else uuid[:length]
    return forms


def _common(one: str, other: str) -> int:
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def _with_short_uuids(value: Any, forms: dict[str, str], key: str = "") -> Any:
    if isinstance(value, dict):
        return {
            name: item if name == _AS_GIVEN else _with_short_uuids(item, forms, name) for name, item in value.items()
        }
    if isinstance(value, list):
        return [_with_short_uuids(item, forms, key if isinstance(item, str) else "") for item in value]
    if isinstance(value, str) and (_is_uuid_field(key) or key in _UUID_LISTS):
        return forms.get(value, value)
    return value


def _cut_to_size(data: Json) -> Json:
    """An answer without pages, cut to size: long lists are truncated, and ``omitted`` counts what is missing."""
    while len(_compact(data)) > DEFAULT_CHARS:
        shorter = _with_shorter_list(data)
        if shorter is None:
            return {key: value[:_LONG_TEXT] if isinstance(value, str) else value for key, value in data.items()}
        data = shorter
    return data


def _with_shorter_list(data: Json) -> Json | None:
    """The answer without a quarter of its longest list, which ``omitted`` counts; None if there is no list to cut."""
    lists = [key for key, value in data.items() if isinstance(value, list) and len(value) > 1]
    if not lists:
        return None
    longest = max(lists, key=lambda key: len(_compact({key: data[key]})))
    keep = len(data[longest]) * 3 // 4
    omitted = dict(data.get("omitted") or {})
    omitted[longest] = omitted.get(longest, 0) + len(data[longest]) - keep
    return {**data, longest: data[longest][:keep], "omitted": omitted}
