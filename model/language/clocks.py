"""Clocks: the time for which a condition has held, the needs of actions, and deadlines.

A clock runs while its condition holds, and starts from 0 at the step that makes the condition hold. So no action has to
name the clocks that it starts and stops: whatever makes the condition true starts them, and none can be forgotten.

Reference: R. Alur, D. L. Dill, "A theory of timed automata", Theoretical Computer Science 126 (1994).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import z3

from proofka.model.durations import Duration
from proofka.model.language.actions import ActionKey

ClockKey = tuple[str, tuple[tuple[str, int], ...]]
"""The name and arguments that identify a clock."""


@dataclass(frozen=True)
class Clock:
    """The time for which ``runs`` has held without interruption.

    ``name`` and ``arguments`` identify the clock as they do an action. ``since`` completes the sentence "so many
    milliseconds since ...". ``at_most`` is a deadline: the condition ends before it has held for longer. ``due`` are
    the keys of actions of which at least one can happen whenever the clock runs: nothing else has to be done to keep
    the deadline.
    """

    name: str
    arguments: Mapping[str, int]
    runs: z3.BoolRef
    since: str
    at_most: Duration | None = None
    due: frozenset[ActionKey] = frozenset()
    key: ClockKey = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "key", (self.name, tuple(sorted(self.arguments.items()))))

    def __str__(self) -> str:
        return f"{self.name}({', '.join(f'{name}={value}' for name, value in self.arguments.items())})"


@dataclass(frozen=True)
class Need:
    """The condition that an action can happen only while a clock, if it runs, shows a value in a range.

    With ``until`` the value is what the clock showed when that other clock started. The other clock runs whenever the
    action can happen and is the last of the two to start, so the need bounds how far apart their starts are.
    """

    clock: Clock
    at_least: Duration | None = None
    at_most: Duration | None = None
    until: Clock | None = None

    @property
    def is_endless(self) -> bool:
        """Tell whether the need is never met while the clock runs: its setting means never."""
        return self.at_least is not None and self.at_least.is_never and self.until is None


Needs = Mapping[ActionKey, tuple[Need, ...]]
"""The needs of actions, by the key of the action; an action without needs can be absent."""
