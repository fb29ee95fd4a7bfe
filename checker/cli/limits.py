"""Build the limits of an exploration from the options."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from proofka.checker.budget import Budget


def budget_of(seconds: float | None, limits: dict[str, int | None]) -> Budget:
    """Return the budget that the options set; each limit without an option has its default."""
    from proofka.checker.budget import Budget

    given: dict[str, Any] = {name: value for name, value in limits.items() if value is not None}
    return Budget(seconds=seconds, **given)
