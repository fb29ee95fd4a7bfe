"""Ranked values: if only the order of some values matters, a state can hold their ranks instead.

A family of variables is an *ordered scalarset* of a system if the terms of the system use its values in three ways
only: the terms compare the values with one another, copy them, and add 1 to the newest value to make a fresh one.
Relabelling the values of a state in an order-preserving way is then a bisimulation. The state with ranks instead of
values stands for all states that differ from it in nothing else (docs/semantics.md). This module checks, on the terms
that will be explored, that a family is used in no other way.

Reference: C. N. Ip, D. L. Dill, "Better verification through symmetry", Formal Methods in System Design 9 (1996).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

import z3

from proofka.checker.cone import Substitution
from proofka.checker.obligations.obligation import Impossible
from proofka.checker.reductions.settled import unsettled, why_not_settled
from proofka.checker.terms import Node, TermTable
from proofka.model.language import Ranked, State, TransitionSystem


class NotRankable(Exception):
    """Relabelling a declared family by rank could change the behaviour of the system or the value of a predicate."""


@dataclass(frozen=True)
class Rankings:
    """The families of a system that can be ranked, and the reasons against the others."""

    families: tuple[Ranked, ...]
    refused: Mapping[str, str]


@dataclass(frozen=True)
class _Leaves:
    """The possible sources of a number: members of the family, constants, a fresh value, or anything else.

    ``constant`` is the largest constant. ``elder``: a member other than the newest is among the sources. ``mixed``: a
    member went into arithmetic.
    """

    member: bool = False
    elder: bool = False
    constant: int | None = None
    fresh: bool = False
    other: bool = False
    mixed: bool = False

    @property
    def concerns(self) -> bool:
        """Tell whether the number depends on the family."""
        return self.member or self.fresh or self.mixed

    def joined(self, other: _Leaves) -> _Leaves:
        constants = [constant for constant in (self.constant, other.constant) if constant is not None]
        return _Leaves(
            self.member or other.member,
            self.elder or other.elder,
            max(constants, default=None),
            self.fresh or other.fresh,
            self.other or other.other,
            self.mixed or other.mixed,
        )


_OTHER = _Leaves(other=True)
_TRUTH = (z3.Z3_OP_TRUE, z3.Z3_OP_FALSE, z3.Z3_OP_AND, z3.Z3_OP_OR, z3.Z3_OP_NOT, z3.Z3_OP_IMPLIES, z3.Z3_OP_XOR)
_MIRRORED = {
    z3.Z3_OP_LE: z3.Z3_OP_GE,
    z3.Z3_OP_GE: z3.Z3_OP_LE,
    z3.Z3_OP_LT: z3.Z3_OP_GT,
    z3.Z3_OP_GT: z3.Z3_OP_LT,
    z3.Z3_OP_EQ: z3.Z3_OP_EQ,
    z3.Z3_OP_DISTINCT: z3.Z3_OP_DISTINCT,
}
"""The comparisons, each with the equivalent comparison of exchanged sides."""


def rankings(
    system: TransitionSystem,
    predicates: Iterable[z3.BoolRef],
    constants: Substitution | None = None,
    terms: TermTable | None = None,
) -> Rankings:
    """Return the declared families of ``system`` that can be ranked in an exploration with these predicates.

    ``constants`` were filled into the system's terms. Terms already in ``terms`` are not walked again.
    """
    table, asked = TermTable() if terms is None else terms, tuple(predicates)
    families, refused = [], {}
    for declared in system.ranked:
        try:
            family = check_ranked(declared, system, asked, constants, table)
        except NotRankable as reason:
            refused[declared.name] = str(reason)
        else:
            families += [] if family is None else [family]
    return Rankings(tuple(families), refused)


def check_ranked(
    family: Ranked,
    system: TransitionSystem,
    predicates: Iterable[z3.BoolRef],
    constants: Substitution | None = None,
    terms: TermTable | None = None,
) -> Ranked | None:
    """Return the family restricted to ``system``, with only as many reserved values as its terms need.

    Return None if the system makes no fresh values, so that ranking gains nothing. Raise :class:`NotRankable` with the
    action or predicate and the term that does more than compare and copy.
    """
    usage = _usage(family, system, predicates, TermTable() if terms is None else terms)
    if usage is None:
        return None
    if usage.resets is not None:
        why = why_not_settled(family, system, constants or [])
        if why is not None:
            raise NotRankable(f"{family.name}: {usage.resets} may be no newer than what others hold: {why}")
    return replace(usage.family, reserved=usage.reserved)


def asked_of_z3(
    system: TransitionSystem, predicates: Iterable[z3.BoolRef], constants: Substitution
) -> Iterator[Impossible]:
    """Yield what :func:`rankings` asks Z3 about the families that it finds."""
    asked = tuple(predicates)
    for declared in system.ranked:
        try:
            ranked = check_ranked(declared, system, asked, constants)
        except NotRankable:
            continue
        usage = None if ranked is None else _usage(declared, system, asked, TermTable())
        if usage is not None and usage.resets is not None:
            yield from unsettled(declared, system, constants)


def _usage(
    family: Ranked, system: TransitionSystem, predicates: Iterable[z3.BoolRef], terms: TermTable
) -> _Usage | None:
    """Return the use of a family; None if the system makes no fresh values. Raise :class:`NotRankable`."""
    present = tuple(variable for variable in family.variables if variable in set(system.variables))
    if family.newest not in present:
        return None
    usage = _Usage(replace(family, variables=present), terms)
    for action in system.actions:
        usage.of_condition(f"the guard of {action}", action.guard)
        for variable, value in action.updates.items():
            usage.of_update(f"what {action} assigns to {variable.name}", variable.name, value)
    for number, predicate in enumerate(predicates):
        usage.of_condition(f"predicate {number}", predicate)
    usage.of_declaration()
    return usage


def exhausted(family: Ranked) -> z3.BoolRef:
    """Return the condition that no rank is left for a fresh value.

    A reachable state with it means that the domain was too small.
    """
    return family.newest.term == family.newest.high


def ranks_needed(family: Ranked) -> int:
    """Return a highest value for the family's variables with which a fresh value always fits, after any number of
    others.

    No state has more ranks than variables, and a fresh value is one more than the newest rank.
    """
    return family.reserved + len(family.variables) + 1


def ranked_state(state: State, families: Iterable[Ranked]) -> dict[str, int]:
    """Return the state with ranks instead of the values of each family; reserved values stay unchanged."""
    canonical = dict(state)
    for family in families:
        names = [variable.name for variable in family.variables]
        order = sorted({canonical[name] for name in names if canonical[name] > family.reserved})
        rank = {value: family.reserved + place for place, value in enumerate(order, 1)}
        for name in names:
            canonical[name] = rank.get(canonical[name], canonical[name])
    return canonical


class _Usage:
    """The use of a family, term by term."""

    def __init__(self, family: Ranked, terms: TermTable) -> None:
        self.family = family
        self.terms = terms
        self.members = {variable.name for variable in family.variables}
        self.lowest = min(variable.low for variable in family.variables)
        self.reserved = self.lowest
        self.resets: str | None = None
        self._leaves: list[_Leaves | None] = []
        self._wrong: list[int | None] = []  # for each node, a node at or below it that does more than compare
        self._speaks_of: list[int] = []  # for each node, the largest value at or below it compared with members

    def of_condition(self, where: str, term: z3.BoolRef) -> None:
        """Check a guard or a predicate: a Boolean term whose value must not depend on the labels."""
        place = self._enter(term)
        self._complain(where, place)
        leaves = self._leaves[place]
        if leaves is not None and leaves.concerns:
            raise NotRankable(f"{self.family.name}: {where} is no truth value: {self._text(place)}")

    def of_update(self, where: str, name: str, term: z3.ArithRef) -> None:
        """Check an assigned value: for a member, a value that relabelling preserves; for another variable, none of the
        family.
        """
        place = self._enter(term)
        self._complain(where, place)
        leaves = self._leaves[place]
        if leaves is None:
            raise NotRankable(f"{self.family.name}: {where} is no number")
        if name not in self.members:
            if leaves.concerns:
                raise NotRankable(f"{self.family.name}: {where} is a {self.family.name}, and it is not declared as one")
            return
        if leaves.other or leaves.mixed:
            raise NotRankable(f"{self.family.name}: {where} is not always a {self.family.name}")
        if name == self.family.newest.name:
            if leaves.elder:
                raise NotRankable(f"{self.family.name}: {where} may be no newer than what others hold")
            if leaves.constant is not None:
                self.resets = self.resets or where
        if name != self.family.newest.name and leaves.fresh:
            raise NotRankable(f"{self.family.name}: {where} is newer than {self.family.newest.name}")
        if leaves.constant is not None:
            self._reserve(where, leaves.constant)

    def of_declaration(self) -> None:
        """Check that no member is ever newer than the newest, and that ranks lie within the domains."""
        family = self.family
        for variable in family.variables:
            if variable.initial > family.newest.initial:
                raise NotRankable(f"{family.name}: {variable.name} is newer than {family.newest.name} at the start")
            if variable.low > self.reserved + 1:
                raise NotRankable(f"{family.name}: {variable.name} cannot hold rank {self.reserved + 1}")
        if self.reserved > family.newest.initial:
            raise NotRankable(f"{family.name}: {self.reserved} may be newer than {family.newest.name}")

    def _complain(self, where: str, place: int) -> None:
        wrong = self._wrong[place]
        if wrong is not None:
            raise NotRankable(f"{self.family.name}: {where} depends on more than the order: {self._text(wrong)}")
        self.reserved = max(self.reserved, self._speaks_of[place])

    def _enter(self, term: z3.ExprRef) -> int:
        """Walk a new term, children first, and return its place."""
        place = self.terms.add(term)
        for number in range(len(self._leaves), len(self.terms.nodes)):
            node = self.terms.nodes[number]
            below = [self._leaves[child] for child in node.children]
            compared = self._compared_with(node, below)
            wrong = number if compared is None else None
            self._leaves.append(self._leaves_of(node, below))
            self._wrong.append(next((w for child in node.children if (w := self._wrong[child]) is not None), wrong))
            spoken_of = [self._speaks_of[child] for child in node.children]
            self._speaks_of.append(max([self.lowest if compared is None else compared, *spoken_of]))
        return place

    def _leaves_of(self, node: Node, below: list[_Leaves | None]) -> _Leaves | None:
        """Return the possible sources of a number; None for a truth value."""
        if node.kind == z3.Z3_OP_ANUM:
            assert isinstance(node.leaf, int)
            return _Leaves(constant=node.leaf)
        if node.is_variable:
            if node.leaf not in self.members:
                return _OTHER
            return _Leaves(member=True, elder=node.leaf != self.family.newest.name)
        if node.kind == z3.Z3_OP_ITE:
            then, otherwise = below[1:]
            return None if then is None or otherwise is None else then.joined(otherwise)
        if node.kind in _MIRRORED or node.kind in _TRUTH:
            return None
        if not _concerned(below):
            return _OTHER
        return _Leaves(fresh=True) if self._is_fresh(node) else _Leaves(mixed=True, other=True)

    def _is_fresh(self, node: Node) -> bool:
        """Tell whether a node is ``newest + 1``."""
        parts = [self.terms.nodes[child] for child in node.children]
        one = [part for part in parts if part.kind == z3.Z3_OP_ANUM and part.leaf == 1]
        newest = [part for part in parts if part.is_variable and part.leaf == self.family.newest.name]
        return node.kind == z3.Z3_OP_ADD and len(parts) == 2 and len(one) == len(newest) == 1

    def _compared_with(self, node: Node, below: list[_Leaves | None]) -> int | None:
        """Return the largest reserved value that members are compared with at this node, or None.

        None means that the node does more with members than compare them with one another, with reserved values, or
        with the bound.
        """
        if node.kind in _TRUTH or node.kind == z3.Z3_OP_ITE:
            conditions = below[:1] if node.kind == z3.Z3_OP_ITE else below
            return None if _concerned(conditions) else self.lowest
        if node.kind not in _MIRRORED or not _concerned(below):
            return self.lowest
        if self._is_bound_test(node):
            return self.lowest
        sides = self._difference(node) or [leaves for leaves in below if leaves is not None]
        largest = max((leaves.constant for leaves in sides if leaves.constant is not None), default=self.lowest)
        if any(leaves.other or leaves.mixed or leaves.fresh for leaves in sides) or largest > self.family.reserved:
            return None
        return largest

    def _reserve(self, where: str, constant: int) -> None:
        if constant > self.family.reserved:
            raise NotRankable(f"{self.family.name}: {where} may be {constant}, which is not declared as reserved")
        self.reserved = max(self.reserved, constant)

    def _is_bound_test(self, node: Node) -> bool:
        """Tell whether a node tests that another fresh value fits: ``newest < high``, in any notation."""
        if len(node.children) != 2:
            return False
        kind = node.kind
        one, other = (self.terms.nodes[child] for child in node.children)
        if one.kind == z3.Z3_OP_ANUM:
            kind, one, other = _MIRRORED[kind], other, one
        if not one.is_variable or one.leaf != self.family.newest.name or other.kind != z3.Z3_OP_ANUM:
            return False
        last = self.family.newest.high
        below_the_end = {z3.Z3_OP_LE: last - 1, z3.Z3_OP_GT: last - 1}
        return bool(other.leaf == below_the_end.get(kind, last))

    def _difference(self, node: Node) -> list[_Leaves] | None:
        """Return the sides of a comparison that Z3 rewrote as a difference: ``a - b <= 0``, ``a - b <= -1`` and the
        like.
        """
        if len(node.children) != 2:
            return None
        left, right = (self._linear(child) for child in node.children)
        if left is None or right is None:
            return None
        total = {key: left.get(key, 0) - right.get(key, 0) for key in {**left, **right}}
        constant = total.pop(None, 0)
        factors = {key: factor for key, factor in total.items() if factor}
        allowed = {z3.Z3_OP_LE: (0, 1), z3.Z3_OP_LT: (0, -1), z3.Z3_OP_GE: (0, -1), z3.Z3_OP_GT: (0, 1)}
        if sorted(factors.values()) != [-1, 1] or constant not in allowed.get(node.kind, (0,)):
            return None
        return [leaves for key in factors if key is not None and (leaves := self._leaves[key]) is not None]

    def _linear(self, place: int) -> dict[int | None, int] | None:
        """Return a sum of the family's values with factors, with its constant under None; None for anything else."""
        node, leaves = self.terms.nodes[place], self._leaves[place]
        if node.kind == z3.Z3_OP_ANUM:
            assert isinstance(node.leaf, int)
            return {None: node.leaf}
        if leaves is None:
            return None
        if leaves.member and not (leaves.other or leaves.mixed or leaves.fresh):
            return {place: 1}
        parts = [self._linear(child) for child in node.children]
        if node.kind == z3.Z3_OP_ADD:
            return _added(parts, [1] * len(parts))
        if node.kind == z3.Z3_OP_SUB:
            return _added(parts, [1] + [-1] * (len(parts) - 1))
        if node.kind == z3.Z3_OP_UMINUS:
            return _added(parts, [-1])
        if node.kind == z3.Z3_OP_MUL and len(parts) == 2 and parts[0] is not None and parts[0].keys() == {None}:
            return _added(parts[1:], [parts[0][None]])
        return None

    def _text(self, place: int) -> str:
        return " ".join(_written(self.terms, place, 4))


def _concerned(parts: Iterable[_Leaves | None]) -> bool:
    return any(leaves is not None and leaves.concerns for leaves in parts)


def _added(parts: Iterable[dict[int | None, int] | None], factors: Iterable[int]) -> dict[int | None, int] | None:
    total: dict[int | None, int] = {}
    for part, factor in zip(parts, factors, strict=True):
        if part is None:
            return None
        for key, count in part.items():
            total[key] = total.get(key, 0) + factor * count
    return total


def _written(terms: TermTable, place: int, depth: int) -> Iterator[str]:
    """Yield a term in prefix form, cut off at a depth."""
    node = terms.nodes[place]
    if not node.children:
        yield str(node.leaf)
    elif depth == 0:
        yield "..."
    else:
        yield f"({_SIGNS.get(node.kind, f'operator {node.kind}')}"
        for child in node.children:
            yield from _written(terms, child, depth - 1)
        yield ")"


_SIGNS = {
    z3.Z3_OP_LE: "<=",
    z3.Z3_OP_LT: "<",
    z3.Z3_OP_GE: ">=",
    z3.Z3_OP_GT: ">",
    z3.Z3_OP_EQ: "=",
    z3.Z3_OP_DISTINCT: "distinct",
    z3.Z3_OP_ADD: "+",
    z3.Z3_OP_SUB: "-",
    z3.Z3_OP_MUL: "*",
    z3.Z3_OP_ITE: "if",
    z3.Z3_OP_NOT: "not",
    z3.Z3_OP_AND: "and",
    z3.Z3_OP_OR: "or",
}
