"""Walk through a model by the names of its actions."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Any

from proofka.model.deployment import Deployment
from proofka.model.deployment.explored import Bounds
from proofka.model.language import Action, Variable
from proofka.model.pipeline import Model, build
from proofka.model.state.pipeline import Fate
from tests.checker.asking import MOST_KINDS, example
from tests.checker.plain_evaluator import holds, successor
from tests.deployments import changed

BOUNDS = Bounds(records=2, log=3, sends=1, epochs=6, producer_epochs=2)


def scenario(name: str = "acks-all-min-isr-2", **settings: Any) -> Scenario:
    """Return the start of a run of an example, with these settings in place of its own."""
    deployment: Deployment = replace(example(name, MOST_KINDS, 9), bounds=BOUNDS)
    return Scenario(changed(deployment, **settings))


@lru_cache(maxsize=8)
def _built(deployment: Deployment) -> Model:
    """Build a model, or return the model that was built last: several runs in a row often use the same model."""
    return build(deployment)


class Scenario:
    """A run of one deployment's model, step by step, with what can be seen of it."""

    def __init__(self, deployment: Deployment) -> None:
        self.model = _built(deployment)
        self.pipeline = self.model.pipeline
        self.state = self.model.system.initial

    def action(self, name: str, **arguments: int) -> Action:
        found = self.model.system.action(name, arguments)
        assert found is not None, f"there is no {name}({arguments})"
        return found

    def can(self, name: str, **arguments: int) -> bool:
        """Tell whether the action is enabled now."""
        return holds(self.action(name, **arguments).guard, self.state)

    def do(self, name: str, **arguments: int) -> Scenario:
        """Take a step, which must be enabled."""
        after = successor(self.action(name, **arguments), self.state)
        assert after is not None, f"{name}({arguments}) is not enabled"
        self.state = after
        return self

    def value(self, variable: Variable) -> int:
        return self.state[variable.name]

    def log(self, broker: int) -> list[int]:
        """Return the batches in a broker's log."""
        return [entry["batch"] for entry in self.pipeline.replica(broker).log.entries(self.state)]

    def epochs(self, broker: int) -> list[int]:
        """Return the leader epochs in a broker's log."""
        return [entry["epoch"] for entry in self.pipeline.replica(broker).log.entries(self.state)]

    def high_watermark(self, broker: int) -> int:
        return self.value(self.pipeline.replica(broker).high_watermark)

    def fate(self, batch: int) -> Fate:
        return Fate(self.value(self.pipeline.producer.batches[batch].fate))

    @property
    def isr(self) -> set[int]:
        """The ISR as the controller knows it."""
        return {number for number, member in self.pipeline.controller.isr.items() if self.value(member)}

    def isr_of(self, broker: int) -> set[int]:
        """Return the ISR in a leader's own view."""
        return {number for number, member in self.pipeline.replica(broker).isr.items() if self.value(member)}

    @property
    def leader(self) -> int:
        """The leader as the controller knows it."""
        return self.value(self.pipeline.controller.leader)

    def produce(self, batch: int, leader: int) -> Scenario:
        """Send, transmit and append a batch."""
        return (
            self.do("send", batch=batch)
            .do("transmit", batch=batch, leader=leader)
            .do("append", batch=batch, leader=leader)
        )

    def replicate(self, follower: int, leader: int) -> Scenario:
        """Fetch until the leader knows that the follower has everything."""
        missing = len(self.log(leader)) - len(self.log(follower))
        for _ in range(missing + 1):
            self.do("fetch", follower=follower, leader=leader)
        assert self.log(follower) == self.log(leader)
        return self
