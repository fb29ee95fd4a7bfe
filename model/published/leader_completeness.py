"""Candidate lemmas behind leader completeness of the published protocols, for any number of leader epochs and records.

A candidate claims nothing: a solver keeps those that are inductive together, and drops the others.
"""

from __future__ import annotations

from collections.abc import Iterator

from proofka.model.language.lemmas import Lemma
from proofka.model.language.terms import And, Implies, Int, Or
from proofka.model.published.cluster import NOBODY, Replica
from proofka.model.published.unbounded import EPOCH_OF, LEADER, OpenProtocol, in_isr

EPOCH, LATER = Int("any_epoch"), Int("any_later_epoch")


def candidates(protocol: OpenProtocol) -> Iterator[Lemma]:
    """Yield the candidate lemmas."""
    yield from _requests(protocol)
    yield from _replicas(protocol)
    yield from _logs(protocol)
    yield from _successions(protocol)
    yield from _commits(protocol)
    yield from _own_isr(protocol)


def _requests(protocol: OpenProtocol) -> Iterator[Lemma]:
    replicas = protocol.cluster.replicas
    named = Or(*(LEADER(EPOCH) == number for number in (NOBODY, *(one.number for one in replicas))))
    yield Lemma("the request of an epoch names a replica as the leader, or nobody", named, (EPOCH,))
    for one in replicas:
        inside = in_isr(one.number, EPOCH)
        yield Lemma(f"{one.name} is in the ISR of a request or is not", Or(inside == 0, inside == 1), (EPOCH,))
        leads = Implies(LEADER(EPOCH) == one.number, inside == 1)
        yield Lemma(f"if a request names {one.name} as the leader, its ISR has {one.name}", leads, (EPOCH,))


def _replicas(protocol: OpenProtocol) -> Iterator[Lemma]:
    cluster = protocol.cluster
    for one in cluster.replicas:
        epoch = one.epoch.term
        yield Lemma(f"{one.name} is in an epoch whose request was made", epoch < cluster.next_epoch.term)
        for other in cluster.others(one):
            alone = Implies(one.isr[other.number].is_set, cluster.presumes_leadership(one))
            yield Lemma(f"{one.name} has {other.name} in its own ISR only while {one.name} presumes to lead", alone)
            led = Implies(LEADER(epoch) == other.number, other.epoch.term >= epoch)
            yield Lemma(f"if {one.name} follows {other.name}, then {other.name} has taken over in that epoch", led)


def _logs(protocol: OpenProtocol) -> Iterator[Lemma]:
    cluster = protocol.cluster
    for one in cluster.replicas:
        log = one.log
        for offset in log.offsets:
            record = log.slots[offset].term
            held, written = log.has(offset), EPOCH_OF(record)
            where = f"the record at offset {offset} of {one.name}"
            yield Lemma(f"{where} was written", record <= cluster.records_written.term)
            yield Lemma(
                f"{one.name} has a record at offset {offset} if its high watermark is above",
                Implies(one.high_watermark.term > offset, held),
            )
            yield Lemma(
                f"{where} is of no later epoch than {one.name}",
                Implies(held, And(written >= 0, written <= one.epoch.term)),
            )
            taken_over = Or(*(And(LEADER(written) == by.number, by.epoch.term >= written) for by in cluster.replicas))
            yield Lemma(f"{where} was written by a leader that has taken over in its epoch", Implies(held, taken_over))
            if offset:
                before = log.slots[offset - 1].term
                yield Lemma(f"the log of {one.name} has no gap before offset {offset}", Implies(held, before != 0))
                order = Implies(held, EPOCH_OF(before) <= written)
                yield Lemma(f"{where} is of no earlier epoch than the record before it", order)
        for other in cluster.others(one):
            yield from _two_logs(protocol, one, other)


def _two_logs(protocol: OpenProtocol, one: Replica, other: Replica) -> Iterator[Lemma]:
    cluster = protocol.cluster
    for offset in one.log.offsets:
        first, second = one.log.slots[offset].term, other.log.slots[offset].term
        held = one.log.has(offset)
        owner = And(held, cluster.presumes_leadership(other), other.epoch.term == EPOCH_OF(first))
        yield Lemma(
            f"while {other.name} leads in an epoch, its log has each record of this epoch that {one.name} has at "
            f"offset {offset}",
            Implies(owner, first == second),
        )
        follower = And(held, cluster.follows_epoch(one, other))
        yield Lemma(
            f"if {one.name} is in the epoch of its leader {other.name}, both have the same record at offset {offset}, "
            f"or {one.name} has none",
            Implies(follower, first == second),
        )
        if one.number < other.number:
            same_epoch = And(held, other.log.has(offset), EPOCH_OF(first) == EPOCH_OF(second))
            yield Lemma(
                f"records of one epoch at offset {offset} of {one.name} and {other.name} are the same record",
                Implies(same_epoch, first == second),
            )
            for lower in range(offset):
                agree = one.log.slots[lower].term == other.log.slots[lower].term
                yield Lemma(
                    f"if {one.name} and {other.name} have the same record at offset {offset}, so they have at {lower}",
                    Implies(one.log.agrees_at(offset, other.log), agree),
                )


def _successions(protocol: OpenProtocol) -> Iterator[Lemma]:
    """Yield the relations between the ISR of a leader or a request and later ones."""
    cluster = protocol.cluster
    everybody = cluster.replicas
    moved = Or(
        *(
            And(
                in_isr(one.number, EPOCH) == 1,
                Or(one.epoch.term > EPOCH, And(LEADER(EPOCH) == one.number, one.epoch.term >= EPOCH)),
            )
            for one in everybody
        )
    )
    for leader in everybody:
        leads, epoch = cluster.presumes_leadership(leader), leader.epoch.term
        gone = Or(*(And(leader.isr[one.number].is_set, one.epoch.term > epoch) for one in cluster.others(leader)))
        for member in cluster.others(leader):
            inside = leader.isr[member.number].is_set
            yield Lemma(
                f"{member.name} is in the quorum's ISR only if it is in that of the presumed leader {leader.name}, or "
                f"a member of the latter is in a later epoch than {leader.name}",
                Implies(And(leads, cluster.in_quorum_isr(member)), Or(inside, gone)),
            )
            later = And(leads, epoch < EPOCH, in_isr(member.number, EPOCH) == 1)
            yield Lemma(
                f"{member.name} is in the ISR of a later request only if it is in that of the presumed leader "
                f"{leader.name}, or a member of the latter is in a later epoch than {leader.name}",
                Implies(later, Or(inside, gone)),
                (EPOCH,),
            )
    for member in everybody:
        outside = in_isr(member.number, EPOCH) == 0
        yield Lemma(
            f"{member.name} is in the quorum's ISR only if it is in that of each request, or the leader or a member of "
            "the latter has gone on",
            Implies(And(outside, cluster.in_quorum_isr(member)), moved),
            (EPOCH,),
        )
        later = And(EPOCH < LATER, outside, in_isr(member.number, LATER) == 1)
        yield Lemma(
            f"{member.name} is in the ISR of a request only if it is in that of each earlier one, or the leader or a "
            "member of the latter has gone on",
            Implies(later, moved),
            (EPOCH, LATER),
        )


def _commits(protocol: OpenProtocol) -> Iterator[Lemma]:
    cluster, history = protocol.cluster, protocol.committed
    for one in cluster.replicas:
        yield Lemma(
            f"the high watermark of {one.name} is within the committed prefix",
            one.high_watermark.term <= history.length.term,
        )
    for offset, (record, commit) in enumerate(zip(history.records, history.epochs, strict=True)):
        there = history.length.term > offset
        written, epoch = EPOCH_OF(record.term), commit.term
        where = f"the committed record at offset {offset}"
        sane = And(record.term != 0, epoch < cluster.next_epoch.term, written >= 0, written <= epoch)
        yield Lemma(f"{where} is of no later epoch than the leader that first covered it", Implies(there, sane))
        taken_over = Or(*(And(LEADER(epoch) == by.number, by.epoch.term >= epoch) for by in cluster.replicas))
        yield Lemma(
            f"{where} was first covered by a leader that has taken over in its epoch", Implies(there, taken_over)
        )
        for one in cluster.replicas:
            has = one.log.slots[offset].term == record.term
            reached = And(one.epoch.term >= epoch, has)
            yield Lemma(
                f"{one.name} has {where} if its high watermark is above, and has reached the epoch of the commit",
                Implies(one.high_watermark.term > offset, reached),
            )
            yield Lemma(
                f"{one.name} has {where} if the quorum's ISR has {one.name}, and has reached the epoch of the commit",
                Implies(And(there, cluster.in_quorum_isr(one)), reached),
            )
            yield Lemma(
                f"{one.name} has {where} if it presumes to lead in the epoch of the commit or a later one",
                Implies(And(there, cluster.presumes_leadership(one), one.epoch.term >= epoch), has),
            )
            yield Lemma(
                f"{one.name} has {where} if it is in the ISR of a request after the epoch of the commit, and has "
                "reached that epoch",
                Implies(And(there, epoch < EPOCH, in_isr(one.number, EPOCH) == 1), reached),
                (EPOCH,),
            )
            yield Lemma(
                f"if {one.name} leads in the epoch of {where}, it has taken over there",
                Implies(And(there, LEADER(written) == one.number), one.epoch.term >= written),
            )
            own = And(there, cluster.is_true_leader(one), written == one.epoch.term)
            yield Lemma(
                f"if {where} is of the newest epoch, the high watermark of its leader {one.name} is above",
                Implies(own, one.high_watermark.term > offset),
            )


def _own_isr(protocol: OpenProtocol) -> Iterator[Lemma]:
    cluster, history = protocol.cluster, protocol.committed
    for offset, (record, commit) in enumerate(zip(history.records, history.epochs, strict=True)):
        for leader in cluster.replicas:
            epoch = leader.epoch.term
            known = Or(commit.term < epoch, And(commit.term == epoch, leader.high_watermark.term > offset))
            for member in cluster.others(leader):
                member_has = And(member.epoch.term >= commit.term, member.log.slots[offset].term == record.term)
                premise = And(history.length.term > offset, leader.isr[member.number].is_set, known)
                yield Lemma(
                    f"{member.name} has the committed record at offset {offset}, and has reached the epoch of the "
                    f"commit, if the own ISR of a presumed leader {leader.name} that knows of the commit has "
                    f"{member.name}",
                    Implies(premise, member_has),
                )
