"""The commands that an answer advises have the options that the answer depends on."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from proofka.checker.cli.asked import Asked
from proofka.checker.live.asked import Asked as Live
from proofka.checker.source import Source

SOURCE = Source(Path("careful.yaml"))


def asked(**options: Any) -> Asked:
    plain: dict[str, Any] = {one.name: None for one in fields(Asked)}
    plain |= {"limits": {}, "require": (), "switches": (), "options": (), "all_properties": False}
    return Asked(**{**plain, "all_fault_sets": False, "is_of_changes": False, **options})


@pytest.mark.parametrize(
    ("options", "trace", "repair"),
    [
        ({}, "proofka trace careful.yaml", "proofka repair careful.yaml"),
        ({"faults": "1"}, "proofka trace careful.yaml --faults 1", "proofka repair careful.yaml --faults 1"),
        ({"faults": "any"}, "proofka trace careful.yaml --faults any", "proofka repair careful.yaml"),
        ({"seconds": 60.0}, "proofka trace careful.yaml --time 60.0", "proofka repair careful.yaml"),
        (
            {"require": ("log-order",), "faults": "2"},
            "proofka check --all-traces careful.yaml --faults 2 --require log-order",
            "proofka repair careful.yaml --faults 2 --require log-order",
        ),
        (
            {"profile": "exactly-once"},
            "proofka check --all-traces careful.yaml --profile exactly-once",
            "proofka repair careful.yaml --profile exactly-once",
        ),
        (
            {"limits": {"states": 1000, "threads": 2}},
            "proofka check --all-traces careful.yaml --states 1000 --threads 2",
            "proofka repair careful.yaml",
        ),
        (
            {"all_fault_sets": True, "switches": (("--without", ("cone",)),)},
            "proofka check --all-traces careful.yaml --without cone --all-fault-sets",
            "proofka repair careful.yaml",
        ),
    ],
)
def test_an_advised_command_has_the_options_that_the_answer_depends_on(
    options: dict[str, Any], trace: str, repair: str
) -> None:
    of_check = asked(**options)
    assert of_check.about("trace", SOURCE) == trace
    assert of_check.about("repair", SOURCE) == repair


def test_the_repair_of_a_live_cluster_reads_a_snapshot_with_the_same_options() -> None:
    live = Source(None, live=Live("kafka:9092"))
    advised = asked(faults="1").about("repair", live)
    assert advised.endswith("-o snapshot && proofka repair snapshot --faults 1")
