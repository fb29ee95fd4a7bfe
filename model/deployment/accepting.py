"""The first check of a configuration, each value by itself: unknown keys, impossible values, placeholders.

The check reports all of its errors together, before any rule looks at several values together.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from proofka.model.deployment.assumptions import check_assumption
from proofka.model.deployment.bounds import RANGES, RANGES_WITH_TRANSACTIONS, read_number
from proofka.model.deployment.budget import read_budget
from proofka.model.deployment.clients import Client, by_its_own_names, read_broker_release, read_client
from proofka.model.deployment.consumer_rules import NULL_GROUP
from proofka.model.deployment.defaults import find_definition
from proofka.model.deployment.disagreement import disagrees_with
from proofka.model.deployment.durations import read_range
from proofka.model.deployment.given import Given, GivenClient, GivenDeployment, complaint
from proofka.model.deployment.hiding import shown_placeholder, shown_value
from proofka.model.deployment.known_keys import reason_to_ignore
from proofka.model.deployment.libraries import library
from proofka.model.deployment.must_know import must_know
from proofka.model.deployment.problems import Problems
from proofka.model.deployment.reasons import find_reason
from proofka.model.deployment.refusals import check_refusals
from proofka.model.deployment.release import JAVA, Release
from proofka.model.deployment.required_properties import check_property
from proofka.model.deployment.section import Section
from proofka.model.deployment.setting import Ignored
from proofka.model.deployment.transaction_rules import FEATURE
from proofka.model.deployment.values import check_value, has_placeholder

_READ_IN_EVERY_RELEASE = {
    ("broker", "zookeeper.connect"),
    ("broker", "eligible.leader.replicas.version"),
    ("broker", FEATURE),
}


@dataclass(frozen=True)
class Accepted:
    """One component's settings after the first check: the settings that its rules read, and the settings that no rule
    reads."""

    section: Section
    ignored: tuple[Ignored, ...]


@dataclass(frozen=True)
class Components:
    """The releases, the clients, and the settings of each component as the user gave them."""

    kafka: Release
    producer: Client
    consumer: Client
    topic_section: Section
    broker_section: Section
    producer_section: Section
    consumer_section: Section

    @property
    def sections(self) -> tuple[Section, Section, Section, Section]:
        """The sections of topic, brokers, producer and consumer."""
        return self.topic_section, self.broker_section, self.producer_section, self.consumer_section


def components_of(given: GivenDeployment) -> Components:
    """Build the components of a given deployment. Raises DeploymentError for unknown releases or clients."""
    kafka = read_broker_release(given.kafka)
    producer = read_client("producer", given.producer, kafka)
    consumer = read_client("consumer", given.consumer, kafka)
    return Components(
        kafka,
        producer,
        consumer,
        Section("topic", f"Kafka {kafka}", kafka, given.topic, given.kafka),
        Section("broker", f"Kafka {kafka}", kafka, given.broker, given.kafka),
        _client_section(producer, given.producer, given.kafka),
        _client_section(consumer, given.consumer, given.kafka),
    )


def accept(given: GivenDeployment, sections: Sequence[Section]) -> list[Accepted]:
    """Check the values of each section by themselves. Raises DeploymentError with all errors."""
    problems = Problems()
    accepted = [_accept(section, problems, as_found=given.as_found) for section in sections]
    _check_words(given, problems)
    problems.raise_any()
    for one in accepted:
        with problems.noted():
            check_refusals(one.section)
    problems.raise_any()
    return accepted


def note_settings(given: GivenDeployment, problems: Problems, doubtful: Collection[str]) -> None:
    """Check each value by itself after another error was found, and add the errors to ``problems``.

    ``doubtful``: components whose client library is unknown; their settings are not checked.
    """
    with problems.noted():
        for section in components_of(given).sections:
            if section.scope not in doubtful:
                _accept(section, problems, as_found=given.as_found)
    _check_words(given, problems)


def _check_words(given: GivenDeployment, problems: Problems) -> None:
    """Check the words of the format: assumptions, durations, faults, bounds and names of properties."""
    for one in given.application.values():
        with problems.noted():
            check_assumption(one)
    for one in given.environment.values():
        with problems.noted():
            read_range(one)
    with problems.noted():
        read_budget(given.faults, ())
    uses_transactions = any("transaction" in key.lower() for key in given.producer.settings)
    for key, one in given.bounds.items():
        with problems.noted():
            read_number(one, (RANGES_WITH_TRANSACTIONS if uses_transactions else RANGES)[key])
    for one in given.require or ():
        with problems.noted():
            check_property(one)


def _client_section(client: Client, given: GivenClient, kafka: Given) -> Section:
    settings = by_its_own_names(client, given.settings)
    return Section(client.role, client.software, client.release, settings, given.version or kafka, client.library)


def _accept(section: Section, problems: Problems, *, as_found: bool) -> Accepted:
    """Check each setting by itself; separate those that this release or component does not read."""
    accepted: dict[str, Given] = {}
    ignored: list[Ignored] = []
    for key, value in section.given.items():
        with problems.noted():
            reason = _checked(section, key, value, as_found=as_found)
            if reason is None:
                accepted[key] = value
            else:
                ignored.append(ignored_for(section.scope, value, reason))
    return Accepted(replace(section, given=accepted), tuple(ignored))


def _checked(section: Section, key: str, value: Given, *, as_found: bool) -> str | None:
    """Return the reason for which a setting is ignored; None if the setting counts. Raises DeploymentError for an
    impossible value."""
    scope, release = section.scope, section.release
    reason = None
    if (scope, key) not in _READ_IN_EVERY_RELEASE:
        reason = reason_to_ignore(section, value, as_found=as_found)
    if reason is None and has_placeholder(value.value):
        if key in must_know(scope, section.library):
            if whose := disagrees_with(value.value):
                raise complaint(value, f"differs from {whose}: set the same value on all brokers of a cluster")
            raise complaint(
                value, f"has a placeholder ({shown_placeholder(key, value.value)}); replace it with a value"
            )
        reason = why_it_does_not_matter(section, key)
    definition = find_definition(section.table, key, release)
    if reason is None and definition is not None and value.value != NULL_GROUP:
        check_value(value, definition, library(section.library, release).exception)
    return reason


def why_it_does_not_matter(section: Section, key: str) -> str | None:
    """Return the reason for which a key does not matter, or None. Python's clients have Java's names with
    underscores."""
    as_java = key if section.library == JAVA else key.replace("_", ".")
    return find_reason(section.scope, key) or find_reason(section.scope, as_java)


def ignored_for(scope: str, given: Given, reason: str) -> Ignored:
    """Build the record of an ignored setting, without the value of a secret."""
    return Ignored(scope, given.key, shown_value(given.key, given.value.strip()), given.origin, reason)
