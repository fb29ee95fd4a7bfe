"""A follower that missed an epoch keeps what its leader has dropped (I006, KAFKA-7164; semantics 8)."""

from __future__ import annotations

from dataclasses import replace

import pytest
import z3

from model.deployment.explored import Bounds
from model.deployment.truncation import Truncation
from model.faults import Fault
from model.language import Action
from model.pipeline import Model, build
from model.state.pipeline import Pipeline
from properties.verdict import Status
from tests.checker.asking import ask, cut, example
from tests.deployments import changed
from tests.model.mutate import all_of, follower_of, leader_of, rewrite

M = Fault.LEADER_MOVE
UNFENCED = {"zookeeper": True, "old_fetches_count": True, "fenced_may_join": True, "idempotence": False}


def of_2_0(*, mended: bool) -> Model:
    settings = {**UNFENCED, "truncation": Truncation.EPOCHS, "mends_of_2_0_1": mended}
    bounds = Bounds(records=2, log=2, sends=1, epochs=4, producer_epochs=1)
    return build(changed(example("acks-all-min-isr-2", (M,), 2), bounds=bounds, **settings))


def in_one_epoch(pipeline: Pipeline, action: Action) -> Action:
    """Leader and follower deal with each other in one epoch only, as from 2.1 on (KIP-320)."""
    same = follower_of(pipeline, action).epoch.term == leader_of(pipeline, action).epoch.term
    return replace(action, guard=z3.And(action.guard, same))


fenced = all_of(*(rewrite(name, in_one_epoch) for name in ("fetch", "ask", "truncate")))


def drops_nothing(pipeline: Pipeline, action: Action) -> Action:
    """A follower goes on as before where it is told of the leader that it has, as before 2.0.1; all else is mended."""
    before = of_2_0(mended=False).system.action("apply_metadata", action.arguments)
    assert before is not None
    return before


@pytest.mark.slow
def test_where_all_else_is_mended_a_missed_epoch_is_enough() -> None:
    """Up to 2.0.1 a follower that has not heard of the epoch does the same harm; here it cannot."""
    verdict = ask(fenced(of_2_0(mended=True)), "replica-agreement")["replica-agreement"]
    assert verdict.status is Status.HOLDS
    missing_epochs = all_of(fenced, rewrite("apply_metadata", drops_nothing))
    verdict = ask(missing_epochs(of_2_0(mended=True)), "replica-agreement")["replica-agreement"]
    assert verdict.cut_sets == (cut(M, M),)
    told = [step.text for step in verdict.traces[0].steps if step.action == "apply_metadata"]
    assert any("as before, and drops nothing" in text for text in told)


def test_in_2_0_1_there_is_another_way_to_it() -> None:
    """One that has not heard of the epoch fetches, and what it has then it keeps: it asks for the newest epoch only."""
    verdict = ask(of_2_0(mended=True), "replica-agreement")["replica-agreement"]
    assert verdict.cut_sets == (cut(M, M),)
