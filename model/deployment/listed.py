"""The settings, ignored settings and notes of a deployment, in the order of reports."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from proofka.model.deployment import group_rules, transaction_rules
from proofka.model.deployment.aborted_reads import compression_counts, compression_of
from proofka.model.deployment.accepting import Accepted, ignored_for, why_it_does_not_matter
from proofka.model.deployment.broker_rules import BrokerValues, notes_on_acks
from proofka.model.deployment.clients import Client
from proofka.model.deployment.connecting import PROTOCOL
from proofka.model.deployment.effective import Effective
from proofka.model.deployment.era import notes_of as notes_of_era
from proofka.model.deployment.era import settings_of as settings_of_era
from proofka.model.deployment.faults_in_vain import faults_in_vain
from proofka.model.deployment.follower_reads import SELECTOR
from proofka.model.deployment.given import GivenClient, GivenDeployment, complaint, library_of
from proofka.model.deployment.known_keys import MISPLACED, NOT_OF_THIS_RELEASE, is_misspelt
from proofka.model.deployment.must_know import must_know
from proofka.model.deployment.release import JAVA
from proofka.model.deployment.section import Section
from proofka.model.deployment.setting import Ignored, Origin, Setting
from proofka.model.deployment.synonyms import BROKER_NAMES, COUNTS_BESIDES
from proofka.model.deployment.times import Durations
from proofka.model.deployment.vendor_releases import vendor_note
from proofka.model.faults import Fault

ONE_COPY_OF_OFFSETS = "a lost disk can lose committed offsets, which are assumed to be durable"
"""The text of a note about committed offsets that one broker alone has."""

RELEASE_ASSUMED = "the release of the brokers is in no file"
"""The words of a note about a release that no file gives."""


def settings_of(effective: Effective) -> tuple[Setting, ...]:
    """Return every effective setting, with its origin."""
    read, reading, times = effective.read, effective.reading, effective.times
    given, components = read.given, read.components
    topic, broker, producer, consumer = (one.section for one in read.accepted)
    uses = effective.sending.transactional
    return (
        Setting("broker", "release", str(components.kafka), given.kafka.origin),
        *effective.broker.settings,
        *settings_of_era(broker, topic),
        *_said(broker, *group_rules.KEYS),
        *(_said(broker, SELECTOR) if effective.from_followers is not None else ()),
        *(transaction_rules.settings_of(broker) if uses else ()),
        *(setting for setting in times.settings if setting.scope == "broker"),
        _client_setting("producer", components.producer, given.producer, as_found=given.as_found),
        *effective.sending.settings,
        *_said(producer, PROTOCOL),
        *(setting for setting in times.settings if setting.scope == "producer"),
        _client_setting("consumer", components.consumer, given.consumer, as_found=given.as_found),
        *reading.settings,
        *((reading.isolation,) if uses and reading.isolation is not None else ()),
        *(compression_of(read) if uses and compression_counts(consumer) else ()),
        *_said(consumer, group_rules.ASSIGNORS, PROTOCOL, reading.fetched_at_least),
        *(setting for setting in times.settings if setting.scope == "consumer"),
        *effective.assumed.settings,
        *(setting for setting in times.settings if setting.scope == "assume"),
        *effective.fault_settings,
        *effective.bound_settings,
    )


def ignored_of(effective: Effective, settings: Iterable[Setting]) -> tuple[Ignored, ...]:
    """Return every given setting that is not among the effective ``settings``, with the reason."""
    read, broker = effective.read, effective.broker
    used = {(setting.scope, setting.key) for setting in settings} | _standing_in(broker, read.broker.section)
    return tuple(
        ignored
        for accepted in read.accepted
        for ignored in (*_left_over(accepted.section, used, broker.overridden), *accepted.ignored)
    )


def notes_of(effective: Effective) -> tuple[str, ...]:
    """Return the notes of all rules. Raises DeploymentError for a fault that is not modelled, and for polls that are
    always too late."""
    read, transactional = effective.read, effective.transactional
    broker, consumer = read.broker.section, read.consumer.section
    application, idempotence = effective.assumed.application, effective.sending.idempotence
    return (
        *_assumed_release(read.given),
        *_vendors(read.given),
        *notes_of_era(effective.era, read.components.kafka),
        *effective.broker.notes,
        *notes_on_acks(effective.broker, effective.sending.acks),
        *effective.sending.notes,
        *effective.reading.notes,
        *group_rules.notes_of(consumer, broker),
        *(transaction_rules.notes_of(broker, transactional) if transactional is not None else ()),
        *faults_in_vain(read.given, broker, effective.era, application, idempotence=idempotence),
        *_slow_polls(read.given, effective.times.durations),
        *_misplaced(read.producer.ignored, read.consumer.section),
        *_misplaced(read.consumer.ignored, read.producer.section),
        *_notes_on_ignored(read.accepted, lambda one: is_misspelt(one.reason)),
        *_notes_on_ignored(read.accepted, _is_of_another_release),
        *_copies_of_offsets(broker, read.given),
    )


def _assumed_release(given: GivenDeployment) -> Iterator[str]:
    """Yield a note if no file and no option gives the release of the brokers, which decides many defaults."""
    if given.kafka.origin.kind == "assumption":
        yield f"{RELEASE_ASSUMED}: Kafka {given.kafka.value} is assumed (--kafka V names another release)"


def _vendors(given: GivenDeployment) -> Iterator[str]:
    """Yield a note for each release that is a vendor's spelling."""
    named = (given.kafka, *(one.version for one in (given.producer, given.consumer) if library_of(one.client) == JAVA))
    yield from dict.fromkeys(note for one in named if one is not None and (note := vendor_note(one.value)))


def _said(section: Section, *keys: str) -> tuple[Setting, ...]:
    """Return those of the settings that the user gave."""
    return tuple(section.setting(key) for key in keys if section.has(key))


def _misplaced(ignored: Iterable[Ignored], owner: Section) -> Iterator[str]:
    """Yield a note about settings of one client that stand only with the other client, a mistake that changes the
    verdicts."""
    misplaced = (one for one in ignored if one.reason == MISPLACED.format(owner=owner.scope, scope=one.scope))
    found = [one for one in misplaced if not owner.has(one.key)]
    if found:
        keys = ", ".join(one.key for one in found)
        are, them = ("are settings", "them") if len(found) > 1 else ("is a setting", "it")
        yield (
            f"{keys} {are} of the {owner.scope}: the {found[0].scope} does not read {them}, and the {owner.scope} is "
            f"checked without {them}; move {them}"
        )


def _notes_on_ignored(read: Iterable[Accepted], expects: Callable[[Ignored], bool]) -> Iterator[str]:
    """Yield a note for each ignored setting of which its author ``expects`` an effect."""
    for ignored in (one for accepted in read for one in accepted.ignored if expects(one)):
        place = f" ({_place_of(ignored)})" if ignored.origin.file is not None else ""
        yield f"{ignored.key}{place}: {ignored.reason}"


def _is_of_another_release(ignored: Ignored) -> bool:
    """Tell whether the rules of other releases read the setting, and this release does not have the setting."""
    return NOT_OF_THIS_RELEASE in ignored.reason and ignored.key in must_know(ignored.scope)


def _copies_of_offsets(broker: Section, given: GivenDeployment) -> Iterator[str]:
    """Yield a note if committed offsets have one copy, because the model loses them only by a fault of its own."""
    key = "offsets.topic.replication.factor"
    if broker.has(key) and broker.text(key) == "1" and Fault.LOST_OFFSETS.value not in given.faults:
        yield f"{key}=1: {ONE_COPY_OF_OFFSETS}; --assume faults.lost-offsets=1 explores that"


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
