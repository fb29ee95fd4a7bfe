"""What can become of sends and of the application with some clients only: what is refused, and what releases do."""

from __future__ import annotations

from dataclasses import replace

from model.deployment import kafka_go, librdkafka, sarama
from model.deployment.choices import OnSendError, OnStop
from model.deployment.errors import NotModelledError
from model.deployment.given import Settings, complaint
from model.deployment.producer_rules import ProducerValues
from model.deployment.release import FIRST_IDEMPOTENT, JAVA, Release
from model.deployment.section import Section
from model.deployment.sender import Sender
from model.faults import Fault

FLUSH_WAITS_FOR_PARTS = {(3, 9): 2, (4, 0): 2, (4, 1): 1}
"""From which patch level of a release line on ``flush()`` waits for the parts of a split batch (KAFKA-19479)."""

RETURN_ERRORS = "Producer.Return.Errors"


def flush_forgets_parts(release: Release) -> bool:
    """This release's ``flush()`` returns when a batch is split; from 4.2 on none does (semantics 3.1, P9)."""
    if release.line in FLUSH_WAITS_FOR_PARTS:
        return (release.patch or 0) < FLUSH_WAITS_FOR_PARTS[release.line]
    return release.line < min(FLUSH_WAITS_FOR_PARTS)


def with_splitting(section: Section, sending: ProducerValues, faults: Settings) -> Sender:
    """What the client does, with what comes of a batch that it splits, where that is asked about."""
    said = faults.get(Fault.SPLIT_BATCH.value)
    if said is None:
        return sending.sender
    if section.library != JAVA or section.release.line < FIRST_IDEMPOTENT:
        what = f"{Fault.SPLIT_BATCH} with {section.software}, which fails all records of the batch: name refused-record"
        raise complaint(said, f"not modelled yet: {what}", NotModelledError)
    if sending.transactional or (sending.sequencing is not None and sending.sequencing.takes_new_ids):
        what = f"{Fault.SPLIT_BATCH} with transactions, and with idempotent producers before 2.5"
        raise complaint(said, f"not modelled yet: {what}", NotModelledError)
    return replace(sending.sender, flush_forgets_parts=flush_forgets_parts(section.release))


def check_stop(section: Section, sending: ProducerValues, faults: Settings, application: Settings) -> None:
    """Raise NotModelledError for an orderly end of a producer with transactions, which aborts what it has begun.

    And for one of a client whose close() leaves behind what waits to be retried.
    """
    said = faults.get(Fault.PRODUCER_STOP.value)
    if said is None:
        return
    if sending.transactional:
        what = f"{Fault.PRODUCER_STOP} with transactions, which aborts what is open; {Fault.PRODUCER_CRASH} is"
        raise complaint(said, f"not modelled yet: {what}", NotModelledError)
    how = application.get("on_stop")
    if not sending.sender.close_waits and (how is None or how.value.strip() != OnStop.EXIT):
        what = f"closing {section.software}, which does not wait for what is to be retried; say on_stop: exit"
        raise complaint(how or said, f"not modelled yet: {what}", NotModelledError)


def check_errors_are_heard(section: Section, application: Settings) -> None:
    """Raise DeploymentError where the client tells nobody that a send failed, and the application is not said to know.

    With ``Producer.Return.Errors`` off sarama writes a line to its log instead (returnErrors; semantics 4.2); so does
    kafka-go with ``Async`` and no ``Completion`` (4.5).
    """
    said = application.get("on_send_error")
    nobody_looks = said is not None and said.value.strip() == OnSendError.IGNORE
    if section.library == sarama.LIBRARY.name and not section.flag(RETURN_ERRORS) and not nobody_looks:
        what = "the client tells nobody of a failed send; say so with on_send_error: ignore, or set it to true"
        raise section.at(RETURN_ERRORS, what)
    asynchronous = section.library == kafka_go.LIBRARY.name and section.flag(kafka_go.ASYNC)
    if asynchronous and not section.has(kafka_go.COMPLETION) and not nobody_looks:
        what = "nobody is told of a failed write; say so with on_send_error: ignore, or give Completion"
        raise section.at(kafka_go.ASYNC, what)


def check_status(section: Section, sending: ProducerValues, application: Settings) -> None:
    """Raise DeploymentError where an application asks what its client does not say: whether a record may be stored."""
    said = application.get("on_send_error")
    if said is None or said.value.strip() != OnSendError.RESEND_IF_NOT_STORED:
        return
    if section.library != librdkafka.LIBRARY.name:
        raise complaint(said, f"{section.software} does not say whether a record may be stored; only librdkafka does")
    if sending.idempotence:
        what = "what librdkafka says of records of an idempotent producer; say resend, or set enable.idempotence=false"
        raise complaint(said, f"not modelled yet: {what}", NotModelledError)
