"""Repairs and explanations: held against an exploration of every set of changes there is."""

from __future__ import annotations

from functools import cache
from itertools import combinations
from pathlib import Path

import pytest

from checker import repair as repairing
from checker.budget import Budget
from checker.check import check
from checker.explanation import preventions
from checker.repair import Search
from checker.survival import Counterexample, run_of, survivors
from model.deployment import DeploymentError, read_deployment
from model.deployment.changing import Change, changed, strengthenings
from model.deployment.deployment import Deployment
from properties.verdict import Result, Status

TEXT = """\
kafka: "4.0"
topic: {replicas: 2}
broker: {settings: {unclean.leader.election.enable: true}}
producer: {settings: {acks: "1", enable.idempotence: false}}
assume: {faults: {total: 1, kill: 1, producer-crash: 1}}
bounds: {records: 1, log: 2}
require: [no-acked-loss, no-silent-loss, no-log-duplicate]
"""
FEW = (
    "producer.acks=all",
    "topic.min.insync.replicas=2",
    "producer.on_send_error=resend",
    "producer.on_restart=resend",
    "topic.unclean.leader.election.enable=false",
)


@cache
def deployment() -> Deployment:
    file = Path(__file__).with_name("repair.tmp.yaml")
    file.write_text(TEXT, encoding="utf-8")
    try:
        return read_deployment(file)
    finally:
        file.unlink()


def checks(one: Deployment) -> Result:
    return check(one, budget=Budget(threads=1))


@cache
def result() -> Result:
    return checks(deployment())


def few(_: Deployment) -> list[Change]:
    return [next(change for change in strengthenings() if str(change) == words) for words in FEW]


def holding(one: Result) -> set[str]:
    return {v.property for v in one.verdicts if v.required and v.status is Status.HOLDS}


def test_a_run_survives_what_does_not_prevent_it() -> None:
    violated = next(v for v in result().verdicts if v.property == "no-acked-loss")
    assert violated.status is Status.VIOLATED
    counterexample = Counterexample("no-acked-loss", run_of(violated.traces[0].steps))
    restart, acks = (next(c for c in few(deployment()) if str(c) == words) for words in (FEW[3], FEW[0]))
    assert survivors(changed(deployment(), [restart]), [counterexample]) == [True]
    assert survivors(changed(deployment(), [acks]), [counterexample]) == [False]
    assert survivors(deployment(), [counterexample, Counterexample("no-such", ())]) == [True, False]


@pytest.mark.slow
def test_the_repair_is_the_cheapest_of_all_sets_of_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repairing, "changes_of", few)
    monkeypatch.setattr(repairing, "companions", lambda *_: {})
    wanted = ["no-acked-loss", "no-silent-loss"]
    found = Search(deployment(), result(), checks).repairs(wanted, most=10)
    every: dict[frozenset[str], int] = {}
    changes = few(deployment())
    for size in range(len(changes) + 1):
        for chosen in combinations(changes, size):
            try:
                one = checks(changed(deployment(), chosen))
            except DeploymentError:
                continue
            if set(wanted) <= holding(one):
                every[frozenset(map(str, chosen))] = sum(change.cost for change in chosen)
    smallest = {names: cost for names, cost in every.items() if not any(other < names for other in every)}
    told = {frozenset(map(str, repair.changes)): repair.cost for repair in found.found}
    assert told == smallest
    assert [repair.cost for repair in found.found] == sorted(told.values())
    assert all(set(wanted) <= holding(repair.result) for repair in found.found)


@pytest.mark.slow
def test_what_cannot_all_hold_is_a_front(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sending again after a restart stores a record twice; not doing so loses it."""
    monkeypatch.setattr(repairing, "changes_of", few)
    monkeypatch.setattr(repairing, "companions", lambda *_: {})
    found = Search(deployment(), result(), checks).repairs(deployment().require)
    assert found.found
    for repair in found.found:
        assert set(repair.holds) < set(deployment().require)
        assert set(repair.holds) <= holding(repair.result)
    assert {"no-silent-loss"} < {name for repair in found.found for name in repair.holds}


@pytest.mark.slow
def test_what_would_have_prevented_a_violation() -> None:
    found = preventions(deployment(), result().verdicts, seconds=None)
    of_loss = {one.change for one in found if one.property == "no-acked-loss"}
    assert {"producer.acks=all", "topic.unclean.leader.election.enable=false"} & of_loss
    assert "producer.on_restart=resend" not in of_loss
    for one in found:
        change = next(change for change in strengthenings() if str(change) == one.change)
        again = checks(changed(deployment(), [change]))
        verdict = next(v for v in again.verdicts if v.property == one.property)
        assert one.cut_set not in verdict.cut_sets


IDEMPOTENCE = "producer.enable.idempotence=true"


@pytest.mark.slow
def test_changes_that_only_go_together_are_found(tmp_path: Path) -> None:
    """Idempotence is refused beside acks=1 (rule P02); with acks=all it is what mends a retry that is stored twice."""
    file = tmp_path / "d.yaml"
    text = TEXT.replace("kill: 1, producer-crash: 1", "lost-response: 1")
    file.write_text(text.replace("no-acked-loss, no-silent-loss, ", ""), encoding="utf-8")
    one = read_deployment(file)
    found = Search(one, checks(one), checks).repairs(["no-log-duplicate"])
    told = [set(map(str, repair.changes)) for repair in found.found]
    assert {IDEMPOTENCE, "producer.acks=all"} in told
    assert all("no-log-duplicate" in holding(repair.result) for repair in found.found)


def test_nothing_to_repair() -> None:
    search = Search(deployment(), result(), checks)
    assert search.nothing(["no-skip"]).found == ()
