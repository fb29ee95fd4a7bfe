"""The controls of a producer with transactions."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from proofka.checker.cluster.bodies import end_txn_request
from proofka.checker.cluster.client import ClientProcess
from proofka.checker.cluster.cluster import Cluster
from proofka.checker.cluster.gate import Gate
from proofka.checker.cluster.plan import CONTROLLER
from proofka.checker.cluster.proxy import Proxy
from proofka.checker.conformance.controls import Control
from proofka.checker.conformance.observations import CoordinatorDecision, DelayedEnd
from proofka.checker.conformance.producer_controls import ProducerControls, RunProducer
from proofka.checker.conformance.transacting import TransactingApplication, is_failed_send
from proofka.checker.conformance.watching import Watcher

BEGIN_SECONDS = 30.0
"""Seconds within which a call that begins a transaction returns."""

AT_REST = ("Empty", "CompleteCommit", "CompleteAbort")
"""The states of a transactional id for which the coordinator has nothing to finish."""

_TO_COORDINATOR = f"client->{CONTROLLER}"


class TransactionalControls(ProducerControls):
    """The controls of one producer, whose calls are those of an application with transactions.

    ``transactions``: the application. ``delayed``: the requests to end a transaction that the coordinator can get late.
    """

    def __init__(
        self,
        cluster: Cluster,
        proxy: Proxy,
        watcher: Watcher,
        *,
        producer: RunProducer,
        restart: Callable[[RunProducer], ClientProcess],
        crashes: bool,
        transactions: TransactingApplication,
    ) -> None:
        super().__init__(cluster, proxy, watcher, producer=producer, restart=restart)
        self.transactions = transactions
        self._crashes = crashes
        self._end_gate: Gate | None = None
        self._has_late_end = False
        self.delayed: list[DelayedEnd] = []

    def _calls(self) -> list[str]:
        self._hear()
        due = self.transactions.due()
        found = [] if due is None or (due == "send" and self._waits_for_request()) else [due]
        if self._crashes and self.transactions.is_open and self._sends_returned():
            found.append("crash")
        if self._end_gate is None:
            found.append("hold_end")
        else:
            found.append("release_end")
            found += ["detach_end"] if self._end_gate.held and not self._has_late_end else []
        if self._proxy.outstanding(_TO_COORDINATOR, "EndTxn", self._client):
            found.append("drop_end")
        return found

    def _hear(self) -> None:
        self.transactions.hear(self.producer.process, self.producer.first_event)

    def _ways(self, broker: int) -> dict[str, Callable[[], object]]:
        return super()._ways(broker) | {
            "commit": lambda: self.transactions.call("commit", self.producer.process),
            "abort": lambda: self.transactions.call("abort", self.producer.process),
            "replace": self._end_program,
            "hold_end": self._hold_end,
            "release_end": self._release_end,
            "detach_end": self._detach_end,
            "drop_end": lambda: self._proxy.cut(_TO_COORDINATOR, self._client),
        }

    def _send(self) -> None:
        """Send the next record, the first of a transaction after the call that begins the transaction."""
        if not self.transactions.is_open:
            self.producer.process.ask("begin", seconds=BEGIN_SECONDS)
        record = self.transactions.next_record()
        self.transactions.send(record)
        self._send_record(record)

    def _after_end(self) -> None:
        super()._after_end()
        self.transactions.lose_program(self.done[-1].when[1])

    def _hold_end(self) -> None:
        self._end_gate = self._proxy.gate(_TO_COORDINATOR, "request", apis={"EndTxn"}, client=self._client)

    def _release_end(self) -> None:
        assert self._end_gate is not None, "requests are released only while they are held"
        self._end_gate.remove()
        self._end_gate, self._has_late_end = None, False

    def _detach_end(self) -> None:
        assert self._end_gate is not None, "a request is detached only while requests are held"
        for frame in self._end_gate.held[:1]:
            begin = time.time()
            self._end_gate.detach(frame)
            self._has_late_end = True
            self.delayed.append(DelayedEnd(end_txn_request(frame).commits, (begin, time.time())))

    def release(self) -> None:
        super().release()
        if self._end_gate is not None:
            self.use(Control("release_end", producer=self.producer.number))

    @property
    def sent(self) -> dict[int, float]:
        """The times of the commands to send, by record, without the calls of ``send()`` that threw an error."""
        failed = {event.get("record") for event in self.producer.events if is_failed_send(event)}
        return {record: when for record, when in self.commanded.items() if record not in failed}

    def decisions(self) -> Sequence[CoordinatorDecision]:
        """Return what the coordinator wrote in this run about the producer."""
        return self._watcher.coordinated(self.producer.topic)

    def is_over(self) -> bool:
        """End what the application has begun, and tell whether all is over, and all logs are equal in one ISR."""
        self._hear()
        due = self.transactions.due()
        if self.transactions.is_open and due == "send" and self._waits_for_request():
            return False
        if due is not None and (self.transactions.is_open or due == "replace"):
            self.use(Control(due, producer=self.producer.number))
            return False
        self._watcher.look()
        decided = self.decisions()
        is_complete = not decided or decided[-1].status in AT_REST
        return self.transactions.is_at_rest and is_complete and self._logs_are_equal()
