"""A session replays traces on as few clusters as they allow, and loses no outcome."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from proofka.checker.cluster.errors import NotSeen
from proofka.checker.reproduction import session
from proofka.checker.reproduction.plan import Plan
from proofka.checker.reproduction.session import replay_all
from proofka.properties.reproduced import Outcome
from tests.checker.reproduction.traces import Trace

PLAN = Trace().add("become_slow", broker=2).plan()


class Clusters:
    """Clusters without nodes: what a session asks of each, in order."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, ...]] = []
        self.fails = False

    def start(self, plan: Plan, *arguments: object, **more: object) -> Any:
        """Return a cluster that runs for plans like this one."""
        self.calls.append(("start", plan.name))
        return self

    def recover(self, tell: object) -> None:
        """Note a recovery, which fails where a test says so."""
        self.calls.append(("recover",))
        if self.fails:
            raise NotSeen("broker 1 up", 1.0)

    def let_go(self) -> None:
        """Note that held messages pass."""
        self.calls.append(("let go",))

    def reached_by(self) -> list[str]:
        """Return how the cluster is reached."""
        return ["at a port"]

    def replay(self, plan: Plan, running: object, tell: object) -> str:
        """Note a replay, and return a text as its outcome."""
        self.calls.append(("replay", plan.name, "on a cluster" if running else "without"))
        return f"outcome of {plan.name}"


@pytest.fixture
def clusters(monkeypatch: pytest.MonkeyPatch) -> Clusters:
    made = Clusters()
    monkeypatch.setattr(session, "RunningCluster", made.start)
    monkeypatch.setattr(session, "reproduce", made.replay)
    return made


def named(name: str, **changes: Any) -> Plan:
    """Return a plan with this name."""
    return replace(PLAN, name=name, **changes)


def outcomes(
    *plans: Plan, keep: bool = False, kept: Any = print, tell: Any = lambda line: None
) -> Iterator[tuple[Plan, Outcome]]:
    """Replay plans in one session."""
    return replay_all(plans, kafka_home=None, tell=tell, keep=keep, kept=kept)


@pytest.mark.usefixtures("clusters")
def test_each_trace_is_named_before_its_replay() -> None:
    told: list[str] = []
    failures = (("no-loss", "record 1 is lost"), ("no-skip", "record 1 is skipped"))
    plans = named("a", failures=failures, faults={"kill": 2, "power-loss": 1}), named("b", failures=(), faults={})
    assert len(list(outcomes(*plans, tell=told.append))) == 2
    assert told == [
        "the trace: no-loss, no-skip violated by {2 kill, power-loss}, 1 step",
        "the trace: 1 step",
    ]


def test_plans_with_the_same_settings_share_a_cluster(clusters: Clusters) -> None:
    plans = named("a"), named("b", kafka="3.9"), named("c")
    assert [(plan.name, outcome) for plan, outcome in outcomes(*plans)] == [
        ("a", "outcome of a"),
        ("c", "outcome of c"),
        ("b", "outcome of b"),
    ]
    assert [call for call in clusters.calls if call[0] != "replay"] == [("start", "a"), ("recover",), ("start", "b")]


@pytest.mark.parametrize(
    "change",
    [{"kafka": "3.9"}, {"replicas": 2}, {"broker_settings": {"a": "b"}}, {"features": {"f": 1}}],
)
def test_plans_with_other_settings_of_the_cluster_do_not_share_it(change: dict[str, Any]) -> None:
    assert session.cluster_of(PLAN) == session.cluster_of(named("other", topic_settings={"a": "b"}))
    assert session.cluster_of(PLAN) != session.cluster_of(replace(PLAN, **change))


def test_a_trace_that_needs_another_setting_of_brokers_has_its_own_cluster() -> None:
    shrinking = Trace().add("shrink_isr", leader=1).plan()
    assert session.cluster_of(PLAN) != session.cluster_of(shrinking)


def test_a_trace_with_an_early_start_has_its_own_cluster() -> None:
    plain, early = Trace().add("kill", broker=1), Trace().add("kill", broker=1).add("start_early", broker=1)
    assert session.cluster_of(plain.plan()) != session.cluster_of(early.plan())


def test_no_cluster_starts_for_a_trace_that_cannot_be_steered(clusters: Clusters) -> None:
    assert list(outcomes(Trace().add("fly").plan(name="a")))
    assert clusters.calls == [("replay", "a", "without")]


def test_a_trace_that_cannot_be_steered_leaves_the_cluster_of_others_as_it_is(clusters: Clusters) -> None:
    unsteerable = named("b", steps=Trace().add("fly").plan().steps)
    assert len(list(outcomes(named("a"), unsteerable, named("c")))) == 3
    assert [call for call in clusters.calls if call[0] != "replay"] == [("start", "a"), ("recover",)]


def test_a_recovery_that_fails_does_not_hide_the_outcome_before(clusters: Clusters) -> None:
    clusters.fails = True
    found = outcomes(named("a"), named("b"))
    assert next(found)[1] == "outcome of a"  # type: ignore[comparison-overlap]
    with pytest.raises(NotSeen):
        next(found)


def test_the_last_trace_of_a_cluster_needs_no_recovery(clusters: Clusters) -> None:
    clusters.fails = True
    assert len(list(outcomes(named("a"), named("b", kafka="3.9")))) == 2


def test_a_kept_cluster_is_told_of_after_the_outcome(clusters: Clusters) -> None:
    told: list[list[str]] = []
    found = outcomes(named("a"), keep=True, kept=told.append)
    next(found)
    assert told == []
    assert list(found) == []
    assert told == [["at a port"]]
