"""The table of inherent failures equals the computation, and is silent about everything else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise

import pytest

from proofka.model.deployment.choices import OnRestart
from proofka.model.deployment.deployment import Deployment
from proofka.model.deployment.required_properties import KNOWN_PROPERTIES
from proofka.model.deployment.setting import Origin, Setting
from proofka.model.faults import Fault
from proofka.reports.by_fault import Behind, lies_behind
from proofka.reports.inherent import ANY, NO_FAULT, ZOOKEEPER_MODE, Known, era_of, known, table
from scripts import write_inherent
from tests.deployments import changed
from tests.reports import samples

CRASH = "producer-crash"


def of(client: str, kafka: tuple[int, int, int], *, zookeeper: bool = False) -> Deployment:
    return changed(samples.DEPLOYMENT, client=client, kafka=kafka, zookeeper=zookeeper)


def asked_of(row: Mapping[str, str]) -> write_inherent.Asked:
    return write_inherent.Asked(row["client"], row["since"], row["until"], row["mode"], row["kafka_since"])


def rows_of(era: str) -> list[tuple[str, str, str]]:
    return [(row["property"], row["fault"], row["behind"]) for row in table("inherent") if row["era"] == era]


def test_every_row_is_of_an_era_a_property_and_a_fault() -> None:
    eras = [row["era"] for row in table("eras")]
    assert len(set(eras)) == len(eras)
    for row in table("inherent"):
        assert row["era"] in eras
        assert row["property"] in {ANY, *KNOWN_PROPERTIES}
        assert row["fault"] in {ANY, NO_FAULT, *Fault}
        assert row["behind"] in set(Known) - {Known.SETTINGS}


@pytest.mark.parametrize(
    ("client", "kafka", "zookeeper", "era"),
    [
        ("java 4.0", (4, 0, 0), False, "java kraft 3.3.0"),
        ("java 4.0.7", (4, 0, 7), False, "java kraft 3.3.0"),
        ("java 4.0.12", (4, 0, 12), False, "java kraft 3.3.0"),
        ("java 4.0", (4, 1, 0), False, None),
        ("java 3.9", (3, 9, 0), True, "java zookeeper 2.1.0"),
        ("java 2.4.0", (2, 4, 0), True, "java zookeeper 2.1.0"),
        ("java 0.10.2.1", (0, 10, 2), True, None),
        ("kafka-go 0.4", (4, 3, 0), False, "kafka-go 0.4 kraft 3.7.0"),
        ("kafka-go 0.4.47", (4, 3, 0), False, "kafka-go 0.4 kraft 3.7.0"),
        ("librdkafka 2.3.1", (4, 3, 0), False, "librdkafka 2.15 kraft 3.7.0"),
        ("librdkafka 2.2", (4, 3, 0), False, None),
        ("java 4.x", (4, 0, 0), False, None),
        ("java", (4, 0, 0), False, None),
        ("java 4.0 (producer), java 3.9 (consumer)", (4, 0, 0), False, None),
    ],
)
def test_a_release_is_in_the_era_that_it_was_computed_in(
    client: str, kafka: tuple[int, int, int], zookeeper: bool, era: str | None
) -> None:
    assert era_of(of(client, kafka, zookeeper=zookeeper)) == era


def test_eras_of_a_client_do_not_overlap_and_leave_out_no_release_between_them() -> None:
    for client in {(row["client"], row["mode"]) for row in table("eras")}:
        mine = [row for row in table("eras") if (row["client"], row["mode"]) == client]
        order = write_inherent.releases(mine[0]["mode"])
        ends = [(order.index(row["kafka_since"]), order.index(row["kafka_until"])) for row in mine]
        assert all(first <= last for first, last in ends)
        assert all(before[1] + 1 == after[0] for before, after in pairwise(ends))
        assert ends[-1][1] == len(order) - 1


def test_every_release_that_is_asked_for_has_an_era() -> None:
    """Eras begin with the oldest requested brokers."""
    for asked in write_inherent.asked():
        order = write_inherent.releases(asked.mode)
        for number, kafka in enumerate(order):
            major, minor, patch = (int(one) for one in kafka.split("."))
            for version in {asked.since or kafka, asked.version if asked.until else kafka}:
                mine = of(f"{asked.client} {version}", (major, minor, patch), zookeeper=asked.mode == ZOOKEEPER_MODE)
                assert (era_of(mine) is not None) is (number >= order.index(asked.kafka)), mine.client


def test_all_versions_of_a_client_that_share_rows_come_to_the_same_systems() -> None:
    """The oldest version of a client has the same systems as the newest one."""
    for asked in write_inherent.asked():
        if asked.since != asked.until:
            for kind in (write_inherent.SETTINGS, write_inherent.APPLICATION):
                oldest = write_inherent.systems_of(replace(asked, until=asked.since), kind)
                assert set(oldest) == set(write_inherent.systems_of(asked, kind)), asked.name


def test_each_era_begins_and_ends_with_systems_that_can_be_built() -> None:
    """The newest release of the last era of each client has the computed systems."""
    for asked in write_inherent.asked():
        last = [row for row in table("eras") if (row["client"], row["mode"]) == (asked.client, asked.mode)][-1]
        newest = write_inherent.releases(asked.mode)[-1]
        assert last["kafka_until"] == newest
        assert write_inherent.systems_of(replace(asked, kafka=newest), write_inherent.SETTINGS)


def test_inherence_that_was_not_computed_is_unknown() -> None:
    computed = of("java 4.0", (4, 0, 0))
    assert known(computed, "no-silent-loss", CRASH) is Known.APPLICATION
    assert known(computed, "no-acked-loss", "kill") is Known.SETTINGS
    assert known(of("java 4.0", (4, 1, 0)), "no-silent-loss", CRASH) is Known.UNKNOWN
    assert known(computed, "no-acked-loss", "eviction") is Known.UNKNOWN
    assert known(computed, "no-acked-loss", "failed-processing") is Known.UNKNOWN
    assert known(computed, "atomicity", "kill") is Known.UNKNOWN
    assert known(computed, "no-acked-loss", "of-the-future") is Known.UNKNOWN
    assert lies_behind(computed, "no-acked-loss", (("kill", 2),)) is Behind.UNKNOWN


def test_settings_can_suffice_with_a_better_application() -> None:
    """The best settings were tried with a producer that forgets; for another producer the result is unknown."""
    resumes = changed(of("java 4.0", (4, 0, 0)), on_restart=OnRestart.FROM_ACKNOWLEDGED)
    assert known(resumes, "no-silent-loss", CRASH) is Known.UNKNOWN
    assert known(resumes, "no-reprocessing", "consumer-crash") is Known.APPLICATION


def test_settings_can_suffice_in_another_environment() -> None:
    deployment = of("sarama 1.60", (3, 9, 0))
    assert known(deployment, "log-order", CRASH) is Known.NOTHING
    slow = Setting("assume", "broker_restart", "20s..5min", Origin("file", "", "a.yaml", 3))
    assert known(replace(deployment, settings=(slow,)), "log-order", CRASH) is Known.UNKNOWN


def test_a_broker_that_lost_its_disk_is_fenced_before_it_returns() -> None:
    """A broker keeps its place in the ISR by a stall of the controller only (3.3 to 3.9), which takes two faults."""
    for zookeeper in (True, False):
        assert known(of("java 3.9", (3, 9, 0), zookeeper=zookeeper), "no-acked-loss", "disk-loss") is Known.SETTINGS


QUICK = "franz-go 1.21 kraft 3.7.0"
"""An era with few deployments, which take one or two seconds each."""


@pytest.mark.slow
def test_rows_of_an_era_equal_the_computed_ones() -> None:
    row = next(row for row in table("eras") if row["era"] == QUICK)
    assert list(write_inherent.rows(asked_of(row))) == rows_of(QUICK)


@pytest.mark.slow
@pytest.mark.parametrize("client", list(dict.fromkeys(row["client"] for row in table("eras"))))
def test_all_rows_equal_the_computed_ones(client: str) -> None:
    """Every system of every era is checked again, which takes half an hour for Java clients."""
    eras = write_inherent.merged(era for era in write_inherent.eras() if era.first.client == client)
    assert [one.row for one in eras] == [row for row in table("eras") if row["client"] == client]
    for one in eras:
        assert list(one.rows) == rows_of(one.row["era"]), one.row["era"]
