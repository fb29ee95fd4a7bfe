"""The recipe "Add a client library", followed for a toy library: kafka-go with another default and a rule."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.recipes.scratch import ROOT, Scratch, check_needed, check_sufficient, files_of

LISTED = files_of("Add a client library")
TEST = "tests/model/deployment/test_toy.py"
RULES = '''"""The rules of a toy library."""

from dataclasses import replace

from proofka.model.deployment import kafka_go


def producer(section):
    """Return the effective settings of the producer, which has one attempt at most."""
    if section.integer(kafka_go.ATTEMPTS) > 1:
        raise section.refused(kafka_go.ATTEMPTS, "a panic", "must be 1", "TOY01")
    return kafka_go.producer(section)


LIBRARY = replace(kafka_go.LIBRARY, name="toy", producer=producer)
'''
TESTED = """
import pytest

from proofka.model.deployment import DeploymentError, read_deployment
from proofka.reports.guide.settings import meaning
from scripts.write_guide import text_of


def read(folder, more=""):
    file = folder / "d.yaml"
    file.write_text(f'kafka: "4.0"\\ntopic: {{replicas: 3}}\\nproducer: {{client: toy{more}}}\\n')
    return read_deployment(file)


def test_defaults_and_rule(tmp_path):
    deployment = read(tmp_path)
    assert (deployment.producer.retries, deployment.producer.acks.value) == (0, "all")
    with pytest.raises(DeploymentError, match="TOY01"):
        read(tmp_path, ", MaxAttempts: 3")


def test_help_and_documents_know_the_library():
    assert meaning("toy producer", "MaxAttempts")
    assert "TOY01," in text_of("rules")
    assert "Toy clients" in text_of("sections")
"""


def add(scratch: Scratch) -> None:
    """Add the library ``toy``."""
    folder = "model/deployment/tables/clients"
    table = (ROOT / folder / "kafka-go.csv").read_text(encoding="utf-8").replace("kafka-go ", "toy ")
    for key, old, new in (("MaxAttempts", "10", "1"), ("RequiredAcks", "RequireNone", "RequireAll")):
        (row,) = [row for row in table.splitlines() if row.startswith(f"toy producer,{key},")]
        assert old in row
        table = table.replace(row, row.replace(old, new, 1))
    scratch.write(f"{folder}/toy.csv", table)
    scratch.write("model/deployment/toy.py", RULES)
    scratch.insert("reports/guide/tables/settings.csv", "", "toy producer,MaxAttempts,The number of attempts.\n")
    scratch.insert("docs/semantics.md", "", "\n### Toy clients\n\nThe client `acks` as kafka-go does.\n")
    rule = "| rule TOY01 | all | `MaxAttempts` above 1 | panics |\n"
    scratch.insert("docs/client-rules.md", "| rule G01 ", rule)
    scratch.write(TEST, TESTED)


def test_the_listed_files_suffice(tmp_path: Path) -> None:
    check_sufficient(tmp_path, add, LISTED, tests=(TEST,))


@pytest.mark.slow
@pytest.mark.parametrize("place", LISTED)
def test_every_listed_file_is_needed(place: str, tmp_path: Path) -> None:
    check_needed(tmp_path, add, LISTED, place=place, tests=(TEST,))
