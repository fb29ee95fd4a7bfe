"""Members that their group evicts, and what they still do (semantics 12, C9 C10)."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from proofka.checker.cluster.coordination import members_of
from proofka.checker.cluster.plan import CONTROLLER
from proofka.checker.cluster.waiting import until
from proofka.checker.reproduction.errors import NotSteerableError
from proofka.checker.reproduction.plan import PlannedStep
from proofka.checker.reproduction.replay import TIMER_SECONDS, Replay, Steer
from proofka.checker.reproduction.steps.consuming import commit_first, polled
from proofka.checker.reproduction.steps.results import write_late_results


def throw_out(replay: Replay, step: PlannedStep) -> None:
    """Stop the consumer's process where it is, until its group has evicted the consumer."""
    commit_first(replay, step)
    if replay.plan.effective.get("consumer.group.protocol", "classic") != "classic":
        raise NotSteerableError("the replay counts the members of classic groups only, not of KIP-848")
    replay.consuming.evict()
    port = replay.cluster.harness_port(CONTROLLER)
    until(
        lambda: members_of(port, replay.group) == 0,
        what=f"the eviction of the silent member of group {replay.group}",
        seconds=TIMER_SECONDS,
    )
    replay.note("group", "has no member: the silent consumer is evicted")


def throw_out_while_processing(replay: Replay, step: PlannedStep) -> None:
    """Poll records, process some of them, and have the group evict the consumer, which keeps the other records."""
    records, done = polled(replay, step), step.arguments["done"]
    replay.consuming.processed += [record for _, record in records[:done]]
    replay.consuming.late.update((offset - replay.base, record) for offset, record in records[done:])
    throw_out(replay, step)


def finish_late(replay: Replay, step: PlannedStep) -> None:
    """Process a record that an evicted member still has; a member with results commits them with its offset."""
    offset = step.arguments["offset"]
    record = replay.consuming.late.pop(offset)
    write_late_results(replay, replay.base + offset, record)
    replay.consuming.processed.append(record)


def crash_late(replay: Replay, step: PlannedStep) -> None:
    """Kill the evicted members with what they still have."""
    replay.consuming.late.clear()
    replay.consuming.kill_evicted()


PLANS: Mapping[str, Steer] = MappingProxyType(
    {
        "crash_late": crash_late,
        "finish_late": finish_late,
        "throw_out": throw_out,
        "throw_out_while_processing": throw_out_while_processing,
    }
)
"""The plan of each action of evicted members, by the action's name."""
