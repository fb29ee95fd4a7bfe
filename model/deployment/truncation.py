"""How followers make their logs agree with a new leader's, by era (semantics 8)."""

from __future__ import annotations

from enum import StrEnum


class Truncation(StrEnum):
    """How a follower reconciles its log with a new leader's (semantics 8), by release of the brokers.

    ``high-watermark``: it drops what is above its own high watermark (to 0.10). ``last-epoch``: what is above the end
    of its last epoch at the leader, or its high watermark where the leader does not know that epoch (0.11 to 1.1,
    KIP-101). ``epochs``: all that the leader does not have (2.0, KIP-279). ``fenced``: the same, and leader and
    follower deal with each other in one epoch only (from 2.1, KIP-320).
    """

    HIGH_WATERMARK = "high-watermark"
    LAST_EPOCH = "last-epoch"
    EPOCHS = "epochs"
    FENCED = "fenced"

    @property
    def high_watermark_decides(self) -> bool:
        """What a replica knows of the high watermark decides what it drops, or who joins its ISR (before 2.1)."""
        return self is not Truncation.FENCED
