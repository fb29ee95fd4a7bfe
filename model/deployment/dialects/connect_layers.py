"""What a worker of Kafka Connect says for the clients of the connectors that it runs, laid under what these say.

A connector's client has Connect's own values, over these the worker's ``producer.`` or ``consumer.``, and over these
its own ``producer.override.`` or ``consumer.override.`` (``Worker.baseProducerConfigs``, ``baseConsumerConfigs``), as
far as ``connector.client.config.override.policy`` allows it (``NoneConnectorClientConfigOverridePolicy``,
``PrincipalConnectorClientConfigOverridePolicy``; without one all are allowed since 3.0). Which worker runs a connector
Strimzi's label says; of other files the only one that lies nearest is taken.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from os.path import commonpath, normpath
from pathlib import PurePath

from model.deployment.dialects.component import Component, Found, Left, Role
from model.deployment.dialects.connect import EXACTLY_ONCE, POLICY, is_enabled
from model.deployment.given import Given, Settings
from model.deployment.setting import Origin

TRANSACTIONS = "transactions of source connectors: which of them have one only the worker knows"
WORKER, CONNECTOR = "worker", "connector"
_PRINCIPALS = ("sasl.jaas.config", "sasl.mechanism", "security.protocol")
_SEVERAL = "several workers of Kafka Connect lie as near, and nothing says which of them runs this connector"
_NO_SUCH_CLIENT = "each connector that this worker runs says otherwise, or has no such client"
_REFUSED = "the worker refuses it: its connector.client.config.override.policy is {}"


@dataclass(frozen=True)
class _Worker:
    """The clients that one worker gives to its connectors, and the file that says it."""

    found: Found
    cluster: str
    clients: tuple[Component, ...]

    @property
    def told(self) -> Settings:
        return {key: given for one in self.clients for key, given in one.told.items()}


def over_their_workers(found: Sequence[Found]) -> tuple[Found, ...]:
    """The same, each connector with what the worker says that runs it; a worker with connectors is no client itself."""
    workers = [one for each in found for one in _workers(each)]
    if not workers:
        return tuple(found)
    running: set[tuple[str, str]] = set()
    laid = [_over(each, workers, running) for each in found]
    kept: set[Origin] = {
        given.origin
        for each in laid
        for one in each.components
        for given in one.given
        if one.layer != WORKER or (each.file, one.cluster) not in running
    }
    return tuple(_without_clients(each, running, kept) for each in laid)


def _workers(found: Found) -> list[_Worker]:
    clusters = dict.fromkeys(one.cluster for one in found.components if one.layer == WORKER)
    clients = [one for one in found.components if one.layer == WORKER]
    return [_Worker(found, name, tuple(one for one in clients if one.cluster == name)) for name in clusters]


def _over(found: Found, workers: Sequence[_Worker], running: set[tuple[str, str]]) -> Found:
    components: list[Component] = []
    rejected = list(found.rejected)
    for one in found.components:
        near = _nearest(one, found.file, workers) if one.layer == CONNECTOR else []
        if len(near) == 1:
            running.add((near[0].found.file, near[0].cluster))
            rejected += [left for left in near[0].found.rejected if left.reason != TRANSACTIONS]
            rejected += _refused(one, near[0].told.get(POLICY))
            components.append(_laid(one, near[0]))
            continue
        if near:
            rejected.append(Left(Given(one.name, "", _place(one, found.file)), _SEVERAL))
        components.append(one)
    return replace(found, components=tuple(components), rejected=tuple(dict.fromkeys(rejected)))


def _nearest(connector: Component, file: str, workers: Sequence[_Worker]) -> list[_Worker]:
    """The workers that could run a connector, those that lie nearest."""
    folder = _folder(file)
    able = [one for one in workers if one.cluster == connector.cluster]

    def shared(worker: _Worker) -> int:
        other = _folder(worker.found.file)
        if other == folder:
            return len(folder) + 1
        try:
            return len(commonpath((folder, other)))
        except ValueError:
            return -1

    best = max((shared(one) for one in able), default=0)
    return [one for one in able if shared(one) == best]


def _folder(file: str) -> str:
    return str(PurePath(normpath(file)).parent)


def _laid(connector: Component, worker: _Worker) -> Component:
    base = next((one.settings for one in worker.clients if one.role is connector.role), {})
    own = {key: given for key, given in connector.settings.items() if given.origin.kind != "rule"}
    said = {key: given for key, given in base.items() if given.origin.kind != "rule"}
    settings = {**connector.settings, **said, **own}
    exactly_once = worker.told.get(EXACTLY_ONCE)
    if connector.role is Role.PRODUCER and exactly_once is not None and is_enabled(exactly_once):
        if "enable.idempotence" not in {**said, **own}:
            settings["enable.idempotence"] = Given("enable.idempotence", "true", exactly_once.origin)
        settings.setdefault("transactional.id", Given("transactional.id", connector.name, exactly_once.origin))
    return replace(connector, settings=settings, application=_answers(connector, settings))


def _answers(connector: Component, settings: Settings) -> Settings:
    """What the task does, where its client is what the worker made it."""
    commits = settings.get("enable.auto.commit")
    left_out: Iterable[str] = ()
    if "transactional.id" in settings:
        left_out = ("on_restart",)
    elif commits is not None and commits.value.strip().lower() != "false":
        left_out = ("commit",)
    return {key: given for key, given in connector.application.items() if key not in left_out}


def _refused(connector: Component, policy: Given | None) -> list[Left]:
    name = "" if policy is None else policy.value.strip().rpartition(".")[2]
    name = name.removesuffix("ConnectorClientConfigOverridePolicy").lower()
    if name not in ("none", "principal"):
        return []
    return [
        Left(replace(given, key=given.origin.detail or given.key, value=""), _REFUSED.format(name.capitalize()))
        for key, given in connector.settings.items()
        if given.origin.kind == "file"
        and ".override." in (given.origin.detail or "")
        and not (name == "principal" and key in _PRINCIPALS)
    ]


def _place(connector: Component, file: str) -> Origin:
    first = next((one.origin for one in connector.given if one.origin.kind == "file"), None)
    return first if first is not None else Origin("file", connector.name, file, 1)


def _without_clients(found: Found, running: set[tuple[str, str]], kept: set[Origin]) -> Found:
    gone = [one for one in found.components if one.layer == WORKER and (found.file, one.cluster) in running]
    if not gone:
        return found
    values: Mapping[Origin, Given] = {
        given.origin: given for one in gone for given in one.given if given.origin.kind == "file"
    }
    unused = [
        Left(Given(origin.detail or given.key, "", origin), _NO_SUCH_CLIENT)
        for origin, given in values.items()
        if origin not in kept
    ]
    components = tuple(one for one in found.components if one not in gone)
    return replace(found, components=components, ignored=(*found.ignored, *unused))
