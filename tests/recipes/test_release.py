"""The recipe "Add a release of Kafka", followed for a toy release with a new setting and another default."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.recipes.scratch import Scratch, check_needed, check_sufficient, files_of

LISTED = files_of("Add a release of Kafka")
TEST = "tests/model/deployment/test_toy_release.py"
TESTS = (
    TEST,
    "tests/model/deployment/test_changing.py::test_the_newest_releases_that_are_modelled_are_among_the_upgrades",
)
TESTED = """
from proofka.model.deployment import read_deployment
from proofka.model.deployment.release import NEWEST, Release, lines
from proofka.properties.known_defects.unread import unread_releases
from scripts.write_guide import text_of


def read(folder, release):
    file = folder / "d.yaml"
    file.write_text(f'kafka: "{release}"\\ntopic: {{replicas: 3}}\\nproducer: {{acks: all}}\\n')
    return read_deployment(file)


def test_defaults(tmp_path):
    (before, after) = (Release(*line) for line in lines()[-2:])
    retries = [read(tmp_path, release).producer.retries for release in (before, after)]
    assert retries == [2147483647, 7]


def test_the_register_of_defects_covers_the_release(tmp_path):
    assert not list(unread_releases(read(tmp_path, Release(*NEWEST))))


def test_documents_describe_the_release():
    section = "2 Settings whose meaning depends on the release"
    assert any(line.startswith("retries,") and section in line for line in text_of("sections").splitlines())
"""


def add(scratch: Scratch) -> None:
    """Add the release 4.4, in which a producer has seven retries."""
    scratch.insert("model/deployment/tables/releases.csv", "", "4.4,0,yes\n")
    row = "producer,retries,2.1,,2147483647,int,0..2147483647\n"
    defaults = "model/deployment/tables/defaults.csv"
    scratch.replace(defaults, row, row.replace("2.1,,", "2.1,4.4,") + "producer,retries,4.4,,7,int,0..2147483647\n")
    products = "properties/known_defects/tables/products.csv"
    for product in ("broker,Kafka's brokers", "java,Kafka's Java clients"):
        scratch.replace(products, f"{product},0.10.0,4.3.1", f"{product},0.10.0,4.4")
    scratch.insert("docs/semantics.md", "| eligible leader replicas (ELR) |", "| `retries` | 7 from 4.4 on |\n")
    scratch.write(TEST, TESTED)


def test_the_listed_files_suffice(tmp_path: Path) -> None:
    check_sufficient(tmp_path, add, LISTED, tests=TESTS)


@pytest.mark.slow
@pytest.mark.parametrize("place", LISTED)
def test_every_listed_file_is_needed(place: str, tmp_path: Path) -> None:
    check_needed(tmp_path, add, LISTED, place=place, tests=TESTS)
