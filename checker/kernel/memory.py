"""Raw memory for the compiled loops: plain and atomic loads and stores, prefetches, and calls of machine code.

The loops address the arrays of several threads by number, so that a table can grow without being passed again.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils as _cgutils
from numba.extending import intrinsic

cgutils: Any = _cgutils
Integer = int | np.int64
"""An integer of compiled code. Addresses are integers, too."""

WORD = ir.IntType(64)
POINTER = WORD.as_pointer()


def _load(bits: int, kind: Any) -> Any:
    def load(typing_context: Any, address: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return builder.load(builder.inttoptr(arguments[0], ir.IntType(bits).as_pointer()))

        return kind(types.int64), generate

    return intrinsic(load)


def _store(bits: int, kind: Any) -> Any:
    def store(typing_context: Any, address: Any, value: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            builder.store(arguments[1], builder.inttoptr(arguments[0], ir.IntType(bits).as_pointer()))
            return context.get_dummy_value()

        return types.void(types.int64, kind), generate

    return intrinsic(store)


load_word: Any = _load(64, types.uint64)
"""Load the unsigned 64-bit word at an address."""
load_half: Any = _load(32, types.uint32)
"""Load the unsigned 32-bit word at an address."""
load_short: Any = _load(16, types.uint16)
"""Load the unsigned 16-bit word at an address."""
load_byte: Any = _load(8, types.uint8)
"""Load the byte at an address."""
store_word: Any = _store(64, types.uint64)
"""Store an unsigned 64-bit word at an address."""
store_half: Any = _store(32, types.uint32)
"""Store an unsigned 32-bit word at an address."""
store_byte: Any = _store(8, types.uint8)
"""Store a byte at an address."""


def _copy(typing_context: Any, target: Any, source: Any, count: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        byte = ir.IntType(8).as_pointer()
        places = [builder.inttoptr(address, byte) for address in arguments[:2]]
        cgutils.raw_memcpy(builder, *places, arguments[2], 1)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64), generate


copy: Any = intrinsic(_copy)
"""Copy a number of bytes from the second address to the first. The two areas do not overlap."""


def _prefetch(typing_context: Any, address: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        byte = ir.IntType(8).as_pointer()
        flag = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte, flag, flag, flag])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        builder.call(function, [builder.inttoptr(arguments[0], byte), flag(0), flag(3), flag(1)])
        return context.get_dummy_value()

    return types.void(types.int64), generate


prefetch: Any = intrinsic(_prefetch)
"""Prefetch the cache line at an address, without waiting."""


def _add_atomically(typing_context: Any, address: Any, value: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.atomic_rmw("add", builder.inttoptr(arguments[0], POINTER), arguments[1], "seq_cst")

    return types.int64(types.int64, types.int64), generate


add_atomically: Any = intrinsic(_add_atomically)
"""Add atomically to the word at an address; return the previous value."""


def _raise_half_atomically(typing_context: Any, address: Any, value: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        place = builder.inttoptr(arguments[0], ir.IntType(32).as_pointer())
        builder.atomic_rmw("umax", place, arguments[1], "monotonic")
        return context.get_dummy_value()

    return types.void(types.int64, types.uint32), generate


raise_half_atomically: Any = intrinsic(_raise_half_atomically)
"""Store an unsigned 32-bit word at an address atomically if the word there is smaller."""


def _load_atomically(bits: int, kind: Any) -> Any:
    def load(typing_context: Any, address: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            place = builder.inttoptr(arguments[0], ir.IntType(bits).as_pointer())
            return builder.load_atomic(place, "seq_cst", bits // 8)

        return kind(types.int64), generate

    return intrinsic(load)


def _store_atomically(bits: int, kind: Any) -> Any:
    def store(typing_context: Any, address: Any, value: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            place = builder.inttoptr(arguments[0], ir.IntType(bits).as_pointer())
            builder.store_atomic(arguments[1], place, "seq_cst", bits // 8)
            return context.get_dummy_value()

        return types.void(types.int64, kind), generate

    return intrinsic(store)


load_atomically: Any = _load_atomically(64, types.int64)
"""Load the word at an address (sequentially consistent). Writes before the word's own write are visible afterwards."""
load_half_atomically: Any = _load_atomically(32, types.uint32)
"""Load the unsigned 32-bit word at an address, with the same ordering as ``load_atomically``."""
store_atomically: Any = _store_atomically(64, types.int64)
"""Store a word at an address, after all earlier writes (sequentially consistent)."""
store_half_atomically: Any = _store_atomically(32, types.uint32)
"""Store an unsigned 32-bit word at an address, after all earlier writes (sequentially consistent)."""


def _swap_atomically(typing_context: Any, address: Any, value: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.atomic_rmw("xchg", builder.inttoptr(arguments[0], POINTER), arguments[1], "seq_cst")

    return types.int64(types.int64, types.int64), generate


swap_atomically: Any = intrinsic(_swap_atomically)
"""Store a word at an address atomically; return the previous value."""


def _yield_processor(typing_context: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = ir.FunctionType(ir.IntType(32), [])
        builder.call(cgutils.get_or_insert_function(builder.module, kind, "sched_yield"), [])
        return context.get_dummy_value()

    return types.void(), generate


yield_processor: Any = intrinsic(_yield_processor)
"""Let another waiting thread use this processor."""


def _lowest_bit(typing_context: Any, word: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.IntType(1)(1))

    return types.int64(types.uint64), generate


lowest_bit: Any = intrinsic(_lowest_bit)
"""The position of the lowest set bit of a word other than 0."""


ROOM_WORDS = 32
"""Words of the area that a function reserves for its own use. A reserved word that is not used costs no time."""


def _own_room(typing_context: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        room = cgutils.alloca_once(builder, WORD, size=ir.IntType(64)(ROOM_WORDS))
        return builder.ptrtoint(room, WORD)

    return types.int64(), generate


own_room: Any = intrinsic(_own_room)
"""The address of ROOM_WORDS words that belong to the current call of the function."""


def _call_expand(typing_context: Any, address: Any, state: Any, out: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        function = builder.inttoptr(arguments[0], ir.FunctionType(WORD, [POINTER, POINTER]).as_pointer())
        return builder.call(function, [builder.inttoptr(value, POINTER) for value in arguments[1:]])

    return types.int64(types.int64, types.int64, types.int64), generate


call_expand: Any = intrinsic(_call_expand)
"""Call the machine code of an ``expand`` function by its address."""


def _call_inspect(typing_context: Any, address: Any, state: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        function = builder.inttoptr(arguments[0], ir.FunctionType(WORD, [POINTER]).as_pointer())
        return builder.call(function, [builder.inttoptr(arguments[1], POINTER)])

    return types.uint64(types.int64, types.int64), generate


call_inspect: Any = intrinsic(_call_inspect)
"""Call the machine code of ``inspect`` by its address."""
