"""The controller's log as events ``decided``: several records can be one decision.

The records of one decision stand next to each other and have the same time. The fencing of a broker is a change of the
partition and then of the broker, or of the broker alone; the announced stop of a broker, and an election of a broker
that is back, are the other way round. A registration can elect a leader as well: it takes a broker that was killed out
of the eligible leader replicas, and with no other of them left the last known leader leads. The change of the partition
comes first here too, and the broker is still fenced.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from proofka.checker.conformance.observations import BrokerDecision, Observations, PartitionDecision


@dataclass(frozen=True)
class Decision:
    """A decision of the controller, and the state after the decision.

    ``epoch`` counts from 1 the elections since the run began, the first leader included. ``fenced``, ``unfenced``: the
    broker that the decision fences, or takes back; 0 for none. ``stopping``: the broker that announces its stop.
    ``registered``: the broker whose registration elects a leader; the decision that takes it back comes later.
    ``elects``: the leader epoch rises. ``removed``,
    ``added``: the members that the ISR loses and gets.
    """

    written: float
    seen: float
    leader: int
    epoch: int
    isr: tuple[int, ...]
    fenced: int = 0
    unfenced: int = 0
    stopping: int = 0
    registered: int = 0
    elects: bool = False
    removed: tuple[int, ...] = ()
    added: tuple[int, ...] = ()


def decisions_of(seen: Observations) -> Iterator[Decision]:
    """Yield the decisions of a run, in order."""
    partition, live = seen.first, set(seen.brokers)
    epochs = model_epochs(seen)
    for records in _together(seen, set(seen.brokers)):
        before, was_live = partition, set(live)
        for record in records:
            if isinstance(record, PartitionDecision):
                partition = record
            elif record.is_gone:
                live.discard(record.broker)
            else:
                live.add(record.broker)
        of_brokers = [one for one in records if isinstance(one, BrokerDecision)]
        stopping = {one.broker for one in of_brokers if one.is_stopping}
        is_same = (before.leader, before.leader_epoch, set(before.isr)) == (
            partition.leader,
            partition.leader_epoch,
            set(partition.isr),
        )
        if is_same and live == was_live:
            continue
        yield Decision(
            written=records[0].written,
            seen=max(record.seen for record in records),
            leader=partition.leader,
            epoch=epochs[partition.leader_epoch],
            isr=tuple(sorted(partition.isr)),
            fenced=next(iter(was_live - live - stopping), 0),
            stopping=next(iter((was_live - live) & stopping), 0),
            unfenced=next(iter(live - was_live), 0),
            registered=next((one.broker for one in of_brokers if one.broker not in was_live | live), 0),
            elects=epochs[partition.leader_epoch] != epochs[before.leader_epoch],
            removed=tuple(sorted(set(before.isr) - set(partition.isr))),
            added=tuple(sorted(set(partition.isr) - set(before.isr))),
        )


def model_epochs(seen: Observations) -> dict[int, int]:
    """Return, by Kafka's leader epoch, the model's: it rises with elections only.

    Before 3.6 Kafka's rises with a removal from the ISR as well, which the model leaves out (semantics, choice 13).
    """
    found = {seen.first.leader_epoch: 1}
    before = seen.first
    for record in seen.decisions:
        if isinstance(record, PartitionDecision):
            if record.leader_epoch not in found:
                is_election = record.leader != before.leader or set(record.isr) >= set(before.isr)
                found[record.leader_epoch] = found[before.leader_epoch] + is_election
            before = record
    return found


Records = Sequence[PartitionDecision | BrokerDecision]


def _together(seen: Observations, live: set[int]) -> Iterator[Records]:
    """Yield the records of each decision."""
    rest = list(seen.decisions)
    partition = seen.first
    while rest:
        record, following = rest[0], rest[1] if len(rest) > 1 else None
        count = 1
        if following is not None and following.written == record.written:
            if isinstance(record, PartitionDecision) and isinstance(following, BrokerDecision):
                leaves = following.broker in partition.isr and (
                    following.broker not in record.isr or following.broker == partition.leader != record.leader
                )
                registers = following.broker not in live and partition.leader == 0 != record.leader
                count += following.is_fenced and (registers or (following.broker in live and leaves))
            elif isinstance(record, BrokerDecision) and isinstance(following, PartitionDecision):
                returns = not record.is_gone and record.broker not in live
                stops = record.is_stopping and record.broker in live and record.broker in partition.isr
                leaves = record.broker not in following.isr or record.broker == partition.leader != following.leader
                count += (returns and partition.leader == 0 and following.leader != 0) or (stops and leaves)
        taken = rest[:count]
        for one in taken:
            if isinstance(one, PartitionDecision):
                partition = one
            elif one.is_gone:
                live.discard(one.broker)
            else:
                live.add(one.broker)
        yield taken
        del rest[:count]
