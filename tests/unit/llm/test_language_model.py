import subprocess
import sys

_MAKE_ONE = """
import sys
from graphiti_pkm.settings.loader import Settings
from graphiti_pkm.graphiti_adapter.language_model import language_model
assert language_model(Settings(llm_model="m")).name == "m"
print([name for name in ("openai", "graphiti_core", "httpx", "numpy") if name in sys.modules])
"""


def test_a_configured_model_costs_a_start_no_import() -> None:
    made = subprocess.run([sys.executable, "-c", _MAKE_ONE], capture_output=True, text=True, check=False)
    assert (made.stdout.strip(), made.stderr) == ("[]", "")
