"""A group whose committed offsets the brokers lose (semantics 11.4, 12 C13)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from proofka.checker.modelling_assumptions import COMMITS_LAST
from proofka.model.deployment import Deployment
from proofka.model.deployment.choices import Commit, Group, OffsetReset, Sink
from proofka.model.faults import Fault
from proofka.properties.verdict import CutSet, Status
from tests.checker.asking import ask, cut, example
from tests.deployments import changed
from tests.model.scripted import scenario

C, L = Fault.CONSUMER_CRASH, Fault.LOST_OFFSETS
BOTH: CutSet = (("consumer-crash", 1), ("lost-offsets", 1))
SKIP, AGAIN, EXACT = "no-skip", "no-reprocessing", "exactly-once-effect"


def reading(name: str = "manual-commit-plain-sink", **settings: object) -> Deployment:
    return changed(example(name, (C, L), 2), **settings)


@pytest.mark.parametrize(
    ("deployment", "prop", "smallest"),
    [
        # latest passes what was written while the group was away; earliest reads all of it again.
        (reading(offset_reset=OffsetReset.LATEST), SKIP, (BOTH,)),
        pytest.param(reading(offset_reset=OffsetReset.EARLIEST), SKIP, (), marks=pytest.mark.slow),
        pytest.param(
            reading(commit=Commit.BEFORE, offset_reset=OffsetReset.EARLIEST), AGAIN, (BOTH,), marks=pytest.mark.slow
        ),
        # What is processed in one transaction with its offsets is processed again if those are lost.
        pytest.param(reading("exactly-once"), EXACT, (BOTH,), marks=pytest.mark.slow),
        pytest.param(reading("exactly-once", sink=Sink.TRANSACTIONAL), EXACT, (), marks=pytest.mark.slow),
    ],
)
def test_lost_offsets_break_properties(deployment: Deployment, prop: str, smallest: tuple[CutSet, ...]) -> None:
    verdict = ask(deployment, prop)[prop]
    assert verdict.cut_sets == smallest
    assert verdict.status in ((Status.VIOLATED,) if smallest else (Status.HOLDS, Status.VACUOUS))


def test_exactly_once_holds_without_the_fault() -> None:
    verdict = ask(replace(example("exactly-once", (C,), 2)), EXACT)[EXACT]
    assert verdict.status is Status.HOLDS
    assert COMMITS_LAST.where(example("exactly-once", (C,), 2))
    assert not COMMITS_LAST.where(reading("exactly-once"))


def test_a_group_that_began_anew_never_finds_an_older_commit() -> None:
    """Its first commit may be anywhere."""
    new, old = (scenario("manual-commit-plain-sink", group=group) for group in (Group.NEW, Group.ESTABLISHED))
    kept = {"lose_offsets(kept=0)", "lose_offsets(kept=1)"}
    assert kept & {str(action) for action in old.model.system.actions} == kept
    assert kept & {str(action) for action in new.model.system.actions} == {"lose_offsets(kept=0)"}


def test_offsets_that_were_never_committed_cannot_be_lost() -> None:
    run = scenario("manual-commit-plain-sink", offset_reset=OffsetReset.EARLIEST).do("crash_consumer")
    assert not run.can("lose_offsets", kept=1)
    run.do("lose_offsets", kept=0)
    assert not run.can("lose_offsets", kept=0)


@pytest.mark.slow
def test_the_topic_of_offsets_is_a_deployment_of_its_own() -> None:
    by_default = example("offsets-topic", (Fault.SLOW_FOLLOWER, Fault.POWER_LOSS), 3)
    assert ask(by_default, "no-acked-loss")["no-acked-loss"].status is Status.VIOLATED
    alone = changed(by_default, replicas=1)
    assert ask(alone, "no-acked-loss")["no-acked-loss"].cut_sets == (cut(Fault.POWER_LOSS),)
