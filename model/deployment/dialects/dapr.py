"""Dapr: a component for Kafka, whose clients are sarama's, with its own names for settings.

Dapr sends a record and waits until all in-sync replicas have it, unless ``producerRequiredAcks`` differs. It marks the
records that its application has processed. It retries a failed record until it succeeds (``consumeRetryEnabled``, on
for publishing and subscribing, off for bindings), or ``backOffMaxRetries`` times; then it skips the record.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from proofka.model.deployment.dialects.accounts import Accounts
from proofka.model.deployment.dialects.component import Component, Role
from proofka.model.deployment.dialects.formats.yaml import values_of
from proofka.model.deployment.dialects.nodes import items_under, text_under
from proofka.model.deployment.dialects.said import Said
from proofka.model.deployment.given import Given
from proofka.model.deployment.yaml_tree import Node

FRAMEWORK = "Dapr"
_TABLE = Path(__file__).with_name("tables") / "dapr.csv"
_TYPES = ("pubsub.kafka", "bindings.kafka")
_BOTH = {"Metadata.RefreshFrequency": "8m", "Version": "2.0.0"}
_PRODUCER = {"Producer.RequiredAcks": "WaitForAll", "Producer.Retry.Max": "5", **_BOTH}
_CONSUMER = {
    **_BOTH,
    "Consumer.Offsets.Initial": "OffsetNewest",
    "Consumer.Group.Session.Timeout": "10s",
    "Consumer.Group.Heartbeat.Interval": "3s",
}
_WORDS = {
    "Consumer.Offsets.Initial": {"newest": "OffsetNewest", "oldest": "OffsetOldest"},
    "Producer.RequiredAcks": {"all": "WaitForAll", "": "WaitForAll", "local": "WaitForLocal", "none": "NoResponse"},
}
_DURATIONS = ("Timeout", "Interval", "Frequency")


def is_dapr(resource: Node) -> bool:
    """Tell whether a resource is a Dapr component for Kafka."""
    group = text_under(resource, "apiVersion").partition("/")[0]
    return group == "dapr.io" and text_under(resource, "spec", "type") in _TYPES


@cache
def _table() -> Mapping[str, tuple[tuple[Role, ...], tuple[str, ...]]]:
    with _TABLE.open(encoding="utf-8", newline="") as table:
        return {
            row["name"]: (tuple(Role(role) for role in row["role"].split("|")), tuple(row["setting"].split("|")))
            for row in csv.DictReader(table)
        }


def read_component(resource: Node, accounts: Accounts) -> tuple[Component, ...]:
    """Return the producer and the consumer of a component."""
    settings: dict[Role, dict[str, Given]] = {
        Role.PRODUCER: _by_dapr(_PRODUCER, accounts),
        Role.CONSUMER: _by_dapr(_CONSUMER, accounts),
    }
    answers = {Role.PRODUCER: _by_dapr({"sends": "sync"}, accounts), Role.CONSUMER: {}}
    retries = text_under(resource, "spec", "type") == "pubsub.kafka"
    said_retries: Given | None = None
    gives_up: Given | None = None
    names = [text_under(item, "name") for item in items_under(resource, "spec", "metadata")]
    for said in values_of(resource):
        match said.path:
            case ("spec", "metadata", at, "value"):
                name = names[int(at.strip("[]"))].lower()
                if name == "consumeretryenabled":
                    said_retries = accounts.take(said, "on_processing_error")
                    retries = accounts.text(said).lower() in ("true", "1", "t", "yes", "y", "on")
                elif name == "backoffmaxretries" and not accounts.text(said).startswith("-"):
                    gives_up = accounts.take(said, "on_processing_error")
                else:
                    _sort(said, name, settings, accounts)
            case ("spec", "metadata", at, "secretKeyRef", *_) if names[int(at.strip("[]"))].lower() in _table():
                accounts.reject(said, "is in a secret, which is not read")
            case _:
                accounts.ignore(said, "names or describes the component, not a setting of its clients")
    if retries and gives_up is not None:
        retries, said_retries = False, gives_up
    error = "retry" if retries else "skip"
    answers[Role.CONSUMER]["on_processing_error"] = (
        accounts.by_framework("on_processing_error", error, FRAMEWORK)
        if said_retries is None
        else Given("on_processing_error", error, said_retries.origin)
    )
    client = accounts.by_framework("client", "sarama", FRAMEWORK)
    name = text_under(resource, "metadata", "name")
    return tuple(
        Component(role, f"{FRAMEWORK} {name} {role}", settings[role], client=client, application=answers[role])
        for role in settings
    )


def _by_dapr(values: Mapping[str, str], accounts: Accounts) -> dict[str, Given]:
    return {key: accounts.by_framework(key, value, FRAMEWORK) for key, value in values.items()}


def _sort(said: Said, name: str, settings: dict[Role, dict[str, Given]], accounts: Accounts) -> None:
    row = _table().get(name)
    if row is None:
        accounts.ignore(said, "does not change the deliveries of the clients")
        return
    roles, keys = row
    text = accounts.text(said)
    for key in keys:
        if key in _WORDS:
            if text.lower() not in _WORDS[key]:
                choices = " nor ".join(word for word in _WORDS[key] if word)
                accounts.reject(said, f"is neither {choices}, so Dapr refuses it")
                return
            text = _WORDS[key][text.lower()]
        elif key.endswith(_DURATIONS) and text.isdecimal():
            text += "s"  # A number alone is in seconds.
        for role in roles:
            settings[role][key] = accounts.take(said, key, text)
