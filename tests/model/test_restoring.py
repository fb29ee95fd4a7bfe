"""The knowledge of a starting broker about an idempotent producer: its last batch alone (semantics 3.5).

Read in Kafka's ``ProducerStateManager.writeSnapshot`` and ``LogLoader.recoverSegment``, never off a run of the model.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import z3

from proofka.model.deployment.choices import Sends
from proofka.model.deployment.implied.forgetting import brokers_forget_numbers
from proofka.model.deployment.release import parse_release
from proofka.model.deployment.sequencing import sequencing_of
from proofka.model.faults import Fault
from proofka.model.sequencing.idempotence import check_sequence
from tests.checker.asking import example
from tests.checker.plain_evaluator import holds
from tests.deployments import changed
from tests.model.scripted import BOUNDS, Scenario
from tests.model.scripted import scenario as any_scenario


def scenario(**settings: Any) -> Scenario:
    return any_scenario("idempotent", **{"replicas": 2, "min_insync_replicas": 1, **settings})


def knows(run: Scenario, broker: int, batch: int) -> bool:
    """Tell whether the broker would take a retry of the batch for a duplicate."""
    sent = run.pipeline.producer.batches[batch]
    check = check_sequence(run.pipeline, run.pipeline.replica(broker), sent, z3.IntVal(0), z3.IntVal(batch))
    return holds(check.duplicate, run.state)


def both(run: Scenario, broker: int) -> tuple[bool, bool]:
    return knows(run, broker, 0), knows(run, broker, 1)


def written(run: Scenario, batches: int = 2) -> Scenario:
    """Write so many records to every log, without an acknowledgement."""
    for batch in range(batches):
        run.produce(batch, 1)
        if len(run.pipeline.replicas) > 1:
            run.replicate(2, 1)
    return run


def restarted(run: Scenario, broker: int, death: str = "kill", **arguments: int) -> Scenario:
    return run.do(death, broker=broker, **arguments).do("fence", broker=broker).do("restart", broker=broker)


@pytest.mark.parametrize(("death", "arguments"), [("kill", {}), ("lose_power", {"kept": 2})])
def test_restarted_broker_knows_the_last_batch(death: str, arguments: dict[str, int]) -> None:
    run = written(scenario())
    assert both(run, 1) == (True, True)
    restarted(run, 1, death, **arguments)
    assert both(run, 1) == (False, True)
    assert both(run, 2) == (True, True), "a follower knows what it has appended itself"


def test_being_back_before_it_is_fenced_is_no_better() -> None:
    run = written(scenario(restart_before_fenced=True)).do("kill", broker=1).do("restart_before_fenced", broker=1)
    assert both(run, 1) == (False, True)


def test_stopping_in_order_is_no_better() -> None:
    run = written(scenario(replicas=1)).do("begin_shutdown", broker=1).do("apply_metadata", broker=1)
    run.do("finish_shutdown", broker=1).do("restart", broker=1)
    assert both(run, 1) == (False, True)


def test_the_producer_takes_a_record_that_is_stored_for_one_that_is_lost() -> None:
    run = restarted(written(scenario(replicas=1)), 1).do("apply_metadata", broker=1)
    run.do("transmit", batch=0, leader=1)
    assert not run.can("append", batch=0, leader=1)
    run.do("reject_out_of_order", batch=0, leader=1).do("transmit", batch=0, leader=1).do("append", batch=0, leader=1)
    assert run.log(1) == [0, 1, 0]


def test_restarted_broker_knows_the_batches_it_appends() -> None:
    run = scenario().produce(0, 1).replicate(2, 1)
    restarted(run, 2).do("fetch", follower=2, leader=1)
    run.produce(1, 1).replicate(2, 1)
    assert both(run, 2) == (True, True)


def test_a_truncation_makes_it_read_its_log_again() -> None:
    run = written(scenario(bounds=replace(BOUNDS, records=3, log=4)), 3)
    restarted(run, 2)
    assert [knows(run, 2, batch) for batch in range(3)] == [False, False, True]
    restarted(run, 1, "lose_power", kept=2).do("apply_metadata", broker=1).do("apply_metadata", broker=2)
    run.do("truncate", follower=2, leader=1)
    assert run.log(2) == [0, 1]
    assert both(run, 2) == (True, True)


def test_brokers_forget_numbers_only_with_several_requests_in_flight_and_a_start() -> None:
    asked = example("idempotent", (Fault.KILL,), 1)
    assert brokers_forget_numbers(asked)
    assert not brokers_forget_numbers(changed(asked, max_in_flight=1))
    assert not brokers_forget_numbers(changed(asked, sends=Sends.SYNC))
    assert not brokers_forget_numbers(changed(asked, idempotence=False))
    assert not brokers_forget_numbers(example("idempotent", (Fault.LEADER_MOVE, Fault.LOST_RESPONSE), 1))
    # Brokers of 0.11 never know more than that.
    old, new = parse_release("0.11"), parse_release("1.0")
    assert not brokers_forget_numbers(changed(asked, sequencing=sequencing_of(new, old)))
    assert brokers_forget_numbers(changed(asked, sequencing=sequencing_of(new, new)))
