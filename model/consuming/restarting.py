"""The start of a consumer of the group, after a crash or a handover to another member (semantics 12, C2 C10 C13).

The start decides how far the last commit got and which records workers had finished (docs/semantics.md).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import IntEnum
from itertools import combinations

import z3

from proofka.model.consuming.committing import commit
from proofka.model.consuming.consumer import process
from proofka.model.deployment.choices import Commit, Group, OffsetReset
from proofka.model.deployment.implied.commits import offsets_may_be_gone
from proofka.model.faults import REPLACES_MEMBER
from proofka.model.language import Action, Effect, State, Variable
from proofka.model.language.terms import And, If, IntVal, Not, Or
from proofka.model.log.visibility import end_of_reading
from proofka.model.state.consumer import EXPIRED
from proofka.model.state.pipeline import Pipeline, Replica
from proofka.model.state.sink import apply

FINDS_IT = "a consumer of the group finds out that there is a new partition"
"""The words for the first start of a consumer in a partition that its group did not know (semantics 12, C15)."""

Finished = tuple[int, ...]
"""The offsets of records that workers had finished."""


class Committed(IntEnum):
    """The extent of the last commit before a start: nothing, all that was returned, or past what other workers had."""

    NOTHING = 0
    ALL = 1
    PAST_OTHERS = 2


def restart(pipeline: Pipeline, finished: Finished, committed: Committed) -> Action:
    """Start the consumer from the committed offset; without one, earliest starts at 0 (semantics 12, C2 C6 C13).

    ``finished`` are the offsets that workers had finished before the crash. The last commit covered everything returned
    so far, or nothing was committed since the start. A commit in between skips less than the former and repeats less
    than the latter. Where each worker commits, its commit can pass records that other workers still had.
    """
    consumer, deployment = pipeline.consumer, pipeline.deployment
    effect = Effect()
    for offset in finished:
        queued = consumer.queued[offset]
        process(pipeline, effect, queued.term - 1, offset)
        effect[queued] = 0
    if committed is Committed.ALL:
        commit(effect, pipeline, consumer.position.term, consumer.position_epoch.term)
    elif committed is Committed.PAST_OTHERS:
        commit(effect, pipeline, IntVal(max(finished) + 1), consumer.position_epoch.term)
    elif deployment.application.sink.keeps_offsets and consumer.queued:
        commit(effect, pipeline, _first_unfinished(pipeline, effect), consumer.position_epoch.term)
    _start(pipeline, effect)
    _leave_to_late(pipeline, effect)
    effect[consumer.position] = If(effect[consumer.committed] > 0, effect[consumer.committed], 0)
    effect[consumer.position_epoch] = effect[consumer.committed_epoch]

    def sentence(before: State, after: State) -> str:
        with_workers = {offset: before[q.name] for offset, q in enumerate(consumer.queued) if before[q.name]}
        done = [f"record {record}" for offset, record in with_workers.items() if offset in finished]
        left = [f"record {record}" for offset, record in with_workers.items() if offset not in finished]
        offset = after[consumer.committed.name]
        who, earlier = group_words(pipeline)
        words = f"{who} at offset {max(offset, 0)}: {earlier} "
        if committed is Committed.PAST_OTHERS:
            last = before[consumer.queued[max(finished)].name]
            words += f"committed this offset when a worker had finished record {last}"
        elif committed is Committed.ALL:
            words += f"{'auto-committed' if deployment.application.commit.is_by_client else 'committed'} this offset"
        elif before[consumer.committed.name] == EXPIRED:
            words = f"{who} at offset 0: its committed offset is gone, and earliest starts there"
        elif _is_discovery(pipeline, before):
            words = f"{FINDS_IT} and starts at offset 0, as earliest starts there"
        elif offset < 0:
            words += "committed nothing, and earliest starts there"
        else:
            words += "committed nothing later"
        words += f"; workers had finished {', '.join(done)}" if done and committed is not Committed.PAST_OTHERS else ""
        return words + (f"; workers had not finished {', '.join(left)}" if left else "")

    return Action(
        "restart_consumer",
        "consumer",
        lane="consumer",
        arguments={"committed_all": int(committed), "finished": sum(1 << offset for offset in finished)},
        guard=_may_restart(pipeline, finished, committed),
        updates=effect.updates,
        sentence=sentence,
        semantics="12 C2 C6 C13",
    )


def _is_discovery(pipeline: Pipeline, before: State) -> bool:
    undiscovered = pipeline.consumer.undiscovered
    return undiscovered is not None and bool(before[undiscovered.name])


def group_words(pipeline: Pipeline) -> tuple[str, str]:
    """Return the words for who starts, and for the time of the last commit: the same consumer, or another member."""
    if pipeline.deployment.faults.possible & REPLACES_MEMBER:
        return "a consumer of the group starts", "until then the one before"
    return "the consumer restarts", "before the crash it"


def _may_restart(pipeline: Pipeline, finished: Finished, committed: Committed) -> z3.BoolRef:
    deployment, consumer = pipeline.deployment, pipeline.consumer
    conditions = [Not(consumer.running.is_set)]
    conditions += [consumer.queued[offset].term > 0 for offset in finished]
    if committed is not Committed.NOTHING:
        conditions.append(consumer.position.term != consumer.committed.term)
        if offsets_may_be_gone(deployment):
            conditions.append(consumer.committed.term != EXPIRED)
        if consumer.undiscovered is not None:
            conditions.append(Not(consumer.undiscovered.is_set))
        if committed is Committed.PAST_OTHERS:
            before = [
                q for offset, q in enumerate(consumer.queued) if offset < max(finished) and offset not in finished
            ]
            conditions.append(Or(*(queued.term > 0 for queued in before)))
        elif deployment.application.commit.follows_processing:
            others = [q for offset, q in enumerate(consumer.queued) if offset not in finished]
            conditions += [queued.term == 0 for queued in others]
    elif deployment.consumer.offset_reset is not OffsetReset.EARLIEST:
        conditions.append(consumer.committed.term >= 0)
    return And(*conditions)


def _first_unfinished(pipeline: Pipeline, effect: Effect) -> z3.ArithRef:
    """Return the first offset handed off and not finished, else the position."""
    first = pipeline.consumer.position.term
    for offset, queued in reversed(list(enumerate(pipeline.consumer.queued))):
        first = If(effect[queued] > 0, IntVal(offset), first)
    return first


def restart_at_end(pipeline: Pipeline, leader: Replica, finished: Finished) -> Action:
    """Start a consumer without a committed offset at the end of what can be read, with latest (12, C13 C14)."""
    consumer = pipeline.consumer
    end = end_of_reading(pipeline, leader)
    effect = Effect()
    for offset in finished:
        process(pipeline, effect, consumer.queued[offset].term - 1, offset)
    _start(pipeline, effect)
    _leave_to_late(pipeline, effect)
    effect[consumer.position] = end
    effect[consumer.position_epoch] = If(end > 0, leader.log.at(end - 1, "epoch"), 0)

    def sentence(before: State, after: State) -> str:
        if _is_discovery(pipeline, before):
            return f"{FINDS_IT} and starts at the latest offset {after[consumer.position.name]}"
        expired = before[consumer.committed.name] == EXPIRED
        why = "as its committed offset is gone" if expired else "having committed none"
        return f"{group_words(pipeline)[0]} at the latest offset {after[consumer.position.name]}, {why}"

    return Action(
        "restart_consumer_at_end",
        "consumer",
        lane="consumer",
        arguments={"leader": leader.number, "finished": sum(1 << offset for offset in finished)},
        guard=And(
            Not(consumer.running.is_set),
            consumer.committed.term < 0,
            leader.presumes_leadership,
            *(consumer.queued[offset].term > 0 for offset in finished),
        ),
        updates=effect.updates,
        sentence=sentence,
        semantics="12 C13 C14",
    )


def keep_for_late(pipeline: Pipeline, effect: Effect, offset: z3.ArithRef, record: z3.ArithRef) -> None:
    """Let an evicted member keep the record of an offset."""
    hold(pipeline, effect, pipeline.consumer.late, offset, record)


def hold(
    pipeline: Pipeline, effect: Effect, held: Sequence[Variable], offset: z3.ArithRef, record: z3.ArithRef
) -> None:
    """Let somebody hold the record of an offset to finish it later; a former holder of the same offset finishes now."""
    for place, slot in enumerate(held):
        here = offset == place
        for number, count in enumerate(pipeline.consumer.processed):
            again = And(here, slot.term == number + 1, effect[count] < count.high)
            effect.set_when(again, count, effect[count] + 1)
        apply(pipeline.applied, effect, slot.term - 1, place, And(here, slot.term > 0))
        effect.set_when(here, slot, record + 1)


def _leave_to_late(pipeline: Pipeline, effect: Effect) -> None:
    """Drop what workers had not finished with their process, or leave it to the evicted member (12, C10)."""
    consumer = pipeline.consumer
    for place, queued in enumerate(consumer.queued):
        if consumer.replaced is not None:
            lives_on = And(consumer.replaced.is_set, effect[queued] > 0)
            keep_for_late(pipeline, effect, If(lives_on, place, -1), queued.term - 1)
        effect[queued] = 0
    effect[consumer.replaced] = False


def _start(pipeline: Pipeline, effect: Effect) -> None:
    consumer = pipeline.consumer
    effect[consumer.running] = True
    for remembered in (pipeline.history.thrown_out, pipeline.history.handed_over, consumer.undiscovered):
        effect[remembered] = False
    if offsets_may_be_gone(pipeline.deployment):
        effect.set_when(effect[consumer.committed] == EXPIRED, consumer.committed, -1)
    begun = [effect[count] > 0 for count in consumer.processed] + [queued.term > 0 for queued in consumer.queued]
    effect.set_when(Or(*begun), consumer.restarted, 1)


def _ways_to_finish(pipeline: Pipeline) -> list[Finished]:
    """Return every set of offsets that workers can have finished."""
    offsets = range(len(pipeline.consumer.queued))
    return [chosen for size in range(len(offsets) + 1) for chosen in combinations(offsets, size)]


def actions(pipeline: Pipeline) -> Iterator[Action]:
    """Yield every start of a consumer of the group."""
    deployment = pipeline.deployment
    may_have_none = deployment.application.group is not Group.ESTABLISHED or offsets_may_be_gone(deployment)
    starts_at_end = may_have_none and deployment.consumer.offset_reset is OffsetReset.LATEST
    for finished in _ways_to_finish(pipeline):
        yield restart(pipeline, finished, Committed.NOTHING)
        if not deployment.application.commits_at_once and deployment.application.commit is not Commit.NEVER:
            yield restart(pipeline, finished, Committed.ALL)
            if finished and max(finished) > 0 and deployment.application.commit is Commit.FINISHED:
                yield restart(pipeline, finished, Committed.PAST_OTHERS)
        if starts_at_end:
            for leader in pipeline.replicas:
                yield restart_at_end(pipeline, leader, finished)
