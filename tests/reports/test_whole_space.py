"""Figures of whole spaces: within the width of a terminal, and unbroken lines for programs."""

from __future__ import annotations

import pytest

from proofka.properties.whole_space import InvariantCount, WholeSpace
from proofka.reports.whole_space import print_space
from tests.reports.test_terminal import sheet, text_of

SPACE = WholeSpace(
    distinct=64_739_578,
    transitions=512_345_678,
    levels=tuple(range(1_000_000, 1_000_012)),
    invariants={"StrongIsr": InvariantCount(3, 7)},
    seconds=12.5,
    compile_seconds=0.5,
    bytes_per_state=30.0,
    traces={"StrongIsr": ("a step that is told in a sentence which is longer than a line of sixty characters",)},
    stopped="memory",
)


@pytest.mark.parametrize("terminal", [True, False])
def test_lines(terminal: bool) -> None:
    out = sheet(60, terminal=terminal)
    print_space(out, "kip-320: " + "of many words " * 6, SPACE)
    text = text_of(out)
    longest = max(len(line) for line in text.splitlines() if "\x1b" not in line)
    assert (longest > 60) == (not terminal)
    if not terminal:
        sizes = ", ".join(f"{size:,}" for size in SPACE.levels)
        assert f"  {sizes}\n" in text
        assert f"    1 {SPACE.traces['StrongIsr'][0]}\n" in text
