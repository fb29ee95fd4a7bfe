"""The observations of a replay, as plain values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Read:
    """A record that a broker gave to a reader after a step. ``content`` is "record 1"."""

    content: str
    broker: int
    step: int


@dataclass(frozen=True)
class Observed:
    """The observations at the end of a replay.

    ``leader``: the broker that leads, or None. ``log``: (offset, content) of each entry of the leader's log from the
    modelled part on; the content of a record that the log aborts begins with "aborted". ``sent``: records in the order
    of ``send()``. ``acknowledged`` and ``failed``: records by what the last report, or the end of their transaction,
    said. ``processed``: records in the order of processing; ``with_workers``: records that workers have. ``committed``:
    the offset that the group has committed, as its coordinator says, or None.

    ``given``: records that the leader gives to the deployment's consumer, in order. ``high_watermark``,
    ``last_stable``: of the leader, as it tells readers. ``about_to_be_acknowledged``: records whose success is on its
    way to the producer. ``min_insync``: the topic's ``min.insync.replicas``. ``read_before``: by offset, the first
    record that could be read there. ``transactions``: (records, outcome) of each transaction that the application has
    begun. ``coordinator``: the answer of the coordinator of transactions. ``late``: records that evicted members have.
    ``log_start``: the leader's log start offset; what stands before is deleted. ``entries``: by broker, (offset,
    content, leader epoch) of each entry of its log, where the content tells the send of a record.
    """

    leader: int | None
    log: tuple[tuple[int, str], ...]
    sent: tuple[int, ...]
    acknowledged: tuple[int, ...]
    failed: tuple[int, ...]
    processed: tuple[int, ...]
    with_workers: tuple[int, ...]
    committed: int | None
    other_logs: Mapping[int, tuple[tuple[int, str], ...]]
    given: tuple[int, ...] = ()
    high_watermark: int = 0
    last_stable: int = 0
    about_to_be_acknowledged: tuple[int, ...] = ()
    min_insync: int = 1
    read_before: Mapping[int, Read] = field(default_factory=dict)
    transactions: tuple[tuple[tuple[int, ...], str], ...] = ()
    coordinator: str = ""
    late: tuple[int, ...] = ()
    entries: Mapping[int, tuple[tuple[int, str, int], ...]] = field(default_factory=dict)
    log_start: int = 0

    @property
    def stored(self) -> tuple[int, ...]:
        """Records in the log of the leader that the log does not abort, in the order of offsets."""
        return tuple(int(content.split()[1]) for _, content in self.log if content.startswith("record "))

    @property
    def aborted(self) -> tuple[int, ...]:
        """Records in the log of the leader that the log aborts."""
        return tuple(int(content.split()[2]) for _, content in self.log if content.startswith("aborted record "))

    @property
    def failed_for_good(self) -> tuple[int, ...]:
        """Records that have failed and were never acknowledged."""
        return tuple(record for record in self.failed if record not in self.acknowledged)


Evidence = tuple[str, ...]
"""Sentences that show a failure; empty if nothing failed."""
