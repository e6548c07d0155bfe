"""What doctor says of the model that reads episodes."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.scripted_model import FaultPlan, PermanentFault, ScriptedModel

from graphiti_pkm.cli.doctor import doctor
from graphiti_pkm.settings.loader import environment_name, load_settings

KEY = "sk-planted-1f8c2d77a0"


@pytest.fixture
def told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Any:
    """The line of the model, as JSON; ``probe``: it is asked."""

    def _told(*, probe: bool = False, environ: dict[str, str] | None = None, **settings: str) -> dict[str, Any]:
        given = {environment_name(name): value for name, value in {"data_dir": str(tmp_path), **settings}.items()}
        doctor(load_settings({}, {**given, **(environ or {})}, tmp_path), as_json=True, asks_model=probe)
        out, err = capsys.readouterr()
        assert KEY not in out + err
        return next(check for check in json.loads(out)["checks"] if check["name"] == "extraction")

    return _told


def test_without_a_model_nothing_leaves_for_one(told: Any) -> None:
    line = told(probe=True, environ={"OPENAI_API_KEY": KEY})
    assert line["ok"]
    assert "no text leaves" in line["detail"]


def test_a_model_is_named_with_its_address_and_where_its_key_is_from_and_not_asked(
    told: Any, scripted_model: ScriptedModel
) -> None:
    line = told(llm_model="qwen3:8b", llm_base_url=scripted_model.url, llm_api_key=KEY)
    assert line["ok"]
    for named in ("qwen3:8b", scripted_model.url, "key from GRAPHITI_PKM_LLM_API_KEY", "--probe"):
        assert named in line["detail"]
    assert scripted_model.stats.calls == 0


def test_a_model_that_is_asked_tells_how_it_answers(told: Any, scripted_model: ScriptedModel) -> None:
    scripted_model.change(supports_json_schema=False, api_key=KEY)
    line = told(probe=True, llm_model="m", llm_base_url=scripted_model.url, llm_api_key=KEY)
    assert line["ok"], line
    assert "answers in json_object" in line["detail"]
    assert scripted_model.stats.calls == 2


@pytest.mark.parametrize(
    ("kind", "remedy"), [("unauthorized", "LLM_API_KEY"), ("unknown_model", "llm_model"), ("server_error", "HTTP 500")]
)
def test_a_model_that_does_not_answer_is_a_fault_with_its_remedy_and_without_the_key(
    told: Any, scripted_model: ScriptedModel, kind: str, remedy: str
) -> None:
    scripted_model.change(faults=FaultPlan(permanent=(PermanentFault(kind=kind),)))  # type: ignore[arg-type]
    line = told(probe=True, llm_model="m", llm_base_url=scripted_model.url, llm_api_key=KEY)
    assert not line["ok"]
    assert remedy in line["remedy"]


def test_openais_address_without_a_key_is_a_fault_before_anything_is_asked(told: Any) -> None:
    line = told(llm_model="gpt-5-mini")
    assert not line["ok"]
    assert "OPENAI_API_KEY" in line["remedy"]


@pytest.mark.parametrize(
    ("url", "is_open"),
    [("http://10.0.0.5:8000/v1", True), ("https://10.0.0.5/v1", False), ("http://[::1]:1234/v1", False)],
)
def test_texts_that_would_go_unencrypted_to_another_machine_are_told(told: Any, url: str, is_open: bool) -> None:
    assert ("unencrypted" in told(llm_model="m", llm_base_url=url)["detail"]) == is_open
