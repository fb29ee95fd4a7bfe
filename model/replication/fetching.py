"""Followers: how they copy the leader's log, and drop what the leader does not have, by release (semantics 6.1, 8)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import z3

from proofka.model.deployment.implied.cleaning import drops_markers
from proofka.model.deployment.truncation import Truncation
from proofka.model.language import Action, Effect, State
from proofka.model.language.terms import And, BoolVal, If, IntVal, Not, Or
from proofka.model.log.holes import session_of
from proofka.model.log.log_starts import own_start
from proofka.model.log.replica import (
    advance_high_watermark,
    flush_if_due,
    keep_prefix,
    learn_end_of,
    tell_high_watermark,
)
from proofka.model.state.compaction import MARKER, REMOVED, Marker
from proofka.model.state.pipeline import Pipeline, Replica
from proofka.model.state.taking_part import while_it_is_answered
from proofka.model.state.wording import entry_name, records_dropped


def share_producer_state(effect: Effect, follower: Replica, leader: Replica) -> None:
    """Copy to the follower what the leader knows of producers from before the modelled log (semantics 3.5)."""
    if follower.knows_producer is not None and leader.knows_producer is not None:
        knows = own_start(leader).knows_after_fetch(follower.knows_producer, leader.knows_producer.term)
        effect[follower.knows_producer] = knows


def common_prefix(one: Replica, other: Replica) -> z3.ArithRef:
    """Return the length of the longest prefix of both logs with the same leader epochs (semantics 8)."""
    length = IntVal(0)
    agrees = BoolVal(True)
    for offset in range(one.log.capacity):
        mine, theirs = one.log.slots[offset]["epoch"].term, other.log.slots[offset]["epoch"].term
        agrees = And(agrees, one.log.has(offset), other.log.has(offset), mine == theirs)
        length = length + If(agrees, 1, 0)
    return length


def agreed_prefix(follower: Replica, leader: Replica) -> z3.ArithRef:
    """Return the length of the longest prefix that a leader counts as its own, by the last epoch alone (8, KIP-595).

    That is the common prefix, unless the follower has records of an epoch on top of a log that already differed.
    """
    length = IntVal(0)
    for offset, slot in enumerate(follower.log.slots):
        last = slot["epoch"].term
        agrees = And(follower.log.has(offset), _has_epoch(leader, last), _end_of(leader, last) > offset)
        length = If(agrees, offset + 1, length)
    return length


def _end_of(replica: Replica, epoch: z3.ArithRef) -> z3.ArithRef:
    """Return the offset at which an epoch, or the ones before it, ends in a log."""
    return replica.log.count(lambda _, slot: slot["epoch"].term <= epoch)


def _has_epoch(replica: Replica, epoch: z3.ArithRef) -> z3.BoolRef:
    return replica.log.some(lambda _, slot: slot["epoch"].term == epoch)


def end_of_last_epoch(follower: Replica, leader: Replica, *, mended: bool) -> z3.ArithRef:
    """Return the follower's log end after it asked the leader where its own last epoch ends (semantics 8, KIP-101).

    The leader answers with the start of its next epoch. Before 2.0.1 a leader has no answer if it does not know the
    epoch and has no later epoch, or none before it. Then the follower drops what is above its high watermark.
    ``mended``: release 2.0.1 or later.
    """
    end = follower.log.end.term
    mine = follower.log.at(end - 1, "epoch")
    answer = _end_of(leader, mine)
    if not mended:
        bracketed = And(answer > 0, answer < leader.log.end.term)
        answer = If(Or(_has_epoch(leader, mine), bracketed), answer, follower.high_watermark.term)
    return If(And(end > 0, answer < end), answer, end)


def end_asked_epoch_by_epoch(follower: Replica, leader: Replica, *, mended: bool) -> z3.ArithRef:
    """Return the follower's log end after it asked the leader for its last epoch, and for earlier ones (8, KIP-279).

    The follower stops as soon as the leader names an epoch that the follower has as well, and compares nothing below.
    So what differs below stays where the follower fetched records of an epoch on top of a log that already differed.

    Before 2.0.1 (not ``mended``; KAFKA-7415) a leader has no answer for an epoch that is newer than all its records, or
    older. Then the follower drops what is above its high watermark, or nothing more if it has dropped something
    already. And a follower that has no epoch as old as the one that the leader names uses the leader's offset alone.
    """

    def unanswered(epoch: z3.ArithRef) -> z3.BoolRef:
        newest, end = leader.log.at(leader.log.end.term - 1, "epoch"), leader.log.end.term
        return Or(end == 0, epoch > newest, epoch < leader.log.slots[0]["epoch"].term)

    kept: list[z3.ArithRef] = [IntVal(0)]
    for offset, slot in enumerate(follower.log.slots):
        asked, length = slot["epoch"].term, IntVal(offset + 1)
        theirs = _end_of(leader, asked)
        named = leader.log.at(theirs - 1, "epoch")
        mine = _end_of(follower, named)
        known = Or(_has_epoch(leader, asked), leader.epoch.term == asked, theirs == 0)
        told = If(_has_epoch(follower, named), _least(mine, theirs), _chosen(kept, mine))
        told = If(mine == 0, IntVal(0) if mended else _least(theirs, length), told)
        told = If(known, _least(length, theirs), told)
        kept.append(told if mended else If(unanswered(asked), length, told))
    end = follower.log.end.term
    if mended:
        return _chosen(kept, end)
    lacks = And(end > 0, unanswered(follower.log.at(end - 1, "epoch")))
    return If(lacks, _least(follower.high_watermark.term, end), _chosen(kept, end))


def _least(one: z3.ArithRef, other: z3.ArithRef) -> z3.ArithRef:
    return If(one < other, one, other)


def _chosen(among: Sequence[z3.ArithRef], index: z3.ArithRef) -> z3.ArithRef:
    """Return the term at an index, or the last term for an index beyond."""
    chosen = among[-1]
    for at, term in enumerate(among[:-1]):
        chosen = If(index == at, term, chosen)
    return chosen


def _end_of_agreement(pipeline: Pipeline, follower: Replica, leader: Replica) -> z3.ArithRef:
    """Return the length of the prefix that a follower keeps when it asks its leader, by release (semantics 8)."""
    how, mended = pipeline.deployment.cluster.truncation, pipeline.deployment.cluster.mends_of_2_0_1
    if how is Truncation.LAST_EPOCH:
        return end_of_last_epoch(follower, leader, mended=mended)
    if how.asks_once:
        return end_asked_epoch_by_epoch(follower, leader, mended=mended)
    return common_prefix(follower, leader) if pipeline.late_answers is None else agreed_prefix(follower, leader)


def fetches_from(pipeline: Pipeline, follower: Replica, leader: Replica) -> z3.BoolRef:
    """Tell whether the follower sends its fetches to this broker, which answers them as the leader (semantics 6.1, R1).

    Before 2.5 the leader does not compare its leader epoch with the follower's: to 2.0 no fetch carries an epoch, and
    from 2.1 on a fetch session forgets the epoch (KAFKA-9338).
    """
    return _reaches(pipeline, follower, leader, in_one_epoch=pipeline.deployment.cluster.truncation.fences_fetches)


def asks_about_epochs(pipeline: Pipeline, follower: Replica, leader: Replica) -> z3.BoolRef:
    """Tell whether the follower can ask this broker where their logs diverge, or where its log ends (semantics 8).

    From 2.1 on the leader answers such a question within one leader epoch only.
    """
    return _reaches(pipeline, follower, leader, in_one_epoch=pipeline.deployment.cluster.truncation.fences_questions)


def _reaches(pipeline: Pipeline, follower: Replica, leader: Replica, *, in_one_epoch: bool) -> z3.BoolRef:
    """Tell whether the follower sends a request to this broker, which answers as the leader."""
    follows = follower.follows(leader)
    if not in_one_epoch:
        follows = And(follower.up.is_set, follower.leader.term == leader.number)
    fetches = [follows, leader.presumes_leadership, Not(follower.slow.is_set)]
    if pipeline.late_answers is not None:
        fetches.append(pipeline.late_answers.until[follower.number].term == 0)
    return And(*fetches)


def has_reconciled(pipeline: Pipeline, follower: Replica, leader: Replica) -> z3.BoolRef:
    """Tell whether the follower treats its log as a prefix of the leader's, and can fetch from its log end."""
    if pipeline.deployment.cluster.truncation.fences_fetches:
        return follower.log.end.term == _end_of_agreement(pipeline, follower, leader)
    fits = follower.log.end.term <= leader.log.end.term
    return fits if follower.reconciled is None else And(follower.reconciled.is_set, fits)


def copied(pipeline: Pipeline, leader: Replica, offset: z3.ArithRef) -> dict[str, z3.ArithRef]:
    """Return the fields of the entry that a follower gets from the leader's log at an offset.

    A follower does not learn the sequence number of a removed record, unless that is the producer's last: then the
    cleaner has left an empty batch (semantics 10, D3). A follower never sees a removed marker, and treats a marker that
    stands as new (D6).
    """
    entry = {name: leader.log.at(offset, name) for name in leader.log.slots[0]}
    if pipeline.compacted is not None and "sequence" in entry:
        gone = entry[REMOVED] == 1 if pipeline.transactions is None else entry[REMOVED] > 0
        followed = _is_followed(pipeline, leader, offset, entry)
        entry["sequence"] = If(And(gone, followed), -1, entry["sequence"])
    if drops_markers(pipeline.deployment):
        dropped = entry[MARKER] >= int(Marker.DROPPED)
        entry[MARKER] = If(dropped, int(Marker.UNSEEN), int(Marker.STANDS))
    return {**entry, **own_start(leader).copied_fields(offset)}


def is_hole(pipeline: Pipeline, state: State, replica: Replica, offset: int) -> bool:
    """Tell whether the cleaner had removed the entry at the offset before the replica copied it."""
    slot = replica.log.slots[offset]
    if drops_markers(pipeline.deployment) and state[slot[MARKER].name] == Marker.UNSEEN:
        return True
    return pipeline.compacted is not None and bool(state[slot[REMOVED].name])


def _is_followed(
    pipeline: Pipeline, leader: Replica, offset: z3.ArithRef, entry: Mapping[str, z3.ArithRef]
) -> z3.BoolRef:
    """Tell whether the log has a later batch of the producer, or a marker of a newer epoch without a batch (10, D3)."""
    transactions = pipeline.transactions
    if transactions is not None:
        return leader.log.some(
            lambda later, slot: And(
                offset < later,
                Or(
                    Not(transactions.is_marker(slot["batch"].term)),
                    slot["producer_epoch"].term > entry["producer_epoch"],
                ),
            )
        )
    session = session_of(pipeline, entry["batch"])
    return leader.log.some(lambda later, slot: And(offset < later, session_of(pipeline, slot["batch"].term) == session))


def fetch(pipeline: Pipeline, follower: Replica, leader: Replica) -> Action:
    """Let a follower fetch: the leader learns its log end, it gets the next record and the high watermark (6.1 R1-R3).

    Before 2.5 the follower hears the value from before its fetch.
    """
    end = follower.log.end.term
    effect = Effect()
    learn_end_of(effect, leader, follower)
    advance_high_watermark(pipeline, effect, leader)
    has_next = leader.log.end.term > end
    follower.log.append(effect, copied(pipeline, leader, end), when=has_next)
    flush_if_due(pipeline, effect, follower)
    lags = not pipeline.deployment.cluster.truncation.fences_fetches
    known = leader.high_watermark.term if lags else effect[leader.high_watermark]
    tell_high_watermark(effect, follower, known, BoolVal(True))
    share_producer_state(effect, follower, leader)
    own_start(follower).take_over(pipeline, effect, leader)

    def sentence(before: State, after: State) -> str:
        offset = before[follower.log.end.name]
        if after[follower.log.end.name] == offset:
            return f"{follower.name} fetches at offset {offset}: {leader.name} learns that it has all before"
        if is_hole(pipeline, after, follower, offset):
            return (
                f"{follower.name} fetches from {leader.name} behind offset {offset}, where the cleaner left nothing of "
                f"{entry_name(pipeline, after, follower, offset)}"
            )
        return f"{follower.name} fetches {entry_name(pipeline, after, follower, offset)} from {leader.name}"

    return Action(
        "fetch",
        follower.name,
        lane="brokers",
        arguments={"follower": follower.number, "leader": leader.number},
        guard=while_it_is_answered(
            pipeline,
            follower,
            leader,
            And(fetches_from(pipeline, follower, leader), has_reconciled(pipeline, follower, leader)),
        ),
        updates=effect.updates,
        sentence=sentence,
        semantics="6.1 R1-R3",
    )


def ask(pipeline: Pipeline, follower: Replica, leader: Replica) -> Action:
    """Let the leader learn a follower's log end before that has the answer, which can suffice for the ISR (6.2 I2).

    From 2.5 on a replica in the ISR has everything that it must have, whatever is on its way: request and response are
    one step.
    """
    end = follower.log.end.term
    effect = Effect()
    learn_end_of(effect, leader, follower)
    advance_high_watermark(pipeline, effect, leader)
    return Action(
        "ask",
        follower.name,
        lane="brokers",
        arguments={"follower": follower.number, "leader": leader.number},
        guard=while_it_is_answered(
            pipeline,
            follower,
            leader,
            And(
                fetches_from(pipeline, follower, leader),
                has_reconciled(pipeline, follower, leader),
                leader.log.end.term > end,
                leader.fetched[follower.number].term != end + 1,
            ),
        ),
        updates=effect.updates,
        sentence=lambda before, after: (
            f"{follower.name} asks {leader.name} for offset {before[follower.log.end.name]}; the answer is on its way"
        ),
        semantics="6.1 R1 R2",
    )


def truncate(pipeline: Pipeline, follower: Replica, leader: Replica) -> Action:
    """Let a follower drop, before it fetches, what its leader does not have and epochs reveal (semantics 8).

    From 2.5 on the follower notices whenever the logs differ. Before, it asks once in each leader epoch.
    """
    to = _end_of_agreement(pipeline, follower, leader)
    effect = Effect()
    keep_prefix(effect, follower, to)
    share_producer_state(effect, follower, leader)
    due = follower.log.end.term > to
    if follower.reconciled is not None:
        effect[follower.reconciled] = True
        due = Not(follower.reconciled.is_set)

    def sentence(before: State, after: State) -> str:
        dropped = records_dropped(pipeline, before, after, follower)
        if not dropped:
            return f"{follower.name} asks {leader.name} where its log ends and drops nothing"
        return f"{follower.name} truncates to {leader.name}'s log and drops {dropped}"

    return Action(
        "truncate",
        follower.name,
        lane="brokers",
        arguments={"follower": follower.number, "leader": leader.number},
        guard=while_it_is_answered(pipeline, follower, leader, And(asks_about_epochs(pipeline, follower, leader), due)),
        updates=effect.updates,
        sentence=sentence,
        semantics="8",
    )


def is_ahead(pipeline: Pipeline, follower: Replica, leader: Replica) -> z3.BoolRef:
    """Tell whether the follower fetches beyond the end of its leader's log (semantics 6.6, KAFKA-7414)."""
    asks = BoolVal(True) if follower.reconciled is None else follower.reconciled.is_set
    return And(asks_about_epochs(pipeline, follower, leader), asks, follower.log.end.term > leader.log.end.term)


def go_back(pipeline: Pipeline, follower: Replica, leader: Replica) -> Action:
    """Let a follower that is ahead (offset out of range) truncate to its leader's log end, by offsets alone (6.6 8)."""
    effect = Effect()
    keep_prefix(effect, follower, leader.log.end.term)

    return Action(
        "go_back",
        follower.name,
        lane="brokers",
        arguments={"follower": follower.number, "leader": leader.number},
        guard=while_it_is_answered(pipeline, follower, leader, is_ahead(pipeline, follower, leader)),
        updates=effect.updates,
        sentence=lambda before, after: (
            f"{follower.name} is ahead of {leader.name}, goes back to its end and drops "
            f"{records_dropped(pipeline, before, after, follower)}"
        ),
        semantics="6.6, 8",
    )


def halts_when_ahead(pipeline: Pipeline) -> bool:
    """Tell whether a broker halts rather than drop records: before 2.0.1, unclean election off (6.6, KAFKA-7414)."""
    return not pipeline.deployment.cluster.mends_of_2_0_1 and not pipeline.deployment.cluster.unclean_leader_election


def actions(pipeline: Pipeline) -> Iterator[Action]:
    """Yield the actions by which followers copy their leaders' logs."""
    truncation = pipeline.deployment.cluster.truncation
    for leader in pipeline.replicas:
        for follower in pipeline.followers_of(leader):
            yield fetch(pipeline, follower, leader)
            if not truncation.fences_fetches:
                yield ask(pipeline, follower, leader)
            if truncation is not Truncation.HIGH_WATERMARK:
                yield truncate(pipeline, follower, leader)
            if not truncation.fences_fetches and not halts_when_ahead(pipeline):
                yield go_back(pipeline, follower, leader)
