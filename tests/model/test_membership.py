"""Another member of the group takes over: in order, or while the one before is still at work."""

from __future__ import annotations

import pytest

from proofka.model.faults import DESCRIPTION, ONLY_BY_NAME, Fault
from proofka.model.pipeline import build
from proofka.properties.verdict import Status
from tests.checker.records import decide, recorded

GROUP = {
    "kafka": "4.0",
    "topic.replicas": 1,
    "topic.min.insync.replicas": 1,
    "producer.acks": "all",
    "consumer.group.id": "orders",
    "consumer.enable.auto.commit": False,
    "bounds.log": 2,
}
AUTO = {"consumer.enable.auto.commit": True}
DELIVERED = {**AUTO, "consumer.commit": "delivered"}
BEFORE = {"consumer.commit": "before"}
WORKERS = {"consumer.processing": "handed-off"}
STORED = {"consumer.sink": "transactional"}

ASYNC = {"consumer.commit": "async"}

EVICTION, REBALANCE = {"eviction": 1}, {"rebalance": 1}
LOST = {"rebalance": 1, "lost-commit": 1}
DIES = {"eviction": 1, "consumer-crash": 1}


@pytest.mark.parametrize(
    ("prop", "more", "faults", "violated"),
    [
        # What was processed and not committed is processed again by the one that takes over.
        ("no-reprocessing", {}, EVICTION, True),
        ("no-reprocessing", AUTO, EVICTION, True),
        ("no-reprocessing", DELIVERED, EVICTION, True),
        ("no-reprocessing", BEFORE, EVICTION, False),
        ("exactly-once-effect", STORED, EVICTION, True),
        # In order nothing is: what was returned is committed before another has the partition.
        ("no-reprocessing", {}, REBALANCE, False),
        ("no-reprocessing", AUTO, REBALANCE, False),
        ("exactly-once-effect", STORED, REBALANCE, False),
        # Workers are not waited for: the client commits what they have, or the application does not.
        ("no-reprocessing", WORKERS, REBALANCE, True),
        ("no-reprocessing", {**WORKERS, **AUTO}, REBALANCE, False),
        # Nothing is lost, as long as the member that was thrown out lives.
        ("no-skip", BEFORE, EVICTION, False),
        pytest.param("no-skip", DELIVERED, EVICTION, False, marks=pytest.mark.slow),
        ("no-skip", {**WORKERS, **AUTO}, REBALANCE, False),
        # An answer that nobody waits for may be that the commit failed.
        ("no-reprocessing", ASYNC, REBALANCE, False),
        ("no-reprocessing", ASYNC, LOST, True),
        ("no-reprocessing", {}, LOST, False),
        ("no-skip", ASYNC, {**LOST, "consumer-crash": 1}, False),
        # What it does late comes after what the group did since.
        ("processing-order", {}, EVICTION, True),
        pytest.param("processing-order", BEFORE, EVICTION, True, marks=pytest.mark.slow),
        ("processing-order", {}, REBALANCE, False),
    ],
)
def test_verdicts(prop: str, more: dict[str, object], faults: dict[str, int], violated: bool) -> None:
    verdict = decide(prop, faults, GROUP, more)
    assert verdict.status in ((Status.VIOLATED,) if violated else (Status.HOLDS, Status.VACUOUS)), verdict.notes


@pytest.mark.slow
def test_committed_record_is_lost_with_its_member() -> None:
    """A rebalance commits what workers have; only then does their process die."""
    verdict = decide("no-skip", {"rebalance": 1, "consumer-crash": 1}, GROUP, WORKERS, AUTO)
    assert [dict(cut) for cut in verdict.cut_sets] == [{"consumer-crash": 1}]
    alone = decide("no-skip", DIES, GROUP, BEFORE)
    assert [dict(cut) for cut in alone.cut_sets] == [{"consumer-crash": 1}]


@pytest.mark.slow
def test_another_takes_over_when_the_session_is_over() -> None:
    verdict = decide("no-reprocessing", EVICTION, GROUP)
    steps = verdict.traces[0].steps
    thrown_out = next(step for step in steps if "evicts" in step.text)
    started = next(step for step in steps if "a consumer of the group starts" in step.text)
    assert started.at - thrown_out.at >= 45_000
    quick = decide("no-reprocessing", EVICTION, GROUP, {"consumer.max.poll.interval.ms": 6_000})
    at = {step.text: step.at for step in quick.traces[0].steps}
    assert max(at.values()) < 45_000, "max.poll.interval.ms is shorter than the session"


@pytest.mark.slow
def test_retention_does_not_wait_for_another_member_longer_than_that_takes() -> None:
    """An hour of retention outlasts the takeover; ten minutes do not."""
    long = decide("no-loss", EVICTION, GROUP, {"topic.retention.ms": 3_600_000, "assume.poll_interval": "0..1min"})
    short = decide("no-loss", EVICTION, GROUP, {"topic.retention.ms": 360_000, "assume.poll_interval": "0..1min"})
    assert (long.status, short.status) == (Status.HOLDS, Status.VIOLATED)


def test_member_changes_happen_only_if_the_deployment_names_them() -> None:
    assert {Fault.EVICTION, Fault.REBALANCE} <= ONLY_BY_NAME
    assert {Fault.EVICTION, Fault.REBALANCE} <= DESCRIPTION.keys()
    model = build(recorded("no-skip", {"consumer-crash": 1}, GROUP))
    assert not model.pipeline.consumer.late and model.pipeline.history.thrown_out is None
    assert not {"throw_out", "hand_over", "finish_late"} & {action.name for action in model.system.actions}


def test_a_consumer_without_a_group_has_no_other_member() -> None:
    model = build(recorded("no-skip", EVICTION, GROUP, {"consumer.commit": "never"}))
    assert not {"throw_out", "hand_over", "finish_late"} & {action.name for action in model.system.actions}


def test_group_waits_for_the_session_and_the_takeover() -> None:
    """Worked out by hand: 45 s of session before another starts, and everything that a takeover can take after that."""
    system = build(recorded("no-skip", {"eviction": 1, "rebalance": 1, "consumer-crash": 1}, GROUP)).system
    starts = [action for action in system.actions if action.name == "restart_consumer"]
    own = system.needs_of(starts[0])
    needs = {need.clock.name: need.at_least.at_least() for need in own if need.at_least is not None}
    assert needs == {"crashed": 1_000, "replacing": 45_000}
    deadlines = {clock.name: clock.at_most.at_most() for clock in system.clocks if clock.at_most is not None}
    joining = (14 + 3 * 4) * 100
    assert deadlines["consumer_back"] == 3_600_000
    assert deadlines["taken_over"] == 300_000 + 45_000 + 3_000 + joining
