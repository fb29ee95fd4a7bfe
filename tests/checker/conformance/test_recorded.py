"""Runs of real clusters, recorded by ``proofka conform --keep``, are behaviours of the model."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from proofka.checker.conformance.events import Recording, from_json
from proofka.checker.conformance.mutations import MUTATIONS
from proofka.checker.conformance.observed_system import model_for, observed
from proofka.checker.conformance.tracker import Answer, check_run

FILES = sorted((Path(__file__).parent / "recorded").glob("*.json"))
NEEDED = {
    "a1-3.9.2-12": {"truncate", "kill", "fence", "restart", "apply_metadata"},
    "acks-1-librdkafka-39-3.9.2-404-5": {"reject_not_leader", "apply_metadata"},
    "acks-all-java-41-4.1.2-1108-4": {"reject_not_leader", "fence"},
    "a1-3.9.2-3": {"lose_power", "kill", "learn_isr", "expand_isr"},
    "all41-4.1.2-2": {"fence", "restart", "fetch"},
    "all41-4.1.2-9": {"fence", "restart", "fetch"},
    "allnoidem-3.9.2-2": {"fence", "restart", "fetch"},
    "early-4.1.2-1301-3": {"start_early", "register"},
}
"""Name of a recorded run -> some actions without which the run is no behaviour of the model."""


@cache
def recording(path: Path) -> Recording:
    return from_json(path.read_text(encoding="utf-8"))


def test_each_recorded_run_has_its_row() -> None:
    assert {path.stem for path in FILES} == NEEDED.keys()


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_recorded_run_is_a_behaviour_of_the_model(path: Path) -> None:
    run = recording(path)
    system = observed(model_for(run.deployment, run.events), run.events)
    assert check_run(system, run.events).answer is Answer.ACCEPTED
    for name in NEEDED[path.stem]:
        assert check_run(system, run.events, without={name}).answer is Answer.REJECTED, name


def test_acknowledgements_of_the_leader_alone_are_none_of_the_isr() -> None:
    mutation = next(mutation for mutation in MUTATIONS if mutation.sets == "acks=all")
    path = next(path for path in FILES if path.stem == "a1-3.9.2-12")
    run = recording(path)
    other = mutation.deployment(run.deployment)
    system = observed(model_for(other, run.events), run.events)
    assert check_run(system, run.events).answer is Answer.REJECTED


def test_a_recorded_run_without_its_fencing_is_rejected() -> None:
    run = recording(FILES[0])
    changed = [replace(e, arguments={**e.arguments, "fenced": 0}) if "fenced" in e.arguments else e for e in run.events]
    assert check_run(observed(model_for(run.deployment, changed), changed), changed).answer is Answer.REJECTED
