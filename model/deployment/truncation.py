"""The way in which followers reconcile their logs with a new leader's, by era (semantics 8)."""

from __future__ import annotations

from enum import StrEnum


class Truncation(StrEnum):
    """The way in which a follower reconciles its log with a new leader's (semantics 8), by release of the brokers.

    ``high-watermark``: it drops the records above its own high watermark (to 0.10). ``last-epoch``: the records above
    the end of its last epoch at the leader, or above its high watermark if the leader does not know that epoch (0.11 to
    1.1, KIP-101). ``epochs``: all records that the leader does not have (2.0, KIP-279). ``fenced``: the same, and
    leader and follower communicate within one epoch only (from 2.1, KIP-320).
    """

    HIGH_WATERMARK = "high-watermark"
    LAST_EPOCH = "last-epoch"
    EPOCHS = "epochs"
    FENCED = "fenced"

    @property
    def high_watermark_decides(self) -> bool:
        """Tell whether a replica's high watermark determines which records it drops, or who joins its ISR (before
        2.1)."""
        return self is not Truncation.FENCED
