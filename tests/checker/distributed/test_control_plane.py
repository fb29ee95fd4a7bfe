"""The owner of a state: found by measuring, the same every time, for any system."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
import z3

from proofka.checker.distributed.control_plane import ControlPlane, control_plane
from proofka.checker.kernel import closing
from proofka.checker.kernel.layout import lay_out
from proofka.checker.kernel.native import compile_kernel
from proofka.model.language import Action, TransitionSystem, Variable
from proofka.model.published.protocols import protocol
from tests.checker.test_exploration import NEVER, SLOW, action


def chosen(system: TransitionSystem, partitions: int = 8) -> ControlPlane:
    layout = lay_out(system.variables)
    numbered: Sequence[tuple[int, Action]] = list(enumerate(system.actions))
    groups = {"step": [one for one in numbered if one[1].fault is None]}
    groups["slow"] = [one for one in numbered if one[1].fault is not None]
    kernel = compile_kernel(layout, groups, [NEVER])
    plane = control_plane(layout, kernel, ["step"], ["slow"], layout.pack(system.initial), partitions)
    fields = [layout.fields[name] for name in plane.variables]
    for word, mask in enumerate(plane.mask):
        assert mask == sum(field.mask for field in fields if field.word == word)
    assert len(plane.mask) == layout.words
    return plane


def modes(slow: int, quick: int) -> TransitionSystem:
    """Build a system with a variable that changes rarely and another that changes at every step."""
    mode, clock = Variable("mode", 0, slow, 0), Variable("clock", 0, quick, 0)
    tick = action("tick", clock.term < quick, {clock: clock.term + 1})
    turn = action("turn", z3.And(clock.term == quick, mode.term < slow), {clock: z3.IntVal(0), mode: mode.term + 1})
    return TransitionSystem("modes", (mode, clock), (tick, turn))


def test_variable_that_changes_rarely_owns_the_states() -> None:
    assert chosen(modes(40, 40)).variables == ("mode",)


def test_the_same_every_time() -> None:
    system = protocol("kip-320", replicas=3, log_size=2, records=2, epochs=1).system
    plane = chosen(system)
    assert plane.variables
    assert chosen(system) == plane


def test_one_partition_is_owned_by_nothing() -> None:
    """One partition leaves no choice of an owner, and no state is passed on."""
    assert chosen(modes(40, 40), partitions=1) == ControlPlane((), (0,))


@pytest.mark.parametrize(("high", "partitions", "found"), [(0, 16, ()), (300, 3, ()), (300, 16, ("x",))])
def test_a_single_variable(high: int, partitions: int, found: tuple[str, ...]) -> None:
    """Every step changes it: that costs more than sharing the work out saves, unless there are many to share it."""
    x = Variable("x", 0, high, 0)
    up = action("up", x.term < high, {x: x.term + 1})
    assert chosen(TransitionSystem("one", (x,), (up,)), partitions).variables == found


def test_no_variables_and_no_steps() -> None:
    x = Variable("x", 0, 3, 1)
    only_faults = TransitionSystem("faults", (x,), (action("up", x.term < 3, {x: x.term + 1}, SLOW),))
    for system in (TransitionSystem("still", (x,), ()), only_faults, TransitionSystem("nothing", (), ())):
        assert chosen(system, partitions=2) == ControlPlane((), (0,))


def test_every_state_has_one_owner() -> None:
    """Each mask gives one owner to a state; an empty mask gives the same owner to all."""
    system = modes(40, 40)
    layout = lay_out(system.variables)
    states = [layout.pack({"mode": mode, "clock": clock}) for mode in range(41) for clock in range(41)]
    for names, most in ((("mode",), 41), ((), 1), (("mode", "clock"), 41 * 41)):
        mask = layout.pack({"mode": 0, "clock": 0})
        for name in names:
            mask |= layout.pack({"mode": 0, "clock": 0, name: (1 << layout.fields[name].width) - 1})
        owners = {bytes(state & mask): int(closing.owner_of_state(state, mask, 8)) for state in states}
        assert all(int(closing.owner_of_state(state, mask, 8)) == owners[bytes(state & mask)] for state in states)
        assert len(set(owners.values())) == min(most, 8)
        assert set(owners.values()) <= set(range(8))
