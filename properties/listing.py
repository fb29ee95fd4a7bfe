"""Items and fault sets in words: ``a, b and c``, and ``{2 kill, power-loss}``."""

from __future__ import annotations

from collections.abc import Sequence

from proofka.properties.verdict import CutSet


def listed(items: Sequence[str]) -> str:
    """Join items: ``a``, ``a and b``, ``a, b and c``."""
    return " and ".join(filter(None, [", ".join(items[:-1]), items[-1]])) if items else ""


def fault_set(cut_set: CutSet) -> str:
    """Return a fault set in braces: ``{2 slow-follower, power-loss}``; ``{}`` is the empty fault set."""
    return "{" + ", ".join(kind if count == 1 else f"{count} {kind}" for kind, count in cut_set) + "}"
