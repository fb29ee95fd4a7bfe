"""Partitions that are added to a transaction, by the producer or by the leader (semantics 11.1, 11.6)."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from proofka.checker.cluster.coordination import add_partition
from proofka.checker.cluster.frames import Frame
from proofka.checker.cluster.plan import CONTROLLER
from proofka.checker.cluster.sends import Send
from proofka.checker.cluster.waiting import until
from proofka.checker.reproduction.errors import DivergedError
from proofka.checker.reproduction.expected import previous
from proofka.checker.reproduction.gates import PRODUCER_ID
from proofka.checker.reproduction.plan import PlannedStep
from proofka.checker.reproduction.replay import SECONDS, TIMER_SECONDS, Replay, Steer
from proofka.checker.reproduction.steps.calls import (
    begin_elsewhere,
    coordinator,
    of,
    wait_coordinator,
)

_FIRST_VERSION_THAT_ADDS = 12
"""First version of Produce whose leader adds the partition to the transaction (version 2 of transactions)."""


def begin_later(replay: Replay, step: PlannedStep) -> None:
    """Begin a transaction with the tested partition in it, and without a record there.

    The model follows no records of this transaction. So the replay adds the partition in the producer's name, and the
    producer itself adds the offsets of another group, which makes it ask for the end.
    """
    begin_elsewhere(replay)
    found = wait_coordinator(replay, "Ongoing")
    port = replay.cluster.harness_port(CONTROLLER)
    error = add_partition(port, of(replay).id, found, replay.topic, as_leader=_leaders_add(replay))
    if error:
        raise DivergedError(step.text, f"the coordinator refuses to add the partition: {error}")
    replay.note("coordinator", f"{coordinator(replay)}; the partition is added in the producer's name")


def _leaders_add(replay: Replay) -> bool:
    """Tell whether leaders add partitions for this producer: version 2 of transactions."""
    return any(
        entry.frame.api == "Produce" and entry.frame.version >= _FIRST_VERSION_THAT_ADDS
        for entry in replay.proxy.seen
        if entry.frame.client.startswith(PRODUCER_ID)
    )


def added_partition(replay: Replay, step: PlannedStep) -> bool:
    """Tell whether the model's coordinator adds the partition in this step."""
    key = "coordinator"
    return replay.transacting is not None and previous(replay.plan, step)[key] != step.state[key]


def let_partition_be_added(replay: Replay, send: Send) -> bool:
    """Let the producer's request to add the partition pass, where the producer and not the leader adds it.

    Return whether the producer has asked.
    """
    adds = of(replay).gates.adds
    until(
        lambda: adds.held or replay.waiting_request(send),
        what=f"a request to add the partition, or a request with {send}",
        seconds=TIMER_SECONDS,
    )
    if not adds.held:
        return False
    with of(replay).opened(adds):
        # The answer to the first request may find nobody, where the producer has given the request up meanwhile.
        until(lambda: replay.waiting_request(send), what=f"a request with {send}", seconds=TIMER_SECONDS)
    replay.note("coordinator", str(coordinator(replay)))
    return True


def have_added_untransmitted(replay: Replay) -> None:
    """Let the producer's request to add the partition pass, for a record that the model does not transmit."""
    with of(replay).opened(of(replay).gates.adds):
        view = wait_coordinator(replay, "Ongoing", seconds=TIMER_SECONDS)
    replay.note("coordinator", str(view))


def let_leader_add(replay: Replay, step: PlannedStep, frame: Frame) -> None:
    """Let the leader ask the coordinator to add the partition, and keep the coordinator's answer from the leader.

    In the model the partition is added as the request is sent. The leader appends only after the answer, so the request
    goes to the leader only if the leader appends it next.
    """
    batch = step.arguments["batch"]
    following = [one for one in replay.plan.steps if one.number > step.number and one.arguments.get("batch") == batch]
    if following and following[0].action in ("append", "add_again"):
        _have_added(replay, batch, frame)


def _have_added(replay: Replay, batch: int, frame: Frame) -> None:
    added = of(replay).gates.added
    added.close()
    replay.gates.produce_requests.release(frame)
    added.wait(what="the coordinator's answer to the leader", seconds=SECONDS)
    of(replay).at_broker.add(batch)
    replay.note("coordinator", str(wait_coordinator(replay, "Ongoing")))


def add_again(replay: Replay, step: PlannedStep) -> None:
    """Let the request reach the leader again, which has the partition added, and keep the answer from the leader.

    The coordinator's first answer was lost with its node. So the leader refused the request, and the producer sends the
    request again, for which the model has no step.
    """
    batch, leader, send = step.arguments["batch"], step.arguments["leader"], replay.send_of(step)
    if batch in of(replay).at_broker:
        of(replay).at_broker.discard(batch)
        replay.requests[batch] = until(
            lambda: replay.sent_again(batch, leader), what=f"another request with {send}", seconds=TIMER_SECONDS
        )
        replay.known.append(replay.requests[batch])
    _have_added(replay, batch, replay.requests[batch])


def let_leader_go_on(replay: Replay, batch: int) -> bool:
    """Let the coordinator's answer reach a leader that has the batch's request already; return whether one has."""
    if replay.transacting is None or batch not in replay.transacting.at_broker:
        return False
    replay.transacting.at_broker.discard(batch)
    replay.transacting.gates.added.open()
    return True


PLANS: Mapping[str, Steer] = MappingProxyType(
    {
        "add_again": add_again,
        "begin_later": begin_later,
    }
)
"""The plan of each action that adds a partition, by the action's name."""
