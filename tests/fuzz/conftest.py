from tests.protocol.conftest import doors

__all__ = ["doors"]
