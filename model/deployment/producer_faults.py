"""Faults of sends and of the application that depend on the client: refusals, and the behaviour of releases."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from proofka.model.deployment import kafka_go, librdkafka, sarama
from proofka.model.deployment.choices import OnSendError, OnStop
from proofka.model.deployment.given import Settings, complaint, not_modelled
from proofka.model.deployment.producer_rules import ProducerValues
from proofka.model.deployment.release import FIRST_IDEMPOTENT, JAVA, Release
from proofka.model.deployment.section import Section
from proofka.model.deployment.sender import Sender
from proofka.model.faults import Fault

FLUSH_WAITS_FOR_PARTS = {(3, 9): 2, (4, 0): 2, (4, 1): 1}
"""The first patch level of each release line whose ``flush()`` waits for the parts of a split batch (KAFKA-19479)."""

COUNTS_REFUSED = (3, 2)
"""The first release whose transactions fail with a record for which the buffer has no room (KAFKA-9279)."""

RETURN_ERRORS = "Producer.Return.Errors"

RETRIES_STORAGE_ERRORS: Mapping[str, tuple[int, ...]] = {
    "librdkafka": (1, 5, 2),
    "sarama": (1, 43, 3),
    "kafka-python": (2, 0, 4),
    "aiokafka": (0, 13),
}
"""The first release of each client that retries a record after KAFKA_STORAGE_ERROR (semantics 4); before, the record
fails at once. Clients that are not listed retry it in every release."""


def flush_forgets_parts(release: Release) -> bool:
    """Tell whether this release's ``flush()`` returns when a batch is split; no release does from 4.2 on (semantics
    3.1, P9)."""
    if release.line in FLUSH_WAITS_FOR_PARTS:
        return (release.patch or 0) < FLUSH_WAITS_FOR_PARTS[release.line]
    return release.line < min(FLUSH_WAITS_FOR_PARTS)


def with_splitting(section: Section, sending: ProducerValues, faults: Settings) -> Sender:
    """Return the client's sender, with the handling of split batches if that fault was requested. Raises
    NotModelledError."""
    said = faults.get(Fault.SPLIT_BATCH.value)
    if said is None:
        return sending.sender
    if section.library != JAVA or section.release.line < FIRST_IDEMPOTENT:
        what = (
            f"{Fault.SPLIT_BATCH} with {section.software}, which fails all records of the batch: name refused-record "
            "instead"
        )
        raise not_modelled(said, "N83", what)
    if sending.transactional or (sending.sequencing is not None and sending.sequencing.takes_new_ids):
        what = f"{Fault.SPLIT_BATCH} with transactions, and with idempotent producers before 2.5"
        raise not_modelled(said, "N84", what)
    return replace(sending.sender, flush_forgets_parts=flush_forgets_parts(section.release))


def check_storage_errors(section: Section, faults: Settings) -> None:
    """Raise NotModelledError for failing log directories with a client whose sends fail at a broker's storage error.

    The model retries such a send, so that no-dropped-record would hold.
    """
    said, retries = faults.get(Fault.LOG_DIR_FAILURE.value), RETRIES_STORAGE_ERRORS.get(section.library)
    if said is not None and retries is not None and section.release.full < retries:
        first = ".".join(map(str, retries))
        what = (
            f"{Fault.LOG_DIR_FAILURE} with {section.software}, whose sends fail at once at an error of a broker's "
            f"storage; name {section.library} {first} or later, or {Fault.SHUTDOWN} instead"
        )
        raise not_modelled(said, "N85", what)


def check_stop(section: Section, sending: ProducerValues, faults: Settings, application: Settings) -> None:
    """Raise NotModelledError for an orderly end of a producer with transactions, which aborts open ones.

    Also raise it for a client whose close() abandons records that wait for a retry.
    """
    said = faults.get(Fault.PRODUCER_STOP.value)
    if said is None:
        return
    if sending.transactional:
        what = (
            f"{Fault.PRODUCER_STOP} with transactions, which aborts an open transaction; name {Fault.PRODUCER_CRASH} "
            "instead"
        )
        raise not_modelled(said, "N86", what)
    how = application.get("on_stop")
    if not sending.sender.close_waits and (how is None or how.value.strip() != OnStop.EXIT):
        what = f"close() of {section.software}, which does not wait for retries; set on_stop: exit"
        raise not_modelled(how or said, "N69", what)


def survives_refused_send(section: Section) -> bool:
    """Tell whether a send() that the client itself refuses leaves the transaction good (semantics 11.1)."""
    return section.library == JAVA and section.release.line < COUNTS_REFUSED


def check_elsewhere(faults: Settings, *, transactional: bool) -> None:
    """Raise NotModelledError for failures in other partitions with transactions, which are aborted as a whole."""
    said = faults.get(Fault.FAILURE_ELSEWHERE.value)
    if said is not None and transactional:
        raise not_modelled(said, "N92", f"{Fault.FAILURE_ELSEWHERE} with transactions")


def check_errors_are_heard(section: Section, application: Settings) -> None:
    """Raise DeploymentError if the client reports no failed send, unless the application is assumed to ignore failures.

    With ``Producer.Return.Errors`` off, sarama writes a line to its log instead (returnErrors; semantics 4.2). The same
    holds for kafka-go with ``Async`` and without ``Completion`` (4.5).
    """
    said = application.get("on_send_error")
    nobody_looks = said is not None and said.value.strip() == OnSendError.IGNORE
    if section.library == sarama.LIBRARY.name and not section.flag(RETURN_ERRORS) and not nobody_looks:
        what = "the client does not report failed sends; set this to true, or accept that with on_send_error: ignore"
        raise section.at(RETURN_ERRORS, what)
    asynchronous = section.library == kafka_go.LIBRARY.name and section.flag(kafka_go.ASYNC)
    if asynchronous and not section.has(kafka_go.COMPLETION) and not nobody_looks:
        what = "the client does not report failed writes; set Completion, or accept that with on_send_error: ignore"
        raise section.at(kafka_go.ASYNC, what)


def check_status(section: Section, sending: ProducerValues, application: Settings) -> None:
    """Raise DeploymentError if the application needs to know whether a record can be stored and its client does not say
    it."""
    said = application.get("on_send_error")
    if said is None or said.value.strip() != OnSendError.RESEND_IF_NOT_STORED:
        return
    if section.library != librdkafka.LIBRARY.name:
        raise complaint(
            said, f"{section.software} does not report whether a record can be stored; only librdkafka does"
        )
    if sending.idempotence:
        what = (
            "the status of an idempotent producer's records in librdkafka; choose resend, or set "
            "enable.idempotence=false"
        )
        raise not_modelled(said, "N70", what)
