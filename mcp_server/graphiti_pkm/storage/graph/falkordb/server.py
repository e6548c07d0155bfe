"""A FalkorDB that somebody else runs: whether it can hold a memory, and how safely it keeps one."""

import ssl
from collections.abc import Mapping, Sequence
from enum import Enum
from typing import TYPE_CHECKING, Any, NamedTuple

from redis.exceptions import AuthenticationError, NoPermissionError, RedisError, ResponseError

from graphiti_pkm.errors import ConfigurationError, PkmError, Unavailable
from graphiti_pkm.storage.graph.falkordb.connection import LOST, READ_TIMEOUT_MS, is_caused_by

if TYPE_CHECKING:
    from redis.asyncio import Redis

    from graphiti_pkm.storage.graph.falkordb.link import FalkorLink

_MODULE = "graph"
OLDEST = (4, 10, 0)
"""Of the module. Older ones were never tried."""
_OLDEST_REDIS = (7, 2)
"""The first with WAITAOF."""
WRITER_COMMANDS = (
    "+graph.query +graph.ro_query +graph.constraint +graph.delete +set +info +ping +waitaof +bgrewriteaof +bgsave "
    "+config|get"
)
READER_COMMANDS = "+graph.ro_query +graph.list +info +ping"
_REPLAYED = (
    "The journal keeps every write of this server and repeats what the database lost as soon as it is back. "
    "Set appendonly yes on the FalkorDB server."
)


_ASKED_ROWS = 10_001
"""One more than the usual image of a FalkorDB gives."""
_CUT = (
    "The FalkorDB server leaves out the rows of an answer after so many (RESULTSET_SIZE): large groups are read "
    "incompletely. Start that server with RESULTSET_SIZE -1."
)


_READER_WRITES = (
    "The user of falkordb_reader_username may write, so the database does not keep readers from it. As its "
    f"administrator: ACL SETUSER <user> resetkeys ~* -@all {READER_COMMANDS}."
)


class Keeping(Enum):
    """What a server keeps on disk, with what is to be said about it."""

    APPEND_ONLY = ""
    SNAPSHOTS = (
        "The FalkorDB server keeps no append-only file: acknowledged writes since its last snapshot are lost by a "
        f"crash of it. {_REPLAYED}"
    )
    NOTHING = (
        "The FalkorDB server keeps nothing on disk: all acknowledged writes are lost from it by a crash or a restart. "
        f"{_REPLAYED}"
    )


class Serving(NamedTuple):
    """What is to be known of a server that can be used."""

    keeping: Keeping
    has_snapshots: bool
    """Whether it saves its data beside an append-only file, as far as we may know."""
    notes: list[str]
    """For whoever runs it."""


async def require(link: "FalkorLink", graph_name: str) -> Serving:
    """See that the server can be used, as both of its users.

    Raises:
        ConfigurationError: it cannot; says why and what to do, and repeats no password.
        Unavailable: it does not answer.
    """
    try:
        info = await link.writer.info()
        _check_server(link.address.shown, info)
        await link.writer.execute_command("GRAPH.QUERY", graph_name, "RETURN 1")  # type: ignore[no-untyped-call]
        has_snapshots = await _has_snapshots(link.writer)
    except (RedisError, OSError) as error:
        raise _explained(error, link, "falkordb_username", WRITER_COMMANDS) from None
    try:
        rows = await _most_rows(link.reader, graph_name)
    except (RedisError, OSError) as error:
        is_apart = link.reader is not link.writer
        user, commands = ("falkordb_reader_username", READER_COMMANDS) if is_apart else ("falkordb_username", "")
        raise _explained(error, link, user, commands or WRITER_COMMANDS) from None
    kept = keeping(info, has_snapshots=has_snapshots)
    notes = [kept.value] if kept.value else []
    if rows < _ASKED_ROWS:
        notes.append(_CUT)
    if link.reader is not link.writer and await _may_write(link.reader, graph_name):
        notes.append(_READER_WRITES)
    return Serving(kept, has_snapshots, notes)


def keeping(state: Mapping[str, Any], *, has_snapshots: bool) -> Keeping:
    """From what ``INFO persistence`` says."""
    if int(state.get("aof_enabled", 0)):
        return Keeping.APPEND_ONLY
    return Keeping.SNAPSHOTS if has_snapshots else Keeping.NOTHING


async def _may_write(reader: "Redis", graph_name: str) -> bool:
    """Whether any way to change something is open; each is tried in a form that changes nothing."""
    nobody = f"graphiti-pkm:{graph_name}:nobody"
    for words in (("GRAPH.QUERY", graph_name, "RETURN 1"), ("DEL", nobody), ("PEXPIRE", nobody, 1), ("ACL", "USERS")):
        try:
            await reader.execute_command(*words)  # type: ignore[no-untyped-call]
        except NoPermissionError:
            continue
        except ResponseError:
            pass
        return True
    return False


async def _has_snapshots(writer: "Redis") -> bool:
    """True also if we may not ask."""
    try:
        return bool((await writer.config_get("save")).get("save"))
    except ResponseError:
        return True


async def _most_rows(reader: "Redis", graph_name: str) -> int:
    """How many rows of an answer arrive. A server may be told to leave out the rest, and does not say so."""
    text = f"UNWIND range(1, {_ASKED_ROWS}) AS row RETURN row"
    words = ("GRAPH.RO_QUERY", graph_name, text, "--compact", "timeout", READ_TIMEOUT_MS)
    answer = await reader.execute_command(*words)  # type: ignore[no-untyped-call]
    return len(answer[1])


def _check_server(shown: str, info: Mapping[str, Any]) -> None:
    found = {module["name"]: int(module["ver"]) for module in _modules(info)}
    if _MODULE not in found:
        raise ConfigurationError(
            f"The server at {shown} is a Redis without FalkorDB's module. Give falkordb_uri the address of a FalkorDB."
        )
    version = (found[_MODULE] // 10_000, found[_MODULE] // 100 % 100, found[_MODULE] % 100)
    if version < OLDEST:
        raise ConfigurationError(
            f"The FalkorDB at {shown} is {_dotted(version)}; {_dotted(OLDEST)} or newer is needed. Update that server."
        )
    redis = tuple(int(part) for part in str(info.get("redis_version", "0")).split(".")[:2])
    if redis < _OLDEST_REDIS:
        raise ConfigurationError(
            f"The FalkorDB at {shown} runs on Redis {_dotted(redis)}; {_dotted(_OLDEST_REDIS)} or newer is needed. "
            "Update that server."
        )
    if info.get("role", "master") != "master":
        raise ConfigurationError(
            f"The FalkorDB at {shown} is a replica and takes no writes. Give falkordb_uri the address of its primary."
        )


def _modules(info: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    found: Sequence[Mapping[str, Any]] = info.get("modules", ())
    return found


def _dotted(version: Sequence[int]) -> str:
    return ".".join(map(str, version))


def _explained(error: RedisError | OSError, link: "FalkorLink", user: str, commands: str) -> PkmError:
    shown = link.address.shown
    password = user.replace("username", "password")
    if is_caused_by(error, AuthenticationError):
        return ConfigurationError(
            f"The FalkorDB server at {shown} refuses the user or the password. Check {user} and {password}."
        )
    if isinstance(error, NoPermissionError):
        return ConfigurationError(
            f"The user of {user} may not do on the FalkorDB server at {shown} what is needed. As that server's "
            f"administrator: ACL SETUSER <user> {commands}, and the keys of the graph; see DOCS/operations.md."
        )
    if is_caused_by(error, ssl.SSLCertVerificationError):
        return ConfigurationError(
            f"The certificate of the FalkorDB server at {shown} is not trusted or is another host's. Name the "
            "authority that signed it: falkordb_uri=rediss://HOST:PORT?ssl_ca_certs=FILE."
        )
    if "TIMEOUT_MAX" in str(error):
        return ConfigurationError(
            f"The FalkorDB server at {shown} ends queries too soon. Start it with TIMEOUT_MAX 0, or {READ_TIMEOUT_MS} "
            "at least."
        )
    if isinstance(error, LOST):
        return Unavailable(link.away)
    return ConfigurationError(f"The FalkorDB server at {shown} refuses what every start asks; see its log.")
