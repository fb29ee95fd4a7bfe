"""Needs of the cleaner of a compacted topic, which has no deadlines (semantics 10, D3 D4)."""

from __future__ import annotations

from collections.abc import Iterator

from proofka.model.language import Clock, Duration, Need
from proofka.model.timing.part import Part, Requirement


class Cleaning(Part):
    """The clocks of the cleaner."""

    def needs(self) -> Iterator[Requirement]:
        compacted = self._pipeline.compacted
        if compacted is None:
            return
        for batch in self._batches:
            looked_at = Need(self.age(batch), at_least=Duration.of(self._times.compaction_lag))
            yield ("compact", "remove_aborted", "forget_aborted"), {"batch": batch.number}, looked_at
        kept = Duration.of(self._times.delete_retention)
        for number, expires in enumerate(compacted.expiring):
            since = "a cleaner first passed over the marker"
            passed = Clock("expiring", {"transaction": number}, expires.is_set, since)
            yield ("drop_marker",), {"transaction": number}, Need(passed, at_least=kept)
        if compacted.marked is not None:
            since = "a cleaner first passed over the tombstone"
            yield ("drop_tombstone",), {}, Need(Clock("marked", {}, compacted.marked.is_set, since), at_least=kept)
            return
        for number in sorted(compacted.tombstones):
            age = self.age(self._batches[number])
            looked_at = Need(age, at_least=Duration.of(self._times.compaction_lag))
            yield ("drop_tombstone",), {"batch": number}, looked_at
            yield ("drop_tombstone",), {"batch": number}, Need(age, at_least=kept)

    def deadlines(self) -> Iterator[Clock]:
        yield from ()
