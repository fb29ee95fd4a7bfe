"""The figures of a whole state space: numbers of states and transitions, and violated invariants."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.table import Table

from proofka.properties.whole_space import WholeSpace

STATES_A_LINE = 12


def to_json(space: WholeSpace) -> dict[str, Any]:
    """Return the figures as written with ``--json``."""
    invariants = {
        name: {"violating": count.violating, "trace_length": count.trace_length}
        for name, count in space.invariants.items()
    }
    document = {
        "distinct": space.distinct,
        "transitions": space.transitions,
        "levels": list(space.levels),
        "invariants": invariants,
        "seconds": space.seconds,
        "compile_seconds": space.compile_seconds,
        "bytes_per_state": space.bytes_per_state,
    }
    return document if space.stopped is None else {**document, "stopped": space.stopped}


def print_space(console: Console, title: str, space: WholeSpace) -> None:
    """Print the figures."""
    soft = not console.is_terminal  # readers of files and pipes need unbroken figures
    console.print(title, style="bold", soft_wrap=soft)
    rate = space.transitions / max(space.seconds, 1e-6)
    console.print(
        f"{space.distinct:,} distinct states, {space.transitions:,} transitions, {len(space.levels)} levels; "
        f"{space.seconds:.2f} s after {space.compile_seconds:.2f} s of preparation, {rate / 1e6:.1f} million "
        f"transitions a second, {space.bytes_per_state:.0f} bytes a state",
        soft_wrap=soft,
    )
    if space.stopped is not None:
        level = len(space.levels) - 1
        reached = f"at {space.distinct:,} states in level {level}; complete: all levels up to {level - 1}"
        if level < 1:
            reached = "before the first level was complete"
        console.print(f"unknown: stopped ({space.stopped}) {reached}", style="yellow", soft_wrap=soft)
    table = Table("invariant", "violated in", "shortest trace", box=None, pad_edge=False)
    for name, count in space.invariants.items():
        length = f"{count.trace_length} states" if count.trace_length is not None else "-"
        table.add_row(name, f"{count.violating:,} states" if count.violating else "no state", length)
    console.print(table)
    console.print("states by level:")
    for first in range(0, len(space.levels), STATES_A_LINE):
        sizes = ", ".join(f"{size:,}" for size in space.levels[first : first + STATES_A_LINE])
        console.print(f"  {sizes}", soft_wrap=soft)
    for name, steps in space.traces.items():
        console.print()
        console.print(f"{name} is violated after {len(steps)} steps:", style="bold", soft_wrap=soft)
        for number, sentence in enumerate(steps, 1):
            console.print(f"  {number:3} {sentence}", soft_wrap=soft)
