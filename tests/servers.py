"""Real servers for the tests: each is started in a directory of its own and ended by the test that asked for it."""

from service.embedded import StoreProcess, start_store

__all__ = ["StoreProcess", "start_store"]
