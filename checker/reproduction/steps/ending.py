"""The end of transactions: the producer's requests to commit and to abort, and their answers (semantics 11.1, 11.4)."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from types import MappingProxyType

from proofka.checker.cluster.bodies import end_txn_request
from proofka.checker.cluster.frames import Frame
from proofka.checker.cluster.gate import NotHeld
from proofka.checker.cluster.plan import CONTROLLER
from proofka.checker.cluster.waiting import until
from proofka.checker.reproduction.errors import DivergedError
from proofka.checker.reproduction.plan import PlannedStep
from proofka.checker.reproduction.replay import SECONDS, TIMER_SECONDS, Replay, Steer
from proofka.checker.reproduction.steps.calls import (
    ask,
    coordinator,
    give_producer_up,
    of,
    returned,
    wait_coordinator,
    wait_return,
)
from proofka.checker.reproduction.transacting import (
    ABORTED,
    COMMITTED,
    REFUSED,
)

_CALLS = frozenset(
    {"send", "begin_abort", "begin_later", "prepare_commit", "learn_committed", "learn_fenced", "refuse_end"}
    | {"crash_producer", "crash_at_commit", "delay_end", "find_forgotten", "refuse_forgotten_end"}
)
"""The actions in which the application calls a method of its producer, or loses it."""


def held_end(replay: Replay) -> Frame | None:
    """Return the producer's request to end a transaction that a gate holds, or None."""
    transacting = of(replay)
    for frame in transacting.gates.ends.held:
        if frame is not transacting.late_end and replay.proxy.has_client(frame.connection):
            return frame
    return None


def wait_end(replay: Replay, *, commits: bool) -> Frame:
    """Return the producer's request to end a transaction, once a gate holds the request. Raises DivergedError."""
    what = "commit" if commits else "abort"
    frame = until(
        lambda: held_end(replay), what=f"the producer's request to {what} the transaction", seconds=TIMER_SECONDS
    )
    assert frame is not None
    if end_txn_request(frame).commits != commits:
        raise DivergedError(f"the producer asks to {what}", f"the producer sends {end_txn_request(frame)}")
    return frame


def calls_commit_next(replay: Replay) -> bool:
    """Tell whether the application calls commitTransaction() after its last ``send()``, although a send will fail.

    A client before version 2 of transactions keeps its epoch only if the send fails while that call waits for it.
    """
    following = replay.plan.steps[replay.step :]
    next_call = next((one for one in following if one.action in _CALLS), None)
    if next_call is None or next_call.action != "begin_abort":
        return False
    number = next_call.arguments["transaction"]
    return any(
        one.action == "prepare_abort" and one.arguments == {"transaction": number, "anew": 0} for one in following
    )


def begin_abort(replay: Replay, step: PlannedStep) -> None:
    """Have the application call abortTransaction(), after the failure of commitTransaction() if it was called."""
    asked = of(replay).asked
    if asked is not None and asked.command == "commit":
        wait_return(replay, fails=True)
    ask(replay, "abort")


def prepare_commit(replay: Replay, step: PlannedStep) -> None:
    """Have the application commit, let the request reach the coordinator, and wait until the call returns."""
    ask(replay, "commit")
    of(replay).gates.ends.release(wait_end(replay, commits=True))
    wait_return(replay)
    of(replay).end(COMMITTED)


def prepare_abort(replay: Replay, step: PlannedStep) -> None:
    """Let the request to abort reach the coordinator.

    A client that asks for a new epoch returns from abortTransaction() once it has the epoch.
    """
    of(replay).gates.ends.release(wait_end(replay, commits=False))
    if not step.arguments["anew"]:
        wait_return(replay)
        of(replay).end(ABORTED)
        return
    wait_coordinator(replay, "PrepareAbort", "CompleteAbort")
    _end_with_call_pending(replay, ABORTED)


def _end_with_call_pending(replay: Replay, outcome: str) -> None:
    asked = of(replay).asked
    of(replay).end(outcome)
    of(replay).asked = asked


def _let_end(replay: Replay, *, fails: bool) -> None:
    """Let requests to end a transaction pass until the application's call returns, or waits for a new epoch."""
    gates = of(replay).gates

    def answered() -> object:
        # The coordinator answers CONCURRENT_TRANSACTIONS while markers are written, and the producer asks again.
        frame = held_end(replay)
        if frame is not None:
            with suppress(NotHeld):
                gates.ends.release(frame)
        return returned(replay) or gates.starts.held

    until(answered, what="the answer to the request to end the transaction", seconds=TIMER_SECONDS)
    if returned(replay):
        wait_return(replay, fails=fails)


def learn_committed(replay: Replay, step: PlannedStep) -> None:
    """Have the application commit what the coordinator has committed already."""
    ask(replay, "commit")
    if not _waits_for_markers(replay, step, COMMITTED):
        _let_end(replay, fails=False)
        of(replay).end(COMMITTED)


def _waits_for_markers(replay: Replay, step: PlannedStep, outcome: str) -> bool:
    """Tell whether the call returns only when the coordinator has completed the transaction, later in the trace.

    In the model the call returns with the decision. The coordinator answers CONCURRENT_TRANSACTIONS to a second request
    until the markers are written.
    """
    is_ending = coordinator(replay).state in ("PrepareCommit", "PrepareAbort")
    if returned(replay) or not is_ending or not replay.plan.later(step, "complete_transaction"):
        return False
    of(replay).learns = outcome
    replay.note("proxy", "the producer's request waits until the coordinator has completed the transaction")
    return True


def learn_at_last(replay: Replay) -> None:
    """Let the application's call return, if it has waited for the completion of the transaction."""
    outcome, of(replay).learns = of(replay).learns, None
    if outcome is not None:
        _let_end(replay, fails=False)
        _end_with_call_pending(replay, outcome)


def learn_aborted(replay: Replay, step: PlannedStep) -> None:
    """Let the producer hear that the transaction is aborted, or that there is none."""
    if not _waits_for_markers(replay, step, ABORTED):
        _let_end(replay, fails=False)
        _end_with_call_pending(replay, ABORTED)


def take_for_earlier_end(replay: Replay, step: PlannedStep) -> None:
    """Let the coordinator take the request for the one before, and the application's call return."""
    if step.arguments["commits"]:
        learn_committed(replay, step)
    else:
        learn_aborted(replay, step)


def refuse_end(replay: Replay, step: PlannedStep) -> None:
    """Have the application end the transaction, and wait until its call fails; the producer is given up."""
    if of(replay).asked is None:
        ask(replay, "commit")
    _let_end(replay, fails=True)
    give_producer_up(replay, REFUSED)


def learn_fenced(replay: Replay, step: PlannedStep) -> None:
    """Have the producer ask for the end of its transaction, and find itself fenced; the producer is given up."""
    ask(replay, "commit")
    _let_end(replay, fails=True)
    give_producer_up(replay, ABORTED)


def crash_at_commit(replay: Replay, step: PlannedStep) -> None:
    """Have the application commit, and kill its program before the coordinator's answer reaches it."""
    ask(replay, "commit")
    answers = replay.proxy.gate(f"client->{CONTROLLER}", "response", apis={"EndTxn"}, client=replay.producer_id)
    of(replay).gates.ends.release(wait_end(replay, commits=True))
    answers.wait(what="the coordinator's answer", seconds=SECONDS)
    replay.producing.kill()
    of(replay).forget_program()
    answers.remove()


PLANS: Mapping[str, Steer] = MappingProxyType(
    {
        "abort_unknown": learn_aborted,
        "begin_abort": begin_abort,
        "crash_at_commit": crash_at_commit,
        "learn_aborted": learn_aborted,
        "learn_committed": learn_committed,
        "learn_fenced": learn_fenced,
        "prepare_abort": prepare_abort,
        "prepare_commit": prepare_commit,
        "refuse_end": refuse_end,
        "refuse_forgotten_end": refuse_end,
        "take_for_earlier_end": take_for_earlier_end,
    }
)
"""The plan of each action that ends a transaction, by the action's name."""
