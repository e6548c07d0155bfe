"""Reports on which the caller may act, each with the call that settles it."""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime, tzinfo

from graphiti_pkm.core.facts import rules
from graphiti_pkm.core.facts.goals import deadline_of
from graphiti_pkm.core.facts.parsed_facts import ParsedFact, noun_of
from graphiti_pkm.core.facts.replaced import UnresolvedReplacement
from graphiti_pkm.core.identity.known_names import KnownNames
from graphiti_pkm.core.model.answers import Attention
from graphiti_pkm.core.model.date_phrases import END_WORDS, START_WORDS, words_at
from graphiti_pkm.core.model.names import normalise_name
from graphiti_pkm.core.model.records import CONFIDENTIAL, Entity, Episode, Fact
from graphiti_pkm.core.model.requests import ME
from graphiti_pkm.core.model.times import iso, show_time
from graphiti_pkm.core.reading.dependents import Dependents
from graphiti_pkm.core.reading.views import shown_start, shown_validity

SHOWN_UUID = 8
_MOST_CANDIDATES = 5
_MOST_NAMES = 10
_MOST_PARTS = 5
_TEXT = 160
_OF_THE_NEW = frozenset({"kind", "value", "unit", "because_of"})
"""What a call says of a new fact alone, not of the one before it."""


class AttentionWriter:
    """Writes the reports of one call."""

    def __init__(
        self,
        group: str | None,
        zone: tzinfo,
        now: datetime,
        note: Episode,
        *,
        may_delete: bool = True,
        may_split: bool = False,
    ) -> None:
        self._group = group
        self._zone = zone
        self._now = now
        self._note = note
        self._delete = "delete_episode" if may_delete else "a curator calls delete_episode"
        self._may_split = may_split

    def similar_existing(self, name: str, episode_uuid: str, candidates: Sequence[tuple[str, str]]) -> Attention:
        """``candidates``: (name, uuid) of entities that may be the same.

        Deleting the episode first also removes the new entity, which has the name.
        """
        known = _json({"name": candidates[0][0], "aliases": [name]})
        return Attention(
            what="similar_existing",
            detail=f"{name} is new and similar to:",
            candidates=[f"{other} ({uuid[:SHOWN_UUID]})" for other, uuid in candidates],
            call=f'If the same: {self._delete} {{"uuid":"{episode_uuid}"}}, then add_memory again, in entities {known} '
            f"in place of {_quoted(name)}",
        )

    def same_text(self, stored_uuid: str, extra_uuid: str | None) -> Attention:
        """An episode with the text and time of another; ``extra_uuid``: that of the two which adds nothing."""
        call = f'If sent twice: {self._delete} {{"uuid":"{extra_uuid}"}}'
        return Attention(
            what="same_text",
            detail=f"the same text and time is stored as {stored_uuid[:SHOWN_UUID]} already, so it is stored twice",
            candidates=[stored_uuid],
            call=call if extra_uuid else "Delete neither: each has facts that the other lacks",
        )

    def undeclared(self, names: Sequence[str]) -> Attention:
        """New entities that only facts name.

        Types can be sent with the next note: a call just for them would store a note that nobody wrote.
        """
        shown = list(names[:_MOST_NAMES])
        more = f" ({len(shown)} of {len(names)})" if len(names) > len(shown) else ""
        return Attention(
            what="undeclared_endpoint",
            detail=f"new, without a type{more}",
            candidates=shown,
            call="Optional: its type, in entities of the next note",
        )

    def alias_taken(
        self, alias: str, wanted_for: Entity, holder: tuple[str, str], episode_uuid: str, *, is_new: bool
    ) -> Attention:
        """``holder``: (name, uuid); ``is_new``: this call created the entity that asked for the name."""
        name, uuid = holder
        same = f"{_quoted(wanted_for.name)} is {_quoted(name)}"
        renamed = _json({"name": name, "aliases": [wanted_for.name]})
        pair = {"entity_uuid": wanted_for.uuid[:SHOWN_UUID], "not_same_as": uuid[:SHOWN_UUID]}
        others = f" Else: update_entity {_json(pair)}, and use a fuller name."
        if self._may_split:
            others += f" If {_quoted(name)} has facts of both: split_entity."
        again = (
            f'If {same}: {self._delete} {{"uuid":"{episode_uuid}"}}, then add_memory again with {renamed} in entities.'
        )
        return Attention(
            what="alias_taken",
            detail=f"{alias} stays the name of {name}, not of {wanted_for.name}",
            candidates=[f"{name} ({uuid[:SHOWN_UUID]})"],
            call=(again if is_new else f"If {same}: use {_quoted(name)}.") + others,
        )

    def former_role(
        self, alias: str, holder: tuple[str, str], successor: tuple[str, str] | None, fact: Fact
    ) -> Attention:
        """``holder``: (name, uuid) of the entity that is still called by a role that it has no more."""
        name, uuid = holder
        freed = {"entity_uuid": uuid[:SHOWN_UUID], "remove_aliases": [alias]}
        call = f"If it no longer means {_quoted(name)}: update_entity {_json(freed)}"
        if successor is not None:
            given = {"entity_uuid": successor[1], "add_aliases": [alias]}
            which = f"If it means {_quoted(successor[0])} now"
            call = f"{which}: update_entity {_json(freed)}, then update_entity {_json(given)}"
        return Attention(
            what="alias_taken",
            detail=f"{alias} stays the name of {name}, though this ended: {_cut(fact.text)}",
            candidates=[f"{name} ({uuid[:SHOWN_UUID]})"],
            call=call,
        )

    def part_of_name(self, parts: Mapping[str, tuple[str, str]]) -> Attention:
        """``parts``: (name, uuid) of the entity that a word of the text may refer to."""
        shown = dict(list(parts.items())[:_MOST_PARTS])
        aliases: dict[str, list[str]] = {}
        for word, (name, _) in shown.items():
            aliases.setdefault(name, []).append(word)
        suggested = [{"name": name, "aliases": words} for name, words in aliases.items()]
        return Attention(
            what="part_of_name",
            detail="may be meant; not linked",
            candidates=[f"{word}: {name} ({uuid[:SHOWN_UUID]})" for word, (name, uuid) in shown.items()],
            call=f"If so, with the next note: entities={_json(suggested)}",
        )

    def shared_name(self, shared: Mapping[str, Sequence[Entity]], episode_uuid: str) -> Attention:
        """``shared``: the people whom a first name in the text may mean; none of them was linked by it."""
        shown = dict(list(shared.items())[:_MOST_PARTS])
        meant = next(iter(shown.values()))[0].uuid
        return Attention(
            what="shared_name",
            detail="fits several; not linked",
            candidates=[
                f"{word}: {', '.join(f'{one.name} ({one.uuid[:SHOWN_UUID]})' for one in people[:_MOST_CANDIDATES])}"
                for word, people in shown.items()
            ],
            call=f"For the one meant: update_entity {_json({'entity_uuid': meant, 'link_episodes': [episode_uuid]})}",
        )

    def taken_as(self, name: str, people: Sequence[Entity], episode_uuid: str) -> Attention:
        """``people``: those whom a first name that the call gives may mean; it was taken as the first."""
        taken, *others = people
        return Attention(
            what="shared_name",
            detail=f"{name} fits several; taken as {taken.name} ({taken.uuid[:SHOWN_UUID]}), not as:",
            candidates=[f"{one.name} ({one.uuid[:SHOWN_UUID]})" for one in others[:_MOST_CANDIDATES]],
            call=f'If another is meant: {self._delete} {{"uuid":"{episode_uuid}"}}, then send it again with '
            f"{_quoted(others[0].name)} in place of {_quoted(name)}",
        )

    def still_linked(self, others: Mapping[str, Sequence[str]], known: KnownNames) -> list[Attention]:
        """``others``: entities that earlier episodes name only inside a name that is new now, with those episodes."""
        return [
            Attention(
                what="shared_name",
                detail=f"{known.name_of(uuid)} is still linked to {len(episodes)} earlier note(s) that name another",
                candidates=[f"{known.name_of(uuid)} ({uuid[:SHOWN_UUID]})"],
                call=f"If another is meant: update_entity {_json({'entity_uuid': uuid, 'unlink_episodes': episodes})}",
            )
            for uuid, episodes in list(others.items())[:_MOST_PARTS]
        ]

    def near_relation(self, fact: ParsedFact, stored: Fact, near: Sequence[str]) -> Attention:
        again = self._in_place_of(stored, fact, _triple(fact, relation=near[0]))
        return Attention(
            what="near_relation",
            detail=f"{fact.relation} is new here; stored as sent: {_cut(fact.text)}",
            candidates=list(near[:_MOST_CANDIDATES]),
            call=f'If meant: delete_entity_edge {{"uuid":"{stored.uuid}"}}, then {again}',
        )

    def near_measure(self, sent: str, reading: Fact) -> Attention:
        series = reading.measure or ""
        return Attention(
            what="near_measure",
            detail=f"{sent} was added to the series {series}: {_cut(reading.text)}",
            candidates=[series],
            call=f'For another series: delete_entity_edge {{"uuid":"{reading.uuid}"}} and send it with a clearly '
            "different measure.",
        )

    def unnamed_measure(self, fact: ParsedFact, stored: Fact, series: Sequence[str]) -> Attention:
        """A reading whose series is named after its relation, beside other series (``series``)."""
        again = self._in_place_of(stored, fact, _triple(fact) | {"measure": series[0]})
        return Attention(
            what="near_measure",
            detail=f"{_cut(fact.text)}: no measure given; it began the series {stored.measure}",
            candidates=list(series[:_MOST_CANDIDATES]),
            call=f'If it belongs to {series[0]}: delete_entity_edge {{"uuid":"{stored.uuid}"}}, then {again}',
        )

    def quote_not_found(self, fact: ParsedFact) -> Attention:
        return Attention(
            what="quote_not_found",
            detail=f"facts[{fact.number}].quote: not in the body, left out",
            candidates=[],
            call="Quote exact words.",
        )

    def unknown_cause(self, fact: ParsedFact) -> Attention:
        return Attention(
            what="unknown_cause",
            detail=f"facts[{fact.number}].because_of: no known entity or fact; stored without it",
            candidates=[],
            call="To add it: send the fact again with a known name or fact uuid.",
        )

    def circular_cause(self, fact: ParsedFact) -> Attention:
        return Attention(
            what="unknown_cause",
            detail=f"facts[{fact.number}].because_of: the fact would follow from itself; stored without it",
            candidates=[],
            call="If another cause is meant: send the fact again with it.",
        )

    def still_rests(
        self,
        dropped: Fact,
        at: datetime | None,
        dependents: Dependents,
        entity_uuid: str | None = None,
        *,
        is_wrong: bool = False,
    ) -> Attention:
        """``dropped``: the fact that ended at this instant, or the fact that says that an entity was dropped.

        ``entity_uuid``: of that entity. ``is_wrong``: whether the fact was corrected instead of ended.
        """
        first, shown = dependents.facts[0], len(dependents.facts)
        end = {} if at is None or not self._may_end(first, at) else {"invalid_at": self._instant(at)}
        ending = {"fact_uuid": first.uuid, "reason": _cut(dropped.text), **end}
        more = f" ({shown} of {dependents.total})" if dependents.total > shown else ""
        if more and entity_uuid is not None:
            others = f"get_entity_connections {_json({'entity_uuid': entity_uuid[:SHOWN_UUID]})} lists the others"
            more = f" ({shown} of {dependents.total}; {others})"
        which = f"If {first.uuid[:SHOWN_UUID]} ended" + (" (else put in another uuid)" if shown > 1 else "")
        happened = "" if entity_uuid is not None else "this was wrong: " if is_wrong else "this has ended: "
        return Attention(
            what="still_rests",
            detail=f"may not hold any more, because {happened}{_cut(dropped.text)}{more}",
            candidates=[self.line(fact) for fact in dependents.facts],
            call=f"{which}: retire_fact {_json(ending)}",
        )

    def _may_end(self, fact: Fact, at: datetime) -> bool:
        """Whether a fact may have ended at an instant: a plan by now, and not before it was told."""
        if fact.kind != "plan":
            return rules.ended(fact, rules.end_of(fact, at, self._zone), self._now) is not None
        told_at = fact.reference_time
        return at <= self._now and (told_at is None or told_at <= at or rules.coincide(at, told_at, self._zone))

    def may_have_come_about(self, done: Fact, plans: Dependents) -> Attention:
        """``done``: the status that says that the target of these plans is done."""
        first, shown = plans.facts[0], len(plans.facts)
        more = f" ({shown} of {plans.total})" if plans.total > shown else ""
        which = f"If {first.uuid[:SHOWN_UUID]} came about" + (" (else put in another uuid)" if shown > 1 else "")
        said = {"fact_uuid": first.uuid, "reason": _cut(done.text), "replaced_by": done.uuid}
        return Attention(
            what="possible_conflict",
            detail=f"{_cut(done.text)}: planned; the plan was left open{more}",
            candidates=[self.line(fact) for fact in plans.facts],
            call=f"{which}: retire_fact {_json(said)}",
        )

    def taken_up(self, status: Fact, goal: Fact, since: datetime) -> Attention:
        """A goal that has ended, though by its status what is wanted goes on; a deadline that is over is left out."""
        deadline = deadline_of(goal, self._zone)
        is_over = deadline is not None and deadline.end <= since
        said = {} if is_over else {"value": goal.value, "unit": goal.unit, "fact": goal.text}
        again = {"source": goal.source_name, "relation": goal.relation, "target": goal.target_name}
        again |= {name: text for name, text in said.items() if text is not None}
        fact = {**again, "valid_at": self._date(since, status.attributes.get(START_WORDS))}
        return Attention(
            what="possible_conflict",
            detail=f"{_cut(status.text)}: a goal for it has ended and was left so",
            candidates=[self.line(goal)],
            call=f"If it is a goal again: {self._add(status, facts=[fact])}",
        )

    def unknown_outcome(self, plan: Fact) -> Attention:
        """A plan that the call ends without saying what became of it; or with a restated plan: value kept."""
        kept, dropped = ({"fact_uuid": plan.uuid, "reason": word} for word in ("kept", "dropped"))
        return Attention(
            what="possible_conflict",
            detail=f"{_cut(plan.text)}: ended; kept or dropped is not said",
            candidates=[],
            call=f"If kept: retire_fact {_json(kept)}. If dropped: retire_fact {_json(dropped)}",
        )

    def possible_conflict(
        self, fact: ParsedFact, stored_uuid: str, start: datetime | None, conflicts: Sequence[Fact]
    ) -> Attention:
        """``start``: from when the new fact counts, and the old one would end. The call ends the first one alone."""
        old = conflicts[0]
        ending = None if start is None else self._ending(fact, old, start, stored_uuid)
        if ending is None and start is not None:
            again = {**_triple(fact), "fact": fact.text, "replaces": [old.uuid], "valid_at": self._instant(start)}
            ending = self._add(fact, facts=[again])
        # Given with its end only: repeated as a replacement, it would begin now and not end.
        ending = ending or f"retire_fact {_json({'fact_uuid': old.uuid, 'reason': _cut(fact.text)})}"
        which = f"If {old.uuid[:SHOWN_UUID]} ended" + (" (else put in another uuid)" if len(conflicts) > 1 else "")
        return Attention(
            what="possible_conflict",
            detail=f"{_cut(fact.text)}: may contradict",
            candidates=[self.line(one) for one in conflicts],
            call=f"{which}: {ending}",
        )

    def unresolved(
        self, fact: ParsedFact, found: UnresolvedReplacement, start: datetime, stored_uuid: str
    ) -> Attention:
        """An entry of ``replaces`` that ended nothing; ``start``: when the old fact would end."""
        wanted = _quoted(found.wanted)
        reason = {
            "several": f"{wanted} fits several facts; nothing was ended",
            "other_source": f"{wanted} may mean a fact of another source; nothing was ended",
            "other_relation": f"{wanted} is known under another relation; nothing was ended",
            "none": f"{wanted} fits no fact; nothing was ended",
            "ends_nothing": f"a {fact.kind} ends nothing; {wanted} was left as it is",
        }[found.problem]
        candidates = found.candidates[:_MOST_CANDIDATES]
        if len(found.candidates) > len(candidates):
            reason += f" ({len(candidates)} of {len(found.candidates)} shown)"
        if found.problem == "ends_nothing" and fact.kind == "plan":
            call = "Send it as a state once it is so."
        elif candidates:
            call = self._settling(fact, found, start, stored_uuid)
        else:
            call = f"If it was recorded: {self._search(fact.text)}, then send the fact again "
            call += (
                "with that uuid in replaces. If it was never recorded: send it as a fact of its own, with invalid_at."
            )
        if fact.is_correction and candidates:
            reason += f"; sent was: {_cut(fact.text)}"
        return Attention(
            what="ambiguous_replacement", detail=reason, candidates=[self.line(old) for old in candidates], call=call
        )

    def _settling(self, fact: ParsedFact, found: UnresolvedReplacement, start: datetime, stored_uuid: str) -> str:
        """The call that ends or corrects the first candidate, and how to choose another one.

        A fact that can be ended by hand needs no note, as nobody wrote one. A correction was stored beside the fact
        that it corrects: it takes that fact's place and time, and its first version is removed. One that has all of
        its own dates is found again and stays.
        """
        is_correction = fact.is_correction or found.problem == "ends_nothing"
        old = found.candidates[0].uuid
        takes_a_date = fact.valid_at is None or (
            fact.invalid_at is None and any(one.invalid_at is not None for one in found.candidates)
        )
        wrong = [old, stored_uuid] if is_correction and takes_a_date else [old]
        suggested = {**_triple(fact), "fact": fact.text, "replaces": wrong}
        if is_correction:
            suggested["change"] = "corrected"
        times = {"valid_at": fact.valid_at, "invalid_at": fact.invalid_at if is_correction else None}
        if not is_correction and fact.kind in {"state", "event"}:
            times["valid_at"] = start
        words = {"valid_at": fact.start_words, "invalid_at": fact.end_words}
        suggested.update(self._sent(name, at, words[name]) for name, at in times.items() if at is not None)
        which = f"If {old[:SHOWN_UUID]} {'was wrong' if found.problem == 'ends_nothing' else 'is meant'}"
        more = " (else put in another uuid)" if len(found.candidates) > 1 else ""
        ending = None if is_correction else self._ending(fact, found.candidates[0], start, stored_uuid)
        ending = ending or self._add(fact, facts=[suggested])
        calls = [f"{which}{more}: {ending}"] if found.may_end else []
        if found.may_be_unrecorded:
            never = {name: value for name, value in _triple(fact).items() if name not in _OF_THE_NEW}
            never |= {"target" if fact.has_target else "value": found.wanted, "invalid_at": self._instant(start)}
            calls.append(f"If it was true but never recorded: {self._add(fact, facts=[never])}")
        return ". ".join(calls)

    def _ending(self, fact: ParsedFact, old: Fact, start: datetime, stored_uuid: str) -> str | None:
        """The call that retires a fact where the new one starts; None if it cannot have ended then.

        A dropped plan ends in the record only: the day on which it was dropped is unknown.
        """
        if old.kind not in {"state", "plan"} or not rules.still_holds(old, self._now):
            return None
        if rules.ended(old, rules.end_of(old, start, self._zone), self._now) is None or start == old.valid_at:
            return None
        at = {} if old.kind == "plan" else {"invalid_at": self._date(start, fact.start_words)}
        said = {"fact_uuid": old.uuid, "reason": _cut(fact.text), **at, "replaced_by": stored_uuid}
        return f"retire_fact {_json(said)}"

    def empty_interval(self, fact: ParsedFact) -> Attention:
        """The given end is not after the start."""
        return Attention(
            what="empty_interval",
            detail=f"facts[{fact.number}]: invalid_at is not after valid_at; stored without the end",
            candidates=[],
            call=self._add(fact, facts=[{**_triple(fact), "fact": fact.text, "invalid_at": "DATE"}]),
        )

    def empty_ending(self, fact: ParsedFact, old: Fact, at: datetime, *, is_ended: bool) -> Attention:
        """A replaced fact would end at or before its own start."""
        suggested = {**_triple(fact), "fact": fact.text, "replaces": [old.uuid], "change": "corrected"}
        outcome = (
            "ended at its own start, so it never held" if is_ended else "not ended, because it holds from later on"
        )
        return Attention(
            what="empty_interval",
            detail=f"the new fact starts at {show_time(at, self._zone)}, not after the start of the old one: {outcome}",
            candidates=[self.line(old)],
            call=f"If the old one was wrong: {self._add(fact, facts=[suggested])}",
        )

    def known_later(self, fact: ParsedFact, held: Sequence[Fact]) -> Attention:
        """An end before the time at which the facts it may close were known to hold, or one that fits several plans."""
        if fact.kind == "plan":
            end = [] if fact.invalid_at is None else [self._sent("invalid_at", fact.invalid_at, fact.end_words)]
            said = {"fact_uuid": held[0].uuid, "reason": fact.outcome or _cut(fact.text), **dict(end)}
            return Attention(
                what="possible_conflict",
                detail=f"facts[{fact.number}] may end several plans; none was ended",
                candidates=[self.line(old) for old in held[:_MOST_CANDIDATES]],
                call=f"If {held[0].uuid[:SHOWN_UUID]} is meant (else put in another uuid): retire_fact {_json(said)}",
            )
        suggested = {**_triple(fact), "fact": held[0].text, "replaces": [held[0].uuid], "change": "corrected"}
        if fact.invalid_at is not None:
            suggested |= [self._sent("invalid_at", fact.invalid_at, fact.end_words)]
        return Attention(
            what="possible_conflict",
            detail=f"facts[{fact.number}] ends before the same was known to hold; stored as an earlier time",
            candidates=[self.line(old) for old in held[:_MOST_CANDIDATES]],
            call=f"If it had ended by then: {self._add(fact, facts=[suggested])}",
        )

    def end_kept(self, fact: ParsedFact, held: Sequence[Fact]) -> Attention:
        """Another end than that of a fact that has ended, as a newer note or a change says."""
        said = {"fact_uuid": held[0].uuid, "reason": _cut(fact.text)}
        if fact.invalid_at is not None:
            said |= [self._sent("invalid_at", fact.invalid_at, fact.end_words)]
        return Attention(
            what="possible_conflict",
            detail=f"facts[{fact.number}].invalid_at is not when the same is known to have ended; it keeps its end",
            candidates=[self.line(old) for old in held],
            call=f"If it ended then: retire_fact {_json(said)}",
        )

    def start_kept(self, fact: ParsedFact, known: Fact) -> Attention:
        """A start other than the known one, or later than a time at which the fact was known to hold."""
        suggested = {**_triple(fact), "fact": known.text, "replaces": [known.uuid]}
        is_moved = fact.kind == "plan"
        if not is_moved:
            suggested["change"] = "corrected"
        if fact.valid_at is not None:
            suggested["valid_at"] = self._date(fact.valid_at, fact.start_words)
        return Attention(
            what="possible_conflict",
            detail=f"facts[{fact.number}].valid_at is not when the same was known to hold; it keeps its start",
            candidates=[self.line(known)],
            call=f"If {'it was moved' if is_moved else 'the earlier was wrong'}: {self._add(fact, facts=[suggested])}",
        )

    def planned_later(self, fact: ParsedFact, plans: Sequence[Fact]) -> Attention:
        """Plans for a time much later than the event."""
        suggested = {**_triple(fact), "kind": "state", "fact": fact.text}
        suggested["replaces"] = [plan.uuid for plan in plans]
        if fact.kind == "event":
            suggested["kind"] = "event"
        if fact.valid_at is not None:
            suggested["valid_at"] = self._date(fact.valid_at, fact.start_words)
        return Attention(
            what="possible_conflict",
            detail=f"{_cut(fact.text)}: planned for much later; the plan was left open",
            candidates=[self.line(plan) for plan in plans[:_MOST_CANDIDATES]],
            call=f"If this is what was planned: {self._add(fact, facts=[suggested])}",
        )

    def same_date(self, old: Fact, new: Fact, same: Sequence[Fact]) -> Attention:
        """Facts that a note dated by the start that a correction moved; the call moves those that are shown."""
        shown = same[:_MOST_CANDIDATES]
        when = shown_start(old, self._zone)
        more = f" ({len(shown)} shown)" if len(same) > len(shown) else ""
        what = "fact starts" if len(same) == 1 else "facts start"
        moved = [self._moved(one, new) for one in shown]
        return Attention(
            what="same_date",
            detail=f"{len(same)} more {what} on {when} by the same note{more}",
            candidates=[self.line(one) for one in shown],
            call=f"If wrong too (leave out those that are right): {self._add(new, facts=moved)}",
        )

    def _moved(self, fact: Fact, new: Fact) -> dict[str, object]:
        """A known fact as it is sent again with another start; a target named after the relation is left out."""
        said: dict[str, object] = {"source": fact.source_name, "relation": fact.relation}
        if fact.value is None or normalise_name(fact.target_name) != normalise_name(noun_of(fact.relation)):
            said["target"] = fact.target_name
        said |= {name: value for name in ("value", "unit") if (value := getattr(fact, name)) is not None}
        if fact.kind != "state":
            said["kind"] = fact.kind
        start = self._dates(new).get("valid_at")
        return {**said, "fact": fact.text, "valid_at": start, "replaces": [fact.uuid], "change": "corrected"}

    def proposed_ending(self, fact: Fact, old: Fact) -> Attention:
        """An ending that the caller did not name and the rules do not trust."""
        ended = {"fact_uuid": old.uuid, "reason": _cut(fact.text)}
        both_hold = {"fact_uuid": old.uuid, "reason": "Both hold."}
        return Attention(
            what="proposed_ending",
            detail=f"{_cut(fact.text)}: may have ended this, which was left as it is",
            candidates=[self.line(old)],
            call=f"If it has ended: retire_fact {_json(ended)}. If not: restore_fact {_json(both_hold)}",
        )

    def line(self, fact: Fact) -> str:
        """A fact with the beginning of its uuid and its validity."""
        return f"{fact.uuid[:SHOWN_UUID]} {self.sentence(fact)}"

    def sentence(self, fact: Fact) -> str:
        """A fact with its validity."""
        return f"{_cut(fact.text)} ({shown_validity(fact, self._zone, self._now)})"

    def _in_place_of(self, stored: Fact, fact: ParsedFact, suggested: dict[str, object]) -> str:
        """The call that tells a fact anew, with all that was stored of it, once it was deleted.

        The words of the note are those that it quotes, where it quotes any.
        """
        if stored.cause_uuid is None:
            suggested.pop("because_of", None)
        again = suggested | ({"fact": fact.text} if fact.has_text else {}) | self._dates(stored)
        if stored.quote is None:
            return self._add(fact, facts=[again])
        return self._add(fact, stored.quote, facts=[again | {"quote": stored.quote}])

    def _dates(self, fact: Fact) -> dict[str, object]:
        """The dates of a known fact as they were told."""
        dates = (("valid_at", fact.valid_at, START_WORDS), ("invalid_at", fact.invalid_at, END_WORDS))
        return dict(self._sent(name, at, fact.attributes.get(words)) for name, at, words in dates if at is not None)

    def _sent(self, name: str, at: datetime, words: object) -> tuple[str, str]:
        """A date to be sent again as this field."""
        return name, self._date(at, words, is_end=name == "invalid_at")

    def _date(self, at: datetime, words: object, *, is_end: bool = False) -> str:
        """A date that can be sent again, in the words in which it was told if these are of this date."""
        return words_at(at, words, self._zone, is_end=is_end) or self._instant(at)

    def _instant(self, at: datetime) -> str:
        """A time in a form that can be sent again without loss."""
        return iso(at) if at.second or at.microsecond else show_time(at, self._zone)

    def _add(self, fact: ParsedFact | Fact, words: str | None = None, **fields: object) -> str:
        """The call with ``words``, or the sentence of the fact, as its body, at the time of its note."""
        group = {} if self._group is None else {"group_id": self._group}
        words = words or fact.text
        is_whole_note = words == self._note.content
        said = {
            "episode_body": _quoted(words) if is_whole_note else words,
            "reference_time": self._instant(self._note.valid_at),
        }
        public = {CONFIDENTIAL: True} if self._note.confidential else {}
        return f"add_memory {_json({**said, **fields, **public, **group})}"

    def _search(self, query: str) -> str:
        group = {} if self._group is None else {"group_ids": [self._group]}
        return f"search_memory_facts {_json({'query': query, **group})}"


def _triple(fact: ParsedFact, relation: str | None = None) -> dict[str, object]:
    suggested: dict[str, object] = {"source": fact.source, "relation": relation or fact.relation}
    if fact.has_target:
        suggested["target"] = fact.target
    if fact.kind != "state":
        suggested["kind"] = fact.kind
    for name in ("measure", "value", "unit", "because_of"):
        if getattr(fact, name) is not None:
            suggested[name] = getattr(fact, name)
    return suggested | ({CONFIDENTIAL: True} if fact.is_confidential else {})


def _json(arguments: object) -> str:
    return json.dumps(arguments, ensure_ascii=False, separators=(",", ":"))


def _quoted(text: str) -> str:
    return json.dumps(text if text != ME else "me", ensure_ascii=False)


def _cut(text: str) -> str:
    return text if len(text) <= _TEXT else text[: _TEXT - 1] + "…"
