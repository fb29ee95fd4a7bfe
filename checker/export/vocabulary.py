"""The model's own words: conditions and values that its files name, so that exported texts use the same names."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import permutations
from typing import Any

import z3

from proofka.checker.export.names import identifier
from proofka.model.consuming.consumer import unprocessed
from proofka.model.consuming.position import agreed_prefix, valid_committed, valid_position
from proofka.model.language import Action
from proofka.model.producing import application, produce
from proofka.model.recovery import java
from proofka.model.replication import controller, fetching, isr
from proofka.model.sequencing import arrival, idempotence
from proofka.model.state.pipeline import Batch, Fate, Pipeline, Replica
from proofka.properties import loss, situations


@dataclass(frozen=True)
class Definition:
    """A name for a term of the model, and its meaning."""

    name: str
    term: z3.ExprRef
    comment: str


def definitions(pipeline: Pipeline) -> Iterator[Definition]:
    """Yield the definitions of a pipeline's model, each after the definitions used in it."""
    for one in pipeline.replicas:
        yield from _of_broker(pipeline, one)
    for follower, leader in permutations(pipeline.replicas, 2):
        yield from _of_follower(pipeline, follower, leader)
    for leader in pipeline.replicas:
        may_change = isr.may_change_isr(pipeline, leader)
        yield Definition(f"{_name(leader)}_may_change_isr", may_change, _says(isr.may_change_isr))
    for batch in pipeline.producer.batches:
        yield from _of_batch(pipeline, batch)
    resolution = java.resolution_due(pipeline)
    yield Definition("resolution_due", resolution, _says(java.resolution_due))
    for record in range(pipeline.deployment.bounds.records):
        yield from _of_record(pipeline, record)


def _name(one: Replica) -> str:
    return f"broker_{one.number}"


def _of_broker(pipeline: Pipeline, one: Replica) -> Iterator[Definition]:
    name, consumer = _name(one), pipeline.consumer
    yield Definition(f"{name}_isr_size", one.isr_size, _says(Replica.isr_size))
    yield Definition(f"{name}_presumes_leadership", one.presumes_leadership, _says(Replica.presumes_leadership))
    yield Definition(f"{name}_serves", pipeline.serves(one), _says(Pipeline.serves))
    yield Definition(f"{name}_eligible", controller.eligible(pipeline, one.number), _says(controller.eligible))
    without = controller.elect_clean(pipeline, one.number)
    yield Definition(f"leader_without_{name}", without, _says(controller.elect_clean))
    for what, valid, epoch in (
        ("position", valid_position, consumer.position_epoch),
        ("committed", valid_committed, consumer.committed_epoch),
    ):
        agreed = agreed_prefix(pipeline, one, epoch.term)
        yield Definition(f"{name}_agrees_to_{what}", agreed, _says(agreed_prefix))
        yield Definition(f"{name}_valid_{what}", valid(pipeline, one), _says(valid))


def _of_follower(pipeline: Pipeline, follower: Replica, leader: Replica) -> Iterator[Definition]:
    one, other = _name(follower), _name(leader)
    yield Definition(f"{one}_follows_{other}", follower.follows(leader), _says(Replica.follows))
    silent = follower.does_not_fetch_from(leader)
    yield Definition(f"{one}_does_not_fetch_from_{other}", silent, _says(Replica.does_not_fetch_from))
    fetches = fetching.fetches_from(pipeline, follower, leader)
    yield Definition(f"{one}_fetches_from_{other}", fetches, _says(fetching.fetches_from))
    prefix = fetching.common_prefix(follower, leader)
    yield Definition(f"common_prefix_of_{one}_and_{other}", prefix, _says(fetching.common_prefix))


def _of_batch(pipeline: Pipeline, batch: Batch) -> Iterator[Definition]:
    name = f"batch_{batch.number}"
    yield Definition(f"{name}_incomplete", batch.incomplete, _says(Batch.incomplete))
    yield Definition(f"{name}_in_flight", batch.in_flight, _says(Batch.in_flight))
    yield Definition(f"{name}_can_be_answered", batch.can_be_answered, _says(Batch.can_be_answered))
    if batch.sequence is not None:
        first = idempotence.is_first_in_flight(pipeline, batch)
        yield Definition(f"{name}_first_in_flight", first, _says(idempotence.is_first_in_flight))
    for leader in pipeline.replicas:
        yield from _at_leader(pipeline, batch, leader)
    yield Definition(f"{name}_resend_due", application.resend_due(pipeline, batch), _says(application.resend_due))


def _at_leader(pipeline: Pipeline, batch: Batch, leader: Replica) -> Iterator[Definition]:
    here = f"batch_{batch.number}_at_{_name(leader)}"
    if batch.sequence is not None and batch.delayed_sequence is not None and batch.delayed_epoch is not None:
        numbers = {
            "": (pipeline.producer.epoch.term, batch.sequence.term),
            "delayed_": (batch.delayed_epoch.term, batch.delayed_sequence.term),
        }
        for kind, (epoch, sequence) in numbers.items():
            check = idempotence.check_sequence(pipeline, leader, batch, epoch, sequence)
            yield Definition(f"{kind}{here}_is_duplicate", check.duplicate, "The broker remembers having appended it.")
            yield Definition(f"{kind}{here}_is_in_sequence", check.in_sequence, "Its sequence is the next one due.")
            yield Definition(f"{kind}{here}_is_out_of_order", check.out_of_order, "Its sequence leaves a gap.")
            yield Definition(f"{kind}{here}_is_fenced", check.fenced, "The broker knows a newer producer epoch.")
        yield Definition(f"{here}_bump_due", java.bump_due(pipeline, batch, leader), _says(java.bump_due))
    appendable = produce.appendable(pipeline, batch, leader)
    yield Definition(f"{here}_appendable", appendable, _says(produce.appendable))
    delayed = produce.delayed_appendable(pipeline, batch, leader)
    yield Definition(f"delayed_{here}_appendable", delayed, _says(produce.delayed_appendable))
    yield Definition(f"{here}_held_up", arrival.held_up(pipeline, batch, leader), _says(arrival.held_up))


def _of_record(pipeline: Pipeline, record: int) -> Iterator[Definition]:
    name = f"record_{record + 1}"
    for one in pipeline.replicas:
        yield Definition(f"{_name(one)}_holds_{name}", pipeline.holds_record(one, record), _says(Pipeline.holds_record))
    for word, condition in {
        "acknowledged": situations.acknowledged,
        "reported": situations.reported,
        "accepted": situations.accepted,
        "pending": situations.pending,
        "lost_silently": situations.lost_silently,
        "lost_though_acknowledged": loss.lost_though_acknowledged,
        "unprocessed": unprocessed,
        "skipped": loss.skipped,
    }.items():
        yield Definition(f"{name}_{word}", condition(pipeline, record), _says(condition))


def words(pipeline: Pipeline) -> Mapping[str, Mapping[int, str]]:
    """Return, for each variable whose values have names, these names."""
    fates = {int(fate): identifier(fate.name) for fate in Fate}
    return {batch.fate.name: fates for batch in pipeline.producer.batches}


def purpose(action: Action) -> str:
    """Return the purpose of an action, from the docstring of the function that wrote it; empty if unknown.

    The action's sentence is defined inside this function, and so leads to it.
    """
    written_by, _, inner = getattr(action.sentence, "__qualname__", "").partition(".<locals>")
    module = inspect.getmodule(action.sentence)
    if not inner or module is None or not module.__name__.startswith("proofka.model."):
        return ""
    function = getattr(module, written_by, None)
    return _says(function) if function is not None else ""


def _says(written: Callable[..., Any] | property) -> str:
    """Return the first paragraph of a docstring, as one line."""
    return " ".join((inspect.getdoc(written) or "").partition("\n\n")[0].split())
