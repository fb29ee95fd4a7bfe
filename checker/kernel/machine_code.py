"""Machine code for this processor from LLVM's text, and callable functions from machine code."""

from __future__ import annotations

import hashlib
from functools import cache
from typing import Any

import llvmlite
import llvmlite.binding as llvm

from proofka.checker.kernel import CONTENT

QUICK, FAST = 0, 1
"""Levels of LLVM's code generator. FAST code also runs two optimisation passes (benchmarks/RESULTS.md)."""


def machine_code(source: str, level: int) -> bytes:
    """Return the object file that LLVM makes from a text."""
    machine = _machine(level)
    parsed = llvm.parse_assembly(source)
    parsed.triple = machine.triple
    if level == FAST:
        passes = llvm.create_new_module_pass_manager()
        passes.add_instruction_combine_pass()
        passes.add_simplify_cfg_pass()
        passes.run(parsed, llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=FAST)))
    return bytes(machine.emit_object(parsed))


def linked(code: bytes) -> Any:
    """Return an engine that knows the addresses of an object file's functions.

    The addresses are valid while the engine lives.
    """
    machine = _machine(QUICK)
    empty = llvm.parse_assembly("")
    empty.triple = machine.triple
    engine = llvm.create_mcjit_compiler(empty, machine)
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    return engine


def key_of(digest: bytes, level: int) -> str:
    """Return the cache key for the machine code of a source; everything that affects the code is part of the key.

    The digest of the source covers the meaning of the model, so the model's version is not part of the key.
    """
    parts = (*_circumstances(), level, digest)
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:40]


@cache
def _circumstances() -> tuple[str, ...]:
    """Return the versions of the generator and of LLVM, and the processor."""
    return (
        CONTENT,
        llvmlite.__version__,
        repr(llvm.llvm_version_info),
        llvm.get_default_triple(),
        llvm.get_host_cpu_name(),
        llvm.get_host_cpu_features().flatten(),
    )


def _machine(level: int) -> llvm.TargetMachine:
    """Return a target machine for one engine, which then owns the target machine."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    target = llvm.Target.from_default_triple()
    features = llvm.get_host_cpu_features().flatten()
    return target.create_target_machine(cpu=llvm.get_host_cpu_name(), features=features, opt=level)
