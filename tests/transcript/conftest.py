from tests.runtime.conftest import make

__all__ = ["make"]
