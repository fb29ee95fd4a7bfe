"""A change of any one guard or effect of the port changes what is counted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
import z3

from proofka.model.language import Action, TransitionSystem
from proofka.model.published.cluster import Cluster, cluster
from proofka.model.published.constants import Constants
from proofka.model.published.protocols import PROTOCOLS as VARIANTS
from proofka.model.published.protocols import Variant
from tests.model.published.port import Port
from tests.model.published.table import ROWS

Change = Callable[[Cluster, Action], Action]


def count(variant: Variant, constants: Constants, change: Change | None = None) -> int:
    """Count the states of a protocol, with its actions unchanged or changed."""
    state = cluster(constants)
    actions = tuple(action if change is None else change(state, action) for action in variant.actions(state))
    return sum(map(len, Port(TransitionSystem("changed", state.variables, actions)).levels()))


def without(name: str, *conditions: Callable[[Cluster, Action], z3.BoolRef]) -> Change:
    """Replace the conditions by true wherever they stand in the guards of these actions."""

    def change(state: Cluster, action: Action) -> Action:
        if action.name != name:
            return action
        pairs = [(condition(state, action), z3.BoolVal(True)) for condition in conditions]
        guard = z3.substitute(action.guard, *pairs)
        assert not guard.eq(action.guard), f"{action} does not ask for that"
        return replace(action, guard=guard)

    return change


def never(name: str) -> Change:
    return lambda _, action: replace(action, guard=z3.BoolVal(False)) if action.name == name else action


def keeping(name: str, what: str) -> Change:
    """Let these actions keep the variables that have ``what`` in their names."""

    def change(_: Cluster, action: Action) -> Action:
        if action.name != name:
            return action
        kept = {variable: new for variable, new in action.updates.items() if what not in variable.name}
        assert len(kept) < len(action.updates), f"{action} does not change that"
        return replace(action, updates=kept)

    return change


def _leader_presumes(state: Cluster, action: Action) -> z3.BoolRef:
    return state.presumes_leadership(state.replicas[action.arguments["leader"] - 1])


def _follower_follows(state: Cluster, action: Action) -> z3.BoolRef:
    leader, follower = (state.replicas[action.arguments[who] - 1] for who in ("leader", "follower"))
    return state.follows(follower, leader)


def _newer_request(who: str) -> Callable[[Cluster, Action], z3.BoolRef]:
    def condition(state: Cluster, action: Action) -> z3.BoolRef:
        return state.replicas[action.arguments[who] - 1].epoch.term < action.arguments["epoch"]

    return condition


def _newest_epoch(state: Cluster, action: Action) -> z3.BoolRef:
    leader = state.replicas[action.arguments["leader"] - 1]
    return leader.epoch.term + 1 == state.next_epoch.term


def _leader_ready(state: Cluster, action: Action) -> z3.BoolRef:
    return state.replicas[action.arguments["leader"] - 1].epoch.term == action.arguments["epoch"]


def _same_epoch(state: Cluster, action: Action) -> z3.BoolRef:
    leader = state.replicas[action.arguments["leader"] - 1]
    (follower,) = state.others(leader)
    return follower.epoch.term == leader.epoch.term


def _another_leader(state: Cluster, action: Action) -> z3.BoolRef:
    return state.quorum_leader != action.arguments["replica"]


def _in_quorum_isr(state: Cluster, action: Action) -> z3.BoolRef:
    return state.in_quorum_isr(state.replicas[action.arguments["replica"] - 1])


EVERYWHERE: dict[str, Change] = {
    "the leader is elected again": without("elect_leader", _another_leader),
    "anyone is elected": without("elect_leader", _in_quorum_isr),
    "anyone is taken out of the ISR": without("controller_shrinks_isr", _in_quorum_isr),
    "anyone writes": without("write", _leader_presumes),
    "zombies shrink the ISR": without("shrink_isr", _newest_epoch),
    "zombies expand the ISR": without("expand_isr", _newest_epoch),
    "a leader keeps its old ISR": keeping("become_leader", "_isr_"),
    "a follower forgets the high watermark": keeping("fetch", "_high_watermark"),
    **{
        f"{name} never happens": never(name)
        for name in (
            *("controller_shrinks_isr", "elect_leader", "become_leader", "write", "shrink_isr", "expand_isr"),
            *("increment_high_watermark", "fetch", "become_follower"),
        )
    },
}
OLD = ("truncate-to-hw", "kip-101", "kip-279")
TRUNCATING = (*OLD, "kip-320")
IN_TWO_EPOCHS = [(name, what, change) for name in VARIANTS for what, change in EVERYWHERE.items()]
IN_THREE_EPOCHS: list[tuple[str, str, Change]] = [
    ("truncate-to-hw", "anyone is fetched from", without("fetch", _leader_presumes)),
    *((name, "anyone fetches", without("fetch", _follower_follows)) for name in OLD),
    *(
        (name, "records keep the epoch that nobody can tell", keeping("become_follower", "record_1_epoch"))
        for name in TRUNCATING
    ),
    *((name, "nothing is truncated", keeping("become_follower", "_log_")) for name in TRUNCATING),
    ("kip-320", "a leader that is not ready is followed", without("become_follower", _leader_ready)),
    ("kip-320", "fetches across epochs", without("fetch", _same_epoch)),
    ("kip-320", "progress across epochs", without("increment_high_watermark", _same_epoch)),
    ("kip-320-first-try", "truncate never happens", never("truncate")),
    ("kip-320-first-try", "anyone truncates", without("truncate", _follower_follows)),
]


TWO_EPOCHS = Constants(replicas=2, log_size=2, records=2, epochs=1)
THREE_EPOCHS = Constants(replicas=2, log_size=2, records=2, epochs=2)
CASES = [
    pytest.param(name, constants, change, id=f"{name}: {what}")
    for constants, mutations in ((TWO_EPOCHS, IN_TWO_EPOCHS), (THREE_EPOCHS, IN_THREE_EPOCHS))
    for name, what, change in mutations
]


def published(name: str, constants: Constants) -> int:
    """Return the published count."""
    (row,) = (row for row in ROWS if row.protocol == name and Constants(**row.constants) == constants)
    return row.states


@pytest.mark.parametrize("constants", [TWO_EPOCHS, THREE_EPOCHS], ids=["two epochs", "three epochs"])
@pytest.mark.parametrize("name", VARIANTS)
def test_unchanged_protocol_has_the_published_count(name: str, constants: Constants) -> None:
    assert count(VARIANTS[name], constants) == published(name, constants)


@pytest.mark.parametrize(("name", "constants", "change"), CASES)
def test_change_is_noticed(name: str, constants: Constants, change: Change) -> None:
    assert count(VARIANTS[name], constants, change) != published(name, constants)
