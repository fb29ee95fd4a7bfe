"""The end of a follower that asks its leader for epochs: the terms of the model against the exchange, played (8)."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations_with_replacement

import pytest
import z3

from proofka.model.replication.fetching import end_asked_epoch_by_epoch, end_of_last_epoch
from proofka.model.state.pipeline import Replica
from tests.model.scripted import BOUNDS, scenario

Log = tuple[int, ...]
LEADER_EPOCH = 4


def logs(*epochs: int) -> list[Log]:
    """Return all logs of up to three records of these epochs."""
    return [log for length in range(4) for log in combinations_with_replacement(epochs, length)]


OF_FOLLOWERS = logs(1, 2, 3)
OF_LEADERS = logs(1, 2, LEADER_EPOCH)
WITHOUT_ANSWER = None


@dataclass
class Cache:
    """A replica's file of epochs, as its log would have it: epoch and start offset, oldest first."""

    entries: list[tuple[int, int]]
    end: int
    mended: bool

    def end_offset_for(self, epoch: int) -> tuple[int, int] | None:
        """Return the largest epoch up to this epoch, and its end; None where there is no answer."""
        if self.entries and epoch == self.entries[-1][0]:
            return epoch, self.end
        later = [start for known, start in self.entries if known > epoch]
        earlier = [known for known, _ in self.entries if known <= epoch]
        if not later:
            return WITHOUT_ANSWER
        if not earlier:
            return (epoch, later[0]) if self.mended else WITHOUT_ANSWER
        return earlier[-1], later[0]


def cache_of(log: Log, *, mended: bool, leads: bool = False) -> Cache:
    entries = [(epoch, offset) for offset, epoch in enumerate(log) if offset == 0 or log[offset - 1] != epoch]
    if leads and mended and (not log or log[-1] < LEADER_EPOCH):
        entries.append((LEADER_EPOCH, len(log)))
    return Cache(entries, len(log), mended)


def played(follower: Log, leader: Log, high_watermark: int, *, mended: bool, with_epochs: bool) -> int:
    """Play the requests for the end of the follower's last epoch, and drop records for each answer, until the follower
    is done."""
    at_leader = cache_of(leader, mended=mended, leads=True)
    log, fetch_offset = follower, high_watermark
    while log:
        answer = at_leader.end_offset_for(log[-1])
        if answer is WITHOUT_ANSWER:
            return min(fetch_offset, len(log))
        epoch, end = answer
        if not with_epochs:
            return min(end, len(log))
        mine = cache_of(log, mended=mended).end_offset_for(epoch)
        if mine is WITHOUT_ANSWER:
            return min(end, len(log))
        my_epoch, my_end = mine
        if my_epoch == epoch:
            return min(my_end, end, len(log))
        fetch_offset = min(my_end, len(log))
        log = log[:fetch_offset]
    return 0


def found(term: z3.ArithRef, both: list[tuple[Replica, Log]], high_watermark: int) -> int:
    """Evaluate the term where the replicas have these logs; the first replica is the follower."""
    values: list[tuple[z3.ArithRef, z3.ArithRef]] = []
    for index, (replica, log) in enumerate(both):
        values.append((replica.log.end.term, z3.IntVal(len(log))))
        values.append((replica.epoch.term, z3.IntVal(LEADER_EPOCH)))
        values.append((replica.high_watermark.term, z3.IntVal(0 if index else high_watermark)))
        for offset, slot in enumerate(replica.log.slots):
            values.append((slot["epoch"].term, z3.IntVal(log[offset] if offset < len(log) else 0)))
    return int(z3.simplify(z3.substitute(term, *values)).as_long())


@pytest.mark.parametrize(
    ("mended", "with_epochs"),
    [
        pytest.param(False, False, id="1.1"),
        pytest.param(True, False, id="2.0.1 with the protocol of 1.1"),
        pytest.param(False, True, id="2.0.0"),
        pytest.param(True, True, id="2.0.1"),
    ],
)
def test_term_for_the_kept_log_equals_the_outcome_of_the_exchange(mended: bool, with_epochs: bool) -> None:
    leader, follower = scenario(bounds=BOUNDS).pipeline.replicas[:2]
    ends = end_asked_epoch_by_epoch if with_epochs else end_of_last_epoch
    term = ends(follower, leader, mended=mended)
    differing = 0
    for mine in OF_FOLLOWERS:
        for theirs in OF_LEADERS:
            for high_watermark in range(len(mine) + 1):
                kept = played(mine, theirs, high_watermark, mended=mended, with_epochs=with_epochs)
                both = [(follower, mine), (leader, theirs)]
                assert found(term, both, high_watermark) == kept, (mine, theirs, high_watermark)
                differing += kept < len(mine)
    assert differing > 100
