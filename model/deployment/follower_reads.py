"""Consumers that may be sent to a follower: where that changes no verdict, and the refusals where it might (KIP-392).

What a leader names is a follower of its ISR that has fetched from it in its epoch: below the follower's high watermark
stands what the leader had there before, so that the consumer only reads later (docs/semantics.md, 41).
"""

from __future__ import annotations

from collections.abc import Iterator

from model.deployment.broker_rules import UNSET
from model.deployment.deployment import Deployment
from model.deployment.errors import DeploymentError, NotModelledError
from model.deployment.given import Given, complaint
from model.deployment.release import JAVA
from model.deployment.section import Section
from model.faults import FALLS_SILENT

SELECTOR = "replica.selector.class"
RACK_AWARE = "RackAware"
RACKS = ("client.rack", "RackID", "client_rack", "rackId", "Rack")
"""How clients tell brokers their rack: Java's and librdkafka, sarama, Python's, KafkaJS, franz-go."""

NAMES_IN_SYNC = (3, 4, 1)
"""From here on leaders name members of the ISR only (KAFKA-14372), and followers truncate before they raise their high
watermark (KAFKA-14704)."""

FORGETS_WITH_EPOCH = (2, 4)
"""From here on a Java consumer goes back to the leader with every new leader epoch, and checks its position there."""

LEASE = "metadata.max.age.ms"
"""For so long a consumer stays with a follower that has nothing new."""


def sent_to_followers(broker: Section, consumer: Section) -> Given | None:
    """The setting for which the consumer may be sent to followers, None if it never is.

    ``consumer`` has its settings as they were written: a rack is one whether or not its name is a placeholder.
    """
    selector = broker.given.get(SELECTOR)
    if selector is None or selector.value.strip() in UNSET:
        return None
    if RACK_AWARE not in selector.value:
        return selector
    racks = (consumer.given[key] for key in RACKS if consumer.has(key) and consumer.knows(key))
    return next((rack for rack in racks if rack.value.strip() not in UNSET), None)


def check_follower_reads(deployment: Deployment, consumer: Section, setting: Given) -> tuple[str, ...]:
    """A note that such a consumer is taken to read from the leader, or the refusal where it might make a difference."""
    for what in _differences(deployment, consumer):
        raise _refused(setting, what)
    return (
        f"the consumer may be sent to followers ({setting.key}): what can be read there could be read of their leader"
        " before, so that it is taken to read from the leader",
    )


def _differences(deployment: Deployment, consumer: Section) -> Iterator[str]:
    """What would have to be modelled."""
    if consumer.library != JAVA or consumer.release.line < FORGETS_WITH_EPOCH:
        yield f"with consumers other than Java's from {'.'.join(map(str, FORGETS_WITH_EPOCH))} on"
    if deployment.kafka < NAMES_IN_SYNC:
        yield f"with brokers before {'.'.join(map(str, NAMES_IN_SYNC))}"
    if not deployment.consumer_checks_epochs:
        yield "without leader epochs in records"
    if deployment.restart_before_fenced and FALLS_SILENT & deployment.possible_faults:
        kinds = " and ".join(sorted(FALLS_SILENT))
        yield f"where a leader may lead on in the same epoch with another log; name faults without {kinds}"
    if deployment.durations.processing_time.most is not None:
        yield "with workers that are done in time; leave processing_time unbounded"
    if deployment.drops_markers:
        yield "that may have missed the end of a transaction (cleanup.policy=compact)"
    retention = deployment.durations.retention
    waits = consumer.milliseconds(LEASE) * (deployment.bounds.log + 1) * (deployment.outages_of_consumer + 1)
    if deployment.records_expire_unread or (retention.most is not None and retention.least <= 2 * waits):
        yield "where records may be deleted unread; keep records for longer (retention.ms)"


def _refused(setting: Given, what: str) -> DeploymentError:
    return complaint(setting, f"not modelled yet: reading from followers {what}, or remove this", NotModelledError)
