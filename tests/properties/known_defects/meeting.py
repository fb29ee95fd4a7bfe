"""Deployments that meet a row of the register: each condition of the row adds what meets it to a record.

Where several additions can meet a condition, the first one that can be read counts. Of the sections that take a setting
the first one that does not ignore the setting counts.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from proofka.model.deployment import Deployment, DeploymentError
from proofka.model.deployment.record_reader import read_record
from proofka.properties.known_defects.affected import Release
from proofka.properties.known_defects.conditions import is_met, values_of
from proofka.properties.known_defects.defect import Defect, release_in_words
from proofka.properties.known_defects.events import can_happen, events
from proofka.properties.known_defects.features import USES
from proofka.properties.known_defects.register import products

Record = Mapping[str, object]
Meets = Callable[[Deployment], bool]
BROKER, JAVA = "broker", "java"
FAULTS = "assume.faults"
OF_RELEASES = frozenset(
    {"kafka", *(f"{one}.{key}" for one in ("producer", "consumer") for key in ("client", "version"))}
)
SECTIONS = ("topic", "broker", "producer", "consumer")
ADDITIONS = Path(__file__).with_name("additions.csv")
OTHER_BROKERS = "2.6"
"""The release of the brokers beside a library that is not Kafka's."""


@dataclass(frozen=True)
class Condition:
    """A condition of a row: what can meet the condition in a record, and whether a deployment does.

    ``prefers``: whether an addition is better than an earlier one that meets the condition as well.
    """

    additions: tuple[Record, ...]
    meets: Meets
    prefers: Meets = lambda _: True


@cache
def _listed() -> Mapping[str, tuple[Record, ...]]:
    """Return the additions of ``additions.csv`` by condition: features, events by settings, and unequal values."""
    found: dict[str, list[Record]] = {}
    for row in csv.DictReader(ADDITIONS.read_text(encoding="utf-8").splitlines()):
        pairs = (pair.partition("=") for pair in row["addition"].split())
        found.setdefault(row["condition"], []).append({key: value for key, _, value in pairs})
    return {condition: tuple(additions) for condition, additions in found.items()}


def read(record: Record) -> Deployment | None:
    """Return the deployment of a record, or None for a record that is refused."""
    try:
        return read_record(record, name="row", file="test", line=1)
    except DeploymentError:
        return None


@cache
def meeting(defect: Defect) -> Record | None:
    """Return a record of a deployment that meets the row, or None where no addition meets some condition."""
    known = products()[defect.product]
    releases = dict.fromkeys((defect.affected.last or known.newest, defect.affected.first or known.oldest))
    starts = (start for release in releases for start in _of_release(defect.product, release))
    wholes = (_completed(start, _conditions(defect)) for start in starts)
    return next((record for record in wholes if record is not None), None)


def _of_release(product: str, release: Release) -> Iterator[Record]:
    """Yield records of a release of a product: brokers, or a client in one section or in both."""
    text = release_in_words(release)
    if product in (BROKER, JAVA):
        yield {"kafka": text, "producer.version": text, "consumer.version": text}
        return
    for sections in (("producer", "consumer"), ("consumer",), ("producer",)):
        of_client = {f"{one}.client": product for one in sections} | {f"{one}.version": text for one in sections}
        yield {"kafka": OTHER_BROKERS, **of_client}


def _completed(record: Record, conditions: tuple[Condition, ...]) -> Record | None:
    """Return the record with the additions that the conditions need, or None where one condition cannot be met."""
    for done, condition in enumerate(conditions, start=1):
        found: list[Record] = []
        for wider in ({**record, **addition} for addition in condition.additions):
            deployment = read(wider)
            if deployment is None or not all(one.meets(deployment) for one in conditions[:done]):
                continue
            found.append(wider)
            if condition.prefers(deployment):
                found = [wider]
                break
        if not found:
            return None
        record = found[0]
    return record if conditions or read(record) is not None else None


def mended(defect: Defect, record: Record) -> Iterator[Record]:
    """Yield the record that meets a row with each release that has the fix."""
    releases = {"kafka"} if defect.product == BROKER else {"producer.version", "consumer.version"}
    for release in defect.affected.fixed:
        yield {**record, **{key: release_in_words(release) for key in releases & record.keys()}}


def lacking(record: Record) -> Iterator[Record]:
    """Yield the record that meets a row, with the same releases, without faults, without a group, or without one of its
    keys."""
    yield {**{key: value for key, value in record.items() if not key.startswith(FAULTS)}, f"{FAULTS}.total": 0}
    yield {**record, "consumer.enable.auto.commit": "false", "consumer.commit": "never"}
    for left_out in (key for key in record if key not in OF_RELEASES):
        yield {key: value for key, value in record.items() if key != left_out}


def _conditions(defect: Defect) -> tuple[Condition, ...]:
    features = (Condition((*_listed().get(one, ()), {}), USES[one]) for one in defect.features)
    settings = (_of_setting(one) for one in defect.settings)
    return (*features, *settings, *((_of_events(defect.needs),) if defect.needs else ()))


def _of_setting(condition: str) -> Condition:
    def meets(deployment: Deployment) -> bool:
        return is_met(condition, values_of(deployment))

    def is_set(deployment: Deployment) -> bool:
        return any(setting.key == key for setting in deployment.settings)

    key, _, value = condition.partition("=")
    written = ({f"{section}.{key}": value} for section in SECTIONS) if value and key[-1] not in "!<>" else ()
    return Condition((*written, *_listed().get(condition, ()), {}), meets, is_set)


def _of_events(names: tuple[str, ...]) -> Condition:
    def meets(deployment: Deployment) -> bool:
        return any(can_happen(name, deployment, values_of(deployment)) for name in names)

    kinds = (kind.value for name in names for kind in sorted(events()[name].faults))
    by_faults = ({f"{FAULTS}.{kind}": 1, f"{FAULTS}.total": 1} for kind in kinds)
    by_settings = (addition for name in names for addition in _listed().get(name, ()))
    return Condition((*by_faults, *by_settings, {}), meets)
