"""LLVM's text to machine code for this processor, and machine code to functions that can be called."""

from __future__ import annotations

import hashlib
from functools import cache
from typing import Any

import llvmlite
import llvmlite.binding as llvm

from checker.kernel import CONTENT

QUICK, FAST = 0, 1
"""Levels of LLVM's code generator. Fast code also goes through the two passes that matter (benchmarks/RESULTS.md)."""


def machine_code(source: str, level: int) -> bytes:
    """The object file that LLVM makes of a text."""
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
    """An engine that knows the addresses of an object file's functions, for as long as it lives."""
    machine = _machine(QUICK)
    empty = llvm.parse_assembly("")
    empty.triple = machine.triple
    engine = llvm.create_mcjit_compiler(empty, machine)
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    return engine


def key_of(digest: bytes, level: int) -> str:
    """The name under which machine code of a source is kept: it differs in whatever the code depends on.

    What a model means is all in the digest of the source, so that the model's version says nothing more.
    """
    parts = (*_circumstances(), level, digest)
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:40]


@cache
def _circumstances() -> tuple[str, ...]:
    """The generator, LLVM and the processor."""
    return (
        CONTENT,
        llvmlite.__version__,
        repr(llvm.llvm_version_info),
        llvm.get_default_triple(),
        llvm.get_host_cpu_name(),
        llvm.get_host_cpu_features().flatten(),
    )


def _machine(level: int) -> llvm.TargetMachine:
    """A target machine for one engine, which owns it from then on."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    target = llvm.Target.from_default_triple()
    features = llvm.get_host_cpu_features().flatten()
    return target.create_target_machine(cpu=llvm.get_host_cpu_name(), features=features, opt=level)
