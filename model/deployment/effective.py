"""The effective values of a deployment's parts, before they are one :class:`Deployment`."""

from __future__ import annotations

from dataclasses import dataclass

from proofka.model.deployment.accepting import Accepted, Components
from proofka.model.deployment.assumptions import Assumed
from proofka.model.deployment.broker_rules import BrokerValues
from proofka.model.deployment.consumer_rules import ConsumerValues
from proofka.model.deployment.durations import DurationValues
from proofka.model.deployment.era import Era
from proofka.model.deployment.explored import Bounds, FaultBudget
from proofka.model.deployment.given import Given, GivenDeployment
from proofka.model.deployment.producer_rules import ProducerValues
from proofka.model.deployment.rebalancing import Rebalancing
from proofka.model.deployment.setting import Setting
from proofka.model.deployment.transactional import Transactional


@dataclass(frozen=True)
class Read:
    """The given values, and the accepted settings of each component.

    ``components``: the releases and clients, with the settings as the user wrote them, also those that are ignored.
    """

    given: GivenDeployment
    components: Components
    topic: Accepted
    broker: Accepted
    producer: Accepted
    consumer: Accepted

    @property
    def accepted(self) -> tuple[Accepted, Accepted, Accepted, Accepted]:
        """The accepted settings of topic, brokers, producer and consumer."""
        return self.topic, self.broker, self.producer, self.consumer


@dataclass(frozen=True)
class Effective:
    """The result of all rules: the values of each part, with the settings that say where each came from.

    ``from_followers``: the setting by which the consumer can read from followers; None if it reads from leaders only.
    """

    read: Read
    era: Era
    broker: BrokerValues
    sending: ProducerValues
    reading: ConsumerValues
    rebalancing: Rebalancing
    assumed: Assumed
    transactional: Transactional | None
    bounds: Bounds
    bound_settings: tuple[Setting, ...]
    faults: FaultBudget
    fault_settings: tuple[Setting, ...]
    times: DurationValues
    from_followers: Given | None
