"""Effects of a restart of brokers on idempotent producers (semantics 3.5): a row for each difference."""

from __future__ import annotations

import pytest

from proofka.properties.verdict import Status
from tests.checker.records import decide
from tests.checker.test_idempotence_by_release import IN_FLIGHT, PIPELINE

ALONE = {**PIPELINE, "topic.replicas": 1, "bounds.epochs": 4}
RDKAFKA = {"producer.client": "librdkafka", "producer.version": "2.3"}
KILL, DUPLICATE = {"kill": 1}, "no-log-duplicate"


@pytest.mark.parametrize(
    ("kafka", "prop", "faults", "more", "status"),
    [
        # The broker knows the last batch only; the retry of the one before it makes the producer bump its epoch.
        pytest.param("4.0", DUPLICATE, KILL, {}, Status.VIOLATED, marks=pytest.mark.slow),
        ("4.0", DUPLICATE, {"shutdown": 1}, {}, Status.VIOLATED),
        ("4.0", DUPLICATE, KILL, {IN_FLIGHT: 1}, Status.HOLDS),
        ("4.0", DUPLICATE, KILL, {"producer.sends": "sync"}, Status.HOLDS),
        # Another replica has appended both itself.
        pytest.param("4.0", DUPLICATE, KILL, {"topic.replicas": 2}, Status.HOLDS, marks=pytest.mark.slow),
        pytest.param("1.0", DUPLICATE, KILL, {"producer.version": "2.8"}, Status.VIOLATED, marks=pytest.mark.slow),
        # A client before 2.5 reports the first as failed, which is stored, and does not send it again.
        pytest.param("1.0", DUPLICATE, KILL, {"producer.version": "2.4"}, Status.HOLDS, marks=pytest.mark.slow),
    ],
)
def test_a_difference(kafka: str, prop: str, faults: dict[str, int], more: dict[str, object], status: Status) -> None:
    verdict = decide(prop, faults, ALONE, {"kafka": kafka}, more)
    assert verdict.status is status, verdict.cut_sets
    for trace in verdict.traces:
        assert any("restarts, knowing of each producer no batch but the last" in step.text for step in trace.steps)


@pytest.mark.slow
def test_librdkafka_stops_for_good() -> None:
    """The next record due is refused as out of order: a fatal error (semantics 4.1), for records that are stored."""
    asked = {**ALONE, **RDKAFKA, "assume.broker_restart": "1s..5s", "kafka": "4.0", "bounds.records": 3}
    for in_flight, status in ((5, Status.VIOLATED), (1, Status.HOLDS)):
        assert decide("no-dropped-record", KILL, asked, {IN_FLIGHT: in_flight}).status is status
