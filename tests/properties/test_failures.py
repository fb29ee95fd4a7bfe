"""The failure in a violating state, and its record."""

from __future__ import annotations

import pytest

from proofka.properties.catalogue import properties_of
from tests.model.scripted import Scenario, scenario


def explained(run: Scenario, name: str, **values: int) -> str:
    """Return the explanation of a property for the initial state, with other values of some variables."""
    (prop,) = (one for one in properties_of(run.pipeline) if one.name == name)
    return prop.explain({**run.state, **values})


@pytest.mark.slow
def test_records_processed_out_of_order_are_named() -> None:
    run = scenario("auto-commit-handed-off")
    consumer = run.pipeline.consumer
    processed = {count.name: 1 for count in consumer.processed}
    assert explained(run, "processing-order", **{consumer.disorder.name: 1}, **processed) == (
        "record 1 was processed although record 2, sent after it, had been processed already"
    )


def test_records_with_workers_at_once_are_named() -> None:
    run = scenario("auto-commit-handed-off")
    first, second, *_ = (queued.name for queued in run.pipeline.consumer.queued)
    assert explained(run, "processing-order", **{first: 2, second: 1}) == (
        "workers have records 1 and 2 at once, and nothing keeps them from finishing the later one first"
    )
