"""A batch of several records that a leader refuses as too large: the client splits it (semantics 3.1, P9)."""

from __future__ import annotations

from collections.abc import Iterator

from proofka.model.deployment.choices import Acks
from proofka.model.faults import Fault
from proofka.model.language import Action, Effect
from proofka.model.language.terms import And, BoolVal, Not, Or
from proofka.model.sequencing.arrival import accepts, arrives
from proofka.model.sequencing.network import leave_connection
from proofka.model.state.pipeline import Batch, Fate, Pipeline, Replica
from proofka.model.state.wording import record_name


def split_batch(pipeline: Pipeline, batch: Batch, other: Batch, leader: Replica) -> Action:
    """Refuse two records that were one batch: MESSAGE_TOO_LARGE, and nothing is written.

    One start of the application sent ``other`` right behind ``batch``. Both are sent again as if they had never been
    sent, with the numbers that they have. A ``flush()`` that waited for them returns at once with clients before the
    fix of KAFKA-19479; with later clients the call waits on.
    """
    effect = Effect()
    for part in (batch, other):
        leave_connection(pipeline, effect, part, BoolVal(True))
        effect[part.fate] = int(Fate.BUFFERED)
        effect[part.target] = 0
        effect[part.retries] = 0
        if pipeline.upstream is not None and pipeline.upstream.released:
            effect[pipeline.upstream.released[part.record]] = 1
    together = And(other.is_(Fate.SENT), other.ahead[batch.number].is_set, other.session.term == batch.session.term)
    between = [ahead.is_set for number, ahead in other.ahead.items() if number != batch.number]
    released = pipeline.upstream is not None and pipeline.upstream.released
    returns = "; a flush() that waited for it returns" if released else ""
    return Action(
        "split_batch",
        leader.name,
        lane="brokers",
        arguments={"batch": batch.number, "other": other.number, "leader": leader.number},
        guard=And(arrives(pipeline, batch, leader), accepts(pipeline, leader), together, Not(Or(*between))),
        updates=effect.updates,
        sentence=lambda before, after: (
            f"{leader.name} refuses the batch of {record_name(batch)} and {record_name(other)}: MESSAGE_TOO_LARGE; the "
            f"producer splits it, and will send both by themselves{returns}"
        ),
        semantics="3.1 P9",
        fault=Fault.SPLIT_BATCH,
    )


def actions(pipeline: Pipeline) -> Iterator[Action]:
    """Yield every batch of two records that can be split (semantics 3.1, P9).

    With acks=0 the client never hears of a refusal (semantics 3.2). An application that sends a record again can send
    an earlier record behind a later one.
    """
    if pipeline.deployment.producer.acks is Acks.NONE or Fault.SPLIT_BATCH not in pipeline.deployment.faults.possible:
        return
    for batch in pipeline.producer.batches:
        for other in pipeline.producer.batches:
            if other.record != batch.record:
                for leader in pipeline.replicas:
                    yield split_batch(pipeline, batch, other, leader)
