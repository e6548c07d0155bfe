"""Which of 10,000 entities with near names a query finds: search_nodes, by the name in other words or spellings."""

import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, product, zip_longest
from statistics import fmean

from mcp.client import Client
from tests.benchmarks.measuring import Figure
from tests.benchmarks.world import call, client_of, memory

_TOP = 10
_ENTITIES = 10_000
_AT_ONCE = 100
_EACH = 25
"""Questions of each kind."""
_FIRST = (
    *("Anna", "Anne", "Hannah", "Ana", "Tobias", "Tobi", "Thomas", "Tom", "Sarah", "Sara", "José", "Josef", "Zoë"),
    *("Chloé", "Jörg", "Jürgen", "Mia", "Maria", "Marie", "Mara", "Lena", "Helena", "Elena", "Jan", "Jana"),
)
_LAST = (
    *(
        "Weber",
        "Webber",
        "Wenger",
        "Wagner",
        "Müller",
        "Möller",
        "Miller",
        "Mills",
        "Meyer",
        "Meier",
        "Maier",
        "Brandt",
    ),
    *("Brand", "Brandão", "Lindqvist", "Lindgren", "García", "Garcia-Lopez", "O'Neill", "O'Neal", "Schmidt", "Smith"),
    *("Smyth", "Smits", "Novák", "Nowak", "Petrov", "Petersen", "Peterson", "Pettersson", "Kovács", "Kowalski"),
    *("Fischer", "Fisher", "Fish", "Bauer", "Baur", "Bower", "Köhler", "Kohler"),
)
_PLACES = ("Berlin", "Bern", "Bergen", "Bremen", "Bristol", "Brno", "Brest", "Brussels", "Basel", "Bath")
_TRADES = (
    "Logistics",
    "Logic",
    "Analytics",
    "Robotics",
    "Optics",
    "Ceramics",
    "Dynamics",
    "Graphics",
    "Plastics",
    "Acoustics",
)
_HOUSES = ("North", "Northern", "Norton", "Nordic", "East", "Eastern", "Easton", "West", "Western", "Weston")
_PROJECTS = (
    "Rollout",
    "Review",
    "Redesign",
    "Rebuild",
    "Research",
    "Recovery",
    "Report",
    "Release",
    "Renewal",
    "Relaunch",
)
_YEARS = tuple(str(year) for year in range(1990, 2070))


@dataclass(frozen=True)
class Asked:
    """A query and the one name that it means."""

    query: str
    name: str


def names() -> list[str]:
    """Ten thousand, each once: people, firms, projects; many differ in a letter, a word or a number."""
    people = (f"{first} {last}" for first, last in product(_FIRST, _LAST))
    firms = (f"{house} {trade} {place}" for house, trade, place in product(_HOUSES, _TRADES, _PLACES))
    projects = (f"{place} {project} {year}" for place, project, year in product(_PLACES, _PROJECTS, _YEARS))
    found = (name for group in zip_longest(people, firms, projects) for name in group if name)
    return list(islice(found, _ENTITIES))


def questions(known: Sequence[str]) -> dict[str, list[Asked]]:
    """By kind; of entities at equal steps of the list."""
    kinds: dict[str, Callable[[str], str]] = {
        "without case and accents": _plain,
        "words in another order": lambda name: " ".join(reversed(name.split())),
        "in a sentence": lambda name: f"what do we know about {name}?",
        "a letter left out": lambda name: name[:2] + name[3:],
    }
    drawn = iter(known[:: len(known) // (_EACH * len(kinds))])
    return {kind: [Asked(form(name), name) for name in islice(drawn, _EACH)] for kind, form in kinds.items()}


async def figures() -> list[Figure]:
    """How often the one meant comes first, and among the first ten, by kind of query."""
    known = names()
    async with memory() as opened, client_of(opened) as client:
        for batch in _batches(known):
            await call(client, "add_memory", episode_body="Names.", entities=[{"name": name} for name in batch])
        return [await _figure(client, kind, asked) for kind, asked in questions(known).items()]


async def _figure(client: Client, kind: str, asked: Sequence[Asked]) -> Figure:
    firsts, found = [], []
    for one in asked:
        page = await call(client, "search_nodes", query=one.query, max_nodes=_TOP)
        listed = [node["name"] for node in page["nodes"]]
        firsts.append(100.0 * (listed[:1] == [one.name]))
        found.append(100.0 * (one.name in listed))
    return Figure(
        f"search_nodes through MCP among 10,000 near names, {kind}: the one meant first, of {len(asked)}; beside it "
        f"among the first {_TOP}",
        f"{fmean(firsts):.0f}",
        f"{fmean(found):.0f}",
        fmean(found),
    )


def _plain(name: str) -> str:
    return "".join(one for one in unicodedata.normalize("NFD", name.lower()) if not unicodedata.combining(one))


def _batches(listed: Sequence[str]) -> Iterator[Sequence[str]]:
    return (listed[start : start + _AT_ONCE] for start in range(0, len(listed), _AT_ONCE))
