"""Failures that no setting of a client and a release prevents, as ``scripts/write_inherent.py`` computed them.

``tables/eras.csv`` has the releases of each era; ``tables/inherent.csv`` has the failures of each era.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib.resources import files

from proofka.model.deployment.choices import Commit, OnRestart, OnSendError, Sends, Sink
from proofka.model.deployment.deployment import Deployment
from proofka.model.deployment.durations import ENVIRONMENT
from proofka.model.deployment.patch_levels import newest_of_line
from proofka.model.deployment.release import JAVA
from proofka.model.faults import ENDS_PRODUCER, ONLY_BY_NAME, Fault

NO_FAULT = ""
"""The word of the table for ordinary operation."""

ANY = "any"
"""The word of the table for every fault of a property, or every property with a fault."""

KRAFT, ZOOKEEPER_MODE = "kraft", "zookeeper"
"""Modes of the brokers."""

_VERSION = re.compile(r"\d{1,4}(\.\d{1,4}){1,3}", re.ASCII)

_TRIED = {NO_FAULT, *(kind.value for kind in Fault if kind not in ONLY_BY_NAME)}
"""The faults that were tried: all kinds that happen without being named."""


class Known(StrEnum):
    """The knowledge about a property and a single fault in an era."""

    APPLICATION = "application"
    """No setting prevents the fault from violating the property; the application can."""

    NOTHING = "nothing"
    """No setting and no application that was tried prevents the violation."""

    UNDECIDED = "undecided"
    """No setting prevents the violation; it is unknown whether an application does."""

    UNKNOWN = "unknown"
    """The answer was not computed."""

    SETTINGS = "settings"
    """Settings are known with which the fault does not violate the property. The table has no row for this value."""


def known(deployment: Deployment, name: str, fault: str) -> Known:
    """Return the knowledge about a property and a single fault (or ``NO_FAULT``) for the client and release.

    The result is unknown for a fault that was not tried and for a deployment that assumes another environment. It is
    also unknown if the application does more than the applications that were tried: settings can suffice together
    with such an application.
    """
    era = era_of(deployment)
    if era is None or fault not in _TRIED or _assumes_another_environment(deployment):
        return Known.UNKNOWN
    said = _known_in(era, name, fault)
    if said in (Known.APPLICATION, Known.UNDECIDED) and _application_does_more(deployment, fault):
        return Known.UNKNOWN
    return said


def _known_in(era: str, name: str, fault: str) -> Known:
    rows = _rows_of(era)
    return Known(rows.get((name, fault)) or rows.get((name, ANY)) or rows.get((ANY, fault)) or Known.SETTINGS)


def release_with_settings(deployment: Deployment, name: str, fault: str) -> str | None:
    """Return the first newer release of brokers with settings that prevent the violation, or None if none is known."""
    if fault not in _TRIED:
        return None
    library, version = _client(deployment)
    newer = (
        era
        for era in _eras()
        if (era.client, era.mode) == (library, KRAFT)
        and era.brokers[0] > _patched(deployment.cluster.kafka)
        and (era.versions is None or (version is not None and era.versions[0] <= version[:2] <= era.versions[1]))
    )
    found = next((era for era in newer if _known_in(era.name, name, fault) is Known.SETTINGS), None)
    return None if found is None else ".".join(map(str, found.brokers[0][:2]))


def era_of(deployment: Deployment) -> str | None:
    """Return the era of the client and brokers of a deployment, or None if no era was computed for them."""
    library, version = _client(deployment)
    if version is None:
        return None
    mode = ZOOKEEPER_MODE if deployment.cluster.zookeeper else KRAFT
    for era in _eras():
        if (era.client, era.mode) == (library, mode) and era.has(version, deployment.cluster.kafka):
            return era.name
    return None


@dataclass(frozen=True)
class _Era:
    """A range of releases. ``versions`` is None for the Java client, whose version is the release of the brokers."""

    name: str
    client: str
    mode: str
    versions: tuple[tuple[int, ...], tuple[int, ...]] | None
    brokers: tuple[tuple[int, ...], tuple[int, ...]]

    def has(self, version: tuple[int, ...], kafka: tuple[int, int, int]) -> bool:
        """Tell whether the era contains the version of the client and the release of the brokers."""
        if self.versions is None:
            same = _patched(version) == _patched(kafka)
        else:
            first, last = self.versions
            same = first <= version[:2] <= last
        return same and self.brokers[0] <= _patched(kafka) <= self.brokers[1]


def _patched(release: tuple[int, ...]) -> tuple[int, ...]:
    """Return the release in three numbers; a later patch than the last known one of its line counts as that one."""
    major, minor, patch = (*release, 0, 0)[:3]
    newest = newest_of_line((major, minor, patch))
    return newest if newest is not None else (major, minor, patch)


def _client(deployment: Deployment) -> tuple[str, tuple[int, ...] | None]:
    """Return the library and its version, or None as the version if producer and consumer have different ones."""
    library, _, version = deployment.client.partition(" ")
    return library, _numbers(version) if _VERSION.fullmatch(version) else None


def _application_does_more(deployment: Deployment, fault: str) -> bool:
    """Tell whether the application does something that could help against the fault together with settings.

    The best settings were tried with a producer that drops failed records and forgets at its end the records that
    it had, and with a plain sink. Only the producer can help against the end of a producer, and only the consumer
    against the crash of a consumer.
    """
    forgets = deployment.application.on_restart is OnRestart.FORGET and deployment.application.sends is Sends.ASYNC
    producer = not forgets or deployment.application.on_send_error not in (OnSendError.DROP, OnSendError.IGNORE)
    consumer = deployment.application.sink is not Sink.PLAIN or deployment.application.commit is Commit.BEFORE
    if fault == Fault.CONSUMER_CRASH:
        return consumer
    return producer if fault in ENDS_PRODUCER else producer or consumer


def _assumes_another_environment(deployment: Deployment) -> bool:
    """Tell whether the deployment sets durations outside of Kafka (``assume``)."""
    return any(
        one.scope == "assume" and one.key in ENVIRONMENT and one.origin.kind != "assumption"
        for one in deployment.settings
    )


@cache
def _eras() -> tuple[_Era, ...]:
    return tuple(
        _Era(
            row["era"],
            row["client"],
            row["mode"],
            None if row["client"] == JAVA else (_numbers(row["since"]), _numbers(row["until"])),
            (_numbers(row["kafka_since"]), _numbers(row["kafka_until"])),
        )
        for row in table("eras")
    )


@cache
def _rows_of(era: str) -> Mapping[tuple[str, str], str]:
    return {(row["property"], row["fault"]): row["behind"] for row in table("inherent") if row["era"] == era}


def _numbers(release: str) -> tuple[int, ...]:
    return tuple(int(number) for number in release.split("."))


def table(name: str) -> tuple[Mapping[str, str], ...]:
    """Read the rows of a table beside this file."""
    text = (files("proofka.reports") / "tables" / f"{name}.csv").read_text(encoding="utf-8")
    return tuple(csv.DictReader(text.splitlines()))
