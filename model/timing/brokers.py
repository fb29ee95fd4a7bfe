"""Clocks of brokers and their controller: sessions, restarts, news, and changes of the ISR (semantics 6)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from proofka.model.deployment.implied.outages import may_return_unfenced
from proofka.model.durations import STOPS_WITHIN, Quantity
from proofka.model.language import Clock, Duration, Need
from proofka.model.language.terms import And, Not, Or
from proofka.model.replication.fetching import fetches_from
from proofka.model.state.pipeline import Replica
from proofka.model.timing.part import Part, Requirement, until_dropped

SESSION_OF_ZOOKEEPER = 9_000
"""The time, in ms, before which no session with ZooKeeper is certainly over: the shortest is two ticks long, and one
ends it. A tick is 3 s unless ZooKeeper is configured otherwise."""

REGISTRATION_JITTER = Fraction(1, 50)
"""The jitter of a broker's pauses between two tries to register, which grow to a whole session
(``BrokerLifecycleManager``)."""

RESTARTS = ("restart", "restart_before_fenced")
"""The names of the actions by which a broker that died comes back."""


class Brokers(Part):
    """The clocks of brokers and controller."""

    def needs(self) -> Iterator[Requirement]:
        for replica in self._pipeline.replicas:
            yield from self._needs_of_broker(replica)
        kept = Duration.of(self._times.producer_ids_kept)
        for batch in self._pipeline.producer.batches:
            yield ("forget_producer",), {"batch": batch.number}, Need(self.age(batch), at_least=kept)

    def deadlines(self) -> Iterator[Clock]:
        for replica in self._pipeline.replicas:
            yield from self._deadlines_of_broker(replica)

    def _needs_of_broker(self, replica: Replica) -> Iterator[Requirement]:
        times, number = self._times, {"broker": replica.number}
        session = Duration.of(times.broker_session) - times.heartbeat - self._network
        yield ("fence",), number, Need(self.unheard(replica), at_least=session)
        away = Need(self.away(replica), at_least=Duration.of(times.broker_restart))
        yield RESTARTS, number, away
        # A new incarnation is refused while the session of the old one lasts (semantics 6.4).
        yield ("restart_before_fenced",), number, Need(self.unheard(replica), at_least=session)
        for follower in self._pipeline.followers_of(replica):
            pair = {"leader": replica.number, "follower": follower.number}
            lag = times.lags_at_least()
            yield ("shrink_isr",), pair, Need(self.behind(replica, follower), at_least=lag)

    def away(self, replica: Replica) -> Clock:
        """Return the clock of the time since a broker died."""
        return Clock("away", {"broker": replica.number}, Not(replica.up.is_set), f"{replica.name} died")

    def unheard(self, replica: Replica) -> Clock:
        """Return the clock of the time since the controller last heard of a broker, which it fences in the end (6.4).

        ZooKeeper ends sessions by its own tick, and no session is shorter than two ticks.
        """
        since = f"the controller last heard of {replica.name}"
        return self._due("unheard", since, self._until_fenced, ("fence",), broker=replica.number)

    @property
    def _until_fenced(self) -> Duration:
        times = self._times
        if not self._pipeline.deployment.cluster.zookeeper:
            return times.until_fenced(len(self._pipeline.replicas))
        missing = max(0, SESSION_OF_ZOOKEEPER - 2 * times.broker_session.least)
        session = Duration.of(times.broker_session, 2) + Duration.of(Quantity("ZooKeeper's ticks", missing, missing))
        return session + Duration.of(times.election) + self._network

    @property
    def _until_unfenced(self) -> Duration:
        """The time for two heartbeats: one registers the broker, and one tells that it has caught up (6.3, E7)."""
        return self._times.heartbeat * 2 + self._news + self._network

    def behind(self, leader: Replica, follower: Replica) -> Clock:
        """Return the clock of the time since a follower was last known to have a leader's whole log (6.2, I1)."""
        pair = {"leader": leader.number, "follower": follower.number}
        known_end = leader.known_end(follower.number, leader.fetched[follower.number].term)
        lags = Or(follower.does_not_fetch_from(leader), known_end < leader.log.end.term)
        return Clock(
            "behind",
            pair,
            And(leader.presumes_leadership, lags),
            f"{follower.name} was last known to have all of {leader.name}'s log",
        )

    def _deadlines_of_broker(self, replica: Replica) -> Iterator[Clock]:
        times, number, name = self._times, replica.number, replica.name
        yield self.unheard(replica)
        # A new incarnation is refused while the session of the old one lasts (semantics 6.4).
        back = Duration.of(times.broker_restart) + self._until_fenced + self._until_unfenced
        yield self._due("returning", f"{name} could start again", back, ("restart",), broker=number)
        stops = f"{name} could stop"
        yield self._due("stopping", stops, Duration.of(STOPS_WITHIN), ("finish_shutdown",), broker=number)
        if replica.unregistered is not None:
            since = f"the old session of {name} was over"
            waits = Duration.of(times.broker_session, 1 + REGISTRATION_JITTER) + self._until_unfenced
            yield self._due("registering", since, waits, ("register",), broker=number)
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
        """Yield the clocks of a leader's ISR changes: one at a time, after one for each other follower (6.2)."""
        pair = {"follower": follower.number, "leader": leader.number}
        changes = len(self._pipeline.replicas) - 1
        since = f"{leader.name} could drop {follower.name} from the ISR"
        yield self._due("lagging", since, until_dropped(self._pipeline), ("shrink_isr",), **pair)
        since = f"{follower.name} had caught up with {leader.name}"
        expands = And(self._guard("expand_isr", **pair), fetches_from(self._pipeline, follower, leader))
        yield Clock("caught_up", pair, expands, since, (self._times.between_fetches + self._news) * changes)

    def _fetching(self, leader: Replica, follower: Replica) -> Iterator[Clock]:
        """Yield the clocks of a follower that has something to fetch, or to tell by its next fetch (semantics 6.1).

        There is one clock for the whole backlog, as each record is fetched by itself in the model. A waiting fetch is
        answered at once when there is something, or refused, and then the follower backs off. A leader that fell silent
        and leads on, or before 2.5 leads again and still has this follower, can have left the follower waiting for an
        answer.
        """
        pair = {"follower": follower.number, "leader": leader.number}
        end = follower.log.end.term
        fetched = leader.fetched[follower.number]
        older = (fetched.term > leader.fresh,) if leader.can_be_older(follower.number) else ()
        has_news = Or(leader.log.end.term > end, fetched.term < end + 1, *older)
        fetches = And(self._guard("fetch", **pair), has_news)
        since = f"there was something to fetch for {follower.name} at {leader.name}"
        answers = Duration.of(self._times.network, 3 * (leader.log.capacity + 1))
        at_most = Duration.of(self._times.fetch_backoff) + answers
        if self._pipeline.deployment.cluster.followers_wait_for_bytes:
            at_most = at_most + Duration.of(self._times.fetch_wait)
        fetching = Clock("fetching", pair, Or(fetches, self._guard("truncate", "go_back", **pair)), since, at_most)
        silent = self._pipeline.history.fell_silent.get(leader.number)
        deployment = self._pipeline.deployment
        stays = may_return_unfenced(deployment) or not deployment.cluster.truncation.fences_fetches
        if silent is None or not stays:
            yield fetching
            return
        later = at_most + Duration.of(self._times.replica_socket)
        yield replace(fetching, runs=And(fetching.runs, Not(silent.is_set)))
        runs = And(fetching.runs, silent.is_set)
        yield replace(fetching, name="fetching_after_silence", runs=runs, at_most=later)
