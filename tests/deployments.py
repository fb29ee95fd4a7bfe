"""Deployments with some values changed, wherever in a deployment's records these stand."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

from proofka.model.deployment.application import Application
from proofka.model.deployment.cluster import Cluster
from proofka.model.deployment.consumer import Consumer
from proofka.model.deployment.deployment import Deployment
from proofka.model.deployment.producer import Producer

_RECORDS = {"cluster": Cluster, "producer": Producer, "consumer": Consumer, "application": Application}
_OF_BOTH_CLIENTS = "connects"


def changed(deployment: Deployment, **values: Any) -> Deployment:
    """Return the deployment with other values, named as in their record; ``consumer_x`` is ``x`` of the consumer."""
    own: dict[str, Any] = {}
    for name, value in values.items():
        record, field = _place_of(name)
        if record is None:
            own[field] = value
        else:
            own[record] = replace(own.get(record, getattr(deployment, record)), **{field: value})
    return replace(deployment, **own)


def _place_of(name: str) -> tuple[str | None, str]:
    """Return the record that holds the value, or None for the deployment itself, and the value's name there."""
    if name in {field.name for field in fields(Deployment)}:
        return None, name
    for record, kind in _RECORDS.items():
        for known in (name, name.removeprefix(f"{record}_")):
            if known in {field.name for field in fields(kind)} and (known != name or known != _OF_BOTH_CLIENTS):
                return record, known
    raise AssertionError(f"{name} is no value of a deployment")
