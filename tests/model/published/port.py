"""The port's terms as plain Python functions, and what each of its states means in the description's variables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import z3

from proofka.model.language import Action, State, TransitionSystem, Variable
from tests.model.published.plain_explorer import Isr, Own, PlainState, levels

Packed = tuple[int, ...]
"""The values of a system's variables, in their order."""

_OPERATORS = {
    z3.Z3_OP_AND: " and ",
    z3.Z3_OP_OR: " or ",
    z3.Z3_OP_EQ: " == ",
    z3.Z3_OP_DISTINCT: " != ",
    z3.Z3_OP_LE: " <= ",
    z3.Z3_OP_LT: " < ",
    z3.Z3_OP_GE: " >= ",
    z3.Z3_OP_GT: " > ",
    z3.Z3_OP_ADD: " + ",
    z3.Z3_OP_SUB: " - ",
}
_EMPTY = {z3.Z3_OP_AND: "True", z3.Z3_OP_OR: "False"}


def python_function(variables: Sequence[Variable], terms: Sequence[z3.ExprRef]) -> Callable[[Packed], Packed]:
    """Write a function from the values of the variables to those of the terms, one line for each shared subterm."""
    places = {variable.name: f"s[{index}]" for index, variable in enumerate(variables)}
    lines: list[str] = []
    names: dict[int, str] = {}

    def name(term: z3.ExprRef) -> str:
        key = term.get_id()
        if key not in names:
            value = written(term)
            names[key] = value
            if term.num_args():
                names[key] = f"t{len(lines)}"
                lines.append(f"    {names[key]} = {value}")
        return names[key]

    def written(term: z3.ExprRef) -> str:
        kind, parts = term.decl().kind(), [name(child) for child in term.children()]
        if kind == z3.Z3_OP_UNINTERPRETED:
            return places[term.decl().name()]
        if kind in (z3.Z3_OP_ANUM, z3.Z3_OP_TRUE, z3.Z3_OP_FALSE):
            return str(term)
        if kind == z3.Z3_OP_ITE:
            return f"{parts[1]} if {parts[0]} else {parts[2]}"
        if kind == z3.Z3_OP_NOT:
            return f"not {parts[0]}"
        if kind == z3.Z3_OP_IMPLIES:
            return f"not {parts[0]} or {parts[1]}"
        return _OPERATORS[kind].join(parts) or _EMPTY[kind]

    results = [name(term) for term in terms]
    program = "\n".join(["def run(s):", *lines, f"    return ({''.join(f'{result}, ' for result in results)})"])
    space: dict[str, Callable[[Packed], Packed]] = {}
    exec(program, space)
    return space["run"]


class Port:
    """A transition system run by Python alone."""

    def __init__(self, system: TransitionSystem) -> None:
        self.system = system
        self.variables = system.variables
        self._guards = python_function(self.variables, [action.guard for action in system.actions])
        self._afters = [
            python_function(self.variables, [action.updates.get(one, one.term) for one in self.variables])
            for action in system.actions
        ]
        self.initial = tuple(variable.initial for variable in self.variables)

    def steps(self, state: Packed) -> Iterator[tuple[Action, Packed]]:
        """Yield every enabled action, with the state after it."""
        for index, enabled in enumerate(self._guards(state)):
            if enabled:
                yield self.system.actions[index], self._afters[index](state)

    def levels(self) -> list[list[Packed]]:
        """Return the states, by level."""
        return levels(self.initial, lambda state: (after for _, after in self.steps(state)))

    def named(self, state: Packed) -> dict[str, int]:
        """Return a state by the names of its variables."""
        return {variable.name: value for variable, value in zip(self.variables, state, strict=True)}


def meaning(state: State, replicas: int, slots: int) -> PlainState:
    """Return the description's state that a state of the port stands for."""
    numbers = range(1, replicas + 1)
    made: list[tuple[int | None, int, Isr]] = []
    for epoch in range(state["next_epoch"]):
        isr = frozenset(other - 1 for other in numbers if state[f"request_{epoch}_isr_{other}"])
        made.append((_replica(state[f"request_{epoch}_leader"]), epoch, isr))
    own = tuple(_own(state, number, numbers, made) for number in numbers)
    logs = tuple(
        tuple(
            (record - 1, state[f"record_{record}_epoch"])
            for offset in range(slots)
            if (record := state[f"r{number}_log_{offset}"])
        )
        for number in numbers
    )
    quorum = made[-1] if made else (None, -1, frozenset(range(replicas)))
    if quorum[0] is not None and own[quorum[0]].epoch == quorum[1]:
        quorum = (quorum[0], quorum[1], own[quorum[0]].isr)
    return PlainState(state["records_written"], state["next_epoch"], logs, own, quorum, frozenset(made))


def _own(state: Mapping[str, int], number: int, numbers: range, made: Sequence[tuple[int | None, int, Isr]]) -> Own:
    epoch, hw = state[f"r{number}_epoch"], state[f"r{number}_high_watermark"]
    if epoch < 0:
        return Own(hw, epoch, None, frozenset())
    leader, _, isr = made[epoch]
    if leader == number - 1:
        isr = frozenset({number - 1, *(o - 1 for o in numbers if o != number and state[f"r{number}_isr_{o}"])})
    return Own(hw, epoch, leader, isr)


def _replica(number: int) -> int | None:
    return number - 1 if number else None
