"""Modelling assumptions behind a pass: events that no run of the model shows, and that could violate the property.

Each assumption is a limit of the model that these settings come near to. A verdict lists the assumptions that matter to
its property; docs/semantics.md describes the other limits of the model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from proofka.model.deployment.choices import Acks, OnProcessingError, Sink
from proofka.model.deployment.deployment import Deployment
from proofka.model.deployment.implied.cleaning import deletes_in_time_are_assumed, drops_markers, reading_is_timed
from proofka.model.deployment.implied.commits import brokers_keep_offsets
from proofka.model.deployment.implied.coordination import coordinator_outage_is_limited, transaction_state_may_be_lost
from proofka.model.deployment.implied.expiry import reading_in_time_is_assumed, records_expire_unread
from proofka.model.deployment.implied.forgetting import brokers_forget_deleted, sending_in_time_is_assumed
from proofka.model.deployment.implied.outages import may_return_unfenced, modelled_brokers, outages_of_consumer
from proofka.model.deployment.known_properties import properties_about
from proofka.model.durations import Duration
from proofka.model.faults import BREAKS_CONNECTIONS, ENDS_PRODUCER, FALLS_SILENT, LOSES_REQUESTS, OF_BROKERS, Fault
from proofka.model.recovery.choosing import recovery_of
from proofka.model.state.pipeline import UNLIMITED_ATTEMPTS, counts_retries
from proofka.properties.modelling_assumption import AssumptionKind, ModellingAssumption

READING = properties_about("reading")
"""The properties of the records that a consumer reads and processes."""

ORDER, DUPLICATES = properties_about("order"), properties_about("duplicates")


@dataclass(frozen=True)
class Granted:
    """A modelling assumption of passes, for deployments ``where`` the assumption could be wrong.

    ``kind``: whether the deployment or the model decides that the assumption is right. ``properties``: the properties
    concerned; None means all. ``only_in_time``: passes that hold without timing do not need the assumption.
    """

    text: str
    where: Callable[[Deployment], bool]
    kind: AssumptionKind
    properties: frozenset[str] | None = None
    only_in_time: bool = False


def _heartbeats_come_late(deployment: Deployment) -> bool:
    times = deployment.durations
    return _may_reach(times.broker_session.least, times.heartbeat + Duration.of(times.network))


def _fetches_come_late(deployment: Deployment) -> bool:
    times = deployment.durations
    return deployment.cluster.replicas > 1 and _may_reach(times.replica_lag.least, times.between_fetches)


def _sends_take_long(deployment: Deployment) -> bool:
    times = deployment.durations
    answered = Duration.of(times.network, 2)
    if deployment.producer.acks is Acks.ALL and deployment.cluster.replicas > 1:
        answered = answered + times.between_fetches * 2
    connects = Duration.of(times.network, deployment.producer.connects)
    connected = Duration.of(times.linger) + Duration.of(times.metadata) + connects
    waits_for_answers = deployment.producer.acks is not Acks.NONE
    return _may_reach(times.delivery_timeout.least, connected + answered) or (
        waits_for_answers and _may_reach(times.request_timeout.least, answered)
    )


def _retries_may_run_out(deployment: Deployment) -> bool:
    times = deployment.durations
    if deployment.producer.acks is Acks.NONE or deployment.producer.retries <= UNLIMITED_ATTEMPTS:
        return False
    longest = times.delivery_timeout.most
    in_time = longest is None or times.retries_take_at_least(deployment.producer.retries) < longest
    return in_time and recovery_of(deployment).retries_run_out


def _unverified_records_use_up_retries(deployment: Deployment) -> bool:
    transactional = deployment.producer.transactional
    verified = transactional is not None and transactional.verified
    few = verified and counts_retries(deployment) and recovery_of(deployment).retries_run_out
    return few and bool(OF_BROKERS & deployment.faults.possible)


def _errors_may_come_at_the_end(deployment: Deployment) -> bool:
    renumbers = recovery_of(deployment).late_errors_renumber and not deployment.producer.sender.late_errors_count
    ends = deployment.durations.delivery_timeout.most is not None and deployment.bounds.records > 1
    return renumbers and ends and bool((BROKER_FAULTS | FALLS_SILENT | LOSES_REQUESTS) & deployment.faults.possible)


def _polls_too_late(deployment: Deployment) -> bool:
    latest = deployment.durations.poll_interval.most
    return latest is None or latest > deployment.durations.max_poll.least


def _may_reach(most: int, needed: Duration) -> bool:
    longest = needed.at_most()
    return longest is None or longest >= most


def _logs_are_cut_short(deployment: Deployment) -> bool:
    possible = deployment.faults.possible
    return bool(FALLS_SILENT & possible) or (
        deployment.cluster.unclean_leader_election and bool(possible & BROKER_FAULTS)
    )


def _compacts_transactions(deployment: Deployment) -> bool:
    return deployment.cluster.compaction is not None and deployment.producer.transactional is not None


def _stores_offsets_itself(deployment: Deployment) -> bool:
    by_itself = not deployment.application.commit.is_by_client or deployment.application.sink is Sink.TRANSACTIONAL
    return by_itself and outages_of_consumer(deployment) > 0 and _logs_are_cut_short(deployment)


BROKER_FAULTS = OF_BROKERS - FALLS_SILENT
"""Faults that can replace a leader or delay a follower, and that lose nothing by themselves."""

TAKE_MARKERS_FOR_RECORDS = ((3, 1, 0), (3, 1, 1), (3, 2, 0))
"""Releases, among those with modelled transactions, in which the cleaner also looks for the keys of markers."""

REGISTERS_SHUTDOWNS = (4, 0)
"""The first release that requires a metadata.version of 3.3-IV3 or later."""

READ_IN_TIME = Granted(
    "assumes that records are read and processed before retention.ms deletes them, however long brokers are away "
    "and workers take",
    lambda deployment: reading_in_time_is_assumed(deployment),
    kind=AssumptionKind.OF_DEPLOYMENT,
)

READ_IN_SIZE = Granted(
    "assumes that records are read and processed before retention.bytes deletes them: no file tells how soon the "
    "log reaches this size",
    lambda deployment: deployment.cluster.deletes_for_size,
    kind=AssumptionKind.OF_DEPLOYMENT,
)

OF_READING = (READ_IN_TIME, READ_IN_SIZE)
"""Modelling assumptions of every property whose part of the system has the consumer's position."""

HEARD_IN_TIME = Granted(
    "assumes that the session of a running broker does not expire, although the session is no longer than the "
    "pause between two heartbeats plus the time of one message",
    _heartbeats_come_late,
    kind=AssumptionKind.OF_DEPLOYMENT,
)

FETCHED_IN_TIME = Granted(
    "assumes that followers that fetch stay in the ISR, although replica.lag.time.max.ms is no longer than the "
    "possible time between two fetches",
    _fetches_come_late,
    kind=AssumptionKind.OF_DEPLOYMENT,
)

SENT_IN_TIME = Granted(
    "assumes that undisturbed sends succeed, although delivery.timeout.ms or request.timeout.ms is no longer than"
    " connecting, sending and replicating can take",
    _sends_take_long,
    kind=AssumptionKind.OF_DEPLOYMENT,
)

DELETES_READ_IN_TIME = Granted(
    "assumes that tombstones are read before delete.retention.ms ends, however often and long clients are away",
    lambda deployment: deletes_in_time_are_assumed(deployment),
    kind=AssumptionKind.OF_DEPLOYMENT,
    properties=READING,
)

POLLS_WAIT = Granted(
    "assumes that poll() waits until the consumer has joined its group and fetched: with a shorter timeout each "
    "of these steps takes a poll, with poll_interval between two polls",
    lambda deployment: reading_is_timed(deployment) and outages_of_consumer(deployment) > 0,
    kind=AssumptionKind.OF_DEPLOYMENT,
    properties=READING,
    only_in_time=True,
)

OFFSETS_HAVE_EPOCHS = Granted(
    "assumes that offsets stored by the application carry leader epochs, so that the consumer detects a truncated log",
    _stores_offsets_itself,
    kind=AssumptionKind.OF_DEPLOYMENT,
    properties=READING,
)

GOES_BACK_TO_THE_END = Granted(
    "assumes that a consumer beyond the end of a log that was truncated within one leader epoch goes back to that"
    " end, although Kafka resets the consumer by auto.offset.reset",
    lambda deployment: may_return_unfenced(deployment) and bool(FALLS_SILENT & deployment.faults.possible),
    kind=AssumptionKind.OF_MODEL,
    properties=READING,
)

FORWARDED_IN_ORDER = Granted(
    "assumes that a record written to a retry topic is processed at once, although other records can overtake it there",
    lambda deployment: (
        deployment.application.on_processing_error is OnProcessingError.FORWARD
        and Fault.FAILED_PROCESSING in deployment.faults.possible
    ),
    kind=AssumptionKind.OF_MODEL,
    properties=READING & ORDER,
)

RETRIES_LAST = Granted(
    "assumes that retries do not run out before delivery.timeout.ms ends, although they are so few, or follow "
    "each other so closely, that they could",
    _retries_may_run_out,
    kind=AssumptionKind.OF_DEPLOYMENT,
)

COORDINATOR_IS_ASKED = Granted(
    "assumes that a leader can always ask the transaction coordinator: a leader that cannot ask refuses the record, "
    "each refusal uses up one of the few retries, and the send fails with fewer faults",
    _unverified_records_use_up_retries,
    kind=AssumptionKind.OF_DEPLOYMENT,
)

CAUGHT_UP_SOON = Granted(
    "assumes that a replica that starts with an empty disk catches up as soon as the modelled records are copied,"
    " however much else the partition holds",
    lambda deployment: (
        Fault.REASSIGNMENT in deployment.faults.possible
        or (Fault.DISK_LOSS in deployment.faults.possible and deployment.cluster.replicas > 1)
    ),
    kind=AssumptionKind.OF_MODEL,
    only_in_time=True,
)

EPOCHS_SURVIVE = Granted(
    "assumes that brokers of 3.7 know their leader epochs after a power loss, although they do not force the file"
    " of leader epochs to disk when they truncate (KAFKA-16541)",
    lambda deployment: deployment.cluster.kafka[:2] == (3, 7) and Fault.POWER_LOSS in deployment.faults.possible,
    kind=AssumptionKind.OF_MODEL,
)

FETCHES_NAME_INCARNATIONS = Granted(
    "assumes the metadata.version of the brokers' release: with one before 3.5-IV1, which an upgraded cluster keeps"
    " until somebody raises it, a replica that lost its log can join the ISR for what it fetched before (KIP-903)",
    lambda deployment: (
        not deployment.cluster.old_fetches_count
        and modelled_brokers(deployment) > 1
        and bool(FALLS_SILENT & deployment.faults.possible)
    ),
    kind=AssumptionKind.OF_DEPLOYMENT,
)

SHUTDOWNS_ARE_REGISTERED = Granted(
    "assumes the metadata.version of the brokers' release: with one before 3.3-IV3, which an upgraded cluster keeps"
    " until somebody raises it, a broker that is being stopped can join the ISR again (KIP-841)",
    lambda deployment: (
        not deployment.cluster.zookeeper
        and deployment.cluster.kafka < REGISTERS_SHUTDOWNS
        and modelled_brokers(deployment) > 1
        and Fault.SHUTDOWN in deployment.faults.possible
    ),
    kind=AssumptionKind.OF_DEPLOYMENT,
)

DELETES_WHAT_IS_COMMITTED = Granted(
    "assumes that brokers of 0.11 are of 0.11.0.1 or later: in 0.11.0.0 a leader can delete records above its "
    "high watermark, and its followers then fetch no more until they are restarted (KAFKA-5634)",
    lambda deployment: (
        deployment.cluster.kafka[:2] == (0, 11)
        and records_expire_unread(deployment)
        and deployment.cluster.replicas > 1
    ),
    kind=AssumptionKind.OF_DEPLOYMENT,
)

REPLACED = Granted(
    "assumes that another member of the group replaces a consumer that does not poll for max.poll.interval.ms",
    lambda deployment: reading_is_timed(deployment) and _polls_too_late(deployment),
    kind=AssumptionKind.OF_DEPLOYMENT,
    properties=READING,
    only_in_time=True,
)

ERRORS_BEFORE_THE_END = Granted(
    "assumes that no error reaches an idempotent producer at the moment when delivery.timeout.ms ends: the "
    "producer would bump its epoch, and records that wait to be retried could be stored twice",
    _errors_may_come_at_the_end,
    kind=AssumptionKind.OF_MODEL,
    properties=DUPLICATES | ORDER,
)

PARTITIONS_APART = Granted(
    "assumes that no other partition that the producer sends to fails, which would end the sequence numbers of "
    "this partition as well: name the fault failure-elsewhere to include such failures",
    lambda deployment: (
        recovery_of(deployment).suffers_elsewhere
        and deployment.producer.transactional is None
        and Fault.FAILURE_ELSEWHERE not in deployment.faults.possible
    ),
    kind=AssumptionKind.OF_DEPLOYMENT,
    properties=DUPLICATES | ORDER | properties_about("abandoned-sends"),
)

REMEMBERED = Granted(
    "assumes that brokers remember the producer as long as they can be away: its deliveries have no time limit, "
    "and after producer.id.expiration.ms a retry of a stored record is stored again",
    lambda deployment: (
        recovery_of(deployment).retries_at_any_time
        and deployment.durations.delivery_timeout.most is None
        and deployment.durations.producer_ids_kept.most is not None
        and bool((BROKER_FAULTS | FALLS_SILENT) & deployment.faults.possible)
    ),
    kind=AssumptionKind.OF_DEPLOYMENT,
    properties=DUPLICATES | ORDER,
)


SENDS_OFTEN = Granted(
    "assumes that the producer sends, and retries, more often than retention.ms deletes records: brokers before "
    "2.5 forget a producer when they delete its last record, and the producer then numbers from 0 again",
    lambda deployment: sending_in_time_is_assumed(deployment),
    kind=AssumptionKind.OF_DEPLOYMENT,
)

KNOWN_AFTER_DELETION = Granted(
    "assumes that brokers know the producer when they start or copy a log, although its records can be deleted by"
    " then: brokers accept any number from an unknown producer, and two records in flight could change places",
    lambda deployment: (
        deployment.producer.idempotence
        and deployment.producer.transactional is None
        and deployment.cluster.replicas > 1
        and records_expire_unread(deployment)
        and not brokers_forget_deleted(deployment)
        and bool((BREAKS_CONNECTIONS | {Fault.REASSIGNMENT}) & deployment.faults.possible)
    ),
    kind=AssumptionKind.OF_MODEL,
    properties=DUPLICATES | ORDER,
)

ONE_CONNECTION = Granted(
    "assumes that requests of a producer with acks=0 are executed in order, also over a new connection",
    lambda deployment: deployment.producer.acks is Acks.NONE and bool(LOSES_REQUESTS & deployment.faults.possible),
    kind=AssumptionKind.OF_MODEL,
    properties=ORDER,
)

INPUT_LASTS = Granted(
    "assumes that the input of the producer application keeps the position that the application commits there, "
    "and gives it the records behind that position again, in the same order",
    lambda deployment: (
        deployment.application.on_restart.has_position and bool(ENDS_PRODUCER & deployment.faults.possible)
    ),
    kind=AssumptionKind.OF_DEPLOYMENT,
    properties=properties_about("delivery") | DUPLICATES | ORDER,
)

COORDINATOR_LASTS = Granted(
    "assumes that the transaction coordinator keeps its decisions: name the fault lost-transaction-state to "
    "include their loss from __transaction_state",
    lambda deployment: deployment.producer.transactional is not None and not transaction_state_may_be_lost(deployment),
    kind=AssumptionKind.OF_DEPLOYMENT,
)

MARKERS_IN_TIME = Granted(
    "assumes that the transaction coordinator is answered in the end, and that none of its requests for a marker "
    "is late",
    lambda deployment: deployment.producer.transactional is not None,
    kind=AssumptionKind.OF_MODEL,
)

COORDINATOR_STAYS = Granted(
    "assumes that after a fault __transaction_state does not move once more by itself, as with "
    "auto.leader.rebalance.enable it can, and that a broker that is back is in sync there before the next fault",
    lambda deployment: (
        deployment.producer.transactional is not None
        and coordinator_outage_is_limited(deployment)
        and bool(OF_BROKERS & deployment.faults.possible)
    ),
    kind=AssumptionKind.OF_DEPLOYMENT,
)

MARKERS_SEEN = Granted(
    "assumes that brokers have the marker of each transaction before the cleaner removes the marker, "
    "delete.retention.ms after the cleaner first passed over it, however often brokers are away",
    lambda deployment: (
        _compacts_transactions(deployment)
        and deployment.cluster.replicas > 1
        and not drops_markers(deployment)
        and bool(deployment.faults.any_number)
    ),
    kind=AssumptionKind.OF_DEPLOYMENT,
)

KEYS_OF_THEIR_OWN = Granted(
    "assumes that no record has a key of four bytes that are the number 0 or 1: brokers before 3.1.2 and 3.2.1 "
    "mistake a marker for an older record with that key, and can remove the marker too early (KAFKA-14055)",
    lambda deployment: _compacts_transactions(deployment) and deployment.cluster.kafka in TAKE_MARKERS_FOR_RECORDS,
    kind=AssumptionKind.OF_DEPLOYMENT,
)

COMMITS_LAST = Granted(
    "assumes that the brokers keep the committed offsets of the group: name the fault lost-offsets to include "
    "their loss from the topic of offsets",
    lambda deployment: brokers_keep_offsets(deployment) and Fault.LOST_OFFSETS not in deployment.faults.possible,
    kind=AssumptionKind.OF_DEPLOYMENT,
    properties=READING,
)

RESULTS_LAST = Granted(
    "assumes that the topic of the results keeps committed transactions, that readers of results use "
    "isolation.level=read_committed, and that no request of the producer of results is late",
    lambda deployment: deployment.application.sink is Sink.KAFKA,
    kind=AssumptionKind.OF_DEPLOYMENT,
    properties=READING,
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
    COORDINATOR_IS_ASKED,
    CAUGHT_UP_SOON,
    EPOCHS_SURVIVE,
    FETCHES_NAME_INCARNATIONS,
    SHUTDOWNS_ARE_REGISTERED,
    DELETES_WHAT_IS_COMMITTED,
    REPLACED,
    POLLS_WAIT,
    INPUT_LASTS,
    COORDINATOR_LASTS,
    MARKERS_IN_TIME,
    COORDINATOR_STAYS,
    MARKERS_SEEN,
    KEYS_OF_THEIR_OWN,
    COMMITS_LAST,
    DELETES_READ_IN_TIME,
    RESULTS_LAST,
)
"""All modelling assumptions except :data:`OF_READING`."""


def assumptions_behind(
    deployment: Deployment, name: str, *, reads: bool, in_time: bool
) -> Iterator[ModellingAssumption]:
    """Yield the modelling assumptions behind a pass of the property ``name``, in the order of notes.

    ``reads``: the property's part of the system has the consumer's position. ``in_time``: the pass rests on timing.
    """
    granted = [one for one in OF_READING if reads]
    for one in EVERYTHING:
        asked = (one.properties is None or name in one.properties) and (in_time or not one.only_in_time)
        granted += [one] if asked else []
    yield from (ModellingAssumption(one.text, one.kind) for one in granted if one.where(deployment))
