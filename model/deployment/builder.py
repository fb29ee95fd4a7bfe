"""Building an effective :class:`Deployment` from the values of files and options."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from model.deployment import broker_rules, group_rules, producer_rules, transaction_rules
from model.deployment.accepting import Accepted, accept, components_of, ignored_for, why_it_does_not_matter
from model.deployment.assumptions import read_application
from model.deployment.bounds import read_bounds
from model.deployment.broker_rules import BrokerValues, apply_broker_rules
from model.deployment.budget import read_budget
from model.deployment.choices import Commit, OffsetReset, ProducerId, Sink
from model.deployment.clients import Client
from model.deployment.cluster import Cluster
from model.deployment.connecting import PROTOCOL, messages_to_connect
from model.deployment.consumer import Consumer
from model.deployment.consumer_rules import TRANSACTIONS, ConsumerValues
from model.deployment.deployment import Deployment
from model.deployment.durations import read_durations
from model.deployment.era import era_of, notes_of, settings_of
from model.deployment.faults_in_vain import faults_in_vain
from model.deployment.follower_reads import SELECTOR, check_follower_reads, sent_to_followers
from model.deployment.given import GivenClient, GivenDeployment, complaint, not_modelled
from model.deployment.group_rules import check_protocol, check_session, rebalancing_of
from model.deployment.hiding import printable, shown_value
from model.deployment.implied.cleaning import drops_tombstones
from model.deployment.implied.expiry import records_expire_unread
from model.deployment.implied.forgetting import brokers_forget_deleted
from model.deployment.known_keys import MISPLACED, is_misspelt
from model.deployment.libraries import library
from model.deployment.must_know import FOLLOWER_BYTES
from model.deployment.producer import Producer
from model.deployment.producer_faults import (
    check_errors_are_heard,
    check_status,
    check_stop,
    check_storage_errors,
    with_splitting,
)
from model.deployment.profiles import intentions_of
from model.deployment.release import IDEMPOTENT, JAVA
from model.deployment.required_properties import read_required, requiring
from model.deployment.section import Section
from model.deployment.setting import Ignored, Origin, Setting
from model.deployment.synonyms import BROKER_NAMES, COUNTS_BESIDES
from model.deployment.times import Durations
from model.faults import Fault

_NOT_IN_TRANSACTIONS = {
    Fault.UNKNOWN_TOPIC: ("N91", "whose topic disappears from the producer's metadata"),
    Fault.LOST_TRANSACTION_STATE: ("N90", "whose coordinator loses its state"),
}
"""Faults that are not modelled with transactions of clients other than Java's, each with its code."""


def build(given: GivenDeployment) -> Deployment:
    """Apply the defaults of the release and the rules of client and broker; raise DeploymentError if a rule refuses a
    value."""
    components = components_of(given)
    kafka, producer, consumer = components.kafka, components.producer, components.consumer
    producer_section, consumer_section = components.producer_section, components.consumer_section
    topic_settings, broker_settings, producer_settings, consumer_settings = accept(given, components.sections)
    sends, reads = library(producer.library, kafka), library(consumer.library, kafka)
    follows = sent_to_followers(broker_settings.section, consumer_section)

    era = era_of(broker_settings.section, topic_settings.section)
    broker = apply_broker_rules(topic_settings.section, broker_settings.section, era, given.elr)
    sending = sends.producer(producer_settings.section)
    if sending.idempotence and kafka.line < IDEMPOTENT and producer.library != JAVA:
        what = (
            f"idempotent producers of {producer.library} with brokers before 2.5; name newer brokers, or disable "
            f"idempotence"
        )
        raise not_modelled(given.kafka, "N14", what)
    if (sending.sender.bumps_within or sending.sender.bump_aborts) and kafka.line > IDEMPOTENT:
        what = (
            f"transactions of {producer.library} before 2.0 with brokers from 2.6 on, which refuse the client's new "
            f"epoch"
        )
        raise not_modelled(given.kafka, "N29", what)
    for kind, (code, when) in _NOT_IN_TRANSACTIONS.items():
        if sending.transactional and producer.library != JAVA and kind.value in given.faults:
            what = f"transactions of {producer.library} {when}"
            raise not_modelled(given.faults[kind.value], code, what)
    if sending.idempotence and not era.keeps_producer_ids:
        what = "idempotence with the record format of 0.10, which brokers refuse; set a newer record format"
        raise producer_section.not_modelled(producer_rules.IDEMPOTENCE, "N13", what)
    sender = with_splitting(producer_section, sending, given.faults)
    sink, commit = given.application.get("sink"), given.application.get("commit")
    reading = reads.consumer(
        consumer_settings.section,
        needs_group=(sink is None or sink.value.strip() != Sink.TRANSACTIONAL)
        and (commit is None or commit.value.strip() != Commit.NEVER),
    )
    check_protocol(consumer_settings.section, broker_settings.section, zookeeper=era.zookeeper)
    if reading.session is not None:
        check_session(consumer_settings.section, reading.session, broker_settings.section)
    rebalancing = rebalancing_of(consumer_settings.section, broker_settings.section)
    uses = sending.transactional
    compacts = broker.compaction is not None
    check_storage_errors(producer_section, given.faults)
    check_stop(producer_section, sending, given.faults, given.application)
    check_status(producer_section, sending, given.application)
    check_errors_are_heard(producer_section, given.application)
    assumed = read_application(
        given.application,
        commits=reading.commits,
        transactional=uses,
        compacts=compacts,
        stops=Fault.PRODUCER_STOP.value in given.faults,
        resets=reading.offset_reset is not OffsetReset.NONE,
    )
    application = assumed.application
    bounds, bound_settings = read_bounds(
        given.bounds,
        application.on_send_error,
        application.on_restart,
        transactional=uses,
        epoch_each=sending.idempotence and sending.sender.numbers_ahead,
        elsewhere=sending.idempotence and Fault.FAILURE_ELSEWHERE.value in given.faults,
    )
    lines = (kafka.line, consumer.release.line) if consumer.library == JAVA else (kafka.line,)
    if application.sink is Sink.KAFKA and min(lines) < transaction_rules.FENCES_MEMBERS:
        raise not_modelled(given.application["sink"], "N38", transaction_rules.NO_FENCING)
    waits = transaction_rules.waits_for_pending_offsets(consumer_settings.section, reading.isolation)
    if application.sink is Sink.KAFKA and not waits:
        raise not_modelled(given.application["sink"], "N39", transaction_rules.DOES_NOT_WAIT)
    group_rules.check_memory(application.sink, given.faults)
    if Fault.REBALANCE.value in given.faults:
        fault = given.faults[Fault.REBALANCE.value]
        group_rules.check_rebalance(consumer_settings.section, rebalancing, application.sink, fault)
    transactional = None
    is_java = producer.library == JAVA
    if uses and is_java and Fault.FULL_BUFFER.value in given.faults and producer.release.line < (3, 2):
        what = "full-buffer with transactions of clients before 3.2, which can commit without the record (KAFKA-9279)"
        raise not_modelled(given.faults[Fault.FULL_BUFFER.value], "N87", what)
    if uses:
        error = "InvalidTxnTimeoutException" if is_java else "INVALID_TRANSACTION_TIMEOUT"
        transaction_rules.check_length(producer_settings.section, broker_settings.section, error)
        transactional = transaction_rules.transactional_of(
            broker_settings.section,
            assumed.transaction_records,
            reading.isolation,
            raises_epochs=is_java and producer.release.line >= transaction_rules.RAISES_EPOCHS,
            older=sending.older_transactions,
        )
    if transactional is not None and compacts:
        transaction_rules.check_compaction(producer_section, broker_settings.section, transactional, given.faults)
    if sending.older_transactions is not None and Fault.LOST_TRANSACTION_STATE.value in given.faults:
        what = f"{Fault.LOST_TRANSACTION_STATE} with clients or brokers before 2.5"
        raise not_modelled(given.faults[Fault.LOST_TRANSACTION_STATE.value], "N88", what)
    if Fault.FAILURE_ELSEWHERE.value in given.faults and uses:
        what = f"{Fault.FAILURE_ELSEWHERE} with transactions"
        raise not_modelled(given.faults[Fault.FAILURE_ELSEWHERE.value], "N92", what)
    _check_not_with(reading, uses, given)
    if application.commit is Commit.EARLIER and Fault.REBALANCE.value in given.faults:
        what = "rebalances of a client that commits only part of its last poll"
        raise not_modelled(given.faults[Fault.REBALANCE.value], "N73", what)
    if Fault.REASSIGNMENT.value in given.faults:
        broker_rules.check_reassignment(
            topic_settings.section, broker_settings.section, broker.replicas, given.faults[Fault.REASSIGNMENT.value]
        )
    if application.commit is Commit.FINISHED and Fault.REBALANCE.value in given.faults:
        what = "rebalances of a consumer that commits past unfinished records of its workers (commit=finished)"
        raise not_modelled(given.faults[Fault.REBALANCE.value], "N74", what)
    faults, fault_settings = read_budget(given.faults)
    read = (topic_settings, broker_settings, producer_settings, consumer_settings)
    sections = {accepted.section.scope: accepted.section for accepted in read}
    effective = (*broker.settings, *sending.settings, *reading.settings)
    own = {"producer": sends.durations, "consumer": reads.durations}
    times = read_durations(
        sections,
        effective,
        given.environment,
        own,
        zookeeper=era.zookeeper,
        brokers_protocol=rebalancing.by_brokers,
        compacts=compacts,
        numbered=sending.idempotence,
    )
    settings = (
        Setting("broker", "release", str(kafka), given.kafka.origin),
        *broker.settings,
        *settings_of(broker_settings.section, topic_settings.section),
        *_said(broker_settings.section, FOLLOWER_BYTES, *group_rules.KEYS),
        *(_said(broker_settings.section, SELECTOR) if follows is not None else ()),
        *(transaction_rules.settings_of(broker_settings.section) if uses else ()),
        *(setting for setting in times.settings if setting.scope == "broker"),
        _client_setting("producer", producer, given.producer, as_found=given.as_found),
        *sending.settings,
        *_said(producer_settings.section, PROTOCOL),
        *(setting for setting in times.settings if setting.scope == "producer"),
        _client_setting("consumer", consumer, given.consumer, as_found=given.as_found),
        *reading.settings,
        *((reading.isolation,) if uses and reading.isolation is not None else ()),
        *_said(consumer_settings.section, group_rules.ASSIGNORS, PROTOCOL, reading.fetched_at_least),
        *(setting for setting in times.settings if setting.scope == "consumer"),
        *assumed.settings,
        *(setting for setting in times.settings if setting.scope == "assume"),
        *fault_settings,
        *bound_settings,
    )
    used = {(setting.scope, setting.key) for setting in settings} | _standing_in(broker, broker_settings.section)
    deployment = Deployment(
        name=printable(given.name),
        cluster=Cluster(
            kafka=kafka.full,
            replicas=broker.replicas,
            min_insync_replicas=broker.min_insync_replicas,
            zookeeper=era.zookeeper,
            high_watermark_needs_min_isr=era.high_watermark_needs_min_isr,
            eligible_leader_replicas=broker.eligible_leader_replicas,
            unclean_leader_election=broker.unclean_leader_election,
            restart_before_fenced=era.restart_before_fenced,
            old_fetches_count=era.old_fetches_count,
            offsets_age_in_use=era.offsets_age_in_use,
            loaded_offsets_expire=era.loaded_offsets_expire,
            offsets_applied_late=group_rules.applies_offsets_late(broker_settings.section, zookeeper=era.zookeeper),
            fenced_may_join=era.fenced_may_join,
            new_replica_suffices=era.new_replica_suffices,
            copies_newer_epochs=era.copies_newer_epochs,
            believes_any_fetch=era.believes_any_fetch,
            truncation=era.truncation,
            mends_of_2_0_1=era.mends_of_2_0_1,
            reads_may_overrun=era.reads_may_overrun,
            compaction=broker.compaction,
            flush_messages=broker.flush_messages,
            deletes_for_size=broker.deletes_for_size,
            followers_wait_for_bytes=broker_settings.section.integer(FOLLOWER_BYTES) > 1,
        ),
        client=_clients(producer, consumer),
        consumer=Consumer(
            knows_epochs=era.clients_know_epochs and reading.knows_epochs,
            checks_epochs=era.positions_are_checked and reading.checks_epochs,
            checks_starts=era.positions_are_checked and reading.checks_epochs and reading.checks_starts,
            waits_beyond_end=reading.waits_beyond_end,
            rebalancing=rebalancing,
            offset_reset=reading.offset_reset,
            max_poll_records=reading.max_poll_records,
            connects=messages_to_connect(given.consumer.settings),
            waits_for_bytes=consumer_settings.section.integer(reading.fetched_at_least) > 1,
            commits_on_timer=reading.commits_on_timer,
        ),
        producer=Producer(
            sender=replace(sender, knows_epochs=sender.knows_epochs and era.clients_know_epochs),
            acks=sending.acks,
            retries=sending.retries,
            idempotence=sending.idempotence,
            sequencing=sending.sequencing,
            expires_in_accumulator=sending.expires_in_accumulator,
            max_in_flight=sending.max_in_flight,
            transactional=transactional,
            connects=messages_to_connect(given.producer.settings),
        ),
        application=application,
        durations=times.durations,
        faults=faults,
        bounds=bounds,
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
        ignored=tuple(
            ignored
            for accepted in (topic_settings, broker_settings, producer_settings, consumer_settings)
            for ignored in (*_left_over(accepted.section, used, broker.overridden), *accepted.ignored)
        ),
        notes=(
            *notes_of(era, kafka),
            *broker.notes,
            *sending.notes,
            *reading.notes,
            *group_rules.notes_of(consumer_settings.section, broker_settings.section),
            *(transaction_rules.notes_of(broker_settings.section, transactional) if transactional is not None else ()),
            *faults_in_vain(given, broker_settings.section, era, application, idempotence=sending.idempotence),
            *_slow_polls(given, times.durations),
            *_misplaced(producer_settings.ignored, "consumer"),
            *_misplaced(consumer_settings.ignored, "producer"),
            *_misspelt(topic_settings, broker_settings, producer_settings, consumer_settings),
        ),
    )
    if reading.waits_beyond_end and records_expire_unread(deployment):
        _check_goes_to_start(deployment, consumer_settings.section)
    if reading.goes_to_nearest:
        _check_nearest(deployment, consumer_settings.section)
    if deployment.application.sink.is_memory and drops_tombstones(deployment):
        what = (
            "a sink in memory where tombstones can be dropped unread (keys=deleted); set a longer delete.retention.ms"
        )
        raise not_modelled(given.application["sink"], "N68", what)
    if deployment.producer.transactional is not None and records_expire_unread(deployment):
        kept, delivery = deployment.durations.retention, deployment.durations.delivery_timeout
        raise transaction_rules.refuse_retention(producer_section, kept, delivery)
    refuses_unknown = brokers_forget_deleted(deployment) and kafka.line < IDEMPOTENT
    if refuses_unknown and deployment.application.producer_id is ProducerId.KNOWN:
        # The model would have to distinguish sequence numbers of now from those with which a client before 2.5 starts
        # again.
        what = "producer_id=known with brokers before 2.5 that can delete all records of the producer; "
        what += "set producer_id=new, or keep records for longer (retention.ms)"
        raise producer_section.not_modelled(producer_rules.IDEMPOTENCE, "N15", what)
    if follows is not None:
        notes = check_follower_reads(deployment, consumer_section, follows)
        deployment = replace(deployment, notes=(*deployment.notes, *notes))
    return replace(deployment, given=given)


def _check_not_with(reading: ConsumerValues, transactional: bool, given: GivenDeployment) -> None:
    """Raise NotModelledError for faults and transactions that are not modelled with this consumer."""
    for named, (code, what) in reading.not_with.items():
        if named == TRANSACTIONS and transactional:
            raise not_modelled(given.kafka, code, what)
        if named in given.faults:
            raise not_modelled(given.faults[named], code, what)


def _check_nearest(deployment: Deployment, section: Section) -> None:
    """Raise DeploymentError if a consumer can continue with the next record in time although its reset policy says
    otherwise."""
    if not deployment.consumer.checks_epochs:
        what = f"{section.library} with brokers that do not report the end offset of an epoch"
        raise section.not_modelled("client", "N53", what)
    if records_expire_unread(deployment):
        _check_goes_to_start(deployment, section)


def _check_goes_to_start(deployment: Deployment, section: Section) -> None:
    """Raise DeploymentError if the first remaining record is not the one at which the reset policy starts."""
    if deployment.consumer.offset_reset is not OffsetReset.EARLIEST:
        what = (
            f"{section.library} where records can be deleted unread, unless the consumer resets to the earliest offset"
        )
        raise section.not_modelled("client", "N54", what)


def _said(section: Section, *keys: str) -> tuple[Setting, ...]:
    """Return those of the settings that the user gave."""
    return tuple(section.setting(key) for key in keys if section.has(key))


def _misplaced(ignored: Iterable[Ignored], owner: str) -> Iterator[str]:
    """Yield a note about settings of one client that stand with the other client, a mistake that changes the
    verdicts."""
    found = [one for one in ignored if one.reason == MISPLACED.format(owner=owner, scope=one.scope)]
    if found:
        keys = ", ".join(one.key for one in found)
        many = len(found) > 1
        yield (
            f"{keys} {'are settings' if many else 'is a setting'} of the {owner}: the {found[0].scope} does not read "
            f"{'them' if many else 'it'}, and the {owner} is checked without {'them' if many else 'it'}; move "
            f"{'them' if many else 'it'}"
        )


def _misspelt(*read: Accepted) -> Iterator[str]:
    """Yield a note for each ignored setting whose name is similar to a known setting: its author expects an effect."""
    for ignored in (one for accepted in read for one in accepted.ignored):
        if is_misspelt(ignored.reason):
            place = f" ({_place_of(ignored)})" if ignored.origin.file is not None else ""
            yield f"{ignored.key}{place}: {ignored.reason}"


def _place_of(ignored: Ignored) -> str:
    """Return the file and line of a setting."""
    return f"{ignored.origin.file}:{ignored.origin.line}"


def _slow_polls(given: GivenDeployment, durations: Durations) -> Iterator[str]:
    """Yield a note if a member can poll too late and be evicted. Raises DeploymentError if every poll is too late."""
    if "poll_interval" in given.environment:
        latest, limit = durations.poll_interval.most, durations.max_poll.least
        if durations.poll_interval.least > limit:
            what = f"begins above max.poll.interval.ms ({limit:,}): the group evicts the member before each poll()"
            raise complaint(given.environment["poll_interval"], f"{what}; use a shorter time")
        if latest is None or latest > limit:
            yield (
                f"poll_interval can exceed max.poll.interval.ms ({limit:,}): the group would evict the consumer, and "
                f"is assumed to get another member then; what the evicted member still does is in no verdict unless "
                f"the fault {Fault.EVICTION} is named"
            )


def _left_over(section: Section, used: set[tuple[str, str]], overridden: tuple[str, ...]) -> Iterable[Ignored]:
    for key, given in section.given.items():
        if section.scope == "broker" and key in overridden and key not in COUNTS_BESIDES:
            yield ignored_for("broker", given, "another setting of this topic or broker takes precedence")
        elif (section.scope, key) not in used:
            yield ignored_for(section.scope, given, why_it_does_not_matter(section, key) or "no property depends on it")


def _standing_in(values: BrokerValues, broker: Section) -> set[tuple[str, str]]:
    """Return the broker settings from which a topic setting in force took its value."""
    effective = {setting.key for setting in values.settings if setting.scope == "topic"}
    names = {name for key in effective for name in BROKER_NAMES.get(key, ()) if broker.has(name)}
    return {("broker", name) for name in names if name not in values.overridden}


def _client_setting(scope: str, client: Client, given: GivenClient, *, as_found: bool) -> Setting:
    """Return the client's library and release. For existing files that do not say them, they are an assumption."""
    newest = "the release of the brokers" if client.library == JAVA else "the newest known release"
    if as_found and given.version is None:
        return Setting(scope, "client", client.name, Origin("assumption", f"{newest}; change it with --client V"))
    said = given.version or given.client
    return Setting(scope, "client", client.name, said.origin if said is not None else Origin("default", newest))


def _clients(producer: Client, consumer: Client) -> str:
    if producer.name == consumer.name:
        return producer.name
    return f"{producer.name} (producer), {consumer.name} (consumer)"
