"""Consumers that can read from a follower (KIP-392): the cases without effect on any verdict, and refusals of the
others.

A leader names a follower of its ISR that has fetched in the leader's epoch. Below such a follower's high watermark, its
log equals the leader's earlier log, so the consumer only reads later (docs/semantics.md, 41).
"""

from __future__ import annotations

from collections.abc import Iterator

from proofka.model.deployment.broker_rules import UNSET
from proofka.model.deployment.deployment import Deployment
from proofka.model.deployment.given import Given, not_modelled
from proofka.model.deployment.implied.cleaning import drops_markers
from proofka.model.deployment.implied.expiry import records_expire_unread
from proofka.model.deployment.implied.outages import may_return_unfenced, outages_of_consumer
from proofka.model.deployment.release import JAVA
from proofka.model.deployment.section import Section
from proofka.model.faults import FALLS_SILENT, Fault

SELECTOR = "replica.selector.class"
RACK_AWARE = "RackAware"
RACKS = ("client.rack", "RackID", "client_rack", "rackId", "Rack")
"""The settings in which clients name their rack: Java and librdkafka, sarama, Python's clients, KafkaJS, franz-go."""

NAMES_IN_SYNC = (3, 4, 1)
"""The first release whose leaders name only members of the ISR (KAFKA-14372), and whose followers truncate before they
raise their high watermark (KAFKA-14704)."""

FORGETS_WITH_EPOCH = (2, 4)
"""The first release whose Java consumer goes back to the leader with every new leader epoch and checks its position
there."""

LEASE = "metadata.max.age.ms"
"""The setting for the time that a consumer stays with a follower without new records."""


def sent_to_followers(broker: Section, consumer: Section) -> Given | None:
    """Return the setting by which the consumer can read from followers; None if it never does.

    ``consumer`` contains the settings as the user wrote them: a placeholder for a rack counts as a rack.
    """
    selector = broker.given.get(SELECTOR)
    if selector is None or selector.value.strip() in UNSET:
        return None
    if RACK_AWARE not in selector.value:
        return selector
    racks = (consumer.given[key] for key in RACKS if consumer.has(key) and consumer.knows(key))
    return next((rack for rack in racks if rack.value.strip() not in UNSET), None)


def check_follower_reads(deployment: Deployment, consumer: Section, setting: Given) -> tuple[str, ...]:
    """Return a note that such a consumer is assumed to read from the leader. Raises DeploymentError if the difference
    can matter."""
    for code, what in _differences(deployment, consumer):
        raise not_modelled(setting, code, f"reading from followers {what}, or remove this setting")
    return (
        f"the consumer can read from followers ({setting.key}): it is assumed to read from the leader, because a "
        "follower returns only records that its leader could return before",
    )


def _differences(deployment: Deployment, consumer: Section) -> Iterator[tuple[str, str]]:
    """Yield the reasons for which reading from followers could change a verdict, each with its code."""
    if consumer.library != JAVA or consumer.release.line < FORGETS_WITH_EPOCH:
        yield "N55", f"with consumers other than Java's from {'.'.join(map(str, FORGETS_WITH_EPOCH))} on"
    if deployment.cluster.kafka < NAMES_IN_SYNC:
        yield "N56", f"with brokers before {'.'.join(map(str, NAMES_IN_SYNC))}"
    if not deployment.consumer.checks_epochs:
        yield "N57", "with a protocol or record format that has no leader epochs for consumers"
    if may_return_unfenced(deployment) and FALLS_SILENT & deployment.faults.possible:
        what = "where a leader can continue in the same epoch with a shorter log (brokers before 4.0 in KRaft mode)"
        yield "N58", f"{what}; name faults without {Fault.CONTROLLER_STALL}"
    if deployment.durations.processing_time.most is not None:
        yield "N59", "with a limited processing_time; set processing_time to unbounded"
    if drops_markers(deployment):
        yield "N60", "that can lack a transaction's marker (cleanup.policy=compact); set a longer delete.retention.ms"
    retention = deployment.durations.retention
    waits = consumer.milliseconds(LEASE) * (deployment.bounds.log + 1) * (outages_of_consumer(deployment) + 1)
    if records_expire_unread(deployment) or (retention.most is not None and retention.least <= 2 * waits):
        yield "N61", "where brokers can delete unread records; keep records for longer (retention.ms)"
