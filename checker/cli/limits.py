"""What the options allow an exploration to cost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from checker.budget import Budget


def budget_of(seconds: float | None, limits: dict[str, int | None]) -> Budget:
    """The budget that the options set; what none of them sets has its default."""
    from checker.budget import Budget

    given: dict[str, Any] = {name: value for name, value in limits.items() if value is not None}
    return Budget(seconds=seconds, **given)
