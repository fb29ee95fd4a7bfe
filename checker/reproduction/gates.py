"""The gates of a replay: each kind of message that the trace orders is held until the trace lets it pass."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from checker.cluster.frames import Frame
from checker.cluster.gate import Gate
from checker.cluster.proxy import Proxy

PRODUCE, FETCH, ALTER_PARTITION = "Produce", "Fetch", "AlterPartition"
"""Names of the requests that gates hold."""
PRODUCER_ID = "proofka-producer"
"""Prefix of the client id of every producer that a replay starts."""
CONSUMER_ID = "proofka-consumer"
"""Prefix of the client id of every consumer that a replay starts."""

_VALUE = re.compile(rb"record-(\d+)")


@dataclass(frozen=True)
class Gates:
    """The closed gates of a replay. ``metadata``: by broker, what the controller tells that broker."""

    produce_requests: Gate
    produce_responses: Gate
    fetches: Gate
    isr_changes: Gate
    metadata: Mapping[int, Gate]

    def remove(self) -> None:
        """Let all held messages pass, and take the gates away."""
        for gate in (
            self.produce_requests,
            self.produce_responses,
            self.fetches,
            self.isr_changes,
            *self.metadata.values(),
        ):
            gate.remove()


def close_gates(proxy: Proxy, brokers: int) -> Gates:
    """Close all gates between the producer, brokers 1 to ``brokers`` and the controller."""
    return Gates(
        produce_requests=proxy.gate(link=r"client->\d+", side="request", apis={PRODUCE}, client=PRODUCER_ID),
        produce_responses=proxy.gate(link=r"client->\d+", side="response", apis={PRODUCE}, client=PRODUCER_ID),
        fetches=proxy.gate(link=r"replica->\d+", side="request", apis={FETCH}, client=r"broker-\d+-fetcher"),
        isr_changes=proxy.gate(link=r"\d+->controller", side="request", apis={ALTER_PARTITION}),
        metadata={
            broker: proxy.gate(link=f"{broker}->controller", side="response", apis={FETCH})
            for broker in range(1, brokers + 1)
        },
    )


def to_broker(broker: int) -> str:
    """Return the link from clients to a broker."""
    return f"client->{broker}"


def follower_of(frame: Frame) -> int:
    """Return the broker that sent a fetch of a follower, by the request's client id."""
    return int(frame.client.split("-")[1])


def carried(frame: Frame) -> frozenset[int]:
    """Return the numbers of the records that a Produce request carries."""
    return frozenset(int(number) for number in _VALUE.findall(frame.body))
