"""Canonical forms in machine code: of the states that differ only in labels, each packed row becomes the chosen one.

Ranked families first: the values present become a bitmap, and a value's rank is the number of bits below its own. A
row whose values are dense already, as nearly all are, costs no more than making the bitmap. Then the group of
permutations: of the row's images the lexicographically smallest, all of them compared, so that the form is exact.

References: C. N. Ip, D. L. Dill, "Better verification through symmetry", Formal Methods in System Design 9 (1996);
E. M. Clarke, O. Grumberg, D. A. Peled, *Model Checking*, chapter 14.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from llvmlite import ir

from checker.kernel.layout import WORD_BITS, Field, Layout
from model.language import Permutation, Ranked, Variable

I64 = ir.IntType(64)
ROW = I64.as_pointer()
MOST_VALUES = 62
"""How many values a ranked family may have: each is a bit of a word."""


@dataclass(frozen=True)
class Canonical:
    """What the visited set does not tell apart: ranked families, and every permutation of a group but the identity."""

    ranked: tuple[Ranked, ...] = ()
    permutations: tuple[Permutation, ...] = ()

    def __post_init__(self) -> None:
        for permutation in self.permutations:
            for family in self.ranked:
                images = {permutation.variables.get(variable, variable) for variable in family.variables}
                if images != set(family.variables) or any(permutation.values.get(v) for v in family.variables):
                    raise ValueError(f"{permutation.name} does not leave the ranks of the {family.name}s alone")


class CanonicalForm:
    """The functions of a module that bring a packed row into its canonical form, in place."""

    def __init__(self, module: ir.Module, layout: Layout, canonical: Canonical) -> None:
        self.layout = layout
        self._kind = ir.FunctionType(ir.VoidType(), [ROW])
        self._count_bits = module.declare_intrinsic("llvm.ctpop", [I64])
        self._rank = [
            (frozenset(family.variables), self._emit_rank(module, f"rank_{number}", family))
            for number, family in enumerate(canonical.ranked)
        ]
        self._smallest = self._emit_smallest(module, canonical.permutations) if canonical.permutations else None
        whole = ir.Function(module, self._kind, "canonical")
        builder = ir.IRBuilder(whole.append_basic_block("entry"))
        for function in (*(function for _, function in self._rank), *([self._smallest] if self._smallest else [])):
            builder.call(function, [whole.args[0]])
        builder.ret_void()

    def apply(
        self,
        builder: ir.IRBuilder,
        row: ir.Value,
        before: Sequence[ir.Value],
        after: Sequence[ir.Value],
        assigned: frozenset[Variable],
    ) -> None:
        """Bring the row ``after``, written at ``row``, into its canonical form; ``before`` is canonical.

        At most ``assigned`` differs. Where no member of a family really does, its ranks are what they were.
        """
        for members, function in self._rank:
            masks: dict[int, int] = defaultdict(int)
            for field in (self.layout.fields[variable.name] for variable in members & assigned):
                masks[field.word] |= field.mask
            if masks:
                changed: ir.Value = I64(0)
                for word, mask in masks.items():
                    changed = builder.or_(changed, builder.and_(builder.xor(before[word], after[word]), I64(mask)))
                with builder.if_then(builder.icmp_unsigned("!=", changed, I64(0))):
                    builder.call(function, [row])
        if self._smallest is not None:
            builder.call(self._smallest, [row])

    def _internal(self, module: ir.Module, name: str) -> tuple[ir.IRBuilder, list[ir.Value], ir.Value]:
        """A function over a row: its builder, the row's words, the row's address."""
        function = ir.Function(module, self._kind, name)
        function.linkage = "internal"
        builder = ir.IRBuilder(function.append_basic_block("entry"))
        row = function.args[0]
        words = [builder.load(builder.gep(row, [I64(word)])) for word in range(self.layout.words)]
        return builder, words, row

    def _emit_rank(self, module: ir.Module, name: str, family: Ranked) -> ir.Function:
        """Replace each value of a family by its rank, where the values have gaps."""
        fields = [self.layout.fields[variable.name] for variable in family.variables]
        lowest = min(field.variable.low for field in fields)
        if max(field.variable.high for field in fields) - lowest > MOST_VALUES:
            raise ValueError(f"{family.name}: at most {MOST_VALUES} values can be ranked")
        builder, words, row = self._internal(module, name)
        bits = []
        present: ir.Value = I64((1 << (family.reserved - lowest + 1)) - 1)
        for field in fields:
            value = builder.and_(builder.lshr(words[field.word], I64(field.shift)), I64((1 << field.width) - 1))
            above_lowest = (
                builder.add(value, I64(field.variable.low - lowest)) if field.variable.low > lowest else value
            )
            bits.append(builder.shl(I64(1), above_lowest))
            present = builder.or_(present, bits[-1])
        gaps = builder.and_(present, builder.add(present, I64(1)))
        with builder.if_then(builder.icmp_unsigned("!=", gaps, I64(0)), likely=False):
            placed: dict[int, list[ir.Value]] = defaultdict(list)
            for field, bit in zip(fields, bits, strict=True):
                below = builder.and_(present, builder.sub(bit, I64(1)))
                rank = builder.call(self._count_bits, [below])
                if field.variable.low > lowest:
                    rank = builder.sub(rank, I64(field.variable.low - lowest))
                placed[field.word].append(builder.shl(rank, I64(field.shift)))
            for word, ranks in placed.items():
                kept = sum(field.mask for field in self.layout.fields.values() if field.word == word)
                kept -= sum(field.mask for field in fields if field.word == word)
                result = builder.and_(words[word], I64(kept))
                for rank in ranks:
                    result = builder.or_(result, rank)
                builder.store(result, builder.gep(row, [I64(word)]))
        builder.ret_void()
        return builder.function

    def _emit_smallest(self, module: ir.Module, permutations: Sequence[Permutation]) -> ir.Function:
        """Replace the row by the lexicographically smallest of its images."""
        builder, words, row = self._internal(module, "smallest")
        best = words
        for permutation in permutations:
            image = self._image(builder, words, permutation)
            is_less = builder.icmp_unsigned("<", image[-1], best[-1])
            for one, other in zip(reversed(image[:-1]), reversed(best[:-1]), strict=True):
                ties = builder.and_(builder.icmp_unsigned("==", one, other), is_less)
                is_less = builder.or_(builder.icmp_unsigned("<", one, other), ties)
            best = [builder.select(is_less, one, other) for one, other in zip(image, best, strict=True)]
        for word, value in enumerate(best):
            builder.store(value, builder.gep(row, [I64(word)]))
        builder.ret_void()
        return builder.function

    def _image(self, builder: ir.IRBuilder, words: Sequence[ir.Value], permutation: Permutation) -> list[ir.Value]:
        """The words of the permuted row; fields that move together are moved by one mask and one shift."""
        unknown = [v.name for v in permutation.variables if self.layout.fields[v.name].variable != v]
        if unknown:
            raise ValueError(f"{permutation.name} moves {', '.join(unknown)} with another domain than is packed")
        masks: dict[tuple[int, int, int], int] = defaultdict(int)
        parts: list[list[ir.Value]] = [[] for _ in words]
        for field in self.layout.fields.values():
            target = self.layout.fields[permutation.variables.get(field.variable, field.variable).name]
            renamed = _renamed(field, permutation)
            if renamed is None:
                masks[field.word, target.word, target.shift - field.shift] |= field.mask
            else:
                value = builder.and_(builder.lshr(words[field.word], I64(field.shift)), I64((1 << field.width) - 1))
                value = _looked_up(builder, value, renamed, field.width)
                parts[target.word].append(builder.shl(value, I64(target.shift)))
        for (source, destination, shift), mask in masks.items():
            moved = builder.and_(words[source], I64(mask))
            if shift > 0:
                moved = builder.shl(moved, I64(shift))
            elif shift < 0:
                moved = builder.lshr(moved, I64(-shift))
            parts[destination].append(moved)
        image = []
        for values in parts:
            word: ir.Value = I64(0)
            for value in values:
                word = builder.or_(word, value)
            image.append(word)
        return image


def _renamed(field: Field, permutation: Permutation) -> dict[int, int] | None:
    """What a field's packed values become; None where they stay what they are."""
    low, high = field.variable.low, field.variable.high
    names = permutation.values.get(field.variable, {})
    renamed = {value - low: names.get(value, value) - low for value in range(low, high + 1)}
    return None if all(value == name for value, name in renamed.items()) else renamed


def _looked_up(builder: ir.IRBuilder, value: ir.Value, renamed: dict[int, int], width: int) -> ir.Value:
    """A packed value's new name: out of a table in one word where it fits, else by comparing."""
    if width << width <= WORD_BITS:
        table = sum(name << (value * width) for value, name in renamed.items())
        place = builder.mul(value, I64(width))
        return builder.and_(builder.lshr(I64(table), place), I64((1 << width) - 1))
    result = value
    for one, name in renamed.items():
        if one != name:
            result = builder.select(builder.icmp_unsigned("==", value, I64(one)), I64(name), result)
    return result
