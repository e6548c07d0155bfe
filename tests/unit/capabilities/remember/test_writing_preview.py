"""What add_memory would do, told without doing it."""

from tests.builders import at
from tests.worlds.writing_world import WritingWorld

from graphiti_pkm.core.model.access import LOCAL
from graphiti_pkm.core.model.requests import AddMemory, EntityInput, FactInput

ANNA = FactInput(source="Anna", relation="WORKS_AT", target="Acme", fact="Anna works at Acme")
BEN = FactInput(source="Ben", relation="WORKS_AT", target="acme", fact="Ben works at Acme")


async def test_a_preview_decides_as_the_write_does_and_stores_nothing() -> None:
    world = WritingWorld(now=at(2026, 6, 1))
    await world.writing.add_memory(LOCAL, AddMemory(episode_body="Anna works at Acme.", facts=(ANNA,)))
    request = AddMemory(episode_body="Both do.", facts=(ANNA, BEN), entities=(EntityInput(name="Ben", type="Person"),))
    before = (list(world.facts), list(world.graph.tables.entities), len(world.journal.table))

    planned = await world.writing.preview(LOCAL, request)
    assert [one.outcome for one in planned.plan.facts.results] == ["duplicate", "created"]
    assert [(one.entity.name, one.is_new) for one in planned.plan.resolved] == [
        ("Ben", True),
        ("Anna", False),
        ("Acme", False),
    ]
    assert (list(world.facts), list(world.graph.tables.entities), len(world.journal.table)) == before

    answer = await world.writing.add_memory(LOCAL, request)
    assert [one.outcome for one in answer.facts] == [one.outcome for one in planned.plan.facts.results]
    assert [one.name for one in answer.entities] == [one.entity.name for one in planned.plan.resolved]
