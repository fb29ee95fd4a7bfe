"""Terms to machine code: one function per group of actions, generated with llvmlite.

``expand(state, out) -> count`` writes the successors of a packed state; ``inspect(state) -> bits`` evaluates
predicates. Guards are tested as a decision tree, the condition that most actions share first, so that a state pays
only for what could be enabled in it; only the updates of enabled actions are computed. Where a canonical form is
given, every successor is written in that form. The code is made quickly first and better later
(docs/decisions).
"""

from __future__ import annotations

import ctypes
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import llvmlite.binding as llvm
import numpy as np
import z3
from llvmlite import ir

from checker.kernel.canonical import Canonical, CanonicalForm
from checker.kernel.layout import Layout, Words
from checker.terms import Node, TermTable
from model.language import Action, Variable

I64 = ir.IntType(64)
I1 = ir.IntType(1)
INSPECT, CANONICAL, CLOCKS = "inspect", "canonical", "clocks"
"""Names of functions beside those of the groups of actions; there are two of the last."""
MOST_CLOCKS = 128
"""Two words of bits."""


class UnsupportedTerm(Exception):
    """A term uses an operator that the kernel does not know: extend ``_apply`` or rewrite the term."""


@dataclass(frozen=True)
class Kernel:
    """Compiled functions, by name, as addresses; ``actions`` of each group in the order of their labels.

    A successor in an ``expand`` buffer is ``words`` packed words and then the action's label (its index in the
    system). The engine object must outlive the addresses.
    """

    addresses: Mapping[str, int]
    most_successors: Mapping[str, int]
    source: str
    engine: Any

    @property
    def most(self) -> int:
        """No state has more successors by one function."""
        return max(self.most_successors.values(), default=1)

    def expand(self, name: str, row: Words, out: Words) -> int:
        """Have a function write a packed state's successors into ``out``; how many. It has room for all, one after
        the other."""
        call = ctypes.CFUNCTYPE(ctypes.c_int64, _ARRAY, _ARRAY)(self.addresses[name])
        return int(call(_address(np.ascontiguousarray(row)), _address(out)))

    def successors(self, name: str, row: Words) -> Words:
        """A packed state's successors by a function, a row each, with the action's label behind it."""
        out = np.empty((self.most_successors[name], len(row) + 1), dtype=np.uint64)
        return out[: self.expand(name, row, out)]

    def inspect(self, row: Words) -> int:
        """The predicates that hold in a packed state, as bits."""
        call = ctypes.CFUNCTYPE(ctypes.c_uint64, _ARRAY)(self.addresses[INSPECT])
        return int(call(_address(np.ascontiguousarray(row))))

    def canonical(self, row: Words) -> Words:
        """The canonical form of a packed state: the state itself if the kernel was compiled without one."""
        form = np.array(row, dtype=np.uint64)
        if CANONICAL in self.addresses:
            ctypes.CFUNCTYPE(None, _ARRAY)(self.addresses[CANONICAL])(_address(form))
        return form


_ARRAY = ctypes.POINTER(ctypes.c_uint64)


def _address(array: Words) -> Any:
    return array.ctypes.data_as(_ARRAY)


class _Evaluator:
    """Emits the value of nodes in one basic block, reusing what dominating blocks computed."""

    def __init__(self, function: _Function, outer: _Evaluator | None = None) -> None:
        self.function = function
        self.outer = outer
        self.known: dict[int, ir.Value] = {}

    def inner(self) -> _Evaluator:
        """An evaluator for a block that this one's block dominates."""
        return _Evaluator(self.function, self)

    def value(self, place: int) -> ir.Value:
        """The value of a node."""
        evaluator: _Evaluator | None = self
        while evaluator is not None:
            if place in evaluator.known:
                return evaluator.known[place]
            evaluator = evaluator.outer
        decided = self.function.decided(place)
        node = self.function.terms.nodes[place]
        if decided is not None:
            found = I1(decided)
        elif node.is_variable:
            found = self.function.load(str(node.leaf))
        else:
            found = _apply(self.function.builder, node, [self.value(child) for child in node.children])
        self.known[place] = found
        return found


_COMPARISONS = {z3.Z3_OP_LE: "<=", z3.Z3_OP_LT: "<", z3.Z3_OP_GE: ">=", z3.Z3_OP_GT: ">", z3.Z3_OP_EQ: "=="}
_FOLDS = {
    z3.Z3_OP_AND: "and_",
    z3.Z3_OP_OR: "or_",
    z3.Z3_OP_XOR: "xor",
    z3.Z3_OP_ADD: "add",
    z3.Z3_OP_SUB: "sub",
    z3.Z3_OP_MUL: "mul",
}


def _apply(builder: ir.IRBuilder, node: Node, values: list[ir.Value]) -> ir.Value:
    kind = node.kind
    if kind == z3.Z3_OP_ANUM:
        return I64(node.leaf)
    if kind in (z3.Z3_OP_TRUE, z3.Z3_OP_FALSE):
        return I1(kind == z3.Z3_OP_TRUE)
    if kind in (z3.Z3_OP_AND, z3.Z3_OP_OR):
        neutral = I1(kind == z3.Z3_OP_AND)
        values = [value for value in values if value != neutral] or [neutral]
    if kind in _FOLDS:
        result = values[0]
        for value in values[1:]:
            result = getattr(builder, _FOLDS[kind])(result, value)
        return result
    if kind in _COMPARISONS:
        return builder.icmp_signed(_COMPARISONS[kind], *values)
    if kind == z3.Z3_OP_DISTINCT and len(values) == 2:
        return builder.icmp_signed("!=", *values)
    if kind == z3.Z3_OP_NOT:
        return builder.not_(values[0])
    if kind == z3.Z3_OP_UMINUS:
        return builder.neg(values[0])
    if kind == z3.Z3_OP_IMPLIES:
        return builder.or_(builder.not_(values[0]), values[1])
    if kind == z3.Z3_OP_ITE:
        return builder.select(*values)
    raise UnsupportedTerm(
        f"the kernel does not know operator {node.leaf or node.kind}: add it to checker/kernel/native.py"
    )


class _Function:
    """One function over a packed state."""

    def __init__(
        self,
        module: ir.Module,
        name: str,
        layout: Layout,
        terms: TermTable,
        arguments: int,
        form: CanonicalForm | None = None,
    ) -> None:
        pointer = I64.as_pointer()
        self.form = form
        self.function = ir.Function(module, ir.FunctionType(I64, [pointer] * arguments), name)
        self.builder = ir.IRBuilder(self.function.append_basic_block("entry"))
        self.layout = layout
        self.terms = terms
        self.words = [
            self.builder.load(self.builder.gep(self.function.args[0], [I64(word)])) for word in range(layout.words)
        ]

    def load(self, name: str) -> ir.Value:
        """The value of a variable in the state."""
        field = self.layout.fields[name]
        value = self.builder.lshr(self.words[field.word], I64(field.shift))
        value = self.builder.and_(value, I64((1 << field.width) - 1))
        return self.builder.add(value, I64(field.variable.low)) if field.variable.low else value

    def decided(self, place: int) -> bool | None:
        """What a comparison of a variable with a number comes to whatever the field holds, or None."""
        node = self.terms.nodes[place]
        if node.kind == z3.Z3_OP_NOT:
            inner = self.decided(node.children[0])
            return None if inner is None else not inner
        if node.kind not in _COMPARISONS:
            return None
        left, right = (self._range(child) for child in node.children)
        if left is None or right is None:
            return None
        (low, high), (least, most) = left, right
        always = {"<=": high <= least, "<": high < least, ">=": low >= most, ">": low > most}
        never = {"<=": low > most, "<": low >= most, ">=": high < least, ">": high <= least}
        always["=="], never["=="] = low == high == least == most, high < least or low > most
        symbol = _COMPARISONS[node.kind]
        return True if always[symbol] else False if never[symbol] else None

    def _range(self, place: int) -> tuple[int, int] | None:
        """The values that a variable's field or a number can have."""
        node = self.terms.nodes[place]
        if node.kind == z3.Z3_OP_ANUM and isinstance(node.leaf, int):
            return node.leaf, node.leaf
        if not node.is_variable:
            return None
        field = self.layout.fields[str(node.leaf)]
        return field.variable.low, field.variable.low + (1 << field.width) - 1


@dataclass(frozen=True)
class _Pending:
    """An action on its way through the decision tree: what of its guard is still to be tested."""

    label: int
    action: Action
    tests: frozenset[int]


def _emit_expand(
    module: ir.Module,
    name: str,
    layout: Layout,
    terms: TermTable,
    labelled: Sequence[tuple[int, Action]],
    form: CanonicalForm | None,
) -> None:
    function = _Function(module, name, layout, terms, 2, form)
    count = function.builder.alloca(I64)
    function.builder.store(I64(0), count)
    pending = [_Pending(label, action, terms.conjuncts(terms.add(action.guard))) for label, action in labelled]
    _emit_tree(_Evaluator(function), count, pending)
    function.builder.ret(function.builder.load(count))


def _emit_tree(evaluator: _Evaluator, count: ir.Value, pending: Sequence[_Pending]) -> None:
    """Test the condition that most pending actions share, once, and emit those actions behind it."""
    builder, nodes = evaluator.function.builder, evaluator.function.terms.nodes
    for found in pending:
        if not found.tests:
            _emit_successor(evaluator.inner(), count, found)
    pending = [one for one in pending if one.tests]
    while pending:
        shared = Counter(test for one in pending for test in one.tests)
        test = min(shared, key=lambda place: (-shared[place], nodes[place].depth, place))
        behind = [replace(one, tests=one.tests - {test}) for one in pending if test in one.tests]
        pending = [one for one in pending if test not in one.tests]
        with builder.if_then(evaluator.value(test)):
            _emit_tree(evaluator.inner(), count, behind)


def _emit_successor(evaluator: _Evaluator, count: ir.Value, found: _Pending) -> None:
    function = evaluator.function
    builder = function.builder
    row = _updated_words(evaluator, found.action.updates)
    position = builder.load(count)
    out = builder.gep(function.function.args[1], [builder.mul(position, I64(function.layout.words + 1))])
    for offset, value in enumerate([*row, I64(found.label)]):
        builder.store(value, builder.gep(out, [I64(offset)]))
    if function.form is not None:
        function.form.apply(builder, out, function.words, row, frozenset(found.action.updates))
    builder.store(builder.add(position, I64(1)), count)


def _updated_words(evaluator: _Evaluator, updates: Mapping[Variable, z3.ArithRef]) -> list[ir.Value]:
    function = evaluator.function
    builder, layout = function.builder, function.layout
    kept = [(1 << 64) - 1] * layout.words
    added: list[list[ir.Value]] = [[] for _ in range(layout.words)]
    for variable, term in updates.items():
        field = layout.fields[variable.name]
        kept[field.word] &= ~field.mask
        value = evaluator.value(function.terms.add(term))
        if variable.low:
            value = builder.sub(value, I64(variable.low))
        added[field.word].append(builder.shl(value, I64(field.shift)))
    row = []
    for word, mask, values in zip(function.words, kept, added, strict=True):
        result = builder.and_(word, I64(mask)) if values else word
        for value in values:
            result = builder.or_(result, value)
        row.append(result)
    return row


def _emit_inspect(
    module: ir.Module, name: str, layout: Layout, terms: TermTable, predicates: Sequence[z3.BoolRef]
) -> None:
    """Each predicate is a disjunction; a disjunct is evaluated only where its cheap conditions hold."""
    function = _Function(module, name, layout, terms, 1)
    builder = function.builder
    result = builder.alloca(I64)
    builder.store(I64(0), result)
    pending = [
        (bit, frozenset(test for test in tests if function.decided(test) is None))
        for bit, predicate in enumerate(predicates)
        for tests in _disjuncts(terms, terms.add(predicate))
        if not any(function.decided(test) is False for test in tests)
    ]
    _emit_bits(_Evaluator(function), result, pending)
    builder.ret(builder.load(result))


def _disjuncts(terms: TermTable, place: int) -> list[frozenset[int]]:
    """The ways in which a predicate can hold, each a set of conditions."""
    node = terms.nodes[place]
    if node.kind == z3.Z3_OP_OR:
        return [tests for child in node.children for tests in _disjuncts(terms, child)]
    return [] if node.kind == z3.Z3_OP_FALSE else [terms.conjuncts(place)]


def _emit_bits(evaluator: _Evaluator, result: ir.Value, pending: Sequence[tuple[int, frozenset[int]]]) -> None:
    """Set the bit of each predicate one of whose disjuncts holds, testing shared conditions once."""
    builder, nodes = evaluator.function.builder, evaluator.function.terms.nodes
    for bit in sorted({bit for bit, tests in pending if not tests}):
        builder.store(builder.or_(builder.load(result), I64(1 << bit)), result)
    pending = [(bit, tests) for bit, tests in pending if tests]
    while pending:
        shared = Counter(test for _, tests in pending for test in tests)
        test = min(shared, key=lambda place: (-shared[place], nodes[place].depth, place))
        behind = [(bit, tests - {test}) for bit, tests in pending if test in tests]
        pending = [(bit, tests) for bit, tests in pending if test not in tests]
        with builder.if_then(evaluator.value(test)):
            _emit_bits(evaluator.inner(), result, behind)


def _machine(level: int) -> llvm.TargetMachine:
    """A target machine for one engine, which owns it from then on."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    target = llvm.Target.from_default_triple()
    return target.create_target_machine(cpu=llvm.get_host_cpu_name(), opt=level)


def compile_kernel(
    layout: Layout,
    groups: Mapping[str, Sequence[tuple[int, Action]]],
    predicates: Sequence[z3.BoolRef],
    canonical: Canonical | None = None,
    *,
    clocks: Sequence[z3.BoolRef] | None = None,
    optimised: bool = False,
) -> Kernel:
    """Compile an ``expand`` function per group of labelled actions and one ``inspect`` for the predicates.

    With ``clocks`` two further functions tell in which states these conditions hold.

    With ``canonical`` the successors of a state in canonical form are written in canonical form.

    The code is made in the quickest way, unless ``optimised``; :func:`optimise` makes better code of the same.

    Raises :class:`UnsupportedTerm` for an operator the kernel does not know.
    """
    module = ir.Module("proofka")
    terms = TermTable()
    form = CanonicalForm(module, layout, canonical) if canonical is not None else None
    for name, labelled in groups.items():
        _emit_expand(module, name, layout, terms, labelled, form)
    _emit_inspect(module, INSPECT, layout, terms, predicates)
    others = [INSPECT] if form is None else [INSPECT, CANONICAL]
    if clocks is not None:
        for half, conditions in enumerate((clocks[:64], clocks[64:MOST_CLOCKS])):
            others.append(f"{CLOCKS}_{half}")
            _emit_inspect(module, others[-1], layout, terms, conditions)
    return generate(
        str(module), {name: len(labelled) for name, labelled in groups.items()}, others, FAST if optimised else QUICK
    )


def optimise(kernel: Kernel) -> Kernel:
    """The same functions in code that runs up to three times as fast and takes ten times as long to make."""
    others = [name for name in kernel.addresses if name not in kernel.most_successors]
    return load_kernel(kernel.source, kernel.most_successors, others)


def load_kernel(source: str, most_successors: Mapping[str, int], others: Sequence[str]) -> Kernel:
    """A kernel from the source of another, perhaps of another process; ``others`` are its functions beside those of
    groups of actions."""
    return generate(source, most_successors, others, FAST)


QUICK, FAST = 0, 1
"""Levels of LLVM's code generator. Fast code also goes through the two passes that matter (benchmarks/RESULTS.md)."""


def generate(source: str, most_successors: Mapping[str, int], others: Sequence[str], level: int = QUICK) -> Kernel:
    """Machine code from LLVM's text, for the functions of groups of actions and ``others``."""
    machine = _machine(level)
    parsed = llvm.parse_assembly(source)
    parsed.triple = machine.triple
    if level == FAST:
        passes = llvm.create_new_module_pass_manager()
        passes.add_instruction_combine_pass()
        passes.add_simplify_cfg_pass()
        passes.run(parsed, llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=FAST)))
    engine = llvm.create_mcjit_compiler(parsed, machine)
    engine.finalize_object()
    names = [*most_successors, *others]
    return Kernel({name: engine.get_function_address(name) for name in names}, most_successors, source, engine)
