"""What a pass takes for granted: what no run of the model shows, and could violate the property.

Each is a limit of the model that these settings come near to. A verdict names those that matter to it; how far the
model goes otherwise stands in docs/semantics.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from model.deployment.choices import Acks, OnProcessingError, Sink
from model.deployment.deployment import Deployment
from model.durations import Duration
from model.faults import BREAKS_CONNECTIONS, ENDS_PRODUCER, FALLS_SILENT, LOSES_REQUESTS, MOVES_LEADER, Fault
from model.state import UNLIMITED_ATTEMPTS

READING = frozenset({"no-skip", "no-loss", "no-reprocessing", "exactly-once-effect", "processing-order"})
"""The properties of what a consumer makes of the log."""

ORDER = frozenset({"log-order", "processing-order"})
DUPLICATES = frozenset({"no-log-duplicate", "no-reprocessing", "exactly-once-effect"})


@dataclass(frozen=True)
class Granted:
    """Something that passes take for granted ``where`` it could be otherwise; of these ``properties``, None: of all.

    ``only_in_time``: what holds whatever the timing does not rest on it.
    """

    text: str
    where: Callable[[Deployment], bool]
    properties: frozenset[str] | None = None
    only_in_time: bool = False


def _heartbeats_come_late(deployment: Deployment) -> bool:
    times = deployment.durations
    return _may_reach(times.broker_session.least, times.heartbeat + Duration.of(times.network))


def _fetches_come_late(deployment: Deployment) -> bool:
    times = deployment.durations
    return deployment.replicas > 1 and _may_reach(times.replica_lag.least, times.between_fetches)


def _sends_take_long(deployment: Deployment) -> bool:
    times = deployment.durations
    answered = Duration.of(times.network, 2)
    if deployment.acks is Acks.ALL and deployment.replicas > 1:
        answered = answered + times.between_fetches * 2
    connects = Duration.of(times.network, deployment.producer_connects)
    connected = Duration.of(times.linger) + Duration.of(times.metadata) + connects
    waits_for_answers = deployment.acks is not Acks.NONE
    return _may_reach(times.delivery_timeout.least, connected + answered) or (
        waits_for_answers and _may_reach(times.request_timeout.least, answered)
    )


def _retries_may_run_out(deployment: Deployment) -> bool:
    times = deployment.durations
    if deployment.acks is Acks.NONE or deployment.rewinds or deployment.retries <= UNLIMITED_ATTEMPTS:
        return False
    longest = times.delivery_timeout.most
    return longest is None or times.retries_take_at_least(deployment.retries) < longest


def _errors_may_come_at_the_end(deployment: Deployment) -> bool:
    renumbers = deployment.idempotence and not (
        deployment.drains or deployment.numbers_ahead or deployment.takes_new_ids or deployment.transactional
    )
    renumbers = renumbers and not deployment.sender.late_errors_count
    ends = deployment.durations.delivery_timeout.most is not None and deployment.bounds.records > 1
    return renumbers and ends and bool((BROKER_FAULTS | FALLS_SILENT | LOSES_REQUESTS) & deployment.possible_faults)


def _polls_too_late(deployment: Deployment) -> bool:
    latest = deployment.durations.poll_interval.most
    return latest is None or latest > deployment.durations.max_poll.least


def _may_reach(most: int, needed: Duration) -> bool:
    longest = needed.at_most()
    return longest is None or longest >= most


def _logs_are_cut_short(deployment: Deployment) -> bool:
    possible = deployment.possible_faults
    return bool(FALLS_SILENT & possible) or (deployment.unclean_leader_election and bool(possible & BROKER_FAULTS))


def _compacts_transactions(deployment: Deployment) -> bool:
    return deployment.compaction is not None and deployment.transactional is not None


def _stores_offsets_itself(deployment: Deployment) -> bool:
    by_itself = not deployment.commit.is_by_client or deployment.sink is Sink.TRANSACTIONAL
    return by_itself and deployment.outages_of_consumer > 0 and _logs_are_cut_short(deployment)


BROKER_FAULTS = (BREAKS_CONNECTIONS - FALLS_SILENT) | MOVES_LEADER | {Fault.CUT_OFF, Fault.SLOW_FOLLOWER}
"""The faults by which a leader may be replaced, or a follower fall behind, that lose nothing by themselves."""

TAKE_MARKERS_FOR_RECORDS = ((3, 1, 0), (3, 1, 1), (3, 2, 0))
"""The releases in which the cleaner looks for the keys of markers as well, of those whose transactions are modelled."""

READ_IN_TIME = Granted(
    "records are taken to be read and processed before retention.ms deletes them, however long brokers are away and "
    "workers take",
    lambda deployment: deployment.reading_in_time_is_assumed,
)

READ_IN_SIZE = Granted(
    "records are taken to be read and processed before retention.bytes deletes them: how soon the log gets so large no "
    "file tells",
    lambda deployment: deployment.deletes_for_size,
)

OF_READING = (READ_IN_TIME, READ_IN_SIZE)
"""What matters wherever a property's part of the system reads."""

HEARD_IN_TIME = Granted(
    "brokers that run are taken to be heard of before their session is over, although their session is no longer "
    "than the pause between two heartbeats and one message take",
    _heartbeats_come_late,
)

FETCHED_IN_TIME = Granted(
    "followers that fetch are taken to stay in the ISR, although replica.lag.time.max.ms is no longer than may lie "
    "between two fetches",
    _fetches_come_late,
)

SENT_IN_TIME = Granted(
    "sends that nothing holds up are taken to succeed, although delivery.timeout.ms or request.timeout.ms is no longer "
    "than connecting, sending and replicating may take",
    _sends_take_long,
)

DELETES_READ_IN_TIME = Granted(
    "tombstones are taken to be read before delete.retention.ms is over, however often and long clients are away",
    lambda deployment: deployment.deletes_in_time_are_assumed,
    READING,
)

POLLS_WAIT = Granted(
    "poll() is taken to wait until the consumer has joined its group and fetched: with a shorter timeout each step of "
    "that takes a poll, and poll_interval between two of them",
    lambda deployment: deployment.reading_is_timed and deployment.outages_of_consumer > 0,
    READING,
    only_in_time=True,
)

OFFSETS_HAVE_EPOCHS = Granted(
    "offsets that the application stores are taken to carry leader epochs, so that a log that was cut short is noticed",
    _stores_offsets_itself,
    READING,
)

GOES_BACK_TO_THE_END = Granted(
    "a consumer beyond the end of a log that was cut short within one leader epoch is taken to go back to that end, "
    "although Kafka resets it by auto.offset.reset",
    lambda deployment: deployment.restart_before_fenced and bool(FALLS_SILENT & deployment.possible_faults),
    READING,
)

FORWARDED_IN_ORDER = Granted(
    "a record that is written to a retry topic is taken to be processed at once, although others may overtake it there",
    lambda deployment: (
        deployment.on_processing_error is OnProcessingError.FORWARD
        and Fault.FAILED_PROCESSING in deployment.possible_faults
    ),
    frozenset({"processing-order"}),
)

RETRIES_LAST = Granted(
    "retries are taken not to run out before delivery.timeout.ms does, although there are so few, or they follow each "
    "other so closely, that they could",
    _retries_may_run_out,
)

CAUGHT_UP_SOON = Granted(
    "a replica that starts with an empty disk is taken to catch up as soon as the records that are modelled are "
    "copied, however much else the partition holds",
    lambda deployment: (
        Fault.REASSIGNMENT in deployment.possible_faults
        or (Fault.DISK_LOSS in deployment.possible_faults and deployment.replicas > 1)
    ),
    only_in_time=True,
)

EPOCHS_SURVIVE = Granted(
    "brokers of 3.7 are taken to know their leader epochs after a power loss, although they do not force the file of "
    "these to disk when they truncate (KAFKA-16541)",
    lambda deployment: deployment.kafka[:2] == (3, 7) and Fault.POWER_LOSS in deployment.possible_faults,
)

DELETES_WHAT_IS_COMMITTED = Granted(
    "brokers of 0.11 are taken to be of 0.11.0.1 or later: in 0.11.0.0 a leader may delete records above its high "
    "watermark, and its followers then fetch no more until they are restarted (KAFKA-5634)",
    lambda deployment: deployment.kafka[:2] == (0, 11) and deployment.records_expire_unread and deployment.replicas > 1,
)

REPLACED = Granted(
    "a consumer that does not poll for max.poll.interval.ms is taken to be replaced by another member of its group",
    lambda deployment: deployment.reading_is_timed and _polls_too_late(deployment),
    READING,
    only_in_time=True,
)

ERRORS_BEFORE_THE_END = Granted(
    "no error is taken to reach an idempotent producer in the very moment when delivery.timeout.ms is over: it would "
    "bump its epoch, and what waits to be retried could be stored twice",
    _errors_may_come_at_the_end,
    DUPLICATES | ORDER,
)

PARTITIONS_APART = Granted(
    "no other partition is taken to fail that the producer sends to, which would end the sequence numbers of this one "
    "as well: name the fault failure-elsewhere for what comes of that",
    lambda deployment: (
        deployment.idempotence
        and (deployment.drains or deployment.numbers_ahead or deployment.sender.keeps_numbers)
        and deployment.transactional is None
        and Fault.FAILURE_ELSEWHERE not in deployment.possible_faults
    ),
    DUPLICATES | ORDER | {"no-dropped-record", "no-gap"},
)

REMEMBERED = Granted(
    "brokers are taken to remember the producer for as long as they can be away: its deliveries have no end, and after "
    "producer.id.expiration.ms what is stored and retried is stored again",
    lambda deployment: (
        deployment.drains
        and deployment.durations.delivery_timeout.most is None
        and deployment.durations.producer_ids_kept.most is not None
        and bool((BROKER_FAULTS | FALLS_SILENT) & deployment.possible_faults)
    ),
    DUPLICATES | ORDER,
)


SENDS_OFTEN = Granted(
    "the producer is taken to send, and to retry, more often than retention.ms deletes records: brokers before 2.5 "
    "forget it with the last record that they delete of it, and it begins to number from 0 again",
    lambda deployment: deployment.sending_in_time_is_assumed,
)

KNOWN_AFTER_DELETION = Granted(
    "brokers are taken to know the producer when they start or copy a log, although its records may be deleted by "
    "then: of one that they do not know they take any number, and two records on their way could change places",
    lambda deployment: (
        deployment.idempotence
        and deployment.transactional is None
        and deployment.replicas > 1
        and deployment.records_expire_unread
        and not deployment.brokers_forget_deleted
        and bool((BREAKS_CONNECTIONS | {Fault.REASSIGNMENT}) & deployment.possible_faults)
    ),
    DUPLICATES | ORDER,
)

ONE_CONNECTION = Granted(
    "requests of a producer with acks=0 are taken to be executed in order, also over a new connection",
    lambda deployment: deployment.acks is Acks.NONE and bool(LOSES_REQUESTS & deployment.possible_faults),
    ORDER,
)

INPUT_LASTS = Granted(
    "what the producer application reads from is taken to keep the position that it commits there, and to give it what "
    "is behind that again, in the same order",
    lambda deployment: deployment.on_restart.has_position and bool(ENDS_PRODUCER & deployment.possible_faults),
    frozenset({"no-silent-loss", "no-loss", "no-dropped-record"}) | DUPLICATES | ORDER,
)

COORDINATOR_LASTS = Granted(
    "the coordinator of transactions is taken to keep what it decides: name the fault lost-transaction-state for what "
    "happens if __transaction_state loses it",
    lambda deployment: deployment.transactional is not None and not deployment.transaction_state_may_be_lost,
)

MARKERS_IN_TIME = Granted(
    "the coordinator of transactions is taken to be answered in the end, and no request of its for a marker to be late",
    lambda deployment: deployment.transactional is not None,
)

MARKERS_SEEN = Granted(
    "brokers are taken to have the marker of each transaction before the cleaner removes it, delete.retention.ms after "
    "it first passed over it, however often they are away",
    lambda deployment: (
        _compacts_transactions(deployment)
        and deployment.replicas > 1
        and not deployment.drops_markers
        and bool(deployment.faults.any_number)
    ),
)

KEYS_OF_THEIR_OWN = Granted(
    "no record is taken to have a key of four bytes that are the number 0 or 1: brokers before 3.1.2 and 3.2.1 take a "
    "marker for an older record with that key, and may remove it too early (KAFKA-14055)",
    lambda deployment: _compacts_transactions(deployment) and deployment.kafka in TAKE_MARKERS_FOR_RECORDS,
)

COMMITS_LAST = Granted(
    "the brokers are taken to keep what the group commits: name the fault lost-offsets for what happens if the topic "
    "of offsets loses it",
    lambda deployment: deployment.brokers_keep_offsets and Fault.LOST_OFFSETS not in deployment.possible_faults,
    READING,
)

RESULTS_LAST = Granted(
    "the topic that results are written to is taken to keep what a transaction committed, whoever reads results to "
    "read with isolation.level=read_committed, and no request of the producer of results to be late",
    lambda deployment: deployment.sink is Sink.KAFKA,
    READING,
)

EVERYTHING = (
    HEARD_IN_TIME,
    FETCHED_IN_TIME,
    SENT_IN_TIME,
    OFFSETS_HAVE_EPOCHS,
    GOES_BACK_TO_THE_END,
    ERRORS_BEFORE_THE_END,
    PARTITIONS_APART,
    REMEMBERED,
    SENDS_OFTEN,
    KNOWN_AFTER_DELETION,
    ONE_CONNECTION,
    FORWARDED_IN_ORDER,
    RETRIES_LAST,
    CAUGHT_UP_SOON,
    EPOCHS_SURVIVE,
    DELETES_WHAT_IS_COMMITTED,
    REPLACED,
    POLLS_WAIT,
    INPUT_LASTS,
    COORDINATOR_LASTS,
    MARKERS_IN_TIME,
    MARKERS_SEEN,
    KEYS_OF_THEIR_OWN,
    COMMITS_LAST,
    DELETES_READ_IN_TIME,
    RESULTS_LAST,
)
"""All of it but what is :data:`OF_READING`."""


def taken_for_granted(deployment: Deployment, name: str, *, reads: bool, in_time: bool) -> Iterator[str]:
    """In words, for a pass of the property ``name``.

    ``reads``: its part of the system has the consumer's position. ``in_time``: it rests on how long things take.
    """
    yield from (one.text for one in OF_READING if reads and one.where(deployment))
    for one in EVERYTHING:
        asked = (one.properties is None or name in one.properties) and (in_time or not one.only_in_time)
        if asked and one.where(deployment):
            yield one.text
