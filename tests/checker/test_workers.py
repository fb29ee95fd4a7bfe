"""Records that fail, with workers or without: what is gone back to, forwarded, and committed past (semantics 12.1).

The verdicts are those of the table of commit disciplines: parallel workers that commit the highest finished offset lose
what is below it, those that commit the lowest contiguous one do not; a retry topic loses nothing if the write is
confirmed before the commit.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest
import z3

from proofka.model.deployment import DeploymentError, NotModelledError
from proofka.model.language import Action
from proofka.model.pipeline import build
from proofka.model.state.pipeline import Pipeline
from proofka.properties.verdict import Status
from tests.checker.asking import ask
from tests.checker.records import decide, recorded
from tests.model.mutate import Mutation, never, rewrite
from tests.model.scripted import Scenario

PIPELINE = {
    "kafka": "4.0",
    "topic.replicas": 1,
    "topic.retention.ms": -1,
    "producer.enable.idempotence": False,
    "consumer.group.id": "orders",
    "consumer.enable.auto.commit": False,
    "bounds.epochs": 2,
}
WORKERS = {"consumer.processing": "handed-off"}
LAST = {**WORKERS, "consumer.on_processing_error": "retry-last"}
RETRY = {**WORKERS, "consumer.on_processing_error": "retry"}
FINISHED = {**WORKERS, "consumer.commit": "finished"}
UNCONFIRMED = {"consumer.on_processing_error": "forward-unconfirmed"}
CONFIRMED = {"consumer.on_processing_error": "forward"}
ONCE = {"producer.enable.idempotence": True}
BY_OFFSET = {"consumer.sink": "by-offset"}

CRASH, FAILURE = {"consumer-crash": 1}, {"failed-processing": 1}
TWICE = {"failed-processing": 2, **CRASH}


@pytest.mark.parametrize(
    ("more", "faults", "prop", "status"),
    [
        (LAST, TWICE, "no-skip", Status.VIOLATED),
        (FINISHED, CRASH, "no-skip", Status.VIOLATED),
        (UNCONFIRMED, {"failed-processing": 2}, "no-skip", Status.VIOLATED),
        # What goes back to a record has what is behind it again, that others have finished.
        (LAST, FAILURE, "no-reprocessing", Status.VIOLATED),
        ({**RETRY, **ONCE}, {**FAILURE, "lost-response": 1}, "no-reprocessing", Status.HOLDS),
        ({**LAST, **BY_OFFSET, **ONCE}, {**FAILURE, "lost-response": 1}, "exactly-once-effect", Status.HOLDS),
        *(
            pytest.param(*row, marks=pytest.mark.slow)
            for row in (
                (LAST, {**FAILURE, **CRASH}, "no-skip", Status.HOLDS),
                (RETRY, TWICE, "no-skip", Status.HOLDS),
                ({**WORKERS, "consumer.commit": "after"}, CRASH, "no-skip", Status.HOLDS),
                (UNCONFIRMED, {**FAILURE, **CRASH}, "no-skip", Status.VIOLATED),
                (CONFIRMED, TWICE, "no-skip", Status.HOLDS),
                # A member that another one replaces has still forwarded it.
                (UNCONFIRMED, {**FAILURE, "eviction": 1}, "no-skip", Status.HOLDS),
                ({**UNCONFIRMED, **BY_OFFSET}, {**FAILURE, **CRASH}, "exactly-once-effect", Status.VIOLATED),
            )
        ),
    ],
)
def test_verdicts(more: dict[str, object], faults: dict[str, int], prop: str, status: Status) -> None:
    assert decide(prop, faults, PIPELINE, more).status is status


@pytest.mark.parametrize("further", [{}, {"rebalance": 1}, {"eviction": 1}])
def test_effect_of_a_crash_in_time_is_independent_of_other_questions(further: dict[str, int]) -> None:
    """A poll commits what the one before returned; by then the workers are done, and a crash finds it so."""
    times = {"assume.poll_interval": "5s..10s", "assume.processing_time": "0..1s", "bounds.records": 1}
    settings = {**WORKERS, "consumer.enable.auto.commit": True, **times}
    verdict = decide("no-skip", {**CRASH, **further}, PIPELINE, settings)
    assert verdict.status in (Status.HOLDS, Status.VIOLATED)
    assert (("consumer-crash", 1),) not in verdict.cut_sets


def keeps_the_earlier_one(pipeline: Pipeline, action: Action) -> Action:
    kept = {variable: value for variable, value in action.updates.items() if variable not in pipeline.consumer.queued}
    return replace(action, updates=kept)


def past_others(_: Pipeline, action: Action) -> Action:
    return never_if(action, action.arguments["committed_all"] == 2)


def never_if(action: Action, condition: bool) -> Action:
    return replace(action, guard=z3.BoolVal(False)) if condition else action


@pytest.mark.parametrize(
    ("mutation", "faults", "more"),
    [
        (rewrite("fail_in_worker", keeps_the_earlier_one), TWICE, LAST),
        (rewrite("restart_consumer", past_others), CRASH, FINISHED),
        (never("lose_forward"), {"failed-processing": 2}, UNCONFIRMED),
    ],
)
def test_mutations(mutation: Mutation, faults: dict[str, int], more: dict[str, object]) -> None:
    """Each verdict rests on one effect."""
    verdict = ask(mutation(build(recorded("no-skip", faults, PIPELINE, more))), "no-skip")["no-skip"]
    assert verdict.status in (Status.HOLDS, Status.VACUOUS)


def run(faults: Mapping[str, int], **more: object) -> Scenario:
    """Return a run in which the log has two records, and the consumer has both."""
    scenario = Scenario(recorded("no-skip", faults, PIPELINE, more)).produce(0, 1).produce(1, 1)
    return scenario if "consumer.processing" not in more else scenario.do("hand_off", leader=1).do("hand_off", leader=1)


def held(run: Scenario) -> list[int]:
    return [run.value(queued) for queued in run.pipeline.consumer.queued]


def processed(run: Scenario) -> list[int]:
    return [run.value(count) for count in run.pipeline.consumer.processed]


def test_later_failure_replaces_an_earlier_failure() -> None:
    one = run(TWICE, **LAST).do("fail_in_worker", offset=0)
    assert held(one)[:2] == [1, 2] and not one.can("fail_in_worker", offset=0)
    assert held(one.do("fail_in_worker", offset=1))[:2] == [0, 2]


def test_going_back_to_an_earlier_failure_leaves_out_none() -> None:
    one = run(TWICE, **LAST).do("fail_in_worker", offset=1).do("fail_in_worker", offset=0)
    assert held(one)[:2] == [1, 2]


def test_crash_forgets_the_records_to_be_retried() -> None:
    one = run(TWICE, **LAST).do("fail_in_worker", offset=1).do("crash_consumer")
    assert one.pipeline.consumer.failed is not None and one.value(one.pipeline.consumer.failed) == 0


def test_a_commit_passes_records_of_other_workers() -> None:
    one = run(CRASH, **FINISHED).do("crash_consumer").do("restart_consumer", committed_all=2, finished=0b10)
    assert one.value(one.pipeline.consumer.position) == 2 and processed(one) == [0, 1]


def test_a_commit_of_records_finished_in_order_is_no_other_case() -> None:
    one = run(CRASH, **FINISHED).do("crash_consumer")
    assert not one.can("restart_consumer", committed_all=2, finished=0b11)
    assert one.can("restart_consumer", committed_all=1, finished=0b11)


def test_a_forwarded_record_counts_as_processed_once_the_other_topic_has_it() -> None:
    one = run(TWICE, **UNCONFIRMED).do("fail_and_go_on", leader=1)
    assert processed(one) == [0, 0] and not one.can("confirm_forward", offset=1)
    assert processed(one.do("confirm_forward", offset=0)) == [1, 0]


def test_a_record_forwarded_twice_is_processed_twice() -> None:
    faults = {"failed-processing": 2, "eviction": 1}
    one = run(faults, **UNCONFIRMED).do("fail_and_go_on", leader=1).do("throw_out")
    one = one.do("restart_consumer", committed_all=0, finished=0).do("fail_and_go_on", leader=1)
    assert processed(one) == [1, 0]
    assert processed(one.do("confirm_forward", offset=0)) == [2, 0]


def test_a_crash_takes_unconfirmed_records() -> None:
    one = run(TWICE, **UNCONFIRMED).do("fail_and_go_on", leader=1).do("crash_consumer")
    assert not one.can("confirm_forward", offset=0)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({**UNCONFIRMED, "consumer.sink": "kafka"}, "a transaction waits for all of its writes; choose forward"),
    ],
)
def test_contradicting_settings_are_refused(more: dict[str, object], words: str) -> None:
    with pytest.raises(DeploymentError, match=words):
        recorded("no-skip", FAILURE, PIPELINE, more)


def test_records_without_workers_fail_in_turn() -> None:
    """Going back to the last failed record, or committing finished records, is as good as either for each record."""
    asked = recorded(
        "no-skip", FAILURE, PIPELINE, {"consumer.on_processing_error": "retry-last", "consumer.commit": "finished"}
    )
    assert any("only costs time with on_processing_error=retry-last" in note for note in asked.notes)
    names = {action.name for action in build(asked).system.actions}
    assert "fail_in_worker" not in names


def test_late_commits_past_others_are_not_modelled() -> None:
    with pytest.raises(NotModelledError, match="not modelled yet: rebalances of a consumer that commits past"):
        recorded("no-skip", {"rebalance": 1}, PIPELINE, FINISHED)
