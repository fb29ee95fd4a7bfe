"""Manifests of Kubernetes: resources of operators, ConfigMaps with files or variables, and the contents of
containers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from proofka.model.deployment.dialects import dapr, strimzi, topic_resources
from proofka.model.deployment.dialects.accounts import NOT_KAFKAS, Accounts
from proofka.model.deployment.dialects.application_files import name_of
from proofka.model.deployment.dialects.component import EVERYTHING, Component, Found
from proofka.model.deployment.dialects.containers import Container, components_of, joined_commands, speaks_of_kafka
from proofka.model.deployment.dialects.dialect import Dialect, of_what_parses
from proofka.model.deployment.dialects.document import YAML, Document
from proofka.model.deployment.dialects.embedded import is_file, read_inside
from proofka.model.deployment.dialects.formats.yaml import values_of
from proofka.model.deployment.dialects.images import image_of
from proofka.model.deployment.dialects.kustomize import is_patch
from proofka.model.deployment.dialects.nodes import items_under, text_under, under
from proofka.model.deployment.dialects.placeholders import Fillings
from proofka.model.deployment.dialects.repeated_resources import each_resource_once
from proofka.model.deployment.dialects.said import Said
from proofka.model.deployment.errors import DeploymentError
from proofka.model.deployment.yaml_tree import Mapping, Node, Scalar

READER = "Kubernetes"
PATCH = "Kustomize patch"
_HOLDERS = ("ConfigMap", "Secret")
_PODS = (
    ("spec", "template", "spec"),
    ("spec", "jobTemplate", "spec", "template", "spec"),
    ("spec",),
)
_WORKLOADS = frozenset(
    {
        "CronJob",
        "DaemonSet",
        "Deployment",
        "DeploymentConfig",
        "Job",
        "Pod",
        "ReplicaSet",
        "ReplicationController",
        "StatefulSet",
    }
)
_OF_KAFKA = ("KAFKA_", "SPRING_KAFKA_", "CONNECT_")
_NO_VARIABLE = "is for Kubernetes, not a setting of Kafka"
_LAID_OVER = (
    "is a profile's file, which an application lays over the file without a profile: not followed in a ConfigMap; "
    "put both into a folder as files"
)


def resources_in(nodes: Sequence[Node]) -> Iterator[Node]:
    """Yield the resources of a file, including those in lists."""
    for node in nodes:
        if text_under(node, "kind") == "List":
            yield from items_under(node, "items")
        else:
            yield node


def _resources(document: Document) -> tuple[Node, ...]:
    """Return the resources of a file; none if one of its documents is no resource."""
    if document.suffix not in (*YAML, ".json") or "apiVersion" not in document.text:
        return ()
    try:
        found = tuple(resources_in(document.yaml))
    except DeploymentError:
        return ()
    whole = all(text_under(one, "apiVersion") and text_under(one, "kind") for one in found)
    return found if whole else ()


def fits_strimzi(document: Document) -> bool:
    """Tell whether some resource is one of Strimzi's."""
    return any(strimzi.is_strimzi(one) for one in _resources(document))


@of_what_parses
def fits_kubernetes(document: Document) -> bool:
    """Tell whether the file has only resources, and a ConfigMap or container concerns Kafka."""
    resources = _resources(document)
    if any(dapr.is_dapr(one) or topic_resources.is_of_an_operator(one) for one in resources):
        return True
    kinds = {text_under(one, "kind") for one in resources}
    if not kinds & {*_HOLDERS, *_WORKLOADS} or not speaks_of_kafka(document.text):
        return False
    found = read(document, {})
    return bool(found.components or found.rejected)


def read(document: Document, fillings: Fillings) -> Found:
    """Return the clusters, topics and clients of all resources in a file."""
    accounts = Accounts(document, fillings)
    resources = [accounts.each_once(one, READER) for one in _resources(document)]
    if is_patch(document):
        return _patch(resources, accounts)
    resources = each_resource_once(resources, accounts)
    of_strimzi = strimzi.read_resources([one for one in resources if strimzi.is_strimzi(one)], accounts)
    others = [one for one in resources if not strimzi.is_strimzi(one)]
    notes = list(of_strimzi.notes)
    components = [*of_strimzi.components, *_others(others, document, accounts, fillings, notes)]
    name = STRIMZI.name if any(strimzi.is_strimzi(one) for one in resources) else KUBERNETES.name
    return accounts.found(name, components, notes)


def _patch(resources: Sequence[Node], accounts: Accounts) -> Found:
    """Return partial resources as rejected, because the resources under them are not followed."""
    for resource in resources:
        name = text_under(resource, "metadata", "name")
        reaches = (text_under(resource, "spec", "topicName") or name) if _is_topic(resource) else EVERYTHING
        for said in values_of(resource):
            if said.path == ("metadata", "name"):
                accounts.reject(
                    said, "is a Kustomize patch over another file; use the output of kustomize build", reaches
                )
            else:
                accounts.ignore(said, "belongs to a patch over a resource")
    return accounts.found(PATCH, ())


def _is_topic(resource: Node) -> bool:
    return text_under(resource, "kind") == "KafkaTopic"


def _others(
    resources: Sequence[Node], document: Document, accounts: Accounts, fillings: Fillings, notes: list[str]
) -> Iterator[Component]:
    holders = {text_under(one, "metadata", "name"): one for one in resources if text_under(one, "kind") in _HOLDERS}
    used: set[tuple[str, str]] = set()
    containers: list[Container] = []
    for resource in resources:
        if text_under(resource, "kind") in _WORKLOADS:
            containers += _containers(resource, holders, used, accounts)
        elif dapr.is_dapr(resource):
            yield from dapr.read_component(resource, accounts)
        elif topic_resources.is_of_an_operator(resource):
            yield topic_resources.read_resource(resource, document, accounts)
        elif text_under(resource, "kind") not in _HOLDERS:
            for said in values_of(resource):
                accounts.ignore(said, NOT_KAFKAS)
    for name, holder in holders.items():
        variables: list[Said] = []
        for said in values_of(holder):
            if said.path[:1] not in (("data",), ("stringData",)) or len(said.path) != 2:
                accounts.ignore(said, NOT_KAFKAS)
            elif said.path[1].startswith("_example"):
                accounts.ignore(said, "is an example, which no program reads")
            elif said.path[0] == "data" and text_under(holder, "kind") == "Secret":
                accounts.ignore(said, "is a secret, which is not read")
            elif (name, said.path[1]) in used:
                continue  # The value is accounted for as a variable of its container.
            elif is_file(said.path[1], said.value):
                inside = read_inside(document, said, said.path[1], accounts, fillings)
                if inside and _is_laid_over(said.path[1], under(holder, "data")):
                    accounts.reject(said, _LAID_OVER)
                yield from inside
            else:
                variables.append(said)
        if variables:
            containers.append(Container(name, variables=variables))
    yield from components_of(containers, document, accounts, fillings, notes)


def _is_laid_over(name: str, data: Node | None) -> bool:
    """Tell whether a profile's file lies over a file without a profile in the same ConfigMap that concerns Kafka."""
    own = name_of(name.lower())
    if own is None or not own.profile or not isinstance(data, Mapping):
        return False
    texts = {name_of(entry.key.lower()): entry.node for entry in data.entries if isinstance(entry.node, Scalar)}
    below = (text for other, text in texts.items() if other is not None and not other.profile)
    return any(word in text.text.lower() for text in below for word in ("kafka", "messaging"))


def _containers(
    resource: Node, holders: dict[str, Node], used: set[tuple[str, str]], accounts: Accounts
) -> Iterator[Container]:
    """Yield the containers of a workload; ignore all other values of it."""
    base = next((path for path in _PODS if under(resource, *path, "containers") is not None), ("spec",))
    replicas = text_under(resource, "spec", "replicas")
    count = int(replicas) if replicas.isdecimal() and len(replicas) < 4 else 1
    told: dict[tuple[str, ...], list[Said]] = {}
    for said in values_of(resource):
        place = said.path[len(base) : len(base) + 2]
        if said.path[: len(base)] == base and place[:1] in (("containers",), ("initContainers",)) and len(place) == 2:
            told.setdefault(said.path[: len(base) + 2], []).append(said)
        else:
            accounts.ignore(said, _NO_VARIABLE)
    for path, values in told.items():
        node = items_under(resource, *path[:-1])[int(path[-1].strip("[]"))]
        yield _container(node, path, values, count, holders, used, accounts)


def _container(
    node: Node,
    path: tuple[str, ...],
    values: Sequence[Said],
    count: int,
    holders: dict[str, Node],
    used: set[tuple[str, str]],
    accounts: Accounts,
) -> Container:
    image: Said | None = None
    commands: list[Said] = []
    variables: list[Said] = []
    elsewhere: list[Said] = []
    for at, source in enumerate(items_under(node, "envFrom")):
        holder = text_under(source, "configMapRef", "name")
        if text_under(holders.get(holder), "kind") == "ConfigMap":
            variables += _held(holder, holders, used, text_under(source, "prefix"))
        else:
            elsewhere.append(Said((*path, "envFrom", f"[{at}]"), "", source.line))
    for at, one in enumerate(items_under(node, "env")):
        name, where = text_under(one, "name"), (*path, "env", f"[{at}]")
        reference = under(one, "valueFrom", "configMapKeyRef")
        held = text_under(reference, "name"), text_under(reference, "key")
        place = under(holders.get(held[0]), "data", held[1])
        value = under(one, "value")
        if isinstance(value, Scalar):
            variables.append(Said((*where, name), value.text, value.line, value.null))
        elif isinstance(place, Scalar):
            used.add(held)
            variables.append(Said((*where, name), place.text, place.line, place.null))
        elif under(one, "valueFrom") is not None:
            # The value is elsewhere: in a secret, in another file, or known to Kubernetes only at run time.
            line = one.line
            variables.append(Said((*where, name), f"${{{name}}}", line))
    for said in values:
        below = said.path[len(path) :]
        if below == ("image",):
            image = said
        elif below[:1] in (("command",), ("args",)):
            commands.append(said)
        elif below[:1] == ("env",) and below[2:] == ("value",):
            continue
        else:
            accounts.ignore(said, _NO_VARIABLE)
    joined = joined_commands(commands, accounts)
    given = _by_name(variables, accounts)
    names = [said.path[-1] for said in given]
    if image_of("" if image is None else image.value, names).runs or any(name.startswith(_OF_KAFKA) for name in names):
        for said in elsewhere:
            accounts.reject(
                said, "takes variables from a ConfigMap of another file, or a secret, which are not read here"
            )
    return Container(text_under(node, "name"), image, given, joined, count)


def _held(name: str, holders: dict[str, Node], used: set[tuple[str, str]], prefix: str) -> Iterator[Said]:
    """Yield the variables of a ConfigMap of the same file, with their prefix."""
    data = under(holders.get(name), "data")
    for entry in data.entries if isinstance(data, Mapping) else ():
        if isinstance(entry.node, Scalar) and not is_file(entry.key, entry.node.text):
            used.add((name, entry.key))
            yield Said(("data", prefix + entry.key), entry.node.text, entry.node.line, entry.node.null)


def _by_name(variables: Sequence[Said], accounts: Accounts) -> tuple[Said, ...]:
    """Return each variable once: a container's own values outrank values from elsewhere, and the last outranks the
    others."""
    kept: dict[str, Said] = {}
    for said in variables:
        before = kept.get(said.path[-1])
        if before is not None:
            accounts.ignore(before, "the container has another value for this name")
        kept[said.path[-1]] = said
    return tuple(kept.values())


STRIMZI = Dialect("Strimzi resources", fits_strimzi, read)
KUBERNETES = Dialect("Kubernetes manifest", fits_kubernetes, read)
