"""LLVM assembly, written as text: a value is the name of a register or a number, a function is a list of lines.

The text equals the output of llvmlite's own builder. That builder would take most of the time of making machine code.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

from llvmlite import ir

POINTER = str(ir.IntType(64).as_pointer())
"""Type of an address, in the notation of this version of LLVM."""
_UNLIKELY = "!0"
_WEIGHTS = f'{_UNLIKELY} = !{{!"branch_weights", i32 1, i32 99}}'
COUNT_BITS = "llvm.ctpop.i64"
"""Name of the LLVM function that counts the set bits of a word."""

_SIGN = 1 << 63


def number(value: int) -> str:
    """Return the text of a 64-bit word's value, given with or without a sign."""
    return str(value - (1 << 64) if value >= _SIGN else value)


class Function:
    """One function whose arguments are addresses of words.

    Every value is a word, except the truth value of ``compare``.
    """

    def __init__(self, name: str, arguments: int, *, returns: bool = True, internal: bool = False) -> None:
        kinds = ", ".join([POINTER] * arguments)
        scope = "internal " if internal else ""
        self.name = name
        self.arguments = tuple(f"%{place}" for place in range(arguments))
        self._lines = [f"define {scope}{'i64' if returns else 'void'} @{name}({kinds}) {{", "entry:"]
        self._registers = arguments
        self._blocks = 0

    def value(self, instruction: str) -> str:
        """Append an instruction, and return the register that holds its result."""
        register = f"%{self._registers}"
        self._registers += 1
        self._lines.append(f"{register} = {instruction}")
        return register

    def binary(self, operator: str, left: str, right: str) -> str:
        """Append ``add``, ``sub``, ``mul``, ``and``, ``or``, ``xor``, ``shl`` or ``lshr`` of two words."""
        return self.value(f"{operator} i64 {left}, {right}")

    def shifted(self, value: str, left: int) -> str:
        """Shift a word to the left, or to the right if ``left`` is negative."""
        if left == 0:
            return value
        return self.binary("shl" if left > 0 else "lshr", value, str(abs(left)))

    def masked(self, value: str, mask: int) -> str:
        """Keep the bits of a word that are set in ``mask``."""
        return value if mask == (1 << 64) - 1 else self.binary("and", value, number(mask))

    def any_of(self, values: Iterable[str]) -> str:
        """Return the bitwise "or" of all words."""
        result = ""
        for value in values:
            result = self.binary("or", result, value) if result else value
        return result or "0"

    def compare(self, condition: str, left: str, right: str) -> str:
        """Compare two words: ``eq``, ``ne``, ``slt``, ``ult`` and so on."""
        return self.value(f"icmp {condition} i64 {left}, {right}")

    def select(self, condition: str, then: str, otherwise: str, kind: str = "i64") -> str:
        """Choose one of two values by a condition."""
        return self.value(f"select i1 {condition}, {kind} {then}, {kind} {otherwise}")

    def cell(self) -> str:
        """Reserve a word for the current call of the function, set to 0, and return its address."""
        address = self.value("alloca i64")
        self.store("0", address)
        return address

    def at(self, address: str, place: str | int) -> str:
        """Compute the address of a word from its distance in words."""
        return self.value(f"getelementptr i64, {POINTER} {address}, i64 {place}")

    def load(self, address: str) -> str:
        """Load the word at an address."""
        return self.value(f"load i64, {POINTER} {address}")

    def store(self, value: str, address: str) -> None:
        """Store a word at an address."""
        self._lines.append(f"store i64 {value}, {POINTER} {address}")

    def call(self, name: str, address: str) -> None:
        """Call a function without a result."""
        self._lines.append(f"call void @{name}({POINTER} {address})")

    def count_bits(self, value: str) -> str:
        """Count the set bits of a word."""
        return self.value(f"call i64 @{COUNT_BITS}(i64 {value})")

    @contextmanager
    def when(self, condition: str, *, likely: bool = True) -> Iterator[None]:
        """Write a block that runs only if the condition holds."""
        self._blocks += 1
        inside, behind = f"in{self._blocks}", f"out{self._blocks}"
        weights = "" if likely else f", !prof {_UNLIKELY}"
        self._lines.append(f"br i1 {condition}, label %{inside}, label %{behind}{weights}")
        self._lines.append(f"{inside}:")
        yield
        self._lines.append(f"br label %{behind}")
        self._lines.append(f"{behind}:")

    def text(self, result: str | None = None) -> str:
        """Return the text of the whole function, which returns ``result``."""
        return "\n".join([*self._lines, "ret void" if result is None else f"ret i64 {result}", "}"])


def module(functions: Sequence[str]) -> str:
    """Return the text of a module with these functions."""
    return "\n".join([*functions, f"declare i64 @{COUNT_BITS}(i64)", _WEIGHTS, ""])
