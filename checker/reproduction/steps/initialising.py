"""Producers that are given an epoch, and producers that their coordinator has forgotten (semantics 11.1, 11.6)."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from proofka.checker.cluster.waiting import until
from proofka.checker.reproduction.errors import DivergedError
from proofka.checker.reproduction.plan import PlannedStep
from proofka.checker.reproduction.replay import TIMER_SECONDS, Replay, Steer
from proofka.checker.reproduction.steps.calls import (
    OTHER_GROUP,
    ask,
    begin,
    coordinator,
    give_producer_up,
    of,
    returned,
    wait_coordinator,
    wait_return,
)
from proofka.checker.reproduction.transacting import (
    REFUSED,
)


def start_producer(replay: Replay) -> None:
    """Have a new producer call initTransactions(), unless the running one asks for an epoch already."""
    if of(replay).asked is None and not of(replay).is_started:
        ask(replay, "init")


def initialise(replay: Replay, step: PlannedStep) -> None:
    """Let the producer be given its new epoch, and wait until the application's call returns."""
    start_producer(replay)
    if of(replay).asked is not None:
        with of(replay).opened(of(replay).gates.starts):
            wait_return(replay)
        of(replay).is_started = True
    replay.note("coordinator", str(coordinator(replay)))


def fence_former(replay: Replay, step: PlannedStep) -> None:
    """Let the first request of the new producer reach the coordinator."""
    start_producer(replay)
    frame = of(replay).gates.starts.wait(what="the new producer's request for an epoch", seconds=TIMER_SECONDS)
    of(replay).gates.starts.release(frame)
    wait_coordinator(replay, "PrepareAbort", "CompleteAbort")


def find_forgotten(replay: Replay, step: PlannedStep) -> None:
    """Let whatever the producer asks for pass, and wait until the coordinator's refusal reaches the application."""
    transacting, producing = of(replay), replay.producing
    current = transacting.current
    if transacting.asked is None and current is not None and set(current.records) <= producing.acknowledged():
        ask(replay, "commit")
    gates = (transacting.gates.adds, replay.gates.produce_requests, replay.gates.produce_responses)
    failed = len([one for one in producing.reports if one.error])
    with transacting.opened(*gates, transacting.gates.ends):
        until(
            lambda: returned(replay) or len([one for one in producing.reports if one.error]) > failed,
            what="the refusal of what the producer asks for",
            seconds=TIMER_SECONDS,
        )
    if returned(replay):
        wait_return(replay, fails=True)
    give_producer_up(replay, REFUSED)


def find_forgotten_later(replay: Replay, step: PlannedStep) -> None:
    """Have the producer begin a transaction, which the coordinator refuses; the producer is given up."""
    begin(replay)
    of(replay).each.pop()
    event = replay.producing.run().ask("send_offsets", offset=0, group=OTHER_GROUP, seconds=TIMER_SECONDS)
    replay.note("producer", f"the first request of the transaction: {event.get('error') or 'success'}")
    if not event.get("error"):
        raise DivergedError(step.text, "the coordinator accepts the transaction")
    give_producer_up(replay, REFUSED)


PLANS: Mapping[str, Steer] = MappingProxyType(
    {
        "fence_former": fence_former,
        "find_forgotten": find_forgotten,
        "find_forgotten_later": find_forgotten_later,
        "initialise": initialise,
    }
)
"""The plan of each action with which a producer starts or finds itself forgotten, by the action's name."""
