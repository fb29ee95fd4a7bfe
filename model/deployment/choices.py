"""What can be chosen of a client or an application: each enumeration's values are what a file says."""

from __future__ import annotations

from enum import StrEnum


class Acks(StrEnum):
    """The producer's ``acks``: how much of the cluster must have a record before it is acknowledged."""

    NONE = "0"
    LEADER = "1"
    ALL = "all"


class OnSendError(StrEnum):
    """What the application does when ``send()`` fails: forget the record, send it anew, or stop sending.

    ``ignore``: it does not look, so that nobody is told (semantics 3.1, P13).
    ``resend-if-not-stored``: send it anew if its client says that no attempt can have been stored (semantics 4.1).
    """

    DROP = "drop"
    RESEND = "resend"
    RESEND_IF_NOT_STORED = "resend-if-not-stored"
    HALT = "halt"
    IGNORE = "ignore"

    @property
    def sends_again(self) -> bool:
        """The application may send a record again whose send failed."""
        return self in (OnSendError.RESEND, OnSendError.RESEND_IF_NOT_STORED)


class OnRestart(StrEnum):
    """What a restarted producer application does about records it does not know to be acknowledged.

    ``forget`` and ``resend`` are of one that knows of each record. The others go on at a position in what they read
    from, which they had committed: when everything up to there was acknowledged, when a ``flush()`` had returned,
    whatever came of the sends, or when everything up to there was handed to ``send()`` (semantics 3.1, P10 P12).
    """

    FORGET = "forget"
    RESEND = "resend"
    FROM_ACKNOWLEDGED = "from-acknowledged"
    FROM_FLUSHED = "from-flushed"
    FROM_SENT = "from-sent"

    @property
    def has_position(self) -> bool:
        """The application commits a position in what it reads from."""
        return self in (OnRestart.FROM_ACKNOWLEDGED, OnRestart.FROM_FLUSHED, OnRestart.FROM_SENT)

    @property
    def sends_again(self) -> bool:
        """A restarted application may send a record that was sent before."""
        return self is not OnRestart.FORGET


class OnStop(StrEnum):
    """How an application ends its producer when it is stopped on purpose (semantics 3.1, P11).

    ``close`` waits until every send is over, and then commits the position that it has; ``commit-first`` does that the
    other way round. ``force`` waits for some time only, and what is left fails; ``exit`` closes nothing.
    """

    CLOSE = "close"
    COMMIT_FIRST = "commit-first"
    FORCE = "force"
    EXIT = "exit"


class Sends(StrEnum):
    """``sync`` waits for each send's future before the next send; ``async`` does not."""

    ASYNC = "async"
    SYNC = "sync"


class ProducerId(StrEnum):
    """Whether the partition has seen this producer's id before: a ``new`` one's first sequence is not checked (3.5)."""

    KNOWN = "known"
    NEW = "new"


class Group(StrEnum):
    """Whether the consumer group has committed an offset before, or starts by its reset policy.

    ``unaware``: it does not even know of the partition, which is added while it runs (semantics 12).
    """

    ESTABLISHED = "established"
    NEW = "new"
    UNAWARE = "unaware"


class Commit(StrEnum):
    """When the consumer's offset is committed.

    ``auto`` follows from ``enable.auto.commit=true``: what earlier polls returned, as the Java client commits it.
    ``earlier``: the same by a client that keeps to it in a rebalance and when it is closed (semantics 4.3).
    ``delivered``: a client that commits by itself what it has handed over, finished or not (semantics 4). The others
    say what the application does itself; ``async``: after processing, and without waiting for the answer (12, C7);
    ``finished``: after each record that a worker finishes, whatever other workers still have before it (12.1).
    ``never``: a consumer without a group, which starts by its reset policy.
    """

    AUTO = "auto"
    EARLIER = "earlier"
    DELIVERED = "delivered"
    BEFORE = "before"
    AFTER = "after"
    ASYNC = "async"
    FINISHED = "finished"
    NEVER = "never"

    @property
    def is_by_client(self) -> bool:
        """The client commits by itself, with ``enable.auto.commit=true``."""
        return self in (Commit.AUTO, Commit.EARLIER, Commit.DELIVERED)

    @property
    def follows_processing(self) -> bool:
        """The application commits what has been processed."""
        return self in (Commit.AFTER, Commit.ASYNC, Commit.FINISHED)


class OnProcessingError(StrEnum):
    """What the application does when it fails to process a record (semantics 11.3, 12.1).

    ``forward`` waits until the other topic has acknowledged the record, ``forward-unconfirmed`` does not.
    ``retry-last``: of several that fail while others are at work it goes back to the last one only.
    """

    STOP = "stop"
    SKIP = "skip"
    FORWARD = "forward"
    FORWARD_UNCONFIRMED = "forward-unconfirmed"
    CLOSE = "close"
    RETRY = "retry"
    RETRY_LAST = "retry-last"
    ABORT = "abort"


class Processing(StrEnum):
    """Whether records are finished inside the poll loop or handed to other threads."""

    POLL_THREAD = "poll-thread"
    HANDED_OFF = "handed-off"


class Sink(StrEnum):
    """What the consumer's effect goes to.

    ``plain`` repeats the effect with each processing; ``idempotent`` recognises a record by its id, ``by-offset`` by
    its partition and offset;
    ``transactional`` stores the offset in the same transaction as the effect and resumes from it. ``kafka`` is another
    topic: results and offsets are written to it and to the group in one transaction of Kafka's (semantics 11.3).
    ``in-memory`` is the memory of the consumer's process, which ends with it; ``snapshots`` is memory as well, which
    the application saves from time to time, apart from offsets, and restores when it starts.
    """

    PLAIN = "plain"
    IDEMPOTENT = "idempotent"
    BY_OFFSET = "by-offset"
    TRANSACTIONAL = "transactional"
    KAFKA = "kafka"
    IN_MEMORY = "in-memory"
    SNAPSHOTS = "snapshots"

    @property
    def is_memory(self) -> bool:
        """The effect is on something that the consumer's process has in memory."""
        return self in (Sink.IN_MEMORY, Sink.SNAPSHOTS)

    @property
    def keeps_offsets(self) -> bool:
        """The offset moves together with the effect."""
        return self in (Sink.TRANSACTIONAL, Sink.KAFKA)


class OffsetReset(StrEnum):
    """The consumer's ``auto.offset.reset``."""

    EARLIEST = "earliest"
    LATEST = "latest"
    NONE = "none"
