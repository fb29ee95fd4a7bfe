"""Observations of a run on a cluster: plain data, with times in seconds since the epoch of one machine's clock.

An interval is a pair of times between which the thing happened.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

Interval = tuple[float, float]
"""The times before and after something happened."""


@dataclass(frozen=True)
class Send:
    """A call of ``send()`` for a record (from 0): from the command until the program said that the call returned."""

    record: int
    when: Interval


@dataclass(frozen=True)
class Request:
    """A produce request at the proxy.

    ``records``: those in the request that belong to the run. ``arrived``: when the proxy had the request. ``left``:
    when the request left to the broker; None for one that never did, or only after the client's connection was closed.
    ``given_up``: when the proxy dropped the request, or closed the client's connection. ``answered``: when the answer
    left to the client, None if no answer did. ``error``: Kafka's number of the error in the answer. ``answerable``:
    the request asks for an answer, as all but those with acks=0 do.
    """

    connection: int
    broker: int
    records: tuple[int, ...]
    arrived: float
    left: float | None
    given_up: float | None
    answered: float | None
    error: int | None
    answerable: bool = True


@dataclass(frozen=True)
class Report:
    """A report to the application on a record; ``error`` is None for success."""

    record: int
    when: Interval
    error: str | None


@dataclass(frozen=True)
class Entry:
    """An entry of a log. ``producer``: producer id and producer epoch; ``sequence``: its sequence number, or -1.

    ``record``: None for the marker of a transaction, which ``marker`` names: "commit" or "abort".
    """

    record: int | None
    leader_epoch: int
    producer: tuple[int, int]
    sequence: int
    marker: str | None = None


@dataclass(frozen=True)
class Look:
    """The log on a broker's disk, from the run's first offset on."""

    broker: int
    when: Interval
    entries: tuple[Entry, ...]


@dataclass(frozen=True)
class PartitionDecision:
    """The partition after a record of the controller's log.

    ``offset``: of the record. ``written``: the earliest time at which the record was written. ``seen``: when a reader
    of the disk saw the record. ``leader``: 0 for none.
    """

    offset: int
    written: float
    seen: float
    leader: int
    leader_epoch: int
    isr: tuple[int, ...]


@dataclass(frozen=True)
class BrokerDecision:
    """A broker after a record of the controller's log; the first three fields are as in the other decisions.

    ``is_stopping``: the broker has announced its stop; the controller does not count on it any more.
    """

    offset: int
    written: float
    seen: float
    broker: int
    is_fenced: bool
    is_stopping: bool = False

    @property
    def is_gone(self) -> bool:
        """Tell whether the controller does not count on the broker."""
        return self.is_fenced or self.is_stopping


@dataclass(frozen=True)
class CoordinatorDecision:
    """A record of the coordinator of transactions; the first two fields are as in the other decisions.

    ``status``: Kafka's name of the state of the transactional id. ``producer``: producer id and producer epoch.
    """

    written: float
    seen: float
    status: str
    producer: tuple[int, int]


@dataclass(frozen=True)
class EndedTransaction:
    """A call that ended a transaction (counted from 0), and returned without an error."""

    transaction: int
    commits: bool
    when: Interval


@dataclass(frozen=True)
class DelayedEnd:
    """A request to end a transaction whose client has lost the connection, and that the coordinator can get later."""

    commits: bool
    when: Interval


@dataclass(frozen=True)
class OfTransactions:
    """The transactions of a producer, as they are seen.

    ``producer``: its producer id and producer epoch as the run begins. ``committing``: when a process ended that waited
    for the return of commitTransaction().
    """

    producer: tuple[int, int]
    decisions: tuple[CoordinatorDecision, ...]
    ended: tuple[EndedTransaction, ...]
    delayed: tuple[DelayedEnd, ...]
    committing: tuple[float, ...] = ()


@dataclass(frozen=True)
class Joined:
    """A consumer that started and got the partition, at a position (0 is the run's first offset)."""

    position: int
    when: Interval


@dataclass(frozen=True)
class Given:
    """A record that poll() returned, at an offset (0 is the run's first offset)."""

    offset: int
    record: int
    when: Interval


@dataclass(frozen=True)
class OfConsumer:
    """The consumer of a producer's topic, as it is seen. ``ended``: the ends of its processes in the run."""

    joined: tuple[Joined, ...]
    given: tuple[Given, ...]
    ended: tuple[Interval, ...]


@dataclass(frozen=True)
class Done:
    """A control that the scheduler used: its name (tables/controls.csv), its broker, and when."""

    control: str
    broker: int
    when: Interval


@dataclass(frozen=True)
class Observations:
    """All observations of a run.

    ``brokers``: their numbers. ``first``: the partition before the run. ``decisions``: in the order of the controller's
    log. ``warm``: the producer's sequence number of the run's first record. ``producer``: its id and epoch in these;
    None without idempotence. ``changes_passed``: by broker, when answers to its proposals of another ISR left to the
    broker. ``lag``: seconds after which a
    leader removes a follower that does not fetch. ``session``: seconds after which a silent broker is fenced. ``end``:
    the end of the run. ``transactions``: None for a producer without transactions. ``consumer``: None for a topic
    without a consumer. ``changes_proposed``: by broker, when its proposals of another ISR left to the controller.
    """

    brokers: tuple[int, ...]
    first: PartitionDecision
    decisions: tuple[PartitionDecision | BrokerDecision, ...]
    warm: int
    producer: tuple[int, int] | None
    sends: tuple[Send, ...]
    requests: tuple[Request, ...]
    reports: tuple[Report, ...]
    looks: tuple[Look, ...]
    done: tuple[Done, ...]
    changes_passed: Mapping[int, tuple[float, ...]]
    lag: float
    session: float
    end: float
    transactions: OfTransactions | None = None
    consumer: OfConsumer | None = None
    changes_proposed: Mapping[int, tuple[float, ...]] = field(default_factory=dict)
