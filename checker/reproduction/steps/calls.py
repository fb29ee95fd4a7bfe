"""Calls of the application with transactions, and what the coordinator believes of its producer (semantics 11.1)."""

from __future__ import annotations

from proofka.checker.cluster.client import ANSWERS
from proofka.checker.cluster.coordination import TransactionView, transaction_of
from proofka.checker.cluster.plan import CONTROLLER
from proofka.checker.cluster.waiting import until
from proofka.checker.reproduction.applications import START_SECONDS, Event
from proofka.checker.reproduction.errors import DivergedError
from proofka.checker.reproduction.replay import SECONDS, TIMER_SECONDS, Replay
from proofka.checker.reproduction.transacting import (
    Asked,
    SentTransaction,
    Transacting,
)

OTHER_GROUP = "proofka-other"
"""The group whose offsets stand in the trace's transactions for what these write outside of the tested partition."""


def of(replay: Replay) -> Transacting:
    """Return the transactions of a replay whose producer has them."""
    assert replay.transacting is not None, "the producer has no transactions"
    return replay.transacting


def coordinator(replay: Replay) -> TransactionView:
    """Return the state of the producer's transactional id as the coordinator believes it."""
    return transaction_of(replay.cluster.harness_port(CONTROLLER), of(replay).id)


def wait_coordinator(replay: Replay, *states: str, seconds: float = SECONDS) -> TransactionView:
    """Wait until the coordinator has one of these states, and return what it believes."""

    def seen() -> TransactionView | None:
        view = coordinator(replay)
        return view if view.state in states else None

    found = until(seen, what=f"the coordinator's state {' or '.join(states)}", seconds=seconds)
    assert found is not None
    return found


def begin(replay: Replay) -> SentTransaction:
    """Have the application begin a transaction, unless it has one, and return the transaction."""
    transacting = of(replay)
    if transacting.current is None:
        event = replay.producing.run().ask("begin", seconds=START_SECONDS)
        if event.get("error"):
            raise DivergedError("the application begins a transaction", f"beginTransaction() fails: {event['error']}")
        transacting.each.append(SentTransaction())
    return transacting.each[-1]


def begin_elsewhere(replay: Replay) -> None:
    """Have the application begin a transaction, with offsets of another group as its first content."""
    begin(replay)
    event = replay.producing.run().ask("send_offsets", offset=0, group=OTHER_GROUP, seconds=START_SECONDS)
    if event.get("error"):
        raise DivergedError("the coordinator begins a transaction", f"the producer is refused: {event['error']}")


def ask(replay: Replay, command: str) -> None:
    """Have the application call a method, and do not wait until it returns. Nothing happens if it has called already.

    ``command``: "init", "commit" or "abort".
    """
    transacting, program = of(replay), replay.producing.run()
    if transacting.asked is None or transacting.asked.command != command:
        transacting.asked = Asked(command, len(program.events))
        program.send(command)


def returned(replay: Replay) -> Event | None:
    """Return the event that tells that the application's last call has returned; None before."""
    asked, program = of(replay).asked, replay.producing.program
    if asked is None or program is None:
        return None
    names = (ANSWERS[asked.command], "failed")
    return next((event for event in program.events[asked.after :] if event["event"] in names), None)


def wait_return(replay: Replay, *, fails: bool = False) -> Event:
    """Wait until the application's last call returns. Raises DivergedError unless it fails as expected."""
    asked = of(replay).asked
    assert asked is not None, "the application has called nothing"
    event = until(lambda: returned(replay), what=f"the return of {asked.command}", seconds=TIMER_SECONDS)
    of(replay).asked = None
    replay.note("producer", f"{asked.command} returns: {event.get('error') or 'success'}")
    if bool(event.get("error")) != fails:
        expected = "fails" if fails else "succeeds"
        raise DivergedError(f"{asked.command} {expected}", f"{asked.command} returns: {event.get('error')}")
    return event


def give_producer_up(replay: Replay, outcome: str) -> None:
    of(replay).end(outcome)
    replay.producing.kill()
    of(replay).forget_program()
