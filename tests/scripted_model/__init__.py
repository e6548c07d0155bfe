"""A scripted, OpenAI-compatible server for tests: real HTTP, no model.

The fixture ``scripted_model`` starts one for a test and fails the test if the script did not fit what was asked:

    async def test_something(scripted_model: ScriptedModel) -> None:
        client = OpenAIGenericClient(LLMConfig(api_key="k", model="m", base_url=scripted_model.url))
        scripted_model.change(faults=FaultPlan(scheduled=(ScheduledFault(kind="server_error", calls=(1,)),)))
        ...
        assert scripted_model.stats.by_schema["ExtractedEntities"].calls == 2

**Answers.** It serves ``/v1/chat/completions``, ``/v1/responses``, ``/v1/embeddings`` and ``/v1/models``. Without a
script the reader answers all of Graphiti's prompts: write episodes in the language of ``language`` and it extracts
their entities and facts, recognises what is known and sees contradictions. A schema it does not know is filled with
values of the right types. A script answers instead where the text in question, never an earlier episode, holds a
part:

    scripted_model.change(script={"ExtractedEntities": {"Bob came by": {"extracted_entities": [...]}}})

Answers are checked against the request's schema; one that does not fit is answered with a marked 500 and kept in
``script_errors``.

**Faults** (``faults``) strike at certain calls, in a storm, or always for a text:

    FaultPlan(scheduled=(ScheduledFault(kind="rate_limited", seconds=2, calls=(1, 2), schema_name="ExtractedEdges"),))
    FaultPlan(storm=Storm(seed=7, rate=0.1, kinds=PASSING_KINDS, max_repeats=2))
    FaultPlan(permanent=(PermanentFault(kind="refusal", contains="the text of one episode"),))

``change(faults=FaultPlan())`` repairs the model. Calls that hang end with ``release()``, or with their client.

**Behaviour.** ``change`` takes any field of ``Behaviour``: ``latency_ms``, ``supports_json_schema``, ``fenced``,
``models``, ``api_key`` and so on.

**Counts.** ``stats``: calls and tokens by schema, requests by hash, most in flight, faults, hashes of the keys that
came. ``requests`` holds the latest calls. ``wait_for(lambda stats: stats.calls >= 5)`` blocks until then (in async
tests: ``await asyncio.to_thread(...)``).

**As a process:** ``python -m tests.scripted_model --latency-ms 300 --faults '{"storm": {"rate": 0.1}}'`` prints its
base URL on a line; ``GET /_stats`` and ``POST /_control`` (fields of ``Behaviour`` as JSON) stand at its root.
"""

from tests.scripted_model.answering import Behaviour
from tests.scripted_model.counting import Stats
from tests.scripted_model.faults import (
    FAULT_KINDS,
    PASSING_KINDS,
    Fault,
    FaultKind,
    FaultPlan,
    PermanentFault,
    ScheduledFault,
    Storm,
)
from tests.scripted_model.model_request import ModelRequest
from tests.scripted_model.server import ScriptedModel

__all__ = [
    "FAULT_KINDS",
    "PASSING_KINDS",
    "Behaviour",
    "Fault",
    "FaultKind",
    "FaultPlan",
    "ModelRequest",
    "PermanentFault",
    "ScheduledFault",
    "ScriptedModel",
    "Stats",
    "Storm",
]
