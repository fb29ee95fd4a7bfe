"""A Kafka Connect worker's settings for the clients of its connectors, laid under the connectors' own settings.

A connector's client has Connect's own values, then the worker's ``producer.`` or ``consumer.`` settings, then its own
``producer.override.`` or ``consumer.override.`` settings (``Worker.baseProducerConfigs``, ``baseConsumerConfigs``), if
``connector.client.config.override.policy`` allows them (``NoneConnectorClientConfigOverridePolicy``,
``PrincipalConnectorClientConfigOverridePolicy``; by default all are allowed since 3.0). Strimzi's label names the
worker of a connector; for other files, the nearest worker counts if there is only one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from os.path import commonpath, normpath
from pathlib import PurePath

from proofka.model.deployment.dialects.component import Component, Found, Left, Role
from proofka.model.deployment.dialects.connect import EXACTLY_ONCE, POLICY, is_enabled
from proofka.model.deployment.given import Given, Settings
from proofka.model.deployment.setting import Origin

TRANSACTIONS = "enables transactions of source connectors, but the file does not tell which connectors use them"
WORKER, CONNECTOR = "worker", "connector"
_PRINCIPALS = ("sasl.jaas.config", "sasl.mechanism", "security.protocol")
_SEVERAL = "several workers of Kafka Connect are equally near, and no file names the one that runs this connector"
_NO_SUCH_CLIENT = "each connector of this worker has its own value, or has no such client"
_REFUSED = (
    "is refused by the worker, whose connector.client.config.override.policy is {}; remove it, or change the policy"
)


@dataclass(frozen=True)
class _Worker:
    """The clients that one worker gives to its connectors, and its file."""

    found: Found
    cluster: str
    clients: tuple[Component, ...]

    @property
    def told(self) -> Settings:
        return {key: given for one in self.clients for key, given in one.told.items()}


def over_their_workers(found: Sequence[Found]) -> tuple[Found, ...]:
    """Return the files with each connector laid over its worker's settings. A worker with connectors is no client
    itself."""
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
    """Return the nearest workers that could run a connector."""
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
    """Return the behaviour of the task, with the client that the worker configures."""
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
