"""Who calls, and how public group names map to stored group ids."""

from graphiti_pkm.domain.records import Record

LOCAL_PRINCIPAL = "local"


class Caller(Record):
    """The one who calls, resolved from the transport on every request, never from an argument."""

    principal: str = LOCAL_PRINCIPAL
    read_only: bool = False

    @property
    def is_local(self) -> bool:
        return self.principal == LOCAL_PRINCIPAL


LOCAL = Caller()
