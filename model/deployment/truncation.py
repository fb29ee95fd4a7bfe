"""The way in which followers reconcile their logs with a new leader's, by era (semantics 8)."""

from __future__ import annotations

from enum import StrEnum


class Truncation(StrEnum):
    """The way in which a follower reconciles its log with a new leader's (semantics 8), by release of the brokers.

    ``high-watermark``: it drops the records above its own high watermark (to 0.10). ``last-epoch``: the records above
    the end of its last epoch at the leader, or above its high watermark if the leader does not know that epoch (0.11 to
    1.1, KIP-101). ``epochs``: all records that the leader does not have (2.0, KIP-279). ``fenced-questions``: the same,
    and a leader answers what a follower asks about epochs within one leader epoch only, but answers fetches in any
    (2.1 to 2.4, KAFKA-9338). ``fenced``: leader and follower communicate within one epoch only (from 2.5, KIP-320).
    """

    HIGH_WATERMARK = "high-watermark"
    LAST_EPOCH = "last-epoch"
    EPOCHS = "epochs"
    FENCED_QUESTIONS = "fenced-questions"
    FENCED = "fenced"

    @property
    def asks_once(self) -> bool:
        """Tell whether a follower asks its leader once in each epoch, and then fetches by offset (0.11 to 2.4)."""
        return self in (Truncation.LAST_EPOCH, Truncation.EPOCHS, Truncation.FENCED_QUESTIONS)

    @property
    def fences_questions(self) -> bool:
        """Tell whether a leader answers a follower's questions only within one leader epoch (from 2.1)."""
        return self in (Truncation.FENCED_QUESTIONS, Truncation.FENCED)

    @property
    def fences_fetches(self) -> bool:
        """Tell whether a leader answers a follower's fetches only within one leader epoch (from 2.5)."""
        return self is Truncation.FENCED

    @property
    def high_watermark_decides(self) -> bool:
        """Tell whether a replica's high watermark determines which records it drops, or who joins its ISR (before
        2.1)."""
        return not self.fences_questions
