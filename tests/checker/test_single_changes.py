"""The single changes that stand beside a violation: each is decided by a check, and a check of its own agrees."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path

import pytest

from proofka.checker import explanation
from proofka.checker.budget import Budget
from proofka.checker.check import Run, explore
from proofka.checker.explanation import Target, prevented, single_changes
from proofka.checker.run_transfer import Counterexample, run_of
from proofka.model.deployment import read_deployment
from proofka.model.deployment.changing import changes_of
from proofka.model.deployment.deployment import Deployment
from proofka.properties.verdict import Result, Status
from proofka.reports.explained import preventions_of

TEXT = """\
kafka: "4.0"
topic: {{replicas: 2, min.insync.replicas: 1, unclean.leader.election.enable: {unclean}}}
producer: {{acks: {acks}}}
consumer: {{group.id: orders, auto.offset.reset: earliest, enable.auto.commit: false}}
require: [no-acked-loss]
assume: {{faults: {{total: {total}, kill: 1, slow-follower: 1}}}}
bounds: {{records: 1, log: 2, epochs: 3, sends: 1}}
"""
KILL = (("kill", 1),)
SLOW = (("kill", 1), ("slow-follower", 1))
MOST_SECONDS = 60.0


def read(folder: Path, acks: object, *, unclean: bool = False, total: int = 1) -> Deployment:
    file = folder / f"{acks}-{unclean}-{total}.yaml"
    file.write_text(TEXT.format(acks=acks, unclean=str(unclean).lower(), total=total), encoding="utf-8")
    return read_deployment(file)


def checked(deployment: Deployment) -> tuple[Run, Result]:
    run = explore(deployment, Budget())
    return run, run.result()


def changes(result: Result) -> list[str]:
    (verdict,) = (one for one in result.verdicts if one.property == "no-acked-loss")
    return [one.change for one in preventions_of(result, verdict.property, verdict.cut_sets[0]) if one.decided]


def test_the_change_that_prevents_a_violation_is_named_and_a_check_agrees(tmp_path: Path) -> None:
    run, result = checked(read(tmp_path, 1))
    found = single_changes(run, result, threading.Event(), MOST_SECONDS)
    assert any("acks" in change and "all" in change for change in changes(found))
    _, other = checked(read(tmp_path, "all"))
    assert next(one for one in other.verdicts if one.property == "no-acked-loss").status is Status.HOLDS


def test_the_likeliest_change_is_found_before_other_processes_have_begun(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, result = checked(read(tmp_path, 1))
    asked: list[int] = []

    def none_of(_: object, items: list[tuple[int, Deployment]], __: object) -> list[object]:
        asked.extend(number for number, _ in items)
        return []

    monkeypatch.setattr(explanation, "as_completed", none_of)
    found = single_changes(run, result, threading.Event(), MOST_SECONDS)
    assert changes(found) == ["producer.acks=all"]
    assert len(asked) == len(changes_of(run.deployment)) - 1, "it is not tried again"


@pytest.mark.slow
def test_a_change_that_prevents_nothing_is_not_named(tmp_path: Path) -> None:
    """With two replicas a slow follower and a kill lose what acks=all stored on one: more acks do not help there."""
    run, result = checked(read(tmp_path, "all", unclean=True, total=2))
    (verdict,) = (one for one in result.verdicts if one.property == "no-acked-loss")
    assert verdict.cut_sets[0] == SLOW
    found = changes(single_changes(run, result, threading.Event(), MOST_SECONDS))
    assert not any("acks" in change for change in found)
    assert any("unclean" in change or "min.insync.replicas" in change for change in found)


def test_change_that_allows_the_same_run_prevents_nothing(tmp_path: Path) -> None:
    _, result = checked(read(tmp_path, 1))
    (verdict,) = (one for one in result.verdicts if one.property == "no-acked-loss")
    target = Target(Counterexample(verdict.property, run_of(verdict.traces[0].steps)), verdict.cut_sets[0])
    found = {acks: prevented(read(tmp_path, acks), [target], MOST_SECONDS) for acks in (1, 0, "all")}
    assert found == {1: {"no-acked-loss": False}, 0: {"no-acked-loss": False}, "all": {"no-acked-loss": True}}


@pytest.mark.parametrize("why", ["stopped", "not from files"])
def test_nothing_is_claimed_where_nothing_was_tried(tmp_path: Path, why: str) -> None:
    run, result = checked(read(tmp_path, 1))
    stop = threading.Event()
    if why == "stopped":
        stop.set()
    else:
        run.deployment = replace(run.deployment, given=None)
    assert single_changes(run, result, stop, MOST_SECONDS) is result
