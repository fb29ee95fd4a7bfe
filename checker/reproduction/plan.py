"""The plan of a replay: a deployment and one of its traces as plain data, which needs nothing of the model to read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from proofka.checker.cluster.sends import Send
from proofka.checker.reproduction.errors import PlanError
from proofka.properties.sealing import SEAL, seal

FORMAT = 3
"""The version of the plan's JSON form."""


@dataclass(frozen=True)
class PlannedClient:
    """A client of the deployment: its library, the library's release (None: the newest), and its settings as given."""

    library: str
    release: str | None
    settings: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class PlannedStep:
    """One step of the trace. ``state``: the model's state after the step, in words, by part ("broker 2's log").

    ``logs``: the entries of each broker's log after the step, by broker. ``at``: time in ms, or None.
    """

    number: int
    action: str
    arguments: Mapping[str, int]
    text: str
    lane: str
    fault: str | None
    at: int | None
    state: Mapping[str, str]
    logs: Mapping[int, tuple[str, ...]]


@dataclass(frozen=True)
class Plan:
    """Everything that a replay needs.

    ``mode``: that of the brokers, ``KRAFT`` or ``ZOOKEEPER``.
    ``application``: the application's behaviour (``on_send_error`` and similar). ``idempotent``, ``transactional``,
    ``acks`` ("all", "1", "0"): the producer's, as effective. ``group``: the consumer's, None without one.
    ``reads_committed``: the consumer passes over records of aborted transactions, and does not read those of open ones;
    False without transactions. ``sends``: by number of the batch, the call of ``send()``
    that made it. ``effective``: effective settings, as "scope.key". ``failures``: each violated property, with the
    sentence on what failed. ``start``: the model's state before the first step, in words.
    """

    name: str
    kafka: str
    mode: str
    replicas: int
    producer: PlannedClient
    consumer: PlannedClient
    topic_settings: Mapping[str, str]
    broker_settings: Mapping[str, str]
    features: Mapping[str, int]
    effective: Mapping[str, str]
    application: Mapping[str, str]
    idempotent: bool
    transactional: bool
    acks: str
    group: str | None
    reads_committed: bool
    sends: tuple[Send, ...]
    failures: tuple[tuple[str, str], ...]
    faults: Mapping[str, int]
    start: Mapping[str, str]
    steps: tuple[PlannedStep, ...]

    def has(self, *actions: str) -> bool:
        """Tell whether a step of the trace is one of these actions."""
        return any(step.action in actions for step in self.steps)

    def later(self, step: PlannedStep, *actions: str) -> tuple[PlannedStep, ...]:
        """Return the steps after ``step`` that are one of these actions, in order."""
        return tuple(one for one in self.steps if one.number > step.number and one.action in actions)


def to_json(plan: Plan) -> str:
    """Return the JSON form of a plan, sealed by a checksum."""
    document: dict[str, Any] = json.loads(json.dumps({"format": FORMAT, **asdict(plan)}))
    return json.dumps({**document, SEAL: seal(document)}, indent=1, sort_keys=True) + "\n"


def from_json(text: str) -> Plan:
    """Return the plan of a JSON text. Raises PlanError if the text is no plan of this format."""
    try:
        document: dict[str, Any] = json.loads(text)
        if document.pop("format") != FORMAT:
            raise PlanError(
                f"the plan has another format than {FORMAT}: write it again with proofka reproduce --script"
            )
        if document.pop(SEAL) != seal({**document, "format": FORMAT}):
            raise PlanError("the plan was changed: write it again with proofka reproduce --script")
        document["producer"] = PlannedClient(**document["producer"])
        document["consumer"] = PlannedClient(**document["consumer"])
        document["failures"] = tuple((name, failure) for name, failure in document["failures"])
        if not document["failures"]:
            raise PlanError("the plan names no property that fails, so its replay can show nothing")
        document["sends"] = tuple(Send(**one) for one in document["sends"])
        document["steps"] = tuple(_step(one) for one in document["steps"])
        return Plan(**document)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise PlanError(f"the text is not a plan: {error}") from error


def _step(document: dict[str, Any]) -> PlannedStep:
    logs = {int(broker): tuple(entries) for broker, entries in document.pop("logs").items()}
    return PlannedStep(logs=logs, **document)
