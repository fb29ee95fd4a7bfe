"""A sink that tells records by their offset: what it recognises, and what it takes for something else (12.1)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from proofka.model.deployment import Deployment
from proofka.model.deployment.choices import Processing, Sink
from proofka.model.faults import Fault
from proofka.properties.catalogue import properties_of
from proofka.properties.verdict import CutSet
from tests.checker.asking import ask, cut, example
from tests.checker.plain_evaluator import holds
from tests.deployments import changed
from tests.model.scripted import Scenario, scenario

C, R, E = Fault.CONSUMER_CRASH, Fault.LOST_RESPONSE, Fault.EVICTION
EXACT = "exactly-once-effect"


def reading(*kinds: Fault, **settings: object) -> Deployment:
    deployment = changed(example("manual-commit-plain-sink", kinds, 1), sink=Sink.BY_OFFSET)
    return changed(deployment, **settings)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("deployment", "smallest"),
    [
        (reading(C), ()),
        (reading(C, sink=Sink.PLAIN), (cut(C),)),
        (reading(R, idempotence=False), (cut(R),)),
        (reading(R, idempotence=False, sink=Sink.IDEMPOTENT), ()),
        # Another member does again what the one before it still does, from the same offset.
        (reading(E), ()),
        (reading(E, processing=Processing.HANDED_OFF, bounds=replace(reading().bounds, records=1, log=2)), ()),
        (reading(E, sink=Sink.PLAIN), (cut(E),)),
    ],
)
def test_sink_recognises_repeated_records(deployment: Deployment, smallest: tuple[CutSet, ...]) -> None:
    assert ask(deployment, EXACT)[EXACT].cut_sets == smallest


def violated(run: Scenario) -> tuple[bool, str]:
    found = next(one for one in properties_of(run.pipeline) if one.name == EXACT)
    return holds(found.violated, run.state), found.explain(run.state)


def test_sink_refuses_another_record_at_the_offset_of_a_lost_record() -> None:
    """An unclean leader has not what the sink has, and gives its offset to another record."""
    run = scenario("acks-all-min-isr-1-unclean", sink=Sink.BY_OFFSET, replicas=2, idempotence=False)
    run.do("kill", broker=2).do("fence", broker=2).do("learn_isr", broker=1)
    run.do("send", batch=0).do("transmit", batch=0, leader=1).do("append", batch=0, leader=1)
    run.do("acknowledge", batch=0, leader=1).do("poll", leader=1, count=1)
    assert not violated(run)[0]
    run.do("kill", broker=1).do("fence", broker=1).do("restart", broker=2).do("elect_unclean", broker=2)
    run.do("apply_metadata", broker=2).do("seek_to_divergence", leader=2)
    run.do("send", batch=1).do("transmit", batch=1, leader=2).do("append", batch=1, leader=2)
    assert not violated(run)[0]
    run.do("acknowledge", batch=1, leader=2).do("poll", leader=2, count=1)
    assert violated(run) == (
        True,
        "the effect of record 2 never happens, and the sink has applied another record with the same offset",
    )
