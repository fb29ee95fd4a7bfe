"""The transactions of the producing application, and the gates between producer, coordinator and leaders."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from proofka.checker.cluster.bodies import init_producer_id_request
from proofka.checker.cluster.frames import Frame
from proofka.checker.cluster.gate import Gate
from proofka.checker.cluster.plan import CONTROLLER
from proofka.checker.cluster.proxy import Proxy
from proofka.checker.reproduction.gates import PRODUCER_ID

OPEN, COMMITTED, ABORTED, REFUSED, LOST = "open", "committed", "aborted", "refused", "lost"
"""The application's knowledge of a transaction, as in the model: ``LOST`` if it crashed before it knew the end."""


@dataclass
class SentTransaction:
    """A transaction that the application has begun. ``records``: those that it called ``send()`` for, in order."""

    records: list[int] = field(default_factory=list)
    outcome: str = OPEN


@dataclass(frozen=True)
class Asked:
    """A call of the application that has not returned. ``after``: number of the program's events before the call."""

    command: str
    after: int


@dataclass(frozen=True)
class TransactionGates:
    """The gates of a producer with transactions; all are closed at first but ``added``.

    ``adds``, ``ends``, ``starts``: requests of the producer to its coordinator, to add the partition, to end a
    transaction, and to be given an epoch. ``added``: the coordinator's answers to leaders that ask for a producer.
    ``markers``: requests of the coordinator to leaders, and ``marker_answers`` their answers.
    """

    adds: Gate
    ends: Gate
    starts: Gate
    added: Gate
    markers: Gate
    marker_answers: Gate

    def remove(self) -> None:
        """Let all held messages pass, and take the gates away."""
        for gate in (self.adds, self.ends, self.starts, self.added, self.markers, self.marker_answers):
            gate.remove()


def close_transaction_gates(proxy: Proxy, brokers: int) -> TransactionGates:
    """Close the gates between a producer, its coordinator and brokers 1 to ``brokers``."""
    leaders = "replica->(" + "|".join(map(str, range(1, brokers + 1))) + ")"
    to_coordinator = f"client->{CONTROLLER}"
    added = proxy.gate(f"replica->{CONTROLLER}", "response", apis={"AddPartitionsToTxn"})
    added.open()
    return TransactionGates(
        adds=proxy.gate(to_coordinator, apis={"AddPartitionsToTxn"}, client=PRODUCER_ID),
        ends=proxy.gate(to_coordinator, apis={"EndTxn"}, client=PRODUCER_ID),
        starts=proxy.gate(to_coordinator, apis={"InitProducerId"}, client=PRODUCER_ID, when=_is_transactional),
        added=added,
        markers=proxy.gate(leaders, apis={"WriteTxnMarkers"}),
        marker_answers=proxy.gate(leaders, "response", apis={"WriteTxnMarkers"}),
    )


def _is_transactional(frame: Frame) -> bool:
    return init_producer_id_request(frame).transactional_id is not None


@dataclass
class Transacting:
    """The transactions of a replay. ``id``: the ``transactional.id``.

    ``asked``: the application's call that has not returned. ``is_started``: the running program has called
    initTransactions(). ``learns``: outcome that the call tells once the transaction is complete. ``late_end``: a
    request to end a transaction that nobody waits for. ``kept_end``: end of the coordinator's log when its next entries
    came to be at risk. ``coordinator_epoch``: the coordinator's since its last start in the trace.
    ``at_broker``: batches whose request is at its leader, which waits for the coordinator before it appends.
    """

    id: str
    gates: TransactionGates
    each: list[SentTransaction] = field(default_factory=list)
    asked: Asked | None = None
    is_started: bool = True
    learns: str | None = None
    late_end: Frame | None = None
    kept_end: int | None = None
    coordinator_epoch: int = 0
    at_broker: set[int] = field(default_factory=set)

    @property
    def current(self) -> SentTransaction | None:
        """The transaction that the application has begun and not ended; None if there is none."""
        return self.each[-1] if self.each and self.each[-1].outcome == OPEN else None

    def end(self, outcome: str) -> None:
        """Note how the current transaction ended, as the application knows."""
        if self.current is not None:
            self.current.outcome = outcome
        self.asked = None

    def forget_program(self) -> None:
        """Note that the application's program has ended."""
        self.end(LOST)
        self.is_started = False

    @contextmanager
    def opened(self, *gates: Gate) -> Iterator[None]:
        """Let requests pass gates meanwhile."""
        for gate in gates:
            gate.open()
        try:
            yield
        finally:
            for gate in gates:
                gate.close()
