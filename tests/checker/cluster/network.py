"""A proxy between clients and a broker that a test steers."""

from __future__ import annotations

from contextlib import ExitStack

from proofka.checker.cluster.proxy import Proxy
from proofka.checker.cluster.waiting import until
from tests.checker.cluster.wire import SECONDS, Broker, Client

LINK = "client->1"
"""Name of the only link."""


class Network:
    """A proxy with one link, a broker behind the link, and clients."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack
        self.proxy = stack.enter_context(Proxy())
        self.broker = stack.enter_context(Broker())
        self.port = self.proxy.listen(LINK, self.broker.port)

    def client(self) -> Client:
        """Return a new client that is connected to the proxy."""
        return self._stack.enter_context(Client(self.port))

    def fates(self) -> list[tuple[str, int, str]]:
        """Return side, correlation id and fate of each entry of the record."""
        return [(entry.frame.side, entry.frame.correlation, entry.fate) for entry in self.proxy.seen]

    def wait_fate(self, side: str, correlation: int, fate: str) -> None:
        """Wait until the record has an entry."""
        until(lambda: (side, correlation, fate) in self.fates(), what=f"{side} {correlation} {fate}", seconds=SECONDS)
