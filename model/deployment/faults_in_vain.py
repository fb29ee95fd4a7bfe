"""Requested kinds of fault that have no effect on this deployment, or are not modelled with its brokers."""

from __future__ import annotations

from collections.abc import Iterator

from proofka.model.deployment.application import Application
from proofka.model.deployment.choices import OnProcessingError, Processing
from proofka.model.deployment.era import Era
from proofka.model.deployment.given import GivenDeployment, not_modelled
from proofka.model.deployment.section import Section
from proofka.model.faults import Fault

AUTHORIZER = "authorizer.class.name"
"""The setting of the brokers' authorizer. Without an authorizer, brokers allow everything to everybody."""


def faults_in_vain(
    given: GivenDeployment, broker: Section, era: Era, application: Application, *, idempotence: bool
) -> Iterator[str]:
    """Yield a note for each requested kind that has no effect. Raises NotModelledError for a kind that can have one but
    is not modelled."""
    yield from _forged(given, broker, era)
    yield from _late(given, broker, era)
    yield from _stall(given, broker, era)
    yield from _mixed(given, broker, era)
    yield from _failed_processing(given, application)
    yield from _elsewhere(given, idempotence=idempotence)


def _late(given: GivenDeployment, broker: Section, era: Era) -> Iterator[str]:
    """Yield a note about late answers. Up to 2.7 a follower asks once in each epoch, and the answer's time decides what
    the follower keeps."""
    kind = Fault.LATE_ANSWER.value
    if kind not in given.faults:
        return
    if not era.copies_newer_epochs:
        yield f"{kind} has no effect: followers of {broker.software} append no record of an unknown epoch"
    elif not era.checks_each_fetch:
        what = f"{kind} with brokers before 2.8, or that speak a protocol before 2.7 to each other"
        raise not_modelled(given.faults[kind], "N81", what)


def _stall(given: GivenDeployment, broker: Section, era: Era) -> Iterator[str]:
    """Yield a note about stalls of the controller with brokers that cannot register before they are fenced."""
    kind = Fault.CONTROLLER_STALL.value
    if kind in given.faults and not era.restart_before_fenced:
        why = "a broker that registers anew leaves the ISR, whether or not it was fenced"
        if era.zookeeper:
            why = "a broker cannot register before ZooKeeper ends its old session"
        yield f"{kind} has no effect: with {broker.software}, {why}"


def _mixed(given: GivenDeployment, broker: Section, era: Era) -> Iterator[str]:
    """Yield a note about mixed fetches with leaders that compare no epochs of brokers, or read them once."""
    kind = Fault.MIXED_FETCHES.value
    if kind in given.faults and not era.mixes_fetches:
        why = "leaders propose a replica with the offset and the broker epoch of one fetch"
        if era.old_fetches_count:
            why = "leaders compare no broker epochs, and count fetches from before a replica's restart in any case"
        yield f"{kind} has no effect: with {broker.software}, {why}"


def _failed_processing(given: GivenDeployment, application: Application) -> Iterator[str]:
    """Yield a note about failed processing where this application's reaction makes it ineffective."""
    kind = Fault.FAILED_PROCESSING
    how = application.on_processing_error
    in_turn = how is OnProcessingError.RETRY_LAST and application.processing is Processing.POLL_THREAD
    if kind.value in given.faults and (how is OnProcessingError.RETRY or in_turn):
        yield f"{kind} only costs time with on_processing_error={how}: the record is processed in the end"
    if kind.value in given.faults and application.on_processing_error is OnProcessingError.STOP:
        yield (
            f"{kind} has no effect with on_processing_error=stop: a failure that ends the process is a "
            f"{Fault.CONSUMER_CRASH}; for an application that continues, choose skip, forward or close"
        )


def _forged(given: GivenDeployment, broker: Section, era: Era) -> Iterator[str]:
    """Yield a note about forged fetches, which brokers with an authorizer refuse from 1.0.1 on."""
    kind = Fault.FORGED_FETCH.value
    if kind not in given.faults or era.believes_any_fetch:
        return
    if not broker.has(AUTHORIZER) or not broker.given[AUTHORIZER].value.strip():
        what = f"{kind} with brokers without an authorizer; set their {AUTHORIZER}, or name an older release"
        raise not_modelled(given.faults[kind], "N82", what)
    yield f"{kind} has no effect: {broker.software} checks the right to fetch as a follower (CVE-2018-1288)"


def _elsewhere(given: GivenDeployment, *, idempotence: bool) -> Iterator[str]:
    """Yield a note about failures in other partitions, which share nothing but the epoch and its sequence numbers."""
    if Fault.FAILURE_ELSEWHERE.value in given.faults and not idempotence:
        yield f"{Fault.FAILURE_ELSEWHERE} has no effect: without idempotence, partitions share no sequence numbers"
