"""A second source: the published protocols over Python tuples, written from their description in words.

Nothing is shared with the port in ``model/published``: no terms, no packing, nothing left out because it follows from
the rest. Replicas are 0, 1, ...; records are (id, epoch); a request is (leader, epoch, isr).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, TypeVar

T = TypeVar("T")
S = TypeVar("S")
Record = tuple[int, int]
Log = tuple[Record, ...]
Isr = frozenset[int]
Request = tuple[int | None, int, Isr]
Name = tuple[str, tuple[int, ...]]
"""An action's name and its participants."""


class Own(NamedTuple):
    """The knowledge of a replica: its high watermark and its own view of epoch, leader and ISR."""

    hw: int
    epoch: int
    leader: int | None
    isr: Isr


class PlainState(NamedTuple):
    """A whole state, every variable of the description in it."""

    next_record: int
    next_epoch: int
    logs: tuple[Log, ...]
    own: tuple[Own, ...]
    quorum: Request
    requests: frozenset[Request]


Step = tuple[Name, PlainState]


def put(items: tuple[T, ...], index: int, item: T) -> tuple[T, ...]:
    return (*items[:index], item, *items[index + 1 :])


@dataclass(frozen=True)
class PlainProtocol:
    """One protocol with its constants."""

    name: str
    replicas: int
    log_size: int
    records: int
    epochs: int

    @property
    def initial(self) -> PlainState:
        everyone = frozenset(range(self.replicas))
        unaware = Own(0, -1, None, frozenset())
        return PlainState(0, 0, ((),) * self.replicas, (unaware,) * self.replicas, (None, -1, everyone), frozenset())

    def successors(self, state: PlainState) -> Iterator[Step]:
        """Yield one step for each action and choice of participants."""
        yield from self._controller(state)
        yield from self._leaders(state)
        for leader in range(self.replicas):
            yield from self._high_watermark(state, leader)
            for other in range(self.replicas):
                yield from self._isr_changes(state, leader, other)
                if self._may_fetch(state, leader, other):
                    yield ("fetch", (leader, other)), fetched(state, leader, other)
                if self.name == "kip-320-first-try":
                    yield from self._truncation(state, leader, other)
        yield from self._becoming_followers(state)

    def _decision(self, state: PlainState, leader: int | None, isr: Isr) -> PlainState:
        made = (leader, state.next_epoch, isr)
        return state._replace(next_epoch=state.next_epoch + 1, quorum=made, requests=state.requests | {made})

    def _controller(self, state: PlainState) -> Iterator[Step]:
        if state.next_epoch > self.epochs:
            return
        leader, _, isr = state.quorum
        for r in range(self.replicas):
            shrinks = ("controller_shrinks_isr", (r,))
            if r == leader and isr == {r}:
                yield shrinks, self._decision(state, None, isr)
            elif r == leader:
                yield shrinks, self._decision(state, None, isr - {r})
            elif r in isr:
                yield shrinks, self._decision(state, leader, isr - {r})
            if r in isr and r != leader:
                yield ("elect_leader", (r,)), self._decision(state, r, isr)

    def _leaders(self, state: PlainState) -> Iterator[Step]:
        for leader, epoch, isr in state.requests:
            if leader is not None and epoch > state.own[leader].epoch:
                own = Own(state.own[leader].hw, epoch, leader, isr)
                yield ("become_leader", (epoch, leader)), state._replace(own=put(state.own, leader, own))
        for r in range(self.replicas):
            room = len(state.logs[r]) < self.log_size
            if presumes(state, r) and state.next_record < self.records and room:
                log = (*state.logs[r], (state.next_record, state.own[r].epoch))
                yield (
                    ("write", (r,)),
                    state._replace(next_record=state.next_record + 1, logs=put(state.logs, r, log)),
                )

    def _isr_changes(self, state: PlainState, leader: int, other: int) -> Iterator[Step]:
        own = state.own[leader]
        true_leader = state.quorum[0] == leader and presumes(state, leader) and own.epoch == state.quorum[1]
        if not true_leader:
            return
        if other in own.isr and other != leader and self._lags(state, leader, other):
            yield ("shrink_isr", (leader, other)), with_isr(state, leader, own.isr - {other})
        if other not in own.isr and self._caught_up_again(state, leader, other):
            yield ("expand_isr", (leader, other)), with_isr(state, leader, own.isr | {other})

    def _lags(self, state: PlainState, leader: int, follower: int) -> bool:
        end = len(state.logs[leader])
        if self.name == "kip-320":
            return not follows_epoch(state, follower, leader) or len(state.logs[follower]) < end
        if self.name == "kip-320-first-try":
            return not caught_up_by_epoch(state, leader, follower, end)
        return not caught_up(state, leader, follower, end)

    def _caught_up_again(self, state: PlainState, leader: int, follower: int) -> bool:
        own, log = state.own[leader], state.logs[leader]
        own_epoch_reached = own.hw == len(log) or log[own.hw][1] == own.epoch
        if self.name == "kip-320":
            long_enough = own.hw == 0 or len(state.logs[follower]) >= own.hw
            return follows_epoch(state, follower, leader) and long_enough and own_epoch_reached
        if self.name == "kip-320-first-try":
            return caught_up_by_epoch(state, leader, follower, own.hw) and own_epoch_reached
        return caught_up(state, leader, follower, own.hw)

    def _high_watermark(self, state: PlainState, leader: int) -> Iterator[Step]:
        own, log = state.own[leader], state.logs[leader]
        if self.name == "kip-320":
            allowed = own.hw < len(log) and all(
                follows_epoch(state, f, leader) and len(state.logs[f]) > own.hw for f in own.isr
            )
        elif self.name == "kip-320-first-try":
            allowed = (
                presumes(state, leader)
                and own.hw < len(log)
                and all(caught_up_by_epoch(state, leader, f, own.hw + 1) for f in own.isr)
            )
        else:
            allowed = (
                presumes(state, leader)
                and own.hw < self.log_size
                and all(state.own[f].leader == leader and len(state.logs[f]) > own.hw for f in own.isr)
            )
        if allowed:
            raised = own._replace(hw=own.hw + 1)
            yield ("increment_high_watermark", (leader,)), state._replace(own=put(state.own, leader, raised))

    def _may_fetch(self, state: PlainState, leader: int, follower: int) -> bool:
        end = len(state.logs[follower])
        if end >= len(state.logs[leader]):
            return False
        if self.name == "kip-320":
            return follows_epoch(state, follower, leader)
        if self.name == "kip-320-first-try":
            return caught_up_by_epoch(state, leader, follower, end)
        return presumes(state, leader) and state.own[follower].leader == leader

    def _truncation(self, state: PlainState, leader: int, follower: int) -> Iterator[Step]:
        theirs, mine = state.logs[leader], state.logs[follower]
        if not (presumes(state, leader) and state.own[follower].leader == leader and mine):
            return
        if len(mine) > len(theirs) or theirs[len(mine) - 1][1] != mine[-1][1]:
            after = truncated(state, follower, matching_end(theirs, mine))
            yield ("truncate", (leader, follower)), after

    def _becoming_followers(self, state: PlainState) -> Iterator[Step]:
        for leader, epoch, isr in state.requests:
            for r in range(self.replicas):
                if leader is None or r == leader or state.own[r].epoch >= epoch:
                    continue
                ready = presumes(state, leader) and state.own[leader].epoch == epoch
                if self.name == "kip-320" and not ready:
                    continue
                shorter = state
                if self.name != "kip-320-first-try":
                    point = self._truncation_point(state, leader, r)
                    if point > len(state.logs[r]):
                        continue
                    shorter = truncated(state, r, point)
                own = Own(shorter.own[r].hw, epoch, leader, isr)
                yield ("become_follower", (epoch, leader, r)), shorter._replace(own=put(shorter.own, r, own))

    def _truncation_point(self, state: PlainState, leader: int, follower: int) -> int:
        theirs, mine, hw = state.logs[leader], state.logs[follower], state.own[follower].hw
        if self.name == "truncate-to-hw":
            return hw
        if self.name != "kip-101":
            return matching_end(theirs, mine)
        if not mine:
            return 0
        if not theirs:
            return hw
        last_epoch = mine[-1][1]
        if theirs[-1][1] == last_epoch:
            return len(theirs)
        return next((offset for offset, record in enumerate(theirs) if record[1] > last_epoch), hw)


def presumes(state: PlainState, r: int) -> bool:
    return state.own[r].leader == r


def follows_epoch(state: PlainState, f: int, leader: int) -> bool:
    same_epoch = state.own[f].epoch == state.own[leader].epoch
    return presumes(state, leader) and state.own[f].leader == leader and same_epoch


def caught_up(state: PlainState, leader: int, f: int, offset: int) -> bool:
    long_enough = len(state.logs[leader]) >= offset and len(state.logs[f]) >= offset
    return state.own[f].leader == leader and (offset == 0 or long_enough)


def caught_up_by_epoch(state: PlainState, leader: int, f: int, offset: int) -> bool:
    if not (presumes(state, leader) and state.own[f].leader == leader):
        return False
    theirs, mine = state.logs[leader], state.logs[f]
    if offset == 0:
        return True
    return len(theirs) >= offset and len(mine) >= offset and theirs[offset - 1][1] == mine[offset - 1][1]


def matching_end(one: Log, other: Log) -> int:
    return max((i + 1 for i, (a, b) in enumerate(zip(one, other, strict=False)) if a == b), default=0)


def with_isr(state: PlainState, leader: int, isr: Isr) -> PlainState:
    own = state.own[leader]._replace(isr=isr)
    return state._replace(own=put(state.own, leader, own), quorum=(*state.quorum[:2], isr))


def truncated(state: PlainState, r: int, length: int) -> PlainState:
    own = state.own[r]._replace(hw=min(length, state.own[r].hw))
    return state._replace(logs=put(state.logs, r, state.logs[r][:length]), own=put(state.own, r, own))


def fetched(state: PlainState, leader: int, f: int) -> PlainState:
    end = len(state.logs[f])
    own = state.own[f]._replace(hw=min(state.own[leader].hw, end + 1))
    logs = put(state.logs, f, (*state.logs[f], state.logs[leader][end]))
    return state._replace(logs=logs, own=put(state.own, f, own))


def violates_isr(state: PlainState, members_of: Callable[[Own], Isr]) -> bool:
    """Tell whether some presumed leader and some member of an ISR disagree below the leader's high watermark."""
    for leader, own in enumerate(state.own):
        if own.leader == leader:
            for member in members_of(own):
                theirs, mine = state.logs[leader], state.logs[member]
                reach = own.hw <= min(len(theirs), len(mine))
                if own.hw > 0 and not (reach and theirs[: own.hw] == mine[: own.hw]):
                    return True
    return False


def violations(state: PlainState) -> dict[str, bool]:
    """Tell for each invariant whether the state violates it (types are Python's here)."""
    leader, _, quorum_isr = state.quorum
    return {
        "TypeOk": False,
        "WeakIsr": violates_isr(state, lambda own: own.isr),
        "StrongIsr": violates_isr(state, lambda _: quorum_isr),
        "LeaderInIsr": leader not in quorum_isr,
    }


def levels(initial: S, successors: Callable[[S], Iterator[S]]) -> list[list[S]]:
    """Search breadth-first: yield the states first reached after 0, 1, 2, ... steps."""
    found = [[initial]]
    known = {initial}
    while found[-1]:
        fresh = dict.fromkeys(after for state in found[-1] for after in successors(state) if after not in known)
        known.update(fresh)
        found.append(list(fresh))
    return found[:-1]


def plain_levels(protocol: PlainProtocol) -> list[list[PlainState]]:
    """Return the states of a protocol, by level."""

    def after(protocol: PlainProtocol, state: PlainState) -> Iterator[PlainState]:
        return (following for _, following in protocol.successors(state))

    return levels(protocol.initial, partial(after, protocol))
