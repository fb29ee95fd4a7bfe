"""Systems to export: a small one that a person can check by eye, and random ones."""

from __future__ import annotations

import random
from collections.abc import Mapping

import z3

from proofka.checker.export.exported import Exported
from proofka.checker.export.vocabulary import Definition
from proofka.checker.fault_counters import count_faults
from proofka.model.faults import Fault
from proofka.model.language import Action, Display, Effect, TransitionSystem, Variable, flag
from tests.checker.test_exploration import random_condition, random_system


def turnstile() -> Exported:
    """Build a turnstile that lets one person through for each coin, with a fault that swallows a coin.

    Its names are such that every language reserves one of them.
    """
    state, coins, active = Variable("init", 0, 2, 0), Variable("coins", 0, 3, 0), flag("active", True)
    below = Variable("below_zero", -1, 1, -1)
    full = z3.And(coins.term >= 3, z3.Not(active.term == 0))

    def action(name: str, guard: z3.BoolRef, effect: Effect, fault: Fault | None = None, **arguments: int) -> Action:
        return Action(
            name,
            "somebody",
            lane="brokers",
            arguments=arguments,
            guard=guard,
            updates=effect.updates,
            sentence=lambda b, a: name,
            semantics="",
            fault=fault,
        )

    insert, push, swap, swallow = Effect(), Effect(), Effect(), Effect()
    insert[coins] = coins.term + 1
    insert.set_when(state.term == 0, state, 1)
    push[state] = z3.If(coins.term > 1, 1, 0)
    push[coins] = coins.term - 1
    push[below] = z3.If(z3.Or(below.term == 1, coins.term + state.term > 4), -1, below.term + 1)
    swap[state], swap[coins] = coins.term, state.term
    swallow[coins] = coins.term - 1
    swallow[active] = z3.Not(active.is_set)
    actions = (
        action("next", z3.And(z3.Not(full), coins.term < 3), insert),
        action("push", z3.And(state.term == 1, coins.term > 0), push, person=1),
        action("push", z3.And(state.term == 1, coins.term > 0, active.term != 1), push, person=-2),
        action("swap", z3.And(coins.term <= 2, full == z3.BoolVal(False), active.is_set), swap),
        action("swallow", coins.term > 0, swallow, Fault.LOST_REQUEST),
    )
    display = Display("coins inserted", lambda state: str(state["coins"]), (coins,))
    system = TransitionSystem("turnstile-1", (state, coins, active, below), actions, (display,))
    counted = count_faults(system, {Fault.LOST_REQUEST: 2}, 1)
    return Exported(
        "turnstile-1",
        counted,
        {"no-free-ride": z3.And(state.term == 2, coins.term == 0), "TypeOk": coins.term > 3},
        ("A turnstile.",),
        {"open-again": z3.Implies(active.is_set, state.term != 0)},
        {"no-free-ride": "Nobody passes without a coin."},
        {"swallow": ("A coin is lost.", "fault: lost-request")},
        (Definition("full", full, "There is no room for another coin."),),
        {"init": {0: "LOCKED", 1: "OPEN"}},
    )


def random_exported(chance: random.Random, kinds: Mapping[Fault, int], total: int) -> Exported:
    """Return a random system with its faults counted, and two random properties."""
    system = random_system(chance)
    violated = {f"property-{i}": random_condition(chance, system.variables) for i in range(2)}
    return Exported("random", count_faults(system, kinds, total), violated)
