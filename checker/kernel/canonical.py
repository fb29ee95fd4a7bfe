"""Canonical forms in machine code: all states that differ only in labels get the same packed row.

Ranked families come first. The values present become a bitmap, and a value's rank is the number of set bits below its
own bit. For a row whose values are already dense, which is the usual case, the only cost is making the bitmap. The
group of permutations comes next: the lexicographically smallest image of the row is chosen. All images are compared, so
the form is exact.

References: C. N. Ip, D. L. Dill, "Better verification through symmetry", Formal Methods in System Design 9 (1996); E.
M. Clarke, O. Grumberg, D. A. Peled, *Model Checking*, chapter 14.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from proofka.checker.kernel.assembly import Function, number
from proofka.checker.kernel.layout import WORD_BITS, Field, Layout
from proofka.model.language import Permutation, Ranked, Variable

MOST_VALUES = 62
"""Largest range of values of a ranked family, because each value is a bit of a word."""


@dataclass(frozen=True)
class Canonical:
    """The symmetries of the visited set: ranked families, and every permutation of a group except the identity."""

    ranked: tuple[Ranked, ...] = ()
    permutations: tuple[Permutation, ...] = ()

    def __post_init__(self) -> None:
        for permutation in self.permutations:
            for family in self.ranked:
                images = {permutation.variables.get(variable, variable) for variable in family.variables}
                if images != set(family.variables) or any(permutation.values.get(v) for v in family.variables):
                    raise ValueError(f"{permutation.name} does not leave the ranks of the {family.name}s alone")


class CanonicalForm:
    """The functions that replace a packed row by its canonical form, in place; ``functions`` holds their text."""

    def __init__(self, layout: Layout, canonical: Canonical) -> None:
        self.layout = layout
        self.functions: list[str] = []
        self._ranks = [
            (frozenset(family.variables), self._write_rank(f"rank_{place}", family))
            for place, family in enumerate(canonical.ranked)
        ]
        self._smallest = self._write_smallest(canonical.permutations) if canonical.permutations else None
        whole = Function("canonical", 1, returns=False)
        for name in (*(name for _, name in self._ranks), *([self._smallest] if self._smallest else [])):
            whole.call(name, whole.arguments[0])
        self.functions.append(whole.text())

    def apply(
        self,
        function: Function,
        row: str,
        before: Sequence[str],
        after: Sequence[str],
        assigned: frozenset[Variable],
    ) -> None:
        """Replace the row ``after``, written at address ``row``, by its canonical form; ``before`` is canonical.

        At most the variables ``assigned`` differ. If no variable of a family differs, its ranks stay unchanged.
        """
        for members, rank in self._ranks:
            masks: dict[int, int] = defaultdict(int)
            for field in (self.layout.fields[variable.name] for variable in members & assigned):
                masks[field.word] |= field.mask
            if masks:
                changed = function.any_of(
                    [
                        function.masked(function.binary("xor", before[word], after[word]), masks[word])
                        for word in sorted(masks)
                    ]
                )
                with function.when(function.compare("ne", changed, "0")):
                    function.call(rank, row)
        if self._smallest is not None:
            function.call(self._smallest, row)

    def _internal(self, name: str) -> tuple[Function, list[str], str]:
        """Return a new function of a row, the words of the row, and the address of the row."""
        function = Function(name, 1, returns=False, internal=True)
        row = function.arguments[0]
        return function, [function.load(function.at(row, word)) for word in range(self.layout.words)], row

    def _write_rank(self, name: str, family: Ranked) -> str:
        """Write a function that replaces the values of a family by their ranks if there are gaps; return its name."""
        fields = [self.layout.fields[variable.name] for variable in family.variables]
        lowest = min(field.variable.low for field in fields)
        if max(field.variable.high for field in fields) - lowest > MOST_VALUES:
            raise ValueError(f"{family.name}: at most {MOST_VALUES} values can be ranked")
        function, words, row = self._internal(name)
        bits = []
        present = number((1 << (family.reserved - lowest + 1)) - 1)
        for field in fields:
            value = _packed(function, words, field)
            if field.variable.low > lowest:
                value = function.binary("add", value, number(field.variable.low - lowest))
            bits.append(function.binary("shl", "1", value))
            present = function.binary("or", present, bits[-1])
        gaps = function.binary("and", present, function.binary("add", present, "1"))
        with function.when(function.compare("ne", gaps, "0"), likely=False):
            placed: dict[int, list[str]] = defaultdict(list)
            for field, bit in zip(fields, bits, strict=True):
                rank = function.count_bits(function.binary("and", present, function.binary("sub", bit, "1")))
                if field.variable.low > lowest:
                    rank = function.binary("sub", rank, number(field.variable.low - lowest))
                placed[field.word].append(function.shifted(rank, field.shift))
            for word, ranks in placed.items():
                kept = sum(field.mask for field in self.layout.fields.values() if field.word == word)
                kept -= sum(field.mask for field in fields if field.word == word)
                result = function.any_of([function.masked(words[word], kept), *ranks])
                function.store(result, function.at(row, word))
        self.functions.append(function.text())
        return name

    def _write_smallest(self, permutations: Sequence[Permutation]) -> str:
        """Write a function that replaces the row by the lexicographically smallest of its images; return its name."""
        name = "smallest"
        function, words, row = self._internal(name)
        best = words
        for permutation in permutations:
            image = self._image(function, words, permutation)
            is_less = function.compare("ult", image[-1], best[-1])
            for one, other in zip(reversed(image[:-1]), reversed(best[:-1]), strict=True):
                ties = function.value(f"and i1 {function.compare('eq', one, other)}, {is_less}")
                is_less = function.value(f"or i1 {function.compare('ult', one, other)}, {ties}")
            best = [function.select(is_less, one, other) for one, other in zip(image, best, strict=True)]
        for word, value in enumerate(best):
            function.store(value, function.at(row, word))
        self.functions.append(function.text())
        return name

    def _image(self, function: Function, words: Sequence[str], permutation: Permutation) -> list[str]:
        """Return the words of the permuted row. Fields that move by the same distance share one mask and one shift."""
        unknown = [v.name for v in permutation.variables if self.layout.fields[v.name].variable != v]
        if unknown:
            raise ValueError(f"{permutation.name} moves {', '.join(unknown)} with another domain than is packed")
        masks: dict[tuple[int, int, int], int] = defaultdict(int)
        parts: list[list[str]] = [[] for _ in words]
        for field in self.layout.fields.values():
            target = self.layout.fields[permutation.variables.get(field.variable, field.variable).name]
            renamed = _renamed(field, permutation)
            if renamed is None:
                masks[field.word, target.word, target.shift - field.shift] |= field.mask
            else:
                value = _looked_up(function, _packed(function, words, field), renamed, field.width)
                parts[target.word].append(function.shifted(value, target.shift))
        for (source, destination, shift), mask in masks.items():
            parts[destination].append(function.shifted(function.masked(words[source], mask), shift))
        return [function.any_of(values) for values in parts]


def _packed(function: Function, words: Sequence[str], field: Field) -> str:
    """Return a field's packed value."""
    return function.masked(function.shifted(words[field.word], -field.shift), (1 << field.width) - 1)


def _renamed(field: Field, permutation: Permutation) -> dict[int, int] | None:
    """Return the new packed value for each packed value of a field, or None if all values stay unchanged."""
    low, high = field.variable.low, field.variable.high
    names = permutation.values.get(field.variable, {})
    renamed = {value - low: names.get(value, value) - low for value in range(low, high + 1)}
    return None if all(value == name for value, name in renamed.items()) else renamed


def _looked_up(function: Function, value: str, renamed: dict[int, int], width: int) -> str:
    """Return a packed value's new name: from a table in one word if the table fits, else by comparisons."""
    if width << width <= WORD_BITS:
        table = sum(name << (value * width) for value, name in renamed.items())
        place = function.binary("mul", value, str(width))
        return function.masked(function.binary("lshr", number(table), place), (1 << width) - 1)
    result = value
    for one, name in renamed.items():
        if one != name:
            result = function.select(function.compare("eq", value, str(one)), str(name), result)
    return result
