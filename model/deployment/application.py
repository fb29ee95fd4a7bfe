"""The applications of a deployment: the one that sends, and the one that processes."""

from __future__ import annotations

from dataclasses import dataclass

from proofka.model.deployment.choices import (
    Commit,
    Group,
    OnProcessingError,
    OnRestart,
    OnSendError,
    OnStop,
    Processing,
    ProducerId,
    Rebalances,
    Sends,
    Sink,
)
from proofka.model.deployment.compaction import Keys


@dataclass(frozen=True)
class Application:
    """The behaviour of the sending and of the processing application."""

    sends: Sends
    on_send_error: OnSendError
    on_restart: OnRestart
    on_stop: OnStop
    producer_id: ProducerId
    keys: Keys  # of the records, if the topic is compacted
    group: Group
    commit: Commit
    processing: Processing
    on_processing_error: OnProcessingError
    sink: Sink
    late_results_count: bool  # with sink=kafka: commits of an evicted member count (semantics 11.3)
    rebalances: Rebalances  # of a client that rejoins its group in the background (semantics 4.1)

    @property
    def commits_at_once(self) -> bool:
        """Tell whether the committed offset moves with every poll: it is committed before processing or stored with the
        result."""
        return self.commit is Commit.BEFORE or self.sink.keeps_offsets

    @property
    def commits_first(self) -> bool:
        """Tell whether the application commits the records of a poll() before processing, and the sink keeps no
        offset."""
        return self.commit is Commit.BEFORE and not self.sink.keeps_offsets
