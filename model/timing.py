"""When things happen: what each action needs of the clocks, and by when what is due must have happened.

Every clock follows a section of the semantics. A bound that is not certain is taken wide: a need too short or a
deadline too late allows runs that no real cluster has, never the other way round (docs/semantics.md).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import groupby

import z3

from model.deployment.deployment import Acks, Commit
from model.durations import JITTER
from model.faults import FALLS_SILENT, LOSES_REQUESTS
from model.fetching import fetches_from
from model.language import Action, Clock, Duration, Need, Variable
from model.produce import queues_at
from model.producer import counts_attempts, epoch_heard_of
from model.state import Batch, Fate, Pipeline, Replica
from model.wording import record_name

LAG_IS_CHECKED = Fraction(1, 2)
"""A leader looks for followers that lag every half of replica.lag.time.max.ms (semantics 2)."""

REGISTRATION_JITTER = Fraction(1, 50)
"""How much longer than its length a broker's pause between attempts to register can be."""

CLIENT_LOOKS = 2
"""A client looks for requests that take longer than request.timeout.ms after it waited for answers as long (P5)."""

HANDLED = ("append", "recognise_duplicate", "reject_not_leader", "reject_not_enough_replicas", "reject_out_of_order")
"""What can become of a request that reaches a broker."""

RESTARTS = ("restart", "restart_before_fenced")
"""How a broker that died comes back."""

RESTARTS_OF_CONSUMER = ("restart_consumer", "restart_consumer_at_end")
"""How a consumer that crashed comes back."""

_LATER = ("second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
BACKOFFS = ("backoff", *(f"{ordinal}_backoff" for ordinal in _LATER))
"""The clocks of the pauses before retries, by the first failure that they follow; equally long ones share a clock.
Where attempts are not counted the first is for all.
"""


@dataclass(frozen=True)
class Timed:
    """Actions with what they need of the clocks, and the clocks."""

    actions: tuple[Action, ...]
    clocks: tuple[Clock, ...]


def timed(pipeline: Pipeline, actions: Sequence[Action]) -> Timed:
    """Put the actions of a pipeline into time."""
    timing = _Timing(pipeline, actions)
    needs: dict[tuple[str, tuple[tuple[str, int], ...]], list[Need]] = {}
    for names, arguments, need in timing.needs():
        for action in timing.named(names, **arguments):
            needs.setdefault(action.key, []).append(need)
    needed = {need.clock.key: need.clock for all_needs in needs.values() for need in all_needs}
    clocks = {clock.key: clock for clock in (*needed.values(), *timing.deadlines())}
    with_needs = tuple(replace(action, needs=tuple(needs.get(action.key, ()))) for action in actions)
    return Timed(with_needs, tuple(clocks.values()))


Requirement = tuple[tuple[str, ...], dict[str, int], Need]
"""Names of actions, arguments that they must have, and what all of these need."""


class _Timing:
    def __init__(self, pipeline: Pipeline, actions: Sequence[Action]) -> None:
        self._pipeline = pipeline
        self._actions = actions
        self._times = pipeline.deployment.durations
        self._network = Duration.of(self._times.network)
        self._news = Duration.of(self._times.metadata)
        possible = pipeline.deployment.possible_faults
        self._falls_silent = bool(FALLS_SILENT & possible)
        self._loses_requests = bool(LOSES_REQUESTS & possible)
        self._batches = pipeline.producer.batches

    def named(self, names: Sequence[str], **arguments: int) -> list[Action]:
        """The actions with these names, and with these arguments among theirs."""
        return [a for a in self._actions if a.name in names and arguments.items() <= dict(a.arguments).items()]

    def _guard(self, *names: str, **arguments: int) -> z3.BoolRef:
        """One of these actions can happen."""
        return z3.Or(*(action.guard for action in self.named(names, **arguments)))

    def _due(self, name: str, since: str, at_most: Duration, names: Sequence[str], **arguments: int) -> Clock:
        """Once one of these actions can happen, one of them happens in time, or something makes all impossible."""
        return _one_of(name, arguments, since, at_most, self.named(names, **arguments))

    def needs(self) -> Iterator[Requirement]:
        """What actions need of the clocks."""
        if not self._pipeline.deployment.expires_in_accumulator:
            given_up = Need(self.busy(), at_least=Duration.of(self._times.delivery_timeout))
            yield ("give_up",), {}, given_up
        for batch in self._batches:
            yield from self._needs_of_batch(batch)
        for replica in self._pipeline.replicas:
            yield from self._needs_of_broker(replica)
        if self._pipeline.log_start is not None:
            for batch in self._batches:
                kept = Need(self.age(batch), at_least=Duration.of(self._times.retention))
                yield ("expire",), {"batch": batch.number}, kept
        expired = Need(self.consumer_away(), at_least=self._times.offsets_kept_at_least)
        yield ("expire_offsets",), {}, expired
        away = Need(self.consumer_away(), at_least=Duration.of(self._times.application_restart))
        yield RESTARTS_OF_CONSUMER, {}, away
        for offset in range(len(self._pipeline.consumer.queued)):
            yield from self._needs_of_worker(offset)

    def _needs_of_worker(self, offset: int) -> Iterator[Requirement]:
        """What workers had finished, and what was committed, by the time of the crash (semantics 12, C2)."""
        worker, away = self.with_worker(offset), self.consumer_away()
        processing, polls = Duration.of(self._times.processing_time), Duration.of(self._times.poll_interval)
        for finished in range(1 << len(self._pipeline.consumer.queued)):
            if finished >> offset & 1:
                yield from self._before_crash(offset, processing, {"finished": finished})
            else:
                yield RESTARTS_OF_CONSUMER, {"finished": finished}, Need(worker, at_most=processing, until=away)
        if self._pipeline.deployment.commit is Commit.AUTO:
            # A poll commits what earlier ones returned.
            yield from self._before_crash(offset, polls, {"committed_all": 1})

    def _before_crash(self, offset: int, least: Duration, arguments: dict[str, int]) -> Iterator[Requirement]:
        """A record was with a worker for so long before the crash, and so for longer before the restart."""
        worker, away = self.with_worker(offset), Duration.of(self._times.application_restart)
        yield RESTARTS_OF_CONSUMER, arguments, Need(worker, at_least=least, until=self.consumer_away())
        yield RESTARTS_OF_CONSUMER, arguments, Need(worker, at_least=least + away)

    def _needs_of_batch(self, batch: Batch) -> Iterator[Requirement]:
        if self._pipeline.deployment.expires_in_accumulator:
            waited = Need(self.in_accumulator(batch), at_least=Duration.of(self._times.request_timeout))
            yield ("give_up",), {"batch": batch.number}, waited
        for leader in self._pipeline.replicas:
            to = {"batch": batch.number, "leader": leader.number}
            for pause, failed in self._pauses(batch):
                yield ("transmit",), to, Need(self.backoff(batch, leader, failed), at_least=pause)
            waits = Duration.of(self._times.request_timeout) - self._network
            yield ("time_out_at_broker",), to, Need(self.in_flight(leader), at_least=waits)

    def _needs_of_broker(self, replica: Replica) -> Iterator[Requirement]:
        times, number = self._times, {"broker": replica.number}
        waits = Duration.of(times.request_timeout)
        yield ("time_out",), {"leader": replica.number}, Need(self.in_flight(replica), at_least=waits)
        session = Duration.of(times.broker_session) - times.heartbeat - self._network
        yield ("fence",), number, Need(self.unheard(replica), at_least=session)
        away = Need(self.away(replica), at_least=Duration.of(times.broker_restart))
        yield ("restart", "restart_before_fenced"), number, away
        # A new incarnation is refused while the session of the old one lasts (semantics 6.4).
        yield ("restart_before_fenced",), number, Need(self.unheard(replica), at_least=session)
        for follower in self._pipeline.followers_of(replica):
            pair = {"leader": replica.number, "follower": follower.number}
            lag = Duration.of(times.replica_lag) - self._times.between_fetches - self._times.between_fetches
            yield ("shrink_isr",), pair, Need(self.behind(replica, follower), at_least=lag)

    def deadlines(self) -> Iterator[Clock]:
        """By when what is due must have happened."""
        for batch in self._batches:
            yield from self._deadlines_of_batch(batch)
        if self._falls_silent or self._loses_requests:
            for replica in self._pipeline.replicas:
                yield self._unnoticed(replica)
        since = "the producer could sort out its sequence numbers"
        yield self._due("resolving", since, self._network, ("resolve_sequences",))
        for replica in self._pipeline.replicas:
            yield from self._deadlines_of_broker(replica)
        yield self._consumer_back()
        if self._pipeline.log_start is not None:
            yield self._polling()

    def _consumer_back(self) -> Clock:
        """Nothing is due where it could start only from an offset that had to be committed before it crashed."""
        back = Duration.of(self._times.application_restart)
        restarts = [action for action in self.named(RESTARTS_OF_CONSUMER) if not action.arguments.get("committed_all")]
        return _one_of("consumer_back", {}, "the consumer crashed", back, restarts)

    def busy(self) -> Clock:
        """delivery.timeout.ms counts from the first send() of a batch, which later records may join (3.1 P7 P8)."""
        accepted = z3.Or(*(self._waits(batch) for batch in self._batches))
        return Clock("busy", {}, accepted, "the application sent a record that is still on its way")

    def in_accumulator(self, batch: Batch) -> Clock:
        """Before delivery.timeout.ms a batch expired that was in the accumulator for request.timeout.ms (3.1, P7)."""
        since = f"{record_name(batch)} got into the accumulator"
        return Clock("in_accumulator", {"batch": batch.number}, batch.is_(Fate.BUFFERED), since)

    def _waits(self, batch: Batch) -> z3.BoolRef:
        """With acks=0 a request that is written is done (semantics 3.2)."""
        return batch.is_(Fate.BUFFERED) if self._pipeline.deployment.acks is Acks.NONE else batch.incomplete

    def _pauses(self, batch: Batch) -> Iterator[tuple[Duration, range]]:
        """How long a batch waits at least, and after which numbers of failures it is so long."""
        every = range(1, batch.retries.high + 1)
        for pause, failed in groupby(every, key=self._times.backs_off_at_least):
            first, *others = failed
            yield pause, range(first, first + len(others) + 1)

    def backoff(self, batch: Batch, leader: Replica, failed: range) -> Clock:
        """After so many failures a retry waits, unless there is a newer leader (semantics 3.1, P2 P4; KIP-951)."""
        same_leader = epoch_heard_of(self._pipeline, leader) == self._pipeline.producer.leader_epoch.term
        numbers = z3.And(batch.retries.term >= failed.start, batch.retries.term < failed.stop)
        if len(failed) == 1:
            numbers = batch.retries.term == failed.start
        waits = z3.And(batch.is_(Fate.BUFFERED), numbers, same_leader)
        since = f"the last attempt at {record_name(batch)} failed"
        return Clock(BACKOFFS[failed.start - 1], {"batch": batch.number, "leader": leader.number}, waits, since)

    def in_flight(self, leader: Replica) -> Clock:
        """request.timeout.ms of the oldest request drops its connection, and with it all others (3.1 P5, 3.2)."""
        waiting = z3.Or(*(z3.And(b.in_flight, b.target.term == leader.number) for b in self._batches))
        return Clock("in_flight", {"leader": leader.number}, waiting, f"something is in flight to {leader.name}")

    def _deadlines_of_batch(self, batch: Batch) -> Iterator[Clock]:
        number, record = batch.number, record_name(batch)
        yield from self._sendable(batch)
        can, since = self._can_be_handled(batch), f"{record} was transmitted"
        yield Clock("arriving", {"batch": number}, can, since, self._network)
        late = Duration.of(self._times.late_request)
        since = f"the client gave up on a request with {record}"
        abandoned = z3.And(self._guard("discard_delayed", batch=number), z3.Not(batch.in_flight))
        yield Clock("late", {"batch": number}, abandoned, since, late)
        answers = ("acknowledge", "fail_not_enough_after_append")
        yield self._due("answering", f"{record} was replicated", self._network, answers, batch=number)
        yield from self._given_up_on(batch)

    def _given_up_on(self, batch: Batch) -> Iterator[Clock]:
        """No request waits for ever, and no record (semantics 3.1, P5 P7 P8; 3.2)."""
        number, record = batch.number, record_name(batch)
        request, client_looks = self._times.request_timeout, Duration.of(self._times.request_timeout, CLIENT_LOOKS)
        if self._pipeline.deployment.acks is Acks.ALL:
            since = f"the ISR did not follow with {record}"
            answers = Duration.of(request) + self._network
            yield self._due("held_up", since, answers, ("time_out_at_broker",), batch=number)
        if self._pipeline.deployment.acks is Acks.ALL and len(self._batches) > 1:
            queues = z3.Or(*(queues_at(self._pipeline, batch, leader) for leader in self._pipeline.replicas))
            since = f"the request with {record} waits behind one that waits for the ISR"
            yield Clock("queueing", {"batch": number}, queues, since, client_looks)
        if self._pipeline.deployment.expires_in_accumulator:
            return
        since = f"the application sent {record}"
        yield Clock("pending", {"batch": number}, self._waits(batch), since, Duration.of(self._times.delivery_timeout))

    def _sendable(self, batch: Batch) -> Iterator[Clock]:
        """How soon a batch is sent depends on whether the producer may have to find out that a connection is dead.

        A broker that fell silent answers no attempt to connect to it either.
        """
        notices = Duration.of(self._times.request_timeout, CLIENT_LOOKS)
        connects = Duration.of(self._times.connection_setup, 1 + JITTER)
        ways = (
            ("sendable", False, False, self._until_connected),
            ("sendable_when_noticed", False, True, notices + self._until_connected),
            ("sendable_beside_silent", True, False, connects),
            ("sendable_when_silence_is_noticed", True, True, notices + connects),
        )
        since = f"{record_name(batch)} could be transmitted to a broker that takes it"
        for name, silent, broken, connected in ways:
            runs = [
                z3.And(can, self._is_silent(leader) == silent, self._may_be_broken(leader) == broken)
                for leader, can in self._takers(batch)
            ]
            if not all(z3.is_false(z3.simplify(one)) for one in runs):
                yield Clock(name, {"batch": batch.number}, z3.Or(*runs), since, self._until_sent(connected))

    def _unnoticed(self, broker: Replica) -> Clock:
        """request.timeout.ms of a request is over at most so long after its connection died (semantics 3.1, P5)."""
        since = f"the connection to {broker.name} died"
        at_most = Duration.of(self._times.request_timeout, CLIENT_LOOKS)
        return self._due("unnoticed", since, at_most, ("notice",), broker=broker.number)

    def _is_silent(self, leader: Replica) -> z3.BoolRef:
        """The producer may try to connect to a broker that fell silent: to this one, or to find this one."""
        return self._meets(leader, self._pipeline.history.fell_silent)

    def _may_be_broken(self, leader: Replica) -> z3.BoolRef:
        """The producer may use a dead connection on which it waits for no answer, and so has not noticed.

        One to a broker that fell silent may be; one that a request was lost with is if that was given up in flight, or
        if nobody waits for answers (acks=0).
        """
        history = self._pipeline.history
        lost = () if history.lost_requests is None else (history.lost_requests.is_set,)
        if self._loses_requests and history.lost_requests is None:
            lost = tuple(batch.is_(Fate.FAILED) for batch in self._batches)
        return z3.Or(self._meets(leader, history.unnoticed), *lost)

    def _meets(self, leader: Replica, remembered: Mapping[int, Variable]) -> z3.BoolRef:
        """What is remembered of brokers is so of a leader, or of any broker that may be asked who leads now."""
        if not remembered:
            return z3.BoolVal(False)
        asks = epoch_heard_of(self._pipeline, leader) > self._pipeline.producer.leader_epoch.term
        some = z3.Or(*(variable.is_set for variable in remembered.values()))
        return z3.Or(remembered[leader.number].is_set, z3.And(asks, some))

    @property
    def _until_connected(self) -> Duration:
        """A connection takes two messages each way before its first request: of TCP, and to agree on versions."""
        return Duration.of(self._times.network, 4)

    def _until_sent(self, noticed: Duration) -> Duration:
        """Until a client notices a broken connection, finds the new leader, connects to it, and has backed off."""
        times = self._times
        backoff = Duration.of(times.retry_backoff_max, 1 + times.backoff_jitter)
        finds = Duration.of(times.metadata) + backoff + Duration.of(times.reconnect_backoff_max, 1 + JITTER)
        return Duration.of(times.linger) + noticed + finds + backoff

    def _takers(self, batch: Batch) -> Iterator[tuple[Replica, z3.BoolRef]]:
        """Who would append the batch, or refuse it where so few attempts are made that each of them counts, and when.

        Attempts that are refused over and over need not be made in time.
        """
        for leader in self._pipeline.replicas:
            takes = self._pipeline.serves(leader)
            if self._pipeline.deployment.acks is Acks.ALL and not counts_attempts(self._pipeline):
                takes = z3.And(takes, self._pipeline.enough_in_sync(leader))
            yield leader, z3.And(self._guard("transmit", batch=batch.number, leader=leader.number), takes)

    def _can_be_handled(self, batch: Batch) -> z3.BoolRef:
        """A broker reads no further request of a connection until it has answered the one before."""
        ahead = [z3.And(o.is_(Fate.APPENDED), o.target.term == batch.target.term) for o in self._batches if o != batch]
        return z3.And(self._guard(*HANDLED, batch=batch.number), z3.Not(z3.Or(*ahead)))

    def away(self, replica: Replica) -> Clock:
        """How long a broker that died has been away."""
        return Clock("away", {"broker": replica.number}, z3.Not(replica.up.is_set), f"{replica.name} died")

    def unheard(self, replica: Replica) -> Clock:
        """The controller fences a broker that it has not heard of for broker.session.timeout.ms (semantics 6.4).

        It looks every eighth of that, and fences one broker at a time. ZooKeeper ends sessions by its own tick, and no
        session is shorter than two of these.
        """
        since = f"the controller last heard of {replica.name}"
        return self._due("unheard", since, self._until_fenced, ("fence",), broker=replica.number)

    @property
    def _until_fenced(self) -> Duration:
        looks = 1 + Fraction(len(self._pipeline.replicas), 8)
        if self._pipeline.deployment.zookeeper:
            looks = max(looks, Fraction(2))
        return Duration.of(self._times.broker_session, looks) + Duration.of(self._times.election) + self._network

    @property
    def _until_unfenced(self) -> Duration:
        """A heartbeat tells the controller of the broker, and one that it has caught up (semantics 6.3, E7)."""
        return self._times.heartbeat * 2 + self._news + self._network

    def behind(self, leader: Replica, follower: Replica) -> Clock:
        """How long a follower has not been known to have a leader's whole log (semantics 6.2, I1)."""
        pair = {"leader": leader.number, "follower": follower.number}
        known_end = leader.fetched[follower.number].term - 1
        lags = z3.Or(follower.does_not_fetch_from(leader), known_end < leader.log.end.term)
        return Clock(
            "behind",
            pair,
            z3.And(leader.presumes_leadership, lags),
            f"{follower.name} was last known to have all of {leader.name}'s log",
        )

    def _deadlines_of_broker(self, replica: Replica) -> Iterator[Clock]:
        times, number, name = self._times, replica.number, replica.name
        yield self.unheard(replica)
        # A new incarnation is refused while the session of the old one lasts (semantics 6.4).
        back = Duration.of(times.broker_restart) + self._until_fenced + self._until_unfenced
        if self._pipeline.deployment.restart_before_fenced:
            # It runs from the death, and an attempt to register that was refused backs off for as long as a session.
            back = back + Duration.of(times.broker_session, 1 + REGISTRATION_JITTER)
        yield self._due("returning", f"{name} could start again", back, RESTARTS, broker=number)
        learns = f"there was news from the controller for {name}"
        yield self._due("news", learns, self._news, ("apply_metadata", "learn_isr"), broker=number)
        slow = Duration.of(times.slowness)
        yield Clock("slow", {"broker": number}, replica.slow.is_set, f"{name} became slow", slow)
        cut_off = Duration.of(times.cut_off) + self._until_unfenced
        yield self._due("cut_off", f"{name} was cut off", cut_off, ("reconnect", "rejoin"), broker=number)
        for follower in self._pipeline.followers_of(replica):
            yield from self._fetching(replica, follower)
            yield from self._changes_of_isr(replica, follower)

    def _changes_of_isr(self, leader: Replica, follower: Replica) -> Iterator[Clock]:
        """A leader proposes one change at a time, so that one of each other follower's can come first (6.2)."""
        pair = {"follower": follower.number, "leader": leader.number}
        changes = len(self._pipeline.replicas) - 1
        lag = Duration.of(self._times.replica_lag, 1 + LAG_IS_CHECKED * changes) + self._network + self._news
        since = f"{leader.name} could drop {follower.name} from the ISR"
        yield self._due("lagging", since, lag, ("shrink_isr",), **pair)
        since = f"{follower.name} had caught up with {leader.name}"
        expands = z3.And(self._guard("expand_isr", **pair), fetches_from(self._pipeline, follower, leader))
        yield Clock("caught_up", pair, expands, since, (self._times.between_fetches + self._news) * changes)

    def _fetching(self, leader: Replica, follower: Replica) -> Iterator[Clock]:
        """A follower fetches what there is, and tells by its next fetch that it has it (semantics 6.1).

        One clock for all of the backlog: each record is fetched by itself here. A leader that fell silent and leads on
        may have left it waiting for an answer.
        """
        pair = {"follower": follower.number, "leader": leader.number}
        end = follower.log.end.term
        has_news = z3.Or(leader.log.end.term > end, leader.fetched[follower.number].term < end + 1)
        fetches = z3.And(self._guard("fetch", **pair), has_news)
        since = f"there was something to fetch for {follower.name} at {leader.name}"
        at_most = self._times.between_fetches * (leader.log.capacity + 1)
        fetching = Clock("fetching", pair, z3.Or(fetches, self._guard("truncate", "go_back", **pair)), since, at_most)
        silent = self._pipeline.history.fell_silent.get(leader.number)
        if silent is None or not self._pipeline.deployment.restart_before_fenced:
            yield fetching
            return
        later = at_most + Duration.of(self._times.replica_socket)
        yield replace(fetching, runs=z3.And(fetching.runs, z3.Not(silent.is_set)))
        runs = z3.And(fetching.runs, silent.is_set)
        yield replace(fetching, name="fetching_after_silence", runs=runs, at_most=later)

    def age(self, batch: Batch) -> Clock:
        """retention.ms counts from a record's timestamp, which the client takes in send() (semantics 10)."""
        since = f"the application sent {record_name(batch)}"
        return Clock("age", {"batch": batch.number}, z3.Not(batch.is_(Fate.UNSENT)), since)

    def _polling(self) -> Clock:
        """A member of the group that does not poll for max.poll.interval.ms is replaced (semantics 12).

        One clock for all that is there to be polled.
        """
        polls = ("poll", "hand_off", "seek_to_divergence", "reset_beyond_end", "reset_position")
        return self._due("polling", "there was something to poll", self._pipeline.deployment.until_polled, polls)

    def with_worker(self, offset: int) -> Clock:
        """How long ago a record was handed to a worker."""
        queued = self._pipeline.consumer.queued[offset]
        since = f"the record at offset {offset} was handed to a worker"
        return Clock("with_worker", {"offset": offset}, queued.term > 0, since)

    def consumer_away(self) -> Clock:
        """How long a consumer that crashed has been away."""
        return Clock("consumer_away", {}, z3.Not(self._pipeline.consumer.running.is_set), "the consumer crashed")


def _one_of(name: str, arguments: Mapping[str, int], since: str, at_most: Duration, actions: Sequence[Action]) -> Clock:
    """The clock that runs while one of these actions can happen, and has a deadline for it."""
    can = z3.Or(*(action.guard for action in actions))
    return Clock(name, arguments, can, since, at_most, frozenset(action.key for action in actions))
