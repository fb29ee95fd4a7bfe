"""A deployment as a JSON document, and back, without loss; the reader checks every member."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from proofka.model.deployment.application import Application
from proofka.model.deployment.bounds import RANGES, RANGES_WITH_TRANSACTIONS
from proofka.model.deployment.broker_rules import MOST_REPLICAS
from proofka.model.deployment.cluster import Cluster
from proofka.model.deployment.consumer import Consumer
from proofka.model.deployment.deployment import Deployment
from proofka.model.deployment.document_members import LARGEST, Members, Names, Ranges, written
from proofka.model.deployment.durations import NAMES
from proofka.model.deployment.errors import DocumentError
from proofka.model.deployment.explored import Bounds, FaultBudget
from proofka.model.deployment.producer import Producer
from proofka.model.deployment.profiles import NAMED, PROFILES
from proofka.model.deployment.required_properties import KNOWN_PROPERTIES
from proofka.model.deployment.setting import Ignored, Origin, Setting
from proofka.model.deployment.times import Durations
from proofka.model.durations import Quantity
from proofka.model.faults import Fault

_ORIGIN_KINDS = ("file", "option", "default", "rule", "assumption")
_SCOPES = ("topic", "broker", "producer", "consumer", "application", "assume", "bounds")
_OF_CONSUMER = ("knows_epochs", "checks_epochs", "checks_starts", "waits_beyond_end", "connects", "waits_for_bytes")
_NAMES: Mapping[str, Names] = {
    "cluster": {},
    "producer": {"connects": "producer_connects"},
    "consumer": {name: f"consumer_{name}" for name in _OF_CONSUMER},
    "application": {},
}
"""The parts of a deployment whose fields are members of the document itself, with the fields that have another name
there."""

_AT_LEAST_ONE = ("min_insync_replicas", "flush_messages", "max_poll_records", "max_in_flight", "connects")
_NUMBERS: Ranges = {
    **dict.fromkeys(_AT_LEAST_ONE, range(1, LARGEST + 1)),
    "replicas": range(1, MOST_REPLICAS + 1),
    "records": RANGES["records"],  # of a transaction
}
"""The possible numbers of fields that cannot be 0."""


def to_document(deployment: Deployment) -> dict[str, Any]:
    """Return the deployment as JSON-able values, which ``from_document`` reads back to an equal deployment."""
    bounds, faults = deployment.bounds, deployment.faults
    return {
        "name": deployment.name,
        "client": deployment.client,
        **{name: value for part in _NAMES for name, value in written(getattr(deployment, part), _NAMES[part]).items()},
        "durations": {name: _quantity(getattr(deployment.durations, name)) for name in NAMES},
        "faults": {
            "total": faults.total,
            "at_most": [[kind, count] for kind, count in faults.at_most],
            "any_number": list(faults.any_number),
        },
        "bounds": {key: getattr(bounds, key) for key in RANGES},
        "require": list(deployment.require),
        **({} if deployment.profile is None else {"profile": deployment.profile}),
        "settings": [_setting(setting) for setting in deployment.settings],
        "ignored": [{**_setting(ignored), "reason": ignored.reason} for ignored in deployment.ignored],
        "notes": list(deployment.notes),
    }


def from_document(document: Mapping[str, Any]) -> Deployment:
    """Return the deployment of a document. Raises DocumentError, which names the wrong member."""
    read = Members(document, "deployment")
    producer = read.record(Producer, _NAMES["producer"], _NUMBERS)
    deployment = Deployment(
        name=read.text("name"),
        client=read.text("client"),
        cluster=read.record(Cluster, _NAMES["cluster"], _NUMBERS),
        producer=producer,
        consumer=read.record(Consumer, _NAMES["consumer"], _NUMBERS),
        application=read.record(Application, _NAMES["application"], _NUMBERS),
        durations=_read_durations(read.members("durations")),
        faults=_read_faults(read.members("faults")),
        bounds=_read_bounds(
            read.members("bounds"), RANGES if producer.transactional is None else RANGES_WITH_TRANSACTIONS
        ),
        require=read.items("require", lambda items: tuple(items.one_of(i, KNOWN_PROPERTIES) for i in items)),
        profile=read.one_of("profile", (*PROFILES, NAMED)) if "profile" in document else None,
        settings=read.each("settings", _read_setting),
        ignored=read.each("ignored", _read_ignored),
        notes=read.items("notes", lambda items: tuple(items.text(i) for i in items)),
    )
    read.check_no_more()
    return deployment


def _quantity(quantity: Quantity) -> dict[str, Any]:
    return {"name": quantity.name, "least": quantity.least, "most": quantity.most}


def _setting(setting: Setting | Ignored) -> dict[str, Any]:
    origin = setting.origin
    return {
        "scope": setting.scope,
        "key": setting.key,
        "value": setting.value,
        "origin": {"kind": origin.kind, "detail": origin.detail, "file": origin.file, "line": origin.line},
    }


def _read_faults(read: Members) -> FaultBudget:
    kinds = tuple(kind.value for kind in Fault)

    def pair(items: Members) -> tuple[str, int]:
        if len(items) != 2:
            raise DocumentError("must be a pair: a kind of fault, and a number", key=items.path(0))
        return items.one_of(0, kinds), items.number(1, 0, LARGEST)

    pairs = read.items("at_most", lambda items: tuple(items.items(i, lambda two: (pair(two),))[0] for i in items))
    possible = tuple(kind for kind, _ in pairs)
    any_number = read.items("any_number", lambda items: tuple(items.one_of(i, possible) for i in items))
    total = read.optional_number("total", 0, LARGEST)
    if problem := FaultBudget.problem(total, pairs, any_number):
        raise DocumentError(problem, key=read.path("any_number"))
    budget = FaultBudget(total, pairs, any_number)
    read.check_no_more()
    return budget


def _read_durations(read: Members) -> Durations:
    values = Durations(**{name: _read_quantity(read.members(name)) for name in NAMES})
    read.check_no_more()
    return values


def _read_quantity(read: Members) -> Quantity:
    least = read.number("least", 0, LARGEST)
    quantity = Quantity(read.text("name"), least, read.optional_number("most", least, LARGEST))
    read.check_no_more()
    return quantity


def _read_bounds(read: Members, ranges: Mapping[str, range]) -> Bounds:
    values = {key: read.number(key, allowed.start, allowed.stop - 1) for key, allowed in ranges.items()}
    if values["log"] < values["records"]:
        raise DocumentError("must be at least the number of records", key=read.path("log"))
    read.check_no_more()
    return Bounds(**values)


def _read_origin(read: Members) -> Origin:
    kind = read.one_of("kind", _ORIGIN_KINDS)
    origin = Origin(
        cast(Any, kind), read.text("detail"), read.optional_text("file"), read.optional_number("line", 1, LARGEST)
    )
    read.check_no_more()
    return origin


def _read_setting(read: Members) -> Setting:
    scope = read.one_of("scope", _SCOPES)
    setting = Setting(scope, read.text("key"), read.text("value"), _read_origin(read.members("origin")))
    read.check_no_more()
    return setting


def _read_ignored(read: Members) -> Ignored:
    scope = read.one_of("scope", _SCOPES)
    origin = _read_origin(read.members("origin"))
    ignored = Ignored(scope, read.text("key"), read.text("value"), origin, read.text("reason"))
    read.check_no_more()
    return ignored
