"""The known defects beside a pass: release, settings, events, features and treatment all decide."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest

from proofka.model.deployment import Deployment, read_properties
from proofka.model.deployment.explored import FaultBudget
from proofka.model.deployment.required_properties import KNOWN_PROPERTIES
from proofka.model.faults import Fault
from proofka.properties.known_defects import beside
from proofka.properties.known_defects.affected import Affected
from proofka.properties.known_defects.beside import could_violate, defects_beside, known_defects
from proofka.properties.known_defects.conditions import is_met, values_of
from proofka.properties.known_defects.defect import Defect, Treatment
from proofka.properties.known_defects.features import USES
from proofka.properties.known_defects.register import defects_of, products
from proofka.properties.known_defects.releases import releases_of

PROPERTY = "no-acked-loss"


@cache
def deployment(kafka: str = "3.9.1", *kinds: Fault) -> Deployment:
    some = read_properties(kafka=kafka, assume={"replicas": "3"})
    return replace(some, faults=FaultBudget(1, tuple((kind.value, 1) for kind in kinds or (Fault.KILL,))))


def defect(**different: object) -> Defect:
    made = Defect(
        id="KAFKA-0",
        product="broker",
        affected=Affected((3, 9, 0), (3, 9, 1), ((3, 9, 2), (4, 0, 0))),
        sentence="A record is lost.",
        breaks=(PROPERTY,),
        settings=(),
        needs=("kill",),
        features=("kraft",),
        treatment=Treatment.NOTED,
        shown_by="-",
        source="commit",
        uncertain="-",
        notes="-",
    )
    return replace(made, **different)  # type: ignore[arg-type]


@pytest.fixture
def only(monkeypatch: pytest.MonkeyPatch) -> list[Defect]:
    """Use the register with the defects of this list alone."""
    there: list[Defect] = []
    monkeypatch.setattr(beside, "defects_of", lambda product: tuple(one for one in there if one.product == product))
    return there


@pytest.mark.parametrize(
    ("different", "kafka", "kinds", "named"),
    [
        ({}, "3.9.1", (Fault.KILL,), True),
        ({}, "3.9", (Fault.KILL,), True),
        ({}, "3.9.2", (Fault.KILL,), False),
        ({}, "3.8", (Fault.KILL,), False),
        ({"product": "java"}, "3.9.1", (Fault.KILL,), True),
        ({"product": "librdkafka"}, "3.9.1", (Fault.KILL,), False),
        ({"breaks": ("log-order",)}, "3.9.1", (Fault.KILL,), False),
        ({"needs": ("power-loss",)}, "3.9.1", (Fault.KILL,), False),
        ({"needs": ("power-loss", "kill")}, "3.9.1", (Fault.KILL,), True),
        ({"needs": ("coordinator-move",)}, "3.9.1", (Fault.LEADER_MOVE,), True),
        ({"needs": ("coordinator-move",)}, "3.9.1", (Fault.LOST_RESPONSE,), False),
        ({"needs": ("upgrade",)}, "3.9.1", (Fault.KILL,), False),
        ({"needs": ()}, "3.9.1", (Fault.LOST_RESPONSE,), True),
        ({"features": ("zookeeper",)}, "3.9.1", (Fault.KILL,), False),
        ({"features": ("transactions", "kraft")}, "3.9.1", (Fault.KILL,), False),
        ({"features": ("idempotence",)}, "3.9.1", (Fault.KILL,), True),
        ({"settings": ("acks=1",)}, "3.9.1", (Fault.KILL,), False),
        ({"settings": ("acks=all", "retries>0")}, "3.9.1", (Fault.KILL,), True),
        ({"treatment": Treatment.MODELLED}, "3.9.1", (Fault.KILL,), False),
        ({"treatment": Treatment.REFUSED}, "3.9.1", (Fault.KILL,), False),
    ],
)
def test_release_settings_and_events_decide(
    only: list[Defect], different: dict[str, object], kafka: str, kinds: tuple[Fault, ...], named: bool
) -> None:
    only.append(defect(**different))
    assert bool(defects_beside(deployment(kafka, *kinds), PROPERTY)) is named


@pytest.mark.parametrize("prop", KNOWN_PROPERTIES)
def test_every_property_has_defects_that_could_violate_it(prop: str) -> None:
    """Otherwise a pass of the property would name no defect, whatever the releases are."""
    assert any(could_violate(one, prop) for product in products() for one in defects_of(product))


def test_a_defect_of_a_related_property_is_named(only: list[Defect]) -> None:
    only.append(defect(breaks=("no-dropped-record",)))
    assert defects_beside(deployment(), "no-failed-send") == tuple(only)
    assert not defects_beside(deployment(), "no-acked-loss")


def test_verdict_has_its_known_defects_in_words(only: list[Defect]) -> None:
    only += [defect(), defect(id="java-1", product="java", affected=Affected((), (), ()))]
    one, other = known_defects(deployment(), PROPERTY)
    assert (one.id, one.product, one.fix) == ("KAFKA-0", "Kafka's brokers", "fixed in 3.9.2, 4.0.0")
    assert other.fix == "not fixed in any release that the register covers"


@pytest.mark.parametrize(
    ("condition", "met"),
    [
        ("acks=all", True),
        ("acks=-1", True),
        ("acks!=all", False),
        ("retries>0", True),
        ("retries<1", False),
        ("compression.type!=none", False),
        ("group.protocol=consumer", False),
        ("client.rack!=unset", False),
        ("transactional.id=unset", True),
        ("nobody.knows.this=7", True),
        ("partition.assignment.strategy=CooperativeStickyAssignor", False),
    ],
)
def test_conditions_on_settings(condition: str, met: bool) -> None:
    assert is_met(condition, values_of(deployment())) is met


def test_assignors_in_a_list() -> None:
    values = {"partition.assignment.strategy": frozenset({"range", "cooperativestickyassignor"})}
    assert is_met("partition.assignment.strategy=CooperativeStickyAssignor", values)


def test_features_of_a_plain_deployment() -> None:
    in_use = {name for name, uses in USES.items() if uses(deployment())}
    assert in_use == {"idempotence", "groups", "auto-commit", "retention", "kraft"}


def test_releases_are_those_that_were_named() -> None:
    assert dict(releases_of(deployment("3.9.1"))) == {"broker": (3, 9, 1), "java": (3, 9, 1)}
