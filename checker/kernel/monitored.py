"""A kernel whose states carry flags behind their words: monitors described by tables, beside machine code.

Other monitors need other tables and no other machine code, so refining a system repeatedly costs no compilation. The
meaning of the flags is in :mod:`checker.timing.tables`. Here flags are bits that a step sets, depending on the clocks
that the step starts and on the flags set before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np
import z3
from llvmlite import ir
from numba import cfunc, njit, types
from numpy.typing import NDArray

from proofka.checker.kernel.layout import Layout
from proofka.checker.kernel.memory import (
    ROOM_WORDS,
    call_expand,
    call_inspect,
    load_word,
    lowest_bit,
    own_room,
    store_word,
)
from proofka.checker.kernel.native import CLOCK, INSPECT, MOST_CLOCKS, Kernel, generate
from proofka.checker.kernel.part import Part

I64 = ir.IntType(64)
Table = NDArray[np.int64]
Flags = NDArray[np.uint64]

CONTEXT = range(14)
EXPAND, CODE, WATCHED, WORDS, KEPT, FLAG_WORDS, FLAGS, FLAG_TABLE, CLASSES, CLASS_TABLE = CONTEXT[:10]
PAIRS, SPANS, BY_CLOCK, BY_CLASS = CONTEXT[10:]
"""Places in the context of a function: addresses, sizes and tables."""

EARLIER, LATER, NOT_NEGATIVE, OWN_DEADLINE, BY_FLAGS = range(5)
"""Columns of the table of flags. From BY_FLAGS on follow as many words as a state has words of flags."""

NO_CLOCK = -1
"""The present moment, in the column EARLIER."""

EVERY_BIT = (1 << 64) - 1

MOST_FLAGS = 64 * ROOM_WORDS
"""Largest number of flags of a state: a step keeps a row of flags in the room of its own call."""

LEFT_OUT = EVERY_BIT
"""Label of a successor that is left out."""


@dataclass(frozen=True)
class Monitors:
    """Tables of flags (see :mod:`checker.timing.tables`).

    ``flags``: a row for each flag. ``classes``: for each label of an action, its class in ``needs``; class 0 has no
    conditions on clocks. ``needs``: by class and flag, the conditions that set the flag when its earlier clock starts,
    then when its later clock starts. At the end, for the class as a whole, stands the condition that excludes the
    action. ``pairs``: conditions that set a flag only if two parts hold, with both parts in a row. ``spans``: by class
    and flag, the first of its rows in ``pairs`` and their number. ``initial``: the words of the flags in the initial
    state. ``clocks``: the condition of each clock. ``touched``: by the label of an action, the bits of the clocks that
    the action can start or stop.
    """

    clocks: tuple[z3.BoolRef, ...]
    touched: Table
    flags: Table
    classes: Table
    needs: Table
    pairs: Table
    spans: Table
    initial: tuple[int, ...]

    @cached_property
    def by_clock(self) -> Flags:
        """Flags of each clock, in the order of the clocks' bits: flags with the clock as earlier clock, then as later
        clock.
        """
        found = np.zeros((MOST_CLOCKS, 2, len(self.initial)), dtype=np.uint64)
        for flag, row in enumerate(self.flags):
            for side, column in enumerate((EARLIER, LATER)):
                if row[column] != NO_CLOCK:
                    found[row[column], side, flag // 64] |= np.uint64(1 << flag % 64)
        return found

    @cached_property
    def watched(self) -> int:
        """The bits of the clocks that some table mentions."""
        found = 0
        for place in {int(place) for place in self.flags[:, EARLIER : LATER + 1].flat} - {NO_CLOCK}:
            found |= 1 << place
        halves = np.array_split(self.pairs, 2, axis=1)
        for table in (self.needs, *halves):
            first, second = np.bitwise_or.reduce(table.reshape(-1, table.shape[-1])[:, :2].view(np.uint64))
            found |= int(first) | int(second) << 64
        return found

    @cached_property
    def by_class(self) -> Flags:
        """The flags that a step of each class can set between clocks that keep running."""
        found = np.zeros((len(self.needs), len(self.initial)), dtype=np.uint64)
        if not len(self.flags):
            return found
        since_now = self.flags[:, EARLIER] == NO_CLOCK
        for kind, (rows, spans) in enumerate(zip(self.needs, self.spans, strict=True)):
            by_needs = since_now & rows[: len(since_now)].any(axis=1)
            for flag in np.flatnonzero(by_needs | (spans[:, 1] > 0)):
                found[kind, flag // 64] |= np.uint64(1 << int(flag) % 64)
        return found


def widened(layout: Layout, monitors: Monitors) -> Layout:
    """Return the layout with the words of the flags, if any, as the second half behind the words of the fields."""
    if not monitors.initial:
        return layout
    return Layout(layout.fields, layout.words + len(monitors.initial), layout.words)


def monitored(part: Part, monitors: Monitors) -> Kernel:
    """Return the kernel of a part over wider states. Successors that the monitors exclude are left out."""
    kernel, layout = part.kernel, part.layout
    module = ir.Module("monitored")
    masks = np.array([*part.kept, *part.rest], dtype=np.uint64)
    code = np.array([kernel.addresses.get(f"{CLOCK}_{place}", 0) for place in range(MOST_CLOCKS)], dtype=np.int64)
    watched = np.array([monitors.watched & EVERY_BIT, monitors.watched >> 64], dtype=np.uint64)
    touched = monitors.touched.view(np.uint64) & watched
    watched = np.concatenate([watched, touched.ravel()])
    contexts: list[Table] = []
    pointer = I64.as_pointer()
    for name in kernel.most_successors:
        context = np.zeros(len(CONTEXT), dtype=np.int64)
        context[EXPAND] = kernel.addresses[name]
        context[CODE], context[WATCHED] = code.ctypes.data, watched.ctypes.data
        context[WORDS], context[FLAG_WORDS] = layout.words, len(monitors.initial)
        context[KEPT] = masks.ctypes.data
        context[FLAGS], context[FLAG_TABLE] = len(monitors.flags), monitors.flags.ctypes.data
        context[CLASSES], context[CLASS_TABLE] = monitors.classes.ctypes.data, monitors.needs.ctypes.data
        context[PAIRS], context[SPANS] = monitors.pairs.ctypes.data, monitors.spans.ctypes.data
        context[BY_CLOCK], context[BY_CLASS] = monitors.by_clock.ctypes.data, monitors.by_class.ctypes.data
        contexts.append(context)
        function = ir.Function(module, ir.FunctionType(I64, [pointer, pointer]), name)
        builder = ir.IRBuilder(function.append_basic_block("entry"))
        target = builder.inttoptr(I64(_compiled_step().address), ir.FunctionType(I64, [I64, I64, I64]).as_pointer())
        arguments = [builder.ptrtoint(argument, I64) for argument in function.args]
        builder.ret(builder.call(target, [I64(context.ctypes.data), *arguments]))
    _emit_inspect(module, kernel.addresses[INSPECT], part.predicates)
    own = generate(str(module), kernel.most_successors, (INSPECT,))
    kept = (kernel.engine, own.engine, contexts, masks, code, watched, monitors)
    return Kernel({**kernel.addresses, **own.addresses}, kernel.most_successors, kernel.written, kept)


def _emit_inspect(module: ir.Module, address: int, predicates: Sequence[int]) -> None:
    """Write ``inspect`` for the requested predicates, in their own order, from the bits of the whole system's
    ``inspect``.
    """
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
def _running(code: Any, first: Any, clocks: Any, state: Any) -> Any:
    """Return which of some clocks run in a state, as bits; ``first`` is the number of the lowest bit."""
    found = np.uint64(0)
    while clocks != np.uint64(0):
        bit = lowest_bit(clocks)
        clocks &= clocks - np.uint64(1)
        found |= call_inspect(np.int64(load_word(code + (first + bit) * 8)), state) << np.uint64(bit)
    return found


@njit(inline="always")
def _runs(clock: Any, first: Any, second: Any) -> Any:
    if clock < 64:
        return (first >> np.uint64(clock)) & np.uint64(1) != np.uint64(0)
    return (second >> np.uint64(clock - 64)) & np.uint64(1) != np.uint64(0)


@njit(inline="always")
def _any_of(row: Any, before: Any, before_too: Any, held: Any, flag_words: Any) -> Any:
    """Tell whether a clock of the row ran before the step, or a flag of the row was set."""
    found = (before & load_word(row)) | (before_too & load_word(row + 8))
    for word in range(flag_words):
        found |= load_word(held + word * 8) & load_word(row + (2 + word) * 8)
    return found != np.uint64(0)


@njit(inline="always")
def _clear_of(target: Any, clocks: Any, first: Any, by_clock: Any, flag_words: Any) -> Any:
    """Clear the flags of some clocks in a row of flags; ``first`` is the number of the lowest bit."""
    while clocks != np.uint64(0):
        flags = by_clock + 2 * (first + lowest_bit(clocks)) * flag_words * 8
        clocks &= clocks - np.uint64(1)
        for word in range(flag_words):
            own = load_word(flags + word * 8) | load_word(flags + (flag_words + word) * 8)
            store_word(target + word * 8, load_word(target + word * 8) & ~own)


@njit(inline="always")
def _set(target: Any, flag: Any) -> Any:
    """Set one bit of a row."""
    word = target + (flag >> 6) * 8
    store_word(word, load_word(word) | (np.uint64(1) << np.uint64(flag & 63)))


def _step(context: Any, state: Any, out: Any) -> Any:
    """Expand a state, and write the flags behind each successor that the flags do not exclude.

    A step that changes nothing leads to no new state, so it is left out as well.
    """
    words = np.int64(load_word(context + 8 * WORDS))
    masks = np.int64(load_word(context + 8 * KEPT))
    flag_words = np.int64(load_word(context + 8 * FLAG_WORDS))
    flags = np.int64(load_word(context + 8 * FLAGS))
    table = np.int64(load_word(context + 8 * FLAG_TABLE))
    classes = np.int64(load_word(context + 8 * CLASSES))
    needs = np.int64(load_word(context + 8 * CLASS_TABLE))
    pairs = np.int64(load_word(context + 8 * PAIRS))
    spans = np.int64(load_word(context + 8 * SPANS))
    by_clock = np.int64(load_word(context + 8 * BY_CLOCK))
    by_class = np.int64(load_word(context + 8 * BY_CLASS))
    code = np.int64(load_word(context + 8 * CODE))
    watched = np.int64(load_word(context + 8 * WATCHED))
    count = call_expand(np.int64(load_word(context + 8 * EXPAND)), state, out)
    if count == 0:
        return count
    before = _running(code, 0, load_word(watched), state)
    before_too = _running(code, 64, load_word(watched + 8), state)
    held = state + words * 8
    row_bytes = (BY_FLAGS + flag_words) * 8
    mask_bytes = flag_words * 8
    need_words = 2 + flag_words
    need_bytes = need_words * 8
    stride = words + flag_words + 1
    alive = own_room()
    for word in range(flag_words):
        store_word(alive + word * 8, np.uint64(EVERY_BIT))
    _clear_of(alive, load_word(watched) & ~before, 0, by_clock, flag_words)
    _clear_of(alive, load_word(watched + 8) & ~before_too, 64, by_clock, flag_words)
    # Each successor moves to a place that no later successor needs any more, so the loop runs backwards.
    for number in range(count - 1, -1, -1):
        source = out + number * (words + 1) * 8
        target = out + number * stride * 8
        label = np.int64(load_word(source + words * 8))
        changed = np.uint64(0)
        for word in range(words - 1, -1, -1):
            kept_bits = load_word(source + word * 8) & load_word(masks + word * 8)
            value = kept_bits | load_word(masks + (words + word) * 8)
            changed |= value ^ load_word(state + word * 8)
            store_word(target + word * 8, value)
        store_word(target + (stride - 1) * 8, np.uint64(label))
        kind = np.int64(load_word(classes + label * 8))
        if changed == np.uint64(0) and kind == 0:
            store_word(target + (stride - 1) * 8, np.uint64(LEFT_OUT))
            continue
        flagged = target + words * 8
        for word in range(flag_words):
            store_word(flagged + word * 8, load_word(held + word * 8))
        after, after_too = before, before_too
        if changed != np.uint64(0):
            touched, touched_too = load_word(watched + (2 + 2 * label) * 8), load_word(watched + (3 + 2 * label) * 8)
            after = (before & ~touched) | _running(code, 0, touched, target)
            after_too = (before_too & ~touched_too) | _running(code, 64, touched_too, target)
        need = needs + kind * (2 * flags + 1) * need_bytes
        if kind == 0 and before == after and before_too == after_too:
            continue
        if _any_of(need + 2 * flags * need_bytes, before, before_too, held, flag_words):
            store_word(target + (stride - 1) * 8, np.uint64(LEFT_OUT))
            continue
        _clear_of(flagged, before & ~after, 0, by_clock, flag_words)
        _clear_of(flagged, before_too & ~after_too, 64, by_clock, flag_words)
        for half in range(2):
            were, are = (before, after) if half == 0 else (before_too, after_too)
            started = are & ~were
            while started != np.uint64(0):
                clock = half * 64 + lowest_bit(started)
                started &= started - np.uint64(1)
                for word in range(flag_words):
                    bits = load_word(by_clock + (2 * clock + 1) * mask_bytes + word * 8)
                    while bits != np.uint64(0):
                        flag = word * 64 + lowest_bit(bits)
                        bits &= bits - np.uint64(1)
                        row = table + flag * row_bytes
                        earlier = np.int64(load_word(row + 8 * EARLIER))
                        if earlier < 0 or not _runs(earlier, after, after_too):
                            continue
                        if not _runs(earlier, before, before_too):
                            holds = load_word(row + 8 * NOT_NEGATIVE) != np.uint64(0)
                        else:
                            holds = load_word(row + 8 * OWN_DEADLINE) != np.uint64(0)
                            for other in range(flag_words):
                                set_before = load_word(held + other * 8)
                                if set_before & load_word(row + (BY_FLAGS + other) * 8) != np.uint64(0):
                                    holds = True
                            if not holds and kind != 0:
                                by_need = need + (flags + flag) * need_bytes
                                holds = _any_of(by_need, before, before_too, held, flag_words)
                        if holds:
                            _set(flagged, flag)
                    bits = load_word(by_clock + 2 * clock * mask_bytes + word * 8)
                    while bits != np.uint64(0):
                        flag = word * 64 + lowest_bit(bits)
                        bits &= bits - np.uint64(1)
                        row = table + flag * row_bytes
                        later = np.int64(load_word(row + 8 * LATER))
                        if not (_runs(later, after, after_too) and _runs(later, before, before_too)):
                            continue
                        holds = load_word(row + 8 * NOT_NEGATIVE) != np.uint64(0)
                        if holds or _any_of(need + flag * need_bytes, before, before_too, held, flag_words):
                            _set(flagged, flag)
        if kind == 0:
            continue
        for word in range(flag_words):
            bits = load_word(by_class + kind * mask_bytes + word * 8) & load_word(alive + word * 8)
            bits &= ~load_word(flagged + word * 8)
            while bits != np.uint64(0):
                flag = word * 64 + lowest_bit(bits)
                bits &= bits - np.uint64(1)
                row = table + flag * row_bytes
                earlier = np.int64(load_word(row + 8 * EARLIER))
                if not _runs(np.int64(load_word(row + 8 * LATER)), after, after_too):
                    continue
                if earlier < 0:
                    if _any_of(need + flag * need_bytes, before, before_too, held, flag_words):
                        _set(flagged, flag)
                    continue
                if not _runs(earlier, after, after_too):
                    continue
                span = spans + (kind * flags + flag) * 16
                pair = pairs + np.int64(load_word(span)) * 2 * need_bytes
                for _ in range(np.int64(load_word(span + 8))):
                    if _any_of(pair, before, before_too, held, flag_words) and _any_of(
                        pair + need_bytes, before, before_too, held, flag_words
                    ):
                        _set(flagged, flag)
                        break
                    pair += 2 * need_bytes
    kept = 0
    for number in range(count):
        source = out + number * stride * 8
        if load_word(source + (stride - 1) * 8) == np.uint64(LEFT_OUT):
            continue
        if kept != number:
            target = out + kept * stride * 8
            for word in range(stride):
                store_word(target + word * 8, load_word(source + word * 8))
        kept += 1
    return kept


@cache
def _compiled_step() -> Any:
    """Return the step as machine code, made or loaded when a kernel is monitored for the first time."""
    return cfunc(types.int64(types.int64, types.int64, types.int64), cache=True)(_step)
