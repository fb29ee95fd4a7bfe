"""The life of a broker: it dies, restarts, loses the controller, and applies the controller's decisions (1.1, 5, 6)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import z3

from proofka.model.deployment.truncation import Truncation
from proofka.model.faults import Fault
from proofka.model.language import Action, Effect, State
from proofka.model.language.terms import And, BoolVal, If, IntVal, Not, Or
from proofka.model.log.replica import advance_high_watermark, keep_prefix, lead_again, stop_leading, surviving_prefix
from proofka.model.log.restoring import numbers_in_words, restore_numbers
from proofka.model.log.unserved import note_unserved
from proofka.model.replication.answering_late import break_off_fetches, break_off_own_fetch
from proofka.model.replication.checkpoint import Checkpoint, checkpoints
from proofka.model.replication.controller import welcome, welcome_has_room
from proofka.model.replication.elections import after_stop, current
from proofka.model.replication.fetching import halts_when_ahead, is_ahead
from proofka.model.replication.moving_replicas import leave_if_removed, was_removed
from proofka.model.sequencing.network import disconnect, fail_requests_of_former_leader, fall_silent
from proofka.model.state.outages import note_outage_of_brokers
from proofka.model.state.pipeline import Pipeline, Replica
from proofka.model.state.taking_part import while_it_takes_part, while_registered
from proofka.model.state.wording import broker_name, records_dropped


def die(pipeline: Pipeline, replica: Replica) -> Effect:
    """Return the effect that every end of a broker has: its process memory is gone, and so are fetches on their way."""
    effect = Effect()
    effect[replica.up] = False
    effect[replica.slow] = False
    effect[replica.cut_off] = False
    effect[replica.leader] = 0
    effect[replica.epoch] = 0
    effect[replica.restored] = 0
    effect[replica.unregistered] = False
    stop_leading(effect, replica)
    break_off_fetches(pipeline, effect, replica)
    return effect


def kill(pipeline: Pipeline, replica: Replica, checkpoint: Checkpoint) -> Action:
    """Kill the process: its connections close; the page cache, and so the log, survives (semantics 5, L7)."""
    effect = die(pipeline, replica)
    disconnect(pipeline, effect, replica)
    note_outage_of_brokers(pipeline, effect)
    guard = checkpoint.while_known(effect, replica, while_it_takes_part(pipeline, replica, replica.up.is_set))
    checkpoint.write_down(effect, replica)

    def sentence(before: State, after: State) -> str:
        older = checkpoint.in_words(replica, before, after)
        return f"{replica.name} is killed; its log survives in the page cache{older}"

    return Action(
        "kill",
        replica.name,
        lane="brokers",
        arguments={"broker": replica.number, **checkpoint.arguments},
        guard=guard,
        updates=effect.updates,
        sentence=sentence,
        semantics="1.1, 5 L7",
        fault=Fault.KILL,
    )


def halt(pipeline: Pipeline, replica: Replica, leader: Replica) -> Action:
    """Halt the whole broker of a follower that is ahead of its leader (semantics 6.6, KAFKA-7414)."""
    effect = die(pipeline, replica)
    disconnect(pipeline, effect, replica)
    return Action(
        "halt",
        replica.name,
        lane="brokers",
        arguments={"broker": replica.number, "leader": leader.number},
        guard=while_it_takes_part(pipeline, replica, is_ahead(pipeline, replica, leader)),
        updates=effect.updates,
        sentence=lambda before, after: (
            f"{replica.name} is ahead of {leader.name}, and halts, as unclean leader election is off"
        ),
        semantics="6.6",
    )


def lose_power(pipeline: Pipeline, replica: Replica, *, kept: int, checkpoint: Checkpoint) -> Action:
    """Let the machine lose power; ``kept`` entries of the log survive, at least what was forced to disk (5 L8)."""
    effect = die(pipeline, replica)
    fall_silent(pipeline, effect, replica)
    keep_prefix(effect, replica, kept)
    note_outage_of_brokers(pipeline, effect)
    survives = And(replica.up.is_set, kept <= replica.log.end.term, kept >= surviving_prefix(pipeline, replica))
    guard = checkpoint.while_known(effect, replica, while_it_takes_part(pipeline, replica, survives))
    checkpoint.write_down(effect, replica)

    def sentence(before: State, after: State) -> str:
        lost = records_dropped(pipeline, before, after, replica)
        of_log = f" and, unflushed, {lost}" if lost else "; its log survives"
        return f"{replica.name} loses power{of_log}{checkpoint.in_words(replica, before, after)}"

    return Action(
        "lose_power",
        replica.name,
        lane="brokers",
        arguments={"broker": replica.number, "kept": kept, **checkpoint.arguments},
        guard=guard,
        updates=effect.updates,
        sentence=sentence,
        semantics="1.1, 5 L8 L9",
        fault=Fault.POWER_LOSS,
    )


def lose_disk(pipeline: Pipeline, replica: Replica) -> Action:
    """Let the broker die and come back with an empty disk (semantics 1.1, 6.7)."""
    effect = die(pipeline, replica)
    fall_silent(pipeline, effect, replica)
    keep_prefix(effect, replica, 0)
    effect[replica.knows_producer] = False
    note_outage_of_brokers(pipeline, effect)
    return Action(
        "lose_disk",
        replica.name,
        lane="brokers",
        arguments={"broker": replica.number},
        guard=while_it_takes_part(pipeline, replica, replica.up.is_set),
        updates=effect.updates,
        sentence=lambda before, after: f"{replica.name} dies and its disk is replaced: its log is empty",
        semantics="1.1, 6.7",
        fault=Fault.DISK_LOSS,
    )


def _forget_fetches_of(pipeline: Pipeline, effect: Effect, replica: Replica) -> None:
    """Reset what leaders know of the replica's fetches before its restart, as from 3.5 on (KIP-903, semantics 6.2).

    A leader that can mix fetches keeps the last one of this epoch until the replica's next fetch.
    """
    if pipeline.deployment.cluster.old_fetches_count:
        return
    for leader in pipeline.followers_of(replica):
        fetched = leader.fetched[replica.number]
        effect[fetched] = 0
        if leader.fetched_before:
            before = leader.fetched_before[replica.number]
            effect.set_when(leader.has_fetched(replica.number, fetched.term), before, fetched.term)


def _follow(pipeline: Pipeline, effect: Effect, replica: Replica, leader: z3.ArithRef) -> None:
    """Prepare a replica to follow: it has to ask where the logs diverge, or truncates to its high watermark (8)."""
    effect[replica.reconciled] = False
    if pipeline.deployment.cluster.truncation is Truncation.HIGH_WATERMARK:
        follows = And(leader != 0, leader != replica.number)
        known = effect[replica.high_watermark]
        keep_prefix(effect, replica, If(follows, known, replica.log.end.term))


def start(pipeline: Pipeline, replica: Replica, leader: z3.ArithRef) -> Effect:
    """Return the effect of a start with the newest metadata, of which the broker takes ``leader`` (semantics 5 L9)."""
    effect = Effect()
    effect[replica.up] = True
    _follow(pipeline, effect, replica, leader)
    effect[replica.leader] = leader
    effect[replica.epoch] = pipeline.controller.epoch.term
    break_off_fetches(pipeline, effect, replica)
    _forget_fetches_of(pipeline, effect, replica)
    restore_numbers(pipeline, effect, replica)
    effect[replica.stopped_in_order] = False
    return effect


def restart(pipeline: Pipeline, replica: Replica) -> Action:
    """Let a fenced broker start, replay the metadata and be unfenced (semantics 5 L9, 6.3 E7, 6.4)."""
    controller = pipeline.controller
    effect = start(pipeline, replica, controller.leader.term)
    among = after_stop(pipeline, replica)
    welcome(pipeline, effect, replica, among)
    note_unserved(pipeline, effect)

    def sentence(before: State, after: State) -> str:
        return (
            f"{replica.name} restarts"
            + numbers_in_words(replica, before, after)
            + _dropped(pipeline, replica, before, after)
            + elected_now(pipeline, replica, before, after, was_away=True)
        )

    return Action(
        "restart",
        replica.name,
        lane="brokers",
        arguments={"broker": replica.number},
        guard=while_it_takes_part(
            pipeline,
            replica,
            And(
                Not(replica.up.is_set),
                Not(controller.unfenced[replica.number].is_set),
                welcome_has_room(pipeline, replica, among),
            ),
        ),
        updates=effect.updates,
        sentence=sentence,
        semantics="5 L9, 6.3 E3 E7, 6.4",
    )


def _dropped(pipeline: Pipeline, replica: Replica, before: State, after: State) -> str:
    """Return the words for the records that a replica drops because it starts to follow; empty if it drops none."""
    dropped = records_dropped(pipeline, before, after, replica)
    return f", truncates to its high watermark and drops {dropped}" if dropped else ""


def elected_now(pipeline: Pipeline, replica: Replica, before: State, after: State, *, was_away: bool) -> str:
    """Return the words for the leader that is elected because a broker is back; empty if there is no election.

    ``was_away``: the broker was down, and so is no eligible leader replica any more (semantics 6.3).
    """
    controller = pipeline.controller
    leader = after[controller.leader.name]
    if leader == before[controller.leader.name]:
        return ""
    if before[controller.isr[leader].name]:
        return "; being in the ISR it is elected leader"
    name = "it" if leader == replica.number else broker_name(leader)
    if before[controller.elr[leader].name] and not (was_away and leader == replica.number):
        return f"; {name}, an eligible leader replica, is elected leader"
    return f"; {name}, the last known leader, is elected, as nobody is eligible"


def restart_before_fenced(pipeline: Pipeline, replica: Replica) -> Action:
    """Let a new incarnation register before the old one is fenced, and keep ISR seat and leadership (6.4, 3.3-3.9).

    The controller looks for sessions that are over before it takes up a registration. So the session has to end after
    that look, and before ``registerBroker`` looks at this session: an interval of microseconds unless the controller's
    thread stalls there, which is a fault of its own (choice 11).
    """
    effect = Effect()
    effect[replica.up] = True
    restore_numbers(pipeline, effect, replica)
    break_off_fetches(pipeline, effect, replica)
    _forget_fetches_of(pipeline, effect, replica)
    note_unserved(pipeline, effect)
    return Action(
        "restart_before_fenced",
        replica.name,
        lane="brokers",
        arguments={"broker": replica.number},
        guard=while_it_takes_part(
            pipeline, replica, And(Not(replica.up.is_set), pipeline.controller.unfenced[replica.number].is_set)
        ),
        updates=effect.updates,
        sentence=lambda before, after: (
            f"the controller stalls while {replica.name} registers: {replica.name} restarts without being fenced, and "
            "keeps its place in the ISR" + numbers_in_words(replica, before, after)
        ),
        semantics="1.1, 6.4",
        fault=Fault.CONTROLLER_STALL,
    )


def leader_heard_of(pipeline: Pipeline, replica: Replica) -> z3.ArithRef:
    """Return the leader that a broker takes from the newest decision, 0 if none.

    A broker that is elected before it is registered accepts no requests, and so leads nobody (semantics 6.4).
    """
    leader = pipeline.controller.leader.term
    if replica.unregistered is None:
        return leader
    return If(And(replica.unregistered.is_set, leader == replica.number), IntVal(0), leader)


def _apply_newest_decision(pipeline: Pipeline, effect: Effect, replica: Replica) -> None:
    """Lead or follow as the controller decided last; requests that wait at a former leader fail (semantics 6.5)."""
    controller = pipeline.controller
    leader = leader_heard_of(pipeline, replica)
    leads = leader == replica.number
    fail_requests_of_former_leader(pipeline, effect, replica, Not(leads))
    effect[replica.leader] = leader
    effect[replica.epoch] = controller.epoch.term
    break_off_own_fetch(pipeline, effect, replica)
    _follow(pipeline, effect, replica, leader)
    if not pipeline.deployment.cluster.truncation.fences_fetches:
        _go_on_as_before(effect, replica, when=_hears_nothing_new(pipeline, replica, leader))
    stop_leading(effect, replica)
    lead_again(effect, replica, when=And(leads, replica.leader.term == replica.number))
    for number, member in controller.isr.items():
        effect[replica.isr[number]] = If(leads, member.term, 0)


def _hears_nothing_new(pipeline: Pipeline, replica: Replica, leader: z3.ArithRef) -> z3.BoolRef:
    """Tell whether a follower's role stays unchanged by the decision (semantics 8).

    The decision names no leader, or, before 2.0.1, the leader that the follower already has.
    """
    follows = And(replica.leader.term != 0, replica.leader.term != replica.number)
    same = BoolVal(False) if pipeline.deployment.cluster.mends_of_2_0_1 else leader == replica.leader.term
    return And(follows, Or(same, leader == 0))


def _go_on_as_before(effect: Effect, replica: Replica, when: z3.BoolRef) -> None:
    """Undo the changes to a follower that keeps its leader and fetches on, whatever epochs it missed (KAFKA-7164)."""
    cut = (replica.flushed, replica.high_watermark, replica.restored, replica.log_start, *replica.log.variables)
    dropping = (replica.reconciled, *cut)
    for variable in (replica.leader, *dropping):
        if variable is not None and variable in effect.updates:
            effect.set_when(when, variable, variable.term)


def apply_metadata(pipeline: Pipeline, replica: Replica) -> Action:
    """Let a broker apply the controller's newest decision, and lead or follow from then on (semantics 6.5, 7)."""
    controller = pipeline.controller
    effect = Effect()
    _apply_newest_decision(pipeline, effect, replica)
    as_leader = Effect()
    for variable, value in effect.updates.items():
        as_leader[variable] = value
    advance_high_watermark(pipeline, as_leader, replica)
    for variable in (replica.high_watermark, *pipeline.exposed):
        leads = leader_heard_of(pipeline, replica) == replica.number
        effect[variable] = If(leads, as_leader[variable], variable.term)
    leave_if_removed(pipeline, effect, replica)
    note_unserved(pipeline, effect)

    def sentence(before: State, after: State) -> str:
        leader = after[replica.leader.name]
        if leader == replica.number:
            return f"{replica.name} learns that it leads in epoch {after[replica.epoch.name]}"
        if was_removed(pipeline, after, replica):
            return f"{replica.name} learns that it has no replica any more, and deletes its log"
        role = f"follows {broker_name(leader)}" if leader else "there is no leader"
        if after[pipeline.controller.leader.name] == replica.number:
            role = "it is elected, and accepts no requests before it is registered"
        followed = before[replica.leader.name]
        if followed and followed != replica.number and after[replica.leader.name] == followed:
            if not leader:
                role += f", and stays with {broker_name(followed)}"
            elif not pipeline.deployment.cluster.mends_of_2_0_1:
                role += ", as before, and drops nothing"
        return f"{replica.name} learns epoch {after[replica.epoch.name]}: {role}" + _dropped(
            pipeline, replica, before, after
        )

    return Action(
        "apply_metadata",
        replica.name,
        lane="brokers",
        arguments={"broker": replica.number},
        guard=while_it_takes_part(
            pipeline,
            replica,
            And(
                replica.up.is_set,
                Not(replica.cut_off.is_set),
                replica.epoch.term != controller.epoch.term,
            ),
        ),
        updates=effect.updates,
        sentence=sentence,
        semantics="6.5, 7",
    )


def cut_off(pipeline: Pipeline, replica: Replica) -> Action:
    """Let a broker lose the controller and go on with what it knows (semantics 9)."""
    unfenced = pipeline.controller.unfenced[replica.number].is_set
    effect = Effect()
    effect[replica.cut_off] = True
    note_outage_of_brokers(pipeline, effect)
    note_unserved(pipeline, effect)
    return Action(
        "cut_off",
        replica.name,
        lane="brokers",
        arguments={"broker": replica.number},
        guard=while_it_takes_part(
            pipeline,
            replica,
            while_registered(replica, And(replica.up.is_set, Not(replica.cut_off.is_set), unfenced)),
        ),
        updates=effect.updates,
        sentence=lambda before, after: f"{replica.name} is cut off from the controller",
        semantics="9",
        fault=Fault.CUT_OFF,
    )


def reconnect(pipeline: Pipeline, replica: Replica) -> Action:
    """Let a broker that was cut off reach the controller again before the controller fenced it."""
    effect = Effect()
    effect[replica.cut_off] = False
    return Action(
        "reconnect",
        replica.name,
        lane="brokers",
        arguments={"broker": replica.number},
        guard=while_it_takes_part(
            pipeline,
            replica,
            And(replica.up.is_set, replica.cut_off.is_set, pipeline.controller.unfenced[replica.number].is_set),
        ),
        updates=effect.updates,
        sentence=lambda before, after: f"{replica.name} reaches the controller again",
        semantics="9",
    )


def rejoin(pipeline: Pipeline, replica: Replica) -> Action:
    """Let a broker that was cut off and fenced catch up with the metadata and be unfenced (semantics 6.3, E7).

    Until the broker has caught up, its behaviour is that of a broker which is still cut off.
    """
    controller, among = pipeline.controller, current(pipeline)
    effect = Effect()
    effect[replica.cut_off] = False
    _apply_newest_decision(pipeline, effect, replica)
    leave_if_removed(pipeline, effect, replica)
    welcome(pipeline, effect, replica, among)

    def sentence(before: State, after: State) -> str:
        return f"{replica.name} rejoins the cluster" + elected_now(pipeline, replica, before, after, was_away=False)

    return Action(
        "rejoin",
        replica.name,
        lane="brokers",
        arguments={"broker": replica.number},
        guard=while_it_takes_part(
            pipeline,
            replica,
            And(
                replica.up.is_set,
                replica.cut_off.is_set,
                Not(controller.unfenced[replica.number].is_set),
                welcome_has_room(pipeline, replica, among),
            ),
        ),
        updates=effect.updates,
        sentence=sentence,
        semantics="6.3 E2 E7, 9",
    )


def actions(pipeline: Pipeline) -> Iterator[Action]:
    """Yield the actions of every broker."""
    for replica in pipeline.replicas:
        for checkpoint in checkpoints(pipeline, replica):
            yield kill(pipeline, replica, checkpoint)
        for kept, checkpoint in product(range(replica.log.capacity + 1), checkpoints(pipeline, replica)):
            yield lose_power(pipeline, replica, kept=kept, checkpoint=checkpoint)
        yield lose_disk(pipeline, replica)
        if halts_when_ahead(pipeline):
            for leader in pipeline.followers_of(replica):
                yield halt(pipeline, replica, leader)
        yield restart(pipeline, replica)
        if pipeline.deployment.cluster.restart_before_fenced:
            yield restart_before_fenced(pipeline, replica)
        yield apply_metadata(pipeline, replica)
        yield cut_off(pipeline, replica)
        yield reconnect(pipeline, replica)
        yield rejoin(pipeline, replica)
