"""Clocks of the consumer, and of how long the records that it has to read are kept (semantics 10, 12)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import z3

from proofka.model.deployment.choices import Commit, Group
from proofka.model.deployment.implied.cleaning import reading_is_timed
from proofka.model.deployment.implied.commits import commits_may_be_missed, offsets_may_be_lost
from proofka.model.deployment.implied.outages import brokers_may_be_away, replacements_of_consumer
from proofka.model.deployment.implied.polling import (
    REQUESTS_TO_START,
    between_polls,
    until_committed,
    until_discovered,
    until_next_poll,
    until_replaced,
)
from proofka.model.deployment.implied.processing import retries_processing
from proofka.model.language import Clock, Duration, Need, present
from proofka.model.language.terms import And, Not, Or
from proofka.model.state.consumer import EXPIRED
from proofka.model.timing.part import Part, Requirement, one_of, without_news

RESTARTS_OF_CONSUMER = ("restart_consumer", "restart_consumer_at_end")
"""The names of the actions by which a consumer that crashed comes back."""


class Reading(Part):
    """The clocks of the consumer, and of retention."""

    def needs(self) -> Iterator[Requirement]:
        for batch in self._batches:
            kept = Need(self.age(batch), at_least=Duration.of(self._times.retention))
            yield ("expire", "expire_by_itself"), {"batch": batch.number}, kept
        yield from self._needs_of_committed()
        away = Need(self._crashed(), at_least=Duration.of(self._times.application_restart))
        yield RESTARTS_OF_CONSUMER, {}, away
        if self._pipeline.history.thrown_out is not None:
            silent = min(self._times.consumer_session, self._times.max_poll, key=lambda limit: limit.least)
            yield RESTARTS_OF_CONSUMER, {}, Need(self._replacing(), at_least=Duration.of(silent))
        for offset in range(len(self._pipeline.consumer.queued)):
            yield from self._needs_of_worker(offset)
        yield from self._needs_of_commits()

    def deadlines(self) -> Iterator[Clock]:
        yield from self._consumer_back()
        if reading_is_timed(self._pipeline.deployment) and not retries_processing(self._pipeline.deployment):
            yield from self._polling()

    def _needs_of_worker(self, offset: int) -> Iterator[Requirement]:
        """Yield the needs of what workers had finished, and of what was committed, when the crash came (12, C2)."""
        worker, away = self.with_worker(offset), self.consumer_away()
        processing, polls = Duration.of(self._times.processing_time), Duration.of(self._times.poll_interval)
        for finished in range(1 << len(self._pipeline.consumer.queued)):
            if finished >> offset & 1:
                yield from self._before_crash(offset, processing, {"finished": finished})
            else:
                yield RESTARTS_OF_CONSUMER, {"finished": finished}, Need(worker, at_most=processing, until=away)
        if self._pipeline.deployment.application.commit in (Commit.AUTO, Commit.EARLIER):
            # A poll commits what earlier ones returned.
            yield from self._before_crash(offset, polls, {"committed_all": 1})

    def _before_crash(self, offset: int, least: Duration, arguments: dict[str, int]) -> Iterator[Requirement]:
        """Yield the need that a worker had a record for ``least`` before the crash, so longer before the restart."""
        worker, away = self.with_worker(offset), Duration.of(self._times.application_restart)
        yield RESTARTS_OF_CONSUMER, arguments, Need(worker, at_least=least, until=self.consumer_away())
        if not replacements_of_consumer(self._pipeline.deployment):
            yield RESTARTS_OF_CONSUMER, arguments, Need(worker, at_least=least + away)

    def _needs_of_committed(self) -> Iterator[Requirement]:
        """Yield the needs of expired offsets: kept while the group has members, before 2.1 from the commit on (C14)."""
        deployment, kept = self._pipeline.deployment, self._times.offsets_kept_at_least
        if deployment.cluster.loaded_offsets_expire:
            return
        if not deployment.cluster.offsets_age_in_use:
            yield ("expire_offsets",), {}, Need(self.consumer_away(), at_least=kept)
        elif deployment.application.commit.is_by_client:
            renewed = Duration.of(self._times.auto_commit) + between_polls(deployment)
            yield ("expire_offsets",), {}, Need(self.consumer_away(), at_least=kept - renewed)
        else:
            position = self._pipeline.consumer.position
            for offset in range(position.low, position.high + 1):
                yield ("expire_offsets",), {}, Need(self.idle(offset), at_least=kept)

    def _needs_of_commits(self) -> Iterator[Requirement]:
        """Yield the need that a consumer which restarts at its old offset had no time to commit later ones (12, C2 C4).

        The length of that time decides something only where records get too old. What was committed can be lost as
        well.
        """
        deployment = self._pipeline.deployment
        may_be_missed = commits_may_be_missed(deployment) and not offsets_may_be_lost(deployment)
        if not reading_is_timed(deployment) or not may_be_missed:
            return
        within = until_committed(deployment)
        for offset in range(1, self._pipeline.consumer.position.high + 1):
            longest = Duration.of(self._times.application_restart)
            if replacements_of_consumer(deployment):
                longest = longest + self._until_replaced
            need = Need(self.uncommitted(offset), at_most=within + longest)
            yield ("restart_consumer",), {"committed_all": 0}, need
            yield ("restart_consumer_at_end",), {}, need

    def _consumer_back(self) -> Iterator[Clock]:
        """Yield the clocks of a group without a consumer, whose next one starts in time.

        Nothing is due where the consumer could start only from an offset that had to be committed before it crashed.
        """
        restarts = [action for action in self.named(RESTARTS_OF_CONSUMER) if not action.arguments.get("committed_all")]
        longest = Duration.of(self._times.application_restart)
        back = one_of("consumer_back", {}, "the consumer crashed", longest, restarts)
        undiscovered = self._pipeline.consumer.undiscovered
        if undiscovered is not None:
            within = until_discovered(self._pipeline.deployment) + self._joins
            found = one_of("discovering", {}, "the partition was added", within, restarts)
            yield replace(found, runs=And(found.runs, undiscovered.is_set))
        if self._only_crashes:
            yield back
            return
        yield replace(back, runs=And(back.runs, Not(self._is_replaced)))
        if not replacements_of_consumer(self._pipeline.deployment):
            return
        taken = one_of("taken_over", {}, "the group let a consumer go", self._until_replaced, restarts)
        yield replace(taken, runs=And(taken.runs, self._is_taken_over))

    @property
    def _until_replaced(self) -> Duration:
        """The longest time of a group without a consumer while another member takes over (semantics 12, C10 C11)."""
        return until_replaced(self._pipeline.deployment) + self._joins

    @property
    def _joins(self) -> Duration:
        """The longest time that a consumer takes to connect to its group and the leader, and to start."""
        deployment = self._pipeline.deployment
        return Duration.of(self._times.network, 3 * deployment.consumer.connects + REQUESTS_TO_START)

    @property
    def _only_crashes(self) -> bool:
        """The property of a deployment that only a crash leaves the partition without a consumer."""
        deployment = self._pipeline.deployment
        return not replacements_of_consumer(deployment) and deployment.application.group is not Group.UNAWARE

    @property
    def _is_taken_over(self) -> z3.BoolRef:
        """The condition that another member takes over, while the one before runs on."""
        history = self._pipeline.history
        return Or(*(one.is_set for one in present(history.thrown_out, history.handed_over)))

    @property
    def _is_replaced(self) -> z3.BoolRef:
        """The condition that nobody has the partition, and not because of a crash."""
        undiscovered = self._pipeline.consumer.undiscovered
        return self._is_taken_over if undiscovered is None else Or(self._is_taken_over, undiscovered.is_set)

    def _polling(self) -> Iterator[Clock]:
        """Yield the clocks of what the consumer can poll: without a poll for max.poll.interval.ms it is replaced (12).

        The longest time to the next poll depends on earlier outages of the consumer, or of brokers.
        """
        moves = ("reset_beyond_end", "reset_position", "pass_hole", "pass_over")
        polls = self.named(("poll", "hand_off", "seek_to_divergence", *moves))
        position = self._pipeline.consumer.position
        misled = without_news(self._pipeline.replicas, self._pipeline.controller.epoch.term)
        for name, within, so_far in self._pauses():
            for offset in range(position.low, position.high + 1):
                since = f"there was something to poll for a consumer at offset {offset}"
                clock = one_of(name, {"offset": offset}, since, within, polls)
                yield replace(clock, runs=And(clock.runs, position.term == offset, Not(misled), *so_far))

    def _pauses(self) -> Iterator[tuple[str, Duration, tuple[z3.BoolRef, ...]]]:
        """Yield, by the outages so far, the longest time to the consumer's next poll."""
        deployment, history = self._pipeline.deployment, self._pipeline.history
        consumer, brokers = history.consumer_was_out, history.brokers_were_out
        yield "polling", until_next_poll(deployment), ()
        if consumer is not None:
            within = until_next_poll(deployment, consumer_was_out=False)
            yield "polling_as_ever", within, (Not(consumer.is_set),)
        if brokers is not None:
            within = until_next_poll(deployment, brokers_were_out=False)
            yield "polling_at_the_leader", within, (Not(brokers.is_set),)
        if consumer is not None and brokers is not None:
            within = until_next_poll(deployment, consumer_was_out=False, brokers_were_out=False)
            yield "polling_undisturbed", within, (Not(consumer.is_set), Not(brokers.is_set))

    def idle(self, offset: int) -> Clock:
        """Return the clock of the time since the consumer's position became ``offset``: a commit of it is no older."""
        at = self._pipeline.consumer.position.term == offset
        return Clock("idle", {"offset": offset}, at, f"the consumer's position became {offset}")

    def uncommitted(self, offset: int) -> Clock:
        """Return the clock of the time since a poll returned what is before this position, where that is not committed.

        While a broker is away nothing is due: that broker can be the group's coordinator.
        """
        consumer = self._pipeline.consumer
        known = [consumer.committed.term != offset, consumer.committed.term != EXPIRED]
        ahead = And(consumer.position.term == offset, *known, *self._all_brokers_are_there())
        return Clock("uncommitted", {"offset": offset}, ahead, f"the consumer's position became {offset}")

    def _all_brokers_are_there(self) -> Iterator[z3.BoolRef]:
        if brokers_may_be_away(self._pipeline.deployment):
            for broker in self._pipeline.replicas:
                unfenced = self._pipeline.controller.unfenced[broker.number].is_set
                yield And(broker.up.is_set, Not(broker.cut_off.is_set), unfenced)

    def with_worker(self, offset: int) -> Clock:
        """Return the clock of the time since a record was handed to a worker."""
        queued = self._pipeline.consumer.queued[offset]
        since = f"the record at offset {offset} was handed to a worker"
        return Clock("with_worker", {"offset": offset}, queued.term > 0, since)

    def _replacing(self) -> Clock:
        """Return the clock of the group's wait for a silent member: its session, or max.poll.interval.ms."""
        thrown_out = self._pipeline.history.thrown_out
        assert thrown_out is not None
        without = And(thrown_out.is_set, Not(self._pipeline.consumer.running.is_set))
        return Clock("replacing", {}, without, "the consumer fell silent")

    def consumer_away(self) -> Clock:
        """Return the clock of the time since the group lost its consumer."""
        return Clock("consumer_away", {}, Not(self._pipeline.consumer.running.is_set), "the consumer crashed")

    def _crashed(self) -> Clock:
        """Return the clock of the time since the consumer crashed."""
        away = self.consumer_away()
        if self._only_crashes:
            return away
        return Clock("crashed", {}, And(away.runs, Not(self._is_replaced)), away.since)
