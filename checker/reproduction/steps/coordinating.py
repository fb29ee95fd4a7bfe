"""The coordinator of transactions: markers, timeouts, late requests, and the loss of its log (semantics 11)."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from types import MappingProxyType

from proofka.checker.cluster.bodies import write_txn_markers_request
from proofka.checker.cluster.frames import Frame
from proofka.checker.cluster.gate import NotHeld
from proofka.checker.cluster.plan import CONTROLLER
from proofka.checker.cluster.transaction_log import STATE_TOPIC
from proofka.checker.cluster.waiting import until
from proofka.checker.reproduction.plan import PlannedStep
from proofka.checker.reproduction.replay import START_SECONDS, TIMER_SECONDS, Replay, Steer
from proofka.checker.reproduction.steps.brokers import hear
from proofka.checker.reproduction.steps.calls import coordinator, of, wait_coordinator
from proofka.checker.reproduction.steps.ending import learn_at_last

TRANSACTION_SECONDS = 120.0
"""Longest wait until the coordinator aborts a transaction that nobody ends, in seconds."""
_LOADING = ("COORDINATOR_LOAD_IN_PROGRESS", "COORDINATOR_NOT_AVAILABLE", "NOT_COORDINATOR")


def write_marker(replay: Replay, step: PlannedStep) -> None:
    """Let the coordinator's marker reach the leader; the comparison of logs waits until the marker is on disk.

    A coordinator that starts again reads its log in the epoch before its start too, and sends the marker in both. The
    request of the earlier epoch, whose answer the coordinator does not take, is dropped.
    """
    leader, commits = step.arguments["leader"], bool(step.arguments["commits"])
    gate = of(replay).gates.markers

    def wanted() -> Frame | None:
        for frame in gate.held:
            markers = write_txn_markers_request(frame)
            if any(one.coordinator_epoch < of(replay).coordinator_epoch for one in markers):
                with suppress(NotHeld):
                    gate.drop(frame)
            elif (
                frame.link == f"replica->{leader}"
                and any(one.commits == commits for one in markers)
                and replay.proxy.has_client(frame.connection)
            ):
                return frame
        return None

    what = f"the coordinator's {'commit' if commits else 'abort'} marker for broker {leader}"
    frame = until(wanted, what=what, seconds=TIMER_SECONDS)
    assert frame is not None
    gate.release(frame)


def complete_transaction(replay: Replay, step: PlannedStep) -> None:
    """Let the leader's answer about the marker reach the coordinator."""
    leader = step.arguments["leader"]
    gate = of(replay).gates.marker_answers
    what = f"the answer of broker {leader} that the marker is replicated"
    gate.release(gate.wait(lambda frame: frame.link == f"replica->{leader}", what=what, seconds=TIMER_SECONDS))
    replay.note("coordinator", str(wait_coordinator(replay, "CompleteCommit", "CompleteAbort")))
    learn_at_last(replay)


def execute_late_end(replay: Replay, step: PlannedStep) -> None:
    """Let the request that nobody waits for reach the coordinator."""
    transacting = of(replay)
    assert transacting.late_end is not None
    transacting.gates.ends.deliver(transacting.late_end)
    transacting.late_end = None
    replay.note("coordinator", str(wait_coordinator(replay, "PrepareCommit", "PrepareAbort")))


def time_out(replay: Replay, step: PlannedStep) -> None:
    """Wait until the coordinator aborts the transaction, as ``transaction.timeout.ms`` is over."""
    view = wait_coordinator(replay, "PrepareAbort", seconds=TRANSACTION_SECONDS)
    replay.note("coordinator", str(view))


def put_at_risk(replay: Replay, step: PlannedStep) -> None:
    """Remember the end of the coordinator's log; what comes after this offset is lost with its broker."""
    of(replay).kept_end = replay.cluster.log_end(CONTROLLER, STATE_TOPIC)
    replay.note("coordinator", f"{STATE_TOPIC} ends at offset {of(replay).kept_end}")


def lose_end(replay: Replay, step: PlannedStep) -> None:
    """Kill the coordinator's node, cut its log back to the remembered end, and start the node again.

    The model's coordinator moves to another broker, which has the log up to this end. Here the same node has this log.
    """
    end = of(replay).kept_end
    assert end is not None
    _lose(replay, end)


def lose_all(replay: Replay, step: PlannedStep) -> None:
    """Kill the coordinator's node, empty the coordinator's log, and start the node again."""
    _lose(replay, 0)


def _lose(replay: Replay, end: int) -> None:
    cluster = replay.cluster
    for gate in replay.gates.metadata.values():
        gate.open()
    cluster.cut_log(CONTROLLER, STATE_TOPIC, end)
    cluster.restart(CONTROLLER)
    up = [broker for broker in replay.brokers if cluster.node(broker).is_up]
    for node in (*up, CONTROLLER):
        cluster.wait_live(node, seconds=START_SECONDS)
    newest = max(cluster.view(node, STATE_TOPIC).epoch for node in (*up, CONTROLLER))
    of(replay).coordinator_epoch = newest
    cluster.wait_view(
        lambda view: view.leader == CONTROLLER and view.epoch == newest,
        STATE_TOPIC,
        what=f"all brokers to know the leader of {STATE_TOPIC}",
        seconds=START_SECONDS,
    )
    until(
        lambda: coordinator(replay).error not in _LOADING,
        what="the coordinator to have read its log",
        seconds=START_SECONDS,
    )
    for broker in up:
        hear(replay, broker)
    replay.note("coordinator", f"{STATE_TOPIC} ended at offset {end}: {coordinator(replay)}")


PLANS: Mapping[str, Steer] = MappingProxyType(
    {
        "abort_forgotten": time_out,
        "complete_transaction": complete_transaction,
        "execute_late_end": execute_late_end,
        "lose_all": lose_all,
        "lose_end": lose_end,
        "put_at_risk": put_at_risk,
        "time_out_transaction": time_out,
        "write_marker": write_marker,
    }
)
"""The plan of each action of the coordinator of transactions, by the action's name."""
