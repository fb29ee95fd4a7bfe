"""A read that runs into an append, with brokers from 1.1 to 2.5.0 (semantics 6.1; KAFKA-9835)."""

from __future__ import annotations

from proofka.model.deployment.choices import Processing
from tests.model.scripted import Scenario, scenario


def on_its_way(**settings: object) -> Scenario:
    """Record 1 is committed, record 2 on its way to the leader."""
    run = scenario(reads_may_overrun=True, **settings).produce(0, 1).replicate(2, 1).replicate(3, 1)
    return run.do("send", batch=1).do("transmit", batch=1, leader=1)


def test_the_consumer_gets_records_appended_behind_its_position() -> None:
    run = on_its_way().do("poll", leader=1, count=1)
    run.do("read_while_appending", batch=1, leader=1, delayed=0)
    assert (run.log(1), run.high_watermark(1)) == ([0, 1], 1)
    assert run.value(run.pipeline.consumer.position) == 2
    assert [run.value(processed) for processed in run.pipeline.consumer.processed] == [1, 1]
    assert [run.value(exposed) for exposed in run.pipeline.exposed] == [1, 2, 0]


def test_workers_get_it_too() -> None:
    run = on_its_way(processing=Processing.HANDED_OFF).do("hand_off", leader=1)
    run.do("read_while_appending", batch=1, leader=1, delayed=0)
    assert [run.value(queued) for queued in run.pipeline.consumer.queued] == [1, 2, 0]


def test_a_read_that_is_behind_the_end_or_waits_there_runs_into_nothing() -> None:
    run = on_its_way()
    assert not run.can("read_while_appending", batch=1, leader=1, delayed=0), "record 1 is not read yet"
    run = scenario(reads_may_overrun=True).do("send", batch=0).do("transmit", batch=0, leader=1)
    assert not run.can("read_while_appending", batch=0, leader=1, delayed=0), "nothing was read before it"


def test_a_read_ends_at_a_high_watermark_below_the_end() -> None:
    run = on_its_way().do("poll", leader=1, count=1).do("append", batch=1, leader=1)
    assert run.high_watermark(1) == 1
    assert not run.can("poll", leader=1, count=1)
