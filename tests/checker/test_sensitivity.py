"""Other values of what was assumed: each is really checked, and only differences are reported."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from proofka.checker.budget import Budget
from proofka.checker.check import check
from proofka.checker.sensitivity import sensitivities, smallest_cut_sets, variants
from proofka.model.deployment import Deployment, read_properties
from proofka.model.deployment.explored import Bounds, FaultBudget
from proofka.model.faults import Fault
from proofka.properties.verdict import Sensitivity, Status
from proofka.reports.assumptions import assumption_summary
from tests.reports.samples import RESULT

UNDECIDED = tuple(Sensitivity("sends", "sync", name, Status.UNKNOWN, ()) for name in ("log-order", "processing-order"))
CHANGED = Sensitivity("commit", "before", "no-skip", Status.VIOLATED, ((("consumer-crash", 1),),))


def manual_commits(tmp_path: Path) -> Deployment:
    """Read one broker and one consumer that commits manually, without an assumption about the commits."""
    consumer = tmp_path / "consumer.properties"
    consumer.write_text("group.id=orders\nenable.auto.commit=false\n", encoding="utf-8")
    deployment = read_properties(kafka="4.0", consumer=consumer, assume={"replicas": "1"})
    only_crashes = FaultBudget(1, ((Fault.CONSUMER_CRASH.value, 1),))
    return replace(deployment, faults=only_crashes, bounds=Bounds(records=1, log=1, sends=1))


@pytest.mark.slow
def test_assumptions_that_would_change_a_verdict(tmp_path: Path) -> None:
    deployment = manual_commits(tmp_path)
    verdicts = check(deployment, budget=Budget(threads=1)).verdicts
    found = {(s.assumption, s.value, s.property): s for s in sensitivities(deployment, verdicts)}
    skips = found["commit", "before", "no-skip"]
    assert skips.status is Status.VIOLATED
    assert skips.cut_sets == ((("consumer-crash", 1),),)
    assert found["commit", "before", "no-reprocessing"].status is Status.HOLDS
    assert ("sink", "idempotent", "exactly-once-effect") in found
    assert not any(prop == "no-skip" for key, _, prop in found if key == "sink")


def test_variants_cover_every_other_value(tmp_path: Path) -> None:
    deployment = manual_commits(tmp_path)
    tried = {(variant.key, variant.value) for variant in variants(deployment)}
    assert {("processing", "handed-off"), ("on_send_error", "halt"), ("commit", "before")} <= tried
    assert ("commit", "after") not in tried


def test_assumption_with_the_same_system_is_not_explored(tmp_path: Path) -> None:
    from proofka.checker.check import prepare_groups
    from proofka.checker.questions import fingerprints

    deployment = manual_commits(tmp_path)
    narrowed = replace(deployment, faults=replace(deployment.faults, total=1))
    known = fingerprints(*prepare_groups(narrowed))
    same = next(variant for variant in variants(deployment) if variant.key == "producer_id")
    assert smallest_cut_sets(replace(same, deployment=narrowed), known) == {}


@pytest.mark.slow
def test_assumptions_without_time_are_reported(tmp_path: Path) -> None:
    """A second look that ends early says nothing: neither that a property holds nor that it does not."""
    deployment = manual_commits(tmp_path)
    verdicts = check(deployment, budget=Budget(threads=1)).verdicts
    found = {(s.assumption, s.value, s.property): s.status for s in sensitivities(deployment, verdicts, seconds=0.0)}
    assert found["commit", "before", "no-reprocessing"] is Status.UNKNOWN
    assert Status.HOLDS not in found.values()
    lines = list(assumption_summary(deployment, replace(RESULT, sensitivities=(*UNDECIDED, CHANGED))))
    assert lines[-2:] == [
        "with commit=before, no-skip is violated by {consumer-crash}",
        "with sends=sync, no time was left to decide log-order and processing-order",
    ]


@pytest.mark.slow
def test_undecided_properties_are_not_compared(tmp_path: Path) -> None:
    """Neither that another value breaks it, nor that there was no time for that."""
    deployment = manual_commits(tmp_path)
    verdicts = check(deployment, budget=Budget(states=1, threads=1)).verdicts
    unknown = {one.property for one in verdicts if one.status is Status.UNKNOWN}
    assert "no-skip" in unknown
    assert not unknown & {one.property for one in sensitivities(deployment, verdicts)}
