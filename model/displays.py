"""The display of each part of the pipeline's state in a trace."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from proofka.model.deployment.choices import OnSendError
from proofka.model.language import Display, State, Variable, present
from proofka.model.state.pipeline import Batch, Fate, Pipeline, Replica
from proofka.model.state.request_words import ABANDONED, ON_ITS_WAY
from proofka.model.state.transactions import Outcome, Status, Transactions
from proofka.model.state.wording import broker_name, log_entries, log_words, members, reassignment_words, record_name

_FATES = {
    Fate.UNSENT: "not sent",
    Fate.BUFFERED: "in the accumulator",
    Fate.SENT: ON_ITS_WAY,
    Fate.APPENDED: "appended, not acknowledged",
    Fate.UNANSWERED: "in flight",
    Fate.ACKNOWLEDGED: "acknowledged",
    Fate.FAILED: "failed, the application knows",
    Fate.FORGOTTEN: "forgotten by the restarted producer",
}

_OUTCOMES = {
    Outcome.UNBEGUN: "not begun",
    Outcome.OPEN: "open",
    Outcome.ABORTING: "open, abortTransaction() called",
    Outcome.COMMITTED: "committed, the application knows",
    Outcome.ABORTED: "aborted, the application knows",
    Outcome.LOST: "forgotten by the restarted producer",
    Outcome.REFUSED: "refused to end, the application knows",
}

_STATUSES = {
    Status.EMPTY: "no transaction",
    Status.ONGOING: "ongoing",
    Status.PREPARE_COMMIT: "to be committed",
    Status.PREPARE_ABORT: "to be aborted",
    Status.COMPLETE_COMMIT: "committed",
    Status.COMPLETE_ABORT: "aborted",
}


def displays(pipeline: Pipeline) -> tuple[Display, ...]:
    """Return the displays of all parts of the state, in the order in which a trace shows them."""
    batches = pipeline.producer.batches
    transactions = () if pipeline.transactions is None else tuple(_of_producer(pipeline.transactions))
    position = None if pipeline.upstream is None else pipeline.upstream.position
    return (
        *_owned("producer", (shown for batch in batches for shown in (_batch(pipeline, batch), *_numbers(batch)))),
        *_owned("producer", transactions),
        *_owned("coordinator", () if pipeline.transactions is None else _coordinator(pipeline.transactions)),
        *(shown for one in pipeline.replicas for shown in _owned(one.name, _broker(pipeline, one))),
        *_owned("controller", _controller(pipeline)),
        *_owned("producer", _shown("position of the input", position, str)),
        *_owned("consumer", _consumer(pipeline)),
    )


def _owned(owner: str, displays: Iterable[Display]) -> Iterator[Display]:
    yield from (replace(display, owner=owner) for display in displays)


def _shown(what: str, variable: Variable | None, words: Callable[[int], str]) -> Iterator[Display]:
    """Yield the display of one variable; None stands for a variable that the deployment does without."""
    if variable is not None:
        yield Display(what, lambda state: words(state[variable.name]), (variable,))


def _offset(value: int) -> str:
    return str(value) if value >= 0 else "none"


def _batch(pipeline: Pipeline, batch: Batch) -> Display:
    def render(state: State) -> str:
        words = _FATES[Fate(state[batch.fate.name])]
        if (
            state[batch.fate.name] == Fate.FAILED
            and pipeline.deployment.application.on_send_error is OnSendError.IGNORE
        ):
            words = "failed, ignored by the application"
        target = state[batch.target.name]
        if state[batch.fate.name] == Fate.SENT:
            words += f" {broker_name(target)}"
        if state[batch.fate.name] == Fate.UNANSWERED:
            words += f" on a dead connection to {broker_name(target)}"
        if state[batch.fate.name] == Fate.FAILED and batch.doubtful is not None:
            words += ", may be stored" if state[batch.doubtful.name] else ", reported as not stored"
        if batch.unnoticed is not None and state[batch.unnoticed.name]:
            words = "failed in the client, its transaction does not know"
        if state[batch.fate.name] == Fate.BUFFERED and state[batch.retries.name]:
            words += ", to be retried"
        if state[batch.delayed.name]:
            words += f"; {ABANDONED} {broker_name(state[batch.delayed.name])}"
        return words

    kept = present(batch.doubtful, batch.unnoticed)
    return Display(record_name(batch), render, (batch.fate, batch.target, batch.retries, batch.delayed, *kept))


def _numbers(batch: Batch) -> Iterator[Display]:
    """Yield the display of a record's sequence number, for clients that keep it and can send it in a later epoch."""
    sequence, given, sent = batch.sequence, batch.numbered_in, batch.sent_epoch
    if sequence is None or given is None or sent is None:
        return

    def render(state: State) -> str:
        if state[sequence.name] < 0:
            return "none"
        late = f", in a batch of epoch {state[sent.name]}" if state[sent.name] > state[given.name] else ""
        return f"{state[sequence.name]} of epoch {state[given.name]}{late}"

    yield Display(f"number of {record_name(batch)}", render, (sequence, given, sent))


def _of_producer(transactions: Transactions) -> Iterator[Display]:
    for transaction in transactions.each:
        yield from _shown(transaction.name, transaction.outcome, tuple(_OUTCOMES.values()).__getitem__)


def _coordinator(transactions: Transactions) -> Iterator[Display]:
    status, current = transactions.status, transactions.current

    def at_coordinator(state: State) -> str:
        words = _STATUSES[Status(state[status.name])]
        return words if state[status.name] == Status.EMPTY else f"{transactions.name_of(state[current.name])}: {words}"

    yield Display("coordinator", at_coordinator, (status, current))
    yield from _shown("producer epoch at the coordinator", transactions.epoch, str)
    kept = ("all brokers have it", "only one broker has its end", "the end was lost")
    keeping = None if transactions.own_log is None else transactions.own_log.keeping
    yield from _shown("__transaction_state", keeping, kept.__getitem__)
    ends = ("none", "to commit", "to abort")
    yield from _shown("abandoned request to end a transaction", transactions.late_end, ends.__getitem__)


def _broker(pipeline: Pipeline, replica: Replica) -> Iterator[Display]:
    name = replica.name
    late = None if pipeline.late_answers is None else pipeline.late_answers.until[replica.number]

    def condition(state: State) -> str:
        if not state[replica.up.name]:
            return "down"
        words = "up"
        if state[replica.cut_off.name]:
            words += ", cut off from the controller"
        if late is not None and state[late.name]:
            words += f", waiting for an answer up to offset {state[late.name] - 1}"
        return words + (", not fetching" if state[replica.slow.name] else "")

    def role(state: State) -> str:
        leader, epoch = state[replica.leader.name], state[replica.epoch.name]
        if leader == replica.number:
            return f"leader in epoch {epoch}, ISR {members(state, replica.isr)}"
        return f"follower of {broker_name(leader)} in epoch {epoch}" if leader else "none"

    yield Display(name, condition, (replica.up, replica.cut_off, replica.slow, *present(late)))
    yield Display(f"{name}'s role", role, (replica.leader, replica.epoch, *replica.isr.values()))
    yield Display(
        f"{name}'s log",
        lambda state: log_words(pipeline, state, replica),
        replica.log.variables,
        entries=lambda state: log_entries(pipeline, state, replica),
    )
    yield from _shown(f"{name}'s high watermark", replica.high_watermark, str)
    yield from _shown(f"{name}'s log is forced to disk up to offset", replica.flushed, str)
    yield from _shown(f"{name}'s log start offset", replica.log_start, str)


def _controller(pipeline: Pipeline) -> Iterator[Display]:
    controller = pipeline.controller
    yield from _shown("leader", controller.leader, broker_name)
    yield from _shown("leader epoch", controller.epoch, str)
    yield Display("ISR", lambda state: members(state, controller.isr), tuple(controller.isr.values()))
    if controller.elr:
        yield Display("ELR", lambda state: members(state, controller.elr), tuple(controller.elr.values()))
    yield from _shown("last known leader", controller.last_known_leader, broker_name)
    reassignment = controller.reassignment
    if reassignment is not None:
        yield Display("reassignment", lambda state: reassignment_words(state, reassignment), reassignment.variables)
    yield from _shown("log start offset", pipeline.log_start, str)


def _consumer(pipeline: Pipeline) -> Iterator[Display]:
    consumer = pipeline.consumer
    yield from _shown("consumer", consumer.running, ("down", "running").__getitem__)
    yield from _shown("position", consumer.position, str)
    for offset, queued in enumerate(consumer.queued):
        yield from _shown(f"handed off from offset {offset}", queued, _held)
    for offset, late in enumerate(consumer.late):
        yield from _shown(f"still with the evicted member, from offset {offset}", late, _held)
    for offset, forwarded in enumerate(consumer.forwarded):
        yield from _shown(f"on its way to the retry topic, from offset {offset}", forwarded, _held)
    yield from _shown("committed offset at the last start", consumer.committed, _offset)
    times = ("no", "once", "more than once")
    for record, count in enumerate(consumer.processed):
        yield from _shown(f"record {record + 1} processed", count, times.__getitem__)
    effects = () if pipeline.applied is None else pipeline.applied.effects
    for record, count in enumerate(effects):
        yield from _shown(f"effect of record {record + 1}", count, times.__getitem__)


def _held(record: int) -> str:
    return f"record {record}" if record else "none"
