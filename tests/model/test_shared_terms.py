"""Terms that actions share are built once for each pipeline, and never taken for those of other parts."""

from __future__ import annotations

from proofka.model.pipeline import build
from proofka.model.state.pipeline import Pipeline
from proofka.model.state.shared_terms import shared
from tests.checker.asking import assuming, example

DEPLOYMENT = assuming(example("acks-1"), (), 0)


def test_a_term_is_built_once_for_each_pipeline_and_parts() -> None:
    built: list[tuple[int, object, object]] = []

    @shared
    def noted(pipeline: Pipeline, part: object, *, other: object = None) -> int:
        built.append((id(pipeline), part, other))
        return len(built)

    one, another = build(DEPLOYMENT).pipeline, build(DEPLOYMENT).pipeline
    asked = [
        (one, one.replicas[0], None),
        (one, one.replicas[1], None),
        (one, one.replicas[0], one.replicas[1]),
        (another, another.replicas[0], None),
    ]
    first = [noted(pipeline, part, other=other) for pipeline, part, other in asked]
    assert first == [1, 2, 3, 4]
    assert [noted(pipeline, part, other=other) for pipeline, part, other in asked] == first
    assert noted(one, one.replicas[0]) == 5, "a part that is not named is another question"


def test_parts_that_are_gone_do_not_lend_their_place_to_others() -> None:
    @shared
    def value_of(pipeline: Pipeline, part: list[int]) -> int:
        return part[0]

    pipeline = build(DEPLOYMENT).pipeline
    assert [value_of(pipeline, [number]) for number in range(100)] == list(range(100))
