"""Records and committed offsets that are deleted, and a consumer that misses them (semantics 10 D1 D5, 12 C14)."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from proofka.checker.cluster.coordination import delete_group
from proofka.checker.cluster.plan import CONTROLLER
from proofka.checker.cluster.waiting import until
from proofka.checker.reproduction.errors import DivergedError
from proofka.checker.reproduction.plan import PlannedStep
from proofka.checker.reproduction.replay import SECONDS, TIMER_SECONDS, Replay, Steer


def expire(replay: Replay, step: PlannedStep) -> None:
    """Have the leader move its log start offset past the record, as its retention does when the record is too old.

    Retention deletes whole files; a request to delete records deletes single records.
    """
    leader, start = step.arguments["leader"], replay.base + step.arguments["offset"] + 1
    replay.cluster.admin.begin_to_delete_records(replay.topic, start, leader=leader)
    until(
        lambda: replay.cluster.range_of(leader, replay.topic).start == start,
        what=f"the log start offset {start} of broker {leader}",
        seconds=SECONDS,
    )
    replay.note(f"log of broker {leader}", f"begins at offset {start}")


def expire_offsets(replay: Replay, step: PlannedStep) -> None:
    """Delete the group with its committed offset, as its coordinator does when the offset is too old.

    The members have to be gone, so the step waits until the session of a member that crashed is over.
    """
    port = replay.cluster.harness_port(CONTROLLER)
    last = ""

    def deleted() -> bool:
        nonlocal last
        last = delete_group(port, replay.group)
        return last in ("", "GROUP_ID_NOT_FOUND")

    until(deleted, what=f"the deletion of group {replay.group}", seconds=TIMER_SECONDS)
    if last == "GROUP_ID_NOT_FOUND":
        raise DivergedError("the group has a committed offset", "the coordinator does not know the group")
    replay.note("group", "its committed offset is deleted")


PLANS: Mapping[str, Steer] = MappingProxyType({"expire": expire, "expire_offsets": expire_offsets})
"""The plan of each deletion, by the action's name."""
