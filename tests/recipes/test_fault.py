"""The recipe "Add a fault", followed for a toy fault: a broker forgets its high watermark."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.recipes.scratch import Scratch, check_needed, check_sufficient, files_of

LISTED = files_of("Add a fault")
TEST = "tests/model/test_toy_fault.py"
TESTS = (
    TEST,
    "tests/reports/test_by_fault.py::test_every_kind_and_property_has_words_a_rank_and_a_reason",
    "tests/reports/test_guide.py::test_the_semantics_describe_every_property_and_fault",
    "tests/test_docs.py::test_the_deployment_format_lists_every_fault",
)
ACTION = '''

def forget(replica: Replica) -> Action:
    """Forget the high watermark (semantics 5, toy)."""
    effect = Effect()
    effect[replica.high_watermark] = 0
    return Action(
        "forget",
        replica.name,
        lane="brokers",
        arguments={"broker": replica.number},
        guard=replica.high_watermark.term > 0,
        updates=effect.updates,
        sentence=lambda before, after: f"{replica.name} forgets its high watermark",
        semantics="5",
        fault=Fault.TOY,
    )
'''
TESTED = """
from dataclasses import replace

from proofka.model.faults import ONLY_BY_NAME, Fault
from tests.checker.asking import assuming, example
from tests.model.scripted import BOUNDS, Scenario


def run(*kinds):
    deployment = replace(assuming(example("acks-1"), kinds, 9), bounds=BOUNDS)
    return Scenario(deployment).produce(0, 1)


def test_effect():
    one = run(Fault.TOY)
    for other in range(2, len(one.pipeline.replicas) + 1):
        one.replicate(other, 1)
    assert one.high_watermark(1) == 1
    assert one.do("forget", broker=1).high_watermark(1) == 0


def test_only_where_it_is_named():
    assert Fault.TOY in ONLY_BY_NAME
    names = {action.name for action in run().model.system.actions}
    assert "forget" not in names
"""


def add(scratch: Scratch) -> None:
    """Add the fault ``toy``."""
    scratch.insert("model/faults.py", "\n\n_TABLE = Path", '    TOY = "toy"\n')
    row = "toy,if-named,,,a broker forgets its high watermark,a toy,toys,1,a reason,\n"
    scratch.insert("model/tables/faults.csv", "", row)
    file = "model/log/replica.py"
    scratch.insert(file, "        yield become_slow(", "        yield forget(follower)\n")
    scratch.insert(file, "\n\ndef actions(", ACTION)
    scratch.insert(
        "docs/semantics.md", "| `reassignment` | a replica, once", "| `toy` | the high watermark of a broker |\n"
    )
    scratch.insert(
        "docs/deployment-format.md", "| `reassignment` |", "| `toy` | a broker forgets its high watermark |\n"
    )
    scratch.write(TEST, TESTED)


def test_the_listed_files_suffice(tmp_path: Path) -> None:
    check_sufficient(tmp_path, add, LISTED, tests=TESTS)


@pytest.mark.slow
@pytest.mark.parametrize("place", LISTED)
def test_every_listed_file_is_needed(place: str, tmp_path: Path) -> None:
    check_needed(tmp_path, add, LISTED, place=place, tests=TESTS)
