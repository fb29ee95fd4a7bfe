"""Requests to end a transaction that are late, and end the next transaction (semantics 11.4)."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from proofka.checker.reproduction.plan import PlannedStep
from proofka.checker.reproduction.replay import Replay, Steer
from proofka.checker.reproduction.steps.calls import (
    ask,
    begin_elsewhere,
    of,
    wait_coordinator,
    wait_return,
)
from proofka.checker.reproduction.steps.ending import wait_end


def delay_earlier_end(replay: Replay, step: PlannedStep) -> None:
    """Commit a transaction that writes nothing to the tested partition; the first request to commit stays held."""
    transacting = of(replay)
    begin_elsewhere(replay)
    ask(replay, "commit")
    _hold_end_up(replay, commits=True)
    transacting.gates.ends.release(wait_end(replay, commits=True))
    wait_return(replay)
    transacting.each.pop()
    wait_coordinator(replay, "CompleteCommit")


def delay_end(replay: Replay, step: PlannedStep) -> None:
    """Have the application end the transaction, and keep the first request for later; the producer sends another."""
    commits = bool(step.arguments["commits"])
    ask(replay, "commit" if commits else "abort")
    _hold_end_up(replay, commits=commits)


def _hold_end_up(replay: Replay, *, commits: bool) -> None:
    frame = wait_end(replay, commits=commits)
    of(replay).late_end = frame
    of(replay).gates.ends.detach(frame)
    replay.note("proxy", f"holds the request to {'commit' if commits else 'abort'}; the producer's connection ends")


def discard_late_end(replay: Replay, step: PlannedStep) -> None:
    """Drop the request that nobody waits for."""
    late = of(replay).late_end
    assert late is not None
    of(replay).gates.ends.drop(late)
    of(replay).late_end = None


PLANS: Mapping[str, Steer] = MappingProxyType(
    {
        "delay_earlier_end": delay_earlier_end,
        "delay_end": delay_end,
        "discard_late_end": discard_late_end,
    }
)
"""The plan of each action with a late request to end a transaction, by the action's name."""
