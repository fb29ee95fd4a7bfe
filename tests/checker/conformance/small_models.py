"""Small models for the tests of the lab, with random walks."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from random import Random

from proofka.checker.conformance.events import Event
from proofka.model.deployment.explored import Bounds
from proofka.model.faults import Fault
from proofka.model.language import Action
from proofka.model.pipeline import Model, build
from tests.checker.asking import example
from tests.checker.conformance.walks import Taken, Walker, Weight, few_fetches, shown
from tests.deployments import changed

SMALL = Bounds(records=2, log=3, sends=1, epochs=5, producer_epochs=2)
LARGE = Bounds(records=2, log=4, sends=1, epochs=8, producer_epochs=3)
FEW_KINDS = (Fault.KILL, Fault.SLOW_FOLLOWER, Fault.LOST_RESPONSE, Fault.LEADER_MOVE, Fault.SHUTDOWN)
KINDS = (*FEW_KINDS, Fault.POWER_LOSS, Fault.DISK_LOSS, Fault.CUT_OFF, Fault.LOST_REQUEST, Fault.DELAYED_REQUEST)


@cache
def two_brokers(name: str) -> Model:
    """Return a small model for the plain tracker."""
    return build(changed(replace(example(name, FEW_KINDS, 9), bounds=SMALL), replicas=2, min_insync_replicas=1))


@cache
def three_brokers(name: str) -> Model:
    return build(replace(example(name, KINDS, 9), bounds=LARGE))


@cache
def crashing(name: str) -> Model:
    """Return the model of three brokers with a producer that can crash."""
    return build(replace(example(name, (*KINDS, Fault.PRODUCER_CRASH), 9), bounds=LARGE))


@cache
def transacting(name: str, brokers: int = 3) -> Model:
    """Return the model of a producer with transactions, whose application can crash."""
    kinds = (*(KINDS if brokers == 3 else FEW_KINDS), Fault.PRODUCER_CRASH, Fault.DELAYED_REQUEST)
    bounds = Bounds(records=3, log=5 if brokers == 3 else 4, sends=1, epochs=8, producer_epochs=6)
    asked = replace(example(name, tuple(dict.fromkeys(kinds)), 9), bounds=bounds)
    return build(asked if brokers == 3 else changed(asked, replicas=brokers, min_insync_replicas=1))


@cache
def reading(name: str, brokers: int = 3) -> Model:
    """Return the model of a consumer that can crash."""
    kinds = (*(KINDS if brokers == 3 else FEW_KINDS), Fault.CONSUMER_CRASH)
    asked = replace(example(name, kinds, 9), bounds=LARGE if brokers == 3 else SMALL)
    return build(asked if brokers == 3 else changed(asked, replicas=brokers, min_insync_replicas=1))


def towards_polls(action: Action) -> float:
    """Return a high weight for what a record needs until it is read, and for the consumer."""
    needed = action.name in ("append", "fetch", "acknowledge", "send", "transmit")
    return (8.0 if needed or action.lane == "consumer" else 1.0) * (0.3 if action.fault is not None else 1.0)


def towards_ends(action: Action) -> float:
    """Return a high weight for the steps that a transaction needs, and a low one for other faults than crashes."""
    needed = action.name in ("append", "fetch", "acknowledge", "write_marker")
    return (8.0 if needed or action.lane == "producer" or action.actor == "coordinator" else 1.0) * (
        0.3 if action.fault is not None else 1.0
    )


def walks(
    model: Model, count: int, length: int, *, weight: Weight = few_fetches, reads: bool = False
) -> list[tuple[list[Taken], list[Event]]]:
    """Return random walks of the model with their events. ``reads``: as of :class:`Walker`."""
    walker, found = Walker(model.system, reads=reads), []
    for seed in range(count):
        random = Random(seed)
        walk = walker.walk(random, length, 3, weight=weight)
        found.append((walk, shown(model, walk, random)))
    return found
