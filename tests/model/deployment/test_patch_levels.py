"""Releases that exist: patch levels, and the spellings of vendors."""

from __future__ import annotations

import pytest

from proofka.model.deployment.patch_levels import never_released, newest_of_line, patch_levels_of
from proofka.model.deployment.release import NEWEST, ReleaseError, lines, parse_release
from proofka.model.deployment.vendor_releases import vendor_release
from proofka.properties.known_defects.register import products, register


@pytest.mark.parametrize(
    ("text", "near"),
    [("3.9.9", "3.9.0 to 3.9.2"), ("2.0.2", "2.0.0 to 2.0.1"), ("0.11.0.4", "0.11.0.0 to 0.11.0.3")],
)
def test_a_patch_of_a_closed_line_that_never_was_is_refused(text: str, near: str) -> None:
    with pytest.raises(ReleaseError, match=f"Kafka {text} was never released; the releases of its line are {near}"):
        parse_release(text)


@pytest.mark.parametrize("text", ["0.10.3", "0.10.3.1", "0.11.1", "0.11.1.0"])
def test_lines_of_0_that_never_were_are_refused(text: str) -> None:
    with pytest.raises(ReleaseError, match="no defaults are known"):
        parse_release(text)


@pytest.mark.parametrize(("text", "told"), [((99, 0), True), ((1, 99), False)])
def test_newer_release_names_the_newest_known_instead(text: tuple[int, int], told: bool) -> None:
    """A line that never was between two others is no newer release."""
    newest = ".".join(map(str, NEWEST))
    with pytest.raises(ReleaseError, match="no defaults are known") as refused:
        parse_release(".".join(map(str, text)))
    assert (f"for an answer about {newest} name {newest}" in str(refused.value)) is told


@pytest.mark.parametrize("text", ["3.9.2", "0.10.0.1", "0.10.2", "4.2.2", "4.3.2", "4.0.3"])
def test_patches_that_exist_or_may_come_are_read(text: str) -> None:
    assert str(parse_release(text)) == text


def test_every_line_has_its_patches() -> None:
    of_line = {line: patch_levels_of((*line, 0)) for line in lines() if line[0]}
    assert [line for line, levels in of_line.items() if levels is None] == []
    assert [line for line, levels in of_line.items() if levels is not None and levels.more_may_come] == [*of_line][-4:]


def test_the_register_and_the_patches_are_of_one_day() -> None:
    newest = products()["broker"].newest
    levels = patch_levels_of(newest)
    assert levels is not None and levels.newest == newest
    fixed = {one for defect in register() if defect.product in ("broker", "java") for one in defect.affected.fixed}
    assert fixed and [one for one in sorted(fixed) if never_released(one)] == []


def test_the_newest_patch_of_a_line() -> None:
    assert newest_of_line((4, 1, 3)) == (4, 1, 2)
    assert newest_of_line((4, 1, 2)) is None and newest_of_line((4, 1)) is None


@pytest.mark.parametrize(
    ("text", "vendor", "apache"),
    [
        ("2.4.1.1", "Amazon MSK", "2.4.1"),
        ("2.8.2.tiered", "Amazon MSK", "2.8.2"),
        ("3.7.x", "Amazon MSK", "3.7"),
        ("4.0.x.kraft", "Amazon MSK", "4.0"),
        ("3.6.0.redhat-00007", "Red Hat", "3.6.0"),
        ("7.6.1-ccs", "Confluent", "3.6"),
    ],
)
def test_releases_of_vendors(read_yaml, text: str, vendor: str, apache: str) -> None:
    assert str(parse_release(text)) == apache
    notes = read_yaml(f'kafka: "{text}"').notes
    assert read_yaml(f'kafka: "{text}"').cluster.zookeeper is (text < "3.3" or text == "3.7.x")
    assert f"{text} of {vendor} is checked as Apache Kafka {apache}" in notes


@pytest.mark.parametrize("text", ["2.4.1.2", "3.6-IV2", "3.9.9.redhat-1", "99.1.0-ccs", "7.6.1", "4.4.x"])
def test_release_that_no_vendor_has_is_refused(text: str) -> None:
    with pytest.raises(ReleaseError):
        parse_release(text)


def test_a_release_of_kafka_is_no_vendors() -> None:
    assert vendor_release("3.9.1") is None and vendor_release(" 4.0 ") is None
