"""The time after which a client gives a record up: clients count the time in different ways (3.1 P7 P8, 4.1)."""

from __future__ import annotations

from collections.abc import Iterator

from proofka.model.durations import SCAN
from proofka.model.language import Clock, Duration, Need
from proofka.model.language.terms import Or
from proofka.model.producing.stopping import is_left
from proofka.model.state.pipeline import Batch, Fate, Pipeline
from proofka.model.state.wording import record_name
from proofka.model.timing.part import Requirement


class GivingUp:
    """The time of a client that counts ``delivery.timeout.ms`` for a batch: others can join its first record (3.1)."""

    def __init__(self, pipeline: Pipeline) -> None:
        self._pipeline = pipeline
        self._times = pipeline.deployment.durations

    def needs(self) -> Iterator[Requirement]:
        """Yield what has to have passed before the client gives any record up."""
        batches = self._pipeline.producer.batches
        accepted = Or(*(is_left(self._pipeline, batch) for batch in batches))
        busy = Clock("busy", {}, accepted, "the application sent a record that is still on its way")
        given_up = Need(busy, at_least=Duration.of(self._times.delivery_timeout))
        yield ("give_up", "give_up_on_error", "give_up_on_timeout"), {}, given_up

    def needs_of(self, batch: Batch) -> Iterator[Requirement]:
        """Yield what has to have passed before the client gives this record up."""
        yield from ()

    def within(self) -> Iterator[Duration]:
        """Yield the time within which a record is over: a producer looks at the first batch of a queue only.

        Without sequence numbers retries stand in the queue in the order of their failures.
        """
        producer, batches = self._pipeline.deployment.producer, self._pipeline.producer.batches
        disorder = not producer.idempotence and producer.max_in_flight > 1 and len(batches) > 1
        yield Duration.of(self._times.delivery_timeout, 2 if disorder else 1)


class GivingUpEach(GivingUp):
    """The time of a client that keeps the order of sending: every record has its own timeout from send() on (4.1)."""

    def needs(self) -> Iterator[Requirement]:
        yield from ()

    def needs_of(self, batch: Batch) -> Iterator[Requirement]:
        since = f"the application sent {record_name(batch)}"
        accepted = Clock("accepted", {"batch": batch.number}, is_left(self._pipeline, batch), since)
        yield ("give_up",), {"batch": batch.number}, Need(accepted, at_least=Duration.of(self._times.delivery_timeout))

    def within(self) -> Iterator[Duration]:
        """Yield the time of a client that looks every second at what is in flight, and at the queue."""
        yield Duration.of(self._times.delivery_timeout) + Duration.of(SCAN, 3)


class GivingUpInAccumulator(GivingUp):
    """The time of a client without ``delivery.timeout.ms``: request.timeout.ms ends the wait in the accumulator (3.1).

    A batch in flight does not run out of time (before 2.1).
    """

    def needs(self) -> Iterator[Requirement]:
        yield from ()

    def needs_of(self, batch: Batch) -> Iterator[Requirement]:
        since = f"{record_name(batch)} got into the accumulator"
        waits = Clock("in_accumulator", {"batch": batch.number}, batch.is_(Fate.BUFFERED), since)
        yield ("give_up",), {"batch": batch.number}, Need(waits, at_least=Duration.of(self._times.request_timeout))

    def within(self) -> Iterator[Duration]:
        yield from ()


def giving_up_of(pipeline: Pipeline) -> GivingUp:
    """Return the way in which the pipeline's client counts the time of a record."""
    producer = pipeline.deployment.producer
    if producer.expires_in_accumulator:
        return GivingUpInAccumulator(pipeline)
    return GivingUpEach(pipeline) if producer.sender.retries_keep_their_place else GivingUp(pipeline)
