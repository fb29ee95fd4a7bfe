"""Symmetry: exchangeable parts of a system, proved action by action before a search relies on them.

A permutation of variables and values is an *automorphism* if it maps every action to an action of the same fault kind
with the same effect under the new names. A state and its image then have the same future up to names. So one state of
each orbit suffices, if no predicate distinguishes them. The initial state need not be fixed: if a run starts from its
image, every state of the run is an image.

References: C. N. Ip, D. L. Dill, "Better verification through symmetry", Formal Methods in System Design 9 (1996); E.
M. Clarke, O. Grumberg, D. A. Peled, *Model Checking*, chapter 14.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import z3

from proofka.checker.cone import FreeVariables
from proofka.checker.obligations.obligation import Impossible
from proofka.checker.reductions.shapes import Shapes
from proofka.checker.terms import TermTable
from proofka.model.language import Action, Permutation, Symmetry, TransitionSystem, Variable

MOST_PERMUTATIONS = 120
"""Largest group for which comparing all images of a state is worthwhile: five freely exchangeable parts."""


class NotSymmetric(Exception):
    """A declared permutation is no automorphism of the system, or a predicate distinguishes images."""


def prove_symmetry(
    symmetry: Symmetry, system: TransitionSystem, predicates: Sequence[z3.BoolRef], terms: TermTable | None = None
) -> tuple[Permutation, ...]:
    """Return all elements of the declared group except the identity, after proving each generator an automorphism.

    Raise :class:`NotSymmetric` with the action and a state in which it makes a difference.
    """
    table = TermTable() if terms is None else terms
    for generator in symmetry.generators:
        _Proof(generator, system, table).run(predicates)
    return _group(symmetry, system.variables)


def differences(symmetry: Symmetry, system: TransitionSystem, predicates: Sequence[z3.BoolRef]) -> Iterator[Impossible]:
    """Yield what :func:`prove_symmetry` asks Z3: the conditions under which a generator is no automorphism.

    Raise :class:`NotSymmetric` for what needs no solver.
    """
    for generator in symmetry.generators:
        for condition, claim in _Proof(generator, system, TermTable()).differences(predicates):
            yield Impossible(f"{generator.name}: no state within the domains shows that {claim}.", condition)


class _Proof:
    """The proof that one permutation is an automorphism: by comparing terms, and by Z3 for terms of different form."""

    def __init__(self, permutation: Permutation, system: TransitionSystem, terms: TermTable) -> None:
        self.permutation = permutation
        self.system = system
        self.variables = _completed(permutation, system.variables)
        self.values = {variable: _renaming(permutation, variable) for variable in system.variables}
        self._check_domains()
        self.shapes = Shapes(
            terms,
            {variable.name: target.name for variable, target in self.variables.items()},
            {variable.name: names for variable, names in self.values.items() if names},
        )
        self.free = FreeVariables()
        self.solver = z3.Solver()
        self.solver.set("ctrl_c", False)
        self.solver.add(system.domain)
        # The value from which a variable of the image comes, as a term over the image.
        self._origin = [
            (variable.term, _chosen(target.term, {name: value for value, name in self.values[variable].items()}))
            for variable, target in self.variables.items()
        ]

    def run(self, predicates: Sequence[z3.BoolRef]) -> None:
        """Raise :class:`NotSymmetric` unless the permutation is an automorphism that no predicate sees."""
        for condition, claim in self.differences(predicates):
            self._refute(condition, claim)

    def differences(self, predicates: Sequence[z3.BoolRef]) -> Iterator[tuple[z3.BoolRef, str]]:
        """Yield each condition to refute, with what a state would show that fulfils the condition.

        What agrees by its form is left out.
        """
        different = [pair for action in self.system.actions if not self._same_shape(*(pair := self._pair(action)))]
        for number, predicate in enumerate(predicates):
            if not self.shapes.equal(predicate, predicate):
                yield z3.Xor(self._renamed(predicate), predicate), f"predicate {number} sees it"
        for action, image in different:
            guard = self._renamed(action.guard)
            claim = f"{action} is not {image} with other names"
            yield z3.Xor(guard, image.guard), f"{claim}, when it can happen"
            for variable, difference in self._differences(action, image):
                yield z3.And(image.guard, difference), f"{claim}, in {self.variables[variable].name} after it"

    def _check_domains(self) -> None:
        if len(set(self.variables.values())) != len(self.variables):
            raise self._error("two variables go to one place")
        for variable in {*self.permutation.variables, *self.permutation.values} - set(self.variables):
            if self.permutation.variables.get(variable, variable) in self.variables:
                raise self._error(f"{variable.name}, which the system does not have, goes to one that it has")
        for variable, target in self.variables.items():
            if (variable.low, variable.high) != (target.low, target.high):
                raise self._error(f"{variable.name} and {target.name} have different domains")
            names = self.values[variable]
            if set(names) != set(names.values()) or not all(variable.low <= name <= variable.high for name in names):
                raise self._error(f"the values of {variable.name} are not exchanged for one another")

    def _pair(self, action: Action) -> tuple[Action, Action]:
        arguments = {
            name: self.permutation.arguments.get(name, {}).get(value, value) for name, value in action.arguments.items()
        }
        image = self.system.action(action.name, arguments)
        if image is None or image.fault is not action.fault:
            raise self._error(f"{action} has no counterpart")
        return action, image

    def _same_shape(self, action: Action, image: Action) -> bool:
        """Tell whether the terms of the action become those of its image, up to the order of arguments."""
        if not self.shapes.equal(action.guard, image.guard):
            return False
        places = {self.variables[variable] for variable in action.updates} | set(image.updates)
        return all(
            self.shapes.equal(*self._updates(action, image, variable), to=variable.name)
            for variable, target in self.variables.items()
            if target in places
        )

    def _updates(self, action: Action, image: Action, variable: Variable) -> tuple[z3.ArithRef, z3.ArithRef]:
        target = self.variables[variable]
        return action.updates.get(variable, variable.term), image.updates.get(target, target.term)

    def _differences(self, action: Action, image: Action) -> Iterator[tuple[Variable, z3.BoolRef]]:
        """Yield each variable with the condition that the image of the action's result differs from the result of its
        image.
        """
        for variable in self.variables:
            one, other = self._updates(action, image, variable)
            if not self.shapes.equal(one, other, to=variable.name):
                yield variable, _chosen(self._renamed(one), self.values[variable]) != other

    def _renamed(self, term: z3.ExprRef) -> z3.ExprRef:
        """Return the term over the image of the state."""
        return z3.substitute(term, *self._origin)

    def _refute(self, difference: z3.BoolRef, claim: str) -> None:
        answer = self.solver.check(difference)
        if answer == z3.sat:
            found, seen = self.solver.model(), self.free.of(difference)
            state = ", ".join(f"{v.name} = {found.eval(v.term)}" for v in self.system.variables if v.name in seen)
            raise self._error(f"{claim}, for example where {state}")
        if answer == z3.unknown:
            raise self._error(f"{claim}, for all that Z3 can tell")

    def _error(self, why: str) -> NotSymmetric:
        return NotSymmetric(f"{self.permutation.name}: {why}")


def _completed(permutation: Permutation, variables: Iterable[Variable]) -> dict[Variable, Variable]:
    """Return the target of each variable of a system."""
    present = set(variables)
    places = {variable: permutation.variables.get(variable, variable) for variable in variables}
    missing = [f"{v.name} goes to {place.name}" for v, place in places.items() if place not in present]
    if missing:
        raise NotSymmetric(f"{permutation.name}: {missing[0]}, which the system does not have")
    return places


def _renaming(permutation: Permutation, variable: Variable) -> dict[int, int]:
    """Return the values of a variable that change their names."""
    return {value: name for value, name in permutation.values.get(variable, {}).items() if value != name}


def _chosen(term: z3.ArithRef, names: Mapping[int, int]) -> z3.ArithRef:
    """Return the new name of a term's value."""
    result = term
    for value, name in names.items():
        result = z3.If(term == value, z3.IntVal(name), result)
    return result


def _group(symmetry: Symmetry, variables: Sequence[Variable]) -> tuple[Permutation, ...]:
    """Return the permutations that the generators generate, without the identity."""
    identity = _canonical(Permutation("identity", {}), variables)
    known = {identity: Permutation("identity", {})}
    frontier = list(known.values())
    while frontier:
        one = frontier.pop()
        for generator in symmetry.generators:
            product = _composed(generator, one, variables)
            key = _canonical(product, variables)
            if key not in known:
                known[key] = product
                frontier.append(product)
        if len(known) > MOST_PERMUTATIONS:
            raise NotSymmetric(f"{symmetry.name}: more than {MOST_PERMUTATIONS} permutations")
    return tuple(permutation for key, permutation in known.items() if key != identity)


def _composed(after: Permutation, first: Permutation, variables: Sequence[Variable]) -> Permutation:
    """Return the permutation ``first``, then ``after``."""
    places, values = {}, {}
    for variable in variables:
        middle = first.variables.get(variable, variable)
        places[variable] = after.variables.get(middle, middle)
        one, other = first.values.get(variable, {}), after.values.get(middle, {})
        values[variable] = {value: other.get(one.get(value, value), one.get(value, value)) for value in {*one, *other}}
    arguments = {
        name: {
            value: after.arguments.get(name, {}).get(middle, middle)
            for value in {*first.arguments.get(name, {}), *after.arguments.get(name, {})}
            for middle in [first.arguments.get(name, {}).get(value, value)]
        }
        for name in {*first.arguments, *after.arguments}
    }
    name = after.name if first.name == "identity" else f"{first.name}, then {after.name}"
    return Permutation(name, places, values, arguments)


_Key = tuple[tuple[str, tuple[tuple[int, int], ...]], ...]


def _canonical(permutation: Permutation, variables: Sequence[Variable]) -> _Key:
    """Return the key that distinguishes permutations of a system's states."""
    return tuple(
        (
            permutation.variables.get(variable, variable).name,
            tuple(sorted(_renaming(permutation, variable).items())),
        )
        for variable in variables
    )
