"""The choices of clients and applications: the values of each enumeration are the values of the format."""

from __future__ import annotations

from enum import StrEnum


class Acks(StrEnum):
    """The producer's ``acks``: the replicas that must have a record before the record is acknowledged."""

    NONE = "0"
    LEADER = "1"
    ALL = "all"


class OnSendError(StrEnum):
    """The application's reaction to a failed ``send()``: drop the record, send it again, or stop sending.

    ``ignore``: the application does not look at the result, so nobody learns of the failure (semantics 3.1, P13).
    ``resend-if-not-stored``: send again if the client reports that no attempt can have been stored (semantics 4.1).
    """

    DROP = "drop"
    RESEND = "resend"
    RESEND_IF_NOT_STORED = "resend-if-not-stored"
    HALT = "halt"
    IGNORE = "ignore"

    @property
    def sends_again(self) -> bool:
        """Tell whether the application can send a record again after a failed send."""
        return self in (OnSendError.RESEND, OnSendError.RESEND_IF_NOT_STORED)


class OnRestart(StrEnum):
    """The treatment, by a restarted producer application, of records whose acknowledgement it does not know.

    ``forget`` and ``resend`` belong to an application that knows each record. The others continue at the position in
    their input that they had committed: when everything before the position was acknowledged, when a ``flush()`` had
    returned whatever the results, or when everything before the position was handed to ``send()`` (semantics 3.1, P10
    P12).
    """

    FORGET = "forget"
    RESEND = "resend"
    FROM_ACKNOWLEDGED = "from-acknowledged"
    FROM_FLUSHED = "from-flushed"
    FROM_SENT = "from-sent"

    @property
    def has_position(self) -> bool:
        """Tell whether the application commits a position in its input."""
        return self in (OnRestart.FROM_ACKNOWLEDGED, OnRestart.FROM_FLUSHED, OnRestart.FROM_SENT)

    @property
    def sends_again(self) -> bool:
        """Tell whether a restarted application can send a record that it sent before."""
        return self is not OnRestart.FORGET


class OnStop(StrEnum):
    """The way in which an application ends its producer when it is stopped on purpose (semantics 3.1, P11).

    ``close`` waits until every send has ended, and then commits the application's position; ``commit-first`` does both
    in the opposite order. ``force`` waits for a limited time, after which the remaining sends fail; ``exit`` closes
    nothing.
    """

    CLOSE = "close"
    COMMIT_FIRST = "commit-first"
    FORCE = "force"
    EXIT = "exit"


class Sends(StrEnum):
    """The application's way of sending: ``sync`` waits for each send's future before the next send; ``async`` does
    not."""

    ASYNC = "async"
    SYNC = "sync"


class ProducerId(StrEnum):
    """The partition's knowledge of this producer's id: brokers do not check the first sequence number of a ``new`` id
    (3.5)."""

    KNOWN = "known"
    NEW = "new"


class Group(StrEnum):
    """The state of the consumer group at the start: a committed offset, or none, so that the reset policy decides.

    ``unaware``: the group does not know the partition, which is added while the group runs (semantics 12).
    """

    ESTABLISHED = "established"
    NEW = "new"
    UNAWARE = "unaware"


class Commit(StrEnum):
    """The time of the consumer's commit.

    ``auto`` follows from ``enable.auto.commit=true``: the records that earlier polls returned, as the Java client
    commits them. ``earlier``: the same, by a client that also commits only these records in a rebalance and in close()
    (semantics 4.3). ``delivered``: a client that commits by itself all records that it has handed over, finished or not
    (semantics 4). The other values are commits of the application. ``async``: after processing, without waiting for the
    answer (12, C7). ``finished``: after each record that a worker finishes, even if other workers still have earlier
    records (12.1). ``never``: a consumer without a group, which starts by its reset policy.
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
        """Tell whether the client commits by itself, with ``enable.auto.commit=true``."""
        return self in (Commit.AUTO, Commit.EARLIER, Commit.DELIVERED)

    @property
    def follows_processing(self) -> bool:
        """Tell whether the application commits processed records."""
        return self in (Commit.AFTER, Commit.ASYNC, Commit.FINISHED)


class OnProcessingError(StrEnum):
    """The application's reaction when it fails to process a record (semantics 11.3, 12.1).

    ``forward`` waits until the other topic has acknowledged the record; ``forward-unconfirmed`` does not.
    ``retry-last``: if several records fail while other workers are busy, the application retries only the last.
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
    """The place where records are processed: inside the poll loop, or in other threads."""

    POLL_THREAD = "poll-thread"
    HANDED_OFF = "handed-off"


class Sink(StrEnum):
    """The destination of the consumer's effect.

    ``plain`` repeats the effect with each processing. ``idempotent`` recognises a record by its id, ``by-offset`` by
    its partition and offset. ``transactional`` stores the offset in the same transaction as the effect and resumes from
    that offset. ``kafka`` is another topic: one Kafka transaction contains the results and the group's offsets
    (semantics 11.3). ``in-memory`` is the memory of the consumer's process, which ends with the process. ``snapshots``
    is memory that the application saves from time to time, separately from offsets, and restores when it starts.
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
        """Tell whether the effect is in the memory of the consumer's process."""
        return self in (Sink.IN_MEMORY, Sink.SNAPSHOTS)

    @property
    def keeps_offsets(self) -> bool:
        """Tell whether the offset moves together with the effect."""
        return self in (Sink.TRANSACTIONAL, Sink.KAFKA)


class Rebalances(StrEnum):
    """The times at which a client that rejoins its group in the background gives up a partition (semantics 4.1).

    ``in-poll``: the application has a rebalance callback, which the client calls in a poll. ``any-time``: the
    application has none, and the client can give up a partition while the application processes its records.
    """

    ANY_TIME = "any-time"
    IN_POLL = "in-poll"


class OffsetReset(StrEnum):
    """The consumer's ``auto.offset.reset``."""

    EARLIEST = "earliest"
    LATEST = "latest"
    NONE = "none"
