"""A kernel whose states carry flags behind their words: monitors that tables describe, beside machine code.

Other monitors take other tables and no other machine code: refining a system again and again costs no compiling. What
the flags mean stands in :mod:`checker.timing.tables`; here they are bits that a step sets by the clocks that it starts
and by the flags that were set before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import z3
from llvmlite import ir
from numba import cfunc, njit, types
from numpy.typing import NDArray

from checker.kernel.layout import Layout
from checker.kernel.memory import call_expand, call_inspect, load_word, store_word
from checker.kernel.native import CLOCKS, INSPECT, Kernel, generate
from checker.kernel.part import Part

I64 = ir.IntType(64)
Table = NDArray[np.int64]

CONTEXT = range(12)
EXPAND, FIRST_CLOCKS, SECOND_CLOCKS, WORDS, KEPT, FLAG_WORDS, FLAGS, FLAG_TABLE, CLASSES, CLASS_TABLE = CONTEXT[:10]
PAIRS, SPANS = CONTEXT[10:]
"""Places in the context of a function: addresses, sizes and tables."""

EARLIER, LATER, NOT_NEGATIVE, OWN_DEADLINE, BY_FLAGS = range(5)
"""Columns of the table of flags; as many words as there are of flags follow from BY_FLAGS on."""

NO_CLOCK = -1
"""Stands for the present moment in the column EARLIER."""


@dataclass(frozen=True)
class Monitors:
    """Tables of flags (see :mod:`checker.timing.tables`).

    ``flags``: a row per flag. ``classes``: by the label of an action, which of ``needs`` it is, 0 for those that need
    nothing of clocks. ``needs``: by class and flag, first for when its earlier clock starts, then for when its later
    one does, and at its end for the class as a whole, what sets the flag, or makes the action impossible. ``pairs``:
    what takes two things together to set a flag, both of them in a row; ``spans``: by class and flag, the first of its
    rows and how many they are. ``initial``: the words of the flags in the initial state. ``clocks``: the condition of
    each clock, in the order of their bits.
    """

    clocks: tuple[z3.BoolRef, ...]
    flags: Table
    classes: Table
    needs: Table
    pairs: Table
    spans: Table
    initial: tuple[int, ...]


def widened(layout: Layout, monitors: Monitors) -> Layout:
    """The layout with the words of the flags behind those of the fields."""
    return Layout(layout.fields, layout.words + len(monitors.initial))


def monitored(part: Part, monitors: Monitors) -> Kernel:
    """The kernel of a part over wider states: successors that the monitors exclude are left out."""
    kernel, layout = part.kernel, part.layout
    module = ir.Module("monitored")
    masks = np.array([*part.kept, *part.rest], dtype=np.uint64)
    contexts: list[Table] = []
    pointer = I64.as_pointer()
    for name in kernel.most_successors:
        context = np.zeros(len(CONTEXT), dtype=np.int64)
        context[EXPAND] = kernel.addresses[name]
        context[FIRST_CLOCKS], context[SECOND_CLOCKS] = (kernel.addresses[f"{CLOCKS}_{half}"] for half in range(2))
        context[WORDS], context[FLAG_WORDS] = layout.words, len(monitors.initial)
        context[KEPT] = masks.ctypes.data
        context[FLAGS], context[FLAG_TABLE] = len(monitors.flags), monitors.flags.ctypes.data
        context[CLASSES], context[CLASS_TABLE] = monitors.classes.ctypes.data, monitors.needs.ctypes.data
        context[PAIRS], context[SPANS] = monitors.pairs.ctypes.data, monitors.spans.ctypes.data
        contexts.append(context)
        function = ir.Function(module, ir.FunctionType(I64, [pointer, pointer]), name)
        builder = ir.IRBuilder(function.append_basic_block("entry"))
        target = builder.inttoptr(I64(_compiled_step().address), ir.FunctionType(I64, [I64, I64, I64]).as_pointer())
        arguments = [builder.ptrtoint(argument, I64) for argument in function.args]
        builder.ret(builder.call(target, [I64(context.ctypes.data), *arguments]))
    _emit_inspect(module, kernel.addresses[INSPECT], part.predicates)
    own = generate(str(module), kernel.most_successors, (INSPECT,))
    kept = (kernel.engine, own.engine, contexts, masks, monitors)
    return Kernel({**kernel.addresses, **own.addresses}, kernel.most_successors, kernel.written, kept)


def _emit_inspect(module: ir.Module, address: int, predicates: Sequence[int]) -> None:
    """The predicates that are asked, in their own order, by the bits of the whole's ``inspect``."""
    kind = ir.FunctionType(I64, [I64.as_pointer()])
    function = ir.Function(module, kind, INSPECT)
    builder = ir.IRBuilder(function.append_basic_block("entry"))
    answered = builder.call(builder.inttoptr(I64(address), kind.as_pointer()), function.args)
    bits = I64(0)
    for place, bit in enumerate(predicates):
        one = builder.and_(builder.lshr(answered, I64(bit)), I64(1))
        bits = builder.or_(bits, builder.shl(one, I64(place)))
    builder.ret(bits)


@njit(inline="always")
def _runs(clock: Any, first: Any, second: Any) -> Any:
    if clock < 64:
        return (first >> np.uint64(clock)) & np.uint64(1) != np.uint64(0)
    return (second >> np.uint64(clock - 64)) & np.uint64(1) != np.uint64(0)


@njit(inline="always")
def _any_of(row: Any, before: Any, before_too: Any, held: Any, flag_words: Any) -> Any:
    """Whether a clock of the row ran before the step, or a flag of it was set."""
    found = (before & load_word(row)) | (before_too & load_word(row + 8))
    for word in range(flag_words):
        found |= load_word(held + word * 8) & load_word(row + (2 + word) * 8)
    return found != np.uint64(0)


def _step(context: Any, state: Any, out: Any) -> Any:
    """Expand a state, and write the flags behind each successor that they do not exclude."""
    words = np.int64(load_word(context + 8 * WORDS))
    masks = np.int64(load_word(context + 8 * KEPT))
    flag_words = np.int64(load_word(context + 8 * FLAG_WORDS))
    flags = np.int64(load_word(context + 8 * FLAGS))
    table = np.int64(load_word(context + 8 * FLAG_TABLE))
    classes = np.int64(load_word(context + 8 * CLASSES))
    needs = np.int64(load_word(context + 8 * CLASS_TABLE))
    pairs = np.int64(load_word(context + 8 * PAIRS))
    spans = np.int64(load_word(context + 8 * SPANS))
    first = np.int64(load_word(context + 8 * FIRST_CLOCKS))
    second = np.int64(load_word(context + 8 * SECOND_CLOCKS))
    count = call_expand(np.int64(load_word(context + 8 * EXPAND)), state, out)
    if count == 0:
        return count
    before, before_too = call_inspect(first, state), call_inspect(second, state)
    held = state + words * 8
    row_bytes = (BY_FLAGS + flag_words) * 8
    need_words = 2 + flag_words
    stride = words + flag_words + 1
    # From the last to the first: each moves to a place that no later one needs any more.
    for number in range(count - 1, -1, -1):
        source = out + number * (words + 1) * 8
        target = out + number * stride * 8
        label = np.int64(load_word(source + words * 8))
        for word in range(words - 1, -1, -1):
            kept_bits = load_word(source + word * 8) & load_word(masks + word * 8)
            store_word(target + word * 8, kept_bits | load_word(masks + (words + word) * 8))
        store_word(target + (stride - 1) * 8, np.uint64(label))
        after, after_too = call_inspect(first, target), call_inspect(second, target)
        flagged = target + words * 8
        kind = np.int64(load_word(classes + label * 8))
        if kind == 0 and before == after and before_too == after_too:
            for word in range(flag_words):
                store_word(flagged + word * 8, load_word(held + word * 8))
            continue
        need = needs + kind * (2 * flags + 1) * need_words * 8
        if _any_of(need + 2 * flags * need_words * 8, before, before_too, held, flag_words):
            store_word(target + (stride - 1) * 8, np.uint64(0xFFFFFFFFFFFFFFFF))
            continue
        for word in range(flag_words):
            bits = np.uint64(0)
            for bit in range(64):
                flag = word * 64 + bit
                if flag >= flags:
                    break
                row = table + flag * row_bytes
                earlier = np.int64(load_word(row + 8 * EARLIER))
                later = np.int64(load_word(row + 8 * LATER))
                if not _runs(later, after, after_too) or (earlier >= 0 and not _runs(earlier, after, after_too)):
                    continue
                was_set = (load_word(held + word * 8) >> np.uint64(bit)) & np.uint64(1) != np.uint64(0)
                earlier_ran = earlier >= 0 and _runs(earlier, before, before_too)
                later_ran = _runs(later, before, before_too)
                holds = was_set
                if not holds and earlier >= 0 and not earlier_ran and load_word(row + 8 * NOT_NEGATIVE) != np.uint64(0):
                    holds = True
                if not holds and not later_ran and earlier_ran:
                    holds = load_word(row + 8 * OWN_DEADLINE) != np.uint64(0)
                    for other in range(flag_words):
                        set_before = load_word(held + other * 8)
                        if set_before & load_word(row + (BY_FLAGS + other) * 8) != np.uint64(0):
                            holds = True
                if not holds and kind != 0 and not later_ran and earlier_ran:
                    holds = _any_of(need + (flags + flag) * need_words * 8, before, before_too, held, flag_words)
                if not holds and (kind != 0 or earlier >= 0) and later_ran and not earlier_ran:
                    holds = _any_of(need + flag * need_words * 8, before, before_too, held, flag_words)
                if not holds and kind != 0 and later_ran and earlier_ran:
                    span = spans + (kind * flags + flag) * 16
                    row = pairs + np.int64(load_word(span)) * 2 * need_words * 8
                    for _ in range(np.int64(load_word(span + 8))):
                        long_ago = _any_of(row, before, before_too, held, flag_words)
                        recent = _any_of(row + need_words * 8, before, before_too, held, flag_words)
                        holds = holds or (long_ago and recent)
                        row += 2 * need_words * 8
                if holds:
                    bits |= np.uint64(1) << np.uint64(bit)
            store_word(flagged + word * 8, bits)
    kept = 0
    for number in range(count):
        source = out + number * stride * 8
        if load_word(source + (stride - 1) * 8) == np.uint64(0xFFFFFFFFFFFFFFFF):
            continue
        if kept != number:
            target = out + kept * stride * 8
            for word in range(stride):
                store_word(target + word * 8, load_word(source + word * 8))
        kept += 1
    return kept


@cache
def _compiled_step() -> Any:
    """The step as machine code, made or loaded when a kernel is first monitored."""
    return cfunc(types.int64(types.int64, types.int64, types.int64), cache=True)(_step)
