"""Terms to machine code: one function for each group of actions, generated with llvmlite.

``expand(state, out) -> count`` writes the successors of a packed state; ``inspect(state) -> bits`` evaluates
predicates. If a canonical form is given, every successor is written in that form. The code is made quickly first, and
optimised later (docs/decisions).
"""

from __future__ import annotations

import ctypes
import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import z3

from proofka.checker.disk_cache import disk_cache
from proofka.checker.kernel.canonical import Canonical
from proofka.checker.kernel.emission import emit
from proofka.checker.kernel.layout import Layout, Words
from proofka.checker.kernel.machine_code import FAST, QUICK, key_of, linked, machine_code
from proofka.checker.kernel.program import program
from proofka.checker.user_cache import LOG
from proofka.model.language import Action

INSPECT, CANONICAL, CLOCK = "inspect", "canonical", "clock"
"""Names of the functions besides those of the groups of actions. There is one CLOCK function for each clock, by number.
"""
MOST_CLOCKS = 128
"""Largest number of clocks: the bits of two words."""


class Source:
    """LLVM's text, written on demand; ``digest`` identifies the text without writing it."""

    def __init__(self, digest: bytes, write: Callable[[], str]) -> None:
        self.digest = digest
        self._write = write

    @classmethod
    def of(cls, text: str) -> Source:
        """Return the source for a text that is already written."""
        return cls(hashlib.sha256(text.encode()).digest(), lambda: text)

    @cached_property
    def text(self) -> str:
        """The text of every function."""
        return self._write()


@dataclass(frozen=True)
class Kernel:
    """Compiled functions, by name, as addresses, and the largest number of successors of each group of actions.

    A successor in an ``expand`` buffer is ``words`` packed words and then the action's label (its index in the system).
    The engine object must outlive the addresses.
    """

    addresses: Mapping[str, int]
    most_successors: Mapping[str, int]
    written: Source
    engine: Any

    @property
    def source(self) -> str:
        """The text from which the machine code is made. Another process can make the same code from this text."""
        return self.written.text

    @property
    def most(self) -> int:
        """Largest number of successors of a state by one function."""
        return max(self.most_successors.values(), default=1)

    def expand(self, name: str, row: Words, out: Words) -> int:
        """Write a packed state's successors by a function into ``out``, one after the other; return their number.

        ``out`` has room for all successors.
        """
        call = ctypes.CFUNCTYPE(ctypes.c_int64, _ARRAY, _ARRAY)(self.addresses[name])
        return int(call(_address(np.ascontiguousarray(row)), _address(out)))

    def successors(self, name: str, row: Words) -> Words:
        """Return a packed state's successors by a function, one row each, with the action's label behind each."""
        out = np.empty((self.most_successors[name], len(row) + 1), dtype=np.uint64)
        return out[: self.expand(name, row, out)]

    def inspect(self, row: Words) -> int:
        """Return the predicates that hold in a packed state, as bits."""
        call = ctypes.CFUNCTYPE(ctypes.c_uint64, _ARRAY)(self.addresses[INSPECT])
        return int(call(_address(np.ascontiguousarray(row))))

    def canonical(self, row: Words) -> Words:
        """Return the canonical form of a packed state, or the state itself if the kernel has no form."""
        form = np.array(row, dtype=np.uint64)
        if CANONICAL in self.addresses:
            ctypes.CFUNCTYPE(None, _ARRAY)(self.addresses[CANONICAL])(_address(form))
        return form


_ARRAY = ctypes.POINTER(ctypes.c_uint64)


def _address(array: Words) -> Any:
    return array.ctypes.data_as(_ARRAY)


def compile_kernel(
    layout: Layout,
    groups: Mapping[str, Sequence[tuple[int, Action]]],
    predicates: Sequence[z3.BoolRef],
    canonical: Canonical | None = None,
    *,
    clocks: Sequence[z3.BoolRef] | None = None,
    optimised: bool = False,
) -> Kernel:
    """Compile an ``expand`` function for each group of labelled actions, and one ``inspect`` for the predicates.

    With ``clocks``, one function for each of these conditions tells whether the condition holds in a state. With
    ``canonical``, the successors of a state in canonical form are written in canonical form.

    The code is made in the quickest way, unless ``optimised`` is set; :func:`optimise` makes better code of the same
    functions. Raise :class:`~checker.kernel.emission.UnsupportedTerm` for an operator that the kernel does not know.
    """
    asked = {INSPECT: predicates}
    if clocks is not None:
        asked |= {f"{CLOCK}_{place}": [runs] for place, runs in enumerate(clocks)}
    made = program(layout, groups, asked, canonical)
    others = [*asked, *([CANONICAL] if canonical is not None else [])]
    source = Source(made.digest(), lambda: emit(made))
    return _kept(source, made.most_successors, others, FAST if optimised else QUICK)


def optimise(kernel: Kernel) -> Kernel:
    """Return the same functions in optimised code, which runs up to three times as fast and takes ten times as long to
    make.
    """
    others = [name for name in kernel.addresses if name not in kernel.most_successors]
    return _kept(kernel.written, kernel.most_successors, others, FAST)


def load_kernel(source: str, most_successors: Mapping[str, int], others: Sequence[str]) -> Kernel:
    """Return a kernel from the source of another kernel, perhaps of another process.

    ``others`` names its functions besides those of groups of actions.
    """
    return _kept(Source.of(source), most_successors, others, FAST)


def generate(source: str, most_successors: Mapping[str, int], others: Sequence[str], level: int = QUICK) -> Kernel:
    """Make machine code from LLVM's text for the functions of groups of actions and ``others``, without caching."""
    return _linked(machine_code(source, level), Source.of(source), [*most_successors, *others], most_successors)


def _kept(source: Source, most_successors: Mapping[str, int], others: Sequence[str], level: int) -> Kernel:
    """Return the kernel of a source, with the best machine code that an earlier run has cached."""
    names = [*most_successors, *others]
    cache = disk_cache()
    if cache is None:
        return _linked(machine_code(source.text, level), source, names, most_successors)
    for kept_level in range(FAST, level - 1, -1):
        code = cache.read(key_of(source.digest, kept_level))
        if code is not None:
            LOG.info("machine code found, level %d", kept_level)
            return _linked(code, source, names, most_successors)
    code = machine_code(source.text, level)
    cache.write(key_of(source.digest, level), code)
    LOG.info("machine code made, level %d", level)
    return _linked(code, source, names, most_successors)


def _linked(code: bytes, source: Source, names: Sequence[str], most_successors: Mapping[str, int]) -> Kernel:
    engine = linked(code)
    return Kernel({name: engine.get_function_address(name) for name in names}, most_successors, source, engine)
