"""LLVM's text, written directly: values are the names of registers or numbers, a function is a list of lines.

The text says what llvmlite's own builder of LLVM's objects would; that one takes most of the time that it takes to make
machine code.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

from llvmlite import ir

POINTER = str(ir.IntType(64).as_pointer())
"""The type of an address, as this version of LLVM writes it."""
_UNLIKELY = "!0"
_WEIGHTS = f'{_UNLIKELY} = !{{!"branch_weights", i32 1, i32 99}}'
COUNT_BITS = "llvm.ctpop.i64"
"""The function that counts the bits of a word."""

_SIGN = 1 << 63


def number(value: int) -> str:
    """A word's value, whether it is meant with a sign or without."""
    return str(value - (1 << 64) if value >= _SIGN else value)


class Function:
    """One function over addresses of words. Everything is a word, but for what ``compare`` gives, a truth value."""

    def __init__(self, name: str, arguments: int, *, returns: bool = True, internal: bool = False) -> None:
        kinds = ", ".join([POINTER] * arguments)
        scope = "internal " if internal else ""
        self.name = name
        self.arguments = tuple(f"%{place}" for place in range(arguments))
        self._lines = [f"define {scope}{'i64' if returns else 'void'} @{name}({kinds}) {{", "entry:"]
        self._registers = arguments
        self._blocks = 0

    def value(self, instruction: str) -> str:
        """The register that holds what an instruction gives."""
        register = f"%{self._registers}"
        self._registers += 1
        self._lines.append(f"{register} = {instruction}")
        return register

    def binary(self, operator: str, left: str, right: str) -> str:
        """``add``, ``sub``, ``mul``, ``and``, ``or``, ``xor``, ``shl`` or ``lshr`` of two words."""
        return self.value(f"{operator} i64 {left}, {right}")

    def shifted(self, value: str, left: int) -> str:
        """A word shifted to the left, or to the right where ``left`` is negative."""
        if left == 0:
            return value
        return self.binary("shl" if left > 0 else "lshr", value, str(abs(left)))

    def masked(self, value: str, mask: int) -> str:
        """Some bits of a word."""
        return value if mask == (1 << 64) - 1 else self.binary("and", value, number(mask))

    def any_of(self, values: Iterable[str]) -> str:
        """The bits of all words together."""
        result = ""
        for value in values:
            result = self.binary("or", result, value) if result else value
        return result or "0"

    def compare(self, condition: str, left: str, right: str) -> str:
        """Compare two words: ``eq``, ``ne``, ``slt``, ``ult`` ..."""
        return self.value(f"icmp {condition} i64 {left}, {right}")

    def select(self, condition: str, then: str, otherwise: str, kind: str = "i64") -> str:
        """One of two values."""
        return self.value(f"select i1 {condition}, {kind} {then}, {kind} {otherwise}")

    def cell(self) -> str:
        """The address of a word of this call of the function, 0 at first."""
        address = self.value("alloca i64")
        self.store("0", address)
        return address

    def at(self, address: str, place: str | int) -> str:
        """Compute the address of a word from its distance in words."""
        return self.value(f"getelementptr i64, {POINTER} {address}, i64 {place}")

    def load(self, address: str) -> str:
        """The word at an address."""
        return self.value(f"load i64, {POINTER} {address}")

    def store(self, value: str, address: str) -> None:
        """Put a word at an address."""
        self._lines.append(f"store i64 {value}, {POINTER} {address}")

    def call(self, name: str, address: str) -> None:
        """Call a function that returns nothing."""
        self._lines.append(f"call void @{name}({POINTER} {address})")

    def count_bits(self, value: str) -> str:
        """How many bits of a word are set."""
        return self.value(f"call i64 @{COUNT_BITS}(i64 {value})")

    @contextmanager
    def when(self, condition: str, *, likely: bool = True) -> Iterator[None]:
        """What is written within is done only where the condition holds."""
        self._blocks += 1
        inside, behind = f"in{self._blocks}", f"out{self._blocks}"
        weights = "" if likely else f", !prof {_UNLIKELY}"
        self._lines.append(f"br i1 {condition}, label %{inside}, label %{behind}{weights}")
        self._lines.append(f"{inside}:")
        yield
        self._lines.append(f"br label %{behind}")
        self._lines.append(f"{behind}:")

    def text(self, result: str | None = None) -> str:
        """The whole function, which ends with this result."""
        return "\n".join([*self._lines, "ret void" if result is None else f"ret i64 {result}", "}"])


def module(functions: Sequence[str]) -> str:
    """The text of a module from that of its functions."""
    return "\n".join([*functions, f"declare i64 @{COUNT_BITS}(i64)", _WEIGHTS, ""])
