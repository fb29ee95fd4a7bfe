"""After each step: what brokers' disks and the coordinator of transactions hold, beside the model's state."""

from __future__ import annotations

from proofka.checker.cluster.coordination import transaction_of
from proofka.checker.cluster.errors import NotSeen
from proofka.checker.cluster.plan import CONTROLLER
from proofka.checker.cluster.waiting import until
from proofka.checker.reproduction.errors import DivergedError
from proofka.checker.reproduction.expected import coordinator_states_of, entries_of, is_up, previous
from proofka.checker.reproduction.plan import PlannedStep
from proofka.checker.reproduction.replay import Content, Replay

LOG_SECONDS = 10.0
"""Longest wait until a disk shows what the model's state has, in seconds."""


def compare(replay: Replay, step: PlannedStep) -> None:
    """Wait until the log of each broker that runs equals the model's after a step. Raises DivergedError.

    A log that the step changes in the model is compared even if its broker does not run: a power loss cuts it.
    """
    before = previous(replay.plan, step)
    for broker in replay.brokers:
        expected = entries_of(step.logs[broker])
        is_changed = before[f"broker {broker}'s log"] != step.state[f"broker {broker}'s log"]
        if not is_up(step.state, broker) and not is_changed:
            continue
        try:
            until(
                lambda broker=broker, expected=expected: replay.log(broker) == expected,  # type: ignore[misc]
                what=f"the log of broker {broker} as in the model",
                seconds=LOG_SECONDS,
            )
        except NotSeen as error:
            found = replay.log(broker)
            raise DivergedError(
                f"broker {broker}'s log is {in_words(expected)}", f"broker {broker}'s disk has {in_words(found)}"
            ) from error
        if replay.shown.get(broker, ()) != expected:
            replay.shown[broker] = expected
            replay.note(f"log of broker {broker}", entries_in_words(replay, broker))


def compare_coordinator(replay: Replay, step: PlannedStep) -> None:
    """Wait until the coordinator of transactions has decided as the model's after a step. Raises DivergedError."""
    if replay.transacting is None:
        return
    expected = coordinator_states_of(step.state)
    port, name = replay.cluster.harness_port(CONTROLLER), replay.transacting.id

    def seen() -> bool:
        view = transaction_of(port, name)
        return (view.state or view.error) in expected

    try:
        until(seen, what="the state of the coordinator as in the model", seconds=LOG_SECONDS)
    except NotSeen as error:
        raise DivergedError(
            f"the coordinator has {step.state['coordinator']}", f"the coordinator answers: {transaction_of(port, name)}"
        ) from error


def entries_in_words(replay: Replay, broker: int) -> str:
    """Return the entries of a broker's log from the modelled part on, with real offsets and epochs."""
    entries = replay.modelled_entries(broker)
    return ", ".join(f"{offset}: {content} (epoch {epoch})" for offset, content, epoch in entries) or "empty"


def in_words(log: tuple[Content, ...]) -> str:
    """Return a log in the model's words."""
    return "[" + ", ".join(f"{content} @{epoch}" for content, epoch in log) + "]"
