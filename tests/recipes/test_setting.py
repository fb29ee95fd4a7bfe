"""The recipe "Add a setting of brokers", followed for a toy setting that stops the high watermark."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.recipes.scratch import Scratch, check_needed, check_sufficient, files_of

LISTED = files_of("Add a setting of brokers")
TEST = "tests/model/test_toy_setting.py"
TESTED = """
from dataclasses import replace

from proofka.model.deployment import read_deployment
from proofka.reports.guide.settings import meaning
from scripts.write_guide import text_of
from tests.checker.asking import assuming
from tests.model.scripted import BOUNDS, Scenario


def watermark(folder, value):
    file = folder / "d.yaml"
    broker = f"broker: {{toy.stops: {value}}}"
    file.write_text(f'kafka: "4.0"\\ntopic: {{replicas: 2}}\\n{broker}\\nproducer: {{acks: "1"}}\\n')
    run = Scenario(replace(assuming(read_deployment(file), (), 0), bounds=BOUNDS))
    return run.produce(0, 1).replicate(2, 1).high_watermark(1)


def test_effect(tmp_path):
    assert watermark(tmp_path, "false") == 1
    assert watermark(tmp_path, "true") == 0


def test_help_and_documents_know_the_setting():
    assert meaning("broker", "toy.stops")
    assert "toy.stops" in text_of("sections")
"""


def add(scratch: Scratch) -> None:
    """Add the setting ``toy.stops``."""
    scratch.insert("model/deployment/tables/defaults.csv", "", "broker,toy.stops,0.10,,false,boolean,\n")
    rules = "model/deployment/broker_rules.py"
    # Keys and fields of others are added at the ends of these lists: the toy stands in front.
    scratch.replace(rules, "BROKER_KEYS = (\n", 'BROKER_KEYS = (\n    "toy.stops",\n')
    scratch.insert(rules, "    replicas: int\n    min_insync", "    toy_stops: bool\n")
    scratch.insert(rules, "        replicas=int(", '        toy_stops=broker.flag("toy.stops"),\n')
    where_given = '            *((broker.flag_setting("toy.stops"),) if broker.has("toy.stops") else ()),\n'
    scratch.replace(rules, "        settings=(\n", f"        settings=(\n{where_given}")
    effect = "    if pipeline.deployment.cluster.toy_stops:\n        advances = And(advances, Not(advances))\n"
    scratch.insert("model/log/replica.py", "    effect[leader.high_watermark] = If(advances", effect)
    scratch.insert("reports/guide/tables/settings.csv", "", "broker,toy.stops,The high watermark stays where it is.\n")
    scratch.insert("docs/semantics.md", "", "\n`toy.stops` keeps the high watermark where it is.\n")
    scratch.write(TEST, TESTED)


def test_the_listed_files_suffice(tmp_path: Path) -> None:
    check_sufficient(tmp_path, add, LISTED, tests=(TEST,))


@pytest.mark.slow
@pytest.mark.parametrize("place", LISTED)
def test_every_listed_file_is_needed(place: str, tmp_path: Path) -> None:
    check_needed(tmp_path, add, LISTED, place=place, tests=(TEST,))
