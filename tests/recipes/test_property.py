"""The recipe "Add a property", followed for a toy property: no leader is replaced."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.recipes.scratch import Scratch, check_needed, check_sufficient, files_of

LISTED = files_of("Add a property")
TEST = "tests/checker/test_toy_property.py"
WITNESSES = "tests/properties/test_witnesses.py"
TESTS = (
    TEST,
    f"{WITNESSES}::test_every_property_is_here",
    f"{WITNESSES}::test_reached[toy]",
    f"{WITNESSES}::test_vacuous[toy]",
    "tests/reports/test_blame.py::test_each_property_has_settings_to_blame",
    "tests/reports/test_guide.py::test_the_semantics_describe_every_property_and_fault",
)
PROPERTY = """
    yield Property(
        "toy",
        "answers",
        "No leader is replaced.",
        "toy",
        Or(*(replica.epoch.term > 1 for replica in pipeline.replicas)),
        retried,
        "a send is to be retried",
        lambda state: "a leader was replaced",
    )
"""
TESTED = """
from proofka.model.deployment.profiles import in_profile
from proofka.model.faults import Fault
from proofka.properties.verdict import Status
from tests.checker.asking import SMALL, ask, example
from tests.deployments import changed
from tests.reports.test_by_fault import found, violated


def test_smallest_fault_sets():
    deployment = changed(example("idempotent", (Fault.KILL, Fault.LOST_RESPONSE)), bounds=SMALL, require=("toy",))
    verdict = ask(deployment, "toy")["toy"]
    assert verdict.status is Status.VIOLATED
    assert verdict.cut_sets == ((("kill", 1),),)


def test_words_and_profile():
    assert found(violated("toy", (("kill", 1),)))[0].consequences == ("leaders can be replaced",)
    assert "toy" in in_profile("ordered")
"""


def add(scratch: Scratch) -> None:
    """Add the property ``toy``."""
    scratch.insert("properties/answers.py", "", PROPERTY)
    row = "toy,if-required,ordered,,a reason,,,1,leaders can be replaced,,a reason\n"
    scratch.insert("model/deployment/tables/properties.csv", "", row)
    scratch.insert("properties/tables/likely_settings.csv", "", "toy,kill,topic,replication.factor,\n")
    scratch.insert("docs/semantics.md", "## 1. ", "`toy`: no leader is replaced.\n\n")
    scratch.insert(WITNESSES, '    "recoverability": ("acks-all-min-isr-2", ()),\n', '    "toy": ("idempotent", ()),\n')
    scratch.insert(
        WITNESSES, '    "recoverability": ("acks-all-min-isr-2", (K,)),\n', '    "toy": ("idempotent", (R,)),\n'
    )
    scratch.write(TEST, TESTED)


@pytest.mark.slow
def test_the_listed_files_suffice(tmp_path: Path) -> None:
    check_sufficient(tmp_path, add, LISTED, tests=TESTS)


@pytest.mark.slow
@pytest.mark.parametrize("place", LISTED)
def test_every_listed_file_is_needed(place: str, tmp_path: Path) -> None:
    check_needed(tmp_path, add, LISTED, place=place, tests=TESTS)
