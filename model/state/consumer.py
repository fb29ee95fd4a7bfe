"""The state of the consumer group."""

from __future__ import annotations

from dataclasses import dataclass

from proofka.model.deployment.choices import Commit, Group, Processing, Sink
from proofka.model.deployment.deployment import Deployment
from proofka.model.deployment.implied.commits import loses_commits, offsets_may_be_gone
from proofka.model.deployment.implied.giving_up import gives_up_at_any_time
from proofka.model.deployment.implied.processing import forwards_unconfirmed, goes_back_to_last
from proofka.model.faults import REPLACES_MEMBER, Fault
from proofka.model.language import Variable, flag, present

EXPIRED = -2
"""The value for a committed offset that the brokers have deleted."""


@dataclass(frozen=True)
class Consumer:
    """The member of the consumer group that has the partition, and the remains of the one before (semantics 12).

    ``position`` is the next offset to fetch, with the leader epoch of the record before it. ``committed`` is the
    group's committed offset as of the last start (-1 = none yet, -2 = expired), likewise. ``processed`` counts (up to
    2) per record. ``queued`` holds, per offset, one more than the record handed off since the last start. ``late``
    holds likewise the records that an evicted member is still processing. ``replaced``: the last member was not ended
    but evicted (None where there are no workers). ``commit_lost``: the last commit had no effect. ``undiscovered``: the
    partition is new, and the group does not know of it (None where it does from the start). ``failed`` is one more than
    the offset of the record that failed last, where the consumer goes back to that alone. ``forwarded`` holds, per
    offset, one more than the record written to another topic that has not acknowledged it. ``leader_epoch`` is the
    newest leader epoch that the running consumer has fetched in. ``latest`` is one more than the latest record
    processed since the last start. ``disorder``: processing left the order of sending. ``restarted``: the group lost
    work half done.
    """

    running: Variable
    position: Variable
    position_epoch: Variable
    committed: Variable
    committed_epoch: Variable
    processed: tuple[Variable, ...]
    queued: tuple[Variable, ...]
    late: tuple[Variable, ...]
    replaced: Variable | None
    commit_lost: Variable | None
    undiscovered: Variable | None
    failed: Variable | None
    forwarded: tuple[Variable, ...]
    leader_epoch: Variable
    latest: Variable
    disorder: Variable
    restarted: Variable

    @property
    def variables(self) -> tuple[Variable, ...]:
        own = (self.running, self.position, self.position_epoch, self.committed, self.committed_epoch)
        flags = (self.replaced, self.commit_lost, self.undiscovered, self.failed)
        held = (*self.queued, *self.late, *self.forwarded, *present(*flags))
        return (*own, *self.processed, *held, self.leader_epoch, self.latest, self.disorder, self.restarted)


def declare_consumer(deployment: Deployment) -> Consumer:
    """Return the consumer's variables in their initial state."""
    capacity, epochs, records = deployment.bounds.log, deployment.bounds.epochs, deployment.bounds.records
    first = 0 if deployment.application.group is Group.ESTABLISHED else -1
    least = EXPIRED if offsets_may_be_gone(deployment) else first
    queue = capacity if deployment.application.processing is Processing.HANDED_OFF else 0
    lets_go = REPLACES_MEMBER if queue or gives_up_at_any_time(deployment) else {Fault.EVICTION}
    may_fail = loses_commits(deployment) and Fault.LOST_COMMIT in deployment.faults.possible
    unconfirmed = capacity if forwards_unconfirmed(deployment) else 0
    may_be_late = bool(lets_go & deployment.faults.possible) and deployment.application.commit is not Commit.NEVER
    if deployment.application.sink is Sink.KAFKA and not deployment.application.late_results_count:
        may_be_late = False
    return Consumer(
        flag("consumer_running", deployment.application.group is not Group.UNAWARE),
        Variable("position", 0, capacity, 0),
        Variable("position_epoch", 0, epochs, 0),
        Variable("committed", least, capacity, first),
        Variable("committed_epoch", 0, epochs, 0),
        tuple(Variable(f"processed_{record}", 0, 2, 0) for record in range(records)),
        tuple(Variable(f"queued_{offset}", 0, records, 0) for offset in range(queue)),
        tuple(Variable(f"late_{offset}", 0, records, 0) for offset in range(capacity if may_be_late else 0)),
        flag("replaced") if may_be_late and queue else None,
        flag("commit_lost") if may_fail else None,
        flag("undiscovered", True) if deployment.application.group is Group.UNAWARE else None,
        Variable("failed", 0, capacity, 0) if goes_back_to_last(deployment) else None,
        tuple(Variable(f"forwarded_{offset}", 0, records, 0) for offset in range(unconfirmed)),
        Variable("consumer_leader_epoch", 0, epochs, 0),
        Variable("latest_processed", 0, records, 0),
        flag("disorder"),
        flag("consumer_restarted"),
    )
