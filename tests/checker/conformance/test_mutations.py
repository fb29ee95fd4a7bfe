"""Mutated models: the lab rejects what a mutated model allows or lacks."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from random import Random

import pytest

from proofka.checker.conformance.events import Event
from proofka.checker.conformance.mutations import MUTATIONS, Mutation, mutated, without
from proofka.checker.conformance.observed_system import observed
from proofka.checker.conformance.tracker import Answer, check_run
from proofka.model.deployment.choices import Acks
from proofka.model.language import Action
from proofka.model.pipeline import Model
from tests.checker.conformance.small_models import reading, three_brokers, towards_ends, towards_polls, transacting
from tests.checker.conformance.small_models import walks as small_walks
from tests.checker.conformance.walks import Taken, Walker, Weight, few_fetches, shown

WALKS, LENGTH = 15, 50
BY_NAME = {mutation.name: mutation for mutation in MUTATIONS}
REMOVING = ("no-truncation", "no-removal-from-isr", "no-fencing")
ADDING = (
    "no-duplicate-check",
    "acknowledgement-before-replication",
    "writes-below-min-isr",
    "unclean-election",
    "joins-before-it-has-all",
)

Walk = tuple[list[Taken], list[Event]]


@cache
def model() -> Model:
    return three_brokers("acks-all-min-isr-2")


def walks(of: Model, mutation: Mutation) -> list[Walk]:
    """Return walks that often take the actions that the mutation concerns, with their events."""
    favoured = (mutation.removes | mutation.weakens | mutation.adds) - {"fetch"}

    def weight(action: Action) -> float:
        return 5.0 if action.name in favoured else few_fetches(action)

    walker, found = Walker(of.system), []
    for seed in range(WALKS):
        random = Random(seed)
        walk = walker.walk(random, LENGTH, 4, weight=weight)
        found.append((walk, shown(model(), walk, random)))
    return found


def models() -> tuple[Model, ...]:
    """Return a model without transactions, and one with them; both have a consumer that can crash."""
    return reading("acks-all-min-isr-2"), transacting("transactions")


def answers(of: Model, runs: Sequence[Walk]) -> list[Answer]:
    system = observed(of, [event for _, events in runs for event in events])
    return [check_run(system, events).answer for _, events in runs]


@pytest.mark.parametrize("name", REMOVING)
def test_a_model_without_an_action_rejects_runs_that_need_it(name: str) -> None:
    mutation = BY_NAME[name]
    runs = walks(model(), mutation)
    needs = [bool({taken.action.name for taken in walk} & mutation.removes) for walk, _ in runs]
    found = answers(mutated(model(), mutation), runs)
    assert Answer.REJECTED in found
    assert all(answer is Answer.ACCEPTED for answer, need in zip(found, needs, strict=True) if not need)


@pytest.mark.parametrize("name", ADDING)
def test_the_model_rejects_runs_of_a_model_that_allows_more(name: str) -> None:
    mutation = BY_NAME[name]
    runs = walks(mutated(model(), mutation), mutation)
    assert set(answers(mutated(model(), mutation), runs)) == {Answer.ACCEPTED}
    assert Answer.REJECTED in answers(model(), runs)


@pytest.mark.parametrize(("name", "weight"), [("no-markers", towards_ends), ("no-fencing-of-producers", towards_ends)])
def test_a_model_without_a_step_of_transactions_rejects_runs_that_need_it(name: str, weight: Weight) -> None:
    of, mutation = transacting("transactions"), BY_NAME[name]
    found = answers(mutated(of, mutation), small_walks(of, WALKS, LENGTH, weight=weight))
    assert Answer.REJECTED in found


def test_a_model_whose_consumers_never_return_rejects_runs_in_which_one_does() -> None:
    of = reading("commit-before-processing")
    runs = small_walks(of, WALKS, LENGTH, weight=towards_polls, reads=True)
    assert Answer.REJECTED in answers(mutated(of, BY_NAME["no-return-of-consumers"]), runs)


def test_the_model_rejects_a_consumer_that_is_given_records_without_replicas() -> None:
    of, mutation = reading("commit-before-processing"), BY_NAME["reads-what-is-not-replicated"]
    runs = small_walks(mutated(of, mutation), WALKS, LENGTH, weight=towards_polls, reads=True)
    assert set(answers(mutated(of, mutation), runs)) == {Answer.ACCEPTED}
    assert Answer.REJECTED in answers(of, runs)


def test_every_mutation_changes_the_model() -> None:
    for mutation in MUTATIONS:
        if mutation.sets:
            continue
        of = next((one for one in models() if mutation.concerns(one)), None)
        assert of is not None, mutation.name
        after = mutated(of, mutation).system.actions
        names = {action.name for action in after}
        assert mutation.removes.isdisjoint(names)
        assert mutation.adds <= names
        guards = {action.key: action.guard for action in of.system.actions}
        weaker = {action.name for action in after if action.key in guards and not action.guard.eq(guards[action.key])}
        assert weaker == mutation.weakens


def test_a_missing_action_is_a_mutation_as_well() -> None:
    mutation = without("fetch")
    assert mutation.only_removes and mutation.concerns(model()) and not without("no such").concerns(model())


def test_a_mutation_of_a_setting_changes_other_deployments() -> None:
    settings = {mutation.sets: mutation for mutation in MUTATIONS if mutation.sets}
    deployment = model().pipeline.deployment
    assert settings["acks=all"].deployment(deployment) == deployment
    assert settings["acks=1"].deployment(deployment).producer.acks is Acks.LEADER
    assert settings["min_insync_replicas=1"].deployment(deployment).cluster.min_insync_replicas == 1
    assert {m.concerns(model()) for m in settings.values()} == {True, False}
    assert not any(mutation.only_removes for mutation in settings.values())
