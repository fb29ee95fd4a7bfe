"""Kinds of fault that were asked for and change nothing here, or are not modelled with these brokers."""

from __future__ import annotations

from collections.abc import Iterator

from model.deployment.assumptions import Application
from model.deployment.choices import OnProcessingError, Processing
from model.deployment.era import Era
from model.deployment.errors import NotModelledError
from model.deployment.given import GivenDeployment, complaint
from model.deployment.section import Section
from model.faults import Fault

AUTHORIZER = "authorizer.class.name"
"""Without one, brokers let everybody do everything."""


def faults_in_vain(
    given: GivenDeployment, broker: Section, era: Era, application: Application, *, idempotence: bool
) -> Iterator[str]:
    """A note for each kind that changes nothing. Raises NotModelledError for one that may, and is not modelled."""
    yield from _forged(given, broker, era)
    yield from _late(given, broker, era)
    yield from _failed_processing(given, application)
    yield from _elsewhere(given, idempotence=idempotence)


def _late(given: GivenDeployment, broker: Section, era: Era) -> Iterator[str]:
    """Up to 2.6 a follower asks once in each epoch, and what it keeps of a log that differs depends on when."""
    kind = Fault.LATE_ANSWER.value
    if kind not in given.faults:
        return
    if not era.copies_newer_epochs:
        yield f"{kind} changes nothing: followers of {broker.software} append no record of an epoch that is new to them"
    elif not era.checks_each_fetch:
        what = f"{kind} with brokers that speak a protocol before 2.7 to each other"
        raise complaint(given.faults[kind], f"not modelled yet: {what}", NotModelledError)


def _failed_processing(given: GivenDeployment, application: Application) -> Iterator[str]:
    """A kind of fault that was asked for, and that this application does not have."""
    kind = Fault.FAILED_PROCESSING
    how = application.on_processing_error
    in_turn = how is OnProcessingError.RETRY_LAST and application.processing is Processing.POLL_THREAD
    if kind.value in given.faults and (how is OnProcessingError.RETRY or in_turn):
        yield f"{kind} takes nothing but time with on_processing_error={how}: the record is processed in the end"
    if kind.value in given.faults and application.on_processing_error is OnProcessingError.STOP:
        yield (
            f"{kind} changes nothing with on_processing_error=stop: a failure that ends the process is a "
            f"{Fault.CONSUMER_CRASH}; say skip, forward or close for an application that goes on"
        )


def _forged(given: GivenDeployment, broker: Section, era: Era) -> Iterator[str]:
    """A kind of fault that was asked for, and that brokers with an authorizer do not have from 1.0.1 on."""
    kind = Fault.FORGED_FETCH.value
    if kind not in given.faults or era.believes_any_fetch:
        return
    if not broker.has(AUTHORIZER) or not broker.given[AUTHORIZER].value.strip():
        what = f"{kind} with brokers that let everybody do everything; say their {AUTHORIZER}, or name an older release"
        raise complaint(given.faults[kind], f"not modelled yet: {what}", NotModelledError)
    yield f"{kind} changes nothing: {broker.software} asks whether who fetches as a follower may (CVE-2018-1288)"


def _elsewhere(given: GivenDeployment, *, idempotence: bool) -> Iterator[str]:
    """What partitions of a producer share is its epoch, and so the numbers that are of it."""
    if Fault.FAILURE_ELSEWHERE.value in given.faults and not idempotence:
        yield f"{Fault.FAILURE_ELSEWHERE} changes nothing: without idempotence partitions share no sequence numbers"
