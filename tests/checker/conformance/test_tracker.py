"""The tracker accepts what the model shows, and rejects what a plain tracker rejects, at the same event."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from random import Random

import pytest

from proofka.checker.conformance.asked_event import SILENT, seen_as
from proofka.checker.conformance.errors import UnknownEvent
from proofka.checker.conformance.events import Event
from proofka.checker.conformance.observed_system import ObservedSystem, model_for, observed
from proofka.checker.conformance.tracker import MOST_OVERLAPPING, Answer, check_run
from proofka.model.faults import Fault
from proofka.model.pipeline import Model, build
from tests.checker.asking import example
from tests.checker.conformance.plain_tracker import PlainTracker
from tests.checker.conformance.small_models import (
    SMALL,
    reading,
    three_brokers,
    towards_ends,
    towards_polls,
    transacting,
    two_brokers,
    walks,
)
from tests.checker.conformance.walks import widened

NAMES = ("acks-all-min-isr-2", "acks-1", "retries-in-flight-5", "acks-all-min-isr-1-unclean")


def system_of(model: Model, runs: Sequence[Sequence[Event]]) -> ObservedSystem:
    return observed(model, [event for run in runs for event in run])


@pytest.mark.parametrize("name", NAMES)
def test_every_walk_of_the_model_is_accepted(name: str) -> None:
    model = three_brokers(name)
    found = walks(model, 8, 60)
    system = system_of(model, [events for _, events in found])
    for seed, (_, events) in enumerate(found):
        assert check_run(system, events).answer is Answer.ACCEPTED
        assert check_run(system, widened(events, Random(seed))).answer is Answer.ACCEPTED
    assert {"fence", "restart", "fetch", "append"} <= {taken.action.name for walk, _ in found for taken in walk}


def compared(model: Model, runs: Sequence[Sequence[Event]]) -> list[bool]:
    """Expect the answers of the plain tracker; return, for each run, True if it is accepted."""
    system, plain = system_of(model, runs), PlainTracker(model)
    accepted = []
    for events in runs:
        outcome = check_run(system, events)
        assert outcome.event == plain.rejected_at(events), [str(event) for event in events]
        accepted.append(outcome.answer is Answer.ACCEPTED)
    return accepted


def corrupted(model: Model, events: Sequence[Event], random: Random) -> list[Event]:
    """Return the events with one of them changed, left out, or exchanged with the next."""
    made = list(events)
    place = random.randrange(len(made) - 1)
    event = made[place]
    how = random.randrange(3)
    if how == 0:
        del made[place]
    elif how == 1:
        other = made[place + 1]
        made[place] = replace(other, opens=event.opens, closes=event.closes)
        made[place + 1] = replace(event, opens=other.opens, closes=other.closes)
    elif event.kind == "log":
        entries = list(event.arguments["entries"])
        changed_entries = [{**entries[0], "epoch": entries[0]["epoch"] + 1}, *entries[1:]] if entries else []
        arguments = {**event.arguments, "entries": random.choice([changed_entries, entries[:-1]])}
        made[place] = replace(event, arguments=arguments)
    elif "broker" in event.arguments:
        brokers = len(model.pipeline.replicas)
        arguments = {**event.arguments, "broker": event.arguments["broker"] % brokers + 1}
        made[place] = replace(event, arguments=arguments)
    return made


@pytest.mark.parametrize("name", ["acks-all-min-isr-2", "acks-1", "retries-in-flight-5"])
def test_the_plain_tracker_gives_the_same_answers(name: str) -> None:
    model = two_brokers(name)
    runs = []
    for seed, (_, events) in enumerate(walks(model, 8, 18)):
        random = Random(seed)
        runs += [events, corrupted(model, events, random), corrupted(model, events, random)]
        runs.append(widened(corrupted(model, events, random), random, most=1.2))
    answers = compared(model, runs)
    assert answers.count(False) > len(answers) // 10
    assert answers.count(True) >= 8


def test_a_rejection_names_states_and_actions() -> None:
    model = two_brokers("acks-1")
    events = [
        Event("sent", {"batch": 0}, opens=0, closes=0),
        Event("requested", {"record": 0, "broker": 1}, opens=1, closes=1),
        Event("log", {"broker": 2, "entries": [{"record": 0, "epoch": 1}]}, opens=2, closes=2),
        Event("log", {"broker": 1, "entries": []}, opens=3, closes=3),
    ]
    outcome = check_run(observed(model, events), events)
    assert (outcome.answer, outcome.event) == (Answer.REJECTED, 3)
    assert outcome.sizes[-1] == 0 and all(outcome.sizes[:-1])
    assert {state["broker_1_log_end"] for state in outcome.states} == {1}
    assert not outcome.bounds
    assert all(seen_as(action) == SILENT for action in model.system.actions if str(action) in outcome.enabled)


def test_a_rejection_at_a_bound_is_no_rejection() -> None:
    model = build(replace(two_brokers("acks-1").pipeline.deployment, bounds=replace(SMALL, epochs=2)))
    change = {"isr": [1, 2]}
    events = [
        Event("decided", {"leader": 2, "epoch": 2, **change}, opens=0, closes=0),
        Event("decided", {"leader": 1, "epoch": 1, **change}, opens=1, closes=1),
    ]
    outcome = check_run(observed(model, events), events)
    assert (outcome.answer, outcome.event, outcome.bounds) == (Answer.BOUND, 1, ("epochs",))


def test_the_limit_of_states_is_an_answer_of_its_own() -> None:
    model = three_brokers("acks-1")
    _, events = walks(model, 1, 40)[0]
    outcome = check_run(observed(model, events), events, most=3)
    assert outcome.answer is Answer.TOO_MANY and outcome.event is not None


def test_too_many_events_at_once_are_an_answer_of_their_own() -> None:
    empty = [Event("log", {"broker": 1, "entries": []}, opens=0, closes=1)] * (MOST_OVERLAPPING + 1)
    outcome = check_run(system_of(two_brokers("acks-1"), [empty]), empty)
    assert outcome.answer is Answer.TOO_MANY and outcome.event == MOST_OVERLAPPING


def test_events_of_overlapping_intervals_happen_in_any_order() -> None:
    model = two_brokers("acks-1")
    sent = Event("sent", {"batch": 0}, opens=0, closes=3)
    requested = Event("requested", {"record": 0, "broker": 1}, opens=1, closes=1)
    killed = Event("killed", {"broker": 2}, opens=0.5, closes=2)
    early, late = (replace(killed, opens=moment, closes=moment) for moment in (0.5, 2.0))
    for events in ([requested, sent, killed], [sent, early, requested], [late, requested, sent]):
        assert check_run(observed(model, events), events).answer is Answer.ACCEPTED
    after = replace(sent, opens=2)
    assert check_run(observed(model, [requested, after]), [requested, after]).event == 0


def test_the_events_of_a_chain_keep_their_order() -> None:
    model = two_brokers("acks-1")
    first = Event("decided", {"leader": 2, "epoch": 2, "isr": [1, 2]}, opens=0, closes=1)
    second = Event("decided", {"leader": 1, "epoch": 3, "isr": [1, 2]}, opens=0, closes=1)
    for chain, answer in (("", Answer.ACCEPTED), ("controller", Answer.REJECTED)):
        events = [replace(second, chain=chain), replace(first, chain=chain)]
        assert check_run(observed(model, events), events).answer is answer


def test_a_run_gets_the_faults_that_its_events_need() -> None:
    events = [Event("killed", {"broker": 1}, opens=0, closes=0)]
    model = model_for(example("acks-1"), events)
    assert {action.fault for action in model.system.actions} == {None, Fault.KILL}


@pytest.mark.parametrize("name", ["transactions", "transaction-state"])
def test_every_walk_with_transactions_is_accepted(name: str) -> None:
    model = transacting(name)
    found = walks(model, 12, 60, weight=towards_ends)
    system = system_of(model, [events for _, events in found])
    for _, events in found:
        assert check_run(system, events).answer is Answer.ACCEPTED
    taken = {step.action.name for walk, _ in found for step in walk}
    assert {"prepare_commit", "write_marker", "complete_transaction", "crash_producer", "initialise"} <= taken
    assert {event.kind for _, events in found for event in events} >= {"coordinated", "ended_transaction"}


def test_the_plain_tracker_gives_the_same_answers_with_transactions() -> None:
    model = transacting("transactions", 2)
    runs = []
    for seed, (_, events) in enumerate(walks(model, 6, 22, weight=towards_ends)):
        random = Random(seed)
        runs += [events, corrupted(model, events, random), without_end(events)]
    answers = compared(model, runs)
    assert True in answers and False in answers


def without_end(events: Sequence[Event]) -> list[Event]:
    """Return the events without the first record of the coordinator."""
    first = next((place for place, event in enumerate(events) if event.kind == "coordinated"), None)
    return [event for place, event in enumerate(events) if place != first]


def test_a_wrong_marker_is_rejected() -> None:
    """The coordinator commits, and a log has the marker of an abort, or that of another producer epoch."""
    model = transacting("transactions", 2)
    begun = [
        Event("sent", {"batch": 0}, opens=0, closes=0),
        Event("requested", {"record": 0, "broker": 1}, opens=1, closes=1),
        Event("answered", {"record": 0, "broker": 1, "error": 0}, opens=2, closes=2),
        Event("coordinated", {"status": "PrepareCommit", "epoch": 0}, opens=3, closes=3),
        Event("ended_transaction", {"transaction": 0, "commits": 1}, opens=4, closes=4),
    ]
    record = {"record": 0, "epoch": 1, "producer_epoch": 0}
    for marker, answer in (
        ({"commits": 1, "epoch": 1, "producer_epoch": 0}, Answer.ACCEPTED),
        ({"commits": 0, "epoch": 1, "producer_epoch": 0}, Answer.REJECTED),
        ({"commits": 1, "epoch": 1, "producer_epoch": 1}, Answer.REJECTED),
    ):
        events = [*begun, Event("log", {"broker": 1, "entries": [record, marker]}, opens=5, closes=5)]
        assert check_run(observed(model, events), events).answer is answer
    early = [begun[3], *begun[:3]]
    events = [replace(event, opens=place, closes=place) for place, event in enumerate(early)]
    assert check_run(observed(model, events), events).event == 0


def test_a_deployment_without_transactions_has_no_events_of_them() -> None:
    model = two_brokers("acks-1")
    with pytest.raises(UnknownEvent, match=r"needs a deployment with transactional\.id"):
        observed(model, [Event("coordinated", {"status": "Empty", "epoch": 0}, opens=0, closes=0)])


@pytest.mark.parametrize("name", ["commit-before-processing", "auto-commit", "manual-commit-plain-sink"])
def test_every_walk_with_a_consumer_is_accepted(name: str) -> None:
    model = reading(name)
    found = walks(model, 10, 60, weight=towards_polls, reads=True)
    system = system_of(model, [events for _, events in found])
    for _, events in found:
        assert check_run(system, events).answer is Answer.ACCEPTED
    assert {event.kind for _, events in found for event in events} >= {"polled", "joined", "ended_consumer"}


def test_the_plain_tracker_gives_the_same_answers_with_a_consumer() -> None:
    model = reading("commit-before-processing", 2)
    runs = []
    for seed, (_, events) in enumerate(walks(model, 6, 22, weight=towards_polls, reads=True)):
        random = Random(seed)
        runs += [events, corrupted(model, events, random), [displaced(event) for event in events]]
    answers = compared(model, runs)
    assert True in answers and False in answers


def displaced(event: Event) -> Event:
    """Return the event; a record that poll() returned has another offset."""
    if event.kind != "polled":
        return event
    return replace(event, arguments={**event.arguments, "offset": event.arguments["offset"] + 1})


def test_a_consumer_is_given_replicated_records_of_a_broker() -> None:
    model = reading("commit-before-processing", 2)
    sent = [
        Event("sent", {"batch": 0}, opens=0, closes=0),
        Event("requested", {"record": 0, "broker": 1}, opens=1, closes=1),
    ]
    replicated = Event("answered", {"record": 0, "broker": 1, "error": 0}, opens=2, closes=2)
    given = Event("polled", {"offset": 0, "record": 0}, opens=3, closes=3)
    for events, answer in (
        ([*sent, replicated, given], Answer.ACCEPTED),
        ([*sent, replicated, replace(given, arguments={"offset": 0, "record": 1})], Answer.REJECTED),
        ([*sent, replicated, replace(given, arguments={"offset": 1, "record": 0})], Answer.REJECTED),
        ([given, *sent], Answer.REJECTED),
    ):
        placed = [replace(event, opens=place, closes=place) for place, event in enumerate(events)]
        assert check_run(observed(model, placed), placed).answer is answer


def test_a_consumer_begins_where_the_group_has_committed() -> None:
    """With commits before processing, the committed offset follows each poll()."""
    model = reading("commit-before-processing", 2)
    begun = [
        Event("sent", {"batch": 0}, opens=0, closes=0),
        Event("requested", {"record": 0, "broker": 1}, opens=1, closes=1),
        Event("answered", {"record": 0, "broker": 1, "error": 0}, opens=2, closes=2),
        Event("polled", {"offset": 0, "record": 0}, opens=3, closes=3),
        Event("ended_consumer", {}, opens=4, closes=4),
    ]
    for position, answer in ((1, Answer.ACCEPTED), (0, Answer.REJECTED)):
        started = Event("started_consumer", {}, opens=5, closes=5)
        events = [*begun, started, Event("joined", {"position": position}, opens=6, closes=6)]
        assert check_run(observed(model, events), events).answer is answer
