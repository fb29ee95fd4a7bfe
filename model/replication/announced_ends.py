"""Brokers that announce their own shutdown or log-directory failure (semantics 5 L6 L10, 6.2 I5, 6.3 E6).

A broker that is stopped on purpose, as in a rolling restart, hands over what it leads and writes everything down. Until
then it runs and fetches on, but cannot be elected. A broker whose log directory fails has no replica any more, whatever
else it serves: for the partition it is down until it is restarted, with what it had on disk.
"""

from __future__ import annotations

from collections.abc import Iterator

from proofka.model.faults import Fault
from proofka.model.language import Action, Effect, State
from proofka.model.language.terms import And, Not
from proofka.model.log.unserved import note_unserved
from proofka.model.replication.broker import die
from proofka.model.replication.checkpoint import Checkpoint, checkpoints
from proofka.model.replication.controller import sentence_on_leader, take_out, take_out_has_room
from proofka.model.sequencing.network import disconnect
from proofka.model.state.outages import note_outage_of_brokers
from proofka.model.state.pipeline import Pipeline, Replica
from proofka.model.state.taking_part import while_it_takes_part, while_registered
from proofka.model.state.wording import membership


def _announced_end(
    pipeline: Pipeline,
    replica: Replica,
    name: str,
    *,
    why: str,
    effect: Effect,
    checkpoint: Checkpoint,
    semantics: str,
    fault: Fault,
) -> Action:
    """Build an action in which a broker announces that it goes, and the controller takes it out of the ISR (6.2 I5)."""
    for variable, value in take_out(pipeline, replica).updates.items():
        effect[variable] = value
    note_outage_of_brokers(pipeline, effect)
    note_unserved(pipeline, effect)
    is_counted_on = pipeline.controller.unfenced[replica.number].is_set
    heard = while_registered(replica, And(replica.up.is_set, Not(replica.cut_off.is_set), is_counted_on))
    can_go = while_it_takes_part(pipeline, replica, And(heard, take_out_has_room(pipeline, replica)))
    guard = checkpoint.while_known(effect, replica, can_go)
    checkpoint.write_down(effect, replica)

    def sentence(before: State, after: State) -> str:
        leader = sentence_on_leader(pipeline, replica, before, after)
        older = checkpoint.in_words(replica, before, after)
        return f"{why}: the controller takes it out of the ISR{leader}; {membership(pipeline, after)}{older}"

    return Action(
        name,
        replica.name,
        lane="brokers",
        arguments={"broker": replica.number, **checkpoint.arguments},
        guard=guard,
        updates=effect.updates,
        sentence=sentence,
        semantics=semantics,
        fault=fault,
    )


def begin_shutdown(pipeline: Pipeline, replica: Replica) -> Action:
    """Let a broker ask to stop: it leaves the ISR where others are in it, and another one leads (6.2 I5, 6.3 E6)."""
    why = f"{replica.name} is to be stopped"
    return _announced_end(
        pipeline,
        replica,
        "begin_shutdown",
        why=why,
        effect=Effect(),
        checkpoint=Checkpoint(),
        semantics="6.2 I5, 6.3 E6",
        fault=Fault.SHUTDOWN,
    )


def finish_shutdown(pipeline: Pipeline, replica: Replica) -> Action:
    """Stop a broker that has heard that it leads no more: it forces its log to disk and closes connections (5 L6)."""
    controller = pipeline.controller
    effect = die(pipeline, replica)
    disconnect(pipeline, effect, replica)
    effect[replica.flushed] = replica.log.end.term
    effect[replica.stopped_in_order] = True
    return Action(
        "finish_shutdown",
        replica.name,
        lane="brokers",
        arguments={"broker": replica.number},
        guard=while_it_takes_part(
            pipeline,
            replica,
            And(
                replica.up.is_set,
                Not(replica.cut_off.is_set),
                Not(controller.unfenced[replica.number].is_set),
                replica.epoch.term == controller.epoch.term,
            ),
        ),
        updates=effect.updates,
        sentence=lambda before, after: f"{replica.name} forces its log to disk and stops",
        semantics="5 L6",
    )


def fail_log_dir(pipeline: Pipeline, replica: Replica, checkpoint: Checkpoint) -> Action:
    """Take the replica offline, which the broker announces: requests fail with KAFKA_STORAGE_ERROR (3.3, 6.2 I5)."""
    why = f"the log directory of {replica.name} fails"
    effect = die(pipeline, replica)
    disconnect(pipeline, effect, replica)
    return _announced_end(
        pipeline,
        replica,
        "fail_log_dir",
        why=why,
        effect=effect,
        checkpoint=checkpoint,
        semantics="3.3, 6.2 I5",
        fault=Fault.LOG_DIR_FAILURE,
    )


def actions(pipeline: Pipeline) -> Iterator[Action]:
    """Yield the actions that take brokers out."""
    for replica in pipeline.replicas:
        yield begin_shutdown(pipeline, replica)
        if Fault.SHUTDOWN in pipeline.deployment.faults.possible:
            yield finish_shutdown(pipeline, replica)
        for checkpoint in checkpoints(pipeline, replica):
            yield fail_log_dir(pipeline, replica, checkpoint)
