"""Terms to machine code: one function per group of actions, generated with llvmlite.

``expand(state, out) -> count`` writes the successors of a packed state; ``inspect(state) -> bits`` evaluates
predicates. Where a canonical form is given, every successor is written in that form. The code is made quickly first
and better later (docs/decisions).
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import llvmlite.binding as llvm
import numpy as np
import z3
from llvmlite import ir

from checker.kernel.canonical import Canonical
from checker.kernel.emission import emit
from checker.kernel.layout import Layout, Words
from checker.kernel.program import program
from model.language import Action

I64 = ir.IntType(64)
INSPECT, CANONICAL, CLOCKS = "inspect", "canonical", "clocks"
"""Names of functions beside those of the groups of actions; there are two of the last."""
MOST_CLOCKS = 128
"""Two words of bits."""


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

    Raises :class:`~checker.kernel.emission.UnsupportedTerm` for an operator the kernel does not know.
    """
    asked = {INSPECT: predicates}
    if clocks is not None:
        asked |= {f"{CLOCKS}_{half}": clocks[64 * half : 64 * (half + 1)] for half in range(2)}
    made = program(layout, groups, asked, canonical)
    others = [*asked, *([CANONICAL] if canonical is not None else [])]
    return generate(emit(made), made.most_successors, others, FAST if optimised else QUICK)


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
