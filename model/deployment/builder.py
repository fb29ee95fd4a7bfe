"""Building an effective :class:`Deployment` from the values of files and options."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any, TypeVar

from proofka.model.deployment import (
    broker_rules,
    consumer_rules,
    deletion_rules,
    group_rules,
    producer_faults,
    producer_rules,
    transaction_rules,
)
from proofka.model.deployment.aborted_reads import hands_over_aborted
from proofka.model.deployment.accepting import accept, components_of
from proofka.model.deployment.application import Application
from proofka.model.deployment.assumptions import Assumed, read_application
from proofka.model.deployment.bounds import read_bounds
from proofka.model.deployment.broker_rules import BrokerSettings, BrokerValues, apply_broker_rules
from proofka.model.deployment.budget import kinds_by_default, read_budget
from proofka.model.deployment.choices import Commit, OffsetReset, Sink
from proofka.model.deployment.clients import Client
from proofka.model.deployment.cluster import Cluster
from proofka.model.deployment.connecting import messages_to_connect
from proofka.model.deployment.consumer import Consumer
from proofka.model.deployment.consumer_rules import ConsumerValues
from proofka.model.deployment.deployment import Deployment
from proofka.model.deployment.durations import DurationValues, read_durations
from proofka.model.deployment.effective import Effective, Read
from proofka.model.deployment.era import Behaviour, Era, era_of
from proofka.model.deployment.explored import Bounds
from proofka.model.deployment.follower_reads import check_follower_reads, sent_to_followers
from proofka.model.deployment.given import GivenDeployment
from proofka.model.deployment.group_rules import applies_offsets_late, rebalancing_of
from proofka.model.deployment.hiding import printable, shown_value
from proofka.model.deployment.libraries import library
from proofka.model.deployment.listed import ignored_of, notes_of, settings_of
from proofka.model.deployment.problems import Problems
from proofka.model.deployment.producer import Producer
from proofka.model.deployment.producer_rules import ProducerValues
from proofka.model.deployment.profiles import intentions_of
from proofka.model.deployment.rebalancing import Rebalancing
from proofka.model.deployment.release import JAVA
from proofka.model.deployment.required_properties import read_required, requiring
from proofka.model.deployment.sender import ClientRecovery
from proofka.model.deployment.setting import Setting
from proofka.model.deployment.transactional import Transactional
from proofka.model.faults import Fault

_Record = TypeVar("_Record", BrokerSettings, Behaviour)


def build(given: GivenDeployment) -> Deployment:
    """Apply the defaults of the release and the rules of client and broker; raise DeploymentError if a rule refuses a
    value."""
    effective = _effective(_read(given))
    deployment = _deployment(effective)
    _check_deletion(effective, deployment)
    return replace(_with_follower_reads(effective, deployment), given=given)


def _read(given: GivenDeployment) -> Read:
    """Accept the settings of each component, each value by itself."""
    components = components_of(given)
    topic, broker, producer, consumer = accept(given, components.sections)
    return Read(given, components, topic, broker, producer, consumer)


def _effective(read: Read) -> Effective:
    """Apply all rules. Raise DeploymentError with the first error of brokers, of the producer and of the consumer."""
    given = read.given
    era = era_of(read.broker.section, read.topic.section)
    problems = Problems()
    with problems.noted():
        broker = apply_broker_rules(read.topic.section, read.broker.section, era, given.elr)
    with problems.noted():
        sending = _producer(read, era)
    with problems.noted():
        reading, rebalancing = _consumer(read, era)
    problems.raise_any()
    assumed = _application(read, broker, sending, reading, rebalancing)
    bounds, bound_settings = _bounds(read, sending, assumed.application)
    _check_group(read, reading, rebalancing, assumed.application)
    transactional = _transactional(read, broker, sending, reading, assumed)
    _check_faults(read, broker, sending, reading, assumed.application)
    faults, fault_settings = read_budget(given.faults, kinds_by_default(era))
    return Effective(
        read=read,
        era=era,
        broker=broker,
        sending=sending,
        reading=reading,
        rebalancing=rebalancing,
        assumed=assumed,
        transactional=transactional,
        bounds=bounds,
        bound_settings=bound_settings,
        faults=faults,
        fault_settings=fault_settings,
        times=_durations(read, era, broker, sending, reading, rebalancing),
        from_followers=sent_to_followers(read.broker.section, read.components.consumer_section),
    )


def _producer(read: Read, era: Era) -> ProducerValues:
    """Apply the rules of the producer's library, and check the producer against the brokers."""
    given, kafka, section = read.given, read.components.kafka, read.components.producer_section
    sending = library(section.library, kafka).producer(read.producer.section)
    idempotence = sending.idempotence
    producer_rules.check_brokers(section, given.kafka, kafka, idempotence=idempotence)
    transaction_rules.check_brokers(section, sending, given.kafka, kafka)
    transaction_rules.check_faults(section, given.faults, transactional=sending.transactional)
    producer_rules.check_format(section, idempotence=idempotence, keeps_producer_ids=era.keeps_producer_ids)
    return replace(sending, sender=producer_faults.with_splitting(section, sending, given.faults))


def _consumer(read: Read, era: Era) -> tuple[ConsumerValues, Rebalancing]:
    """Apply the rules of the consumer's library and of its group."""
    broker, consumer = read.broker.section, read.consumer.section
    sink, commit = read.given.application.get("sink"), read.given.application.get("commit")
    reading = library(consumer.library, read.components.kafka).consumer(
        consumer,
        needs_group=(sink is None or sink.value.strip() != Sink.TRANSACTIONAL)
        and (commit is None or commit.value.strip() != Commit.NEVER),
    )
    group_rules.check_protocol(consumer, broker, zookeeper=era.zookeeper)
    if reading.session is not None:
        group_rules.check_session(consumer, reading.session, broker)
    return reading, rebalancing_of(consumer, broker, of_library=reading.rebalancing)


def _application(
    read: Read, broker: BrokerValues, sending: ProducerValues, reading: ConsumerValues, rebalancing: Rebalancing
) -> Assumed:
    """Check what the application needs of its producer, and complete the application's behaviour."""
    given, section = read.given, read.components.producer_section
    producer_faults.check_storage_errors(section, given.faults)
    producer_faults.check_stop(section, sending, given.faults, given.application)
    producer_faults.check_status(section, sending, given.application)
    producer_faults.check_errors_are_heard(section, given.application)
    return read_application(
        given.application,
        commits=reading.commits,
        transactional=sending.transactional,
        compacts=broker.compaction is not None,
        stops=Fault.PRODUCER_STOP.value in given.faults,
        resets=reading.offset_reset is not OffsetReset.NONE,
        rebalances=rebalancing.in_background and Fault.REBALANCE.value in given.faults,
    )


def _bounds(read: Read, sending: ProducerValues, application: Application) -> tuple[Bounds, tuple[Setting, ...]]:
    """Complete the bounds."""
    return read_bounds(
        read.given.bounds,
        application.on_send_error,
        application.on_restart,
        transactional=sending.transactional,
        epoch_each=sending.sender.recovery is ClientRecovery.SARAMA,
        elsewhere=sending.idempotence and Fault.FAILURE_ELSEWHERE.value in read.given.faults,
    )


def _check_group(read: Read, reading: ConsumerValues, rebalancing: Rebalancing, application: Application) -> None:
    """Check the application's sink against the consumer and its group."""
    given, consumer, sink = read.given, read.consumer.section, application.sink
    transaction_rules.check_sink(consumer, reading.isolation, read.components.kafka, sink, given.application)
    group_rules.check_memory(sink, given.faults)
    group_rules.check_rebalance(consumer, rebalancing, sink, given.faults)


def _transactional(
    read: Read, broker: BrokerValues, sending: ProducerValues, reading: ConsumerValues, assumed: Assumed
) -> Transactional | None:
    """Return the handling of transactions; None for a producer without transactions."""
    faults, section = read.given.faults, read.components.producer_section
    if not sending.transactional:
        return None
    is_java = section.library == JAVA
    error = "InvalidTxnTimeoutException" if is_java else "INVALID_TRANSACTION_TIMEOUT"
    transaction_rules.check_length(read.producer.section, read.broker.section, error)
    transactional = transaction_rules.transactional_of(
        read.broker.section,
        assumed.transaction_records,
        reading.isolation,
        raises_epochs=is_java and section.release.line >= transaction_rules.RAISES_EPOCHS,
        older=sending.older_transactions,
        survives_refused_send=producer_faults.survives_refused_send(section),
    )
    transactional = replace(transactional, hands_over_aborted=hands_over_aborted(read))
    if broker.compaction is not None:
        transaction_rules.check_compaction(section, read.broker.section, transactional, faults)
    return transactional


def _check_faults(
    read: Read, broker: BrokerValues, sending: ProducerValues, reading: ConsumerValues, application: Application
) -> None:
    """Check that each named fault is modelled with these clients and brokers."""
    given, uses = read.given, sending.transactional
    transaction_rules.check_lost_state(sending.older_transactions, given.faults)
    producer_faults.check_elsewhere(given.faults, transactional=uses)
    consumer_rules.check_not_with(reading, given.kafka, given.faults, transactional=uses)
    group_rules.check_commits(application.commit, given.faults)
    broker_rules.check_reassignment(read.topic.section, read.broker.section, broker.replicas, given.faults)


def _durations(
    read: Read,
    era: Era,
    broker: BrokerValues,
    sending: ProducerValues,
    reading: ConsumerValues,
    rebalancing: Rebalancing,
) -> DurationValues:
    """Return the durations, from the settings that the rules may have changed."""
    kafka = read.components.kafka
    producer, consumer = read.producer.section, read.consumer.section
    return read_durations(
        {accepted.section.scope: accepted.section for accepted in read.accepted},
        (*broker.settings, *sending.settings, *reading.settings),
        read.given.environment,
        {
            "producer": library(producer.library, kafka).durations,
            "consumer": library(consumer.library, kafka).durations,
        },
        zookeeper=era.zookeeper,
        brokers_protocol=rebalancing.by_brokers,
        compacts=broker.compaction is not None,
        numbered=sending.idempotence,
        transactional=sending.transactional,
    )


def _deployment(effective: Effective) -> Deployment:
    """Put the effective values together."""
    given, components = effective.read.given, effective.read.components
    sending, uses = effective.sending, effective.sending.transactional
    settings = settings_of(effective)
    return Deployment(
        name=printable(given.name),
        cluster=_cluster(effective),
        client=_clients(components.producer, components.consumer),
        consumer=_consumer_of(effective),
        producer=_producer_of(effective),
        application=effective.assumed.application,
        durations=effective.times.durations,
        faults=effective.faults,
        bounds=effective.bounds,
        require=read_required(
            given.require,
            transactional=uses,
            profile=given.profile,
            intentions=intentions_of(
                settings,
                idempotence=sending.idempotence,
                max_in_flight=sending.max_in_flight,
                transactional=uses,
            ),
        ),
        profile=requiring(given.require, given.profile),
        settings=tuple(replace(setting, value=shown_value(setting.key, setting.value)) for setting in settings),
        ignored=ignored_of(effective, settings),
        notes=notes_of(effective),
    )


def _cluster(effective: Effective) -> Cluster:
    read, zookeeper = effective.read, effective.era.zookeeper
    return Cluster(
        **_values_of(BrokerSettings, effective.broker),
        **_values_of(Behaviour, effective.era),
        kafka=read.components.kafka.full,
        offsets_applied_late=applies_offsets_late(read.broker.section, zookeeper=zookeeper),
    )


def _values_of(kind: type[_Record], record: _Record) -> dict[str, Any]:
    """Return the values of the fields that ``kind`` declares, without those of the record's own class."""
    return {field.name: getattr(record, field.name) for field in fields(kind)}


def _consumer_of(effective: Effective) -> Consumer:
    era, reading = effective.era, effective.reading
    checks_epochs = era.positions_are_checked and reading.checks_epochs
    return Consumer(
        knows_epochs=era.clients_know_epochs and reading.knows_epochs,
        checks_epochs=checks_epochs,
        checks_starts=checks_epochs and reading.checks_starts,
        waits_beyond_end=reading.waits_beyond_end,
        rebalancing=effective.rebalancing,
        offset_reset=reading.offset_reset,
        max_poll_records=reading.max_poll_records,
        connects=messages_to_connect(effective.read.given.consumer.settings),
        waits_for_bytes=effective.read.consumer.section.integer(reading.fetched_at_least) > 1,
        commits_on_timer=reading.commits_on_timer,
    )


def _producer_of(effective: Effective) -> Producer:
    sending, sender = effective.sending, effective.sending.sender
    return Producer(
        sender=replace(sender, knows_epochs=sender.knows_epochs and effective.era.clients_know_epochs),
        acks=sending.acks,
        retries=sending.retries,
        idempotence=sending.idempotence,
        sequencing=sending.sequencing,
        expires_in_accumulator=sending.expires_in_accumulator,
        max_in_flight=sending.max_in_flight,
        transactional=effective.transactional,
        connects=messages_to_connect(effective.read.given.producer.settings),
    )


def _clients(producer: Client, consumer: Client) -> str:
    if producer.name == consumer.name:
        return producer.name
    return f"{producer.name} (producer), {consumer.name} (consumer)"


def _check_deletion(effective: Effective, deployment: Deployment) -> None:
    """Check what depends on the whole deployment: the deletion of records that are still needed."""
    read = effective.read
    producer = read.components.producer_section
    deletion_rules.check_out_of_range(deployment, effective.reading, read.consumer.section)
    deletion_rules.check_memory(deployment, read.given.application)
    deletion_rules.check_transactions(deployment, producer)
    deletion_rules.check_known_producer(deployment, producer, read.components.kafka)


def _with_follower_reads(effective: Effective, deployment: Deployment) -> Deployment:
    """Return the deployment with a note about a consumer that can read from followers."""
    setting = effective.from_followers
    if setting is None:
        return deployment
    notes = check_follower_reads(deployment, effective.read.components.consumer_section, setting)
    return replace(deployment, notes=(*deployment.notes, *notes))
