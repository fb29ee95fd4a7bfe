"""Sequence numbers that brokers refuse, and what each client does about a failure (semantics 3.4, 3.5, 4, 11.1)."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from proofka.checker.cluster.frames import REQUEST
from proofka.checker.reproduction.errors import NotSteerableError
from proofka.checker.reproduction.gates import broker_of
from proofka.checker.reproduction.plan import PlannedStep
from proofka.checker.reproduction.replay import Replay, Steer
from proofka.checker.reproduction.steps.producing import acknowledge, execute, let_answer_pass, refuse_with, wait_report

OUT_OF_ORDER = "OUT_OF_ORDER_SEQUENCE_NUMBER"
"""Kafka's name of the refusal of a sequence number."""
NOT_WRITTEN = ("NOT_ENOUGH_REPLICAS", "NOT_ENOUGH_REPLICAS_AFTER_APPEND", "NOT_LEADER_OR_FOLLOWER", "REQUEST_TIMED_OUT")
"""Errors that an answer can have after its send has failed."""

UNVERIFIED = ("INVALID_TXN_STATE", "TRANSACTION_ABORTABLE", "INVALID_PRODUCER_EPOCH")
"""Refusals of a record whose transaction the coordinator does not have as ongoing.

The last is the leader's word for PRODUCER_FENCED, with which a coordinator answers that has raised the epoch
(AddPartitionsToTxnManager).
"""


def do_nothing(replay: Replay, step: PlannedStep) -> None:
    """Do nothing: the producer does this by itself as soon as nothing of it is in flight, and asks nobody."""


def refuse_number_with(*expected: str) -> Steer:
    """Return the plan of a broker that refuses a number with one of these errors, after which the send can fail."""

    def refuse(replay: Replay, step: PlannedStep) -> None:
        refuse_with(*expected)(replay, step)
        _wait_if_failed(replay, step)

    return refuse


def _wait_if_failed(replay: Replay, step: PlannedStep) -> None:
    """Wait for the report if the send of a step's batch has failed in the model."""
    send = replay.send_of(step)
    if step.state[str(send)].startswith("failed"):
        wait_report(replay, send, failed=True)


def refuse_after_stop(replay: Replay, step: PlannedStep) -> None:
    """Have the application call ``send()`` on a producer that has stopped permanently, and wait for the failure."""
    send = replay.send_of(step)
    replay.producing.send(send)
    wait_report(replay, send, failed=True)


def fail_to_connect(replay: Replay, step: PlannedStep) -> None:
    """Wait for the report if the send fails. An attempt after which the producer tries again shows nothing outside.

    The broker is down, so the proxy ends each connection to the broker, and the producer tries again by itself.
    """
    _wait_if_failed(replay, step)


def hear_late_error(replay: Replay, step: PlannedStep) -> None:
    """Let an error reach a producer that has given the record up.

    The connection ends. Where another request is on its way there, the broker's answer passes instead.
    """
    batch = step.arguments["batch"]
    request = replay.requests.get(batch)
    if request is None:
        raise NotSteerableError("the connection of the request has ended, and the producer heard of that at once")
    others = [frame for other, frame in replay.requests.items() if other != batch]
    if not any(frame.connection == request.connection for frame in others):
        replay.abandon(broker_of(request))
        return
    if request in replay.proxy.waiting(request.link, REQUEST):
        execute(replay, step)
    let_answer_pass(replay, step, expected=NOT_WRITTEN)


def take_for_another(replay: Replay, step: PlannedStep) -> None:
    """Let the request reach its broker, which acknowledges the record and appends nothing."""
    execute(replay, step)
    acknowledge(replay, step)


PLANS: Mapping[str, Steer] = MappingProxyType(
    {
        "bump_when_drained": do_nothing,
        "fail_to_connect": fail_to_connect,
        "hear_late_error": hear_late_error,
        "refuse_after_stop": refuse_after_stop,
        "refuse_and_reset": refuse_number_with(OUT_OF_ORDER, "INVALID_PRODUCER_EPOCH"),
        "refuse_first_due": refuse_number_with(OUT_OF_ORDER),
        "refuse_in_transaction": refuse_number_with(OUT_OF_ORDER),
        "refuse_later": refuse_number_with(OUT_OF_ORDER),
        "reject_old_epoch": refuse_number_with("INVALID_PRODUCER_EPOCH"),
        "reject_out_of_order": refuse_number_with(OUT_OF_ORDER),
        "reject_unverified": refuse_number_with(*UNVERIFIED),
        "resolve_sequences": do_nothing,
        "take_for_another": take_for_another,
    }
)
"""The plan of each action of the producer's numbers, by the action's name."""
