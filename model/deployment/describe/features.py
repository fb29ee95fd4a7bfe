"""The release of a cluster, and the levels of its features, from the outputs of Kafka's tools.

``kafka-features.sh describe`` prints the newest ``metadata.version`` that the brokers support, and ``kafka-configs.sh
--describe --all`` the default of ``inter.broker.protocol.version``: both name the line of the brokers' release.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from proofka.model.deployment.describe.output import Feature, Section
from proofka.model.deployment.errors import DeploymentError
from proofka.model.deployment.given import Given, Settings, complaint, place
from proofka.model.deployment.hiding import printable
from proofka.model.deployment.release import Release, ReleaseError, parse_release
from proofka.model.deployment.setting import Origin
from proofka.model.deployment.transaction_rules import FEATURE as TRANSACTIONS
from proofka.model.deployment.vendor_releases import vendor_release

METADATA = "metadata.version"
GROUPS = "group.version"
ELIGIBLE = "eligible.leader.replicas.version"

_PROTOCOL = re.compile(r"(?P<line>\d{1,3}\.\d{1,3}(?:\.\d{1,3})?)-IV(?P<step>\d{1,3})", re.ASCII)
"""A version of the metadata or of the protocol between brokers. The line has three numbers before 1.0."""

_WITH_FEATURES = (4, 0)
"""The first release whose features are those that the model knows: without a level, such a feature is off."""

_NEEDED = (
    ((3, 3), (4, 0), (3, 3, 3), "a broker that is being stopped can join the ISR again (KIP-841)"),
    ((3, 5), None, (3, 5, 1), "a replica that lost its log can join the ISR for what it fetched before (KIP-903)"),
)
"""For brokers of a release, up to another one: the metadata.version that the model assumes, and why."""

Features = Mapping[str, Feature]


def release_of(features: Features, brokers: Iterable[Section]) -> Given | None:
    """Return the line of the brokers' release, or None if the outputs do not tell. Raises DeploymentError if they
    contradict each other."""
    told = list(_told(features, brokers))
    for other in told[1:]:
        if other.value != told[0].value:
            message = (
                f"the brokers are of different releases: {printable(told[0].value)} at {place(told[0])}, "
                f"{printable(other.value)} here; finish the upgrade and describe the cluster again"
            )
            raise complaint(Given("release", "", other.origin), message)
    return told[0] if told else None


def _told(features: Features, brokers: Iterable[Section]) -> Iterator[Given]:
    supported = features[METADATA].supported if METADATA in features else None
    for given in (supported, *(broker.protocol for broker in brokers)):
        found = None if given is None else _PROTOCOL.fullmatch(given.value)
        if given is not None and found is not None:
            yield Given("kafka", _line(found["line"]), given.origin)


def _line(text: str) -> str:
    """Return the line of a release as the other readers name it: 0.11 for 0.11.0."""
    return text.removesuffix(".0") if text.startswith("0.") else text


def check_release(named: Given, found: Given | None) -> None:
    """Raise DeploymentError if the release that the user names is of another line than the outputs tell."""
    try:
        chosen = parse_release(named.value)
    except ReleaseError:
        return  # The reader of the deployment reports the error.
    if found is None or vendor_release(named.value) is not None:
        return
    try:
        line = parse_release(found.value).line
    except ReleaseError:
        line = None
    if chosen.line != line:
        message = (
            f"is {printable(named.value)}, but {place(found)} shows brokers of {found.value}; name a release of this "
            "line, or leave it out"
        )
        raise complaint(replace(named, key="kafka"), message)


def feature_settings(features: Features, release: str) -> dict[str, Given]:
    """Return the levels of the features that the model reads, as settings of the brokers.

    Raises DeploymentError for a ``metadata.version`` below what the model assumes.
    """
    try:
        kafka = parse_release(release)
    except ReleaseError:
        return {}
    _check_metadata(features, kafka)
    if not features or kafka.line < _WITH_FEATURES:
        return {}
    return {key: _level(features, key) for key in (ELIGIBLE, TRANSACTIONS)}


def _level(features: Features, key: str) -> Given:
    """Return the level of a feature; a feature that is not listed is off."""
    if key in features:
        return features[key].level
    first = next(iter(features.values()))
    return Given(key, "0", Origin("file", "", first.level.origin.file, first.level.origin.line))


def _check_metadata(features: Features, kafka: Release) -> None:
    level = features[METADATA].level if METADATA in features else None
    found = None if level is None else _PROTOCOL.fullmatch(level.value)
    if level is None or found is None:
        return
    version = (*map(int, found["line"].split(".")[:2]), int(found["step"]))
    for since, until, needed, what in _NEEDED:
        if since <= kafka.line and (until is None or kafka.line < until) and version < needed:
            message = (
                f"is {printable(level.value)}, with which {what}; the model assumes {needed[0]}.{needed[1]}-IV"
                f"{needed[2]} or later for brokers of {kafka}: raise it (kafka-features.sh upgrade), and describe the "
                "cluster again"
            )
            raise complaint(level, message)


def check_groups(features: Features, consumer: Settings, release: str) -> None:
    """Raise DeploymentError for a consumer of the brokers' protocol of groups in a cluster where the feature is off."""
    protocol = consumer.get("group.protocol")
    if protocol is None or protocol.value.strip().lower() != "consumer" or not features:
        return
    if parse_release(release).line >= _WITH_FEATURES and _level(features, GROUPS).value == "0":
        where = place(_level(features, GROUPS))
        message = (
            f"needs {GROUPS}=1, which this cluster does not have ({where}): its brokers refuse the protocol; raise the "
            "feature, or use group.protocol=classic"
        )
        raise complaint(protocol, message)


def together(features: Iterable[Feature]) -> dict[str, Feature]:
    """Return features by name. Raises DeploymentError if two outputs give one different levels."""
    found: dict[str, Feature] = {}
    for feature in features:
        first = found.setdefault(feature.name, feature)
        if (first.supported.value, first.level.value) != (feature.supported.value, feature.level.value):
            message = f"is another level at {place(first.level)}; describe the cluster again, each in its own folder"
            raise DeploymentError(
                message, file=feature.level.origin.file, line=feature.level.origin.line, key=feature.name
            )
    return found
