"""The gates of a replay: each kind of message that the trace orders is held until the trace lets it pass."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from proofka.checker.cluster.bodies.metadata import metadata_response
from proofka.checker.cluster.channels import Channels, Messages
from proofka.checker.cluster.frames import Frame
from proofka.checker.cluster.gate import Gate
from proofka.checker.cluster.proxy import Proxy
from proofka.checker.cluster.sends import Send, sends_in

PRODUCE, FETCH, METADATA = "Produce", "Fetch", "Metadata"
"""Names of the requests that gates hold."""
PRODUCER_ID = "proofka-producer"
"""Prefix of the client id of every producer that a replay starts."""
CONSUMER_ID = "proofka-consumer"
"""Prefix of the client id of every consumer that a replay starts."""


@dataclass
class Known:
    """The leader that the producer has to know for the trace's next step."""

    leader: int | None


@dataclass(frozen=True)
class Gates:
    """The closed gates of a replay.

    ``metadata``: by broker, what the controller tells that broker. ``other_leaders``: answers to the producer that name
    another leader than ``known``.
    """

    produce_requests: Gate
    produce_responses: Gate
    fetches: Gate
    isr_changes: Gate
    metadata: Mapping[int, Gate]
    other_leaders: Gate
    known: Known

    def know(self, leader: int) -> None:
        """Let the producer learn that ``leader`` leads, and nothing else from now on."""
        self.known.leader = leader
        for frame in self.other_leaders.held:
            if leader in named_leaders(frame):
                self.other_leaders.release(frame)

    def remove(self) -> None:
        """Let all held messages pass, and take the gates away."""
        for gate in (
            self.produce_requests,
            self.produce_responses,
            self.fetches,
            self.isr_changes,
            *self.metadata.values(),
            self.other_leaders,
        ):
            gate.remove()


def close_gates(proxy: Proxy, brokers: int, *, channels: Channels, topic: str, leader: int | None) -> Gates:
    """Close all gates between the producer, brokers 1 to ``brokers`` and the controller.

    ``channels``: the ways between brokers and the controller. ``leader``: the leader of ``topic`` that the producer
    knows.
    """
    known = Known(leader)
    channels.withhold()

    def names_another(frame: Frame) -> bool:
        named = named_leaders(frame, topic)
        return bool(named) and known.leader not in named

    return Gates(
        produce_requests=proxy.gate(link=r"client->\d+", side="request", apis={PRODUCE}, client=PRODUCER_ID),
        produce_responses=proxy.gate(link=r"client->\d+", side="response", apis={PRODUCE}, client=PRODUCER_ID),
        fetches=proxy.gate(link=r"replica->\d+", side="request", apis={FETCH}, client=r"broker-\d+-fetcher"),
        isr_changes=_gate(proxy, channels.proposals(r"\d+")),
        metadata={broker: _gate(proxy, channels.decisions(broker)) for broker in range(1, brokers + 1)},
        other_leaders=proxy.gate(
            link=r"client->\d+", side="response", apis={METADATA}, client=PRODUCER_ID, when=names_another
        ),
        known=known,
    )


def _gate(proxy: Proxy, messages: Messages) -> Gate:
    return proxy.gate(link=messages.link, side=messages.side, apis=messages.apis, when=messages.when)


def named_leaders(frame: Frame, topic: str | None = None) -> frozenset[int]:
    """Return the leaders that an answer with metadata names. ``topic``: only of this topic."""
    told = metadata_response(frame)
    return frozenset(one.leader for one in told if topic in (None, one.place.topic))


def to_broker(broker: int) -> str:
    """Return the link from clients to a broker."""
    return f"client->{broker}"


def broker_of(frame: Frame) -> int:
    """Return the broker at the end of the link of a request to a broker, or of its answer."""
    return int(frame.link.partition("->")[2])


def follower_of(frame: Frame) -> int:
    """Return the broker that sent a fetch of a follower, by the request's client id."""
    return int(frame.client.split("-")[1])


def carried(frame: Frame) -> frozenset[Send]:
    """Return the calls of ``send()`` whose records a Produce request carries."""
    return sends_in(frame.body)
