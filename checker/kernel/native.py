"""Terms to machine code: one straight-line function per group of actions, generated with llvmlite.

``expand(state, out) -> count`` writes the successors of a packed state; ``inspect(state) -> bits`` evaluates predicates. Guards
are tested as a decision tree, the condition that most actions share first, so that a state pays only for what could be
enabled in it; only the updates of enabled actions are computed. LLVM's optimiser is left out: it costs more than it gives
(benchmarks/RESULTS.md).
"""

from __future__ import annotations

import ctypes
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import llvmlite.binding as llvm
import z3
from llvmlite import ir

from checker.kernel.layout import Layout
from model.language import Action, Variable

I64 = ir.IntType(64)
I1 = ir.IntType(1)


class UnsupportedTerm(Exception):
    """A term uses an operator that the kernel does not know: extend ``_Evaluator`` or rewrite the term."""


@dataclass(frozen=True)
class Kernel:
    """Compiled functions, by name, as addresses; ``actions`` of each group in the order of their labels.

    A successor in an ``expand`` buffer is ``words`` packed words and then the action's label (its index in the system). The engine
    object must outlive the addresses.
    """

    addresses: Mapping[str, int]
    most_successors: Mapping[str, int]
    engine: Any

    def expand_function(self, name: str) -> Any:
        """A ctypes view of one function, for tests and for tools that need no speed."""
        pointer = ctypes.POINTER(ctypes.c_uint64)
        return ctypes.CFUNCTYPE(ctypes.c_int64, pointer, pointer)(self.addresses[name])

    def inspect_function(self) -> Any:
        """A ctypes view of ``inspect``."""
        pointer = ctypes.POINTER(ctypes.c_uint64)
        return ctypes.CFUNCTYPE(ctypes.c_uint64, pointer)(self.addresses["inspect"])


class _Evaluator:
    """Emits the value of terms in one basic block, reusing what dominating blocks computed."""

    def __init__(self, builder: ir.IRBuilder, load: Any, outer: _Evaluator | None = None) -> None:
        self.builder = builder
        self.load = load
        self.outer = outer
        self.known: dict[int, ir.Value] = {}

    def _lookup(self, key: int) -> ir.Value | None:
        found = self.known.get(key)
        if found is None and self.outer is not None:
            found = self.outer._lookup(key)
        return found

    def value(self, term: z3.ExprRef) -> ir.Value:
        key = term.get_id()
        found = self._lookup(key)
        if found is None:
            found = self._emit(term)
            self.known[key] = found
        return found

    def _emit(self, term: z3.ExprRef) -> ir.Value:
        kind = term.decl().kind()
        children = term.children()
        if kind == z3.Z3_OP_UNINTERPRETED and not children:
            return self.load(self, term.decl().name())
        if kind == z3.Z3_OP_ANUM:
            return I64(term.as_long())
        if kind == z3.Z3_OP_TRUE:
            return I1(1)
        if kind == z3.Z3_OP_FALSE:
            return I1(0)
        values = [self.value(child) for child in children]
        return self._apply(kind, values, term)

    def _apply(self, kind: int, values: list[ir.Value], term: z3.ExprRef) -> ir.Value:
        builder = self.builder
        comparisons = {z3.Z3_OP_LE: "<=", z3.Z3_OP_LT: "<", z3.Z3_OP_GE: ">=", z3.Z3_OP_GT: ">"}
        folds = {
            z3.Z3_OP_AND: builder.and_,
            z3.Z3_OP_OR: builder.or_,
            z3.Z3_OP_ADD: builder.add,
            z3.Z3_OP_SUB: builder.sub,
            z3.Z3_OP_MUL: builder.mul,
            z3.Z3_OP_XOR: builder.xor,
        }
        if kind in (z3.Z3_OP_AND, z3.Z3_OP_OR) and not values:
            return I1(kind == z3.Z3_OP_AND)
        if kind in folds:
            result = values[0]
            for value in values[1:]:
                result = folds[kind](result, value)
            return result
        if kind in comparisons:
            return builder.icmp_signed(comparisons[kind], *values)
        if kind in (z3.Z3_OP_EQ, z3.Z3_OP_IFF):
            return builder.icmp_signed("==", *values)
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
        raise UnsupportedTerm(f"the kernel does not know {term.decl().name()} in {term}")


class _Function:
    """One function over a packed state."""

    def __init__(self, module: ir.Module, name: str, layout: Layout, arguments: int) -> None:
        pointer = I64.as_pointer()
        self.function = ir.Function(module, ir.FunctionType(I64, [pointer] * arguments), name)
        self.builder = ir.IRBuilder(self.function.append_basic_block("entry"))
        self.layout = layout
        self.words = [
            self.builder.load(self.builder.gep(self.function.args[0], [I64(word)])) for word in range(layout.words)
        ]
        self.top = _Evaluator(self.builder, self._load)

    def _load(self, evaluator: _Evaluator, name: str) -> ir.Value:
        field = self.layout.fields[name]
        value = evaluator.builder.lshr(self.words[field.word], I64(field.shift))
        value = evaluator.builder.and_(value, I64((1 << field.width) - 1))
        return evaluator.builder.add(value, I64(field.variable.low)) if field.variable.low else value


@dataclass(frozen=True)
class _Pending:
    """An action on its way through the decision tree: what of its guard is still to be tested."""

    label: int
    action: Action
    tests: Mapping[int, z3.BoolRef]


def _emit_expand(module: ir.Module, name: str, layout: Layout, labelled: Sequence[tuple[int, Action]]) -> None:
    function = _Function(module, name, layout, 2)
    count = function.builder.alloca(I64)
    function.builder.store(I64(0), count)
    pending = [_Pending(label, action, _conjuncts(action.guard)) for label, action in labelled]
    _emit_tree(function, function.top, count, pending)
    function.builder.ret(function.builder.load(count))


def _conjuncts(guard: z3.BoolRef) -> dict[int, z3.BoolRef]:
    """The guard as a set of conditions that must all hold."""
    if guard.decl().kind() == z3.Z3_OP_AND:
        return {key: part for child in guard.children() for key, part in _conjuncts(child).items()}
    return {} if z3.is_true(guard) else {guard.get_id(): guard}


def _emit_tree(function: _Function, evaluator: _Evaluator, count: ir.Value, pending: Sequence[_Pending]) -> None:
    """Test the condition that most pending actions share, once, and emit those actions behind it."""
    for found in [one for one in pending if not one.tests]:
        _emit_successor(function, evaluator, count, found)
    pending = [one for one in pending if one.tests]
    while pending:
        shared = Counter(key for one in pending for key in one.tests)
        most = max(shared.values())
        key = min((k for k, times in shared.items() if times == most), key=lambda k: (_size(_term_of(pending, k)), k))
        behind = [one for one in pending if key in one.tests]
        pending = [one for one in pending if key not in one.tests]
        with function.builder.if_then(evaluator.value(behind[0].tests[key])):
            rest = [replace(one, tests={k: v for k, v in one.tests.items() if k != key}) for one in behind]
            _emit_tree(function, _Evaluator(function.builder, function._load, evaluator), count, rest)


def _term_of(pending: Sequence[_Pending], key: int) -> z3.BoolRef:
    return next(one.tests[key] for one in pending if key in one.tests)


def _size(term: z3.ExprRef) -> int:
    """How deep a term is: a cheap measure of what it costs to evaluate."""
    return int(z3.Z3_get_depth(term.ctx.ref(), term.as_ast()))


def _emit_successor(function: _Function, evaluator: _Evaluator, count: ir.Value, found: _Pending) -> None:
    builder = function.builder
    row = _updated_words(_Evaluator(builder, function._load, evaluator), function, found.action.updates)
    position = builder.load(count)
    base = builder.mul(position, I64(function.layout.words + 1))
    for offset, value in enumerate([*row, I64(found.label)]):
        builder.store(value, builder.gep(function.function.args[1], [builder.add(base, I64(offset))]))
    builder.store(builder.add(position, I64(1)), count)


def _updated_words(
    evaluator: _Evaluator, function: _Function, updates: Mapping[Variable, z3.ArithRef]
) -> list[ir.Value]:
    builder, layout = evaluator.builder, function.layout
    kept = [(1 << 64) - 1] * layout.words
    added: list[list[ir.Value]] = [[] for _ in range(layout.words)]
    for variable, term in updates.items():
        field = layout.fields[variable.name]
        kept[field.word] &= ~field.mask
        value = evaluator.value(term)
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


def _emit_inspect(module: ir.Module, layout: Layout, predicates: Sequence[z3.BoolRef]) -> None:
    function = _Function(module, "inspect", layout, 1)
    builder = function.builder
    result: ir.Value = I64(0)
    for bit, predicate in enumerate(predicates):
        holds = builder.zext(function.top.value(predicate), I64)
        result = builder.or_(result, builder.shl(holds, I64(bit)))
    builder.ret(result)


def _machine() -> llvm.TargetMachine:
    """A target machine for one engine, which owns it from then on."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    target = llvm.Target.from_default_triple()
    return target.create_target_machine(cpu=llvm.get_host_cpu_name(), opt=1)


def compile_kernel(
    layout: Layout, groups: Mapping[str, Sequence[tuple[int, Action]]], predicates: Sequence[z3.BoolRef]
) -> Kernel:
    """Compile an ``expand`` function per group of labelled actions and one ``inspect`` for the predicates.

    Raises :class:`UnsupportedTerm` for an operator the kernel does not know.
    """
    module = ir.Module("proofka")
    for name, labelled in groups.items():
        _emit_expand(module, name, layout, labelled)
    _emit_inspect(module, layout, predicates)
    machine = _machine()
    module.triple = machine.triple
    parsed = llvm.parse_assembly(str(module))
    engine = llvm.create_mcjit_compiler(parsed, machine)
    engine.finalize_object()
    names = [*groups, "inspect"]
    return Kernel(
        {name: engine.get_function_address(name) for name in names},
        {name: len(labelled) for name, labelled in groups.items()},
        engine,
    )
