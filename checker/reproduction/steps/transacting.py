"""The application's transactions, and the requests of its producer to the coordinator (semantics 11.1, 11.4, 11.6)."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from types import MappingProxyType

from checker.cluster.bodies import end_txn_request
from checker.cluster.client import ANSWERS
from checker.cluster.coordination import TransactionView, add_partition, transaction_of
from checker.cluster.frames import Frame
from checker.cluster.gate import NotHeld
from checker.cluster.plan import CONTROLLER
from checker.cluster.sends import Send
from checker.cluster.waiting import until
from checker.reproduction.applications import START_SECONDS, Event
from checker.reproduction.errors import DivergedError
from checker.reproduction.expected import previous
from checker.reproduction.gates import PRODUCER_ID
from checker.reproduction.plan import PlannedStep
from checker.reproduction.replay import SECONDS, TIMER_SECONDS, Replay, Steer
from checker.reproduction.transacting import (
    ABORTED,
    COMMITTED,
    REFUSED,
    Asked,
    SentTransaction,
    Transacting,
)

OTHER_GROUP = "proofka-other"
"""The group whose offsets stand in the trace's transactions for what these write outside of the tested partition."""
_CALLS = frozenset(
    {"send", "begin_abort", "begin_later", "prepare_commit", "learn_committed", "learn_fenced", "refuse_end"}
    | {"crash_producer", "crash_at_commit", "delay_end", "find_forgotten", "refuse_forgotten_end"}
)
"""The actions in which the application calls a method of its producer, or loses it."""
_FIRST_VERSION_THAT_ADDS = 12
"""First version of Produce whose leader adds the partition to the transaction (version 2 of transactions)."""


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


def delay_earlier_end(replay: Replay, step: PlannedStep) -> None:
    """Commit a transaction that writes nothing to the tested partition; the first request to commit stays held."""
    transacting = of(replay)
    _begin_elsewhere(replay)
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


def _begin_elsewhere(replay: Replay) -> None:
    """Have the application begin a transaction, with offsets of another group as its first content."""
    begin(replay)
    event = replay.producing.run().ask("send_offsets", offset=0, group=OTHER_GROUP, seconds=START_SECONDS)
    if event.get("error"):
        raise DivergedError("the coordinator begins a transaction", f"the producer is refused: {event['error']}")


def begin_later(replay: Replay, step: PlannedStep) -> None:
    """Begin a transaction with the tested partition in it, and without a record there.

    The model follows no records of this transaction. So the replay adds the partition in the producer's name, and the
    producer itself adds the offsets of another group, which makes it ask for the end.
    """
    _begin_elsewhere(replay)
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


def abort_unknown(replay: Replay, step: PlannedStep) -> None:
    """Let the coordinator answer the request to abort a transaction that it does not know."""
    learn_aborted(replay, step)


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
    _give_producer_up(replay, REFUSED)


def learn_fenced(replay: Replay, step: PlannedStep) -> None:
    """Have the producer ask for the end of its transaction, and find itself fenced; the producer is given up."""
    ask(replay, "commit")
    _let_end(replay, fails=True)
    _give_producer_up(replay, ABORTED)


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
    _give_producer_up(replay, REFUSED)


def find_forgotten_later(replay: Replay, step: PlannedStep) -> None:
    """Have the producer begin a transaction, which the coordinator refuses; the producer is given up."""
    begin(replay)
    of(replay).each.pop()
    event = replay.producing.run().ask("send_offsets", offset=0, group=OTHER_GROUP, seconds=TIMER_SECONDS)
    replay.note("producer", f"the first request of the transaction: {event.get('error') or 'success'}")
    if not event.get("error"):
        raise DivergedError(step.text, "the coordinator accepts the transaction")
    _give_producer_up(replay, REFUSED)


def _give_producer_up(replay: Replay, outcome: str) -> None:
    of(replay).end(outcome)
    replay.producing.kill()
    of(replay).forget_program()


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


def crash_at_commit(replay: Replay, step: PlannedStep) -> None:
    """Have the application commit, and kill its program before the coordinator's answer reaches it."""
    ask(replay, "commit")
    answers = replay.proxy.gate(f"client->{CONTROLLER}", "response", apis={"EndTxn"}, client=replay.producer_id)
    of(replay).gates.ends.release(wait_end(replay, commits=True))
    answers.wait(what="the coordinator's answer", seconds=SECONDS)
    replay.producing.kill()
    of(replay).forget_program()
    answers.remove()


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


def let_leader_add(replay: Replay, step: PlannedStep, frame: Frame) -> None:
    """Let the leader ask the coordinator to add the partition, and keep the coordinator's answer from the leader.

    In the model the partition is added as the request is sent. The leader appends only after the answer, so the request
    goes to the leader only if the leader appends it next.
    """
    batch = step.arguments["batch"]
    following = [one for one in replay.plan.steps if one.number > step.number and one.arguments.get("batch") == batch]
    if not following or following[0].action not in ("append", "add_again"):
        return
    added = of(replay).gates.added
    added.close()
    replay.gates.produce_requests.release(frame)
    added.wait(what="the coordinator's answer to the leader", seconds=SECONDS)
    of(replay).at_broker.add(batch)
    replay.note("coordinator", str(wait_coordinator(replay, "Ongoing")))


def add_again(replay: Replay, step: PlannedStep) -> None:
    """Let the request reach the leader, which has the partition added, and keep the answer from the leader."""
    let_leader_add(replay, step, replay.requests[step.arguments["batch"]])


def let_leader_go_on(replay: Replay, batch: int) -> bool:
    """Let the coordinator's answer reach a leader that has the batch's request already; return whether one has."""
    if replay.transacting is None or batch not in replay.transacting.at_broker:
        return False
    replay.transacting.at_broker.discard(batch)
    replay.transacting.gates.added.open()
    return True


PLANS: Mapping[str, Steer] = MappingProxyType(
    {
        "abort_unknown": abort_unknown,
        "add_again": add_again,
        "begin_abort": begin_abort,
        "begin_later": begin_later,
        "crash_at_commit": crash_at_commit,
        "delay_earlier_end": delay_earlier_end,
        "delay_end": delay_end,
        "discard_late_end": discard_late_end,
        "fence_former": fence_former,
        "find_forgotten": find_forgotten,
        "find_forgotten_later": find_forgotten_later,
        "initialise": initialise,
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
"""The plan of each action of an application with transactions and its producer, by the action's name."""
